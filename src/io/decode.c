/* Decoding on a thread of its own: a bounded ring of chunks between the decoder and the window.
 *
 *   thread: [chunk to fill] -> filled++      window: [oldest filled chunk] -> taken++
 *
 * Each chunk belongs to one side at a time, so only the counters are under the mutex.  The thread
 * never calls the allocator. Closing sets `stop` and writes to an eventfd on which the raw feed
 * waits together with its pipe; only a pull function, which is not ours, can hold it up.  A file is
 * never waited for, and has no eventfd. */
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
    struct feed *input; /* the thread's, once it runs */
    int stop_fd;
    pthread_t thread;
    pthread_mutex_t mutex;   /* over the next three lines */
    pthread_cond_t changed;  /* filled, taken, is_over or stop */
    uint64_t filled, taken;  /* chunks since the start */
    bool is_over, is_failed; /* nothing more comes; the input tells why */
    bool stop;
    size_t n[CHUNKS]; /* bytes in each filled chunk */
    size_t at;        /* bytes handed out of the oldest */
    uint8_t *chunks;
};

/* Waits for a chunk to fill; false when asked to stop. */
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
        size_t slot = decode->filled % CHUNKS; /* only this thread changes it */
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

/* Waits for bytes; false when there will be none. */
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
        feed->failed = decode->is_failed; /* the thread is done with both */
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
        (void)eventfd_write(decode->stop_fd, 1); /* cannot fail: the counter is 0 */
    (void)pthread_join(decode->thread, NULL);
    feed_close(decode->input);
    decode_free(decode);
}

/* The thread takes no signals: handlers belong to the program's own threads. */
static bool start_thread(struct decode *decode)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)sigdelset(&all, SIGBUS); /* of the thread itself: a mapped file was cut */
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
                             NULL); /* cannot fail with default attributes on Linux */
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
