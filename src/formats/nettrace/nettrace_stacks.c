/* Stacks by number. Numbers start again at each sequence point, so only the stacks since the last
 * one are kept. V1 to V3 have no stack numbers: the stack follows the payload of its event. */
#include "base/status.h"
#include "formats/nettrace/nettrace.h"

static bool store_stack(struct nettrace_reader *reader, struct cursor *stack, uint32_t size)
{
    struct nettrace_stacks *stacks = &reader->stacks;
    const struct alloc *alloc = &reader->t->counted;
    const uint8_t *addresses = cursor_read_bytes(stack, size);
    const size_t padding = (8 - (size & 7)) & 7;
    if (!alloc_reserve(alloc, (void **)&stacks->bytes, &stacks->bytes_capacity,
                       stacks->bytes_n + size + padding, 1) ||
        !alloc_reserve(alloc, (void **)&stacks->at, &stacks->at_capacity, stacks->at_n + 1,
                       sizeof *stacks->at))
        return false;
    stacks->at[stacks->at_n++] = (struct nettrace_stack_extent){stacks->bytes_n, size};
    memcpy(stacks->bytes + stacks->bytes_n, addresses, size);
    stacks->bytes_n += size + padding;
    return true;
}

/* Adds each stack to the map. Only for numbers that are lower than earlier ones, or exceed 32
 * bits. */
static bool index_stacks_one_by_one(struct nettrace_stacks *stacks,
                                    const struct nettrace_stack_range *range)
{
    for (uint32_t i = 0; i < range->n; i++)
        if (!pair_map_put(&stacks->others, (uint32_t)(range->first + i), 0,
                          (uint32_t)(range->begin + i)))
            return false;
    return true;
}

static bool index_stack_range(struct nettrace_stacks *stacks,
                              const struct nettrace_stack_range *range)
{
    struct nettrace_stack_range *last =
        stacks->ranges_n ? &stacks->ranges[stacks->ranges_n - 1] : NULL;
    uint64_t free_from = last ? (uint64_t)last->first + last->n : 0;
    if (range->n == 0)
        return true;
    if (range->first < free_from || (uint64_t)range->first + range->n > UINT64_C(1) << 32)
        return index_stacks_one_by_one(stacks, range);
    if (last && range->first == free_from && range->begin == last->begin + last->n)
        last->n += range->n;
    else
        stacks->ranges[stacks->ranges_n++] = *range;
    return true;
}

/* Enables fast lookup if all stacks have consecutive numbers, and their addresses are 64-bit
 * integers in the byte order of this machine. */
static void update_fast_range(struct nettrace_reader *reader)
{
    struct nettrace_stacks *stacks = &reader->stacks;
    const struct nettrace_stack_range *only = stacks->ranges;
    bool is_usual = stacks->ranges_n == 1 && only->begin == 0 && !stacks->others.used &&
                    reader->pointer_bytes == 8;
    is_usual = is_usual && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    stacks->fast_first = is_usual ? only->first : 0;
    stacks->fast_n = is_usual ? only->n : 0;
}

bool nettrace_stacks_parse(struct nettrace_reader *reader, uint32_t first, uint32_t n,
                           struct cursor *c)
{
    struct nettrace_stacks *stacks = &reader->stacks;
    const struct alloc *alloc = &reader->t->counted;
    if (!alloc_reserve(alloc, (void **)&stacks->ranges, &stacks->ranges_capacity,
                       stacks->ranges_n + 1, sizeof *stacks->ranges))
        return false;
    if (stacks->bytes_n > NETTRACE_WAITING_BYTES_MAX) {
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_ODD, c->offset, "nettrace.many-stacks",
            "more stacks without a sequence point than can be kept; earlier ones are dropped");
        nettrace_stacks_reset(stacks);
    }
    struct nettrace_stack_range range = {.first = first, .begin = stacks->at_n};
    while (range.n < n && cursor_left(c) >= 4 && load_u32le(c->p) <= cursor_left(c) - 4) {
        uint32_t size = cursor_u32le(c);
        if (!store_stack(reader, c, size))
            return false;
        range.n++;
    }
    if (!index_stack_range(stacks, &range))
        return false;
    update_fast_range(reader);
    c->failed |= range.n < n;
    return true;
}

void nettrace_stacks_reset(struct nettrace_stacks *stacks)
{
    stacks->bytes_n = stacks->at_n = stacks->ranges_n = 0;
    stacks->fast_n = 0;
    pair_map_free(&stacks->others);
}

void nettrace_stacks_free(struct nettrace_reader *reader)
{
    struct nettrace_stacks *stacks = &reader->stacks;
    const struct alloc *alloc = &reader->t->counted;
    alloc_free(alloc, stacks->bytes, stacks->bytes_capacity, 1);
    alloc_free(alloc, stacks->at, stacks->at_capacity, sizeof *stacks->at);
    alloc_free(alloc, stacks->ranges, stacks->ranges_capacity, sizeof *stacks->ranges);
    pair_map_free(&stacks->others);
}

/* Returns the stack that was stored last with a number; NULL if there is none. */
static const struct nettrace_stack_extent *find_stack(const struct nettrace_stacks *stacks,
                                                      uint32_t number)
{
    size_t low = 0, high = stacks->ranges_n, none = SIZE_MAX, found = none;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (stacks->ranges[middle].first <= number)
            low = middle + 1;
        else
            high = middle;
    }
    const struct nettrace_stack_range *range = low ? &stacks->ranges[low - 1] : NULL;
    if (range && number - range->first < range->n)
        found = range->begin + (number - range->first);
    const uint32_t *other = stacks->others.used ? pair_map_get(&stacks->others, number, 0) : NULL;
    if (other && (found == none || *other > found))
        found = *other;
    return found == none ? NULL : &stacks->at[found];
}

/* V1 to V3: returns the addresses of the stack after the payload: u32 bytes, addresses. */
static const uint8_t *find_stack_after_payload(const ttr_event *event, uint32_t *bytes)
{
    const uint8_t *p = event->payload + event->payload_size;
    *bytes = load_u32le(p);
    return p + 4;
}

const uint8_t *nettrace_get_stored_frames(const struct nettrace_reader *reader,
                                          const ttr_event *event, uint32_t *n)
{
    const uint8_t *addresses = NULL;
    uint32_t bytes = 0;
    if (reader->version >= 4) {
        const struct nettrace_stack_extent *stack =
            event->stack ? find_stack(&reader->stacks, event->stack) : NULL;
        bytes = stack ? stack->bytes : 0;
        addresses = stack ? reader->stacks.bytes + stack->at : NULL;
    } else if (event->stack) {
        addresses = find_stack_after_payload(event, &bytes);
    }
    *n = bytes >> (reader->pointer_bytes == 8 ? 3 : 2);
    return addresses;
}

/* Copies frames if fast lookup is not possible. Not inline, so that the fast path needs no stack
 * frame. */
static __attribute__((noinline)) uint32_t copy_frames_slow(const struct nettrace_reader *reader,
                                                           const ttr_event *event,
                                                           uint64_t *addresses, uint32_t room)
{
    uint32_t n, bytes = reader->pointer_bytes;
    const uint8_t *at = nettrace_get_stored_frames(reader, event, &n);
    for (uint32_t i = 0; i < n && i < room; i++)
        addresses[i] = nettrace_load_address(at + (size_t)i * bytes, bytes);
    return n;
}

/* Returns the stack of an event by fast lookup (nettrace_stacks); NULL if its number is not in the
 * range. */
static inline const struct nettrace_stack_extent *find_fast_stack(
    const struct nettrace_stacks *stacks, const ttr_event *event)
{
    const uint32_t i = event->stack - stacks->fast_first;
    return NETTRACE_LIKELY(i < stacks->fast_n) ? &stacks->at[i] : NULL;
}

const uint64_t *nettrace_borrow_frames(const void *ctx, const ttr_event *event, uint32_t *n)
{
    const struct nettrace_type *type = ctx;
    const struct nettrace_stacks *stacks = &type->reader->stacks;
    const struct nettrace_stack_extent *stack = find_fast_stack(stacks, event);
    if (NETTRACE_UNLIKELY(!stack || stack->bytes < 8))
        return NULL;
    *n = stack->bytes >> 3;
    return (const uint64_t *)(const void *)(stacks->bytes + stack->at);
}

uint32_t nettrace_copy_frames(const void *ctx, const ttr_event *event, uint64_t *addresses,
                              uint32_t room)
{
    const struct nettrace_type *type = ctx;
    const struct nettrace_stacks *stacks = &type->reader->stacks;
    const struct nettrace_stack_extent *stack = find_fast_stack(stacks, event);
    if (NETTRACE_UNLIKELY(!stack))
        return copy_frames_slow(type->reader, event, addresses, room);
    const uint32_t n = stack->bytes >> 3, copied = n < room ? n : room;
    if (NETTRACE_LIKELY(copied))
        memcpy(addresses, stacks->bytes + stack->at, (size_t)copied * sizeof *addresses);
    return n;
}
