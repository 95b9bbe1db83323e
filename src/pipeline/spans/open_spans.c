/* Open spans: a stack per thread or track, and a list per async id. Both consist of slots in one
 * array. */
#include "pipeline/spans/open_spans.h"

#include <string.h>

void open_spans_init(struct open_spans *open, const struct alloc *alloc, uint32_t max)
{
    *open = (struct open_spans){.alloc = alloc, .max = max};
    pair_map_init(&open->by_scope, alloc);
    pair_map_init(&open->by_link, alloc);
}

void open_spans_free(struct open_spans *open)
{
    pair_map_free(&open->by_scope);
    pair_map_free(&open->by_link);
    alloc_free(open->alloc, open->left, open->left_capacity, sizeof *open->left);
    alloc_free(open->alloc, open->lane, open->lanes_n, sizeof *open->lane);
    alloc_free(open->alloc, open->slot, open->slots_capacity, sizeof *open->slot);
}

struct open_id open_spans_make_id(const ttr *t, const struct open_event *party)
{
    struct open_id id = {.lane = open_spans_get_lane(party->thread, party->track)};
    id.is_async = party->kind == TTR_KIND_ASYNC_BEGIN || party->kind == TTR_KIND_ASYNC_END;
    if (id.is_async) {
        uint64_t process = party->thread && party->thread < t->threads_n
                               ? (uint64_t)t->threads[party->thread].process + 1
                               : 0;
        id.scope = (party->task ? party->task : process) << 32 | party->category;
        id.link = party->link;
    }
    return id;
}

/* Returns the key of the map by_link: a scope's category, without its process. */
static uint64_t get_scope_category(uint64_t scope)
{
    return scope & UINT32_MAX;
}

static struct open_lane *get_lane(struct open_spans *open, size_t lane)
{
    size_t before = open->lanes_n;
    if (lane < before)
        return &open->lane[lane];
    if (!alloc_reserve(open->alloc, (void **)&open->lane, &open->lanes_n, lane + 1,
                       sizeof *open->lane))
        return NULL;
    memset(open->lane + before, 0, (open->lanes_n - before) * sizeof *open->lane);
    return &open->lane[lane];
}

/* Finds a free slot without reserving it; *slot is OPEN_FULL if there is none. Returns false if
 * memory is exhausted. */
static bool find_innermost_slot(struct open_spans *open, uint32_t *slot)
{
    *slot = open->free - 1;
    if (open->free)
        return true;
    *slot = OPEN_FULL;
    if (open->slots_n >= open->max)
        return true;
    if (!alloc_reserve(open->alloc, (void **)&open->slot, &open->slots_capacity, open->slots_n + 1,
                       sizeof *open->slot))
        return false;
    *slot = (uint32_t)open->slots_n++;
    open->slot[*slot] = (struct open_slot){.below = 0};
    open->free = *slot + 1;
    return true;
}

static uint32_t find_innermost(const struct pair_map *map, uint64_t a, uint64_t b)
{
    const uint32_t *slot = pair_map_get(map, a, b);
    return slot ? *slot : OPEN_NONE;
}

/* Makes an async slot the innermost of two lists: that of its id and scope, and that of its id and
 * category. */
static bool link_async(struct open_spans *open, const struct open_id *id, uint32_t slot)
{
    struct open_slot *ctx = &open->slot[slot];
    uint32_t below = find_innermost(&open->by_scope, id->scope, id->link);
    uint32_t older = find_innermost(&open->by_link, get_scope_category(id->scope), id->link);
    if (!pair_map_put(&open->by_scope, id->scope, id->link, slot))
        return false;
    if (!pair_map_put(&open->by_link, get_scope_category(id->scope), id->link, slot)) {
        /* The undo cannot fail: replacing or removing a map entry needs no memory. */
        if (below == OPEN_NONE || !pair_map_put(&open->by_scope, id->scope, id->link, below))
            (void)pair_map_remove(&open->by_scope, id->scope, id->link);
        return false;
    }
    ctx->below = below;
    ctx->older = older;
    ctx->newer = OPEN_NONE;
    if (older != OPEN_NONE)
        open->slot[older].newer = slot;
    return true;
}

/* Makes `slot` the innermost slot of a map's key. OPEN_NONE removes the key. */
static void set_innermost(struct pair_map *map, uint64_t a, uint64_t b, uint32_t slot)
{
    uint32_t *at = pair_map_get(map, a, b);
    if (slot == OPEN_NONE)
        (void)pair_map_remove(map, a, b);
    else if (at)
        *at = slot;
}

static void unlink_async(struct open_spans *open, uint32_t slot)
{
    const struct open_slot *ctx = &open->slot[slot];
    set_innermost(&open->by_scope, ctx->id.scope, ctx->id.link, ctx->below);
    if (ctx->older != OPEN_NONE)
        open->slot[ctx->older].newer = ctx->newer;
    if (ctx->newer != OPEN_NONE)
        open->slot[ctx->newer].older = ctx->older;
    else
        set_innermost(&open->by_link, get_scope_category(ctx->id.scope), ctx->id.link, ctx->older);
}

bool open_spans_push(struct open_spans *open, const struct open_id *id, uint32_t *slot)
{
    struct open_lane *lane = id->is_async ? NULL : get_lane(open, id->lane);
    if ((!lane && !id->is_async) || !find_innermost_slot(open, slot))
        return false;
    /* Spans of a thread end innermost first. After a begin without a slot, later begins are
     * therefore only counted, until as many ends have arrived. */
    if (*slot == OPEN_FULL || (lane && lane->too_many)) {
        *slot = OPEN_FULL;
        if (lane)
            lane->too_many++;
        return true;
    }
    struct open_slot *ctx = &open->slot[*slot];
    uint32_t next_free = ctx->below;
    if (lane) {
        ctx->below = lane->top;
        lane->top = *slot + 1;
    } else if (!link_async(open, id, *slot)) {
        return false;
    }
    open->free = next_free;
    ctx->id = *id;
    ctx->sequence = ++open->sequence;
    return true;
}

static void release_slot(struct open_spans *open, uint32_t slot)
{
    open->slot[slot].sequence = 0;
    open->slot[slot].below = open->free;
    open->free = slot + 1;
}

static uint32_t pop_lane(struct open_spans *open, size_t at)
{
    struct open_lane *lane = at < open->lanes_n ? &open->lane[at] : NULL;
    if (lane && lane->too_many) {
        lane->too_many--;
        return OPEN_FULL;
    }
    if (!lane || lane->top == 0)
        return OPEN_NONE;
    uint32_t slot = lane->top - 1;
    lane->top = open->slot[slot].below;
    return slot;
}

uint32_t open_spans_pop(struct open_spans *open, const struct open_id *id)
{
    uint32_t slot;
    if (id->is_async) {
        slot = find_innermost(&open->by_scope, id->scope, id->link);
        if (slot == OPEN_NONE)
            slot = find_innermost(&open->by_link, get_scope_category(id->scope), id->link);
        if (slot != OPEN_NONE)
            unlink_async(open, slot);
    } else {
        slot = pop_lane(open, id->lane);
    }
    if (slot != OPEN_NONE && slot != OPEN_FULL)
        release_slot(open, slot);
    return slot;
}

bool open_spans_list_remaining(struct open_spans *open)
{
    /* the second half of the array is scratch space for sorting */
    if (!alloc_reserve(open->alloc, (void **)&open->left, &open->left_capacity, 2 * open->slots_n,
                       sizeof *open->left))
        return false;
    open->left_n = 0;
    for (size_t i = 0; i < open->slots_n; i++)
        if (open->slot[i].sequence)
            open->left[open->left_n++] =
                (struct order_key){.rank = ~open->slot[i].sequence, .index = (uint32_t)i};
    radix_sort_keys(open->left, open->left + open->left_n, open->left_n);
    return true;
}
