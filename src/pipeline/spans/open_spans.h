/* Finds the begin that belongs to an end.
 *
 *     open_spans_init, { open_spans_make_id, open_spans_push per begin | open_spans_make_id,
 * open_spans_pop per end }, open_spans_list_remaining, open_spans_free
 *
 * Spans of a lane (a thread, or a track without threads) nest: an end closes the innermost span,
 * the top of a stack.  Async spans are found by (process, category, id), activities by (task,
 * category, id).  If none is open, the innermost with the same (category, id) is closed.
 *
 * Only identities are stored here.  The caller stores its data of a slot in a parallel array.  At
 * most `max` spans are open; further begins are counted per lane, so that their ends do not close
 * other spans. */
#ifndef TRACETTA_PIPELINE_SPANS_OPEN_SPANS_H
#define TRACETTA_PIPELINE_SPANS_OPEN_SPANS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pair_map.h"
#include "model/context.h"
#include "pipeline/order/radix_sort.h"

#define OPEN_NONE UINT32_MAX /* result of open_spans_pop: the end has no begin */
/* result of open_spans_push and open_spans_pop: the begin was counted but not stored, because all
 * slots were in use */
#define OPEN_FULL (UINT32_MAX - 1)

/* The identity by which the begin and the end of a span match. */
struct open_id {
    size_t lane;    /* open_spans_get_lane the thread or track, for spans that nest */
    uint64_t scope; /* process and category, for async spans */
    uint64_t link;
    bool is_async;
};

struct open_slot {
    struct open_id id;
    uint64_t sequence; /* number of the begin, increasing; 0 = the slot is free */
    /* slot of the enclosing span; in a free slot: the next free slot */
    uint32_t below;
    /* async spans: neighbours in the list of open slots with this category and id, of all
     * processes */
    uint32_t older, newer;
};

struct open_lane {
    uint32_t top, too_many; /* slot of the innermost open span, plus 1; number of open begins
                             * without a slot */
};

struct open_spans {
    const struct alloc *alloc;
    uint32_t max;
    struct open_slot *slot;
    size_t slots_n, slots_capacity;
    uint32_t free; /* first free slot plus 1; 0 = none */
    struct open_lane *lane;
    size_t lanes_n;
    /* maps to the innermost slot; key of by_scope: process, category and id; key of by_link:
     * category and id */
    struct pair_map by_scope, by_link;
    uint64_t sequence;
    struct order_key *left; /* result of open_spans_list_remaining; key.index is the slot */
    size_t left_n, left_capacity;
};

void open_spans_init(struct open_spans *open, const struct alloc *alloc, uint32_t max);
void open_spans_free(struct open_spans *open);

/* Returns the number of a lane: a thread (even numbers), or a track without threads (odd
 * numbers). */
static inline size_t open_spans_get_lane(ttr_id thread, ttr_id track)
{
    return thread ? (size_t)thread * 2 : (size_t)track * 2 + 1;
}

/* The attributes of a begin or end that determine its identity. `task`: task of an activity as a
 * string id; 0 = no activity. */
struct open_event {
    uint8_t kind;
    ttr_id thread, track, category, task;
    uint64_t link;
};

/* Returns the identity of a begin or end. */
struct open_id open_spans_make_id(const ttr *t, const struct open_event *party);

/* Opens a span and returns its slot in *slot, or OPEN_FULL if all are used. Returns false if memory
 * runs out. */
TTR_MUST bool open_spans_push(struct open_spans *open, const struct open_id *id, uint32_t *slot);

/* Closes the open span that an end belongs to and returns its slot. The slot becomes free; the
 * caller's data for it stays valid until the next open_spans_push. Returns OPEN_NONE if the begin
 * is unknown, OPEN_FULL if the begin has no slot. */
uint32_t open_spans_pop(struct open_spans *open, const struct open_id *id);

/* Lists all open spans, the most recent begin first. Sets open->left to their slots. Returns false
 * if memory is exhausted. */
TTR_MUST bool open_spans_list_remaining(struct open_spans *open);

#endif
