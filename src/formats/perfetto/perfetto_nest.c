/* Nesting of spans on a track: an online check that spans can be written as nested begins and ends.
 *
 * Purpose: Perfetto stores a span as a begin and an end. An end closes the innermost open slice of
 * its track. So a span reads back unchanged only if it nests with the other spans of the track, and
 * if an outer span precedes an inner one of equal start in the file. perfetto_add_nested_span
 * decides this for each span as it arrives; a span that does not fit goes to an additional track.
 *
 * Order of calls: perfetto_add_nested_span per span, in any order of time; perfetto_nest_free.
 *
 * Data structure: a list sorted by start, with a parent link to the enclosing span. It holds the
 * spans that may still enclose or clash with a new one.
 *
 *   time  ---------------------------------------------->
 *   0     |==========================================|     parent -1
 *   1        |===========|                                 parent 0
 *   2                        |=================|           parent 0
 *   3                          |=====|                     parent 2, the newest
 *
 * Algorithm: for a new span [begin, end),
 *   1. Remove list entries inside it from the end of the list (spans written at their ends arrive
 *      after their children). Keep their latest end in `inner_end`.
 *   2. Follow parent links outwards to the span around `begin`.
 *   3. The new span clashes if it exceeds that span, or overlaps removed inner spans.
 *
 * Limit of memory: at NEST_USUAL spans, or NEST_MAX if some arrive out of order, the list is
 * reduced to the newest span and the spans that enclose it. Of the removed spans only the time
 * range of the outermost ones is kept. A later span that touches the range but does not contain it
 * is refused.
 *
 * Invariants: a span that is accepted always reads back unchanged. A span may be refused although
 * it would fit. Cost: amortized O(1) per span for traces sorted by start or by end. Memory is at
 * most NEST_MAX spans per track. Left out: moving spans that were already accepted, and more than
 * one additional track. */
#include "formats/perfetto/perfetto_nest.h"

#define NEST_FIRST 8

static bool is_inside(const struct perfetto_nest_span *span, int64_t begin, int64_t end)
{
    return span->begin >= begin && span->end <= end && (span->begin != begin || span->end != end);
}

/* Returns true if a listed span has the same start as the new span, but an earlier end. Perfetto
 * would nest the new span inside it, since the listed span is already written. */
static bool is_shorter_with_same_begin(const struct perfetto_nest_span *span, int64_t begin)
{
    return span->begin == begin && span->end > begin;
}

/* Removes all spans that do not enclose the newest span from the list. Extends the time range of
 * removed spans. */
static void drop_finished_spans(struct perfetto_nest *nest)
{
    size_t kept = nest->n;
    /* Reverse the links to parents from the newest span outwards: the list can then be compacted
     * from the outermost span inwards. */
    int32_t at = (int32_t)nest->n - 1, following = -1;
    while (at >= 0) {
        int32_t outer = nest->spans[at].parent;
        nest->spans[at].parent = following;
        following = at;
        at = outer;
    }
    size_t to = 0;
    int32_t chain = following;
    for (size_t i = 0; i < kept; i++) {
        struct perfetto_nest_span span = nest->spans[i];
        if ((int32_t)i == chain) {
            chain = span.parent;
            span.parent = (int32_t)to - 1;
            nest->spans[to++] = span;
        } else if (to && span.begin < nest->spans[to - 1].end) {
            struct perfetto_nest_span *outer = &nest->spans[to - 1];
            outer->inner_end = span.end > outer->inner_end ? span.end : outer->inner_end;
        } else {
            nest->forgotten_begin = nest->has_forgotten && nest->forgotten_begin < span.begin
                                        ? nest->forgotten_begin
                                        : span.begin;
            nest->forgotten_end = nest->has_forgotten && nest->forgotten_end > span.end
                                      ? nest->forgotten_end
                                      : span.end;
            nest->has_forgotten = true;
        }
    }
    nest->n = to;
}

/* Returns true if a span without an enclosing span in the list is outside of the time range of
 * removed spans, or contains this range. */
static bool is_separate_from_removed_spans(const struct perfetto_nest *nest, int64_t begin,
                                           int64_t end)
{
    return !nest->has_forgotten || begin >= nest->forgotten_end ||
           (begin < nest->forgotten_begin && end >= nest->forgotten_end);
}

static bool reserve_span(struct perfetto_nest *nest, const struct alloc *alloc)
{
    size_t before = nest->capacity;
    if (nest->n < before)
        return true;
    if (before >= (nest->reaches_back ? NEST_MAX : NEST_USUAL))
        drop_finished_spans(nest);
    if (nest->n <= before / 2 && before)
        return true;
    if (before < NEST_MAX) {
        size_t grown = before ? before * 2 : NEST_FIRST;
        struct perfetto_nest_span *spans =
            alloc_resize(alloc, nest->spans, before, grown, sizeof *spans);
        if (!spans)
            return false;
        nest->spans = spans;
        nest->capacity = grown;
        return true;
    }
    /* The list is full of spans that enclose each other, which does not occur in real traces. Keep
     * the outer half. */
    nest->n = NEST_MAX / 2;
    struct perfetto_nest_span *last = &nest->spans[nest->n - 1];
    last->inner_end = last->end;
    return true;
}

enum nest_result perfetto_add_nested_span(struct perfetto_nest *nest, const struct alloc *alloc,
                                          int64_t begin, int64_t end)
{
    size_t n = nest->n;
    int64_t inner_end = INT64_MIN;
    for (; n && is_inside(&nest->spans[n - 1], begin, end); n--) {
        if (is_shorter_with_same_begin(&nest->spans[n - 1], begin))
            return NEST_CLASHES;
        inner_end = nest->spans[n - 1].end > inner_end ? nest->spans[n - 1].end : inner_end;
    }
    nest->reaches_back = nest->reaches_back || (nest->n && nest->spans[nest->n - 1].begin > begin);
    int32_t around = (int32_t)n - 1;
    if (around >= 0 && nest->spans[around].begin > begin)
        return NEST_CLASHES;
    while (around >= 0 && nest->spans[around].end <= begin &&
           (nest->spans[around].begin != begin || nest->spans[around].end != end))
        around = nest->spans[around].parent;
    /* The new span equals a listed span, so each span inside the listed span is also inside the
     * new one. */
    if (around >= 0 && nest->spans[around].begin == begin && nest->spans[around].end == end)
        inner_end =
            nest->spans[around].inner_end > inner_end ? nest->spans[around].inner_end : inner_end;
    else if (around >= 0 &&
             (end > nest->spans[around].end || begin < nest->spans[around].inner_end))
        return NEST_CLASHES;
    if (around < 0 && !is_separate_from_removed_spans(nest, begin, end))
        return NEST_CLASHES;
    nest->n = n;
    if (n == nest->capacity) {
        if (!reserve_span(nest, alloc))
            return NEST_NO_MEMORY;
        /* reserve_span() keeps all spans that enclose the newest one, so the span that encloses
         * this one is in the list, unless it ended earlier. */
        for (around = (int32_t)nest->n - 1; around >= 0 && nest->spans[around].end <= begin;)
            around--;
    }
    nest->spans[nest->n++] = (struct perfetto_nest_span){
        .begin = begin, .end = end, .inner_end = inner_end, .parent = around};
    return NEST_FITS;
}

bool perfetto_is_inside_span(const struct perfetto_nest *nest, int64_t time)
{
    int32_t at = (int32_t)nest->n - 1;
    while (at >= 0 && (nest->spans[at].end <= time || nest->spans[at].begin > time))
        at = nest->spans[at].begin > time ? at - 1 : nest->spans[at].parent;
    return at >= 0;
}

void perfetto_nest_free(struct perfetto_nest *nest, const struct alloc *alloc)
{
    alloc_free(alloc, nest->spans, nest->capacity, sizeof *nest->spans);
    *nest = (struct perfetto_nest){0};
}
