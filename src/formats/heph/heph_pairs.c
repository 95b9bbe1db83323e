/* Pairing of begins with ends: stacks of open spans.
 *
 * Purpose: Heph has only complete spans. A begin is kept, with its attributes already encoded,
 * until its end arrives.
 *
 * Order of calls: heph_can_keep_begin, heph_pairs_add_begin at a begin, and the caller appends to
 * its `attributes`. heph_pairs_remove_begin at an end returns the innermost begin of the same key.
 * Begins that remain open are found in `begins` at the end of the trace.
 *
 * Data structure: one stack per key as a linked list of slots, and a free list.
 *
 *   key                                              tops              begins
 *   (thread, 0)                  BEGIN, END      --> slot 2 --below--> slot 0 --below--> none
 *   (link, source|1<<32|category) ASYNC_*        --> slot 1 --below--> none
 *   unused                                       --> slot 3 --below--> slot 4 (free list)
 *
 * Invariants: every slot is either open and on one stack, or on the free list. The content of a
 * closed slot stays valid until the next open, which may reuse it. A thread keeps its entry in
 * `tops` when its stack is empty; an asynchronous key is removed. Cost: O(1) hash operations per
 * begin and end. Buffers of closed slots are reused, so no memory is allocated per event once the
 * maximum depth was reached. Limit: at most HEPH_ASYNC_SLOTS_MAX slots for asynchronous begins,
 * since these may never end. Left out: matching names of begin and end; an end always closes the
 * innermost begin of its key. */
#include "formats/heph/heph_pairs.h"

void heph_pairs_init(struct heph_pairs *pairs, const struct alloc *alloc)
{
    *pairs = (struct heph_pairs){.alloc = alloc, .unused = HEPH_NO_BEGIN};
    pair_map_init(&pairs->tops, alloc);
}

void heph_pairs_free(struct heph_pairs *pairs)
{
    for (size_t i = 0; i < pairs->n; i++)
        buffer_free(&pairs->begins[i].attributes);
    alloc_free(pairs->alloc, pairs->begins, pairs->capacity, sizeof *pairs->begins);
    pair_map_free(&pairs->tops);
}

struct pair_key {
    uint64_t a, b;
};

static struct pair_key make_pair_key(const ttr_event *event)
{
    if (event->kind == TTR_KIND_BEGIN || event->kind == TTR_KIND_END)
        return (struct pair_key){event->thread, 0};
    return (struct pair_key){event->link,
                             (uint64_t)event->source << 40 | UINT64_C(1) << 32 | event->category};
}

/* Returns the index of an unused slot. Allocates more slots if needed. Returns HEPH_NO_BEGIN if
 * memory runs out. */
static uint32_t acquire_slot(struct heph_pairs *pairs)
{
    uint32_t slot = pairs->unused;
    if (slot != HEPH_NO_BEGIN) {
        pairs->unused = pairs->begins[slot].below;
        return slot;
    }
    void *begins = pairs->begins;
    bool has_room =
        pairs->n < HEPH_NO_BEGIN &&
        alloc_reserve(pairs->alloc, &begins, &pairs->capacity, pairs->n + 1, sizeof *pairs->begins);
    pairs->begins = begins;
    if (!has_room)
        return HEPH_NO_BEGIN;
    pairs->begins[pairs->n] = (struct heph_begin){.below = HEPH_NO_BEGIN};
    buffer_init(&pairs->begins[pairs->n].attributes, pairs->alloc);
    return (uint32_t)pairs->n++;
}

static void release_slot(struct heph_pairs *pairs, uint32_t slot)
{
    pairs->begins[slot].below = pairs->unused;
    pairs->begins[slot].is_open = false;
    pairs->unused = slot;
}

bool heph_can_keep_begin(const struct heph_pairs *pairs, const ttr_event *event)
{
    return event->kind != TTR_KIND_ASYNC_BEGIN || pairs->unused != HEPH_NO_BEGIN ||
           pairs->n < HEPH_ASYNC_SLOTS_MAX;
}

struct heph_begin *heph_pairs_add_begin(struct heph_pairs *pairs, const ttr_event *event)
{
    struct pair_key key = make_pair_key(event);
    const uint32_t *top = pair_map_get(&pairs->tops, key.a, key.b);
    uint32_t below = top ? *top : HEPH_NO_BEGIN;
    uint32_t slot = acquire_slot(pairs);
    if (slot == HEPH_NO_BEGIN)
        return NULL;
    if (!pair_map_put(&pairs->tops, key.a, key.b, slot)) {
        release_slot(pairs, slot);
        return NULL;
    }
    struct heph_begin *begin = &pairs->begins[slot];
    begin->event = *event;
    begin->below = below;
    begin->is_open = true;
    buffer_clear(&begin->attributes);
    return begin;
}

struct heph_begin *heph_pairs_remove_begin(struct heph_pairs *pairs, const ttr_event *end,
                                           bool *is_good)
{
    struct pair_key key = make_pair_key(end);
    const uint32_t *top = pair_map_get(&pairs->tops, key.a, key.b);
    if (!top || *top == HEPH_NO_BEGIN)
        return NULL;
    uint32_t slot = *top;
    struct heph_begin *begin = &pairs->begins[slot];
    /* Keep the entries of threads, which are few and used again. Remove those of asynchronous ids,
     * which are many and rarely used again. */
    if (begin->below == HEPH_NO_BEGIN && key.b)
        (void)pair_map_remove(&pairs->tops, key.a, key.b);
    else
        *is_good = pair_map_put(&pairs->tops, key.a, key.b, begin->below);
    release_slot(pairs, slot);
    return begin;
}
