/* Opening and closing of a nettrace trace, and the loop that fills batches.
 *
 * Each iteration emits the events that no later event can precede. If the batch is still empty, no
 * event refers to the old tables, so they may be cleared. Then the next object or block is read. */
#include "base/status.h"
#include "formats/nettrace/nettrace.h"

/* bytes that are read when a trace is opened; not more, because a live trace may send the next
 * bytes much later */
#define OPEN_BYTES (NETTRACE_MAGIC_BYTES + 4 + NETTRACE_SERIALIZATION_BYTES)
#define FLAT_BYTES ((uint64_t)1 << 20)
/* limit of an event in bytes; real events have less than 64 KiB */
#define FLAT_EVENT_MAX ((uint64_t)16 << 20)

/* Reads events of V1 and V2, which are stored without blocks up to an end tag. Finds the tag by
 * the bytes after it, which are not a valid event. (Its offset is in the label table at the end of
 * the file, which is not read, since the input may be a pipe.) */
static ttr_status read_flat_events(struct nettrace_reader *reader)
{
    struct nettrace_bytes bytes;
    uint64_t need = FLAT_BYTES;
    for (;;) {
        ttr_status status = nettrace_load_bytes(reader, reader->at, need, &bytes);
        if (status != TTR_OK)
            return status;
        /* a fixed number, so that the result does not depend on the size of the window */
        size_t n = bytes.n < need ? bytes.n : (size_t)need;
        struct nettrace_block block = {.begin = bytes.p,
                                       .end = bytes.p + n,
                                       .offset = reader->at,
                                       .codec = CODEC_OLDEST,
                                       .is_cut = true};
        reader->has_bad_metadata = false;
        status = nettrace_scan_block(reader, &block);
        if (status != TTR_OK)
            return status;
        nettrace_queue_chunk(reader,
                             &(struct nettrace_chunk){.offset = reader->at,
                                                      .size = (uint32_t)(block.stop - block.begin),
                                                      .kind = NETTRACE_CHUNK_FLAT,
                                                      .events = reader->known_events,
                                                      .is_part = reader->has_bad_metadata});
        reader->at += (uint64_t)(block.stop - block.begin);
        reader->needs_resync &= block.stop == block.begin;
        if (block.stop > block.begin)
            return TTR_OK;
        uint64_t size = n >= 4 ? (uint64_t)load_u32le(bytes.p) + 4 : 0;
        if (size <= need || size > FLAT_EVENT_MAX || bytes.n < need)
            return nettrace_resync(reader);
        need = size;
    }
}

static ttr_status read_next_block(struct nettrace_reader *reader)
{
    if (reader->emits_chunks)
        reader->keep_from = reader->at;
    if (reader->version < 3)
        return read_flat_events(reader);
    return reader->version >= NETTRACE_V6 ? nettrace_read_block6(reader)
                                          : nettrace_read_object(reader);
}

/* Clears the tables that a sequence point requests to clear: stacks, labels, threads, metadata.
 * Events must not be waiting. */
static void clear_requested_tables(struct nettrace_reader *reader)
{
    if (reader->resets_stacks) {
        nettrace_stacks_reset(&reader->stacks);
        nettrace_labels_reset(reader);
    }
    if (reader->resets_threads)
        nettrace_threads_reset(reader);
    if (reader->resets_metadata)
        nettrace_types_clear_numbers(reader);
    reader->resets_stacks = reader->resets_threads = reader->resets_metadata = false;
}

void nettrace_set_range(struct input *in, int64_t from_ns, int64_t to_ns)
{
    struct nettrace_reader *reader = in->ctx;
    if (in->flags & TTR_READ_SYMBOLS)
        return;
    reader->from = reader->has_range && reader->from > from_ns ? reader->from : from_ns;
    reader->to = reader->has_range && reader->to < to_ns ? reader->to : to_ns;
    reader->has_range = true;
}

static ttr_status fill_batch(struct input *in, ttr_error *error)
{
    struct nettrace_reader *reader = in->ctx;
    reader->error = error;
    arena_reset(&reader->scratch);
    if (reader->is_out_of_memory)
        return fail_memory(error);
    for (;;) {
        nettrace_emit_chunks(reader);
        if (reader->order.is_emitting && !nettrace_emit_ordered_events(reader))
            return reader->failed;
        if (in->n)
            return TTR_OK;
        clear_requested_tables(reader);
        ttr_status status = TTR_OK;
        bool is_given = reader->order.heap_n == 0 && reader->order.gaps_n == 0;
        if (!reader->is_over)
            status = read_next_block(reader);
        else if (!is_given)
            nettrace_order_flush_until(reader, UINT64_MAX);
        else
            status = nettrace_queue_trailing_bytes(reader);
        if (status != TTR_OK)
            return status;
    }
}

ttr_status nettrace_read_batch(struct input *in, ttr_error *error)
{
    struct nettrace_reader *reader = in->ctx;
    ttr_status status = fill_batch(in, error);
    if (!(in->flags & TTR_READ_SYMBOLS) && !reader->has_universal)
        return status;
    for (uint32_t i = 0; i < in->n; i++)
        if (!nettrace_add_symbols(reader, &in->events[i]))
            return fail_memory(error);
    return status;
}

/* Parses the V6 file head: u32 0 (older versions have a length there), u32 major, u32 minor. */
static ttr_status parse_head6(struct nettrace_reader *reader, struct cursor *c)
{
    uint32_t major = cursor_u32le(c);
    reader->version = NETTRACE_V6;
    reader->in->version = "6";
    reader->at = NETTRACE_V6_HEAD;
    if (major != NETTRACE_V6)
        return fail(reader->error, TTR_E_UNSUPPORTED, 12,
                    "a trace of version %u: expected version 1 to 6", major);
    return TTR_OK;
}

static ttr_status parse_head(struct nettrace_reader *reader, const struct nettrace_bytes *bytes)
{
    struct cursor c = cursor_init(bytes->p, bytes->n, 0);
    reader->version = 3;
    if (bytes->n >= NETTRACE_MAGIC_BYTES &&
        memcmp(bytes->p, NETTRACE_MAGIC, NETTRACE_MAGIC_BYTES) == 0) {
        (void)cursor_skip(&c, NETTRACE_MAGIC_BYTES);
        reader->version = 4;
    }
    uint32_t n = cursor_u32le(&c);
    if (reader->version == 4 && n == 0 && bytes->n >= NETTRACE_V6_HEAD)
        return parse_head6(reader, &c);
    const uint8_t *text = cursor_read_bytes(&c, NETTRACE_SERIALIZATION_BYTES);
    if (bytes->n < NETTRACE_MAGIC_BYTES)
        return fail(reader->error, TTR_E_UNSUPPORTED, bytes->n,
                    "a trace of %zu bytes: expected at least 24", bytes->n);
    if (text && (n != NETTRACE_SERIALIZATION_BYTES || memcmp(text, NETTRACE_SERIALIZATION, n) != 0))
        return fail(reader->error, TTR_E_UNSUPPORTED, c.offset - NETTRACE_SERIALIZATION_BYTES,
                    "expected \"" NETTRACE_SERIALIZATION
                    "\" (V3 to V5) or a version (V6) after the magic");
    reader->at = text ? c.offset : bytes->n;
    reader->is_over = !text;
    return text ? TTR_OK
                : input_add_damage(reader->in, 0, bytes->n, "nettrace.cut", reader->error,
                                   "the trace ends inside its file head");
}

static ttr_status read_options(struct input *in, ttr_error *error)
{
    struct nettrace_reader *reader = in->ctx;
    const char *order = input_get_option(in, "order");
    reader->emits_blocks = order && strcmp(order, "block") == 0;
    if (reader->emits_blocks)
        in->base.order = TTR_ORDER_NONE;
    if (order && !reader->emits_blocks && strcmp(order, "time") != 0)
        return fail(error, TTR_E_MISUSE, NO_OFFSET, "order=%s: expected time or block", order);
    return TTR_OK;
}

ttr_status nettrace_reader_open(struct input *in, ttr_error *error)
{
    struct nettrace_reader *reader = in->ctx;
    struct nettrace_bytes bytes;
    reader->in = in;
    reader->t = in->base.t;
    reader->error = error;
    reader->pointer_bytes = 8;
    clock_math_init(&reader->clock, 1000000000);
    arena_init(&reader->arena, &reader->t->counted);
    arena_init(&reader->scratch, &reader->t->counted);
    buffer_init(&reader->symbol, &reader->t->counted);
    nettrace_order_init(&reader->order);
    nettrace_types_init(reader);
    pair_map_init(&reader->threads.by_id, &reader->t->counted);
    pair_map_init(&reader->threads.by_index, &reader->t->counted);
    pair_map_init(&reader->threads.unnumbered, &reader->t->counted);
    pair_map_init(&reader->labels.by_number, &reader->t->counted);
    pair_map_init(&reader->stacks.others, &reader->t->counted);
    pair_map_init(&reader->universal.by_id, &reader->t->counted);
    reader->keep_from = UINT64_MAX;
    ttr_status status = nettrace_chunks_init(reader) ? read_options(in, error) : fail_memory(error);
    if (status == TTR_OK)
        status = nettrace_load_bytes(reader, 0, OPEN_BYTES, &bytes);
    if (status == TTR_OK)
        status = parse_head(reader, &bytes);
    if (status == TTR_OK && !reader->is_over) {
        nettrace_queue_chunk(reader, &(struct nettrace_chunk){.size = (uint32_t)reader->at,
                                                              .kind = NETTRACE_CHUNK_FILE_HEAD});
        status = nettrace_load_bytes(reader, reader->at, 1, &bytes);
    }
    /* read the first object, too: it is nearly always Trace, which declares clock and version */
    if (status == TTR_OK && !reader->is_over && bytes.n > 0)
        status = reader->version >= NETTRACE_V6 ? nettrace_read_block6(reader)
                                                : nettrace_read_object(reader);
    return status;
}

void nettrace_reader_close(struct input *in)
{
    struct nettrace_reader *reader = in->ctx;
    if (!reader->in)
        return;
    nettrace_types_free(reader);
    context_drop_schema(reader->t, reader->chunk_schema);
    nettrace_stacks_free(reader);
    nettrace_order_free(reader);
    alloc_free(&reader->t->counted, reader->threads.capture, reader->threads.capture_capacity,
               sizeof *reader->threads.capture);
    pair_map_free(&reader->threads.by_id);
    pair_map_free(&reader->threads.by_index);
    pair_map_free(&reader->threads.unnumbered);
    nettrace_labels_free(reader);
    nettrace_universal_free(reader);
    arena_free(&reader->arena);
    arena_free(&reader->scratch);
    buffer_free(&reader->symbol);
}
