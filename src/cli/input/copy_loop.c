/* Copies events from a reader to a writer. ttr_copy does not report which side failed, which
 * decides the exit status. */
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

int pump_output_failed(const struct pump *pump, const ttr_error *error)
{
    bool is_stdout = strcmp(pump->path, "-") == 0;
    if (is_stdout && error->status == TTR_E_IO && error->sys == EPIPE)
        return OUTCOME_FINE;
    const char *name = is_stdout ? "standard output" : pump->path;
    if (error->sys == EEXIST) {
        talk_failure(name, "exists already; --overwrite (-f) replaces it");
        return OUTCOME_OUTPUT;
    }
    talk_error(pump->call, name, error);
    return error->status == TTR_E_LOSS     ? OUTCOME_NO
           : error->status == TTR_E_MISUSE ? OUTCOME_MISUSE
                                           : OUTCOME_OUTPUT;
}

int pump_open(struct pump *pump, const char *format, uint32_t flags)
{
    ttr_error error = {0};
    bool is_fine;
    const char **format_options = inputs_format_options(pump->call, true, &is_fine);
    ttr_write_options options = {.size = sizeof options, .format_options = format_options};
    /* Text drops parts of most events, so for cat --strict only concerns the input. */
    bool is_strict = pump->call->set.strict && pump->call->command->verb != VERB_CAT;
    options.flags = flags | (pump->call->set.overwrite ? TTR_WRITE_OVERWRITE : 0) |
                    (is_strict ? TTR_WRITE_STRICT : 0);
    if (is_fine)
        pump->out = ttr_create(pump->t, pump->path, format, &options, &error);
    free(format_options);
    if (!is_fine)
        return OUTCOME_MISUSE;
    if (!pump->path)
        pump->path = "nowhere";
    if (!pump->out)
        return pump_output_failed(pump, &error);
    inputs_warn_idle(pump->call, pump->in, format, pump->own_options);
    interrupt_remove(ttr_writer_temporary(pump->out));
    return OUTCOME_FINE;
}

/* Writes a batch event by event until `left` of them are printed.  An event is printed if the
 * output grows: some formats skip gaps and objects. */
static ttr_status write_limited(struct pump *pump, const ttr_batch *batch, uint64_t *left,
                                ttr_error *error)
{
    ttr_status status = TTR_OK;
    for (uint32_t i = 0; i<batch->n && * left> 0 && status == TTR_OK; i++) {
        const ttr_event *event = ttr_batch_at(batch, i);
        const ttr_batch one = {.event = event, .n = 1};
        const uint64_t before = ttr_writer_bytes(pump->out);
        if (pump->see)
            pump->see(pump->own, &one);
        status = ttr_write(pump->out, &one, error);
        *left -= event->kind != TTR_KIND_DEFINITION && ttr_writer_bytes(pump->out) > before;
    }
    return status;
}

/* Writes a batch, up to the limit. */
static ttr_status write_batch(struct pump *pump, const ttr_batch *batch, uint64_t *left,
                              ttr_error *error)
{
    pump->matches += selection_count_matches(pump->call, batch);
    if (pump->limit)
        return write_limited(pump, batch, left, error);
    if (pump->see)
        pump->see(pump->own, batch);
    return batch->n ? ttr_write(pump->out, batch, error) : TTR_OK;
}

/* Why the copy stopped. */
enum stop { STOP_END, STOP_INPUT, STOP_OUTPUT };

static enum stop copy_batches(struct pump *pump, struct progress *progress, ttr_error *error)
{
    uint64_t left = pump->limit;
    ttr_batch batch;
    do {
        ttr_status status = ttr_read(pump->in, &batch, error);
        if (status == TTR_END)
            return STOP_END;
        /* A live trace pauses: the events so far become visible. */
        if (status == TTR_AGAIN && ttr_flush(pump->out, error) != TTR_OK)
            return STOP_OUTPUT;
        if (status == TTR_AGAIN)
            continue;
        if (status != TTR_OK)
            return STOP_INPUT;
        if (write_batch(pump, &batch, &left, error) != TTR_OK)
            return STOP_OUTPUT;
        if (pump->is_live && ttr_flush(pump->out, error) != TTR_OK)
            return STOP_OUTPUT;
        pump->events = progress->written = ttr_writer_events(pump->out);
    } while (progress_step(progress) && !(pump->limit && left == 0));
    return STOP_END;
}

int pump_run(struct pump *pump)
{
    struct progress progress;
    ttr_error error = {0};
    progress_begin(&progress, pump->call, pump->t, pump->in, pump->call->command->name);
    enum stop stop = copy_batches(pump, &progress, &error);
    progress_end(&progress);
    if (stop == STOP_END)
        return OUTCOME_FINE;
    if (stop == STOP_OUTPUT) {
        int outcome = pump_output_failed(pump, &error);
        ttr_abandon(pump->out);
        interrupt_remove(NULL);
        pump->out = NULL;
        return outcome;
    }
    int outcome = inputs_failed(pump->call, inputs_name(pump->call), &error);
    if (outcome == OUTCOME_NO) {
        pump->is_partial = strcmp(pump->path, "-") == 0;
        return outcome;
    }
    pump->is_partial = outcome == OUTCOME_INPUT && pump->events > 0;
    return pump->is_partial ? OUTCOME_OUTPUT : outcome;
}

void pump_print_losses(const struct call *call, const ttr_loss *losses, size_t n, bool is_before)
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

void pump_tell_losses(struct pump *pump)
{
    const ttr_loss *losses;
    size_t n = ttr_losses(pump->out, &losses);
    pump->losses_n = n < PUMP_LOSSES_MAX ? n : PUMP_LOSSES_MAX;
    memcpy(pump->loss, losses, pump->losses_n * sizeof *losses);
    if (pump->call->set.json)
        return;
    if (n == 0 || pump->hides_losses || (pump->call->set.quiet && !pump->call->set.explain))
        return;
    (void)fputs("not preserved exactly:\n", stderr);
    pump_print_losses(pump->call, losses, n, false);
}

int pump_end(struct pump *pump, int outcome)
{
    ttr_error error = {0};
    if (!pump->out)
        return outcome;
    bool is_kept = outcome == OUTCOME_FINE || pump->is_partial;
    if (is_kept && ttr_writer_end(pump->out, &error) != TTR_OK) {
        outcome = pump_output_failed(pump, &error);
        is_kept = false;
    } else {
        if (is_kept)
            interrupt_remove(NULL);
        pump_tell_losses(pump);
    }
    pump->bytes = ttr_writer_bytes(pump->out);
    pump->events = ttr_writer_events(pump->out);
    if (is_kept && pump->is_partial && strcmp(pump->path, "-") != 0)
        talk_failure(pump->path, "holds only what came before the failure (%" PRIu64 " events)",
                     pump->events);
    ttr_abandon(pump->out);
    interrupt_remove(NULL);
    pump->out = NULL;
    return outcome;
}

int pump_check_matches(const struct pump *pump, int outcome)
{
    return selection_check_matches(pump->call, pump->matches > 0, outcome);
}
