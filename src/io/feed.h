/* A feed hands out consecutive bytes and remembers its own failure: what lies below every window.
 *
 * Raw feeds (feed.c) read memory, a descriptor or a pull function; inflate.c puts a decoder over a
 * feed, decode.c a thread over that.  Each owns the feed under it.  A failure is told once, after
 * every byte before it was handed out; then the feed ends. Thread rule: one thread at a time, but
 * feed_used may be asked from any. */
#ifndef TRACETTA_IO_FEED_H
#define TRACETTA_IO_FEED_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/alloc.h"
#include "io/source.h"

#define FEED_HEAD                                                                              \
    256 /* bytes that can be peeked: the longest magic has 10, and whoever opens a file mostly \
           looks at its header next */

struct feed;
struct shared_file;

struct feed_ops {
    /* Writes up to n bytes; 0 at the end, or after setting feed->failed. */
    size_t (*read)(struct feed *feed, void *to, size_t n);
    /* Why that failed. */
    void (*tell)(const struct feed *feed, ttr_error *error);
    void (*close)(struct feed *feed);
};

struct feed {
    const struct feed_ops *ops;
    const char *name;   /* for messages; borrowed */
    bool may_grow;      /* a regular file: after its end there may be more later */
    bool ended, failed; /* failed: why is still to be told */
    uint16_t head_at, head_n;
    uint8_t head[FEED_HEAD]; /* peeked, not yet handed out: [head_at, head_n) */
    _Atomic uint64_t used;   /* bytes taken from `read` so far */
};

/* Bytes that stay borrowed until the feed is closed. */
struct feed *feed_of_memory(const struct alloc *alloc, const void *bytes, size_t n);

/* A descriptor; a regular file is read from `start` by pread, anything else as it comes.  Closed
 * with the feed if `is_owned`. */
struct feed *feed_of_fd(const struct alloc *alloc, int fd, bool is_owned, bool is_regular,
                        uint64_t start);

/* Makes a feed of a regular file take its descriptor from a pool; the file outlives the feed. */
void feed_share(struct feed *file, struct shared_file *shared);

/* The descriptor of a raw feed for the time until it is given back; -1 with errno. */
int feed_take_fd(const struct feed *feed);
void feed_give_fd(const struct feed *feed);

struct feed *feed_of_pull(const struct alloc *alloc, source_pull pull, void *own);

/* Lets a raw feed of a descriptor end early: a read waits for bytes or for `stop_fd` to become
 * readable. */
void feed_stop_by(struct feed *raw, int stop_fd);

/* Reads up to n bytes: the count, 0 at the end, or -1 with `error` (may be NULL). */
int64_t feed_read(struct feed *feed, void *to, size_t n, ttr_error *error);

/* Makes at least n <= FEED_HEAD bytes visible in feed->head without handing them out, fewer at the
 * end; gives how many. */
size_t feed_peek(struct feed *feed, size_t n);

/* Moves a feed of a regular file n bytes on without reading them; false where that cannot be. */
TTR_MUST bool feed_jump(struct feed *feed, uint64_t n);

/* Copies up to n bytes from `offset` of a feed of a regular file, which stays where it is: the
 * count, fewer at the end, or -1 with `error`. */
int64_t feed_read_at(const struct feed *feed, uint64_t offset, void *to, size_t n,
                     ttr_error *error);

/* Says that such bytes of a regular file will soon be read; they are fetched meanwhile, where they
 * must be. */
void feed_foretell(const struct feed *feed, uint64_t offset, size_t n);

static inline uint64_t feed_used(const struct feed *feed)
{
    return atomic_load_explicit(&feed->used, memory_order_relaxed);
}

/* Closes the feed and those under it; NULL is fine. */
void feed_close(struct feed *feed);

#endif
