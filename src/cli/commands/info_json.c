/* info --json: docs/user/json.md has the schema. */
#include "cli/commands/classes.h"
#include "cli/commands/info.h"

static void write_text_attribute_json(struct json *json, const struct subject *subject,
                                      const struct trace *trace, const char *key, const char *name)
{
    ttr_value value;
    if (traces_get_attribute(subject->inputs.t, trace->source, name, &value) && value.text.n)
        json_write_text(json, key, value.text);
}

static void write_environment_json(struct json *json, const struct subject *subject,
                                   const struct trace *trace)
{
    ttr_attribute attribute;
    json_open(json, "environment", '{');
    for (size_t i = 0; ttr_source_attribute(subject->inputs.t, trace->source, i, &attribute); i++)
        if (!is_written_by_tracetta(attribute.name))
            json_write_member(json, attribute.name, &attribute.value);
    json_close(json, '}');
}

static void write_stream_json(struct json *json, const struct subject *subject,
                              const ttr_report *report)
{
    const ttr *t = subject->inputs.t;
    struct findings sum;
    ttr_value value;
    findings_begin(&sum);
    findings_add(&sum, report);
    json_open(json, NULL, '{');
    json_write_text(json, "path", report->path);
    if (traces_get_attribute(t, report->source, "stream.class", &value))
        json_write_uint(json, "class", value.v.u);
    if (traces_get_attribute(t, report->source, "stream.id", &value))
        json_write_uint(json, "id", value.v.u);
    json_write_uint(json, "bytes", report->bytes);
    json_write_uint(json, "packets", report->packets);
    json_write_uint(json, "events", report->events);
    if (report->has_times) {
        json_write_time(json, "begin_ns", report->first_ns);
        json_write_time(json, "end_ns", report->last_ns);
    }
    write_damage_json(json, &sum);
    json_close(json, '}');
}

static void write_streams_json(struct json *json, const struct subject *subject,
                               const struct trace *trace)
{
    ttr_report report = {.size = sizeof report};
    json_open(json, "streams", '[');
    for (size_t i = 0;
         i < trace->n && ttr_reader_report(subject->inputs.reader, trace->first + i, &report); i++)
        if (traces_is_stream(subject->inputs.t, &report))
            write_stream_json(json, subject, &report);
    json_close(json, ']');
}

static void write_trace_json(struct json *json, const struct subject *subject,
                             const struct trace *trace)
{
    json_open(json, NULL, '{');
    json_write_text(json, "path", trace->report.trace_path);
    json_write_string(json, "format", trace->report.format);
    json_write_string(json, "version", trace->report.version);
    write_text_attribute_json(json, subject, trace, "name", "trace.name");
    write_text_attribute_json(json, subject, trace, "uuid", "trace.uuid");
    write_text_attribute_json(json, subject, trace, "namespace", "trace.namespace");
    write_text_attribute_json(json, subject, trace, "uid", "trace.uid");
    json_write_uint(json, "events", trace->sum.events);
    json_write_uint(json, "packets", trace->packets);
    if (trace->has_times) {
        json_write_time(json, "begin_ns", trace->begin_ns);
        json_write_time(json, "end_ns", trace->end_ns);
    }
    write_damage_json(json, &trace->sum);
    write_environment_json(json, subject, trace);
    write_trace_clocks_json(json, subject->inputs.reader, trace);
    write_streams_json(json, subject, trace);
    write_classes_json(json, subject->inputs.reader, trace, subject->call->set.classes);
    json_close(json, '}');
}

static void write_traces_json(struct json *json, const struct subject *subject)
{
    struct trace trace;
    struct traces_walk walk;
    json_open(json, "traces", '[');
    traces_walk_begin(&walk, subject->inputs.reader);
    while (traces_walk_step(&walk, &trace))
        write_trace_json(json, subject, &trace);
    traces_walk_end(&walk);
    json_close(json, ']');
}

/* Prints the member "sessions", if the input is a live source with sessions. */
static void write_sessions_json(struct json *json, const struct subject *subject)
{
    ttr_text session;
    uint16_t source = 1;
    size_t i = 0;
    if (!read_next_session(subject, &source, &i, &session))
        return;
    json_open(json, "sessions", '[');
    do
        json_write_text(json, NULL, session);
    while (read_next_session(subject, &source, &i, &session));
    json_close(json, ']');
}

static void write_numbers_json(struct json *json, const struct subject *subject)
{
    const ttr_summary *summary = &subject->summary;
    json_write_uint(json, "events", summary->events);
    write_damage_json(json, &subject->findings);
    json_write_time(json, "begin_ns", summary->begin_ns);
    json_write_time(json, "end_ns", summary->end_ns);
    json_write_uint(json, "duration_ns", (uint64_t)summary->end_ns - (uint64_t)summary->begin_ns);
    json_write_bool(json, "unix_time", subject->findings.is_anchored);
    json_write_uint(json, "backward", summary->backward);
    json_write_uint(json, "threads", summary->threads);
    json_write_uint(json, "processes", summary->processes);
    json_write_uint(json, "names", summary->names);
    json_write_uint(json, "providers", summary->providers);
    json_open(json, "kinds", '{');
    for (unsigned kind = TTR_KIND_INSTANT; kind < TTR_KIND_DEFINITION; kind++)
        if (summary->kinds[kind])
            json_write_uint(json, ttr_kind_text(kind), summary->kinds[kind]);
    json_close(json, '}');
}

void write_info_json(struct json *json, const struct subject *subject)
{
    const ttr_report *report = &subject->first.report;
    bool is_top = json->depth == 0;
    json->is_unix = subject->findings.is_anchored;
    json_open(json, NULL, '{');
    if (is_top)
        json_write_string(json, "schema", "tracetta.info/1");
    json_write_string(json, "path", subject->path);
    json_write_string(json, "format", report->format);
    json_write_string(json, "version", report->version);
    json_write_string(json, "compression", report->compression);
    json_write_uint(json, "bytes", subject->findings.bytes);
    json_write_uint(json, "disk_bytes", subject->findings.disk_size);
    write_numbers_json(json, subject);
    write_streams_read_json(json, subject->inputs.reader);
    write_sessions_json(json, subject);
    write_clocks_json(json, subject->inputs.reader);
    write_notes_json(json, &subject->inputs);
    write_traces_json(json, subject);
    json_close(json, '}');
}
