/* Lost, late and duplicate events of each stream, derived from the event counters.
 *
 * The exact set of counters seen is kept as ranges per stream, limited to HEPH_RANGES_MAX.
 * heph_counters.c describes the algorithm. Results are final only at the end of the trace. */
#ifndef TRACETTA_FORMATS_HEPH_COUNTERS_H
#define TRACETTA_FORMATS_HEPH_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include <tracetta/event.h>

#include "base/pair_map.h"

#define HEPH_RANGES_MAX 4096u

/* The counters c with begin <= c < end. */
struct heph_range {
    uint64_t begin, end;
};

struct heph_stream {
    uint32_t id;
    uint32_t next; /* the counter that would extend the last range */
    ttr_id track;
    struct heph_range *ranges; /* sorted, disjoint and not adjacent */
    size_t n, capacity;
    /* a counter of the last run of the stream; new counters are widened to 64 bits relative to it
     */
    uint64_t near;
    uint64_t lost_for_good; /* events lost in gaps that were dropped from the set */
    uint64_t late;          /* events that filled a gap */
    uint64_t duplicates;    /* counters that were already in the set */
    /* how many of the duplicates are 0, which means that another writer started on this stream */
    uint64_t restarts;
};

struct heph_counters {
    const struct alloc *alloc;
    struct heph_stream *streams;
    size_t n, capacity;
    struct pair_map index; /* maps (stream id, 0) to an index in `streams` */
    uint32_t any;          /* bitwise OR of all counters; 0 if the writer does not count */
};

void heph_counters_init(struct heph_counters *counters, const struct alloc *alloc);
void heph_counters_free(struct heph_counters *counters);

/* Returns the index of a stream and adds it if it is new, which sets *is_new.  Returns UINT32_MAX
 * if out of memory. */
TTR_MUST uint32_t heph_counters_add_stream(struct heph_counters *counters, uint32_t id,
                                           bool *is_new);

/* Returns the index of a stream, UINT32_MAX if it is unknown. */
uint32_t heph_counters_find_stream(const struct heph_counters *counters, uint32_t id);

/* Slow path of heph_counters_add.  Returns false if out of memory. */
TTR_MUST bool heph_counters_insert(struct heph_counters *counters, struct heph_stream *stream,
                                   uint32_t counter);

/* Adds the counter of an event to its stream.  Returns false if out of memory. */
static inline bool heph_counters_add(struct heph_counters *counters, uint32_t index,
                                     uint32_t counter)
{
    struct heph_stream *stream = &counters->streams[index];
    counters->any |= counter;
    if (counter != stream->next || stream->n == 0)
        return heph_counters_insert(counters, stream, counter);
    stream->near = stream->ranges[stream->n - 1].end++;
    stream->next++;
    return true;
}

/* Returns the number of events lost in a stream so far.  Isolated counters far from all others are
 * damaged counters and are counted in *strays instead. */
uint64_t heph_stream_count_lost(const struct heph_stream *stream, uint64_t *strays);

/* Returns the last counter of the stream's last run. */
uint32_t heph_stream_last_counter(const struct heph_stream *stream);

/* Clears the counters but keeps the streams, because a new trace starts in the same file. */
void heph_counters_clear(struct heph_counters *counters);

#endif
