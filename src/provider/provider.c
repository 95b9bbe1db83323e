/* Providers and the registration of their tracepoints with backends.
 *
 * Tracepoints of TTR_WRITE are in an array that the linker collects from a section per provider.
 * Those of ttr_provider_point and TTR_WRITE_LATE are in the linked list state->points. Opening
 * registers both with a backend; closing unregisters both and waits for writers. The protocol with
 * writers is described in state.h. */
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

/* --- Tracepoint names ---
 *
 * Provider_L4K1fGgroup: level and keyword in lower-case hexadecimal. */

static bool format_point_name(char name[PROVIDER_NAME_MAX], const ttr_provider *provider,
                              unsigned level, uint64_t keyword)
{
    int n = snprintf(name, PROVIDER_NAME_MAX, "%s_L%xK%" PRIx64 "%s%s", provider->name, level,
                     keyword, provider->group[0] ? "G" : "", provider->group);
    return n > 0 && (size_t)n < PROVIDER_NAME_MAX;
}

static bool is_valid_group_name(const char *group)
{
    return !group[strspn(group, "abcdefghijklmnopqrstuvwxyz0123456789")];
}

/* Rejects characters that are separators in tracefs paths, in user_events commands, or in perf's
 * event syntax. */
static bool is_valid_provider_name(const char *name)
{
    size_t n = 0;
    for (; name[n]; n++)
        if ((unsigned char)name[n] <= ' ' || strchr(":;/*?\"'\\\x7f", name[n]))
            return false;
    return n > 0 && name[0] != '.';
}

static ttr_status check_provider_name(const char *name, const char *group, ttr_error *error)
{
    if (!is_valid_provider_name(name))
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "\"%.64s\" is not a valid provider name: use letters, digits and _", name);
    if (!is_valid_group_name(group))
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "\"%.64s\" is not a valid group name: use lower-case letters and digits",
                    group);
    if (strlen(name) + strlen(group) + (group[0] != '\0') + sizeof "_L1K0" > PROVIDER_NAME_MAX)
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "the provider's name is too long: a tracepoint's has at most %u bytes with "
                    "level, keyword and group",
                    PROVIDER_NAME_MAX - 1);
    return TTR_OK;
}

/* --- Providers --- */

/* A provider from ttr_provider_new. `text` has the name and the group, each with a final zero. */
struct dynamic_provider {
    ttr_provider provider;
    size_t text_n;
    char text[];
};

static struct provider_state *provider_state_new(void)
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

static void provider_state_free(struct provider_state *state)
{
    if (!state)
        return;
    (void)pthread_mutex_destroy(&state->lock);
    alloc_free(alloc_default(), state->block, 1, sizeof(struct provider_state) + 64);
}

/* Returns the state of a provider, allocated at first use. If two threads allocate at once, one of
 * them frees its copy. Returns NULL if memory is exhausted. */
static struct provider_state *provider_state_get(ttr_provider *provider)
{
    void *existing = __atomic_load_n(&provider->state, __ATOMIC_ACQUIRE);
    if (existing)
        return existing;
    struct provider_state *made = provider_state_new();
    if (made && !__atomic_compare_exchange_n(&provider->state, &existing, made, false,
                                             __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        provider_state_free(made);
        return existing;
    }
    return made;
}

/* Registers a tracepoint with backend number i. The index is stored last, because writers skip a
 * tracepoint without an index. */
static ttr_status register_point(struct provider_state *state, ttr_tracepoint *point, unsigned i,
                                 ttr_error *error)
{
    char name[PROVIDER_NAME_MAX];
    uint32_t index = PROVIDER_NO_INDEX;
    ttr_backend *backend = state->backends[i];
    if (!format_point_name(name, point->provider, point->level, point->keyword))
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "the name of a tracepoint of %.64s... has more than %u bytes",
                    point->provider->name, PROVIDER_NAME_MAX - 1);
    ttr_tracepoint_request wish = {name, &point->enabled, i};
    int sys = backend->functions.add(backend->ctx, &wish, &index);
    if (sys == 0) {
        __atomic_store_n(&point->index[i], index, __ATOMIC_RELEASE);
        return TTR_OK;
    }
    if (sys == EADDRINUSE)
        return fail_sys(error, sys, NO_OFFSET, "%.128s is already registered with other fields",
                        name);
    return fail_sys(error, sys, NO_OFFSET, "%.128s cannot be registered", name);
}

static void unregister_point(struct provider_state *state, ttr_tracepoint *point, unsigned i)
{
    char name[PROVIDER_NAME_MAX];
    ttr_backend *backend = state->backends[i];
    uint32_t index = __atomic_load_n(&point->index[i], __ATOMIC_RELAXED);
    if (index == PROVIDER_NO_INDEX ||
        !format_point_name(name, point->provider, point->level, point->keyword))
        return;
    ttr_tracepoint_request wish = {name, &point->enabled, i};
    if (backend->functions.remove)
        backend->functions.remove(backend->ctx, &wish, index);
    (void)__atomic_fetch_and(&point->enabled, ~(1u << i), __ATOMIC_SEQ_CST);
    __atomic_store_n(&point->index[i], PROVIDER_NO_INDEX, __ATOMIC_RELEASE);
}

/* Returns the next tracepoint of a provider. First come those in the linker's array, counted by
 * *at; NULL slots are skipped. Then come those in the list after `before`. */
static ttr_tracepoint *get_next_tracepoint(const ttr_provider *provider,
                                           const struct provider_state *state, size_t *at,
                                           ttr_tracepoint *before)
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

static ttr_status register_all_points(ttr_provider *provider, struct provider_state *state,
                                      unsigned i, ttr_error *error)
{
    ttr_error ignored_error;
    ttr_status status = TTR_OK;
    size_t at = 0;
    for (ttr_tracepoint *point = get_next_tracepoint(provider, state, &at, NULL); point;
         point = get_next_tracepoint(provider, state, &at, point)) {
        ttr_status one = register_point(state, point, i, status == TTR_OK ? error : &ignored_error);
        status = status == TTR_OK ? one : status;
    }
    return status;
}

static unsigned find_backend_index(const struct provider_state *state, const ttr_backend *backend)
{
    unsigned i = 0;
    while (i < TTR_BACKENDS_MAX && state->backends[i] != backend)
        i++;
    return i;
}

/* Opens a provider with a backend that it owns if `is_own`. */
static ttr_status open_with_backend(ttr_provider *provider, ttr_backend *backend, bool is_own,
                                    ttr_error *error)
{
    ttr_status status = check_provider_name(provider->name, provider->group, error);
    if (status != TTR_OK)
        return status;
    struct provider_state *state = provider_state_get(provider);
    if (!state)
        return fail_memory(error);
    if (backend && find_backend_index(state, backend) < TTR_BACKENDS_MAX)
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "provider %.64s is already open with this backend", provider->name);
    unsigned i = find_backend_index(state, NULL);
    if (i == TTR_BACKENDS_MAX)
        return fail(error, TTR_E_LIMIT, NO_OFFSET,
                    "provider %.64s is already open with %u backends, the maximum", provider->name,
                    TTR_BACKENDS_MAX);
    (void)pthread_mutex_lock(&state->lock);
    (void)__atomic_fetch_add(&backend->users, 1, __ATOMIC_RELAXED);
    state->owns[i] = is_own;
    __atomic_store_n(&state->backends[i], backend, __ATOMIC_RELEASE);
    status = register_all_points(provider, state, i, error);
    (void)pthread_mutex_unlock(&state->lock);
    return status;
}

/* Opens a provider with a new backend. Frees the backend if that fails before it is registered. */
static ttr_status open_with_own_backend(ttr_provider *provider, ttr_backend *backend,
                                        ttr_error *error)
{
    const ttr_status status = open_with_backend(provider, backend, true, error);
    const struct provider_state *state = __atomic_load_n(&provider->state, __ATOMIC_ACQUIRE);
    if (status != TTR_OK && (!state || find_backend_index(state, backend) == TTR_BACKENDS_MAX))
        ttr_backend_free(backend);
    return status;
}

/* Returns true if this process was started by "tracetta record". */
static bool is_run_by_recorder(void)
{
    const char *socket = getenv("TRACETTA_TRACE_SOCKET");
    return socket && socket[0];
}

ttr_status ttr_provider_open(ttr_provider *provider, ttr_backend *backend, ttr_error *error)
{
    ttr_error of_backend = {0};
    if (backend)
        return open_with_backend(provider, backend, false, error);
    ttr_status status = check_provider_name(provider->name, provider->group, error);
    if (status != TTR_OK)
        return status;
    bool is_recorded = false;
    ttr_backend *rings = is_run_by_recorder() ? ttr_backend_rings(NULL) : NULL;
    if (rings)
        is_recorded = open_with_own_backend(provider, rings, NULL) == TTR_OK;
    backend = ttr_backend_user_events(NULL, &of_backend);
    status = backend ? open_with_own_backend(provider, backend, &of_backend) : of_backend.status;
    if (is_recorded || status == TTR_OK)
        return TTR_OK;
    if (error)
        *error = of_backend;
    return status;
}

/* Returns true if a writer is between steps 1 and 4 of state.h. `ended` is loaded first: a writer
 * that completes between the two loads can only make the shard look busy. */
static bool shard_has_writers(const struct provider_shard *shard)
{
    uint64_t ended = __atomic_load_n(&shard->ended, __ATOMIC_ACQUIRE);
    return __atomic_load_n(&shard->begun, __ATOMIC_SEQ_CST) != ended;
}

/* Waits for writers that may have read the bits before they were cleared. A forked child has no
 * threads of its parent, so it does not wait. */
static void wait_for_writers(struct provider_state *state)
{
    for (unsigned i = 0; i < PROVIDER_SHARDS; i++)
        for (unsigned turns = 0; state->pid == getpid() && shard_has_writers(&state->shards[i]);
             turns++)
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
            for (ttr_tracepoint *point = get_next_tracepoint(provider, state, &at, NULL); point;
                 point = get_next_tracepoint(provider, state, &at, point))
                unregister_point(state, point, i);
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

/* Adds a tracepoint to the list and registers it with each open backend. After a failure it stays
 * in the list. */
static ttr_status add_and_register_point(struct provider_state *state, ttr_tracepoint *point,
                                         ttr_error *error)
{
    ttr_status status = TTR_OK;
    point->next = state->points;
    state->points = point;
    for (unsigned i = 0; i < TTR_BACKENDS_MAX && status == TTR_OK; i++)
        if (state->backends[i])
            status = register_point(state, point, i, error);
    return status;
}

void provider_register_late(ttr_tracepoint *point)
{
    struct provider_state *state = __atomic_load_n(&point->provider->state, __ATOMIC_ACQUIRE);
    if (!state)
        return;
    (void)pthread_mutex_lock(&state->lock);
    if (__atomic_load_n(&point->enabled, __ATOMIC_RELAXED) & TTR_SITE_LATE) {
        (void)add_and_register_point(state, point, NULL);
        (void)__atomic_fetch_and(&point->enabled, ~TTR_SITE_LATE, __ATOMIC_RELEASE);
    }
    (void)pthread_mutex_unlock(&state->lock);
}

ttr_provider *ttr_provider_new(const char *name, const char *group, ttr_error *error)
{
    const char *group_of = group ? group : "";
    if (check_provider_name(name, group_of, error) != TTR_OK)
        return NULL;
    size_t name_n = strlen(name) + 1, group_n = strlen(group_of) + 1;
    struct dynamic_provider *made = alloc_zero(alloc_default(), 1, sizeof *made + name_n + group_n);
    if (!made) {
        (void)fail_memory(error);
        return NULL;
    }
    memcpy(made->text, name, name_n);
    memcpy(made->text + name_n, group_of, group_n);
    made->text_n = name_n + group_n;
    made->provider = (ttr_provider){
        .size = sizeof(ttr_provider), .name = made->text, .group = made->text + name_n};
    if (provider_state_get(&made->provider))
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
    struct dynamic_provider *made = (struct dynamic_provider *)provider;
    struct provider_state *state = provider->state;
    for (ttr_tracepoint *point = state->points, *next; point; point = next) {
        next = point->next;
        alloc_free(alloc_default(), point, 1, sizeof *point);
    }
    provider_state_free(state);
    alloc_free(alloc_default(), made, 1, sizeof *made + made->text_n);
}

ttr_tracepoint *ttr_provider_point(ttr_provider *provider, unsigned level, uint64_t keyword,
                                   ttr_error *error)
{
    char name[PROVIDER_NAME_MAX];
    if (level < 1 || level > 255 || !format_point_name(name, provider, level, keyword)) {
        (void)fail(error, TTR_E_MISUSE, NO_OFFSET,
                   level < 1 || level > 255 ? "level must be 1 to 255"
                                            : "the tracepoint's name would be too long");
        return NULL;
    }
    struct provider_state *state = provider_state_get(provider);
    ttr_tracepoint *point = state ? alloc_zero(alloc_default(), 1, sizeof *point) : NULL;
    if (!point) {
        (void)fail_memory(error);
        return NULL;
    }
    *point = (ttr_tracepoint){.level = (uint8_t)level, .keyword = keyword, .provider = provider};
    for (unsigned i = 0; i < TTR_BACKENDS_MAX; i++)
        point->index[i] = PROVIDER_NO_INDEX;
    (void)pthread_mutex_lock(&state->lock);
    ttr_tracepoint *existing = state->points;
    while (existing && (existing->level != level || existing->keyword != keyword))
        existing = existing->next;
    /* After a failed registration the tracepoint stays in the list: the next ttr_provider_open
     * tries again. */
    ttr_status status = existing ? TTR_OK : add_and_register_point(state, point, error);
    (void)pthread_mutex_unlock(&state->lock);
    if (existing)
        alloc_free(alloc_default(), point, 1, sizeof *point);
    return status != TTR_OK ? NULL : existing ? existing : point;
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

/* --- Activity ids --- */

/* Creates an id if no random bytes are available, early at boot. Time, process and address make it
 * unique, but predictable. */
static void make_id_without_random(uint8_t id[16])
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t words[2] = {(uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec,
                         (uint64_t)getpid() << 40 ^ (uint64_t)(uintptr_t)id};
    words[1] *= UINT64_C(0x9E3779B97F4A7C15);
    memcpy(id, words, 16);
}

void ttr_activity_new_id(uint8_t id[16])
{
    if (getrandom(id, 16, GRND_NONBLOCK) != 16)
        make_id_without_random(id);
    id[6] = (uint8_t)((id[6] & 0x0F) | 0x40);
    id[8] = (uint8_t)((id[8] & 0x3F) | 0x80);
}
