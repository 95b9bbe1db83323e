/* The search for the first zero byte in memory. Most strings in traces end within a few dozen
 * bytes, where a call of memchr and its loop cost more than this inlined search. */
#ifndef TRACETTA_BASE_FIND_ZERO_H
#define TRACETTA_BASE_FIND_ZERO_H

#include <stdbool.h>
#include <string.h>

#include "base/endian.h"

#ifdef __SSE2__
#include <emmintrin.h>

/* Returns a mask with bit i set if byte i of 16 is zero. */
static inline uint32_t zero_mask_16(const uint8_t *p)
{
    return (uint32_t)_mm_movemask_epi8(
        _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)p), _mm_setzero_si128()));
}
#else
/* Portable version of the function above; compilers vectorise the loop. */
static inline uint32_t zero_mask_16(const uint8_t *p)
{
    uint32_t bits = 0;
    for (unsigned i = 0; i < 16; i++)
        bits |= (uint32_t)(p[i] == 0) << i;
    return bits;
}
#endif

/* Returns a mask with bit i set if byte i of 32 is zero. */
static inline uint32_t zero_mask_32(const uint8_t *p)
{
    return zero_mask_16(p) | zero_mask_16(p + 16) << 16;
}

/* Returns a word in which the highest bit of the lowest zero byte is set. Bits above it may be set
 * too, because the subtraction borrows. */
static inline uint64_t mark_zero_bytes(uint64_t bytes)
{
    return (bytes - UINT64_C(0x0101010101010101)) & ~bytes & UINT64_C(0x8080808080808080);
}

/* Finds zero bytes in [p, end), fewer than 32 bytes: sets bit i of *zeros if byte i is zero. The
 * load of 16 bytes ends at `end`, so it includes bytes before p, which are readable from `from` on.
 * Returns false if [from, end) has fewer than 16 bytes. */
static inline bool zero_mask_rest(const uint8_t *from, const uint8_t *p, const uint8_t *end,
                                  uint32_t *zeros)
{
    const unsigned n = (unsigned)(end - p);
    if (n >= 16)
        *zeros = zero_mask_16(p) | zero_mask_16(end - 16) << (n - 16);
    else if (end - from >= 16)
        *zeros = zero_mask_16(end - 16) >> (16 - n);
    else
        return false;
    return true;
}

/* Returns the first zero byte of [p, end), or NULL. Bytes of [from, p) must be readable: they may
 * be loaded together with a short remainder, but are not searched. */
static inline const uint8_t *find_zero(const uint8_t *from, const uint8_t *p, const uint8_t *end)
{
    uint32_t zeros;
    uint64_t marks;
    for (int i = 0; i < 2 && end - p >= 32; i++, p += 32) {
        zeros = zero_mask_32(p);
        if (zeros)
            return p + __builtin_ctz(zeros);
    }
    if (p < end && end - p < 32 && zero_mask_rest(from, p, end, &zeros))
        return zeros ? p + __builtin_ctz(zeros) : NULL;
    if (p < end && end - p <= 8 && end - from >= 8) {
        const unsigned before = (unsigned)(8 - (end - p)) * 8;
        marks = mark_zero_bytes(load_u64le(end - 8) >> before | ~(UINT64_MAX >> before));
        return marks ? p + __builtin_ctzll(marks) / 8 : NULL;
    }
    return p < end ? memchr(p, 0, (size_t)(end - p)) : NULL;
}

#endif
