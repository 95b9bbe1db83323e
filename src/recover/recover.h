/* Recovery of traces: declarations shared by the files of this folder. Ownership: all strings of a
 * recovery are in its arena. Thread rule: one thread. */
#ifndef TRACETTA_RECOVER_RECOVER_H
#define TRACETTA_RECOVER_RECOVER_H

#include <tracetta/advanced.h>
#include <tracetta/recover.h>
#include <tracetta/tracetta.h>

#include "base/arena.h"

/* State of one call of ttr_recover. */
struct recovery {
    const ttr_recover_options *options; /* never NULL */
    ttr_read_options reading;           /* the caller's read options, or the defaults */
    ttr_write_options writing;
    ttr_recover_result result;
    struct alloc alloc; /* the caller's allocator */
    struct arena arena;
    ttr_status status; /* TTR_OK, or the first failure */
    ttr_error error;   /* error of the first failure */
    bool is_ended;     /* the progress callback has cancelled */
};

/* A trace in a directory and the output path of its copy. */
struct recover_entry {
    const char *path, *output;
    const char *longer; /* option text that names longer metadata of the trace; NULL = none */
    size_t bare_n;      /* length of `path` without a compression suffix (".gz") */
};

struct recover_entries {
    struct recover_entry *list; /* traces sorted by path */
    size_t n, room;
};

/* Recovers one trace. Closes its reader and frees its context `t`. For a trace of a directory,
 * `base` is the output folder of all traces, below which missing folders are created; otherwise
 * NULL. Failures are reported and stored in the recovery. */
void recover_trace(struct recovery *recovery, const struct recover_entry *place, const char *base,
                   ttr *t, ttr_reader *reader);

/* Reports that recovering the trace of a step failed. Stores the first such error in the
 * recovery. */
void recover_fail(struct recovery *recovery, ttr_recover_step *step, ttr_recover_failure failure,
                  const ttr_error *error);

/* Calls the caller's progress callback with a step; returns its result. */
bool recover_report_step(const struct recovery *recovery, ttr_recover_step *step,
                         ttr_recover_stage stage);

/* Returns true if traces of this format can be written. */
bool recover_can_write(const char *format);

/* Returns false if the caller has cancelled. */
bool recover_should_continue(struct recovery *recovery);

/* --- Directories --- */

/* Returns true if a path is a single trace, be it a file or a folder. Returns false for a directory
 * of several traces. */
bool recover_is_single_trace(const char *path, ttr_reader *reader);

/* Lists the traces that a reader of a directory reads. Returns false if memory runs out. */
bool recover_list(struct recovery *recovery, const ttr *t, ttr_reader *reader,
                  struct recover_entries *places);

/* Sets the output path of each trace: its path relative to the input, below the output folder.
 * Returns false if memory runs out. */
bool recover_assign_outputs(struct recovery *recovery, const char *input, const char *output,
                            struct recover_entries *places);

/* Returns an error if the output folder contains a file that would be read as part of the
 * copies. */
TTR_MUST ttr_status recover_check_folder(const struct recovery *recovery, const char *output,
                                         const struct recover_entries *places, ttr_error *error);

#endif
