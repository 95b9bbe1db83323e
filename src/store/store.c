/* The store: its tables, and the pass over a reader that fills them (tracetta/store.h). */
#include "store/store.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include <tracetta/advanced.h>

#include "base/status.h"
#include "store/saved.h"

#define INT TTR_STORE_INT
#define REAL TTR_STORE_REAL
#define TEXT TTR_STORE_TEXT

static const struct column_info event_columns[] = {
    {"id", "number of the event", INT, true},
    {"ts", "time in ns", INT, true},
    {"dur", "duration in ns of complete spans and gaps, else 0", INT, false},
    {"kind", "kind of event, as in JSON Lines", TEXT, false},
    {"category", "categories, separated by commas", TEXT, false},
    {"name", "name of the event", TEXT, false},
    {"provider", "component that wrote it", TEXT, false},
    {"utid", "thread, a row of table thread", INT, false},
    {"cpu", "processor", INT, false},
    {"level", "severity: 1 trace to 6 fatal", INT, false},
    {"source", "input, a row of table source", INT, false},
    {"offset", "byte offset in the input", INT, false},
};
static const struct column_info args_columns[] = {
    {"arg_set_id", "number of the event", INT, true},
    {"key", "name of the argument", TEXT, false},
    {"int_value", "value of an integer or a boolean", INT, false},
    {"string_value", "value of a text", TEXT, false},
    {"real_value", "value of a floating-point number", REAL, false},
    {"value_type", "type of the value", TEXT, false},
};
static const struct column_info slice_columns[] = {
    {"id", "number of the slice", INT, true},
    {"ts", "start in ns", INT, true},
    {"dur", "duration in ns; -1 = it did not end; 0 for instants", INT, false},
    {"track_id", "a row of table track", INT, false},
    {"category", "categories, separated by commas", TEXT, false},
    {"name", "name", TEXT, false},
    {"depth", "number of slices around it on its track", INT, false},
    {"parent_id", "slice around it", INT, false},
    {"arg_set_id", "number of its first event; key of table args", INT, false},
    {"self_dur", "duration without the slices directly inside", INT, false},
    {"utid", "thread, a row of table thread", INT, false},
    {"tid", "thread id", INT, false},
    {"pid", "process id", INT, false},
    {"thread_name", "name of the thread", TEXT, false},
    {"process_name", "name of the process", TEXT, false},
};
static const struct column_info track_columns[] = {
    {"id", "number of the track", INT, true},
    {"name", "name of the events of an async track, or of a track without a thread", TEXT, false},
    {"type", "thread_track or async_track", TEXT, false},
    {"utid", "thread, a row of table thread", INT, false},
};
static const struct column_info counter_columns[] = {
    {"id", "number of the value", INT, true},
    {"ts", "time in ns", INT, true},
    {"track_id", "a row of table counter_track", INT, false},
    {"value", "value", REAL, false},
};
static const struct column_info counter_track_columns[] = {
    {"id", "number of the track", INT, true},
    {"name", "name of the counter", TEXT, false},
    {"series", "name of the series", TEXT, false},
    {"counter_id", "id among the counters of that name", INT, false},
    {"utid", "thread, a row of table thread", INT, false},
};
static const struct column_info sched_columns[] = {
    {"id", "number of the row", INT, true},
    {"ts", "start in ns", INT, true},
    {"dur", "time on the processor in ns; -1 = to the end of the trace", INT, false},
    {"cpu", "processor", INT, false},
    {"utid", "thread, a row of table thread", INT, false},
    {"end_state", "state of the thread when it left", TEXT, false},
};
static const struct column_info thread_columns[] = {
    {"utid", "number of the thread", INT, true},
    {"tid", "thread id", INT, false},
    {"name", "name", TEXT, false},
    {"upid", "process, a row of table process", INT, false},
};
static const struct column_info process_columns[] = {
    {"upid", "number of the process", INT, true},
    {"pid", "process id", INT, false},
    {"name", "name", TEXT, false},
};
static const struct column_info log_columns[] = {
    {"id", "number of the event", INT, true},
    {"ts", "time in ns", INT, true},
    {"utid", "thread, a row of table thread", INT, false},
    {"level", "severity: 1 trace to 6 fatal, 0 unknown", INT, false},
    {"message", "text", TEXT, false},
};
static const struct column_info loss_columns[] = {
    {"ts", "start of the gap in ns", INT, true},
    {"dur", "length of the gap in ns, 0 = near ts", INT, false},
    {"count", "missing events or packets; NULL = unknown", INT, false},
    {"unit", "events or packets", TEXT, false},
    {"source", "input, a row of table source", INT, false},
};
static const struct column_info source_columns[] = {
    {"id", "number of the input", INT, true},
    {"path", "path as given", TEXT, false},
    {"format", "name of the format", TEXT, false},
};

static const struct column_info bounds_columns[] = {
    {"start_ts", "time of the first event in ns", INT, true},
    {"end_ts", "time of the last event in ns", INT, false},
};
static const struct column_info metadata_columns[] = {
    {"source", "input, a row of table source", INT, false},
    {"name", "name of the attribute", TEXT, false},
    {"str_value", "its value, if it is a text", TEXT, false},
    {"int_value", "its value, if it is a number", INT, false},
};
static const struct column_info stats_columns[] = {
    {"name", "what is counted", TEXT, false},
    {"source", "input, a row of table source", INT, false},
    {"value", "number", INT, false},
};
static const struct column_info damage_columns[] = {
    {"source", "input, a row of table source", INT, false},
    {"code", "identifier of the finding", TEXT, false},
    {"severity", "remark, odd, or damage", TEXT, false},
    {"count", "occurrences", INT, false},
    {"bytes", "bytes that were not read", INT, false},
    {"offset", "byte offset of the first occurrence", INT, false},
    {"text", "description of the first occurrence", TEXT, false},
};

#define TABLE(name, description, columns)                               \
    {                                                                   \
        name, description, columns, sizeof(columns) / sizeof *(columns) \
    }
static const struct table_definition definitions[STORE_TABLES] = {
    [STORE_EVENT] = TABLE("event", "all events, in order of the trace", event_columns),
    [STORE_ARGS] = TABLE("args", "arguments of events, a row each", args_columns),
    [STORE_SLICE] = TABLE("slice", "spans and instants with their nesting", slice_columns),
    [STORE_TRACK] = TABLE("track", "tracks of slices", track_columns),
    [STORE_COUNTER] = TABLE("counter", "values of counters", counter_columns),
    [STORE_COUNTER_TRACK] = TABLE("counter_track", "series of counters", counter_track_columns),
    [STORE_SCHED] = TABLE("sched", "threads on processors", sched_columns),
    [STORE_THREAD] = TABLE("thread", "threads", thread_columns),
    [STORE_PROCESS] = TABLE("process", "processes", process_columns),
    [STORE_LOG] = TABLE("log", "messages", log_columns),
    [STORE_LOSS] = TABLE("loss", "gaps: lost events and packets", loss_columns),
    [STORE_SOURCE] = TABLE("source", "inputs", source_columns),
    [STORE_BOUNDS] = TABLE("trace_bounds", "times of the first and last event", bounds_columns),
    [STORE_METADATA] = TABLE("metadata", "attributes of the inputs", metadata_columns),
    [STORE_STATS] = TABLE("stats", "counts of each input", stats_columns),
    [STORE_DAMAGE] = TABLE("damage", "findings of the readers", damage_columns),
};

/* Tables that are filled together. */
static const uint8_t needs[][2] = {
    {STORE_TRACK, STORE_SLICE},
    {STORE_SLICE, STORE_TRACK},
    {STORE_COUNTER, STORE_COUNTER_TRACK},
    {STORE_COUNTER_TRACK, STORE_COUNTER},
};

const struct table_definition *store_definition(size_t i)
{
    return &definitions[i];
}

/* --- Creating --- */

static bool is_table_selected(const ttr_store_options *options, const char *name)
{
    if (!options || !options->names)
        return true;
    for (size_t i = 0; options->names[i]; i++)
        if (strcasecmp(options->names[i], name) == 0)
            return true;
    return false;
}

static bool is_table_name(const char *name)
{
    for (size_t i = 0; i < STORE_TABLES; i++)
        if (strcasecmp(definitions[i].name, name) == 0)
            return true;
    return false;
}

/* Marks the columns of a table that options.columns does not name. */
static void select_columns(const ttr_store *store, struct table *table)
{
    for (size_t i = 0; i < table->columns_n; i++)
        table->columns[i].is_unwanted =
            !table->is_wanted || !store_wants_column(store, table->infos[i].name);
}

/* Copies options.columns. Returns false if memory is exhausted. */
static bool copy_wanted_columns(ttr_store *store, const char *const *columns)
{
    size_t n = 0;
    while (columns && columns[n])
        n++;
    if (!columns)
        return true;
    store->wanted_columns = alloc_zero(store->alloc, n + 1, sizeof *store->wanted_columns);
    if (!store->wanted_columns)
        return false;
    for (store->wanted_n = 0; store->wanted_n < n; store->wanted_n++) {
        const size_t size = strlen(columns[store->wanted_n]) + 1;
        char *copy = alloc_zero(store->alloc, size, 1);
        if (!copy)
            return false;
        memcpy(copy, columns[store->wanted_n], size);
        store->wanted_columns[store->wanted_n] = copy;
    }
    return true;
}

/* Adds a table for the events of a name. Returns false if memory is exhausted. */
static bool add_class(ttr_store *store, const char *name)
{
    const ttr_id id = ttr_text_add(store->t, name, strlen(name));
    struct table *table = alloc_zero(store->alloc, 1, sizeof *table);
    const struct table_definition definition = {ttr_text_get(store->t, id).p, "events of this name",
                                                store_class_columns, STORE_CLASS_COLUMNS};
    if (!table || !id ||
        !alloc_reserve(store->alloc, (void **)&store->classes, &store->classes_capacity,
                       store->classes_n + 1, sizeof *store->classes) ||
        !table_init(table, &store->pool, &definition)) {
        alloc_free(store->alloc, table, 1, sizeof *table);
        return false;
    }
    table->is_class = table->is_wanted = true;
    select_columns(store, table);
    store->classes[store->classes_n++] = table;
    return true;
}

static bool add_tables(ttr_store *store, const ttr_store_options *options)
{
    for (unsigned i = 0; i < TTR_KIND_COUNT; i++) {
        const char *name = ttr_kind_text(i);
        store->kinds[i] = ttr_text_add(store->t, name, strlen(name));
    }
    for (size_t i = 0; i < STORE_TABLES; i++) {
        if (!table_init(&store->tables[i], &store->pool, &definitions[i]))
            return false;
        store->tables[i].is_wanted = is_table_selected(options, definitions[i].name);
    }
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        store->tables[needs[i][1]].is_wanted |= store->tables[needs[i][0]].is_wanted;
    for (size_t i = 0; i < STORE_TABLES; i++)
        select_columns(store, &store->tables[i]);
    /* Statements compute times relative to the start of the trace, which is in the table `bounds`.
     * So this table is always loaded. */
    struct table *bounds = &store->tables[STORE_BOUNDS];
    bounds->is_wanted = true;
    for (size_t i = 0; i < bounds->columns_n; i++)
        bounds->columns[i].is_unwanted = false;
    store->has_event_tables = store->tables[STORE_ARGS].is_wanted ||
                              store->tables[STORE_LOG].is_wanted ||
                              store->tables[STORE_LOSS].is_wanted;
    for (size_t i = 0; options && options->names && options->names[i]; i++)
        if (!is_table_name(options->names[i]) && !add_class(store, options->names[i]))
            return false;
    return true;
}

ttr_store *ttr_store_new(ttr *t, const ttr_store_options *options, ttr_error *error)
{
    const struct alloc *alloc = alloc_default();
    if (!t || (options && options->size != sizeof *options)) {
        (void)fail(error, TTR_E_MISUSE, 0, "options of the store are invalid");
        return NULL;
    }
    ttr_store *store = alloc_zero(alloc, 1, sizeof *store);
    if (store) {
        store->t = t;
        store->alloc = alloc;
        store->first = INT64_MAX;
        store->last = TTR_STORE_NULL;
        pair_map_init(&store->track_ids, alloc);
        pair_map_init(&store->counter_ids, alloc);
        store->fields = ttr_field_buffer_new(t);
        block_pool_init(&store->pool, alloc);
        if (store->fields && copy_wanted_columns(store, options ? options->columns : NULL) &&
            add_tables(store, options))
            return store;
    }
    ttr_store_free(store);
    (void)fail(error, TTR_E_NOMEM, 0, "out of memory");
    return NULL;
}

void ttr_store_free(ttr_store *store)
{
    if (!store)
        return;
    const struct alloc *alloc = store->alloc;
    for (size_t i = 0; i < STORE_TABLES; i++)
        table_free(&store->tables[i], alloc);
    for (size_t i = 0; i < store->classes_n; i++) {
        table_free(store->classes[i], alloc);
        alloc_free(alloc, store->classes[i], 1, sizeof *store->classes[i]);
    }
    alloc_free(alloc, store->classes, store->classes_capacity, sizeof *store->classes);
    alloc_free(alloc, store->class_of_name, store->class_of_name_n, sizeof *store->class_of_name);
    alloc_free(alloc, store->slices, store->slices_capacity, sizeof *store->slices);
    alloc_free(alloc, store->thread_tracks, store->thread_tracks_n, sizeof *store->thread_tracks);
    alloc_free(alloc, store->tracks, store->tracks_capacity, sizeof *store->tracks);
    alloc_free(alloc, store->cpus, store->cpus_capacity, sizeof *store->cpus);
    alloc_free(alloc, store->sched, store->sched_capacity, sizeof *store->sched);
    for (size_t i = 0; i < store->wanted_n; i++)
        alloc_free(alloc, store->wanted_columns[i], strlen(store->wanted_columns[i]) + 1, 1);
    alloc_free(alloc, store->wanted_columns, store->wanted_columns ? store->wanted_n + 1 : 0,
               sizeof *store->wanted_columns);
    block_pool_free(&store->pool);
    alloc_free(alloc, store->parts, store->parts_n, sizeof *store->parts);
    pair_map_free(&store->track_ids);
    pair_map_free(&store->counter_ids);
    ttr_field_buffer_free(store->fields);
    alloc_free(alloc, store, 1, sizeof *store);
}

/* --- Reading --- */

/* Compares an event's name with that of a class table: other characters than letters, digits and
 * "_" count as "_", and case is ignored, as in SQL. */
bool store_is_name_of_class(ttr_text name, const char *table)
{
    if (name.n != strlen(table))
        return false;
    for (size_t i = 0; i < name.n; i++) {
        const unsigned char c = (unsigned char)name.p[i];
        if (tolower(isalnum(c) || c >= 128 ? c : '_') != tolower((unsigned char)table[i]))
            return false;
    }
    return true;
}

/* Returns the table of an event's class, or NULL. Sets *is_full if memory is exhausted. */
static struct table *get_class_table(ttr_store *store, const ttr_event *event, bool *is_full)
{
    if (event->name >= store->class_of_name_n) {
        const size_t n = 2 * (size_t)event->name + 64;
        uint32_t *grown = alloc_resize(store->alloc, store->class_of_name, store->class_of_name_n,
                                       n, sizeof *grown);
        *is_full = !grown;
        if (!grown)
            return NULL;
        memset(grown + store->class_of_name_n, 0, (n - store->class_of_name_n) * sizeof *grown);
        store->class_of_name = grown;
        store->class_of_name_n = n;
    }
    uint32_t *known = &store->class_of_name[event->name];
    if (*known == 0) {
        *known = 1;
        for (size_t i = 0; i < store->classes_n && event->name; i++)
            if (store_is_name_of_class(ttr_text_get(store->t, event->name),
                                       store->classes[i]->name))
                *known = (uint32_t)i + 2;
    }
    return *known > 1 ? store->classes[*known - 2] : NULL;
}

/* Adds an event to the table of its class, if there is one. */
static bool add_to_class(ttr_store *store, const ttr_event *event)
{
    bool is_full = false;
    struct table *class = get_class_table(store, event, &is_full);
    return !is_full && (!class || store_add_class_row(store, class, event));
}

static bool add_event(ttr_store *store, const ttr_event *event)
{
    const struct table *tables = store->tables;
    if ((store->has_event_tables && !store_add_event(store, event)) ||
        (store->classes_n && !add_to_class(store, event)) ||
        (tables[STORE_SLICE].is_wanted && !store_add_slice(store, event)) ||
        (event->kind == TTR_KIND_COUNTER && tables[STORE_COUNTER].is_wanted &&
         !store_add_counter(store, event)) ||
        (event->kind == TTR_KIND_SWITCH && tables[STORE_SCHED].is_wanted &&
         !store_add_switch(store, event)))
        return false;
    store->is_disordered |= store->events > 0 && event->time < store->latest;
    store->latest = event->time;
    if (!(event->flags & TTR_EVENT_NO_TIME)) {
        store->first = event->time < store->first ? event->time : store->first;
        store->last = event->time > store->last ? event->time : store->last;
    }
    store->events++;
    return true;
}

static bool add_batch(ttr_store *store, const ttr_batch *batch)
{
    if (!store_add_events(store, batch))
        return false;
    for (uint32_t i = 0; i < batch->n; i++)
        if (!add_event(store, ttr_batch_at(batch, i)))
            return false;
    return true;
}

static bool end_tables(ttr_store *store, ttr_reader *in)
{
    return store_end_slices(store) && store_end_sched(store) && store_end_threads(store) &&
           store_end_reports(store, in);
}

ttr_status ttr_store_read(ttr_store *store, ttr_reader *in, ttr_progress progress, void *user_data,
                          ttr_error *error)
{
    ttr_batch batch;
    ttr_status status;
    bool is_full = false;
    if (store->is_loaded)
        return fail(error, TTR_E_MISUSE, NO_OFFSET, "a loaded store cannot read a trace");
    while ((status = ttr_read(in, &batch, error)) == TTR_OK || status == TTR_AGAIN) {
        is_full = status == TTR_OK && !add_batch(store, &batch);
        if (is_full || (progress && !progress(user_data))) {
            status = TTR_AGAIN;
            break;
        }
    }
    if (is_full || !end_tables(store, in))
        return fail(error, TTR_E_NOMEM, 0, "out of memory");
    return status == TTR_END ? TTR_OK : status;
}

/* --- Tables --- */

static const struct table *get_table(const ttr_store *store, size_t i)
{
    if (i < STORE_TABLES)
        return &store->tables[i];
    return i - STORE_TABLES < store->classes_n ? store->classes[i - STORE_TABLES] : NULL;
}

bool ttr_store_table_at(const ttr_store *store, size_t i, ttr_store_table *about)
{
    const struct table *table = store ? get_table(store, i) : NULL;
    if (!table)
        return false;
    *about = (ttr_store_table){.name = table->name,
                               .description = table->description,
                               .rows = table->rows,
                               .columns = table->columns_n,
                               .is_class = table->is_class,
                               .is_filled = table->is_wanted};
    return true;
}

bool ttr_store_column_at(const ttr_store *store, size_t i, size_t column, ttr_store_column *about)
{
    const struct table *table = get_table(store, i);
    if (!table || column >= table->columns_n)
        return false;
    const struct column_info *info = table_column(table, column);
    /* Rows of slices are sorted; those of other tables are in the order of the events. */
    const bool is_in_order = table == &store->tables[STORE_SLICE] || !store->is_disordered ||
                             strcmp(info->name, "ts") != 0;
    *about = (ttr_store_column){.name = info->name,
                                .description = info->description,
                                .type = (ttr_store_type)info->type,
                                .is_ordered = info->is_ordered && is_in_order,
                                .is_filled = table_wants(table, column)};
    return true;
}

void ttr_store_values(const ttr_store *store, size_t i, size_t column, uint64_t row, size_t n,
                      int64_t *values)
{
    const struct table *table = get_table(store, i);
    if (table && column < table->columns_n)
        column_read(&table->columns[column], row, n, values);
}
