/* Recognition of the format of a byte stream. */
#include "network/recognise.h"

#include <string.h>

#include "formats/table.h"

#define PEEK_PADDING 64u  /* zeros after the bytes, which bids may read */
#define RECOGNISE_MIN 64u /* bytes that are awaited */

const struct format *recognise_format(struct packet_framer *framer, const char *name)
{
    const struct buffer *buffer = &framer->buffer;
    const struct format *best = NULL;
    unsigned most = 0;
    if (buffer->n == 0 || (buffer->n < RECOGNISE_MIN && !framer->is_ended))
        return NULL;
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
    return best;
}
