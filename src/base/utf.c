/* UTF-8: validation skips eight bytes of ASCII at a time, and UTF-16 is converted eight characters
 * at a time while they are ASCII. utf8_decode (utf.h) decodes characters. */
#include "base/utf.h"

#include "base/endian.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define UTF8_HIGH_BITS 0x8080808080808080u

static bool is_continuation_byte(uint8_t byte)
{
    return (byte & 0xc0) == 0x80;
}

size_t utf8_char_length(const uint8_t *p, size_t n)
{
    uint32_t code;
    return n ? utf8_decode(p, n, &code) : 0;
}

bool utf8_is_valid(const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    size_t at = 0;
    while (at < n) {
        if (n - at >= 8 && !(load_u64le(p + at) & UTF8_HIGH_BITS)) {
            at += 8;
            continue;
        }
        size_t length = utf8_char_length(p + at, n - at);
        if (length == 0)
            return false;
        at += length;
    }
    return true;
}

size_t utf8_truncated_length(const void *bytes, size_t n, size_t limit)
{
    const uint8_t *p = bytes;
    if (n <= limit)
        return n;
    /* A lead byte never occurs inside another character. So only the last lead byte before the
     * limit can start a character that is split. */
    size_t lead = limit;
    while (lead > 0 && limit - lead < 3 && is_continuation_byte(p[lead]))
        lead--;
    return utf8_char_length(p + lead, n - lead) > limit - lead ? lead : limit;
}

/* Converts the non-ASCII character at unit `*at` and advances `*at` past it. Returns the number of
 * bytes. */
static size_t convert_non_ascii(char *to, const uint8_t *p, size_t units, size_t *at)
{
    uint32_t c = load_u16le(p + 2 * *at);
    ++*at;
    if (c >> 10 == 0x36 && *at < units && load_u16le(p + 2 * *at) >> 10 == 0x37) {
        c = 0x10000 + ((c & 0x3ff) << 10) + (load_u16le(p + 2 * *at) & 0x3ffu);
        ++*at;
        to[0] = (char)(0xf0 | c >> 18);
        to[1] = (char)(0x80 | (c >> 12 & 63));
        to[2] = (char)(0x80 | (c >> 6 & 63));
        to[3] = (char)(0x80 | (c & 63));
        return 4;
    }
    if (c >> 11 == 0x1b)
        c = 0xfffd;
    if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 63));
        return 2;
    }
    to[0] = (char)(0xe0 | c >> 12);
    to[1] = (char)(0x80 | (c >> 6 & 63));
    to[2] = (char)(0x80 | (c & 63));
    return 3;
}

/* Writes eight characters and returns true if all are ASCII; else writes nothing. */
static inline bool copy_8_ascii(char *to, const uint8_t *p)
{
    if ((load_u64le(p) | load_u64le(p + 8)) & UINT64_C(0xff80ff80ff80ff80))
        return false;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    typedef uint16_t wide __attribute__((vector_size(16)));
    typedef uint8_t narrow __attribute__((vector_size(8)));
    wide eight;
    memcpy(&eight, p, sizeof eight);
    narrow ascii = __builtin_convertvector(eight, narrow);
    memcpy(to, &ascii, sizeof ascii);
#else
    for (unsigned i = 0; i < 8; i++)
        to[i] = (char)p[2 * i];
#endif
    return true;
}

size_t utf8_from_utf16le(char *to, const uint8_t *p, size_t units)
{
    size_t n = 0, at = 0;
    while (at < units) {
        size_t begin = at;
        while (units - at >= 8 && copy_8_ascii(to + n, p + 2 * at)) {
            n += 8;
            at += 8;
        }
        if (at == units)
            break;
        /* Converts the last units together with some of the previous ones, which yield the same
         * bytes again. */
        size_t rest = units - at;
        if (at > begin && rest < 8 && copy_8_ascii(to + n - (8 - rest), p + 2 * (units - 8)))
            return n + rest;
        uint64_t four = units - at >= 4 ? load_u64le(p + 2 * at) : UINT64_MAX;
        if (!(four & UINT64_C(0xff80ff80ff80ff80))) {
            four |= four >> 8;
            uint32_t ascii = (uint32_t)((four & 0xffff) | (four >> 16 & 0xffff0000));
            store_u32le(to + n, ascii);
            n += 4;
            at += 4;
        } else if (load_u16le(p + 2 * at) < 0x80) {
            to[n++] = (char)p[2 * at++];
        } else {
            n += convert_non_ascii(to + n, p, units, &at);
        }
    }
    return n;
}

/* Converts ASCII text in UTF-16 up to its zero, one character at a time, appending to `n`
 * characters. Returns the total. Returns SIZE_MAX if a character is not ASCII or the zero is
 * missing. */
static size_t convert_ascii16_scalar(char *to, size_t n, const uint8_t *p, const uint8_t *end)
{
    for (; end - p >= 2; p += 2, n++) {
        const uint32_t c = load_u16le(p);
        if (c == 0 || c >= 0x80)
            return c ? SIZE_MAX : n;
        to[n] = (char)c;
    }
    return SIZE_MAX;
}

#ifdef __SSE2__
/* Converts eight characters to bytes. Returns a mask with two bits per character that is a zero or
 * not ASCII; sets `*zeros` to the bits of the zeros. */
static inline uint32_t copy_8_until_end(uint8_t *to, const uint8_t *p, uint32_t *zeros)
{
    const __m128i none = _mm_setzero_si128(),
                  units = _mm_loadu_si128((const __m128i *)(const void *)p);
    const __m128i high = _mm_and_si128(units, _mm_set1_epi16((short)0xff80));
    const uint32_t ascii = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi16(high, none));
    *zeros = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi16(units, none));
    _mm_storel_epi64((__m128i *)(void *)to, _mm_packus_epi16(units, units));
    return *zeros | (ascii ^ 0xffff);
}

/* Returns the length of a text that ends in the next eight characters. `n` characters precede them;
 * copy_8_until_end returned `ends` and `zeros`. Returns SIZE_MAX if the first marked character is
 * not a zero. */
static inline size_t text_length(size_t n, uint32_t ends, uint32_t zeros)
{
    return zeros & ends & (0 - ends) ? n + (size_t)__builtin_ctz(ends) / 2 : SIZE_MAX;
}

size_t utf8_from_ascii16(char *to, const uint8_t *from, const uint8_t *p, const uint8_t *end)
{
    enum { STEP = 16 };
    uint32_t zeros;
    size_t n = 0;
    end -= (size_t)(end - p) & 1;
    for (; end - p >= STEP; p += STEP, n += STEP / 2) {
        uint32_t ends = copy_8_until_end((uint8_t *)to + n, p, &zeros);
        if (ends)
            return text_length(n, ends, zeros);
    }
    if (end - from < STEP || p == end)
        return convert_ascii16_scalar(to, n, p, end);
    /* The last load of eight characters ends at `end`; characters before p are shifted out. */
    const unsigned before = STEP - (unsigned)(end - p);
    uint8_t eight[STEP / 2];
    uint32_t ends = copy_8_until_end(eight, end - STEP, &zeros);
    store_u64le(to + n, load_u64le(eight) >> 4 * before);
    return text_length(n, ends >> before, zeros >> before);
}
#else
size_t utf8_from_ascii16(char *to, const uint8_t *from, const uint8_t *p, const uint8_t *end)
{
    (void)from;
    return convert_ascii16_scalar(to, 0, p, end);
}
#endif

size_t utf8_encode(char *to, uint32_t c)
{
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        c = 0xfffd;
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 63));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (char)(0xe0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 63));
        to[2] = (char)(0x80 | (c & 63));
        return 3;
    }
    to[0] = (char)(0xf0 | c >> 18);
    to[1] = (char)(0x80 | (c >> 12 & 63));
    to[2] = (char)(0x80 | (c >> 6 & 63));
    to[3] = (char)(0x80 | (c & 63));
    return 4;
}

size_t utf8_from_utf16be(char *to, const uint8_t *p, size_t units)
{
    size_t n = 0;
    for (size_t at = 0; at < units; at++) {
        uint32_t c = load_u16be(p + 2 * at);
        if (c >> 10 == 0x36 && units - at > 1 && load_u16be(p + 2 * at + 2) >> 10 == 0x37) {
            at++;
            c = 0x10000 + ((c & 0x3ff) << 10) + (load_u16be(p + 2 * at) & 0x3ffu);
        }
        n += utf8_encode(to + n, c);
    }
    return n;
}

size_t utf8_from_utf32(char *to, const uint8_t *p, size_t units, bool is_big_endian)
{
    size_t n = 0;
    for (size_t at = 0; at < units; at++)
        n += utf8_encode(to + n, is_big_endian ? load_u32be(p + 4 * at) : load_u32le(p + 4 * at));
    return n;
}

size_t utf8_from_latin1(char *to, const uint8_t *p, size_t n)
{
    size_t put = 0;
    for (size_t at = 0; at < n; at++)
        put += utf8_encode(to + put, p[at]);
    return put;
}
