/* The formats of this library: names, abilities, options, losses and output styles.
 *
 * All data returned here is static. */
#ifndef TRACETTA_FORMATS_H
#define TRACETTA_FORMATS_H

#include "report.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TTR_FORMAT_READS 1u
#define TTR_FORMAT_WRITES 2u
#define TTR_FORMAT_TEXT 4u   /* output for people or line-based tools */
#define TTR_FORMAT_FOLDER 8u /* a trace is a folder of files */
#define TTR_FORMAT_ORDERED \
    16u /* the writer needs events of ordered_kinds in order of time: use ttr_sort or ttr_merge */
#define TTR_FORMAT_GENERAL 32u /* can hold any trace; for programs that must choose a format */
/* the writer stores names of functions: read with TTR_READ_SYMBOLS */
#define TTR_FORMAT_SYMBOLS 64u
/* traces may have their symbols at the end: see ttr_copy_symbols */
#define TTR_FORMAT_LATE_SYMBOLS 128u
/* packets are decoded one by one, so that a receiver can merge them: see network.h */
#define TTR_FORMAT_PACKETS 256u
/* the writer stores call stacks only as fields: write through ttr_stack_fields */
#define TTR_FORMAT_STACK_FIELDS 512u
/* events may have call stacks outside of their fields: see ttr_stack_fields */
#define TTR_FORMAT_STACKS 1024u

typedef struct ttr_format_info {
    /* "fxt", its full name, "fxt fxt.gz", the specification */
    const char *name, *title, *extensions, *spec;
    uint32_t abilities; /* TTR_FORMAT_* */
    /* kinds of events that the writer needs in order of time: bits 1 << TTR_KIND_...; see
     * ttr_reader_kinds */
    uint32_t ordered_kinds;
    /* file that identifies a folder as a trace of this format ("metadata"); NULL = none */
    const char *main_file;
    /* keys, separated by blanks, of reading options that describe the input and are wrong for a
     * copy of it; "" = none */
    const char *input_options;
} ttr_format_info;

/* Copies the i-th format; returns false after the last. */
TTR_API bool ttr_format_get(size_t i, ttr_format_info *info);

typedef struct ttr_option_info {
    const char *key, *values, *text; /* "layout"; "auto|0.1|pre-substream"; one line of help */
    bool for_writing;
} ttr_option_info;

/* Copies the j-th option of the i-th format; returns false after the last. */
TTR_API bool ttr_format_option(size_t i, size_t j, ttr_option_info *info);

/* Explains the code of a diagnostic. */
typedef struct ttr_diagnostic_info {
    ttr_severity least, worst; /* the severity; if they differ, it depends on the input */
    const char *code;          /* "fxt.bad-size" */
    const char *meaning;       /* what was found: "zeros between records" */
    const char *effect;        /* what happens to the events: "skipped" */
    const char *advice;        /* what helps; "" = nothing */
} ttr_diagnostic_info;

#define TTR_FORMAT_NONE SIZE_MAX /* instead of a format: codes that belong to no format */

/* Copies the explanation of the j-th code of the i-th format, or of TTR_FORMAT_NONE; returns false
 * after the last. */
TTR_API bool ttr_format_diagnostic(size_t i, size_t j, ttr_diagnostic_info *info);

/* Purpose of a reading option, for callers that do not know the format. */
typedef enum ttr_option_role {
    TTR_OPTION_METADATA = 1, /* path of a file used in place of the trace's metadata */
    /* path of metadata of which the trace's own is a prefix; the source attribute
     * "trace.longer_metadata" has it */
    TTR_OPTION_LONGER_METADATA = 2,
    /* "yes": read only the time range in which all streams are active */
    TTR_OPTION_INTERSECTION = 3,
    TTR_OPTION_POLL_SECONDS = 4 /* interval for polling a live server */
} ttr_option_role;

/* Returns the option of a format for a purpose, as "FORMAT.KEY"; NULL if it has none. */
TTR_API const char *ttr_format_option_for(const char *format, ttr_option_role role);

/* Copies at most `room` of the losses that a format can have, with count 0.  Returns their number;
 * 0 for unknown and read-only formats. */
TTR_API size_t ttr_format_losses(const char *format, ttr_loss *losses, size_t room);

/* An output style: options that imitate the output of another program. */
typedef struct ttr_style_info {
    const char *name;                   /* "trace-cmd" */
    const char *format;                 /* name of the format that writes it, "perfscript" */
    const char *const *writing_options; /* "FORMAT.KEY=VALUE"; ends with NULL */
    const char *const *reading_options; /* "FORMAT.KEY=VALUE" for the reader; ends with NULL */
    /* additional option for the writer if the output is a terminal; NULL = none */
    const char *shown_option;
    uint32_t read_flags; /* TTR_READ_* for the reader */
} ttr_style_info;

/* Copies the i-th style; returns false after the last. */
TTR_API bool ttr_style_get(size_t i, ttr_style_info *info);

#ifdef __cplusplus
}
#endif
#endif
