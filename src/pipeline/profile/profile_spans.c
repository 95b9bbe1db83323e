/* A profile of spans: spans with equal names and equal paths of parents share a node. The node's
 * weight is the sum of their self times. */
#include "base/saturate.h"
#include "model/context.h"
#include "pipeline/profile/profile.h"

struct spans {
    struct ttr_profile *profile;
    const ttr_tree_span *span;
    uint32_t *node; /* index of the span's profile_met, by index of the span */
    size_t lane;
};

static int64_t get_span_end(const ttr_tree_span *span)
{
    return (int64_t)((uint64_t)span->begin_ns + span->duration);
}

static bool enter_span(struct spans *spans, uint32_t at)
{
    struct ttr_profile *profile = spans->profile;
    const ttr_tree_span *span = &spans->span[at];
    ttr_profile_thread *lane = &profile->lane[spans->lane];
    uint32_t parent = span->parent == TTR_TREE_NONE ? PROFILE_NONE : spans->node[span->parent];
    uint32_t place = profile_find_or_add_place(
        profile, &(struct profile_place){.name = span->name, .kind = PLACE_NAME});
    uint32_t node = place == PROFILE_NONE
                        ? PROFILE_NONE
                        : profile_find_or_add_call(profile, parent, place, (uint32_t)spans->lane);
    if (node == PROFILE_NONE)
        return false;
    spans->node[at] = node;
    profile->met[node].self = saturate_add_u64(profile->met[node].self, span->self);
    profile->met[node].count++;
    lane->count++;
    lane->weight = saturate_add_u64(lane->weight, span->self);
    lane->first_ns = span->begin_ns < lane->first_ns ? span->begin_ns : lane->first_ns;
    lane->last_ns = get_span_end(span) > lane->last_ns ? get_span_end(span) : lane->last_ns;
    return profile_timeline_append(profile, spans->lane, span->begin_ns, node);
}

static bool leave_span(struct spans *spans, uint32_t at)
{
    const ttr_tree_span *span = &spans->span[at];
    uint32_t parent = span->parent == TTR_TREE_NONE ? PROFILE_NONE : spans->node[span->parent];
    return profile_timeline_append(spans->profile, spans->lane, get_span_end(span), parent);
}

/* Adds a list of root spans and all spans below them. Does not recurse, since a file may nest spans
 * to any depth. */
static bool add_span_list(struct spans *spans, uint32_t root)
{
    uint32_t at = root;
    while (at != TTR_TREE_NONE) {
        if (!enter_span(spans, at))
            return false;
        if (spans->span[at].first_child != TTR_TREE_NONE) {
            at = spans->span[at].first_child;
            continue;
        }
        if (!leave_span(spans, at))
            return false;
        while (spans->span[at].next == TTR_TREE_NONE && spans->span[at].parent != TTR_TREE_NONE) {
            at = spans->span[at].parent;
            if (!leave_span(spans, at))
                return false;
        }
        at = spans->span[at].next;
    }
    return true;
}

bool profile_add_forest(struct ttr_profile *profile, const ttr_tree *tree)
{
    struct spans spans = {.profile = profile};
    const uint32_t *roots;
    uint32_t n = ttr_tree_spans(tree, &spans.span), roots_n = ttr_tree_roots(tree, &roots);
    spans.node = alloc_zero(profile->alloc, n, sizeof *spans.node);
    bool is_fine = spans.node != NULL;
    for (uint32_t i = 0; i < roots_n && is_fine; i++) {
        /* Activities overlap in time, so they are not part of a thread's time. */
        if (spans.span[roots[i]].activity)
            continue;
        spans.lane = profile_get_lane(profile, spans.span[roots[i]].thread);
        is_fine = spans.lane != SIZE_MAX && add_span_list(&spans, roots[i]);
    }
    alloc_free(profile->alloc, spans.node, n, sizeof *spans.node);
    profile->unit = TTR_PROFILE_NS;
    profile->is_of_spans = true;
    return is_fine;
}
