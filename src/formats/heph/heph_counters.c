/* Sets of event counters as ordered ranges: detection of lost, late and duplicate events.
 *
 * Purpose: each stream numbers its events with a 32-bit counter. Missing numbers are lost events.
 * Events arrive in the order of their ends, and threads share stream 0, so a gap may be filled
 * thousands of events later. Only the end of the trace decides what is lost.
 *
 * Order of calls: heph_counters_add_stream once per new stream; heph_counters_add per event;
 * heph_count_lost_events per stream at the end; heph_counters_clear if another trace follows in the
 * same file.
 *
 * Algorithm: interval set as a sorted array, with binary search by range end.
 *
 *   counters seen: 5 6 7 . . 10 11 . 13      ranges: [5,8) [10,12) [13,14)
 *   add 14: equals `next`, the last range grows in heph_counters_add (the usual case)
 *   add 12: extends [10,12) to [10,13), which then merges with [13,14)
 *   add  6: is inside [5,8), a duplicate
 *   add 20: a new range; 15 to 19 are missing
 *
 * Counters wrap. They are widened to 64 bits by their signed distance to `near`, the last counter
 * in sequence. The first counter of a stream becomes 2^40 + counter, so that earlier ones do not
 * underflow.
 *
 * Invariants: ranges are sorted, disjoint and not adjacent. `next` is the end of the last range.
 * Cost: O(1) for a counter in sequence, O(log n + n) otherwise, for n ranges. Memory is limited by
 * HEPH_RANGES_MAX ranges per stream: beyond that the lowest gap counts as lost forever, and the
 * ranges next to it merge. Left out: counters before the first one of a stream. A single counter
 * that is FAR from all others counts as a damaged counter, not as many lost events. */
#include "formats/heph/heph_counters.h"

#include <string.h>

/* 64-bit position of a stream's first counter. Lower positions are for earlier counters that
 * arrive late. */
#define FIRST_COUNTER_BASE (UINT64_C(1) << 40)

/* Minimum distance of a single counter to its neighbours from which on the counter is treated as
 * damaged. A nearer one is evidence of lost events. */
#define STRAY_DISTANCE_MIN 65536u

void heph_counters_init(struct heph_counters *counters, const struct alloc *alloc)
{
    *counters = (struct heph_counters){.alloc = alloc};
    pair_map_init(&counters->index, alloc);
}

void heph_counters_free(struct heph_counters *counters)
{
    for (size_t i = 0; i < counters->n; i++)
        alloc_free(counters->alloc, counters->streams[i].ranges, counters->streams[i].capacity,
                   sizeof(struct heph_range));
    alloc_free(counters->alloc, counters->streams, counters->capacity, sizeof *counters->streams);
    pair_map_free(&counters->index);
    counters->streams = NULL;
    counters->n = counters->capacity = 0;
}

uint32_t heph_counters_find_stream(const struct heph_counters *counters, uint32_t id)
{
    const uint32_t *known = pair_map_get(&counters->index, id, 0);
    return known ? *known : UINT32_MAX;
}

uint32_t heph_counters_add_stream(struct heph_counters *counters, uint32_t id, bool *is_new)
{
    uint32_t index = heph_counters_find_stream(counters, id);
    *is_new = index == UINT32_MAX;
    if (!*is_new)
        return index;
    void *streams = counters->streams;
    bool has_room = alloc_reserve(counters->alloc, &streams, &counters->capacity, counters->n + 1,
                                  sizeof *counters->streams);
    counters->streams = streams;
    if (!has_room || !pair_map_put(&counters->index, id, 0, (uint32_t)counters->n))
        return UINT32_MAX;
    counters->streams[counters->n] = (struct heph_stream){.id = id};
    return (uint32_t)counters->n++;
}

void heph_counters_clear(struct heph_counters *counters)
{
    for (size_t i = 0; i < counters->n; i++) {
        struct heph_stream *stream = &counters->streams[i];
        stream->n = 0;
        stream->lost_for_good = stream->late = stream->duplicates = stream->restarts = 0;
    }
    counters->any = 0;
}

/* Returns the number of ranges that end before the counter, which is also the index of the first
 * range that contains the counter or is adjacent to it. */
static size_t find_range(const struct heph_stream *stream, uint64_t counter)
{
    size_t low = 0, high = stream->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (stream->ranges[middle].end < counter)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void remove_range(struct heph_stream *stream, size_t at)
{
    memmove(&stream->ranges[at], &stream->ranges[at + 1],
            (stream->n - at - 1) * sizeof *stream->ranges);
    stream->n--;
}

static bool insert_range(struct heph_counters *counters, struct heph_stream *stream, size_t at,
                         uint64_t counter)
{
    if (stream->n >= HEPH_RANGES_MAX) {
        stream->lost_for_good += stream->ranges[1].begin - stream->ranges[0].end;
        stream->ranges[1].begin = stream->ranges[0].begin;
        remove_range(stream, 0);
        at -= at > 0;
    }
    void *ranges = stream->ranges;
    bool has_room = alloc_reserve(counters->alloc, &ranges, &stream->capacity, stream->n + 1,
                                  sizeof *stream->ranges);
    stream->ranges = ranges;
    if (!has_room)
        return false;
    memmove(&stream->ranges[at + 1], &stream->ranges[at],
            (stream->n - at) * sizeof *stream->ranges);
    stream->ranges[at] = (struct heph_range){counter, counter + 1};
    stream->n++;
    return true;
}

/* Extends a range by an adjacent counter. If the next or previous range is adjacent then, merges
 * both. */
static void extend_range(struct heph_stream *stream, size_t at, uint64_t counter)
{
    struct heph_range *range = &stream->ranges[at];
    if (counter == range->end)
        range->end++;
    else
        range->begin--;
    if (at + 1 < stream->n && range->end == range[1].begin) {
        range[1].begin = range->begin;
        remove_range(stream, at);
    } else if (at > 0 && range[-1].end == range->begin) {
        range[-1].end = range->end;
        remove_range(stream, at);
    }
}

bool heph_counters_insert(struct heph_counters *counters, struct heph_stream *stream,
                          uint32_t counter)
{
    if (stream->n == 0)
        stream->near = FIRST_COUNTER_BASE + counter;
    uint64_t wide = stream->near + (uint64_t)(int64_t)(int32_t)(counter - (uint32_t)stream->near);
    size_t at = find_range(stream, wide);
    bool is_there = at < stream->n;
    const struct heph_range *range = is_there ? &stream->ranges[at] : NULL;
    bool is_held = range && wide >= range->begin && wide < range->end;
    bool is_late = stream->n > 0 && wide < stream->ranges[stream->n - 1].end;
    bool is_good = true;
    if (is_held) {
        stream->duplicates++;
        stream->restarts += counter == 0;
    } else if (range && (wide == range->end || wide + 1 == range->begin)) {
        stream->near = wide;
        stream->late += is_late;
        extend_range(stream, at, wide);
    } else {
        uint64_t distance = wide > stream->near ? wide - stream->near : stream->near - wide;
        stream->late += is_late;
        is_good = insert_range(counters, stream, at, wide);
        if (distance < STRAY_DISTANCE_MIN)
            stream->near = wide;
    }
    if (stream->n)
        stream->next = (uint32_t)stream->ranges[stream->n - 1].end;
    return is_good;
}

static bool is_stray_range(const struct heph_stream *stream, size_t at)
{
    const struct heph_range *range = &stream->ranges[at];
    bool is_far_below = at == 0 || range->begin - range[-1].end > STRAY_DISTANCE_MIN;
    bool is_far_above = at + 1 == stream->n || range[1].begin - range->end > STRAY_DISTANCE_MIN;
    return stream->n > 1 && range->end - range->begin == 1 && is_far_below && is_far_above;
}

uint64_t heph_count_lost_events(const struct heph_stream *stream, uint64_t *strays)
{
    uint64_t lost = stream->lost_for_good, end = 0;
    bool is_first = true;
    *strays = 0;
    for (size_t i = 0; i < stream->n; i++) {
        if (is_stray_range(stream, i)) {
            ++*strays;
            continue;
        }
        if (!is_first)
            lost += stream->ranges[i].begin - end;
        end = stream->ranges[i].end;
        is_first = false;
    }
    return lost;
}

uint32_t heph_get_last_counter(const struct heph_stream *stream)
{
    return (uint32_t)stream->near;
}
