/* The tracepoints of the running kernel: which there are, and registering those of user_events
 * before the programs that write them run.
 *
 * Needs tracefs (mounted at /sys/kernel/tracing, mostly readable by root alone); user_events need
 * Linux 6.4 and later built with CONFIG_USER_EVENTS.  `tracefs` names another place for it; NULL:
 * where it is mounted. Ownership: lists are freed by whoever made them; texts are borrowed from
 * their list.  Thread rule: one thread at a time for a list. */
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
    size_t size;        /* sizeof(ttr_kernel_event), set by the caller */
    const char *system; /* "sched", "user_events" */
    const char *name;   /* "sched_switch", "Provider_L4K1f" */
    bool is_enabled;    /* for ftrace */
    bool is_user_event;
    bool is_event_header; /* a user event whose first field and name are EventHeader's; what follows
                             is of such */
    unsigned users;       /* TTR_USED_BY_*: who records this user event now */
    const char *provider;
    const char *group; /* "" = none */
    unsigned level;
    uint64_t keyword;
} ttr_kernel_event;

typedef struct ttr_kernel_events ttr_kernel_events;

/* Lists all tracepoints, by system as the kernel gives them.  NULL with `error`, which tells a
 * kernel without tracefs from a missing permission. */
TTR_API ttr_kernel_events *ttr_kernel_events_list(const char *tracefs, ttr_error *error);

/* Gives the i-th; false past the end. */
TTR_API bool ttr_kernel_events_at(const ttr_kernel_events *events, size_t i,
                                  ttr_kernel_event *event);

/* Whether this kernel has user_events, as far as can be seen. */
TTR_API bool ttr_kernel_events_has_user_events(const ttr_kernel_events *events);

/* Frees a list; NULL is fine. */
TTR_API void ttr_kernel_events_free(ttr_kernel_events *events);

/* Registers a user event that stays until it is deleted or the machine stops: an EventHeader name
 * ("Provider_L4K1f"), or a name with fields of its own
 * ("name u32 number; char[16] text").  One that is there with the same fields is fine. TTR_E_MISUSE
 * for a name that is none, TTR_E_UNSUPPORTED where the kernel has no user_events, TTR_E_IO where it
 * refuses (CAP_PERFMON is needed). */
TTR_API TTR_MUST ttr_status ttr_kernel_events_register(const char *tracefs, const char *name,
                                                       ttr_error *error);

/* Deletes a user event; TTR_E_IO also where a program still has it registered or somebody records
 * it. */
TTR_API TTR_MUST ttr_status ttr_kernel_events_delete(const char *tracefs, const char *name,
                                                     ttr_error *error);

#ifdef __cplusplus
}
#endif
#endif
