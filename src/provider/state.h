/* What the library keeps of a provider and of a backend, and the way of an event from the one to
 * the other.
 *
 * A tracepoint has a bit for each backend in its word `enabled`; the backend (or the kernel) sets
 * it while somebody listens.  Who writes counts itself in a shard of its own before looking at the
 * bits and after the last backend has its event, so that closing can wait until nobody is on the
 * way any more.  Thread rule: as in provider.h. */
#ifndef TRACETTA_PROVIDER_STATE_H
#define TRACETTA_PROVIDER_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <tracetta/provider.h>

#define PROVIDER_SHARDS 8u
#define PROVIDER_NAME_MAX 256u /* of a tracepoint with its zero: EVENTHEADER_NAME_MAX */
#define PROVIDER_BITS ((1u << TTR_BACKENDS_MAX) - 1)
#define PROVIDER_NO_INDEX UINT32_MAX
#define BLOCK_FRONT 4u /* bytes before an event that are the backend's */

/* Counts of some of the threads, on a cache line of their own. */
struct provider_shard {
    _Alignas(64) uint64_t begun;
    uint64_t ended; /* never more than begun */
    uint64_t too_large, failed, above_page;
};

struct provider_state {
    struct provider_shard shards[PROVIDER_SHARDS];
    ttr_backend *backends[TTR_BACKENDS_MAX];
    bool owns[TTR_BACKENDS_MAX]; /* made by ttr_provider_open */
    pthread_mutex_t lock;        /* of `points` and `backends` */
    ttr_tracepoint *points; /* made at run time, and those of TTR_WRITE_LATE that were passed */
    pid_t pid;              /* that counts in the shards */
    int last_errno;
    void *block; /* as the allocator gave it: the state is aligned within */
};

struct ttr_backend {
    ttr_backend_functions functions;
    void *own;
    void (*free_own)(void *own); /* NULL: the caller's */
    int (*finish)(void *own); /* NULL: nothing to end; an errno or 0, the same when asked again */
    uint32_t users;           /* providers that are open with it */
};

/* Registers a tracepoint of TTR_WRITE_LATE with all backends of its provider, if that was ever
 * opened. */
void provider_take_late(ttr_tracepoint *point);

/* Gives an event of n bytes, BLOCK_FRONT bytes into a block, to whoever listens. */
ttr_status provider_send(ttr_tracepoint *point, uint8_t *event, size_t n);

/* Counts an event that is too large, and gives TTR_E_LIMIT. */
ttr_status provider_refuse(ttr_tracepoint *point);

/* A backend whose `own` is the library's. */
ttr_backend *backend_new(const ttr_backend_functions *functions, void *own,
                         void (*free_own)(void *own), ttr_error *error);

#endif
