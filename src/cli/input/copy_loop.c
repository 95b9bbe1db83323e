/* Copies events from a reader to a writer. Unlike ttr_copy, it knows whether reading or writing
 * failed, which decides the exit status. */
#include "cli/input/copy_loop.h"
#include "cli/input/selection.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/input/input_list.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/progress.h"
#include "cli/ui/messages.h"

#define LOSSES_SHOWN 10u

int copy_loop_output_failed(const struct copy_loop *copy_loop, const ttr_error *error)
{
    bool is_stdout = strcmp(copy_loop->path, "-") == 0;
    if (is_stdout && error->status == TTR_E_IO && error->sys == EPIPE)
        return OUTCOME_FINE;
    const char *name = is_stdout ? "standard output" : copy_loop->path;
    if (error->sys == EEXIST) {
        report_failure_text(name, "exists already; --overwrite (-f) replaces it");
        return OUTCOME_OUTPUT;
    }
    report_error(copy_loop->call, name, error);
    return error->status == TTR_E_LOSS     ? OUTCOME_NO
           : error->status == TTR_E_MISUSE ? OUTCOME_MISUSE
                                           : OUTCOME_OUTPUT;
}

int copy_loop_open(struct copy_loop *copy_loop, const char *format, uint32_t flags)
{
    ttr_error error = {0};
    bool is_fine;
    const char **format_options = inputs_format_options(copy_loop->call, true, &is_fine);
    ttr_write_options options = {.size = sizeof options, .format_options = format_options};
    /* Text output drops parts of most events. For cat, --strict therefore concerns only the
     * input. */
    bool is_strict = copy_loop->call->set.strict && copy_loop->call->command->verb != VERB_CAT;
    const char *output = copy_loop->call->set.output;
    const bool is_terminal =
        copy_loop->call->term.out_is_tty && (!output || strcmp(output, "-") == 0);
    options.flags = flags | (is_terminal ? TTR_WRITE_TERMINAL : 0) |
                    (copy_loop->call->set.overwrite ? TTR_WRITE_OVERWRITE : 0) |
                    (is_strict ? TTR_WRITE_STRICT : 0);
    if (is_fine)
        copy_loop->out = ttr_create(copy_loop->t, copy_loop->path, format, &options, &error);
    free(format_options);
    if (!is_fine)
        return OUTCOME_MISUSE;
    if (!copy_loop->path)
        copy_loop->path = "nowhere";
    if (!copy_loop->out)
        return copy_loop_output_failed(copy_loop, &error);
    inputs_warn_about_idle(copy_loop->call, copy_loop->in, format, copy_loop->own_options);
    interrupt_set_temporary_path(ttr_writer_temporary_path(copy_loop->out));
    return OUTCOME_FINE;
}

/* Writes a batch one event at a time until `left` events are printed. An event counts if the output
 * grew, since some formats print no gaps and objects. */
static ttr_status write_up_to_limit(struct copy_loop *copy_loop, const ttr_batch *batch,
                                    uint64_t *left, ttr_error *error)
{
    ttr_status status = TTR_OK;
    for (uint32_t i = 0; i<batch->n && * left> 0 && status == TTR_OK; i++) {
        const ttr_event *event = ttr_batch_at(batch, i);
        const ttr_batch one = {.event = event, .n = 1};
        const uint64_t before = ttr_writer_bytes(copy_loop->out);
        if (copy_loop->see)
            copy_loop->see(copy_loop->ctx, &one);
        status = ttr_write(copy_loop->out, &one, error);
        *left -= event->kind != TTR_KIND_DEFINITION && ttr_writer_bytes(copy_loop->out) > before;
    }
    return status;
}

/* Writes the events of a batch that are not skipped. */
static ttr_status write_after_skip(struct copy_loop *copy_loop, const ttr_batch *batch,
                                   ttr_error *error)
{
    ttr_status status = TTR_OK;
    for (uint32_t i = 0; i < batch->n && status == TTR_OK; i++) {
        const ttr_batch one = {.event = ttr_batch_at(batch, i), .n = 1};
        if (one.event->kind != TTR_KIND_DEFINITION && copy_loop->skip > 0)
            copy_loop->skip--;
        else
            status = ttr_write(copy_loop->out, &one, error);
    }
    return status;
}

/* Writes a batch, up to the limit of printed events. */
static ttr_status write_batch(struct copy_loop *copy_loop, const ttr_batch *batch, uint64_t *left,
                              ttr_error *error)
{
    copy_loop->has_match = copy_loop->has_match || selection_has_match(copy_loop->call, batch);
    if (copy_loop->limit)
        return write_up_to_limit(copy_loop, batch, left, error);
    if (copy_loop->see)
        copy_loop->see(copy_loop->ctx, batch);
    if (copy_loop->skip > 0)
        return write_after_skip(copy_loop, batch, error);
    return batch->n ? ttr_write(copy_loop->out, batch, error) : TTR_OK;
}

/* Why copying stopped. */
enum stop { STOP_END, STOP_INPUT, STOP_OUTPUT };

static enum stop copy_batches(struct copy_loop *copy_loop, struct progress *progress,
                              ttr_error *error)
{
    uint64_t left = copy_loop->limit;
    ttr_batch batch;
    do {
        ttr_status status = ttr_read(copy_loop->in, &batch, error);
        if (status == TTR_END)
            return STOP_END;
        /* A live trace pauses: flush, so that its events become visible. */
        if (status == TTR_AGAIN && ttr_flush(copy_loop->out, error) != TTR_OK)
            return STOP_OUTPUT;
        if (status == TTR_AGAIN)
            continue;
        if (status != TTR_OK)
            return STOP_INPUT;
        if (write_batch(copy_loop, &batch, &left, error) != TTR_OK)
            return STOP_OUTPUT;
        const bool is_paused = copy_loop->inputs && inputs_are_idle(copy_loop->inputs);
        if ((copy_loop->is_live || is_paused) && ttr_flush(copy_loop->out, error) != TTR_OK)
            return STOP_OUTPUT;
        copy_loop->events = progress->written = ttr_writer_events(copy_loop->out);
    } while (progress_step(progress) && !(copy_loop->limit && left == 0));
    return STOP_END;
}

int copy_loop_run(struct copy_loop *copy_loop)
{
    struct progress progress;
    ttr_error error = {0};
    progress_begin(&progress, copy_loop->call, copy_loop->t, copy_loop->in,
                   copy_loop->call->command->name);
    enum stop stop = copy_batches(copy_loop, &progress, &error);
    progress_end(&progress);
    if (stop == STOP_END)
        return OUTCOME_FINE;
    if (stop == STOP_OUTPUT) {
        int outcome = copy_loop_output_failed(copy_loop, &error);
        ttr_writer_abort(copy_loop->out);
        interrupt_set_temporary_path(NULL);
        copy_loop->out = NULL;
        return outcome;
    }
    int outcome = inputs_report_failure(copy_loop->call, inputs_get_name(copy_loop->call), &error);
    if (outcome == OUTCOME_NO) {
        copy_loop->is_partial = strcmp(copy_loop->path, "-") == 0;
        return outcome;
    }
    copy_loop->is_partial = outcome == OUTCOME_INPUT && copy_loop->events > 0;
    return copy_loop->is_partial ? OUTCOME_OUTPUT : outcome;
}

void copy_loop_print_losses(const struct call *call, const ttr_loss *losses, size_t n,
                            bool is_before)
{
    size_t shown = call->set.explain || n <= LOSSES_SHOWN ? n : LOSSES_SHOWN;
    for (size_t i = 0; i < shown; i++) {
        const ttr_loss *loss = &losses[i];
        (void)fprintf(stderr, "  %-7s ", loss->kind == TTR_LOSS_DROPPED ? "dropped" : "changed");
        if (!is_before)
            (void)fprintf(stderr, "%12s  ", units_count(loss->count).s);
        (void)fprintf(stderr, "%s %s [%s]\n", loss->what, loss->rule, loss->code);
    }
    if (shown < n)
        (void)fprintf(stderr, "  and %zu more kinds: --explain lists all\n", n - shown);
}

void copy_loop_report_losses(struct copy_loop *copy_loop)
{
    const ttr_loss *losses;
    size_t n = ttr_losses(copy_loop->out, &losses);
    copy_loop->losses_n = n < COPY_LOOP_LOSSES_MAX ? n : COPY_LOOP_LOSSES_MAX;
    memcpy(copy_loop->loss, losses, copy_loop->losses_n * sizeof *losses);
    if (copy_loop->call->set.json)
        return;
    if (n == 0 || copy_loop->hides_losses ||
        (copy_loop->call->set.quiet && !copy_loop->call->set.explain))
        return;
    (void)fputs("not preserved exactly:\n", stderr);
    copy_loop_print_losses(copy_loop->call, losses, n, false);
}

int copy_loop_finish(struct copy_loop *copy_loop, int outcome)
{
    ttr_error error = {0};
    if (!copy_loop->out)
        return outcome;
    bool is_kept = outcome == OUTCOME_FINE || copy_loop->is_partial;
    if (is_kept && ttr_writer_end(copy_loop->out, &error) != TTR_OK) {
        outcome = copy_loop_output_failed(copy_loop, &error);
        is_kept = false;
    } else {
        if (is_kept)
            interrupt_set_temporary_path(NULL);
        copy_loop_report_losses(copy_loop);
    }
    copy_loop->bytes = ttr_writer_bytes(copy_loop->out);
    copy_loop->events = ttr_writer_events(copy_loop->out);
    if (is_kept && copy_loop->is_partial && strcmp(copy_loop->path, "-") != 0)
        report_failure_text(copy_loop->path,
                            "holds only what came before the failure (%" PRIu64 " events)",
                            copy_loop->events);
    ttr_writer_abort(copy_loop->out);
    interrupt_set_temporary_path(NULL);
    copy_loop->out = NULL;
    return outcome;
}

int copy_loop_report_no_matches(const struct copy_loop *copy_loop, int outcome)
{
    return selection_check_matches(copy_loop->call, copy_loop->has_match, outcome);
}
