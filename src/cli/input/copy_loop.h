/* The pump: moves batches from a reader to a writer, with progress, a limit and Ctrl-C; and the
 * output at its end.
 *
 * Ownership: a pump owns its writer until pump_end; it borrows the reader. */
#ifndef TRACETTA_CLI_INPUT_COPY_LOOP_H
#define TRACETTA_CLI_INPUT_COPY_LOOP_H

#include <tracetta/tracetta.h>

#include "cli/commands/command.h"

#define PUMP_LOSSES_MAX 64u

struct json;
struct trace;

struct pump {
    const struct call *call;
    ttr *t;
    ttr_reader *in;
    ttr_writer *out;
    const char *path;   /* of the output, for messages */
    uint64_t limit;     /* events to print; 0 = all */
    size_t own_options; /* of formats that the user did not give: the last of the list */
    bool is_live;       /* hand over every batch at once: someone is watching */
    void (*see)(void *own, const ttr_batch *batch); /* looks at every batch, or NULL */
    void *own;
    uint64_t events, bytes;         /* written; set by pump_end */
    uint64_t matches;               /* events that matched the filters */
    ttr_loss loss[PUMP_LOSSES_MAX]; /* what the target could not hold; set by pump_end */
    size_t losses_n;
    /* Prints more members of an input of the JSON report, or NULL. */
    void (*put_input)(struct json *json, const struct pump *pump, const struct trace *trace);
    bool is_partial;   /* reading failed half-way */
    bool hides_losses; /* nobody asked what the output cannot hold */
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

/* Reports that no event matched the filters.  Returns OUTCOME_NO then, else the given outcome. */
int pump_check_matches(const struct pump *pump, int outcome);

/* Prints what a format cannot hold: to stderr, `losses` with their counts, or before anything was
 * converted. */
void pump_print_losses(const struct call *call, const ttr_loss *losses, size_t n, bool is_before);

#endif
