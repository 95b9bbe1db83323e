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
__thread volatile bool ttr_trace_is_inside __attribute__((tls_model("initial-exec")));

bool trace_lock(void)
{
    if (ttr_trace_is_inside)
        return false;
    ttr_trace_is_inside = true;
    pthread_mutex_lock(&trace_session.lock);
    return true;
}

bool trace_lock_briefly(void)
{
    struct timespec until;
    if (ttr_trace_is_inside)
        return false;
    ttr_trace_is_inside = true;
    if (pthread_mutex_trylock(&trace_session.lock) == 0)
        return true;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += PATIENCE_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    ttr_trace_is_inside = pthread_mutex_timedlock(&trace_session.lock, &until) == 0;
    return ttr_trace_is_inside;
}

void trace_unlock(void)
{
    pthread_mutex_unlock(&trace_session.lock);
    ttr_trace_is_inside = false;
}
