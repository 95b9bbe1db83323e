/* Conversion and comparison of values; see the header. */
#include "expression/value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

/* 2^63, the first double beyond INT64_MAX. */
#define INT64_END 9223372036854775808.0

/* --- Numbers in texts --- */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The number that begins a text. */
struct parsed {
    const char *begin, *end; /* the number, without spaces; equal = none */
    bool is_complete;        /* only spaces are around it */
    bool is_integer;         /* digits alone, and in the range of int64_t */
    int64_t i;
};

static const char *skip_digits(const char *p, const char *end)
{
    while (p < end && is_digit(*p))
        p++;
    return p;
}

/* Returns the end of "e-7" at p, or p if the exponent is incomplete. */
static const char *skip_exponent(const char *p, const char *end)
{
    const char *at = p;
    if (at == end || (*at != 'e' && *at != 'E'))
        return p;
    at++;
    if (at < end && (*at == '+' || *at == '-'))
        at++;
    return at < end && is_digit(*at) ? skip_digits(at, end) : p;
}

static bool parse_digits(const char *p, const char *end, bool is_negative, int64_t *i)
{
    uint64_t sum = 0;
    for (; p < end; p++) {
        const uint64_t digit = (uint64_t)(*p - '0');
        if (sum > (UINT64_MAX - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    if (sum > (uint64_t)INT64_MAX + is_negative)
        return false;
    *i = is_negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}

static struct parsed parse_number(ttr_text text)
{
    const char *p = text.p, *end = text.p + text.n;
    while (p < end && is_space(*p))
        p++;
    struct parsed parsed = {.begin = p, .end = p};
    const bool is_negative = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    const char *digits = p;
    p = skip_digits(p, end);
    const char *whole_end = p;
    size_t n = (size_t)(p - digits);
    if (p < end && *p == '.') {
        const char *fraction = p + 1;
        p = skip_digits(fraction, end);
        n += (size_t)(p - fraction);
    }
    if (n == 0)
        return parsed;
    p = skip_exponent(p, end);
    parsed.end = p;
    parsed.is_integer = p == whole_end && parse_digits(digits, p, is_negative, &parsed.i);
    while (p < end && is_space(*p))
        p++;
    parsed.is_complete = p == end;
    return parsed;
}

/* Returns the double of a number that parse_number found. The number is rewritten for
 * number_parse_double, which needs digits on each side of a point and no "+". */
static double parsed_double(const struct parsed *parsed)
{
    char text[400];
    size_t n = 0;
    double d = 0;
    const char *p = parsed->begin;
    if (*p == '-' || *p == '+') {
        if (*p == '-')
            text[n++] = '-';
        p++;
    }
    if (*p == '.')
        text[n++] = '0';
    for (; p < parsed->end && n + 2 < sizeof text; p++) {
        const bool is_open = *p == '.' && (p + 1 == parsed->end || !is_digit(p[1]));
        text[n++] = *p;
        if (is_open)
            text[n++] = '0';
    }
    return p == parsed->end && number_parse_double(text, n, &d) ? d : 0;
}

struct value value_to_number(const struct value *value)
{
    if (value->type != VALUE_TEXT)
        return *value;
    const struct parsed parsed = parse_number(value->v.text);
    if (parsed.begin == parsed.end)
        return value_int(0);
    return parsed.is_integer ? value_int(parsed.i) : value_real(parsed_double(&parsed));
}

/* Applies NUMERIC affinity: a text that is a complete number becomes that number. */
static void apply_numeric(struct value *value)
{
    if (value->type != VALUE_TEXT)
        return;
    const struct parsed parsed = parse_number(value->v.text);
    if (parsed.begin != parsed.end && parsed.is_complete)
        *value = value_to_number(value);
}

/* --- Conversions --- */

static int64_t int_of_real(double d)
{
    if (d != d)
        return 0;
    return d >= INT64_END ? INT64_MAX : d < -INT64_END ? INT64_MIN : (int64_t)d;
}

int64_t value_to_int(const struct value *value)
{
    if (value->type == VALUE_REAL)
        return int_of_real(value->v.d);
    if (value->type == VALUE_INT)
        return value->v.i;
    /* Only the digits at the start of a text count: "1e3" is 1, as in CAST. */
    const char *p = value->v.text.p, *end = p + value->v.text.n;
    int64_t i = 0;
    while (p < end && is_space(*p))
        p++;
    const bool is_negative = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    if (!parse_digits(p, skip_digits(p, end), is_negative, &i))
        return is_negative ? INT64_MIN : INT64_MAX;
    return i;
}

double value_to_real(const struct value *value)
{
    const struct value number = value_to_number(value);
    return number.type == VALUE_REAL ? number.v.d : (double)number.v.i;
}

enum truth value_truth(const struct value *value)
{
    if (value->type == VALUE_NULL)
        return TRUTH_UNKNOWN;
    if (value->type == VALUE_INT)
        return value->v.i != 0;
    return value_to_real(value) != 0;
}

size_t value_format(const struct value *number, char to[VALUE_NUMBER_MAX])
{
    if (number->type == VALUE_INT)
        return number_format_i64(to, number->v.i);
    if (isinf(number->v.d)) {
        const char *text = number->v.d < 0 ? "-Inf" : "Inf";
        memcpy(to, text, strlen(text));
        return strlen(text);
    }
    /* Fifteen digits with a point: "%!.15g" of SQLite, which has no sign of zero. */
    char text[VALUE_NUMBER_MAX];
    (void)snprintf(text, sizeof text - 2, "%.15g", number->v.d == 0 ? 0 : number->v.d);
    const size_t mantissa = strcspn(text, "e");
    size_t n = mantissa;
    memcpy(to, text, mantissa);
    if (!memchr(text, '.', mantissa)) {
        to[n++] = '.';
        to[n++] = '0';
    }
    const size_t rest = strlen(text + mantissa);
    memcpy(to + n, text + mantissa, rest);
    return n + rest;
}

/* --- Comparison --- */

enum affinity value_comparison_affinity(unsigned left, unsigned right)
{
    if (left != AFFINITY_NONE && right != AFFINITY_NONE)
        return left >= AFFINITY_NUMERIC || right >= AFFINITY_NUMERIC ? AFFINITY_NUMERIC
                                                                     : AFFINITY_NONE;
    return (enum affinity)(left == AFFINITY_NONE ? right : left);
}

/* Compares exactly, without rounding the integer to a double. */
static int compare_int_real(int64_t i, double d)
{
    if (d < -INT64_END)
        return 1;
    if (d >= INT64_END)
        return -1;
    const int64_t whole = (int64_t)d;
    if (i != whole)
        return i < whole ? -1 : 1;
    const double exact = (double)i;
    return exact < d ? -1 : exact > d;
}

static int compare_texts(ttr_text a, ttr_text b)
{
    const size_t n = a.n < b.n ? a.n : b.n;
    const int order = n ? memcmp(a.p, b.p, n) : 0;
    return order ? order : a.n < b.n ? -1 : a.n > b.n;
}

static int compare_numbers(const struct value *a, const struct value *b)
{
    if (a->type == VALUE_INT)
        return b->type == VALUE_INT ? (a->v.i < b->v.i ? -1 : a->v.i > b->v.i)
                                    : compare_int_real(a->v.i, b->v.d);
    if (b->type == VALUE_INT)
        return -compare_int_real(b->v.i, a->v.d);
    return a->v.d < b->v.d ? -1 : a->v.d > b->v.d;
}

int value_compare(struct value left, struct value right, enum affinity affinity)
{
    char left_text[VALUE_NUMBER_MAX], right_text[VALUE_NUMBER_MAX];
    if (affinity >= AFFINITY_NUMERIC) {
        apply_numeric(&left);
        apply_numeric(&right);
    } else if (affinity == AFFINITY_TEXT && left.type != right.type &&
               (left.type == VALUE_TEXT || right.type == VALUE_TEXT)) {
        if (left.type != VALUE_TEXT)
            left = value_text((ttr_text){left_text, value_format(&left, left_text)});
        else
            right = value_text((ttr_text){right_text, value_format(&right, right_text)});
    }
    if (left.type == VALUE_TEXT && right.type == VALUE_TEXT)
        return compare_texts(left.v.text, right.v.text);
    if (left.type == VALUE_TEXT || right.type == VALUE_TEXT)
        return left.type == VALUE_TEXT ? 1 : -1; /* numbers sort before texts */
    return compare_numbers(&left, &right);
}
