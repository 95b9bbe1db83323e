/* Records that are not written inline: zones with arguments, logs, blobs, objects, virtual threads;
 * and the registration of trace points. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "trace/trace_internal.h"

#define LOG_MAX 1024u
#define BLOB_MAX 32000u
#define OBJECT_NAME_MAX 256u
#define VIRTUAL_KOID (UINT64_C(1) << 63)

/* --- Trace points --- */

/* Returns the first word of an argument without its value; a text also lacks its size. */
static uint64_t make_argument_header(uint64_t name, uint32_t type)
{
    const struct ttr_trace_value value = {.type = type};
    const uint64_t words = type == TTR_TRACE_VALUE_TEXT ? 0 : ttr_trace_value_words(&value);
    return type | words << 4 | name << 16;
}

/* Computes the words of a trace point. Requires the lock. */
static bool register_site(ttr_trace_site *site, const struct ttr_trace_value *values)
{
    const int32_t category = trace_string_add(site->category->name),
                  name = trace_string_add(site->name);
    bool is_complete = category >= 0 && name >= 0;
    for (unsigned i = 0; i < site->args_n && is_complete; i++) {
        const int32_t arg_name = trace_string_add(site->arg_names[i]);
        is_complete = arg_name >= 0;
        if (is_complete)
            site->arg_headers[i] = make_argument_header((uint64_t)arg_name, values[i].type);
    }
    if (!is_complete)
        return false;
    const uint64_t header = TRACE_FXT_EVENT | (uint64_t)site->type << 16 |
                            (uint64_t)site->args_n << 20 | (uint64_t)category << 32 |
                            (uint64_t)name << 48;
    __atomic_store_n(&site->header, header, __ATOMIC_RELEASE);
    return true;
}

/* Computes the words of a trace point at its first use. Returns false in a signal handler that
 * interrupted this function, and if the string table is full. */
static bool use_site(ttr_trace_site *site, const struct ttr_trace_value *values)
{
    if (__atomic_load_n(&site->header, __ATOMIC_ACQUIRE))
        return true;
    if (!trace_lock_briefly())
        return false;
    const bool is_registered = site->header != 0 || register_site(site, values);
    trace_unlock();
    return is_registered;
}

void ttr_trace_write_slow(ttr_trace_site *site, uint64_t time, const struct ttr_trace_value *values,
                          unsigned n, const uint64_t *tail)
{
    struct ttr_trace_ring *ring;
    size_t words = tail ? 3 : 2;
    for (unsigned i = 0; i < n; i++)
        words += ttr_trace_value_words(&values[i]);
    if (!use_site(site, values)) {
        trace_count_lost();
        return;
    }
    uint64_t *p = trace_reserve(&ring, words);
    if (!p)
        return;
    *p++ = site->header | ring->thread_bits | (uint64_t)words << 4;
    *p++ = time;
    for (unsigned i = 0; i < n; i++)
        p = ttr_trace_put_value(p, site->arg_headers[i], &values[i]);
    if (tail)
        *p++ = *tail;
    trace_commit(ring, p);
}

uint64_t ttr_trace_read_clock(void)
{
    return ttr_trace_now();
}

bool ttr_trace_site_is_enabled(const ttr_trace_site *site)
{
    return ttr_trace_is_enabled(site->enabled, site->level);
}

/* Categories of trace points that are made at run time: a module like that of a program. */
static struct ttr_trace_category run_time_categories[TTR_TRACE_PAGE + 1];
static __attribute__((aligned(TTR_TRACE_PAGE))) volatile uint8_t run_time_enabled[TTR_TRACE_PAGE];
static struct ttr_trace_module run_time_module = {run_time_enabled, run_time_categories, NULL, 0};
static size_t run_time_n;

/* Returns the index of a category, which is added if its name is new: it then owns *copy, a copy of
 * the name. Returns -1 if *copy is NULL or there are too many categories. Requires the lock. */
static int find_or_add_category(const char *name, char **copy)
{
    for (size_t i = 0; i < run_time_n; i++)
        if (strcmp(run_time_categories[i].name, name) == 0)
            return (int)i;
    if (!*copy || run_time_n == TTR_TRACE_PAGE)
        return -1;
    run_time_categories[run_time_n].name = *copy;
    *copy = NULL;
    trace_category_added(&run_time_module, run_time_n);
    return (int)run_time_n++;
}

static int add_category(const char *name)
{
    static bool is_added;
    char *copy = strdup(name); /* not while the lock is held: trace_lock_briefly */
    int i = -1;
    if (!__atomic_exchange_n(&is_added, true, __ATOMIC_RELAXED))
        ttr_trace_module_add(&run_time_module);
    if (trace_lock()) {
        i = find_or_add_category(name, &copy);
        trace_unlock();
    }
    free(copy);
    return i;
}

/* A trace point made at run time. */
struct run_time_site {
    ttr_trace_site site;
    struct run_time_site *next; /* in run_time_sites */
    uint64_t arg_headers[TTR_TRACE_ARGS_MAX];
    const char *arg_names[TTR_TRACE_ARGS_MAX];
};

/* List of all trace points made at run time, which is changed atomically. They live until the
 * program ends, even if the caller drops its pointer. */
static struct run_time_site *run_time_sites;

static void keep_site(struct run_time_site *made)
{
    made->next = __atomic_load_n(&run_time_sites, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&run_time_sites, &made->next, made, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        ;
}

static void free_site(struct run_time_site *made)
{
    free((char *)(uintptr_t)made->site.name);
    for (size_t i = 0; i < TTR_TRACE_ARGS_MAX; i++)
        free((char *)(uintptr_t)made->arg_names[i]);
    free(made);
}

ttr_trace_site *ttr_trace_site_new(const char *category, const char *name, enum ttr_trace_type type,
                                   uint8_t level, const char *const *arg_names, size_t args_n)
{
    const int i = args_n <= TTR_TRACE_ARGS_MAX ? add_category(category) : -1;
    struct run_time_site *made = i >= 0 ? calloc(1, sizeof *made) : NULL;
    if (!made)
        return NULL;
    bool is_copied = (made->site.name = strdup(name)) != NULL;
    for (size_t k = 0; k < args_n; k++)
        is_copied &= (made->arg_names[k] = strdup(arg_names[k])) != NULL;
    made->site.arg_headers = made->arg_headers;
    made->site.category = &run_time_categories[i];
    made->site.arg_names = made->arg_names;
    made->site.type = (uint8_t)type;
    made->site.level = level;
    made->site.args_n = (uint8_t)args_n;
    made->site.enabled = &run_time_enabled[i];
    if (!is_copied) {
        free_site(made);
        return NULL;
    }
    keep_site(made);
    return &made->site;
}

/* Returns true if events of the type have a word after their arguments. */
static bool has_trailing_word(uint8_t type)
{
    return type != TTR_TRACE_INSTANT && type != TTR_TRACE_BEGIN && type != TTR_TRACE_END;
}

void ttr_trace_site_write(ttr_trace_site *site, uint64_t time, uint64_t end_or_id,
                          const struct ttr_trace_value *values)
{
    if (ttr_trace_site_is_enabled(site))
        ttr_trace_write(site, site->arg_headers, time, values, site->args_n,
                        has_trailing_word(site->type) ? &end_or_id : NULL);
}

/* --- Zones --- */

uint64_t *ttr_trace_zone_open_slow(ttr_trace_site *site, const struct ttr_trace_zone_args *args)
{
    struct ttr_trace_ring *ring;
    if (!use_site(site, args ? args->values : NULL))
        return NULL;
    /* A reservation claims the ring if the thread has none. */
    if (!ttr_trace_thread.ring[0].open_zones && ttr_trace_thread.depth == 0 &&
        trace_reserve(&ring, 1))
        ttr_trace_thread.depth--;
    return ttr_trace_thread.ring[0].open_zones;
}

void ttr_trace_zone_add(struct ttr_trace_zone_args *args, const char *name,
                        struct ttr_trace_value value)
{
    if (args->n >= TTR_TRACE_ARGS_MAX)
        return;
    args->values[args->n] = value;
    args->names[args->n] = name;
    args->n++;
    args->added++;
}

/* Completes the headers of arguments that were added to a zone. Their names are interned at each
 * use. Returns false if the string table is full. */
static bool find_added_headers(const struct ttr_trace_zone_args *args, uint64_t *headers)
{
    bool is_complete = trace_lock_briefly();
    if (!is_complete)
        return false;
    for (uint32_t i = args->n - args->added; i < args->n && is_complete; i++) {
        const int32_t name = trace_string_add(args->names[i]);
        is_complete = name >= 0;
        headers[i] = make_argument_header((uint64_t)name, args->values[i].type);
    }
    trace_unlock();
    return is_complete;
}

void ttr_trace_zone_write(ttr_trace_site *site, uint64_t start, uint64_t end,
                          const struct ttr_trace_zone_args *args)
{
    ttr_trace_site extended;
    uint64_t headers[TTR_TRACE_ARGS_MAX];
    if (end - start < ttr_trace_zone_min_ticks)
        return;
    if (args->added) {
        if (!use_site(site, args->values) || !find_added_headers(args, headers)) {
            trace_count_lost();
            return;
        }
        memcpy(headers, site->arg_headers, site->args_n * sizeof *headers);
        extended = *site;
        extended.arg_headers = headers;
        extended.header += (uint64_t)args->added << 20;
        site = &extended;
    }
    ttr_trace_write(site, site->arg_headers, start, args->values, args->n, &end);
}

/* --- Logs, blobs, objects --- */

static void copy_padded_bytes(uint64_t *p, const void *bytes, size_t n)
{
    if (n == 0)
        return;
    p[(n - 1) / 8] = 0;
    memcpy(p, bytes, n);
}

void ttr_trace_log(const struct ttr_trace_category *category, const char *format, ...)
{
    char text[LOG_MAX];
    va_list arguments;
    struct ttr_trace_ring *ring;
    (void)category; /* a log record has none; it decided whether the message is recorded */
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const size_t n = length < 0 ? 0 : length < (int)sizeof text ? (size_t)length : sizeof text - 1;
    const size_t words = 2 + (n + 7) / 8;
    const uint64_t now = ttr_trace_now();
    uint64_t *p = trace_reserve(&ring, words);
    if (!p)
        return;
    p[0] = TRACE_FXT_LOG | (uint64_t)words << 4 | (uint64_t)n << 16 | ring->thread_bits << 8;
    p[1] = now;
    copy_padded_bytes(p + 2, text, n);
    trace_commit(ring, p + words);
}

/* Returns the index of a name, or 0. */
static uint64_t find_or_add_name(const char *name)
{
    int32_t index = 0;
    if (trace_lock_briefly()) {
        index = trace_string_add(name);
        trace_unlock();
    }
    return index < 0 ? 0 : (uint64_t)index;
}

void ttr_trace_blob(const char *name, const void *bytes, size_t n)
{
    struct ttr_trace_ring *ring;
    const size_t size = n < BLOB_MAX ? n : BLOB_MAX, words = 1 + (size + 7) / 8;
    const uint64_t index = find_or_add_name(name);
    uint64_t *p = trace_reserve(&ring, words);
    if (!p)
        return;
    p[0] = TRACE_FXT_BLOB | (uint64_t)words << 4 | index << 16 | (uint64_t)size << 32 |
           UINT64_C(1) << 48;
    copy_padded_bytes(p + 1, bytes, size);
    trace_commit(ring, p + words);
}

void ttr_trace_object(const volatile void *pointer, const char *name)
{
    struct ttr_trace_ring *ring;
    const size_t n = strnlen(name, OBJECT_NAME_MAX), words = 2 + (n + 7) / 8;
    uint64_t *p = trace_reserve(&ring, words);
    if (!p)
        return;
    p[0] = TRACE_FXT_OBJECT | (uint64_t)words << 4 | (ring->thread_bits >> 24) << 16 |
           (n ? (uint64_t)(0x8000u | n) << 24 : 0);
    p[1] = (uint64_t)(uintptr_t)pointer;
    copy_padded_bytes(p + 2, name, n);
    trace_commit(ring, p + words);
}

/* --- Threads --- */

void ttr_trace_thread_name(const char *name)
{
    struct trace_ring_header *shared = ttr_trace_thread.ring[0].shared;
    prctl(PR_SET_NAME, name);
    if (shared)
        (void)snprintf(shared->name, sizeof shared->name, "%s", name);
}

/* Writes the thread record of a virtual thread and the object record of its name. */
static bool write_virtual_thread(uint64_t koid, const char *name)
{
    struct ttr_trace_ring *ring;
    const size_t n = strnlen(name, OBJECT_NAME_MAX), name_words = (n + 7) / 8,
                 words = 3 + 4 + name_words;
    const uint64_t process = find_or_add_name("process");
    uint64_t *p = trace_reserve(&ring, words);
    if (!p)
        return false;
    trace_append_thread(p, TRACE_VIRTUAL_THREAD, (uint64_t)getpid(), koid);
    p[3] = TRACE_FXT_KERNEL_OBJECT | (uint64_t)(4 + name_words) << 4 | UINT64_C(2) << 16 |
           (n ? (uint64_t)(0x8000u | n) << 24 : 0) | UINT64_C(1) << 40;
    p[4] = koid;
    copy_padded_bytes(p + 5, name, n);
    p[5 + name_words] = TTR_TRACE_VALUE_KOID | UINT64_C(2) << 4 | process << 16;
    p[6 + name_words] = (uint64_t)getpid();
    ring->thread_bits = TRACE_VIRTUAL_THREAD << 24;
    ttr_trace_thread.virtual_koid = koid;
    trace_commit(ring, p + words);
    return true;
}

bool ttr_trace_virtual_thread_enter(uint64_t id, const char *name)
{
    return !ttr_trace_thread.virtual_koid && write_virtual_thread(VIRTUAL_KOID | id, name);
}

void ttr_trace_virtual_thread_leave(void)
{
    ttr_trace_thread.virtual_koid = 0;
    ttr_trace_thread.ring[0].thread_bits = TRACE_REAL_THREAD << 24;
}
