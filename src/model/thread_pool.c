/* Workers and the line of tasks before them: one lock, held for a few instructions at a time. */
#include "model/thread_pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define WORKERS_MAX 64u
#define LOOKS 4000u /* before a worker sleeps: some 50 us */

struct ahead {
    const struct alloc *alloc;
    pthread_mutex_t lock;
    pthread_cond_t posted, done;
    struct ahead_task *first, *last;
    atomic_uint waiting; /* tasks in the line, for looking without the lock */
    unsigned sleeping;
    bool is_waited_for; /* somebody waits for `done` */
    atomic_bool is_ending;
    unsigned workers_n;
    pthread_t worker[WORKERS_MAX];
};

static void unlink_task(struct ahead *ahead, struct ahead_task *task)
{
    *(task->before ? &task->before->behind : &ahead->first) = task->behind;
    *(task->behind ? &task->behind->before : &ahead->last) = task->before;
    task->before = task->behind = NULL;
    atomic_fetch_sub_explicit(&ahead->waiting, 1, memory_order_relaxed);
}

static inline void pause_shortly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* A little while without a system call. */
static void look_around(const struct ahead *ahead)
{
    for (unsigned i = 0; i < LOOKS; i++) {
        if (atomic_load_explicit(&ahead->waiting, memory_order_relaxed) ||
            atomic_load_explicit(&ahead->is_ending, memory_order_relaxed))
            return;
        pause_shortly();
    }
}

/* The same, before waiting for a task that a worker is at. */
static void look_at(const struct ahead_task *task)
{
    for (unsigned i = 0;
         i < LOOKS && atomic_load_explicit(&task->state, memory_order_relaxed) == AHEAD_RUNNING;
         i++)
        pause_shortly();
}

/* Waits for a task with the lock held; NULL when all is over. */
static struct ahead_task *wait_for_task(struct ahead *ahead)
{
    while (!ahead->first && !atomic_load(&ahead->is_ending)) {
        (void)pthread_mutex_unlock(&ahead->lock);
        look_around(ahead);
        (void)pthread_mutex_lock(&ahead->lock);
        if (ahead->first || atomic_load(&ahead->is_ending))
            break;
        ahead->sleeping++;
        (void)pthread_cond_wait(&ahead->posted, &ahead->lock);
        ahead->sleeping--;
    }
    struct ahead_task *task = atomic_load(&ahead->is_ending) ? NULL : ahead->first;
    if (task)
        unlink_task(ahead, task);
    return task;
}

static void *work(void *own)
{
    struct ahead *ahead = own;
    struct ahead_task *task;
    (void)pthread_mutex_lock(&ahead->lock);
    while ((task = wait_for_task(ahead))) {
        task->state = AHEAD_RUNNING;
        (void)pthread_mutex_unlock(&ahead->lock);
        task->run(task->own);
        (void)pthread_mutex_lock(&ahead->lock);
        task->state = AHEAD_DONE;
        if (ahead->is_waited_for)
            (void)pthread_cond_broadcast(&ahead->done);
    }
    (void)pthread_mutex_unlock(&ahead->lock);
    return NULL;
}

struct ahead *ahead_new(const struct alloc *alloc, unsigned workers)
{
    struct ahead *ahead = alloc_zero(alloc, 1, sizeof *ahead);
    if (!ahead)
        return NULL;
    ahead->alloc = alloc;
    (void)pthread_mutex_init(&ahead->lock, NULL);
    (void)pthread_cond_init(&ahead->posted, NULL);
    (void)pthread_cond_init(&ahead->done, NULL);
    while (ahead->workers_n < workers && ahead->workers_n < WORKERS_MAX) {
        if (pthread_create(&ahead->worker[ahead->workers_n], NULL, work, ahead) != 0)
            break;
        ahead->workers_n++;
    }
    if (ahead->workers_n)
        return ahead;
    ahead_free(ahead);
    return NULL;
}

void ahead_free(struct ahead *ahead)
{
    if (!ahead)
        return;
    (void)pthread_mutex_lock(&ahead->lock);
    atomic_store(&ahead->is_ending, true);
    (void)pthread_cond_broadcast(&ahead->posted);
    (void)pthread_mutex_unlock(&ahead->lock);
    for (unsigned i = 0; i < ahead->workers_n; i++)
        (void)pthread_join(ahead->worker[i], NULL);
    (void)pthread_cond_destroy(&ahead->done);
    (void)pthread_cond_destroy(&ahead->posted);
    (void)pthread_mutex_destroy(&ahead->lock);
    alloc_free(ahead->alloc, ahead, 1, sizeof *ahead);
}

void ahead_post(struct ahead *ahead, struct ahead_task *task)
{
    (void)pthread_mutex_lock(&ahead->lock);
    task->state = AHEAD_POSTED;
    task->before = ahead->last;
    task->behind = NULL;
    *(ahead->last ? &ahead->last->behind : &ahead->first) = task;
    ahead->last = task;
    atomic_fetch_add_explicit(&ahead->waiting, 1, memory_order_relaxed);
    if (ahead->sleeping)
        (void)pthread_cond_signal(&ahead->posted);
    (void)pthread_mutex_unlock(&ahead->lock);
}

bool ahead_take(struct ahead *ahead, struct ahead_task *task)
{
    look_at(task);
    (void)pthread_mutex_lock(&ahead->lock);
    if (task->state == AHEAD_POSTED)
        unlink_task(ahead, task);
    while (task->state == AHEAD_RUNNING) {
        ahead->is_waited_for = true;
        (void)pthread_cond_wait(&ahead->done, &ahead->lock);
    }
    ahead->is_waited_for = false;
    bool is_done = task->state == AHEAD_DONE;
    task->state = AHEAD_IDLE;
    (void)pthread_mutex_unlock(&ahead->lock);
    return is_done;
}
