/* Headers of events, in all their encodings: one step from an event to the next.
 *
 * Every step is checked against the end of the block, also where bytes were looked at before.  A
 * compressed header has at most 88 bytes; where fewer are left it is decoded from a copy with zeros
 * behind it, so that the usual step needs one comparison for all its parts. Pointers lie in the
 * window. */
#ifndef TRACETTA_NETTRACE_HEADER_H
#define TRACETTA_NETTRACE_HEADER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cursor.h"
#include "base/endian.h"
#include "formats/nettrace/nettrace_format.h"

#define NETTRACE_LIKELY(x) __builtin_expect(!!(x), 1)
#define NETTRACE_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define NETTRACE_INLINE inline __attribute__((always_inline))

#define NETTRACE_TELLS_THREAD (NETTRACE_HAS_CAPTURE | NETTRACE_HAS_THREAD)

#define NETTRACE_HEADER_MAX 104u /* and some, for loads of eight bytes */

enum nettrace_codec {
    CODEC_COMPRESSED, /* V4 to V6 */
    CODEC_PLAIN,      /* V4, V5 */
    CODEC_PLAIN_V6,
    CODEC_OLD,   /* V3: padded to 4 bytes behind its stack */
    CODEC_OLDEST /* V1, V2: not padded */
};

/* Where an event is, and what its header says.  Those of a block start as zeros. */
struct nettrace_header {
    uint64_t ticks, thread, capture;
    uint32_t metadata, sequence, cpu, stack, labels, payload_size;
    const uint8_t *activity, *related; /* 16 bytes; NULL = none */
    const uint8_t *start, *payload, *next;
    uint8_t flags;
};

/* A number of up to `most` bytes; NULL where it has more. */
const uint8_t *nettrace_varint_long(const uint8_t *p, unsigned most, uint64_t *value);

static NETTRACE_INLINE const uint8_t *nettrace_varint32(const uint8_t *p, uint32_t *value)
{
    if (NETTRACE_LIKELY(*p < 0x80)) {
        *value = *p;
        return p + 1;
    }
    if (NETTRACE_LIKELY(p[1] < 0x80)) {
        *value = (*p & 0x7fu) | (uint32_t)p[1] << 7;
        return p + 2;
    }
    uint64_t x = 0;
    p = nettrace_varint_long(p, 5, &x);
    *value = (uint32_t)x;
    return p;
}

/* Without a branch by length up to four bytes, which can be loaded: lengths of times differ from
 * event to event. */
static NETTRACE_INLINE const uint8_t *nettrace_varint64(const uint8_t *p, uint64_t *value)
{
    uint32_t x = load_u32le(p), ends = ~x & UINT32_C(0x80808080);
    if (NETTRACE_UNLIKELY(!ends)) {
        uint64_t large = 0;
        p = nettrace_varint_long(p, 10, &large);
        *value = large;
        return p;
    }
    unsigned bit = (unsigned)__builtin_ctz(ends);
    x &= (ends ^ (ends - 1)) & UINT32_C(0x7f7f7f7f);
    x = (x & UINT32_C(0x007f007f)) | (x & UINT32_C(0x7f007f00)) >> 1;
    *value = (x & 0x3fff) | x >> 16 << 14;
    return p + (bit >> 3) + 1;
}

static inline const uint8_t *nettrace_guid(const uint8_t *p)
{
    return load_u64le(p) | load_u64le(p + 8) ? p : NULL;
}

/* The parts of a compressed header behind its flags; gives the place of the payload, NULL where a
 * number has no end.  `is_usual`: no thread is told.  NETTRACE_HEADER_MAX bytes can be read.
 * "sequence" is as in the files, not as in the text: a delta also counts the event itself, always.
 */
static NETTRACE_INLINE const uint8_t *nettrace_parts(struct nettrace_header *h, const uint8_t *p,
                                                     bool is_usual, bool is_v6)
{
    uint64_t delta;
    uint32_t skipped;
    if (h->flags & NETTRACE_HAS_METADATA && !(p = nettrace_varint32(p, &h->metadata)))
        return NULL;
    if (!is_usual && h->flags & NETTRACE_HAS_CAPTURE) {
        if (!(p = nettrace_varint32(p, &skipped)) || !(p = nettrace_varint64(p, &h->capture)) ||
            !(p = nettrace_varint32(p, &h->cpu)))
            return NULL;
        h->sequence += skipped + 1;
    } else {
        h->sequence += h->metadata != 0;
    }
    if (!is_usual && h->flags & NETTRACE_HAS_THREAD && !(p = nettrace_varint64(p, &h->thread)))
        return NULL;
    if (h->flags & NETTRACE_HAS_STACK && !(p = nettrace_varint32(p, &h->stack)))
        return NULL;
    if (!(p = nettrace_varint64(p, &delta)))
        return NULL;
    h->ticks += delta;
    if (is_v6 && h->flags & NETTRACE_HAS_ACTIVITY && !(p = nettrace_varint32(p, &h->labels)))
        return NULL;
    if (!is_v6 && h->flags & NETTRACE_HAS_ACTIVITY) {
        h->activity = nettrace_guid(p);
        p += 16;
    }
    if (!is_v6 && h->flags & NETTRACE_HAS_RELATED) {
        h->related = nettrace_guid(p);
        p += 16;
    }
    if (h->flags & NETTRACE_HAS_SIZE && !(p = nettrace_varint32(p, &h->payload_size)))
        return NULL;
    return p;
}

/* Events one behind another. */
struct nettrace_span {
    const uint8_t *origin, *end; /* origin: from where the file's alignment may be counted */
    const uint8_t *calm;         /* compressed headers up to here are whole; NULL: no such */
    uint8_t codec;
};

static inline struct nettrace_span nettrace_span_over(const uint8_t *origin, const uint8_t *end,
                                                      enum nettrace_codec codec)
{
    bool is_calm = codec == CODEC_COMPRESSED && (size_t)(end - origin) >= NETTRACE_HEADER_MAX;
    return (struct nettrace_span){origin, end, is_calm ? end - NETTRACE_HEADER_MAX : NULL,
                                  (uint8_t)codec};
}

/* nettrace_header_next for all headers but usual ones. */
bool nettrace_header_rare(struct nettrace_header *h, const struct nettrace_span *span, bool is_v6);

/* Decodes the event that begins at h->next, `h` being what the one before it left; false where it
 * is not whole or not good. */
static NETTRACE_INLINE bool nettrace_header_next(struct nettrace_header *h,
                                                 const struct nettrace_span *span, bool is_v6)
{
    h->start = h->next;
    if (NETTRACE_UNLIKELY(h->start > span->calm) ||
        NETTRACE_UNLIKELY(*h->start & (NETTRACE_HAS_CAPTURE | NETTRACE_HAS_THREAD))) {
        struct nettrace_header copy = *h; /* so that `h` can be in registers */
        bool is_good = nettrace_header_rare(&copy, span, is_v6);
        *h = copy;
        return is_good;
    }
    h->flags = *h->start;
    h->payload = nettrace_parts(h, h->start + 1, true, is_v6);
    if (NETTRACE_UNLIKELY(!h->payload || h->payload_size > (size_t)(span->end - h->payload)))
        return false;
    h->next = h->payload + h->payload_size;
    return true;
}

/* Read a number of seven bits a byte, and a text with its length before it.  c->failed is set if
 * they are cut. */
uint64_t nettrace_take_varint(struct cursor *c);
ttr_text nettrace_take_string(struct cursor *c);

#endif
