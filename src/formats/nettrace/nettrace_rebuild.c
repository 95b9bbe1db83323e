/* Rebuilds event blocks of a copy with only the events that the caller wrote. Sequence numbers are
 * reduced by the number of events left out.
 *
 * The format allows a change of the capture thread only at the first event of a block or at a
 * sorted event. If that sorted event is left out, a new block is started. */
#include "formats/nettrace/nettrace_copy.h"

#define BLOCK_MAX ((size_t)1 << 20) /* maximum bytes of events per output block */

/* A block of the source, and the output blocks that replace it. */
struct block_rebuild {
    struct nettrace_copy *copy;
    struct ttr_writer *out;
    struct nettrace_frame frame;
    /* header that was written to the open output block last */
    struct nettrace_header last;
    uint64_t least, most; /* lowest and highest ticks in the open output block */
    uint64_t capture;     /* capture thread of which `dropped` events were removed */
    uint32_t dropped;
    bool is_open, has_capture, is_out_of_memory;
    enum nettrace_block_kind kind;
};

static uint32_t dropped_event_count(const struct nettrace_copy *copy, uint64_t capture)
{
    const uint32_t *dropped = pair_map_get(&copy->dropped, capture, 0);
    return dropped ? *dropped : 0;
}

static void store_dropped_count(struct block_rebuild *rebuild)
{
    if (rebuild->has_capture && rebuild->dropped)
        rebuild->is_out_of_memory |=
            !pair_map_put(&rebuild->copy->dropped, rebuild->capture, 0, rebuild->dropped);
}

static void begin_rebuilt_thread(struct block_rebuild *rebuild, uint64_t capture)
{
    if (rebuild->has_capture && rebuild->capture == capture)
        return;
    store_dropped_count(rebuild);
    rebuild->has_capture = true;
    rebuild->capture = capture;
    rebuild->dropped = dropped_event_count(rebuild->copy, capture);
}

static void begin_rebuilt_block(struct block_rebuild *rebuild)
{
    struct buffer *to = &rebuild->out->buffer;
    rebuild->frame = nettrace_frame_begin(rebuild->out, rebuild->copy->version, rebuild->kind);
    rebuild->is_open = true;
    rebuild->last = (struct nettrace_header){0};
    rebuild->least = UINT64_MAX;
    rebuild->most = 0;
    if (rebuild->copy->version >= 4) {
        nettrace_append_u16(to, NETTRACE_BLOCK_HEADER);
        nettrace_append_u16(to, NETTRACE_BLOCK_COMPRESSED);
        buffer_add_zeros(to, 16);
    }
}

static void end_rebuilt_block(struct block_rebuild *rebuild)
{
    struct buffer *to = &rebuild->out->buffer;
    if (!rebuild->is_open)
        return;
    rebuild->is_open = false;
    if (rebuild->copy->version >= 4 && !to->failed) {
        store_u64le(to->bytes + rebuild->frame.body + 4, rebuild->least);
        store_u64le(to->bytes + rebuild->frame.body + 12, rebuild->most);
    }
    nettrace_frame_end(rebuild->out, &rebuild->frame);
}

/* V4 to V6: appends an event to the open block; in V4 and V5 also metadata. */
static void append_kept_event(struct block_rebuild *rebuild, const struct nettrace_header *h)
{
    struct buffer *to = &rebuild->out->buffer;
    bool is_v6 = rebuild->copy->version >= NETTRACE_V6, is_sorted = h->flags & NETTRACE_IS_SORTED;
    bool is_other_capture = rebuild->is_open && h->capture != rebuild->last.capture && !is_sorted;
    if (is_other_capture || (rebuild->is_open && to->n - rebuild->frame.body > BLOCK_MAX))
        end_rebuilt_block(rebuild);
    if (!rebuild->is_open)
        begin_rebuilt_block(rebuild);
    struct nettrace_header now = *h;
    now.sequence -= rebuild->dropped;
    rebuild->least = h->ticks < rebuild->least ? h->ticks : rebuild->least;
    rebuild->most = h->ticks > rebuild->most ? h->ticks : rebuild->most;
    uint8_t *at = buffer_room(to, NETTRACE_HEADER_MAX);
    if (at)
        buffer_commit(to, (size_t)(nettrace_encode_header(at, &rebuild->last, &now, is_v6) - at));
    buffer_add(to, h->payload, h->payload_size);
}

/* V3: appends an event, with its stack and padding. */
static void append_kept_event3(struct block_rebuild *rebuild, const struct nettrace_header *h)
{
    if (!rebuild->is_open)
        begin_rebuilt_block(rebuild);
    buffer_add(&rebuild->out->buffer, h->start, (size_t)(h->next - h->start));
}

static bool has_usable_metadata(const struct nettrace_copy *copy, const struct nettrace_header *h)
{
    return nettrace_metadata_is_usable(copy->version, cursor_init(h->payload, h->payload_size, 0));
}

/* Moves the cursor to the first event of a block (V4 to V6). Returns the encoding of its event
 * headers. */
static enum nettrace_codec skip_block_header(struct cursor *c, bool is_v6)
{
    struct cursor head = *c;
    uint16_t size = cursor_u16le(&head), flags = cursor_u16le(&head);
    (void)cursor_skip(c, size);
    return flags & NETTRACE_BLOCK_COMPRESSED ? CODEC_COMPRESSED
           : is_v6                           ? CODEC_PLAIN_V6
                                             : CODEC_PLAIN;
}

/* Consecutive events of a chunk, and the header that precedes them. */
struct event_range {
    struct nettrace_header before;
    struct nettrace_header_range span;
};

/* Returns range number i of the events in a block: all of them, or a segment of a damaged block.
 * Returns false if there are fewer. `c` is at the first event. */
static bool get_event_range(const struct nettrace_chunk *chunk, const struct cursor *c,
                            enum nettrace_codec codec, uint32_t i, struct event_range *range)
{
    struct nettrace_segment segment = {.end = (uint32_t)cursor_left(c)};
    if (c->failed || i >= (chunk->segments ? chunk->segments_bytes / sizeof segment : 1))
        return false;
    if (chunk->segments)
        memcpy(&segment, chunk->segments + i * sizeof segment, sizeof segment);
    range->before = segment.before;
    range->before.next = c->p + segment.begin;
    range->before.activity = segment.activity_at ? c->p + segment.activity_at : NULL;
    range->before.related = segment.related_at ? c->p + segment.related_at : NULL;
    range->span = nettrace_make_header_range(range->before.next, c->p + segment.end, codec);
    return true;
}

void nettrace_rebuild_metadata(struct nettrace_copy *copy, struct ttr_writer *out,
                               const struct nettrace_chunk *chunk, struct cursor *c)
{
    struct block_rebuild rebuild = {.copy = copy, .out = out, .kind = NETTRACE_BLOCK_METADATA};
    const enum nettrace_codec codec = skip_block_header(c, false);
    struct event_range range;
    for (uint32_t i = 0; get_event_range(chunk, c, codec, i, &range); i++) {
        struct nettrace_header h = range.before;
        while (h.next < range.span.end && nettrace_decode_header(&h, &range.span, false))
            if (has_usable_metadata(copy, &h))
                append_kept_event(&rebuild, &h);
    }
    end_rebuilt_block(&rebuild);
}

/* Appends an event of a block unless a filter has removed it. */
static void rebuild_event(struct block_rebuild *rebuild, const struct nettrace_header *h,
                          uint64_t offset)
{
    bool is_old = rebuild->copy->version < 4, is_metadata = is_old && h->metadata == 0;
    begin_rebuilt_thread(rebuild, h->capture);
    if (is_metadata && !has_usable_metadata(rebuild->copy, h))
        return;
    if (!is_metadata && !nettrace_copy_has_event(rebuild->copy, offset))
        rebuild->dropped++;
    else if (is_old)
        append_kept_event3(rebuild, h);
    else
        append_kept_event(rebuild, h);
}

bool nettrace_rebuild_events(struct nettrace_copy *copy, struct ttr_writer *out,
                             const struct nettrace_chunk *chunk, const uint8_t *bytes)
{
    struct block_rebuild rebuild = {.copy = copy, .out = out, .kind = NETTRACE_BLOCK_EVENTS};
    bool is_v6 = copy->version >= NETTRACE_V6, has_end_tag = !chunk->is_part && !is_v6;
    enum nettrace_codec codec = CODEC_OLD;
    struct cursor c = cursor_init(bytes, chunk->size - has_end_tag, chunk->offset);
    struct event_range range;
    (void)cursor_skip(&c, chunk->body);
    if (copy->version >= 4)
        codec = skip_block_header(&c, is_v6);
    for (uint32_t i = 0; get_event_range(chunk, &c, codec, i, &range); i++) {
        struct nettrace_header h = range.before;
        while (h.next < range.span.end && nettrace_decode_header(&h, &range.span, is_v6))
            rebuild_event(&rebuild, &h, chunk->offset + (uint64_t)(h.start - bytes));
    }
    end_rebuilt_block(&rebuild);
    store_dropped_count(&rebuild);
    return !rebuild.is_out_of_memory;
}

bool nettrace_rebuild_flat(struct nettrace_copy *copy, struct ttr_writer *out,
                           const struct nettrace_chunk *chunk, const uint8_t *bytes)
{
    enum { METADATA_AT = 4 };
    struct nettrace_header h = {.next = bytes};
    const struct nettrace_header_range span =
        nettrace_make_header_range(bytes, bytes + chunk->size, CODEC_OLDEST);
    while (h.next < span.end && nettrace_decode_header(&h, &span, false)) {
        uint64_t offset = chunk->offset + (uint64_t)(h.start - bytes), now = ttr_writer_bytes(out);
        size_t at = out->buffer.n;
        const uint32_t *moved = h.metadata ? pair_map_get(&copy->moved, h.metadata, 0) : NULL;
        if (h.metadata == 0 && !has_usable_metadata(copy, &h))
            continue;
        if (h.metadata == 0 && now != offset &&
            !pair_map_put(&copy->moved, offset, 0, (uint32_t)now))
            return false;
        if (h.metadata != 0 && !nettrace_copy_has_event(copy, offset))
            continue;
        buffer_add(&out->buffer, h.start, (size_t)(h.next - h.start));
        if (moved && !out->buffer.failed)
            store_u32le(out->buffer.bytes + at + METADATA_AT, *moved);
    }
    return true;
}

/* V4, V5: appends the rows of a sequence point, with sequence numbers reduced by the removed
 * events. */
static void append_reduced_sequences(const struct nettrace_copy *copy, struct buffer *to,
                                     struct cursor *c)
{
    while (cursor_left(c) >= 12) {
        uint64_t capture = cursor_u64le(c);
        nettrace_append_u64(to, capture);
        nettrace_append_u32(to, cursor_u32le(c) - dropped_event_count(copy, capture));
    }
}

/* V6: appends rows of thread index and sequence number, reduced by the removed events. */
static void append_reduced_sequences6(struct nettrace_copy *copy, struct buffer *to,
                                      struct cursor *c, bool are_ended_threads)
{
    while (cursor_left(c) > 0) {
        uint64_t index = nettrace_read_varint(c);
        uint32_t sequence = (uint32_t)nettrace_read_varint(c);
        if (c->failed)
            break;
        nettrace_append_varint(to, index);
        nettrace_append_varint(to, (uint32_t)(sequence - dropped_event_count(copy, index)));
        if (are_ended_threads)
            (void)pair_map_remove(&copy->dropped, index, 0);
    }
}

void nettrace_rebuild_sequence_point(struct nettrace_copy *copy, struct ttr_writer *out,
                                     const struct nettrace_chunk *chunk, const uint8_t *bytes)
{
    enum { HEAD = 12, CLEARS_THREADS = 1 };
    struct buffer *to = &out->buffer;
    bool is_v6 = copy->version >= NETTRACE_V6,
         are_ended_threads = chunk->kind == NETTRACE_CHUNK_ENDED_THREADS;
    struct cursor c = cursor_init(bytes, chunk->size - !is_v6, chunk->offset);
    (void)cursor_skip(&c, chunk->body);
    struct nettrace_frame frame = nettrace_frame_begin(
        out, copy->version,
        are_ended_threads ? NETTRACE_BLOCK_ENDED_THREADS : NETTRACE_BLOCK_POINT);
    struct cursor head =
        are_ended_threads ? cursor_init(NULL, 0, 0) : cursor_slice(&c, is_v6 ? HEAD + 4 : HEAD);
    buffer_add(to, head.p, cursor_left(&head));
    if (is_v6)
        append_reduced_sequences6(copy, to, &c, are_ended_threads);
    else
        append_reduced_sequences(copy, to, &c);
    nettrace_frame_end(out, &frame);
    if (is_v6 && !are_ended_threads && cursor_left(&head) &&
        load_u32le(head.p + 8) & CLEARS_THREADS) {
        const struct alloc *alloc = copy->dropped.alloc;
        pair_map_free(&copy->dropped);
        pair_map_init(&copy->dropped, alloc);
    }
}
