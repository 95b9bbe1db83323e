/* Decoder of event headers in all encodings; advances from one event to the next.
 *
 * Each step is checked against the end of the block. A compressed header has at most 88 bytes. If
 * at least NETTRACE_HEADER_MAX bytes follow, one comparison checks all its members; else the header
 * is decoded from a zero-padded copy (nettrace_header.c). Decoded pointers point into the block.
 *
 *   struct nettrace_header h = {.next = first event};    other members are 0
 *   while (h.next < end && nettrace_decode_header(&h, &range, is_v6))
 *       use h;
 *   h.next < end after the loop: h.start is a bad header
 */
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

#define NETTRACE_HAS_ANY_THREAD (NETTRACE_HAS_CAPTURE | NETTRACE_HAS_THREAD)

/* bytes of the longest header, and padding for loads of 8 bytes */
#define NETTRACE_HEADER_MAX 104u

enum nettrace_codec {
    CODEC_COMPRESSED, /* compressed headers of V4 to V6 */
    CODEC_PLAIN,      /* uncompressed headers of V4 and V5 */
    CODEC_PLAIN_V6,
    CODEC_OLD,   /* headers of V3; padding to 4 bytes follows the stack */
    CODEC_OLDEST /* headers of V1 and V2; no padding */
};

/* Decoded header of an event, and where the event is. Before the first event of a block, all
 * members but `next` are zero. */
struct nettrace_header {
    uint64_t ticks, thread, capture;
    uint32_t metadata, sequence, cpu, stack, labels, payload_size;
    const uint8_t *activity, *related; /* ids of 16 bytes; NULL if absent */
    const uint8_t *start, *payload, *next;
    uint8_t flags;
};

/* Decodes a varint of up to `most` bytes. Returns its end; NULL if it is longer. */
const uint8_t *nettrace_decode_long_varint(const uint8_t *p, unsigned most, uint64_t *value);

static NETTRACE_INLINE const uint8_t *nettrace_decode_varint32(const uint8_t *p, uint32_t *value)
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
    p = nettrace_decode_long_varint(p, 5, &x);
    *value = (uint32_t)x;
    return p;
}

/* Decodes a varint. For up to four bytes without a branch, which would be mispredicted, because
 * the length of time deltas varies. */
static NETTRACE_INLINE const uint8_t *nettrace_decode_varint64(const uint8_t *p, uint64_t *value)
{
    uint32_t x = load_u32le(p), ends = ~x & UINT32_C(0x80808080);
    if (NETTRACE_UNLIKELY(!ends)) {
        uint64_t large = 0;
        p = nettrace_decode_long_varint(p, 10, &large);
        *value = large;
        return p;
    }
    unsigned bit = (unsigned)__builtin_ctz(ends);
    x &= (ends ^ (ends - 1)) & UINT32_C(0x7f7f7f7f);
    x = (x & UINT32_C(0x007f007f)) | (x & UINT32_C(0x7f007f00)) >> 1;
    *value = (x & 0x3fff) | x >> 16 << 14;
    return p + (bit >> 3) + 1;
}

static inline const uint8_t *nettrace_get_guid_or_null(const uint8_t *p)
{
    return load_u64le(p) | load_u64le(p + 8) ? p : NULL;
}

/* Decodes the members after the flags of a compressed header. Returns the position of the payload;
 * NULL if a varint is too long. is_usual: the header does not name a thread. NETTRACE_HEADER_MAX
 * bytes must be readable.
 *
 * Unlike in the specification, the sequence delta of real files includes the event itself
 * (NET-SEQ-1). */
static NETTRACE_INLINE const uint8_t *nettrace_decode_parts(struct nettrace_header *h,
                                                            const uint8_t *p, bool is_usual,
                                                            bool is_v6)
{
    uint64_t delta;
    uint32_t skipped;
    if (h->flags & NETTRACE_HAS_METADATA && !(p = nettrace_decode_varint32(p, &h->metadata)))
        return NULL;
    if (!is_usual && h->flags & NETTRACE_HAS_CAPTURE) {
        if (!(p = nettrace_decode_varint32(p, &skipped)) ||
            !(p = nettrace_decode_varint64(p, &h->capture)) ||
            !(p = nettrace_decode_varint32(p, &h->cpu)))
            return NULL;
        h->sequence += skipped + 1;
    } else {
        h->sequence += h->metadata != 0;
    }
    if (!is_usual && h->flags & NETTRACE_HAS_THREAD &&
        !(p = nettrace_decode_varint64(p, &h->thread)))
        return NULL;
    if (h->flags & NETTRACE_HAS_STACK && !(p = nettrace_decode_varint32(p, &h->stack)))
        return NULL;
    if (!(p = nettrace_decode_varint64(p, &delta)))
        return NULL;
    h->ticks += delta;
    if (is_v6 && h->flags & NETTRACE_HAS_ACTIVITY && !(p = nettrace_decode_varint32(p, &h->labels)))
        return NULL;
    if (!is_v6 && h->flags & NETTRACE_HAS_ACTIVITY) {
        h->activity = nettrace_get_guid_or_null(p);
        p += 16;
    }
    if (!is_v6 && h->flags & NETTRACE_HAS_RELATED) {
        h->related = nettrace_get_guid_or_null(p);
        p += 16;
    }
    if (h->flags & NETTRACE_HAS_SIZE && !(p = nettrace_decode_varint32(p, &h->payload_size)))
        return NULL;
    return p;
}

/* Bytes of consecutive events, and the encoding of their headers. */
struct nettrace_header_range {
    /* origin: start of the file or block, from which padding counts */
    const uint8_t *origin, *end;
    /* headers that start up to here can be decoded in place; NULL if none can */
    const uint8_t *safe_end;
    uint8_t codec;
};

static inline struct nettrace_header_range nettrace_make_header_range(const uint8_t *origin,
                                                                      const uint8_t *end,
                                                                      enum nettrace_codec codec)
{
    bool is_calm = codec == CODEC_COMPRESSED && (size_t)(end - origin) >= NETTRACE_HEADER_MAX;
    return (struct nettrace_header_range){origin, end, is_calm ? end - NETTRACE_HEADER_MAX : NULL,
                                          (uint8_t)codec};
}

/* Slow path of nettrace_decode_header(): for uncompressed headers, and headers that name a thread
 * or are near the end of the block. */
bool nettrace_decode_header_slow(struct nettrace_header *h,
                                 const struct nettrace_header_range *span, bool is_v6);

/* Decodes the event at h->next. Before the call, `h` is the previous event. Returns false if the
 * header is cut off or invalid; h->start is then its position. */
static NETTRACE_INLINE bool nettrace_decode_header(struct nettrace_header *h,
                                                   const struct nettrace_header_range *span,
                                                   bool is_v6)
{
    h->start = h->next;
    if (NETTRACE_UNLIKELY(h->start > span->safe_end) ||
        NETTRACE_UNLIKELY(*h->start & (NETTRACE_HAS_CAPTURE | NETTRACE_HAS_THREAD))) {
        /* local copy, so that the compiler can keep it in registers */
        struct nettrace_header copy = *h;
        bool is_good = nettrace_decode_header_slow(&copy, span, is_v6);
        *h = copy;
        return is_good;
    }
    h->flags = *h->start;
    h->payload = nettrace_decode_parts(h, h->start + 1, true, is_v6);
    if (NETTRACE_UNLIKELY(!h->payload || h->payload_size > (size_t)(span->end - h->payload)))
        return false;
    h->next = h->payload + h->payload_size;
    return true;
}

/* nettrace_read_varint() parses a varint, nettrace_read_string() a string: its length as a varint,
 * then UTF-8. Both set c->failed if the bytes are truncated. */
uint64_t nettrace_read_varint(struct cursor *c);
ttr_text nettrace_read_string(struct cursor *c);

#endif
