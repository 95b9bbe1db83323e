/* Which of many inputs has the next event: a heap of those whose next event is near, a calendar for
 * the others.
 *
 * The time ahead is cut into slices of equal length.  An input whose next event lies in a later
 * slice waits in the list of that slice, at no cost but that of its link; when the slice comes, its
 * inputs go to the heap, which so has one or two entries however many inputs there are.  What lies
 * behind the last slice waits apart until all slices are over; then they are cut anew from the
 * earliest on, longer or shorter by how many events the last ones had (and earlier where they have
 * far too many).  Events that are all at one time fall into one slice, and the heap is one of all
 * inputs: that is the worst.
 *
 * Thread rule: one thread at a time. */
#ifndef TRACETTA_PIPELINE_ORDER_INPUT_QUEUE_H
#define TRACETTA_PIPELINE_ORDER_INPUT_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

#define CALENDAR_SLICES 1024u
#define CALENDAR_NONE UINT32_MAX

/* An input by the rank of its next event; ties go by its number. */
struct calendar_head {
    uint64_t rank;
    uint64_t input;
};

/* An input that waits: in a list of its slice. */
struct calendar_waiting {
    uint64_t rank;
    uint32_t next;
};

struct calendar {
    const struct alloc *alloc;
    struct calendar_head *heap; /* inputs of the slice under way, earliest first */
    size_t heap_n, n;
    uint64_t end;   /* last rank of the slice under way: what is not later is in the heap */
    uint64_t base;  /* first rank of the first slice */
    unsigned shift; /* log2 of the length of a slice */
    uint32_t slice; /* under way */
    uint64_t moves, moves_left; /* since the slices were cut, and until they are cut again because
                                   they are too long */
    struct calendar_waiting *waiting; /* by input */
    uint32_t far;                     /* list of those behind the last slice */
    uint32_t first[CALENDAR_SLICES];
    uint64_t filled[CALENDAR_SLICES / 64]; /* a bit for each slice whose list is not empty */
};

/* For inputs 0 to n - 1; false when memory is out (calendar_free is fine then, too). */
TTR_MUST bool calendar_init(struct calendar *calendar, const struct alloc *alloc, size_t n);
void calendar_free(struct calendar *calendar);

/* Adds an input whose next event has this rank. */
void calendar_add(struct calendar *calendar, size_t input, uint64_t rank);

/* After the first adds: makes the earliest input the top one. */
void calendar_begin(struct calendar *calendar);

/* Takes the top input out: it has no more events. */
void calendar_drop_top(struct calendar *calendar);

/* For calendar_move_top: puts the top input where it belongs; cuts slices before the last ones are
 * over. */
void calendar_sink_top(struct calendar *calendar, uint64_t rank);
void calendar_defer_top(struct calendar *calendar, uint64_t rank);
void calendar_cut_again(struct calendar *calendar);

/* False when no input is left. */
static inline bool calendar_has_top(const struct calendar *calendar)
{
    return calendar->heap_n > 0;
}

/* The input with the earliest event. */
static inline size_t calendar_top(const struct calendar *calendar)
{
    return (size_t)calendar->heap[0].input;
}

static inline bool calendar_is_before(const struct calendar_head *a, const struct calendar_head *b)
{
    return a->rank < b->rank || (a->rank == b->rank && a->input < b->input);
}

/* The top input stays on top as long as its next event has a lower rank than this. */
static inline uint64_t calendar_limit(const struct calendar *calendar)
{
    const struct calendar_head *heap = calendar->heap;
    if (calendar->heap_n < 2)
        return calendar->end;
    return calendar->heap_n == 2 || heap[1].rank < heap[2].rank ? heap[1].rank : heap[2].rank;
}

/* The top input has given `n` events, its next has this rank now. */
static inline void calendar_move_top(struct calendar *calendar, uint64_t rank, uint32_t n)
{
    calendar->moves += n;
    if (calendar->moves > calendar->moves_left)
        calendar_cut_again(calendar);
    if (rank > calendar->end)
        calendar_defer_top(calendar, rank);
    else if (calendar->heap_n == 1)
        calendar->heap[0].rank = rank;
    else
        calendar_sink_top(calendar, rank);
}

#endif
