/* Numbers as text, and text as numbers: hand-written because a printf call costs more than decoding
 * an event does. The put functions write at most NUMBER_MAX bytes without a zero and return how
 * many. */
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

/* All nine digits of x < 10^9: what nanoseconds are of a second. */
void number_put_nine(char *to, uint32_t x);

/* Lower-case hexadecimal with 0x. */
size_t number_put_hex(char *to, uint64_t x);

/* The shortest decimal that reads back as the same double ("0.1", "1e+300", "-0.0", "3.0": always
 * with a point or exponent); not finite: "nan", "inf", "-inf". */
size_t number_put_double(char *to, double x);

/* Unix ns as "2026-11-21T01:10:13.000000123Z". */
size_t number_put_iso(char *to, int64_t unix_ns);

/* Unix seconds as "2026-11-21T01:10:13", whatever the year. */
size_t number_put_date_time(char *to, int64_t unix_s);

/* Whole text [p, p+n) as a number; false when it is not one or does not fit.  Decimal, or
 * hexadecimal after 0x. */
bool number_get_u64(const char *p, size_t n, uint64_t *x);
bool number_get_i64(const char *p, size_t n, int64_t *x);

/* True where the whole text is an integer of any size as JSON writes it: "-170", no "+", no leading
 * zeros. */
bool number_is_integer(const char *p, size_t n);

/* Whole text [p, p+n) as a double, correctly rounded whatever the locale: "-1.5", "3", "1e-7";
 * digits on both sides of a point. False when it is not one; a number too large is an infinity. */
bool number_get_double(const char *p, size_t n, double *x);

#endif
