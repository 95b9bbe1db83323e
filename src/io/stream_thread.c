/* Decompression on a separate thread.
 *
 * Purpose: on two cores, decompression and the decoding of events run at the same time.
 *
 * Method: a bounded ring buffer with one producer (the decoder thread) and one consumer (the
 * source's window):
 *
 *     chunks   [ 0 ][ 1 ][ 2 ][ 3 ]     4 x 256 KiB
 *                 ^         ^
 *                 taken     filled      counters, never reset; slot = counter % 4
 *
 * The thread waits until filled - taken < 4, reads from the stream below into a free chunk, then
 * increments `filled`. The window copies from the oldest chunk and increments `taken` when it is
 * used up.
 *
 * Order of calls: stream_thread_open starts the thread, or leaves the stream as it is if the system
 * refuses one. Then stream_thread_read; stream_thread_close stops and joins the thread and closes
 * the streams below.
 *
 * Invariants: a chunk belongs to exactly one thread at a time, so only the counters and flags are
 * protected by the mutex. The thread never calls the allocator, which need not be thread-safe.
 * After has_ended no counter changes, and the thread no longer touches the stream below.
 *
 * Cancellation: close sets `stop` and writes to an eventfd. The raw stream polls that eventfd
 * together with its pipe or socket, so it does not block. Only a pull callback can delay the close.
 * Regular files never block and need no eventfd.
 *
 * Cost: one memcpy of the decompressed bytes, a few lock operations per chunk, 1 MiB of memory.
 *
 * Left out: parallel decompression of several members. */
#include "io/stream_thread.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { CHUNKS = 4, CHUNK_SIZE = 256 << 10 };

struct stream_thread {
    struct byte_stream stream;
    const struct alloc *alloc;
    /* stream to read ahead; only the thread uses it while running */
    struct byte_stream *input;
    int cancel_fd;
    pthread_t thread;
    pthread_mutex_t mutex;  /* protects the members from `changed` to `must_stop` */
    pthread_cond_t changed; /* signalled when filled, taken, has_ended or must_stop changes */
    /* number of chunks that the thread has filled; number of chunks that the reader has copied */
    uint64_t filled, taken;
    /* has_ended: no more input follows; has_failed: reading ended with an error that `input`
     * describes */
    bool has_ended, has_failed;
    bool must_stop;
    size_t n[CHUNKS]; /* number of bytes in each filled chunk */
    size_t at;        /* number of bytes of the oldest chunk that the reader has copied */
    uint8_t *chunks;
};

/* Waits until a chunk is free. Returns false if the thread must stop. */
static bool wait_for_free_chunk(struct stream_thread *reader)
{
    (void)pthread_mutex_lock(&reader->mutex);
    while (!reader->must_stop && reader->filled - reader->taken == CHUNKS)
        (void)pthread_cond_wait(&reader->changed, &reader->mutex);
    bool must_stop = reader->must_stop;
    (void)pthread_mutex_unlock(&reader->mutex);
    return !must_stop;
}

static void *read_in_thread(void *ctx)
{
    struct stream_thread *reader = ctx;
    bool has_bytes = true;
    while (has_bytes && wait_for_free_chunk(reader)) {
        /* No lock is needed to read `filled`: only this thread changes it. */
        size_t slot = reader->filled % CHUNKS;
        int64_t got =
            byte_stream_read(reader->input, reader->chunks + slot * CHUNK_SIZE, CHUNK_SIZE, NULL);
        has_bytes = got > 0;
        (void)pthread_mutex_lock(&reader->mutex);
        reader->n[slot] = has_bytes ? (size_t)got : 0;
        reader->filled += has_bytes;
        reader->has_ended = !has_bytes;
        reader->has_failed = got < 0;
        (void)pthread_cond_signal(&reader->changed);
        (void)pthread_mutex_unlock(&reader->mutex);
    }
    return NULL;
}

/* Waits until a chunk is filled. Returns false if the input has ended and all chunks were read. */
static bool wait_for_filled_chunk(struct stream_thread *reader)
{
    (void)pthread_mutex_lock(&reader->mutex);
    while (!reader->has_ended && reader->filled == reader->taken)
        (void)pthread_cond_wait(&reader->changed, &reader->mutex);
    bool is_there = reader->filled != reader->taken;
    (void)pthread_mutex_unlock(&reader->mutex);
    return is_there;
}

static size_t stream_thread_read(struct byte_stream *stream, void *to, size_t n)
{
    struct stream_thread *reader = (struct stream_thread *)stream;
    if (!wait_for_filled_chunk(reader)) {
        /* No lock is needed: the thread has ended. */
        stream->failed = reader->has_failed;
        return 0;
    }
    size_t slot = reader->taken % CHUNKS;
    size_t left = reader->n[slot] - reader->at;
    n = n < left ? n : left;
    memcpy(to, reader->chunks + slot * CHUNK_SIZE + reader->at, n);
    reader->at += n;
    if (n == left) {
        reader->at = 0;
        (void)pthread_mutex_lock(&reader->mutex);
        reader->taken++;
        (void)pthread_cond_signal(&reader->changed);
        (void)pthread_mutex_unlock(&reader->mutex);
    }
    return n;
}

static void stream_thread_free(struct stream_thread *reader)
{
    (void)pthread_cond_destroy(&reader->changed);
    (void)pthread_mutex_destroy(&reader->mutex);
    if (reader->cancel_fd >= 0)
        (void)close(reader->cancel_fd);
    alloc_free(reader->alloc, reader->chunks, (size_t)CHUNKS * CHUNK_SIZE, 1);
    alloc_free(reader->alloc, reader, 1, sizeof *reader);
}

static void stream_thread_close(struct byte_stream *stream)
{
    struct stream_thread *reader = (struct stream_thread *)stream;
    (void)pthread_mutex_lock(&reader->mutex);
    reader->must_stop = true;
    (void)pthread_cond_signal(&reader->changed);
    (void)pthread_mutex_unlock(&reader->mutex);
    if (reader->cancel_fd >= 0)
        (void)eventfd_write(reader->cancel_fd, 1); /* cannot fail: the counter was 0 */
    (void)pthread_join(reader->thread, NULL);
    byte_stream_close(reader->input);
    stream_thread_free(reader);
}

/* Starts the thread with all signals blocked, so that the application's threads receive them. */
static bool start_thread(struct stream_thread *reader)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    /* SIGBUS stays enabled: a mapped file that shrank raises it in the thread that reads the
     * file. */
    (void)sigdelset(&all, SIGBUS);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    bool is_started = pthread_create(&reader->thread, NULL, read_in_thread, reader) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_started;
}

static void stream_thread_describe_error(const struct byte_stream *stream, ttr_error *error)
{
    const struct byte_stream *input = ((const struct stream_thread *)stream)->input;
    input->ops->describe_error(input, error);
}

static const struct byte_stream_ops stream_thread_ops = {.read = stream_thread_read,
                                                         .describe_error =
                                                             stream_thread_describe_error,
                                                         .close = stream_thread_close};

bool stream_thread_open(const struct alloc *alloc, struct byte_stream **stream,
                        struct byte_stream *disk)
{
    struct stream_thread *reader = alloc_zero(alloc, 1, sizeof *reader);
    if (!reader)
        return false;
    reader->stream.ops = &stream_thread_ops;
    reader->stream.name = disk->name;
    reader->alloc = alloc;
    reader->input = *stream;
    (void)pthread_mutex_init(&reader->mutex,
                             NULL); /* cannot fail with default attributes on Linux */
    (void)pthread_cond_init(&reader->changed, NULL);
    reader->chunks = alloc_resize(alloc, NULL, 0, (size_t)CHUNKS * CHUNK_SIZE, 1);
    const bool is_file = disk->may_grow;
    reader->cancel_fd = is_file ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!reader->chunks) {
        stream_thread_free(reader);
        return false;
    }
    stream_raw_set_cancel_fd(disk, reader->cancel_fd);
    if ((is_file || reader->cancel_fd >= 0) && start_thread(reader)) {
        *stream = &reader->stream;
        return true;
    }
    stream_raw_set_cancel_fd(disk, -1);
    stream_thread_free(reader);
    return true;
}
