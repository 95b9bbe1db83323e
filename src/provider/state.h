/* Internal state of providers and backends, and the protocol that lets writers run without locks.
 *
 * Each tracepoint has one bit per backend in `enabled`. The backend sets its bit while a consumer
 * is attached; user_events has the kernel do it. A writer (send.c):
 *
 * |  1. shard->begun++     (SEQ_CST)
 * |  2. load `enabled`     (SEQ_CST), then the index and backend of each set bit
 * |  3. call write() of those backends
 * |  4. shard->ended++     (RELEASE)
 *
 * Closing (provider.c, ttr_provider_close): clear the bits (SEQ_CST), wait until begun == ended in
 * every shard, then drop the backends. A writer that counted itself before the check is waited for.
 * One that counts itself later sees the cleared bits, because both sides order "own store, then
 * load of the other's" with SEQ_CST (Dekker's algorithm). This is the quiescence wait of
 * epoch-based reclamation, with counters per shard instead of epochs.
 *
 * Invariants: ended <= begun. No backend is used after ttr_provider_close returns. A provider's
 * state lives as long as the provider, so a late writer never reads freed memory. Writers take no
 * lock and allocate nothing, so signal handlers may write; opening and closing hold `lock`.
 *
 * Shards: a hash of the stack address selects one of 8 cache lines, so threads rarely share one.
 * Collisions cost time only. After fork() the counts of writers that do not exist in the child
 * would never match; `pid` detects that and the wait is skipped.
 *
 * Cost: two atomic additions on an uncontended line per event that has a consumer, one load and one
 * branch otherwise. Left out: two threads that open or close the same provider at once. Thread
 * rule: see provider.h. */
#ifndef TRACETTA_PROVIDER_STATE_H
#define TRACETTA_PROVIDER_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <tracetta/provider.h>

#define PROVIDER_SHARDS 8u
/* size in bytes of a tracepoint name with its terminating zero, as EVENTHEADER_NAME_MAX */
#define PROVIDER_NAME_MAX 256u
#define PROVIDER_BITS ((1u << TTR_BACKENDS_MAX) - 1)
#define PROVIDER_NO_INDEX UINT32_MAX
/* bytes before an event that the backend may use; user_events stores its index there */
#define BLOCK_FRONT 4u

/* Counters of the threads that hash to this shard. Each shard has a separate cache line. */
struct provider_shard {
    _Alignas(64) uint64_t begun;
    uint64_t ended; /* begun: events that have entered provider_send; ended: events that have left
                     * it */
    uint64_t too_large, failed, above_page;
};

struct provider_state {
    struct provider_shard shards[PROVIDER_SHARDS];
    ttr_backend *backends[TTR_BACKENDS_MAX];
    /* ttr_provider_open created the backend, and closing frees it */
    bool owns[TTR_BACKENDS_MAX];
    pthread_mutex_t lock; /* protects `points`, `backends` and registration */
    /* list of the tracepoints from ttr_provider_point and from TTR_WRITE_LATE sites that were
     * executed */
    ttr_tracepoint *points;
    pid_t pid; /* process of the counted writers; differs from getpid() in a forked child */
    int last_errno;
    void *block; /* allocated block that contains this state at a 64-byte boundary */
};

struct ttr_backend {
    ttr_backend_functions functions;
    void *ctx;
    void (*free_ctx)(void *ctx); /* frees `ctx`; NULL if the caller owns it */
    /* completes the output; returns 0 or an errno, the same for each call; NULL if there is nothing
     * to complete */
    int (*finish)(void *ctx);
    uint32_t users; /* number of providers that have this backend open */
};

/* Registers the tracepoint of a TTR_WRITE_LATE site with all backends of its provider. Does nothing
 * if the provider was never opened. */
void provider_register_late(ttr_tracepoint *point);

/* Writes an event of n bytes to every backend with a consumer (bit in `enabled`). BLOCK_FRONT
 * writable bytes precede `event`. Returns TTR_E_IO if a backend failed; the other backends still
 * get the event. */
ttr_status provider_send(ttr_tracepoint *point, uint8_t *event, size_t n);

/* Counts an event that exceeds TTR_EVENT_MAX. Returns TTR_E_LIMIT. */
ttr_status provider_count_too_large(ttr_tracepoint *point);

/* Creates a backend, which owns `ctx` and frees it by free_ctx. Returns NULL if memory is
 * exhausted; the caller then still owns `ctx`. */
ttr_backend *backend_new(const ttr_backend_functions *functions, void *ctx,
                         void (*free_ctx)(void *ctx), ttr_error *error);

#endif
