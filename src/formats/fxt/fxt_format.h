/* The Fuchsia trace format (FXT) on one page: record types, bit positions, the rules of sizes.
 * Nothing here reads or writes.
 *
 * A trace is a sequence of records; a record is a sequence of 64-bit words and of streams (bytes,
 * zero-padded to 8).  Words are in the byte order of the machine that wrote the trace, streams are
 * never swapped.  The first word of a record is its header:
 *
 *     63                         16 15            4 3    0
 *    +-----------------------------+---------------+------+
 *    | depends on the type         | size in words | type |      the size counts the header itself,
 * so it is never 0
 *    +-----------------------------+---------------+------+
 *     63            40 39   36 35                  4 3    0
 *    +----------------+-------+---------------------+------+
 *    | depends        | kind  | size in words       |  15  |      large records: 32 bits of size
 *    +----------------+-------+---------------------+------+
 *
 * String ref (16 bits): 0 = empty; bit 15 clear = index into the provider's string table; bit 15
 * set = the low 15 bits are the length of a stream further on in the record.  Thread ref (8 bits):
 * 0 = process koid and thread koid follow as two words; else index into the provider's thread
 * table.  Inline parts follow the fixed words in the order in which their refs are listed below.
 * Layout notes "header | word | word" list the atoms in stored order; [refs] are the atoms that
 * only inline refs have.
 *
 * Source: the Fuchsia trace format text of 2021 and what later writers put on the wire (README.md
 * lists the differences). */
#ifndef TRACETTA_FXT_FORMAT_H
#define TRACETTA_FXT_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

/* A bit field of a word, both ends inclusive, as one constant: first bit, and width above it. */
#define FXT_FIELD(first, last) ((first) | ((last) - (first) + 1) << 8)

/* The value of a field of a word. */
static inline uint64_t fxt_get(uint64_t word, unsigned field)
{
    return word >> (field & 0xff) & (((uint64_t)1 << (field >> 8)) - 1);
}

/* A word with only this field set; or them together.  The value must fit. */
static inline uint64_t fxt_put(unsigned field, uint64_t value)
{
    return value << (field & 0xff);
}

/* The first record of a trace: metadata, size 1, trace info, magic.  On disk 10 00 04 46 78 54 16
 * 00, or that backwards. */
#define FXT_MAGIC UINT64_C(0x0016547846040010)

#define FXT_WORD 8u                    /* bytes */
#define FXT_SIZE_MAX 4095u             /* words of a record that is not large */
#define FXT_LARGE_SIZE_MAX 0xffffffffu /* words of a large record */
#define FXT_ARGS_MAX 15u
/* slots of the string table; slot 0 is the empty string and cannot be set */
#define FXT_STRINGS 32768u
#define FXT_THREADS 256u                  /* slots of the thread table; slot 0 cannot be set */
#define FXT_STRING_MAX 32000u             /* bytes a writer should keep to; 32767 can be said */
#define FXT_DEFAULT_FREQUENCY 1000000000u /* ticks per second before any initialization record */
#define FXT_BLOB_MAX 32767u /* bytes that a blob record can say; its record may hold fewer */

enum fxt_type {
    FXT_METADATA = 0,
    FXT_INITIALIZATION = 1,
    FXT_STRING = 2,
    FXT_THREAD = 3,
    FXT_EVENT = 4,
    FXT_BLOB = 5,
    FXT_USERSPACE_OBJECT = 6,
    FXT_KERNEL_OBJECT = 7,
    FXT_SCHEDULING = 8,
    FXT_LOG = 9,
    FXT_PROFILER = 10,
    FXT_LARGE = 15
};

/* Every record. */
enum { FXT_TYPE = FXT_FIELD(0, 3), FXT_SIZE = FXT_FIELD(4, 15), FXT_LARGE_SIZE = FXT_FIELD(4, 35) };

static inline unsigned fxt_type(uint64_t header)
{
    return (unsigned)header & 15;
}

/* Size of the record in words by its header alone; 0 is damage. */
static inline uint32_t fxt_size_words(uint64_t header)
{
    return (uint32_t)(fxt_type(header) == FXT_LARGE ? fxt_get(header, FXT_LARGE_SIZE)
                                                    : fxt_get(header, FXT_SIZE));
}

/* --- String refs --- */

#define FXT_REF_INLINE 0x8000u
#define FXT_REF_LENGTH 0x7fffu

/* Bytes of the stream a string ref asks for. */
static inline uint32_t fxt_ref_bytes(uint32_t ref)
{
    return ref & FXT_REF_INLINE ? ref & FXT_REF_LENGTH : 0;
}

/* Words that so many bytes take. */
static inline uint64_t fxt_words(uint64_t bytes)
{
    return bytes / FXT_WORD + (bytes % FXT_WORD != 0);
}

/* Words of the stream a string ref asks for; without a branch, for it is asked several times a
 * record. */
static inline uint32_t fxt_ref_words(uint32_t ref)
{
    uint32_t is_inline = 0u - (ref >> 15 & 1);
    return (((ref & FXT_REF_LENGTH) + 7) >> 3) & is_inline;
}

/* --- 0 metadata: written by the trace manager, provider 20..51 --- */

enum {
    FXT_METADATA_KIND = FXT_FIELD(16, 19),
    FXT_METADATA_PROVIDER = FXT_FIELD(20, 51),
    FXT_METADATA_NAME_BYTES = FXT_FIELD(52, 59), /* provider info: header | name stream */
    FXT_METADATA_EVENT = FXT_FIELD(52, 55),      /* provider event */
    FXT_METADATA_INFO = FXT_FIELD(20, 23),       /* trace info */
    FXT_METADATA_MAGIC = FXT_FIELD(24, 55)
};

enum fxt_metadata {
    FXT_PROVIDER_INFO = 1,    /* names a provider; what follows is its own */
    FXT_PROVIDER_SECTION = 2, /* what follows is this provider's, until the next info or section */
    FXT_PROVIDER_EVENT = 3,   /* event 0: a buffer filled up, records were likely dropped */
    FXT_TRACE_INFO = 4        /* info 0: magic */
};

/* --- 1 initialization: header | ticks per second [| base ticks | ns since the Unix epoch at base
 * ticks] --- The two last words are an extension of Jane Street's writers (magic-trace); most
 * writers end after the first. */

enum { FXT_INITIALIZATION_WORDS = 2, FXT_INITIALIZATION_WORDS_ANCHORED = 4 };

/* --- 2 string: header | stream --- */

enum {
    FXT_STRING_INDEX = FXT_FIELD(16, 30), /* 0 must be ignored */
    FXT_STRING_BYTES = FXT_FIELD(32, 46)
};

/* --- 3 thread: header | process koid | thread koid --- */

enum {
    FXT_THREAD_INDEX = FXT_FIELD(16, 23), /* 0 must be ignored */
    FXT_THREAD_WORDS = 3
};

/* --- 4 event: header | ticks [| process koid | thread koid] [| category] [| name] | arguments [|
 * last word] --- */

enum {
    FXT_EVENT_KIND = FXT_FIELD(16, 19),
    FXT_EVENT_ARGS = FXT_FIELD(20, 23),
    FXT_EVENT_THREAD = FXT_FIELD(24, 31),
    FXT_EVENT_CATEGORY = FXT_FIELD(32, 47),
    FXT_EVENT_NAME = FXT_FIELD(48, 63)
};

enum fxt_event {
    /* no last word; writers before 2022 put a scope there: 0 thread, 1 process, 2 global */
    FXT_INSTANT = 0,
    FXT_COUNTER = 1,           /* counter id */
    FXT_DURATION_BEGIN = 2,    /* no last word */
    FXT_DURATION_END = 3,      /* no last word */
    FXT_DURATION_COMPLETE = 4, /* ticks at the end */
    FXT_ASYNC_BEGIN = 5,       /* async id, also the two below */
    FXT_ASYNC_INSTANT = 6,
    FXT_ASYNC_END = 7,
    FXT_FLOW_BEGIN = 8, /* flow id, also the two below */
    FXT_FLOW_STEP = 9,
    FXT_FLOW_END = 10,
    FXT_EVENT_KINDS = 11
};

/* 1 where events of this kind (4 bits) end with a word of their own. */
static inline uint32_t fxt_event_last_words(unsigned kind)
{
    return 0x7f2u >> kind & 1;
}

/* --- 5 blob: header [| name] | payload stream --- */

enum {
    FXT_BLOB_NAME = FXT_FIELD(16, 31),
    FXT_BLOB_BYTES = FXT_FIELD(32, 46),
    FXT_BLOB_TYPE = FXT_FIELD(48, 55)
};

enum fxt_blob { FXT_BLOB_DATA = 1, FXT_BLOB_LAST_BRANCH = 2, FXT_BLOB_PERFETTO = 3 };

/* --- 6 userspace object: header | pointer [| process koid] [| name] | arguments ---
 * An inline thread ref means one word by the text; the C++ writers put a thread koid after it.  The
 * size tells which. */

enum {
    FXT_USERSPACE_THREAD = FXT_FIELD(16, 23),
    FXT_USERSPACE_NAME = FXT_FIELD(24, 39),
    FXT_USERSPACE_ARGS = FXT_FIELD(40, 43)
};

/* --- 7 kernel object: header | koid [| name] | arguments.  Threads: argument "process" (koid)
 * names their process --- */

enum {
    FXT_KERNEL_TYPE = FXT_FIELD(16, 23),
    FXT_KERNEL_NAME = FXT_FIELD(24, 39),
    FXT_KERNEL_ARGS = FXT_FIELD(40, 43)
};

enum fxt_kernel_object { FXT_KERNEL_PROCESS = 1, FXT_KERNEL_THREAD = 2 };

/* --- 8 scheduling, what it is in the top bits --- */

enum {
    FXT_SCHEDULING_KIND = FXT_FIELD(60, 63),
    /* Kind 0, the old context switch: header | ticks [| outgoing process | thread] [| incoming
       process | thread] */
    FXT_LEGACY_CPU = FXT_FIELD(16, 23),
    FXT_LEGACY_STATE = FXT_FIELD(24, 27),
    FXT_LEGACY_OUTGOING = FXT_FIELD(28, 35),
    FXT_LEGACY_INCOMING = FXT_FIELD(36, 43),
    FXT_LEGACY_OUTGOING_PRIORITY = FXT_FIELD(44, 51),
    FXT_LEGACY_INCOMING_PRIORITY = FXT_FIELD(52, 59),
    /* Kinds 1 to 3; a fiber switch has no cpu, only a context switch has a state. */
    FXT_SCHEDULING_ARGS = FXT_FIELD(16, 19),
    FXT_SCHEDULING_CPU = FXT_FIELD(20, 35),
    FXT_SCHEDULING_STATE = FXT_FIELD(36, 39)
};

enum fxt_scheduling {
    FXT_LEGACY_SWITCH = 0,
    /* header | ticks | outgoing thread koid | incoming thread koid | arguments */
    FXT_CONTEXT_SWITCH = 1,
    FXT_THREAD_WAKEUP = 2, /* header | ticks | waking thread koid | arguments */
    FXT_FIBER_SWITCH = 3 /* header | ticks | outgoing fiber koid | incoming fiber koid | arguments;
                            in no official text */
};

/* --- 9 log: header | ticks [| process koid | thread koid] | message stream --- */

enum { FXT_LOG_BYTES = FXT_FIELD(16, 30), FXT_LOG_THREAD = FXT_FIELD(32, 39) };

/* --- 10 profiler: header | ticks [| process koid | thread koid] | ...
 * An inline thread is two words by text and C++ writer, one (the process) by the Rust reader: the
 * size tells which. --- */

enum {
    FXT_PROFILER_KIND = FXT_FIELD(16, 19),
    FXT_PROFILER_THREAD = FXT_FIELD(20, 27),
    FXT_MODULE_ID = FXT_FIELD(28, 43), /* module and mapping */
    FXT_MODULE_NAME_BYTES = FXT_FIELD(44, 51),
    FXT_MODULE_BUILD_ID_BYTES = FXT_FIELD(52, 59),
    FXT_MAPPING_FLAGS = FXT_FIELD(44, 46), /* 1 read, 2 write, 4 execute */
    FXT_BACKTRACE_FRAMES = FXT_FIELD(28, 35)
};

enum fxt_profiler {
    FXT_MODULE = 0,   /* ... name stream | build id stream */
    FXT_MAPPING = 1,  /* ... start address | size | address within the module */
    FXT_BACKTRACE = 2 /* ... one address a frame, innermost first */
};

/* --- 15 large blob: header | refs word [| category] [| name] ... ---
 * Format 0: ... | ticks [| process koid | thread koid] | arguments | payload bytes | payload stream
 * Format 1: ... | payload bytes | payload stream; its refs word has category and name only */

enum {
    FXT_LARGE_KIND = FXT_FIELD(36, 39), /* 0 blob, no other is known */
    FXT_LARGE_FORMAT = FXT_FIELD(40, 43),
    FXT_LARGE_CATEGORY = FXT_FIELD(0, 15), /* the refs word from here */
    FXT_LARGE_NAME = FXT_FIELD(16, 31),
    FXT_LARGE_ARGS = FXT_FIELD(32, 35),
    FXT_LARGE_THREAD = FXT_FIELD(36, 43)
};

enum fxt_large { FXT_LARGE_BLOB = 0 };
enum fxt_large_format { FXT_LARGE_WITH_METADATA = 0, FXT_LARGE_BARE = 1 };

/* --- Arguments: header [| name] [| value] --- */

enum {
    FXT_ARG_TYPE = FXT_FIELD(0, 3),
    FXT_ARG_SIZE = FXT_FIELD(4, 15), /* words, header included */
    FXT_ARG_NAME = FXT_FIELD(16, 31),
    FXT_ARG_VALUE = FXT_FIELD(32, 63), /* int32, uint32 and the size of a blob in bytes */
    FXT_ARG_BOOL = FXT_FIELD(32, 32),
    FXT_ARG_STRING = FXT_FIELD(32, 47)
};

enum fxt_arg {
    FXT_ARG_NULL = 0,
    FXT_ARG_INT32 = 1,
    FXT_ARG_UINT32 = 2,
    FXT_ARG_INT64 = 3,   /* one word */
    FXT_ARG_UINT64 = 4,  /* one word */
    FXT_ARG_DOUBLE = 5,  /* one word */
    FXT_ARG_TEXT = 6,    /* a string ref, and its stream when inline */
    FXT_ARG_POINTER = 7, /* one word */
    FXT_ARG_KOID = 8,    /* one word */
    FXT_ARG_BOOLEAN = 9,
    FXT_ARG_BLOB = 10, /* a stream */
    FXT_ARG_TYPES = 11
};

/* 1 where arguments of this type (4 bits) have a value word. */
static inline uint32_t fxt_arg_value_words(unsigned type)
{
    return 0x1b8u >> type & 1;
}

#endif
