/* Reads events for the reports, and finds their fields. */
#include <string.h>

#include "cli/ui/progress.h"
#include "cli/input/selection.h"
#include "cli/commands/report.h"
#include "cli/commands/reports.h"
#include "cli/ui/messages.h"

static bool add_event_batch(struct event_report *event_report, const ttr_batch *batch)
{
    for (uint32_t i = 0; i < batch->n; i++)
        if (!event_report->add(event_report, ttr_batch_at(batch, i)))
            return false;
    return true;
}

static int read_all_events(struct event_report *event_report)
{
    struct progress progress;
    ttr_batch batch;
    ttr_error error = {0};
    ttr_status status;
    bool has_memory = true;
    progress_begin(&progress, event_report->call, event_report->inputs.t,
                   event_report->inputs.reader, event_report->call->command->name);
    do {
        status = ttr_read(event_report->inputs.reader, &batch, &error);
        if (status == TTR_OK)
            event_report->has_match =
                event_report->has_match || selection_has_match(event_report->call, &batch);
        if (status == TTR_OK)
            has_memory = add_event_batch(event_report, &batch);
    } while ((status == TTR_OK || status == TTR_AGAIN) && has_memory && progress_step(&progress));
    progress_end(&progress);
    if (!has_memory) {
        report_failure_text(inputs_get_name(event_report->call), "out of memory");
        return OUTCOME_INPUT;
    }
    return status == TTR_OK || status == TTR_END || status == TTR_AGAIN
               ? OUTCOME_FINE
               : inputs_report_failure(event_report->call, inputs_get_name(event_report->call),
                                       &error);
}

int run_event_report(struct event_report *event_report)
{
    int outcome = inputs_open(&event_report->inputs, event_report->call, 0);
    if (outcome != OUTCOME_FINE)
        return outcome;
    outcome = read_all_events(event_report);
    if (event_report->call->set.json) {
        struct findings findings = sum_findings(event_report->inputs.reader);
        event_report->json =
            (struct json){.to = stdout,
                          .has_text_times = call_has_text_times(event_report->call),
                          .is_unix = findings.is_anchored};
        json_open(&event_report->json, NULL, '{');
        json_write_string(&event_report->json, "schema", event_report->schema);
        write_damage_json(&event_report->json, &findings);
    }
    event_report->show(event_report);
    if (event_report->call->set.json)
        json_close(&event_report->json, '}');
    outcome = selection_check_matches(event_report->call, event_report->has_match, outcome);
    outcome = warn_about_findings(event_report->call, event_report->inputs.reader, outcome);
    inputs_close(&event_report->inputs);
    return outcome;
}

size_t get_report_row_limit(const struct event_report *event_report, size_t n)
{
    uint64_t limit = event_report->call->set.limit;
    return limit && limit < n ? (size_t)limit : n;
}

bool is_event_named(const struct event_report *event_report, const ttr_event *event,
                    const char *name)
{
    return strcmp(ttr_text_get(event_report->inputs.t, event->name).p, name) == 0;
}

uint64_t get_event_number(const struct event_report *event_report, const ttr_event *event,
                          const char *name)
{
    ttr_field field;
    bool is_there = ttr_field_find(event_report->inputs.t, event, name, &field);
    return is_there && (field.value.type == TTR_TYPE_UINT || field.value.type == TTR_TYPE_INT)
               ? field.value.v.u
               : 0;
}

ttr_id get_event_text(const struct event_report *event_report, const ttr_event *event,
                      const char *name)
{
    ttr_field field;
    if (!ttr_field_find(event_report->inputs.t, event, name, &field))
        return 0;
    bool has_text = field.value.type == TTR_TYPE_TEXT ||
                    (field.value.hint == TTR_DISPLAY_ENUM && field.value.count);
    return has_text ? ttr_text_add(event_report->inputs.t, field.value.text.p, field.value.text.n)
                    : 0;
}
