/* Formatting and parsing of numbers. Hand-written, because printf costs more than decoding an
 * event, and depends on the locale. The number_format functions write at most NUMBER_MAX bytes
 * without a terminating zero and return how many. */
#ifndef TRACETTA_BASE_NUMBER_H
#define TRACETTA_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUMBER_MAX 48

size_t number_format_u64(char *to, uint64_t x);
size_t number_format_i64(char *to, int64_t x);

/* Writes the last `digits` decimal digits of x, with leading zeros. */
void number_format_digits(char *to, uint64_t x, unsigned digits);

/* Writes x < 10^9 with nine digits: the nanoseconds after a decimal point. */
void number_format_9_digits(char *to, uint32_t x);

/* Writes x as "0x" and lower-case hexadecimal digits. */
size_t number_format_hex(char *to, uint64_t x);

/* Writes the shortest decimal that parses to the same double, always with a point or an exponent:
 * "0.1", "1e+300", "-0.0", "3.0". Otherwise "nan", "inf" or "-inf". */
size_t number_format_double(char *to, double x);

/* Writes Unix nanoseconds as "2026-11-21T01:10:13.000000123Z". */
size_t number_format_iso(char *to, int64_t unix_ns);

/* Writes Unix seconds as "2026-11-21T01:10:13"; years may be negative or longer than four digits.
 */
size_t number_format_date_time(char *to, int64_t unix_s);

/* Parses the complete text [p, p+n), decimal or hexadecimal after 0x. Returns false if it is not a
 * number or out of range; *x is unchanged then. */
bool number_parse_u64(const char *p, size_t n, uint64_t *x);

/* Returns true if the complete text is an integer of any size as JSON writes it: "-170"; no "+", no
 * leading zeros. */
bool number_is_integer(const char *p, size_t n);

/* Parses the complete text [p, p+n) as a double, correctly rounded in any locale: "-1.5", "3",
 * "1e-7". A point needs digits on both sides. Returns false if the text is not a number; a number
 * too large becomes an infinity. */
bool number_parse_double(const char *p, size_t n, double *x);

#endif
