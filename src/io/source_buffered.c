/* Windows in memory.
 *
 * Purpose: one interface, source_fill, over three kinds of input:
 *   memory    points into the caller's bytes; nothing is copied
 *   stream    a buffer that is refilled from a byte stream (byte_stream.h)
 *   given     a buffer that the caller appends to
 *
 * The buffer of a stream, where `start` advances as the reader consumes bytes:
 *
 *     | consumed | window        | free       |
 *     0          start           start + n    capacity
 *
 * stream_fill drops consumed bytes. If fewer than `need` remain, read_until_size moves the window
 * to the start of the buffer, enlarges the buffer if necessary, and reads until `need` bytes are
 * there or the input ends. Bytes before a later offset are skipped: with a seek in regular files,
 * else by reading and discarding.
 *
 * Growth: the first buffer is small (64 KiB, or the file size), the next has the chunk size. Beyond
 * that the capacity doubles only when the buffer is full of bytes that really exist. So a bogus
 * record size in a damaged file costs at most twice the size of the file, not the size it claims.
 *
 * Invariants: bytes in the window are valid until the next fill; the offset never decreases; an
 * error is returned only after all bytes before it were in a window; at_end is set only if the
 * input returned 0, or a regular file has reached its known size.
 *
 * Cost: moving costs at most one memmove of the unconsumed bytes per refill, typically less than
 * one record.
 *
 * Left out: moving backwards (source_peek_at reads any offset of a seekable source). */
#include <string.h>

#include "base/status.h"
#include "io/source_window.h"

enum {
    FIRST_READ_SIZE =
        64 << 10, /* bytes; enough for most small files and for the content of a pipe */
    LATER_READ_SIZE = 1 << 20
};

const uint8_t source_empty_window[1] = {0};

static ttr_status memory_fill(struct source *source, uint64_t offset, size_t need, ttr_error *error)
{
    (void)error;
    size_t left = offset < source->in.memory.n ? source->in.memory.n - (size_t)offset : 0;
    size_t show = source->chunk && source->chunk < left ? source->chunk : left;
    if (show < need)
        show = need < left ? need : left;
    source->shown =
        (struct window){.bytes = left ? source->in.memory.bytes + offset : source_empty_window,
                        .n = show,
                        .offset = offset,
                        .at_end = show == left};
    return TTR_OK;
}

static void memory_close(struct source *source)
{
    (void)source;
}

static size_t get_chunk_size(const struct source *source)
{
    return source->chunk ? source->chunk : LATER_READ_SIZE;
}

static bool is_uncompressed_file(const struct source *source)
{
    return source->stream == source->disk && source->disk_size > 0;
}

/* Returns the size of the first buffer: one read. For a small file one byte more than its size, so
 * that a read shows the end. */
static size_t get_first_buffer_size(const struct source *source, size_t chunk)
{
    size_t want = chunk < FIRST_READ_SIZE ? chunk : FIRST_READ_SIZE;
    return is_uncompressed_file(source) && source->disk_size < want ? (size_t)source->disk_size + 1
                                                                    : want;
}

/* Enlarges the buffer to `want` bytes. Returns false if memory runs out. */
static bool resize_buffer(struct source *source, size_t want)
{
    uint8_t *bytes =
        alloc_resize(source->alloc, source->in.buffer.bytes, source->in.buffer.capacity, want, 1);
    if (!bytes)
        return false;
    source->in.buffer.bytes = bytes;
    source->in.buffer.capacity = want;
    return true;
}

/* Enlarges the buffer on the way to `need` bytes. A smaller buffer that was full once grows to the
 * chunk size; then the size doubles. Returns false if memory runs out. */
static bool enlarge_buffer(struct source *source, size_t need, bool was_full)
{
    size_t chunk = get_chunk_size(source);
    size_t now = source->in.buffer.capacity;
    size_t want = now;
    if (now == 0)
        want = get_first_buffer_size(source, chunk);
    else if (was_full && now < chunk)
        want = chunk;
    else if (source->in.buffer.n == now)
        want = need - now < now ? need : now * 2;
    return want == now || resize_buffer(source, want);
}

/* Copies an error to the caller's struct, which may be NULL. Returns the status. */
static ttr_status copy_error(const ttr_error *ctx, ttr_error *error)
{
    if (error)
        *error = *ctx;
    return ctx->status;
}

/* Returns true if a regular file was read up to the size that it had when opened. */
static bool is_at_known_end(const struct source *source)
{
    return is_uncompressed_file(source) && byte_stream_offset(source->disk) == source->disk_size;
}

/* Reads until the buffer has `need` bytes or the stream ends. After a short read of a regular file,
 * reads again: only a read of 0, or reaching the known size, means its end. A pipe is not read
 * again, because that could block. */
static ttr_status read_until_size(struct source *source, size_t need, ttr_error *error)
{
    struct byte_stream *stream = source->stream;
    bool was_full = source->in.buffer.start + source->in.buffer.n == source->in.buffer.capacity;
    if (source->in.buffer.n)
        memmove(source->in.buffer.bytes, source->in.buffer.bytes + source->in.buffer.start,
                source->in.buffer.n);
    source->in.buffer.start = 0;
    bool is_short = false;
    ttr_error ctx;
    while (source->in.buffer.n < need || is_short) {
        if (!enlarge_buffer(source, need, was_full))
            return fail_memory(error);
        size_t room = source->in.buffer.capacity - source->in.buffer.n;
        size_t ask = get_chunk_size(source);
        if (need > source->in.buffer.n && need - source->in.buffer.n > ask)
            ask = need - source->in.buffer.n;
        if (ask > room)
            ask = room;
        const bool was_peeked = stream->head_at < stream->head_n;
        int64_t got =
            byte_stream_read(stream, source->in.buffer.bytes + source->in.buffer.n, ask, &ctx);
        if (got < 0)
            return copy_error(&ctx, error);
        source->in.buffer.n += (size_t)got;
        was_full = source->in.buffer.n == source->in.buffer.capacity;
        is_short = stream->may_grow && (size_t)got < ask;
        source->shown.at_end = got == 0 || (is_short && !was_peeked && is_at_known_end(source));
        if (source->shown.at_end)
            return TTR_OK;
    }
    return TTR_OK;
}

/* Skips n bytes after the empty window: by a seek in a regular file, else by reading and
 * discarding. */
static ttr_status skip_bytes(struct source *source, uint64_t n, ttr_error *error)
{
    struct byte_stream *stream = source->stream;
    ttr_error ctx;
    source->in.buffer.start = 0;
    if (byte_stream_skip(stream, n))
        return TTR_OK;
    while (n) {
        if (!enlarge_buffer(source, 0, true))
            return fail_memory(error);
        size_t room = source->in.buffer.capacity;
        int64_t got =
            byte_stream_read(stream, source->in.buffer.bytes, n < room ? (size_t)n : room, &ctx);
        if (got < 0)
            return copy_error(&ctx, error);
        if (got == 0)
            return TTR_OK; /* the next read reports the end or the error */
        n -= (uint64_t)got;
    }
    return TTR_OK;
}

static ttr_status stream_fill(struct source *source, uint64_t offset, size_t need, ttr_error *error)
{
    uint64_t ahead = offset - source->shown.offset;
    size_t consumed = ahead < source->in.buffer.n ? (size_t)ahead : source->in.buffer.n;
    source->in.buffer.start += consumed;
    source->in.buffer.n -= consumed;
    source->shown.offset = offset;
    ttr_status status = consumed < ahead ? skip_bytes(source, ahead - consumed, error) : TTR_OK;
    if (status == TTR_OK && source->in.buffer.n < need) {
        source->shown.at_end = false;
        status = read_until_size(source, need, error);
    }
    source->shown.bytes = source->in.buffer.bytes
                              ? source->in.buffer.bytes + source->in.buffer.start
                              : source_empty_window;
    source->shown.n = source->in.buffer.n;
    return status;
}

bool source_buffered_append(struct source *source, const void *bytes, size_t n)
{
    size_t kept = source->in.buffer.n;
    size_t skipped = source->in.buffer.passed < n ? (size_t)source->in.buffer.passed : n;
    if (kept)
        memmove(source->in.buffer.bytes, source->in.buffer.bytes + source->in.buffer.start, kept);
    source->in.buffer.start = 0;
    n -= skipped;
    if (!alloc_reserve(source->alloc, (void **)&source->in.buffer.bytes,
                       &source->in.buffer.capacity, kept + n, 1))
        return false;
    if (n)
        memcpy(source->in.buffer.bytes + kept, (const uint8_t *)bytes + skipped, n);
    source->in.buffer.n = kept + n;
    source->in.buffer.passed -= skipped;
    return true;
}

/* Implements source_ops.fill with the bytes appended so far. If `offset` is after them, the bytes
 * in between are discarded when they arrive. */
static ttr_status appendable_fill(struct source *source, uint64_t offset, size_t need,
                                  ttr_error *error)
{
    (void)need;
    (void)error;
    uint64_t ahead = offset - source->shown.offset;
    size_t consumed = ahead < source->in.buffer.n ? (size_t)ahead : source->in.buffer.n;
    source->in.buffer.start += consumed;
    source->in.buffer.n -= consumed;
    source->in.buffer.passed += ahead - consumed;
    source->shown = (struct window){.bytes = source->in.buffer.n
                                                 ? source->in.buffer.bytes + source->in.buffer.start
                                                 : source_empty_window,
                                    .n = source->in.buffer.n,
                                    .offset = offset,
                                    .at_end = true};
    return TTR_OK;
}

static void stream_close(struct source *source)
{
    alloc_free(source->alloc, source->in.buffer.bytes, source->in.buffer.capacity, 1);
}

const struct source_ops source_memory_ops = {.fill = memory_fill, .close = memory_close};
const struct source_ops source_buffered_ops = {.fill = stream_fill, .close = stream_close};
const struct source_ops source_appendable_ops = {.fill = appendable_fill, .close = stream_close};
