/* Functions of spall as trace points: include this header instead of "spall.h", and link with
 * libtracetta-trace.  The category is "compat".
 *
 * Buffers, times and thread ids of the calls are not used: events go to the ring of the thread,
 * with the time of the call.  spall_init_file starts a file of the program unless "tracetta record"
 * runs it.  Names of zones are made at run time: each name costs a search at every call. */
#ifndef TRACETTA_COMPAT_SPALL_H
#define TRACETTA_COMPAT_SPALL_H

#include "compat_module.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SPALL_FN static inline __attribute__((unused))

typedef struct SpallProfile {
    double timestamp_unit;
} SpallProfile;

typedef struct SpallBuffer {
    void *data;
    size_t length;
} SpallBuffer;

SPALL_FN SpallProfile spall_init_file(const char *path, double timestamp_unit)
{
    const SpallProfile profile = {timestamp_unit};
    (void)ttr_trace_start_file(path, NULL); /* EBUSY: a manager records the program */
    return profile;
}

SPALL_FN bool spall_buffer_init(SpallProfile *profile, SpallBuffer *buffer)
{
    return profile && buffer;
}

SPALL_FN bool spall_buffer_flush(SpallProfile *profile, SpallBuffer *buffer)
{
    (void)profile;
    (void)buffer;
    return ttr_trace_flush() == 0;
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

SPALL_FN bool spall_buffer_begin(SpallProfile *profile, SpallBuffer *buffer, const char *name,
                                 int32_t name_n, double when)
{
    (void)profile;
    (void)buffer;
    (void)when;
    TTR_BEGIN(compat, "zone", TTR_ARG_TEXT("name", name, (size_t)(name_n > 0 ? name_n : 0)));
    return true;
}

/* Thread and process of the call are not used. */
#define spall_buffer_begin_ex(profile, buffer, name, name_n, when, tid, pid) \
    spall_buffer_begin(profile, buffer, name, name_n, when)
#define spall_buffer_end_ex(profile, buffer, when, tid, pid) spall_buffer_end(profile, buffer, when)

SPALL_FN bool spall_buffer_end(SpallProfile *profile, SpallBuffer *buffer, double when)
{
    (void)profile;
    (void)buffer;
    (void)when;
    TTR_END(compat, "zone");
    return true;
}

#ifdef __cplusplus
}
#endif

#endif
