/* Backend for the ring buffers of trace.h: events of a provider become events of "tracetta record".
 *
 * The rings are those of libtracetta-trace, which is loaded when the backend is made, so that
 * libtracetta does not depend on it and both kinds of events of a program share a session.
 *
 *   provider      category                     level      level, at most 5 for the enable byte
 *   event name    event name                   keyword    argument "tracetta.keyword"
 *   field         argument (rings_fields.c)    opcode     argument "tracetta.opcode"
 *
 * The reader of FXT turns the arguments "tracetta.*" back into attributes of the event.  Opcodes
 * start and stop of an activity begin and end an async operation.
 *
 * Algorithm: each distinct pair of tracepoint and metadata has a trace point that is made at run
 * time (ttr_trace_site_new), found in a hash table with open addressing.  Entries are never removed
 * and are published with a release store, so that writers find them without a lock; `lock` is held
 * to add one.  The bit in `enabled` stays set while the provider is open, because the manager
 * enables categories without help of the process; a writer asks the enable byte of the category.
 *
 * Cost: 0.5 us per event, in which it is assembled and its fields are converted; 0.15 us if its
 * category is disabled.  Left out: signal handlers, since the first event of a kind allocates
 * memory. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/status.h"
#include "encodings/event_header/event_header.h"
#include "provider/rings_fields.h"
#include "provider/state.h"

#define LIBRARY "libtracetta-trace.so.0"
#define POINTS_MAX 4096u
#define SITES_MAX 4096u /* slots of the hash table; a power of 2, of which half are used */
#define LOCK_TRIES 1000u

/* Functions of libtracetta-trace. */
struct trace_functions {
    ttr_trace_site *(*site_new)(const char *category, const char *name, enum ttr_trace_type type,
                                uint8_t level, const char *const *arg_names, size_t args_n);
    bool (*site_is_enabled)(const ttr_trace_site *site);
    void (*site_write)(ttr_trace_site *site, uint64_t time, uint64_t end_or_id,
                       const struct ttr_trace_value *values);
    uint64_t (*read_clock)(void);
};

struct ring_point {
    uint64_t keyword;
    char provider[PROVIDER_NAME_MAX];
};

/* A trace point for the events of a tracepoint with equal metadata. */
struct ring_site {
    uint64_t hash;
    ttr_trace_site *site;
    uint32_t point;
    uint8_t opcode;
    bool has_activity;
    size_t metadata_n;
    uint8_t metadata[];
};

struct rings {
    struct trace_functions trace;
    pthread_mutex_t lock; /* held while an element of `points` or `sites` is added */
    uint32_t points_n, sites_n;
    struct ring_point *points[POINTS_MAX]; /* elements: atomic */
    struct ring_site *sites[SITES_MAX];    /* elements: atomic */
};

/* --- The library --- */

/* Opens libtracetta-trace: next to this library, or where the system searches. */
static void *open_library(void)
{
    char path[PATH_MAX];
    Dl_info about;
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    const char *slash =
        dladdr(LIBRARY, &about) && about.dli_fname ? strrchr(about.dli_fname, '/') : NULL;
    if (!library && slash) {
        (void)snprintf(path, sizeof path, "%.*s/" LIBRARY, (int)(slash - about.dli_fname),
                       about.dli_fname);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (!library)
        library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    return library;
}

/* Loads the functions of libtracetta-trace, which stays loaded: its trace points live until the
 * process ends. Returns false if the library or a function is missing. */
static bool load_functions(struct trace_functions *functions)
{
    struct {
        const char *name;
        void *to;
    } wanted[] = {
        {"ttr_trace_site_new", &functions->site_new},
        {"ttr_trace_site_is_enabled", &functions->site_is_enabled},
        {"ttr_trace_site_write", &functions->site_write},
        {"ttr_trace_read_clock", &functions->read_clock},
    };
    void *library = open_library();
    for (size_t i = 0; library && i < sizeof wanted / sizeof *wanted; i++) {
        void *found = dlsym(library, wanted[i].name);
        if (!found)
            return false;
        memcpy(wanted[i].to, &found, sizeof found); /* ISO C has no cast to a function pointer */
    }
    return library != NULL;
}

/* --- Tracepoints --- */

static int rings_add(void *ctx, const ttr_tracepoint_request *wish, uint32_t *index)
{
    struct rings *rings = ctx;
    struct event_header_name name;
    if (!event_header_parse_name((ttr_text){wish->name, strlen(wish->name)}, &name))
        return EINVAL;
    struct ring_point *point = alloc_zero(alloc_default(), 1, sizeof *point);
    if (!point)
        return ENOMEM;
    point->keyword = name.keyword;
    memcpy(point->provider, name.provider.p, name.provider.n);
    (void)pthread_mutex_lock(&rings->lock);
    const uint32_t n = rings->points_n;
    if (n < POINTS_MAX) {
        __atomic_store_n(&rings->points[n], point, __ATOMIC_RELEASE);
        rings->points_n++;
    }
    (void)pthread_mutex_unlock(&rings->lock);
    if (n == POINTS_MAX) {
        alloc_free(alloc_default(), point, 1, sizeof *point);
        return ENOSPC;
    }
    *index = n;
    (void)__atomic_fetch_or(wish->enabled, 1u << wish->bit, __ATOMIC_RELEASE);
    return 0;
}

/* --- Trace points --- */

static bool is_span_opcode(const struct rings_event *event)
{
    return event->activity && (event->opcode == TTR_EH_START || event->opcode == TTR_EH_STOP);
}

static struct ttr_trace_value make_number(uint32_t type, uint64_t number)
{
    return (struct ttr_trace_value){.bits = number, .type = type};
}

/* Appends attributes and fields. Those of zero are left out, since a trace point has one value. */
static void append_arguments(struct rings_args *args, const struct ring_point *point,
                             const struct rings_event *event)
{
    static const char digits[] = "0123456789abcdef";
    char activity[32];
    rings_args_append(args, TTR_TRACE_ATTRIBUTE_LEVEL,
                      make_number(TTR_TRACE_VALUE_U32, event->level));
    if (point->keyword)
        rings_args_append(args, TTR_TRACE_ATTRIBUTE_KEYWORD,
                          make_number(TTR_TRACE_VALUE_U64, point->keyword));
    if (event->opcode)
        rings_args_append(args, TTR_TRACE_ATTRIBUTE_OPCODE,
                          make_number(TTR_TRACE_VALUE_U32, event->opcode));
    for (size_t i = 0; i < 16 && event->activity; i++) {
        activity[2 * i] = digits[event->activity[i] >> 4];
        activity[2 * i + 1] = digits[event->activity[i] & 15];
    }
    if (event->activity) {
        char *text = args->text + args->text_n;
        memcpy(text, activity, sizeof activity);
        args->text_n += sizeof activity;
        rings_args_append(args, "activity",
                          (struct ttr_trace_value){.text = text,
                                                   .text_n = sizeof activity,
                                                   .type = TTR_TRACE_VALUE_TEXT});
    }
    rings_args_append_fields(args, event);
}

/* Returns the name of the event without attributes, cut to RINGS_NAME_MAX. */
static void copy_event_name(const struct rings_event *event, char name[RINGS_NAME_MAX])
{
    size_t n = 0;
    for (const uint8_t *p = event->metadata; p && p < event->metadata_end && *p && *p != ';'; p++)
        if (n + 1 < RINGS_NAME_MAX)
            name[n++] = (char)*p;
    name[n] = '\0';
}

static ttr_trace_site *make_trace_site(const struct rings *rings, const struct ring_point *point,
                                       const struct rings_event *event)
{
    struct rings_args args;
    char names[RINGS_NAMES_MAX], name[RINGS_NAME_MAX];
    args.n = args.text_n = args.names_n = 0;
    args.omitted = 0;
    args.names = names;
    append_arguments(&args, point, event);
    copy_event_name(event, name);
    const enum ttr_trace_type type = !is_span_opcode(event)          ? TTR_TRACE_INSTANT
                                     : event->opcode == TTR_EH_START ? TTR_TRACE_ASYNC_BEGIN
                                                                     : TTR_TRACE_ASYNC_END;
    const uint8_t level = event->level < TTR_TRACE_VERBOSE ? event->level : TTR_TRACE_VERBOSE;
    return rings->trace.site_new(point->provider, name, type, level, args.name, args.n);
}

static uint64_t hash_event(uint32_t point, const struct rings_event *event)
{
    uint64_t hash = UINT64_C(14695981039346656037) ^ point ^ (uint64_t)event->opcode << 32 ^
                    (uint64_t)(event->activity != NULL) << 40;
    for (const uint8_t *p = event->metadata; p && p < event->metadata_end; p++)
        hash = (hash ^ *p) * UINT64_C(1099511628211); /* FNV-1a */
    return hash;
}

static bool is_site_of(const struct ring_site *site, uint64_t hash, uint32_t point,
                       const struct rings_event *event)
{
    const size_t n = (size_t)(event->metadata_end - event->metadata);
    return site->hash == hash && site->point == point && site->opcode == event->opcode &&
           site->has_activity == (event->activity != NULL) && site->metadata_n == n &&
           (n == 0 || memcmp(site->metadata, event->metadata, n) == 0);
}

/* Returns the site of an event, or NULL with the empty slot where it belongs. */
static struct ring_site *find_site(struct rings *rings, uint64_t hash, uint32_t point,
                                   const struct rings_event *event, size_t *slot)
{
    for (size_t i = hash % SITES_MAX;; i = (i + 1) % SITES_MAX) {
        struct ring_site *site = __atomic_load_n(&rings->sites[i], __ATOMIC_ACQUIRE);
        *slot = i;
        if (!site || is_site_of(site, hash, point, event))
            return site;
    }
}

/* Locks without waiting for long: after a fork the holder may not exist. */
static bool lock_briefly(struct rings *rings)
{
    for (unsigned i = 0; i < LOCK_TRIES; i++) {
        if (pthread_mutex_trylock(&rings->lock) == 0)
            return true;
        (void)sched_yield();
    }
    return false;
}

/* Adds a site. Requires the lock. Returns NULL without memory, or if the table is full. */
static struct ring_site *add_site(struct rings *rings, uint64_t hash, uint32_t point,
                                  const struct rings_event *event)
{
    size_t slot;
    const size_t n = (size_t)(event->metadata_end - event->metadata);
    struct ring_site *site = find_site(rings, hash, point, event, &slot);
    if (site || rings->sites_n >= SITES_MAX / 2)
        return site;
    site = alloc_zero(alloc_default(), 1, sizeof *site + n);
    if (!site)
        return NULL;
    *site = (struct ring_site){.hash = hash,
                               .site = make_trace_site(rings, rings->points[point], event),
                               .point = point,
                               .opcode = event->opcode,
                               .has_activity = event->activity != NULL,
                               .metadata_n = n};
    if (n)
        memcpy(site->metadata, event->metadata, n);
    rings->sites_n++;
    __atomic_store_n(&rings->sites[slot], site, __ATOMIC_RELEASE);
    return site;
}

/* --- Writing --- */

/* Folds the id of an activity to the id of an async operation. */
static uint64_t fold_activity(const uint8_t *activity)
{
    uint64_t words[2] = {0, 0};
    if (activity)
        memcpy(words, activity, sizeof words);
    return words[0] ^ words[1];
}

static int rings_write(void *ctx, uint32_t index, uint8_t *bytes, size_t n)
{
    struct rings *rings = ctx;
    struct rings_event event;
    struct rings_args args;
    size_t slot;
    if (!rings_parse_event(bytes, n, &event))
        return EINVAL;
    const uint64_t hash = hash_event(index, &event);
    struct ring_site *site = find_site(rings, hash, index, &event, &slot);
    if (!site) {
        if (!lock_briefly(rings))
            return EAGAIN;
        site = add_site(rings, hash, index, &event);
        (void)pthread_mutex_unlock(&rings->lock);
    }
    if (!site || !site->site)
        return ENOSPC;
    if (!rings->trace.site_is_enabled(site->site))
        return 0;
    args.n = args.text_n = 0;
    args.omitted = 0;
    args.names = NULL;
    const struct ring_point *point = __atomic_load_n(&rings->points[index], __ATOMIC_ACQUIRE);
    append_arguments(&args, point, &event);
    rings->trace.site_write(site->site, rings->trace.read_clock(), fold_activity(event.activity),
                            args.value);
    return 0;
}

/* --- The backend --- */

static void rings_free(void *ctx)
{
    struct rings *rings = ctx;
    for (uint32_t i = 0; i < rings->points_n; i++)
        alloc_free(alloc_default(), rings->points[i], 1, sizeof *rings->points[i]);
    for (size_t i = 0; i < SITES_MAX; i++)
        if (rings->sites[i])
            alloc_free(alloc_default(), rings->sites[i], 1,
                       sizeof *rings->sites[i] + rings->sites[i]->metadata_n);
    (void)pthread_mutex_destroy(&rings->lock);
    alloc_free(alloc_default(), rings, 1, sizeof *rings);
}

ttr_backend *ttr_backend_rings(ttr_error *error)
{
    static const ttr_backend_functions functions = {sizeof functions, rings_add, NULL, rings_write};
    struct rings *rings = alloc_zero(alloc_default(), 1, sizeof *rings);
    if (!rings || pthread_mutex_init(&rings->lock, NULL) != 0) {
        alloc_free(alloc_default(), rings, 1, sizeof *rings);
        (void)fail_memory(error);
        return NULL;
    }
    if (!load_functions(&rings->trace)) {
        rings_free(rings);
        (void)fail(error, TTR_E_UNSUPPORTED, NO_OFFSET,
                   LIBRARY " cannot be loaded: install it beside libtracetta");
        return NULL;
    }
    ttr_backend *backend = backend_new(&functions, rings, rings_free, error);
    if (!backend)
        rings_free(rings);
    return backend;
}
