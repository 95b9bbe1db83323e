/* Sums that stop at the largest value instead of wrapping. A trace may record any duration and any
 * weight, so sums of both can exceed 64 bits. */
#ifndef TRACETTA_BASE_SATURATE_H
#define TRACETTA_BASE_SATURATE_H

#include <stdint.h>

/* Returns a + b, at most UINT64_MAX. */
static inline uint64_t saturate_add_u64(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Returns the end in ns of an interval that starts at `time`, at most INT64_MAX. */
static inline int64_t saturate_end_ns(int64_t time, uint64_t duration)
{
    const uint64_t duration_max = (uint64_t)INT64_MAX - (uint64_t)time;
    return duration < duration_max ? (int64_t)((uint64_t)time + duration) : INT64_MAX;
}

#endif
