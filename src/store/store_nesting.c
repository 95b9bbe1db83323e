/* Table slice at the end of the trace: parents, depths, own times, and columns of threads.
 *
 * Slices are visited in order of start, longer ones first.  A stack per track has the slices that
 * have not ended: its top is the parent of the next slice.  Cost: O(n). */
#include <string.h>

#include <tracetta/advanced.h>

#include "base/saturate.h"
#include "store/store.h"

/* --- Order --- */

/* Moves or copies the columns that were read to `sorted`, in order of the table. While the store is
 * updated, they stay as they are. */
static bool sort_columns(ttr_store *store, struct column *sorted)
{
    struct store_slices *slices = &store->slices;
    const bool is_moved = !store->is_updating && !slices->is_disordered;
    store_slices_count_rows(slices);
    if (is_moved && (!store_sort_ties(store) || !column_finish(&slices->columns[SLICE_DUR])))
        return false;
    uint32_t *order = is_moved ? NULL : store_order_slices(store);
    bool is_fine = is_moved || order;
    for (size_t i = 0; i < SLICE_COLUMNS && is_fine; i++) {
        struct column *from = &slices->columns[i];
        column_init(&sorted[i], &store->ended_pool);
        if (from->is_unwanted)
            continue;
        if (is_moved) {
            sorted[i] = *from;
            *from = (struct column){0};
        } else {
            is_fine = column_gather(&sorted[i], from, order, slices->n);
        }
    }
    alloc_free(store->alloc, order, slices->n, sizeof *order);
    return is_fine;
}

/* --- Nesting --- */

/* A slice that encloses slices that may follow. */
struct enclosing_slice {
    int64_t end; /* ns; INT64_MAX = it has none */
    uint32_t row, depth;
    uint32_t outer; /* index + 1 of the slice around it, or of the next free item; 0 = none */
};

struct nesting {
    ttr_store *store;
    struct column *columns; /* of table slice */
    struct enclosing_slice *slices;
    size_t slices_n, slices_capacity;
    uint32_t free;  /* index + 1 of the first free item; 0 = none */
    uint32_t *tops; /* index + 1 of the innermost slice of each track; 0 = none */
};

/* Pushes a slice to the stack of its track. Returns false if memory is exhausted. */
static bool push_slice(struct nesting *nesting, uint32_t *top, struct enclosing_slice slice)
{
    uint32_t number = nesting->free;
    if (number) {
        nesting->free = nesting->slices[number - 1].outer;
    } else {
        if (!alloc_reserve(nesting->store->alloc, (void **)&nesting->slices,
                           &nesting->slices_capacity, nesting->slices_n + 1,
                           sizeof *nesting->slices))
            return false;
        number = (uint32_t)++nesting->slices_n;
    }
    slice.outer = *top;
    nesting->slices[number - 1] = slice;
    *top = number;
    return true;
}

/* Pops the slices of a track that end at a time or before. Returns the innermost one that is left,
 * or NULL. */
static const struct enclosing_slice *pop_slices(struct nesting *nesting, uint32_t *top, int64_t ts)
{
    while (*top) {
        const uint32_t number = *top;
        struct enclosing_slice *slice = &nesting->slices[number - 1];
        if (slice->end > ts)
            return slice;
        *top = slice->outer;
        slice->outer = nesting->free;
        nesting->free = number;
    }
    return NULL;
}

/* Subtracts the duration of a child from the own time of a slice. */
static bool subtract_child(struct column *self, uint32_t row, int64_t dur)
{
    const int64_t left = self->is_unwanted ? TTR_STORE_NULL : column_get(self, row);
    return left == TTR_STORE_NULL || column_set(self, row, left > dur ? left - dur : 0);
}

/* Nests n slices from a row on: the values of a block. */
static bool nest_block(struct nesting *nesting, uint64_t row, size_t n)
{
    struct column *self = &nesting->columns[SLICE_SELF];
    int64_t ts[STORE_BLOCK], dur[STORE_BLOCK], track[STORE_BLOCK], depth[STORE_BLOCK],
        parent[STORE_BLOCK];
    column_read(&nesting->columns[SLICE_TS], row, n, ts);
    column_read(&nesting->columns[SLICE_DUR], row, n, dur);
    column_read(&nesting->columns[SLICE_TRACK], row, n, track);
    for (size_t i = 0; i < n; i++) {
        uint32_t *top = &nesting->tops[track[i]];
        const struct enclosing_slice *outer = pop_slices(nesting, top, ts[i]);
        const int64_t end = dur[i] < 0 ? INT64_MAX : saturate_end_ns(ts[i], (uint64_t)dur[i]);
        depth[i] = outer ? outer->depth + 1 : 0;
        parent[i] = outer ? outer->row : TTR_STORE_NULL;
        if (!column_append(self, dur[i] < 0 ? TTR_STORE_NULL : dur[i]) ||
            (outer && dur[i] > 0 && !subtract_child(self, outer->row, dur[i])))
            return false;
        const struct enclosing_slice slice = {
            .end = end, .row = (uint32_t)(row + i), .depth = (uint32_t)depth[i]};
        if (end > ts[i] && !push_slice(nesting, top, slice))
            return false;
    }
    return column_append_all(&nesting->columns[SLICE_DEPTH], depth, n) &&
           column_append_all(&nesting->columns[SLICE_PARENT], parent, n);
}

/* Fills the columns of depths, parents and own times. */
static bool nest_slices(ttr_store *store, struct column *columns)
{
    const struct table *table = &store->tables[STORE_SLICE];
    const size_t n = store->slices.n;
    struct nesting nesting = {.store = store,
                              .columns = columns,
                              .tops =
                                  alloc_zero(store->alloc, store->tracks_n, sizeof *nesting.tops)};
    bool is_fine = nesting.tops != NULL;
    column_init_changing(&columns[SLICE_SELF], &store->ended_pool);
    columns[SLICE_DEPTH].is_unwanted = !table_wants(table, SLICE_DEPTH);
    columns[SLICE_PARENT].is_unwanted = !table_wants(table, SLICE_PARENT) && !store->has_flows;
    columns[SLICE_SELF].is_unwanted = !table_wants(table, SLICE_SELF);
    for (size_t row = 0; row < n && is_fine; row += STORE_BLOCK)
        is_fine = nest_block(&nesting, row, n - row < STORE_BLOCK ? n - row : STORE_BLOCK);
    alloc_free(store->alloc, nesting.tops, store->tracks_n, sizeof *nesting.tops);
    alloc_free(store->alloc, nesting.slices, nesting.slices_capacity, sizeof *nesting.slices);
    return is_fine && column_finish(&columns[SLICE_SELF]);
}

/* --- Columns of threads --- */

static int64_t get_thread_value(const ttr_store *store, ttr_id id, size_t column)
{
    ttr_thread thread = {0};
    (void)ttr_thread_get(store->t, id, &thread);
    switch (column) {
    case SLICE_TID:
        return thread.tid_known ? store_clamp(thread.tid) : TTR_STORE_NULL;
    case SLICE_PID:
        return thread.pid_known ? store_clamp(thread.pid) : TTR_STORE_NULL;
    case SLICE_THREAD_NAME:
        return store_text_or_null(thread.thread_name);
    default:
        return store_text_or_null(thread.process_name);
    }
}

/* Fills a column of values that depend on the thread. */
static bool write_thread_column(ttr_store *store, const struct column *threads, struct column *to,
                                size_t column)
{
    const size_t threads_n = (size_t)ttr_thread_count(store->t) + 1;
    int64_t *known = alloc_zero(store->alloc, threads_n, sizeof *known), values[STORE_BLOCK];
    bool is_fine = known != NULL;
    for (size_t i = 0; is_fine && i < threads_n; i++)
        known[i] = get_thread_value(store, (ttr_id)i, column);
    for (size_t row = 0; row < threads->rows && is_fine; row += STORE_BLOCK) {
        const size_t left = threads->rows - row, n = left < STORE_BLOCK ? left : STORE_BLOCK;
        column_read(threads, row, n, values);
        for (size_t i = 0; i < n; i++)
            values[i] =
                values[i] > 0 && (uint64_t)values[i] < threads_n ? known[values[i]] : known[0];
        is_fine = column_append_all(to, values, n);
    }
    alloc_free(store->alloc, known, threads_n, sizeof *known);
    return is_fine;
}

/* Fills the wanted columns of threads. */
static bool write_thread_columns(ttr_store *store, struct column *columns)
{
    const struct table *table = &store->tables[STORE_SLICE];
    for (size_t i = SLICE_TID; i <= SLICE_PROCESS_NAME; i++)
        if (table_wants(table, i) &&
            !write_thread_column(store, &columns[SLICE_THREAD], &columns[i], i))
            return false;
    return true;
}

/* --- The table --- */

/* Moves the wanted columns to the table and frees the others. */
static void move_to_table(ttr_store *store, struct column *columns)
{
    struct table *table = &store->tables[STORE_SLICE];
    for (size_t i = 0; i < SLICE_COLUMNS; i++) {
        if (table_wants(table, i)) {
            column_free(&table->columns[i]);
            table->columns[i] = columns[i];
        } else {
            column_free(&columns[i]);
        }
    }
    table->rows = table->is_wanted ? store->slices.n : 0;
}

bool store_end_slices(ttr_store *store)
{
    const struct table *table = &store->tables[STORE_SLICE];
    struct column columns[SLICE_COLUMNS] = {0};
    const bool is_nested = table_wants(table, SLICE_DEPTH) || table_wants(table, SLICE_PARENT) ||
                           table_wants(table, SLICE_SELF) || store->has_flows;
    if (!store->has_slices)
        return true;
    bool is_fine = sort_columns(store, columns) && (!is_nested || nest_slices(store, columns)) &&
                   (!store->has_flows || store_end_flows(store, columns)) &&
                   write_thread_columns(store, columns);
    columns[SLICE_ID].is_unwanted = !table_wants(table, SLICE_ID);
    is_fine = is_fine && column_append_sequence(&columns[SLICE_ID], store->slices.n);
    for (size_t i = 0; !is_fine && i < SLICE_COLUMNS; i++)
        column_free(&columns[i]);
    if (!is_fine)
        return false;
    move_to_table(store, columns);
    return store->is_updating || store_slices_finish(store);
}
