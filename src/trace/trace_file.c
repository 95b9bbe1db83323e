/* The file of a session without a manager: an FXT trace of one provider.
 *
 * Purpose: what the manager does, in the recorded process itself.  Each thread writes its own full
 * chunks; ttr_trace_flush writes the rest of all rings.
 *
 *   head    magic | provider info | initialization | process name
 *   piece   [new strings] | thread record | thread name | records of one ring ...
 *   loss    instant event "events lost" with count and times, and a provider event
 *
 * A piece is one writev, so that after a crash the file ends with a complete piece or inside one.
 * The initialization record is rewritten at the end with the frequency measured over the session.
 *
 * Invariants: `done` of a ring is a position up to which its records are in the file; `tail` of the
 * ring header follows it.  Circular mode writes nothing but copies by a flush, each a complete
 * snapshot of what is newer than `done`. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "trace/trace_fxt.h"
#include "trace/trace_internal.h"

#define PROVIDER_ID 1u

struct ring_progress {
    uint64_t done;    /* position in the ring */
    uint64_t dropped; /* drops that are in the file */
};

struct trace_file {
    pthread_mutex_t lock;        /* protects all members below; held while writing */
    int fd;                      /* descriptor of the file; -1 = closed */
    int reason;                  /* errno of the first failed write; 0 = none */
    uint64_t initialization;     /* offset of the initialization record's frequency */
    uint64_t strings_done;       /* bytes of the string area in the file */
    uint8_t *copy;               /* a chunk, in circular mode */
    uint64_t lost;               /* events without a ring that are in the file */
    struct ring_progress ring[]; /* trace_session.rings of them */
};

/* --- Writing --- */

/* Writes all bytes, or sets `reason`. */
static void write_all_parts(struct trace_file *file, struct iovec *part, int parts)
{
    while (parts > 0 && file->reason == 0) {
        const ssize_t n = writev(file->fd, part, parts);
        if (n < 0 && errno != EINTR)
            file->reason = errno;
        size_t left = n < 0 ? 0 : (size_t)n;
        while (parts > 0 && left >= part->iov_len) {
            left -= part->iov_len;
            part++;
            parts--;
        }
        if (parts > 0 && left > 0) {
            part->iov_base = (uint8_t *)part->iov_base + left;
            part->iov_len -= left;
        }
    }
}

/* --- Losses --- */

/* Writes the drops that are not in the file yet, as an instant event at the time of the first and a
 * provider event. Returns the words. */
static size_t write_loss_words(struct trace_drops *drops, uint64_t *done, uint64_t *p)
{
    const uint64_t dropped = __atomic_load_n(&drops->count, __ATOMIC_ACQUIRE);
    if (dropped == *done)
        return 0;
    const uint64_t first = __atomic_exchange_n(&drops->first, 0, __ATOMIC_RELAXED),
                   last = __atomic_load_n(&drops->last, __ATOMIC_RELAXED);
    const uint64_t count = dropped - *done;
    *done = dropped;
    return trace_fxt_append_losses(p, PROVIDER_ID, count, first, last);
}

/* --- Pieces --- */

/* Writes records of a thread, with what a reader needs before them. */
static void write_piece(struct trace_file *file, struct trace_ring_header *ring,
                        struct ring_progress *progress, uint32_t tid, const struct iovec *records)
{
    uint64_t head[3 + 2 * TRACE_FXT_PROVIDER_WORDS];
    const uint64_t strings = __atomic_load_n(&trace_header()->strings_used, __ATOMIC_ACQUIRE);
    trace_append_thread(head, TRACE_REAL_THREAD, (uint64_t)getpid(), tid);
    size_t words = 3;
    if (tid == ring->tid)
        words += trace_fxt_append_thread_name(head + words, (uint64_t)getpid(), tid, ring->name);
    words += write_loss_words(&ring->drops, &progress->dropped, head + words);
    struct iovec part[] = {
        {trace_session.memory + TRACE_PAGE + file->strings_done, strings - file->strings_done},
        {head, words * 8},
        *records};
    write_all_parts(file, part, 3);
    if (file->reason == 0)
        file->strings_done = strings;
}

/* Writes the events that had no ring, as losses of the main thread. */
static void write_lost_counts(struct trace_file *file)
{
    uint64_t head[3 + TRACE_FXT_PROVIDER_WORDS];
    trace_append_thread(head, TRACE_REAL_THREAD, (uint64_t)getpid(), (uint64_t)getpid());
    const size_t words = write_loss_words(&trace_header()->lost, &file->lost, head + 3);
    struct iovec part = {head, (3 + words) * 8};
    if (words)
        write_all_parts(file, &part, 1);
}

/* Copies chunk `index` in circular mode. Returns false if it was overwritten meanwhile. */
static bool copy_chunk(struct trace_file *file, struct trace_ring_header *ring, uint64_t index)
{
    memcpy(file->copy, trace_chunk_at(ring, index, trace_session.chunks), TRACE_CHUNK);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&ring->writing, __ATOMIC_RELAXED) < index + trace_session.chunks;
}

/* Writes the records from `done` to the end of its chunk or to the commit position. */
static void drain_chunk(struct trace_file *file, struct trace_ring_header *ring,
                        struct ring_progress *progress, uint64_t commit)
{
    const uint64_t index = progress->done / TRACE_CHUNK;
    const bool is_last = index == (commit - 1) / TRACE_CHUNK;
    const uint8_t *chunk = trace_chunk_at(ring, index, trace_session.chunks);
    bool is_intact = true;
    if (file->copy) {
        is_intact = copy_chunk(file, ring, index);
        chunk = file->copy;
    }
    struct trace_chunk_header header;
    memcpy(&header, chunk, sizeof header);
    uint64_t from = progress->done % TRACE_CHUNK,
             to = is_last ? commit - index * TRACE_CHUNK : header.used;
    if (from < TRACE_CHUNK_HEADER)
        from = TRACE_CHUNK_HEADER;
    const struct iovec records = {(void *)(uintptr_t)(chunk + from), to - from};
    if (is_intact && to > from && to <= TRACE_CHUNK)
        write_piece(file, ring, progress, header.tid, &records);
    progress->done = is_last ? commit : (index + 1) * TRACE_CHUNK;
    __atomic_store_n(&ring->tail, progress->done / TRACE_CHUNK, __ATOMIC_RELEASE);
}

static void drain_ring(struct trace_file *file, struct trace_ring_header *ring)
{
    const size_t i = (size_t)((uint8_t *)ring - (uint8_t *)trace_ring_at(0)) /
                     trace_ring_stride(trace_session.chunks);
    struct ring_progress *progress = &file->ring[i];
    const struct iovec none = {NULL, 0};
    uint32_t state = __atomic_load_n(&ring->state, __ATOMIC_ACQUIRE);
    if (state == RING_FREE || state == RING_CLAIMED)
        return;
    const uint64_t commit = __atomic_load_n(&ring->commit, __ATOMIC_ACQUIRE);
    const uint64_t newest = (commit - 1) / TRACE_CHUNK;
    if (file->copy && newest >= progress->done / TRACE_CHUNK + trace_session.chunks)
        progress->done = (newest + 1 - trace_session.chunks) * TRACE_CHUNK;
    while (progress->done < commit && file->reason == 0)
        drain_chunk(file, ring, progress, commit);
    if (__atomic_load_n(&ring->drops.count, __ATOMIC_ACQUIRE) != progress->dropped)
        write_piece(file, ring, progress, ring->tid, &none);
    /* A thread may have claimed the ring meanwhile, in circular mode. */
    if (state == RING_FINISHED && file->reason == 0)
        (void)__atomic_compare_exchange_n(&ring->state, &state, RING_FREE, false, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED);
}

void trace_file_drain(struct trace_file *file, struct trace_ring_header *ring, bool may_wait)
{
    if (may_wait)
        pthread_mutex_lock(&file->lock);
    else if (pthread_mutex_trylock(&file->lock) != 0)
        return;
    if (file->fd >= 0 && ttr_trace_thread.memory == trace_session.memory)
        drain_ring(file, ring);
    pthread_mutex_unlock(&file->lock);
}

int trace_file_flush(struct trace_file *file)
{
    /* Events of signal handlers use the second ring, and do not wait for the lock. */
    ttr_trace_thread.depth++;
    pthread_mutex_lock(&file->lock);
    const uint32_t used = __atomic_load_n(&trace_header()->rings_used, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < used; i++)
        drain_ring(file, trace_ring_at(i));
    write_lost_counts(file);
    pthread_mutex_unlock(&file->lock);
    ttr_trace_thread.depth--;
    return file->reason;
}

/* --- Head and end --- */

static void write_file_head(struct trace_file *file)
{
    uint64_t head[1 + TRACE_FXT_PROVIDER_WORDS];
    size_t frequency;
    const struct trace_fxt_clock clock = {trace_header()->ticks_per_second,
                                          trace_session.clock.unix_ticks,
                                          trace_session.clock.unix_ns};
    head[0] = TRACE_FXT_MAGIC;
    const size_t words =
        1 + trace_fxt_append_provider(head + 1, PROVIDER_ID, program_invocation_short_name,
                                      (uint64_t)getpid(), &clock, &frequency);
    file->initialization = (1 + frequency) * 8;
    struct iovec part = {head, words * 8};
    write_all_parts(file, &part, 1);
}

/* Opens the file and writes its head. Returns 0 or an errno. */
static int start_file(struct trace_file *file, const char *path)
{
    if (trace_header()->mode == TTR_TRACE_CIRCULAR && !file->copy) {
        file->copy = malloc(TRACE_CHUNK);
        if (!file->copy)
            return ENOMEM;
    }
    file->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file->fd < 0)
        return errno;
    write_file_head(file);
    return file->reason;
}

/* Closes the descriptor. Threads that wait for the lock find the file closed. */
static void close_file(struct trace_file *file)
{
    pthread_mutex_lock(&file->lock);
    if (file->fd >= 0 && close(file->fd) != 0 && file->reason == 0)
        file->reason = errno;
    file->fd = -1;
    free(file->copy);
    file->copy = NULL;
    pthread_mutex_unlock(&file->lock);
}

/* One file for all sessions: a thread of an earlier session may still hold a pointer to it. */
static struct trace_file *the_file;

int trace_file_open(struct trace_file **made, const char *path)
{
    const size_t size = trace_session.rings * sizeof(struct ring_progress);
    if (!the_file) {
        the_file = calloc(1, sizeof *the_file + size);
        if (!the_file)
            return ENOMEM;
        pthread_mutex_init(&the_file->lock, NULL);
        the_file->fd = -1;
    }
    the_file->reason = 0;
    the_file->strings_done = 0;
    the_file->lost = 0;
    memset(the_file->ring, 0, size);
    const int reason = start_file(the_file, path);
    if (reason == 0)
        __atomic_store_n(made, the_file, __ATOMIC_RELEASE);
    else
        close_file(the_file);
    return reason;
}

void trace_file_close_after_fork(void)
{
    if (!the_file)
        return;
    pthread_mutex_init(&the_file->lock, NULL); /* a thread of the parent may have held it */
    close_file(the_file);
}

int trace_file_close(struct trace_file *file)
{
    const uint64_t frequency = trace_clock_frequency(&trace_session.clock);
    (void)trace_file_flush(file);
    /* A pipe keeps the first estimate. */
    const ssize_t n = pwrite(file->fd, &frequency, sizeof frequency, (off_t)file->initialization);
    if (n < 0 && errno != ESPIPE && file->reason == 0)
        file->reason = errno;
    close_file(file);
    return file->reason;
}
