/* The order of slices: by start; of equal starts the longer one is first, then the one that was
 * read first.  Without complete spans, which may have been written at their ends, the lengths do
 * not matter: begins nest in the order in which they were read.
 *
 * If slices were read in order of start, only those of equal start change places, within their
 * columns.  Otherwise all are sorted: by insertion, as few must move in most traces, or by qsort.
 */
#include <stdlib.h>

#include "base/saturate.h"
#include "store/store.h"

struct slice_key {
    int64_t ts, end; /* ns; end is INT64_MAX if there is none, and 0 if lengths do not matter */
    uint32_t row;    /* order of reading */
};

static int compare_keys(const void *left, const void *right)
{
    const struct slice_key *a = left, *b = right;
    if (a->ts != b->ts)
        return a->ts < b->ts ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

/* Sorts keys that are almost sorted. Calls qsort if more than n moves are needed. */
static void sort_keys(struct store_memory *memory, struct slice_key *keys, size_t n)
{
    size_t moves = 0;
    for (size_t i = 1; i < n; i++) {
        store_memory_step(memory, sizeof *keys);
        if (compare_keys(&keys[i - 1], &keys[i]) <= 0)
            continue;
        const struct slice_key moved = keys[i];
        size_t k = i;
        for (; k > 0 && compare_keys(&keys[k - 1], &moved) > 0 && moves < n; k--) {
            keys[k] = keys[k - 1];
            moves++;
        }
        keys[k] = moved;
        if (moves >= n) {
            qsort(keys, n, sizeof *keys, compare_keys);
            return;
        }
    }
}

static struct slice_key get_key(const struct store_slices *slices, uint32_t row)
{
    const int64_t ts = column_get(&slices->columns[SLICE_TS], row);
    if (!slices->has_spans)
        return (struct slice_key){ts, 0, row};
    const int64_t dur = column_get(&slices->columns[SLICE_DUR], row);
    return (struct slice_key){ts, dur < 0 ? INT64_MAX : saturate_end_ns(ts, (uint64_t)dur), row};
}

uint32_t *store_order_slices(ttr_store *store)
{
    const struct store_slices *slices = &store->slices;
    const size_t n = slices->n;
    struct slice_key *keys = alloc_resize(store->alloc, NULL, 0, n, sizeof *keys);
    uint32_t *order = alloc_resize(store->alloc, NULL, 0, n, sizeof *order);
    for (size_t i = 0; keys && i < n; i++) {
        keys[i] = get_key(slices, (uint32_t)i);
        store_memory_step(&store->memory, 2 * sizeof *keys);
    }
    if (keys && order)
        sort_keys(&store->memory, keys, n);
    for (size_t i = 0; keys && order && i < n; i++) {
        order[i] = keys[i].row;
        store_memory_step(&store->memory, sizeof *keys + sizeof *order);
    }
    alloc_free(store->alloc, keys, n, sizeof *keys);
    return order;
}

/* --- Ties --- */

/* Buffers for a group of slices of equal start. */
struct tie_buffers {
    struct slice_key *keys;
    int64_t *values;
    size_t keys_capacity, values_capacity;
};

static bool is_sorted(const struct slice_key *keys, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (compare_keys(&keys[i - 1], &keys[i]) > 0)
            return false;
    return true;
}

/* Sorts the values of a column in a group as the keys are. */
static bool permute_values(struct column *column, const struct slice_tie *tie,
                           const struct tie_buffers *buffers)
{
    column_read(column, tie->row, tie->n, buffers->values);
    for (uint32_t i = 0; i < tie->n; i++)
        if (!column_set(column, (uint64_t)tie->row + i,
                        buffers->values[buffers->keys[i].row - tie->row]))
            return false;
    return true;
}

/* Keeps the order of reading of a group that is sorted by its keys. */
static bool keep_read_rows(ttr_store *store, struct slice_tie *tie, const struct slice_key *keys)
{
    struct store_slices *slices = &store->slices;
    if (!alloc_reserve(store->alloc, (void **)&slices->read_rows, &slices->read_rows_capacity,
                       slices->read_rows_n + tie->n, sizeof *slices->read_rows))
        return false;
    tie->read_rows = (uint32_t)slices->read_rows_n + 1;
    for (uint32_t i = 0; i < tie->n; i++)
        slices->read_rows[slices->read_rows_n++] = keys[i].row;
    return true;
}

static bool sort_tie(ttr_store *store, struct slice_tie *tie, struct tie_buffers *buffers)
{
    struct store_slices *slices = &store->slices;
    if (!alloc_reserve(store->alloc, (void **)&buffers->keys, &buffers->keys_capacity, tie->n,
                       sizeof *buffers->keys) ||
        !alloc_reserve(store->alloc, (void **)&buffers->values, &buffers->values_capacity, tie->n,
                       sizeof *buffers->values))
        return false;
    for (uint32_t i = 0; i < tie->n; i++)
        buffers->keys[i] = get_key(slices, tie->row + i);
    if (is_sorted(buffers->keys, tie->n))
        return true;
    sort_keys(&store->memory, buffers->keys, tie->n);
    if (!keep_read_rows(store, tie, buffers->keys))
        return false;
    for (size_t i = 0; i < SLICE_COLUMNS; i++)
        if (i != SLICE_TS && !slices->columns[i].is_unwanted &&
            !permute_values(&slices->columns[i], tie, buffers))
            return false;
    return true;
}

bool store_sort_ties(ttr_store *store)
{
    const struct store_slices *slices = &store->slices;
    struct tie_buffers buffers = {0};
    bool is_fine = true;
    for (size_t i = 0; slices->has_spans && i < slices->ties_n && is_fine; i++)
        is_fine = sort_tie(store, &slices->ties[i], &buffers);
    alloc_free(store->alloc, buffers.keys, buffers.keys_capacity, sizeof *buffers.keys);
    alloc_free(store->alloc, buffers.values, buffers.values_capacity, sizeof *buffers.values);
    return is_fine;
}

/* Returns the index of the first tie with rows at or after a row. */
static size_t find_tie(const struct store_slices *slices, uint64_t row)
{
    size_t low = 0, high = slices->ties_n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct slice_tie *tie = &slices->ties[middle];
        if ((uint64_t)tie->row + tie->n <= row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void store_get_read_rows(const ttr_store *store, uint64_t row, size_t n, uint32_t *rows)
{
    const struct store_slices *slices = &store->slices;
    for (size_t i = 0; i < n; i++)
        rows[i] = (uint32_t)(row + i);
    for (size_t i = find_tie(slices, row); i < slices->ties_n; i++) {
        const struct slice_tie *tie = &slices->ties[i];
        const uint64_t end = (uint64_t)tie->row + tie->n;
        if (tie->row >= row + n)
            break;
        for (uint64_t at = tie->row > row ? tie->row : row;
             tie->read_rows && at < end && at < row + n; at++)
            rows[at - row] = slices->read_rows[tie->read_rows - 1 + (at - tie->row)];
    }
}
