/* Window of the input, and raw pieces of the input for copies. Pieces are emitted as definition
 * events before the events that they contain.
 *
 * Events are the same with and without pieces. A copy holds a piece until the `link` of a later one
 * shows that all its events were emitted, and identifies events by their offsets (nettrace_copy.c).
 */
#include "base/status.h"
#include "formats/nettrace/nettrace.h"

#define REST_BYTES 65536u

bool nettrace_pieces_init(struct nettrace_reader *reader)
{
    reader->emits_pieces = (reader->in->flags & TTR_READ_DEFINITIONS) != 0;
    if (!reader->emits_pieces)
        return true;
    reader->keep_from = 0;
    reader->piece_schema = context_add_schema(
        reader->t, &(struct schema){.ctx = reader, .format = reader->in->format});
    return reader->piece_schema != 0;
}

void nettrace_queue_piece(struct nettrace_reader *reader, const struct nettrace_piece *piece)
{
    if (reader->emits_pieces && piece->size > 0 && reader->pieces_n < NETTRACE_PIECES_MAX)
        reader->pieces[reader->pieces_n++] = *piece;
}

void nettrace_queue_damaged_piece(struct nettrace_reader *reader,
                                  const struct nettrace_piece *piece)
{
    const struct window *window = &reader->in->window;
    struct nettrace_piece damaged = *piece;
    size_t n = reader->segments.n * sizeof *reader->segments.all;
    uint8_t *bytes = reader->emits_pieces ? arena_alloc(&reader->scratch, piece->size + n) : NULL;
    if (bytes) {
        memcpy(bytes, window->bytes + (piece->offset - window->offset), piece->size);
        memcpy(bytes + piece->size, reader->segments.all, n);
        damaged.segments = bytes + piece->size;
        damaged.segments_bytes = (uint32_t)n;
    }
    reader->is_out_of_memory |= reader->emits_pieces && !bytes;
    nettrace_queue_piece(reader, &damaged);
}

void nettrace_emit_pieces(struct nettrace_reader *reader)
{
    struct input *in = reader->in;
    for (uint32_t i = 0; i < reader->pieces_n; i++) {
        const struct nettrace_piece *piece = &reader->pieces[i];
        ttr_event *event = input_add_event(in);
        event->kind = TTR_KIND_DEFINITION;
        event->flags = TTR_EVENT_RAW | TTR_EVENT_NO_TIME | (piece->is_part ? TTR_EVENT_PARTIAL : 0);
        event->ticks = reader->order.emitted;
        event->schema = reader->piece_schema;
        event->payload = piece->segments ? piece->segments - piece->size
                                         : in->window.bytes + (piece->offset - in->window.offset);
        event->payload_size = piece->size + piece->segments_bytes;
        event->duration = piece->segments_bytes;
        event->body = piece->body;
        event->tag = piece->kind;
        event->sequence = piece->events;
        event->link = reader->order.keep_from;
        event->offset = piece->offset;
    }
    reader->pieces_n = 0;
}

ttr_status nettrace_queue_trailing_bytes(struct nettrace_reader *reader)
{
    struct nettrace_bytes bytes;
    if (!reader->emits_pieces || !reader->has_end)
        return TTR_END;
    reader->keep_from = reader->at;
    ttr_status status = nettrace_load_bytes(reader, reader->at, REST_BYTES, &bytes);
    if (status != TTR_OK)
        return status;
    uint32_t n = bytes.n < REST_BYTES ? (uint32_t)bytes.n : REST_BYTES;
    nettrace_queue_piece(reader, &(struct nettrace_piece){
                                     .offset = reader->at, .size = n, .kind = NETTRACE_PIECE_REST});
    reader->at += n;
    return n ? TTR_OK : TTR_END;
}

/* --- The window --- */

ttr_status nettrace_load_bytes(struct nettrace_reader *reader, uint64_t offset, uint64_t need,
                               struct nettrace_bytes *bytes)
{
    struct input *in = reader->in;
    struct window before = in->window;
    uint64_t skip = offset - before.offset;
    bool is_shown = offset >= before.offset && skip <= before.n && before.n - skip >= need;
    if (!is_shown) {
        uint64_t hold = reader->order.keep_from < offset ? reader->order.keep_from : offset;
        hold = reader->keep_from < hold ? reader->keep_from : hold;
        uint64_t ahead = source_is_seekable(in->source)
                             ? offset - hold
                             /* loads twice as much, so that the window moves less often */
                             : 0;
        ttr_status status =
            input_fill(in, hold, (size_t)(offset - hold + need + ahead), reader->error);
        if (status != TTR_OK)
            return status;
        nettrace_order_rebase_pointers(&reader->order, &before, &in->window);
        skip = offset - in->window.offset;
    }
    skip = skip < in->window.n ? skip : in->window.n;
    *bytes = (struct nettrace_bytes){in->window.bytes + skip, in->window.n - (size_t)skip, offset};
    return TTR_OK;
}

ttr_status nettrace_finish_trace(struct nettrace_reader *reader, uint32_t size)
{
    struct nettrace_bytes behind;
    nettrace_queue_piece(
        reader,
        &(struct nettrace_piece){.offset = reader->at, .size = size, .kind = NETTRACE_PIECE_END});
    reader->at += size;
    reader->is_over = reader->has_end = true;
    /* never wait for bytes of a live trace */
    ttr_status status = nettrace_load_bytes(
        reader, reader->at, reader->emits_blocks ? 0 : NETTRACE_MAGIC_BYTES, &behind);
    if (status != TTR_OK || behind.n == 0)
        return status;
    if (behind.n >= NETTRACE_MAGIC_BYTES &&
        memcmp(behind.p, NETTRACE_MAGIC, NETTRACE_MAGIC_BYTES) == 0)
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, reader->at, "nettrace.behind-end",
                             "another trace starts after the end of this one; it is not read");
    else
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_REMARK, reader->at, "nettrace.behind-end",
            "the input continues after the end of the trace; the rest is not read");
    return TTR_OK;
}
