/* Reader of V6 blocks, of the thread table and of sequence points.
 *
 *   block      [0..23] size without this word | [24..31] kind | content
 *   trace      date, ticks, ticks per second, i32 pointer bytes, i32 n, n pairs of strings
 *   point      u64 ticks   u32 flags: 1 = clear threads, 2 = clear metadata
 *              u32 n   n times: varint thread, varint sequence
 *   stacks     u32 first number   u32 n   n times: u32 bytes, addresses
 *   threads    rows: u16 size, varint index, then until the row ends: u8 kind, content
 *              kinds: 1 name   2 varint pid   3 varint tid   4 key, value
 *   gone       rows: varint index, varint sequence
 *   metadata   see nettrace_metadata6.c      labels   see nettrace_labels.c
 *   string     varint bytes, UTF-8
 *
 * Blocks of unknown kinds are skipped. A thread is removed only after all waiting events, which may
 * refer to it, were emitted. */
#include "base/status.h"
#include "formats/nettrace/nettrace.h"

enum { POINT_CLEARS_THREADS = 1, POINT_CLEARS_METADATA = 2 };
enum { THREAD_NAME = 1, THREAD_PID = 2, THREAD_TID = 3, THREAD_PAIR = 4 };

static ttr_status parse_point6(struct nettrace_reader *reader, struct cursor *c)
{
    struct nettrace_header header = {.ticks = cursor_u64le(c)};
    uint32_t flags = cursor_u32le(c), n = cursor_u32le(c);
    for (uint32_t i = 0; i < n && cursor_left(c) > 0; i++) {
        uint64_t thread = nettrace_read_varint(c);
        header.sequence = (uint32_t)nettrace_read_varint(c);
        if (c->failed)
            break;
        size_t capture = nettrace_get_capture_thread_index(reader, thread);
        if (capture == SIZE_MAX || !nettrace_update_sequence(reader, capture, &header, true))
            return fail_memory(reader->error);
    }
    nettrace_order_flush_until(reader, UINT64_MAX);
    reader->resets_stacks = true;
    reader->resets_threads |= (flags & POINT_CLEARS_THREADS) != 0;
    reader->resets_metadata |= (flags & POINT_CLEARS_METADATA) != 0;
    return TTR_OK;
}

/* Parses one row of the thread table. A thread that has no pid gets that of the trace. */
static bool parse_thread_row(struct nettrace_reader *reader, struct cursor *row)
{
    uint64_t index = nettrace_read_varint(row), pid = reader->pid, tid = 0;
    ttr_text name = {NULL, 0};
    bool has_tid = false;
    ttr *t = reader->t;
    while (cursor_left(row) > 0) {
        uint8_t kind = cursor_u8(row);
        if (kind == THREAD_NAME)
            name = nettrace_read_string(row);
        else if (kind == THREAD_PID)
            pid = nettrace_read_varint(row);
        else if (kind == THREAD_TID)
            tid = nettrace_read_varint(row), has_tid = true;
        else if (kind == THREAD_PAIR)
            (void)nettrace_read_string(row), (void)nettrace_read_string(row);
        else
            break; /* the size of a label with an unknown kind is unknown, too */
    }
    ttr_id thread = has_tid ? context_thread(t, reader->in->id, pid, tid)
                            : nettrace_get_thread_without_tid(reader, index, pid);
    ttr_id text = thread && name.n && !row->failed ? intern_add(&t->strings, name.p, name.n) : 0;
    if (text && text != UINT32_MAX)
        context_name_thread(t, thread, text);
    return thread && text != UINT32_MAX && nettrace_thread_define(reader, index, thread);
}

static ttr_status parse_threads(struct nettrace_reader *reader, struct cursor *c)
{
    while (cursor_left(c) > 0 && !c->failed) {
        struct cursor row = cursor_slice(c, cursor_u16le(c));
        if (!c->failed && !parse_thread_row(reader, &row))
            return fail_memory(reader->error);
        c->failed |= row.failed;
    }
    return TTR_OK;
}

static ttr_status parse_ended_threads(struct nettrace_reader *reader, struct cursor *c)
{
    while (cursor_left(c) > 0) {
        uint64_t index = nettrace_read_varint(c);
        struct nettrace_header header = {.ticks = reader->order.emitted,
                                         .sequence = (uint32_t)nettrace_read_varint(c)};
        if (c->failed)
            break;
        size_t capture = nettrace_get_capture_thread_index(reader, index);
        if (capture == SIZE_MAX || !nettrace_update_sequence(reader, capture, &header, true))
            return fail_memory(reader->error);
        nettrace_thread_remove(reader, index);
    }
    return TTR_OK;
}

/* How the end of a block was found. */
enum block_end {
    BLOCK_SIZED,   /* the block ends at its declared size */
    BLOCK_RESIZED, /* the declared size is wrong; another block was found */
    BLOCK_CUT      /* the input ends inside the block */
};

static ttr_status parse_event_block6(struct nettrace_reader *reader, struct cursor *c,
                                     enum block_end end)
{
    reader->known_events = 0;
    struct nettrace_block block = {.is_cut = end != BLOCK_SIZED, .has_end = end != BLOCK_CUT};
    uint16_t size;
    if (!nettrace_parse_block_header(c, true, &block, &size)) {
        c->failed = true;
        return TTR_OK;
    }
    reader->in->packets++;
    ttr_status status = nettrace_scan_block(reader, &block);
    if (status == TTR_OK)
        (void)cursor_skip(c, (uint64_t)(block.stop - block.begin));
    return status;
}

static ttr_status parse_stacks6(struct nettrace_reader *reader, struct cursor *c)
{
    uint32_t first = cursor_u32le(c), n = cursor_u32le(c);
    return nettrace_stacks_parse(reader, first, n, c) ? TTR_OK : fail_memory(reader->error);
}

static ttr_status parse_first_trace(struct nettrace_reader *reader, struct cursor *c)
{
    if (reader->has_trace) {
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, c->offset, "nettrace.second-trace",
                             "a second Trace block: it is not used");
        return TTR_OK;
    }
    reader->has_trace = true;
    return nettrace_parse_trace(reader, c);
}

static ttr_status parse_block_content6(struct nettrace_reader *reader, unsigned kind,
                                       struct cursor *c, enum block_end end)
{
    switch (kind) {
    case NETTRACE_BLOCK_TRACE:
        return parse_first_trace(reader, c);
    case NETTRACE_BLOCK_EVENTS:
        return parse_event_block6(reader, c, end);
    case NETTRACE_BLOCK_METADATA:
        return nettrace_parse_metadata6(reader, c);
    case NETTRACE_BLOCK_POINT:
        return parse_point6(reader, c);
    case NETTRACE_BLOCK_STACKS:
        return parse_stacks6(reader, c);
    case NETTRACE_BLOCK_THREADS:
        return parse_threads(reader, c);
    case NETTRACE_BLOCK_ENDED_THREADS:
        return parse_ended_threads(reader, c);
    case NETTRACE_BLOCK_LABELS:
        return nettrace_labels_parse(reader, c);
    default:
        input_add_diagnostic(reader->in, TTR_SEVERITY_REMARK, c->offset, "nettrace.unknown-block",
                             "a block of unknown kind %u: skipped", kind);
        return TTR_OK;
    }
}

/* Adds the block at offset `at` to the queue as a chunk, for copies. `c` is at the end of the
 * bytes that could be decoded. */
static void queue_block_chunk(struct nettrace_reader *reader, unsigned kind, uint64_t at,
                              const struct cursor *c, bool is_cut)
{
    static const uint8_t kinds[] = {
        [NETTRACE_BLOCK_TRACE] = NETTRACE_CHUNK_TRACE,
        [NETTRACE_BLOCK_EVENTS] = NETTRACE_CHUNK_EVENTS,
        [NETTRACE_BLOCK_METADATA] = NETTRACE_CHUNK_METADATA,
        [NETTRACE_BLOCK_POINT] = NETTRACE_CHUNK_POINT,
        [NETTRACE_BLOCK_STACKS] = NETTRACE_CHUNK_STACKS,
        [NETTRACE_BLOCK_THREADS] = NETTRACE_CHUNK_THREADS,
        [NETTRACE_BLOCK_ENDED_THREADS] = NETTRACE_CHUNK_ENDED_THREADS,
        [NETTRACE_BLOCK_LABELS] = NETTRACE_CHUNK_LABELS,
    };
    struct nettrace_chunk chunk = {
        .offset = at, .body = 4, .kind = kind < sizeof kinds ? kinds[kind] : NETTRACE_CHUNK_OTHER};
    bool has_events = kind == NETTRACE_BLOCK_EVENTS,
         is_salvaged = has_events && reader->segments.n > 0;
    chunk.is_part = is_cut || c->failed || (has_events && cursor_left(c) > 0) || is_salvaged;
    chunk.size = (uint32_t)((chunk.is_part ? c->offset : reader->at) - at);
    chunk.events = has_events ? reader->known_events : 0;
    if (is_salvaged)
        nettrace_queue_damaged_chunk(reader, &chunk);
    else
        nettrace_queue_chunk(reader, &chunk);
}

static ttr_status report_cut_block(struct nettrace_reader *reader, uint64_t offset, uint64_t left,
                                   uint32_t size)
{
    reader->is_over = true;
    return input_add_damage(
        reader->in, offset, left, "nettrace.cut", reader->error,
        "the trace ends inside a block of %u bytes; all complete events are kept", size);
}

static ttr_status report_missing_end6(struct nettrace_reader *reader)
{
    reader->is_over = true;
    input_add_diagnostic(
        reader->in, TTR_SEVERITY_ODD, reader->at, "nettrace.no-end",
        "the trace ends without an end mark: its recorder was stopped; all events are kept");
    return TTR_OK;
}

/* Reads a block that declares a wrong size: parses its complete rows up to the next block. */
static ttr_status read_damaged_block6(struct nettrace_reader *reader, unsigned kind,
                                      const struct nettrace_block_extent *extent)
{
    struct nettrace_bytes bytes;
    uint64_t at = reader->at;
    if (!extent->next)
        return nettrace_resync(reader);
    ttr_status status = nettrace_load_bytes(reader, at, extent->next - at, &bytes);
    if (status != TTR_OK)
        return status;
    struct cursor c = cursor_init(bytes.p, (size_t)(extent->next - at), at);
    bool is_used =
        extent->next - at > 4 && (kind == NETTRACE_BLOCK_EVENTS || kind == NETTRACE_BLOCK_STACKS ||
                                  kind == NETTRACE_BLOCK_LABELS);
    reader->at = extent->next;
    if (is_used && cursor_skip(&c, 4)) {
        status = parse_block_content6(reader, kind, &c, BLOCK_RESIZED);
        if (status != TTR_OK)
            return status;
        queue_block_chunk(reader, kind, at, &c, true);
    }
    uint64_t from = is_used && c.offset < extent->next ? c.offset : at,
             to = is_used && c.offset == extent->next ? at + 4 : extent->next;
    return input_add_damage(
        reader->in, from, to - from, "nettrace.bad-block", reader->error,
        "a block of kind %u with a size that does not lead to the next block; its "
        "complete parts are used",
        kind);
}

/* Reads a block with a right size, or that is cut off by the end of the input. is_strange: its
 * kind is damaged, but it contains events. */
static ttr_status read_sized_block6(struct nettrace_reader *reader, unsigned kind, uint32_t size,
                                    bool is_strange)
{
    struct nettrace_bytes bytes;
    uint64_t at = reader->at;
    ttr_status status = nettrace_load_bytes(reader, at + 4, size, &bytes);
    if (status != TTR_OK)
        return status;
    bool is_cut = bytes.n < size;
    struct cursor c = cursor_init(bytes.p, is_cut ? bytes.n : size, at + 4);
    reader->at = at + 4 + (is_cut ? bytes.n : size);
    status = parse_block_content6(reader, is_strange ? NETTRACE_BLOCK_EVENTS : kind, &c,
                                  is_cut ? BLOCK_CUT : BLOCK_SIZED);
    if (status != TTR_OK)
        return status;
    queue_block_chunk(reader, is_strange ? NETTRACE_BLOCK_EVENTS : kind, at, &c,
                      is_cut || is_strange);
    if (is_cut)
        return report_cut_block(reader, cursor_left(&c) ? c.offset : at,
                                cursor_left(&c) ? cursor_left(&c) : 0, size);
    if (is_strange)
        return input_add_damage(reader->in, at + 3, 1, "nettrace.bad-kind", reader->error,
                                "a block of unknown kind %u that holds events; they are kept",
                                kind);
    return c.failed
               ? input_add_damage(reader->in, at, (uint64_t)size + 4, "nettrace.bad-block",
                                  reader->error,
                                  "a block of kind %u that declares more than it contains; its "
                                  "complete parts are used",
                                  kind)
               : TTR_OK;
}

ttr_status nettrace_read_block6(struct nettrace_reader *reader)
{
    struct nettrace_bytes bytes;
    struct nettrace_block_extent extent = {.is_lost = false};
    if (reader->needs_resync)
        return nettrace_resync(reader);
    ttr_status status = nettrace_load_bytes(reader, reader->at, 4, &bytes);
    if (status != TTR_OK)
        return status;
    if (bytes.n == 0)
        return report_missing_end6(reader);
    if (bytes.n < 4)
        return report_cut_block(reader, reader->at, bytes.n, 4);
    uint32_t head = load_u32le(bytes.p), size = head & 0xffffff, kind = head >> 24;
    if (kind == NETTRACE_BLOCK_ENDED_THREADS && reader->order.heap_n > 0) {
        /* waiting events may refer to these threads, so return them first, then read this block
         * again */
        nettrace_order_flush_until(reader, UINT64_MAX);
        return TTR_OK;
    }
    /* this check needs bytes after the block, which a live trace may send much later */
    if (!reader->emits_blocks) {
        status = nettrace_measure_block6(reader, reader->at, head, &extent);
        if (status != TTR_OK)
            return status;
    }
    if (extent.is_lost)
        return read_damaged_block6(reader, kind, &extent);
    return kind == NETTRACE_BLOCK_END ? nettrace_finish_trace(reader, 4)
                                      : read_sized_block6(reader, kind, size, extent.is_strange);
}
