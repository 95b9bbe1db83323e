/* The data of a trace: events, their kinds, fields and values.
 *
 * Everything that an event points to (payload, texts of fields) is borrowed until the next ttr_read
 * on its reader.  Strings and threads are ids of the context and stay valid as long as it.  The
 * structs here are part of the ABI: their layout does not change. */
#ifndef TRACETTA_EVENT_H
#define TRACETTA_EVENT_H

#include <stdbool.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A context; see ttr_new. */
typedef struct ttr ttr;

/* The number of a string, thread or track in its context.  0 means none; as a string it is "". */
typedef uint32_t ttr_id;

/* `n` bytes, usually UTF-8.  Not followed by a zero byte unless documented. */
typedef struct ttr_text {
    const char *p;
    size_t n;
} ttr_text;

/* Kinds of events.  The numbers are part of the ABI. */
typedef enum ttr_kind {
    TTR_KIND_NONE = 0,
    TTR_KIND_INSTANT = 1, /* a point in time */
    TTR_KIND_BEGIN = 2,   /* a span starts on its thread; spans of one thread nest */
    TTR_KIND_END = 3,     /* the innermost open span of its thread ends */
    TTR_KIND_SPAN = 4,    /* a complete span: `time` is its start, `duration` its length */
    /* each field is a series; `link` is the id of the counter among those of its name */
    TTR_KIND_COUNTER = 5,
    TTR_KIND_ASYNC_BEGIN = 6, /* a span that may change threads; `link` is its id */
    TTR_KIND_ASYNC_STEP = 7,
    TTR_KIND_ASYNC_END = 8,
    TTR_KIND_FLOW_BEGIN = 9, /* an arrow that starts at the enclosing span; `link` is its id */
    TTR_KIND_FLOW_STEP = 10,
    TTR_KIND_FLOW_END = 11,
    /* context switch on `cpu` from thread `link` (a ttr_id) in state `tag` to `thread`; fields with
     * priorities are found by ttr_switch_priorities */
    TTR_KIND_SWITCH = 12,
    /* `thread` becomes runnable on `cpu`, woken by thread `link` (a ttr_id, 0 = unknown), which ran
     * on CPU `tag` */
    TTR_KIND_WAKE = 13,
    TTR_KIND_SAMPLE = 14, /* a stack sample: field "frames", innermost first */
    TTR_KIND_LOG = 15,    /* a message: field "message" */
    TTR_KIND_BLOB = 16,   /* raw bytes: field "data"; `tag` is a type defined by the format */
    TTR_KIND_OBJECT = 17, /* object `link` has the name `name`; `tag` is a ttr_object */
    /* `link` events are missing (0 = unknown number) between `time` and `time + duration`; duration
     * 0: near `time`; `tag` is a ttr_gap */
    TTR_KIND_GAP = 18,
    /* raw bytes without events (tables, headers); only with TTR_READ_DEFINITIONS; `tag` may be
     * TTR_DEFINITION_UNUSED */
    TTR_KIND_DEFINITION = 19,
    TTR_KIND_COUNT = 20
} ttr_kind;

/* The type of object that a TTR_KIND_OBJECT names. */
typedef enum ttr_object {
    TTR_OBJECT_OTHER = 0,   /* any other type; field "type" has its name */
    TTR_OBJECT_PROCESS = 1, /* `link` is the pid */
    TTR_OBJECT_THREAD = 2,  /* `link` is the tid; `thread` is set if the process is known */
    TTR_OBJECT_POINTER = 3, /* `link` is an address in the process of `thread` */
    TTR_OBJECT_MODULE = 4,  /* a loaded binary: fields "build_id", ... */
    TTR_OBJECT_MAPPING = 5  /* the memory mapping of a module: fields "start", "size", ... */
} ttr_object;

/* The unit of a TTR_KIND_GAP. */
typedef enum ttr_gap {
    TTR_GAP_EVENTS = 0,
    TTR_GAP_PACKETS = 1 /* packets with all their events; `sequence` is their number, 0 = unknown */
} ttr_gap;

/* The `tag` of a TTR_KIND_DEFINITION that is the unused end of a buffer: only a copy of every byte
 * needs it.  Other tags are defined by the format. */
#define TTR_DEFINITION_UNUSED UINT16_MAX

/* The state of the outgoing thread of a TTR_KIND_SWITCH, in its `tag`. */
typedef enum ttr_thread_state {
    TTR_THREAD_NEW = 0,
    TTR_THREAD_RUNNING = 1,
    TTR_THREAD_SUSPENDED = 2,
    TTR_THREAD_BLOCKED = 3,
    TTR_THREAD_DYING = 4,
    TTR_THREAD_DEAD = 5,
    TTR_THREAD_UNINTERRUPTIBLE = 6, /* blocked, and signals do not wake it (Linux: D) */
    TTR_THREAD_PREEMPTED = 7        /* still runnable, but displaced by another thread */
} ttr_thread_state;

/* Severity of an event; 0 if its format has none. */
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
#define TTR_EVENT_RAW 1u      /* `payload` is the complete record in the encoding of its format */
#define TTR_EVENT_CLAMPED 2u  /* time or duration exceeded the range of ns; `ticks` is exact */
#define TTR_EVENT_BACKWARD 4u /* a span that ends before its start; `duration` is 0 */
#define TTR_EVENT_PARTIAL 8u  /* the record is damaged; the fields after the damage are missing */
#define TTR_EVENT_NO_TIME 16u /* not timed in the trace; `time` is that of the previous event */
#define TTR_EVENT_HAS_CPU 32u /* `cpu` is valid */
#define TTR_EVENT_ADDED 64u   /* not in the trace: an end that ttr_interpret added */

/* An event: 128 bytes.  Fields are decoded from `payload` on demand (ttr_fields_begin). */
typedef struct ttr_event {
    /* ns since the Unix epoch if the clock is anchored to it, else since the start of its clock */
    int64_t time;
    uint64_t ticks;         /* the stored time, in ticks of the event's clock */
    uint64_t duration;      /* ns; of spans and gaps */
    uint64_t link;          /* id of an async span, flow, counter or object; see ttr_kind */
    const uint8_t *payload; /* the record (TTR_EVENT_RAW), or only its fields */
    uint32_t payload_size;
    uint32_t body; /* byte offset of the first field in `payload` */
    ttr_id schema; /* the decoder of the fields */
    ttr_id name;   /* a string */
    /* a string: the component that wrote it (FXT provider, .NET event source) */
    ttr_id provider;
    ttr_id category; /* a string: comma-separated categories */
    /* the stream, section or buffer within which the format keeps events ordered */
    ttr_id track;
    ttr_id thread;   /* process and thread; see ttr_thread_get */
    uint64_t offset; /* byte offset of the record in its (uncompressed) source */
    /* bit set of event groups, defined by the provider; 0 if the format has none */
    uint64_t keyword;
    const uint8_t *activity; /* id of the activity: 16 bytes, or NULL */
    const uint8_t *related;  /* id of the related activity: 16 bytes, or NULL */
    uint32_t stack;          /* internal; 0 = no stack; see ttr_event_frames */
    uint32_t sequence;       /* number of the event in its track; 0 if the format has none */
    uint32_t cpu;            /* valid with TTR_EVENT_HAS_CPU */
    uint16_t source;         /* the input; see ttr_source_get */
    uint16_t tag;            /* meaning depends on the kind */
    uint8_t kind, level, opcode, flags;
    uint32_t part; /* internal */
} ttr_event;

/* A batch of events.  At most 256 events, except from ttr_merge.  Access them with ttr_batch_at: if
 * `pick` is not NULL, it has the indices of the selected events. */
typedef struct ttr_batch {
    const ttr_event *event;
    const uint32_t *pick;
    uint32_t n; /* number of selected events */
} ttr_batch;

/* Returns the i-th selected event, 0 <= i < n. */
static inline const ttr_event *ttr_batch_at(const ttr_batch *batch, uint32_t i)
{
    return &batch->event[batch->pick ? batch->pick[i] : i];
}

/* The type of a value.  The comment names the members of ttr_value that hold it. */
typedef enum ttr_type {
    TTR_TYPE_NULL = 0,
    TTR_TYPE_BOOL = 1,  /* v.u: 0 or 1 */
    TTR_TYPE_UINT = 2,  /* v.u */
    TTR_TYPE_INT = 3,   /* v.s */
    TTR_TYPE_FLOAT = 4, /* v.f */
    TTR_TYPE_TEXT = 5,  /* text */
    TTR_TYPE_BYTES = 6, /* text: arbitrary bytes */
    /* the next `count` fields, one level deeper, are the elements; they have no names */
    TTR_TYPE_ARRAY = 7,
    TTR_TYPE_STRUCT = 8, /* the next `count` fields, one level deeper, are the members */
    TTR_TYPE_COUNT = 9
} ttr_type;

/* How a value is displayed, in addition to its type. */
typedef enum ttr_display {
    TTR_DISPLAY_NONE = 0,
    TTR_DISPLAY_POINTER = 1, /* in hexadecimal */
    TTR_DISPLAY_KOID = 2,    /* id of a kernel object */
    TTR_DISPLAY_THREAD = 3,  /* a ttr_id of a thread, displayed as its tid */
    TTR_DISPLAY_RAW = 4,     /* bytes that could not be decoded */
    /* a number with labels: `text` is the first label of it, `count` the number of labels (0 =
     * none); see ttr_fields_label */
    TTR_DISPLAY_ENUM = 5,
    TTR_DISPLAY_FLAGS =
        6, /* a bit set with labels: as TTR_DISPLAY_ENUM, for the bits that are set */
    TTR_DISPLAY_DECIMAL = 7, /* TEXT: a decimal integer wider than 64 bits */
    TTR_DISPLAY_ABSENT = 8   /* NULL: an optional field that is absent */
} ttr_display;

typedef struct ttr_value {
    union {
        uint64_t u;
        int64_t s;
        double f;
    } v;
    ttr_text text; /* TEXT and BYTES; borrowed as long as the event */
    /* ARRAY and STRUCT: number of direct children; ENUM and FLAGS: number of labels */
    uint32_t count;
    ttr_id text_id; /* id of a TEXT that is a string of the context, else 0 */
    uint8_t type;   /* ttr_type */
    uint8_t hint;   /* ttr_display */
    uint8_t bits;   /* stored width of UINT, INT and FLOAT in bits; 0 = 64 */
    uint8_t base;   /* base that the trace suggests for display: 2, 8 or 16; 0 and 10 = decimal */
    uint32_t step;  /* internal */
} ttr_value;

/* The part of an event that a field belongs to. */
typedef enum ttr_group {
    TTR_GROUP_PAYLOAD = 0, /* data of this event */
    TTR_GROUP_CONTEXT = 1, /* context of this event class (CTF: specific context) */
    TTR_GROUP_COMMON = 2,  /* context of all events of the stream (CTF: common context) */
    /* header of the packet (CTF: packet context); only from ttr_fields_begin_group */
    TTR_GROUP_PACKET = 3,
    TTR_GROUP_HEADER = 4 /* header of the event; only from ttr_fields_begin_group */
} ttr_group;

typedef struct ttr_field {
    ttr_text name;
    ttr_id name_id;  /* id of the name if it is a string of the context, else 0: compare `name` */
    uint16_t depth;  /* nesting level; 0 = a field of the event itself */
    uint8_t group;   /* ttr_group */
    uint8_t choices; /* number of nested optionals and variants that selected this field */
    ttr_value value;
} ttr_field;

/* A thread.  Formats without threads use the nearest unit (Heph: pid = stream, tid = substream). */
typedef struct ttr_thread {
    uint64_t pid, tid;
    ttr_id process_name, thread_name; /* strings; 0 while unknown, may become known later */
    bool pid_known;                   /* false: pid is 0, the trace does not record it */
    bool tid_known;                   /* false: the process, not one of its threads */
} ttr_thread;

/* Returns the name of a kind as in all outputs ("async_begin"); "none" for unknown numbers. */
TTR_API const char *ttr_kind_text(unsigned kind);

/* Returns the name of a ttr_thread_state ("blocked"); NULL for unknown numbers. */
TTR_API const char *ttr_thread_state_text(unsigned state);

/* Returns the name of a type ("uint"); "unknown" for unknown numbers. */
TTR_API const char *ttr_type_text(unsigned type);

#ifdef __cplusplus
}
#endif
#endif
