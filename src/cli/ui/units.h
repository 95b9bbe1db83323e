/* Numbers as people write and read them: counts, sizes, durations, times.
 *
 * Parsing functions return false with errno ERANGE if the number is too large, EINVAL if the text
 * is not such a number. Formatting functions return the text by value: units_count(n).s is valid
 * until the end of the statement that uses it (C11 6.2.4). */
#ifndef TRACETTA_CLI_UI_UNITS_H
#define TRACETTA_CLI_UI_UNITS_H

#include <stdbool.h>
#include <stdint.h>

struct unit_text {
    char s[48];
};

enum moment_kind {
    MOMENT_NONE = 0,
    MOMENT_ABSOLUTE,    /* on the time line of the trace */
    MOMENT_RELATIVE,    /* after the first event: "+2s" */
    MOMENT_FROM_END,    /* before the last event: "-1s" */
    MOMENT_TIME_OF_DAY, /* UTC, on the day of the first event: "12:30" */
    MOMENT_UNREAD       /* units_parse_moment cannot parse the text, but the parser of a style may
                         * */
};

/* A time given with an option. */
struct moment {
    int kind;           /* enum moment_kind */
    int64_t ns;         /* ns since the origin of its kind; MOMENT_FROM_END: ns before the end */
    const char *text;   /* the original text, if the parser of a style may read it; else NULL */
    const char *option; /* name of the option: "start", "end", ... */
};

/* Parses a count: "12", "1_000", "20k", "1.5M", up to UINT64_MAX.  k, M and G are powers of 1000.
 */
bool units_parse_count(const char *text, uint64_t *value);

/* Parses a number of bytes: "512", "64KiB", "1.5MB".  K, M, G alone are powers of 1024. */
bool units_parse_size(const char *text, uint64_t *bytes);

/* Parses a duration: "250us", "1.5s", "2min", "-3ms".  A number without a unit is nanoseconds. */
bool units_parse_duration(const char *text, int64_t *ns);

/* Parses a duration; a fraction needs a unit, so "1.5" is refused. */
bool units_parse_nanoseconds(const char *text, int64_t *ns);

/* Parses a duration; a number without a unit counts seconds. */
bool units_parse_seconds(const char *text, int64_t *ns);

/* Parses a time: "+2s" after the first event, "-1s" (with a unit) before the last one,
 * "1700000000123456789" in nanoseconds, "1700000000.25" in seconds, "12ms", "12:30[:15[.5]]" in
 * UTC, "2026-11-21T01:32:51.5Z", the same with "+02:00" or without a zone (UTC), or a date alone.
 */
bool units_parse_moment(const char *text, struct moment *moment);

/* Formats a count: "4,000,000". */
struct unit_text units_count(uint64_t value);

/* Formats a number of events: "1 event", "4,000,000 events". */
struct unit_text units_events(uint64_t n);

/* Formats a number of bytes: "123.4 MiB". */
struct unit_text units_size(uint64_t bytes);

/* Formats a duration with four significant digits: "1.234 ms", "12.34 s". */
struct unit_text units_duration(uint64_t ns);

/* Formats a time: "2026-11-21T01:32:51.123456789Z" if it counts from the Unix epoch, else
 * "12.345678901 s". */
struct unit_text units_time(int64_t ns, bool is_unix);

/* Formats a UUID: "11223344-5566-7788-99aa-bbccddeeff00". */
struct unit_text units_uuid(const uint8_t uuid[16]);

#endif
