/* Headers of events, in all their encodings: one step from an event to the next.
 *
 * Every step is checked against the end of the block, also where bytes were looked at before.  A compressed header has at most 88 bytes; where
 * fewer are left it is decoded from a copy with zeros behind it, so that the usual step needs one comparison for all its parts.
 * Pointers lie in the window. */
#ifndef TRACETTA_NETTRACE_HEADER_H
#define TRACETTA_NETTRACE_HEADER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/endian.h"
#include "formats/nettrace/nettrace_format.h"

#define NETTRACE_LIKELY(x) __builtin_expect(!!(x), 1)
#define NETTRACE_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define NETTRACE_INLINE inline __attribute__((always_inline))

#define NETTRACE_HEADER_MAX 104u /* and some, for loads of eight bytes */

enum nettrace_codec {
    CODEC_COMPRESSED, /* V4 to V6 */
    CODEC_PLAIN,      /* V4, V5 */
    CODEC_PLAIN_V6,
    CODEC_OLD,        /* V3: padded to 4 bytes behind its stack */
    CODEC_OLDEST      /* V1, V2: not padded */
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
static inline const uint8_t *nettrace_varint_long(const uint8_t *p, unsigned most, uint64_t *value)
{
    uint64_t x = 0;
    for (unsigned i = 0; i < most; i++) {
        x |= (uint64_t)(p[i] & 0x7f) << 7 * i;
        if (p[i] < 0x80) {
            *value = x;
            return p + i + 1;
        }
    }
    return NULL;
}

static NETTRACE_INLINE const uint8_t *nettrace_varint32(const uint8_t *p, uint32_t *value)
{
    if (NETTRACE_LIKELY(*p < 0x80)) {
        *value = *p;
        return p + 1;
    }
    uint64_t x = 0;
    p = nettrace_varint_long(p, 5, &x);
    *value = (uint32_t)x;
    return p;
}

/* Eight bytes can be loaded from p.  Without a branch by length: lengths of times differ from event to event. */
static NETTRACE_INLINE const uint8_t *nettrace_varint64(const uint8_t *p, uint64_t *value)
{
    uint64_t x = load_u64le(p), ends = ~x & UINT64_C(0x8080808080808080);
    if (NETTRACE_UNLIKELY(!ends))
        return nettrace_varint_long(p, 10, value);
    unsigned bit = (unsigned)__builtin_ctzll(ends);
    x &= ends ^ (ends - 1);
    x &= UINT64_C(0x7f7f7f7f7f7f7f7f);
    x = (x & UINT64_C(0x007f007f007f007f)) | (x & UINT64_C(0x7f007f007f007f00)) >> 1;
    x = (x & UINT64_C(0x00003fff00003fff)) | (x & UINT64_C(0x3fff00003fff0000)) >> 2;
    x = (x & UINT64_C(0x000000000fffffff)) | (x & UINT64_C(0x0fffffff00000000)) >> 4;
    *value = x;
    return p + (bit >> 3) + 1;
}

static inline const uint8_t *nettrace_guid(const uint8_t *p)
{
    return load_u64le(p) | load_u64le(p + 8) ? p : NULL;
}

/* The parts of a compressed header behind its flags; gives the place of the payload, NULL where a number has no end.
 * NETTRACE_HEADER_MAX bytes can be read.  "sequence" is as in the files, not as in the text: a delta also counts the event itself, always. */
static NETTRACE_INLINE const uint8_t *nettrace_parts(struct nettrace_header *h, const uint8_t *p, bool is_v6)
{
    uint64_t delta;
    uint32_t skipped;
    if (h->flags & NETTRACE_HAS_METADATA && !(p = nettrace_varint32(p, &h->metadata)))
        return NULL;
    if (h->flags & NETTRACE_HAS_CAPTURE) {
        if (!(p = nettrace_varint32(p, &skipped)) || !(p = nettrace_varint64(p, &h->capture)) || !(p = nettrace_varint32(p, &h->cpu)))
            return NULL;
        h->sequence += skipped + 1;
    } else {
        h->sequence += h->metadata != 0;
    }
    if (h->flags & NETTRACE_HAS_THREAD && !(p = nettrace_varint64(p, &h->thread)))
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

/* The rare versions of a step; see nettrace_header_next.  `origin` is where the file's alignment may be counted from. */
bool nettrace_header_near_end(struct nettrace_header *h, const uint8_t *end, bool is_v6);
bool nettrace_header_plain(struct nettrace_header *h, const uint8_t *origin, const uint8_t *end, enum nettrace_codec codec);

/* Decodes the event that begins at h->next, `h` being what the one before it left; false where it is not whole or not good.  `origin` is where
 * the file's alignment may be counted from. */
static NETTRACE_INLINE bool nettrace_header_next(struct nettrace_header *h, const uint8_t *origin, const uint8_t *end, enum nettrace_codec codec,
                                                 bool is_v6)
{
    h->start = h->next;
    if (NETTRACE_UNLIKELY(codec != CODEC_COMPRESSED))
        return nettrace_header_plain(h, origin, end, codec);
    if (NETTRACE_UNLIKELY((size_t)(end - h->start) < NETTRACE_HEADER_MAX))
        return nettrace_header_near_end(h, end, is_v6);
    h->flags = *h->start;
    h->payload = nettrace_parts(h, h->start + 1, is_v6);
    if (NETTRACE_UNLIKELY(!h->payload || h->payload_size > (size_t)(end - h->payload)))
        return false;
    h->next = h->payload + h->payload_size;
    return true;
}

#endif
