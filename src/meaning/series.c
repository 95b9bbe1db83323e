/* Schemas of counters. Each field of a counter event is a series, but the records of the kernel
 * have other fields, too: the CPU, the process. The schema wraps that of the record and returns
 * only the series. */
#include <string.h>

#include "base/number.h"

#include "meaning/meaning.h"

/* state number of cpu_idle when the CPU leaves idle; shown as -1 */
#define IDLE_STATE_NONE UINT32_MAX

struct series_schema {
    const struct field_ops *ops; /* functions of the wrapped schema */
    const void *ctx;
    const char *names; /* alternatives for the field that is the series */
    bool is_at_any_depth;
    bool is_idle_state;
    ttr_id id;
};

/* The wrapped functions find their own `ctx` in the iteration, only while they run. */
static void begin_series_fields(ttr_fields *fields)
{
    const struct series_schema *series = fields->ctx;
    fields->ctx = series->ctx;
    series->ops->begin(fields);
    fields->ctx = series;
}

static bool read_next_field(ttr_fields *fields, const struct series_schema *series,
                            ttr_field *field)
{
    fields->ctx = series->ctx;
    const bool has_more = series->ops->next(fields, field);
    fields->ctx = series;
    return has_more;
}

bool series_is_named(const char *names, ttr_text name)
{
    for (size_t n; *names; names += n + (names[n] == '|')) {
        n = strcspn(names, "|");
        if (n == name.n && memcmp(names, name.p, n) == 0)
            return true;
    }
    return false;
}

/* Meters write numbers as texts, with a decimal point or comma. Returns false for other texts. */
static bool parse_text_value(ttr_value *value)
{
    char text[64];
    double number;
    if (value->type != TTR_TYPE_TEXT)
        return true;
    const size_t n = value->text.n < sizeof text ? value->text.n : sizeof text;
    for (size_t i = 0; i < n; i++)
        text[i] = (char)(value->text.p[i] == ',' ? '.' : value->text.p[i]);
    if (!number_parse_double(text, n, &number))
        return false;
    *value = (ttr_value){.type = TTR_TYPE_FLOAT, .v.f = number};
    return true;
}

static bool read_next_series(ttr_fields *fields, ttr_field *field)
{
    const struct series_schema *series = fields->ctx;
    while (read_next_field(fields, series, field)) {
        if ((field->depth && !series->is_at_any_depth) || field->group != TTR_GROUP_PAYLOAD ||
            !series_is_named(series->names, field->name) || !parse_text_value(&field->value))
            continue;
        field->depth = 0;
        if (series->is_idle_state && field->value.v.u == IDLE_STATE_NONE) {
            field->value.type = TTR_TYPE_INT;
            field->value.v.s = -1;
        }
        return true;
    }
    return false;
}

static const struct field_ops series_ops = {.begin = begin_series_fields, .next = read_next_series};

ttr_id series_schema_add(struct meaning *meaning, const struct compiled_rule *compiled,
                         const ttr_event *event)
{
    ttr *t = meaning->base.t;
    const struct schema base = *context_schema(t, event->schema);
    if (!base.ops ||
        !alloc_reserve(&t->counted, (void **)&meaning->series, &meaning->series_capacity,
                       meaning->series_n + 1, sizeof(struct series_schema *)))
        return 0;
    struct series_schema *series = alloc_zero(&t->counted, 1, sizeof *series);
    if (!series)
        return 0;
    *series = (struct series_schema){
        .ops = base.ops,
        .ctx = base.ctx,
        .names = compiled->rule->fields[compiled->rule->action == RULE_NAMED_COUNTER],
        .is_at_any_depth = compiled->rule->action == RULE_NAMED_COUNTER,
        .is_idle_state = compiled->rule->name && strcmp(compiled->rule->name, "cpu_idle") == 0};
    series->id = context_add_schema(t, &(struct schema){.ops = &series_ops,
                                                        .ctx = series,
                                                        .event_class = base.event_class,
                                                        .base_schema = event->schema,
                                                        .class_name = event->name,
                                                        .has_number = base.has_number,
                                                        .number = base.number,
                                                        .version = base.version});
    meaning->series[meaning->series_n++] = series;
    return series->id;
}

void series_schemas_free(struct meaning *meaning)
{
    const struct alloc *alloc = &meaning->base.t->counted;
    for (size_t i = 0; i < meaning->series_n; i++) {
        context_drop_schema(meaning->base.t, meaning->series[i]->id);
        alloc_free(alloc, meaning->series[i], 1, sizeof *meaning->series[i]);
    }
    alloc_free(alloc, meaning->series, meaning->series_capacity, sizeof *meaning->series);
}
