/* Recognition of formats. */
#include "network/recognise.h"

#include <string.h>

#include "formats/open.h"
#include "formats/table.h"
#include "network/file_frame.h"

#define PEEK_PADDING 64u /* zero bytes after the input, which format bids may read */
/* minimum number of bytes before formats bid, unless the stream has ended */
#define RECOGNISE_MIN 64u

/* Returns the format that a frame names. */
static const struct format *recognise_frame(const uint8_t *bytes, size_t n, uint64_t packet_max)
{
    char name[FILE_FRAME_FORMAT_MAX + 1] = {0};
    if (n < FILE_FRAME_HEADER || file_frame_transfer.get_size(bytes, packet_max) == 0)
        return NULL;
    memcpy(name, bytes + FILE_FRAME_FORMAT_AT, FILE_FRAME_FORMAT_MAX);
    const struct format *format = format_find(name);
    return format && format->folder && format->folder->packet_tag ? format : NULL;
}

const struct format *recognise_packets(const uint8_t *bytes, size_t n, uint64_t packet_max,
                                       const struct format_transfer **transfer)
{
    const struct format *framed = recognise_frame(bytes, n, packet_max);
    *transfer = framed ? &file_frame_transfer : NULL;
    for (size_t i = 0; !framed && format_at(i); i++) {
        const struct format_transfer *packets = format_at(i)->transfer;
        *transfer = packets;
        if (packets && packets->allows_datagrams && n >= packets->frame_size &&
            packets->get_size(bytes, packet_max) > 0)
            return format_at(i);
    }
    return framed;
}

const struct format *recognise_format(struct packet_framer *framer, const char *name,
                                      const struct format_transfer **transfer)
{
    const struct buffer *buffer = &framer->buffer;
    const struct format *best = NULL;
    unsigned most = 0;
    if (buffer->n == 0 || (buffer->n < RECOGNISE_MIN && !framer->is_ended))
        return NULL;
    const struct format *framed = recognise_frame(buffer->bytes, buffer->n, framer->packet_max);
    *transfer = framed ? &file_frame_transfer : NULL;
    if (framed)
        return framed;
    uint8_t *padding = packet_framer_room(framer, PEEK_PADDING);
    if (!padding)
        return NULL;
    memset(padding, 0, PEEK_PADDING);
    const struct peek peek = {.bytes = buffer->bytes,
                              .n = buffer->n < RECOGNISE_MAX ? buffer->n : RECOGNISE_MAX,
                              .is_whole = framer->is_ended,
                              .path = name};
    for (size_t i = 0; format_at(i); i++) {
        const struct format *format = format_at(i);
        unsigned bid = format->reader && format->reader->bid ? format->reader->bid(&peek) : 0;
        if (bid > most)
            best = format;
        most = bid > most ? bid : most;
    }
    *transfer = best ? best->transfer : NULL;
    return best;
}
