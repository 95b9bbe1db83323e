/* Prints the JSON report of convert and merge: the output, its inputs, losses and damage. */
#include "cli/commands/copy_report.h"

#include <string.h>

#include "cli/commands/report.h"
#include "cli/input/input_list.h"
#include "cli/input/trace_iter.h"
#include "cli/ui/json.h"
#include "cli/ui/messages.h"

int copy_report_check(const struct call *call)
{
    if (call->set.json && call->set.output && strcmp(call->set.output, "-") == 0)
        return report_misuse(call->command->name,
                             "--json cannot be printed: standard output is the trace; use -o FILE");
    return OUTCOME_FINE;
}

static void write_input_json(struct json *json, const struct copy_loop *copy_loop,
                             const struct trace *trace)
{
    const ttr_report *report = &trace->report;
    const ttr_clock *clock = report->clocks_n ? &report->clocks[0] : NULL;
    json_open(json, NULL, '{');
    json_write_text(json, "path", report->trace_path);
    json_write_string(json, "format", report->format);
    json_write_string(json, "version", report->version);
    json_write_uint(json, "bytes", trace->sum.bytes);
    json_write_uint(json, "events", trace->sum.events);
    json->is_unix = clock && clock->is_anchored;
    json_write_bool(json, "anchored", json->is_unix);
    json_write_int(json, "offset_ns", clock ? clock->offset_ns : 0);
    if (copy_loop->put_input)
        copy_loop->put_input(json, copy_loop, trace);
    json_close(json, '}');
}

static void write_losses_json(struct json *json, const struct copy_loop *copy_loop)
{
    json_open(json, "losses", '[');
    for (size_t i = 0; i < copy_loop->losses_n; i++) {
        const ttr_loss *loss = &copy_loop->loss[i];
        json_open(json, NULL, '{');
        json_write_string(json, "code", loss->code);
        json_write_string(json, "kind", loss->kind == TTR_LOSS_DROPPED ? "dropped" : "changed");
        json_write_string(json, "what", loss->what);
        json_write_string(json, "rule", loss->rule);
        json_write_uint(json, "count", loss->count);
        json_close(json, '}');
    }
    json_close(json, ']');
}

void copy_report_print(const struct copy_loop *copy_loop, const char *format, uint64_t took_ns,
                       int outcome)
{
    const struct call *call = copy_loop->call;
    struct json json = {.to = stdout, .has_text_times = call_has_text_times(call)};
    const struct inputs inputs = {.t = copy_loop->t, .reader = copy_loop->in};
    struct findings findings = sum_findings(copy_loop->in);
    char schema[48];
    struct trace trace;
    struct traces_walk walk;
    (void)snprintf(schema, sizeof schema, "tracetta.%s/1", call->command->name);
    json_open(&json, NULL, '{');
    json_write_string(&json, "schema", schema);
    json_write_string(&json, "output", call->set.output ? call->set.output : "");
    json_write_string(&json, "format", format);
    json_write_bool(&json, "dry_run", call->set.dry_run);
    json_write_int(&json, "status", outcome);
    json_write_uint(&json, "events", copy_loop->events);
    json_write_uint(&json, "bytes", copy_loop->bytes);
    json_write_uint(&json, "took_ns", took_ns);
    write_damage_json(&json, &findings);
    write_streams_read_json(&json, copy_loop->in);
    write_losses_json(&json, copy_loop);
    json_open(&json, "inputs", '[');
    traces_walk_begin(&walk, copy_loop->in);
    while (traces_walk_step(&walk, &trace))
        write_input_json(&json, copy_loop, &trace);
    traces_walk_end(&walk);
    json_close(&json, ']');
    write_notes_json(&json, &inputs);
    json_close(&json, '}');
}
