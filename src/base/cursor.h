/* The bounded byte cursor. All untrusted bytes are read through it, or through base/bit_cursor.h. A
 * read beyond the end returns zero or NULL, sets `failed` and does not advance, so a run of reads
 * needs one check at its end. Sizes are compared with the remaining bytes by subtraction, so a size
 * from a file cannot overflow a pointer. The bytes are borrowed. */
#ifndef TRACETTA_BASE_CURSOR_H
#define TRACETTA_BASE_CURSOR_H

#include <stdbool.h>

#include "base/endian.h"

struct cursor {
    const uint8_t *p, *end;
    uint64_t offset; /* file offset of `p`, for messages; advances with p */
    bool failed;
};

static inline struct cursor cursor_init(const void *bytes, size_t n, uint64_t offset)
{
    const uint8_t *p = bytes;
    return (struct cursor){.p = p, .end = p ? p + n : p, .offset = offset, .failed = false};
}

static inline size_t cursor_left(const struct cursor *c)
{
    return (size_t)(c->end - c->p);
}

/* Returns the address of the next n bytes and advances. Returns NULL and sets `failed` if fewer
 * remain. For n == 0 it returns the current address. */
static inline const uint8_t *cursor_read_bytes(struct cursor *c, uint64_t n)
{
    if (n > cursor_left(c)) {
        c->failed = true;
        return NULL;
    }
    const uint8_t *at = c->p;
    c->p += n;
    c->offset += n;
    return at;
}

static inline bool cursor_skip(struct cursor *c, uint64_t n)
{
    return cursor_read_bytes(c, n) != NULL;
}

/* Returns a cursor over the next n bytes and advances. If fewer remain, both cursors have `failed`
 * set and the returned one is empty. */
static inline struct cursor cursor_slice(struct cursor *c, uint64_t n)
{
    uint64_t offset = c->offset;
    const uint8_t *at = cursor_read_bytes(c, n);
    struct cursor part = cursor_init(at, at ? (size_t)n : 0, offset);
    part.failed = at == NULL;
    return part;
}

#define CURSOR_DEFINE(name, type, bytes, load)           \
    static inline type cursor_##name(struct cursor *c)   \
    {                                                    \
        const uint8_t *at = cursor_read_bytes(c, bytes); \
        return at ? load(at) : 0;                        \
    }

static inline uint8_t cursor_load_byte(const uint8_t *p)
{
    return *p;
}

CURSOR_DEFINE(u8, uint8_t, 1, cursor_load_byte)
CURSOR_DEFINE(u16le, uint16_t, 2, load_u16le)
CURSOR_DEFINE(u32le, uint32_t, 4, load_u32le)
CURSOR_DEFINE(u64le, uint64_t, 8, load_u64le)
CURSOR_DEFINE(u16be, uint16_t, 2, load_u16be)
CURSOR_DEFINE(u32be, uint32_t, 4, load_u32be)
CURSOR_DEFINE(u64be, uint64_t, 8, load_u64be)
#undef CURSOR_DEFINE

#endif
