/* Clock ticks to nanoseconds, exact: floor(ticks * 10^9 / frequency) in 128 bits, saturated to
 * int64. One precomputed reciprocal with an exact fix-up: three multiplications and no division. */
#ifndef TRACETTA_BASE_CLOCKMATH_H
#define TRACETTA_BASE_CLOCKMATH_H

#include <stdbool.h>
#include <stdint.h>

struct clockmath {
    uint64_t frequency; /* ticks per second, never 0 */
    uint64_t whole;     /* floor(10^9 / frequency) */
    uint64_t rest;      /* 10^9 mod frequency; 0 is the common case of one multiplication */
    uint64_t magic;     /* floor(rest * 2^64 / frequency) */
};

/* A frequency of 0 is taken as 10^9. */
void clockmath_init(struct clockmath *math, uint64_t frequency);

/* The same where 10^9 is no multiple of the frequency. */
int64_t clockmath_ns_odd(const struct clockmath *math, uint64_t ticks, bool *clamped);

/* floor(ticks * 10^9 / frequency); `*clamped` is set (never cleared) when the result does not fit
 * int64 and INT64_MAX is given. */
static inline int64_t clockmath_ns(const struct clockmath *math, uint64_t ticks, bool *clamped)
{
    uint64_t ns;
    if (math->rest)
        return clockmath_ns_odd(math, ticks, clamped);
    if (__builtin_expect(!__builtin_mul_overflow(ticks, math->whole, &ns) && ns <= INT64_MAX, 1))
        return (int64_t)ns;
    *clamped = true;
    return INT64_MAX;
}

/* floor for a signed tick distance (ticks before an anchor are negative). */
int64_t clockmath_ns_signed(const struct clockmath *math, int64_t ticks, bool *clamped);

/* The inverse: ceil(ns * frequency / 10^9), so that clockmath_ns(clockmath_ticks(ns)) == ns while
 * frequency >= 10^9. */
uint64_t clockmath_ticks(const struct clockmath *math, uint64_t ns, bool *clamped);

/* a + b, saturated to int64; sets `*clamped` when it had to. */
int64_t clockmath_add(int64_t a, int64_t b, bool *clamped);

#endif
