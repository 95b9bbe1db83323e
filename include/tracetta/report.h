/* Results of reading: damage, diagnostics, counters, clocks, and attributes of the trace.
 *
 * Conventions as in tracetta.h. */
#ifndef TRACETTA_REPORT_H
#define TRACETTA_REPORT_H

#include "tracetta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Diagnostics --- */

/* Severity of a diagnostic. */
typedef enum ttr_severity {
    TTR_SEVERITY_REMARK = 0, /* not an error (padding, a second writer on a stream) */
    TTR_SEVERITY_ODD =
        /* decoded, but the record violates the format (unknown string index, end before start) */
    1,
    TTR_SEVERITY_DAMAGE = 2 /* bytes that could not be decoded */
} ttr_severity;

/* All occurrences of one problem.  Borrowed from the reader until the next call with it. */
typedef struct ttr_diagnostic {
    const char *code; /* stable identifier, "fxt.bad-size"; static */
    const char
        *text; /* describes the first occurrence of the highest severity, with the expected value */
    /* occurrences; bytes affected; offset of the occurrence that `text` describes, UINT64_MAX if it
     * is not at one position */
    uint64_t count, bytes, first_offset;
    ttr_severity severity; /* the highest of all occurrences */
} ttr_diagnostic;

/* Returns the option that solves the problem, as in ttr_error.option; "" if there is none.  The
 * text names it. Static. */
TTR_API const char *ttr_note_option(const ttr_diagnostic *note);

/* Returns true if a program should always show this diagnostic: unreadable files, and guesses that
 * an option can correct. */
TTR_API bool ttr_note_is_warning(const ttr_diagnostic *note);

/* A byte range that could not be decoded. */
typedef struct ttr_region {
    uint64_t offset, bytes; /* UINT64_MAX if it has no position in the input */
    const char *code;       /* of its ttr_diagnostic */
} ttr_region;

/* --- Report --- */

/* The order in which a reader returns events. */
typedef enum ttr_order {
    TTR_ORDER_NONE = 0,   /* unordered */
    TTR_ORDER_THREAD = 1, /* ordered by time within each thread */
    TTR_ORDER_TIME = 2    /* ordered by time */
} ttr_order;

/* A clock and its conversion to ns. */
typedef struct ttr_clock {
    const char *name;      /* "ticks", or its name in the trace */
    ttr_text provider;     /* the provider that uses it; empty = the complete trace */
    uint64_t frequency;    /* ticks per second */
    bool is_anchored;      /* times are ns since the Unix epoch */
    uint64_t anchor_ticks; /* with is_anchored: this tick ... */
    int64_t anchor_ns;     /* ... is this time, ns since the Unix epoch */
    int64_t offset_ns;     /* ns; ttr_read_options.time_offset */
    /* Description in the trace; zero if it has none. */
    bool is_described;
    bool has_uuid, has_precision;
    uint8_t uuid[16];
    uint64_t precision;   /* ticks */
    int64_t offset_s;     /* seconds ... */
    int64_t offset_ticks; /* ... plus ticks from the clock's origin to its zero */
    ttr_text description;
    bool has_accuracy;
    uint64_t accuracy;                      /* ticks */
    ttr_text ns, uid;                       /* namespace, and unique id in it (CTF 2); "" = none */
    ttr_text origin, origin_ns, origin_uid; /* the origin, if it is not the Unix epoch (CTF 2) */
} ttr_clock;

typedef struct ttr_report {
    size_t size;
    const char *format;      /* name, "fxt" */
    const char *version;     /* version of the format that the input declares; "" = none */
    const char *compression; /* "zstd"; "" = none */
    ttr_text path;
    uint64_t bytes;          /* uncompressed bytes read so far */
    uint64_t disk_size;      /* bytes of the input file; 0 = unknown */
    uint64_t disk_used;      /* bytes of it read so far, for progress displays */
    uint64_t events;         /* returned so far, without definitions and gaps */
    uint64_t lost;           /* missing events that the trace reports */
    uint64_t lost_packets;   /* missing packets that the trace reports, with all their events */
    uint64_t gaps;           /* positions with missing events, also of unknown number */
    uint64_t packets;        /* read so far; 0 if the format has no packets */
    uint64_t duplicates;     /* packets skipped because another file has them too */
    uint64_t damage_regions; /* exact, even if it exceeds regions_n */
    uint64_t damage_bytes;
    const ttr_diagnostic *notes;
    size_t notes_n;
    const ttr_region *regions;
    size_t regions_n; /* at most the first 1,000 */
    const ttr_clock *clocks;
    size_t clocks_n;
    ttr_order order;
    uint16_t source; /* input, for ttr_source_attribute */
    /* first input of the same trace; equal to `source` if it is the only one */
    uint16_t trace;
    ttr_text trace_path; /* folder or file of the trace */
    bool shares_file;    /* an earlier input reads the same file and counts its bytes */
    /* first_ns and last_ns are valid: events were returned in order of time */
    bool has_times;
    int64_t first_ns, last_ns; /* ns; first and last event so far */
} ttr_report;

/* Fills a report on everything read so far; its pointers are borrowed until the next call with the
 * reader.  A stage reports on the reader it wraps.  A merge has a report per input: `index` counts
 * them from 0.  Returns false after the last. */
TTR_API bool ttr_reader_report(ttr_reader *reader, size_t index, ttr_report *report);

/* A property of an input.  Names are those of its own environment ("hostname", "tracer_name"), and
 * these if known:
 *
 *     trace.name, trace.uuid     identity; CTF 2 also has trace.namespace and trace.uid
 *     trace.metadata             1: the input is the metadata and its diagnostics, not a stream
 *     trace.path                 path of the trace
 *     trace.place                path below the opened directory, if that has several traces
 *     trace.from, trace.to       ns: the time in which all streams are active, if only that is read
 *     trace.longer_metadata      path of other metadata in use, which starts with the trace's own
 *     trace.event_width          bytes of the longest event name (perf.data)
 *     trace.has_reads            samples have counter values (perf.data)
 *     trace.has_ticks            trace-cmd shows times as plain numbers
 *     stream.name, stream.class, stream.id
 *     clock.frequency, clock.offset_s, clock.offset */
typedef struct ttr_attribute {
    ttr_text name;
    ttr_value value; /* UINT, INT, FLOAT, BOOL or TEXT */
} ttr_attribute;

/* Copies the i-th attribute of an input; returns false after the last.  Texts are valid as long as
 * the context. */
TTR_API bool ttr_source_attribute(const ttr *t, uint16_t id, size_t i, ttr_attribute *attribute);

/* Returns the metadata of the trace of the index-th report in a language ("ctf2", "ctf1.8",
 * "ctf1.1"), borrowed until the next call or ttr_close.  TTR_E_UNSUPPORTED if the trace has no
 * metadata or the language cannot express it, TTR_E_MISUSE if the language or report does not
 * exist. */
TTR_API TTR_MUST ttr_status ttr_reader_metadata(ttr_reader *reader, size_t index,
                                                const char *language, ttr_text *text,
                                                ttr_error *error);

#ifdef __cplusplus
}
#endif
#endif
