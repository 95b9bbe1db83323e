/* Values of columns and fields of events.
 *
 * An integer at a fixed position of all events of a schema is loaded from there; other fields are
 * found by iteration, which ends at the field. */
#include <string.h>
#include <strings.h>

#include "expression/tree.h"

static const struct {
    const char *name;
    enum affinity affinity;
} columns[COLUMN_COUNT] = {
    [COLUMN_NAME] = {"name", AFFINITY_TEXT},
    [COLUMN_PROVIDER] = {"provider", AFFINITY_TEXT},
    [COLUMN_CATEGORY] = {"category", AFFINITY_TEXT},
    [COLUMN_KIND] = {"kind", AFFINITY_TEXT},
    [COLUMN_TS] = {"ts", AFFINITY_INTEGER},
    [COLUMN_DUR] = {"dur", AFFINITY_INTEGER},
    [COLUMN_CPU] = {"cpu", AFFINITY_INTEGER},
    [COLUMN_LEVEL] = {"level", AFFINITY_INTEGER},
    [COLUMN_SOURCE] = {"source", AFFINITY_INTEGER},
    [COLUMN_OFFSET] = {"offset", AFFINITY_INTEGER},
    [COLUMN_UTID] = {"utid", AFFINITY_INTEGER},
    [COLUMN_PID] = {"pid", AFFINITY_INTEGER},
    [COLUMN_TID] = {"tid", AFFINITY_INTEGER},
    [COLUMN_THREAD_NAME] = {"thread_name", AFFINITY_TEXT},
    [COLUMN_PROCESS_NAME] = {"process_name", AFFINITY_TEXT},
};

enum column column_find(const char *name)
{
    for (unsigned i = 0; i < COLUMN_COUNT; i++)
        if (strcasecmp(columns[i].name, name) == 0)
            return (enum column)i;
    return COLUMN_COUNT;
}

enum affinity column_affinity(enum column column)
{
    return columns[column].affinity;
}

/* Unsigned numbers beyond INT64_MAX become INT64_MAX, as in the column store. */
static struct value clamped(uint64_t number)
{
    return value_int(number > INT64_MAX ? INT64_MAX : (int64_t)number);
}

static struct value text_or_null(const ttr *t, ttr_id id)
{
    return id ? value_text(ttr_text_get(t, id)) : value_null();
}

static struct value load_thread(const ttr *t, const ttr_event *event, enum column column)
{
    ttr_thread thread;
    if (!ttr_thread_get(t, event->thread, &thread))
        return value_null();
    switch (column) {
    case COLUMN_PID:
        return thread.pid_known ? clamped(thread.pid) : value_null();
    case COLUMN_TID:
        return thread.tid_known ? clamped(thread.tid) : value_null();
    case COLUMN_THREAD_NAME:
        return text_or_null(t, thread.thread_name);
    default:
        return text_or_null(t, thread.process_name);
    }
}

static struct value load(const ttr *t, const ttr_event *event, enum column column)
{
    const char *kind;
    switch (column) {
    case COLUMN_NAME:
    case COLUMN_PROVIDER:
    case COLUMN_CATEGORY:
        return text_or_null(t, column_string_id(event, column));
    case COLUMN_KIND:
        kind = ttr_kind_text(event->kind);
        return value_text((ttr_text){kind, strlen(kind)});
    case COLUMN_TS:
        return value_int(event->time);
    case COLUMN_DUR:
        return clamped(event->duration);
    case COLUMN_CPU:
        return event->flags & TTR_EVENT_HAS_CPU ? value_int(event->cpu) : value_null();
    case COLUMN_LEVEL:
        return event->level ? value_int(event->level) : value_null();
    case COLUMN_SOURCE:
        return value_int(event->source);
    case COLUMN_OFFSET:
        return clamped(event->offset);
    case COLUMN_UTID:
        return event->thread ? value_int(event->thread) : value_null();
    default:
        return load_thread(t, event, column);
    }
}

struct value column_load(const ttr *t, const ttr_event *event, enum column column)
{
    struct value value = load(t, event, column);
    value.affinity = (uint8_t)columns[column].affinity;
    return value;
}

/* --- Fields --- */

static struct value value_of_field(const ttr_value *field)
{
    struct value value = value_null();
    switch (field->type) {
    case TTR_TYPE_BOOL:
        value = value_int(field->v.u != 0);
        break;
    case TTR_TYPE_UINT:
        value = clamped(field->v.u);
        break;
    case TTR_TYPE_INT:
        value = value_int(field->v.s);
        break;
    case TTR_TYPE_FLOAT:
        value = value_real(field->v.f);
        value.affinity = AFFINITY_REAL;
        return value;
    case TTR_TYPE_TEXT:
    case TTR_TYPE_BYTES:
        value = value_text(field->text);
        value.affinity = AFFINITY_TEXT;
        return value;
    default:
        return value;
    }
    value.affinity = AFFINITY_INTEGER;
    return value;
}

static bool load_at(const struct schema *schema, const struct field_position *position,
                    const ttr_event *event, uint64_t *number)
{
    size_t n;
    const uint8_t *record = schema->ops->record(schema->ctx, event, &n);
    return record && field_position_load(position, record, n, number);
}

/* Finds out how the field of a schema is loaded, from the first event that has it. */
static void choose_access(const struct schema *schema, struct field_place *place,
                          const ttr_event *event, const ttr_field *field)
{
    uint64_t number;
    place->access = ACCESS_SEARCH;
    const bool is_integer = field->value.type == TTR_TYPE_UINT || field->value.type == TTR_TYPE_INT;
    if (is_integer && field->choices == 0 && schema->ops && schema->ops->locate &&
        schema->ops->record &&
        schema->ops->locate(schema->ctx, (ttr_group)field->group, field->name, &place->position) &&
        !place->position.is_text &&
        place->position.is_signed == (field->value.type == TTR_TYPE_INT) &&
        load_at(schema, &place->position, event, &number) && number == field->value.v.u)
        place->access = ACCESS_POSITION;
}

/* Returns the entry of a schema, or NULL if memory is exhausted. */
static struct field_place *place_of_schema(struct expression *expression,
                                           struct field_column *field, ttr_id schema)
{
    const size_t before = field->places_n;
    if (schema < before)
        return &field->places[schema];
    if (!alloc_reserve(&expression->t->counted, (void **)&field->places, &field->places_n,
                       (size_t)schema + 1, sizeof *field->places)) {
        expression->failure = TTR_E_NOMEM;
        return NULL;
    }
    memset(field->places + before, 0, (field->places_n - before) * sizeof *field->places);
    return &field->places[schema];
}

struct value field_load(struct expression *expression, struct field_column *column,
                        const ttr_event *event)
{
    ttr_field field;
    uint64_t number;
    struct field_place *place = place_of_schema(expression, column, event->schema);
    if (!place)
        return value_null();
    const struct schema *schema = context_schema(expression->t, event->schema);
    if (place->access == ACCESS_POSITION && load_at(schema, &place->position, event, &number)) {
        struct value value =
            place->position.is_signed ? value_int((int64_t)number) : clamped(number);
        value.affinity = AFFINITY_INTEGER;
        return value;
    }
    if (!ttr_field_find(expression->t, event, column->name, &field))
        return value_null();
    if (place->access == ACCESS_UNKNOWN)
        choose_access(schema, place, event, &field);
    return value_of_field(&field.value);
}
