/* Framing of byte streams.
 *
 * In step with the stream, a packet's size determines where the next one starts. A packet with
 * invalid content is kept if another packet follows it, or skipped if the format has a checksum.
 * Else the framer is lost: it skips bytes up to a packet with valid content that another packet or
 * the end of the stream follows, because a magic number alone may be part of a string. It waits for
 * a candidate to be complete, which needs at most packet_max bytes.
 *
 * Cost: while lost, candidates are examined at most once. Nested candidates could make this
 * quadratic, so the work is limited in proportion to the bytes received. */
#include "network/packet_framer.h"

#define WORK_PER_BYTE 16u
#define WORK_START (UINT64_C(4) << 20)

void packet_framer_init(struct packet_framer *framer, const struct alloc *alloc,
                        const struct format_transfer *format, uint64_t packet_max)
{
    *framer = (struct packet_framer){.format = format, .packet_max = packet_max};
    buffer_init(&framer->buffer, alloc);
}

void packet_framer_free(struct packet_framer *framer)
{
    buffer_free(&framer->buffer);
}

uint8_t *packet_framer_room(struct packet_framer *framer, size_t n)
{
    struct buffer *buffer = &framer->buffer;
    if (framer->at) {
        memmove(buffer->bytes, buffer->bytes + framer->at, buffer->n - framer->at);
        buffer->n -= framer->at;
        framer->at = 0;
    }
    return buffer_room(buffer, n);
}

void packet_framer_commit(struct packet_framer *framer, size_t n)
{
    buffer_commit(&framer->buffer, n);
    framer->received += n;
}

/* Returns the size of the packet at offset `at` of the buffer; 0 if none starts there. *is_short is
 * set if more bytes are needed. */
static uint64_t get_packet_size(const struct packet_framer *framer, size_t at, bool *is_short)
{
    size_t left = framer->buffer.n - at;
    *is_short = left < framer->format->frame_size;
    return *is_short ? 0 : framer->format->get_size(framer->buffer.bytes + at, framer->packet_max);
}

static enum framer_result emit_packet(struct packet_framer *framer, size_t n,
                                      struct framed_packet *packet)
{
    packet->bytes = framer->buffer.bytes + framer->at;
    packet->n = n;
    framer->at += n;
    framer->checked = 0;
    framer->is_lost = false;
    return FRAMER_PACKET;
}

/* Returns true if a packet starts after the `size` bytes at offset `at`, or the stream ends there.
 * *is_short as in get_packet_size. */
static bool is_followed_by_packet(const struct packet_framer *framer, size_t at, uint64_t size,
                                  bool *is_short)
{
    size_t end = at + (size_t)size;
    bool has_next = get_packet_size(framer, end, is_short) > 0;
    if (!*is_short || !framer->is_ended)
        return has_next;
    *is_short = false;
    return end == framer->buffer.n;
}

/* Examines the byte at framer->at + framer->checked. Returns FRAMER_PACKET if a packet starts
 * there.
 */
static enum framer_result examine_candidate(struct packet_framer *framer,
                                            struct packet_facts *facts, uint64_t *size)
{
    size_t at = framer->at + framer->checked;
    bool is_short;
    *size = get_packet_size(framer, at, &is_short);
    if (is_short && !framer->is_ended)
        return FRAMER_NEEDS_MORE;
    if (*size > framer->buffer.n - at) {
        if (!framer->is_ended)
            return FRAMER_NEEDS_MORE;
        *size = 0;
    }
    if (*size == 0 || (!is_followed_by_packet(framer, at, *size, &is_short) && !is_short)) {
        framer->checked++;
        return FRAMER_HOSTILE;
    }
    if (is_short)
        return FRAMER_NEEDS_MORE;
    framer->work += *size;
    if (framer->format->parse(framer->buffer.bytes + at, (size_t)*size, facts))
        return FRAMER_PACKET;
    framer->checked++;
    return FRAMER_HOSTILE;
}

/* Searches for the next packet. The bytes before it are garbage. */
static enum framer_result search_packet(struct packet_framer *framer, struct framed_packet *packet)
{
    uint64_t size = 0;
    enum framer_result result = FRAMER_HOSTILE;
    while (result == FRAMER_HOSTILE && framer->at + framer->checked < framer->buffer.n) {
        if (framer->work > WORK_START + framer->received * WORK_PER_BYTE)
            return FRAMER_HOSTILE;
        result = examine_candidate(framer, &packet->facts, &size);
    }
    framer->garbage += framer->checked;
    framer->at += framer->checked;
    framer->checked = 0;
    return result == FRAMER_PACKET ? emit_packet(framer, (size_t)size, packet) : FRAMER_NEEDS_MORE;
}

/* Examines the packet at framer->at while in step. Returns FRAMER_HOSTILE if none starts there.
 * Sets *skip to its size if it is invalid and another packet follows it. */
static enum framer_result examine_next(struct packet_framer *framer, struct framed_packet *packet,
                                       uint64_t *skip)
{
    bool is_short;
    packet->facts = (struct packet_facts){0};
    uint64_t size = get_packet_size(framer, framer->at, &is_short);
    if (is_short && !framer->is_ended)
        return FRAMER_NEEDS_MORE;
    if (size > framer->buffer.n - framer->at && !framer->is_ended)
        return FRAMER_NEEDS_MORE;
    if (size > 0 && size <= framer->buffer.n - framer->at) {
        const uint8_t *bytes = framer->buffer.bytes + framer->at;
        if (framer->format->parse(bytes, (size_t)size, &packet->facts))
            return emit_packet(framer, (size_t)size, packet);
        const bool is_in_step = is_followed_by_packet(framer, framer->at, size, &is_short);
        if (is_in_step && !framer->format->has_checksum)
            return emit_packet(framer, (size_t)size, packet);
        if (is_short)
            return FRAMER_NEEDS_MORE;
        *skip = is_in_step ? size : 0;
    }
    return framer->at == framer->buffer.n ? FRAMER_NEEDS_MORE : FRAMER_HOSTILE;
}

enum framer_result packet_framer_next(struct packet_framer *framer, struct framed_packet *packet)
{
    while (!framer->is_lost) {
        uint64_t skip = 0;
        enum framer_result result = examine_next(framer, packet, &skip);
        if (result != FRAMER_HOSTILE)
            return result;
        framer->garbage += skip;
        framer->at += (size_t)skip;
        framer->is_lost = skip == 0;
    }
    packet->facts = (struct packet_facts){0};
    return search_packet(framer, packet);
}
