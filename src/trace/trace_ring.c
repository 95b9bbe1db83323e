/* Ring buffers of threads: claiming, the change to the next chunk, drops.
 *
 * Purpose: everything that trace_inline.h does not do inline.  trace_reserve runs when the words of
 * a record do not fit into the rest of the current chunk, which is also the case before the first
 * event of a thread, because `cur` and `end` are NULL then.
 *
 *   first event      claim a free ring, start chunk 0
 *   chunk is full    close it, start the next one by the rules of the mode:
 *                      streaming  do not wait: if the next chunk is not read yet, drop
 *                      circular   overwrite the oldest chunk
 *                      oneshot    drop after the last chunk
 *   signal handler   the second ring of the thread; an event that interrupts that one is dropped
 *   thread ends      its rings are finished; when they are read, another thread may claim them.  In
 *                    circular mode they are claimed unread if no other is free
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
#define CHUNKS_PER_CHECK 16u  /* the same in circular mode, which drops nothing */
#define LOST_PER_CLAIM 256u   /* lost events after which a thread without a ring tries again */
#define FINISHES_MAX 2u       /* times that the destructors of a thread may claim new rings */

__thread struct ttr_trace_thread ttr_trace_thread __attribute__((tls_model("initial-exec")));

static struct trace_ring_header *get_ring_header(const struct ttr_trace_ring *ring)
{
    return ring->shared;
}

/* --- Drops --- */

static void count_dropped_event(struct trace_drops *drops)
{
    const uint64_t now = ttr_trace_now();
    if (!__atomic_load_n(&drops->first, __ATOMIC_RELAXED))
        __atomic_store_n(&drops->first, now, __ATOMIC_RELAXED);
    __atomic_store_n(&drops->last, now, __ATOMIC_RELAXED);
    __atomic_fetch_add(&drops->count, 1, __ATOMIC_RELEASE);
}

/* Returns the drops of the session that no ring counts, or NULL without a session. */
static struct trace_drops *get_lost_events(void)
{
    uint8_t *memory = __atomic_load_n(&trace_session.memory, __ATOMIC_ACQUIRE);
    return memory ? &((struct trace_header *)(void *)memory)->lost : NULL;
}

void trace_count_lost(void)
{
    struct trace_drops *lost = get_lost_events();
    if (lost)
        count_dropped_event(lost);
}

/* --- Chunks --- */

/* Starts chunk `index`, which may be overwritten now. */
static void start_chunk(struct ttr_trace_ring *ring, uint64_t index)
{
    struct trace_ring_header *shared = get_ring_header(ring);
    uint8_t *chunk = trace_chunk_at(shared, index, ttr_trace_thread.chunks);
    struct trace_chunk_header *header = (struct trace_chunk_header *)(void *)chunk;
    header->index = index;
    header->events_before = ring->events;
    header->dropped_before = __atomic_load_n(&shared->drops.count, __ATOMIC_RELAXED);
    header->tid = shared->tid;
    __atomic_store_n(&header->used, 0, __ATOMIC_RELAXED);
    ring->cur = (uint64_t *)(void *)(chunk + TRACE_CHUNK_HEADER);
    ring->bias = (uint64_t)(uintptr_t)chunk - index * TRACE_CHUNK;
    if (ttr_trace_thread.virtual_koid && ring == &ttr_trace_thread.ring[0]) {
        trace_append_thread(ring->cur, TRACE_VIRTUAL_THREAD, (uint64_t)getpid(),
                            ttr_trace_thread.virtual_koid);
        ring->cur += 3;
    }
    __atomic_store_n(&ring->end, (uint64_t *)(void *)(chunk + TRACE_CHUNK), __ATOMIC_SEQ_CST);
    __atomic_store_n(&shared->commit, (uint64_t)(uintptr_t)ring->cur - ring->bias,
                     __ATOMIC_RELEASE);
}

/* Announces that chunk `next` is overwritten from now on. */
static void announce_chunk(struct trace_ring_header *shared, uint64_t next)
{
    __atomic_store_n(&shared->writing, next, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

/* Looks at the connection to the manager now and then. */
static void check_connection_periodically(const struct trace_ring_header *shared, uint32_t mode,
                                          uint64_t next)
{
    const uint64_t drops = __atomic_load_n(&shared->drops.count, __ATOMIC_RELAXED);
    if (mode == TTR_TRACE_CIRCULAR ? next % CHUNKS_PER_CHECK == 0 : (drops & DROPS_PER_CHECK) == 1)
        trace_check_connection();
}

/* Returns true if the thread may start chunk `next`. */
static bool may_start_chunk(const struct ttr_trace_ring *ring, uint64_t next)
{
    struct trace_ring_header *shared = get_ring_header(ring);
    const struct trace_header *header = ttr_trace_thread.memory;
    const uint32_t mode = __atomic_load_n(&header->mode, __ATOMIC_RELAXED);
    const uint64_t chunks = ttr_trace_thread.chunks;
    struct trace_file *file = __atomic_load_n(&trace_session.file, __ATOMIC_ACQUIRE);
    if (!file)
        check_connection_periodically(shared, mode, next);
    if (mode == TTR_TRACE_CIRCULAR)
        return true;
    if (mode == TTR_TRACE_ONESHOT)
        return next - shared->first < chunks;
    if (file)
        trace_file_drain(file, shared, ring == &ttr_trace_thread.ring[0]);
    else
        trace_wake_manager(header);
    return next - __atomic_load_n(&shared->tail, __ATOMIC_ACQUIRE) < chunks;
}

/* Marks the chunk before position `at` as complete. Returns its index. */
static uint64_t close_chunk(struct trace_ring_header *shared, uint64_t at)
{
    const uint64_t index = (at - 1) / TRACE_CHUNK;
    struct trace_chunk_header *header =
        (struct trace_chunk_header *)(void *)trace_chunk_at(shared, index, ttr_trace_thread.chunks);
    __atomic_store_n(&header->used, (uint32_t)(at - index * TRACE_CHUNK), __ATOMIC_RELEASE);
    return index;
}

/* Closes the current chunk and starts the next one. Returns false if it cannot be started. */
static bool change_chunk(struct ttr_trace_ring *ring)
{
    struct trace_ring_header *shared = get_ring_header(ring);
    const uint64_t next = close_chunk(shared, (uint64_t)(uintptr_t)ring->cur - ring->bias) + 1;
    if (!may_start_chunk(ring, next))
        return false;
    announce_chunk(shared, next);
    start_chunk(ring, next);
    return true;
}

/* Marks the rings of an ending thread as finished. Destructors that run later may claim others; the
 * last ones are refused, because nothing would finish those. */
static void finish_rings(void *context)
{
    struct ttr_trace_thread *thread = context;
    const uint8_t finished = (uint8_t)(thread->finished + 1);
    if (!trace_lock())
        return;
    thread->depth = 2; /* events of signal handlers are refused from here on */
    for (unsigned i = 0; i < 2; i++) {
        struct trace_ring_header *shared = thread->ring[i].shared;
        if (shared && thread->generation == trace_session.generation)
            __atomic_store_n(&shared->state, RING_FINISHED, __ATOMIC_RELEASE);
    }
    trace_thread_remove(thread);
    *thread = (struct ttr_trace_thread){.depth = 2, .finished = finished};
    trace_unlock();
    if (finished < FINISHES_MAX)
        thread->depth = 0;
}

/* --- Claiming --- */

static pthread_key_t exit_key;
static pthread_once_t exit_once = PTHREAD_ONCE_INIT;

static void make_exit_key(void)
{
    pthread_key_create(&exit_key, finish_rings);
}

static void raise_rings_used(uint32_t n)
{
    uint32_t used = __atomic_load_n(&trace_header()->rings_used, __ATOMIC_RELAXED);
    while (used < n && !__atomic_compare_exchange_n(&trace_header()->rings_used, &used, n, true,
                                                    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

/* Claims the first ring in `state`, beginning at `start`. Returns NULL if there is none. */
static struct trace_ring_header *claim_ring_in(uint32_t wanted, uint32_t start)
{
    for (uint32_t i = 0; i < trace_session.rings; i++) {
        const uint32_t k = (start + i) % trace_session.rings;
        struct trace_ring_header *shared = trace_ring_at(k);
        uint32_t state = wanted;
        if (__atomic_load_n(&shared->state, __ATOMIC_RELAXED) != wanted ||
            !__atomic_compare_exchange_n(&shared->state, &state, RING_CLAIMED, false,
                                         __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        raise_rings_used(k + 1);
        return shared;
    }
    return NULL;
}

/* Claims a free ring; in circular mode also one of a thread that ended, in turn. */
static struct trace_ring_header *claim_ring(void)
{
    static uint32_t next; /* atomic */
    struct trace_ring_header *shared = claim_ring_in(RING_FREE, 0);
    if (!shared && __atomic_load_n(&trace_header()->mode, __ATOMIC_RELAXED) == TTR_TRACE_CIRCULAR)
        shared = claim_ring_in(RING_FINISHED, __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) %
                                                  trace_session.rings);
    return shared;
}

/* Returns the index of the first chunk of a ring that is claimed again. The last chunk of its
 * former thread is closed, because its records end there. */
static uint64_t find_first_free_chunk(struct trace_ring_header *shared)
{
    const uint64_t at = __atomic_load_n(&shared->commit, __ATOMIC_RELAXED);
    return shared->claims && at ? close_chunk(shared, at) + 1 : 0;
}

static bool start_ring(struct ttr_trace_thread *thread, struct ttr_trace_ring *ring)
{
    struct trace_ring_header *shared = claim_ring();
    if (!shared)
        return false;
    shared->first = find_first_free_chunk(shared);
    shared->claims++;
    shared->tid = (uint32_t)syscall(SYS_gettid);
    shared->is_nested = ring != &thread->ring[0];
    prctl(PR_GET_NAME, shared->name);
    shared->open_zones[0] = 0;
    ring->shared = shared;
    ring->commit = &shared->commit;
    ring->open_zones = shared->open_zones;
    ring->thread_bits = TRACE_REAL_THREAD << 24;
    ring->events = __atomic_load_n(&shared->events, __ATOMIC_RELAXED);
    announce_chunk(shared, shared->first);
    start_chunk(ring, shared->first);
    __atomic_store_n(&shared->state, RING_ACTIVE, __ATOMIC_RELEASE);
    return true;
}

/* Claims a ring for the calling thread in the current session. Requires the lock. The ring for
 * signal handlers is claimed when it is first needed. */
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
    const struct trace_drops *lost = get_lost_events();
    const bool is_current =
        thread->generation == __atomic_load_n(&trace_session.generation, __ATOMIC_SEQ_CST);
    if (is_current && thread->ring[0].shared)
        return true;
    if (!lost || thread->depth > 1 ||
        (is_current && __atomic_load_n(&lost->count, __ATOMIC_RELAXED) % LOST_PER_CLAIM))
        return false;
    if (!trace_lock_briefly())
        return false;
    const bool is_claimed = claim_rings(thread);
    trace_unlock();
    return is_claimed;
}

/* Makes room in a ring. Returns NULL if there is none; then the drop is counted. */
static uint64_t *make_room(struct ttr_trace_thread *thread, struct ttr_trace_ring *ring,
                           size_t words)
{
    if (!update_rings(thread)) {
        trace_count_lost();
        return NULL;
    }
    bool has_room =
        ring && words * 8 <= TRACE_FXT_RECORD_MAX && (ring->shared || start_ring(thread, ring));
    while (has_room && (uintptr_t)ring->cur + words * 8 > (uintptr_t)ring->end)
        has_room = change_chunk(ring);
    if (has_room)
        return ring->cur;
    struct trace_ring_header *shared = ring && ring->shared ? ring->shared : thread->ring[0].shared;
    count_dropped_event(&shared->drops);
    return NULL;
}

uint64_t *trace_reserve(struct ttr_trace_ring **chosen, size_t words)
{
    struct ttr_trace_thread *thread = &ttr_trace_thread;
    const unsigned depth = thread->depth++;
    __asm__ volatile("" ::: "memory"); /* a handler uses another ring from here on */
    struct ttr_trace_ring *ring = depth < 2 ? &thread->ring[depth] : NULL;
    uint64_t *p = make_room(thread, ring, words);
    __asm__ volatile("" ::: "memory");
    if (!p)
        thread->depth--;
    *chosen = ring;
    return p;
}
