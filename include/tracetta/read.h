/* Reading traces: open, read batches, combine readers, ask what was found.
 *
 * Readers that wrap others (sort, filter, merge, pair) own what they wrap.  A batch is borrowed
 * until the next ttr_read on the same reader or its close.  Damage in the input is not a failure:
 * the reader notes it, skips by the rule of the format, and goes on; TTR_READ_STRICT turns the
 * first damage into an error.  Thread rule as in event.h: a reader for each thread is opened in a
 * context of that thread's own. */
#ifndef TRACETTA_READ_H
#define TRACETTA_READ_H

#include "event.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ttr_reader ttr_reader;

#define TTR_READ_STRICT 1u  /* the first damage is an error */
#define TTR_READ_NO_MMAP 2u /* never map files: for files that may shrink while they are read */
#define TTR_READ_DEFINITIONS                                                                      \
    4u /* also give TTR_KIND_DEFINITION events, so that a same-format writer can copy every byte; \
          with a time_offset there are none */
#define TTR_READ_UNORDERED                                                                      \
    8u /* take no trace at its word that it is in order, which damage may have broken: ttr_sort \
          orders it all */
#define TTR_READ_SYMBOLS \
    16u /* also keep what the trace says of functions and their addresses, for ttr_symbol_get */
#define TTR_READ_ENCRYPTED                                                                        \
    32u /* with TTR_READ_DEFINITIONS: also of what cannot be opened (enciphered, no key), so that \
           it is copied unread */

typedef struct ttr_read_options {
    size_t size;      /* sizeof(ttr_read_options) */
    const char *from; /* format name; NULL: the formats bid by content */
    uint32_t flags;   /* TTR_READ_*; others are TTR_E_MISUSE */
    uint64_t
        max_record; /* FXT records, Heph packets and CTF events of more bytes are passed over, as
                       damage; less than 64 KiB counts as that, 0 = what the format allows */
    int64_t
        time_offset; /* ns added to every time; what does not fit is clamped (TTR_EVENT_CLAMPED) */
    const char *const
        *format_options; /* "key=value", or "FORMAT.key=value", which other formats pass over; NULL
                            at the end; ttr_format_option lists them */
    const char *copied_to; /* format name: TTR_READ_DEFINITIONS is for traces of this format, others
                              are read without it; NULL: for all */
    uint32_t
        readers; /* how many read the trace at once, as for ttr_writer_parallel: the windows of
                    hundreds of files are smaller, so that all together take what one took; 0 = 1 */
} ttr_read_options;

/* Opens a trace: any path, or "-"; NULL options are fine.  NULL with `error` filled when it is no
 * trace, unreadable, or options are wrong.  A trace of many files is opened by its folder, by the
 * file that describes it (all of it then), or by another of its files (only that; an option may
 * name what describes it, where nothing beside it does).  Any other directory gives all traces
 * below it, merged by time, down to 8 levels; files that are no trace are passed over and counted
 * by the note "directory.passed-over" of the first trace.  What cannot be read among them is damage
 * ("trace.unreadable") of a report in its place, with TTR_READ_STRICT or beside nothing else a
 * failure. */
TTR_API ttr_reader *ttr_open(ttr *t, const char *path, const ttr_read_options *options,
                             ttr_error *error);

/* Opens bytes in memory, borrowed until close; `name` stands for the path. */
TTR_API ttr_reader *ttr_open_memory(ttr *t, const void *bytes, size_t n, const char *name,
                                    const ttr_read_options *options, ttr_error *error);

/* A file in memory; its name may hold slashes ("index/a.idx"). */
typedef struct ttr_file {
    const char *name;
    const void *bytes;
    size_t n;
} ttr_file;

/* Opens one trace of many files that lie in memory, borrowed until close (the list itself is
 * copied); `name` stands for the path of their folder, in which the anchor lies (CTF: the file
 * "metadata"). */
TTR_API ttr_reader *ttr_open_files(ttr *t, const char *name, const ttr_file *files, size_t n,
                                   const ttr_read_options *options, ttr_error *error);

/* Pulls up to n bytes into `to`: the count, 0 at the end, -1 with errno set (EIO where it is 0).
 * May wait for them.  For a compressed stream it is called on a thread of the reader's own, one
 * call at a time; ttr_close waits for a call under way. */
typedef int64_t (*ttr_pull)(void *ctx, void *to, size_t n);

/* Opens a stream of the caller's. */
TTR_API ttr_reader *ttr_open_pull(ttr *t, ttr_pull pull, void *ctx, const char *name,
                                  const ttr_read_options *options, ttr_error *error);

/* Gives the next batch: TTR_OK (batch->n >= 1), TTR_END, or an error, which sticks; TTR_AGAIN does
 * not. */
TTR_API TTR_MUST ttr_status ttr_read(ttr_reader *reader, ttr_batch *batch, ttr_error *error);

/* Says that it does not matter in which order events of different streams come, for who only counts
 * or checks.  Where the trace keeps streams apart they are then read one after another, without
 * what it costs to order their events, and with the memory of one.  Before the first ttr_read; true
 * where that will be so, else nothing changes. */
TTR_API bool ttr_reader_allow_stream_order(ttr_reader *reader);

/* Closes a reader and those it wraps.  NULL is fine. */
TTR_API void ttr_close(ttr_reader *reader);

/* How events of a reader are ordered. */
typedef enum ttr_order {
    TTR_ORDER_NONE = 0,   /* any */
    TTR_ORDER_THREAD = 1, /* events of one thread do not go back in time */
    TTR_ORDER_TIME = 2    /* no event goes back in time */
} ttr_order;

/* --- Wrapping readers.  Each takes `in` over, also when it fails (then NULL and `error`).  NULL
 * for `in` gives NULL and leaves `error` as it is, so that calls can be nested around ttr_open. ---
 */

/* Orders events exactly by time, what is at the same time in the order in which a merge gives its
 * inputs, then by position; memory is bounded, the rest goes to an unlinked temporary file. */
TTR_API ttr_reader *ttr_sort(ttr_reader *in, ttr_error *error);

/* Merges any number of readers of one context on one time line: by time, what is at the same time
 * in the order of `in`, then by position.  Inputs that are not in order are sorted first. */
TTR_API ttr_reader *ttr_merge(ttr *t, ttr_reader **in, size_t n, ttr_error *error);

/* Conditions that all must hold; an empty one always holds.  Lists end with NULL; patterns are
 * globs ("net*", "[ab]?"). */
typedef struct ttr_filter {
    size_t size;            /* sizeof(ttr_filter) */
    int64_t from_ns, to_ns; /* from <= time < to; spans that reach into the range count.  INT64_MIN,
                               INT64_MAX: open */
    const char *const *names;      /* any of */
    const char *const *not_names;  /* none of */
    const char *const *categories; /* any of, per comma-separated part */
    const char *const *providers;
    const char *const *threads;   /* tid as number, or glob over the thread name */
    const char *const *processes; /* pid as number, or glob over the process name */
    const char *const *
        cpus; /* lists of numbers and ranges: "0,4-7"; events of no known CPU are of none of them */
    uint32_t kinds;    /* bit 1 << kind; 0 = all */
    uint8_t min_level; /* events without a level pass */
    bool invert;       /* pass what does not match */
} ttr_filter;

/* Gives a filter that lets everything pass. */
TTR_API void ttr_filter_init(ttr_filter *filter);

/* Lets through what matches; definitions, objects and gaps always pass when only conditions of
 * time, thread, process and CPU are given. The strings are copied.  A format that can seek in time
 * is told the range before anything was read, and what is outside of it, also objects and gaps, is
 * then not even looked at. */
TTR_API ttr_reader *ttr_filter_new(ttr_reader *in, const ttr_filter *filter, ttr_error *error);

/* Turns begin/end pairs (and async pairs) into spans, given at their end; everything else passes.
 * Unmatched begins come at the end of input with the time left until then and TTR_EVENT_PARTIAL. */
TTR_API ttr_reader *ttr_pair_spans(ttr_reader *in, ttr_error *error);

/* A binary of a traced program, as the trace tells of it.  Borrowed during the call. */
typedef struct ttr_binary {
    size_t size;         /* sizeof(ttr_binary) */
    uint64_t number;     /* the same where the same is told of it, from 1 */
    ttr_text path;       /* where it was; followed by a zero byte */
    ttr_text build_id;   /* bytes, "" = not told */
    ttr_text debug_link; /* name of the file with its debug information, "" = not told; followed by
                            a zero byte */
    uint32_t debug_link_crc; /* CRC 32 of that file */
    bool is_pic;             /* addresses in it count from its begin, else they are absolute */
    bool has_offsets; /* what is asked for is a place in the file, not where that would be loaded */
} ttr_binary;

/* What is at an address; "" = not known. */
typedef struct ttr_location {
    size_t size;       /* sizeof(ttr_location) */
    ttr_text binary;   /* its name, and where in it ("libc.so.6+0x2a1") */
    ttr_text function; /* "main+0x14" */
    ttr_text source;   /* "main.c:17" */
} ttr_location;

/* Finds what is at an address of a binary.  The texts are copied at once. */
typedef void (*ttr_symbolizer)(void *ctx, const ttr_binary *binary, uint64_t address,
                               ttr_location *place);

typedef struct ttr_debug_options {
    size_t size; /* sizeof(ttr_debug_options) */
    ttr_symbolizer locate;
    void *ctx;             /* given to locate */
    bool like_babeltrace2; /* what was answered holds while the binary is loaded, also where more
                            * becomes known of it then; and nothing more becomes known of what was
                            * loaded after the state dump */
} ttr_debug_options;

/* Adds to events that LTTng-UST recorded with the contexts ip and vpid where they were: a struct
 * "debug_info" of the texts "bin", "func" and "src", in the common context.  Which binaries were
 * loaded is learned from the tracer's own events (lttng_ust_statedump, lttng_ust_lib,
 * lttng_ust_dl), so `in` should be in order of time; what is at an address is asked once, while the
 * answer is kept.  Events are not raw then, and definitions are left out.  At most one such reader
 * may stand in a chain. */
TTR_API ttr_reader *ttr_debug_info(ttr_reader *in, const ttr_debug_options *options,
                                   ttr_error *error);

/* --- What was found --- */

/* How bad a note is. */
typedef enum ttr_severity {
    TTR_SEVERITY_REMARK =
        0, /* worth knowing, nothing wrong (padding, a second writer on a stream) */
    TTR_SEVERITY_ODD =
        1, /* decoded, but the record breaks a rule (unknown string index, end before begin) */
    TTR_SEVERITY_DAMAGE = 2 /* bytes that could not be decoded */
} ttr_severity;

/* One kind of finding, counted.  Borrowed from the reader until its next call. */
typedef struct ttr_diagnostic {
    const char *code; /* stable, "fxt.bad-size"; static */
    const char
        *text; /* one sentence about the first of them that is so bad, with what was expected */
    uint64_t count, bytes, first_offset; /* the offset is that of the one the text is about,
                                            UINT64_MAX where that has none in the input */
    ttr_severity severity;               /* of the worst of them */
} ttr_diagnostic;

/* A byte range that could not be decoded. */
typedef struct ttr_region {
    uint64_t offset, bytes; /* offset: UINT64_MAX of what has no place in the input */
    const char *code;       /* of its note */
} ttr_region;

/* A clock and how it was placed on the common time line. */
typedef struct ttr_clock {
    const char *name;      /* "ticks" or the format's name of it */
    ttr_text provider;     /* whose clock, empty = the whole trace */
    uint64_t frequency;    /* ticks per second */
    bool is_anchored;      /* times are Unix times */
    uint64_t anchor_ticks; /* this tick ... */
    int64_t anchor_ns;     /* ... is this Unix time */
    int64_t offset_ns;     /* added on request */
    /* As the trace itself describes it, where it does; else zero. */
    bool is_described;
    bool has_uuid, has_precision;
    uint8_t uuid[16];
    uint64_t precision;   /* ticks */
    int64_t offset_s;     /* its zero is so many seconds, */
    int64_t offset_ticks; /* and ticks, behind its origin */
    ttr_text description;
    bool has_accuracy;
    uint64_t accuracy; /* ticks */
    ttr_text ns, uid;  /* namespace, and what it is told by there; "" = none */
    ttr_text origin, origin_ns,
        origin_uid; /* what is known of its origin where that is not the Unix epoch */
} ttr_clock;

typedef struct ttr_report {
    size_t size;             /* sizeof(ttr_report), set by the caller */
    const char *format;      /* "fxt" */
    const char *version;     /* as the input says, or "" */
    const char *compression; /* "zstd", or "" */
    ttr_text path;
    uint64_t bytes;          /* read so far, uncompressed */
    uint64_t disk_size;      /* of the input file, 0 = unknown */
    uint64_t disk_used;      /* of it, for progress */
    uint64_t events;         /* given so far, without definitions and gaps */
    uint64_t lost;           /* events the trace itself says are missing */
    uint64_t lost_packets;   /* packets that are missing so, with all their events */
    uint64_t gaps;           /* places where events are missing, counted or not */
    uint64_t packets;        /* read so far, where the format has such */
    uint64_t duplicates;     /* packets that were left out, since another file has them too */
    uint64_t damage_regions; /* exact, also where `regions` is cut */
    uint64_t damage_bytes;
    const ttr_diagnostic *notes;
    size_t notes_n;
    const ttr_region *regions;
    size_t regions_n; /* the first 1,000 */
    const ttr_clock *clocks;
    size_t clocks_n;
    ttr_order order;
    uint16_t source;           /* the input, for ttr_source_attribute */
    uint16_t trace;            /* the first input of the same trace, itself where it is alone */
    ttr_text trace_path;       /* of the trace: its folder, or the path */
    bool shares_file;          /* an input before it reads the same file: the bytes count there */
    bool has_times;            /* it gave events, which come in order of time: */
    int64_t first_ns, last_ns; /* the first and the last so far */
} ttr_report;

/* Fills a report of what the reader saw so far; all pointers are borrowed until the next call on
 * the reader.  For a wrapping reader with one input it is the report of that input; a merge has as
 * many as inputs: index them from 0. False past the end. */
TTR_API bool ttr_reader_report(ttr_reader *reader, size_t index, ttr_report *report);

/* --- What a trace says of its events beforehand --- */

/* A class of events as the trace describes it.  Borrowed from the reader until it is closed. */
typedef struct ttr_event_class {
    size_t size;          /* sizeof(ttr_event_class), set by the caller */
    ttr_text name;        /* "" = none */
    uint64_t id;          /* among the classes of its stream class */
    uint64_t stream;      /* id of that */
    ttr_text stream_name; /* "" = none */
    ttr_text emf_uri;     /* "" = none */
    ttr_text
        message; /* template of a message for people, as the trace has it ("sent {n}"); "" = none */
    ttr_text description; /* "" = none */
    int64_t log_level;    /* as the format counts, where has_log_level */
    bool has_log_level;
    uint8_t level;    /* ttr_level */
    uint64_t events;  /* of this class the input gave so far */
    uint32_t version; /* of the class, where has_version */
    bool has_version;
    const void *ctx[6]; /* the library's */
} ttr_event_class;

/* Gives the i-th class of events that the trace described beforehand which the input of the
 * index-th report belongs to.  False past the end, and where the format describes nothing.  All
 * inputs of a trace give the same classes, in the same order; `events` is each one's. */
TTR_API bool ttr_reader_class(ttr_reader *reader, size_t index, size_t i, ttr_event_class *about);

/* Whether a declared field is a choice. */
typedef enum ttr_choice {
    TTR_CHOICE_NONE = 0,
    TTR_CHOICE_OPTIONAL = 1, /* what follows, one level deeper, is there or not */
    TTR_CHOICE_VARIANT = 2   /* one of those that follow, one level deeper, is there */
} ttr_choice;

/* A field as a class declares it; what is in a struct, array, optional or variant follows it one
 * level deeper. */
typedef struct ttr_field_declaration {
    ttr_text name; /* "" = an element */
    uint16_t depth;
    uint8_t group;  /* ttr_group */
    uint8_t type;   /* ttr_type of its values; of a choice TTR_TYPE_NULL */
    uint8_t choice; /* ttr_choice */
    uint8_t hint;   /* ttr_display */
    uint8_t base;   /* the trace wants the number shown in base 2, 8, 10 or 16; 0 = no wish */
    bool is_big_endian;
    bool is_technical; /* for readers (sizes, times, ids): not among the fields that events give */
    bool has_count;    /* ARRAY, TEXT, BYTES: all have `count` elements or bytes */
    bool has_inline_length; /* their number stands right before them */
    uint32_t bits;          /* width of a number, or of a character; 0 = it varies */
    uint32_t align;         /* bits */
    uint64_t count;
    const ttr_text *reference; /* where the number of elements, or what makes the choice, is found:
                                  names from `reference_group` down, until the next */
    uint32_t reference_n;      /* 0 = nowhere */
    uint8_t reference_group;   /* ttr_group */
} ttr_field_declaration;

/* A walk over the declared fields of a class; opaque, on the caller's stack. */
typedef struct ttr_field_declarations {
    const void *ctx[6];
    uint64_t state[128];
} ttr_field_declarations;

/* Most fields of one class that a walk gives: a few lines of a trace may declare more than anybody
 * could read. */
#define TTR_FIELD_DECLARATIONS_MAX 65536u

/* Begins a walk over the fields of a class, group by group: TTR_GROUP_PACKET, HEADER, COMMON,
 * CONTEXT, PAYLOAD. */
TTR_API void ttr_field_declarations_begin(const ttr_event_class *about,
                                          ttr_field_declarations *walk);

/* Gives the next; false at the end. */
TTR_API bool ttr_field_declarations_next(ttr_field_declarations *walk,
                                         ttr_field_declaration *declaration);

/* Values with a name: all of a number from low to high (two's complement where the number is an
 * INT); of hint FLAGS: bits, by index. */
typedef struct ttr_label {
    ttr_text name;
    uint64_t low, high;
} ttr_label;

/* Gives the next named range of the number that ttr_field_declarations_next gave just now (hint
 * ENUM or FLAGS); false at the end. */
TTR_API bool ttr_field_declarations_label(ttr_field_declarations *walk, ttr_label *label);

/* Gives the next range of the selector's values for which the field just given is there: of an
 * optional, or of what stands right in a variant (then under its name).  False at the end; none at
 * all = the selector is true. */
TTR_API bool ttr_field_declarations_selector(ttr_field_declarations *walk, ttr_label *label);

/* Gives what the trace of the index-th report says of itself, in a language of its format ("ctf2",
 * "ctf1.8", "ctf1.1"), borrowed until the next call or the close.  TTR_E_UNSUPPORTED where the
 * trace describes nothing or the language cannot say it, TTR_E_MISUSE where there is no such
 * language or report. */
TTR_API TTR_MUST ttr_status ttr_reader_metadata(ttr_reader *reader, size_t index,
                                                const char *language, ttr_text *text,
                                                ttr_error *error);

/* --- Formats --- */

#define TTR_FORMAT_READS 1u
#define TTR_FORMAT_WRITES 2u
#define TTR_FORMAT_TEXT 4u   /* output made for people or line tools */
#define TTR_FORMAT_FOLDER 8u /* a trace is a folder of files, for reading and for writing */
#define TTR_FORMAT_ORDERED \
    16u /* its writer wants events by time: give it what ttr_sort or ttr_merge gives */
#define TTR_FORMAT_GENERAL 32u /* holds traces of all kinds: for programs that must choose one */

typedef struct ttr_format_info {
    const char *name, *title, *extensions, *spec; /* static */
    uint32_t abilities;                           /* TTR_FORMAT_* */
    const char *anchor; /* the file by which a folder may be named that is a trace with all files in
                           it ("metadata"); NULL = none */
    const char *input_options; /* keys of options, with blanks between them, that say of an input
                                  what does not hold for a copy of it; "" = none */
} ttr_format_info;

/* Gives the i-th format; false past the end. */
TTR_API bool ttr_format_get(size_t i, ttr_format_info *info);

typedef struct ttr_option_info {
    const char *key, *values,
        *text; /* "layout", "auto|0.1|pre-substream", one line of help; static */
    bool for_writing;
} ttr_option_info;

/* Gives the j-th option of the i-th format; false past the end. */
TTR_API bool ttr_format_option(size_t i, size_t j, ttr_option_info *info);

/* What an option is for, so that a caller can use it without knowing formats and keys.  All are
 * options for reading. */
typedef enum ttr_option_role {
    TTR_OPTION_METADATA = 1,        /* path of a file to read in place of the trace's metadata */
    TTR_OPTION_LONGER_METADATA = 2, /* path of metadata that begins as the trace's own and goes on;
                                       the attribute "trace.longer_metadata" of a source has it */
    TTR_OPTION_INTERSECTION = 3,    /* "yes": only the time in which all streams are active */
    TTR_OPTION_POLL_SECONDS = 4     /* how often a server of live traces is asked */
} ttr_option_role;

/* Returns the option of a format that has a role, as "FORMAT.KEY"; NULL if it has none.  Static. */
TTR_API const char *ttr_format_option_for(const char *format, ttr_option_role role);

/* Returns the option that helps with the finding of a note, as in ttr_error.option; "" if there is
 * none.  The text of the note names it.  Static. */
TTR_API const char *ttr_note_option(const ttr_diagnostic *note);

/* Returns true for a note that a program should show even if it does not show notes: files that
 * cannot be read, guesses that an option decides. */
TTR_API bool ttr_note_is_warning(const ttr_diagnostic *note);

/* A style of lines: the output of another program, by a format that writes it. */
typedef struct ttr_style_info {
    const char *name;                   /* "trace-cmd" */
    const char *format;                 /* "perfscript" */
    const char *const *writing_options; /* "FORMAT.KEY=VALUE", NULL at the end */
    const char *const *reading_options; /* the same for readers */
    const char *shown_option;           /* for the writer if its output is shown on a terminal; NULL
                                           = none */
    uint32_t read_flags;                /* TTR_READ_* for readers */
} ttr_style_info;

/* Gives the i-th style; false past the end.  All is static. */
TTR_API bool ttr_style_get(size_t i, ttr_style_info *info);

#ifdef __cplusplus
}
#endif
#endif
