/* The pump: moves batches from a reader to a writer, with progress, a limit and Ctrl-C; and the
 * output at its end.
 *
 * Ownership: a pump owns its writer until pump_end; it borrows the reader. */
#ifndef TRACETTA_CLI_INPUT_COPY_LOOP_H
#define TRACETTA_CLI_INPUT_COPY_LOOP_H

#include <tracetta/tracetta.h>

#include "cli/commands/command.h"

struct pump {
    const struct call *call;
    ttr *t;
    ttr_reader *in;
    ttr_writer *out;
    const char *path;   /* of the output, for messages */
    uint64_t limit;     /* events; 0 = all */
    size_t own_options; /* of formats that the user did not give: the last of the list */
    bool is_live;       /* hand over every batch at once: someone is watching */
    void (*see)(void *own, const ttr_batch *batch); /* looks at every batch, or NULL */
    void *own;
    uint64_t events, bytes; /* written; set by pump_end */
    bool is_partial;        /* reading failed half-way */
    bool hides_losses;      /* nobody asked what the output cannot hold */
};

/* Makes the writer: into a file, into stdout ("-"), or into nothing (path NULL).  OUTCOME_FINE, or
 * after telling the user why. */
int pump_open(struct pump *pump, const char *format, uint32_t flags);

/* Moves everything.  OUTCOME_FINE also after Ctrl-C; a read that fails after some events makes the
 * output partial. */
int pump_run(struct pump *pump);

/* Puts the output in place, or removes it where the outcome so far says so, and tells what it lost
 * in all, also while it ended: at most ten kinds, all with --explain.  Gives the final outcome. */
int pump_end(struct pump *pump, int outcome);

/* Reports why the output failed, and returns the outcome.  OUTCOME_FINE for a pipe on standard
 * output whose reader has left: there is nothing more to do. */
int pump_output_failed(const struct pump *pump, const ttr_error *error);

/* Prints the losses of the output, which are complete once it has ended. */
void pump_tell_losses(const struct pump *pump);

/* Whoever sits there wonders why nothing came: says that the filter passed no event.  Scripts are
 * not told, as grep does not tell them. */
void pump_tell_nothing(const struct pump *pump);

/* Prints what a format cannot hold: to stderr, `losses` with their counts, or before anything was
 * converted. */
void pump_print_losses(const struct call *call, const ttr_loss *losses, size_t n, bool is_before);

#endif
