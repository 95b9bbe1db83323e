/* Spans that are open, as one stack per lane. A lane is a thread or the track of a CPU.
 *
 * An end closes the span with the same group and key, wherever it is in the stack of its lane. The
 * spans above it have lost their ends.
 *
 * Memory: 40 bytes per open span. Slots are reused. */
#ifndef TRACETTA_MEANING_SPANS_H
#define TRACETTA_MEANING_SPANS_H

#include <stdbool.h>
#include <stdint.h>

#include <tracetta/event.h>

#include "base/alloc.h"

#define SPANS_MAX 1048576u /* open spans; further begins are refused */
#define SPANS_ANY_KEY UINT64_MAX

struct span {
    uint64_t key;
    ttr_id name, category;
    uint32_t below; /* slot below plus 1; of a free slot the next free one */
    uint16_t group;
    uint8_t family; /* which of two event classes that record the same spans began this one */
};

struct span_lane {
    uint32_t top; /* slot plus 1; 0 = no span is open */
};

struct spans {
    const struct alloc *alloc;
    struct span *slot;
    size_t n, capacity;
    uint32_t free; /* first free slot plus 1 */
};

void spans_init(struct spans *spans, const struct alloc *alloc);
void spans_free(struct spans *spans);

/* Returns an unused slot plus 1. Returns 0 if memory runs out or SPANS_MAX are open. */
uint32_t spans_add_slot(struct spans *spans);

/* Opens a span. Returns false if memory runs out or SPANS_MAX are open. */
static inline TTR_MUST bool spans_push(struct spans *spans, struct span_lane *lane,
                                       const struct span *span)
{
    const uint32_t top = spans->free ? spans->free : spans_add_slot(spans);
    if (!top)
        return false;
    struct span *slot = &spans->slot[top - 1];
    if (spans->free)
        spans->free = slot->below;
    *slot = *span;
    slot->below = lane->top;
    lane->top = top;
    return true;
}

/* Returns the number of spans from slot `top` down to the one with a group and key, as
 * spans_depth_of. */
uint32_t spans_find(const struct spans *spans, uint32_t top, uint16_t group, uint64_t key);

/* Returns the innermost span; NULL if none is open. */
static inline const struct span *spans_top(const struct spans *spans, struct span_lane lane)
{
    return lane.top ? &spans->slot[lane.top - 1] : NULL;
}

/* Returns the number of spans from the top of a lane down to the one with a group and key: 1 if it
 * is the innermost, 0 if it is not open. */
static inline uint32_t spans_depth_of(const struct spans *spans, struct span_lane lane,
                                      uint16_t group, uint64_t key)
{
    const struct span *top = spans_top(spans, lane);
    return !top ? 0
           : top->group == group && (key == SPANS_ANY_KEY || top->key == key)
               ? 1
               : spans_find(spans, lane.top, group, key);
}

/* Closes the innermost span and returns it; valid until the next spans_push. The lane must not be
 * empty. */
static inline const struct span *spans_pop(struct spans *spans, struct span_lane *lane)
{
    const uint32_t top = lane->top;
    struct span *span = &spans->slot[top - 1];
    lane->top = span->below;
    span->below = spans->free;
    spans->free = top;
    return span;
}

#endif
