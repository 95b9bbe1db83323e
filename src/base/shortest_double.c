/* Shortest decimals by the Schubfach algorithm (R. Giulietti, "The Schubfach way to render
 * doubles", 2021).
 *
 * Purpose: of all decimals that round to a given double, find one with the fewest digits, and among
 * those the nearest. This is what printf("%.17g") does not do.
 *
 * Algorithm: a double c * 2^q is the nearest double for all reals in an interval around it, the
 * rounding interval:
 *
 *       (c - 1/2) * 2^q          c * 2^q          (c + 1/2) * 2^q
 *   ---------[---------------------|----------------------]---------
 *                  ^                         ^
 *            n * 10^k                 (n + 1) * 10^k
 *
 * Take the largest k with 10^k not wider than the interval. Then one or two multiples of 10^k, and
 * at most one multiple of 10^(k+1), are inside it; the shortest decimal is one of them.
 *
 * Order of calls: shortest_decimal splits the double into c and q and handles small integers. scale
 * multiplies the interval by 10^-k with a 128-bit power of ten (powers_of_ten.h). choose tests the
 * multiples of 10^(k+1), then of 10^k.
 *
 * Invariants: values are in quarters of a unit, so the ends c -/+ 1/2 and the narrower end below a
 * power of two, c - 1/4, are integers. Products are rounded to odd: bit 0 records whether bits were
 * cut off, so comparisons with the ends are exact.
 *
 * Cost: three 64 x 128 bit multiplications and a few divisions. No loop depends on the
 * value, except the removal of trailing zeros.
 *
 * Left out: zero, negative values, infinities and NaN (number.c handles them); float. */
#include "base/shortest_double.h"

#include <stdbool.h>

#include "base/endian.h"
#include "base/powers_of_ten.h"
#include "base/wide.h"

#define FRACTION_BITS 52
#define EXPONENT_BIAS 1075 /* for a significand read as an integer */

/* Returns floor(log10(2^e)), or floor(log10(3/4 * 2^e)) for the narrower interval at a power of
 * two. */
static int floor_log10_pow2(int e, bool is_narrow)
{
    return (e * 1262611 - (is_narrow ? 524031 : 0)) >> 22;
}

static int floor_log2_pow10(int e)
{
    return (e * 1741647) >> 19;
}

/* Returns the upper 64 bits of the product of a 128-bit power and x, rounded to odd: bit 0 is also
 * set if any discarded bit is. */
static uint64_t multiply_to_odd(struct power_of_ten power, uint64_t x)
{
    uint128 low = (uint128)power.low * x;
    uint128 high = (uint128)power.high * x + (uint64_t)(low >> 64);
    return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

static struct decimal strip_zeros(uint64_t digits, int exponent)
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

/* rounding interval of c * 2^q times 10^-k, in quarters of a unit; both ends included */
struct interval {
    uint64_t lower, middle, upper;
};

static struct interval scale_interval(uint64_t c, int q, int k, bool is_narrow)
{
    int shift = q + floor_log2_pow10(-k) + 1;
    const struct power_of_ten power = get_power_of_ten(-k);
    /* Ties round to even. With an odd significand, the ends of the interval therefore round to
     * other doubles and are excluded. */
    bool is_open = c & 1;
    return (struct interval){
        .lower = multiply_to_odd(power, (4 * c - 2 + is_narrow) << shift) + is_open,
        .middle = multiply_to_odd(power, (4 * c) << shift),
        .upper = multiply_to_odd(power, (4 * c + 2) << shift) - is_open,
    };
}

static struct decimal choose_decimal(const struct interval *at, int k)
{
    uint64_t floor = at->middle / 4;
    if (floor >= 10) {
        uint64_t tens = floor / 10;
        bool below = at->lower <= 40 * tens, above = 40 * tens + 40 <= at->upper;
        if (below != above)
            return strip_zeros(tens + above, k + 1);
    }
    bool below = at->lower <= 4 * floor, above = 4 * floor + 4 <= at->upper;
    if (below != above)
        return strip_zeros(floor + above, k);
    uint64_t half = 4 * floor + 2;
    bool up = at->middle > half || (at->middle == half && (floor & 1));
    return strip_zeros(floor + up, k);
}

struct decimal shortest_decimal(double x)
{
    uint64_t bits = bits_of_double(x);
    uint64_t fraction = bits & (((uint64_t)1 << FRACTION_BITS) - 1);
    int exponent = (int)(bits >> FRACTION_BITS & 0x7ff);
    uint64_t c = exponent ? fraction | (uint64_t)1 << FRACTION_BITS : fraction;
    int q = (exponent ? exponent : 1) - EXPONENT_BIAS;
    if (q <= 0 && q > -FRACTION_BITS - 1 && (c & (((uint64_t)1 << -q) - 1)) == 0)
        return strip_zeros(c >> -q, 0);
    bool is_narrow = fraction == 0 && exponent > 1;
    int k = floor_log10_pow2(q, is_narrow);
    struct interval at = scale_interval(c, q, k, is_narrow);
    return choose_decimal(&at, k);
}
