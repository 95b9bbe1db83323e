/* Record shapes: the end of a record computed by a formula, without running a program.
 *
 * Most events have a fixed-size part, then at most one text or one array of fixed-size elements,
 * then another fixed-size part. Records with and without an array share one formula, so a reader of
 * mixed events has fewer branches to mispredict.
 *
 *   | first bits, ending with the element count | count * each bits | rest bits |
 *
 * Thread rule: plain data, read-only. */
#ifndef TRACETTA_LAYOUT_LAYOUT_SHAPE_H
#define TRACETTA_LAYOUT_LAYOUT_SHAPE_H

#include "base/find_zero.h"
#include "layout/layout.h"

enum layout_shape_kind {
    LAYOUT_SHAPE_NONE = 0, /* the record has another structure; only layout_find_record_end finds
                            * its end */
    /* `first` bits, `count` elements of `each` bits, `rest` bits; `each` is 0 without an array */
    LAYOUT_SHAPE_ROW,
    LAYOUT_SHAPE_TEXT /* `first` bits, a text up to its zero byte, `rest` bits */
};

struct layout_shape {
    /* sizes in bits of the fixed-size parts before and after the array or text */
    uint64_t first, rest;
    uint64_t each; /* distance of the elements in bits, below 2^31 */
    uint8_t kind;  /* enum layout_shape_kind */
    /* right shift that isolates the element count in the eight little-endian bytes that end with
     * the count; at least 32 */
    uint8_t count_shift;
};

/* Returns the shape of a layout, for records of 0 bits if `layout` is NULL. Its kind is
 * LAYOUT_SHAPE_NONE if no formula exists or the layout is aligned to more than 8 bits. */
struct layout_shape layout_get_shape(const struct layout *layout);

/* A shape in bytes, from which the end of a record is computed without a branch: a processor cannot
 * predict the class of the next event. The start of each record depends on the end of the one
 * before, so the chain of dependent instructions is short. */
struct layout_byte_shape {
    uint32_t first;
    /* size in bytes of the last part, with the terminating zero of a text; LAYOUT_BYTE_SHAPE_NONE =
     * no formula */
    uint32_t rest;
    uint32_t each;
    /* distance in bytes from the start of the element count to the end of the part of `first`
     * bytes */
    uint32_t count_bytes;
    uint32_t count_mask; /* mask of the element count in the 32 bits loaded there; 0 = no array */
    uint32_t no_text;    /* all bits are set if the record has no text, else 0 */
};

#define LAYOUT_BYTE_SHAPE_NONE UINT32_MAX
#define LAYOUT_BYTE_SHAPE_LOOKAHEAD 32u

/* Converts a shape from bits to bytes. `rest` is LAYOUT_BYTE_SHAPE_NONE if a size is not a multiple
 * of 8 bits. */
struct layout_byte_shape layout_shape_to_bytes(const struct layout_shape *shape);

/* Returns a mask of the bytes at p that may be the text's terminating zero; the lowest set bit is
 * the zero's index. Bit 0 is set if the shape has no text. Returns 0 if the text is longer than
 * LAYOUT_BYTE_SHAPE_LOOKAHEAD. */
static inline uint32_t layout_byte_shape_zero_mask(const struct layout_byte_shape *bytes,
                                                   const uint8_t *p)
{
    return zero_mask_16(p) | (zero_mask_16(p + 16) << 16 | bytes->no_text);
}

/* Returns the number of bytes from p, the end of `first`, to the end of the record, without the
 * bytes of a text. */
static inline uint64_t layout_byte_shape_rest(const struct layout_byte_shape *bytes,
                                              const uint8_t *p)
{
    return (uint64_t)(load_u32le(p - bytes->count_bytes) & bytes->count_mask) * bytes->each +
           bytes->rest;
}

/* Returns the end of a record as an offset from `base`. `first`: end of the record's first
 * fixed-size part, where LAYOUT_BYTE_SHAPE_LOOKAHEAD bytes must be readable. Returns UINT64_MAX if
 * the text is longer than these bytes and must be scanned. */
static inline uint64_t layout_byte_shape_find_end(const struct layout_byte_shape *bytes,
                                                  const uint8_t *base, uint64_t first)
{
    const uint32_t zeros = layout_byte_shape_zero_mask(bytes, base + first);
    return __builtin_expect(zeros != 0, 1) ? first + layout_byte_shape_rest(bytes, base + first) +
                                                 (uint32_t)__builtin_ctz(zeros)
                                           : UINT64_MAX;
}

/* Finds the end of the record at bit offset `at`, a byte boundary. Returns false if the record
 * exceeds bits->end, if it has no formula, or if its first fixed-size part ends within 64 bits of
 * bits->base; the caller then uses layout_find_record_end. */
static inline bool layout_shape_find_end(const struct layout_shape *shape, const struct bits *bits,
                                         uint64_t at, uint64_t *following)
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
    *following = next;
    return next <= bits->end;
}

#endif
