/* Tables of a store that is still being read.
 *
 * Some tables are made at the end of the trace, from data that the builders collect: `ended` lists
 * them.  While `is_updating`, this data is kept, so that reading can go on.  Their blocks have a
 * pool of their own, which is emptied before they are made again.
 * Cost of an update: that of the end of ttr_store_read, and a copy of the slices. */
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

ttr_status ttr_store_update(ttr_store *store, ttr_reader *in, bool is_last, ttr_error *error)
{
    if (store->is_loaded)
        return store_fail_loaded(error);
    store->is_updating = !is_last;
    const bool is_fine = store_end_tables(store, in);
    store->is_updating = false;
    return is_fine ? TTR_OK : store_fail_full(store, error);
}
