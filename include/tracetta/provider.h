/* Writing events out of a running program, in the EventHeader encoding: to Linux user_events, to a
 * perf.data file, or to a function.
 *
 * A provider is a named source of events.  Its events are grouped by level and keyword: every pair
 * of them is one tracepoint of the kernel, "Provider_L4K1f", switched on and off as a whole by
 * whoever records.  While nobody listens an event costs one load and one branch, and the values of
 * its fields are not even computed.
 *
 *     TTR_PROVIDER_DEFINE(shop, "Example_Shop");                     // once, at file scope
 *
 *     ttr_provider_open(&shop, NULL, &error);                        // NULL: the kernel's
 * user_events TTR_WRITE(shop, "Sold", TTR_LEVEL(4), TTR_KEYWORD(0x2), TTR_TEXT("what", name),
 * TTR_U32("pieces", n)); ttr_provider_close(&shop);
 *
 * What TTR_WRITE takes is described in provider_macros.h.  Events whose shape is known only at run
 * time are made by ttr_composer.
 *
 * Ownership: who made it frees it; a backend after the providers opened with it.  Texts are copied
 * or last as long as the program. Thread rule: events may be written from all threads at once, and
 * from signal handlers where the backend can (user_events can).  Opening and closing one provider
 * is for one thread at a time; closing waits for writes that have begun, so it is not for signal
 * handlers.  After a fork both processes may write. */
#ifndef TRACETTA_PROVIDER_H
#define TRACETTA_PROVIDER_H

#include <stdbool.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Levels that are defined; 6 to 255 are a provider's own. */
#define TTR_EH_CRITICAL 1
#define TTR_EH_ERROR 2
#define TTR_EH_WARNING 3
#define TTR_EH_INFORMATION 4
#define TTR_EH_VERBOSE 5

/* What an event does to its activity. */
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

/* The largest event, header and metadata included, that perf takes from user_events; ftrace takes
 * about half of it with pages of 4 KiB. The kernel drops larger ones without a word, so they are
 * refused here: at compile time where their size is known, else with TTR_E_LIMIT. */
#define TTR_EVENT_MAX 8184u

/* --- Tracepoints and providers --- */

#define TTR_BACKENDS_MAX 4u /* that one provider writes to at a time */

typedef struct ttr_provider ttr_provider;

/* One level and keyword of a provider.  The kernel and the library write it; only `enabled` is for
 * others to read. */
typedef struct ttr_tracepoint {
    uint32_t enabled; /* a bit for each backend where somebody listens; written by the kernel too */
    uint8_t level;
    uint8_t zero[3];
    uint64_t keyword;
    ttr_provider *provider;
    uint32_t index[TTR_BACKENDS_MAX]; /* its number in each backend; UINT32_MAX while it has none */
    struct ttr_tracepoint *next;      /* of those made at run time */
} ttr_tracepoint;

struct ttr_provider {
    uint32_t size; /* sizeof(ttr_provider) */
    uint32_t zero;
    const char *name;
    const char *group;              /* "" = none */
    ttr_tracepoint **first, **last; /* tracepoints of TTR_WRITE in this program or library */
    void *state;                    /* the library's, NULL before the first open */
};

#if defined(__cplusplus)
#define TTR_PROVIDER_EXTERN extern "C"
#else
#define TTR_PROVIDER_EXTERN extern
#endif
#define TTR_PROVIDER_LOCAL __attribute__((visibility("hidden")))

/* Declares a provider that another file of the same program or library defines. */
#define TTR_PROVIDER_DECLARE(symbol) TTR_PROVIDER_EXTERN TTR_PROVIDER_LOCAL ttr_provider symbol

/* Defines a provider: its name is best made of [A-Za-z0-9_] and has no blank and no colon. */
#define TTR_PROVIDER_DEFINE(symbol, name) TTR_PROVIDER_DEFINE_GROUP(symbol, name, "")

/* The same in a group of providers, [a-z0-9]*, by which tools find them. */
#define TTR_PROVIDER_DEFINE_GROUP(symbol, name, group)                               \
    TTR_PROVIDER_EXTERN ttr_tracepoint *__start_ttr_sites_##symbol[]                 \
        __attribute__((weak, visibility("hidden")));                                 \
    TTR_PROVIDER_EXTERN ttr_tracepoint *__stop_ttr_sites_##symbol[]                  \
        __attribute__((weak, visibility("hidden")));                                 \
    TTR_PROVIDER_DECLARE(symbol);                                                    \
    ttr_provider symbol = {                                                          \
        sizeof(ttr_provider),      0, "" name, "" group, __start_ttr_sites_##symbol, \
        __stop_ttr_sites_##symbol, 0}

/* Makes a provider at run time, for ttr_provider_point and ttr_compose_begin; NULL with `error` for
 * a name or group that cannot be one. */
TTR_API ttr_provider *ttr_provider_new(const char *name, const char *group, ttr_error *error);

/* Closes a provider made by ttr_provider_new and frees it with its tracepoints, whose writers must
 * have ended; NULL is fine. */
TTR_API void ttr_provider_free(ttr_provider *provider);

/* The tracepoint of a level (1 to 255) and a keyword, made on first use and valid as long as the
 * provider; NULL with `error`. */
TTR_API ttr_tracepoint *ttr_provider_point(ttr_provider *provider, unsigned level, uint64_t keyword,
                                           ttr_error *error);

typedef struct ttr_backend ttr_backend;

/* Registers all tracepoints of a provider with a backend; NULL is user_events with no options,
 * owned by the provider.  May be called again with another backend, which gets the events too.
 * Where some tracepoints are refused the first error is given and the others are there. */
TTR_API TTR_MUST ttr_status ttr_provider_open(ttr_provider *provider, ttr_backend *backend,
                                              ttr_error *error);

/* Takes a provider from all its backends, once writes that have begun are through.  One that is not
 * open is fine. */
TTR_API void ttr_provider_close(ttr_provider *provider);

typedef struct ttr_provider_counts {
    size_t size;         /* sizeof(ttr_provider_counts), set by the caller */
    uint64_t written;    /* events given to backends; nobody may have listened any more */
    uint64_t too_large;  /* refused: larger than TTR_EVENT_MAX */
    uint64_t failed;     /* refused by a backend */
    uint64_t above_page; /* written, but too large for ftrace with pages of 4 KiB, which drops them
                            silently */
    int last_errno;      /* of the last one that failed, or 0 */
} ttr_provider_counts;

/* Says what became of a provider's events since it was made. */
TTR_API void ttr_provider_count(const ttr_provider *provider, ttr_provider_counts *counts);

/* Makes the id of an activity, 16 random bytes as a UUID of version 4, for TTR_ACTIVITY and
 * ttr_compose_activity.  Does not fail. */
TTR_API void ttr_activity_new_id(uint8_t id[16]);

/* Whether anybody listens. */
static inline bool ttr_tracepoint_enabled(const ttr_tracepoint *point)
{
    return __atomic_load_n(&point->enabled, __ATOMIC_RELAXED) != 0;
}

/* --- Backends --- */

typedef struct ttr_user_events_options {
    size_t size; /* sizeof(ttr_user_events_options) */
    const char
        *tracefs; /* where it is mounted; NULL: /sys/kernel/tracing, else what /proc/mounts says */
    bool multi_format; /* TTR_USER_EVENTS_MULTI_FORMAT of the kernel (6.9 and later): same names
                          with other fields do not clash */
    bool persist;      /* the tracepoints stay when the program ends (needs CAP_PERFMON) */
} ttr_user_events_options;

/* The kernel's user_events (Linux 6.4 and later with CONFIG_USER_EVENTS).  NULL with `error`:
 * TTR_E_UNSUPPORTED where the kernel has none, TTR_E_IO where tracefs is not mounted or may not be
 * used. */
TTR_API ttr_backend *ttr_backend_user_events(const ttr_user_events_options *options,
                                             ttr_error *error);

typedef struct ttr_perf_file_options {
    size_t size;        /* sizeof(ttr_perf_file_options) */
    unsigned max_level; /* tracepoints above it are left out; 0: none is */
    uint64_t keywords;  /* tracepoints with a keyword that has none of these bits are left out; 0:
                           none is */
    bool overwrite;     /* replace an existing file */
} ttr_perf_file_options;

/* A perf.data file, written by the program itself: it needs nothing of the kernel, and is complete
 * after ttr_backend_finish; of a program that is killed all can be read but what it wrote in the
 * last tenth of a second in which it wrote.  Not for signal handlers; events of a child of fork are
 * refused. */
TTR_API ttr_backend *ttr_backend_perf_file(const char *path, const ttr_perf_file_options *options,
                                           ttr_error *error);

/* What a tracepoint is to a backend. */
typedef struct ttr_tracepoint_request {
    const char *name; /* "Provider_L4K1f" */
    uint32_t *
        enabled; /* the word in which the backend sets its bit while somebody listens, atomically */
    unsigned bit;
} ttr_tracepoint_request;

/* A backend of the caller's. */
typedef struct ttr_backend_functions {
    size_t size; /* sizeof(ttr_backend_functions) */
    /* Takes a tracepoint: 0 and a number for write (not UINT32_MAX), or an errno. */
    int (*add)(void *ctx, const ttr_tracepoint_request *wish, uint32_t *index);
    /* Lets it go; its bit is cleared already.  May be NULL. */
    void (*remove)(void *ctx, const ttr_tracepoint_request *wish, uint32_t index);
    /* Takes an event: 0, or an errno.  `event` lies 4 bytes into a block whose first bytes are the
     * backend's to use. */
    int (*write)(void *ctx, uint32_t index, uint8_t *event, size_t n);
} ttr_backend_functions;

/* Makes one of the caller's functions; they are copied. */
TTR_API ttr_backend *ttr_backend_new(const ttr_backend_functions *functions, void *ctx,
                                     ttr_error *error);

/* Ends what a backend writes, once no provider is open with it: TTR_E_IO where not all could be
 * written.  May be called again. */
TTR_API TTR_MUST ttr_status ttr_backend_finish(ttr_backend *backend, ttr_error *error);

/* Frees a backend that no provider is open with, finishing it before if that was not done; NULL is
 * fine. */
TTR_API void ttr_backend_free(ttr_backend *backend);

/* --- Events of any shape --- */

/* Composes events one at a time; its memory is reused.  Text and bytes are copied. */
typedef struct ttr_composer ttr_composer;

/* Makes a composer; NULL when memory is out. */
TTR_API ttr_composer *ttr_composer_new(void);

/* Frees a composer; NULL is fine. */
TTR_API void ttr_composer_free(ttr_composer *composer);

/* Begins an event; what was begun before is dropped.  The name may carry attributes:
 * "name;attribute=value". */
TTR_API void ttr_compose_begin(ttr_composer *composer, const char *name);

/* Its tag, its stable id with the version of its layout, and its opcode; all 0 at first. */
TTR_API void ttr_compose_tag(ttr_composer *composer, uint16_t tag);
TTR_API void ttr_compose_id(ttr_composer *composer, uint16_t id, uint8_t version);
TTR_API void ttr_compose_opcode(ttr_composer *composer, uint8_t opcode);

/* The activity it belongs to and the one that is related to it, 16 bytes each; NULL: none. */
TTR_API void ttr_compose_activity(ttr_composer *composer, const void *activity,
                                  const void *related);

/* How a field lies in the payload (EventHeader's encodings) and how it is to be read (its formats);
 * 0 is the default of the encoding. */
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
    TTR_EH_FIXED = 0x20, /* flag: an array whose length stands in the metadata */
    TTR_EH_ARRAY = 0x40, /* flag: an array whose length stands in the payload */
    TTR_EH_FORMAT = 0x80 /* flag: a format follows */
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

/* A field to be: what it is called and how it is said. */
typedef struct ttr_field_shape {
    const char *name; /* may carry attributes, as the event's */
    uint8_t encoding; /* TTR_EH_STRUCT to TTR_EH_BINARY, without flags */
    uint8_t format;   /* TTR_EH_AS_* */
    uint16_t tag;     /* 0 = none */
} ttr_field_shape;

/* Appends a value: of VALUE8 to VALUE128 its bytes, of strings and binary the text and its length
 * in units (SIZE_MAX: up to a zero unit; NULL is empty).  ZSTRING ends at the first zero unit. */
TTR_API void ttr_compose_value(ttr_composer *composer, const ttr_field_shape *shape,
                               const void *value, size_t n);

/* Appends an array of n values of VALUE8 to VALUE128 that lie one behind the other; is_fixed says
 * where its length stands. */
TTR_API void ttr_compose_array(ttr_composer *composer, const ttr_field_shape *shape,
                               const void *values, size_t n, bool is_fixed);

/* Begins a struct: the next `fields` fields (1 to 127) belong to it; a struct counts as one.  The
 * encoding of its shape is TTR_EH_STRUCT, its format is not used. */
TTR_API void ttr_compose_struct(ttr_composer *composer, const ttr_field_shape *shape,
                                unsigned fields);

/* The escape hatch: metadata of a field as they are, with flags in the encoding (fixed_n with
 * TTR_EH_FIXED), and bytes of the payload as they are. */
TTR_API void ttr_compose_metadata(ttr_composer *composer, const ttr_field_shape *shape,
                                  uint16_t fixed_n);
TTR_API void ttr_compose_payload(ttr_composer *composer, const void *bytes, size_t n);

/* Writes what was composed; it may be written again, elsewhere.  TTR_OK also when nobody listens;
 * TTR_E_LIMIT above TTR_EVENT_MAX, TTR_E_MISUSE after a call that broke a rule (a struct of 0
 * fields, an empty array of fixed length, an encoding that is none), TTR_E_IO where a backend
 * failed. */
TTR_API TTR_MUST ttr_status ttr_compose_write(ttr_composer *composer, ttr_tracepoint *point);

#ifdef __cplusplus
}
#endif

#include "provider_macros.h"

#endif
