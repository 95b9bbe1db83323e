/* The bit writer, counterpart of base/bits.h: appends numbers of any width and byte order at any
 * bit position of a packet under construction. Positions count bits from the end of the buffer at
 * bitput_begin.  Bit X is bit X % 8 (little-endian) or 7 - X % 8 (big-endian) of byte X / 8; a byte
 * may contain bits of one order only.  Unwritten bits of the last byte are 0. Memory: if it is out,
 * the buffer's `failed` flag is set and positions advance as usual, so a run of calls needs one
 * check at its end. */
#ifndef TRACETTA_BASE_BITPUT_H
#define TRACETTA_BASE_BITPUT_H

#include "base/buffer.h"

struct bitput {
    struct buffer *to;
    size_t start; /* byte of the buffer that contains bit 0; modulo 2^64 */
    uint64_t at;  /* position after the last bit, in bits */
};

/* Starts a writer at the end of the buffer.  The buffer is borrowed. */
static inline struct bitput bitput_begin(struct buffer *to)
{
    return (struct bitput){.to = to, .start = to->n, .at = 0};
}

/* Appends n zero bits. */
void bitput_zeros(struct bitput *put, uint64_t n);

/* Appends zero bits up to the next multiple of 2^log2 bits. */
static inline void bitput_align(struct bitput *put, unsigned log2)
{
    uint64_t mask = (UINT64_C(1) << log2) - 1, skip = (0 - put->at) & mask;
    if (skip)
        bitput_zeros(put, skip);
}

/* Appends the lowest `width` bits of x; `width` is 1 to 64. */
void bitput_le(struct bitput *put, uint64_t x, unsigned width);
void bitput_be(struct bitput *put, uint64_t x, unsigned width);

/* Appends n bytes.  The position must be a multiple of 8. */
void bitput_bytes(struct bitput *put, const void *bytes, size_t n);

/* Overwrites `width` bits at position `at`, which were appended before. */
void bitput_store_le(struct bitput *put, uint64_t at, uint64_t x, unsigned width);
void bitput_store_be(struct bitput *put, uint64_t at, uint64_t x, unsigned width);

/* Removes all bits from position `at` on.  If `at` is inside a byte, the removed bits of that byte
 * must be 0. */
void bitput_cut(struct bitput *put, uint64_t at);

#endif
