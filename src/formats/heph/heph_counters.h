/* What the counters of the streams tell: which events are missing, late, or there twice.
 *
 * Every stream keeps the exact set of counters seen, as ranges: events arrive in the order they
 * ended and threads share stream 0, so a hole may be filled thousands of events later, and only the
 * end of the trace says what is lost.  The set is bounded: beyond HEPH_RANGES_MAX ranges the lowest
 * hole of the stream is settled as lost. Counters wrap; they are widened to 64 bits by their signed
 * distance to the stream's last run. */
#ifndef TRACETTA_FORMATS_HEPH_COUNTERS_H
#define TRACETTA_FORMATS_HEPH_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include <tracetta/event.h>

#include "base/pairmap.h"

#define HEPH_RANGES_MAX 4096u

/* Counters begin <= c < end. */
struct heph_range {
    uint64_t begin, end;
};

struct heph_stream {
    uint32_t id;
    uint32_t next; /* counter that would extend the last range */
    ttr_id track;
    struct heph_range *ranges; /* ordered, apart from each other */
    size_t n, capacity;
    uint64_t near;       /* a counter of the stream's last run: new ones are near to it */
    uint64_t settled;    /* lost in holes given up */
    uint64_t late;       /* events that filled a hole */
    uint64_t duplicates; /* counters seen again */
    uint64_t restarts;   /* of them, zeros: another writer began on this stream */
};

struct heph_counters {
    const struct alloc *alloc;
    struct heph_stream *streams;
    size_t n, capacity;
    struct pairmap index; /* (stream id, 0) to index */
    uint32_t any;         /* all counters or-ed: 0 means that nobody counts */
};

void heph_counters_init(struct heph_counters *counters, const struct alloc *alloc);
void heph_counters_free(struct heph_counters *counters);

/* Index of a stream, added when new (is_new tells); UINT32_MAX when memory is out. */
TTR_MUST uint32_t heph_counters_stream(struct heph_counters *counters, uint32_t id, bool *is_new);

/* Index of a stream, or UINT32_MAX. */
uint32_t heph_counters_find(const struct heph_counters *counters, uint32_t id);

/* The long way of heph_counters_add; false when memory is out. */
TTR_MUST bool heph_counters_insert(struct heph_counters *counters, struct heph_stream *stream,
                                   uint32_t counter);

/* Counts an event in; false when memory is out. */
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

/* Events lost in a stream by now.  Single counters far from all others are damage, not loss: they
 * come back in `strays`. */
uint64_t heph_stream_lost(const struct heph_stream *stream, uint64_t *strays);

/* The highest counter of the stream's last run. */
uint32_t heph_stream_last(const struct heph_stream *stream);

/* Forgets the counters, not the streams: a new trace begins in the same file. */
void heph_counters_restart(struct heph_counters *counters);

#endif
