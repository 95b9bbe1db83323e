/* The first zero byte of a piece of memory: where most texts end within a few dozen bytes, a call and a loop cost more than the search. */
#ifndef TRACETTA_BASE_FIND_ZERO_H
#define TRACETTA_BASE_FIND_ZERO_H

#include "base/endian.h"

#ifdef __SSE2__
#include <emmintrin.h>

/* A bit for each byte of 32 that is zero. */
static inline uint32_t zeros_of_32(const uint8_t *p)
{
    const __m128i zero = _mm_setzero_si128();
    uint32_t low = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)p), zero));
    uint32_t high = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)(p + 16)), zero));
    return low | high << 16;
}
#else
/* The same, which compilers make vectors of. */
static inline uint32_t zeros_of_32(const uint8_t *p)
{
    uint32_t bits = 0;
    for (unsigned i = 0; i < 32; i++)
        bits |= (uint32_t)(p[i] == 0) << i;
    return bits;
}
#endif

/* The first zero byte of [p, end), or NULL.  `from`, at or before p: bytes from there on may be looked at, so that a short rest is searched
 * with what stands before it. */
static inline const uint8_t *find_zero(const uint8_t *from, const uint8_t *p, const uint8_t *end)
{
    for (int i = 0; i < 2 && end - p >= 32; i++, p += 32) {
        uint32_t zeros = zeros_of_32(p);
        if (zeros)
            return p + __builtin_ctz(zeros);
    }
    if (p < end && end - p < 32 && end - from >= 32) {
        uint32_t zeros = zeros_of_32(end - 32) >> (32 - (end - p));
        return zeros ? p + __builtin_ctz(zeros) : NULL;
    }
    return p < end ? memchr(p, 0, (size_t)(end - p)) : NULL;
}

#endif
