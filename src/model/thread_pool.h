/* Work done ahead by threads of the library's own, so that whoever reads finds it done.
 *
 * A task is posted, and later taken back: by then a worker has done it, or is doing it (then it is
 * waited for), or nobody has come to it (then it is not done, which costs nothing).  Workers look
 * for tasks a little while before they sleep, because being woken takes longer than decoding a
 * batch does. Ownership: a pool is freed when all its tasks were taken back.  Thread rule: one
 * thread posts and takes; `run` is called on a worker, and everything it wrote is seen by who takes
 * the task back. */
#ifndef TRACETTA_MODEL_THREAD_POOL_H
#define TRACETTA_MODEL_THREAD_POOL_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/alloc.h"

struct ahead;

enum ahead_state { AHEAD_IDLE = 0, AHEAD_POSTED, AHEAD_RUNNING, AHEAD_DONE };

struct ahead_task {
    void (*run)(void *own);
    void *own;
    _Atomic enum ahead_state state;     /* written with the pool's lock held */
    struct ahead_task *before, *behind; /* in the line of those posted */
};

/* Starts 1 to 64 workers; NULL when memory or threads are out. */
struct ahead *ahead_new(const struct alloc *alloc, unsigned workers);

/* Ends the workers and frees.  NULL is fine. */
void ahead_free(struct ahead *ahead);

/* Posts a task that is idle. */
void ahead_post(struct ahead *ahead, struct ahead_task *task);

/* Whether a worker has done a task that was posted; for guesses only. */
static inline bool ahead_is_done(const struct ahead_task *task)
{
    return atomic_load_explicit(&task->state, memory_order_relaxed) == AHEAD_DONE;
}

/* Takes a task back, whatever its state, and leaves it idle: true when it was done. */
bool ahead_take(struct ahead *ahead, struct ahead_task *task);

#endif
