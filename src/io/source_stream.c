/* Windows in memory: over the caller's bytes, over a buffer refilled from a feed, and over one that
 * its user fills.
 *
 * The buffer keeps what the reader has not consumed, moves it to the front before a read and grows
 * by doubling only when it is full: a bogus size in a damaged file costs at most twice what the
 * file really holds. */
#include <string.h>

#include "base/status.h"
#include "io/source_window.h"

enum {
    FIRST_READ =
        64 << 10, /* most small files, and all a pipe holds: no need for a large buffer yet */
    LATER_READ = 1 << 20
};

const uint8_t source_nothing[1] = {0};

static ttr_status memory_fill(struct source *source, uint64_t offset, size_t need, ttr_error *error)
{
    (void)error;
    size_t left = offset < source->in.memory.n ? source->in.memory.n - (size_t)offset : 0;
    size_t show = source->chunk && source->chunk < left ? source->chunk : left;
    if (show < need)
        show = need < left ? need : left;
    source->shown =
        (struct window){.bytes = left ? source->in.memory.bytes + offset : source_nothing,
                        .n = show,
                        .offset = offset,
                        .at_end = show == left};
    return TTR_OK;
}

static void memory_close(struct source *source)
{
    (void)source;
}

static size_t chunk_of(const struct source *source)
{
    return source->chunk ? source->chunk : LATER_READ;
}

static bool is_plain(const struct source *source)
{
    return source->feed == source->disk && source->disk_size > 0;
}

/* The first buffer: no larger than what can be read at once, or a small file and the byte that
 * shows its end. */
static size_t first_room(const struct source *source, size_t chunk)
{
    size_t want = chunk < FIRST_READ ? chunk : FIRST_READ;
    return is_plain(source) && source->disk_size < want ? (size_t)source->disk_size + 1 : want;
}

static bool grow(struct source *source, size_t want)
{
    uint8_t *bytes =
        alloc_resize(source->alloc, source->in.stream.bytes, source->in.stream.capacity, want, 1);
    if (!bytes)
        return false;
    source->in.stream.bytes = bytes;
    source->in.stream.capacity = want;
    return true;
}

/* Makes room for at least one more byte, on the way to `need`, and to the usual chunk once a
 * smaller buffer was full. */
static bool make_room(struct source *source, size_t need, bool was_full)
{
    size_t chunk = chunk_of(source);
    size_t now = source->in.stream.capacity;
    size_t want = now;
    if (now == 0)
        want = first_room(source, chunk);
    else if (was_full && now < chunk)
        want = chunk;
    else if (source->in.stream.n == now)
        want = need - now < now ? need : now * 2;
    return want == now || grow(source, want);
}

/* Hands a failure on, if anybody asks for it. */
static ttr_status told(const ttr_error *own, ttr_error *error)
{
    if (error)
        *error = *own;
    return own->status;
}

/* Whether all was read that a regular file had when it was opened, and no more. */
static bool is_at_known_end(const struct source *source)
{
    return is_plain(source) && feed_used(source->disk) == source->disk_size;
}

/* Reads until `need` bytes are there or the feed ends.  A regular file is asked once more after a
 * short read, because only a read of 0 says that it ended, or one that is short just where its size
 * says so; a pipe is not, because that could wait for long. */
static ttr_status read_until(struct source *source, size_t need, ttr_error *error)
{
    struct feed *feed = source->feed;
    bool was_full = source->in.stream.start + source->in.stream.n == source->in.stream.capacity;
    if (source->in.stream.n)
        memmove(source->in.stream.bytes, source->in.stream.bytes + source->in.stream.start,
                source->in.stream.n);
    source->in.stream.start = 0;
    bool is_short = false;
    ttr_error own;
    while (source->in.stream.n < need || is_short) {
        if (!make_room(source, need, was_full))
            return fail_memory(error);
        size_t room = source->in.stream.capacity - source->in.stream.n;
        size_t ask = chunk_of(source);
        if (need > source->in.stream.n && need - source->in.stream.n > ask)
            ask = need - source->in.stream.n;
        if (ask > room)
            ask = room;
        const bool was_peeked = feed->head_at < feed->head_n;
        int64_t got = feed_read(feed, source->in.stream.bytes + source->in.stream.n, ask, &own);
        if (got < 0)
            return told(&own, error);
        source->in.stream.n += (size_t)got;
        was_full = source->in.stream.n == source->in.stream.capacity;
        is_short = feed->may_grow && (size_t)got < ask;
        source->shown.at_end = got == 0 || (is_short && !was_peeked && is_at_known_end(source));
        if (source->shown.at_end)
            return TTR_OK;
    }
    return TTR_OK;
}

/* Passes over n bytes behind the window, which is empty: a file is read on from there, everything
 * else is read and forgotten. */
static ttr_status skip(struct source *source, uint64_t n, ttr_error *error)
{
    struct feed *feed = source->feed;
    ttr_error own;
    source->in.stream.start = 0;
    if (feed_jump(feed, n))
        return TTR_OK;
    while (n) {
        if (!make_room(source, 0, true))
            return fail_memory(error);
        size_t room = source->in.stream.capacity;
        int64_t got = feed_read(feed, source->in.stream.bytes, n < room ? (size_t)n : room, &own);
        if (got < 0)
            return told(&own, error);
        if (got == 0)
            return TTR_OK; /* the next read says so again */
        n -= (uint64_t)got;
    }
    return TTR_OK;
}

static ttr_status stream_fill(struct source *source, uint64_t offset, size_t need, ttr_error *error)
{
    uint64_t ahead = offset - source->shown.offset;
    size_t consumed = ahead < source->in.stream.n ? (size_t)ahead : source->in.stream.n;
    source->in.stream.start += consumed;
    source->in.stream.n -= consumed;
    source->shown.offset = offset;
    ttr_status status = consumed < ahead ? skip(source, ahead - consumed, error) : TTR_OK;
    if (status == TTR_OK && source->in.stream.n < need) {
        source->shown.at_end = false;
        status = read_until(source, need, error);
    }
    source->shown.bytes = source->in.stream.bytes
                              ? source->in.stream.bytes + source->in.stream.start
                              : source_nothing;
    source->shown.n = source->in.stream.n;
    return status;
}

bool source_stream_append(struct source *source, const void *bytes, size_t n)
{
    size_t kept = source->in.stream.n;
    size_t skipped = source->in.stream.passed < n ? (size_t)source->in.stream.passed : n;
    if (kept)
        memmove(source->in.stream.bytes, source->in.stream.bytes + source->in.stream.start, kept);
    source->in.stream.start = 0;
    n -= skipped;
    if (!alloc_reserve(source->alloc, (void **)&source->in.stream.bytes,
                       &source->in.stream.capacity, kept + n, 1))
        return false;
    if (n)
        memcpy(source->in.stream.bytes + kept, (const uint8_t *)bytes + skipped, n);
    source->in.stream.n = kept + n;
    source->in.stream.passed -= skipped;
    return true;
}

/* What lies between the end of what is there and a window beyond it is passed over when it comes.
 */
static ttr_status given_fill(struct source *source, uint64_t offset, size_t need, ttr_error *error)
{
    (void)need;
    (void)error;
    uint64_t ahead = offset - source->shown.offset;
    size_t consumed = ahead < source->in.stream.n ? (size_t)ahead : source->in.stream.n;
    source->in.stream.start += consumed;
    source->in.stream.n -= consumed;
    source->in.stream.passed += ahead - consumed;
    source->shown = (struct window){.bytes = source->in.stream.n
                                                 ? source->in.stream.bytes + source->in.stream.start
                                                 : source_nothing,
                                    .n = source->in.stream.n,
                                    .offset = offset,
                                    .at_end = true};
    return TTR_OK;
}

static void stream_close(struct source *source)
{
    alloc_free(source->alloc, source->in.stream.bytes, source->in.stream.capacity, 1);
}

const struct source_ops source_memory_ops = {.fill = memory_fill, .close = memory_close};
const struct source_ops source_stream_ops = {.fill = stream_fill, .close = stream_close};
const struct source_ops source_given_ops = {.fill = given_fill, .close = stream_close};
