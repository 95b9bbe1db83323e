/* The bounded bit cursor: reads of any width, order and alignment from untrusted bytes.
 *
 * Positions are bits from `base`, which stands where the format counts its alignment from.  A read
 * past `end` gives zero, sets `failed` and moves nothing, so a run of reads can be checked once at
 * its end. Bit X is bit X % 8 (little-endian fields) or 7 - X % 8 (big-endian fields) of byte X /
 * 8; byte 0 of a little-endian field is its lowest, of a big-endian field its highest.  Borrowed:
 * the cursor never owns its bytes. */
#ifndef TRACETTA_BASE_BITS_H
#define TRACETTA_BASE_BITS_H

#include <stdbool.h>

#include "base/endian.h"

struct bits {
    const uint8_t *base;
    uint64_t at, end; /* bits */
    bool failed;
};

static inline struct bits bits_over(const void *base, uint64_t at, uint64_t end)
{
    return (struct bits){.base = base, .at = at, .end = end};
}

static inline uint64_t bits_left(const struct bits *bits)
{
    return bits->end - bits->at;
}

/* Moves to the next multiple of 1 << log2. */
static inline void bits_align(struct bits *bits, unsigned log2)
{
    uint64_t mask = (UINT64_C(1) << log2) - 1, skip = (0 - bits->at) & mask;
    if (skip > bits_left(bits))
        bits->failed = true;
    else
        bits->at += skip;
}

/* Passes over n bits. */
static inline void bits_skip(struct bits *bits, uint64_t n)
{
    if (n > bits_left(bits))
        bits->failed = true;
    else
        bits->at += n;
}

/* Takes n whole bytes; NULL and failed when fewer are left or the place is no byte's. */
static inline const uint8_t *bits_bytes(struct bits *bits, uint64_t n)
{
    if (bits->at & 7 || n > bits_left(bits) >> 3) {
        bits->failed = true;
        return NULL;
    }
    const uint8_t *p = bits->base + (bits->at >> 3);
    bits->at += n << 3;
    return p;
}

/* An unsigned number of 1 to 64 bits anywhere. */
uint64_t bits_le(struct bits *bits, unsigned width);
uint64_t bits_be(struct bits *bits, unsigned width);

/* The lowest `width` bits as a two's complement number. */
static inline int64_t bits_sign(uint64_t x, unsigned width)
{
    unsigned spare = 64 - width;
    return (int64_t)(x << spare) >> spare;
}

/* The lowest `width` bits in opposite order. */
uint64_t bits_reverse(uint64_t x, unsigned width);

#endif
