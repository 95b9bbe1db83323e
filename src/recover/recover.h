/* Recovering traces: what the files of this folder share.
 *
 * Ownership: all strings of a recovery are in its arena.  Thread rule: one thread. */
#ifndef TRACETTA_RECOVER_RECOVER_H
#define TRACETTA_RECOVER_RECOVER_H

#include <tracetta/read.h>
#include <tracetta/recover.h>
#include <tracetta/write.h>

#include "base/arena.h"

/* One call of ttr_recover. */
struct recovery {
    const ttr_recover_options *options; /* never NULL */
    ttr_read_options reading;           /* as given, or the defaults */
    ttr_write_options writing;
    ttr_recover_result result;
    struct alloc alloc; /* of the caller */
    struct arena arena;
    ttr_status status; /* TTR_OK, or the first failure */
    ttr_error error;   /* of it */
    bool is_ended;     /* progress ended it early */
};

/* A trace of a directory, and the path of its copy. */
struct recover_place {
    const char *path, *output;
    const char *longer; /* option with the path of longer metadata, or NULL */
    size_t bare_n;      /* bytes of the path without the suffix of its compression */
};

struct recover_places {
    struct recover_place *list; /* sorted by path */
    size_t n, room;
};

/* Recovers the trace of a reader, which is closed with its context.  In a directory `base` is the
 * output of all, below which folders are made; else NULL.  Failures are reported, and kept in the
 * recovery. */
void recover_trace(struct recovery *recovery, const struct recover_place *place, const char *base,
                   ttr *t, ttr_reader *reader);

/* Reports a failure of the step's trace, and keeps it if it is the first. */
void recover_fail(struct recovery *recovery, ttr_recover_step *step, ttr_recover_failure failure,
                  const ttr_error *error);

/* Reports a step; returns the caller's answer. */
bool recover_show(const struct recovery *recovery, ttr_recover_step *step, ttr_recover_stage stage);

/* Returns true for a format that can be written. */
bool recover_is_written(const char *format);

/* Returns false once the caller ended the work. */
bool recover_goes_on(struct recovery *recovery);

/* --- Directories --- */

/* Returns false for a directory of several traces; a trace that is a folder is one trace. */
bool recover_is_one(const char *path, ttr_reader *reader);

/* Lists the traces of a reader, each once; false when memory is out. */
bool recover_list(struct recovery *recovery, const ttr *t, ttr_reader *reader,
                  struct recover_places *places);

/* Assigns each trace the same path below the output; false when memory is out. */
bool recover_assign_outputs(struct recovery *recovery, const char *input, const char *output,
                            struct recover_places *places);

/* Checks that traces can go to this folder: nothing in it may be read as a part of them. */
TTR_MUST ttr_status recover_check_folder(const struct recovery *recovery, const char *output,
                                         const struct recover_places *places, ttr_error *error);

#endif
