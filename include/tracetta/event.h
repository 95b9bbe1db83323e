/* What a trace is made of: the context, ids, events, batches and fields.
 *
 * Ownership: everything reached through an event (payload, fields) is borrowed until the next
 * ttr_read on the reader that gave it; text behind an id lives as long as the context.  Thread
 * rule: one context and its handles, one thread at a time; different contexts are independent.
 * Arguments must not be NULL but where it is said; options and `error` always may, and what frees
 * takes NULL.  Structs here are plain and frozen (ABI). */
#ifndef TRACETTA_EVENT_H
#define TRACETTA_EVENT_H

#include <stdbool.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A context: strings, threads, tracks, clocks and limits that readers and writers share. */
typedef struct ttr ttr;

/* A small number for something the context knows; 0 is none (for strings: empty). */
typedef uint32_t ttr_id;

/* Bytes that are usually UTF-8; not always, and not zero-terminated unless said. */
typedef struct ttr_text {
    const char *p;
    size_t n;
} ttr_text;

/* Memory for the library: realloc by another name (old NULL allocates, new_size 0 frees). NULL
 * result = out of memory. */
typedef void *(*ttr_realloc_fn)(void *ctx, void *old, size_t old_size, size_t new_size);

typedef struct ttr_options {
    size_t size;           /* sizeof(ttr_options) */
    ttr_realloc_fn resize; /* NULL: the C library's */
    void *ctx;             /* given to resize */
    uint64_t max_memory;   /* most bytes for strings, tables and sorting together; 0 = 1 GiB */
} ttr_options;

/* Makes a context; NULL options are fine.  NULL when memory is out, or when options->size is not
 * set. */
TTR_API ttr *ttr_new(const ttr_options *options);

/* Frees a context; its readers and writers must be gone.  NULL is fine. */
TTR_API void ttr_free(ttr *t);

/* Called now and then while a long call runs; returning false ends it early, with what it has. */
typedef bool (*ttr_progress)(void *ctx);

/* Watches the calls of a context that are long without being told so: sorting (in ttr_merge too)
 * reads all of its input in the first ttr_read.  Ended early it sorts what was read by then, and
 * gives that.  NULL ends the watch. */
TTR_API void ttr_progress_set(ttr *t, ttr_progress progress, void *ctx);

/* The library's version: "0.1.0". */
TTR_API const char *ttr_version(void);

/* What an event is.  Numbers are ABI and only grow. */
typedef enum ttr_kind {
    TTR_KIND_NONE = 0,
    TTR_KIND_INSTANT = 1,     /* a moment */
    TTR_KIND_BEGIN = 2,       /* a span opens on its thread; spans of one thread nest */
    TTR_KIND_END = 3,         /* the innermost open span of its thread closes */
    TTR_KIND_SPAN = 4,        /* a whole span: time is its start, `duration` its length */
    TTR_KIND_COUNTER = 5,     /* each field is a series; `link` tells counters of one name apart */
    TTR_KIND_ASYNC_BEGIN = 6, /* a span that may move between threads, named by `link` */
    TTR_KIND_ASYNC_STEP = 7,
    TTR_KIND_ASYNC_END = 8,
    TTR_KIND_FLOW_BEGIN = 9, /* an arrow from the enclosing span, named by `link` */
    TTR_KIND_FLOW_STEP = 10,
    TTR_KIND_FLOW_END = 11,
    TTR_KIND_SWITCH =
        12, /* `cpu` goes from thread `link` (a ttr_id, now in state `tag`) to `thread` */
    TTR_KIND_WAKE = 13, /* `thread` becomes ready to run on `cpu`; `link`: the thread that woke it,
                           a ttr_id, on CPU `tag`; 0 = not told */
    TTR_KIND_SAMPLE = 14, /* a stack: field "frames", innermost first */
    TTR_KIND_LOG = 15,    /* a message: field "message" */
    TTR_KIND_BLOB = 16,   /* bytes: field "data"; `tag` is the format's own type of it */
    TTR_KIND_OBJECT = 17, /* says that object `link` is called `name`; `tag` is a ttr_object */
    TTR_KIND_GAP = 18,    /* events are missing from `time` on, for `duration` (0 = somewhere here):
                           * `link` is how many, 0 = unknown;    `tag` is a ttr_gap */
    TTR_KIND_DEFINITION =
        19, /* raw bytes that carry no event (tables, headers); only with TTR_READ_DEFINITIONS */
    TTR_KIND_COUNT = 20
} ttr_kind;

/* Gives the name of a kind as every output spells it ("async_begin"); "none" for numbers that are
 * none. */
TTR_API const char *ttr_kind_text(unsigned kind);

/* What a TTR_KIND_OBJECT describes. */
typedef enum ttr_object {
    TTR_OBJECT_OTHER = 0,   /* see field "type" */
    TTR_OBJECT_PROCESS = 1, /* `link` is the pid */
    TTR_OBJECT_THREAD = 2,  /* `link` is the tid; `thread` where the process is known */
    TTR_OBJECT_POINTER = 3, /* `link` is an address in the process of `thread` */
    TTR_OBJECT_MODULE = 4,  /* a loaded binary: fields "build_id", ... */
    TTR_OBJECT_MAPPING = 5  /* a mapping of a module: fields "start", "size", ... */
} ttr_object;

/* What is missing at a TTR_KIND_GAP. */
typedef enum ttr_gap {
    TTR_GAP_EVENTS = 0, /* single events */
    TTR_GAP_PACKETS =
        1 /* packets with all their events: `sequence` is how many packets, 0 = unknown */
} ttr_gap;

/* State of the outgoing thread of a TTR_KIND_SWITCH (in `tag`). */
typedef enum ttr_thread_state {
    TTR_THREAD_NEW = 0,
    TTR_THREAD_RUNNING = 1,
    TTR_THREAD_SUSPENDED = 2,
    TTR_THREAD_BLOCKED = 3,
    TTR_THREAD_DYING = 4,
    TTR_THREAD_DEAD = 5
} ttr_thread_state;

/* Severity, 0 where the format has none. */
typedef enum ttr_level {
    TTR_LEVEL_NONE = 0,
    TTR_LEVEL_TRACE = 1,
    TTR_LEVEL_DEBUG = 2,
    TTR_LEVEL_INFO = 3,
    TTR_LEVEL_WARNING = 4,
    TTR_LEVEL_ERROR = 5,
    TTR_LEVEL_FATAL = 6
} ttr_level;

/* Bits of ttr_event.flags. */
#define TTR_EVENT_RAW 1u      /* payload is the whole record exactly as its format stores it */
#define TTR_EVENT_CLAMPED 2u  /* time or duration did not fit and was clamped; ticks are exact */
#define TTR_EVENT_BACKWARD 4u /* a span that ends before it begins; duration is given as 0 */
#define TTR_EVENT_PARTIAL 8u  /* the record's content is damaged: what could be decoded is there */
#define TTR_EVENT_NO_TIME \
    16u /* the format gives this event no time; `time` is that of the event before it */
#define TTR_EVENT_HAS_CPU 32u /* cpu is known */

/* One event: 128 bytes, a view; strings are ids, fields are decoded on demand from the payload. */
typedef struct ttr_event {
    int64_t time;   /* ns; since the Unix epoch where the clock is anchored, else since the trace's
                       own zero */
    uint64_t ticks; /* the time as stored, in ticks of the event's clock */
    uint64_t duration;       /* ns, spans and gaps only */
    uint64_t link;           /* id of async, flow, counter, object; see the kinds */
    const uint8_t *payload;  /* the record (TTR_EVENT_RAW) or its fields */
    uint32_t payload_size;   /* bytes */
    uint32_t body;           /* offset of the first field inside payload */
    ttr_id schema;           /* how fields are decoded */
    ttr_id name;             /* string */
    ttr_id provider;         /* string: who wrote it (FXT provider, .NET event source, ...) */
    ttr_id category;         /* string: comma-separated categories */
    ttr_id track;            /* where order is promised: stream, section, buffer */
    ttr_id thread;           /* process and thread, see ttr_thread_get */
    uint64_t offset;         /* of the record in its (uncompressed) source */
    uint64_t keyword;        /* bit set of the format, 0 where it has none */
    const uint8_t *activity; /* 16 bytes or NULL */
    const uint8_t *related;  /* 16 bytes or NULL */
    uint32_t stack;          /* the reader's own, 0 = no stack; see ttr_event_frames */
    uint32_t sequence;       /* event counter of the track where the format has one */
    uint32_t cpu;            /* valid with TTR_EVENT_HAS_CPU */
    uint16_t source;         /* which input, see ttr_source_get */
    uint16_t tag;            /* depends on the kind */
    uint8_t kind, level, opcode, flags;
    uint32_t part; /* the reader's own: which part of its input the record stands in */
} ttr_event;

/* Up to 256 events (a merge may give more).  `pick`, where not NULL, lists which of `event` count.
 */
typedef struct ttr_batch {
    const ttr_event *event;
    const uint32_t *pick;
    uint32_t n; /* how many count */
} ttr_batch;

/* The i-th event that counts, 0 <= i < n. */
static inline const ttr_event *ttr_batch_at(const ttr_batch *batch, uint32_t i)
{
    return &batch->event[batch->pick ? batch->pick[i] : i];
}

/* Type of a field's value. */
typedef enum ttr_type {
    TTR_TYPE_NULL = 0,
    TTR_TYPE_BOOL = 1,   /* u: 0 or 1 */
    TTR_TYPE_UINT = 2,   /* u; `bits` is its stored width */
    TTR_TYPE_INT = 3,    /* s */
    TTR_TYPE_FLOAT = 4,  /* f */
    TTR_TYPE_TEXT = 5,   /* text */
    TTR_TYPE_BYTES = 6,  /* text: any bytes */
    TTR_TYPE_ARRAY = 7,  /* `count` fields follow, one level deeper, without names */
    TTR_TYPE_STRUCT = 8, /* `count` fields follow, one level deeper */
    TTR_TYPE_COUNT = 9
} ttr_type;

/* Gives the name of a type ("uint"); "unknown" for numbers that are none. */
TTR_API const char *ttr_type_text(unsigned type);

/* What a value means beyond its type. */
typedef enum ttr_display {
    TTR_DISPLAY_NONE = 0,
    TTR_DISPLAY_POINTER = 1, /* shown in hexadecimal */
    TTR_DISPLAY_KOID = 2,    /* id of a kernel object */
    TTR_DISPLAY_THREAD = 3,  /* a ttr_id of a thread: shown by its tid */
    TTR_DISPLAY_RAW = 4,     /* bytes nobody could decode */
    TTR_DISPLAY_ENUM = 5,    /* a number with names: `text` is the first that holds it, `count` how
                             many    do (0 = none); see ttr_fields_label */
    TTR_DISPLAY_FLAGS = 6,   /* bits with names: the same for those that are set */
    TTR_DISPLAY_DECIMAL = 7, /* TEXT that is a decimal integer too wide for 64 bits */
    TTR_DISPLAY_ABSENT = 8   /* NULL: an optional field that is not there */
} ttr_display;

typedef struct ttr_value {
    union {
        uint64_t u;
        int64_t s;
        double f;
    } v;
    ttr_text text;  /* TEXT and BYTES; borrowed like the event's payload */
    uint32_t count; /* ARRAY and STRUCT: how many fields one level deeper follow; hints ENUM and
                       FLAGS: how many names */
    ttr_id text_id; /* TEXT that is a known string: its id, else 0 */
    uint8_t type;   /* ttr_type */
    uint8_t hint;   /* ttr_display */
    uint8_t bits;   /* stored width of UINT, INT and FLOAT, 0 = 64 */
    uint8_t base;   /* the trace wants the number shown in base 2, 8 or 16; 0 or 10 = decimal */
    uint32_t
        step; /* the reader's own: which of the fields of its kind of events it is, 0 = not told */
} ttr_value;

/* Which part of an event a field belongs to. */
typedef enum ttr_group {
    TTR_GROUP_PAYLOAD = 0, /* what this event says */
    TTR_GROUP_CONTEXT = 1, /* context of this kind of event (CTF: specific context) */
    TTR_GROUP_COMMON = 2,  /* context that all events of the stream have (CTF: common context) */
    TTR_GROUP_PACKET = 3, /* of the packet the event was stored in (CTF: packet context); only given
                             where asked for */
    TTR_GROUP_HEADER = 4  /* of the event's header; only given where asked for */
} ttr_group;

typedef struct ttr_field {
    ttr_text name;
    ttr_id name_id; /* the name where it is a known string, else 0 (then compare `name`) */
    uint16_t depth; /* 0 = a field of the event itself */
    uint8_t group;  /* ttr_group */
    uint8_t
        choices; /* how many optionals and variants, one in another, the value was chosen through */
    ttr_value value;
} ttr_field;

/* A walk over the fields of one event; opaque, on the caller's stack. */
typedef struct ttr_fields {
    const ttr_event *event;
    const void *ops, *ctx;
    uint64_t state[84];
} ttr_fields;

/* Begins a walk over the fields of an event, in stored order.  Never fails; the event must still be
 * valid. */
TTR_API void ttr_fields_begin(const ttr *t, const ttr_event *event, ttr_fields *fields);

/* The same for the fields of a part that events are not asked for usually: TTR_GROUP_PACKET (of the
 * packet the event was stored in) or TTR_GROUP_HEADER.  No fields where the format has no such
 * part.  Events that were copied since (sorting) have no header any more, and of their packet all
 * fields where it has some beside sizes, times, counters and the processor, else none. */
TTR_API void ttr_fields_begin_group(const ttr *t, const ttr_event *event, ttr_group group,
                                    ttr_fields *fields);

/* Gives the next field; false at the end (or where damage ends what can be decoded: the event then
 * has TTR_EVENT_PARTIAL). */
TTR_API bool ttr_fields_next(ttr_fields *fields, ttr_field *field);

/* Gives the i-th name of a value with the hint ENUM or FLAGS that ttr_fields_next
 * returned just now, 0 <= i < count. */
TTR_API bool ttr_fields_label(const ttr_fields *fields, const ttr_value *value, uint32_t i,
                              ttr_text *label);

/* Room for the fields of one event at a time, which remembers what events of a class have in
 * common: the way to read every field of very many events.  Belongs to the caller, who frees it
 * before the context. */
typedef struct ttr_field_buffer ttr_field_buffer;

/* NULL when memory is out. */
TTR_API ttr_field_buffer *ttr_field_buffer_new(const ttr *t);

/* Frees it and the fields given; NULL is fine. */
TTR_API void ttr_field_buffer_free(ttr_field_buffer *buffer);

/* Gives the fields of an event in stored order, from *field on, and how many; 0 = it has none.
 * Where there are more (many elements, a value with several names, which is the last of its call),
 * ttr_event_fields_next gives the next, 0 at the end: it is to be asked until then.  Never fails.
 * The fields are the buffer's, are not to be changed, and are there until the next call with it;
 * the event must still be valid. */
TTR_API uint32_t ttr_event_fields(ttr_field_buffer *buffer, const ttr_event *event,
                                  const ttr_field **field);
TTR_API uint32_t ttr_event_fields_next(ttr_field_buffer *buffer, const ttr_field **field);

/* As ttr_fields_label, of a value given just now. */
TTR_API bool ttr_event_label(const ttr_field_buffer *buffer, const ttr_value *value, uint32_t i,
                             ttr_text *label);

/* Finds a top-level field by name: the first of that name.  False when there is none. */
TTR_API bool ttr_field_find(const ttr *t, const ttr_event *event, const char *name,
                            ttr_field *field);

/* Gives the addresses of an event's stack, innermost first: how many there are, of which at most
 * `room` are written; 0 = it has none.  Stacks are there only where event->stack is not 0, and in
 * the field "frames" of a TTR_KIND_SAMPLE.  The event must still be valid. */
TTR_API uint32_t ttr_event_frames(const ttr *t, const ttr_event *event, uint64_t *addresses,
                                  uint32_t room);

/* The same where the addresses stand, `*n` of them, without copying: borrowed as long as the event
 * is valid.  NULL where it has none, or they are not stored as 64-bit numbers of this machine
 * (perf, 32-bit processes): ttr_event_frames tells. */
TTR_API const uint64_t *ttr_event_stack(const ttr *t, const ttr_event *event, uint32_t *n);

/* Gives the number that its provider has for events of this kind, and the version of what they say
 * (.NET's event id and version).  False, and both 0, where the format has none. */
TTR_API bool ttr_event_number(const ttr *t, const ttr_event *event, uint32_t *number,
                              uint32_t *version);

/* Text of a string id; "" for 0 and for ids that are none.  Zero-terminated (the zero does not
 * count). */
TTR_API ttr_text ttr_text_get(const ttr *t, ttr_id id);

/* Id of a string, added when new; 0 also when memory is out. */
TTR_API ttr_id ttr_text_add(ttr *t, const void *bytes, size_t n);

/* Id of a string that is known already, or 0. */
TTR_API ttr_id ttr_text_find(const ttr *t, const void *bytes, size_t n);

/* How many strings there are: ids are 0 .. count-1. */
TTR_API uint32_t ttr_text_count(const ttr *t);

/* A thread of a process; in formats without threads the nearest thing (Heph: pid = stream, tid =
 * substream). */
typedef struct ttr_thread {
    uint64_t pid, tid;
    ttr_id process_name, thread_name; /* 0 while unknown; may become known later */
    bool pid_known;                   /* false: pid is a guess (0) */
    bool tid_known;                   /* false: stands for the whole process */
} ttr_thread;

/* Gives what is known of a thread by now; false when the id is none. */
TTR_API bool ttr_thread_get(const ttr *t, ttr_id id, ttr_thread *thread);

/* How many threads there are: ids are 1 .. count. */
TTR_API uint32_t ttr_thread_count(const ttr *t);

/* A track: a place where the format promises order. */
typedef struct ttr_track {
    uint64_t number; /* stream id, provider id, ... */
    ttr_id name;     /* string, 0 = none */
    uint16_t source;
} ttr_track;

/* Gives a track; false when the id is none.  Ids are 1 .. count. */
TTR_API bool ttr_track_get(const ttr *t, ttr_id id, ttr_track *track);
TTR_API uint32_t ttr_track_count(const ttr *t);

/* Code at an address. */
typedef struct ttr_symbol {
    ttr_id name;                /* of the function, 0 = unknown */
    ttr_id module;              /* of the file or library it is in, 0 = unknown */
    uint64_t start, size_bytes; /* of the function, 0 = unknown */
    uint64_t offset;            /* of the address in the module, where that is mapped as a file */
} ttr_symbol;

/* Gives what is known of an address in the process of a thread at a time: of what was there the one
 * loaded last before.  Known is what the trace tells to readers opened with TTR_READ_SYMBOLS, up to
 * what they have read; some traces tell at their end.  False when it is nothing. */
TTR_API bool ttr_symbol_get(ttr *t, ttr_id thread, uint64_t address, int64_t time,
                            ttr_symbol *symbol);

/* An input file of the context. */
typedef struct ttr_source {
    ttr_id path;        /* as given to ttr_open */
    const char *format; /* "fxt"; static */
} ttr_source;

/* Gives an input; false when the id is none.  Id 0 stands for events built by hand. */
TTR_API bool ttr_source_get(const ttr *t, uint16_t id, ttr_source *source);

/* Something an input says of the whole trace: what its environment holds under its own name
 * ("hostname", "tracer_name"), and "trace.name", "trace.uuid", "trace.namespace" and "trace.uid"
 * (CTF 2; the latter may be empty), "trace.metadata" (1: of an input that is no stream, but tells
 * what is wrong with the metadata), "trace.path", "trace.place" (of one of several: where below the
 * directory that was opened), "trace.from" and "trace.to" (ns; where only the time in which all
 * streams are active is given), "trace.longer_metadata" (the file of another folder by which it is
 * read, as it begins with its own metadata and goes on), "trace.event_width" (the longest name of
 * an event, of perf.data), "trace.has_reads" (samples of perf.data hold counters),
 * "trace.has_ticks" (trace-cmd shows times as numbers), "stream.name", "stream.class", "stream.id",
 * "clock.frequency", "clock.offset_s", "clock.offset" where it has such. */
typedef struct ttr_attribute {
    ttr_text name;
    ttr_value value; /* UINT, INT, FLOAT, BOOL or TEXT */
} ttr_attribute;

/* Gives the i-th attribute of an input; false past the end.  Texts live as long as the context. */
TTR_API bool ttr_source_attribute(const ttr *t, uint16_t id, size_t i, ttr_attribute *attribute);

#ifdef __cplusplus
}
#endif
#endif
