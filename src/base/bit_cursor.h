/* The bounded bit cursor: reads numbers of any width, byte order and alignment from untrusted
 * bytes. Positions count bits from `base`, the byte from which the format counts its alignment.  A
 * read beyond `end` returns 0, sets `failed` and does not advance, so a run of reads needs one
 * check at its end.  Bit X is bit X % 8 (little-endian) or 7 - X % 8 (big-endian) of byte X / 8.
 * The first byte of a little-endian number is its least significant one.  The bytes are borrowed.
 */
#ifndef TRACETTA_BASE_BIT_CURSOR_H
#define TRACETTA_BASE_BIT_CURSOR_H

#include <stdbool.h>

#include "base/endian.h"

struct bits {
    const uint8_t *base;
    uint64_t at, end; /* positions in bits from `base` */
    bool failed;
};

static inline struct bits bits_init(const void *base, uint64_t at, uint64_t end)
{
    return (struct bits){.base = base, .at = at, .end = end};
}

static inline uint64_t bits_left(const struct bits *bits)
{
    return bits->end - bits->at;
}

/* Advances to the next multiple of 2^log2 bits; sets `failed` if that is beyond the end. */
static inline void bits_align(struct bits *bits, unsigned log2)
{
    uint64_t mask = (UINT64_C(1) << log2) - 1, skip = (0 - bits->at) & mask;
    if (skip > bits_left(bits))
        bits->failed = true;
    else
        bits->at += skip;
}

/* Advances by n bits; sets `failed` if fewer remain. */
static inline void bits_skip(struct bits *bits, uint64_t n)
{
    if (n > bits_left(bits))
        bits->failed = true;
    else
        bits->at += n;
}

/* Returns the address of the next n bytes and advances.  Returns NULL and sets `failed` if fewer
 * remain or the position is not a multiple of 8. */
static inline const uint8_t *bits_read_bytes(struct bits *bits, uint64_t n)
{
    if (bits->at & 7 || n > bits_left(bits) >> 3) {
        bits->failed = true;
        return NULL;
    }
    const uint8_t *p = bits->base + (bits->at >> 3);
    bits->at += n << 3;
    return p;
}

/* Reads an unsigned number of 1 to 64 bits; 0 after a failure. */
uint64_t bits_read_le(struct bits *bits, unsigned width);
uint64_t bits_read_be(struct bits *bits, unsigned width);

/* Sign-extends the lowest `width` bits of x, 1 to 64. */
static inline int64_t bits_sign_extend(uint64_t x, unsigned width)
{
    unsigned spare = 64 - width;
    return (int64_t)(x << spare) >> spare;
}

/* Returns the lowest `width` bits of x in reverse order. */
uint64_t bits_reverse(uint64_t x, unsigned width);

#endif
