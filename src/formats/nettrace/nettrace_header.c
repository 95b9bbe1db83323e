/* Slow paths of the header decoder: headers that name another thread, headers at the end of a
 * block, and uncompressed headers. */
#include "formats/nettrace/nettrace_header.h"

const uint8_t *nettrace_decode_long_varint(const uint8_t *p, unsigned most, uint64_t *value)
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

/* Converts a pointer into the zero-padded copy of a header to a pointer into the block. */
static const uint8_t *convert_to_block_pointer(const struct nettrace_header *h, const uint8_t *copy,
                                               const uint8_t *p)
{
    return h->start + (p - copy);
}

/* Decodes a header near the end of a block from a copy that is padded with zeros, because loads
 * read past its end. */
static bool decode_header_near_end(struct nettrace_header *h, const uint8_t *end, bool is_v6)
{
    uint8_t copy[NETTRACE_HEADER_MAX] = {0};
    size_t left = (size_t)(end - h->start);
    if (left == 0)
        return false;
    memcpy(copy, h->start, left);
    const uint8_t *activity = h->activity, *related = h->related;
    h->flags = copy[0];
    const uint8_t *payload = nettrace_decode_parts(h, copy + 1, false, is_v6);
    bool is_whole = payload && (size_t)(payload - copy) <= left;
    /* pointers into `copy`, which is on the stack, must not be returned */
    h->activity = h->activity == activity   ? activity
                  : h->activity && is_whole ? convert_to_block_pointer(h, copy, h->activity)
                                            : NULL;
    h->related = h->related == related    ? related
                 : h->related && is_whole ? convert_to_block_pointer(h, copy, h->related)
                                          : NULL;
    h->payload = is_whole ? convert_to_block_pointer(h, copy, payload) : NULL;
    return is_whole;
}

static bool decode_compressed(struct nettrace_header *h, const uint8_t *end, bool is_v6)
{
    if ((size_t)(end - h->start) < NETTRACE_HEADER_MAX) {
        if (!decode_header_near_end(h, end, is_v6))
            return false;
    } else {
        h->flags = *h->start;
        h->payload = nettrace_decode_parts(h, h->start + 1, false, is_v6);
    }
    if (!h->payload || h->payload_size > (size_t)(end - h->payload))
        return false;
    h->next = h->payload + h->payload_size;
    return true;
}

/* Returns the first position from `p` on that is a multiple of 4 bytes from `origin`; `end` if the
 * padding is missing at the end of a block. */
static const uint8_t *skip_padding(const uint8_t *p, const uint8_t *origin, const uint8_t *end)
{
    size_t skip = (0 - (size_t)(p - origin)) & 3, left = (size_t)(end - p);
    return p + (skip < left ? skip : left);
}

/* Event of V1 to V3:
 *   | [0] size of the following bytes | [4] metadata | [8] thread | [12] ticks | [20] activity
 *   | [36] related | [52] payload size | payload | u32 bytes of the stack | stack */
static bool decode_uncompressed(struct nettrace_header *h, const uint8_t *origin,
                                const uint8_t *end, bool is_padded)
{
    enum { HEAD = 56, SIZE = 4 };
    const uint8_t *p = h->start;
    size_t left = (size_t)(end - p);
    if (left < HEAD + SIZE)
        return false;
    uint32_t size = load_u32le(p);
    if (size > left - SIZE || size < HEAD)
        return false;
    const uint8_t *event_end = p + SIZE + size;
    h->metadata = load_u32le(p + 4);
    h->thread = load_u32le(p + 8);
    h->ticks = load_u64le(p + 12);
    h->activity = nettrace_get_guid_or_null(p + 20);
    h->related = nettrace_get_guid_or_null(p + 36);
    h->payload_size = load_u32le(p + 52);
    h->payload = p + HEAD;
    size_t room = (size_t)(event_end - h->payload) - SIZE;
    if (h->payload_size > room)
        return false;
    uint32_t stack = load_u32le(h->payload + h->payload_size);
    if (stack > room - h->payload_size || room - h->payload_size - stack > 3 ||
        (!is_padded && room - h->payload_size != stack))
        return false;
    h->stack = stack > 0;
    h->flags =
        NETTRACE_IS_SORTED | NETTRACE_HAS_CAPTURE | NETTRACE_HAS_THREAD | NETTRACE_HAS_METADATA;
    h->capture = h->thread;
    h->cpu = UINT32_MAX;
    h->next = is_padded ? skip_padding(event_end, origin, end) : event_end;
    return true;
}

/* Returns true if the sizes in an uncompressed event header at `p` are consistent. */
static bool is_plain_event_at(const uint8_t *p, const uint8_t *end)
{
    enum { HEAD = 80, PADDING_MAX = 3 };
    size_t left = (size_t)(end - p);
    if (left < HEAD)
        return false;
    uint32_t size = load_u32le(p), payload = load_u32le(p + HEAD - 4);
    return size <= left - 4 && size >= HEAD - 4 && payload <= size - (HEAD - 4) &&
           size - (HEAD - 4) - payload <= PADDING_MAX;
}

/* Returns the start of the next uncompressed event. By the specification and the runtime's writer,
 * padding precedes it; the runtime's reader expects none. This reader accepts both
 * (NET-PLAIN-2). */
static const uint8_t *find_next_plain_event(const uint8_t *p, const uint8_t *origin,
                                            const uint8_t *end)
{
    return is_plain_event_at(p, end) ? p : skip_padding(p, origin, end);
}

static bool decode_plain_header(struct nettrace_header *h, const uint8_t *origin,
                                const uint8_t *end, enum nettrace_codec codec)
{
    const uint8_t *p = h->start;
    size_t head = codec == CODEC_PLAIN ? 80 : 52, left = (size_t)(end - p);
    if (left < head)
        return false;
    uint32_t size = load_u32le(p), metadata = load_u32le(p + 4);
    h->metadata = metadata & INT32_MAX;
    /* the bit is set if the event is not sorted; the specification states the opposite, but all
     * programs agree (NET-PLAIN-1) */
    h->flags = metadata >> 31 ? 0 : NETTRACE_IS_SORTED;
    h->sequence = load_u32le(p + 8);
    h->thread = load_u64le(p + 12);
    h->capture = load_u64le(p + 20);
    h->cpu = load_u32le(p + 28);
    h->stack = load_u32le(p + 32);
    h->ticks = load_u64le(p + 36);
    h->labels = codec == CODEC_PLAIN ? 0 : load_u32le(p + 44);
    h->activity = codec == CODEC_PLAIN ? nettrace_get_guid_or_null(p + 44) : NULL;
    h->related = codec == CODEC_PLAIN ? nettrace_get_guid_or_null(p + 60) : NULL;
    h->payload_size = load_u32le(p + head - 4);
    h->payload = p + head;
    if (size > left - 4 || size < head - 4 || h->payload_size > size - (head - 4))
        return false;
    h->next =
        codec == CODEC_PLAIN ? find_next_plain_event(p + 4 + size, origin, end) : p + 4 + size;
    h->flags |= NETTRACE_HAS_CAPTURE | NETTRACE_HAS_THREAD | NETTRACE_HAS_METADATA;
    return true;
}

bool nettrace_decode_header_slow(struct nettrace_header *h,
                                 const struct nettrace_header_range *span, bool is_v6)
{
    enum nettrace_codec codec = (enum nettrace_codec)span->codec;
    switch (codec) {
    case CODEC_COMPRESSED:
        return decode_compressed(h, span->end, is_v6);
    case CODEC_OLD:
    case CODEC_OLDEST:
        return decode_uncompressed(h, span->origin, span->end, codec == CODEC_OLD);
    default:
        return decode_plain_header(h, span->origin, span->end, codec);
    }
}

uint64_t nettrace_read_varint(struct cursor *c)
{
    uint64_t x = 0;
    for (unsigned i = 0; i < 10; i++) {
        uint8_t byte = cursor_u8(c);
        x |= (uint64_t)(byte & 0x7f) << 7 * i;
        if (byte < 0x80)
            return x;
    }
    c->failed = true;
    return 0;
}

ttr_text nettrace_read_string(struct cursor *c)
{
    uint64_t n = nettrace_read_varint(c);
    const uint8_t *p = c->failed ? NULL : cursor_read_bytes(c, n);
    return (ttr_text){p ? (const char *)p : "", p ? (size_t)n : 0};
}
