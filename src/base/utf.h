/* UTF-8 that may be invalid. Traces contain strings with arbitrary bytes; they are stored
 * unchanged, and only text outputs replace invalid ones. */
#ifndef TRACETTA_BASE_UTF_H
#define TRACETTA_BASE_UTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns true if [p, p+n) is well-formed UTF-8: no surrogates, no overlong forms, at most
 * U+10FFFF. */
bool utf8_is_valid(const void *p, size_t n);

/* Returns the length of the well-formed character at p, 1 to 4 bytes, or 0 if there is none. */
size_t utf8_char_length(const uint8_t *p, size_t n);

/* Decodes the character at p, of n > 0 bytes. Returns its length, 1 to 4 bytes, or 0 if it is not
 * well-formed. Header-only, for libraries that do not link base. */
static inline size_t utf8_decode(const uint8_t *p, size_t n, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t length = p[0] < 0x80   ? 1
                          : p[0] < 0xc2 ? 0
                          : p[0] < 0xe0 ? 2
                          : p[0] < 0xf0 ? 3
                          : p[0] < 0xf5 ? 4
                                        : 0;
    if (length == 0 || length > n)
        return 0;
    *code = length == 1 ? p[0] : p[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (p[i] & 0x3fu);
    }
    return *code < least[length] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000)
               ? 0
               : length;
}

/* Returns the length of the control character at p, which a terminal may interpret: 1 byte for
 * U+0000 to U+001F and U+007F, 2 bytes for U+0080 to U+009F. Returns 0 for any other character. */
static inline size_t utf8_control_length(const uint8_t *p, size_t n)
{
    if (n == 0 || (p[0] >= 0x20 && p[0] != 0x7f && p[0] != 0xc2))
        return 0;
    if (p[0] != 0xc2)
        return 1;
    return n > 1 && p[1] >= 0x80 && p[1] < 0xa0 ? 2 : 0;
}

/* Returns the largest length <= limit that does not split a UTF-8 character. An invalid byte counts
 * as one character. */
size_t utf8_truncated_length(const void *p, size_t n, size_t limit);

/* Converts `units` code units of little-endian UTF-16 to UTF-8. `to` has room for 3 bytes per unit.
 * Returns the number of bytes written. Unpaired surrogates become U+FFFD. */
size_t utf8_from_utf16le(char *to, const uint8_t *p, size_t units);

/* Converts zero-terminated little-endian UTF-16 that is all ASCII. Returns the number of
 * characters, or SIZE_MAX if a character is not ASCII or the text has no zero before `end`. `to`
 * has room for (end - p) / 2 + 8 bytes; bytes of [from, p) are readable. */
size_t utf8_from_ascii16(char *to, const uint8_t *from, const uint8_t *p, const uint8_t *end);

/* Convert big-endian UTF-16, UTF-32 (4 bytes of room per unit, invalid code points become U+FFFD)
 * and ISO 8859-1 (2 bytes of room per character). Return the number of bytes written. */
size_t utf8_from_utf16be(char *to, const uint8_t *p, size_t units);
size_t utf8_from_utf32(char *to, const uint8_t *p, size_t units, bool is_big_endian);
size_t utf8_from_latin1(char *to, const uint8_t *p, size_t n);

/* Writes the code point as 1 to 4 bytes and returns their number. An invalid code point becomes
 * U+FFFD. */
size_t utf8_encode(char *to, uint32_t c);

#endif
