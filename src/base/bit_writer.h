/* The bit writer, counterpart of base/bit_cursor.h: appends numbers of any width and byte order at
 * any bit position of a packet under construction. Positions count bits from the end of the buffer
 * at bit_writer_init.  Bit X is bit X % 8 (little-endian) or 7 - X % 8 (big-endian) of byte X / 8;
 * a byte may contain bits of one order only.  Unwritten bits of the last byte are 0. Memory: if it
 * is out, the buffer's `failed` flag is set and positions advance as usual, so a run of calls needs
 * one check at its end. */
#ifndef TRACETTA_BASE_BIT_WRITER_H
#define TRACETTA_BASE_BIT_WRITER_H

#include "base/buffer.h"

struct bit_writer {
    struct buffer *to;
    size_t start; /* byte of the buffer that contains bit 0; modulo 2^64 */
    uint64_t at;  /* position after the last bit, in bits */
};

/* Starts a writer at the end of the buffer.  The buffer is borrowed. */
static inline struct bit_writer bit_writer_init(struct buffer *to)
{
    return (struct bit_writer){.to = to, .start = to->n, .at = 0};
}

/* Appends n zero bits. */
void bit_writer_add_zeros(struct bit_writer *put, uint64_t n);

/* Appends zero bits up to the next multiple of 2^log2 bits. */
static inline void bit_writer_align(struct bit_writer *put, unsigned log2)
{
    uint64_t mask = (UINT64_C(1) << log2) - 1, skip = (0 - put->at) & mask;
    if (skip)
        bit_writer_add_zeros(put, skip);
}

/* Appends the lowest `width` bits of x; `width` is 1 to 64. */
void bit_writer_add_le(struct bit_writer *put, uint64_t x, unsigned width);
void bit_writer_add_be(struct bit_writer *put, uint64_t x, unsigned width);

/* Appends n bytes.  The position must be a multiple of 8. */
void bit_writer_add_bytes(struct bit_writer *put, const void *bytes, size_t n);

/* Overwrites `width` bits at position `at`, which were appended before. */
void bit_writer_overwrite_le(struct bit_writer *put, uint64_t at, uint64_t x, unsigned width);
void bit_writer_overwrite_be(struct bit_writer *put, uint64_t at, uint64_t x, unsigned width);

/* Removes all bits from position `at` on.  If `at` is inside a byte, the removed bits of that byte
 * must be 0. */
void bit_writer_truncate(struct bit_writer *put, uint64_t at);

#endif
