/* The store: its tables, and the pass over a reader that fills them (tracetta/store.h). */
#include "store/store.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include <tracetta/advanced.h>
#include <tracetta/meaning.h>

#include "base/status.h"
#include "model/context.h"
#include "store/saved.h"

#define BYTES_PER_EVENT 64u /* bytes of memory blocks that an event usually writes */

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
        if (strcasecmp(store_definitions[i].name, name) == 0)
            return true;
    return false;
}

/* Marks the columns that options.columns does not name as unwanted. */
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

/* Tables that need spans and instants, counters, and scheduling. */
static const uint8_t slice_tables[] = {STORE_SLICE, STORE_FLOW};
static const uint8_t counter_tables[] = {STORE_COUNTER,
                                         STORE_TRACK,
                                         STORE_COUNTER_TRACK,
                                         STORE_CPU_COUNTER_TRACK,
                                         STORE_THREAD_COUNTER_TRACK,
                                         STORE_PROCESS_COUNTER_TRACK};
static const uint8_t track_tables[] = {STORE_TRACK,
                                       STORE_THREAD_TRACK,
                                       STORE_PROCESS_TRACK,
                                       STORE_CPU_TRACK,
                                       STORE_COUNTER_TRACK,
                                       STORE_CPU_COUNTER_TRACK,
                                       STORE_THREAD_COUNTER_TRACK,
                                       STORE_PROCESS_COUNTER_TRACK};
static const uint8_t sample_tables[] = {STORE_PERF_SAMPLE, STORE_STACK_CALLSITE, STORE_STACK_FRAME,
                                        STORE_STACK_SYMBOL, STORE_STACK_MAPPING};
static const uint8_t state_tables[] = {STORE_SCHED, STORE_THREAD_STATE};

static bool is_any_wanted(const ttr_store *store, const uint8_t *tables, size_t n)
{
    bool is_wanted = false;
    for (size_t i = 0; i < n && !is_wanted; i++)
        is_wanted = store->tables[tables[i]].is_wanted;
    return is_wanted;
}

static bool add_tables(ttr_store *store, const ttr_store_options *options)
{
    for (unsigned i = 0; i < TTR_KIND_COUNT; i++) {
        const char *name = ttr_kind_text(i);
        store->kinds[i] = ttr_text_add(store->t, name, strlen(name));
    }
    for (size_t i = 0; i < STORE_TABLES; i++) {
        struct block_pool *pool = store_is_ended_table(i) ? &store->ended_pool : &store->pool;
        if (!table_init(&store->tables[i], pool, &store_definitions[i]))
            return false;
        store->tables[i].is_wanted = is_table_selected(options, store_definitions[i].name);
    }
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
    store->has_slices = is_any_wanted(store, slice_tables, sizeof slice_tables);
    store->has_samples = is_any_wanted(store, sample_tables, sizeof sample_tables);
    store->has_flows = store->tables[STORE_FLOW].is_wanted;
    store->has_classes =
        store->tables[STORE_CLASS].is_wanted || store->tables[STORE_FIELD].is_wanted;
    store->has_counters = is_any_wanted(store, counter_tables, sizeof counter_tables);
    store->has_track_numbers =
        is_any_wanted(store, track_tables, sizeof track_tables) ||
        ((store->has_slices || store->has_counters) && store_wants_column(store, "track_id"));
    store->has_states = is_any_wanted(store, state_tables, sizeof state_tables);
    for (size_t i = 0; options && options->names && options->names[i]; i++)
        if (!is_table_name(options->names[i]) && !add_class(store, options->names[i]))
            return false;
    return true;
}

ttr_store *ttr_store_new(ttr *t, const ttr_store_options *options, ttr_error *error)
{
    if (!t || (options && options->size != sizeof *options)) {
        (void)fail(error, TTR_E_MISUSE, 0, "options of the store are invalid");
        return NULL;
    }
    ttr_store *store = alloc_zero(alloc_default(), 1, sizeof *store);
    if (store) {
        store->t = t;
        store_memory_init(&store->memory, options ? options->memory : 0);
        const struct alloc *alloc = store->alloc = &store->memory.alloc;
        store->first = INT64_MAX;
        store->last = TTR_STORE_NULL;
        store->latest = INT64_MIN;
        pair_map_init(&store->track_ids, alloc);
        pair_map_init(&store->counter_ids, alloc);
        store_states_init(store);
        store_classes_init(store);
        store_samples_init(store);
        store->fields = ttr_field_buffer_new(t);
        block_pool_init(&store->pool, alloc);
        block_pool_init(&store->ended_pool, alloc);
        if (store->fields && copy_wanted_columns(store, options ? options->columns : NULL) &&
            add_tables(store, options) && store_slices_init(store))
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
    store_slices_free(store);
    alloc_free(alloc, store->thread_tracks, store->thread_tracks_n, sizeof *store->thread_tracks);
    alloc_free(alloc, store->tracks, store->tracks_capacity, sizeof *store->tracks);
    alloc_free(alloc, store->counter_tracks, store->counter_tracks_capacity,
               sizeof *store->counter_tracks);
    alloc_free(alloc, store->process_of, store->process_of_n, sizeof *store->process_of);
    alloc_free(alloc, store->flows, store->flows_capacity, sizeof *store->flows);
    store_states_free(store);
    store_classes_free(store);
    store_samples_free(store);
    for (size_t i = 0; i < store->wanted_n; i++)
        alloc_free(alloc, store->wanted_columns[i], strlen(store->wanted_columns[i]) + 1, 1);
    alloc_free(alloc, store->wanted_columns, store->wanted_columns ? store->wanted_n + 1 : 0,
               sizeof *store->wanted_columns);
    block_pool_free(&store->pool);
    alloc_free(alloc, store->parts, store->parts_n, sizeof *store->parts);
    block_pool_free(&store->ended_pool);
    pair_map_free(&store->track_ids);
    pair_map_free(&store->counter_ids);
    ttr_field_buffer_free(store->fields);
    store_memory_close(&store->memory);
    alloc_free(alloc_default(), store, 1, sizeof *store);
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

/* Returns the table of the events of a name, or NULL. Sets *is_full if memory is exhausted. */
static struct table *get_class_table(ttr_store *store, ttr_id name, bool *is_full)
{
    if (name >= store->class_of_name_n) {
        const size_t n = 2 * (size_t)name + 64;
        uint32_t *grown = alloc_resize(store->alloc, store->class_of_name, store->class_of_name_n,
                                       n, sizeof *grown);
        *is_full = !grown;
        if (!grown)
            return NULL;
        memset(grown + store->class_of_name_n, 0, (n - store->class_of_name_n) * sizeof *grown);
        store->class_of_name = grown;
        store->class_of_name_n = n;
    }
    uint32_t *known = &store->class_of_name[name];
    if (*known == 0) {
        *known = 1;
        for (size_t i = 0; i < store->classes_n && name; i++)
            if (store_is_name_of_class(ttr_text_get(store->t, name), store->classes[i]->name))
                *known = (uint32_t)i + 2;
    }
    return *known > 1 ? store->classes[*known - 2] : NULL;
}

/* Returns true if it is known that the store has no table of the events of a name. */
static inline bool has_no_class_table(const ttr_store *store, ttr_id name)
{
    return name < store->class_of_name_n && store->class_of_name[name] == 1;
}

/* Adds an event to the tables of its name: that of its meaning ("openat"), and that in the trace
 * ("syscall_entry_openat"). */
static bool add_to_class(ttr_store *store, const ttr_event *event)
{
    bool is_full = false;
    ttr_event original;
    struct table *class = has_no_class_table(store, event->name)
                              ? NULL
                              : get_class_table(store, event->name, &is_full);
    if (is_full || (class && !store_add_class_row(store, class, event)))
        return false;
    const ttr_id class_name = context_schema(store->t, event->schema)->class_name;
    if (!class_name || class_name == event->name ||
        !ttr_event_original(store->t, event, &original) || original.name == event->name)
        return true;
    class = get_class_table(store, original.name, &is_full);
    return !is_full && (!class || store_add_class_row(store, class, &original));
}

static bool is_scheduling(const ttr_event *event)
{
    return event->kind == TTR_KIND_SWITCH || event->kind == TTR_KIND_WAKE ||
           event->kind == TTR_KIND_GAP;
}

static bool add_event(ttr_store *store, const ttr_event *event)
{
    if ((store->has_event_tables && !store_add_event(store, event)) ||
        (store->classes_n && !add_to_class(store, event)) ||
        (store->has_classes && !store_add_to_classes(store, event)) ||
        (store->has_samples && !store_add_sample(store, event)) ||
        (store->has_counters && event->kind == TTR_KIND_COUNTER &&
         !store_add_counter(store, event)) ||
        (store->has_states && is_scheduling(event) && !store_add_state(store, event)))
        return false;
    store->events++;
    return true;
}

/* Notes the range and the order of the times. */
static void note_times(ttr_store *store, const ttr_batch *batch)
{
    int64_t latest = store->latest, first = store->first, last = store->last;
    bool is_disordered = false;
    for (uint32_t i = 0; i < batch->n; i++) {
        const ttr_event *event = ttr_batch_at(batch, i);
        is_disordered |= event->time < latest;
        latest = event->time;
        if (event->flags & TTR_EVENT_NO_TIME)
            continue;
        first = latest < first ? latest : first;
        last = latest > last ? latest : last;
    }
    store->latest = latest;
    store->first = first;
    store->last = last;
    store->is_disordered |= is_disordered;
}

static bool add_batch(ttr_store *store, const ttr_batch *batch)
{
    store_memory_step(&store->memory, (size_t)batch->n * BYTES_PER_EVENT);
    if (!store_add_events(store, batch) || (store->has_slices && !store_add_slices(store, batch)) ||
        (!store->has_slices && store->has_track_numbers &&
         !store_number_slice_tracks(store, batch)))
        return false;
    note_times(store, batch);
    if (!store->has_event_tables && store->classes_n == 0 && !store->has_classes &&
        !store->has_samples && !store->has_counters && !store->has_states) {
        store->events += batch->n;
        return true;
    }
    for (uint32_t i = 0; i < batch->n; i++)
        if (!add_event(store, ttr_batch_at(batch, i)))
            return false;
    return true;
}

ttr_status ttr_store_add(ttr_store *store, const ttr_batch *batch, ttr_error *error)
{
    if (store->is_loaded)
        return store_fail_loaded(error);
    return add_batch(store, batch) ? TTR_OK : store_fail_full(store, error);
}

ttr_status ttr_store_read(ttr_store *store, ttr_reader *in, ttr_progress progress, void *user_data,
                          ttr_error *error)
{
    ttr_batch batch;
    ttr_status status;
    bool is_full = false;
    if (store->is_loaded)
        return store_fail_loaded(error);
    while ((status = ttr_read(in, &batch, error)) == TTR_OK || status == TTR_AGAIN) {
        is_full = status == TTR_OK && !add_batch(store, &batch);
        if (is_full || (progress && !progress(user_data))) {
            status = TTR_AGAIN;
            break;
        }
    }
    if (is_full || !store_end_tables(store, in))
        return store_fail_full(store, error);
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
