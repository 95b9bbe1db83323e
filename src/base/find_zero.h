/* The first zero byte of a piece of memory: where most texts end within a few dozen bytes, a call
 * and a loop cost more than the search. */
#ifndef TRACETTA_BASE_FIND_ZERO_H
#define TRACETTA_BASE_FIND_ZERO_H

#include <stdbool.h>
#include <string.h>

#include "base/endian.h"

#ifdef __SSE2__
#include <emmintrin.h>

/* A bit for each byte of 16 that is zero. */
static inline uint32_t zeros_of_16(const uint8_t *p)
{
    return (uint32_t)_mm_movemask_epi8(
        _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)p), _mm_setzero_si128()));
}
#else
/* The same, which compilers make vectors of. */
static inline uint32_t zeros_of_16(const uint8_t *p)
{
    uint32_t bits = 0;
    for (unsigned i = 0; i < 16; i++)
        bits |= (uint32_t)(p[i] == 0) << i;
    return bits;
}
#endif

/* A bit for each byte of 32 that is zero. */
static inline uint32_t zeros_of_32(const uint8_t *p)
{
    return zeros_of_16(p) | zeros_of_16(p + 16) << 16;
}

/* The highest bit of the lowest byte that is zero, and perhaps bits above. */
static inline uint64_t zeros_of_8(uint64_t bytes)
{
    return (bytes - UINT64_C(0x0101010101010101)) & ~bytes & UINT64_C(0x8080808080808080);
}

/* A bit for each byte of [p, end), fewer than 32, that is zero; false where bytes from `from` on do
 * not suffice to look. */
static inline bool zeros_of_rest(const uint8_t *from, const uint8_t *p, const uint8_t *end,
                                 uint32_t *zeros)
{
    const unsigned n = (unsigned)(end - p);
    if (n >= 16)
        *zeros = zeros_of_16(p) | zeros_of_16(end - 16) << (n - 16);
    else if (end - from >= 16)
        *zeros = zeros_of_16(end - 16) >> (16 - n);
    else
        return false;
    return true;
}

/* The first zero byte of [p, end), or NULL.  `from`, at or before p: bytes from there on may be
 * looked at, so that a short rest is searched with what stands before it. */
static inline const uint8_t *find_zero(const uint8_t *from, const uint8_t *p, const uint8_t *end)
{
    uint32_t zeros;
    uint64_t marks;
    for (int i = 0; i < 2 && end - p >= 32; i++, p += 32) {
        zeros = zeros_of_32(p);
        if (zeros)
            return p + __builtin_ctz(zeros);
    }
    if (p < end && end - p < 32 && zeros_of_rest(from, p, end, &zeros))
        return zeros ? p + __builtin_ctz(zeros) : NULL;
    if (p < end && end - p <= 8 && end - from >= 8) {
        const unsigned before = (unsigned)(8 - (end - p)) * 8;
        marks = zeros_of_8(load_u64le(end - 8) >> before | ~(UINT64_MAX >> before));
        return marks ? p + __builtin_ctzll(marks) / 8 : NULL;
    }
    return p < end ? memchr(p, 0, (size_t)(end - p)) : NULL;
}

#endif
