/* check: looks for damage in traces. */
#include <inttypes.h>
#include <string.h>

#include "cli/input/input_list.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/progress.h"
#include "cli/commands/report.h"
#include "cli/ui/messages.h"
#include "cli/input/pipe_input.h"
#include "cli/input/trace_iter.h"

#define REGIONS_SHOWN 20u
/* number of further streams listed for the same kind of oddity */
#define OTHERS_SHOWN 4u

/* number of counters of open spans; threads share a counter if there are more */
#define OPEN_COUNTERS 1024u

/* Begins minus ends so far, by thread. Ends may precede their begins in a file. A trace of a format
 * without end mark (FXT) that is cut between two records shows nothing else. */
struct open_spans {
    int64_t by_thread[OPEN_COUNTERS];
    int64_t async;
    /* magic-trace writes the begins of inferred frames last, so ends without begins are a sign, too
     */
    bool is_magic_trace;
};

/* The result of checking one input: a file, or a directory with a report per file. */
struct verdict {
    const char *path;
    const struct inputs *inputs;
    struct findings sum;
    uint64_t open; /* spans that are open at the end of a trace without end mark */
    /* error that ended reading; TTR_AGAIN = the user interrupted it, TTR_OK = none */
    ttr_error error;
    int outcome;
};

static void count_open_spans(const ttr *t, struct open_spans *spans, const ttr_batch *batch)
{
    static const char magic_trace[] = "jane_tracing";
    if (batch->n && !spans->is_magic_trace) {
        const ttr_text name = ttr_text_get(t, ttr_batch_at(batch, 0)->provider);
        spans->is_magic_trace =
            name.n == sizeof magic_trace - 1 && memcmp(name.p, magic_trace, name.n) == 0;
    }
    for (uint32_t i = 0; i < batch->n; i++) {
        const ttr_event *event = ttr_batch_at(batch, i);
        if (event->kind == TTR_KIND_BEGIN)
            spans->by_thread[event->thread % OPEN_COUNTERS]++;
        else if (event->kind == TTR_KIND_END)
            spans->by_thread[event->thread % OPEN_COUNTERS]--;
        else if (event->kind == TTR_KIND_ASYNC_BEGIN)
            spans->async++;
        else if (event->kind == TTR_KIND_ASYNC_END)
            spans->async--;
    }
}

static uint64_t sum_open_spans(const struct open_spans *spans)
{
    uint64_t sum = spans->async > 0 ? (uint64_t)spans->async : 0;
    for (size_t i = 0; i < OPEN_COUNTERS; i++) {
        const int64_t open = spans->by_thread[i];
        sum += open > 0 ? (uint64_t)open : spans->is_magic_trace ? (uint64_t)-open : 0;
    }
    return sum;
}

/* Returns true for a trace that ends between two records if it is cut there: nothing in the format
 * marks the end. */
static bool has_no_end_mark(ttr_reader *reader)
{
    ttr_report report = {.size = sizeof report};
    return ttr_reader_report(reader, 0, &report) && strcmp(report.format, "fxt") == 0;
}

static void read_all_events(const struct call *call, struct inputs *inputs, struct verdict *verdict)
{
    struct progress progress;
    struct open_spans spans = {.async = 0};
    ttr_batch batch;
    ttr_status status;
    const bool counts_spans = has_no_end_mark(inputs->reader);
    progress_begin(&progress, call, inputs->t, inputs->reader, "checking");
    /* Streams are checked independently, so they need not be merged by time. */
    (void)ttr_reader_allow_stream_order(inputs->reader);
    do {
        status = ttr_read(inputs->reader, &batch, &verdict->error);
        if (status == TTR_OK && counts_spans)
            count_open_spans(inputs->t, &spans, &batch);
    } while ((status == TTR_OK || status == TTR_AGAIN) && progress_step(&progress));
    progress_end(&progress);
    /* An interrupted pipe ends for the reader; its last record may be incomplete. */
    const bool is_part = interrupt_was_received() && stream_is_one(verdict->path);
    if (status == TTR_OK || status == TTR_AGAIN || is_part)
        verdict->error =
            (ttr_error){.status = TTR_AGAIN, .offset = UINT64_MAX, .text = "interrupted"};
    else
        verdict->error.status = status == TTR_END ? TTR_OK : status;
    if (status == TTR_END && counts_spans && !is_part && !is_cut_at_end(inputs->reader))
        verdict->open = sum_open_spans(&spans);
}

/* Returns true if damage was found. An interrupted check counts as undamaged, even if it ended
 * inside of a record. */
static bool is_damaged(const struct verdict *verdict)
{
    const bool is_last_record = verdict->error.status == TTR_AGAIN &&
                                verdict->sum.damage_regions == 1 &&
                                is_cut_at_end(verdict->inputs->reader);
    return (verdict->sum.damage_regions && !is_last_record) ||
           (verdict->error.status != TTR_OK && verdict->error.status != TTR_AGAIN);
}

static void rate_damage(const struct call *call, struct verdict *verdict)
{
    const struct findings *sum = &verdict->sum;
    if (verdict->error.status != TTR_OK || sum->damage_regions ||
        (call->set.strict && (sum->odd || sum->lost || sum->gaps)))
        verdict->outcome = OUTCOME_NO;
    if (is_damaged(verdict) && sum->events == 0)
        verdict->outcome = OUTCOME_INPUT;
}

static uint64_t good_bytes(const struct findings *sum)
{
    return sum->bytes > sum->damage_bytes ? sum->bytes - sum->damage_bytes : 0;
}

static void print_path(ttr_text path)
{
    (void)fputs("  ", stdout);
    term_text(path);
    (void)putchar('\n');
}

static void print_status_word(const char *word)
{
    term_text((ttr_text){word, strlen(word)});
}

/* Prints the damaged regions of one file, at most `most`. Returns the number printed. */
static size_t print_damaged_regions(const ttr_report *report, bool has_path, size_t most)
{
    size_t shown = report->regions_n < most ? report->regions_n : most;
    if (has_path && shown)
        print_path(report->path);
    for (size_t i = 0; i < shown; i++) {
        const ttr_region *region = &report->regions[i];
        if (region->offset == UINT64_MAX)
            (void)printf("  without an offset: %s\n", region->code);
        else if (region->bytes == 0)
            (void)printf("  at byte %" PRIu64 ": %s\n", region->offset, region->code);
        else
            (void)printf("  bytes %" PRIu64 " to %" PRIu64 " (%s): %s\n", region->offset,
                         region->offset + region->bytes, units_size(region->bytes).s, region->code);
    }
    return shown;
}

static void print_trace_damage(const struct call *call, ttr_reader *reader,
                               const struct trace *trace)
{
    ttr_report report = {.size = sizeof report};
    size_t most = call->set.verbose ? SIZE_MAX : REGIONS_SHOWN, shown = 0;
    uint64_t kept = 0;
    for (size_t i = 0; i < trace->n && ttr_reader_report(reader, trace->first + i, &report); i++) {
        shown += print_damaged_regions(&report, trace->n > 1, most - shown);
        kept += report.regions_n;
    }
    if (shown < trace->sum.damage_regions)
        (void)printf("  and %" PRIu64 " more%s\n", trace->sum.damage_regions - shown,
                     shown < kept ? " (--verbose lists more)" : "");
}

static void print_verdict(const struct call *call, const struct verdict *verdict,
                          const ttr_report *first)
{
    const bool ends_early = is_cut_at_end(verdict->inputs->reader);
    const struct findings *sum = &verdict->sum;
    bool is_whole = verdict->outcome == OUTCOME_FINE;
    const char *word = is_whole                            ? "whole"
                       : verdict->outcome == OUTCOME_INPUT ? "unusable"
                       : is_damaged(verdict)               ? "damaged"
                                                           : "incomplete";
    print_status_word(verdict->path);
    (void)printf(": %s%s%s (%s%s%s, %s, %s", term_ink(&call->term, is_whole ? INK_GREEN : INK_RED),
                 word, term_ink(&call->term, INK_PLAIN), first->format, *first->version ? " " : "",
                 first->version, units_events(sum->events).s, units_size(sum->bytes).s);
    (void)printf(sum->files > 1 ? ", %zu files)\n" : ")\n", sum->files);
    if (sum->damage_regions)
        (void)printf("  %s damaged place%s: %s of %s bytes cannot be read%s\n",
                     units_count(sum->damage_regions).s, sum->damage_regions == 1 ? "" : "s",
                     units_count(sum->damage_bytes).s, units_count(sum->bytes).s,
                     ends_early ? "; damage reaches the end of a file, so more may be missing"
                                : "");
}

static void print_verdict_text(const struct call *call, const struct verdict *verdict)
{
    const struct findings *sum = &verdict->sum;
    struct trace trace;
    struct traces_walk walk;
    char lost[LOST_TEXT], ctx[MESSAGE_TEXT_MAX];
    bool has_many = traces_count(verdict->inputs->reader) > 1, can_recover = false;
    ttr_severity from = call->set.verbose ? TTR_SEVERITY_REMARK : TTR_SEVERITY_ODD;
    traces_walk_begin(&walk, verdict->inputs->reader);
    for (bool is_first = true; traces_walk_step(&walk, &trace); is_first = false) {
        can_recover |= can_recover_trace(trace.report.format);
        if (is_first)
            print_verdict(call, verdict, &trace.report);
        if (has_many && traces_have_notes(verdict->inputs->reader, &trace, from))
            print_path(trace.report.trace_path);
        print_trace_damage(call, verdict->inputs->reader, &trace);
        print_trace_notes(call, verdict->inputs, &trace, from,
                          call->set.verbose ? SIZE_MAX - 1 : OTHERS_SHOWN);
    }
    traces_walk_end(&walk);
    if (sum->lost || sum->gaps)
        (void)printf("  the trace declares that %s %s missing, in %s place%s\n",
                     format_lost_counts(sum->lost, sum->lost_packets, lost),
                     sum->lost + sum->lost_packets == 1 ? "is" : "are", units_count(sum->gaps).s,
                     sum->gaps == 1 ? "" : "s");
    if (verdict->open)
        (void)printf("  the trace may be cut at its end: %s span%s incomplete there\n",
                     units_count(verdict->open).s, verdict->open == 1 ? " is" : "s are");
    if (verdict->error.status != TTR_OK) {
        (void)fputs("  reading ended early: ", stdout);
        print_status_word(message_error_text(&verdict->error, ctx));
        (void)putchar('\n');
    }
    if (sum->damage_regions && can_recover && verdict->outcome == OUTCOME_NO) {
        (void)fputs("  \"tracetta recover ", stdout);
        print_status_word(verdict->path);
        (void)fputs(" -o OUTPUT\" keeps the readable part\n", stdout);
    }
}

static void write_error_json(struct json *json, const ttr_error *error)
{
    char ctx[MESSAGE_TEXT_MAX];
    json_open(json, "error", '{');
    json_write_string(json, "status", ttr_status_text(error->status));
    json_write_string(json, "text", message_error_text(error, ctx));
    if (error->offset != UINT64_MAX)
        json_write_uint(json, "offset", error->offset);
    json_close(json, '}');
}

static void write_verdict_json(struct json *json, const struct verdict *verdict)
{
    const struct findings *sum = &verdict->sum;
    ttr_report report = {.size = sizeof report};
    bool is_top = json->depth == 0;
    if (!ttr_reader_report(verdict->inputs->reader, 0, &report))
        return;
    json_open(json, NULL, '{');
    if (is_top)
        json_write_string(json, "schema", "tracetta.check/1");
    json_write_string(json, "path", verdict->path);
    json_write_string(json, "format", report.format);
    json_write_string(json, "version", report.version);
    json_write_bool(json, "clean", verdict->outcome == OUTCOME_FINE);
    json_write_int(json, "status", verdict->outcome);
    json_write_uint(json, "bytes", sum->bytes);
    json_write_uint(json, "good_bytes", good_bytes(sum));
    json_write_bool(json, "ends_early", is_cut_at_end(verdict->inputs->reader));
    json_write_uint(json, "open_spans", verdict->open);
    json_write_uint(json, "events", sum->events);
    json_write_uint(json, "odd", sum->odd);
    write_damage_json(json, sum);
    write_extent_json(json, verdict->inputs->reader);
    write_regions_json(json, verdict->inputs->reader);
    write_notes_json(json, verdict->inputs);
    if (verdict->error.status != TTR_OK)
        write_error_json(json, &verdict->error);
    json_close(json, '}');
}

static int check_file(const struct call *call, const char *path, struct json *json)
{
    struct verdict verdict = {.path = path};
    struct inputs inputs;
    int outcome = inputs_open_single(&inputs, call, path, 0);
    if (outcome != OUTCOME_FINE)
        return outcome;
    read_all_events(call, &inputs, &verdict);
    verdict.inputs = &inputs;
    verdict.sum = sum_findings(inputs.reader);
    rate_damage(call, &verdict);
    if (json)
        write_verdict_json(json, &verdict);
    else
        print_verdict_text(call, &verdict);
    report_interruption(call, inputs.reader);
    inputs_close(&inputs);
    return verdict.outcome;
}

/* Checks all inputs. --strict only affects the exit status here: reading continues after damage in
 * any case. */
int run_check(struct call *call)
{
    struct json json = {.to = stdout, .has_text_times = call_has_text_times(call)};
    bool has_list = call->set.json && call->paths_n > 1;
    int worst = OUTCOME_FINE;
    if (has_list) {
        json_open(&json, NULL, '{');
        json_write_string(&json, "schema", "tracetta.check/1");
        json_open(&json, "inputs", '[');
    }
    for (size_t i = 0; i < call->paths_n && !interrupt_was_received(); i++) {
        int outcome = check_file(call, call->path[i], call->set.json ? &json : NULL);
        worst = outcome > worst ? outcome : worst;
    }
    if (has_list) {
        json_close(&json, ']');
        json_close(&json, '}');
    }
    return worst;
}
