/* Sorted runs of events in a temporary file, and their k-way merge: the disk part of sort.c.
 *
 *   runs_init, { runs_begin, runs_add ..., runs_end } ..., runs_open, runs_next until n = 0,
 * runs_free
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
    uint64_t at, end; /* byte offsets in the file */
    unsigned level;
};

/* Read position in a run. */
struct run_cursor {
    uint64_t at, end; /* byte offsets in the file of the part that is not in `bytes` yet */
    uint8_t *bytes;
    size_t capacity, n, head; /* offset of the first event in `bytes` */
    ttr_event event;          /* that event, without payload */
    struct cursor packed;     /* in `bytes`: its payload */
    size_t size;              /* of its record; 0 = it is not whole in `bytes` */
};

struct runs {
    const struct alloc *alloc;
    size_t fan_in, read_bytes;
    struct spill spill;
    struct buffer out; /* not in the file yet */
    ttr_event last;    /* added to it; of a new run all zeros */
    uint8_t *given;    /* payloads of the events given last */
    size_t given_n, given_room;
    struct run *run;
    size_t n, capacity;
    struct run_cursor *cursor;
    size_t cursors_n, cursors_capacity;
    uint32_t *heap; /* cursors with a whole event, least first */
    size_t heap_n, heap_capacity;
    uint32_t dry; /* cursor to be filled before the next event, UINT32_MAX = none */
};

/* fan_in >= 2; read_bytes is the size of a buffer per run. */
void runs_init(struct runs *runs, const struct alloc *alloc, size_t fan_in, size_t read_bytes);
void runs_free(struct runs *runs);

/* Begins a run; add its events in order; end it. */
TTR_MUST ttr_status runs_begin(struct runs *runs, ttr_error *error);
TTR_MUST ttr_status runs_add(struct runs *runs, const ttr_event *event, ttr_error *error);
TTR_MUST ttr_status runs_end(struct runs *runs, ttr_error *error);

/* Makes ready to read all runs as one. */
TTR_MUST ttr_status runs_open(struct runs *runs, ttr_error *error);

/* Gives up to `room` events in order, with payloads borrowed until the next call; n = 0 at the end.
 */
TTR_MUST ttr_status runs_next(struct runs *runs, ttr_event *events, uint32_t room, uint32_t *n,
                              ttr_error *error);

#endif
