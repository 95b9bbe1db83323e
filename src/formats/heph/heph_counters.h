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

/* A range of counters: begin <= counter < end. */
struct heph_range {
    uint64_t begin, end;
};

struct heph_stream {
    uint32_t id;
    uint32_t next; /* counter that follows the last range directly */
    ttr_id track;
    /* ranges of the counters that were received: sorted, disjoint and not adjacent */
    struct heph_range *ranges;
    size_t n, capacity;
    /* last counter in sequence; new 32-bit counters are extended to 64 bits relative to it */
    uint64_t near;
    /* number of lost events in gaps that were forgotten to limit the number of ranges */
    uint64_t lost_for_good;
    uint64_t late;       /* number of events that filled a gap when they arrived */
    uint64_t duplicates; /* number of events with a counter that an earlier event had */
    /* number of duplicates with counter 0; each one shows that another writer began to use this
     * stream */
    uint64_t restarts;
};

struct heph_counters {
    const struct alloc *alloc;
    struct heph_stream *streams;
    size_t n, capacity;
    struct pair_map index; /* maps (stream id, 0) to an index in `streams` */
    /* bitwise OR of all counters so far; 0 means that the writer does not number events */
    uint32_t any;
};

void heph_counters_init(struct heph_counters *counters, const struct alloc *alloc);
void heph_counters_free(struct heph_counters *counters);

/* Returns the index of a stream. If the stream is new, adds it and sets *is_new to true. Returns
 * UINT32_MAX if memory runs out. */
TTR_MUST uint32_t heph_counters_add_stream(struct heph_counters *counters, uint32_t id,
                                           bool *is_new);

/* Returns the index of a stream; UINT32_MAX if it is unknown. */
uint32_t heph_counters_find_stream(const struct heph_counters *counters, uint32_t id);

/* Adds a counter that does not extend the last range; called by heph_counters_add. Returns false
 * if memory runs out. */
TTR_MUST bool heph_counters_insert(struct heph_counters *counters, struct heph_stream *stream,
                                   uint32_t counter);

/* Adds the counter of an event to the stream with index `index`. Returns false if memory runs out.
 */
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

/* Returns how many events of a stream are lost so far. Ignores single counters that are far from
 * all others, since they must be damaged, and adds their number to *strays. */
uint64_t heph_count_lost_events(const struct heph_stream *stream, uint64_t *strays);

/* Returns the last counter in sequence, in 32 bits as packets store it. */
uint32_t heph_get_last_counter(const struct heph_stream *stream);

/* Removes all counters but not the streams, because a new trace starts in the same file. */
void heph_counters_clear(struct heph_counters *counters);

#endif
