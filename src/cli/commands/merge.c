/* merge: writes several traces on one time line, and reports how the times of each were mapped to
 * it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/convert.h"
#include "cli/commands/copy_report.h"
#include "cli/ui/progress.h"
#include "cli/commands/report.h"
#include "cli/ui/messages.h"
#include "cli/input/format_query.h"
#include "cli/input/trace_iter.h"
#include "cli/input/output_check.h"

#define SOURCES_MAX 65536u

/* Number of events that an input contributed, and the range of their times. */
struct share {
    uint64_t events;
    int64_t first_ns, last_ns;
};

struct shares {
    struct share *share; /* shares of the inputs, indexed by ttr_event.source */
};

static void count_batch(void *ctx, const ttr_batch *batch)
{
    struct shares *shares = ctx;
    for (uint32_t i = 0; i < batch->n; i++) {
        const ttr_event *event = ttr_batch_at(batch, i);
        struct share *share = &shares->share[event->source];
        if (event->kind == TTR_KIND_DEFINITION || event->kind == TTR_KIND_GAP ||
            event->flags & TTR_EVENT_NO_TIME)
            continue;
        if (share->events == 0 || event->time < share->first_ns)
            share->first_ns = event->time;
        if (share->events == 0 || event->time > share->last_ns)
            share->last_ns = event->time;
        share->events++;
    }
}

static void print_share_of_input(const ttr_report *report, const struct share *share)
{
    const ttr_clock *clock = report->clocks_n ? &report->clocks[0] : NULL;
    bool is_unix = clock && clock->is_anchored;
    int64_t shift = clock ? clock->offset_ns : 0;
    const char *name = clock && clock->name && *clock->name ? clock->name : "of its own";
    term_text_to(stderr, report->trace_path);
    (void)fputs("\n    clock   ", stderr);
    term_text_to(stderr, (ttr_text){name, strlen(name)});
    if (clock)
        (void)fprintf(stderr, ", %s ticks/s", units_count(clock->frequency).s);
    if (report->clocks_n > 1)
        (void)fprintf(stderr, " (first of %zu clocks)", report->clocks_n);
    if (is_unix)
        (void)fprintf(stderr, "\n    anchor  tick %" PRIu64 " = %s\n", clock->anchor_ticks,
                      units_time(clock->anchor_ns, true).s);
    else
        (void)fputs("\n    anchor  none: times count from its own zero\n", stderr);
    (void)fprintf(stderr, "    offset  %s%s\n", shift < 0 ? "-" : "+",
                  units_duration(shift < 0 ? -(uint64_t)shift : (uint64_t)shift).s);
    if (share->events)
        (void)fprintf(stderr, "    events  %s from %s to %s\n", units_count(share->events).s,
                      units_time(share->first_ns, is_unix).s,
                      units_time(share->last_ns, is_unix).s);
    else
        (void)fputs("    events  none\n", stderr);
}

static void add_to_share_sum(struct share *sum, const struct share *share)
{
    if (share->events == 0)
        return;
    sum->first_ns =
        sum->events == 0 || share->first_ns < sum->first_ns ? share->first_ns : sum->first_ns;
    sum->last_ns =
        sum->events == 0 || share->last_ns > sum->last_ns ? share->last_ns : sum->last_ns;
    sum->events += share->events;
}

/* Sums the contributions of the streams of a trace. */
static struct share sum_shares(ttr_reader *reader, const struct shares *shares,
                               const struct trace *trace)
{
    ttr_report report = {.size = sizeof report};
    struct share sum = {0};
    for (size_t i = 0; i < trace->n && ttr_reader_report(reader, trace->first + i, &report); i++)
        add_to_share_sum(&sum, &shares->share[report.source]);
    return sum;
}

/* Adds to the JSON report how the times of an input were mapped to the common time line. */
static void write_share_json(struct json *json, const struct copy_loop *copy_loop,
                             const struct trace *trace)
{
    const struct share sum = sum_shares(copy_loop->in, copy_loop->ctx, trace);
    const ttr_clock *clock = trace->report.clocks_n ? &trace->report.clocks[0] : NULL;
    json_write_string(json, "clock", clock && clock->name ? clock->name : "");
    json_write_uint(json, "written", sum.events);
    if (sum.events) {
        json_write_time(json, "begin_ns", sum.first_ns);
        json_write_time(json, "end_ns", sum.last_ns);
    }
}

static void explain_input_numbers(const struct call *call, ttr_reader *reader,
                                  const struct shares *shares)
{
    struct trace trace = {0};
    if (call->set.quiet)
        return;
    while (traces_read_next(reader, &trace)) {
        const struct share sum = sum_shares(reader, shares, &trace);
        print_share_of_input(&trace.report, &sum);
    }
}

/* Returns true if two clocks without a known date have a common origin: both traces declare the
 * same identity. */
static bool have_same_origin(const ttr_clock *a, const ttr_clock *b)
{
    if (a->has_uuid && b->has_uuid)
        return memcmp(a->uuid, b->uuid, sizeof a->uuid) == 0;
    return a->origin_uid.n > 0 && a->origin_uid.n == b->origin_uid.n &&
           memcmp(a->origin_uid.p, b->origin_uid.p, a->origin_uid.n) == 0;
}

/* Warns if times of different inputs cannot be compared: only some have a clock with a known date,
 * or none has and their clocks have no common origin. */
static void warn_of_mixture(const struct call *call, ttr_reader *reader)
{
    size_t anchored = 0, n = 0, unrelated = 0;
    ttr_clock first = {.frequency = 0};
    struct trace trace = {0};
    if (call->set.align && strcmp(call->set.align, "clock") != 0)
        return;
    for (; traces_read_next(reader, &trace); n++) {
        const ttr_clock *clock = trace.report.clocks_n ? &trace.report.clocks[0] : &first;
        anchored += clock->is_anchored;
        unrelated += n > 0 && !have_same_origin(&first, clock);
        first = n == 0 ? *clock : first;
    }
    if (anchored == 0 && unrelated > 0)
        print_note(call,
                   "warning: the clocks of the %zu inputs have no date and no common "
                   "origin, so the order of their events is a guess: --align=begin puts "
                   "begins together, --offset moves one",
                   n);
    if (anchored > 0 && anchored < n)
        print_note(call,
                   "warning: %zu of %zu inputs have no anchored clock, so their place among the "
                   "others is a guess: "
                   "--align=begin puts begins together, --offset moves one",
                   n - anchored, n);
}

/* Selects the format of the output: --to, else the suffix of the output, else the format of the
 * first input. */
static const char *choose_output_format(const struct call *call, ttr_reader *reader)
{
    ttr_report report = {.size = sizeof report};
    if (call->set.to)
        return call->set.to;
    const char *guess = call->set.output ? guess_output_format(call->set.output) : NULL;
    if (guess)
        return guess;
    bool has_first = ttr_reader_report(reader, 0, &report);
    return has_first && convert_can_write(report.format) ? report.format
                                                         : format_query_able(TTR_FORMAT_GENERAL);
}

/* Returns the reading flags that the output format needs, if the options name the format. */
static uint32_t get_reading_flags(const struct call *call)
{
    const char *guess = call->set.output ? guess_output_format(call->set.output) : NULL;
    const char *format = call->set.to ? call->set.to : guess;
    return format ? inputs_get_symbol_flags(format) : 0;
}

int run_merge(struct call *call)
{
    struct inputs inputs;
    uint64_t begin_ns = progress_now();
    struct shares shares = {0};
    if (!call->set.output && !call->set.dry_run)
        return report_misuse("merge",
                             "no output: use -o OUTPUT (\"-\" is standard output), or --dry-run");
    int outcome = copy_report_check(call);
    if (outcome == OUTCOME_FINE)
        outcome = check_output_path(call, call->set.output, call->set.to);
    if (outcome == OUTCOME_FINE)
        outcome = inputs_open(&inputs, call, get_reading_flags(call));
    if (outcome != OUTCOME_FINE)
        return outcome;
    const char *format = choose_output_format(call, inputs.reader);
    explain_conversion(call, format);
    outcome = check_output_order(&inputs, call, format);
    if (outcome == OUTCOME_FINE)
        outcome = inputs_prepare_stacks(&inputs, call, format);
    if (outcome != OUTCOME_FINE) {
        inputs_close(&inputs);
        return outcome;
    }
    shares.share = calloc(SOURCES_MAX, sizeof *shares.share);
    struct copy_loop copy_loop = {.call = call,
                                  .t = inputs.t,
                                  .in = inputs.reader,
                                  .path = call->set.dry_run ? NULL : call->set.output,
                                  .see = shares.share ? count_batch : NULL,
                                  .put_input = shares.share ? write_share_json : NULL,
                                  .ctx = &shares};
    outcome = copy_loop_open(&copy_loop, format, 0);
    if (outcome == OUTCOME_FINE) {
        (void)ttr_writer_allow_stream_order(copy_loop.out, copy_loop.in);
        outcome = convert_run(&copy_loop, format, begin_ns);
    }
    if (outcome == OUTCOME_FINE && shares.share && !call->set.json) {
        explain_input_numbers(call, inputs.reader, &shares);
        warn_of_mixture(call, inputs.reader);
    }
    free(shares.share);
    inputs_close(&inputs);
    return outcome;
}
