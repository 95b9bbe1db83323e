/* info: prints a description of a trace: format, clocks, events, losses and damage. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/commands/classes.h"
#include "cli/commands/info.h"

#include "cli/input/interpretation.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/progress.h"
#include "cli/ui/messages.h"

#define FORMATS_SHOWN 8u
#define THREADS_SHOWN 40u

static void print_event_kinds(const struct subject *subject)
{
    const struct terminal *term = &subject->call->term;
    for (unsigned kind = TTR_KIND_INSTANT; kind < TTR_KIND_DEFINITION; kind++)
        if (subject->summary.kinds[kind])
            (void)printf("  %s%-12s%s %14s\n", term_ink(term, INK_DIM), ttr_kind_text(kind),
                         term_ink(term, INK_PLAIN), units_count(subject->summary.kinds[kind]).s);
}

static void print_attribute_text(const char *what, ttr_text text)
{
    if (text.n == 0)
        return;
    (void)printf("%s\"", what);
    term_text(text);
    (void)putchar('"');
}

/* Prints the clock fields that only CTF has. */
static void print_clock_identity(const ttr_clock *clock)
{
    print_attribute_text(", ", clock->description);
    print_attribute_text(", origin ", clock->origin);
    print_attribute_text(clock->origin.n ? " in " : ", origin in ", clock->origin_ns);
    print_attribute_text(clock->origin.n || clock->origin_ns.n ? " uid " : ", origin uid ",
                         clock->origin_uid);
    print_attribute_text(", namespace ", clock->ns);
    print_attribute_text(", uid ", clock->uid);
    if (clock->has_uuid)
        (void)printf(", uuid %s", units_uuid(clock->uuid).s);
}

static void print_clock(const ttr_clock *clock, int indent)
{
    (void)printf("%*sclock     %s%s", indent, "", clock->name ? clock->name : "",
                 clock->provider.n ? " of " : "");
    term_text(clock->provider);
    (void)printf(", %s ticks/s", units_count(clock->frequency).s);
    if (clock->is_anchored)
        (void)printf(", tick %" PRIu64 " = %s", clock->anchor_ticks,
                     units_time(clock->anchor_ns, true).s);
    else
        (void)fputs(", no anchor: times count from its own zero", stdout);
    if (clock->has_precision && clock->precision)
        (void)printf(", precise to %s ticks", units_count(clock->precision).s);
    if (clock->has_accuracy)
        (void)printf(", accurate to %s ticks", units_count(clock->accuracy).s);
    print_clock_identity(clock);
    (void)putchar('\n');
}

static void print_clocks(const struct subject *subject, const struct trace *trace, int indent)
{
    ttr_clock clock[TRACE_CLOCKS];
    size_t n = traces_clocks(subject->inputs.reader, trace, clock);
    for (size_t i = 0; i < n; i++)
        print_clock(&clock[i], indent);
}

static void print_packet_count(uint64_t packets, size_t streams)
{
    if (packets)
        (void)printf(", %s packet%s in %zu stream%s", units_count(packets).s,
                     packets == 1 ? "" : "s", streams, streams == 1 ? "" : "s");
}

static size_t count_streams(const struct subject *subject, const struct trace *trace)
{
    ttr_report report = {.size = sizeof report};
    size_t n = 0;
    for (size_t i = 0;
         i < trace->n && ttr_reader_report(subject->inputs.reader, trace->first + i, &report); i++)
        n += traces_is_stream(subject->inputs.t, &report);
    return n;
}

static void print_format(const struct subject *subject, const struct trace *trace)
{
    const ttr_report *report = &trace->report;
    (void)printf("%s%s%s", report->format, *report->version ? " " : "", report->version);
    print_packet_count(trace->packets, count_streams(subject, trace));
}

/* Returns true if one of the first n reports has the format of `report`, in the same version (or
 * `report` has none). */
static bool is_report_seen(const ttr_report *const *seen, size_t n, const ttr_report *report)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(seen[i]->format, report->format) == 0 &&
            (!*report->version || strcmp(seen[i]->version, report->version) == 0))
            return true;
    return false;
}

/* Prints the formats of several traces ("ctf 1.8, ctf 2") and the sums over them. */
static void print_formats(const struct subject *subject)
{
    struct trace trace = {0}, kept[FORMATS_SHOWN];
    const ttr_report *seen[FORMATS_SHOWN];
    uint64_t packets = 0;
    size_t streams = 0, n = 0;
    for (; traces_read_next(subject->inputs.reader, &trace);
         packets += trace.packets, streams += count_streams(subject, &trace)) {
        if (n == FORMATS_SHOWN || is_report_seen(seen, n, &trace.report))
            continue;
        (void)printf("%s%s%s%s", n ? ", " : "", trace.report.format,
                     *trace.report.version ? " " : "", trace.report.version);
        kept[n] = trace;
        seen[n] = &kept[n].report;
        n++;
    }
    (void)printf(", %zu traces", subject->traces);
    print_packet_count(packets, streams);
}

static void print_summary(const struct subject *subject)
{
    const struct terminal *term = &subject->call->term;
    const ttr_report *report = &subject->first.report;
    (void)fputs(term_ink(term, INK_BOLD), stdout);
    term_text((ttr_text){subject->path, strlen(subject->path)});
    (void)printf("%s\n", term_ink(term, INK_PLAIN));
    (void)fputs("format    ", stdout);
    if (subject->traces > 1)
        print_formats(subject);
    else
        print_format(subject, &subject->first);
    (void)printf("\nsize      %s", units_size(subject->findings.bytes).s);
    if (*report->compression)
        (void)printf(" (%s: %s)", report->compression, units_size(subject->findings.disk_size).s);
    if (subject->findings.files > 1)
        (void)printf(" in %zu files", subject->findings.files);
    (void)putchar('\n');
}

static void print_sessions(const struct subject *subject)
{
    ttr_text session;
    uint16_t source = 1;
    for (size_t i = 0; read_next_session(subject, &source, &i, &session);) {
        (void)fputs("session   ", stdout);
        term_text(session);
        (void)putchar('\n');
    }
}

static void print_time_range(const struct subject *subject)
{
    const ttr_summary *summary = &subject->summary;
    if (summary->events == 0)
        return;
    if (!summary->has_times) {
        (void)puts("times     none: events do not say when they were");
        return;
    }
    bool is_unix = subject->findings.is_anchored;
    (void)printf("begin     %s\nend       %s\nduration  %s\n",
                 units_time(summary->begin_ns, is_unix).s, units_time(summary->end_ns, is_unix).s,
                 units_duration((uint64_t)summary->end_ns - (uint64_t)summary->begin_ns).s);
}

static void print_threads(const ttr *t)
{
    ttr_thread thread;
    uint32_t n = ttr_thread_count(t);
    for (ttr_id id = 1; id <= n && id <= THREADS_SHOWN; id++) {
        if (!ttr_thread_get(t, id, &thread))
            continue;
        (void)printf("  %s%" PRIu64 "/%" PRIu64 " ", thread.pid_known ? "" : "?", thread.pid,
                     thread.tid);
        term_text(ttr_text_get(t, thread.process_name));
        if (thread.process_name && thread.thread_name)
            (void)putchar('/');
        term_text(ttr_text_get(t, thread.thread_name));
        (void)putchar('\n');
    }
    if (n > THREADS_SHOWN)
        (void)printf("  and %" PRIu32 " more\n", n - THREADS_SHOWN);
}

static void print_lost_events(const struct subject *subject, const struct findings *findings,
                              int indent)
{
    char lost[LOST_TEXT];
    if (findings->lost || findings->gaps)
        (void)printf("%*s%slost      %s in %s place%s, by the trace's own account%s\n", indent, "",
                     term_ink(&subject->call->term, INK_YELLOW),
                     format_lost_counts(findings->lost, findings->lost_packets, lost),
                     units_count(findings->gaps).s, findings->gaps == 1 ? "" : "s",
                     term_ink(&subject->call->term, INK_PLAIN));
}

/* Prints the notes of each trace with its path, since traces of a rotated session have files of
 * equal names. */
static void print_diagnostics(const struct subject *subject)
{
    const bool is_verbose = subject->call->set.verbose;
    const ttr_severity from = is_verbose ? TTR_SEVERITY_REMARK : TTR_SEVERITY_ODD;
    struct trace trace;
    struct traces_walk walk;
    if (!subject->findings.notes ||
        !(is_verbose || subject->findings.damage_regions || subject->findings.odd))
        return;
    (void)puts("notes");
    traces_walk_begin(&walk, subject->inputs.reader);
    while (traces_walk_step(&walk, &trace)) {
        if (subject->traces > 1 && traces_have_notes(subject->inputs.reader, &trace, from)) {
            (void)fputs("  ", stdout);
            term_text(trace.report.trace_path);
            (void)putchar('\n');
        }
        print_trace_notes(subject->call, &subject->inputs, &trace, from, 0);
    }
    traces_walk_end(&walk);
}

static void print_findings(const struct subject *subject)
{
    const struct terminal *term = &subject->call->term;
    const struct findings *findings = &subject->findings;
    print_lost_events(subject, findings, 0);
    if (findings->damage_regions)
        (void)printf(
            "%sdamage    %s place%s, %s%s%s\n", term_ink(term, INK_RED),
            units_count(findings->damage_regions).s, findings->damage_regions == 1 ? "" : "s",
            units_size(findings->damage_bytes).s,
            is_cut_at_end(subject->inputs.reader) ? "; a file ends early, so more is missing" : "",
            term_ink(term, INK_PLAIN));
    print_diagnostics(subject);
}

/* --- Attributes of a trace --- */

static void print_attribute_value(const ttr_value *value)
{
    if (value->type == TTR_TYPE_TEXT) {
        (void)putchar('"');
        term_text(value->text);
        (void)putchar('"');
    } else if (value->type == TTR_TYPE_INT) {
        (void)printf("%" PRId64, value->v.s);
    } else {
        (void)printf("%" PRIu64, value->v.u);
    }
}

static void print_environment(const struct subject *subject, const struct trace *trace, int indent)
{
    ttr_attribute attribute;
    size_t n = 0;
    for (size_t i = 0; ttr_source_attribute(subject->inputs.t, trace->source, i, &attribute); i++) {
        if (is_written_by_tracetta(attribute.name))
            continue;
        (void)printf("%*s%-10s", indent, "", n++ ? "" : "env");
        term_text(attribute.name);
        (void)fputs(" = ", stdout);
        print_attribute_value(&attribute.value);
        (void)putchar('\n');
    }
}

static void print_stream_time(const ttr_report *report, bool is_unix)
{
    if (report->has_times)
        (void)printf(", %s to %s", units_time(report->first_ns, is_unix).s,
                     units_time(report->last_ns, is_unix).s);
}

static void print_stream(const struct subject *subject, const ttr_report *report, int indent)
{
    const ttr *t = subject->inputs.t;
    ttr_value value;
    ttr_text path = report->path;
    size_t n = report->trace_path.n;
    char lost[LOST_TEXT];
    if (path.n > n && memcmp(path.p, report->trace_path.p, n) == 0 && path.p[n] == '/')
        path = (ttr_text){path.p + n + 1, path.n - n - 1};
    (void)printf("%*s  ", indent, "");
    term_text(path);
    if (traces_get_attribute(t, report->source, "stream.class", &value))
        (void)printf(", class %" PRIu64, value.v.u);
    if (traces_get_attribute(t, report->source, "stream.id", &value))
        (void)printf(", id %" PRIu64, value.v.u);
    (void)printf(": %s event%s", units_count(report->events).s, report->events == 1 ? "" : "s");
    if (report->packets)
        (void)printf(" in %s packet%s", units_count(report->packets).s,
                     report->packets == 1 ? "" : "s");
    print_stream_time(report, subject->findings.is_anchored);
    if (report->lost || report->gaps)
        (void)printf(", %s lost in %s place%s",
                     report->lost_packets
                         ? format_lost_counts(report->lost, report->lost_packets, lost)
                         : units_count(report->lost).s,
                     units_count(report->gaps).s, report->gaps == 1 ? "" : "s");
    if (report->damage_regions)
        (void)printf(", %s damaged", units_size(report->damage_bytes).s);
    (void)putchar('\n');
}

static void print_streams(const struct subject *subject, const struct trace *trace, int indent)
{
    ttr_report report = {.size = sizeof report};
    if (!subject->call->set.verbose || (trace->n == 1 && subject->traces == 1 && !trace->packets))
        return;
    (void)printf("%*sstreams   %zu\n", indent, "", count_streams(subject, trace));
    for (size_t i = 0;
         i < trace->n && ttr_reader_report(subject->inputs.reader, trace->first + i, &report); i++)
        if (traces_is_stream(subject->inputs.t, &report))
            print_stream(subject, &report, indent);
}

static void print_trace_identity(const struct subject *subject, const struct trace *trace,
                                 int indent)
{
    static const char *const names[] = {"trace.name", "trace.uuid", "trace.namespace", "trace.uid"},
                             *const before[] = {"", "uuid ", "namespace ", "uid "};
    size_t shown = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ttr_value value = {.text = {"", 0}};
        if (!traces_get_attribute(subject->inputs.t, trace->source, names[i], &value) ||
            value.text.n == 0)
            continue;
        (void)printf("%*s%s%s", shown ? 0 : indent, "", shown ? ", " : "trace     ", before[i]);
        term_text(value.text);
        shown++;
    }
    if (shown)
        (void)putchar('\n');
}

static void print_trace_description(const struct subject *subject, const struct trace *trace,
                                    int indent)
{
    print_trace_identity(subject, trace, indent);
    print_clocks(subject, trace, indent);
    print_environment(subject, trace, indent);
    print_streams(subject, trace, indent);
    if (subject->call->set.classes)
        print_class_fields(subject->call, subject->inputs.reader, trace, indent);
    else
        print_event_classes(subject->call, subject->inputs.reader, trace, indent);
}

/* Prints the section for one trace, if the input has several. */
static void print_trace_section(const struct subject *subject, const struct trace *trace)
{
    const struct terminal *term = &subject->call->term;
    (void)printf("\n%s", term_ink(term, INK_BOLD));
    term_text(trace->report.trace_path);
    (void)printf("%s\n  format    ", term_ink(term, INK_PLAIN));
    print_format(subject, trace);
    (void)printf("\n  events    %s\n", units_count(trace->sum.events).s);
    if (trace->has_times)
        (void)printf("  begin     %s\n  end       %s\n",
                     units_time(trace->begin_ns, trace->sum.is_anchored).s,
                     units_time(trace->end_ns, trace->sum.is_anchored).s);
    print_lost_events(subject, &trace->sum, 2);
    print_trace_description(subject, trace, 2);
}

static void print_trace_sections(const struct subject *subject)
{
    struct trace trace;
    struct traces_walk walk;
    traces_walk_begin(&walk, subject->inputs.reader);
    while (traces_walk_step(&walk, &trace))
        print_trace_section(subject, &trace);
    traces_walk_end(&walk);
}

static void print_info_text(const struct subject *subject)
{
    const ttr_summary *summary = &subject->summary;
    print_summary(subject);
    print_sessions(subject);
    print_time_range(subject);
    if (summary->threads || summary->processes)
        (void)printf("threads   %s of %s process%s\n", units_count(summary->threads).s,
                     units_count(summary->processes).s, summary->processes == 1 ? "" : "es");
    if (subject->call->set.verbose)
        print_threads(subject->inputs.t);
    (void)printf("names     %s", units_count(summary->names).s);
    if (summary->providers)
        (void)printf(" of %s provider%s", units_count(summary->providers).s,
                     summary->providers == 1 ? "" : "s");
    (void)putchar('\n');
    (void)printf("events    %s\n", units_count(summary->events).s);
    print_event_kinds(subject);
    if (summary->backward)
        (void)printf("backward  %s earlier than what came before\n",
                     units_events(summary->backward).s);
    print_findings(subject);
    if (subject->traces == 1)
        print_trace_description(subject, &subject->first, 0);
    else
        print_trace_sections(subject);
}

/* --- Reading --- */

/* Warns that CTF 2 metadata cannot describe every v1.1 trace. */
static void warn_about_operands(const struct call *call, const char *path, const ttr_report *report)
{
    if (report->version && strcmp(report->version, "RFC 1.1") == 0 &&
        strcmp(call->set.metadata, "ctf2") == 0)
        print_note(call,
                   "%s: this is for people: packets of v1.1 cannot be read by it, for CTF 2 has no "
                   "words for their sizes, nor for lengths and bitfields "
                   "of v1.1, which are shown otherwise; \"tracetta convert --to=ctf "
                   "--option=version=2\" makes a trace of CTF 2",
                   path);
}

/* Prints the metadata of an input with one trace, in the language of --metadata. */
static int print_metadata(const struct call *call, const char *path, ttr_reader *reader)
{
    struct trace trace = {0};
    ttr_text text;
    ttr_error error = {0};
    if (traces_count(reader) > 1)
        return report_misuse("info", "--metadata is for one trace: \"%s\" holds %zu", path,
                             traces_count(reader));
    (void)traces_read_next(reader, &trace);
    if (ttr_reader_metadata(reader, trace.first, call->set.metadata, &text, &error) != TTR_OK)
        return inputs_report_failure(call, path, &error);
    if (fwrite(text.p, 1, text.n, stdout) < text.n || fflush(stdout) != 0)
        return report_output_error(errno);
    warn_about_operands(call, path, &trace.report);
    return OUTCOME_FINE;
}

static int read_all_events(struct subject *subject)
{
    struct progress progress;
    ttr_error error = {0};
    const struct call *call = subject->call;
    ttr_reader *reader = subject->inputs.reader;
    progress_begin(&progress, call, subject->inputs.t, reader, "info");
    ttr_status status = ttr_summarize(subject->inputs.t, reader, &subject->summary, progress_step,
                                      &progress, &error);
    progress_end(&progress);
    subject->findings = sum_findings(reader);
    subject->traces = traces_count(reader);
    (void)traces_read_next(reader, &subject->first);
    return status == TTR_OK || status == TTR_END || status == TTR_AGAIN
               ? OUTCOME_FINE
               : inputs_report_failure(call, subject->path, &error);
}

/* Reads an input and prints its description. A read error is reported after the description of the
 * part before it. */
static int print_input(const struct call *call, const char *path, struct json *json)
{
    struct subject subject = {.call = call, .path = path};
    int outcome = inputs_open_single(&subject.inputs, call, path, 0);
    if (outcome != OUTCOME_FINE)
        return outcome;
    if (call->set.metadata) {
        outcome = print_metadata(call, path, subject.inputs.reader);
        inputs_close(&subject.inputs);
        return outcome;
    }
    if (interpretation_is_enabled(call, subject.inputs.reader))
        outcome = interpretation_begin(&subject.inputs, call);
    if (outcome != OUTCOME_FINE) {
        inputs_close(&subject.inputs);
        return outcome;
    }
    outcome = read_all_events(&subject);
    if ((outcome == OUTCOME_FINE || subject.summary.events > 0) && subject.traces) {
        if (json)
            write_info_json(json, &subject);
        else
            print_info_text(&subject);
        report_interruption(call, subject.inputs.reader);
        outcome = warn_about_findings(call, subject.inputs.reader, outcome);
    }
    inputs_close(&subject.inputs);
    return outcome;
}

static int write_all_json(const struct call *call)
{
    struct json json = {.to = stdout, .has_text_times = call_has_text_times(call)};
    int worst = OUTCOME_FINE;
    json_open(&json, NULL, '{');
    json_write_string(&json, "schema", "tracetta.info/1");
    json_open(&json, "inputs", '[');
    for (size_t i = 0; i < call->paths_n && !interrupt_was_received(); i++) {
        int outcome = print_input(call, call->path[i], &json);
        worst = outcome > worst ? outcome : worst;
    }
    json_close(&json, ']');
    json_close(&json, '}');
    return worst;
}

int run_info(struct call *call)
{
    struct json json = {.to = stdout, .has_text_times = call_has_text_times(call)};
    int worst = OUTCOME_FINE;
    if (call->set.metadata && (call->paths_n > 1 || call->set.json || call->set.classes))
        return report_misuse(
            "info",
            "--metadata prints one trace's, alone: leave out --json, --classes and other files");
    if (call->set.json && call->paths_n == 1)
        return print_input(call, call->path[0], &json);
    if (call->set.json)
        return write_all_json(call);
    for (size_t i = 0; i < call->paths_n && !interrupt_was_received(); i++) {
        if (i > 0)
            (void)putchar('\n');
        int outcome = print_input(call, call->path[i], NULL);
        worst = outcome > worst ? outcome : worst;
    }
    return worst;
}
