/* Appending and overwriting of bits in a buffer.  Numbers that start and end at byte boundaries,
 * which nearly all do, are stored at once; all others byte by byte with masks. */
#include "base/bit_writer.h"

#include <assert.h>

#include "base/endian.h"

#define LOW_BITS(n) ((1u << (n)) - 1u)

/* Grows the buffer with zero bytes until it holds bits up to `end`.  Returns false if memory is
 * out. */
static bool grow_to_bit(struct bit_writer *put, uint64_t end)
{
    uint64_t have = put->to->n - put->start, need = (end + 7) >> 3;
    if (put->to->failed)
        return false;
    if (need > have)
        buffer_add_zeros(put->to, (size_t)(need - have));
    return !put->to->failed;
}

void bit_writer_add_zeros(struct bit_writer *put, uint64_t n)
{
    (void)grow_to_bit(put, put->at + n);
    put->at += n;
}

/* Returns the address of the byte that contains bit `at`. After flushed bytes were removed from the
 * buffer, `start` is a wrapped negative number; the sum is still inside the buffer. */
static uint8_t *byte_at_bit(const struct bit_writer *put, uint64_t at)
{
    return put->to->bytes + (put->start + (size_t)(at >> 3));
}

/* Overwrites `width` bits, least significant bit first. */
static void overwrite_bits_le(uint8_t *p, uint64_t at, uint64_t x, unsigned width)
{
    for (unsigned phase = (unsigned)at & 7, n; width; p++, phase = 0, x >>= n, width -= n) {
        n = 8 - phase < width ? 8 - phase : width;
        *p = (uint8_t)((*p & ~(LOW_BITS(n) << phase)) | ((unsigned)x & LOW_BITS(n)) << phase);
    }
}

/* Overwrites `width` bits, most significant bit first. */
static void overwrite_bits_be(uint8_t *p, uint64_t at, uint64_t x, unsigned width)
{
    for (unsigned phase = (unsigned)at & 7, n; width; p++, phase = 0, width -= n) {
        n = 8 - phase < width ? 8 - phase : width;
        unsigned shift = 8 - phase - n, part = (unsigned)(x >> (width - n)) & LOW_BITS(n);
        *p = (uint8_t)((*p & ~(LOW_BITS(n) << shift)) | part << shift);
    }
}

/* Returns the address to store a number at if it starts and ends at byte boundaries. Returns NULL
 * if it must be written bit by bit, or if memory runs out. */
static uint8_t *aligned_room(struct bit_writer *put, unsigned width)
{
    return ((unsigned)put->at | width) & 7 ? NULL : buffer_room(put->to, 8);
}

void bit_writer_add_le(struct bit_writer *put, uint64_t x, unsigned width)
{
    uint8_t *at = aligned_room(put, width);
    if (at) {
        store_u64le(at, x);
        buffer_commit(put->to, width >> 3);
    } else if (grow_to_bit(put, put->at + width)) {
        overwrite_bits_le(byte_at_bit(put, put->at), put->at, x, width);
    }
    put->at += width;
}

void bit_writer_add_be(struct bit_writer *put, uint64_t x, unsigned width)
{
    uint8_t *at = aligned_room(put, width);
    if (at) {
        store_u64be(at, x << (64 - width));
        buffer_commit(put->to, width >> 3);
    } else if (grow_to_bit(put, put->at + width)) {
        overwrite_bits_be(byte_at_bit(put, put->at), put->at, x, width);
    }
    put->at += width;
}

void bit_writer_add_bytes(struct bit_writer *put, const void *bytes, size_t n)
{
    assert((put->at & 7) == 0);
    buffer_add(put->to, bytes, n);
    put->at += (uint64_t)n << 3;
}

void bit_writer_overwrite_le(struct bit_writer *put, uint64_t at, uint64_t x, unsigned width)
{
    assert(at + width <= put->at);
    if (!put->to->failed)
        overwrite_bits_le(byte_at_bit(put, at), at, x, width);
}

void bit_writer_overwrite_be(struct bit_writer *put, uint64_t at, uint64_t x, unsigned width)
{
    assert(at + width <= put->at);
    if (!put->to->failed)
        overwrite_bits_be(byte_at_bit(put, at), at, x, width);
}

void bit_writer_truncate(struct bit_writer *put, uint64_t at)
{
    assert(at <= put->at);
    put->at = at;
    if (!put->to->failed)
        put->to->n = put->start + (size_t)((at + 7) >> 3);
}
