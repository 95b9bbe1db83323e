/* Windowed merge of many inputs: reads all events of a time window, input by input, and sorts them
 * together.
 *
 * A k-way merge of hundreds of inputs spends most time on cache misses, since it changes the input
 * with almost every event.  This merge visits each input once per window.  The result is the same:
 * order by time, then by input.  An event that is earlier than its predecessor in the same input
 * directly follows it.
 *
 *     batch_merge_is_possible, batch_merge_init, batch_merge_next until no events are left,
 * batch_merge_free
 *
 * Steps of a window
 *   1. It starts at the earliest next event and ends `span` ns later.
 *   2. Each input reads its events before the end of the window (reader_read_until).  An input that
 *      cannot return all of them, because its buffer or its space is full, shortens the window.
 *   3. Events that unread events may precede are kept for the next window.  Inputs with kept events
 *      are not read until these are returned.
 *   4. The other events are sorted by rank (least-significant-digit radix sort) and returned.
 *   5. The span grows if the window had few events, and shrinks if it had many.
 *
 * The rank of an event is its time, or the rank of its predecessor in its input if that is higher.
 * Ranks never decrease within an input.
 *
 *     sort key, 64 bits:  | rank since the start of the window, ns (44) | index of the event (20) |
 *
 * Cost: one visit per input and window, usually two passes of the sort per event.  Memory: 128
 * bytes for each of 16 events per input, and for at least 8,192 others.  The caller owns the
 * readers and uses the merge on one thread at a time. */
#ifndef TRACETTA_PIPELINE_ORDER_BATCH_MERGE_H
#define TRACETTA_PIPELINE_ORDER_BATCH_MERGE_H

#include "model/reader.h"

/* With fewer inputs, merge.c merges event by event. */
#define BATCH_MERGE_INPUTS_MIN 5u

struct batch_input;

struct batch_merge {
    const struct alloc *alloc;
    ttr_reader *const *in;
    size_t n;
    ttr_event *events; /* array of `capacity` events; the first `used` have been read */
    uint64_t *ranks;   /* ranks, indexed like `events` */
    size_t capacity, used;
    struct batch_input *input; /* states of the inputs, in the order of `in` */
    /* numbers of the inputs that have events, in the order in which their events are in `events` */
    uint32_t *placed;
    size_t placed_n;
    /* sort keys of the events to return, and scratch space of the same size */
    uint64_t *keys, *spare;
    size_t keys_n, returned;
    uint64_t key_most; /* the largest key */
    uint32_t *pick;    /* indices of the events of the returned batch, at most `room` */
    uint32_t room;
    size_t reading;        /* number of the next input to read in this window; n = all were read */
    uint64_t begin, until; /* first rank of the window, and the rank after its last */
    uint64_t span;         /* length in ns of the next window, unless something shortens it */
    /* number of events that all inputs together may still read beyond their reserved space */
    uint64_t surplus;
    /* the window ends before the unread events of an input that has kept events */
    bool is_cut;
    bool is_shortened; /* an input has shortened the window, since it could not return all events */
    bool is_over;
    ttr_status ending; /* TTR_END, or the status of the first input that failed */
    ttr_error ending_error;
};

/* Returns true if a windowed merge of these inputs is possible: at least BATCH_MERGE_INPUTS_MIN
 * inputs, all supporting reader_read_until. Call before anything is read. */
bool batch_merge_is_possible(ttr_reader *const *in, size_t n);

/* Initializes a merge of n borrowed inputs in batches of at most `room` events.  Returns false if
 * memory is exhausted; call batch_merge_free in either case. */
TTR_MUST bool batch_merge_init(struct batch_merge *merge, const struct alloc *alloc,
                               ttr_reader *const *in, size_t n, uint32_t room);
void batch_merge_free(struct batch_merge *merge);

/* Returns the next events, borrowed until the next call. Returns an empty batch at the end;
 * `ending` then has the status. Returns TTR_AGAIN if a live input has no data yet. */
TTR_MUST ttr_status batch_merge_next(struct batch_merge *merge, ttr_batch *batch);

#endif
