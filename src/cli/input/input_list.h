/* Inputs: files opened as the options say, placed on one time line, filtered.
 *
 * Ownership: inputs_close closes readers and the context; everything got from them ends there. */
#ifndef TRACETTA_CLI_INPUT_INPUT_LIST_H
#define TRACETTA_CLI_INPUT_INPUT_LIST_H

#include <tracetta/tracetta.h>

#include "cli/commands/command.h"

struct inputs {
    ttr *t;
    ttr_reader *reader;    /* all of them */
    int64_t *offset;       /* ns added to the times of each path */
    struct stream *stream; /* of each path that is one */
    size_t streams_n;
    int64_t from_ns, to_ns; /* the range of --start and --end: from_ns <= time < to_ns */
    uint32_t flags; /* TTR_READ_* beyond what the options ask for; without definitions where events
                       are put in order */
    struct footprint *seen;     /* of the files that were looked at for --sort, or NULL */
    bool is_in_order;           /* --sort has nothing to do: they are read as without it */
    ttr_disorder *disorder;     /* that --sort found, or NULL */
    struct debuginfod *servers; /* of --debuginfod, or NULL */
    struct symbols *symbols;    /* of --debug-info, or NULL */
    const struct call *call;    /* that other threads read for (inputs_share) */
};

/* Opens all paths of the call: `flags` adds to what the options say.  OUTCOME_FINE, or the outcome
 * after telling the user. */
int inputs_open(struct inputs *inputs, const struct call *call, uint32_t flags);

/* Opens one path alone, without filters. */
int inputs_open_one(struct inputs *inputs, const struct call *call, const char *path,
                    uint32_t flags);

/* Lets other threads write, too, as --jobs asks for, where they can read the same again: until the
 * writer is finished, which is before inputs_close. */
void inputs_share(struct inputs *inputs, const struct call *call, ttr_writer *out);

void inputs_close(struct inputs *inputs);

/* Behind the end: warns where inputs that were in order, and so were not sorted, were written to
 * since; gives the outcome. */
int inputs_tell_changed(const struct inputs *inputs, const struct call *call, int outcome);

/* Tells of an error of a reader and gives the outcome (damage is OUTCOME_NO with --strict); the
 * path is that of the input, or what all together are called. */
int inputs_failed(const struct call *call, const char *path, const ttr_error *error);

/* A name for all inputs: the path of a single one, else "the inputs". */
const char *inputs_name(const struct call *call);

/* Whether some path is a URL: a trace that goes on, whose events nobody should have to ask a pager
 * for. */
bool inputs_are_live(const struct call *call);

/* Whether events are left out by what the options say of names, times and the like. */
bool inputs_are_filtered(const struct call *call);

/* Counts the events of a batch that match the filters of the call. */
uint64_t inputs_count_matches(const struct call *call, const ttr_batch *batch);

/* Reports that no event matched the filters, unless there are matches or no filter.  Returns
 * OUTCOME_NO then, else the given outcome. */
int inputs_check_matches(const struct call *call, bool has_matches, int outcome);

/* Options of formats that are for reading (or writing), as the library wants them; the list is the
 * caller's to free. NULL with *is_fine false after telling the user of one nobody knows. */
const char **inputs_format_options(const struct call *call, bool for_writing, bool *is_fine);

/* Tells of options of formats that are neither read, nor written as `target`: a slip, most often.
 * The last `own` of the list are ours, not the user's. */
void inputs_warn_idle(const struct call *call, ttr_reader *in, const char *target, size_t own);

#endif
