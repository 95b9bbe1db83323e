/* The copy loop: moves batches from a reader to a writer, with progress, a limit and Ctrl-C, and
 * ends the output.
 *
 * Ownership: a pump owns its writer until copy_loop_end; it borrows the reader. */
#ifndef TRACETTA_CLI_INPUT_COPY_LOOP_H
#define TRACETTA_CLI_INPUT_COPY_LOOP_H

#include <tracetta/tracetta.h>

#include "cli/commands/command.h"

#define COPY_LOOP_LOSSES_MAX 64u

struct inputs;
struct json;
struct trace;

struct copy_loop {
    const struct call *call;
    ttr *t;
    ttr_reader *in;
    ttr_writer *out;
    const char *path;   /* of the output, for messages */
    uint64_t limit;     /* events to print; 0 = all */
    size_t own_options; /* format options at the end of the list that the user did not give */
    bool is_live;       /* flush after every batch: a user is watching */
    /* if not NULL: flush after a batch if one of these inputs has nothing more to read */
    const struct inputs *inputs;
    /* called with every batch before it is written, or NULL */
    void (*see)(void *ctx, const ttr_batch *batch);
    void *ctx;
    uint64_t events, bytes;              /* written; set by copy_loop_end */
    uint64_t matches;                    /* events that matched the filters */
    ttr_loss loss[COPY_LOOP_LOSSES_MAX]; /* what the target could not hold; set by copy_loop_end */
    size_t losses_n;
    /* Prints more members of an input of the JSON report, or NULL. */
    void (*put_input)(struct json *json, const struct copy_loop *copy_loop,
                      const struct trace *trace);
    bool is_partial;   /* reading failed after some events */
    bool hides_losses; /* losses are not printed: they are usual for this output */
};

/* Creates the writer: into a file, stdout ("-"), or nothing (path NULL). Returns OUTCOME_FINE, or
 * the outcome after reporting an error. */
int copy_loop_open(struct copy_loop *copy_loop, const char *format, uint32_t flags);

/* Copies all events. Returns OUTCOME_FINE also after Ctrl-C. If reading fails after some events,
 * the output is partial. */
int copy_loop_run(struct copy_loop *copy_loop);

/* Puts the output in place, or removes it if the outcome so far requires that. Prints up to ten
 * kinds of losses, or all with --explain. Returns the final outcome. */
int copy_loop_end(struct copy_loop *copy_loop, int outcome);

/* Reports why the output failed and returns the outcome. A reader that closed a pipe on standard
 * output is not an error: OUTCOME_FINE, and the copy stops. */
int pump_output_failed(const struct copy_loop *copy_loop, const ttr_error *error);

/* Prints the losses of the output, which are complete after it has ended, and keeps them in
 * pump->loss. */
void pump_tell_losses(struct copy_loop *copy_loop);

/* Reports that no event matched the filters.  Returns OUTCOME_NO then, else the given outcome. */
int copy_loop_check_matches(const struct copy_loop *copy_loop, int outcome);

/* Prints to stderr what a format cannot hold: the losses with their counts, or without counts
 * before the conversion. */
void copy_loop_print_losses(const struct call *call, const ttr_loss *losses, size_t n,
                            bool is_before);

#endif
