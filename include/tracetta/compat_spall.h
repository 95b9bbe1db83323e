/* Functions of spall as trace points: include this header instead of "spall.h", and link with
 * libtracetta-trace.  The category is "compat".
 *
 * Buffers, times, thread ids and callbacks of the calls are not used: events go to the ring of the
 * thread, with the time of the call.  spall_init_file starts a file of the program unless "tracetta
 * record" runs it.  A zone has its name, which costs a search at every call; beyond 1,024 different
 * names, zones are called "zone" and have the name as an argument.  spall_init_file has two or
 * three arguments, as in old and new versions of spall.h.  Functions that build bytes
 * (spall_build_...) are left out. */
#ifndef TRACETTA_COMPAT_SPALL_H
#define TRACETTA_COMPAT_SPALL_H

#include <string.h>

#include "compat_module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SPALL_NOINSTRUMENT __attribute__((no_instrument_function))
#define SPALL_FN static inline __attribute__((unused, no_instrument_function))

typedef struct SpallProfile SpallProfile;
typedef bool (*SpallWriteCallback)(SpallProfile *self, const void *data, size_t length);
typedef bool (*SpallFlushCallback)(SpallProfile *self);
typedef void (*SpallCloseCallback)(SpallProfile *self);

struct SpallProfile {
    double timestamp_unit;
    SpallWriteCallback write;
    SpallFlushCallback flush;
    SpallCloseCallback close;
    void *data;
};

typedef struct SpallBuffer {
    void *data;
    size_t length;
    uint32_t tid;
    uint32_t pid;
    size_t head;
    uint64_t first_ts;
} SpallBuffer;

/* --- Names --- */

#define TTR_SPALL_NAMES 1024u

/* Trace points by their names: a hash table without removal. */
extern TTR_TRACE_WEAK_ ttr_trace_site *ttr_spall_sites[TTR_SPALL_NAMES];
ttr_trace_site *ttr_spall_sites[TTR_SPALL_NAMES] = {0};

/* Returns the trace point of a name, with or without an argument. Returns NULL if the table is full
 * or memory is exhausted. */
SPALL_FN ttr_trace_site *ttr_spall_find(const char *name, size_t n, bool has_args)
{
    static const char *const arg_names[] = {"args"};
    char text[256];
    uint64_t hash = UINT64_C(14695981039346656037) + has_args;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (uint8_t)name[i]) * UINT64_C(1099511628211); /* FNV-1a */
    for (uint64_t i = 0; i < TTR_SPALL_NAMES; i++) {
        ttr_trace_site **entry = &ttr_spall_sites[(hash + i) % TTR_SPALL_NAMES];
        ttr_trace_site *site = __atomic_load_n(entry, __ATOMIC_ACQUIRE), *none = NULL;
        if (!site) {
            memcpy(text, name, n);
            text[n] = '\0';
            site = ttr_trace_site_new("compat", text, TTR_TRACE_BEGIN, TTR_TRACE_INFORMATION,
                                      arg_names, has_args);
            if (site && !__atomic_compare_exchange_n(entry, &none, site, false, __ATOMIC_RELEASE,
                                                     __ATOMIC_ACQUIRE))
                site = none; /* another thread was first; its name may be another one */
        }
        if (!site || (site->args_n == has_args && strncmp(site->name, name, n) == 0 &&
                      site->name[n] == '\0'))
            return site;
    }
    return NULL;
}

/* --- The profile --- */

SPALL_FN bool ttr_spall_init(const char *path, double timestamp_unit, SpallProfile *profile)
{
    memset(profile, 0, sizeof *profile);
    profile->timestamp_unit = timestamp_unit;
    (void)ttr_trace_start_file(path, NULL); /* EBUSY: a manager records the program */
    return path != NULL;
}

SPALL_FN SpallProfile ttr_spall_init_old(const char *path, double timestamp_unit)
{
    SpallProfile profile;
    (void)ttr_spall_init(path, timestamp_unit, &profile);
    return profile;
}

#define TTR_SPALL_THIRD_(a, b, c, chosen, ...) chosen
#define spall_init_file(...) \
    TTR_SPALL_THIRD_(__VA_ARGS__, ttr_spall_init, ttr_spall_init_old, 0)(__VA_ARGS__)

SPALL_FN bool spall_init_callbacks(double timestamp_unit, SpallWriteCallback write,
                                   SpallFlushCallback flush, SpallCloseCallback close,
                                   void *user_data, SpallProfile *profile)
{
    memset(profile, 0, sizeof *profile);
    profile->timestamp_unit = timestamp_unit;
    profile->write = write;
    profile->flush = flush;
    profile->close = close;
    profile->data = user_data;
    return timestamp_unit >= 0;
}

SPALL_FN bool spall_buffer_init(SpallProfile *profile, SpallBuffer *buffer)
{
    return profile && buffer;
}

SPALL_FN bool spall_flush(SpallProfile *profile)
{
    (void)profile;
    return ttr_trace_flush() == 0;
}

SPALL_FN bool spall_buffer_flush(SpallProfile *profile, SpallBuffer *buffer)
{
    (void)buffer;
    return spall_flush(profile);
}

SPALL_FN bool spall_buffer_quit(SpallProfile *profile, SpallBuffer *buffer)
{
    return spall_buffer_flush(profile, buffer);
}

SPALL_FN void spall_quit(SpallProfile *profile)
{
    (void)profile;
    (void)ttr_trace_stop();
}

/* --- Events --- */

SPALL_FN size_t ttr_spall_length(int64_t n)
{
    return n < 0 ? 0 : n > 255 ? 255 : (size_t)n;
}

SPALL_FN bool ttr_spall_begin(SpallProfile *profile, SpallBuffer *buffer, const char *name,
                              int64_t name_n, const char *args, int64_t args_n)
{
    (void)profile;
    (void)buffer;
    if (!TTR_TRACE_ENABLED(compat))
        return true;
    const size_t n = ttr_spall_length(name_n), text_n = ttr_spall_length(args_n);
    ttr_trace_site *site = ttr_spall_find(name, n, text_n > 0);
    const struct ttr_trace_value value = ttr_trace_value_of_bytes(args, text_n);
    if (site)
        ttr_trace_site_write(site, ttr_trace_now(), 0, &value);
    else
        TTR_BEGIN(compat, "zone", TTR_ARG_TEXT("name", name, n),
                  TTR_ARG_TEXT("args", args, text_n));
    return true;
}

SPALL_FN bool ttr_spall_end(SpallProfile *profile, SpallBuffer *buffer)
{
    (void)profile;
    (void)buffer;
    TTR_END(compat, "");
    return true;
}

#define spall_buffer_begin(profile, buffer, name, name_n, when) \
    ttr_spall_begin(profile, buffer, name, name_n, "", 0)
#define spall_buffer_begin_ex(profile, buffer, name, name_n, when, tid, pid) \
    ttr_spall_begin(profile, buffer, name, name_n, "", 0)
#define spall_buffer_begin_args(profile, buffer, name, name_n, args, ...) \
    ttr_spall_begin(profile, buffer, name, name_n, args, TTR_TRACE_FIRST_(__VA_ARGS__))
#define spall_buffer_end(profile, buffer, when) ttr_spall_end(profile, buffer)
#define spall_buffer_end_ex(profile, buffer, when, tid, pid) ttr_spall_end(profile, buffer)

SPALL_FN bool spall_buffer_name_thread(SpallProfile *profile, SpallBuffer *buffer, const char *name,
                                       int32_t name_n)
{
    char text[256];
    const size_t n = ttr_spall_length(name_n);
    (void)profile;
    (void)buffer;
    memcpy(text, name, n);
    text[n] = '\0';
    ttr_trace_thread_name(text);
    return true;
}

/* The kernel's name of the process is recorded instead. */
SPALL_FN bool spall_buffer_name_process(SpallProfile *profile, SpallBuffer *buffer,
                                        const char *name, int32_t name_n)
{
    (void)profile;
    (void)buffer;
    (void)name;
    (void)name_n;
    return true;
}

#ifdef __cplusplus
}
#endif

#endif
