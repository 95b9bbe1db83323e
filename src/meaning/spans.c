/* Stacks of open spans in one array of slots. */
#include "meaning/spans.h"

void spans_init(struct spans *spans, const struct alloc *alloc)
{
    *spans = (struct spans){.alloc = alloc};
}

void spans_free(struct spans *spans)
{
    alloc_free(spans->alloc, spans->slot, spans->capacity, sizeof *spans->slot);
}

bool spans_push(struct spans *spans, struct span_lane *lane, const struct span *span)
{
    uint32_t slot = spans->free - 1;
    if (spans->free) {
        spans->free = spans->slot[slot].below;
    } else {
        if (spans->n >= SPANS_MAX ||
            !alloc_reserve(spans->alloc, (void **)&spans->slot, &spans->capacity, spans->n + 1,
                           sizeof *spans->slot))
            return false;
        slot = (uint32_t)spans->n++;
    }
    spans->slot[slot] = *span;
    spans->slot[slot].below = lane->top;
    lane->top = slot + 1;
    return true;
}

uint32_t spans_depth_of(const struct spans *spans, struct span_lane lane, uint16_t group,
                        uint64_t key)
{
    uint32_t depth = 1;
    for (uint32_t at = lane.top; at; at = spans->slot[at - 1].below, depth++)
        if (spans->slot[at - 1].group == group &&
            (key == SPANS_ANY_KEY || spans->slot[at - 1].key == key))
            return depth;
    return 0;
}

const struct span *spans_top(const struct spans *spans, struct span_lane lane)
{
    return lane.top ? &spans->slot[lane.top - 1] : NULL;
}

struct span spans_pop(struct spans *spans, struct span_lane *lane)
{
    const uint32_t slot = lane->top - 1;
    const struct span span = spans->slot[slot];
    lane->top = span.below;
    spans->slot[slot].below = spans->free;
    spans->free = slot + 1;
    return span;
}
