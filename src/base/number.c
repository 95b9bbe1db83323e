/* Formatting and parsing of integers, and formatting of doubles.
 *
 * Purpose: text output of traces is mostly numbers. printf takes about ten times as long, and its
 * decimal point follows the locale.
 *
 * Integers: eight digits are computed at once in one 64-bit word (SWAR), by splitting x into halves
 * in ever narrower lanes; lane-wise multiplications replace most divisions:
 *
 *     x                 12345678
 *     two 32-bit lanes  5678|1234            x / 10000, x % 10000
 *     four 16-bit lanes 78|56|34|12          each / 100, % 100
 *     eight bytes       8|7|6|5|4|3|2|1      each / 10, % 10; lowest byte is the first digit
 *
 * Longer integers are split at multiples of 10^8 first.
 *
 * Doubles, in the order of calls: number_format_double handles the sign, nan, inf and small
 * integers. Others go to shortest_decimal (shortest_double.c, the Schubfach algorithm), which
 * returns at most 17 digits and an exponent. format_shortest_double chooses the notation: plain for
 * exponents -4 to 14, else scientific.
 *
 * Invariants: no function writes more than NUMBER_MAX bytes or a terminating zero; the text of a
 * double always has a point or an exponent, so it parses as a double again.
 *
 * Cost: an integer needs no loop over its digits and no division by a variable; a double needs
 * three 64 x 128 bit multiplications. Nothing is allocated.
 *
 * Left out: dates (number_iso.c), parsing of doubles (number_double.c), any other precision than
 * "shortest". */
#include "base/number.h"

#include <math.h>
#include <string.h>

#include "base/shortest_double.h"

/* Integral doubles below this are written without an exponent: all their digits are exact. */
#define PLAIN_MAX 1e15

static const char digit_pairs[] = "00010203040506070809101112131415161718192021222324"
                                  "25262728293031323334353637383940414243444546474849"
                                  "50515253545556575859606162636465666768697071727374"
                                  "75767778798081828384858687888990919293949596979899";

static unsigned count_digits(uint64_t x)
{
    /* power[0] is 0 instead of 1, so that the number 0 has one digit. */
    static const uint64_t power[20] = {
        0,
        10,
        100,
        1000,
        10000,
        100000,
        1000000,
        10000000,
        100000000,
        1000000000,
        10000000000,
        100000000000,
        1000000000000,
        10000000000000,
        100000000000000,
        1000000000000000,
        10000000000000000,
        100000000000000000,
        1000000000000000000,
        10000000000000000000u,
    };
    /* The number of bits times log10(2), approximated by 1233 / 4096, which is exact enough for 64
     * bits. The result is at most one too small; one comparison corrects it. */
    unsigned guess = (64 - (unsigned)__builtin_clzll(x | 1)) * 1233 >> 12;
    return guess + (x >= power[guess]);
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
/* Returns the eight digits of x < 10^8 as bytes 0 to 9, the first digit in the lowest byte. See the
 * head of this file. */
static inline uint64_t split_8_digits(uint32_t x)
{
    uint64_t lanes = x / 10000 | (uint64_t)(x % 10000) << 32;
    uint64_t high =
        /* the upper two digits of each group of four: lane / 100 */
        (lanes * 10486 >> 20) & UINT64_C(0x0000007f0000007f);
    lanes = high | (lanes - high * 100) << 16;
    high = (lanes * 103 >> 10) & UINT64_C(0x000f000f000f000f);
    return high | (lanes - high * 10) << 8;
}

static inline void format_8_digits(char *to, uint32_t x)
{
    uint64_t digits = split_8_digits(x) | UINT64_C(0x3030303030303030);
    memcpy(to, &digits, 8);
}

/* Writes x < 10^8 without leading zeros. Always stores eight bytes and shifts the zeros out, so
 * numbers of all lengths cost the same; no branch depends on the length. */
static inline size_t format_1_to_8_digits(char *to, uint32_t x)
{
    uint64_t digits = split_8_digits(x);
    unsigned zeros = (unsigned)__builtin_ctzll(digits | UINT64_C(1) << 56) / 8;
    digits = (digits | UINT64_C(0x3030303030303030)) >> 8 * zeros;
    memcpy(to, &digits, 8);
    return 8 - zeros;
}
#else
static void format_8_digits(char *to, uint32_t x)
{
    for (unsigned i = 8; i > 0; x /= 10)
        to[--i] = (char)('0' + x % 10);
}

static size_t format_1_to_8_digits(char *to, uint32_t x)
{
    char digits[8];
    unsigned n = count_digits(x);
    format_8_digits(digits, x);
    memcpy(to, digits + 8 - n, n);
    return n;
}
#endif

void number_format_digits(char *to, uint64_t x, unsigned n)
{
    char *at = to + n;
    for (; at - to >= 8; x /= 100000000) {
        at -= 8;
        format_8_digits(at, (uint32_t)(x % 100000000));
    }
    for (; at - to >= 2; x /= 100) {
        at -= 2;
        memcpy(at, digit_pairs + x % 100 * 2, 2);
    }
    if (at != to)
        *to = (char)('0' + x % 10);
}

void number_format_9_digits(char *to, uint32_t x)
{
    *to = (char)('0' + x / 100000000);
    format_8_digits(to + 1, x % 100000000);
}

static uint64_t absolute_i64(int64_t x)
{
    return x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
}

/* Writes n / 10^decimals in plain notation; `n` is the absolute value. */
static size_t format_plain_notation(char *to, uint64_t n, unsigned decimals)
{
    char digits[20];
    unsigned count = count_digits(n), zeros = count > decimals ? 0 : decimals + 1 - count, at = 0;
    number_format_digits(digits, n, count);
    unsigned before = zeros ? 0 : count - decimals;
    memcpy(to, digits, before);
    at = before;
    if (zeros)
        to[at++] = '0';
    to[at++] = '.';
    for (unsigned i = 1; i < zeros; i++)
        to[at++] = '0';
    memcpy(to + at, digits + before, count - before);
    return at + count - before;
}

/* Writes digits * 10^exponent in scientific notation: "1.5e-07". */
static size_t format_scientific_notation(char *to, uint64_t digits, int exponent)
{
    char text[20];
    unsigned count = count_digits(digits), n = 1;
    number_format_digits(text, digits, count);
    exponent += (int)count - 1;
    to[0] = text[0];
    if (count > 1) {
        to[n++] = '.';
        memcpy(to + n, text + 1, count - 1);
        n += count - 1;
    }
    unsigned size = (unsigned)(exponent < 0 ? -exponent : exponent);
    to[n++] = 'e';
    to[n++] = exponent < 0 ? '-' : '+';
    unsigned width = size >= 100 ? 3 : 2;
    number_format_digits(to + n, size, width);
    return n + width;
}

/* Writes x in plain notation if 0.0001 <= x < 10^15 (10^17 if all 17 digits are significant), else
 * in scientific notation. */
static size_t format_shortest_double(char *to, double x)
{
    struct decimal decimal = shortest_decimal(x);
    int count = (int)count_digits(decimal.digits), power = decimal.exponent + count - 1;
    if (power < -4 || power >= (count > 15 ? count : 15))
        return format_scientific_notation(to, decimal.digits, decimal.exponent);
    if (decimal.exponent < 0)
        return format_plain_notation(to, decimal.digits, (unsigned)-decimal.exponent);
    size_t n = number_format_u64(to, decimal.digits);
    memset(to + n, '0', (size_t)decimal.exponent);
    n += (size_t)decimal.exponent;
    memcpy(to + n, ".0", 2);
    return n + 2;
}

/* Returns the value of a hexadecimal digit, or 255. */
static unsigned digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? (unsigned)(lower - 'a' + 10) : 255;
}

size_t number_format_u64(char *to, uint64_t x)
{
    const uint64_t eight = 100000000; /* 10^8: splits the first eight digits from the others */
    if (x < 10) {
        *to = (char)('0' + x);
        return 1;
    }
    if (x < eight)
        return format_1_to_8_digits(to, (uint32_t)x);
    if (x < eight * eight) {
        size_t n = format_1_to_8_digits(to, (uint32_t)(x / eight));
        format_8_digits(to + n, (uint32_t)(x % eight));
        return n + 8;
    }
    size_t n = format_1_to_8_digits(to, (uint32_t)(x / (eight * eight)));
    x %= eight * eight;
    format_8_digits(to + n, (uint32_t)(x / eight));
    format_8_digits(to + n + 8, (uint32_t)(x % eight));
    return n + 16;
}

size_t number_format_i64(char *to, int64_t x)
{
    *to = '-';
    return number_format_u64(to + (x < 0), absolute_i64(x)) + (x < 0);
}

size_t number_format_hex(char *to, uint64_t x)
{
    unsigned n = (67 - (unsigned)__builtin_clzll(x | 1)) / 4;
    memcpy(to, "0x", 2);
    for (unsigned i = n; i > 0; i--, x >>= 4)
        to[1 + i] = "0123456789abcdef"[x & 15];
    return n + 2;
}

size_t number_format_double(char *to, double x)
{
    size_t sign = signbit(x) && !isnan(x);
    double size = fabs(x);
    *to = '-';
    if (!isfinite(x)) {
        memcpy(to + sign, isnan(x) ? "nan" : "inf", 3);
        return sign + 3;
    }
    if (size < PLAIN_MAX && (double)(uint64_t)size == size) {
        size_t n = sign + number_format_u64(to + sign, (uint64_t)size);
        memcpy(to + n, ".0", 2);
        return n + 2;
    }
    return sign + format_shortest_double(to + sign, size);
}

bool number_parse_u64(const char *p, size_t n, uint64_t *x)
{
    bool is_hex = n > 2 && p[0] == '0' && (p[1] | 0x20) == 'x';
    unsigned base = is_hex ? 16 : 10;
    uint64_t value = 0;
    for (size_t i = is_hex ? 2 : 0; i < n; i++) {
        unsigned digit = digit_value(p[i]);
        if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *x = n ? value : *x;
    return n > 0;
}

bool number_is_integer(const char *p, size_t n)
{
    size_t sign = n > 0 && p[0] == '-';
    if (n == sign || (p[sign] == '0' && n > sign + 1))
        return false;
    for (size_t i = sign; i < n; i++)
        if (p[i] < '0' || p[i] > '9')
            return false;
    return true;
}
