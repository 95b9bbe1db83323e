/* Which spans contain which, from spans that come in order of their ends: a span claims all
 * unclaimed spans of its lane that began no earlier than itself.  What it claims are its children;
 * what partially overlaps it stays unclaimed.
 *
 * Times alone are not enough, since many spans of real traces begin and end in one nanosecond; so a
 * begin is (time, stamp): from   the earliest begin that this span contains, at     where this span
 * itself begins, for its parent. A pair knows when it began among the other events: both are the
 * count of spans that had ended by then.  A span that came as one record does not: it contains all
 * that began at its time (from = 0), and began just before it came (at = that count). Of two equal
 * intervals the one that comes later is the parent: an inner span ends first. */
#ifndef TRACETTA_PIPELINE_SPANS_NESTING_H
#define TRACETTA_PIPELINE_SPANS_NESTING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

struct nest_span {
    int64_t begin, end; /* ns, begin <= end */
    uint64_t from, at;
};

/* Whether a span that began at (begin, at) is inside of one that ends no earlier and contains what
 * begins at (from_time, from). */
static inline bool nest_is_inside(int64_t begin, uint64_t at, int64_t from_time, uint64_t from)
{
    return begin > from_time || (begin == from_time && at >= from);
}

struct nest_item; /* an unclaimed span, or several that were made one */

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
    size_t items_max; /* of all lanes together, about */
    uint64_t
        late; /* spans that ended before the one before them of their lane: they are not nested */
};

/* items_max bounds the memory (32 bytes each): a lane holds at most its share, but 64.  When that
 * is full, neighbours are made one, oldest first; then the children of a span that begins inside of
 * such a pair are no longer told apart. */
void nest_init(struct nest *nest, const struct alloc *alloc, size_t items_max);
void nest_free(struct nest *nest);

/* Adds a span and gives how much of it its children cover, in ns.  False when memory is out. */
TTR_MUST bool nest_add(struct nest *nest, size_t lane, const struct nest_span *span,
                       uint64_t *covered);

#endif
