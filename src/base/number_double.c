/* Parsing of doubles. strtod rounds correctly, but its decimal point follows the locale. So it is
 * called with digits and an exponent only ("1.25e3" becomes "125e1"). A double is determined by at
 * most 767 significant digits and by whether any non-zero digit follows; more digits are not
 * stored. */
#include <stdlib.h>

#include "base/number.h"

#define DIGITS_MAX 780
/* Above this any exponent yields zero or infinity, whatever the digits are. */
#define EXPONENT_MAX ((int64_t)1 << 60)

struct decimal_text {
    char digits[DIGITS_MAX + 1 + NUMBER_MAX]; /* significant digits, with room for the exponent */
    size_t n;
    int64_t exponent;
    bool has_more_digits; /* non-zero digits were dropped after DIGITS_MAX */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads consecutive digits from index `at`. Each digit after the decimal point decrements the
 * exponent. Returns the index after the digits. */
static size_t read_digits(struct decimal_text *number, const char *p, size_t n, size_t at,
                          bool is_fraction)
{
    for (; at < n && is_digit(p[at]); at++) {
        number->exponent -= is_fraction;
        if (number->n == 0 && p[at] == '0')
            continue;
        if (number->n < DIGITS_MAX) {
            number->digits[number->n++] = p[at];
            continue;
        }
        number->exponent++;
        number->has_more_digits |= p[at] != '0';
    }
    return at;
}

/* Reads an exponent such as "e-12" from index `at`. Returns the index after it, or 0 if it has no
 * digits. */
static size_t read_exponent(struct decimal_text *number, const char *p, size_t n, size_t at)
{
    int64_t size = 0;
    at++;
    bool is_negative = at < n && p[at] == '-';
    at += at < n && (p[at] == '-' || p[at] == '+');
    size_t first = at;
    for (; at < n && is_digit(p[at]); at++)
        size = size < EXPONENT_MAX / 16 ? size * 10 + (p[at] - '0') : size;
    number->exponent += is_negative ? -size : size;
    return at > first ? at : 0;
}

static double convert_digits(struct decimal_text *number)
{
    if (number->n == 0)
        return 0;
    /* An odd last digit ('8' becomes '9') puts the value above a rounding tie. */
    if (number->has_more_digits)
        number->digits[number->n - 1] |= 1;
    number->digits[number->n] = 'e';
    size_t end =
        number->n + 1 + number_format_i64(number->digits + number->n + 1, number->exponent);
    number->digits[end] = '\0';
    return strtod(number->digits, NULL);
}

bool number_parse_double(const char *p, size_t n, double *x)
{
    struct decimal_text number = {.n = 0};
    bool is_negative = n > 0 && p[0] == '-';
    size_t first = n > 0 && (p[0] == '-' || p[0] == '+');
    size_t at = read_digits(&number, p, n, first, false);
    if (at == first)
        return false;
    if (at < n && p[at] == '.') {
        first = at + 1;
        at = read_digits(&number, p, n, first, true);
        if (at == first)
            return false;
    }
    if (at < n && (p[at] | 0x20) == 'e')
        at = read_exponent(&number, p, n, at);
    if (at != n)
        return false;
    double value = convert_digits(&number);
    *x = is_negative ? -value : value;
    return true;
}
