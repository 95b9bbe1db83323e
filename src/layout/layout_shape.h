/* Records whose end is found without running a program: a fixed part, then at most one text or one
 * row of elements, then a fixed part.
 *
 * That is what most events are.  Fixed records and those with a row are one and the same
 * computation, so that a reader of events in random order has few branches to guess wrongly: |
 * first bits, the last of them the count | count * each bits | rest bits | Thread rule: plain data,
 * read-only. */
#ifndef TRACETTA_LAYOUT_LAYOUT_SHAPE_H
#define TRACETTA_LAYOUT_LAYOUT_SHAPE_H

#include "base/find_zero.h"
#include "layout/layout.h"

enum layout_shape_kind {
    LAYOUT_SHAPE_NONE = 0, /* layout_find_record_end finds the end */
    LAYOUT_SHAPE_ROW,      /* `each` is 0 where there is no row */
    LAYOUT_SHAPE_TEXT      /* up to a zero byte */
};

struct layout_shape {
    uint64_t first, rest; /* bits */
    uint64_t each;        /* bits of an element, below 2^31 */
    uint8_t kind;         /* enum layout_shape_kind */
    uint8_t count_shift;  /* what is above the count in the eight little-endian bytes that end with
                             it; at least 32 */
};

/* The shape of a layout; kind NONE where it has none of these, or its records begin at more than
 * bytes.  NULL: a record of no bits. */
struct layout_shape layout_get_shape(const struct layout *layout);

/* A shape in whole bytes, so that the end of any of its records is found by one computation without
 * a choice: of random records no processor guesses the next.  What each waits for is where the one
 * before ends, so the computation is kept short. */
struct layout_byte_shape {
    uint32_t first;
    uint32_t rest; /* with the zero behind a text; LAYOUT_BYTE_SHAPE_NONE: there is no shape, and no
                      record is so large */
    uint32_t each;
    uint32_t count_bytes; /* how far before the end of `first` the count begins */
    uint32_t count_mask;  /* of what is loaded there; 0 = no row */
    uint32_t no_text;     /* all bits, or 0 where there is one */
};

#define LAYOUT_BYTE_SHAPE_NONE UINT32_MAX
#define LAYOUT_BYTE_SHAPE_LOOKAHEAD 32u

/* Makes one of a shape. */
struct layout_byte_shape layout_shape_to_bytes(const struct layout_shape *shape);

/* A bit for each byte that may be the zero of the text that begins at p, the least being it, or the
 * least bit where there is no text; 0: the text is longer than LAYOUT_BYTE_SHAPE_LOOKAHEAD. */
static inline uint32_t layout_byte_shape_zero_mask(const struct layout_byte_shape *bytes,
                                                   const uint8_t *p)
{
    return zero_mask_16(p) | (zero_mask_16(p + 16) << 16 | bytes->no_text);
}

/* What is behind p, where the fixed part ends, but for a text. */
static inline uint64_t layout_byte_shape_rest(const struct layout_byte_shape *bytes,
                                              const uint8_t *p)
{
    return (uint64_t)(load_u32le(p - bytes->count_bytes) & bytes->count_mask) * bytes->each +
           bytes->rest;
}

/* The end of a record whose fixed part ends at `first`, counted from `base`, where
 * LAYOUT_BYTE_SHAPE_LOOKAHEAD bytes can be read.  UINT64_MAX: it has a longer text, which is to be
 * searched for its end. */
static inline uint64_t layout_byte_shape_find_end(const struct layout_byte_shape *bytes,
                                                  const uint8_t *base, uint64_t first)
{
    const uint32_t zeros = layout_byte_shape_zero_mask(bytes, base + first);
    return __builtin_expect(zeros != 0, 1) ? first + layout_byte_shape_rest(bytes, base + first) +
                                                 (uint32_t)__builtin_ctz(zeros)
                                           : UINT64_MAX;
}

/* Finds the end of the record at bits->at, a whole byte; false where bits->end comes before it, or
 * there is no shape: then nothing is known (layout_find_record_end tells).  At least 64 bits lie
 * between bits->base and the end of `first`, or it is false too. */
static inline bool layout_shape_find_end(const struct layout_shape *shape, const struct bits *bits,
                                         uint64_t at, uint64_t *behind)
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
