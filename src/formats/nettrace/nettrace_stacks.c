/* Stacks.  Events name them by numbers that begin anew at each sequence point; so the bytes of all stacks since then are kept, and found by
 * number when somebody asks.  V3 and older have the stack behind the payload of its event instead. */
#include "base/status.h"
#include "formats/nettrace/nettrace.h"

static bool add_one(struct nettrace_reader *reader, struct cursor *stack, uint32_t size)
{
    struct nettrace_stacks *stacks = &reader->stacks;
    const struct alloc *alloc = &reader->t->counted;
    const uint8_t *addresses = cursor_take(stack, size);
    if (!alloc_reserve(alloc, (void **)&stacks->bytes, &stacks->bytes_capacity, stacks->bytes_n + 4 + size, 1) ||
        !alloc_reserve(alloc, (void **)&stacks->at, &stacks->at_capacity, stacks->at_n + 1, sizeof *stacks->at))
        return false;
    stacks->at[stacks->at_n++] = stacks->bytes_n;
    store_u32le(stacks->bytes + stacks->bytes_n, size);
    memcpy(stacks->bytes + stacks->bytes_n + 4, addresses, size);
    stacks->bytes_n += 4 + (size_t)size;
    return true;
}

bool nettrace_stacks_add(struct nettrace_reader *reader, uint32_t first, uint32_t n, struct cursor *c)
{
    struct nettrace_stacks *stacks = &reader->stacks;
    const struct alloc *alloc = &reader->t->counted;
    if (!alloc_reserve(alloc, (void **)&stacks->ranges, &stacks->ranges_capacity, stacks->ranges_n + 1, sizeof *stacks->ranges))
        return false;
    if (stacks->bytes_n > NETTRACE_REGION_MAX) {
        input_note(reader->in, TTR_NOTE_ODD, c->offset, "nettrace.many-stacks",
                   "more stacks without a sequence point than can be kept; those before are forgotten");
        nettrace_stacks_reset(stacks);
    }
    struct nettrace_stack_range range = {.first = first, .begin = stacks->at_n};
    while (range.n < n && cursor_left(c) >= 4 && load_u32le(c->p) <= cursor_left(c) - 4) {
        uint32_t size = cursor_u32le(c);
        if (!add_one(reader, c, size))
            return false;
        range.n++;
    }
    struct nettrace_stack_range *last = stacks->ranges_n ? &stacks->ranges[stacks->ranges_n - 1] : NULL;
    if (last && last->n <= UINT32_MAX - range.n && range.first - last->first == last->n)
        last->n += range.n;
    else if (range.n)
        stacks->ranges[stacks->ranges_n++] = range;
    c->failed |= range.n < n;
    return true;
}

void nettrace_stacks_reset(struct nettrace_stacks *stacks)
{
    stacks->bytes_n = stacks->at_n = stacks->ranges_n = 0;
}

void nettrace_stacks_free(struct nettrace_reader *reader)
{
    struct nettrace_stacks *stacks = &reader->stacks;
    const struct alloc *alloc = &reader->t->counted;
    alloc_free(alloc, stacks->bytes, stacks->bytes_capacity, 1);
    alloc_free(alloc, stacks->at, stacks->at_capacity, sizeof *stacks->at);
    alloc_free(alloc, stacks->ranges, stacks->ranges_capacity, sizeof *stacks->ranges);
}

/* The latest stack of that number. */
static const uint8_t *find(const struct nettrace_stacks *stacks, uint32_t number)
{
    for (size_t i = stacks->ranges_n; i-- > 0;) {
        const struct nettrace_stack_range *range = &stacks->ranges[i];
        if (number - range->first < range->n)
            return stacks->bytes + stacks->at[range->begin + (number - range->first)];
    }
    return NULL;
}

const uint8_t *nettrace_frames(const struct nettrace_reader *reader, const ttr_event *event, uint32_t *n)
{
    *n = 0;
    if (!event->stack)
        return NULL;
    const uint8_t *stack = reader->version < 4 ? event->payload + event->payload_size : find(&reader->stacks, event->stack);
    if (!stack)
        return NULL;
    *n = load_u32le(stack) >> (reader->pointer_bytes == 8 ? 3 : 2);
    return stack + 4;
}
