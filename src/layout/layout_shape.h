/* Record shapes: the end of a record without running a program.
 *
 * Most events have a fixed part, then at most one text or one row of equal elements, then another
 * fixed part. Fixed records and records with a row share one formula, so a reader of mixed events
 * has fewer branches to mispredict.
 *
 *   | first bits, ending with the count | count * each bits | rest bits |
 *
 * Thread rule: plain data, read-only. */
#ifndef TRACETTA_LAYOUT_LAYOUT_SHAPE_H
#define TRACETTA_LAYOUT_LAYOUT_SHAPE_H

#include "base/find_zero.h"
#include "layout/layout.h"

enum layout_shape_kind {
    LAYOUT_SHAPE_NONE = 0, /* no such shape: use layout_find_record_end */
    LAYOUT_SHAPE_ROW,      /* fixed, or with a row; `each` is 0 if there is no row */
    LAYOUT_SHAPE_TEXT      /* a text up to its zero byte */
};

struct layout_shape {
    uint64_t first, rest; /* sizes in bits */
    uint64_t each;        /* bits per element, below 2^31 */
    uint8_t kind;         /* enum layout_shape_kind */
    /* right shift that leaves the count, applied to the eight little-endian bytes that end with it;
     * at least 32 */
    uint8_t count_shift;
};

/* Returns the shape of a layout, or kind NONE if it has none or its alignment exceeds 8 bits. NULL
 * stands for a record of no bits. */
struct layout_shape layout_get_shape(const struct layout *layout);

/* A shape in bytes. The end of any record is computed without a branch, since the classes of mixed
 * events cannot be predicted. Each record's start depends on the end of the one before, so the
 * chain of dependent instructions is kept short. */
struct layout_byte_shape {
    uint32_t first;
    /* includes the zero of a text; LAYOUT_BYTE_SHAPE_NONE: no shape, and larger than any record */
    uint32_t rest;
    uint32_t each;
    uint32_t count_bytes; /* offset of the count before the end of `first` */
    uint32_t count_mask;  /* mask for the 32 bits loaded there; 0 = no row */
    uint32_t no_text;     /* all ones; 0 if there is a text */
};

#define LAYOUT_BYTE_SHAPE_NONE UINT32_MAX
#define LAYOUT_BYTE_SHAPE_LOOKAHEAD 32u

/* Converts a shape to bytes; `rest` is LAYOUT_BYTE_SHAPE_NONE if the shape is not in whole bytes.
 */
struct layout_byte_shape layout_shape_to_bytes(const struct layout_shape *shape);

/* Returns a mask of the bytes from p on that may be the text's zero; the lowest set bit is the
 * zero. Bit 0 is set if there is no text. Returns 0 if the text is longer than
 * LAYOUT_BYTE_SHAPE_LOOKAHEAD.
 */
static inline uint32_t layout_byte_shape_zero_mask(const struct layout_byte_shape *bytes,
                                                   const uint8_t *p)
{
    return zero_mask_16(p) | (zero_mask_16(p + 16) << 16 | bytes->no_text);
}

/* Returns the bytes after p, the end of `first`, without the text. */
static inline uint64_t layout_byte_shape_rest(const struct layout_byte_shape *bytes,
                                              const uint8_t *p)
{
    return (uint64_t)(load_u32le(p - bytes->count_bytes) & bytes->count_mask) * bytes->each +
           bytes->rest;
}

/* Returns the end of a record as an offset from `base`; `first` is the end of its fixed part, where
 * LAYOUT_BYTE_SHAPE_LOOKAHEAD bytes must be readable. Returns UINT64_MAX if the text is longer and
 * must be scanned. */
static inline uint64_t layout_byte_shape_find_end(const struct layout_byte_shape *bytes,
                                                  const uint8_t *base, uint64_t first)
{
    const uint32_t zeros = layout_byte_shape_zero_mask(bytes, base + first);
    return __builtin_expect(zeros != 0, 1) ? first + layout_byte_shape_rest(bytes, base + first) +
                                                 (uint32_t)__builtin_ctz(zeros)
                                           : UINT64_MAX;
}

/* Finds the end of the record at bit offset `at`, a whole byte. Returns false if the record exceeds
 * bits->end, has no shape, or ends its fixed part within 64 bits of bits->base; then use
 * layout_find_record_end. */
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
