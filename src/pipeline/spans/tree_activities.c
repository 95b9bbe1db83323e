/* Activities in the span forest. They nest by id, not by time: an activity may change threads, and
 * may last longer than the span that started it.
 *
 * The parent of a span is the first of these that exists: an open span with the same id; the span
 * named as related by its begin; a span with an id that is a path prefix of its id. Among several
 * spans, the one that started last before the span is selected. The self time of a span is the time
 * that no child covers. */
#include "model/activity.h"
#include "pipeline/spans/tree_forest.h"

static ttr_id intern_id_text(struct ttr_tree *tree, const ttr_event *event, const uint8_t *id)
{
    char text[ACTIVITY_TEXT_MAX];
    ttr_thread thread = {0};
    (void)ttr_thread_get(tree->t, event->thread, &thread);
    return ttr_text_add(tree->t, text, activity_format_id(text, id, thread.pid));
}

uint32_t tree_add_activity(struct ttr_tree *tree, const ttr_event *event)
{
    struct tree_activity activity = {.ctx = intern_id_text(tree, event, event->activity)};
    if (event->related)
        activity.related = intern_id_text(tree, event, event->related);
    if (!activity.ctx || (event->related && !activity.related) ||
        tree->activities_n >= UINT32_MAX - SPAN_ACTIVITY - 1 ||
        !alloc_reserve(tree->alloc, (void **)&tree->activity, &tree->activity_room,
                       tree->activities_n + 1, sizeof *tree->activity))
        return 0;
    tree->activity[tree->activities_n++] = activity;
    return (uint32_t)tree->activities_n + SPAN_ACTIVITY;
}

static int64_t get_span_end(const ttr_tree_span *span)
{
    return (int64_t)((uint64_t)span->begin_ns + span->duration);
}

/* Returns the last started span with an activity id, or TTR_TREE_NONE. */
static uint32_t find_latest_span(const struct pair_map *by_id, ttr_id id)
{
    const uint32_t *at = id ? pair_map_get(by_id, id, 0) : NULL;
    return at ? *at : TTR_TREE_NONE;
}

static uint32_t find_parent(const struct ttr_tree *tree, const struct pair_map *by_id, uint32_t at)
{
    const struct tree_activity *activity = &tree->activity[tree->side[at].at];
    ttr_text path = ttr_text_get(tree->t, activity->ctx);
    uint32_t parent = find_latest_span(by_id, activity->ctx);
    if (parent != TTR_TREE_NONE &&
        get_span_end(&tree->span[parent]) >= get_span_end(&tree->span[at]))
        return parent;
    parent = activity->related != activity->ctx ? find_latest_span(by_id, activity->related)
                                                : TTR_TREE_NONE;
    for (size_t n = activity_parent_length(path); n > 0 && parent == TTR_TREE_NONE;
         n = activity_parent_length((ttr_text){path.p, n}))
        parent = find_latest_span(by_id, ttr_text_find(tree->t, path.p, n));
    return parent;
}

/* Sorts the spans of activities by start, longer spans first. Returns their number. */
static uint32_t sort_activities(struct ttr_tree *tree, struct order_key *keys,
                                struct order_key *spare)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < tree->n; i++)
        if (tree->side[i].lane == TTR_TREE_NONE)
            keys[n++] =
                (struct order_key){.rank = ~order_time(get_span_end(&tree->span[i])), .index = i};
    radix_sort_keys(keys, spare, n);
    for (uint32_t i = 0; i < n; i++)
        keys[i].rank = order_time(tree->span[keys[i].index].begin_ns);
    radix_sort_keys(keys, spare, n);
    return n;
}

static bool find_parents(struct ttr_tree *tree, const struct order_key *keys, uint32_t n)
{
    struct pair_map by_id;
    bool is_fine = true;
    pair_map_init(&by_id, tree->alloc);
    for (uint32_t i = 0; i < n && is_fine; i++) {
        ttr_tree_span *span = &tree->span[keys[i].index];
        span->parent = find_parent(tree, &by_id, keys[i].index);
        span->activity = tree->activity[tree->side[keys[i].index].at].ctx;
        span->first_child = span->next = TTR_TREE_NONE;
        is_fine = pair_map_put(&by_id, span->activity, 0, keys[i].index);
    }
    pair_map_free(&by_id);
    return is_fine;
}

/* Links siblings into lists in order of their starts. Returns the first root. */
static uint32_t link_siblings(struct ttr_tree *tree, const struct order_key *keys, uint32_t n)
{
    uint32_t root = TTR_TREE_NONE;
    for (uint32_t i = n; i > 0; i--) {
        uint32_t at = keys[i - 1].index, parent = tree->span[at].parent;
        uint32_t *first = parent == TTR_TREE_NONE ? &root : &tree->span[parent].first_child;
        tree->span[at].next = *first;
        *first = at;
    }
    return root;
}

static uint64_t compute_self_time(const struct ttr_tree *tree, const ttr_tree_span *span)
{
    int64_t from = span->begin_ns, end = get_span_end(span);
    uint64_t covered = 0;
    for (uint32_t child = span->first_child; child != TTR_TREE_NONE;
         child = tree->span[child].next) {
        int64_t begin = tree->span[child].begin_ns > from ? tree->span[child].begin_ns : from,
                stop = get_span_end(&tree->span[child]);
        stop = stop < end ? stop : end;
        covered += stop > begin ? (uint64_t)stop - (uint64_t)begin : 0;
        from = stop > from ? stop : from;
    }
    return span->duration - covered;
}

bool tree_nest_activities(struct ttr_tree *tree, struct order_key *keys, struct order_key *spare)
{
    uint32_t n = sort_activities(tree, keys, spare);
    if (n == 0)
        return true;
    if (!find_parents(tree, keys, n))
        return false;
    tree->root[tree->roots_n++] = link_siblings(tree, keys, n);
    for (uint32_t i = 0; i < n; i++)
        tree->span[keys[i].index].self = compute_self_time(tree, &tree->span[keys[i].index]);
    return true;
}
