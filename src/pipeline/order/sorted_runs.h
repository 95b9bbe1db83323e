/* Sorted runs of events in a temporary file, and their k-way merge: the disk part of sort.c.
 *
 *   runs_init, { runs_begin, runs_add ..., runs_finish } ..., runs_open, runs_read_events until n =
 * 0, runs_free
 *
 * Events are ordered by (time, ttr_event.part, run); `part` has the rank of the input meanwhile.
 * When `fan_in` runs of one level exist, they are merged to one run of the next level.  So a merge
 * needs at most `fan_in` buffers for any size of input, and an event is rewritten once per level.
 * Records are packed, since events in memory are many times larger than in the trace.
 *
 * Memory: fan_in * read_bytes, larger only for a record that is larger than read_bytes. */
#ifndef TRACETTA_PIPELINE_ORDER_SORTED_RUNS_H
#define TRACETTA_PIPELINE_ORDER_SORTED_RUNS_H

#include <stdbool.h>

#include <tracetta/event.h>

#include "base/buffer.h"
#include "base/cursor.h"
#include "base/spill.h"

struct run {
    uint64_t at, end; /* start and end offset of the run in the file */
    unsigned level;
};

/* Read position in a run: file range, buffer and next event. */
struct run_cursor {
    uint64_t at, end; /* file offsets of the part that is not in `bytes` yet */
    uint8_t *bytes;
    size_t capacity, n, head; /* capacity and size of `bytes`; offset in it of the next record */
    ttr_event event;          /* the next event, without its payload */
    struct cursor packed;     /* packed payload of the next event, in `bytes` */
    size_t size;              /* size of its record in bytes; 0 = not completely in `bytes` */
};

struct runs {
    const struct alloc *alloc;
    size_t fan_in, read_bytes;
    struct spill spill;
    struct buffer out; /* bytes not written to the file yet */
    ttr_event last;    /* last event added to the current run; zeroed for a new run */
    uint8_t *payloads; /* payloads of the events that the last call returned */
    size_t payloads_n, payloads_room;
    struct run *run;
    size_t n, capacity;
    struct run_cursor *cursor;
    size_t cursors_n, cursors_capacity;
    uint32_t *heap; /* min-heap of the cursors that have a complete event */
    size_t heap_n, heap_capacity;
    /* index of the cursor that must be read next, because it has no complete event; UINT32_MAX =
     * none */
    uint32_t dry;
};

/* Initializes an empty list of runs.  fan_in: runs merged at once, at least 2; read_bytes: buffer
 * per run. */
void runs_init(struct runs *runs, ttr *t, size_t fan_in, size_t read_bytes);
void runs_free(struct runs *runs);

/* runs_begin starts a run with the first event `first`; continues the last run if that ends before
 * it, so that ordered input is one run.  runs_add appends an event (in sorted order), runs_finish
 * completes the run. */
TTR_MUST ttr_status runs_begin(struct runs *runs, const ttr_event *first, ttr_error *error);
TTR_MUST ttr_status runs_add(struct runs *runs, const ttr_event *event, ttr_error *error);
TTR_MUST ttr_status runs_finish(struct runs *runs, ttr_error *error);

/* Prepares runs_read_events: merges runs until at most fan_in are left, and reads the first events.
 */
TTR_MUST ttr_status runs_open(struct runs *runs, ttr_error *error);

/* Returns up to `room` events in sorted order, with payloads borrowed until the next call. Sets *n
 * to 0 at the end. */
TTR_MUST ttr_status runs_read_events(struct runs *runs, ttr_event *events, uint32_t room,
                                     uint32_t *n, ttr_error *error);

#endif
