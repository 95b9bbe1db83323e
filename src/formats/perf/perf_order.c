/* Queue of scanned records, sorted by time: natural merge sort of their keys.
 *
 * Each pass merges adjacent sorted runs in pairs (a run is a sequence of keys with ascending
 * times). The records between two FINISHED_ROUND marks have about one run per CPU, so there are few
 * passes; a sorted file costs one comparison per record. The sort is stable: records with equal
 * times keep their file order. */
#include "formats/perf/perf.h"

bool perf_queue_record(struct perf_reader *reader, struct perf_key key)
{
    struct perf_order *order = &reader->order;
    if (PERF_UNLIKELY(order->n == order->keys_capacity) &&
        !alloc_reserve(&reader->trace->t->counted, (void **)&order->keys, &order->keys_capacity,
                       order->n + 1, sizeof *order->keys))
        return false;
    order->keys[order->n++] = key;
    return true;
}

/* Returns the end index of the sorted run that starts at index `at`. */
static size_t find_run_end(const struct perf_key *keys, size_t at, size_t n)
{
    for (at++; at < n && keys[at].time >= keys[at - 1].time; at++)
        ;
    return at;
}

/* Merges keys [from, middle) and [middle, end) into `to` at the same indices. */
static void merge_key_runs(const struct perf_key *keys, size_t from, size_t middle, size_t end,
                           struct perf_key *to)
{
    size_t a = from, b = middle, at = from;
    while (a < middle && b < end)
        to[at++] = keys[b].time < keys[a].time ? keys[b++] : keys[a++];
    memcpy(to + at, keys + a, (middle - a) * sizeof *to);
    at += middle - a;
    memcpy(to + at, keys + b, (end - b) * sizeof *to);
}

/* Merges pairs of adjacent sorted runs. Returns the number of runs that remain. */
static size_t merge_adjacent_runs(const struct perf_key *keys, struct perf_key *to, size_t first,
                                  size_t n)
{
    size_t runs = 0;
    for (size_t from = first; from < n; runs++) {
        size_t middle = find_run_end(keys, from, n),
               end = middle < n ? find_run_end(keys, middle, n) : n;
        merge_key_runs(keys, from, middle, end, to);
        from = end;
    }
    return runs;
}

/* Sorts the keys of records that were not emitted yet. */
static bool sort_queue(struct perf_reader *reader)
{
    struct perf_order *order = &reader->order;
    size_t n = order->n;
    if (find_run_end(order->keys, order->emitted_n, n) == n)
        return true;
    if (!alloc_reserve(&reader->trace->t->counted, (void **)&order->spare, &order->spare_capacity,
                       n, sizeof *order->spare))
        return false;
    size_t runs;
    do {
        runs = merge_adjacent_runs(order->keys, order->spare, order->emitted_n, n);
        struct perf_key *keys = order->keys;
        size_t capacity = order->keys_capacity;
        order->keys = order->spare;
        order->keys_capacity = order->spare_capacity;
        order->spare = keys;
        order->spare_capacity = capacity;
    } while (runs > 1);
    return true;
}

bool perf_release_queued_records(struct perf_reader *reader, uint64_t limit)
{
    struct perf_order *order = &reader->order;
    order->limit = limit;
    order->is_emitting = order->n > order->emitted_n;
    return !reader->sorts || !order->is_emitting || sort_queue(reader);
}

/* Returns the lowest offset of any queued record, in the decompressed bytes if `is_unpacked`, else
 * in the file. Returns `most` if no record is queued. */
static uint32_t find_lowest_needed_offset(const struct perf_order *order, bool is_unpacked,
                                          uint64_t most)
{
    uint32_t first = most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
    for (size_t i = 0; i < order->n; i++)
        if (((order->keys[i].size & PERF_KEY_UNPACKED) != 0) == is_unpacked &&
            order->keys[i].at < first)
            first = order->keys[i].at;
    return first;
}

/* Frees the decompressed bytes before `base`, and the perf_piece entries for these bytes. */
static void drop_unpacked_bytes(struct perf_unpacked *unpacked, uint64_t base)
{
    size_t gone = (size_t)(base - unpacked->from), piece = 0;
    if (gone == 0)
        return;
    memmove(unpacked->bytes, unpacked->bytes + gone, unpacked->n - gone);
    unpacked->n -= gone;
    unpacked->from = base;
    while (piece + 1 < unpacked->pieces_n && unpacked->pieces[piece + 1].at <= base)
        piece++;
    unpacked->pieces_n -= piece;
    memmove(unpacked->pieces, unpacked->pieces + piece,
            unpacked->pieces_n * sizeof *unpacked->pieces);
}

void perf_remove_emitted_records(struct perf_reader *reader)
{
    struct perf_order *order = &reader->order;
    order->n -= order->emitted_n;
    if (order->n)
        memmove(order->keys, order->keys + order->emitted_n, order->n * sizeof *order->keys);
    order->emitted_n = 0;
    order->is_emitting = false;
    const uint64_t at[2] = {reader->at, reader->unpacked.at};
    for (unsigned i = 0; i < 2; i++) {
        uint32_t shift = find_lowest_needed_offset(order, i == 1, at[i] - order->base[i]);
        for (size_t k = 0; k < order->n; k++)
            if ((order->keys[k].size & PERF_KEY_UNPACKED ? 1u : 0u) == i)
                order->keys[k].at -= shift;
        order->base[i] = order->n ? order->base[i] + shift : at[i];
    }
    if (reader->unpacked.n)
        drop_unpacked_bytes(&reader->unpacked, order->base[1]);
}

void perf_free_queue(struct perf_reader *reader)
{
    struct perf_order *order = &reader->order;
    const struct alloc *alloc = &reader->in->base.t->counted;
    alloc_free(alloc, order->keys, order->keys_capacity, sizeof *order->keys);
    alloc_free(alloc, order->spare, order->spare_capacity, sizeof *order->spare);
}

ttr_status perf_load_bytes(struct perf_reader *reader, uint64_t offset, uint64_t need,
                           struct perf_span *span)
{
    struct input *in = reader->in;
    struct perf_order *order = &reader->order;
    uint64_t skip = offset - in->window.offset;
    bool is_shown = offset >= in->window.offset && skip <= in->window.n &&
                    in->window.n - skip >= need && in->window.bytes;
    if (!is_shown) {
        if (order->n == 0)
            order->base[0] = offset;
        uint64_t from = order->base[0] < offset ? order->base[0] : offset;
        ttr_status status = input_fill(in, from, (size_t)(offset - from + need), reader->error);
        if (status != TTR_OK)
            return status;
        skip = offset - from;
    }
    skip = skip < in->window.n ? skip : in->window.n;
    *span = (struct perf_span){in->window.bytes + skip, in->window.n - (size_t)skip};
    return TTR_OK;
}
