/* The span forest, built with the claim algorithm of nesting.h, with all spans in memory.
 *
 * During construction, the unclaimed spans of a lane (thread or track) are a list linked by `next`,
 * newest first. A span claims spans from the front of the list and becomes its new front. If spans
 * arrive out of order, later than the reorder window permits, all lists are rebuilt from spans
 * sorted by their ends. A partially overlapping span becomes a child of the span that contains it
 * completely and ends first; times are never changed.
 *
 * Cost: amortized O(1) per span; a rebuild sorts all spans. Memory: 72 bytes per span in the
 * result, twice that during construction. */
#include <string.h>

#include "base/status.h"
#include "model/activity.h"
#include "model/context.h"
#include "pipeline/spans/nesting.h"
#include "pipeline/spans/tree_forest.h"
#include "pipeline/read_loop.h"

static int64_t get_span_end(const ttr_tree_span *span)
{
    return (int64_t)((uint64_t)span->begin_ns + span->duration);
}

static bool find_or_add_lane(struct ttr_tree *tree, size_t number, uint32_t *lane)
{
    size_t before = tree->numbers_n;
    if (number >= before) {
        if (!alloc_reserve(tree->alloc, (void **)&tree->lane_by_number, &tree->numbers_n,
                           number + 1, sizeof(uint32_t)))
            return false;
        memset(tree->lane_by_number + before, 0, (tree->numbers_n - before) * sizeof(uint32_t));
    }
    if (tree->lane_by_number[number] == 0) {
        if (!alloc_reserve(tree->alloc, (void **)&tree->lane, &tree->lane_room, tree->lanes_n + 1,
                           sizeof *tree->lane))
            return false;
        tree->lane[tree->lanes_n] = (struct tree_lane){number, INT64_MIN, TTR_TREE_NONE};
        tree->lane_by_number[number] = (uint32_t)++tree->lanes_n;
    }
    *lane = tree->lane_by_number[number] - 1;
    return true;
}

/* Makes a span the parent of all unclaimed spans of its lane that it contains. */
static void claim_children(struct ttr_tree *tree, uint32_t at)
{
    ttr_tree_span *span = &tree->span[at];
    const struct tree_side *side = &tree->side[at];
    struct tree_lane *lane = &tree->lane[side->lane];
    uint64_t from = side->is_pair ? side->at : 0, covered = 0;
    int64_t next_begin = get_span_end(span);
    uint32_t child = lane->last;
    lane->last_end = next_begin;
    span->first_child = TTR_TREE_NONE;
    while (
        child != TTR_TREE_NONE &&
        nesting_is_inside(tree->span[child].begin_ns, tree->side[child].at, span->begin_ns, from)) {
        ttr_tree_span *ctx = &tree->span[child];
        uint32_t older = ctx->next;
        int64_t stop = get_span_end(ctx) < next_begin ? get_span_end(ctx) : next_begin;
        covered += stop > ctx->begin_ns ? (uint64_t)stop - (uint64_t)ctx->begin_ns : 0;
        next_begin = ctx->begin_ns;
        ctx->parent = at;
        ctx->next = span->first_child;
        span->first_child = child;
        child = older;
    }
    span->self = span->duration - covered;
    span->parent = TTR_TREE_NONE;
    span->next = child;
    lane->last = at;
}

static bool add_span(void *ctx, const struct complete_span *span)
{
    struct ttr_tree *tree = ctx;
    const struct event_ref *event = span->event;
    uint32_t lane = TTR_TREE_NONE;
    bool is_activity = span->is_async && event->activity > SPAN_ACTIVITY;
    if (span->is_async && !is_activity)
        return true;
    if (tree->n >= TTR_TREE_NONE - 1 ||
        (!is_activity && !find_or_add_lane(tree, span->lane, &lane)) ||
        !alloc_reserve(tree->alloc, (void **)&tree->span, &tree->span_room, (size_t)tree->n + 1,
                       sizeof *tree->span) ||
        !alloc_reserve(tree->alloc, (void **)&tree->side, &tree->side_room, (size_t)tree->n + 1,
                       sizeof *tree->side))
        return false;
    uint32_t at = tree->n++;
    tree->span[at] = (ttr_tree_span){.begin_ns = event->time,
                                     .duration = (uint64_t)span->end - (uint64_t)event->time,
                                     .offset = event->offset,
                                     .name = event->name,
                                     .category = event->category,
                                     .provider = event->provider,
                                     .thread = event->thread,
                                     .source = event->source,
                                     .flags = span->flags};
    tree->side[at] = (struct tree_side){
        .lane = lane, .at = (uint32_t)span->at, .is_pair = event->kind != TTR_KIND_SPAN};
    if (is_activity)
        tree->side[at].at = event->activity - SPAN_ACTIVITY - 1;
    else if (span->end < tree->lane[lane].last_end)
        tree->is_disordered = true;
    else
        claim_children(tree, at);
    return true;
}

static ttr_status add_batch(void *ctx, const ttr_batch *batch, ttr_error *error)
{
    struct ttr_tree *tree = ctx;
    for (uint32_t i = 0; i < batch->n; i++) {
        const ttr_event *event = ttr_batch_at(batch, i);
        if (!span_stream_wants(event->kind))
            continue;
        bool has_record = event->kind == TTR_KIND_ASYNC_BEGIN && activity_is_start_or_stop(event) &&
                          event->activity;
        uint32_t activity = has_record ? tree_add_activity(tree, event) : SPAN_ACTIVITY;
        if (!activity || !span_stream_add(&tree->stream, event, activity))
            return fail_memory(error);
    }
    return TTR_OK;
}

/* Builds the forest again from all spans, sorted by end, then descending start, then arrival. */
static void rebuild_forest(struct ttr_tree *tree, struct order_key *keys, struct order_key *spare)
{
    uint32_t n = 0;
    for (size_t i = 0; i < tree->lanes_n; i++)
        tree->lane[i].last = TTR_TREE_NONE;
    for (uint32_t i = 0; i < tree->n; i++)
        if (tree->side[i].lane != TTR_TREE_NONE)
            keys[n++] = (struct order_key){.rank = ~order_time(tree->span[i].begin_ns), .index = i};
    radix_sort_keys(keys, spare, n);
    for (uint32_t i = 0; i < n; i++)
        keys[i].rank = order_time(get_span_end(&tree->span[keys[i].index]));
    radix_sort_keys(keys, spare, n);
    /* The stamps were arrival numbers; they become positions in sorted order. */
    for (uint32_t i = 0; i < n; i++)
        tree->side[keys[i].index] =
            (struct tree_side){.lane = tree->side[keys[i].index].lane, .at = i};
    for (uint32_t i = 0; i < n; i++)
        claim_children(tree, keys[i].index);
}

/* Counts partially overlapping spans. Each thread or track has a stack of running spans, linked by
 * side->at. */
static void count_overlaps(struct ttr_tree *tree, struct order_key *keys, struct order_key *spare)
{
    uint32_t n = 0;
    for (size_t i = 0; i < tree->lanes_n; i++)
        tree->lane[i].last = TTR_TREE_NONE;
    for (uint32_t i = 0; i < tree->n; i++)
        if (tree->side[i].lane != TTR_TREE_NONE)
            keys[n++] =
                (struct order_key){.rank = ~order_time(get_span_end(&tree->span[i])), .index = i};
    radix_sort_keys(keys, spare, n);
    for (uint32_t i = 0; i < n; i++)
        keys[i].rank = order_time(tree->span[keys[i].index].begin_ns);
    radix_sort_keys(keys, spare, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = keys[i].index;
        const ttr_tree_span *span = &tree->span[at];
        uint32_t *top = &tree->lane[tree->side[at].lane].last;
        while (*top != TTR_TREE_NONE && get_span_end(&tree->span[*top]) <= span->begin_ns)
            *top = tree->side[*top].at;
        tree->overlaps +=
            *top != TTR_TREE_NONE && get_span_end(&tree->span[*top]) < get_span_end(span);
        tree->side[at].at = *top;
        *top = at;
    }
}

/* Reverses each thread's or track's list of unclaimed spans, so that roots are in order of their
 * starts. */
static bool list_roots(struct ttr_tree *tree)
{
    if (!alloc_reserve(tree->alloc, (void **)&tree->root, &tree->root_room, tree->lanes_n + 1,
                       sizeof *tree->root))
        return false;
    for (size_t i = 0; i < tree->lanes_n; i++) {
        uint32_t first = TTR_TREE_NONE;
        for (uint32_t at = tree->lane[i].last; at != TTR_TREE_NONE;) {
            uint32_t older = tree->span[at].next;
            tree->span[at].next = first;
            first = at;
            at = older;
        }
        if (first != TTR_TREE_NONE)
            tree->root[tree->roots_n++] = first;
    }
    return true;
}

/* Sets the depth of root spans and of all their descendants. Does not recurse, since a file may
 * nest spans to any depth. */
static void set_span_depths(struct ttr_tree *tree, uint32_t root)
{
    uint32_t depth = 0;
    for (uint32_t at = root; at != TTR_TREE_NONE;) {
        ttr_tree_span *span = &tree->span[at];
        span->depth = depth;
        if (span->first_child != TTR_TREE_NONE) {
            at = span->first_child;
            depth++;
            continue;
        }
        while (tree->span[at].next == TTR_TREE_NONE && tree->span[at].parent != TTR_TREE_NONE) {
            at = tree->span[at].parent;
            depth--;
        }
        at = tree->span[at].next;
    }
}

static bool finish_forest(struct ttr_tree *tree)
{
    if (!span_stream_end(&tree->stream))
        return false;
    size_t room = (size_t)tree->n * 2;
    struct order_key *keys = alloc_resize(tree->alloc, NULL, 0, room, sizeof *keys);
    if (!keys)
        return false;
    if (tree->is_disordered)
        rebuild_forest(tree, keys, keys + tree->n);
    bool is_listed = list_roots(tree) && tree_nest_activities(tree, keys, keys + tree->n);
    for (size_t i = 0; i < tree->roots_n && is_listed; i++)
        set_span_depths(tree, tree->root[i]);
    if (is_listed)
        count_overlaps(tree, keys, keys + tree->n);
    alloc_free(tree->alloc, keys, room, sizeof *keys);
    alloc_free(tree->alloc, tree->side, tree->side_room, sizeof *tree->side);
    tree->side = NULL;
    return is_listed;
}

ttr_tree *ttr_tree_new(ttr *t, ttr_reader *in, ttr_progress progress, void *ctx, ttr_error *error)
{
    struct ttr_tree *tree = alloc_zero(&t->counted, 1, sizeof *tree);
    const struct read_loop read_loop = {
        .on_batch = add_batch, .ctx = tree, .progress = progress, .progress_ctx = ctx};
    if (!tree) {
        (void)fail_memory(error);
        return NULL;
    }
    tree->t = t;
    tree->alloc = &t->counted;
    span_stream_init(&tree->stream, t, add_span, tree);
    ttr_status status = read_all_batches(in, &read_loop, error);
    /* The spans before a failure are useful. If memory ran out, the forest cannot be completed. */
    if (status != TTR_E_NOMEM && !finish_forest(tree))
        status = fail_memory(error);
    if (status != TTR_E_NOMEM)
        return tree;
    ttr_tree_free(tree);
    return NULL;
}

uint32_t ttr_tree_spans(const ttr_tree *tree, const ttr_tree_span **spans)
{
    *spans = tree->span;
    return tree->n;
}

uint32_t ttr_tree_roots(const ttr_tree *tree, const uint32_t **roots)
{
    *roots = tree->root;
    return (uint32_t)tree->roots_n;
}

uint64_t ttr_tree_overlaps(const ttr_tree *tree)
{
    return tree->overlaps;
}

void ttr_tree_free(ttr_tree *tree)
{
    if (!tree)
        return;
    const struct alloc *alloc = tree->alloc;
    span_stream_free(&tree->stream);
    alloc_free(alloc, tree->span, tree->span_room, sizeof *tree->span);
    alloc_free(alloc, tree->side, tree->side_room, sizeof *tree->side);
    alloc_free(alloc, tree->lane, tree->lane_room, sizeof *tree->lane);
    alloc_free(alloc, tree->lane_by_number, tree->numbers_n, sizeof *tree->lane_by_number);
    alloc_free(alloc, tree->activity, tree->activity_room, sizeof *tree->activity);
    alloc_free(alloc, tree->root, tree->root_room, sizeof *tree->root);
    alloc_free(alloc, tree, 1, sizeof *tree);
}
