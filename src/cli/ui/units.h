/* Numbers as people write and read them: sizes, durations, moments.
 *
 * Functions that make text give it by value: units_count(n).s lives to the end of the statement it
 * is used in (C11 6.2.4). */
#ifndef TRACETTA_CLI_UI_UNITS_H
#define TRACETTA_CLI_UI_UNITS_H

#include <stdbool.h>
#include <stdint.h>

struct unit_text {
    char s[48];
};

enum moment_kind { MOMENT_NONE = 0, MOMENT_ABSOLUTE, MOMENT_RELATIVE, MOMENT_UNREAD };

/* A time someone asked for. */
struct moment {
    int kind;           /* enum moment_kind */
    int64_t ns;         /* on the time line of the trace, or since its begin */
    const char *text;   /* where another than units_parse_moment may read it: as it was given, also
                           MOMENT_UNREAD */
    const char *option; /* what gave it: "end", "to", ... */
};

/* "12", "1_000", up to UINT64_MAX. */
bool units_parse_count(const char *text, uint64_t *value);

/* "512", "64KiB", "1.5MB": bytes; K, M, G alone mean powers of 1024. */
bool units_parse_size(const char *text, uint64_t *bytes);

/* "250us", "1.5s", "2min", "-3ms"; a number without a unit is nanoseconds. */
bool units_parse_duration(const char *text, int64_t *ns);

/* The same where parts of a number without a unit are none: "1.5" is false. */
bool units_parse_nanoseconds(const char *text, int64_t *ns);

/* The same where a number without a unit is seconds. */
bool units_parse_seconds(const char *text, int64_t *ns);

/* "+2s" since the begin of the trace; "1700000000123456789" nanoseconds; "1700000000.25" seconds;
 * "12ms"; "2026-11-21T01:32:51.5Z", with "+02:00" or without (then UTC), or a date alone. */
bool units_parse_moment(const char *text, struct moment *moment);

/* "4,000,000" */
struct unit_text units_count(uint64_t value);

/* "1 event", "4,000,000 events" */
struct unit_text units_events(uint64_t n);

/* "123.4 MiB" */
struct unit_text units_size(uint64_t bytes);

/* "1.234 ms", "12.3 s"; four digits that count. */
struct unit_text units_duration(uint64_t ns);

/* "2026-11-21T01:32:51.123456789Z" for times since the Unix epoch, else "12.345678901 s". */
struct unit_text units_time(int64_t ns, bool is_unix);

/* "11223344-5566-7788-99aa-bbccddeeff00" of 16 bytes. */
struct unit_text units_uuid(const uint8_t uuid[16]);

#endif
