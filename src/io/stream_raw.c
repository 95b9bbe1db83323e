/* Raw byte streams over memory, descriptors and pull callbacks, and the functions that all byte
 * streams share: peeking, and reporting an error once. Short and interrupted reads, non-blocking
 * descriptors and cancellation are handled here: no caller sees EINTR or EAGAIN. */
#include "io/byte_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "io/descriptor_pool.h"

/* Maximum file offset. Sums of two such offsets do not overflow. */
#define FILE_OFFSET_MAX (UINT64_MAX / 4)

struct stream_raw {
    struct byte_stream stream;
    const struct alloc *alloc;
    const uint8_t *bytes; /* unread bytes of an input in memory; NULL for other inputs */
    size_t n;
    source_read_fn pull;
    bool (*can_pull)(void *ctx, unsigned ms); /* NULL = unknown */
    void *ctx;
    int fd, cancel_fd;
    struct shared_file *shared; /* file of a descriptor pool that provides the descriptor, or NULL
                                 * */
    bool is_owned;
    int sys; /* errno of the read that failed */
    uint64_t start;
};

static void raw_close(struct byte_stream *stream)
{
    struct stream_raw *raw = (struct stream_raw *)stream;
    if (raw->is_owned)
        (void)close(raw->fd); /* errors are ignored: the file was only read */
    alloc_free(raw->alloc, raw, 1, sizeof *raw);
}

static size_t memory_read(struct byte_stream *stream, void *to, size_t n)
{
    struct stream_raw *raw = (struct stream_raw *)stream;
    if (n > raw->n)
        n = raw->n;
    if (n)
        memcpy(to, raw->bytes, n);
    raw->bytes = n ? raw->bytes + n : raw->bytes;
    raw->n -= n;
    return n;
}

static size_t report_read_error(struct byte_stream *stream, int sys)
{
    ((struct stream_raw *)stream)->sys = sys;
    stream->failed = true;
    return 0;
}

static void raw_describe_error(const struct byte_stream *stream, ttr_error *error)
{
    (void)fail_sys(error, ((const struct stream_raw *)stream)->sys, byte_stream_offset(stream),
                   "cannot read %s at byte %llu", stream->name,
                   (unsigned long long)byte_stream_offset(stream));
}

static size_t read_from_callback(struct byte_stream *stream, void *to, size_t n)
{
    struct stream_raw *raw = (struct stream_raw *)stream;
    for (;;) {
        errno = 0;
        int64_t got = raw->pull(raw->ctx, to, n);
        if (got >= 0)
            return (uint64_t)got <= n ? (size_t)got : report_read_error(stream, EOVERFLOW);
        if (errno != EINTR && errno != EAGAIN)
            return report_read_error(stream, errno ? errno : EIO);
    }
}

/* Waits until the descriptor is readable. Returns false if the stream was cancelled through
 * cancel_fd. */
static bool wait_readable(const struct stream_raw *raw)
{
    struct pollfd waits[2] = {{.fd = raw->fd, .events = POLLIN},
                              {.fd = raw->cancel_fd, .events = POLLIN}};
    while (poll(waits, raw->cancel_fd >= 0 ? 2 : 1, -1) < 0)
        if (errno != EINTR && errno != EAGAIN)
            return true; /* poll failed: the following read reports the error */
    return !(raw->cancel_fd >= 0 && waits[1].revents);
}

static size_t stream_read(struct byte_stream *stream, void *to, size_t n)
{
    struct stream_raw *raw = (struct stream_raw *)stream;
    /* A blocking read cannot be cancelled. A cancellable stream therefore polls before each
     * read. */
    bool must_wait = raw->cancel_fd >= 0;
    for (;;) {
        if (must_wait && !wait_readable(raw))
            return 0;
        ssize_t got = read(raw->fd, to, n);
        if (got >= 0)
            return (size_t)got;
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            must_wait = true;
        else if (errno != EINTR)
            return report_read_error(stream, errno);
    }
}

int stream_raw_acquire_fd(const struct byte_stream *stream)
{
    const struct stream_raw *raw = (const struct stream_raw *)stream;
    return raw->shared ? shared_file_acquire(raw->shared) : raw->fd;
}

void stream_raw_release_fd(const struct byte_stream *stream)
{
    const struct stream_raw *raw = (const struct stream_raw *)stream;
    if (raw->shared)
        shared_file_release(raw->shared);
}

/* Reads at an offset with pread; repeats interrupted calls. Returns the count, or -1 with errno. */
static ssize_t read_at_offset(const struct byte_stream *stream, void *to, size_t n, uint64_t offset)
{
    const struct stream_raw *raw = (const struct stream_raw *)stream;
    ssize_t got;
    int fd = stream_raw_acquire_fd(stream);
    if (fd < 0)
        return -1;
    do
        got = pread(fd, to, n, (off_t)(raw->start + offset));
    while (got < 0 && errno == EINTR);
    stream_raw_release_fd(stream);
    return got;
}

static size_t file_read(struct byte_stream *stream, void *to, size_t n)
{
    ssize_t got = read_at_offset(stream, to, n, byte_stream_offset(stream));
    return got >= 0 ? (size_t)got : report_read_error(stream, errno);
}

static const struct byte_stream_ops memory_ops = {
    .read = memory_read, .describe_error = raw_describe_error, .close = raw_close};
static const struct byte_stream_ops pull_ops = {
    .read = read_from_callback, .describe_error = raw_describe_error, .close = raw_close};
static const struct byte_stream_ops stream_ops = {
    .read = stream_read, .describe_error = raw_describe_error, .close = raw_close};
static const struct byte_stream_ops file_ops = {
    .read = file_read, .describe_error = raw_describe_error, .close = raw_close};

static struct stream_raw *raw_new(const struct alloc *alloc, const struct byte_stream_ops *ops)
{
    struct stream_raw *raw = alloc_zero(alloc, 1, sizeof *raw);
    if (!raw)
        return NULL;
    raw->stream.ops = ops;
    raw->stream.name = "input";
    raw->alloc = alloc;
    raw->fd = -1;
    raw->cancel_fd = -1;
    return raw;
}

struct byte_stream *stream_raw_from_memory(const struct alloc *alloc, const void *bytes, size_t n)
{
    struct stream_raw *raw = raw_new(alloc, &memory_ops);
    if (!raw)
        return NULL;
    raw->bytes = bytes;
    raw->n = n;
    return &raw->stream;
}

struct byte_stream *stream_raw_from_fd(const struct alloc *alloc, int fd, bool is_owned,
                                       bool is_regular, uint64_t start)
{
    struct stream_raw *raw = raw_new(alloc, is_regular ? &file_ops : &stream_ops);
    if (!raw)
        return NULL;
    raw->fd = fd;
    raw->is_owned = is_owned;
    raw->start = start;
    raw->stream.may_grow = is_regular;
    return &raw->stream;
}

void stream_raw_use_pool(struct byte_stream *file, struct shared_file *shared)
{
    struct stream_raw *raw = (struct stream_raw *)file;
    raw->shared = shared;
    raw->is_owned = false;
    raw->fd = -1;
}

struct byte_stream *stream_raw_from_callback(const struct alloc *alloc, source_read_fn pull,
                                             bool (*can_pull)(void *ctx, unsigned ms), void *ctx)
{
    struct stream_raw *raw = raw_new(alloc, &pull_ops);
    if (!raw)
        return NULL;
    raw->pull = pull;
    raw->can_pull = can_pull;
    raw->ctx = ctx;
    return &raw->stream;
}

bool stream_raw_is_paused(const struct byte_stream *stream, unsigned ms)
{
    const struct stream_raw *raw = (const struct stream_raw *)stream;
    return raw->can_pull && !stream->ended && stream->head_at == stream->head_n &&
           !raw->can_pull(raw->ctx, ms);
}

void stream_raw_set_cancel_fd(struct byte_stream *stream, int cancel_fd)
{
    struct stream_raw *raw = (struct stream_raw *)stream;
    raw->cancel_fd = cancel_fd;
}

/* Calls ops->read once and counts the bytes. Returns 0 at the end of the input or if stream->failed
 * was set. */
static size_t read_and_count(struct byte_stream *stream, void *to, size_t n)
{
    if (stream->ended || stream->failed || n == 0)
        return 0;
    size_t got = stream->ops->read(stream, to, n);
    stream->ended = got == 0 && !stream->may_grow;
    atomic_fetch_add_explicit(&stream->used, got, memory_order_relaxed);
    return got;
}

int64_t byte_stream_read(struct byte_stream *stream, void *to, size_t n, ttr_error *error)
{
    size_t peeked = (size_t)(stream->head_n - stream->head_at);
    if (peeked) {
        n = n < peeked ? n : peeked;
        memcpy(to, stream->head + stream->head_at, n);
        stream->head_at = (uint16_t)(stream->head_at + n);
        return (int64_t)n;
    }
    size_t got = read_and_count(stream, to, n);
    if (got || !stream->failed)
        return (int64_t)got;
    stream->failed = false;
    stream->ended = true;
    if (error)
        stream->ops->describe_error(stream, error);
    return -1;
}

size_t byte_stream_peek(struct byte_stream *stream, size_t n)
{
    while ((size_t)(stream->head_n - stream->head_at) < n) {
        size_t got = read_and_count(stream, stream->head + stream->head_n,
                                    BYTE_STREAM_PEEK_MAX - (size_t)stream->head_n);
        if (!got)
            break;
        stream->head_n = (uint16_t)(stream->head_n + got);
    }
    return (size_t)(stream->head_n - stream->head_at);
}

bool byte_stream_skip(struct byte_stream *stream, uint64_t n)
{
    const struct stream_raw *raw = (const struct stream_raw *)stream;
    if (stream->ops != &file_ops)
        return false;
    uint64_t peeked = (uint64_t)(stream->head_n - stream->head_at),
             used = byte_stream_offset(stream);
    stream->head_at = (uint16_t)(stream->head_at + (n < peeked ? n : peeked));
    n -= n < peeked ? n : peeked;
    if (used + raw->start > FILE_OFFSET_MAX || n > FILE_OFFSET_MAX - used - raw->start)
        stream->ended = true;
    else
        atomic_fetch_add_explicit(&stream->used, n, memory_order_relaxed);
    return true;
}

int64_t stream_raw_read_at(const struct byte_stream *stream, uint64_t offset, void *to, size_t n,
                           ttr_error *error)
{
    const struct stream_raw *raw = (const struct stream_raw *)stream;
    uint8_t *bytes = to;
    size_t done = 0;
    /* The peeked bytes are those at the start of the file, so they can be copied from `head`. */
    if (offset < stream->head_n) {
        done = stream->head_n - (size_t)offset < n ? stream->head_n - (size_t)offset : n;
        memcpy(bytes, stream->head + offset, done);
    }
    while (done < n && offset <= FILE_OFFSET_MAX - raw->start) {
        ssize_t got = read_at_offset(stream, bytes + done, n - done, offset + done);
        if (got == 0)
            break;
        if (got < 0) {
            (void)fail_sys(error, errno, offset, "cannot read %s at byte %llu", stream->name,
                           (unsigned long long)offset);
            return -1;
        }
        done += (size_t)got;
    }
    return (int64_t)done;
}

void stream_raw_prefetch(const struct byte_stream *stream, uint64_t offset, size_t n)
{
    const struct stream_raw *raw = (const struct stream_raw *)stream;
    const int fd = offset <= FILE_OFFSET_MAX - raw->start ? stream_raw_acquire_fd(stream) : -1;
    if (fd < 0)
        return;
    (void)posix_fadvise(fd, (off_t)(raw->start + offset), (off_t)n,
                        POSIX_FADV_WILLNEED); /* only advice: a failure is harmless */
    stream_raw_release_fd(stream);
}

void byte_stream_close(struct byte_stream *stream)
{
    if (stream)
        stream->ops->close(stream);
}
