/* Constants of the Fuchsia trace format (FXT): record types, bit positions and size rules. No
 * function here reads or writes a file.
 *
 * A trace is a sequence of records. A record is a sequence of 64-bit words and of streams (bytes,
 * zero-padded to a multiple of 8). Words are in the byte order of the machine that wrote the
 * trace; streams are never swapped. The first word of a record is its header:
 *
 *     63                         16 15            4 3    0
 *    +-----------------------------+---------------+------+
 *    | depends on the type         | size in words | type |   size >= 1: it includes the header
 *    +-----------------------------+---------------+------+
 *     63            40 39   36 35                  4 3    0
 *    +----------------+-------+---------------------+------+
 *    | depends        | kind  | size in words       |  15  |   large records: 32 bits of size
 *    +----------------+-------+---------------------+------+
 *
 * String ref (16 bits): 0 is the empty string. With bit 15 clear it is an index into the provider's
 * string table. With bit 15 set, the low 15 bits are the length of a stream later in the record.
 * Thread ref (8 bits): 0 means that a process koid and a thread koid follow as two words. Other
 * values are indices into the provider's thread table. Inline strings and koids follow the fixed
 * words, in the order in which their refs are listed below.
 *
 * Layout comments such as "header | word | word" list the contents of a record in stored order.
 * Contents in [brackets] are present only if their ref is inline.
 *
 * Source: the Fuchsia trace format specification of 2021, and records that later writers emit
 * (README.md lists the differences). */
#ifndef TRACETTA_FXT_FORMAT_H
#define TRACETTA_FXT_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

/* Describes bits `first` to `last` (inclusive) of a word by one number: its bits 0 to 7 are the
 * first bit, the bits above are the width. */
#define FXT_FIELD(first, last) ((first) | ((last) - (first) + 1) << 8)

/* Returns the value of a bit field made by FXT_FIELD. */
static inline uint64_t fxt_get_bits(uint64_t word, unsigned field)
{
    return word >> (field & 0xff) & (((uint64_t)1 << (field >> 8)) - 1);
}

/* Returns a word in which only this bit field is set, to be combined with others by OR. `value`
 * must fit in the field. */
static inline uint64_t fxt_set_bits(unsigned field, uint64_t value)
{
    return value << (field & 0xff);
}

/* Header of the first record of a trace: metadata, size 1, trace info, magic. In the file 10 00 04
 * 46 78 54 16 00; reversed if the writer was big-endian. */
#define FXT_MAGIC UINT64_C(0x0016547846040010)

#define FXT_WORD_BYTES 8u              /* bytes per word */
#define FXT_SIZE_MAX 4095u             /* words; maximum size of a record that is not large */
#define FXT_LARGE_SIZE_MAX 0xffffffffu /* words; maximum size of a large record */
#define FXT_ARGS_MAX 15u
/* number of slots in the string table; slot 0 is the empty string and cannot be redefined */
#define FXT_STRINGS 32768u
/* number of slots in the thread table; ref 0 means that the koids are inline */
#define FXT_THREADS 256u
/* bytes; maximum length of strings that writers may emit, although the 15-bit length field allows
 * 32767 */
#define FXT_STRING_MAX 32000u

/* Our convention for stack samples with a name or arguments: an instant of this category, with the
 * addresses as text in an argument callstack_kernel or callstack_user. */
#define FXT_SAMPLE_CATEGORY "sample"
#define FXT_STACK_PREFIX "callstack_"
/* ticks per second until an initialization record sets another frequency */
#define FXT_DEFAULT_FREQUENCY 1000000000u
/* bytes; maximum payload of a small blob, since its size field has 15 bits */
#define FXT_BLOB_MAX 32767u

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

/* --- Bit fields of every record header --- */
enum { FXT_TYPE = FXT_FIELD(0, 3), FXT_SIZE = FXT_FIELD(4, 15), FXT_LARGE_SIZE = FXT_FIELD(4, 35) };

static inline unsigned fxt_get_record_type(uint64_t header)
{
    return (unsigned)header & 15;
}

/* Returns the size in words that the header declares. A size of 0 means that the header is
 * damaged. */
static inline uint32_t fxt_get_record_words(uint64_t header)
{
    return (uint32_t)(fxt_get_record_type(header) == FXT_LARGE
                          ? fxt_get_bits(header, FXT_LARGE_SIZE)
                          : fxt_get_bits(header, FXT_SIZE));
}

/* --- References to strings --- */

#define FXT_REF_INLINE 0x8000u
#define FXT_REF_LENGTH 0x7fffu

/* Returns the length in bytes of an inline string; 0 if the ref is an index. */
static inline uint32_t fxt_get_inline_bytes(uint32_t ref)
{
    return ref & FXT_REF_INLINE ? ref & FXT_REF_LENGTH : 0;
}

/* Returns the number of words that `bytes` bytes occupy, rounded up. */
static inline uint64_t fxt_words_for_bytes(uint64_t bytes)
{
    return bytes / FXT_WORD_BYTES + (bytes % FXT_WORD_BYTES != 0);
}

/* Returns the number of words of an inline string; 0 if the ref is an index. Without a branch,
 * because the event reader calls it several times per record. */
static inline uint32_t fxt_get_inline_words(uint32_t ref)
{
    uint32_t is_inline = 0u - (ref >> 15 & 1);
    return (((ref & FXT_REF_LENGTH) + 7) >> 3) & is_inline;
}

/* --- 0 metadata: written by the trace manager; bits 20..51 are the provider id --- */

enum {
    FXT_METADATA_KIND = FXT_FIELD(16, 19),
    FXT_METADATA_PROVIDER = FXT_FIELD(20, 51),
    /* provider info: length of the name; record: header | name stream */
    FXT_METADATA_NAME_BYTES = FXT_FIELD(52, 59),
    FXT_METADATA_EVENT = FXT_FIELD(52, 55), /* provider event: number of the event */
    FXT_METADATA_INFO = FXT_FIELD(20, 23),  /* type of a trace info record */
    FXT_METADATA_MAGIC = FXT_FIELD(24, 55)
};

enum fxt_metadata {
    FXT_PROVIDER_INFO = 1,    /* names a provider and makes it current */
    FXT_PROVIDER_SECTION = 2, /* makes a provider current until the next provider info or section */
    FXT_PROVIDER_EVENT = 3,   /* event 0: a buffer filled up, so records were probably dropped */
    FXT_TRACE_INFO = 4        /* trace info of type 0 is the magic number */
};

/* --- 1 initialization: header | ticks per second [| base ticks | ns since the Unix epoch at base
 * ticks] --- The last two words (an anchor) are an extension of Jane Street's writers
 * (magic-trace). Most writers end after the first. */

enum { FXT_INITIALIZATION_WORDS = 2, FXT_INITIALIZATION_WORDS_ANCHORED = 4 };

/* --- 2 string: header | stream --- */

enum {
    /* slot to define; definitions of string 0 must be ignored */
    FXT_STRING_INDEX = FXT_FIELD(16, 30),
    FXT_STRING_BYTES = FXT_FIELD(32, 46)
};

/* --- 3 thread: header | process koid | thread koid --- */

enum {
    /* slot to define; definitions of thread 0 must be ignored */
    FXT_THREAD_INDEX = FXT_FIELD(16, 23),
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
    /* an instant has no last word; writers before 2022 appended a scope: 0 thread, 1 process, 2
     * global */
    FXT_INSTANT = 0,
    FXT_COUNTER = 1,           /* last word: counter id */
    FXT_DURATION_BEGIN = 2,    /* has no last word */
    FXT_DURATION_END = 3,      /* has no last word */
    FXT_DURATION_COMPLETE = 4, /* last word: ticks at the end of the span */
    FXT_ASYNC_BEGIN = 5,       /* last word: async id; also for kinds 6 and 7 */
    FXT_ASYNC_INSTANT = 6,
    FXT_ASYNC_END = 7,
    FXT_FLOW_BEGIN = 8, /* last word: flow id; also for kinds 9 and 10 */
    FXT_FLOW_STEP = 9,
    FXT_FLOW_END = 10,
    FXT_EVENT_KINDS = 11
};

/* Returns 1 if event records of this kind (0 to 15) have a last word, else 0. Bit n of the
 * constant is for kind n. */
static inline uint32_t fxt_count_event_last_words(unsigned kind)
{
    return 0x7f2u >> kind & 1;
}

/* --- 5 blob: header [| name] | payload stream --- */

enum {
    FXT_BLOB_NAME = FXT_FIELD(16, 31),
    FXT_BLOB_BYTES = FXT_FIELD(32, 46),
    FXT_BLOB_TYPE = FXT_FIELD(48, 55)
};

/* Blobs with these inline names are the index of an archive of "tracetta record" (fxt_index.c). */
#define FXT_INDEX_NAME_BYTES 14u
#define FXT_INDEX_NAME_START UINT64_C(0x6174746563617274) /* "tracetta" */
#define FXT_INDEX_ENTRIES UINT64_C(0x00007865646e692e)    /* ".index" */
#define FXT_INDEX_LOCATOR UINT64_C(0x000065726568772e)    /* ".where" */

enum fxt_blob { FXT_BLOB_DATA = 1, FXT_BLOB_LAST_BRANCH = 2, FXT_BLOB_PERFETTO = 3 };

/* --- 6 userspace object: header | pointer [| process koid] [| name] | arguments --- By the
 * specification an inline thread ref is one word. The C++ writers append a thread koid. The size of
 * the record shows which layout was used. */

enum {
    FXT_USERSPACE_THREAD = FXT_FIELD(16, 23),
    FXT_USERSPACE_NAME = FXT_FIELD(24, 39),
    FXT_USERSPACE_ARGS = FXT_FIELD(40, 43)
};

/* --- 7 kernel object: header | koid [| name] | arguments --- For a thread, the argument "process"
 * is the koid of its process. */

enum {
    FXT_KERNEL_TYPE = FXT_FIELD(16, 23),
    FXT_KERNEL_NAME = FXT_FIELD(24, 39),
    FXT_KERNEL_ARGS = FXT_FIELD(40, 43)
};

enum fxt_kernel_object { FXT_KERNEL_PROCESS = 1, FXT_KERNEL_THREAD = 2 };

/* --- 8 scheduling: the top bits are the kind --- */

enum {
    FXT_SCHEDULING_KIND = FXT_FIELD(60, 63),
    /* kind 0, the legacy context switch: header | ticks [| outgoing process | thread] [| incoming
     * process | thread] */
    FXT_LEGACY_CPU = FXT_FIELD(16, 23),
    FXT_LEGACY_STATE = FXT_FIELD(24, 27),
    FXT_LEGACY_OUTGOING = FXT_FIELD(28, 35),
    FXT_LEGACY_INCOMING = FXT_FIELD(36, 43),
    FXT_LEGACY_OUTGOING_PRIORITY = FXT_FIELD(44, 51),
    FXT_LEGACY_INCOMING_PRIORITY = FXT_FIELD(52, 59),
    /* kinds 1 to 3; a fiber switch has no CPU field, and only a context switch has a state field */
    FXT_SCHEDULING_ARGS = FXT_FIELD(16, 19),
    FXT_SCHEDULING_CPU = FXT_FIELD(20, 35),
    FXT_SCHEDULING_STATE = FXT_FIELD(36, 39)
};

enum fxt_scheduling {
    FXT_LEGACY_SWITCH = 0,
    /* record: header | ticks | outgoing thread koid | incoming thread koid | arguments */
    FXT_CONTEXT_SWITCH = 1,
    FXT_THREAD_WAKEUP = 2, /* record: header | ticks | waking thread koid | arguments */
    /* record: header | ticks | outgoing fiber koid | incoming fiber koid | arguments; not in the
     * specification */
    FXT_FIBER_SWITCH = 3
};

/* --- 9 log: header | ticks [| process koid | thread koid] | message stream --- */

enum { FXT_LOG_BYTES = FXT_FIELD(16, 30), FXT_LOG_THREAD = FXT_FIELD(32, 39) };

/* --- 10 profiler: header | ticks [| process koid | thread koid] | ... --- An inline thread is two
 * words by the specification and the C++ writer, but one (the process) in the Rust reader. The size
 * of the record shows which layout was used. */

enum {
    FXT_PROFILER_KIND = FXT_FIELD(16, 19),
    FXT_PROFILER_THREAD = FXT_FIELD(20, 27),
    /* module and mapping records: id of the module */
    FXT_MODULE_ID = FXT_FIELD(28, 43),
    FXT_MODULE_NAME_BYTES = FXT_FIELD(44, 51),
    FXT_MODULE_BUILD_ID_BYTES = FXT_FIELD(52, 59),
    /* access to the mapped memory: bit 0 read, bit 1 write, bit 2 execute */
    FXT_MAPPING_FLAGS = FXT_FIELD(44, 46),
    FXT_BACKTRACE_FRAMES = FXT_FIELD(28, 35)
};

enum fxt_profiler {
    FXT_MODULE = 0, /* then follow: name stream | build id stream */
    /* then follow: start address | size in bytes | address within the module */
    FXT_MAPPING = 1,
    FXT_BACKTRACE = 2 /* then follows one address per frame, innermost first */
};

/* --- 15 large blob: header | refs word [| category] [| name] ... --- Format 0: ... | ticks [|
 * process koid | thread koid] | arguments | payload bytes | payload stream Format 1: ... | payload
 * bytes | payload stream; its refs word holds only category and name */

enum {
    /* kind of the record: 0 is a blob; the specification defines no other */
    FXT_LARGE_KIND = FXT_FIELD(36, 39),
    FXT_LARGE_FORMAT = FXT_FIELD(40, 43),
    /* these four fields are in the second word, the refs word */
    FXT_LARGE_CATEGORY = FXT_FIELD(0, 15),
    FXT_LARGE_NAME = FXT_FIELD(16, 31),
    FXT_LARGE_ARGS = FXT_FIELD(32, 35),
    FXT_LARGE_THREAD = FXT_FIELD(36, 43)
};

enum fxt_large { FXT_LARGE_BLOB = 0 };
enum fxt_large_format { FXT_LARGE_WITH_METADATA = 0, FXT_LARGE_BARE = 1 };

/* --- Arguments: header [| name] [| value] --- */

enum {
    FXT_ARG_TYPE = FXT_FIELD(0, 3),
    /* size of the argument in words, including its header */
    FXT_ARG_SIZE = FXT_FIELD(4, 15),
    FXT_ARG_NAME = FXT_FIELD(16, 31),
    /* the number of an int32 or uint32, or the size of a blob in bytes */
    FXT_ARG_VALUE = FXT_FIELD(32, 63),
    FXT_ARG_BOOL = FXT_FIELD(32, 32),
    FXT_ARG_STRING = FXT_FIELD(32, 47)
};

enum fxt_arg {
    FXT_ARG_NULL = 0,
    FXT_ARG_INT32 = 1,
    FXT_ARG_UINT32 = 2,
    FXT_ARG_INT64 = 3,   /* value in the next word */
    FXT_ARG_UINT64 = 4,  /* value in the next word */
    FXT_ARG_DOUBLE = 5,  /* value in the next word */
    FXT_ARG_TEXT = 6,    /* the value is a string ref; an inline string follows */
    FXT_ARG_POINTER = 7, /* value in the next word */
    FXT_ARG_KOID = 8,    /* value in the next word */
    FXT_ARG_BOOLEAN = 9,
    FXT_ARG_BLOB = 10, /* value is a stream */
    FXT_ARG_TYPES = 11
};

/* Returns 1 if arguments of this type (0 to 15) have a separate word for their value, else 0. Bit
 * n of the constant is for type n. */
static inline uint32_t fxt_count_argument_value_words(unsigned type)
{
    return 0x1b8u >> type & 1;
}

#endif
