/* Mutexes: how long a thread waits for one, and how long it holds it.
 *
 * The wait is a span of the thread, from the request to its end. The hold is an async span per
 * mutex and thread, since locks need not be released in the opposite order. The record that ends a
 * wait begins the hold, so the end of the wait is added before it. A recursive mutex is held until
 * the last release. Left out: pthread_cond_wait, which releases and acquires without a record. */
#include <string.h>

#include "base/hash.h"
#include "meaning/meaning.h"

#define HOLDS_MAX 65536u /* mutexes held at a time; further ones have no span */
#define NESTED 0x8000u   /* added to the group: number of nested holds of a recursive mutex */

enum { LOCK_MUTEX, LOCK_STATUS };

/* A record of a mutex, in progress. */
struct lock {
    struct meaning *meaning;
    const struct compiled_rule *compiled;
    ttr_event *event;
    uint64_t mutex;
    uint64_t link; /* link of the async span: a hash of mutex and thread */
};

/* Returns true if another record of the same thread began to hold the mutex. */
static bool is_held(const struct lock *lock)
{
    return pair_map_get(&lock->meaning->async, lock->compiled->rule->group, lock->link) != NULL;
}

/* Makes the record the begin of a hold. Returns false if memory runs out. */
static bool begin_hold(const struct lock *lock)
{
    struct meaning *meaning = lock->meaning;
    const uint16_t group = lock->compiled->rule->group;
    const ttr_id name = lock->compiled->name;
    if (meaning->async.used >= HOLDS_MAX)
        return true;
    if (!pair_map_put(&meaning->async, group, lock->link, name))
        return false;
    lock->event->kind = TTR_KIND_ASYNC_BEGIN;
    lock->event->link = lock->link;
    lock->event->name = name;
    lock->event->category = lock->compiled->category;
    return true;
}

/* Changes the number of nested holds. Returns false if memory runs out. */
static bool change_depth(const struct lock *lock, int change)
{
    struct pair_map *async = &lock->meaning->async;
    const uint64_t group = lock->compiled->rule->group | NESTED;
    const uint32_t *known = pair_map_get(async, group, lock->link);
    const uint32_t depth = (known ? *known : 0) + (uint32_t)change;
    if (depth)
        return pair_map_put(async, group, lock->link, depth);
    (void)pair_map_remove(async, group, lock->link);
    return true;
}

/* Ends the wait of the thread: by the record itself, or before it if the record begins a hold.
 * Returns false if memory runs out. */
static bool end_wait(const struct lock *lock, bool is_before)
{
    struct meaning *meaning = lock->meaning;
    ttr_event *event = lock->event;
    struct task *task = event->thread ? meaning_get_task(meaning, event->thread) : NULL;
    if (!task)
        return !event->thread;
    const uint32_t depth =
        spans_depth_of(&meaning->spans, task->lane, lock->compiled->rule->group, lock->mutex);
    if (depth == 0)
        return true;
    if (!meaning_end_innermost_spans(meaning, event, event->thread, 0, &task->lane, depth - 1))
        return false;
    const struct span *span = spans_pop(&meaning->spans, &task->lane);
    if (is_before)
        return meaning_append_end(meaning, event, event->thread, 0, span, true);
    event->kind = TTR_KIND_END;
    event->name = span->name;
    event->category = span->category;
    return true;
}

static bool acquire_mutex(const struct lock *lock, bool is_success)
{
    const bool is_first = is_success && !is_held(lock);
    if (!end_wait(lock, is_first))
        return false;
    return !is_success || (is_first ? begin_hold(lock) : change_depth(lock, 1));
}

static bool release_mutex(const struct lock *lock)
{
    struct pair_map *async = &lock->meaning->async;
    const uint16_t group = lock->compiled->rule->group;
    const uint32_t *name = pair_map_get(async, group, lock->link);
    if (pair_map_get(async, group | NESTED, lock->link))
        return change_depth(lock, -1);
    if (!name)
        return true;
    lock->event->kind = TTR_KIND_ASYNC_END;
    lock->event->link = lock->link;
    lock->event->name = *name;
    lock->event->category = lock->compiled->category;
    (void)pair_map_remove(async, group, lock->link);
    return true;
}

enum action_result meaning_apply_lock(struct meaning *meaning, const struct compiled_rule *compiled,
                                      ttr_event *event)
{
    uint64_t status = 0;
    struct rule_record record = {.t = meaning->base.t, .event = event};
    struct lock lock = {.meaning = meaning, .compiled = compiled, .event = event};
    if (!event->thread || !rule_read_number(&record, &compiled->field[LOCK_MUTEX], &lock.mutex))
        return ACTION_DONE;
    (void)rule_read_number(&record, &compiled->field[LOCK_STATUS], &status);
    lock.link = hash_pair(lock.mutex, event->thread);
    const bool is_success = status == 0;
    const bool is_fine = compiled->rule->action == RULE_LOCK ? acquire_mutex(&lock, is_success)
                                                             : !is_success || release_mutex(&lock);
    return is_fine ? ACTION_DONE : ACTION_OUT_OF_MEMORY;
}
