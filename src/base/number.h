/* Numbers as text, and text as numbers: hand-written because a printf call costs more than decoding an event does.
 * The put functions write at most NUMBER_MAX bytes without a zero and return how many. */
#ifndef TRACETTA_BASE_NUMBER_H
#define TRACETTA_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUMBER_MAX 48

size_t number_put_u64(char *to, uint64_t x);
size_t number_put_i64(char *to, int64_t x);

/* The lowest `digits` digits of x, with leading zeros. */
void number_put_digits(char *to, uint64_t x, unsigned digits);

/* Lower-case hexadecimal with 0x. */
size_t number_put_hex(char *to, uint64_t x);

/* The shortest decimal that reads back as the same double ("0.1", "1e+300", "-0.0", "3.0": always with a point or exponent);
 * not finite: "nan", "inf", "-inf". */
size_t number_put_double(char *to, double x);

/* x / 10^digits with exactly `digits` decimals: (1234567, 3) gives "1234.567"; negative x works. */
size_t number_put_fixed(char *to, int64_t x, unsigned digits);

/* A duration for people: "431ns", "12.5us", "3.25ms", "1.5s", "2m05s". */
size_t number_put_duration(char *to, uint64_t ns);

/* A size for people: "812B", "1.5KiB", "117MiB". */
size_t number_put_bytes(char *to, uint64_t bytes);

/* Unix ns as "2026-11-21T01:10:13.000000123Z". */
size_t number_put_iso(char *to, int64_t unix_ns);

/* Whole text [p, p+n) as a number; false when it is not one or does not fit.  Decimal, or hexadecimal after 0x. */
bool number_get_u64(const char *p, size_t n, uint64_t *x);
bool number_get_i64(const char *p, size_t n, int64_t *x);

/* "250us", "1.5s", "100" (ns), "2m", "1h" to ns, exact; a leading + or - is allowed.  False when it is no duration. */
bool number_get_duration(const char *p, size_t n, int64_t *ns);

/* "10MiB", "4k" (1024), "1MB" (10^6), "100" to bytes.  False when it is no size. */
bool number_get_bytes(const char *p, size_t n, uint64_t *bytes);

/* "2026-11-21T01:10:13.5Z", also with a space for T, without Z (UTC), or a date alone, to Unix ns. */
bool number_get_iso(const char *p, size_t n, int64_t *unix_ns);

#endif
