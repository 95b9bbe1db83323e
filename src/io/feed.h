/* A byte stream: consecutive bytes of an input, read by the windows of sources.
 *
 * The streams of one source form a stack, and each owns the one below it:
 *
 *     window           source_stream.c   copies bytes into its buffer
 *     threaded stream  decode.c          optional: reads ahead on a thread
 *     decompression    inflate.c         0 to 4 levels
 *     raw stream       feed.c            memory, a descriptor or a pull callback
 *
 * An error is reported once, after all bytes before it were read; then the stream has ended.
 * Threads: one thread at a time, except that feed_used may be called from any. */
#ifndef TRACETTA_IO_FEED_H
#define TRACETTA_IO_FEED_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/alloc.h"
#include "io/source.h"

#define FEED_HEAD                                                                              \
/* bytes that can be peeked; the longest magic number has 10, and the caller usually reads the \
 * file header next */
256

    struct feed;
struct shared_file;

struct feed_ops {
    /* Reads up to n bytes. Returns 0 at the end, or after setting feed->failed. */
    size_t (*read)(struct feed *feed, void *to, size_t n);
    /* Describes the failure of the last read in `error`. */
    void (*tell)(const struct feed *feed, ttr_error *error);
    void (*close)(struct feed *feed);
};

struct feed {
    const struct feed_ops *ops;
    const char *name;   /* file name for messages; borrowed */
    bool may_grow;      /* a regular file: more bytes may follow after the end */
    bool ended, failed; /* failed: an error is not reported yet */
    uint16_t head_at, head_n;
    uint8_t head[FEED_HEAD]; /* peeked bytes that were not read yet: [head_at, head_n) */
    _Atomic uint64_t used;   /* bytes obtained through ops->read so far */
};

/* Creates a stream over memory, which is borrowed until feed_close. */
struct feed *feed_of_memory(const struct alloc *alloc, const void *bytes, size_t n);

/* Creates a stream over a descriptor. A regular file is read from offset `start` with pread,
 * anything else with read. Closes the descriptor with the stream if `is_owned`. */
struct feed *feed_of_fd(const struct alloc *alloc, int fd, bool is_owned, bool is_regular,
                        uint64_t start);

/* Makes a stream over a regular file obtain its descriptor from a pool. `shared` must outlive the
 * stream. */
void feed_share(struct feed *file, struct shared_file *shared);

/* feed_take_fd returns the descriptor of a raw stream, which stays open until feed_give_fd; -1 with
 * errno. */
int feed_take_fd(const struct feed *feed);
void feed_give_fd(const struct feed *feed);

struct feed *feed_of_pull(const struct alloc *alloc, source_pull pull, void *own);

/* Makes a raw stream cancellable: reads wait for bytes or until `stop_fd` is readable, and then end
 * the stream. */
void feed_stop_by(struct feed *raw, int stop_fd);

/* Reads up to n bytes. Returns the count, 0 at the end, or -1 with `error` (may be NULL). */
int64_t feed_read(struct feed *feed, void *to, size_t n, ttr_error *error);

/* Loads at least n <= FEED_HEAD bytes into feed->head without consuming them. Returns how many are
 * there: fewer than n only at the end. */
size_t feed_peek(struct feed *feed, size_t n);

/* Skips n bytes of a regular file without reading them. Returns false for any other stream. */
TTR_MUST bool feed_jump(struct feed *feed, uint64_t n);

/* Copies up to n bytes from `offset` of a regular file without moving the stream. Returns the
 * count, less than n only at the end, or -1 with `error`. */
int64_t feed_read_at(const struct feed *feed, uint64_t offset, void *to, size_t n,
                     ttr_error *error);

/* Asks the kernel to prefetch a range of a regular file. */
void feed_foretell(const struct feed *feed, uint64_t offset, size_t n);

static inline uint64_t feed_used(const struct feed *feed)
{
    return atomic_load_explicit(&feed->used, memory_order_relaxed);
}

/* Closes the stream and those below it. NULL is allowed. */
void feed_close(struct feed *feed);

#endif
