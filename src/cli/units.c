/* Numbers as people write and read them.  Exact where 64 bits are: fractions are split off by digits, never through double. */
#include "units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NS_PER_SECOND INT64_C(1000000000)

/* A decimal number split at its point: up to 18 digits of fraction are kept. */
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
    {"", 1}, {"B", 1}, {"k", 1024}, {"K", 1024}, {"M", 1048576}, {"G", 1073741824}, {"KiB", 1024}, {"MiB", 1048576},
    {"GiB", 1073741824}, {"TiB", UINT64_C(1) << 40}, {"kB", 1000}, {"KB", 1000}, {"MB", 1000000}, {"GB", 1000000000},
    {"TB", UINT64_C(1000000000000)}, {NULL, 0},
};

static const struct unit duration_units[] = {
    {"", 1}, {"ns", 1}, {"us", 1000}, {"\xc2\xb5s", 1000}, {"ms", 1000000}, {"s", 1000000000},
    {"m", UINT64_C(60000000000)}, {"min", UINT64_C(60000000000)}, {"h", UINT64_C(3600000000000)},
    {"d", UINT64_C(86400000000000)}, {NULL, 0},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits with `_` between them; false where there is none or it does not fit. */
static bool take_digits(const char **at, uint64_t *value)
{
    const char *begin = *at;
    *value = 0;
    for (; is_digit(**at) || (**at == '_' && *at > begin); ++*at) {
        if (**at == '_')
            continue;
        if (__builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, (uint64_t)(**at - '0'), value))
            return false;
    }
    return *at > begin;
}

static bool take_decimal(const char **at, struct decimal *number)
{
    *number = (struct decimal){.scale = 1};
    if (!take_digits(at, &number->whole))
        return false;
    if (**at != '.')
        return true;
    number->has_point = true;
    ++*at;
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

static bool scale_up(const struct decimal *number, uint64_t factor, uint64_t *value)
{
    __extension__ unsigned __int128 part = number->fraction;
    part = part * factor / number->scale;
    return !__builtin_mul_overflow(number->whole, factor, value) && !__builtin_add_overflow(*value, (uint64_t)part, value);
}

bool units_parse_count(const char *text, uint64_t *value)
{
    return take_digits(&text, value) && *text == '\0';
}

bool units_parse_size(const char *text, uint64_t *bytes)
{
    struct decimal number;
    if (!take_decimal(&text, &number))
        return false;
    const struct unit *unit = find_unit(size_units, text);
    return unit && scale_up(&number, unit->factor, bytes);
}

static bool parse_unsigned_duration(const char *text, uint64_t *ns)
{
    struct decimal number;
    if (!take_decimal(&text, &number))
        return false;
    /* "1.5" can only mean seconds: there is nothing below a nanosecond. */
    const struct unit *unit = find_unit(duration_units, *text == '\0' && number.has_point ? "s" : text);
    return unit && scale_up(&number, unit->factor, ns) && *ns <= INT64_MAX;
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

/* "Z", "+02:00", "-0330" or nothing: seconds east of Greenwich. */
static bool take_zone(const char *text, int64_t *seconds)
{
    *seconds = 0;
    if (*text == '\0' || strcmp(text, "Z") == 0)
        return true;
    int sign = *text == '-' ? -1 : 1, hours = 0, minutes = 0, used = 0;
    if ((*text != '+' && *text != '-') || sscanf(text + 1, "%2d:%2d%n", &hours, &minutes, &used) != 2) {
        used = 0;
        if ((*text != '+' && *text != '-') || sscanf(text + 1, "%2d%2d%n", &hours, &minutes, &used) != 2)
            return false;
    }
    *seconds = sign * (hours * INT64_C(3600) + minutes * INT64_C(60));
    return text[1 + used] == '\0' && hours >= 0 && hours < 24 && minutes >= 0 && minutes < 60;
}

/* ".125" as nanoseconds. */
static bool take_fraction(const char **at, int64_t *ns)
{
    *ns = 0;
    if (**at != '.')
        return true;
    int64_t unit = NS_PER_SECOND;
    for (++*at; is_digit(**at); ++*at) {
        unit /= 10;
        *ns += unit * (**at - '0');
    }
    return true;
}

static bool parse_calendar(const char *text, int64_t *ns)
{
    struct tm day = {0};
    int used = 0, date_used = 0;
    if (sscanf(text, "%4d-%2d-%2d%n", &day.tm_year, &day.tm_mon, &day.tm_mday, &date_used) != 3)
        return false;
    text += date_used;
    int64_t fraction = 0, zone = 0;
    if (*text == 'T' || *text == ' ') {
        if (sscanf(text + 1, "%2d:%2d%n:%2d%n", &day.tm_hour, &day.tm_min, &used, &day.tm_sec, &used) < 2)
            return false;
        text += 1 + used;
        (void)take_fraction(&text, &fraction);
        if (!take_zone(text, &zone))
            return false;
    } else if (*text != '\0') {
        return false;
    }
    if (day.tm_mon < 1 || day.tm_mon > 12 || day.tm_mday < 1 || day.tm_mday > 31 || day.tm_hour > 24 || day.tm_min > 59 ||
        day.tm_sec > 60)
        return false;
    day.tm_year -= 1900;
    day.tm_mon -= 1;
    return !__builtin_mul_overflow((int64_t)timegm(&day) - zone, NS_PER_SECOND, ns) && !__builtin_add_overflow(*ns, fraction, ns);
}

bool units_parse_moment(const char *text, struct moment *moment)
{
    if (*text == '+') {
        moment->kind = MOMENT_RELATIVE;
        return units_parse_duration(text, &moment->ns);
    }
    moment->kind = MOMENT_ABSOLUTE;
    return units_parse_duration(text, &moment->ns) || parse_calendar(text, &moment->ns);
}

const char *units_count(uint64_t value, struct unit_text *to)
{
    char plain[24];
    int n = snprintf(plain, sizeof plain, "%" PRIu64, value);
    char *at = to->s;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            *at++ = ',';
        *at++ = plain[i];
    }
    *at = '\0';
    return to->s;
}

/* Four digits that count: 1.234, 12.34, 123.4, 1234. */
static int decimals(double value)
{
    return value < 9.9995 ? 3 : value < 99.995 ? 2 : value < 999.95 ? 1 : 0;
}

const char *units_size(uint64_t bytes, struct unit_text *to)
{
    static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    unsigned i = 0;
    double value = (double)bytes;
    for (; value >= 1024 && i + 1 < sizeof names / sizeof *names; i++)
        value /= 1024;
    (void)snprintf(to->s, sizeof to->s, "%.*f %s", i ? (value < 99.95 ? 1 : 0) : 0, value, names[i]);
    return to->s;
}

const char *units_duration(uint64_t ns, struct unit_text *to)
{
    static const struct unit steps[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (ns < steps[i].factor)
            continue;
        double value = (double)ns / (double)steps[i].factor;
        (void)snprintf(to->s, sizeof to->s, "%.*f %s", decimals(value), value, steps[i].name);
        return to->s;
    }
    (void)snprintf(to->s, sizeof to->s, "%" PRIu64 " ns", ns);
    return to->s;
}

const char *units_time(int64_t ns, bool is_unix, struct unit_text *to)
{
    int64_t seconds = ns / NS_PER_SECOND, rest = ns % NS_PER_SECOND;
    if (is_unix) {
        seconds -= rest < 0;
        rest += rest < 0 ? NS_PER_SECOND : 0;
        time_t when = (time_t)seconds;
        struct tm day;
        char text[32];
        if (gmtime_r(&when, &day) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &day)) {
            (void)snprintf(to->s, sizeof to->s, "%s.%09" PRId64 "Z", text, rest);
            return to->s;
        }
    }
    bool is_negative = ns < 0;
    (void)snprintf(to->s, sizeof to->s, "%s%" PRId64 ".%09" PRId64 " s", is_negative ? "-" : "", is_negative ? -seconds : seconds,
                   is_negative ? -rest : rest);
    return to->s;
}
