/* Span nesting: how much of a span its children cover, for spans in order of their ends.
 *
 *     nesting_init, nesting_add per span in order of its end, nesting_free
 *
 * Claim algorithm: a span claims all unclaimed spans of its lane that started no earlier than
 * itself; these are its children.  A span that overlaps only partially stays unclaimed.
 *
 *       A |--------------|        in order of ends: B, C, A
 *       B   |---|                 B and C are unclaimed when A arrives
 *       C          |---|          A starts before both: it claims B and C
 *
 * Equal times: many spans start and end within one nanosecond, so a start is a pair (time, stamp):
 *   at     position of this span's start, which its parent compares
 *   from   position of the earliest start that this span contains
 * For a pair of begin and end events, both are the number of spans that had ended before the begin.
 * A span of one record (TTR_KIND_SPAN) has no such position.  It contains everything that started
 * at its time (from = 0), and its own start is directly before its arrival (at = spans ended so
 * far). Of two equal intervals the later one is the parent, since an inner span ends first. */
#ifndef TRACETTA_PIPELINE_SPANS_NESTING_H
#define TRACETTA_PIPELINE_SPANS_NESTING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

struct nest_span {
    int64_t begin, end; /* times in ns, begin <= end */
    uint64_t from, at;
};

/* Returns true if a span that starts at (begin, at) is inside of another span that ends no earlier
 * and contains everything from (from_time, from) on. */
static inline bool nesting_is_inside(int64_t begin, uint64_t at, int64_t from_time, uint64_t from)
{
    return begin > from_time || (begin == from_time && at >= from);
}

struct nest_item; /* an unclaimed span, or several that were joined */

struct nest_lane {
    struct nest_item *item;
    size_t n, capacity;
    int64_t last_end;
    bool is_used;
};

struct nest {
    const struct alloc *alloc;
    struct nest_lane *lane;
    size_t lanes_n, lanes_used;
    size_t items_max; /* approximate limit for the items of all lanes together */
    /* number of spans that ended before an earlier added span of the same lane; they are not
     * nested */
    uint64_t late;
};

/* Initializes nesting.  items_max bounds the memory, 32 bytes per item; a lane may hold its share,
 * but at least 64.  If a lane is full, its oldest items are joined in pairs; the children of a span
 * that starts inside of such a pair are then not separated. */
void nesting_init(struct nest *nest, const struct alloc *alloc, size_t items_max);
void nesting_free(struct nest *nest);

/* Adds a span of a lane. Sets *covered to the time in ns that its children cover. Returns false if
 * memory is exhausted. */
TTR_MUST bool nesting_add(struct nest *nest, size_t lane, const struct nest_span *span,
                          uint64_t *covered);

#endif
