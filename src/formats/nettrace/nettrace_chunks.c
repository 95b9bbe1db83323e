/* Window of the input, and chunks: byte ranges of the input that a copy can write unchanged. Chunks
 * are emitted as definition events before the events that they contain.
 *
 * Events are the same with and without chunks. A copy holds a chunk until the `link` of a later one
 * shows that all its events were emitted, and identifies events by their offsets (nettrace_copy.c).
 */
#include "base/status.h"
#include "formats/nettrace/nettrace.h"

#define REST_BYTES 65536u

bool nettrace_chunks_init(struct nettrace_reader *reader)
{
    reader->emits_chunks = (reader->in->flags & TTR_READ_DEFINITIONS) != 0;
    if (!reader->emits_chunks)
        return true;
    reader->keep_from = 0;
    reader->chunk_schema = context_add_schema(
        reader->t, &(struct schema){.ctx = reader, .format = reader->in->format});
    return reader->chunk_schema != 0;
}

void nettrace_queue_chunk(struct nettrace_reader *reader, const struct nettrace_chunk *chunk)
{
    if (reader->emits_chunks && chunk->size > 0 && reader->chunks_n < NETTRACE_CHUNKS_MAX)
        reader->chunks[reader->chunks_n++] = *chunk;
}

/* Copies a segment to the payload of an event. Sets pointers of its header, and padding between
 * its members, to zero. */
static void copy_segment(uint8_t *to, const struct nettrace_segment *from)
{
    struct nettrace_segment copy;
    memset(&copy, 0, sizeof copy);
    copy.before.ticks = from->before.ticks;
    copy.before.thread = from->before.thread;
    copy.before.capture = from->before.capture;
    copy.before.metadata = from->before.metadata;
    copy.before.sequence = from->before.sequence;
    copy.before.cpu = from->before.cpu;
    copy.before.stack = from->before.stack;
    copy.before.labels = from->before.labels;
    copy.before.payload_size = from->before.payload_size;
    copy.before.flags = from->before.flags;
    copy.begin = from->begin;
    copy.end = from->end;
    copy.activity_at = from->activity_at;
    copy.related_at = from->related_at;
    memcpy(to, &copy, sizeof copy);
}

void nettrace_queue_damaged_chunk(struct nettrace_reader *reader,
                                  const struct nettrace_chunk *chunk)
{
    const struct window *window = &reader->in->window;
    struct nettrace_chunk damaged = *chunk;
    size_t n = reader->segments.n * sizeof *reader->segments.all;
    uint8_t *bytes = reader->emits_chunks ? arena_alloc(&reader->scratch, chunk->size + n) : NULL;
    if (bytes) {
        memcpy(bytes, window->bytes + (chunk->offset - window->offset), chunk->size);
        for (uint32_t i = 0; i < reader->segments.n; i++)
            copy_segment(bytes + chunk->size + i * sizeof *reader->segments.all,
                         &reader->segments.all[i]);
        damaged.segments = bytes + chunk->size;
        damaged.segments_bytes = (uint32_t)n;
    }
    reader->is_out_of_memory |= reader->emits_chunks && !bytes;
    nettrace_queue_chunk(reader, &damaged);
}

void nettrace_emit_chunks(struct nettrace_reader *reader)
{
    struct input *in = reader->in;
    for (uint32_t i = 0; i < reader->chunks_n; i++) {
        const struct nettrace_chunk *chunk = &reader->chunks[i];
        ttr_event *event = input_add_event(in);
        event->kind = TTR_KIND_DEFINITION;
        event->flags = TTR_EVENT_RAW | TTR_EVENT_NO_TIME | (chunk->is_part ? TTR_EVENT_PARTIAL : 0);
        event->ticks = reader->order.emitted;
        event->schema = reader->chunk_schema;
        event->payload = chunk->segments ? chunk->segments - chunk->size
                                         : in->window.bytes + (chunk->offset - in->window.offset);
        event->payload_size = chunk->size + chunk->segments_bytes;
        event->duration = chunk->segments_bytes;
        event->body = chunk->body;
        event->tag = chunk->kind;
        event->sequence = chunk->events;
        event->link = reader->order.keep_from;
        event->offset = chunk->offset;
    }
    reader->chunks_n = 0;
}

ttr_status nettrace_queue_trailing_bytes(struct nettrace_reader *reader)
{
    struct nettrace_bytes bytes;
    if (!reader->emits_chunks || !reader->has_end)
        return TTR_END;
    reader->keep_from = reader->at;
    ttr_status status = nettrace_load_bytes(reader, reader->at, REST_BYTES, &bytes);
    if (status != TTR_OK)
        return status;
    uint32_t n = bytes.n < REST_BYTES ? (uint32_t)bytes.n : REST_BYTES;
    nettrace_queue_chunk(
        reader,
        &(struct nettrace_chunk){.offset = reader->at, .size = n, .kind = NETTRACE_CHUNK_TRAILING});
    reader->at += n;
    return n ? TTR_OK : TTR_END;
}

/* --- Window of the input --- */

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
        /* read as many bytes more as must be kept, so that the window moves less often */
        uint64_t ahead = source_is_seekable(in->source) ? offset - hold : 0;
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
    struct nettrace_bytes following;
    nettrace_queue_chunk(
        reader,
        &(struct nettrace_chunk){.offset = reader->at, .size = size, .kind = NETTRACE_CHUNK_END});
    reader->at += size;
    reader->is_over = reader->has_end = true;
    /* order=block: a live trace may send these bytes much later, so do not wait for them */
    ttr_status status = nettrace_load_bytes(
        reader, reader->at, reader->emits_blocks ? 0 : NETTRACE_MAGIC_BYTES, &following);
    if (status != TTR_OK || following.n == 0)
        return status;
    if (following.n >= NETTRACE_MAGIC_BYTES &&
        memcmp(following.p, NETTRACE_MAGIC, NETTRACE_MAGIC_BYTES) == 0)
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, reader->at, "nettrace.after-end",
                             "another trace starts after the end of this one; it is not read");
    else
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_REMARK, reader->at, "nettrace.after-end",
            "the input continues after the end of the trace; the rest is not read");
    return TTR_OK;
}
