/* Repairs damaged chunks that are not blocks of events: writes their complete rows in a new frame,
 * with the number of rows corrected. */
#include "formats/nettrace/nettrace_copy.h"

/* Copies the complete stacks and stores their number. */
static void repair_stacks(struct ttr_writer *out, struct cursor *c)
{
    size_t at = out->buffer.n + 4;
    uint32_t first = cursor_u32le(c), n = 0;
    (void)cursor_u32le(c);
    nettrace_append_u32(&out->buffer, first);
    nettrace_append_u32(&out->buffer, 0);
    for (;;) {
        struct cursor stack = *c;
        (void)cursor_skip(&stack, cursor_u32le(&stack));
        if (stack.failed)
            break;
        buffer_add(&out->buffer, c->p, (size_t)(stack.p - c->p));
        *c = stack;
        n++;
    }
    if (!out->buffer.failed)
        store_u32le(out->buffer.bytes + at, n);
}

static void repair_labels(struct ttr_writer *out, struct cursor *c)
{
    size_t at = out->buffer.n + 4;
    uint32_t first = cursor_u32le(c), n = 0;
    (void)cursor_u32le(c);
    nettrace_append_u32(&out->buffer, first);
    nettrace_append_u32(&out->buffer, 0);
    for (const uint8_t *begin = c->p; nettrace_skip_label_list(c); begin = c->p, n++)
        buffer_add(&out->buffer, begin, (size_t)(c->p - begin));
    if (!out->buffer.failed)
        store_u32le(out->buffer.bytes + at, n);
}

static bool is_complete_metadata_row(struct cursor row)
{
    (void)nettrace_read_varint(&row);
    (void)nettrace_read_string(&row);
    (void)nettrace_read_varint(&row);
    (void)nettrace_read_string(&row);
    return !row.failed;
}

static bool is_complete_thread_row(struct cursor row)
{
    enum { NAME = 1, PID, TID, PAIR };
    (void)nettrace_read_varint(&row);
    while (cursor_left(&row) > 0 && !row.failed) {
        uint8_t kind = cursor_u8(&row);
        if (kind < NAME || kind > PAIR)
            break;
        if (kind == PID || kind == TID)
            (void)nettrace_read_varint(&row);
        else
            (void)nettrace_read_string(&row);
        if (kind == PAIR)
            (void)nettrace_read_string(&row);
    }
    return !row.failed;
}

/* V6: copies the rows that are complete and valid. A row starts with its size. */
static void repair_rows(struct ttr_writer *out, struct cursor *c,
                        bool (*is_good)(struct cursor row))
{
    while (cursor_left(c) >= 2) {
        const uint8_t *begin = c->p;
        struct cursor row = cursor_slice(c, cursor_u16le(c));
        if (c->failed)
            break;
        if (is_good(row))
            buffer_add(&out->buffer, begin, (size_t)(c->p - begin));
    }
}

static void repair_metadata6(struct ttr_writer *out, struct cursor *c)
{
    /* the header of the block is empty in all known versions */
    nettrace_append_u16(&out->buffer, 0);
    if (cursor_skip(c, cursor_u16le(c)))
        repair_rows(out, c, is_complete_metadata_row);
}

/* V6: copies the complete pairs of thread index and sequence number. In a sequence point, their
 * number precedes them. */
static void repair_sequence_pairs(struct ttr_writer *out, struct cursor *c, bool is_point)
{
    enum { HEAD = 12 };
    struct buffer *to = &out->buffer;
    struct cursor head = is_point ? cursor_slice(c, HEAD) : cursor_init(NULL, 0, 0);
    buffer_add(to, head.p, cursor_left(&head));
    buffer_add_zeros(to, is_point ? HEAD - cursor_left(&head) : 0);
    size_t at = to->n;
    uint32_t n = 0;
    if (is_point) {
        (void)cursor_u32le(c);
        nettrace_append_u32(to, 0);
    }
    while (cursor_left(c) > 0) {
        const uint8_t *begin = c->p;
        (void)nettrace_read_varint(c), (void)nettrace_read_varint(c);
        if (c->failed)
            break;
        buffer_add(to, begin, (size_t)(c->p - begin));
        n++;
    }
    if (is_point && !to->failed)
        store_u32le(to->bytes + at, n);
}

/* V6: copies clock, pointer size and complete pairs of strings. If the clock is cut off, writes
 * the values that the reader assumed. */
static void repair_trace6(struct ttr_writer *out, struct cursor *c)
{
    enum { CLOCK = 32 };
    struct buffer *to = &out->buffer;
    const uint8_t *clock = cursor_read_bytes(c, CLOCK);
    if (clock)
        buffer_add(to, clock, CLOCK);
    else
        nettrace_append_date(to, 0), nettrace_append_u64(to, 0),
            nettrace_append_u64(to, 1000000000);
    uint32_t pointer = cursor_u32le(c), pairs = cursor_u32le(c), n = 0;
    nettrace_append_u32(to, pointer == 4 ? 4 : 8);
    size_t at = to->n;
    nettrace_append_u32(to, 0);
    for (; n < pairs && cursor_left(c) > 0; n++) {
        const uint8_t *begin = c->p;
        (void)nettrace_read_string(c), (void)nettrace_read_string(c);
        if (c->failed)
            break;
        buffer_add(to, begin, (size_t)(c->p - begin));
    }
    if (!to->failed)
        store_u32le(to->bytes + at, n);
}

/* V6: writes a block with a corrected size. */
static void repair_block6(struct ttr_writer *out, const struct nettrace_chunk *chunk,
                          struct cursor *c)
{
    static const uint8_t kinds[] = {
        [NETTRACE_CHUNK_TRACE] = NETTRACE_BLOCK_TRACE,
        [NETTRACE_CHUNK_METADATA] = NETTRACE_BLOCK_METADATA,
        [NETTRACE_CHUNK_STACKS] = NETTRACE_BLOCK_STACKS,
        [NETTRACE_CHUNK_POINT] = NETTRACE_BLOCK_POINT,
        [NETTRACE_CHUNK_THREADS] = NETTRACE_BLOCK_THREADS,
        [NETTRACE_CHUNK_ENDED_THREADS] = NETTRACE_BLOCK_ENDED_THREADS,
        [NETTRACE_CHUNK_LABELS] = NETTRACE_BLOCK_LABELS,
    };
    unsigned kind = chunk->kind < sizeof kinds ? kinds[chunk->kind] : 0;
    if (!kind)
        return;
    struct nettrace_frame frame =
        nettrace_frame_begin(out, NETTRACE_V6, (enum nettrace_block_kind)kind);
    switch (chunk->kind) {
    case NETTRACE_CHUNK_TRACE:
        repair_trace6(out, c);
        break;
    case NETTRACE_CHUNK_METADATA:
        repair_metadata6(out, c);
        break;
    case NETTRACE_CHUNK_STACKS:
        repair_stacks(out, c);
        break;
    case NETTRACE_CHUNK_THREADS:
        repair_rows(out, c, is_complete_thread_row);
        break;
    case NETTRACE_CHUNK_LABELS:
        repair_labels(out, c);
        break;
    default:
        repair_sequence_pairs(out, c, chunk->kind == NETTRACE_CHUNK_POINT);
        break;
    }
    nettrace_frame_end(out, &frame);
}

/* V4, V5: writes a sequence point with those rows that are complete. */
static void repair_point(struct ttr_writer *out, unsigned version, struct cursor *c)
{
    enum { ROW = 12 };
    struct nettrace_frame frame = nettrace_frame_begin(out, version, NETTRACE_BLOCK_POINT);
    uint64_t ticks = cursor_u64le(c);
    (void)cursor_u32le(c);
    uint32_t n = (uint32_t)(cursor_left(c) / ROW);
    nettrace_append_u64(&out->buffer, ticks);
    nettrace_append_u32(&out->buffer, n);
    buffer_add(&out->buffer, c->p, (size_t)n * ROW);
    nettrace_frame_end(out, &frame);
}

void nettrace_repair_chunk(struct nettrace_copy *copy, struct ttr_writer *out,
                           const struct nettrace_chunk *chunk, const uint8_t *bytes)
{
    struct cursor c = cursor_init(bytes, chunk->size, chunk->offset);
    (void)cursor_skip(&c, chunk->body);
    if (copy->version >= NETTRACE_V6) {
        repair_block6(out, chunk, &c);
    } else if (chunk->kind == NETTRACE_CHUNK_TRACE) {
        buffer_add(&out->buffer, bytes, chunk->size);
        buffer_add_byte(&out->buffer, NETTRACE_END);
    } else if (chunk->kind == NETTRACE_CHUNK_METADATA) {
        nettrace_rebuild_metadata(copy, out, chunk, &c);
    } else if (chunk->kind == NETTRACE_CHUNK_POINT && cursor_left(&c) >= 12) {
        repair_point(out, copy->version, &c);
    } else if (chunk->kind == NETTRACE_CHUNK_STACKS && cursor_left(&c) >= 8) {
        struct nettrace_frame frame =
            nettrace_frame_begin(out, copy->version, NETTRACE_BLOCK_STACKS);
        repair_stacks(out, &c);
        nettrace_frame_end(out, &frame);
    }
}
