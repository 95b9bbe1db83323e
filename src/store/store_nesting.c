/* Table slice at the end of the trace: parents, depths, own times, and columns of threads.
 *
 * Slices are visited in order.  A stack per track has the slices that have not ended: its top is
 * the parent of the next slice.  Cost: O(n). */
#include <stdlib.h>
#include <string.h>

#include <tracetta/advanced.h>

#include "base/saturate.h"
#include "store/store.h"

/* --- Order --- */

/* Slices in the order of the table. */
struct sorted_slices {
    struct column columns[SLICE_COLUMNS];
    struct slice_ends ends; /* those that are kept, sorted by row in order of reading */
    uint32_t *order;        /* order of reading; NULL = that of the rows but for ties */
};

static int compare_ends(const void *left, const void *right)
{
    const struct slice_end *a = left, *b = right;
    return a->row < b->row ? -1 : a->row > b->row;
}

static void sort_ends(struct slice_ends *ends)
{
    if (ends->n)
        qsort(ends->items, ends->n, sizeof *ends->items, compare_ends);
}

/* Copies the ends that reading kept. */
static bool copy_ends(const ttr_store *store, struct slice_ends *ends)
{
    const struct slice_ends *from = &store->slices.ends;
    for (size_t i = 0; i < from->n; i++)
        if (!store_keep_end(store, ends, from->items[i]))
            return false;
    sort_ends(ends);
    return true;
}

/* Replaces the durations by those of begins and ends that are paired again; *read has those before.
 */
static bool pair_again(ttr_store *store, struct slice_ends *ends, struct column *read)
{
    struct column *dur = &store->slices.columns[SLICE_DUR];
    int64_t values[STORE_BLOCK];
    *read = *dur;
    column_init_changing(dur, &store->ended_pool);
    for (uint64_t row = 0; row < read->rows; row += STORE_BLOCK) {
        const uint64_t left = read->rows - row;
        const size_t n = left < STORE_BLOCK ? (size_t)left : STORE_BLOCK;
        column_read(read, row, n, values);
        if (!column_append_all(dur, values, n))
            return false;
    }
    if (!store_pair_again(store, dur, ends))
        return false;
    sort_ends(ends);
    return true;
}

/* Moves or copies the columns that were read, in order of the table. While the store is updated,
 * they stay as they are. */
static bool sort_columns(ttr_store *store, struct sorted_slices *sorted)
{
    struct store_slices *slices = &store->slices;
    const bool is_moved = !store->is_updating && !slices->is_disordered;
    if (is_moved && (!store_sort_ties(store) || !column_finish(&slices->columns[SLICE_DUR])))
        return false;
    sorted->order = is_moved ? NULL : store_order_slices(store);
    bool is_fine = is_moved || sorted->order;
    for (size_t i = 0; i < SLICE_COLUMNS && is_fine; i++) {
        struct column *from = &slices->columns[i], *to = &sorted->columns[i];
        column_init(to, &store->ended_pool);
        if (from->is_unwanted)
            continue;
        if (is_moved) {
            *to = *from;
            *from = (struct column){0};
        } else {
            is_fine = column_gather(to, from, sorted->order, slices->n);
        }
    }
    return is_fine;
}

/* Pairs slices again if needed, and sorts them. */
static bool sort_slices(ttr_store *store, struct sorted_slices *sorted)
{
    struct column read = {0};
    const bool is_paired_again = store_has_disordered_tracks(store);
    store_slices_count_rows(&store->slices);
    const bool is_fine = copy_ends(store, &sorted->ends) &&
                         (!is_paired_again || pair_again(store, &sorted->ends, &read)) &&
                         sort_columns(store, sorted);
    if (is_paired_again && store->is_updating) {
        column_free(&store->slices.columns[SLICE_DUR]);
        store->slices.columns[SLICE_DUR] = read;
    } else {
        column_free(&read);
    }
    return is_fine;
}

/* --- Nesting --- */

/* A slice that encloses slices that may follow. */
struct enclosing_slice {
    int64_t end; /* ns; INT64_MAX = it has none */
    uint32_t row, depth;
    uint32_t read_before; /* number of slices that were read before its end; 0 = unknown */
    uint32_t outer;       /* index + 1 of the slice around it, or of the next free item; 0 = none */
};

struct nesting {
    ttr_store *store;
    struct column *columns; /* of table slice */
    const struct sorted_slices *sorted;
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

/* A slice that is nested. */
struct next_slice {
    int64_t ts, dur;
    uint32_t read_row; /* row in order of reading */
};

/* Returns true if a slice ended before the next one started.  At equal times, an empty slice is
 * inside of a slice if it was read before the end of that slice. */
static bool has_ended(const struct enclosing_slice *slice, const struct next_slice *next)
{
    if (slice->end != next->ts || next->dur != 0)
        return slice->end <= next->ts;
    return slice->read_before <= next->read_row;
}

/* Pops the slices of a track that ended before the next one. Returns the innermost one that is
 * left, or NULL. */
static const struct enclosing_slice *pop_slices(struct nesting *nesting, uint32_t *top,
                                                const struct next_slice *next)
{
    while (*top) {
        const uint32_t number = *top;
        struct enclosing_slice *slice = &nesting->slices[number - 1];
        if (!has_ended(slice, next))
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

/* Returns the index of the first kept end of a row or a later one. */
static size_t find_end(const struct slice_ends *ends, uint32_t read_row)
{
    size_t low = 0, high = ends->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (ends->items[middle].row < read_row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the number of slices that were read before the end of a slice; 0 if it was not kept. */
static uint32_t find_read_before(const struct slice_ends *ends, uint32_t read_row)
{
    const size_t i = find_end(ends, read_row);
    return i < ends->n && ends->items[i].row == read_row ? ends->items[i].read_before : 0;
}

/* Returns the ends of n slices, and possibly of others. */
static struct slice_ends select_ends(const struct slice_ends *ends, const uint32_t *rows, size_t n)
{
    uint32_t low = UINT32_MAX, high = 0;
    if (ends->n == 0)
        return (struct slice_ends){0};
    for (size_t i = 0; i < n; i++) {
        low = rows[i] < low ? rows[i] : low;
        high = rows[i] > high ? rows[i] : high;
    }
    const size_t from = find_end(ends, low);
    return (struct slice_ends){.items = ends->items + from, .n = find_end(ends, high + 1) - from};
}

/* Returns the rows, in order of reading, of n slices from a row on. */
static void get_read_rows(const struct nesting *nesting, uint64_t row, size_t n, uint32_t *rows)
{
    const struct sorted_slices *sorted = nesting->sorted;
    if (sorted->order)
        memcpy(rows, sorted->order + row, n * sizeof *rows);
    else
        store_get_read_rows(nesting->store, row, n, rows);
}

/* Nests n slices from a row on: the values of a block. */
static bool nest_block(struct nesting *nesting, uint64_t row, size_t n)
{
    struct column *self = &nesting->columns[SLICE_SELF];
    int64_t ts[STORE_BLOCK], dur[STORE_BLOCK], track[STORE_BLOCK], depth[STORE_BLOCK],
        parent[STORE_BLOCK];
    uint32_t read_rows[STORE_BLOCK];
    column_read(&nesting->columns[SLICE_TS], row, n, ts);
    column_read(&nesting->columns[SLICE_DUR], row, n, dur);
    column_read(&nesting->columns[SLICE_TRACK], row, n, track);
    get_read_rows(nesting, row, n, read_rows);
    const struct slice_ends ends = select_ends(&nesting->sorted->ends, read_rows, n);
    for (size_t i = 0; i < n; i++) {
        uint32_t *top = &nesting->tops[track[i]];
        const struct next_slice next = {ts[i], dur[i], read_rows[i]};
        const struct enclosing_slice *outer = pop_slices(nesting, top, &next);
        struct enclosing_slice slice = {
            .end = dur[i] < 0 ? INT64_MAX : saturate_end_ns(ts[i], (uint64_t)dur[i]),
            .row = (uint32_t)(row + i),
            .depth = outer ? outer->depth + 1 : 0};
        depth[i] = slice.depth;
        parent[i] = outer ? outer->row : TTR_STORE_NULL;
        if (!column_append(self, dur[i] < 0 ? TTR_STORE_NULL : dur[i]) ||
            (outer && dur[i] > 0 && !subtract_child(self, outer->row, dur[i])))
            return false;
        if (ends.n)
            slice.read_before = find_read_before(&ends, read_rows[i]);
        if ((dur[i] != 0 || slice.read_before) && !push_slice(nesting, top, slice))
            return false;
    }
    return column_append_all(&nesting->columns[SLICE_DEPTH], depth, n) &&
           column_append_all(&nesting->columns[SLICE_PARENT], parent, n);
}

/* Fills the columns of depths, parents and own times. */
static bool nest_slices(ttr_store *store, struct sorted_slices *sorted)
{
    struct column *columns = sorted->columns;
    const struct table *table = &store->tables[STORE_SLICE];
    const size_t n = store->slices.n;
    struct nesting nesting = {.store = store,
                              .columns = columns,
                              .sorted = sorted,
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
    struct sorted_slices sorted = {0};
    struct column *columns = sorted.columns;
    const bool is_nested = table_wants(table, SLICE_DEPTH) || table_wants(table, SLICE_PARENT) ||
                           table_wants(table, SLICE_SELF) || store->has_flows;
    if (!store->has_slices)
        return true;
    bool is_fine = sort_slices(store, &sorted) && (!is_nested || nest_slices(store, &sorted)) &&
                   (!store->has_flows || store_end_flows(store, columns)) &&
                   write_thread_columns(store, columns);
    columns[SLICE_ID].is_unwanted = !table_wants(table, SLICE_ID);
    is_fine = is_fine && column_append_sequence(&columns[SLICE_ID], store->slices.n);
    alloc_free(store->alloc, sorted.order, store->slices.n, sizeof *sorted.order);
    alloc_free(store->alloc, sorted.ends.items, sorted.ends.capacity, sizeof *sorted.ends.items);
    for (size_t i = 0; !is_fine && i < SLICE_COLUMNS; i++)
        column_free(&columns[i]);
    if (!is_fine)
        return false;
    move_to_table(store, columns);
    return store->is_updating || store_slices_finish(store);
}
