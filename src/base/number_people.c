/* Durations, sizes and dates: the numbers that people type on a command line and read in a report.
 * Dates are those of the proleptic Gregorian calendar without leap seconds, as Unix time counts.
 * Left out: time zones other than UTC, and durations beyond hours (a day is not always 24 of them). */
#include <string.h>

#include "base/number.h"
#include "base/wide.h"

#define NS_PER_SECOND 1000000000
#define SECONDS_PER_DAY 86400
#define DAYS_FROM_0000_03_01_TO_1970 719468

/* A decimal number in pieces: whole + fraction / 10^18. */
#define FRACTION_DIGITS 18
#define FRACTION_ONE 1000000000000000000u

struct unit {
    char name[4];
    uint64_t size;
};

struct reader {
    const char *p, *end;
};

static size_t put_text(char *to, const char *text)
{
    size_t n = strlen(text);
    memcpy(to, text, n);
    return n;
}

/* thousandths / 1000 with up to three decimals, no zeros at their end */
static size_t put_thousandths(char *to, uint64_t thousandths)
{
    size_t n = number_put_fixed(to, (int64_t)thousandths, 3);
    while (to[n - 1] == '0')
        n--;
    return n - (to[n - 1] == '.');
}

/* x / 2^shift to the nearest, kept out of the range of real sizes when it does not fit. */
static uint64_t shift_rounded(uint128 x, unsigned shift)
{
    uint128 shifted = shift ? (x + ((uint128)1 << (shift - 1))) >> shift : x;
    return shifted > UINT64_MAX / 16 ? UINT64_MAX / 16 : (uint64_t)shifted;
}

/* Two digits, as in clocks. */
static size_t put_two(char *to, uint64_t x)
{
    to[0] = (char)('0' + x / 10 % 10);
    to[1] = (char)('0' + x % 10);
    return 2;
}

static size_t put_clock(char *to, uint64_t seconds)
{
    uint64_t hours = seconds / 3600;
    size_t n = 0;
    if (hours) {
        n = number_put_u64(to, hours);
        to[n++] = 'h';
        n += put_two(to + n, seconds / 60 % 60);
    } else {
        n = number_put_u64(to, seconds / 60);
    }
    to[n++] = 'm';
    n += put_two(to + n, seconds % 60);
    to[n++] = 's';
    return n;
}

static bool is_digit_next(const struct reader *reader)
{
    return reader->p < reader->end && *reader->p >= '0' && *reader->p <= '9';
}

static bool take(struct reader *reader, char wanted)
{
    if (reader->p == reader->end || *reader->p != wanted)
        return false;
    reader->p++;
    return true;
}

/* Digits behind a point, as a count of 10^-18; false when there are none or when they are finer than that. */
static bool take_fraction(struct reader *reader, uint64_t *fraction)
{
    unsigned digits = 0;
    *fraction = 0;
    for (; is_digit_next(reader); reader->p++, digits++) {
        unsigned digit = (unsigned)(*reader->p - '0');
        if (digits < FRACTION_DIGITS)
            *fraction = *fraction * 10 + digit;
        else if (digit)
            return false;
    }
    for (unsigned i = digits; i < FRACTION_DIGITS; i++)
        *fraction *= 10;
    return digits > 0;
}

/* "12" or "12.5" */
static bool take_decimal(struct reader *reader, uint64_t *whole, uint64_t *fraction)
{
    const char *start = reader->p;
    while (is_digit_next(reader))
        reader->p++;
    *fraction = 0;
    if (!number_get_u64(start, (size_t)(reader->p - start), whole))
        return false;
    return !take(reader, '.') || take_fraction(reader, fraction);
}

/* (whole + fraction / 10^18) * unit, cut to an integer; `*is_exact` says whether nothing was cut.  False when it does not fit. */
static bool scale(uint64_t whole, uint64_t fraction, uint64_t unit, uint64_t *result, bool *is_exact)
{
    uint128 part = (uint128)fraction * unit;
    *is_exact = part % FRACTION_ONE == 0;
    return !__builtin_mul_overflow(whole, unit, result) &&
           !__builtin_add_overflow(*result, (uint64_t)(part / FRACTION_ONE), result);
}

/* Takes the letters of a unit and gives its size; 0 when the table does not know it.  No letters are the first row. */
static uint64_t take_unit(struct reader *reader, const struct unit *units, size_t n)
{
    const char *start = reader->p;
    while (reader->p < reader->end && !is_digit_next(reader))
        reader->p++;
    size_t length = (size_t)(reader->p - start);
    for (size_t i = 0; i < n; i++)
        if (strlen(units[i].name) == length && memcmp(units[i].name, start, length) == 0)
            return units[i].size;
    return 0;
}

/* One "12.5ms" of a duration, in ns. */
static bool take_duration(struct reader *reader, uint64_t *ns)
{
    static const struct unit units[] = {
        {"", 1},
        {"ns", 1},
        {"us", 1000},
        {"\xc2\xb5s", 1000}, /* micro sign */
        {"\xce\xbcs", 1000}, /* Greek mu */
        {"ms", 1000000},
        {"s", NS_PER_SECOND},
        {"m", 60 * (uint64_t)NS_PER_SECOND},
        {"h", 3600 * (uint64_t)NS_PER_SECOND},
    };
    uint64_t whole, fraction, unit;
    bool is_exact;
    if (!take_decimal(reader, &whole, &fraction))
        return false;
    unit = take_unit(reader, units, sizeof units / sizeof *units);
    return unit && scale(whole, fraction, unit, ns, &is_exact) && is_exact;
}

/* Exactly `digits` digits. */
static bool take_digits(struct reader *reader, unsigned digits, unsigned *x)
{
    *x = 0;
    for (; digits > 0; digits--, reader->p++) {
        if (!is_digit_next(reader))
            return false;
        *x = *x * 10 + (unsigned)(*reader->p - '0');
    }
    return true;
}

static unsigned days_in_month(unsigned year, unsigned month)
{
    static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month == 2 && is_leap ? 29 : days[month - 1];
}

/* Days from 1970-01-01.  Years are counted from March, so that the leap day is the last of its year. */
static int64_t days_of_date(unsigned year, unsigned month, unsigned day)
{
    int64_t y = (int64_t)year - (month < 3), m = (month + 9) % 12;
    /* 153 days in five months: 31 30 31 30 31 */
    return y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1 - DAYS_FROM_0000_03_01_TO_1970;
}

/* "2026-11-21" */
static bool take_date(struct reader *reader, int64_t *days)
{
    unsigned year, month, day;
    if (!take_digits(reader, 4, &year) || !take(reader, '-') || !take_digits(reader, 2, &month) ||
        !take(reader, '-') || !take_digits(reader, 2, &day))
        return false;
    if (month < 1 || month > 12 || day < 1 || day > days_in_month(year, month))
        return false;
    *days = days_of_date(year, month, day);
    return true;
}

/* "01:10:13" with or without ".5" */
static bool take_time(struct reader *reader, int64_t *seconds, int64_t *ns)
{
    unsigned hour, minute, second;
    uint64_t fraction = 0;
    if (!take_digits(reader, 2, &hour) || !take(reader, ':') || !take_digits(reader, 2, &minute) ||
        !take(reader, ':') || !take_digits(reader, 2, &second) || hour > 23 || minute > 59 || second > 59)
        return false;
    if (take(reader, '.') && !take_fraction(reader, &fraction))
        return false;
    *seconds = (int64_t)hour * 3600 + (int64_t)minute * 60 + second;
    *ns = (int64_t)(fraction / NS_PER_SECOND);
    return fraction % NS_PER_SECOND == 0;
}

static size_t put_date(char *to, int64_t days)
{
    /* Years from March in cycles of 400 years, 146097 days; the years of int64 ns are all positive. */
    uint64_t day = (uint64_t)(days + DAYS_FROM_0000_03_01_TO_1970);
    uint64_t cycle = day / 146097, day_of_cycle = day % 146097;
    uint64_t year_of_cycle =
        (day_of_cycle - day_of_cycle / 1460 + day_of_cycle / 36524 - day_of_cycle / 146096) / 365;
    uint64_t day_of_year = day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    uint64_t month_from_march = (5 * day_of_year + 2) / 153;
    uint64_t month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
    uint64_t year = cycle * 400 + year_of_cycle + (month < 3);
    put_two(to, year / 100);
    put_two(to + 2, year % 100);
    to[4] = '-';
    put_two(to + 5, month);
    to[7] = '-';
    put_two(to + 8, day_of_year - (153 * month_from_march + 2) / 5 + 1);
    return 10;
}

size_t number_put_duration(char *to, uint64_t ns)
{
    static const struct unit units[] = {{"us", 1000}, {"ms", 1000000}, {"s", NS_PER_SECOND}};
    size_t n;
    if (ns < 1000) {
        n = number_put_u64(to, ns);
        return n + put_text(to + n, "ns");
    }
    for (size_t i = 0; i < 3; i++) {
        /* Rounding may carry into the next unit: 999.9996us is 1ms. */
        uint64_t step = units[i].size / 1000, limit = i < 2 ? 1000000 : 60000;
        uint64_t thousandths = ns / step + (ns % step * 2 >= step);
        if (thousandths < limit) {
            n = put_thousandths(to, thousandths);
            return n + put_text(to + n, units[i].name);
        }
    }
    return put_clock(to, ns / NS_PER_SECOND + (ns % NS_PER_SECOND * 2 >= NS_PER_SECOND));
}

size_t number_put_bytes(char *to, uint64_t bytes)
{
    static const char units[][4] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    uint64_t tenths = 0;
    unsigned unit = 0;
    for (;; unit++) {
        /* One decimal below 100; above, the digits before it say enough.  Rounding may carry into the next unit. */
        tenths = shift_rounded((uint128)bytes * 10, 10 * unit);
        if (tenths >= 1000)
            tenths = shift_rounded(bytes, 10 * unit) * 10;
        if (tenths < 10240)
            break;
    }
    size_t n = put_thousandths(to, tenths * 100);
    return n + put_text(to + n, units[unit]);
}

size_t number_put_iso(char *to, int64_t unix_ns)
{
    int64_t seconds = unix_ns / NS_PER_SECOND - (unix_ns % NS_PER_SECOND < 0);
    uint64_t ns = (uint64_t)(unix_ns % NS_PER_SECOND + (unix_ns % NS_PER_SECOND < 0 ? NS_PER_SECOND : 0));
    int64_t days = seconds / SECONDS_PER_DAY - (seconds % SECONDS_PER_DAY < 0);
    uint64_t of_day = (uint64_t)(seconds - days * SECONDS_PER_DAY);
    size_t n = put_date(to, days);
    to[n++] = 'T';
    n += put_two(to + n, of_day / 3600);
    to[n++] = ':';
    n += put_two(to + n, of_day / 60 % 60);
    to[n++] = ':';
    n += put_two(to + n, of_day % 60);
    /* 10^9 + ns always has ten digits; the point then takes the place of the first. */
    number_put_u64(to + n, NS_PER_SECOND + ns);
    to[n] = '.';
    to[n + 10] = 'Z';
    return n + 11;
}

bool number_get_duration(const char *p, size_t n, int64_t *ns)
{
    struct reader reader = {p, p + n};
    bool is_negative = take(&reader, '-');
    uint64_t sum = 0, part;
    if (!is_negative)
        (void)take(&reader, '+');
    do {
        if (!take_duration(&reader, &part) || __builtin_add_overflow(sum, part, &sum))
            return false;
    } while (reader.p < reader.end);
    if (sum > (uint64_t)INT64_MAX + is_negative)
        return false;
    *ns = is_negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}

bool number_get_bytes(const char *p, size_t n, uint64_t *bytes)
{
    static const char letters[] = "kmgtpe";
    struct reader reader = {p, p + n};
    uint64_t whole, fraction, unit = 1;
    bool is_exact;
    if (n > 2 && (p[1] | 0x20) == 'x')
        return number_get_u64(p, n, bytes);
    if (!take_decimal(&reader, &whole, &fraction))
        return false;
    const char *letter = reader.p < reader.end ? memchr(letters, *reader.p | 0x20, sizeof letters - 1) : NULL;
    if (letter) {
        reader.p++;
        bool is_binary = take(&reader, 'i') || take(&reader, 'I') || reader.p == reader.end;
        for (const char *at = letters; at <= letter; at++)
            unit *= is_binary ? 1024 : 1000;
    }
    if (reader.p < reader.end && !take(&reader, 'B') && !take(&reader, 'b'))
        return false;
    return reader.p == reader.end && scale(whole, fraction, unit, bytes, &is_exact);
}

bool number_get_iso(const char *p, size_t n, int64_t *unix_ns)
{
    struct reader reader = {p, p + n};
    int64_t days, seconds = 0, ns = 0;
    if (!take_date(&reader, &days))
        return false;
    if (take(&reader, 'T') || take(&reader, ' ')) {
        if (!take_time(&reader, &seconds, &ns))
            return false;
        (void)take(&reader, 'Z');
    }
    /* The first representable second begins before INT64_MIN ns: counting back from its end keeps the product in range. */
    seconds += days * SECONDS_PER_DAY;
    if (seconds < 0 && ns > 0) {
        seconds++;
        ns -= NS_PER_SECOND;
    }
    return reader.p == reader.end && !__builtin_mul_overflow(seconds, (int64_t)NS_PER_SECOND, &seconds) &&
           !__builtin_add_overflow(seconds, ns, unix_ns);
}
