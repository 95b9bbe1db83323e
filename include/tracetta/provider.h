/* Events of a running program, in EventHeader encoding: to user_events, the rings of "tracetta
 * record", a perf.data file or a callback.
 *
 *     #include <stdio.h>
 *     #include <tracetta/provider.h>
 *
 *     TTR_PROVIDER_DEFINE(shop, "Example_Shop");
 *
 *     int main(void)
 *     {
 *         ttr_error error;
 *         if (ttr_provider_open(&shop, NULL, &error) != TTR_OK)  // NULL: user_events
 *             fprintf(stderr, "events are disabled: %s\n", error.text);
 *         TTR_WRITE(shop, "Sold", TTR_LEVEL(4), TTR_KEYWORD(0x2), TTR_U32("pieces", 3));
 *         ttr_provider_close(&shop);
 *     }
 *
 * A provider is a named source of events.  All its events of one level and keyword form one
 * tracepoint, "Example_Shop_L4K2", which consumers enable as a whole.  A disabled event costs one
 * load and one branch; its values are not computed. provider_macros.h documents the arguments of
 * TTR_WRITE.  A ttr_composer builds events with fields that are known only at run time.
 *
 * Ownership: the caller frees what a function returned; a backend after closing the providers that
 * use it.  Texts are copied, except those in macros, which must be static.  Threads: any thread may
 * write events; signal handlers too with user_events; after a fork both processes.  Open and close
 * a provider on one thread at a time.  Closing waits for running writes, so do not call it in a
 * signal handler. */
#ifndef TRACETTA_PROVIDER_H
#define TRACETTA_PROVIDER_H

#include <stdbool.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Standard levels.  A provider may use 6 to 255 for its own purposes. */
#define TTR_EH_CRITICAL 1
#define TTR_EH_ERROR 2
#define TTR_EH_WARNING 3
#define TTR_EH_INFORMATION 4
#define TTR_EH_VERBOSE 5

/* Standard opcodes: the effect of an event on its activity. */
#define TTR_EH_INFO 0
#define TTR_EH_START 1
#define TTR_EH_STOP 2
#define TTR_EH_COLLECTION_START 3
#define TTR_EH_COLLECTION_STOP 4
#define TTR_EH_EXTENSION 5
#define TTR_EH_REPLY 6
#define TTR_EH_RESUME 7
#define TTR_EH_SUSPEND 8
#define TTR_EH_SEND 9
#define TTR_EH_RECEIVE 0xF0

/* Maximum size of an event in bytes, with header and metadata.  perf silently drops larger ones;
 * ftrace drops those above about half of it with pages of 4 KiB.  Larger events fail to compile if
 * their size is constant, else return TTR_E_LIMIT. */
#define TTR_EVENT_MAX 8184u

/* --- Tracepoints and providers --- */

#define TTR_BACKENDS_MAX 4u /* backends that a provider can write to at the same time */

typedef struct ttr_provider ttr_provider;

/* One level and keyword of a provider.  Written by the library and the kernel; programs may read
 * `enabled`. */
typedef struct ttr_tracepoint {
    uint32_t enabled; /* bit mask of backends with a consumer; the kernel writes it too */
    uint8_t level;
    uint8_t zero[3];
    uint64_t keyword;
    ttr_provider *provider;
    uint32_t index[TTR_BACKENDS_MAX]; /* number in each backend; UINT32_MAX = not registered */
    struct ttr_tracepoint *next;      /* list of the tracepoints made by ttr_provider_point */
} ttr_tracepoint;

struct ttr_provider {
    uint32_t size;
    uint32_t zero;
    const char *name;
    const char *group; /* "" = none */
    /* array of the tracepoints of all TTR_WRITE in this program or library */
    ttr_tracepoint **first, **last;
    void *state; /* internal; NULL before the first ttr_provider_open */
};

#if defined(__cplusplus)
#define TTR_PROVIDER_EXTERN extern "C"
#else
#define TTR_PROVIDER_EXTERN extern
#endif
#define TTR_PROVIDER_LOCAL __attribute__((visibility("hidden")))

/* Declares a provider that another file of the same program or library defines. */
#define TTR_PROVIDER_DECLARE(symbol) TTR_PROVIDER_EXTERN TTR_PROVIDER_LOCAL ttr_provider symbol

/* Defines a provider at file scope.  `name` should match [A-Za-z0-9_]+; blanks and colons are
 * invalid. */
#define TTR_PROVIDER_DEFINE(symbol, name) TTR_PROVIDER_DEFINE_GROUP(symbol, name, "")

/* Defines a provider in a group, [a-z0-9]*; tools can select providers by group. */
#define TTR_PROVIDER_DEFINE_GROUP(symbol, name, group)                               \
    TTR_PROVIDER_EXTERN ttr_tracepoint *__start_ttr_sites_##symbol[]                 \
        __attribute__((weak, visibility("hidden")));                                 \
    TTR_PROVIDER_EXTERN ttr_tracepoint *__stop_ttr_sites_##symbol[]                  \
        __attribute__((weak, visibility("hidden")));                                 \
    TTR_PROVIDER_DECLARE(symbol);                                                    \
    ttr_provider symbol = {                                                          \
        sizeof(ttr_provider),      0, "" name, "" group, __start_ttr_sites_##symbol, \
        __stop_ttr_sites_##symbol, 0}

/* Creates a provider at run time, for ttr_provider_point.  Returns NULL with `error` if the name or
 * the group is invalid. */
TTR_API ttr_provider *ttr_provider_new(const char *name, const char *group, ttr_error *error);

/* Closes a provider of ttr_provider_new and frees it with its tracepoints.  No thread may be
 * writing to them. */
TTR_API void ttr_provider_free(ttr_provider *provider);

/* Returns the tracepoint of a level (1 to 255) and a keyword, creating it on first use.  Valid as
 * long as the provider.  NULL with `error` on failure. */
TTR_API ttr_tracepoint *ttr_provider_point(ttr_provider *provider, unsigned level, uint64_t keyword,
                                           ttr_error *error);

typedef struct ttr_backend ttr_backend;

/* Registers all tracepoints of a provider with a backend.  NULL creates a user_events backend,
 * owned by the provider, and if the program runs under "tracetta record" also one of its rings; one
 * of them is enough for success.  A provider can be opened with several backends and writes to all
 * of them. If some tracepoints fail, the first error is returned and the others are registered. */
TTR_API TTR_MUST ttr_status ttr_provider_open(ttr_provider *provider, ttr_backend *backend,
                                              ttr_error *error);

/* Unregisters a provider from all backends, after waiting for running writes.  Has no effect if it
 * is not open. */
TTR_API void ttr_provider_close(ttr_provider *provider);

typedef struct ttr_provider_counts {
    size_t size;
    uint64_t written;    /* events passed to backends, with or without a consumer */
    uint64_t too_large;  /* rejected: larger than TTR_EVENT_MAX */
    uint64_t failed;     /* rejected by a backend */
    uint64_t above_page; /* written, but dropped by ftrace with pages of 4 KiB */
    int last_errno;      /* errno of the last failure, or 0 */
} ttr_provider_counts;

/* Copies the counters of a provider since its creation. */
TTR_API void ttr_provider_count(const ttr_provider *provider, ttr_provider_counts *counts);

/* Creates the id of an activity: a random UUID (version 4), for TTR_ACTIVITY and
 * ttr_compose_activity.  Never fails. */
TTR_API void ttr_activity_new_id(uint8_t id[16]);

/* Returns true if a consumer has enabled the tracepoint. */
static inline bool ttr_tracepoint_enabled(const ttr_tracepoint *point)
{
    return __atomic_load_n(&point->enabled, __ATOMIC_RELAXED) != 0;
}

/* --- Backends --- */

typedef struct ttr_user_events_options {
    size_t size;
    const char
        *tracefs; /* path of tracefs; NULL: /sys/kernel/tracing, else the mount in /proc/mounts */
    /* TTR_USER_EVENTS_MULTI_FORMAT (Linux 6.9): allows one name with different fields */
    bool multi_format;
    bool persist; /* keep the tracepoints when the program ends (needs CAP_PERFMON) */
} ttr_user_events_options;

/* Creates a backend that writes user_events (Linux 6.4 with CONFIG_USER_EVENTS).  Returns NULL with
 * `error`: TTR_E_UNSUPPORTED if the kernel has none, TTR_E_IO if tracefs is not mounted or not
 * accessible. */
TTR_API ttr_backend *ttr_backend_user_events(const ttr_user_events_options *options,
                                             ttr_error *error);

/* Creates a backend that writes to the rings of trace.h, which "tracetta record" and
 * ttr_trace_start_file record.  The provider is the category of its events; the enable byte of the
 * category, not `enabled`, decides whether an event of a level is recorded.  An event has at most
 * 12 to 14 fields; an argument "fields_omitted" counts the rest.  Loads libtracetta-trace; returns
 * NULL with TTR_E_UNSUPPORTED if it is not installed.  Not for signal handlers. */
TTR_API ttr_backend *ttr_backend_rings(ttr_error *error);

typedef struct ttr_perf_file_options {
    size_t size;
    unsigned max_level; /* omit tracepoints with a higher level; 0: none */
    /* omit tracepoints with a keyword other than 0 that has none of these bits; 0: omit none */
    uint64_t keywords;
    bool overwrite; /* replace an existing file */
} ttr_perf_file_options;

/* Creates a backend that writes a perf.data file, without kernel support.  The file is complete
 * after ttr_backend_finish.  If the program is killed, events of about the last 0.1 s are lost.
 * Not for signal handlers; events of forked children are rejected. */
TTR_API ttr_backend *ttr_backend_perf_file(const char *path, const ttr_perf_file_options *options,
                                           ttr_error *error);

/* Request of a provider to register a tracepoint with a backend. */
typedef struct ttr_tracepoint_request {
    const char *name; /* "Provider_L4K1f" */
    uint32_t
        *enabled; /* word in which the backend atomically sets bit `bit` while it has a consumer */
    unsigned bit;
} ttr_tracepoint_request;

/* Functions of a backend that a program implements. */
typedef struct ttr_backend_functions {
    size_t size;
    /* Registers a tracepoint.  Returns 0 and sets *index (not UINT32_MAX), or returns an errno. */
    int (*add)(void *user_data, const ttr_tracepoint_request *wish, uint32_t *index);
    /* Unregisters a tracepoint; its bit is already cleared.  May be NULL. */
    void (*remove)(void *user_data, const ttr_tracepoint_request *wish, uint32_t index);
    /* Writes an event.  Returns 0 or an errno.  The 4 bytes before `event` are scratch space for
     * the backend. */
    int (*write)(void *user_data, uint32_t index, uint8_t *event, size_t n);
} ttr_backend_functions;

/* Creates a backend from functions, which are copied. */
TTR_API ttr_backend *ttr_backend_new(const ttr_backend_functions *functions, void *user_data,
                                     ttr_error *error);

/* Completes the output of a backend after all its providers are closed.  TTR_E_IO if not everything
 * was written.  Can be repeated. */
TTR_API TTR_MUST ttr_status ttr_backend_finish(ttr_backend *backend, ttr_error *error);

/* Frees a backend after all its providers are closed; calls ttr_backend_finish if that was not
 * done. */
TTR_API void ttr_backend_free(ttr_backend *backend);

/* --- Composed events --- */

/* Builds one event at a time and reuses its memory.  Text and bytes are copied. */
typedef struct ttr_composer ttr_composer;

/* Returns NULL if memory is exhausted. */
TTR_API ttr_composer *ttr_composer_new(void);

/* Frees a composer. */
TTR_API void ttr_composer_free(ttr_composer *composer);

/* Starts an event and drops an unfinished one.  `name` may contain attributes:
 * "name;attribute=value". */
TTR_API void ttr_compose_begin(ttr_composer *composer, const char *name);

/* Set the tag, the stable id and version, and the opcode of the event; 0 by default. */
TTR_API void ttr_compose_tag(ttr_composer *composer, uint16_t tag);
TTR_API void ttr_compose_id(ttr_composer *composer, uint16_t id, uint8_t version);
TTR_API void ttr_compose_opcode(ttr_composer *composer, uint8_t opcode);

/* Sets the ids of the activity and of the related activity, 16 bytes each; NULL = none. */
TTR_API void ttr_compose_activity(ttr_composer *composer, const void *activity,
                                  const void *related);

/* EventHeader field encodings (how a value is stored) and formats (how it is displayed); format 0
 * is the default of the encoding. */
enum {
    TTR_EH_STRUCT = 1,
    TTR_EH_VALUE8 = 2,
    TTR_EH_VALUE16 = 3,
    TTR_EH_VALUE32 = 4,
    TTR_EH_VALUE64 = 5,
    TTR_EH_VALUE128 = 6,
    TTR_EH_ZSTRING8 = 7,
    TTR_EH_ZSTRING16 = 8,
    TTR_EH_ZSTRING32 = 9,
    TTR_EH_STRING8 = 10,
    TTR_EH_STRING16 = 11,
    TTR_EH_STRING32 = 12,
    TTR_EH_BINARY = 13,
    TTR_EH_FIXED = 0x20, /* flag: an array with its length in the metadata */
    TTR_EH_ARRAY = 0x40, /* flag: an array with its length in the payload */
    TTR_EH_FORMAT = 0x80 /* flag: a format byte follows */
};
enum {
    TTR_EH_AS_DEFAULT = 0,
    TTR_EH_AS_UINT = 1,
    TTR_EH_AS_INT = 2,
    TTR_EH_AS_HEX = 3,
    TTR_EH_AS_ERRNO = 4,
    TTR_EH_AS_PID = 5,
    TTR_EH_AS_TIME = 6,
    TTR_EH_AS_BOOL = 7,
    TTR_EH_AS_FLOAT = 8,
    TTR_EH_AS_BYTES = 9,
    TTR_EH_AS_LATIN1 = 10,
    TTR_EH_AS_UTF = 11,
    TTR_EH_AS_UTF_BOM = 12,
    TTR_EH_AS_XML = 13,
    TTR_EH_AS_JSON = 14,
    TTR_EH_AS_UUID = 15,
    TTR_EH_AS_PORT = 16,
    TTR_EH_AS_IP = 17
};

/* Name and type of a field. */
typedef struct ttr_field_shape {
    const char *name; /* may contain attributes: "name;attribute=value" */
    uint8_t encoding; /* TTR_EH_STRUCT to TTR_EH_BINARY, without flags */
    uint8_t format;   /* TTR_EH_AS_* */
    uint16_t tag;     /* 0 = none */
} ttr_field_shape;

/* Appends a value.  VALUE8 to VALUE128: its bytes, n is ignored.  Strings and binary: n units;
 * SIZE_MAX = up to a zero unit; a NULL value is empty.  ZSTRING ends at the first zero unit. */
TTR_API void ttr_compose_value(ttr_composer *composer, const ttr_field_shape *shape,
                               const void *value, size_t n);

/* Appends an array of n consecutive values of VALUE8 to VALUE128.  is_fixed: its length is stored
 * in the metadata, else in the payload. */
TTR_API void ttr_compose_array(ttr_composer *composer, const ttr_field_shape *shape,
                               const void *values, size_t n, bool is_fixed);

/* Starts a struct of the next `fields` fields (1 to 127); a nested struct counts as one.  The
 * encoding of `shape` must be TTR_EH_STRUCT; its format is ignored. */
TTR_API void ttr_compose_struct(ttr_composer *composer, const ttr_field_shape *shape,
                                unsigned fields);

/* Append raw metadata of a field (its encoding may have flags; fixed_n with TTR_EH_FIXED), and
 * raw payload bytes, for encodings without a function of their own. */
TTR_API void ttr_compose_metadata(ttr_composer *composer, const ttr_field_shape *shape,
                                  uint16_t fixed_n);
TTR_API void ttr_compose_payload(ttr_composer *composer, const void *bytes, size_t n);

/* Writes the event; it can be written again, also to other tracepoints.  TTR_OK also without a
 * consumer.  TTR_E_LIMIT above TTR_EVENT_MAX, TTR_E_IO if a backend failed.  TTR_E_MISUSE after an
 * invalid call: a struct of 0 fields, an empty array of fixed length, an unknown encoding. */
TTR_API TTR_MUST ttr_status ttr_compose_write(ttr_composer *composer, ttr_tracepoint *point);

#ifdef __cplusplus
}
#endif

#include "provider_macros.h"

#endif
