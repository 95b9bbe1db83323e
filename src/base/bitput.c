/* Bits go byte by byte but for whole bytes between bytes, which is what nearly all numbers are. */
#include "base/bitput.h"

#include <assert.h>

#include "base/endian.h"

#define LOW_BITS(n) ((1u << (n)) - 1u)

/* Makes room for bits up to `end`: new bytes are 0.  False without memory. */
static bool extend(struct bitput *put, uint64_t end)
{
    uint64_t have = put->to->n - put->start, need = (end + 7) >> 3;
    if (put->to->failed)
        return false;
    if (need > have)
        buffer_add_zeros(put->to, (size_t)(need - have));
    return !put->to->failed;
}

void bitput_zeros(struct bitput *put, uint64_t n)
{
    (void)extend(put, put->at + n);
    put->at += n;
}

/* The byte of a bit; `start` may be before the buffer, where bytes were taken out of it. */
static uint8_t *byte_of(const struct bitput *put, uint64_t at)
{
    return put->to->bytes + (put->start + (size_t)(at >> 3));
}

/* Puts bits over others, lowest first. */
static void lay_le(uint8_t *p, uint64_t at, uint64_t x, unsigned width)
{
    for (unsigned phase = (unsigned)at & 7, n; width; p++, phase = 0, x >>= n, width -= n) {
        n = 8 - phase < width ? 8 - phase : width;
        *p = (uint8_t)((*p & ~(LOW_BITS(n) << phase)) | ((unsigned)x & LOW_BITS(n)) << phase);
    }
}

/* Highest first. */
static void lay_be(uint8_t *p, uint64_t at, uint64_t x, unsigned width)
{
    for (unsigned phase = (unsigned)at & 7, n; width; p++, phase = 0, width -= n) {
        n = 8 - phase < width ? 8 - phase : width;
        unsigned shift = 8 - phase - n, part = (unsigned)(x >> (width - n)) & LOW_BITS(n);
        *p = (uint8_t)((*p & ~(LOW_BITS(n) << shift)) | part << shift);
    }
}

/* Whole bytes between bytes: where they go, or NULL when it must be done bit by bit. */
static uint8_t *room_for_bytes(struct bitput *put, unsigned width)
{
    return ((unsigned)put->at | width) & 7 ? NULL : buffer_room(put->to, 8);
}

void bitput_le(struct bitput *put, uint64_t x, unsigned width)
{
    uint8_t *at = room_for_bytes(put, width);
    if (at) {
        store_u64le(at, x);
        buffer_filled(put->to, width >> 3);
    } else if (extend(put, put->at + width)) {
        lay_le(byte_of(put, put->at), put->at, x, width);
    }
    put->at += width;
}

void bitput_be(struct bitput *put, uint64_t x, unsigned width)
{
    uint8_t *at = room_for_bytes(put, width);
    if (at) {
        store_u64be(at, x << (64 - width));
        buffer_filled(put->to, width >> 3);
    } else if (extend(put, put->at + width)) {
        lay_be(byte_of(put, put->at), put->at, x, width);
    }
    put->at += width;
}

void bitput_bytes(struct bitput *put, const void *bytes, size_t n)
{
    assert((put->at & 7) == 0);
    buffer_add(put->to, bytes, n);
    put->at += (uint64_t)n << 3;
}

void bitput_store_le(struct bitput *put, uint64_t at, uint64_t x, unsigned width)
{
    assert(at + width <= put->at);
    if (!put->to->failed)
        lay_le(byte_of(put, at), at, x, width);
}

void bitput_store_be(struct bitput *put, uint64_t at, uint64_t x, unsigned width)
{
    assert(at + width <= put->at);
    if (!put->to->failed)
        lay_be(byte_of(put, at), at, x, width);
}

void bitput_cut(struct bitput *put, uint64_t at)
{
    assert(at <= put->at);
    put->at = at;
    if (!put->to->failed)
        put->to->n = put->start + (size_t)((at + 7) >> 3);
}
