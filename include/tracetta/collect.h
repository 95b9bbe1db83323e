/* Collecting from what is live: .NET processes (finding them, asking what they are, taking their
 * events as they happen), and the kernel.
 *
 * A .NET runtime (3.0 and later) serves a socket of its own, over which it starts sessions of
 * EventPipe and answers questions; nothing of .NET is needed on this side.  What a session gives is
 * a trace in the nettrace format, to be written to a file as it is, or read with ttr_open_pull. The
 * kernel gives tracepoints, user_events and samples through perf_event_open; what a recording of it
 * gives is a perf.data. No call waits longer than its limit, whatever the other side does.
 *
 * Ownership: lists, provider sets, targets and sessions are freed by whoever made them; a session
 * before its target.  Texts are borrowed from what gave them.  Thread rule: one thread at a time
 * for a target and its sessions. */
#ifndef TRACETTA_COLLECT_H
#define TRACETTA_COLLECT_H

#include <stdbool.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Which processes there are --- */

typedef enum ttr_dotnet_state {
    TTR_DOTNET_READY = 0,  /* its socket is there and we may use it */
    TTR_DOTNET_DENIED = 1, /* its socket is another user's */
    TTR_DOTNET_STALE = 2   /* the socket was left behind by a process that is gone */
} ttr_dotnet_state;

typedef struct ttr_dotnet_process {
    size_t size;        /* sizeof(ttr_dotnet_process), set by the caller */
    uint64_t pid;       /* as we see it; of a stale socket, what its name says */
    uint64_t inner_pid; /* as the process sees itself: another one in a container */
    uint32_t uid;       /* of its user */
    ttr_dotnet_state state;
    const char
        *socket; /* path; through /proc/PID/root where the process sees other files than we do */
    const char *name;    /* of the program: "app" for "dotnet app.dll" */
    const char *command; /* command line, words separated by blanks; "" = cannot be read */
    const char *runtime; /* version as the path of its runtime tells, or "" */
} ttr_dotnet_process;

typedef struct ttr_dotnet_list ttr_dotnet_list;

/* Looks for processes with a diagnostic socket, in containers too, as far as permissions go.  NULL
 * when memory is out. */
TTR_API ttr_dotnet_list *ttr_dotnet_list_new(ttr_error *error);

/* Gives the i-th process, by pid, stale sockets last; false past the end. */
TTR_API bool ttr_dotnet_list_at(const ttr_dotnet_list *list, size_t i, ttr_dotnet_process *process);

/* Frees a list; NULL is fine. */
TTR_API void ttr_dotnet_list_free(ttr_dotnet_list *list);

/* --- One runtime --- */

typedef struct ttr_dotnet ttr_dotnet;

/* A runtime that serves the socket at `path`; it is not connected to yet.  NULL with `error` when
 * memory is out. */
TTR_API ttr_dotnet *ttr_dotnet_new(const char *path, ttr_error *error);

/* Makes a socket at `path` for runtimes to connect to (DOTNET_DiagnosticPorts=PATH): the first that
 * comes is the target, others that come are told to go on and left alone.  The file goes with
 * ttr_dotnet_free.  NULL with `error` where it cannot be made. */
TTR_API ttr_dotnet *ttr_dotnet_listen(const char *path, ttr_error *error);

/* Waits until a runtime is there: TTR_OK, or TTR_AGAIN when the limit is over or something woke us.
 */
TTR_API TTR_MUST ttr_status ttr_dotnet_wait(ttr_dotnet *target, unsigned limit_ms,
                                            ttr_error *error);

/* A descriptor that ends every wait when it becomes readable, so that a signal can; -1 for none, as
 * at first. */
TTR_API void ttr_dotnet_set_wake_fd(ttr_dotnet *target, int fd);

/* How long a reply may take; 10,000 ms at first. */
TTR_API void ttr_dotnet_set_timeout(ttr_dotnet *target, unsigned limit_ms);

/* Runtimes beside the target that came to the socket of ttr_dotnet_listen and were told to go on.
 */
TTR_API size_t ttr_dotnet_other_count(const ttr_dotnet *target);

/* Frees a target; NULL is fine. */
TTR_API void ttr_dotnet_free(ttr_dotnet *target);

/* What a runtime says of itself; "" where it does not say. */
typedef struct ttr_dotnet_info {
    size_t size;           /* sizeof(ttr_dotnet_info), set by the caller */
    uint64_t pid;          /* as the process sees itself */
    uint8_t cookie[16];    /* differs for every runtime */
    const char *command;   /* command line */
    const char *os, *arch; /* "Linux", "x64" */
    const char *assembly;  /* the program's (.NET 6 and later) */
    const char *runtime;   /* version (.NET 6 and later) */
    const char *rid;       /* "linux-x64" (.NET 8 and later) */
} ttr_dotnet_info;

/* Asks the runtime for it: .NET 5 and later; TTR_E_UNSUPPORTED before.  Texts are borrowed until
 * the next call of this. */
TTR_API TTR_MUST ttr_status ttr_dotnet_info_get(ttr_dotnet *target, ttr_dotnet_info *info,
                                                ttr_error *error);

/* Asks for the environment (.NET 5 and later): the number of variables, for ttr_dotnet_variable. */
TTR_API TTR_MUST ttr_status ttr_dotnet_environment(ttr_dotnet *target, size_t *n, ttr_error *error);

/* The i-th variable that ttr_dotnet_environment found, "NAME=VALUE"; NULL past the end. */
TTR_API const char *ttr_dotnet_variable(const ttr_dotnet *target, size_t i);

/* Lets a runtime that waits at its start go on; one that runs already does not mind. */
TTR_API TTR_MUST ttr_status ttr_dotnet_resume(ttr_dotnet *target, ttr_error *error);

/* --- Which events --- */

typedef struct ttr_dotnet_provider {
    const char *name;      /* "Microsoft-Windows-DotNETRuntime" */
    uint64_t keywords;     /* one bit for each group of its events */
    uint32_t level;        /* 0 always, 1 critical, ... 4 informational, 5 verbose */
    const char *arguments; /* "Key=Value;Key=Value", or "" */
} ttr_dotnet_provider;

typedef struct ttr_dotnet_providers ttr_dotnet_providers;

/* An empty set; NULL when memory is out. */
TTR_API ttr_dotnet_providers *ttr_dotnet_providers_new(void);

/* Adds "NAME[:KEYWORDS[:LEVEL[:ARGUMENTS]]][,...]": keywords in hexadecimal (without them all, of
 * the runtime those of the profile dotnet-common), the level as number or name (informational); a
 * comma within double quotes belongs to the arguments.  What is named twice is wanted for both
 * reasons. */
TTR_API TTR_MUST ttr_status ttr_dotnet_providers_add(ttr_dotnet_providers *set, const char *text,
                                                     ttr_error *error);

/* Adds one provider as it is, with any bytes in its arguments; its texts are copied. */
TTR_API TTR_MUST ttr_status ttr_dotnet_providers_add_provider(ttr_dotnet_providers *set,
                                                              const ttr_dotnet_provider *provider,
                                                              ttr_error *error);

/* Adds events of the runtime itself by the names of their keywords ("gc+jit"); NULL or "" as level
 * is informational. */
TTR_API TTR_MUST ttr_status ttr_dotnet_providers_add_clr(ttr_dotnet_providers *set,
                                                         const char *keywords, const char *level,
                                                         ttr_error *error);

/* Adds what a profile holds, except for providers that were named before. */
TTR_API TTR_MUST ttr_status ttr_dotnet_providers_add_profile(ttr_dotnet_providers *set,
                                                             const char *profile, ttr_error *error);

/* Gives the i-th provider, borrowed until the set changes; false past the end. */
TTR_API bool ttr_dotnet_providers_at(const ttr_dotnet_providers *set, size_t i,
                                     ttr_dotnet_provider *provider);

/* The rundown that the profiles in the set ask for: TTR_DOTNET_RUNDOWN, or fewer keywords where all
 * of them want less. */
TTR_API uint64_t ttr_dotnet_providers_rundown(const ttr_dotnet_providers *set);

/* Frees a set; NULL is fine. */
TTR_API void ttr_dotnet_providers_free(ttr_dotnet_providers *set);

/* Gives the i-th profile's name and what it is for; false past the end. */
TTR_API bool ttr_dotnet_profile(size_t i, const char **name, const char **text);

/* --- Sessions --- */

#define TTR_DOTNET_RUNDOWN \
    UINT64_C(0x80020139) /* keywords of the rundown that names methods and modules for stacks */
#define TTR_DOTNET_NO_STACKS 1u /* events without their stacks */
#define TTR_DOTNET_NETPERF 2u   /* the format before nettrace (netperf) */
#define TTR_DOTNET_BLOCK \
    4u /* the program waits for a full buffer instead of losing events (.NET 11 and later) */

typedef struct ttr_dotnet_config {
    size_t size; /* sizeof(ttr_dotnet_config) */
    const ttr_dotnet_providers *providers;
    uint32_t buffer_mb; /* of the runtime's buffer; 0 = 256 */
    uint32_t flags;     /* TTR_DOTNET_* */
    uint64_t rundown;   /* keywords of what is told at the end; 0 = nothing */
} ttr_dotnet_config;

typedef struct ttr_dotnet_session ttr_dotnet_session;

/* Starts a session, with the newest command that the runtime knows.  NULL with `error` where it
 * cannot. */
TTR_API ttr_dotnet_session *ttr_dotnet_session_start(ttr_dotnet *target,
                                                     const ttr_dotnet_config *wish,
                                                     ttr_error *error);

/* Takes up to n bytes of the stream, waiting for them at most limit_ms: TTR_OK with *got > 0;
 * TTR_AGAIN; TTR_END where the stream ends, by its rule or not (see the report); TTR_E_IO where
 * asking for the stop failed.  Also drives a stop that was asked for. */
TTR_API TTR_MUST ttr_status ttr_dotnet_read(ttr_dotnet_session *session, void *to, size_t n,
                                            unsigned limit_ms, size_t *got, ttr_error *error);

/* Asks the runtime to end the session.  What is left, with the rundown, comes by ttr_dotnet_read,
 * which must go on until TTR_END: the runtime answers only after all of it was taken. */
TTR_API TTR_MUST ttr_status ttr_dotnet_stop(ttr_dotnet_session *session, ttr_error *error);

typedef struct ttr_dotnet_report {
    size_t size;             /* sizeof(ttr_dotnet_report), set by the caller */
    uint64_t bytes;          /* of the stream so far */
    uint64_t complete_bytes; /* up to the end of the last whole block */
    uint8_t closing[4];      /* what written behind these makes a complete trace of them */
    uint32_t closing_n;
    bool has_end;           /* the stream says that it is complete */
    bool is_known;          /* the stream reads as nettrace or netperf so far */
    bool is_stop_confirmed; /* the runtime said that it ended the session as asked */
    uint32_t command; /* the command that was taken: 2 is CollectTracing, 3 CollectTracing2, ... */
    uint32_t ignored; /* TTR_DOTNET_* flags that this runtime cannot do */
    uint64_t rundown; /* keywords of the rundown as asked of this runtime */
} ttr_dotnet_report;

/* Fills a report on a session. */
TTR_API void ttr_dotnet_session_report(const ttr_dotnet_session *session,
                                       ttr_dotnet_report *report);

/* Lets the connection go; NULL is fine.  A session that was not stopped ends with it. */
TTR_API void ttr_dotnet_close(ttr_dotnet_session *session);

/* --- The kernel: which events --- */

typedef struct ttr_perf_event {
    const char *system; /* of a tracepoint ("sched"), "" for what is none */
    const char *name;   /* "sched_switch", "cpu-clock" */
    uint32_t type;      /* as perf_event_attr has it: 2 = tracepoint */
    uint64_t config;    /* the same; of a tracepoint its number */
    bool is_clock; /* counts time or work, and so is sampled a number of times a second; else each
                      time it happens */
} ttr_perf_event;

typedef struct ttr_perf_events ttr_perf_events;

/* An empty set; tracepoints are looked up below `tracefs`, NULL = where that is mounted.  NULL when
 * memory is out. */
TTR_API ttr_perf_events *ttr_perf_events_new(const char *tracefs);

/* Adds "NAME,NAME,...": tracepoints as SYSTEM:NAME with globs ("sched:*"), user_events without
 * their system ("Provider_L5K*"), counters such as cpu-clock and page-faults.  TTR_E_MISUSE for a
 * name that is none, with those that are near to it. */
TTR_API TTR_MUST ttr_status ttr_perf_events_add(ttr_perf_events *set, const char *text,
                                                ttr_error *error);

/* Gives the i-th event, borrowed until the set changes; false past the end. */
TTR_API bool ttr_perf_events_at(const ttr_perf_events *set, size_t i, ttr_perf_event *event);

/* Frees a set; NULL is fine. */
TTR_API void ttr_perf_events_free(ttr_perf_events *set);

/* --- Recordings of it --- */

#define TTR_PERF_STACKS 1u   /* each event with the stack it happened on */
#define TTR_PERF_SNAPSHOT 2u /* keep only what came last, until ttr_perf_snapshot or the end */
#define TTR_PERF_PIPE                                                           \
    4u /* write the form of perf.data that a pipe can take; else that of a file \
        */
#define TTR_PERF_AT_EXEC 8u /* begin when the process starts another program */
#define TTR_PERF_USER_ONLY \
    16u                      /* of samples: no time in the kernel; in a report: we may not see it */
#define TTR_PERF_HEADER 104u /* bytes that the begin of a file is rewritten with */

typedef struct ttr_perf_config {
    size_t size; /* sizeof(ttr_perf_config) */
    const ttr_perf_events *events;
    uint64_t
        pid; /* a process with its threads and what they start; 0 = everything on all processors */
    uint32_t flags;             /* TTR_PERF_* */
    uint32_t frequency;         /* samples a second of events that are clocks; 0 = 1000 */
    uint32_t buffer_kb;         /* a processor; becomes a power of two; 0 = 1024 */
    int32_t zstd_level;         /* of the records; 0 = not compressed */
    const char *const *command; /* to be noted in the file, NULL at its end; NULL = nothing */
} ttr_perf_config;

typedef struct ttr_perf ttr_perf;

/* Opens events and buffers, and looks which processes are there; nothing is recorded yet.  NULL
 * with `error` that says what is not permitted, and what would permit it. */
TTR_API ttr_perf *ttr_perf_open(const ttr_perf_config *wish, ttr_error *error);

/* Begins to record (with TTR_PERF_AT_EXEC: lets the process do so). */
TTR_API TTR_MUST ttr_status ttr_perf_start(ttr_perf *perf, ttr_error *error);

/* Gives the next bytes of the file, borrowed until the next call, waiting for them at most
 * limit_ms: TTR_OK; TTR_AGAIN; TTR_END once it is complete. */
TTR_API TTR_MUST ttr_status ttr_perf_read(ttr_perf *perf, const void **bytes, size_t *n,
                                          unsigned limit_ms, ttr_error *error);

/* Ends the recording; what is left comes by ttr_perf_read until TTR_END. */
TTR_API void ttr_perf_stop(ttr_perf *perf);

/* With TTR_PERF_SNAPSHOT: takes what is there now, for ttr_perf_read. */
TTR_API void ttr_perf_snapshot(ttr_perf *perf);

/* The first bytes of the file: at the end as they must be then; before as they may be once all that
 * ttr_perf_read gave is written, so that the file can be read with all names if nobody ends it.
 * None (false) of a pipe. */
TTR_API bool ttr_perf_header(const ttr_perf *perf, uint8_t header[TTR_PERF_HEADER]);

/* A descriptor that ends every wait when it becomes readable; -1 for none, as at first. */
TTR_API void ttr_perf_set_wake_fd(ttr_perf *perf, int fd);

typedef struct ttr_perf_report {
    size_t size;      /* sizeof(ttr_perf_report), set by the caller */
    uint64_t samples; /* records that are events */
    uint64_t lost;    /* events for which a buffer had no room, as the kernel counts */
    uint64_t broken;  /* times that a buffer could not be understood */
    uint64_t bytes;   /* of the file so far */
    uint32_t limited; /* TTR_PERF_USER_ONLY where that was not asked for */
    bool is_over;     /* nothing can come any more: what was recorded has ended */
} ttr_perf_report;

/* Fills a report on a recording. */
TTR_API void ttr_perf_stats(const ttr_perf *perf, ttr_perf_report *report);

/* Ends everything; NULL is fine. */
TTR_API void ttr_perf_close(ttr_perf *perf);

#ifdef __cplusplus
}
#endif
#endif
