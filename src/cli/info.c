/* info: what is in a trace. */
#include <inttypes.h>
#include <string.h>

#include "inputs.h"
#include "progress.h"
#include "report.h"
#include "talk.h"

#define THREADS_SHOWN 40u

/* One input, read to its end. */
struct subject {
    const struct call *call;
    const char *path;
    struct inputs inputs;
    ttr_summary summary;
    struct findings findings;
    ttr_report report; /* of the first file */
};

static void print_kinds(const struct subject *subject)
{
    const struct terminal *term = &subject->call->term;
    for (unsigned kind = TTR_KIND_INSTANT; kind < TTR_KIND_DEFINITION; kind++)
        if (subject->summary.kinds[kind])
            (void)printf("  %s%-12s%s %14s\n", term_ink(term, INK_DIM), ttr_kind_text(kind), term_ink(term, INK_PLAIN),
                         units_count(subject->summary.kinds[kind]).s);
}

static void print_clocks(const struct subject *subject)
{
    const ttr_report *report = &subject->report;
    for (size_t i = 0; i < report->clocks_n; i++) {
        const ttr_clock *clock = &report->clocks[i];
        (void)printf("clock     %s%s", clock->name ? clock->name : "", clock->provider.n ? " of " : "");
        term_text(clock->provider);
        (void)printf(", %s ticks/s", units_count(clock->frequency).s);
        if (clock->is_anchored)
            (void)printf(", tick %" PRIu64 " = %s", clock->anchor_ticks, units_time(clock->anchor_ns, true).s);
        else
            (void)fputs(", no anchor: times count from its own zero", stdout);
        (void)putchar('\n');
    }
}

static void print_head(const struct subject *subject)
{
    const struct terminal *term = &subject->call->term;
    const ttr_report *report = &subject->report;
    (void)printf("%s%s%s\n", term_ink(term, INK_BOLD), subject->path, term_ink(term, INK_PLAIN));
    (void)printf("format    %s%s%s", report->format, *report->version ? " " : "", report->version);
    if (subject->findings.inputs > 1)
        (void)printf(" (and %zu more files)", subject->findings.inputs - 1);
    (void)printf("\nsize      %s", units_size(subject->findings.bytes).s);
    if (*report->compression)
        (void)printf(" (%s: %s)", report->compression, units_size(subject->findings.disk_size).s);
    (void)putchar('\n');
}

/* What a live trace says of a session that it is, or lists; false past the last one. */
static bool next_session(const struct subject *subject, uint16_t *source, size_t *i, ttr_text *session)
{
    static const char name[] = "live.session";
    ttr_source about;
    ttr_attribute attribute;
    for (; ttr_source_get(subject->inputs.t, *source, &about); ++*source, *i = 0)
        while (ttr_source_attribute(subject->inputs.t, *source, (*i)++, &attribute))
            if (attribute.name.n == sizeof name - 1 && memcmp(attribute.name.p, name, sizeof name - 1) == 0) {
                *session = attribute.value.text;
                return true;
            }
    return false;
}

static void print_sessions(const struct subject *subject)
{
    ttr_text session;
    uint16_t source = 1;
    for (size_t i = 0; next_session(subject, &source, &i, &session);) {
        (void)fputs("session   ", stdout);
        term_text(session);
        (void)putchar('\n');
    }
}

static void print_times(const struct subject *subject)
{
    const ttr_summary *summary = &subject->summary;
    if (summary->events == 0)
        return;
    bool is_unix = subject->findings.is_anchored;
    (void)printf("begin     %s\nend       %s\nduration  %s\n", units_time(summary->begin_ns, is_unix).s,
                 units_time(summary->end_ns, is_unix).s,
                 units_duration((uint64_t)summary->end_ns - (uint64_t)summary->begin_ns).s);
}

static void print_threads(const ttr *t)
{
    ttr_thread thread;
    uint32_t n = ttr_thread_count(t);
    for (ttr_id id = 1; id <= n && id <= THREADS_SHOWN; id++) {
        if (!ttr_thread_get(t, id, &thread))
            continue;
        (void)printf("  %s%" PRIu64 "/%" PRIu64 " ", thread.pid_known ? "" : "?", thread.pid, thread.tid);
        term_text(ttr_text_get(t, thread.process_name));
        if (thread.process_name && thread.thread_name)
            (void)putchar('/');
        term_text(ttr_text_get(t, thread.thread_name));
        (void)putchar('\n');
    }
    if (n > THREADS_SHOWN)
        (void)printf("  and %" PRIu32 " more\n", n - THREADS_SHOWN);
}

static void print_findings(const struct subject *subject)
{
    const struct terminal *term = &subject->call->term;
    const struct findings *findings = &subject->findings;
    if (findings->lost || findings->gaps)
        (void)printf("%slost      %s events in %s places, by the trace's own account%s\n", term_ink(term, INK_YELLOW),
                     units_count(findings->lost).s, units_count(findings->gaps).s, term_ink(term, INK_PLAIN));
    if (findings->damage_regions)
        (void)printf("%sdamage    %s place%s, %s%s\n", term_ink(term, INK_RED), units_count(findings->damage_regions).s,
                     findings->damage_regions == 1 ? "" : "s", units_size(findings->damage_bytes).s, term_ink(term, INK_PLAIN));
    if (subject->report.notes_n && (subject->call->set.verbose || findings->damage_regions || findings->odd))
        (void)puts("notes");
    report_print_notes(subject->call, &subject->report, subject->call->set.verbose ? TTR_NOTE_REMARK : TTR_NOTE_ODD);
}

static void print_text(const struct subject *subject)
{
    const ttr_summary *summary = &subject->summary;
    print_head(subject);
    print_sessions(subject);
    print_clocks(subject);
    print_times(subject);
    (void)printf("threads   %s", units_count(summary->threads).s);
    (void)printf(" of %s processes\n", units_count(summary->processes).s);
    if (subject->call->set.verbose)
        print_threads(subject->inputs.t);
    (void)printf("names     %s", units_count(summary->names).s);
    (void)printf(" of %s providers\n", units_count(summary->providers).s);
    (void)printf("events    %s\n", units_count(summary->events).s);
    print_kinds(subject);
    if (summary->backward)
        (void)printf("backward  %s events are earlier than the one before them\n", units_count(summary->backward).s);
    print_findings(subject);
}

/* Only where there are any: live traces. */
static void put_sessions(struct json *json, const struct subject *subject)
{
    ttr_text session;
    uint16_t source = 1;
    size_t i = 0;
    if (!next_session(subject, &source, &i, &session))
        return;
    json_open(json, "sessions", '[');
    do
        json_text(json, NULL, session);
    while (next_session(subject, &source, &i, &session));
    json_close(json, ']');
}

static void put_json(struct json *json, const struct subject *subject)
{
    const ttr_summary *summary = &subject->summary;
    bool is_top = json->depth == 0;
    json_open(json, NULL, '{');
    if (is_top)
        json_string(json, "schema", "tracetta.info/1");
    json_string(json, "path", subject->path);
    json_string(json, "format", subject->report.format);
    json_string(json, "version", subject->report.version);
    json_string(json, "compression", subject->report.compression);
    json_uint(json, "bytes", subject->findings.bytes);
    json_uint(json, "disk_bytes", subject->findings.disk_size);
    json_uint(json, "events", summary->events);
    report_json_damage(json, &subject->findings);
    json_int(json, "begin_ns", summary->begin_ns);
    json_int(json, "end_ns", summary->end_ns);
    json_uint(json, "duration_ns", (uint64_t)summary->end_ns - (uint64_t)summary->begin_ns);
    json_bool(json, "unix_time", subject->findings.is_anchored);
    json_uint(json, "backward", summary->backward);
    json_uint(json, "threads", summary->threads);
    json_uint(json, "processes", summary->processes);
    json_uint(json, "names", summary->names);
    json_uint(json, "providers", summary->providers);
    json_open(json, "kinds", '{');
    for (unsigned kind = TTR_KIND_INSTANT; kind < TTR_KIND_DEFINITION; kind++)
        if (summary->kinds[kind])
            json_uint(json, ttr_kind_text(kind), summary->kinds[kind]);
    json_close(json, '}');
    put_sessions(json, subject);
    report_json_clocks(json, subject->inputs.reader);
    report_json_notes(json, subject->inputs.reader);
    json_close(json, '}');
}

/* Reads a file and prints it; a failure half-way is told after what was found. */
static int inform(const struct call *call, const char *path, struct json *json)
{
    struct subject subject = {.call = call, .path = path, .report = {.size = sizeof subject.report}};
    struct progress progress;
    ttr_error error = {0};
    int outcome = inputs_open_one(&subject.inputs, call, path, 0);
    if (outcome != OUTCOME_FINE)
        return outcome;
    progress_begin(&progress, call, subject.inputs.t, subject.inputs.reader, "info");
    ttr_status status = ttr_summarise(subject.inputs.t, subject.inputs.reader, &subject.summary, progress_step, &progress, &error);
    progress_end(&progress);
    subject.findings = report_sum(subject.inputs.reader);
    if (status != TTR_OK && status != TTR_END && status != TTR_AGAIN)
        outcome = inputs_failed(call, path, &error);
    bool is_useful = outcome == OUTCOME_FINE || subject.summary.events > 0;
    if (is_useful && ttr_reader_report(subject.inputs.reader, 0, &subject.report)) {
        if (json)
            put_json(json, &subject);
        else
            print_text(&subject);
        report_warn(call, subject.inputs.reader);
    }
    inputs_close(&subject.inputs);
    return outcome;
}

static int inform_all_json(const struct call *call)
{
    struct json json = {.to = stdout};
    int worst = OUTCOME_FINE;
    json_open(&json, NULL, '{');
    json_string(&json, "schema", "tracetta.info/1");
    json_open(&json, "inputs", '[');
    for (size_t i = 0; i < call->paths_n; i++) {
        int outcome = inform(call, call->path[i], &json);
        worst = outcome > worst ? outcome : worst;
    }
    json_close(&json, ']');
    json_close(&json, '}');
    return worst;
}

int run_info(struct call *call)
{
    struct json json = {.to = stdout};
    int worst = OUTCOME_FINE;
    if (call->set.json && call->paths_n == 1)
        return inform(call, call->path[0], &json);
    if (call->set.json)
        return inform_all_json(call);
    for (size_t i = 0; i < call->paths_n; i++) {
        if (i > 0)
            (void)putchar('\n');
        int outcome = inform(call, call->path[i], NULL);
        worst = outcome > worst ? outcome : worst;
    }
    return worst;
}
