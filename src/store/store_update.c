/* Tables of a store that is still being read.
 *
 * Some tables are made at the end of the trace, from data that the builders collect: `ended` lists
 * them.  ttr_store_update makes them from a copy of this data, so that reading can go on.  Their
 * blocks have a pool of their own, which is emptied before they are made again.
 * Cost of an update: that of the end of ttr_store_read, and a copy of the data. */
#include <string.h>

#include "store/saved.h"

static const uint8_t ended[] = {STORE_SLICE,
                                STORE_FLOW,
                                STORE_TRACK,
                                STORE_COUNTER_TRACK,
                                STORE_THREAD_TRACK,
                                STORE_PROCESS_TRACK,
                                STORE_CPU_TRACK,
                                STORE_CPU_COUNTER_TRACK,
                                STORE_PROCESS_COUNTER_TRACK,
                                STORE_THREAD_COUNTER_TRACK,
                                STORE_STACK_CALLSITE,
                                STORE_STACK_FRAME,
                                STORE_STACK_SYMBOL,
                                STORE_STACK_MAPPING,
                                STORE_SCHED,
                                STORE_THREAD_STATE,
                                STORE_THREAD,
                                STORE_PROCESS,
                                STORE_CLASS,
                                STORE_FIELD,
                                STORE_SOURCE,
                                STORE_BOUNDS,
                                STORE_METADATA,
                                STORE_STATS,
                                STORE_DAMAGE};

bool store_is_ended_table(size_t table)
{
    return memchr(ended, (int)table, sizeof ended) != NULL;
}

static void empty_ended_tables(ttr_store *store)
{
    for (size_t i = 0; i < sizeof ended; i++) {
        struct table *table = &store->tables[ended[i]];
        for (size_t k = 0; k < table->columns_n; k++) {
            struct column *column = &table->columns[k];
            column->blocks_n = 0;
            column->tail_n = 0;
            column->rows = 0;
        }
        table->rows = 0;
    }
    block_pool_free(&store->ended_pool);
    block_pool_init(&store->ended_pool, store->alloc);
}

bool store_end_tables(ttr_store *store, ttr_reader *in)
{
    empty_ended_tables(store);
    store_end_counters(store);
    return store_end_threads(store) && store_end_slices(store) && store_end_tracks(store) &&
           store_end_states(store) && store_end_classes(store, in) && store_end_samples(store) &&
           store_end_reports(store, in);
}

/* Data that the end of the tables changes or frees. */
struct kept {
    struct raw_slice *slices;
    size_t slices_n, slices_capacity;
    uint32_t *open; /* open slice of each track */
    struct raw_state *states;
    size_t states_n, states_capacity;
};

/* Replaces collected data by copies. Returns false, with nothing replaced, if memory is exhausted.
 */
static bool keep_data(ttr_store *store, struct kept *kept)
{
    struct store_states *states = &store->states;
    *kept = (struct kept){.slices = store->slices,
                          .slices_n = store->slices_n,
                          .slices_capacity = store->slices_capacity,
                          .open = alloc_zero(store->alloc, store->tracks_n, sizeof *kept->open),
                          .states = states->rows,
                          .states_n = states->rows_n,
                          .states_capacity = states->rows_capacity};
    struct raw_slice *slices = alloc_zero(store->alloc, kept->slices_n, sizeof *slices);
    struct raw_state *rows = alloc_zero(store->alloc, kept->states_n, sizeof *rows);
    if (!kept->open || !slices || !rows) {
        alloc_free(store->alloc, kept->open, store->tracks_n, sizeof *kept->open);
        alloc_free(store->alloc, slices, kept->slices_n, sizeof *slices);
        alloc_free(store->alloc, rows, kept->states_n, sizeof *rows);
        return false;
    }
    if (kept->slices_n)
        memcpy(slices, kept->slices, kept->slices_n * sizeof *slices);
    if (kept->states_n)
        memcpy(rows, kept->states, kept->states_n * sizeof *rows);
    for (size_t i = 0; i < store->tracks_n; i++)
        kept->open[i] = store->tracks[i].open;
    store->slices = slices;
    store->slices_capacity = kept->slices_n;
    states->rows = rows;
    states->rows_capacity = kept->states_n;
    return true;
}

/* Frees what is left of the copies. */
static void restore_data(ttr_store *store, const struct kept *kept)
{
    struct store_states *states = &store->states;
    alloc_free(store->alloc, store->slices, store->slices_capacity, sizeof *store->slices);
    alloc_free(store->alloc, states->rows, states->rows_capacity, sizeof *states->rows);
    store->slices = kept->slices;
    store->slices_n = kept->slices_n;
    store->slices_capacity = kept->slices_capacity;
    states->rows = kept->states;
    states->rows_n = kept->states_n;
    states->rows_capacity = kept->states_capacity;
    for (size_t i = 0; i < store->tracks_n; i++)
        store->tracks[i].open = kept->open[i];
    alloc_free(store->alloc, kept->open, store->tracks_n, sizeof *kept->open);
}

ttr_status ttr_store_update(ttr_store *store, ttr_reader *in, bool is_last, ttr_error *error)
{
    struct kept kept;
    if (store->is_loaded)
        return store_fail_loaded(error);
    if (is_last)
        return store_end_tables(store, in) ? TTR_OK : store_fail_full(store, error);
    store->is_updating = true;
    bool is_fine = keep_data(store, &kept);
    if (is_fine) {
        is_fine = store_end_tables(store, in);
        restore_data(store, &kept);
    }
    store->is_updating = false;
    return is_fine ? TTR_OK : store_fail_full(store, error);
}
