/* Dates of the proleptic Gregorian calendar without leap seconds, as Unix time counts. Left out:
 * time zones other than UTC, and parsing of dates, which the command does. */
#include "base/number.h"

#define NS_PER_SECOND 1000000000
#define SECONDS_PER_DAY 86400
#define DAYS_FROM_0000_03_01_TO_1970 719468

/* Writes x modulo 100 with two digits. */
static size_t format_2_digits(char *to, uint64_t x)
{
    to[0] = (char)('0' + x / 10 % 10);
    to[1] = (char)('0' + x % 10);
    return 2;
}

/* Writes a year as printf("%04d") does. */
static size_t format_year(char *to, int64_t year)
{
    char digits[NUMBER_MAX];
    size_t n = number_format_u64(digits, year < 0 ? 0 - (uint64_t)year : (uint64_t)year), at = 0;
    if (year < 0)
        to[at++] = '-';
    for (size_t zeros = n + at; zeros < 4; zeros++)
        to[at++] = '0';
    for (size_t i = 0; i < n; i++)
        to[at++] = digits[i];
    return at;
}

static size_t format_date(char *to, int64_t days)
{
    /* Counts years from March, so that the leap day is the last day of a year, in cycles of 400
     * years or 146097 days (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms"). */
    int64_t day = days + DAYS_FROM_0000_03_01_TO_1970;
    int64_t cycle = day / 146097 - (day % 146097 < 0);
    uint64_t day_of_cycle = (uint64_t)(day - cycle * 146097);
    uint64_t year_of_cycle =
        (day_of_cycle - day_of_cycle / 1460 + day_of_cycle / 36524 - day_of_cycle / 146096) / 365;
    uint64_t day_of_year =
        day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    uint64_t month_from_march = (5 * day_of_year + 2) / 153;
    uint64_t month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
    size_t n = format_year(to, cycle * 400 + (int64_t)year_of_cycle + (month < 3));
    to[n++] = '-';
    n += format_2_digits(to + n, month);
    to[n++] = '-';
    return n + format_2_digits(to + n, day_of_year - (153 * month_from_march + 2) / 5 + 1);
}

size_t number_format_date_time(char *to, int64_t unix_s)
{
    int64_t rest = unix_s % SECONDS_PER_DAY, days = unix_s / SECONDS_PER_DAY - (rest < 0);
    uint64_t of_day = (uint64_t)(rest < 0 ? rest + SECONDS_PER_DAY : rest);
    size_t n = format_date(to, days);
    to[n++] = 'T';
    n += format_2_digits(to + n, of_day / 3600);
    to[n++] = ':';
    n += format_2_digits(to + n, of_day / 60 % 60);
    to[n++] = ':';
    return n + format_2_digits(to + n, of_day % 60);
}

size_t number_format_iso(char *to, int64_t unix_ns)
{
    int64_t seconds = unix_ns / NS_PER_SECOND - (unix_ns % NS_PER_SECOND < 0);
    uint64_t ns =
        (uint64_t)(unix_ns % NS_PER_SECOND + (unix_ns % NS_PER_SECOND < 0 ? NS_PER_SECOND : 0));
    size_t n = number_format_date_time(to, seconds);
    /* 10^9 + ns always has ten digits; the point then overwrites the first. */
    number_format_u64(to + n, NS_PER_SECOND + ns);
    to[n] = '.';
    to[n + 10] = 'Z';
    return n + 11;
}
