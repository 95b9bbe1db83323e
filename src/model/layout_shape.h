/* Records whose end is found without running a program: a fixed part, then at most one text or one row of elements, then a fixed part.
 *
 * That is what most events are.  Fixed records and those with a row are one and the same computation, so that a reader of events in random
 * order has few branches to guess wrongly:
 *   | first bits, the last of them the count | count * each bits | rest bits |
 * Thread rule: plain data, read-only. */
#ifndef TRACETTA_MODEL_LAYOUT_SHAPE_H
#define TRACETTA_MODEL_LAYOUT_SHAPE_H

#include "base/find_zero.h"
#include "model/layout.h"

enum layout_shape_kind {
    LAYOUT_SHAPE_NONE = 0, /* layout_measure finds the end */
    LAYOUT_SHAPE_ROW,      /* `each` is 0 where there is no row */
    LAYOUT_SHAPE_TEXT      /* up to a zero byte */
};

struct layout_shape {
    uint64_t first, rest;  /* bits */
    uint64_t each;         /* bits of an element, below 2^31 */
    uint8_t kind;          /* enum layout_shape_kind */
    uint8_t count_shift;   /* what is above the count in the eight little-endian bytes that end with it; at least 32 */
};

/* The shape of a layout; kind NONE where it has none of these, or its records begin at more than bytes.  NULL: a record of no bits. */
struct layout_shape layout_shape_of(const struct layout *layout);

/* Finds the end of the record at bits->at, a whole byte; false where bits->end comes before it, or there is no shape: then nothing is known
 * (layout_measure tells).  At least 64 bits lie between bits->base and the end of `first`, or it is false too. */
static inline bool layout_shape_pass(const struct layout_shape *shape, const struct bits *bits, uint64_t at, uint64_t *behind)
{
    uint64_t first = at + shape->first, next;
    if (at > bits->end || shape->first > bits->end - at || first < 64)
        return false;
    const uint8_t *p = bits->base + (first >> 3);
    if (shape->kind == LAYOUT_SHAPE_ROW) {
        next = first + (load_u64le(p - 8) >> shape->count_shift) * shape->each + shape->rest;
    } else if (shape->kind == LAYOUT_SHAPE_TEXT) {
        const uint8_t *zero = find_zero(bits->base, p, bits->base + (bits->end >> 3));
        next = zero ? (((uint64_t)(zero - bits->base) + 1) << 3) + shape->rest : UINT64_MAX;
    } else {
        return false;
    }
    *behind = next;
    return next <= bits->end;
}

#endif
