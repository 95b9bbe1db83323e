/* Reader of V3 to V5: objects in the frame of FastSerialization, and resynchronisation after
 * damage. V1 and V2 use it for the start of the file, which is such an object too.
 *
 *   frame    5 5 1 | i32 version | i32 oldest reader | i32 n | name of n bytes | 6
 *   object   frame | i32 size | 0 to 3 zeros up to a multiple of 4 in the file | content | 6
 *                                                            '---- size ----'
 *
 * Order of calls, for each object: nettrace_read_object() loads and parses the frame;
 * measure_object() finds the extent of the content; parse_object_payload() decodes it;
 * queue_object_chunk() records the bytes for copies.
 *
 * An object is trusted if its end tag (6) is at the position that its size predicts. If not, three
 * repairs are tried in this order:
 *   1. find_misaligned_body(): bytes were cut out earlier in the file, so the padding is that of
 *      another position. Each padding is tried; an end tag with a valid frame after it decides.
 *   2. measure_damaged_object(): the size is wrong. The content ends at the next frame with a
 *      known name.
 *   3. read_damaged_object(): no frame follows. Complete events are emitted, then the reader
 *      searches from the first bad byte (resync_to_object()).
 *
 * Invariants: reader->at only grows. Each byte is either part of a decoded object or covered by
 * exactly one damage note.
 *
 * Cost: an undamaged object costs one check of one byte. A search looks at each byte once, in steps
 * of SEARCH_BYTES.
 *
 * Left out: objects with unknown names are skipped by their size (NET-OBJ-3). A name that differs
 * in one or two letters from a known name is read as that name (NET-BAD-8). */
#include "base/status.h"
#include "formats/nettrace/nettrace.h"

#define FRAME_MIN (3 + 12)
#define FRAME_MAX (FRAME_MIN + NETTRACE_NAME_MAX + 1)
/* bytes that are searched; larger than any block of a runtime */
#define SEARCH_BYTES 131072u
/* limit of an object in bytes; real blocks have about 100 KiB */
#define OBJECT_MAX ((uint64_t)256 << 20)

enum object_type {
    KIND_UNKNOWN,
    KIND_TRACE,
    KIND_EVENTS,
    KIND_METADATA,
    KIND_STACKS,
    KIND_POINT,
    KIND_FILE,
    KIND_COUNT
};

static const char *const names[KIND_COUNT] = {
    [KIND_TRACE] = "Trace",
    [KIND_EVENTS] = "EventBlock",
    [KIND_METADATA] = "MetadataBlock",
    [KIND_STACKS] = "StackBlock",
    [KIND_POINT] = "SPBlock",
    [KIND_FILE] = "Microsoft.DotNet.Runtime.EventPipeFile",
};

static const uint8_t chunk_kinds[KIND_COUNT] = {
    [KIND_UNKNOWN] = NETTRACE_CHUNK_OTHER,  [KIND_TRACE] = NETTRACE_CHUNK_TRACE,
    [KIND_EVENTS] = NETTRACE_CHUNK_EVENTS,  [KIND_METADATA] = NETTRACE_CHUNK_METADATA,
    [KIND_STACKS] = NETTRACE_CHUNK_STACKS,  [KIND_POINT] = NETTRACE_CHUNK_POINT,
    [KIND_FILE] = NETTRACE_CHUNK_FILE_HEAD,
};

struct object_frame {
    enum object_type kind;
    uint32_t version, least;
    ttr_text name; /* name of the object; points to `text`, since the window may move */
    char text[NETTRACE_NAME_MAX];
    uint64_t payload; /* file offset of the byte after the frame */
    /* true if the name is not known, but differs from a known one in only one or two letters */
    bool is_misspelled;
};

/* Adds the object to the queue as a chunk, for copies, from the start of its frame to `end`. body:
 * offset of its content; is_part: decoding stopped at `end`. */
static void queue_object_chunk(struct nettrace_reader *reader, const struct object_frame *frame,
                               uint64_t body, uint64_t end, bool is_part)
{
    uint64_t begin = frame->payload - (FRAME_MIN + frame->name.n + 1);
    bool has_events = frame->kind == KIND_EVENTS || frame->kind == KIND_METADATA;
    const struct nettrace_chunk chunk = {.offset = begin,
                                         .size = (uint32_t)(end - begin),
                                         .body = (uint32_t)(body - begin),
                                         .kind = chunk_kinds[frame->kind],
                                         .is_part = is_part,
                                         .events =
                                             frame->kind == KIND_EVENTS ? reader->known_events : 0};
    if (has_events && reader->segments.n > 0)
        nettrace_queue_damaged_chunk(reader, &chunk);
    else
        nettrace_queue_chunk(reader, &chunk);
}

static enum object_type find_object_kind(ttr_text name)
{
    for (unsigned i = 1; i < KIND_COUNT; i++)
        if (name.n == strlen(names[i]) && memcmp(name.p, names[i], name.n) == 0)
            return (enum object_type)i;
    return KIND_UNKNOWN;
}

/* Returns the kind of object with a name of the same length that differs in at most two letters. */
static enum object_type find_nearest_object_kind(ttr_text name)
{
    enum { LETTERS = 2 };
    for (unsigned i = KIND_EVENTS; i <= KIND_POINT; i++) {
        unsigned wrong = 0;
        if (name.n != strlen(names[i]))
            continue;
        for (size_t at = 0; at < name.n; at++)
            wrong += name.p[at] != names[i][at];
        if (wrong <= LETTERS)
            return (enum object_type)i;
    }
    return KIND_UNKNOWN;
}

/* Parses the frame of an object at the start of `bytes`. Returns false if it is invalid or cut
 * off. */
static bool read_frame(const struct nettrace_bytes *bytes, struct object_frame *frame)
{
    struct cursor c = cursor_init(bytes->p, bytes->n, bytes->offset);
    uint8_t first = cursor_u8(&c), second = cursor_u8(&c), type = cursor_u8(&c);
    frame->version = cursor_u32le(&c);
    frame->least = cursor_u32le(&c);
    uint32_t n = cursor_u32le(&c);
    if (n > NETTRACE_NAME_MAX)
        return false;
    const uint8_t *name = cursor_read_bytes(&c, n);
    uint8_t end = cursor_u8(&c);
    if (c.failed || first != second ||
        (first != NETTRACE_BEGIN && first != NETTRACE_BEGIN_PRIVATE) || type != NETTRACE_NULL ||
        end != NETTRACE_END)
        return false;
    memcpy(frame->text, name, n);
    frame->name = (ttr_text){frame->text, n};
    frame->kind = find_object_kind(frame->name);
    frame->is_misspelled = false;
    frame->payload = c.offset;
    return true;
}

/* Returns the position of the first object with a complete frame and a known name; `n` if there is
 * none. */
static size_t find_object(const uint8_t *p, size_t n)
{
    struct object_frame frame;
    for (size_t at = 0; n - at >= 3 + 12; at++) {
        if (p[at] != p[at + 1] || (p[at] != NETTRACE_BEGIN && p[at] != NETTRACE_BEGIN_PRIVATE) ||
            p[at + 2] != NETTRACE_NULL)
            continue;
        if (read_frame(&(struct nettrace_bytes){p + at, n - at, 0}, &frame) &&
            frame.kind != KIND_UNKNOWN)
            return at;
    }
    return n;
}

/* After damage, searches for the next object and reports the skipped bytes. Ends the trace at the
 * end of the input. */
static ttr_status resync_to_object(struct nettrace_reader *reader)
{
    struct nettrace_bytes bytes;
    ttr_status status = nettrace_load_bytes(reader, reader->at, SEARCH_BYTES, &bytes);
    if (status != TTR_OK)
        return status;
    bool is_end = bytes.n < SEARCH_BYTES;
    size_t n = is_end ? bytes.n : SEARCH_BYTES, found = find_object(bytes.p, n);
    size_t passed = found < n || is_end ? found : n - FRAME_MAX;
    uint64_t at = reader->at;
    reader->needs_resync = found == n && !is_end;
    reader->is_over = found == n && is_end;
    reader->at += passed;
    return passed == 0 ? TTR_OK
                       : input_add_damage(reader->in, at, passed, "nettrace.lost", reader->error,
                                          "no object starts here; skipped up to the next one");
}

static ttr_status report_bad_frame(struct nettrace_reader *reader,
                                   const struct nettrace_bytes *bytes)
{
    reader->is_over = bytes->n < FRAME_MAX && find_object(bytes->p, bytes->n) == bytes->n;
    reader->needs_resync = !reader->is_over;
    if (!reader->is_over)
        return TTR_OK;
    return input_add_damage(reader->in, reader->at, bytes->n, "nettrace.cut", reader->error,
                            "the trace ends inside the frame of an object: expected tags 5 5 1, "
                            "versions and a name; all events are kept");
}

/* Parses a sequence point: u64 ticks, u32 n, n times u64 capture thread, u32 sequence. */
static ttr_status parse_sequence_point(struct nettrace_reader *reader, struct cursor *c)
{
    struct nettrace_header header = {.ticks = cursor_u64le(c)};
    uint32_t n = cursor_u32le(c);
    for (uint32_t i = 0; i < n && cursor_left(c) >= 12; i++) {
        size_t capture = nettrace_get_capture_thread_index(reader, cursor_u64le(c));
        header.sequence = cursor_u32le(c);
        if (capture == SIZE_MAX || !nettrace_update_sequence(reader, capture, &header, true))
            return fail_memory(reader->error);
    }
    nettrace_order_flush_until(reader, UINT64_MAX);
    reader->resets_stacks = true;
    return TTR_OK;
}

static ttr_status parse_stacks(struct nettrace_reader *reader, struct cursor *c)
{
    uint32_t first = cursor_u32le(c), n = cursor_u32le(c);
    return nettrace_stacks_parse(reader, first, n, c) ? TTR_OK : fail_memory(reader->error);
}

/* Returns true if all events of a block are outside of the requested range. Times in block headers
 * are exact in files of all runtimes. */
static bool is_block_outside_range(const struct nettrace_reader *reader,
                                   const struct nettrace_block *block)
{
    uint8_t flags = 0;
    if (!reader->has_range || !block->has_times)
        return false;
    int64_t first = nettrace_ticks_to_ns(reader, block->least, &flags),
            last = nettrace_ticks_to_ns(reader, block->most, &flags);
    return flags == 0 && (last < reader->from || first >= reader->to);
}

/* Skips a block outside of the requested range. Forgets the sequence numbers of all threads, so
 * that the skipped events do not count as lost. */
static void skip_block(struct nettrace_reader *reader, struct cursor *c)
{
    struct nettrace_threads *threads = &reader->threads;
    for (size_t i = 0; i < threads->capture_n; i++)
        threads->capture[i].is_known = false;
    reader->in->packets++;
    (void)cursor_skip(c, cursor_left(c));
}

/* How the end of an object was found. */
enum object_end {
    OBJECT_SIZED,   /* the object ends at its declared size, where an end tag is */
    OBJECT_RESIZED, /* the declared size is wrong; the next object was found by a search */
    OBJECT_UNKNOWN  /* the input ends inside the object, or it has other damage */
};

static ttr_status parse_event_block(struct nettrace_reader *reader,
                                    const struct object_frame *frame, struct cursor *c,
                                    enum object_end end)
{
    bool is_sized = end == OBJECT_SIZED;
    uint16_t size;
    struct nettrace_block block = {.begin = c->p,
                                   .end = c->end,
                                   .offset = c->offset,
                                   .codec = CODEC_OLD,
                                   .is_metadata = frame->kind == KIND_METADATA,
                                   .is_cut = !is_sized,
                                   .has_end = end != OBJECT_UNKNOWN};
    reader->known_events = 0;
    reader->segments.n = 0;
    reader->has_bad_metadata = false;
    if (reader->version >= 4) {
        if (!nettrace_parse_block_header(c, false, &block, &size))
            return !is_sized
                       ? TTR_OK
                       : input_add_damage(reader->in, c->offset, cursor_left(c),
                                          "nettrace.bad-block", reader->error,
                                          "a block with a header that declares %u bytes, more than "
                                          "the block has",
                                          size);
        if (!block.is_metadata && is_sized && is_block_outside_range(reader, &block)) {
            skip_block(reader, c);
            return TTR_OK;
        }
    }
    reader->in->packets++;
    ttr_status status = nettrace_scan_block(reader, &block);
    (void)cursor_skip(c, (uint64_t)(block.stop - block.begin));
    if (reader->emits_blocks && !block.is_metadata)
        nettrace_order_flush_until(reader, UINT64_MAX);
    return status;
}

/* Decodes the content of an object. Moves `c` to the end of the bytes that could be decoded. */
static ttr_status parse_object_payload(struct nettrace_reader *reader,
                                       const struct object_frame *frame, struct cursor *c,
                                       enum object_end end)
{
    struct cursor start = *c;
    ttr_status status = TTR_OK;
    switch (frame->kind) {
    case KIND_EVENTS:
    case KIND_METADATA:
        return parse_event_block(reader, frame, c, end);
    case KIND_STACKS:
        status = parse_stacks(reader, c);
        break;
    case KIND_POINT:
        status = parse_sequence_point(reader, c);
        break;
    default:
        input_add_diagnostic(reader->in, TTR_SEVERITY_REMARK, frame->payload,
                             "nettrace.unknown-object", "an unknown object \"%.*s\": skipped",
                             (int)frame->name.n, frame->name.p);
        return TTR_OK;
    }
    if (status == TTR_OK && c->failed && end == OBJECT_SIZED)
        return input_add_damage(
            reader->in, start.offset, cursor_left(&start), "nettrace.bad-block", reader->error,
            "a %s that declares more than it contains; its complete parts are used",
            names[frame->kind]);
    return status;
}

/* Position of the content of an object. */
struct object_extent {
    uint64_t begin, size;
    bool is_cut;      /* true if the input ends inside the object */
    bool is_damaged;  /* true if no end tag is where the size predicts it */
    bool is_resized;  /* the next object starts after `size` bytes ... */
    bool has_end_tag; /* ... and after the end tag of this one */
};

/* Returns true if an object ends at file offset `at`: an end tag is there, and then an object, the
 * end mark or the end of the input. */
static bool is_object_end(const struct nettrace_bytes *bytes, uint64_t at)
{
    struct object_frame frame;
    if (at < bytes->offset || at - bytes->offset >= bytes->n ||
        bytes->p[at - bytes->offset] != NETTRACE_END)
        return false;
    size_t skip = (size_t)(at + 1 - bytes->offset);
    struct nettrace_bytes following = {bytes->p + skip, bytes->n - skip, at + 1};
    return following.n == 0 || (following.n == 1 && following.p[0] == NETTRACE_NULL) ||
           read_frame(&following, &frame);
}

/* Loads `need` bytes from offset `begin` on, and keeps all bytes after the frame in the window. */
static ttr_status load_object_body(struct nettrace_reader *reader, const struct object_frame *frame,
                                   uint64_t begin, uint64_t need, struct nettrace_bytes *bytes)
{
    uint64_t skip = begin - frame->payload;
    ttr_status status = nettrace_load_bytes(reader, frame->payload, skip + need, bytes);
    if (status != TTR_OK)
        return status;
    size_t passed = skip < bytes->n ? (size_t)skip : bytes->n;
    *bytes = (struct nettrace_bytes){bytes->p + passed, bytes->n - passed, begin};
    return TTR_OK;
}

/* Returns true if an object of this kind can have the content at the cursor. */
static bool is_body_start(const struct nettrace_reader *reader, enum object_type kind,
                          struct cursor c)
{
    enum { SIZE_MAX_KNOWN = 64, POINT_ROW = 12 };
    uint64_t size = cursor_left(&c);
    struct nettrace_header h = {.next = c.p};
    const struct nettrace_header_range span = nettrace_make_header_range(c.p, c.end, CODEC_OLD);
    if (kind == KIND_EVENTS || kind == KIND_METADATA) {
        if (reader->version < 4)
            return size > 0 && nettrace_decode_header(&h, &span, false);
        uint16_t head = cursor_u16le(&c), flags = cursor_u16le(&c);
        return head >= NETTRACE_BLOCK_HEADER && head < SIZE_MAX_KNOWN &&
               flags <= NETTRACE_BLOCK_COMPRESSED;
    }
    uint64_t first = kind == KIND_POINT ? cursor_u64le(&c) : cursor_u32le(&c);
    uint32_t n = cursor_u32le(&c);
    if (kind == KIND_POINT)
        return !c.failed && cursor_left(&c) == (uint64_t)n * POINT_ROW;
    for (; n > 0 && !c.failed; n--)
        (void)cursor_skip(&c, cursor_u32le(&c));
    return kind != KIND_STACKS || (!c.failed && cursor_left(&c) == 0 && first <= UINT32_MAX);
}

/* Returns true if the object can have the content after `padding` zeros. Sets `is_fitting` if it
 * also ends at an end tag. */
static bool is_padding(const struct nettrace_reader *reader, const struct object_frame *frame,
                       const struct object_extent *extent, const struct nettrace_bytes *bytes,
                       unsigned padding, bool *is_fitting)
{
    static const uint8_t zeros[4];
    size_t left = bytes->n - padding, n = extent->size < left ? (size_t)extent->size : left;
    *is_fitting = is_object_end(bytes, bytes->offset + padding + extent->size);
    return memcmp(bytes->p, zeros, padding) == 0 &&
           is_body_start(reader, frame->kind, cursor_init(bytes->p + padding, n, 0));
}

/* Repair 1: tries paddings of 0 to 3 zeros. Chooses the one after which the content is possible
 * and ends at an end tag. If there is none, and the content at its own position is impossible: the
 * first padding after which it is possible. */
static ttr_status find_misaligned_body(struct nettrace_reader *reader,
                                       const struct object_frame *frame,
                                       struct object_extent *extent, struct nettrace_bytes *bytes)
{
    enum { NO_PADDING = 4 };
    uint64_t first = frame->payload + 4;
    unsigned fitting = NO_PADDING, possible = NO_PADDING, own = (unsigned)(extent->begin - first);
    ttr_status status =
        load_object_body(reader, frame, first, 3 + extent->size + 1 + FRAME_MAX, bytes);
    if (status != TTR_OK)
        return status;
    for (unsigned padding = 0; padding < NO_PADDING && bytes->n > padding; padding++) {
        bool is_fitting;
        if (!is_padding(reader, frame, extent, bytes, padding, &is_fitting))
            continue;
        fitting = is_fitting && fitting == NO_PADDING ? padding : fitting;
        possible = padding == own || possible == NO_PADDING ? padding : possible;
    }
    unsigned padding = fitting != NO_PADDING ? fitting : possible != NO_PADDING ? possible : own;
    if (padding != own)
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_ODD, first, "nettrace.misplaced",
            "a block after %u zeros of padding, which belong to another position: bytes "
            "before it are missing",
            padding);
    extent->begin = first + padding;
    if (fitting != NO_PADDING)
        extent->is_cut = extent->is_damaged = false;
    return load_object_body(reader, frame, extent->begin, extent->size + 1, bytes);
}

/* Ends a damaged object before the next one, which starts at index `found`. */
static void set_object_end(struct object_extent *extent, const struct nettrace_bytes *bytes,
                           size_t found)
{
    extent->is_damaged = extent->is_resized = true;
    extent->is_cut = false;
    extent->has_end_tag = found > 0 && bytes->p[found - 1] == NETTRACE_END;
    extent->size = found - extent->has_end_tag;
}

/* Tries repair 1. If no padding is suitable, repair 2: the content ends at the next frame with a
 * known name. */
static ttr_status measure_damaged_object(struct nettrace_reader *reader,
                                         const struct object_frame *frame,
                                         struct object_extent *extent, struct nettrace_bytes *bytes)
{
    ttr_status status = find_misaligned_body(reader, frame, extent, bytes);
    if (status != TTR_OK || (!extent->is_cut && !extent->is_damaged))
        return status;
    status = load_object_body(reader, frame, extent->begin, extent->size + 1 + FRAME_MAX, bytes);
    if (status != TTR_OK)
        return status;
    uint64_t most = extent->size + 1 + FRAME_MAX;
    size_t n = bytes->n < most ? bytes->n : (size_t)most, found = find_object(bytes->p, n);
    if (found < n)
        set_object_end(extent, bytes, found);
    return TTR_OK;
}

static ttr_status measure_object(struct nettrace_reader *reader, const struct object_frame *frame,
                                 struct object_extent *extent, struct nettrace_bytes *bytes)
{
    ttr_status status = nettrace_load_bytes(reader, frame->payload, 8, bytes);
    if (status != TTR_OK)
        return status;
    *extent = (struct object_extent){.begin = (frame->payload + 4 + 3) & ~UINT64_C(3)};
    if (bytes->n < extent->begin - frame->payload) {
        extent->begin = frame->payload;
        extent->is_cut = true;
        return TTR_OK;
    }
    uint32_t size = load_u32le(bytes->p);
    extent->is_damaged = size > OBJECT_MAX;
    extent->size = size;
    status = load_object_body(reader, frame, extent->begin,
                              extent->is_damaged ? SEARCH_BYTES : (uint64_t)size + 1, bytes);
    if (status != TTR_OK)
        return status;
    if (extent->is_damaged) {
        size_t n = bytes->n < SEARCH_BYTES ? bytes->n : SEARCH_BYTES,
               found = find_object(bytes->p, n);
        extent->size = n;
        if (found < n)
            set_object_end(extent, bytes, found);
        return TTR_OK;
    }
    extent->is_cut = bytes->n <= size;
    extent->is_damaged = !extent->is_cut && bytes->p[size] != NETTRACE_END;
    return extent->is_cut || extent->is_damaged
               ? measure_damaged_object(reader, frame, extent, bytes)
               : TTR_OK;
}

static ttr_status read_damaged_object(struct nettrace_reader *reader,
                                      const struct object_frame *frame,
                                      const struct object_extent *extent,
                                      struct nettrace_bytes *bytes)
{
    struct cursor c = cursor_init(
        bytes->p, extent->size < bytes->n ? (size_t)extent->size : bytes->n, bytes->offset);
    ttr_status status = parse_object_payload(reader, frame, &c,
                                             extent->is_resized ? OBJECT_RESIZED : OBJECT_UNKNOWN);
    if (status != TTR_OK)
        return status;
    uint64_t left = cursor_left(&c);
    queue_object_chunk(reader, frame, extent->begin, c.offset, true);
    if (extent->is_cut) {
        reader->is_over = true;
        reader->at = bytes->offset + bytes->n;
        return input_add_damage(
            reader->in, left ? c.offset : reader->at, left, "nettrace.cut", reader->error,
            "the trace ends inside a block: expected %llu bytes, found %zu; all "
            "complete events are kept",
            (unsigned long long)extent->size, bytes->n);
    }
    bool is_complete = left == 0 && extent->has_end_tag;
    reader->needs_resync = !is_complete;
    reader->at = c.offset + is_complete;
    return input_add_damage(
        reader->in, frame->payload, 0, "nettrace.bad-block", reader->error,
        "no end tag (6) after the %llu bytes of this block; its events are kept as "
        "far as they can be decoded",
        (unsigned long long)extent->size);
}

static ttr_status read_sized_object(struct nettrace_reader *reader,
                                    const struct object_frame *frame)
{
    struct nettrace_bytes bytes;
    struct object_extent extent;
    ttr_status status = measure_object(reader, frame, &extent, &bytes);
    if (status != TTR_OK)
        return status;
    if (extent.is_cut || extent.is_damaged)
        return read_damaged_object(reader, frame, &extent, &bytes);
    struct cursor c = cursor_init(bytes.p, (size_t)extent.size, bytes.offset);
    reader->at = extent.begin + extent.size + 1;
    status = parse_object_payload(reader, frame, &c, OBJECT_SIZED);
    bool has_rest = cursor_left(&c) > 0 || reader->has_bad_metadata || reader->segments.n > 0;
    bool is_part = frame->is_misspelled || c.failed ||
                   ((frame->kind == KIND_EVENTS || frame->kind == KIND_METADATA) && has_rest);
    queue_object_chunk(reader, frame, extent.begin, is_part ? c.offset : reader->at, is_part);
    return status;
}

static ttr_status read_trace_object(struct nettrace_reader *reader,
                                    const struct object_frame *frame)
{
    struct nettrace_bytes bytes;
    bool is_file = frame->kind == KIND_FILE;
    static const char *const versions[] = {"0", "1", "2", "3", "4"};
    if (reader->has_trace || reader->in->packets > 0) {
        reader->needs_resync = true;
        reader->at = frame->payload;
        return input_add_damage(
            reader->in, frame->payload, 0, "nettrace.second-trace", reader->error,
            "a Trace object after the first one or after blocks; it is not used");
    }
    reader->has_trace = true;
    uint32_t version = frame->version, least = is_file ? 1 : 3, most = is_file ? 2 : 4;
    if (version > most && frame->least > most)
        return fail(reader->error, TTR_E_UNSUPPORTED, reader->at,
                    "a trace of version %u, which needs a reader of version %u: expected at most 4",
                    version, frame->least);
    version = version < least ? least : version > most ? most : version;
    if (reader->version >= 4 || version > 3)
        version = 4;
    reader->version = version;
    reader->in->version = versions[version];
    uint64_t size = version < 3 ? NETTRACE_TRACE_OLD + 4 : NETTRACE_TRACE_BYTES;
    ttr_status status = nettrace_load_bytes(reader, frame->payload, size + 1, &bytes);
    if (status != TTR_OK)
        return status;
    struct cursor c = cursor_init(bytes.p, bytes.n, bytes.offset);
    if (version < 3)
        /* skip the offset of the end tag; the tag is found by its content */
        (void)cursor_u32le(&c);
    status = nettrace_parse_trace(reader, &c);
    if (status != TTR_OK)
        return status;
    if (c.failed) {
        reader->is_over = true;
        reader->at = bytes.offset + bytes.n;
        return input_add_damage(reader->in, bytes.offset, bytes.n, "nettrace.cut", reader->error,
                                "the trace ends inside its first object");
    }
    reader->at = c.offset;
    if (version >= 3) {
        reader->needs_resync = cursor_u8(&c) != NETTRACE_END && !c.failed;
        reader->at += !reader->needs_resync;
    }
    queue_object_chunk(reader, frame, frame->payload, reader->at < c.offset ? reader->at : c.offset,
                       version >= 3 && (reader->needs_resync || c.failed));
    return TTR_OK;
}

/* Returns true if an object follows bytes that look like an end mark, and another trace does not
 * start before it. */
static bool is_followed_by_object(const struct nettrace_bytes *bytes)
{
    size_t n = bytes->n < SEARCH_BYTES ? bytes->n : SEARCH_BYTES;
    bool is_other =
        n > NETTRACE_MAGIC_BYTES && memcmp(bytes->p + 1, NETTRACE_MAGIC, NETTRACE_MAGIC_BYTES) == 0;
    return n > 1 && !is_other && find_object(bytes->p + 1, n - 1) < n - 1;
}

/* Ends the trace at the end mark or the end of the input. If objects follow, the end mark was a
 * damaged tag of an object, so reading continues. */
static ttr_status read_end_mark(struct nettrace_reader *reader, struct nettrace_bytes *bytes)
{
    if (bytes->n == 0) {
        reader->is_over = true;
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_ODD, reader->at, "nettrace.no-end",
            "the trace ends without an end mark: its recorder was stopped; all events are kept");
        return TTR_OK;
    }
    /* this check needs bytes after the mark, which a live trace may send much later */
    if (!reader->emits_blocks) {
        ttr_status status = nettrace_load_bytes(reader, reader->at, SEARCH_BYTES, bytes);
        if (status != TTR_OK)
            return status;
        reader->needs_resync = is_followed_by_object(bytes);
    }
    return reader->needs_resync ? TTR_OK : nettrace_finish_trace(reader, 1);
}

/* Loads a frame, but no byte after it, which a live trace may send only with the next events. */
static ttr_status load_frame(struct nettrace_reader *reader, struct nettrace_bytes *bytes)
{
    ttr_status status = nettrace_load_bytes(reader, reader->at, FRAME_MIN, bytes);
    if (status != TTR_OK || bytes->n < FRAME_MIN)
        return status;
    uint32_t name_n = load_u32le(bytes->p + FRAME_MIN - 4);
    return nettrace_load_bytes(reader, reader->at,
                               name_n <= NETTRACE_NAME_MAX ? FRAME_MIN + name_n + 1 : FRAME_MAX,
                               bytes);
}

ttr_status nettrace_read_object(struct nettrace_reader *reader)
{
    struct nettrace_bytes bytes;
    struct object_frame frame;
    if (reader->needs_resync)
        return resync_to_object(reader);
    ttr_status status = load_frame(reader, &bytes);
    if (status != TTR_OK)
        return status;
    if (bytes.n == 0 || bytes.p[0] == NETTRACE_NULL)
        return read_end_mark(reader, &bytes);
    if (!read_frame(&bytes, &frame)) {
        status = nettrace_load_bytes(reader, reader->at, FRAME_MAX, &bytes);
        return status == TTR_OK ? report_bad_frame(reader, &bytes) : status;
    }
    if (frame.kind == KIND_TRACE || frame.kind == KIND_FILE)
        return read_trace_object(reader, &frame);
    if (frame.kind == KIND_UNKNOWN)
        frame.kind = find_nearest_object_kind(frame.name);
    if (frame.kind != KIND_UNKNOWN && find_object_kind(frame.name) == KIND_UNKNOWN) {
        frame.is_misspelled = true;
        status = input_add_damage(reader->in, frame.payload - frame.name.n - 1, frame.name.n,
                                  "nettrace.bad-name", reader->error,
                                  "an object \"%.*s\" is read as a %s", (int)frame.name.n,
                                  frame.name.p, names[frame.kind]);
    }
    return status == TTR_OK ? read_sized_object(reader, &frame) : status;
}
