/* UTF-8 that may be broken: real traces hold bytes that are no text at all, and they are kept as
 * they are until a text output needs characters. */
#ifndef TRACETTA_BASE_UTF_H
#define TRACETTA_BASE_UTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True where [p, p+n) is well-formed UTF-8 (no surrogates, no overlong forms, at most U+10FFFF). */
bool utf8_valid(const void *p, size_t n);

/* Length of the well-formed character at p (1..4), or 0 when the byte there begins none. */
size_t utf8_character(const uint8_t *p, size_t n);

/* Bytes of the control character at p, which a terminal may obey: 1 below U+0020 and of U+007F, 2
 * of U+0080 to U+009F; 0 where it is none. */
static inline size_t utf8_control(const uint8_t *p, size_t n)
{
    if (n == 0 || (p[0] >= 0x20 && p[0] != 0x7f && p[0] != 0xc2))
        return 0;
    if (p[0] != 0xc2)
        return 1;
    return n > 1 && p[1] >= 0x80 && p[1] < 0xa0 ? 2 : 0;
}

/* The longest length <= limit that ends on a character boundary of well-formed text; bytes that are
 * no text count as characters of their own. */
size_t utf8_cut(const void *p, size_t n, size_t limit);

/* Writes `units` characters of UTF-16, little-endian, as UTF-8 into `to`, which has room for 3
 * bytes each; gives how many bytes.  Surrogates without their other half become U+FFFD. */
size_t utf8_from_utf16le(char *to, const uint8_t *p, size_t units);

/* The same up to a zero, as long as all is ASCII: gives how many characters, SIZE_MAX where one is
 * none, or no zero stands before `end`.  `to` has room for (end - p) / 2 + 8 bytes; bytes from
 * `from`, at or before p, may be looked at. */
size_t utf8_from_ascii16(char *to, const uint8_t *from, const uint8_t *p, const uint8_t *end);

/* The same of UTF-16, big-endian; of UTF-32 in either order, with room for 4 bytes each, where what
 * is no character becomes U+FFFD; and of ISO 8859-1, with room for 2 bytes each. */
size_t utf8_from_utf16be(char *to, const uint8_t *p, size_t units);
size_t utf8_from_utf32(char *to, const uint8_t *p, size_t units, bool is_big_endian);
size_t utf8_from_latin1(char *to, const uint8_t *p, size_t n);

/* Writes one character, at most 4 bytes, and gives how many; what is none becomes U+FFFD. */
size_t utf8_put(char *to, uint32_t c);

#endif
