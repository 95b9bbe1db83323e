/* Raw byte streams over memory, descriptors and pull callbacks, and the functions that all byte
 * streams share: peeking, and reporting an error once. Short and interrupted reads, non-blocking
 * descriptors and cancellation are handled here: no caller sees EINTR or EAGAIN. */
#include "io/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "io/descriptors.h"

/* Maximum file offset. Sums of two such offsets do not overflow. */
#define FILE_MOST (UINT64_MAX / 4)

struct raw_feed {
    struct feed feed;
    const struct alloc *alloc;
    const uint8_t *bytes; /* remaining bytes of memory; NULL for other kinds */
    size_t n;
    source_pull pull;
    void *own;
    int fd, stop_fd;
    struct shared_file *shared; /* owner of the descriptor, or NULL */
    bool is_owned;
    int sys; /* errno of the failed read */
    uint64_t start;
};

static void raw_close(struct feed *feed)
{
    struct raw_feed *raw = (struct raw_feed *)feed;
    if (raw->is_owned)
        (void)close(raw->fd); /* opened for reading, so a failed close loses nothing */
    alloc_free(raw->alloc, raw, 1, sizeof *raw);
}

static size_t memory_read(struct feed *feed, void *to, size_t n)
{
    struct raw_feed *raw = (struct raw_feed *)feed;
    if (n > raw->n)
        n = raw->n;
    if (n)
        memcpy(to, raw->bytes, n);
    raw->bytes = n ? raw->bytes + n : raw->bytes;
    raw->n -= n;
    return n;
}

static size_t read_failed(struct feed *feed, int sys)
{
    ((struct raw_feed *)feed)->sys = sys;
    feed->failed = true;
    return 0;
}

static void raw_tell(const struct feed *feed, ttr_error *error)
{
    (void)fail_sys(error, ((const struct raw_feed *)feed)->sys, feed_used(feed),
                   "cannot read %s at byte %llu", feed->name, (unsigned long long)feed_used(feed));
}

static size_t pull_read(struct feed *feed, void *to, size_t n)
{
    struct raw_feed *raw = (struct raw_feed *)feed;
    for (;;) {
        errno = 0;
        int64_t got = raw->pull(raw->own, to, n);
        if (got >= 0)
            return (uint64_t)got <= n ? (size_t)got : read_failed(feed, EOVERFLOW);
        if (errno != EINTR && errno != EAGAIN)
            return read_failed(feed, errno ? errno : EIO);
    }
}

/* Waits until the descriptor is readable. Returns false if the stream was cancelled through
 * stop_fd. */
static bool wait_readable(const struct raw_feed *raw)
{
    struct pollfd waits[2] = {{.fd = raw->fd, .events = POLLIN},
                              {.fd = raw->stop_fd, .events = POLLIN}};
    while (poll(waits, raw->stop_fd >= 0 ? 2 : 1, -1) < 0)
        if (errno != EINTR && errno != EAGAIN)
            return true; /* the following read reports the error */
    return !(raw->stop_fd >= 0 && waits[1].revents);
}

static size_t stream_read(struct feed *feed, void *to, size_t n)
{
    struct raw_feed *raw = (struct raw_feed *)feed;
    bool must_wait = raw->stop_fd >= 0; /* a blocking read could not be cancelled */
    for (;;) {
        if (must_wait && !wait_readable(raw))
            return 0;
        ssize_t got = read(raw->fd, to, n);
        if (got >= 0)
            return (size_t)got;
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            must_wait = true;
        else if (errno != EINTR)
            return read_failed(feed, errno);
    }
}

int feed_take_fd(const struct feed *feed)
{
    const struct raw_feed *raw = (const struct raw_feed *)feed;
    return raw->shared ? shared_file_take(raw->shared) : raw->fd;
}

void feed_give_fd(const struct feed *feed)
{
    const struct raw_feed *raw = (const struct raw_feed *)feed;
    if (raw->shared)
        shared_file_give(raw->shared);
}

/* Calls pread until it is not interrupted. Returns the count, or -1 with errno. */
static ssize_t read_at(const struct feed *feed, void *to, size_t n, uint64_t offset)
{
    const struct raw_feed *raw = (const struct raw_feed *)feed;
    ssize_t got;
    int fd = feed_take_fd(feed);
    if (fd < 0)
        return -1;
    do
        got = pread(fd, to, n, (off_t)(raw->start + offset));
    while (got < 0 && errno == EINTR);
    feed_give_fd(feed);
    return got;
}

static size_t file_read(struct feed *feed, void *to, size_t n)
{
    ssize_t got = read_at(feed, to, n, feed_used(feed));
    return got >= 0 ? (size_t)got : read_failed(feed, errno);
}

static const struct feed_ops memory_ops = {
    .read = memory_read, .tell = raw_tell, .close = raw_close};
static const struct feed_ops pull_ops = {.read = pull_read, .tell = raw_tell, .close = raw_close};
static const struct feed_ops stream_ops = {
    .read = stream_read, .tell = raw_tell, .close = raw_close};
static const struct feed_ops file_ops = {.read = file_read, .tell = raw_tell, .close = raw_close};

static struct raw_feed *raw_new(const struct alloc *alloc, const struct feed_ops *ops)
{
    struct raw_feed *raw = alloc_zero(alloc, 1, sizeof *raw);
    if (!raw)
        return NULL;
    raw->feed.ops = ops;
    raw->feed.name = "input";
    raw->alloc = alloc;
    raw->fd = -1;
    raw->stop_fd = -1;
    return raw;
}

struct feed *feed_of_memory(const struct alloc *alloc, const void *bytes, size_t n)
{
    struct raw_feed *raw = raw_new(alloc, &memory_ops);
    if (!raw)
        return NULL;
    raw->bytes = bytes;
    raw->n = n;
    return &raw->feed;
}

struct feed *feed_of_fd(const struct alloc *alloc, int fd, bool is_owned, bool is_regular,
                        uint64_t start)
{
    struct raw_feed *raw = raw_new(alloc, is_regular ? &file_ops : &stream_ops);
    if (!raw)
        return NULL;
    raw->fd = fd;
    raw->is_owned = is_owned;
    raw->start = start;
    raw->feed.may_grow = is_regular;
    return &raw->feed;
}

void feed_share(struct feed *file, struct shared_file *shared)
{
    struct raw_feed *raw = (struct raw_feed *)file;
    raw->shared = shared;
    raw->is_owned = false;
    raw->fd = -1;
}

struct feed *feed_of_pull(const struct alloc *alloc, source_pull pull, void *own)
{
    struct raw_feed *raw = raw_new(alloc, &pull_ops);
    if (!raw)
        return NULL;
    raw->pull = pull;
    raw->own = own;
    return &raw->feed;
}

void feed_stop_by(struct feed *feed, int stop_fd)
{
    struct raw_feed *raw = (struct raw_feed *)feed;
    raw->stop_fd = stop_fd;
}

/* Reads once from below and counts the bytes. Returns 0 at the end or if feed->failed was set. */
static size_t take(struct feed *feed, void *to, size_t n)
{
    if (feed->ended || feed->failed || n == 0)
        return 0;
    size_t got = feed->ops->read(feed, to, n);
    feed->ended = got == 0 && !feed->may_grow;
    atomic_fetch_add_explicit(&feed->used, got, memory_order_relaxed);
    return got;
}

int64_t feed_read(struct feed *feed, void *to, size_t n, ttr_error *error)
{
    size_t peeked = (size_t)(feed->head_n - feed->head_at);
    if (peeked) {
        n = n < peeked ? n : peeked;
        memcpy(to, feed->head + feed->head_at, n);
        feed->head_at = (uint16_t)(feed->head_at + n);
        return (int64_t)n;
    }
    size_t got = take(feed, to, n);
    if (got || !feed->failed)
        return (int64_t)got;
    feed->failed = false;
    feed->ended = true;
    if (error)
        feed->ops->tell(feed, error);
    return -1;
}

size_t feed_peek(struct feed *feed, size_t n)
{
    while ((size_t)(feed->head_n - feed->head_at) < n) {
        size_t got = take(feed, feed->head + feed->head_n, FEED_HEAD - (size_t)feed->head_n);
        if (!got)
            break;
        feed->head_n = (uint16_t)(feed->head_n + got);
    }
    return (size_t)(feed->head_n - feed->head_at);
}

bool feed_jump(struct feed *feed, uint64_t n)
{
    const struct raw_feed *raw = (const struct raw_feed *)feed;
    if (feed->ops != &file_ops)
        return false;
    uint64_t peeked = (uint64_t)(feed->head_n - feed->head_at), used = feed_used(feed);
    feed->head_at = (uint16_t)(feed->head_at + (n < peeked ? n : peeked));
    n -= n < peeked ? n : peeked;
    if (used + raw->start > FILE_MOST || n > FILE_MOST - used - raw->start)
        feed->ended = true;
    else
        atomic_fetch_add_explicit(&feed->used, n, memory_order_relaxed);
    return true;
}

int64_t feed_read_at(const struct feed *feed, uint64_t offset, void *to, size_t n, ttr_error *error)
{
    const struct raw_feed *raw = (const struct raw_feed *)feed;
    uint8_t *bytes = to;
    size_t done = 0;
    /* the peeked bytes are at the start of the file and still in `head` */
    if (offset < feed->head_n) {
        done = feed->head_n - (size_t)offset < n ? feed->head_n - (size_t)offset : n;
        memcpy(bytes, feed->head + offset, done);
    }
    while (done < n && offset <= FILE_MOST - raw->start) {
        ssize_t got = read_at(feed, bytes + done, n - done, offset + done);
        if (got == 0)
            break;
        if (got < 0) {
            (void)fail_sys(error, errno, offset, "cannot read %s at byte %llu", feed->name,
                           (unsigned long long)offset);
            return -1;
        }
        done += (size_t)got;
    }
    return (int64_t)done;
}

void feed_foretell(const struct feed *feed, uint64_t offset, size_t n)
{
    const struct raw_feed *raw = (const struct raw_feed *)feed;
    const int fd = offset <= FILE_MOST - raw->start ? feed_take_fd(feed) : -1;
    if (fd < 0)
        return;
    (void)posix_fadvise(fd, (off_t)(raw->start + offset), (off_t)n,
                        POSIX_FADV_WILLNEED); /* a hint: failure is harmless */
    feed_give_fd(feed);
}

void feed_close(struct feed *feed)
{
    if (feed)
        feed->ops->close(feed);
}
