/* The state of the session, its lock, and the variables that trace points read. */
#include "trace/trace_internal.h"

struct trace_session trace_session = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .wake_fd = -1, .socket_fd = -1};

bool ttr_trace_uses_tsc;
uint64_t ttr_trace_zone_min_ticks;

static const void *lock_owner; /* identifies the thread that holds the lock; atomic */

bool trace_lock(void)
{
    const void *self = &ttr_trace_thread;
    if (__atomic_load_n(&lock_owner, __ATOMIC_RELAXED) == self)
        return false;
    pthread_mutex_lock(&trace_session.lock);
    __atomic_store_n(&lock_owner, self, __ATOMIC_RELAXED);
    return true;
}

void trace_unlock(void)
{
    __atomic_store_n(&lock_owner, NULL, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&trace_session.lock);
}
