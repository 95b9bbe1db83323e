/* A byte stream: consecutive bytes of an input, read by the windows of sources.
 *
 * The streams of one source form a stack, and each owns the one below it:
 *
 *     window           source_buffered.c   copies bytes into its buffer
 *     threaded stream  stream_thread.c          optional: reads ahead on a thread
 *     decompression    stream_zip.c         0 to 4 levels
 *     raw stream       stream_raw.c            memory, a descriptor or a pull callback
 *
 * An error is reported once, after all bytes before it were read; then the stream has ended.
 * Threads: one thread at a time, except that byte_stream_offset may be called from any. */
#ifndef TRACETTA_IO_BYTE_STREAM_H
#define TRACETTA_IO_BYTE_STREAM_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/alloc.h"
#include "io/source.h"

/* Number of bytes that can be peeked. The longest magic number has 10 bytes, and the caller usually
 * reads the file header next. */
#define BYTE_STREAM_PEEK_MAX 256

struct byte_stream;
struct shared_file;

struct byte_stream_ops {
    /* Reads up to n bytes and returns their number. Returns 0 at the end of the input, or after
     * setting stream->failed. */
    size_t (*read)(struct byte_stream *stream, void *to, size_t n);
    /* Describes the failure of the last read in `error`. */
    void (*describe_error)(const struct byte_stream *stream, ttr_error *error);
    void (*close)(struct byte_stream *stream);
};

struct byte_stream {
    const struct byte_stream_ops *ops;
    const char *name;   /* file name for messages; borrowed */
    bool may_grow;      /* the input is a regular file: more bytes may follow after its end */
    bool ended, failed; /* ended: no more bytes follow; failed: an error is not reported yet */
    uint16_t head_at, head_n;
    uint8_t head[BYTE_STREAM_PEEK_MAX]; /* peeked bytes; those at [head_at, head_n) are still to be
                                         * read */
    _Atomic uint64_t used;              /* number of bytes obtained through ops->read so far */
};

/* Creates a stream over memory, which is borrowed until byte_stream_close. */
struct byte_stream *stream_raw_from_memory(const struct alloc *alloc, const void *bytes, size_t n);

/* Creates a stream over a descriptor. A regular file is read from offset `start` with pread,
 * anything else with read. Closes the descriptor with the stream if `is_owned`. */
struct byte_stream *stream_raw_from_fd(const struct alloc *alloc, int fd, bool is_owned,
                                       bool is_regular, uint64_t start);

/* Makes a stream over a regular file obtain its descriptor from a pool. `shared` must outlive the
 * stream. */
void stream_raw_use_pool(struct byte_stream *file, struct shared_file *shared);

/* stream_raw_acquire_fd returns the descriptor of a raw stream, or -1 with errno. The descriptor
 * stays open until stream_raw_release_fd. */
int stream_raw_acquire_fd(const struct byte_stream *stream);
void stream_raw_release_fd(const struct byte_stream *stream);

/* `can_pull` returns false if `pull` would still wait after `ms` milliseconds; NULL = unknown. */
struct byte_stream *stream_raw_from_callback(const struct alloc *alloc, source_read_fn pull,
                                             bool (*can_pull)(void *ctx, unsigned ms), void *ctx);

/* Returns true if a raw stream has a can_pull callback that returns false, and no peeked bytes. */
bool stream_raw_is_paused(const struct byte_stream *raw, unsigned ms);

/* Makes a raw stream cancellable: reads wait for bytes or until `cancel_fd` is readable, and then
 * end the stream. */
void stream_raw_set_cancel_fd(struct byte_stream *raw, int cancel_fd);

/* Reads up to n bytes. Returns the count, 0 at the end, or -1 with `error` (may be NULL). */
int64_t byte_stream_read(struct byte_stream *stream, void *to, size_t n, ttr_error *error);

/* Makes at least n <= BYTE_STREAM_PEEK_MAX unread bytes available in stream->head. Returns their
 * number, which is below n only at the end of the input. */
size_t byte_stream_peek(struct byte_stream *stream, size_t n);

/* Skips n bytes of a regular file without reading them. Returns false for any other stream. */
TTR_MUST bool byte_stream_skip(struct byte_stream *stream, uint64_t n);

/* Copies up to n bytes from `offset` of a regular file without moving the stream. Returns the
 * count, less than n only at the end, or -1 with `error`. */
int64_t stream_raw_read_at(const struct byte_stream *stream, uint64_t offset, void *to, size_t n,
                           ttr_error *error);

/* Asks the kernel to prefetch a range of a regular file. */
void stream_raw_prefetch(const struct byte_stream *stream, uint64_t offset, size_t n);

static inline uint64_t byte_stream_offset(const struct byte_stream *stream)
{
    return atomic_load_explicit(&stream->used, memory_order_relaxed);
}

/* Closes the stream and the streams that it reads from. NULL is allowed. */
void byte_stream_close(struct byte_stream *stream);

#endif
