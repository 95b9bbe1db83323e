/* Ring buffers of threads: claiming, the change to the next chunk, drops.
 *
 * Purpose: everything that trace_inline.h does not do inline.  ttr_trace_reserve_slow runs when the
 * words of a record do not fit into the rest of the current chunk, which is also the case before
 * the first event of a thread, because `cur` and `end` are NULL then.
 *
 *   first event      claim a free ring, start chunk 0
 *   chunk is full    close it, start the next one by the rules of the mode:
 *                      streaming  wait for nobody: if the next chunk is not read yet, drop
 *                      circular   overwrite the oldest chunk
 *                      oneshot    drop after the last chunk
 *   signal handler   the second ring of the thread; an event that interrupts that one is dropped
 *
 * Algorithm: single-producer ring of chunks (trace_shared.h has the layout and the memory order).
 *
 * Invariants: a record never crosses the end of a chunk.  `cur`, `end` and the sizes are in memory
 * of the process, so that damaged shared memory cannot redirect stores.  Everything here is
 * async-signal-safe: no locks but trylock, no malloc.
 *
 * New sessions: a starting session changes `generation` and then sets `end` of each known thread to
 * NULL, which leads its next event here.  A thread that is here stores `end` and then loads
 * `generation`; both are sequentially consistent, so at least one of them sees the other. */
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "trace/trace_internal.h"

#define DROPS_PER_CHECK 1023u /* drops after which the connection to the manager is checked */

__thread struct ttr_trace_thread ttr_trace_thread __attribute__((tls_model("initial-exec")));

static struct trace_ring_header *ring_header(const struct ttr_trace_ring *ring)
{
    return ring->shared;
}

/* --- Drops --- */

static void count_drop(struct trace_ring_header *shared)
{
    const uint64_t now = ttr_trace_now();
    if (!__atomic_load_n(&shared->drop_first, __ATOMIC_RELAXED))
        __atomic_store_n(&shared->drop_first, now, __ATOMIC_RELAXED);
    __atomic_store_n(&shared->drop_last, now, __ATOMIC_RELAXED);
    __atomic_fetch_add(&shared->dropped, 1, __ATOMIC_RELEASE);
}

/* --- Chunks --- */

/* Starts chunk `index`, which may be overwritten now. */
static void start_chunk(struct ttr_trace_ring *ring, uint64_t index)
{
    struct trace_ring_header *shared = ring_header(ring);
    uint8_t *chunk = trace_chunk_at(shared, index, ttr_trace_thread.chunks);
    struct trace_chunk_header *header = (struct trace_chunk_header *)(void *)chunk;
    header->index = index;
    header->events_before = ring->events;
    header->dropped_before = __atomic_load_n(&shared->dropped, __ATOMIC_RELAXED);
    header->used = 0;
    ring->cur = (uint64_t *)(void *)(chunk + TRACE_CHUNK_HEADER);
    ring->bias = (uint64_t)(uintptr_t)chunk - index * TRACE_CHUNK;
    if (ttr_trace_thread.virtual_koid && ring == &ttr_trace_thread.ring[0]) {
        trace_put_thread(ring->cur, TRACE_VIRTUAL_THREAD, (uint64_t)getpid(),
                         ttr_trace_thread.virtual_koid);
        ring->cur += 3;
    }
    __atomic_store_n(&ring->end, (uint64_t *)(void *)(chunk + TRACE_CHUNK), __ATOMIC_SEQ_CST);
    __atomic_store_n(&shared->commit, (uint64_t)(uintptr_t)ring->cur - ring->bias,
                     __ATOMIC_RELEASE);
}

static void wake_manager(void)
{
    struct trace_header *header = ttr_trace_thread.memory;
    const uint64_t one = 1;
    if (trace_session.wake_fd < 0 || !__atomic_load_n(&header->sleeping, __ATOMIC_ACQUIRE))
        return;
    const int64_t n = write(trace_session.wake_fd, &one, sizeof one);
    (void)n; /* a full eventfd wakes the manager too */
}

/* Returns true if the thread may start chunk `next`. */
static bool may_start(const struct ttr_trace_ring *ring, uint64_t next)
{
    struct trace_ring_header *shared = ring_header(ring);
    struct trace_header *header = ttr_trace_thread.memory;
    const uint32_t mode = __atomic_load_n(&header->mode, __ATOMIC_RELAXED);
    const uint64_t chunks = ttr_trace_thread.chunks;
    struct trace_file *file = trace_session.file;
    if (mode == TTR_TRACE_CIRCULAR) {
        __atomic_store_n(&shared->writing, next, __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_RELEASE);
        return true;
    }
    if (mode == TTR_TRACE_ONESHOT)
        return next < chunks;
    if (file)
        trace_file_drain(file, shared, ring == &ttr_trace_thread.ring[0]);
    else
        wake_manager();
    if (!file && (__atomic_load_n(&shared->dropped, __ATOMIC_RELAXED) & DROPS_PER_CHECK) == 1)
        trace_check_connection();
    return next - __atomic_load_n(&shared->tail, __ATOMIC_ACQUIRE) < chunks;
}

/* Closes the current chunk and starts the next one. Returns false if it cannot be started. */
static bool change_chunk(struct ttr_trace_ring *ring)
{
    struct trace_ring_header *shared = ring_header(ring);
    const uint64_t at = (uint64_t)(uintptr_t)ring->cur - ring->bias;
    const uint64_t index = (at - 1) / TRACE_CHUNK;
    struct trace_chunk_header *header =
        (struct trace_chunk_header *)(void *)trace_chunk_at(shared, index, ttr_trace_thread.chunks);
    __atomic_store_n(&header->used, at - index * TRACE_CHUNK, __ATOMIC_RELEASE);
    if (!may_start(ring, index + 1))
        return false;
    __atomic_store_n(&shared->writing, index + 1, __ATOMIC_RELAXED);
    start_chunk(ring, index + 1);
    return true;
}

/* Marks the rings of an ending thread as finished. */
static void finish_rings(void *context)
{
    struct ttr_trace_thread *thread = context;
    if (!trace_lock())
        return;
    thread->depth = 2; /* events of signal handlers are refused from here on */
    for (unsigned i = 0; i < 2; i++) {
        struct trace_ring_header *shared = thread->ring[i].shared;
        if (shared && thread->generation == trace_session.generation)
            __atomic_store_n(&shared->state, RING_FINISHED, __ATOMIC_RELEASE);
    }
    trace_thread_remove(thread);
    memset(thread, 0, sizeof *thread);
    trace_unlock();
}

/* --- Claiming --- */

static pthread_key_t exit_key;
static pthread_once_t exit_once = PTHREAD_ONCE_INIT;

static void make_exit_key(void)
{
    pthread_key_create(&exit_key, finish_rings);
}

static struct trace_ring_header *claim_ring(void)
{
    for (uint32_t i = 0; i < trace_session.rings; i++) {
        struct trace_ring_header *shared = trace_ring_at(i);
        uint32_t state = RING_FREE;
        if (__atomic_load_n(&shared->state, __ATOMIC_RELAXED) != RING_FREE ||
            !__atomic_compare_exchange_n(&shared->state, &state, RING_CLAIMED, false,
                                         __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        uint32_t used = __atomic_load_n(&trace_header()->rings_used, __ATOMIC_RELAXED);
        while (used < i + 1 &&
               !__atomic_compare_exchange_n(&trace_header()->rings_used, &used, i + 1, true,
                                            __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            ;
        return shared;
    }
    return NULL;
}

static bool start_ring(struct ttr_trace_thread *thread, struct ttr_trace_ring *ring)
{
    struct trace_ring_header *shared = claim_ring();
    if (!shared)
        return false;
    const uint64_t first = shared->session ? shared->commit / TRACE_CHUNK + 1 : 0;
    shared->session++;
    shared->tid = (uint32_t)syscall(SYS_gettid);
    shared->is_nested = ring != &thread->ring[0];
    prctl(PR_GET_NAME, shared->name);
    shared->open_zones[0] = 0;
    ring->shared = shared;
    ring->commit = &shared->commit;
    ring->open_zones = shared->open_zones;
    ring->thread_bits = TRACE_REAL_THREAD << 24;
    ring->events = __atomic_load_n(&shared->events, __ATOMIC_RELAXED);
    __atomic_store_n(&shared->writing, first, __ATOMIC_RELAXED);
    start_chunk(ring, first);
    __atomic_store_n(&shared->state, RING_ACTIVE, __ATOMIC_RELEASE);
    return true;
}

/* Claims a ring for the calling thread in the current session. Requires the lock. Both are
 * claimed at the first event, so that a signal handler finds its ring. */
static bool claim_rings(struct ttr_trace_thread *thread)
{
    if (!trace_session.memory)
        return false;
    pthread_once(&exit_once, make_exit_key);
    for (unsigned i = 0; i < 2; i++)
        thread->ring[i] = (struct ttr_trace_ring){0};
    thread->generation = __atomic_load_n(&trace_session.generation, __ATOMIC_SEQ_CST);
    thread->memory = trace_session.memory;
    thread->chunks = trace_session.chunks;
    if (!start_ring(thread, &thread->ring[0]))
        return false;
    pthread_setspecific(exit_key, thread);
    trace_thread_add(thread);
    return true;
}

/* Claims rings if the thread has none of the current session. Returns false without a session, if
 * all rings are in use, and in a signal handler that cannot claim. */
static bool update_rings(struct ttr_trace_thread *thread)
{
    if (thread->generation == __atomic_load_n(&trace_session.generation, __ATOMIC_SEQ_CST))
        return thread->ring[0].shared != NULL;
    if (thread->depth > 1 || !trace_lock())
        return false;
    const bool is_claimed = claim_rings(thread);
    trace_unlock();
    return is_claimed;
}

uint64_t *ttr_trace_reserve_slow(struct ttr_trace_thread *thread, struct ttr_trace_ring *ring,
                                 size_t words)
{
    if (!update_rings(thread))
        return NULL;
    if (ring == &thread->ring[1] && !ring->shared)
        (void)start_ring(thread, ring);
    if (!ring->shared || words * 8 > TRACE_FXT_RECORD_MAX) {
        count_drop(thread->ring[0].shared);
        return NULL;
    }
    while ((uintptr_t)ring->cur + words * 8 > (uintptr_t)ring->end) {
        if (!change_chunk(ring)) {
            count_drop(ring->shared);
            return NULL;
        }
    }
    return ring->cur;
}
