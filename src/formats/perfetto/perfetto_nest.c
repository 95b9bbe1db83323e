/* Spans of a track, as a list ordered by begin where each knows the span around it: the walk from
 * the end of the list outwards is short for spans that come in the order of their begins (the usual
 * sorted trace) and in the order of their ends (spans written when they are over).  Spans inside a
 * newly taken one leave the list; how far they reached is kept with it. */
#include "formats/perfetto/perfetto_nest.h"

#define NEST_FIRST 8

static bool is_inside(const struct perfetto_nest_span *span, int64_t begin, int64_t end)
{
    return span->begin >= begin && span->end <= end && (span->begin != begin || span->end != end);
}

/* A span that begins with the new one but ends before it was written first: its begin would enclose
 * the new one. */
static bool is_early_child(const struct perfetto_nest_span *span, int64_t begin)
{
    return span->begin == begin && span->end > begin;
}

/* Shortens the list to spans that may still enclose something; the others count as forgotten. */
static void forget(struct perfetto_nest *nest)
{
    size_t kept = nest->n;
    /* The chain around the newest span survives, moved to the front; walk it inwards by reversing
     * the parent links in place. */
    int32_t at = (int32_t)nest->n - 1, behind = -1;
    while (at >= 0) {
        int32_t outer = nest->spans[at].parent;
        nest->spans[at].parent = behind;
        behind = at;
        at = outer;
    }
    size_t to = 0;
    int32_t chain = behind;
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

/* Whether a span that no listed one encloses may be taken, though some are no longer listed. */
static bool is_clear_of_forgotten(const struct perfetto_nest *nest, int64_t begin, int64_t end)
{
    return !nest->has_forgotten || begin >= nest->forgotten_end ||
           (begin < nest->forgotten_begin && end >= nest->forgotten_end);
}

static bool make_room(struct perfetto_nest *nest, const struct alloc *alloc)
{
    size_t before = nest->capacity;
    if (nest->n < before)
        return true;
    if (before >= (nest->reaches_back ? NEST_MOST : NEST_USUAL))
        forget(nest);
    if (nest->n <= before / 2 && before)
        return true;
    if (before < NEST_MOST) {
        size_t grown = before ? before * 2 : NEST_FIRST;
        struct perfetto_nest_span *spans =
            alloc_resize(alloc, nest->spans, before, grown, sizeof *spans);
        if (!spans)
            return false;
        nest->spans = spans;
        nest->capacity = grown;
        return true;
    }
    /* A chain that fills the list: no trace nests like that.  Only its outer half is remembered. */
    nest->n = NEST_MOST / 2;
    struct perfetto_nest_span *last = &nest->spans[nest->n - 1];
    last->inner_end = last->end;
    return true;
}

enum nest_answer perfetto_nest_take(struct perfetto_nest *nest, const struct alloc *alloc,
                                    int64_t begin, int64_t end)
{
    size_t n = nest->n;
    int64_t inner_end = INT64_MIN;
    for (; n && is_inside(&nest->spans[n - 1], begin, end); n--) {
        if (is_early_child(&nest->spans[n - 1], begin))
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
    if (around >= 0 && nest->spans[around].begin == begin && nest->spans[around].end == end)
        /* The same once more: what is inside one is inside the other. */
        inner_end =
            nest->spans[around].inner_end > inner_end ? nest->spans[around].inner_end : inner_end;
    else if (around >= 0 &&
             (end > nest->spans[around].end || begin < nest->spans[around].inner_end))
        return NEST_CLASHES;
    if (around < 0 && !is_clear_of_forgotten(nest, begin, end))
        return NEST_CLASHES;
    nest->n = n;
    if (n == nest->capacity) {
        if (!make_room(nest, alloc))
            return NEST_NO_MEMORY;
        /* Forgetting keeps exactly the spans around the newest; the one around this span is among
         * them or ended before it. */
        for (around = (int32_t)nest->n - 1; around >= 0 && nest->spans[around].end <= begin;)
            around--;
    }
    nest->spans[nest->n++] = (struct perfetto_nest_span){
        .begin = begin, .end = end, .inner_end = inner_end, .parent = around};
    return NEST_FITS;
}

void perfetto_nest_free(struct perfetto_nest *nest, const struct alloc *alloc)
{
    alloc_free(alloc, nest->spans, nest->capacity, sizeof *nest->spans);
    *nest = (struct perfetto_nest){0};
}
