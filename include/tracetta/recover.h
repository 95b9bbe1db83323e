/* Repairing traces: copies of damaged traces without the damage.
 *
 * The input is only read.  Every good record is copied byte for byte, in the order of the file.
 * Records on both sides of damage become neighbours in the copy, where one may make the other
 * unreadable, or show that it is a duplicate.  So the copy is read again, and copied again until it
 * is clean.  Of a directory of traces each is recovered by itself, to the same path below the
 * output; the failure of one does not end the others.
 *
 * Ownership: all that a step shows is borrowed until the callback returns.  Thread rule: a call
 * has contexts of its own; callbacks come on the thread of the caller. */
#ifndef TRACETTA_RECOVER_H
#define TRACETTA_RECOVER_H

#include "read.h"
#include "write.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TTR_RECOVER_PASSES_MAX 8u /* most copies of a copy; each has fewer bytes than the last */

/* What is about to happen, or just happened. */
typedef enum ttr_recover_stage {
    TTR_RECOVER_INPUT = 0,     /* the input is open: a trace, or a directory of traces */
    TTR_RECOVER_TRACE = 1,     /* a trace is open, nothing was written; false: leave it out */
    TTR_RECOVER_COPYING = 2,   /* the writer is open; comes again before each copy of a copy */
    TTR_RECOVER_READ = 3,      /* the copying ended; with `error` because reading failed */
    TTR_RECOVER_COPIED = 4,    /* the copy of the input is in its place; false: do not verify it */
    TTR_RECOVER_VERIFYING = 5, /* the copy is open, to be read again */
    TTR_RECOVER_CHECKED = 6,   /* the copy was read: found_... */
    TTR_RECOVER_AGAIN = 7,     /* the copy is not clean, and will be copied again */
    TTR_RECOVER_VERIFIED = 8,  /* the copy is clean, or was not read to its end */
    TTR_RECOVER_FAILED = 9     /* `failure` and `error`; the trace was given up */
} ttr_recover_stage;

/* Which part of the work failed. */
typedef enum ttr_recover_failure {
    TTR_RECOVER_NO_FAILURE = 0,
    TTR_RECOVER_OPENING = 1,  /* the input cannot be opened */
    TTR_RECOVER_READING = 2,  /* reading failed, and nothing of it can be kept: after READ */
    TTR_RECOVER_FORMAT = 3,   /* the format of the trace cannot be written */
    TTR_RECOVER_EMPTY = 4,    /* no event of the trace can be read */
    TTR_RECOVER_OUTPUT = 5,   /* the output cannot be written */
    TTR_RECOVER_FOLDER = 6,   /* the traces of a directory cannot go to this output */
    TTR_RECOVER_CHECK = 7,    /* the copy cannot be read again */
    TTR_RECOVER_NOT_CLEAN = 8 /* the copy is damaged, or has lost events, after all copies */
} ttr_recover_failure;

typedef struct ttr_recover_step {
    ttr_recover_stage stage;
    ttr_recover_failure failure; /* of TTR_RECOVER_FAILED */
    const char *input, *output;  /* paths of this trace */
    ttr *t;                      /* context of the reader */
    ttr_reader *reader;          /* of the input, or of the copy; NULL = not open */
    ttr_writer *writer;          /* NULL = not open */
    const ttr_error *error;      /* NULL = none */
    uint32_t pass;               /* 0: copying the input; else the number of the copy of the copy */
    uint64_t events;             /* copied from the input, without definitions and gaps */
    bool is_partial;             /* reading the input failed before its end; the copy is kept */
    bool is_complete;            /* the copy was read to its end */
    uint64_t found_events, found_damage, found_duplicates; /* in the copy: events, damaged regions,
                                                              duplicate packets */
} ttr_recover_step;

typedef struct ttr_recover_options {
    size_t size;                      /* sizeof(ttr_recover_options) */
    const ttr_options *context;       /* of the contexts that it makes; may be NULL */
    const ttr_read_options *reading;  /* how the input is read; may be NULL */
    const ttr_write_options *writing; /* how copies are written; may be NULL */
    /* Opens an input as ttr_open does; NULL: ttr_open. */
    ttr_reader *(*open)(void *user_data, ttr *t, const char *path, const ttr_read_options *options,
                        ttr_error *error);
    const char *sidecar_suffix; /* suffix of a file that the caller writes beside each copy, and
                           that an output may have already; NULL = none */
    ttr_progress progress;      /* false ends the work early, with what there is; may be NULL */
    /* Reports each step; the result matters if the stage says so.  May be NULL. */
    bool (*step)(void *user_data, const ttr_recover_step *step);
    void *user_data; /* of the three functions */
} ttr_recover_options;

typedef struct ttr_recover_result {
    size_t size;       /* sizeof(ttr_recover_result), set by the caller */
    bool is_directory; /* the input is a directory of traces */
    size_t traces;     /* in the input */
    size_t begun;      /* that were worked on; fewer than `traces` if it was ended early */
    size_t failed;     /* of these */
    uint64_t events;   /* copied, without definitions and gaps */
    uint64_t damage_regions, damage_bytes; /* in the inputs that were copied */
} ttr_recover_result;

/* Recovers a trace, or each trace of a directory, to `output`: any path, or "-" for one trace.
 * Formats whose traces are folders make a folder there.  An output is only replaced with
 * TTR_WRITE_OVERWRITE.  The copy is verified if it can be read again.  NULL options and NULL for
 * `result` are fine.  Returns TTR_OK, the first failure of a trace with `error` (the others were
 * worked on), or TTR_AGAIN if `progress` ended it early. */
TTR_API TTR_MUST ttr_status ttr_recover(const char *input, const char *output,
                                        const ttr_recover_options *options,
                                        ttr_recover_result *result, ttr_error *error);

#ifdef __cplusplus
}
#endif
#endif
