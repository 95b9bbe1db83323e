/* UTF-8 that may be broken: real traces hold bytes that are no text at all, and they are kept as they are until a text output
 * needs characters. */
#ifndef TRACETTA_BASE_UTF_H
#define TRACETTA_BASE_UTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True where [p, p+n) is well-formed UTF-8 (no surrogates, no overlong forms, at most U+10FFFF). */
bool utf8_valid(const void *p, size_t n);

/* Length of the well-formed character at p (1..4), or 0 when the byte there begins none. */
size_t utf8_character(const uint8_t *p, size_t n);

/* The longest length <= limit that ends on a character boundary of well-formed text; bytes that are no text count as
 * characters of their own. */
size_t utf8_cut(const void *p, size_t n, size_t limit);

/* Writes `units` characters of UTF-16, little-endian, as UTF-8 into `to`, which has room for 3 bytes each; gives how many bytes.  Surrogates
 * without their other half become U+FFFD. */
size_t utf8_from_utf16le(char *to, const uint8_t *p, size_t units);

#endif
