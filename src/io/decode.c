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
 * Order of calls: decode_ahead starts the thread, or leaves the stream as it is if the system
 * refuses one. Then decode_read; decode_close stops and joins the thread and closes the streams
 * below.
 *
 * Invariants: a chunk belongs to exactly one thread at a time, so only the counters and flags are
 * protected by the mutex. The thread never calls the allocator, which need not be thread-safe.
 * After is_over no counter changes, and the thread no longer touches the stream below.
 *
 * Cancellation: close sets `stop` and writes to an eventfd. The raw stream polls that eventfd
 * together with its pipe or socket, so it does not block. Only a pull callback can delay the close.
 * Regular files never block and need no eventfd.
 *
 * Cost: one memcpy of the decompressed bytes, a few lock operations per chunk, 1 MiB of memory.
 *
 * Left out: parallel decompression of several members. */
#include "io/decode.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { CHUNKS = 4, CHUNK_SIZE = 256 << 10 };

struct decode {
    struct feed feed;
    const struct alloc *alloc;
    struct feed *input; /* used by the thread alone while it runs */
    int stop_fd;
    pthread_t thread;
    pthread_mutex_t mutex;  /* protects the next three lines */
    pthread_cond_t changed; /* signalled when filled, taken, is_over or stop changes */
    uint64_t filled, taken; /* number of chunks since the start */
    /* the input has ended; is_failed: with an error, which `input` describes */
    bool is_over, is_failed;
    bool stop;
    size_t n[CHUNKS]; /* bytes in each filled chunk */
    size_t at;        /* bytes of the oldest chunk that were read */
    uint8_t *chunks;
};

/* Waits until a chunk is free. Returns false if the thread shall stop. */
static bool wait_for_room(struct decode *decode)
{
    (void)pthread_mutex_lock(&decode->mutex);
    while (!decode->stop && decode->filled - decode->taken == CHUNKS)
        (void)pthread_cond_wait(&decode->changed, &decode->mutex);
    bool stop = decode->stop;
    (void)pthread_mutex_unlock(&decode->mutex);
    return !stop;
}

static void *decode_run(void *own)
{
    struct decode *decode = own;
    bool goes_on = true;
    while (goes_on && wait_for_room(decode)) {
        /* without the lock: only this thread writes `filled` */
        size_t slot = decode->filled % CHUNKS;
        int64_t got =
            feed_read(decode->input, decode->chunks + slot * CHUNK_SIZE, CHUNK_SIZE, NULL);
        goes_on = got > 0;
        (void)pthread_mutex_lock(&decode->mutex);
        decode->n[slot] = goes_on ? (size_t)got : 0;
        decode->filled += goes_on;
        decode->is_over = !goes_on;
        decode->is_failed = got < 0;
        (void)pthread_cond_signal(&decode->changed);
        (void)pthread_mutex_unlock(&decode->mutex);
    }
    return NULL;
}

/* Waits until a chunk is filled. Returns false if the input has ended and all chunks were read. */
static bool wait_for_bytes(struct decode *decode)
{
    (void)pthread_mutex_lock(&decode->mutex);
    while (!decode->is_over && decode->filled == decode->taken)
        (void)pthread_cond_wait(&decode->changed, &decode->mutex);
    bool is_there = decode->filled != decode->taken;
    (void)pthread_mutex_unlock(&decode->mutex);
    return is_there;
}

static size_t decode_read(struct feed *feed, void *to, size_t n)
{
    struct decode *decode = (struct decode *)feed;
    if (!wait_for_bytes(decode)) {
        feed->failed = decode->is_failed; /* without the lock: the thread has ended its work */
        return 0;
    }
    size_t slot = decode->taken % CHUNKS;
    size_t left = decode->n[slot] - decode->at;
    n = n < left ? n : left;
    memcpy(to, decode->chunks + slot * CHUNK_SIZE + decode->at, n);
    decode->at += n;
    if (n == left) {
        decode->at = 0;
        (void)pthread_mutex_lock(&decode->mutex);
        decode->taken++;
        (void)pthread_cond_signal(&decode->changed);
        (void)pthread_mutex_unlock(&decode->mutex);
    }
    return n;
}

static void decode_free(struct decode *decode)
{
    (void)pthread_cond_destroy(&decode->changed);
    (void)pthread_mutex_destroy(&decode->mutex);
    if (decode->stop_fd >= 0)
        (void)close(decode->stop_fd);
    alloc_free(decode->alloc, decode->chunks, (size_t)CHUNKS * CHUNK_SIZE, 1);
    alloc_free(decode->alloc, decode, 1, sizeof *decode);
}

static void decode_close(struct feed *feed)
{
    struct decode *decode = (struct decode *)feed;
    (void)pthread_mutex_lock(&decode->mutex);
    decode->stop = true;
    (void)pthread_cond_signal(&decode->changed);
    (void)pthread_mutex_unlock(&decode->mutex);
    if (decode->stop_fd >= 0)
        (void)eventfd_write(decode->stop_fd, 1); /* does not fail: the counter is 0 before */
    (void)pthread_join(decode->thread, NULL);
    feed_close(decode->input);
    decode_free(decode);
}

/* Starts the thread with all signals blocked, so that the program's handlers run on its own
 * threads. */
static bool start_thread(struct decode *decode)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)sigdelset(&all, SIGBUS); /* raised by this thread itself if a mapped file is truncated */
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    bool is_started = pthread_create(&decode->thread, NULL, decode_run, decode) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_started;
}

static void decode_tell(const struct feed *feed, ttr_error *error)
{
    const struct feed *input = ((const struct decode *)feed)->input;
    input->ops->tell(input, error);
}

static const struct feed_ops decode_ops = {
    .read = decode_read, .tell = decode_tell, .close = decode_close};

bool decode_ahead(const struct alloc *alloc, struct feed **feed, struct feed *disk)
{
    struct decode *decode = alloc_zero(alloc, 1, sizeof *decode);
    if (!decode)
        return false;
    decode->feed.ops = &decode_ops;
    decode->feed.name = disk->name;
    decode->alloc = alloc;
    decode->input = *feed;
    (void)pthread_mutex_init(&decode->mutex,
                             NULL); /* does not fail with default attributes on Linux */
    (void)pthread_cond_init(&decode->changed, NULL);
    decode->chunks = alloc_resize(alloc, NULL, 0, (size_t)CHUNKS * CHUNK_SIZE, 1);
    const bool is_file = disk->may_grow;
    decode->stop_fd = is_file ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!decode->chunks) {
        decode_free(decode);
        return false;
    }
    feed_stop_by(disk, decode->stop_fd);
    if ((is_file || decode->stop_fd >= 0) && start_thread(decode)) {
        *feed = &decode->feed;
        return true;
    }
    feed_stop_by(disk, -1);
    decode_free(decode);
    return true;
}
