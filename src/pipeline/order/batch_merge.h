/* Windowed merge of many inputs: reads all events of a time window, input after input, and sorts
 * them at once.
 *
 * A merge that visits one input per event costs more than the event if hundreds of inputs take
 * turns: the input's state has left the nearer caches each time. Here each input is visited once
 * per window. Purpose and result are those of a k-way merge: order by time, then by input; an event
 * that is earlier than the one before it in its input comes right after that one.
 *
 *   can -> init -> next until no events are left -> free
 *
 * Steps of a window
 *   1. It begins at the earliest event to come and ends `span` later.
 *   2. Each input reads its events before the end of the window (reader_read_until). An input that
 *      cannot return all of them, because its buffer or its room is full, shortens the window.
 *   3. Events that may be preceded by unread ones are kept for the next window. Inputs with kept
 *      events are not read before these are returned.
 *   4. The others are sorted by rank (least-significant-digit radix sort) and returned in batches.
 *   5. The span grows if the window had few events, and shrinks if it had many.
 *
 * The rank of an event is its time, or the rank of the event before it in its input if that is
 * higher. Ranks never fall within an input.
 *
 * A sort key: [0..19] index of the event | [20..63] its rank since the begin of the window, ns
 *
 * Cost: one visit per input and window; mostly two passes of the sort per event.
 * Memory: 128 bytes for each of 16 events per input, and for at least 8,192 others.
 * Ownership: the readers are the caller's. Thread rule: one thread at a time. */
#ifndef TRACETTA_PIPELINE_ORDER_BATCH_MERGE_H
#define TRACETTA_PIPELINE_ORDER_BATCH_MERGE_H

#include "model/reader.h"

/* Fewer inputs are merged one event at a time. */
#define BATCH_MERGE_INPUTS_MIN 5u

struct batch_lane;

struct batch_merge {
    const struct alloc *alloc;
    ttr_reader *const *in;
    size_t n;
    ttr_event *events; /* room for `capacity` of them, `used` are read */
    uint64_t *ranks;   /* of these events */
    size_t capacity, used;
    struct batch_lane *lane; /* by input */
    uint32_t *placed;        /* inputs with events, in the order of these in `events` */
    size_t placed_n;
    uint64_t *keys, *spare; /* of the events to return; room for sorting */
    size_t keys_n, returned;
    uint64_t key_most; /* the highest key */
    uint32_t *pick;    /* room for a batch of `room` */
    uint32_t room;
    size_t reading;        /* the input to read next in this window; n: all were read */
    uint64_t begin, until; /* ranks of the window */
    uint64_t span;         /* its length, if nothing shortens it */
    uint64_t surplus;      /* events that inputs may have beyond the room that each has */
    bool is_cut;           /* the window was shortened when it began */
    bool is_shortened;     /* the window was shortened by an input */
    bool is_over;
    ttr_status ending; /* of the first input that failed, else TTR_END */
    ttr_error ending_error;
};

/* Returns whether these inputs can be merged so. Only before they are read. */
bool batch_merge_can(ttr_reader *const *in, size_t n);

/* Begins a merge of `n` inputs (borrowed) in batches of up to `room` events. Returns false when
 * memory is out; batch_merge_free is fine then, too. */
TTR_MUST bool batch_merge_init(struct batch_merge *merge, const struct alloc *alloc,
                               ttr_reader *const *in, size_t n, uint32_t room);
void batch_merge_free(struct batch_merge *merge);

/* Returns the next events, valid until the next call; none at the end, which `ending` explains.
 * TTR_AGAIN if an input has nothing for now. */
TTR_MUST ttr_status batch_merge_next(struct batch_merge *merge, ttr_batch *batch);

#endif
