/* Which begin belongs to which end.
 *
 * Spans of a lane (a thread, or a track where there is none) nest: an end closes the innermost.
 * Async spans are found by (process, category, id), activities by (task, category, id), and where
 * no such is open by (category, id) alone: the innermost of those.  This keeps only who is open;
 * what belongs to a slot is kept by the caller in an array beside it. At most `max` spans are open
 * at once; begins past that are counted per lane, so that their ends close nothing else. */
#ifndef TRACETTA_PIPELINE_SPANS_OPEN_SPANS_H
#define TRACETTA_PIPELINE_SPANS_OPEN_SPANS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pair_map.h"
#include "model/context.h"
#include "pipeline/order/radix_sort.h"

#define OPEN_NONE UINT32_MAX       /* an end without a begin */
#define OPEN_FULL (UINT32_MAX - 1) /* a begin that found no room, or its end */

/* What begin and end have in common. */
struct open_id {
    size_t lane;    /* of spans that nest */
    uint64_t scope; /* of async ones: process and category */
    uint64_t link;
    bool is_async;
};

struct open_slot {
    struct open_id id;
    uint64_t sequence;     /* of the begin; 0 = free */
    uint32_t below;        /* what is innermost when this ends, or the next free slot */
    uint32_t older, newer; /* async: of the same category and id in any process */
};

struct open_lane {
    uint32_t top, too_many; /* the innermost, plus 1; begins without room */
};

struct open_spans {
    const struct alloc *alloc;
    uint32_t max;
    struct open_slot *slot;
    size_t slots_n, slots_capacity;
    uint32_t free; /* first free slot, plus 1 */
    struct open_lane *lane;
    size_t lanes_n;
    struct pair_map by_scope, by_link; /* to the innermost slot; by_link: category alone */
    uint64_t sequence;
    struct order_key *left; /* see open_list_left: the slot is the index of the key */
    size_t left_n, left_capacity;
};

void open_init(struct open_spans *open, const struct alloc *alloc, uint32_t max);
void open_free(struct open_spans *open);

/* Lanes are numbered densely: threads and tracks in turn. */
static inline size_t open_lane_of(ttr_id thread, ttr_id track)
{
    return thread ? (size_t)thread * 2 : (size_t)track * 2 + 1;
}

/* What of a begin or end says where it belongs.  `task`: of an activity, 0 = it is none. */
struct open_party {
    uint8_t kind;
    ttr_id thread, track, category, task;
    uint64_t link;
};

/* The identity of a begin or end. */
struct open_id open_id_of(const ttr *t, const struct open_party *party);

/* Opens a span: its slot, or OPEN_FULL.  False when memory is out. */
TTR_MUST bool open_push(struct open_spans *open, const struct open_id *id, uint32_t *slot);

/* Closes the span an end belongs to and gives its slot (free from now on, so what the caller keeps
 * there holds until the next push), OPEN_NONE or OPEN_FULL. */
uint32_t open_pop(struct open_spans *open, const struct open_id *id);

/* Lists the slots of all spans still open, the one opened last first, in open->left; false when
 * memory is out. */
TTR_MUST bool open_list_left(struct open_spans *open);

#endif
