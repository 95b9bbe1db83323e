/* Pieces of the input as they stand there, for copies: given as definitions before their events,
 * which come in order of time.
 *
 * The events themselves stay what they are without pieces.  A copy keeps a piece until the `link`
 * of one behind it says that all its events were given, and knows by their offsets which of them
 * reached it (nettrace_copy.c). */
#include "base/status.h"
#include "formats/nettrace/nettrace.h"

#define REST_BYTES 65536u

bool nettrace_pieces_begin(struct nettrace_reader *reader)
{
    reader->gives_pieces = (reader->in->flags & TTR_READ_DEFINITIONS) != 0;
    if (!reader->gives_pieces)
        return true;
    reader->keep = 0;
    reader->piece_schema = context_add_schema(
        reader->t, &(struct schema){.own = reader, .format = reader->in->format});
    return reader->piece_schema != 0;
}

void nettrace_piece_add(struct nettrace_reader *reader, const struct nettrace_piece *piece)
{
    if (reader->gives_pieces && piece->size > 0 && reader->pieces_n < NETTRACE_PIECES_MAX)
        reader->pieces[reader->pieces_n++] = *piece;
}

void nettrace_pieces_give(struct nettrace_reader *reader)
{
    struct input *in = reader->in;
    for (uint32_t i = 0; i < reader->pieces_n; i++) {
        const struct nettrace_piece *piece = &reader->pieces[i];
        ttr_event *event = input_event(in);
        event->kind = TTR_KIND_DEFINITION;
        event->flags = TTR_EVENT_RAW | TTR_EVENT_NO_TIME | (piece->is_part ? TTR_EVENT_PARTIAL : 0);
        event->ticks = reader->order.given;
        event->schema = reader->piece_schema;
        event->payload = in->window.bytes + (piece->offset - in->window.offset);
        event->payload_size = piece->size;
        event->body = piece->body;
        event->tag = piece->kind;
        event->sequence = piece->events;
        event->link = reader->order.hold;
        event->offset = piece->offset;
    }
    reader->pieces_n = 0;
}

ttr_status nettrace_pieces_rest(struct nettrace_reader *reader)
{
    struct nettrace_bytes bytes;
    if (!reader->gives_pieces || !reader->has_end)
        return TTR_END;
    reader->keep = reader->at;
    ttr_status status = nettrace_show(reader, reader->at, REST_BYTES, &bytes);
    if (status != TTR_OK)
        return status;
    uint32_t n = bytes.n < REST_BYTES ? (uint32_t)bytes.n : REST_BYTES;
    nettrace_piece_add(reader, &(struct nettrace_piece){
                                   .offset = reader->at, .size = n, .kind = NETTRACE_PIECE_REST});
    reader->at += n;
    return n ? TTR_OK : TTR_END;
}
