/* report threads: time that each thread spent in managed code and elsewhere (native code, waiting),
 * measured by samples of the .NET runtime. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands/profiles.h"
#include "cli/commands/report.h"
#include "cli/commands/reports.h"
#include "cli/ui/messages.h"

struct row {
    const ttr_profile_thread *lane;
    uint64_t managed, other;
};

static int compare_weights(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    if (a->lane->weight != b->lane->weight)
        return a->lane->weight < b->lane->weight ? 1 : -1;
    return (a->lane > b->lane) - (a->lane < b->lane);
}

/* Sums the sampled time of each thread by the state of the samples. */
static void sum_thread_weights(const struct profiling *profiling, struct row *rows)
{
    const ttr_profile_node *nodes;
    const ttr_profile_frame *frames;
    const ttr_profile_thread *lanes;
    uint32_t n = ttr_profile_nodes(profiling->profile, &nodes),
             lanes_n = ttr_profile_threads(profiling->profile, &lanes);
    (void)ttr_profile_frames(profiling->profile, &frames);
    for (uint32_t i = 0; i < lanes_n; i++)
        rows[i].lane = &lanes[i];
    for (uint32_t i = 0; i < n; i++) {
        const ttr_profile_frame *frame = &frames[nodes[i].frame];
        bool is_managed = frame->is_state &&
                          strcmp(ttr_text_get(profiling->inputs.t, frame->name).p, "CPU_TIME") == 0;
        *(is_managed ? &rows[nodes[i].lane].managed : &rows[nodes[i].lane].other) += nodes[i].self;
    }
}

static void write_threads_json(const struct profiling *profiling, const struct row *rows, size_t n)
{
    struct json json = {.to = stdout};
    struct findings findings = sum_findings(profiling->inputs.reader);
    json_open(&json, NULL, '{');
    json_write_string(&json, "schema", "tracetta.threads/1");
    write_damage_json(&json, &findings);
    json_open(&json, "rows", '[');
    for (size_t i = 0; i < n; i++) {
        ttr_thread thread = {0};
        (void)ttr_thread_get(profiling->inputs.t, rows[i].lane->thread, &thread);
        json_open(&json, NULL, '{');
        json_write_uint(&json, "pid", thread.pid);
        json_write_uint(&json, "tid", thread.tid);
        json_write_text(&json, "name", ttr_text_get(profiling->inputs.t, thread.thread_name));
        json_write_uint(&json, "samples", rows[i].lane->count);
        json_write_uint(&json, "total_ns", rows[i].lane->weight);
        json_write_uint(&json, "managed_ns", rows[i].managed);
        json_write_uint(&json, "other_ns", rows[i].other);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
}

/* width in characters of the number columns before the name of a thread */
#define THREAD_COLUMNS 62

static void print_thread_rows(const struct call *call, const struct profiling *profiling,
                              const struct row *rows, size_t n)
{
    (void)printf("%s%10s %10s %10s %10s  thread%s\n", term_ink(&call->term, INK_BOLD), "samples",
                 "total", "managed", "other", term_ink(&call->term, INK_PLAIN));
    for (size_t i = 0; i < n; i++) {
        ttr_thread thread = {0};
        (void)ttr_thread_get(profiling->inputs.t, rows[i].lane->thread, &thread);
        (void)printf("%10s %10s %10s %10s  %llu/%llu ", units_count(rows[i].lane->count).s,
                     units_duration(rows[i].lane->weight).s, units_duration(rows[i].managed).s,
                     units_duration(rows[i].other).s, (unsigned long long)thread.pid,
                     (unsigned long long)thread.tid);
        const int left = call->term.width - THREAD_COLUMNS;
        term_shorten(&call->term, ttr_text_get(profiling->inputs.t, thread.thread_name),
                     (size_t)(left > 12 ? left : 12));
        (void)putchar('\n');
    }
}

static int show_threads(struct call *call, const struct profiling *profiling, bool has_rows)
{
    const ttr_profile_thread *lanes;
    uint32_t n = has_rows ? ttr_profile_threads(profiling->profile, &lanes) : 0;
    struct row *rows = calloc((size_t)n + 1, sizeof *rows);
    if (!rows) {
        report_failure_text(inputs_get_name(call), "out of memory");
        return OUTCOME_INPUT;
    }
    if (has_rows)
        sum_thread_weights(profiling, rows);
    qsort(rows, n, sizeof *rows, compare_weights);
    size_t shown = call->set.limit && call->set.limit < n ? (size_t)call->set.limit : n;
    if (call->set.json)
        write_threads_json(profiling, rows, shown);
    else
        print_thread_rows(call, profiling, rows, shown);
    if (shown < n)
        print_note(call, "%zu more rows", n - shown);
    free(rows);
    return OUTCOME_FINE;
}

/* Returns the reason why a profile yields no rows, or NULL. */
static const char *find_empty_reason(const struct profiling *profiling)
{
    if (!ttr_profile_count(profiling->profile))
        return "it has no samples of the .NET runtime, which this report needs";
    bool has_times = ttr_profile_get_unit(profiling->profile) == TTR_PROFILE_NS;
    return has_times ? NULL
                     : "its samples have no times: this report needs samples of the .NET runtime";
}

int report_threads(struct call *call)
{
    struct profiling profiling;
    int outcome = open_profiling(&profiling, call, TTR_PROFILE_SAMPLES | TTR_PROFILE_STATES);
    if (outcome != OUTCOME_FINE)
        return outcome;
    outcome = profiling.outcome;
    const char *why = profiling.profile ? find_empty_reason(&profiling) : NULL;
    if (why) {
        report_failure_text(inputs_get_name(call), "%s", why);
        outcome = OUTCOME_NO;
    }
    if (profiling.profile &&
        (!why || call->set.json)) { /* a JSON document is printed even without rows */
        int shown = show_threads(call, &profiling, !why);
        outcome = shown != OUTCOME_FINE ? shown : outcome;
    }
    return close_profiling(call, &profiling, outcome);
}
