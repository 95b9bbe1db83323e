/* Tables with a row per event: all events, their arguments, and the tables of event classes. */
#include <stdio.h>
#include <string.h>

#include <tracetta/advanced.h>
#include <tracetta/build.h>

#include "store/store.h"

const struct column_info store_class_columns[STORE_CLASS_COLUMNS] = {
    {"id", "row of the event in table event", TTR_STORE_INT, true},
    {"ts", "time in ns", TTR_STORE_INT, true},
    {"dur", "duration in ns of a complete span", TTR_STORE_INT, false},
    {"cpu", "processor", TTR_STORE_INT, false},
    {"utid", "thread, a row of table thread", TTR_STORE_INT, false},
};

int64_t store_convert_real(double value)
{
    int64_t bits;
    if (value != value)
        return TTR_STORE_NULL; /* NaN is NULL, as in SQLite */
    memcpy(&bits, &value, sizeof bits);
    return bits == TTR_STORE_NULL ? 0 : bits; /* -0.0 has the bits of NULL */
}

/* Converts a field to a cell; *type is the type that it needs. Texts become strings of the context.
 */
static int64_t convert_field_value(ttr *t, const ttr_value *value, ttr_store_type *type)
{
    *type = TTR_STORE_INT;
    switch (value->type) {
    case TTR_TYPE_BOOL:
        return value->v.u != 0;
    case TTR_TYPE_UINT:
        return store_clamp(value->v.u);
    case TTR_TYPE_INT:
        return value->v.s;
    case TTR_TYPE_FLOAT:
        *type = TTR_STORE_REAL;
        return store_convert_real(value->v.f);
    case TTR_TYPE_TEXT:
    case TTR_TYPE_BYTES:
        *type = TTR_STORE_TEXT;
        return value->text_id ? (int64_t)value->text_id
                              : (int64_t)ttr_text_add(t, value->text.p, value->text.n);
    default:
        return TTR_STORE_NULL;
    }
}

static int64_t get_event_cpu(const ttr_event *event)
{
    return event->flags & TTR_EVENT_HAS_CPU ? (int64_t)event->cpu : TTR_STORE_NULL;
}

/* Adds the top-level arguments of an event as rows. */
static bool add_args(ttr_store *store, const ttr_event *event)
{
    const ttr_field *field;
    for (uint32_t n = ttr_event_fields(store->fields, event, &field); n > 0;
         n = ttr_event_fields_next(store->fields, &field))
        for (uint32_t i = 0; i < n; i++) {
            ttr_store_type type;
            if (field[i].depth > 0)
                continue;
            const int64_t value = convert_field_value(store->t, &field[i].value, &type);
            const int64_t key = (int64_t)ttr_text_add(store->t, field[i].name.p, field[i].name.n);
            const char *name = ttr_type_text(field[i].value.type);
            const int64_t row[] = {
                (int64_t)store->events,
                key,
                type == TTR_STORE_INT ? value : TTR_STORE_NULL,
                type == TTR_STORE_TEXT ? value : TTR_STORE_NULL,
                type == TTR_STORE_REAL ? value : TTR_STORE_NULL,
                (int64_t)ttr_text_add(store->t, name, strlen(name)),
            };
            if (!table_append(&store->tables[STORE_ARGS], row))
                return false;
        }
    return true;
}

/* Adds the message of a log event. */
static bool add_log(ttr_store *store, const ttr_event *event)
{
    ttr_field field;
    int64_t message = TTR_STORE_NULL;
    if (ttr_field_find(store->t, event, "message", &field) && field.value.type == TTR_TYPE_TEXT)
        message = (int64_t)ttr_text_add(store->t, field.value.text.p, field.value.text.n);
    const int64_t row[] = {(int64_t)store->events, event->time, store_text_or_null(event->thread),
                           event->level, message};
    return table_append(&store->tables[STORE_LOG], row);
}

static bool add_loss(ttr_store *store, const ttr_event *event)
{
    const char *unit = event->tag == TTR_GAP_PACKETS ? "packets" : "events";
    const int64_t row[] = {event->time, store_clamp(event->duration),
                           event->link ? store_clamp(event->link) : TTR_STORE_NULL,
                           (int64_t)ttr_text_add(store->t, unit, strlen(unit)), event->source};
    return table_append(&store->tables[STORE_LOSS], row);
}

/* Columns of table event, in order. */
enum event_column {
    EVENT_ID,
    EVENT_TS,
    EVENT_DUR,
    EVENT_KIND,
    EVENT_CATEGORY,
    EVENT_NAME,
    EVENT_PROVIDER,
    EVENT_THREAD,
    EVENT_CPU,
    EVENT_LEVEL,
    EVENT_SOURCE,
    EVENT_OFFSET,
    EVENT_ARGS,
    EVENT_COLUMNS
};

/* Appends a value for each event of the batch, from `event`. */
#define APPEND_EACH(value)                                        \
    for (uint32_t i = 0, n; i < batch->n; i += n) {               \
        n = batch->n - i;                                         \
        const ttr_event *event = batch->event + i;                \
        int64_t *values = column_extend(to, &n);                  \
        if (!values)                                              \
            return false;                                         \
        for (uint32_t k = 0; k < n && !batch->pick; k++, event++) \
            values[k] = value;                                    \
        for (uint32_t k = 0; k < n && batch->pick; k++) {         \
            event = &batch->event[batch->pick[i + k]];            \
            values[k] = value;                                    \
        }                                                         \
    }                                                             \
    return true

static bool append_column(const ttr_store *store, const ttr_batch *batch, struct column *to,
                          size_t column)
{
    switch (column) {
    case EVENT_ID:
    case EVENT_ARGS:
        return column_append_sequence(to, batch->n);
    case EVENT_TS:
        APPEND_EACH(event->time);
    case EVENT_DUR:
        APPEND_EACH(store_clamp(event->duration));
    case EVENT_KIND:
        APPEND_EACH(event->kind < TTR_KIND_COUNT ? store->kinds[event->kind] : TTR_STORE_NULL);
    case EVENT_CATEGORY:
        APPEND_EACH(store_text_or_null(event->category));
    case EVENT_NAME:
        APPEND_EACH(store_text_or_null(event->name));
    case EVENT_PROVIDER:
        APPEND_EACH(store_text_or_null(event->provider));
    case EVENT_THREAD:
        APPEND_EACH(store_text_or_null(event->thread));
    case EVENT_CPU:
        APPEND_EACH(get_event_cpu(event));
    case EVENT_LEVEL:
        APPEND_EACH(event->level ? event->level : TTR_STORE_NULL);
    case EVENT_SOURCE:
        APPEND_EACH(event->source);
    default:
        APPEND_EACH(store_clamp(event->offset));
    }
}

bool store_add_events(ttr_store *store, const ttr_batch *batch)
{
    struct table *table = &store->tables[STORE_EVENT];
    if (!table->is_wanted)
        return true;
    for (size_t column = 0; column < EVENT_COLUMNS; column++)
        if (table_wants(table, column) &&
            !append_column(store, batch, &table->columns[column], column))
            return false;
    table->rows += batch->n;
    return true;
}

bool store_add_event(ttr_store *store, const ttr_event *event)
{
    const struct table *tables = store->tables;
    return (!tables[STORE_LOG].is_wanted || event->kind != TTR_KIND_LOG || add_log(store, event)) &&
           (!tables[STORE_LOSS].is_wanted || event->kind != TTR_KIND_GAP ||
            add_loss(store, event)) &&
           (!tables[STORE_ARGS].is_wanted || add_args(store, event));
}

/* --- Tables of event classes --- */

/* Returns the column of a field, adding it if it is new; its earlier rows are NULL. Returns
 * SIZE_MAX if there are too many columns or memory is exhausted. */
static size_t find_or_add_column(ttr_store *store, struct table *table, const ttr_field *field,
                                 ttr_store_type type)
{
    char name[256];
    const ttr_id id = ttr_text_add(store->t, field->name.p, field->name.n);
    ttr_text text = ttr_text_get(store->t, id);
    for (size_t i = 0; i < table->added_n; i++)
        if (table->added[i].name == text.p)
            return table->infos_n + i;
    for (size_t i = 0; i < table->infos_n; i++)
        if (strcmp(table->infos[i].name, text.p) == 0) {
            (void)snprintf(name, sizeof name, "field_%s", text.p);
            text = ttr_text_get(store->t, ttr_text_add(store->t, name, strlen(name)));
        }
    for (size_t i = 0; i < table->added_n; i++)
        if (table->added[i].name == text.p)
            return table->infos_n + i;
    if (table->columns_n >= STORE_COLUMNS_MAX ||
        !alloc_reserve(store->alloc, (void **)&table->added, &table->added_capacity,
                       table->added_n + 1, sizeof *table->added) ||
        !alloc_reserve(store->alloc, (void **)&table->columns, &table->columns_capacity,
                       table->columns_n + 1, sizeof *table->columns))
        return SIZE_MAX;
    struct column *column = &table->columns[table->columns_n];
    column_init(column, &store->pool);
    column->is_unwanted = !store_wants_column(store, text.p);
    for (uint64_t i = 0; i < table->rows; i++)
        if (!column_append(column, TTR_STORE_NULL))
            return SIZE_MAX;
    table->added[table->added_n++] = (struct column_info){
        .name = text.p, .description = "field of the event", .type = (uint8_t)type};
    return table->columns_n++;
}

/* Appends NULL to the columns of fields that the last row lacks. */
static bool fill_row(struct table *table)
{
    for (size_t i = table->infos_n; i < table->columns_n; i++)
        if (table->columns[i].rows < table->rows &&
            !column_append(&table->columns[i], TTR_STORE_NULL))
            return false;
    return true;
}

/* Returns the column of the i-th field of an event, which usually is that of the event before. */
static size_t find_field_column(ttr_store *store, struct table *table, size_t i,
                                const ttr_field *field, ttr_store_type type)
{
    if (i < FIELDS_CACHED && table->fields[i]) {
        const char *name = table_column(table, table->fields[i])->name;
        if (strncmp(name, field->name.p, field->name.n) == 0 && name[field->name.n] == '\0')
            return table->fields[i];
    }
    const size_t column = find_or_add_column(store, table, field, type);
    if (i < FIELDS_CACHED && column != SIZE_MAX)
        table->fields[i] = (uint16_t)column;
    return column;
}

static ttr_store_type get_cell_type(uint8_t type)
{
    return type == TTR_TYPE_FLOAT                            ? TTR_STORE_REAL
           : type == TTR_TYPE_TEXT || type == TTR_TYPE_BYTES ? TTR_STORE_TEXT
                                                             : TTR_STORE_INT;
}

bool store_add_class_row(ttr_store *store, struct table *table, const ttr_event *event)
{
    const ttr_field *field;
    const int64_t row[STORE_CLASS_COLUMNS] = {
        (int64_t)store->events, event->time,
        event->kind == TTR_KIND_SPAN ? store_clamp(event->duration) : TTR_STORE_NULL,
        get_event_cpu(event), store_text_or_null(event->thread)};
    size_t ordinal = 0;
    for (uint32_t n = ttr_event_fields(store->fields, event, &field); n > 0;
         n = ttr_event_fields_next(store->fields, &field))
        for (uint32_t i = 0; i < n; i++, ordinal++) {
            ttr_store_type type = get_cell_type(field[i].value.type);
            if (field[i].depth > 0 || field[i].value.type == TTR_TYPE_ARRAY ||
                field[i].value.type == TTR_TYPE_STRUCT)
                continue;
            const size_t column = find_field_column(store, table, ordinal, &field[i], type);
            if (column == SIZE_MAX)
                return false;
            struct column *to = &table->columns[column];
            if (to->is_unwanted || to->rows > table->rows)
                continue; /* unwanted, or the event has a second field of that name */
            const int64_t value = convert_field_value(store->t, &field[i].value, &type);
            if (table_column(table, column)->type != type && value != TTR_STORE_NULL)
                continue; /* the field has another type than in the first event */
            if (!column_append(to, value))
                return false;
        }
    return table_append(table, row) && fill_row(table);
}
