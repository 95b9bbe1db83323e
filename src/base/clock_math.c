/* Exact conversion of clock ticks to nanoseconds, without a division.
 *
 * Let 10^9 = whole * f + rest, for a frequency f. Then the result is ticks * whole + floor(ticks *
 * rest / f). The second term is estimated as ticks * magic / 2^64, where magic = floor(rest * 2^64
 * / f). That floor loses less than ticks / 2^64 < 1, so the estimate is correct or 1 too small. The
 * remainder ticks * rest - estimate * f is >= f exactly if it is 1 too small (Granlund and
 * Montgomery, "Division by invariant integers using multiplication", 1994).
 *
 * Left out: offsets between clocks, which the model applies. */
#include "base/clock_math.h"

#include "base/wide.h"

#define NS_PER_SECOND 1000000000u

void clock_math_init(struct clock_math *math, uint64_t frequency)
{
    if (frequency == 0)
        frequency = NS_PER_SECOND;
    uint64_t rest = NS_PER_SECOND % frequency;
    *math = (struct clock_math){
        .frequency = frequency,
        .whole = NS_PER_SECOND / frequency,
        .rest = rest,
        .magic = (uint64_t)(((uint128)rest << 64) / frequency),
    };
}

int64_t ticks_to_ns_inexact(const struct clock_math *math, uint64_t ticks, bool *clamped)
{
    uint64_t ns, part = (uint64_t)((uint128)ticks * math->magic >> 64);
    part += (uint128)ticks * math->rest - (uint128)part * math->frequency >= math->frequency;
    if (__builtin_mul_overflow(ticks, math->whole, &ns) || __builtin_add_overflow(ns, part, &ns) ||
        ns > INT64_MAX) {
        *clamped = true;
        return INT64_MAX;
    }
    return (int64_t)ns;
}

int64_t signed_ticks_to_ns(const struct clock_math *math, int64_t ticks, bool *clamped)
{
    if (ticks >= 0)
        return ticks_to_ns(math, (uint64_t)ticks, clamped);
    /* Ticks before the anchor are negative and rare, so a division is cheap enough. The floor of a
     * negative quotient is the negated ceiling of its absolute value. */
    uint128 size = (uint128)(0 - (uint64_t)ticks) * NS_PER_SECOND;
    uint128 ns = (size + (math->frequency - 1)) / math->frequency;
    if (ns > INT64_MAX) {
        *clamped = *clamped || ns > (uint128)INT64_MAX + 1;
        return INT64_MIN;
    }
    return -(int64_t)ns;
}

uint64_t ns_to_ticks(const struct clock_math *math, uint64_t ns, bool *clamped)
{
    uint128 ticks = ((uint128)ns * math->frequency + (NS_PER_SECOND - 1)) / NS_PER_SECOND;
    if (ticks > UINT64_MAX) {
        *clamped = true;
        return UINT64_MAX;
    }
    return (uint64_t)ticks;
}

int64_t add_saturated(int64_t a, int64_t b, bool *clamped)
{
    int64_t sum;
    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    *clamped = true;
    return b < 0 ? INT64_MIN : INT64_MAX;
}
