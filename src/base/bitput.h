/* The bit writer, counterpart of base/bits.h: numbers of any width and order at any place of a
 * packet that is being made.
 *
 * Positions are bits from the place in the buffer where the writer began.  Bits of the last byte
 * that nothing was put into are 0. Bit X is bit X % 8 (little-endian) or 7 - X % 8 (big-endian) of
 * byte X / 8; a byte may hold bits of one order only. Memory: the buffer's `failed` flag tells;
 * positions go on as if there had been room, so that a run of puts is checked once. */
#ifndef TRACETTA_BASE_BITPUT_H
#define TRACETTA_BASE_BITPUT_H

#include "base/buffer.h"

struct bitput {
    struct buffer *to;
    size_t start; /* where in the buffer bit 0 is, modulo the size of memory */
    uint64_t at;  /* bits so far */
};

/* Begins at the end of the buffer. */
static inline struct bitput bitput_begin(struct buffer *to)
{
    return (struct bitput){.to = to, .start = to->n, .at = 0};
}

/* Appends n zero bits. */
void bitput_zeros(struct bitput *put, uint64_t n);

/* Appends zeros up to the next multiple of 1 << log2 bits. */
static inline void bitput_align(struct bitput *put, unsigned log2)
{
    uint64_t mask = (UINT64_C(1) << log2) - 1, skip = (0 - put->at) & mask;
    if (skip)
        bitput_zeros(put, skip);
}

/* Appends the lowest `width` bits of a number, 1 to 64. */
void bitput_le(struct bitput *put, uint64_t x, unsigned width);
void bitput_be(struct bitput *put, uint64_t x, unsigned width);

/* Appends n bytes; only between bytes. */
void bitput_bytes(struct bitput *put, const void *bytes, size_t n);

/* Replaces bits put before. */
void bitput_store_le(struct bitput *put, uint64_t at, uint64_t x, unsigned width);
void bitput_store_be(struct bitput *put, uint64_t at, uint64_t x, unsigned width);

/* Takes back what was put behind a place; inside a byte only where nothing but zeros of an
 * alignment followed in it. */
void bitput_cut(struct bitput *put, uint64_t at);

#endif
