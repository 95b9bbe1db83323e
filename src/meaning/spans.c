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

uint32_t spans_add_slot(struct spans *spans)
{
    if (spans->n >= SPANS_MAX ||
        !alloc_reserve(spans->alloc, (void **)&spans->slot, &spans->capacity, spans->n + 1,
                       sizeof *spans->slot))
        return 0;
    return (uint32_t)++spans->n;
}

uint32_t spans_find(const struct spans *spans, uint32_t top, uint16_t group, uint64_t key)
{
    uint32_t depth = 1;
    for (uint32_t at = top; at; at = spans->slot[at - 1].below, depth++)
        if (spans->slot[at - 1].group == group &&
            (key == SPANS_ANY_KEY || spans->slot[at - 1].key == key))
            return depth;
    return 0;
}
