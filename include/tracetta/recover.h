/* Repair: copies a damaged trace, or a directory of traces, without the damage.
 *
 * The input is not modified.  Every intact record is copied byte for byte in its order.  Records
 * that become neighbours can expose further damage, for example a duplicate packet.  So the copy is
 * read again and copied again until it is clean, at most TTR_RECOVER_PASSES_MAX times.  Traces of a
 * directory are recovered one by one to the same relative path; a failure of one does not stop the
 * others.
 *
 * Everything in a ttr_recover_step is borrowed until the callback returns.  ttr_recover creates its
 * own contexts and calls back on the calling thread. */
#ifndef TRACETTA_RECOVER_H
#define TRACETTA_RECOVER_H

#include "advanced.h"

#ifdef __cplusplus
extern "C" {
#endif

/* maximum number of further copies; each is smaller than the previous one */
#define TTR_RECOVER_PASSES_MAX 8u

/* The event that a step reports. */
typedef enum ttr_recover_stage {
    TTR_RECOVER_INPUT = 0,   /* the input is open: a trace, or a directory of traces */
    TTR_RECOVER_TRACE = 1,   /* a trace is open; return false to skip it */
    TTR_RECOVER_COPYING = 2, /* the writer is open; repeated for each further copy */
    TTR_RECOVER_READ = 3,    /* copying ended; `error` is set if reading failed */
    /* the copy has its final path; return false to skip the verification */
    TTR_RECOVER_COPIED = 4,
    TTR_RECOVER_VERIFYING = 5, /* the copy is open for verification */
    TTR_RECOVER_CHECKED = 6,   /* the copy was read; found_... are set */
    TTR_RECOVER_AGAIN = 7,     /* the copy is not clean and will be copied again */
    TTR_RECOVER_VERIFIED = 8,  /* the copy is clean, or was not read to its end */
    TTR_RECOVER_FAILED = 9     /* `failure` and `error` are set; the trace is skipped */
} ttr_recover_stage;

/* The operation that failed. */
typedef enum ttr_recover_failure {
    TTR_RECOVER_NO_FAILURE = 0,
    TTR_RECOVER_OPENING = 1,  /* the input cannot be opened */
    TTR_RECOVER_READING = 2,  /* reading failed and nothing can be kept; follows TTR_RECOVER_READ */
    TTR_RECOVER_FORMAT = 3,   /* the format of the trace cannot be written */
    TTR_RECOVER_EMPTY = 4,    /* the trace has no readable event */
    TTR_RECOVER_OUTPUT = 5,   /* the output cannot be written */
    TTR_RECOVER_FOLDER = 6,   /* the output cannot hold the traces of a directory */
    TTR_RECOVER_CHECK = 7,    /* the copy cannot be read again */
    TTR_RECOVER_NOT_CLEAN = 8 /* the copy has damage or lost events after the last pass */
} ttr_recover_failure;

typedef struct ttr_recover_step {
    ttr_recover_stage stage;
    ttr_recover_failure failure; /* with TTR_RECOVER_FAILED */
    const char *input, *output;  /* paths of this trace */
    ttr *t;                      /* context of the reader */
    ttr_reader *reader;          /* reads the input or the copy; NULL = not open */
    ttr_writer *writer;          /* NULL = not open */
    const ttr_error *error;      /* NULL = none */
    uint32_t pass;               /* 0 = copy of the input, n = n-th further copy */
    uint64_t events;             /* copied from the input, without definitions and gaps */
    /* reading failed before the end; the copy of the first part is kept */
    bool is_partial;
    bool is_complete; /* the copy was read to its end */
    /* in the copy: events, damaged regions, duplicate packets */
    uint64_t found_events, found_damage, found_duplicates;
} ttr_recover_step;

typedef struct ttr_recover_options {
    size_t size;
    const ttr_options *context;       /* for the contexts that ttr_recover creates; may be NULL */
    const ttr_read_options *reading;  /* for the inputs; may be NULL */
    const ttr_write_options *writing; /* for the copies; may be NULL */
    /* Opens an input in place of ttr_open; may be NULL. */
    ttr_reader *(*open)(void *user_data, ttr *t, const char *path, const ttr_read_options *options,
                        ttr_error *error);
    /* suffix of a file that the caller writes next to each copy; an output folder may already
     * contain such files; NULL = none */
    const char *sidecar_suffix;
    ttr_progress progress; /* may be NULL */
    /* Reports each step; the return value matters only if the stage documents it.  May be NULL. */
    bool (*step)(void *user_data, const ttr_recover_step *step);
    void *user_data; /* passed to open, progress and step */
} ttr_recover_options;

typedef struct ttr_recover_result {
    size_t size;
    bool is_directory; /* the input is a directory of traces */
    size_t traces;     /* number of traces in the input */
    size_t begun;      /* traces processed; fewer than `traces` if `progress` stopped it */
    size_t failed;     /* traces that failed */
    uint64_t events;   /* copied, without definitions and gaps */
    uint64_t damage_regions, damage_bytes; /* in the inputs that were copied */
} ttr_recover_result;

/* Recovers a trace, or each trace of a directory, to the path `output`; "-" is stdout, for one
 * trace. Formats that are folders create a folder.  An existing output is replaced only with
 * TTR_WRITE_OVERWRITE.  Copies are verified if the output can be read again.  `options` and
 * `result` may be NULL. Returns TTR_OK; the status of the first trace that failed, with `error`; or
 * TTR_AGAIN if `progress` stopped it. */
TTR_API TTR_MUST ttr_status ttr_recover(const char *input, const char *output,
                                        const ttr_recover_options *options,
                                        ttr_recover_result *result, ttr_error *error);

#ifdef __cplusplus
}
#endif
#endif
