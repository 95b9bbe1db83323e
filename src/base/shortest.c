/* Shortest decimals by the Schubfach algorithm (R. Giulietti, "The Schubfach way to render
 * doubles", 2021).
 *
 * A double c * 2^q stands for all reals that round to it: an interval with ends half a unit below
 * and above.  For the largest k with 10^k not wider than that interval, one or two multiples of
 * 10^k, and at most one of 10^(k+1), lie inside; the shortest decimal is among them.  Everything is
 * computed in quarters of a unit, times a 128-bit power of ten, and rounded to odd so that
 * comparisons with the interval's ends stay exact. */
#include "base/shortest.h"

#include <stdbool.h>

#include "base/endian.h"
#include "base/powers_of_ten.h"
#include "base/wide.h"

#define FRACTION_BITS 52
#define EXPONENT_BIAS 1075 /* of the integer significand */

/* floor(log10(2^e)), or of 3/4 * 2^e for the narrower interval of a power of two */
static int floor_log10_pow2(int e, bool is_narrow)
{
    return (e * 1262611 - (is_narrow ? 524031 : 0)) >> 22;
}

static int floor_log2_pow10(int e)
{
    return (e * 1741647) >> 19;
}

/* The upper 64 bits of the product of a 128-bit power and x; bit 0 is set when anything non-zero is
 * cut off. */
static uint64_t multiply_to_odd(struct power_of_ten power, uint64_t x)
{
    uint128 low = (uint128)power.low * x;
    uint128 high = (uint128)power.high * x + (uint64_t)(low >> 64);
    return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

static struct decimal without_zeros(uint64_t digits, int exponent)
{
    while (digits % 100 == 0) {
        digits /= 100;
        exponent += 2;
    }
    if (digits % 10 == 0) {
        digits /= 10;
        exponent++;
    }
    return (struct decimal){digits, exponent};
}

/* The interval around c * 2^q scaled by 10^-k, in quarters of a unit, ends included. */
struct interval {
    uint64_t lower, middle, upper;
};

static struct interval scale(uint64_t c, int q, int k, bool is_narrow)
{
    int shift = q + floor_log2_pow10(-k) + 1;
    const struct power_of_ten power = power_of_ten(-k);
    bool is_open =
        c & 1; /* ties go to even: an odd significand does not own the ends of its interval */
    return (struct interval){
        .lower = multiply_to_odd(power, (4 * c - 2 + is_narrow) << shift) + is_open,
        .middle = multiply_to_odd(power, (4 * c) << shift),
        .upper = multiply_to_odd(power, (4 * c + 2) << shift) - is_open,
    };
}

static struct decimal choose(const struct interval *at, int k)
{
    uint64_t floor = at->middle / 4;
    if (floor >= 10) {
        uint64_t tens = floor / 10;
        bool below = at->lower <= 40 * tens, above = 40 * tens + 40 <= at->upper;
        if (below != above)
            return without_zeros(tens + above, k + 1);
    }
    bool below = at->lower <= 4 * floor, above = 4 * floor + 4 <= at->upper;
    if (below != above)
        return without_zeros(floor + above, k);
    uint64_t half = 4 * floor + 2;
    bool up = at->middle > half || (at->middle == half && (floor & 1));
    return without_zeros(floor + up, k);
}

struct decimal shortest_decimal(double x)
{
    uint64_t bits = bits_of_double(x);
    uint64_t fraction = bits & (((uint64_t)1 << FRACTION_BITS) - 1);
    int exponent = (int)(bits >> FRACTION_BITS & 0x7ff);
    uint64_t c = exponent ? fraction | (uint64_t)1 << FRACTION_BITS : fraction;
    int q = (exponent ? exponent : 1) - EXPONENT_BIAS;
    if (q <= 0 && q > -FRACTION_BITS - 1 && (c & (((uint64_t)1 << -q) - 1)) == 0)
        return without_zeros(c >> -q, 0);
    bool is_narrow = fraction == 0 && exponent > 1;
    int k = floor_log10_pow2(q, is_narrow);
    struct interval at = scale(c, q, k, is_narrow);
    return choose(&at, k);
}
