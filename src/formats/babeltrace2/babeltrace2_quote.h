/* Copies quoted text, sixteen bytes at a time, and searches at the same time for its end and for
 * characters to escape. Callers reserve 4 output bytes per input byte plus TEXT_BEYOND. */
#ifndef TRACETTA_FORMATS_BABELTRACE2_BABELTRACE2_QUOTE_H
#define TRACETTA_FORMATS_BABELTRACE2_BABELTRACE2_QUOTE_H

#include "base/find_zero.h"
#include "base/wide.h"

#define TEXT_BEYOND 16u

/* Returns true if a character must be escaped, or is the terminating zero. */
static inline bool is_special(uint8_t byte)
{
    return byte < 0x20 || (byte | 0x40) == 0x7f || byte == '\\' || byte == '\'' ||
           byte == '"'; /* the bit operation in the line above also matches '?' */
}

/* Returns a bit mask of the special characters among the 16 at `p`. */
#ifdef __SSE2__
static inline uint32_t find_special_characters_in_16(const uint8_t *p)
{
    typedef uint8_t sixteen __attribute__((vector_size(16)));
    sixteen x;
    memcpy(&x, p, sizeof x);
    return (uint32_t)_mm_movemask_epi8(
        (__m128i)((x < 0x20) | ((x | 0x40) == 0x7f) | (x == '\\') | (x == '\'') | (x == '"')));
}
#else
static inline uint32_t find_special_characters_in_16(const uint8_t *p)
{
    uint32_t bits = 0;
    for (unsigned i = 0; i < 16; i++)
        bits |= (uint32_t)is_special(p[i]) << i;
    return bits;
}
#endif

/* Copies the last bytes of a text (fewer than 16), and returns a bit mask of the special
 * characters among them. Needs only one 16-byte load if the 16 bytes before `limit` are
 * readable. */
static inline uint32_t copy_last_bytes(char *at, const uint8_t *from, const uint8_t *p,
                                       const uint8_t *limit)
{
    const unsigned n = (unsigned)(limit - p);
    uint32_t specials = 0;
    if (n && limit - from >= 16) {
        const uint128 both = (uint128)load_u64le(limit - 8) << 64 | load_u64le(limit - 16),
                      rest = both >> 8 * (16 - n);
        store_u64le(at, (uint64_t)rest);
        store_u64le(at + 8, (uint64_t)(rest >> 64));
        return find_special_characters_in_16(limit - 16) >> (16 - n);
    }
    for (unsigned i = 0; i < n; i++) {
        at[i] = (char)p[i];
        specials |= (uint32_t)is_special(p[i]) << i;
    }
    return specials;
}

/* Copies the bytes [p, limit) up to the first zero. Returns the end of the output; NULL if a
 * character must be escaped. The bytes from `from` on must be readable. */
static inline char *emit_plain_text(char *at, const uint8_t *from, const uint8_t *p,
                                    const uint8_t *limit)
{
    uint32_t specials = 0;
    for (; limit - p >= 16 && !specials; p += 16, at += 16) {
        memcpy(at, p, 16);
        specials = find_special_characters_in_16(p);
    }
    if (specials)
        p -= 16, at -= 16;
    else
        specials = copy_last_bytes(at, from, p, limit);
    if (__builtin_expect(!specials, 1))
        return at + (limit - p);
    const unsigned n = (unsigned)__builtin_ctz(specials);
    return p[n] ? NULL : at + n;
}

/* Copies the bytes [p, limit) up to the first zero, and escapes special characters. Returns the
 * end of the output. */
char *babeltrace2_emit_escaped(char *at, const uint8_t *p, const uint8_t *limit);

static inline char *emit_quotable_text(char *at, const uint8_t *from, const uint8_t *p,
                                       const uint8_t *limit)
{
    char *following = emit_plain_text(at, from, p, limit);
    return following ? following : babeltrace2_emit_escaped(at, p, limit);
}

#endif
