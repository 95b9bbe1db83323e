/* Ticks to nanoseconds, exact.
 *
 * Let M = floor(10^9 * 2^shift / f) with shift chosen so that 2^63 <= M < 2^64.  Then ticks * M >> shift falls short of the true
 * ticks * 10^9 / f by less than ticks / 2^shift, and that is below 1 whenever the true value fits 63 bits.  So the estimate is
 * right or one too small, and comparing the rest with f tells which.  A true value of 2^63 or more gives an estimate of at
 * least 2^63 - 1, so none that must be clamped is missed.
 * Left out: offsets between clocks, which the model keeps. */
#include "base/clockmath.h"

#include "base/wide.h"

#define NS_PER_SECOND 1000000000u

static int64_t clamp_high(bool *clamped)
{
    *clamped = true;
    return INT64_MAX;
}

void clockmath_init(struct clockmath *math, uint64_t frequency)
{
    if (frequency == 0)
        frequency = NS_PER_SECOND;
    *math = (struct clockmath){.frequency = frequency};
    if (NS_PER_SECOND % frequency == 0) {
        math->whole = NS_PER_SECOND / frequency;
        return;
    }
    /* Long division, a bit at a time. */
    uint128 rest = NS_PER_SECOND % frequency;
    math->magic = NS_PER_SECOND / frequency;
    while (math->magic >> 63 == 0) {
        rest *= 2;
        math->magic = math->magic * 2 + (rest >= frequency);
        rest -= rest >= frequency ? frequency : 0;
        math->shift++;
    }
}

int64_t clockmath_ns(const struct clockmath *math, uint64_t ticks, bool *clamped)
{
    uint64_t ns;
    if (math->whole) {
        if (__builtin_mul_overflow(ticks, math->whole, &ns) || ns > INT64_MAX)
            return clamp_high(clamped);
        return (int64_t)ns;
    }
    uint128 estimate = (uint128)ticks * math->magic >> math->shift;
    if (estimate >> 63)
        return clamp_high(clamped);
    ns = (uint64_t)estimate;
    ns += (uint128)ticks * NS_PER_SECOND - (uint128)ns * math->frequency >= math->frequency;
    return ns > INT64_MAX ? clamp_high(clamped) : (int64_t)ns;
}

int64_t clockmath_ns_signed(const struct clockmath *math, int64_t ticks, bool *clamped)
{
    if (ticks >= 0)
        return clockmath_ns(math, (uint64_t)ticks, clamped);
    /* Before an anchor is rare: a plain division will do.  The floor of a negative is the ceiling of its size. */
    uint128 size = (uint128)(0 - (uint64_t)ticks) * NS_PER_SECOND;
    uint128 ns = (size + (math->frequency - 1)) / math->frequency;
    if (ns > INT64_MAX) {
        *clamped = *clamped || ns > (uint128)INT64_MAX + 1;
        return INT64_MIN;
    }
    return -(int64_t)ns;
}

uint64_t clockmath_ticks(const struct clockmath *math, uint64_t ns, bool *clamped)
{
    uint128 ticks = ((uint128)ns * math->frequency + (NS_PER_SECOND - 1)) / NS_PER_SECOND;
    if (ticks > UINT64_MAX) {
        *clamped = true;
        return UINT64_MAX;
    }
    return (uint64_t)ticks;
}

int64_t clockmath_add(int64_t a, int64_t b, bool *clamped)
{
    int64_t sum;
    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    *clamped = true;
    return b < 0 ? INT64_MIN : INT64_MAX;
}
