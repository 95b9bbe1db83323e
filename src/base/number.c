/* Integers and doubles as text and back.  Integers are written two digits at a time.  Doubles try exact short decimals first
 * (what people and sensors write), and only the rest goes through printf, which is several times slower.
 * Left out: durations, sizes and dates, which number_people.c holds. */
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/never.h"

/* Below 10^15 a decimal and the double nearest to it name each other (DBL_DIG). */
#define SHORT_DECIMAL_MAX 1e15
#define SHORT_DECIMALS 15

#define FIXED_DIGITS_MAX 40

static const char digit_pairs[] = "00010203040506070809101112131415161718192021222324"
                                  "25262728293031323334353637383940414243444546474849"
                                  "50515253545556575859606162636465666768697071727374"
                                  "75767778798081828384858687888990919293949596979899";

static unsigned count_digits(uint64_t x)
{
    /* 10^0 counts as 0, so that the number 0 has a digit. */
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
    /* bits * log10(2), 1233 / 4096 being near enough for 64 bits; then one comparison corrects it. */
    unsigned guess = (64 - (unsigned)__builtin_clzll(x | 1)) * 1233 >> 12;
    return guess + (x >= power[guess]);
}

void number_put_digits(char *to, uint64_t x, unsigned n)
{
    char *at = to + n;
    for (; at - to >= 2; x /= 100) {
        at -= 2;
        memcpy(at, digit_pairs + x % 100 * 2, 2);
    }
    if (at != to)
        *to = (char)('0' + x % 10);
}

static uint64_t size_of_i64(int64_t x)
{
    return x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
}

/* value = n / 10^decimals, n without a sign */
static size_t put_decimal(char *to, uint64_t n, unsigned decimals)
{
    char digits[20];
    unsigned count = count_digits(n), zeros = count > decimals ? 0 : decimals + 1 - count, at = 0;
    number_put_digits(digits, n, count);
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

/* Writes a positive double as n / 10^k if there is such an n below 10^15 that reads back: n and 10^k are exact then, so their
 * quotient is rounded once, as a reader would round it.  The smallest k gives the fewest digits.  0 when there is none. */
static size_t put_short_decimal(char *to, double x)
{
    static const double power[SHORT_DECIMALS + 1] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                     1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    if (x < 1e-4) /* "1e-05" is shorter than "0.00001" */
        return 0;
    for (unsigned k = 1; k <= SHORT_DECIMALS; k++) {
        double scaled = x * power[k];
        if (scaled >= SHORT_DECIMAL_MAX)
            return 0;
        double whole = (double)(uint64_t)(scaled + 0.5);
        /* Two roundings lie between n and `scaled`; farther away it is no candidate, and the division is spared. */
        if (fabs(scaled - whole) <= scaled * 0x1p-51 && whole / power[k] == x)
            return put_decimal(to, (uint64_t)whole, k);
    }
    return 0;
}

/* Copies what printf gave, with a point whatever the locale of the program says, and with ".0" where there is none. */
static size_t copy_plain(char *to, const char *from)
{
    size_t n = 0;
    bool is_integer = true;
    for (; *from; from++) {
        bool is_plain = (*from >= '0' && *from <= '9') || *from == 'e' || *from == '-' || *from == '+';
        if (is_plain)
            to[n++] = *from;
        else if (to[n - 1] != '.') /* a locale's point may be several bytes */
            to[n++] = '.';
        is_integer = is_integer && is_plain && *from != 'e';
    }
    if (is_integer) {
        memcpy(to + n, ".0", 2);
        n += 2;
    }
    return n;
}

static size_t put_by_printf(char *to, double x)
{
    char text[NUMBER_MAX];
    double size = fabs(x);
    /* Subnormals have fewer than 15 digits to say; from 1 on put_short_decimal has tried all that 15 digits can. */
    int digits = size < 2.3e-308 ? 1 : size >= 1 && size < SHORT_DECIMAL_MAX ? 16 : 15;
    for (; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    return copy_plain(to, text);
}

/* Value of a digit in base 16, or 255. */
static unsigned digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? (unsigned)(lower - 'a' + 10) : 255;
}

size_t number_put_u64(char *to, uint64_t x)
{
    unsigned n = count_digits(x);
    number_put_digits(to, x, n);
    return n;
}

size_t number_put_i64(char *to, int64_t x)
{
    *to = '-';
    return number_put_u64(to + (x < 0), size_of_i64(x)) + (x < 0);
}

size_t number_put_hex(char *to, uint64_t x)
{
    unsigned n = (67 - (unsigned)__builtin_clzll(x | 1)) / 4;
    memcpy(to, "0x", 2);
    for (unsigned i = n; i > 0; i--, x >>= 4)
        to[1 + i] = "0123456789abcdef"[x & 15];
    return n + 2;
}

size_t number_put_double(char *to, double x)
{
    size_t sign = signbit(x) && !isnan(x);
    double size = fabs(x);
    *to = '-';
    if (!isfinite(x)) {
        memcpy(to + sign, isnan(x) ? "nan" : "inf", 3);
        return sign + 3;
    }
    if (size < SHORT_DECIMAL_MAX && (double)(uint64_t)size == size) {
        size_t n = sign + number_put_u64(to + sign, (uint64_t)size);
        memcpy(to + n, ".0", 2);
        return n + 2;
    }
    size_t n = put_short_decimal(to + sign, size);
    return n ? sign + n : put_by_printf(to, x);
}

size_t number_put_fixed(char *to, int64_t x, unsigned digits)
{
    size_t sign = x < 0;
    *to = '-';
    if (NEVER(digits > FIXED_DIGITS_MAX))
        digits = FIXED_DIGITS_MAX;
    if (digits == 0)
        return number_put_i64(to, x);
    return sign + put_decimal(to + sign, size_of_i64(x), digits);
}

bool number_get_u64(const char *p, size_t n, uint64_t *x)
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

bool number_get_i64(const char *p, size_t n, int64_t *x)
{
    bool is_signed = n > 0 && (p[0] == '-' || p[0] == '+'), is_negative = is_signed && p[0] == '-';
    uint64_t size;
    if (!number_get_u64(p + is_signed, n - is_signed, &size) || size > (uint64_t)INT64_MAX + is_negative)
        return false;
    *x = is_negative ? (int64_t)(0 - size) : (int64_t)size;
    return true;
}
