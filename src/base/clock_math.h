/* Exact conversion of clock ticks to nanoseconds: floor(ticks * 10^9 / frequency), computed in 128
 * bits and saturated to int64. Costs one multiplication if 10^9 is a multiple of the frequency,
 * else three. */
#ifndef TRACETTA_BASE_CLOCK_MATH_H
#define TRACETTA_BASE_CLOCK_MATH_H

#include <stdbool.h>
#include <stdint.h>

struct clock_math {
    uint64_t frequency; /* ticks per second, never 0 */
    uint64_t whole;     /* floor(10^9 / frequency), ns per tick */
    /* 10^9 mod frequency; 0 for most clocks, which then need one multiplication */
    uint64_t rest;
    uint64_t magic; /* floor(rest * 2^64 / frequency) */
};

/* Precomputes the conversion. A frequency of 0 means 10^9. */
void clock_math_init(struct clock_math *math, uint64_t frequency);

/* Computes ticks_to_ns for frequencies that do not divide 10^9. */
int64_t ticks_to_ns_inexact(const struct clock_math *math, uint64_t ticks, bool *clamped);

/* Converts ticks to ns: floor(ticks * 10^9 / frequency). If the result exceeds int64, sets
 * `*clamped` (never clears it) and returns INT64_MAX. */
static inline int64_t ticks_to_ns(const struct clock_math *math, uint64_t ticks, bool *clamped)
{
    uint64_t ns;
    if (math->rest)
        return ticks_to_ns_inexact(math, ticks, clamped);
    if (__builtin_expect(!__builtin_mul_overflow(ticks, math->whole, &ns) && ns <= INT64_MAX, 1))
        return (int64_t)ns;
    *clamped = true;
    return INT64_MAX;
}

/* Converts a signed tick difference, rounding towards minus infinity. Ticks before an anchor are
 * negative. */
int64_t signed_ticks_to_ns(const struct clock_math *math, int64_t ticks, bool *clamped);

/* Converts ns to ticks: ceil(ns * frequency / 10^9). If frequency >= 10^9,
 * ticks_to_ns(ns_to_ticks(ns)) == ns. */
uint64_t ns_to_ticks(const struct clock_math *math, uint64_t ns, bool *clamped);

/* Returns a + b saturated to int64; sets `*clamped` if it saturated. */
int64_t add_saturated(int64_t a, int64_t b, bool *clamped);

#endif
