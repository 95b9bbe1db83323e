/* The state of the session, its lock, and the variables that trace points read. */
#include <time.h>

#include "trace/trace_internal.h"

#define PATIENCE_NS 100000000

struct trace_session trace_session = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .wake_fd = -1, .socket_fd = -1};

bool ttr_trace_uses_tsc;
uint64_t ttr_trace_zone_min_ticks;

/* True from before the lock is acquired until after it was released, so that a signal handler never
 * waits for the thread that it interrupted. */
static __thread volatile bool is_locking __attribute__((tls_model("initial-exec")));

bool trace_lock(void)
{
    if (is_locking)
        return false;
    is_locking = true;
    pthread_mutex_lock(&trace_session.lock);
    return true;
}

bool trace_lock_briefly(void)
{
    struct timespec until;
    if (is_locking)
        return false;
    is_locking = true;
    if (pthread_mutex_trylock(&trace_session.lock) == 0)
        return true;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += PATIENCE_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    is_locking = pthread_mutex_timedlock(&trace_session.lock, &until) == 0;
    return is_locking;
}

void trace_unlock(void)
{
    pthread_mutex_unlock(&trace_session.lock);
    is_locking = false;
}
