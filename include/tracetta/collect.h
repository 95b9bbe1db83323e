/* Collecting live events: from .NET processes, and from the Linux kernel.
 *
 * A .NET runtime (3.0 and later) listens on a diagnostic socket.  Through it this library starts
 * EventPipe sessions and requests information; .NET itself is not needed.  The data of a session is
 * a nettrace stream: write it to a file, or read it with ttr_open_pull.  Order of calls:
 * ttr_dotnet_list_new, ttr_dotnet_new, ttr_dotnet_session_start, ttr_dotnet_read ...,
 * ttr_dotnet_stop, ttr_dotnet_read until TTR_END, ttr_dotnet_close, ttr_dotnet_free.
 *
 * The kernel provides tracepoints, user_events and samples by perf_event_open; the data is a
 * perf.data. Order of calls: ttr_perf_open, ttr_perf_start, ttr_perf_read ..., ttr_perf_stop,
 * ttr_perf_read until TTR_END, ttr_perf_close.
 *
 * No call blocks longer than its timeout.  The caller frees lists, sets, targets and sessions, a
 * session before its target.  Texts are borrowed from the object that returned them.  A target with
 * its sessions is used by one thread at a time. */
#ifndef TRACETTA_COLLECT_H
#define TRACETTA_COLLECT_H

#include <stdbool.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- .NET processes --- */

typedef enum ttr_dotnet_state {
    TTR_DOTNET_READY = 0,  /* the socket exists and can be opened */
    TTR_DOTNET_DENIED = 1, /* the socket belongs to another user */
    TTR_DOTNET_STALE = 2   /* the process of the socket has ended */
} ttr_dotnet_state;

typedef struct ttr_dotnet_process {
    size_t size;
    /* in the caller's pid namespace; of a stale socket, the number in its name */
    uint64_t pid;
    uint64_t inner_pid; /* in the process's own pid namespace: differs in a container */
    uint32_t uid;       /* user id of the process */
    ttr_dotnet_state state;
    const char *socket;  /* path; below /proc/PID/root if the process has another root directory */
    const char *name;    /* the program: "app" for "dotnet app.dll" */
    const char *command; /* command line, words separated by blanks; "" = unreadable */
    const char *runtime; /* version in the path of its runtime, or "" */
} ttr_dotnet_process;

typedef struct ttr_dotnet_list ttr_dotnet_list;

/* Lists processes with a diagnostic socket, in containers too, as far as permissions allow.
 * Returns NULL if memory is exhausted. */
TTR_API ttr_dotnet_list *ttr_dotnet_list_new(ttr_error *error);

/* Copies the i-th process, ordered by pid, stale sockets last; returns false after the last. */
TTR_API bool ttr_dotnet_list_at(const ttr_dotnet_list *list, size_t i, ttr_dotnet_process *process);

/* Frees a list. */
TTR_API void ttr_dotnet_list_free(ttr_dotnet_list *list);

/* --- A .NET runtime --- */

typedef struct ttr_dotnet ttr_dotnet;

/* Creates a target for the socket at `path`, without connecting.  Returns NULL with `error` if
 * memory is exhausted. */
TTR_API ttr_dotnet *ttr_dotnet_new(const char *path, ttr_error *error);

/* Creates a socket at `path` for runtimes started with DOTNET_DiagnosticPorts=PATH.  The first that
 * connects is the target; others are resumed and ignored.  ttr_dotnet_free deletes the socket.
 * Returns NULL with `error` if it cannot be created. */
TTR_API ttr_dotnet *ttr_dotnet_listen(const char *path, ttr_error *error);

/* Waits until a runtime has connected.  TTR_AGAIN after limit_ms, or if the wake descriptor is
 * readable. */
TTR_API TTR_MUST ttr_status ttr_dotnet_wait(ttr_dotnet *target, unsigned limit_ms,
                                            ttr_error *error);

/* Sets a descriptor that ends all waits when it becomes readable, for signal handlers; -1 = none,
 * the default. */
TTR_API void ttr_dotnet_set_wake_fd(ttr_dotnet *target, int fd);

/* Sets the timeout of replies in ms; 10,000 by default. */
TTR_API void ttr_dotnet_set_timeout(ttr_dotnet *target, unsigned limit_ms);

/* Returns the number of runtimes that connected to a ttr_dotnet_listen socket after the target. */
TTR_API size_t ttr_dotnet_other_count(const ttr_dotnet *target);

/* Frees a target. */
TTR_API void ttr_dotnet_free(ttr_dotnet *target);

/* Properties that a runtime reports; "" if it does not report them. */
typedef struct ttr_dotnet_info {
    size_t size;
    uint64_t pid;          /* in the process's own pid namespace */
    uint8_t cookie[16];    /* unique for each runtime instance */
    const char *command;   /* command line */
    const char *os, *arch; /* "Linux", "x64" */
    const char *assembly;  /* entry assembly (.NET 6 and later) */
    const char *runtime;   /* version (.NET 6 and later) */
    const char *rid;       /* "linux-x64" (.NET 8 and later) */
} ttr_dotnet_info;

/* Requests the properties of the runtime.  Texts are borrowed until the next call.
 * TTR_E_UNSUPPORTED before .NET 5. */
TTR_API TTR_MUST ttr_status ttr_dotnet_info_get(ttr_dotnet *target, ttr_dotnet_info *info,
                                                ttr_error *error);

/* Requests the environment (.NET 5 and later); *n is the number of variables for
 * ttr_dotnet_variable. */
TTR_API TTR_MUST ttr_status ttr_dotnet_environment(ttr_dotnet *target, size_t *n, ttr_error *error);

/* Returns the i-th variable of the last ttr_dotnet_environment, "NAME=VALUE"; NULL after the last.
 */
TTR_API const char *ttr_dotnet_variable(const ttr_dotnet *target, size_t i);

/* Resumes a runtime that is suspended at its start.  Has no effect on a running one. */
TTR_API TTR_MUST ttr_status ttr_dotnet_resume(ttr_dotnet *target, ttr_error *error);

/* --- .NET event providers --- */

typedef struct ttr_dotnet_provider {
    const char *name;  /* "Microsoft-Windows-DotNETRuntime" */
    uint64_t keywords; /* bit mask of event groups */
    /* 0 always, 1 critical, 2 error, 3 warning, 4 informational, 5 verbose */
    uint32_t level;
    const char *arguments; /* "Key=Value;Key=Value", or "" */
} ttr_dotnet_provider;

typedef struct ttr_dotnet_providers ttr_dotnet_providers;

/* Creates an empty set.  Returns NULL if memory is exhausted. */
TTR_API ttr_dotnet_providers *ttr_dotnet_providers_new(void);

/* Adds providers by text: "NAME[:KEYWORDS[:LEVEL[:ARGUMENTS]]][,...]".  KEYWORDS is hexadecimal;
 * without it all, or for the runtime those of the profile dotnet-common.  LEVEL is a number or a
 * name; informational by default.  A comma in double quotes belongs to ARGUMENTS.  A provider that
 * is named twice gets both sets of keywords. */
TTR_API TTR_MUST ttr_status ttr_dotnet_providers_add(ttr_dotnet_providers *set, const char *text,
                                                     ttr_error *error);

/* Adds a provider; its texts are copied.  Its arguments may contain any bytes. */
TTR_API TTR_MUST ttr_status ttr_dotnet_providers_add_provider(ttr_dotnet_providers *set,
                                                              const ttr_dotnet_provider *provider,
                                                              ttr_error *error);

/* Adds events of the runtime by keyword names ("gc+jit").  A NULL or empty level is informational.
 */
TTR_API TTR_MUST ttr_status ttr_dotnet_providers_add_clr(ttr_dotnet_providers *set,
                                                         const char *keywords, const char *level,
                                                         ttr_error *error);

/* Adds the providers of a profile, except those that were added before. */
TTR_API TTR_MUST ttr_status ttr_dotnet_providers_add_profile(ttr_dotnet_providers *set,
                                                             const char *profile, ttr_error *error);

/* Copies the i-th provider; its texts are borrowed until the set changes.  Returns false after the
 * last. */
TTR_API bool ttr_dotnet_providers_at(const ttr_dotnet_providers *set, size_t i,
                                     ttr_dotnet_provider *provider);

/* Returns the rundown keywords of the profiles in the set: TTR_DOTNET_RUNDOWN, or fewer if none of
 * them needs all. */
TTR_API uint64_t ttr_dotnet_providers_rundown(const ttr_dotnet_providers *set);

/* Frees a set. */
TTR_API void ttr_dotnet_providers_free(ttr_dotnet_providers *set);

/* Returns the name and the purpose of the i-th profile; returns false after the last.  Static. */
TTR_API bool ttr_dotnet_profile(size_t i, const char **name, const char **text);

/* --- .NET sessions --- */

#define TTR_DOTNET_RUNDOWN \
    UINT64_C(0x80020139) /* rundown keywords for the names of methods and modules in stacks */
#define TTR_DOTNET_NO_STACKS 1u /* events without stacks */
#define TTR_DOTNET_NETPERF 2u   /* netperf, the format before nettrace */
#define TTR_DOTNET_BLOCK \
    4u /* a full buffer blocks the program instead of losing events (.NET 11 and later) */

typedef struct ttr_dotnet_config {
    size_t size;
    const ttr_dotnet_providers *providers;
    uint32_t buffer_mb; /* size of the runtime's buffer in MiB; 0 = 256 */
    uint32_t flags;     /* TTR_DOTNET_* */
    uint64_t rundown;   /* keywords of the rundown at the end of the session; 0 = none */
} ttr_dotnet_config;

typedef struct ttr_dotnet_session ttr_dotnet_session;

/* Starts a session with the newest command that the runtime supports.  Returns NULL with `error` on
 * failure. */
TTR_API ttr_dotnet_session *ttr_dotnet_session_start(ttr_dotnet *target,
                                                     const ttr_dotnet_config *wish,
                                                     ttr_error *error);

/* Reads up to n bytes of the stream and waits at most limit_ms.  Returns TTR_OK with *got > 0,
 * TTR_AGAIN, TTR_END at the end of the stream (see the report: complete or broken), TTR_E_IO if a
 * requested stop failed, or TTR_E_MALFORMED if the stream does not begin as nettrace does.  Also
 * sends a stop request. */
TTR_API TTR_MUST ttr_status ttr_dotnet_read(ttr_dotnet_session *session, void *to, size_t n,
                                            unsigned limit_ms, size_t *got, ttr_error *error);

/* Requests the end of the session.  The runtime answers after all remaining data and the rundown
 * were read: continue with ttr_dotnet_read until TTR_END. */
TTR_API TTR_MUST ttr_status ttr_dotnet_stop(ttr_dotnet_session *session, ttr_error *error);

typedef struct ttr_dotnet_report {
    size_t size;
    uint64_t bytes;          /* bytes of the stream so far */
    uint64_t complete_bytes; /* bytes up to the end of the last complete block */
    /* bytes that complete the trace if they are appended after `complete_bytes` */
    uint8_t closing[4];
    uint32_t closing_n;
    bool has_end;           /* the stream has an end marker */
    bool is_known;          /* the stream so far is valid nettrace or netperf */
    bool is_stop_confirmed; /* the runtime has confirmed the stop */
    /* command that started the session: 2 = CollectTracing, 3 = CollectTracing2, ... */
    uint32_t command;
    uint32_t ignored; /* TTR_DOTNET_* flags that this runtime does not support */
    uint64_t rundown; /* rundown keywords that were requested */
} ttr_dotnet_report;

/* Fills a report on a session. */
TTR_API void ttr_dotnet_session_report(const ttr_dotnet_session *session,
                                       ttr_dotnet_report *report);

/* Closes the connection.  A session that was not stopped ends without rundown. */
TTR_API void ttr_dotnet_close(ttr_dotnet_session *session);

/* --- Kernel events --- */

typedef struct ttr_perf_event {
    const char *system; /* system of a tracepoint ("sched"), else "" */
    const char *name;   /* "sched_switch", "cpu-clock" */
    uint32_t type;      /* perf_event_attr.type: 2 = tracepoint */
    uint64_t config;    /* perf_event_attr.config; the id of a tracepoint */
    /* true: sampled by frequency, since it counts time or work; false: recorded at each occurrence
     */
    bool is_clock;
} ttr_perf_event;

typedef struct ttr_perf_events ttr_perf_events;

/* Creates an empty set.  `tracefs` is the path of tracefs; NULL = find its mount.  Returns NULL if
 * memory is exhausted. */
TTR_API ttr_perf_events *ttr_perf_events_new(const char *tracefs);

/* Adds events by text: "NAME,NAME,...".  Tracepoints are SYSTEM:NAME with globs ("sched:*"),
 * user_events may omit the system ("Provider_L5K*"), counters are cpu-clock, page-faults, ...  An
 * unknown name is TTR_E_MISUSE; the error lists similar names. */
TTR_API TTR_MUST ttr_status ttr_perf_events_add(ttr_perf_events *set, const char *text,
                                                ttr_error *error);

/* Copies the i-th event; its texts are borrowed until the set changes.  Returns false after the
 * last. */
TTR_API bool ttr_perf_events_at(const ttr_perf_events *set, size_t i, ttr_perf_event *event);

/* Frees a set. */
TTR_API void ttr_perf_events_free(ttr_perf_events *set);

/* --- Kernel recordings --- */

#define TTR_PERF_STACKS 1u     /* record the call stack of each event */
#define TTR_PERF_SNAPSHOT 2u   /* overwrite the oldest events; see ttr_perf_snapshot */
#define TTR_PERF_PIPE 4u       /* write perf.data in its pipe form, else in its file form */
#define TTR_PERF_AT_EXEC 8u    /* start when the process calls exec */
#define TTR_PERF_USER_ONLY 16u /* exclude the kernel from samples */
#define TTR_PERF_HEADER 104u   /* bytes of the file header */

typedef struct ttr_perf_config {
    size_t size;
    const ttr_perf_events *events;
    uint64_t pid;       /* a process, its threads and its children; 0 = all processes on all CPUs */
    uint32_t flags;     /* TTR_PERF_* */
    uint32_t frequency; /* samples per second of events with is_clock; 0 = 1000 */
    uint32_t buffer_kb; /* KiB per CPU, rounded up to a power of two; 0 = 1024 */
    int32_t zstd_level; /* compression level of the records; 0 = not compressed */
    const char *const *command; /* command line to store in the file; ends with NULL; NULL = none */
} ttr_perf_config;

typedef struct ttr_perf ttr_perf;

/* Opens the events and ring buffers and lists the running processes, without recording.  Returns
 * NULL with `error`, which states the missing permission and how to get it. */
TTR_API ttr_perf *ttr_perf_open(const ttr_perf_config *wish, ttr_error *error);

/* Starts recording; with TTR_PERF_AT_EXEC, when the process calls exec. */
TTR_API TTR_MUST ttr_status ttr_perf_start(ttr_perf *perf, ttr_error *error);

/* Returns the next bytes of the file, borrowed until the next call, and waits at most limit_ms.
 * TTR_AGAIN if no bytes are available, TTR_END if the file is complete. */
TTR_API TTR_MUST ttr_status ttr_perf_read(ttr_perf *perf, const void **bytes, size_t *n,
                                          unsigned limit_ms, ttr_error *error);

/* Stops recording.  Call ttr_perf_read for the remaining bytes until TTR_END. */
TTR_API void ttr_perf_stop(ttr_perf *perf);

/* With TTR_PERF_SNAPSHOT: makes the current contents of the buffers available to ttr_perf_read. */
TTR_API void ttr_perf_snapshot(ttr_perf *perf);

/* Returns the first bytes of the file.  Write them again over the start of the file when it is
 * complete; written earlier, they make the file readable up to the last ttr_perf_read even if
 * recording is killed.  Returns false with TTR_PERF_PIPE. */
TTR_API bool ttr_perf_header(const ttr_perf *perf, uint8_t header[TTR_PERF_HEADER]);

/* Sets a descriptor that ends all waits when it becomes readable; -1 = none, the default. */
TTR_API void ttr_perf_set_wake_fd(ttr_perf *perf, int fd);

typedef struct ttr_perf_report {
    size_t size;
    uint64_t samples; /* events recorded */
    uint64_t lost;    /* events that the kernel dropped because a buffer was full */
    uint64_t broken;  /* number of times that a buffer was inconsistent */
    uint64_t bytes;   /* of the file so far */
    uint32_t limited; /* TTR_PERF_USER_ONLY if the kernel was excluded although it was requested */
    bool is_over;     /* all recorded processes have ended */
} ttr_perf_report;

/* Fills a report on a recording. */
TTR_API void ttr_perf_stats(const ttr_perf *perf, ttr_perf_report *report);

/* Stops recording and frees all resources. */
TTR_API void ttr_perf_close(ttr_perf *perf);

#ifdef __cplusplus
}
#endif
#endif
