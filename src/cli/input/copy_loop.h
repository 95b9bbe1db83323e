/* The copy loop: copies batches from a reader to a writer, with progress, a limit and Ctrl-C, and
 * finishes the output.
 *
 * Ownership: a copy_loop owns its writer until copy_loop_finish; it borrows the reader. */
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
    const char *path;   /* path of the output, for messages */
    uint64_t limit;     /* limit of the events to print; 0 = none */
    uint64_t skip;      /* events at the start that are not written */
    size_t own_options; /* number of format options at the end of the list that the user did not
                         * give */
    bool is_live;       /* flush after every batch, because a user is watching */
    /* if not NULL: flush after a batch if one of these inputs has nothing more to read */
    const struct inputs *inputs;
    /* callback for every batch before it is written, or NULL */
    void (*see)(void *ctx, const ttr_batch *batch);
    void *ctx;
    uint64_t events, bytes;              /* events and bytes written; set by copy_loop_finish */
    bool has_match;                      /* true if an event matched the filters */
    ttr_loss loss[COPY_LOOP_LOSSES_MAX]; /* losses of the output; set by copy_loop_finish */
    size_t losses_n;
    /* prints further members of an input in the JSON report, or NULL */
    void (*put_input)(struct json *json, const struct copy_loop *copy_loop,
                      const struct trace *trace);
    bool is_partial;   /* reading failed after some events were written */
    bool hides_losses; /* losses are not printed, because they are usual for this output */
};

/* Creates the writer: for a file, stdout ("-"), or no output (path NULL). Returns OUTCOME_FINE, or
 * the outcome after reporting an error. */
int copy_loop_open(struct copy_loop *copy_loop, const char *format, uint32_t flags);

/* Copies all events. Returns OUTCOME_FINE also after Ctrl-C. Sets is_partial if reading fails after
 * some events. */
int copy_loop_run(struct copy_loop *copy_loop);

/* Finishes the output, or removes it if the outcome so far requires that. Prints up to ten kinds of
 * losses, or all with --explain. Returns the final outcome. */
int copy_loop_finish(struct copy_loop *copy_loop, int outcome);

/* Reports why writing failed and returns the outcome. If the reader of a pipe on standard output
 * has closed it, that is OUTCOME_FINE, and copying stops. */
int copy_loop_output_failed(const struct copy_loop *copy_loop, const ttr_error *error);

/* Prints the losses of a finished output and stores them in copy_loop->loss. */
void copy_loop_report_losses(struct copy_loop *copy_loop);

/* Reports an error and returns OUTCOME_NO if no event matched the filters; else returns `outcome`.
 */
int copy_loop_report_no_matches(const struct copy_loop *copy_loop, int outcome);

/* Prints losses to stderr: with their counts, or without counts if `is_before` the conversion. */
void copy_loop_print_losses(const struct call *call, const ttr_loss *losses, size_t n,
                            bool is_before);

#endif
