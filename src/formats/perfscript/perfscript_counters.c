/* Counter values in samples of event groups (perf record -e '{a,b}:S'): perf script prints a line
 * for each counter that has advanced since the previous sample, with the increase as its period.
 *
 * The field "values" of a sample has a struct {event, id, value, lost} per counter. Counters are
 * identified by id; a new one starts at 0. */
#include "formats/perfscript/perfscript.h"

void perfscript_counters_init(struct perfscript_counters *counters, const struct alloc *alloc)
{
    *counters = (struct perfscript_counters){.alloc = alloc};
    pair_map_init(&counters->by_id, alloc);
}

void perfscript_counters_free(struct perfscript_counters *counters)
{
    pair_map_free(&counters->by_id);
    alloc_free(counters->alloc, counters->value, counters->capacity, sizeof *counters->value);
}

/* Returns a pointer to the last value of a counter, which is 0 for a new counter. Returns NULL if
 * memory runs out. */
static uint64_t *find_last_value(struct perfscript_counters *counters, uint64_t id, uint16_t source)
{
    const uint32_t *known = pair_map_get(&counters->by_id, id, source);
    if (known)
        return &counters->value[*known];
    void *value = counters->value;
    bool is_fine = alloc_reserve(counters->alloc, &value, &counters->capacity, counters->n + 1,
                                 sizeof *counters->value);
    counters->value = value;
    if (!is_fine || !pair_map_put(&counters->by_id, id, source, (uint32_t)counters->n)) {
        counters->is_out_of_memory = true;
        return NULL;
    }
    counters->value[counters->n] = 0;
    return &counters->value[counters->n++];
}

static bool has_field_name(const ttr_field *field, const char *name)
{
    return field->name.n == strlen(name) && memcmp(field->name.p, name, field->name.n) == 0;
}

bool perfscript_counters_begin(const struct ttr_writer *out, const ttr_event *event,
                               ttr_fields *fields)
{
    ttr_field field;
    ttr_fields_begin(out->t, event, fields);
    while (ttr_fields_next(fields, &field))
        if (field.depth == 0 && field.value.type == TTR_TYPE_ARRAY &&
            has_field_name(&field, "values"))
            return true;
    return false;
}

bool perfscript_counters_next(struct perfscript_counters *counters, ttr_fields *fields,
                              struct perfscript_counter *counter)
{
    ttr_field field;
    uint64_t id = 0;
    *counter = (struct perfscript_counter){.event = {"", 0}};
    while (ttr_fields_next(fields, &field) && field.depth > 0) {
        if (has_field_name(&field, "event"))
            counter->event = field.value.text;
        else if (has_field_name(&field, "id"))
            id = field.value.v.u;
        if (!has_field_name(&field, "value"))
            continue;
        uint64_t *value = find_last_value(counters, id, fields->event->source);
        if (!value)
            return false;
        /* give counters of unknown events the period 0, because perf does not print them */
        counter->period = counter->event.n ? field.value.v.u - *value : 0;
        *value = field.value.v.u;
        return true;
    }
    return false;
}
