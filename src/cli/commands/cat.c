/* cat: prints events as lines. */
#include <string.h>

#include "cli/commands/convert.h"
#include "cli/input/input_list.h"
#include "cli/input/copy_loop.h"
#include "cli/input/output_check.h"
#include "cli/commands/report.h"
#include "cli/ui/messages.h"
#include "cli/ui/style.h"

/* Counts the events before the last --tail ones, by reading the inputs once. */
static int count_skipped(const struct call *given, uint32_t flags, uint64_t *skip)
{
    struct call quiet = *given;
    struct inputs inputs;
    ttr_batch batch;
    ttr_error error = {0};
    ttr_status status;
    uint64_t events = 0;
    for (size_t i = 0; i < given->paths_n; i++)
        if (strcmp(given->path[i], "-") == 0 || strstr(given->path[i], "://"))
            return report_misuse("cat", "--tail reads files twice: use a file instead of \"%s\"",
                                 given->path[i]);
    if (given->set.limit)
        return report_misuse("cat", "--limit and --tail exclude each other");
    quiet.set.quiet = true; /* the second reading prints the warnings */
    const int outcome = inputs_open(&inputs, &quiet, flags);
    if (outcome != OUTCOME_FINE)
        return outcome;
    while ((status = ttr_read(inputs.reader, &batch, &error)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++)
            events += ttr_batch_at(&batch, i)->kind != TTR_KIND_DEFINITION;
    inputs_close(&inputs);
    *skip = events > given->set.tail ? events - given->set.tail : 0;
    return OUTCOME_FINE;
}

int run_cat(struct call *call)
{
    uint64_t skip = 0;
    struct inputs inputs;
    struct style style;
    const char *path = call->set.output ? call->set.output : "-";
    bool is_screen = strcmp(path, "-") == 0;
    int outcome = check_output_path(call, call->set.output, "text");
    if (outcome == OUTCOME_FINE)
        outcome = style_begin(&style, call);
    if (outcome != OUTCOME_FINE)
        return outcome;
    if (call->set.tail)
        outcome = count_skipped(call, style.read_flags, &skip);
    if (outcome == OUTCOME_FINE)
        outcome = inputs_open(&inputs, call, style.read_flags);
    if (outcome != OUTCOME_FINE) {
        style_end(&style);
        return outcome;
    }
    if (is_screen && !inputs_are_live(call))
        term_page(&call->term, &call->set);
    struct copy_loop copy_loop = {.call = call,
                                  .t = inputs.t,
                                  .in = inputs.reader,
                                  .inputs = &inputs,
                                  .path = path,
                                  .limit = call->set.limit,
                                  .skip = skip,
                                  .own_options = style.texts_n,
                                  .is_live =
                                      is_screen && call->term.out_is_tty && !call->term.pager};
    bool is_babeltrace2 = strcmp(style.format, "babeltrace2") == 0;
    bool has_color =
        is_screen && call->term.has_color && (is_babeltrace2 || strcmp(style.format, "text") == 0);
    style.t = inputs.t;
    style.from_ns = inputs.from_ns;
    style.to_ns = inputs.to_ns;
    style.has_color = !call->set.quiet && call->term.error_has_color && has_color;
    copy_loop.ctx = &style;
    copy_loop.hides_losses = !call->set.verbose;
    copy_loop.see = is_babeltrace2 && !call->set.quiet ? style_report_gaps : NULL;
    outcome = copy_loop_open(&copy_loop, style.format, has_color ? TTR_WRITE_COLOR : 0);
    if (outcome == OUTCOME_FINE && !copy_loop.is_live && !skip)
        inputs_enable_parallel_writing(&inputs, call, copy_loop.out);
    if (outcome == OUTCOME_FINE)
        outcome = copy_loop_run(&copy_loop);
    outcome = copy_loop_finish(&copy_loop, outcome);
    if (is_screen)
        term_end(&call->term);
    outcome = copy_loop_report_no_matches(&copy_loop, outcome);
    outcome =
        (copy_loop.see ? warn_about_damage : warn_about_findings)(call, inputs.reader, outcome);
    outcome = inputs_warn_if_changed(&inputs, call, outcome);
    inputs_close(&inputs);
    style_end(&style);
    return outcome;
}
