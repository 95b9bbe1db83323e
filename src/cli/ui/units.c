/* Parses and formats numbers in units. Parsing is exact for all 64-bit values: fractions are scaled
 * as integers, not as double. */
#include "cli/ui/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NS_PER_SECOND INT64_C(1000000000)

/* A decimal number split at its point, with up to 18 digits of its fraction. */
struct decimal {
    uint64_t whole;
    uint64_t fraction; /* in units of 1 / scale */
    uint64_t scale;
    bool has_point;
};

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit size_units[] = {
    {"", 1},
    {"B", 1},
    {"k", 1024},
    {"K", 1024},
    {"M", 1048576},
    {"G", 1073741824},
    {"KiB", 1024},
    {"MiB", 1048576},
    {"GiB", 1073741824},
    {"TiB", UINT64_C(1) << 40},
    {"kB", 1000},
    {"KB", 1000},
    {"MB", 1000000},
    {"GB", 1000000000},
    {"TB", UINT64_C(1000000000000)},
    {NULL, 0},
};

static const struct unit count_units[] = {
    {"", 1}, {"k", 1000}, {"K", 1000}, {"M", 1000000}, {"G", 1000000000}, {NULL, 0},
};

static const struct unit duration_units[] = {
    {"", 1},
    {"ns", 1},
    {"us", 1000},
    {"\xc2\xb5s", 1000},
    {"ms", 1000000},
    {"s", 1000000000},
    {"m", UINT64_C(60000000000)},
    {"min", UINT64_C(60000000000)},
    {"h", UINT64_C(3600000000000)},
    {"d", UINT64_C(86400000000000)},
    {NULL, 0},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Parses digits with optional `_` between them. Returns false with errno
 * EINVAL without any digit,
 * ERANGE if the value is too large; then all digits are consumed. */
static bool scan_digits(const char **at, uint64_t *value)
{
    const char *begin = *at;
    bool fits = true;
    *value = 0;
    for (; is_digit(**at) || (**at == '_' && *at > begin); ++*at)
        if (**at != '_')
            fits = fits && !__builtin_mul_overflow(*value, 10, value) &&
                   !__builtin_add_overflow(*value, (uint64_t)(**at - '0'), value);
    errno = *at == begin ? EINVAL : ERANGE;
    return *at > begin && fits;
}

/* Parses digits and an optional fraction. Sets errno like scan_digits. */
static bool scan_decimal(const char **at, struct decimal *number)
{
    *number = (struct decimal){.scale = 1};
    const bool fits = scan_digits(at, &number->whole);
    if (!fits || **at != '.')
        return fits;
    number->has_point = true;
    ++*at;
    errno = EINVAL;
    if (!is_digit(**at))
        return false;
    for (; is_digit(**at); ++*at) {
        if (number->scale >= UINT64_C(1000000000000000000))
            continue;
        number->fraction = number->fraction * 10 + (uint64_t)(**at - '0');
        number->scale *= 10;
    }
    return true;
}

static const struct unit *find_unit(const struct unit *units, const char *name)
{
    while (*name == ' ')
        name++;
    for (; units->name; units++)
        if (strcmp(units->name, name) == 0)
            return units;
    return NULL;
}

/* Multiplies a number by a unit. Returns false with errno ERANGE if the result is too large. */
static bool scale_up(const struct decimal *number, uint64_t factor, uint64_t *value)
{
    __extension__ unsigned __int128 part = number->fraction;
    part = part * factor / number->scale;
    errno = ERANGE;
    return !__builtin_mul_overflow(number->whole, factor, value) &&
           !__builtin_add_overflow(*value, (uint64_t)part, value);
}

/* Parses a number and a unit. A number that is too large is reported as such only if a valid unit
 * follows. */
static bool parse_scaled(const char *text, const struct unit *units, uint64_t *value,
                         struct decimal *number)
{
    const bool is_number = scan_decimal(&text, number);
    const int reason = errno;
    if (!is_number && reason == ERANGE && *text == '.')
        text += 1 + strspn(text + 1, "0123456789");
    /* A number with a fraction and no unit counts seconds, since nothing is shorter than a
     * nanosecond. */
    const bool is_seconds = units == duration_units && *text == '\0' && number->has_point;
    const struct unit *unit = find_unit(units, is_seconds ? "s" : text);
    errno = unit ? reason : EINVAL;
    return unit && is_number && scale_up(number, unit->factor, value);
}

bool units_parse_count(const char *text, uint64_t *value)
{
    struct decimal number;
    if (!parse_scaled(text, count_units, value, &number))
        return false;
    const struct unit *unit = find_unit(count_units, text + strcspn(text, "kKMG"));
    __extension__ const unsigned __int128 part = number.fraction;
    const bool is_integer =
        !number.has_point || (unit->factor > 1 && part * unit->factor % number.scale == 0);
    errno = EINVAL;
    return is_integer && *value > 0;
}

bool units_parse_size(const char *text, uint64_t *bytes)
{
    struct decimal number;
    return parse_scaled(text, size_units, bytes, &number);
}

static bool parse_unsigned_duration(const char *text, uint64_t *ns)
{
    struct decimal number;
    if (!parse_scaled(text, duration_units, ns, &number))
        return false;
    errno = ERANGE;
    return *ns <= INT64_MAX;
}

bool units_parse_duration(const char *text, int64_t *ns)
{
    uint64_t size;
    bool is_negative = *text == '-';
    if (!parse_unsigned_duration(text + (is_negative || *text == '+'), &size))
        return false;
    *ns = is_negative ? -(int64_t)size : (int64_t)size;
    return true;
}

bool units_parse_nanoseconds(const char *text, int64_t *ns)
{
    const size_t n = strlen(text);
    const bool has_unit = n == 0 || !is_digit(text[n - 1]);
    errno = EINVAL;
    return (has_unit || !strchr(text, '.')) && units_parse_duration(text, ns);
}

bool units_parse_seconds(const char *text, int64_t *ns)
{
    char with_unit[40];
    size_t n = strlen(text);
    if (n == 0 || n + 2 > sizeof with_unit || !is_digit(text[n - 1]))
        return units_parse_duration(text, ns);
    memcpy(with_unit, text, n);
    memcpy(with_unit + n, "s", 2);
    return units_parse_duration(with_unit, ns);
}

/* Parses exactly n digits. */
static bool scan_fixed_digits(const char **at, int n, int *value)
{
    *value = 0;
    for (; n > 0; n--, ++*at) {
        if (!is_digit(**at))
            return false;
        *value = *value * 10 + (**at - '0');
    }
    return true;
}

static bool scan_character(const char **at, char wanted)
{
    bool is_there = **at == wanted;
    *at += is_there;
    return is_there;
}

/* Parses an optional time zone, "Z", "+02:00" or "-0330", into seconds east of Greenwich. */
static bool parse_zone(const char *text, int64_t *seconds)
{
    int hours = 0, minutes = 0;
    *seconds = 0;
    if (*text == '\0' || strcmp(text, "Z") == 0)
        return true;
    int sign = *text == '-' ? -1 : 1;
    if (*text != '+' && *text != '-')
        return false;
    text++;
    if (!scan_fixed_digits(&text, 2, &hours))
        return false;
    (void)scan_character(&text, ':');
    if (!scan_fixed_digits(&text, 2, &minutes) || *text != '\0')
        return false;
    *seconds = sign * (hours * INT64_C(3600) + minutes * INT64_C(60));
    return hours < 24 && minutes < 60;
}

/* Parses an optional fraction such as ".125" into nanoseconds. */
static int64_t scan_fraction(const char **at)
{
    int64_t unit = NS_PER_SECOND, ns = 0;
    if (!scan_character(at, '.'))
        return 0;
    for (; is_digit(**at); ++*at) {
        unit /= 10;
        ns += unit * (**at - '0');
    }
    return ns;
}

/* Returns true if the day exists in its month. timegm converts other days to days of the next
 * month. */
static bool is_day(const struct tm *day)
{
    struct tm midnight = {
        .tm_year = day->tm_year - 1900, .tm_mon = day->tm_mon - 1, .tm_mday = day->tm_mday};
    (void)timegm(&midnight);
    return midnight.tm_mday == day->tm_mday;
}

/* Parses a date such as "2026-11-21". */
static bool scan_date(const char **at, struct tm *day)
{
    return scan_fixed_digits(at, 4, &day->tm_year) && scan_character(at, '-') &&
           scan_fixed_digits(at, 2, &day->tm_mon) && scan_character(at, '-') &&
           scan_fixed_digits(at, 2, &day->tm_mday) && day->tm_mon >= 1 && day->tm_mon <= 12 &&
           day->tm_mday >= 1 && is_day(day);
}

/* Parses hours and minutes, and optional seconds: "01:32" or "01:32:51". */
static bool scan_hours(const char **at, struct tm *day)
{
    if (!scan_fixed_digits(at, 2, &day->tm_hour) || !scan_character(at, ':') ||
        !scan_fixed_digits(at, 2, &day->tm_min))
        return false;
    if (scan_character(at, ':') && !scan_fixed_digits(at, 2, &day->tm_sec))
        return false;
    return day->tm_hour <= 24 && day->tm_min <= 59 && day->tm_sec <= 60;
}

static bool parse_calendar(const char *text, int64_t *ns)
{
    struct tm day = {0};
    int64_t fraction = 0, zone = 0;
    if (!scan_date(&text, &day))
        return false;
    if (scan_character(&text, 'T') || scan_character(&text, ' ')) {
        if (!scan_hours(&text, &day))
            return false;
        fraction = scan_fraction(&text);
        if (!parse_zone(text, &zone))
            return false;
    } else if (*text != '\0') {
        return false;
    }
    day.tm_year -= 1900;
    day.tm_mon -= 1;
    return !__builtin_mul_overflow((int64_t)timegm(&day) - zone, NS_PER_SECOND, ns) &&
           !__builtin_add_overflow(*ns, fraction, ns);
}

/* Parses a time of day such as "12:30" or "12:30:15.5", with an optional "Z". */
static bool parse_time_of_day(const char *text, int64_t *ns)
{
    struct tm day = {0};
    if (!scan_hours(&text, &day))
        return false;
    const int64_t fraction = scan_fraction(&text);
    (void)scan_character(&text, 'Z');
    if (day.tm_hour > 23)
        return false;
    *ns = (day.tm_hour * INT64_C(3600) + day.tm_min * INT64_C(60) + day.tm_sec) * NS_PER_SECOND +
          fraction;
    return *text == '\0';
}

bool units_parse_moment(const char *text, struct moment *moment)
{
    const size_t n = strlen(text);
    const bool has_unit = n > 1 && !is_digit(text[n - 1]);
    if (*text == '+' || (*text == '-' && has_unit)) {
        uint64_t size = 0;
        moment->kind = *text == '+' ? MOMENT_RELATIVE : MOMENT_FROM_END;
        const bool is_fine = parse_unsigned_duration(text + 1, &size);
        moment->ns = is_fine ? (int64_t)size : 0;
        return is_fine;
    }
    moment->kind = MOMENT_ABSOLUTE;
    if (units_parse_duration(text, &moment->ns))
        return true;
    const int reason = errno;
    if (parse_calendar(text, &moment->ns))
        return true;
    moment->kind = MOMENT_TIME_OF_DAY;
    errno = reason;
    return parse_time_of_day(text, &moment->ns);
}

struct unit_text units_events(uint64_t n)
{
    struct unit_text text;
    (void)snprintf(text.s, sizeof text.s, n == 1 ? "%s event" : "%s events", units_count(n).s);
    return text;
}

struct unit_text units_count(uint64_t value)
{
    struct unit_text text = {{0}};
    char plain[24];
    int n = snprintf(plain, sizeof plain, "%" PRIu64, value);
    char *at = text.s;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            *at++ = ',';
        *at++ = plain[i];
    }
    *at = '\0';
    return text;
}

/* Returns the number of decimal places for four significant digits: 1.234, 12.34, 123.4, 1234. */
static int decimals(double value)
{
    return value < 9.9995 ? 3 : value < 99.995 ? 2 : value < 999.95 ? 1 : 0;
}

struct unit_text units_size(uint64_t bytes)
{
    struct unit_text text = {{0}};
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    unsigned i = 0;
    double value = (double)bytes;
    for (; value >= 1024 && i + 1 < sizeof names / sizeof *names; i++)
        value /= 1024;
    (void)snprintf(text.s, sizeof text.s, "%.*f %s", i ? (value < 99.95 ? 1 : 0) : 0, value,
                   names[i]);
    return text;
}

struct unit_text units_duration(uint64_t ns)
{
    struct unit_text text = {{0}};
    static const struct unit steps[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (ns < steps[i].factor)
            continue;
        double value = (double)ns / (double)steps[i].factor;
        (void)snprintf(text.s, sizeof text.s, "%.*f %s", decimals(value), value, steps[i].name);
        return text;
    }
    (void)snprintf(text.s, sizeof text.s, "%" PRIu64 " ns", ns);
    return text;
}

struct unit_text units_time(int64_t ns, bool is_unix)
{
    struct unit_text text = {{0}};
    int64_t seconds = ns / NS_PER_SECOND, rest = ns % NS_PER_SECOND;
    if (is_unix) {
        seconds -= rest < 0;
        rest += rest < 0 ? NS_PER_SECOND : 0;
        time_t when = (time_t)seconds;
        struct tm day;
        char date[32];
        if (gmtime_r(&when, &day) && strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &day)) {
            (void)snprintf(text.s, sizeof text.s, "%s.%09" PRId64 "Z", date, rest);
            return text;
        }
    }
    bool is_negative = ns < 0;
    (void)snprintf(text.s, sizeof text.s, "%s%" PRId64 ".%09" PRId64 " s", is_negative ? "-" : "",
                   is_negative ? -seconds : seconds, is_negative ? -rest : rest);
    return text;
}

struct unit_text units_uuid(const uint8_t uuid[16])
{
    struct unit_text text;
    int n = 0;
    for (size_t i = 0; i < 16; i++)
        n += snprintf(text.s + n, sizeof text.s - (size_t)n, "%s%02x",
                      i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
    return text;
}
