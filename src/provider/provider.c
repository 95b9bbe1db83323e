/* Providers: their tracepoints, and which backends these are registered with.
 *
 * The tracepoints of TTR_WRITE stand in a list that the linker makes; those of ttr_provider_point
 * and of TTR_WRITE_LATE in a chain.  A state, once made, stays for the life of its provider, so
 * that a late writer never meets freed memory. */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <tracetta/provider.h>

#include "base/alloc.h"
#include "base/status.h"
#include "provider/state.h"

/* --- Names of tracepoints ---
 *
 * Provider_L4K1fGgroup: the level and the keyword in lower-case hexadecimal. */

static bool name_of_point(char name[PROVIDER_NAME_MAX], const ttr_provider *provider,
                          unsigned level, uint64_t keyword)
{
    int n = snprintf(name, PROVIDER_NAME_MAX, "%s_L%xK%" PRIx64 "%s%s", provider->name, level,
                     keyword, provider->group[0] ? "G" : "", provider->group);
    return n > 0 && (size_t)n < PROVIDER_NAME_MAX;
}

static bool is_group(const char *group)
{
    return !group[strspn(group, "abcdefghijklmnopqrstuvwxyz0123456789")];
}

/* What tracefs, the commands of user_events, or readers of the name would take for something else.
 */
static bool is_provider(const char *name)
{
    size_t n = 0;
    for (; name[n]; n++)
        if ((unsigned char)name[n] <= ' ' || strchr(":;/*?\"'\\\x7f", name[n]))
            return false;
    return n > 0 && name[0] != '.';
}

static ttr_status name_check(const char *name, const char *group, ttr_error *error)
{
    if (!is_provider(name))
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "\"%.64s\" cannot be the name of a provider: letters, digits and _ can", name);
    if (!is_group(group))
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "\"%.64s\" cannot be the name of a group of providers: lower-case letters and "
                    "digits can",
                    group);
    if (strlen(name) + strlen(group) + (group[0] != '\0') + sizeof "_L1K0" > PROVIDER_NAME_MAX)
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "the provider's name is too long: a tracepoint's has at most %u bytes with "
                    "level, keyword and group",
                    PROVIDER_NAME_MAX - 1);
    return TTR_OK;
}

/* --- Providers --- */

/* A provider made at run time; its texts follow it. */
struct made_provider {
    ttr_provider provider;
    size_t text_n;
    char text[];
};

static struct provider_state *state_new(void)
{
    size_t n = sizeof(struct provider_state) + 64;
    uint8_t *block = alloc_zero(alloc_default(), 1, n);
    if (!block)
        return NULL;
    struct provider_state *state = (void *)(block + (64 - (uintptr_t)block % 64) % 64);
    state->block = block;
    state->pid = getpid();
    if (pthread_mutex_init(&state->lock, NULL) == 0)
        return state;
    alloc_free(alloc_default(), block, 1, n);
    return NULL;
}

static void state_free(struct provider_state *state)
{
    if (!state)
        return;
    (void)pthread_mutex_destroy(&state->lock);
    alloc_free(alloc_default(), state->block, 1, sizeof(struct provider_state) + 64);
}

/* The state of a provider, made when there is none; NULL when memory is out. */
static struct provider_state *state_of(ttr_provider *provider)
{
    void *there = __atomic_load_n(&provider->state, __ATOMIC_ACQUIRE);
    if (there)
        return there;
    struct provider_state *made = state_new();
    if (made && !__atomic_compare_exchange_n(&provider->state, &there, made, false,
                                             __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        state_free(made);
        return there;
    }
    return made;
}

/* Registers one tracepoint with the i-th backend. */
static ttr_status add_point(struct provider_state *state, ttr_tracepoint *point, unsigned i,
                            ttr_error *error)
{
    char name[PROVIDER_NAME_MAX];
    uint32_t index = PROVIDER_NO_INDEX;
    ttr_backend *backend = state->backends[i];
    if (!name_of_point(name, point->provider, point->level, point->keyword))
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "the name of a tracepoint of %.64s... has more than %u bytes",
                    point->provider->name, PROVIDER_NAME_MAX - 1);
    ttr_wish wish = {name, &point->enabled, i};
    int sys = backend->functions.add(backend->own, &wish, &index);
    if (sys == 0) {
        __atomic_store_n(&point->index[i], index, __ATOMIC_RELEASE);
        return TTR_OK;
    }
    if (sys == EADDRINUSE)
        return fail_sys(error, sys, NO_OFFSET, "%.128s is registered with other fields already",
                        name);
    return fail_sys(error, sys, NO_OFFSET, "%.128s cannot be registered", name);
}

static void remove_point(struct provider_state *state, ttr_tracepoint *point, unsigned i)
{
    char name[PROVIDER_NAME_MAX];
    ttr_backend *backend = state->backends[i];
    uint32_t index = __atomic_load_n(&point->index[i], __ATOMIC_RELAXED);
    if (index == PROVIDER_NO_INDEX ||
        !name_of_point(name, point->provider, point->level, point->keyword))
        return;
    ttr_wish wish = {name, &point->enabled, i};
    if (backend->functions.remove)
        backend->functions.remove(backend->own, &wish, index);
    (void)__atomic_fetch_and(&point->enabled, ~(1u << i), __ATOMIC_SEQ_CST);
    __atomic_store_n(&point->index[i], PROVIDER_NO_INDEX, __ATOMIC_RELEASE);
}

/* The first tracepoint of all, and the one behind another: `at` counts those of the linker's list.
 */
static ttr_tracepoint *next_point(const ttr_provider *provider, const struct provider_state *state,
                                  size_t *at, ttr_tracepoint *before)
{
    size_t n = (size_t)(provider->last - provider->first);
    while (*at < n) {
        ttr_tracepoint *point = provider->first[(*at)++];
        if (point)
            return point;
    }
    if ((*at)++ == n)
        return state->points;
    return before ? before->next : NULL;
}

static ttr_status add_all(ttr_provider *provider, struct provider_state *state, unsigned i,
                          ttr_error *error)
{
    ttr_error later;
    ttr_status status = TTR_OK;
    size_t at = 0;
    for (ttr_tracepoint *point = next_point(provider, state, &at, NULL); point;
         point = next_point(provider, state, &at, point)) {
        ttr_status one = add_point(state, point, i, status == TTR_OK ? error : &later);
        status = status == TTR_OK ? one : status;
    }
    return status;
}

static unsigned find_backend(const struct provider_state *state, const ttr_backend *backend)
{
    unsigned i = 0;
    while (i < TTR_BACKENDS_MAX && state->backends[i] != backend)
        i++;
    return i;
}

ttr_status ttr_provider_open(ttr_provider *provider, ttr_backend *backend, ttr_error *error)
{
    bool is_own = !backend;
    ttr_status status = name_check(provider->name, provider->group, error);
    if (status != TTR_OK)
        return status;
    struct provider_state *state = state_of(provider);
    if (!state)
        return fail_memory(error);
    if (backend && find_backend(state, backend) < TTR_BACKENDS_MAX)
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "the provider %.64s is open with this backend already", provider->name);
    unsigned i = find_backend(state, NULL);
    if (i == TTR_BACKENDS_MAX)
        return fail(error, TTR_E_LIMIT, NO_OFFSET,
                    "the provider %.64s is open with %u backends already", provider->name,
                    TTR_BACKENDS_MAX);
    if (is_own) {
        ttr_error of_backend = {0};
        backend = ttr_backend_user_events(NULL, &of_backend);
        if (error && !backend)
            *error = of_backend;
        if (!backend)
            return of_backend.status;
    }
    (void)pthread_mutex_lock(&state->lock);
    (void)__atomic_fetch_add(&backend->users, 1, __ATOMIC_RELAXED);
    state->owns[i] = is_own;
    __atomic_store_n(&state->backends[i], backend, __ATOMIC_RELEASE);
    status = add_all(provider, state, i, error);
    (void)pthread_mutex_unlock(&state->lock);
    return status;
}

/* Whether somebody is on the way to a backend: ended is read before begun, which is never less. */
static bool is_busy(const struct provider_shard *shard)
{
    uint64_t ended = __atomic_load_n(&shard->ended, __ATOMIC_ACQUIRE);
    return __atomic_load_n(&shard->begun, __ATOMIC_SEQ_CST) != ended;
}

/* Waits until who wrote when the bits were cleared is through.  In a child of fork only this thread
 * is left. */
static void wait_for_writers(struct provider_state *state)
{
    for (unsigned i = 0; i < PROVIDER_SHARDS; i++)
        for (unsigned turns = 0; state->pid == getpid() && is_busy(&state->shards[i]); turns++)
            if (turns < 100)
                (void)sched_yield();
            else
                (void)usleep(100);
}

void ttr_provider_close(ttr_provider *provider)
{
    struct provider_state *state = __atomic_load_n(&provider->state, __ATOMIC_ACQUIRE);
    if (!state)
        return;
    (void)pthread_mutex_lock(&state->lock);
    for (unsigned i = 0; i < TTR_BACKENDS_MAX; i++) {
        size_t at = 0;
        if (state->backends[i])
            for (ttr_tracepoint *point = next_point(provider, state, &at, NULL); point;
                 point = next_point(provider, state, &at, point))
                remove_point(state, point, i);
    }
    wait_for_writers(state);
    for (unsigned i = 0; i < TTR_BACKENDS_MAX; i++) {
        ttr_backend *backend = state->backends[i];
        __atomic_store_n(&state->backends[i], NULL, __ATOMIC_RELEASE);
        if (backend)
            (void)__atomic_fetch_sub(&backend->users, 1, __ATOMIC_RELAXED);
        if (state->owns[i])
            ttr_backend_free(backend);
        state->owns[i] = false;
    }
    (void)pthread_mutex_unlock(&state->lock);
}

/* Chains a tracepoint and registers it with what the provider is open with. */
static ttr_status take_point(struct provider_state *state, ttr_tracepoint *point, ttr_error *error)
{
    ttr_status status = TTR_OK;
    point->next = state->points;
    state->points = point;
    for (unsigned i = 0; i < TTR_BACKENDS_MAX && status == TTR_OK; i++)
        if (state->backends[i])
            status = add_point(state, point, i, error);
    return status;
}

void provider_take_late(ttr_tracepoint *point)
{
    struct provider_state *state = __atomic_load_n(&point->provider->state, __ATOMIC_ACQUIRE);
    if (!state)
        return;
    (void)pthread_mutex_lock(&state->lock);
    if (__atomic_load_n(&point->enabled, __ATOMIC_RELAXED) & TTR_SITE_LATE) {
        (void)take_point(state, point, NULL);
        (void)__atomic_fetch_and(&point->enabled, ~TTR_SITE_LATE, __ATOMIC_RELEASE);
    }
    (void)pthread_mutex_unlock(&state->lock);
}

ttr_provider *ttr_provider_new(const char *name, const char *group, ttr_error *error)
{
    const char *group_of = group ? group : "";
    if (name_check(name, group_of, error) != TTR_OK)
        return NULL;
    size_t name_n = strlen(name) + 1, group_n = strlen(group_of) + 1;
    struct made_provider *made = alloc_zero(alloc_default(), 1, sizeof *made + name_n + group_n);
    if (!made) {
        (void)fail_memory(error);
        return NULL;
    }
    memcpy(made->text, name, name_n);
    memcpy(made->text + name_n, group_of, group_n);
    made->text_n = name_n + group_n;
    made->provider = (ttr_provider){
        .size = sizeof(ttr_provider), .name = made->text, .group = made->text + name_n};
    if (state_of(&made->provider))
        return &made->provider;
    alloc_free(alloc_default(), made, 1, sizeof *made + made->text_n);
    (void)fail_memory(error);
    return NULL;
}

void ttr_provider_free(ttr_provider *provider)
{
    if (!provider)
        return;
    ttr_provider_close(provider);
    struct made_provider *made = (struct made_provider *)provider;
    struct provider_state *state = provider->state;
    for (ttr_tracepoint *point = state->points, *next; point; point = next) {
        next = point->next;
        alloc_free(alloc_default(), point, 1, sizeof *point);
    }
    state_free(state);
    alloc_free(alloc_default(), made, 1, sizeof *made + made->text_n);
}

ttr_tracepoint *ttr_provider_point(ttr_provider *provider, unsigned level, uint64_t keyword,
                                   ttr_error *error)
{
    char name[PROVIDER_NAME_MAX];
    if (level < 1 || level > 255 || !name_of_point(name, provider, level, keyword)) {
        (void)fail(error, TTR_E_MISUSE, NO_OFFSET,
                   level < 1 || level > 255 ? "levels are 1 to 255"
                                            : "the tracepoint's name would be too long");
        return NULL;
    }
    struct provider_state *state = state_of(provider);
    ttr_tracepoint *point = state ? alloc_zero(alloc_default(), 1, sizeof *point) : NULL;
    if (!point) {
        (void)fail_memory(error);
        return NULL;
    }
    *point = (ttr_tracepoint){.level = (uint8_t)level, .keyword = keyword, .provider = provider};
    for (unsigned i = 0; i < TTR_BACKENDS_MAX; i++)
        point->index[i] = PROVIDER_NO_INDEX;
    (void)pthread_mutex_lock(&state->lock);
    ttr_tracepoint *there = state->points;
    while (there && (there->level != level || there->keyword != keyword))
        there = there->next;
    /* One that could not be registered stays: a later open may have more luck. */
    ttr_status status = there ? TTR_OK : take_point(state, point, error);
    (void)pthread_mutex_unlock(&state->lock);
    if (there)
        alloc_free(alloc_default(), point, 1, sizeof *point);
    return status != TTR_OK ? NULL : there ? there : point;
}

void ttr_provider_count(const ttr_provider *provider, ttr_provider_counts *counts)
{
    ttr_provider_counts sum = {.size = sizeof sum};
    const struct provider_state *state = __atomic_load_n(&provider->state, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; state && i < PROVIDER_SHARDS; i++) {
        sum.written += __atomic_load_n(&state->shards[i].ended, __ATOMIC_RELAXED);
        sum.too_large += __atomic_load_n(&state->shards[i].too_large, __ATOMIC_RELAXED);
        sum.failed += __atomic_load_n(&state->shards[i].failed, __ATOMIC_RELAXED);
        sum.above_page += __atomic_load_n(&state->shards[i].above_page, __ATOMIC_RELAXED);
    }
    sum.last_errno = state ? __atomic_load_n(&state->last_errno, __ATOMIC_RELAXED) : 0;
    size_t size = counts->size < sizeof sum ? counts->size : sizeof sum;
    sum.size = counts->size;
    memcpy(counts, &sum, size);
}

/* --- Ids of activities --- */

/* Where the kernel has no random bytes yet: time, process and place are no less different, only
 * less hard to guess. */
static void make_otherwise(uint8_t id[16])
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t words[2] = {(uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec,
                         (uint64_t)getpid() << 40 ^ (uint64_t)(uintptr_t)id};
    words[1] *= UINT64_C(0x9E3779B97F4A7C15);
    memcpy(id, words, 16);
}

void ttr_activity_make(uint8_t id[16])
{
    if (getrandom(id, 16, GRND_NONBLOCK) != 16)
        make_otherwise(id);
    id[6] = (uint8_t)((id[6] & 0x0F) | 0x40);
    id[8] = (uint8_t)((id[8] & 0x3F) | 0x80);
}
