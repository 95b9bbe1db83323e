/* Tracepoints of the running kernel: list them, and register or delete user_events.
 *
 * A program can be recorded from its start only if its user_events exist before.  Needs tracefs,
 * usually mounted at /sys/kernel/tracing and readable by root only; `tracefs` is its path, NULL =
 * find the mount.  user_events need Linux 6.4 with CONFIG_USER_EVENTS.
 *
 * The caller frees a list; texts are borrowed from it.  Use a list on one thread at a time. */
#ifndef TRACETTA_TRACEPOINTS_H
#define TRACETTA_TRACEPOINTS_H

#include <stdbool.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TTR_USED_BY_FTRACE 1u
#define TTR_USED_BY_PERF 2u
#define TTR_USED_BY_OTHERS 4u

typedef struct ttr_kernel_event {
    size_t size;
    const char *system; /* "sched", "user_events" */
    const char *name;   /* "sched_switch", "Provider_L4K1f" */
    bool is_enabled;    /* enabled in ftrace */
    bool is_user_event;
    /* a user event in EventHeader encoding; the members below are then valid */
    bool is_event_header;
    unsigned users; /* TTR_USED_BY_*: current users of a user event */
    const char *provider;
    const char *group; /* "" = none */
    unsigned level;
    uint64_t keyword;
} ttr_kernel_event;

typedef struct ttr_kernel_events ttr_kernel_events;

/* Lists all tracepoints, in the order of the kernel.  Returns NULL with `error`, which
 * distinguishes a missing tracefs from missing permission. */
TTR_API ttr_kernel_events *ttr_kernel_events_list(const char *tracefs, ttr_error *error);

/* Copies the i-th tracepoint; returns false after the last. */
TTR_API bool ttr_kernel_events_at(const ttr_kernel_events *events, size_t i,
                                  ttr_kernel_event *event);

/* Returns true if the kernel has user_events, as far as permissions allow to check. */
TTR_API bool ttr_kernel_events_has_user_events(const ttr_kernel_events *events);

/* Frees a list. */
TTR_API void ttr_kernel_events_free(ttr_kernel_events *events);

/* Registers a user event until it is deleted or the machine restarts.  `name` is an EventHeader
 * name ("Provider_L4K1f"), or a name with fields ("name u32 number; char[16] text").  TTR_OK if it
 * exists with the same fields.  TTR_E_MISUSE for an invalid name, TTR_E_UNSUPPORTED without
 * user_events, TTR_E_IO if the kernel refuses (CAP_PERFMON is needed). */
TTR_API TTR_MUST ttr_status ttr_kernel_events_register(const char *tracefs, const char *name,
                                                       ttr_error *error);

/* Deletes a user event.  TTR_E_IO also while a program has it registered or a recording uses it. */
TTR_API TTR_MUST ttr_status ttr_kernel_events_delete(const char *tracefs, const char *name,
                                                     ttr_error *error);

#ifdef __cplusplus
}
#endif
#endif
