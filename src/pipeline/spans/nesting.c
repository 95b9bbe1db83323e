/* The claim algorithm of nesting.h for streams.  Only (begin, end) of unclaimed spans are stored.
 *
 * Invariant per lane: begins strictly increase along the list, ends never decrease.  So the spans
 * that a new span claims are at the end of the list.  Each span is claimed once: amortized O(1) per
 * span. */
#include "pipeline/spans/nesting.h"

#include <string.h>

#define LANE_ITEMS_MIN 64u

struct nest_item {
    int64_t begin, end;
    uint64_t at;
    /* covered time in ns; less than end - begin if an item represents several spans */
    uint64_t length;
};

void nesting_init(struct nest *nest, const struct alloc *alloc, size_t items_max)
{
    *nest = (struct nest){.alloc = alloc, .items_max = items_max};
}

void nesting_free(struct nest *nest)
{
    for (size_t i = 0; i < nest->lanes_n; i++)
        alloc_free(nest->alloc, nest->lane[i].item, nest->lane[i].capacity,
                   sizeof *nest->lane[i].item);
    alloc_free(nest->alloc, nest->lane, nest->lanes_n, sizeof *nest->lane);
}

static struct nest_lane *get_lane(struct nest *nest, size_t at)
{
    size_t before = nest->lanes_n;
    if (at >= before) {
        if (!alloc_reserve(nest->alloc, (void **)&nest->lane, &nest->lanes_n, at + 1,
                           sizeof *nest->lane))
            return NULL;
        memset(nest->lane + before, 0, (nest->lanes_n - before) * sizeof *nest->lane);
    }
    struct nest_lane *lane = &nest->lane[at];
    if (!lane->is_used) {
        lane->is_used = true;
        lane->last_end = INT64_MIN;
        nest->lanes_used++;
    }
    return lane;
}

/* Returns the time in ns that an item covers before `next`, the begin of the item after it.
 * Overlapping siblings thus count once. */
static uint64_t get_covered_time_before(const struct nest_item *item, int64_t next)
{
    uint64_t overlap = item->end > next ? (uint64_t)item->end - (uint64_t)next : 0;
    return item->length > overlap ? item->length - overlap : 0;
}

/* Joins the older items of a lane (thread or track) in pairs, which halves their memory. */
static void join_older_items(struct nest_lane *lane)
{
    size_t half = lane->n / 4 * 2, to = 0;
    for (size_t i = 0; i < half; i += 2) {
        struct nest_item *a = &lane->item[i], *b = &lane->item[i + 1];
        lane->item[to++] = (struct nest_item){a->begin, b->end, a->at,
                                              get_covered_time_before(a, b->begin) + b->length};
    }
    memmove(lane->item + to, lane->item + half, (lane->n - half) * sizeof *lane->item);
    lane->n -= half - to;
}

static bool push_item(struct nest *nest, struct nest_lane *lane, const struct nest_span *span)
{
    if (lane->n == lane->capacity) {
        size_t share = nest->items_max / nest->lanes_used;
        if (lane->n >= (share > LANE_ITEMS_MIN ? share : LANE_ITEMS_MIN))
            join_older_items(lane);
        else if (!alloc_reserve(nest->alloc, (void **)&lane->item, &lane->capacity, lane->n + 1,
                                sizeof *lane->item))
            return false;
    }
    lane->item[lane->n++] = (struct nest_item){span->begin, span->end, span->at,
                                               (uint64_t)span->end - (uint64_t)span->begin};
    return true;
}

bool nesting_add(struct nest *nest, size_t at, const struct nest_span *span, uint64_t *covered)
{
    struct nest_lane *lane = get_lane(nest, at);
    *covered = 0;
    if (!lane)
        return false;
    if (span->end < lane->last_end) {
        nest->late++;
        return true;
    }
    lane->last_end = span->end;
    int64_t next = span->end;
    for (; lane->n > 0; lane->n--) {
        const struct nest_item *item = &lane->item[lane->n - 1];
        if (!nesting_is_inside(item->begin, item->at, span->begin, span->from))
            break;
        *covered += get_covered_time_before(item, next);
        next = item->begin;
    }
    return push_item(nest, lane, span);
}
