/* Reads events for the reports, and finds their fields. */
#include <string.h>

#include "cli/ui/progress.h"
#include "cli/input/selection.h"
#include "cli/commands/report.h"
#include "cli/commands/reports.h"
#include "cli/ui/messages.h"

static bool add_batch(struct tally *tally, const ttr_batch *batch)
{
    for (uint32_t i = 0; i < batch->n; i++)
        if (!tally->add(tally, ttr_batch_at(batch, i)))
            return false;
    return true;
}

static int read_all(struct tally *tally)
{
    struct progress progress;
    ttr_batch batch;
    ttr_error error = {0};
    ttr_status status;
    bool has_memory = true;
    progress_begin(&progress, tally->call, tally->inputs.t, tally->inputs.reader,
                   tally->call->command->name);
    do {
        status = ttr_read(tally->inputs.reader, &batch, &error);
        if (status == TTR_OK)
            tally->matches += selection_count_matches(tally->call, &batch);
        if (status == TTR_OK)
            has_memory = add_batch(tally, &batch);
    } while ((status == TTR_OK || status == TTR_AGAIN) && has_memory && progress_step(&progress));
    progress_end(&progress);
    if (!has_memory) {
        talk_failure(inputs_name(tally->call), "out of memory");
        return OUTCOME_INPUT;
    }
    return status == TTR_OK || status == TTR_END || status == TTR_AGAIN
               ? OUTCOME_FINE
               : inputs_failed(tally->call, inputs_name(tally->call), &error);
}

int tally_run(struct tally *tally)
{
    int outcome = inputs_open(&tally->inputs, tally->call, 0);
    if (outcome != OUTCOME_FINE)
        return outcome;
    outcome = read_all(tally);
    if (tally->call->set.json) {
        struct findings findings = report_sum(tally->inputs.reader);
        tally->json = (struct json){.to = stdout,
                                    .has_text_times = call_has_text_times(tally->call),
                                    .is_unix = findings.is_anchored};
        json_open(&tally->json, NULL, '{');
        json_string(&tally->json, "schema", tally->schema);
        report_json_damage(&tally->json, &findings);
    }
    tally->show(tally);
    if (tally->call->set.json)
        json_close(&tally->json, '}');
    outcome = selection_check_matches(tally->call, tally->matches > 0, outcome);
    outcome = report_warn(tally->call, tally->inputs.reader, outcome);
    inputs_close(&tally->inputs);
    return outcome;
}

size_t tally_rows(const struct tally *tally, size_t n)
{
    uint64_t limit = tally->call->set.limit;
    return limit && limit < n ? (size_t)limit : n;
}

bool tally_is(const struct tally *tally, const ttr_event *event, const char *name)
{
    return strcmp(ttr_text_get(tally->inputs.t, event->name).p, name) == 0;
}

uint64_t tally_number(const struct tally *tally, const ttr_event *event, const char *name)
{
    ttr_field field;
    bool is_there = ttr_field_find(tally->inputs.t, event, name, &field);
    return is_there && (field.value.type == TTR_TYPE_UINT || field.value.type == TTR_TYPE_INT)
               ? field.value.v.u
               : 0;
}

ttr_id tally_text(const struct tally *tally, const ttr_event *event, const char *name)
{
    ttr_field field;
    if (!ttr_field_find(tally->inputs.t, event, name, &field))
        return 0;
    bool has_text = field.value.type == TTR_TYPE_TEXT ||
                    (field.value.hint == TTR_HINT_ENUM && field.value.count);
    return has_text ? ttr_text_add(tally->inputs.t, field.value.text.p, field.value.text.n) : 0;
}
