/* Sessions of this process: start, flush, stop, fork, exit. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/trace_internal.h"

/* --- Start and stop --- */

static uint32_t count_chunks(size_t buffer_bytes)
{
    const size_t chunks = (buffer_bytes + TRACE_CHUNK - 1) / TRACE_CHUNK;
    if (buffer_bytes == 0)
        return TRACE_CHUNKS_DEFAULT;
    return chunks < TRACE_CHUNKS_MIN ? TRACE_CHUNKS_MIN : (uint32_t)chunks;
}

static bool are_valid_options(const ttr_trace_options *options)
{
    return options->size == sizeof *options && options->mode <= TTR_TRACE_ONESHOT &&
           options->buffer_bytes <= (size_t)TRACE_CHUNKS_MAX * TRACE_CHUNK &&
           trace_filter_is_valid(options->categories);
}

/* Makes the memory of a session in which only this process reads. Returns 0 or an errno. */
static int create_memory(uint32_t chunks)
{
    const uint64_t size = trace_memory_size(TRACE_RINGS_MAX, chunks);
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return errno;
    (void)madvise(memory, size, MADV_DONTFORK);
    __atomic_store_n(&trace_session.memory, memory, __ATOMIC_RELEASE);
    trace_session.memory_size = size;
    trace_session.rings = TRACE_RINGS_MAX;
    trace_session.chunks = chunks;
    return 0;
}

static void fill_header(const ttr_trace_options *options, uint64_t frequency)
{
    *trace_header() = (struct trace_header){
        .magic = TRACE_MAGIC,
        .version = TRACE_VERSION,
        .mode = options->mode,
        .rings = trace_session.rings,
        .chunks = trace_session.chunks,
        .strings_offset = TRACE_PAGE,
        .rings_offset = TRACE_PAGE + TRACE_STRINGS_SIZE,
        .ring_stride = trace_ring_stride(trace_session.chunks),
        .ticks_per_second = frequency,
        .uses_tsc = trace_session.clock.is_tsc,
    };
    ttr_trace_zone_min_ticks =
        (uint64_t)((long double)options->zone_min_ns * (long double)frequency / 1e9L);
    trace_header()->zone_min_ticks = ttr_trace_zone_min_ticks;
}

/* Detaches from the memory of the session. Threads may still be writing to it, so it stays mapped,
 * but its pages are returned to the kernel. */
static void drop_memory(void)
{
    (void)madvise(trace_session.memory, trace_session.memory_size, MADV_DONTNEED);
    __atomic_store_n(&trace_session.memory, NULL, __ATOMIC_RELEASE);
}

/* Starts a session; keeps the filter if that succeeds. */
static int start_file(const char *path, const ttr_trace_options *options, char **filter)
{
    trace_clock_choose(&trace_session.clock);
    const uint64_t frequency = trace_clock_frequency(&trace_session.clock);
    ttr_trace_uses_tsc = trace_session.clock.is_tsc;
    int reason = create_memory(count_chunks(options->buffer_bytes));
    if (reason == 0)
        fill_header(options, frequency);
    if (reason == 0 && (reason = trace_file_open(&trace_session.file, path)) != 0)
        drop_memory();
    if (reason != 0)
        return reason;
    char *former = trace_session.filter;
    trace_session.filter = *filter;
    *filter = former;
    trace_session_begin();
    trace_attach_set_recorded(true, "");
    trace_categories_enable(true);
    return 0;
}

int ttr_trace_start_file(const char *path, const ttr_trace_options *options)
{
    const ttr_trace_options defaults = {.size = sizeof defaults};
    if (!options)
        options = &defaults;
    if (!path || !are_valid_options(options))
        return EINVAL;
    /* Allocated and freed without the lock; see trace_lock_briefly. */
    char *filter = options->categories ? strdup(options->categories) : NULL;
    if (options->categories && !filter)
        return ENOMEM;
    const bool is_locked = trace_lock();
    int reason = EDEADLK;
    if (is_locked) {
        reason = trace_session.memory ? EBUSY : start_file(path, options, &filter);
        trace_unlock();
    }
    free(filter);
    return reason;
}

int ttr_trace_flush(void)
{
    if (!trace_lock())
        return EDEADLK;
    const int reason = trace_session.file ? trace_file_flush(trace_session.file) : 0;
    trace_unlock();
    return reason;
}

int ttr_trace_stop(void)
{
    int reason = 0;
    if (!trace_lock())
        return EDEADLK;
    if (trace_session.file) {
        trace_categories_enable(false);
        reason = trace_file_close(trace_session.file);
        __atomic_store_n(&trace_session.file, NULL, __ATOMIC_RELEASE);
        trace_threads_reset();
        trace_attach_set_recorded(false, "");
        drop_memory();
    }
    trace_unlock();
    return reason;
}

void ttr_trace_trigger(const char *name)
{
    if (!trace_lock())
        return;
    if (trace_session.file)
        (void)trace_file_flush(trace_session.file);
    else
        trace_send_trigger(name);
    trace_unlock();
}

void ttr_trace_get_stats(ttr_trace_stats *stats)
{
    *stats = (ttr_trace_stats){0};
    if (!trace_lock())
        return;
    stats->is_active = trace_session.memory != NULL;
    const uint32_t used =
        stats->is_active ? __atomic_load_n(&trace_header()->rings_used, __ATOMIC_ACQUIRE) : 0;
    if (stats->is_active)
        stats->dropped = __atomic_load_n(&trace_header()->lost.count, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < used; i++) {
        const struct trace_ring_header *ring = trace_ring_at(i);
        stats->written += __atomic_load_n(&ring->events, __ATOMIC_RELAXED);
        stats->dropped += __atomic_load_n(&ring->drops.count, __ATOMIC_RELAXED);
        stats->threads += !ring->is_nested;
    }
    trace_unlock();
}
