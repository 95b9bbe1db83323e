/* report: calls the report that the user names; also contains the report topn. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/ui/json.h"
#include "cli/commands/profiles.h"
#include "cli/commands/report.h"
#include "cli/commands/reports.h"
#include "cli/commands/view.h"
#include "cli/ui/messages.h"

/* --- topn: the functions with the most time --- */

#define TOPN_ROWS 5       /* number of rows, as in dotnet-trace */
#define NUMBER_COLUMNS 12 /* "Inclusive" and "Exclusive", and blanks after them */
#define NAME_COLUMNS_MIN 40

struct topn {
    const struct call *call;
    ttr *t;
    const ttr_profile *profile;
    const ttr_profile_frame **row;
    size_t n, shown;
};

static uint64_t get_sort_key(const struct call *call, const ttr_profile_frame *frame)
{
    return call->set.inclusive ? frame->total : frame->self;
}

static int compare_sort_keys(const void *left, const void *right, void *ctx)
{
    const struct call *call = ctx;
    const ttr_profile_frame *a = *(const ttr_profile_frame *const *)left,
                            *b = *(const ttr_profile_frame *const *)right;
    uint64_t x = get_sort_key(call, a), y = get_sort_key(call, b);
    if (x == y) {
        x = a->total;
        y = b->total;
    }
    if (x != y)
        return x < y ? 1 : -1;
    return (a > b) - (a < b);
}

static double compute_percent(const struct topn *topn, uint64_t weight)
{
    uint64_t all = ttr_profile_weight(topn->profile);
    return all ? 100.0 * (double)weight / (double)all : 0;
}

static void print_topn(const struct topn *topn)
{
    const struct terminal *term = &topn->call->term;
    const int left = term->width - 2 * NUMBER_COLUMNS;
    const int columns = left > NAME_COLUMNS_MIN ? left : NAME_COLUMNS_MIN;
    char title[64], number[32];
    (void)snprintf(title, sizeof title, "Top %zu Functions (%s)", topn->shown,
                   topn->call->set.inclusive ? "Inclusive" : "Exclusive");
    (void)printf("%s%-*s%-*s%s%s\n", term_ink(term, INK_BOLD), columns, title, NUMBER_COLUMNS,
                 "Inclusive", "Exclusive", term_ink(term, INK_PLAIN));
    for (size_t i = 0; i < topn->shown; i++) {
        const ttr_profile_frame *frame = topn->row[i];
        ttr_text name = ttr_text_get(topn->t, frame->name);
        const int number_n = printf("%zu. ", i + 1), room = columns - number_n - 1;
        char label[200];
        if (term->out_is_tty && term_columns(name) > (size_t)room)
            name = (ttr_text){label, ttr_profile_label(name, label, sizeof label)};
        const size_t name_n = term_columns(name);
        const bool is_cut = term->out_is_tty && name_n > (size_t)room;
        const int width = number_n + (is_cut ? room : (int)name_n);
        term_shorten(term, name, (size_t)room);
        (void)snprintf(number, sizeof number, "%.2f%%", compute_percent(topn, frame->total));
        (void)printf("%*s%-*s%.2f%%\n", width < columns ? columns - width : 1, "", NUMBER_COLUMNS,
                     number, compute_percent(topn, frame->self));
    }
}

static void write_topn_json(const struct topn *topn, ttr_reader *reader)
{
    struct json json = {.to = stdout};
    struct findings findings = sum_findings(reader);
    json_open(&json, NULL, '{');
    json_write_string(&json, "schema", "tracetta.topn/1");
    json_write_string(&json, "of", ttr_profile_is_of_spans(topn->profile) ? "spans" : "samples");
    json_write_string(&json, "unit",
                      ttr_profile_get_unit(topn->profile) == TTR_PROFILE_NS ? "ns" : "count");
    json_write_uint(&json, "count", ttr_profile_count(topn->profile));
    json_write_uint(&json, "total", ttr_profile_weight(topn->profile));
    write_damage_json(&json, &findings);
    json_open(&json, "rows", '[');
    for (size_t i = 0; i < topn->shown; i++) {
        json_open(&json, NULL, '{');
        json_write_text(&json, "name", ttr_text_get(topn->t, topn->row[i]->name));
        json_write_uint(&json, "inclusive", topn->row[i]->total);
        json_write_uint(&json, "exclusive", topn->row[i]->self);
        json_write_float(&json, "inclusive_percent", compute_percent(topn, topn->row[i]->total));
        json_write_float(&json, "exclusive_percent", compute_percent(topn, topn->row[i]->self));
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
}

static int show_topn(struct call *call, const struct profiling *profiling)
{
    const ttr_profile_frame *frames;
    struct topn topn = {.call = call, .t = profiling->inputs.t, .profile = profiling->profile};
    uint32_t n = ttr_profile_frames(profiling->profile, &frames);
    topn.row = calloc((size_t)n + 1, sizeof *topn.row);
    if (!topn.row) {
        report_failure_text(inputs_get_name(call), "out of memory");
        return OUTCOME_INPUT;
    }
    for (uint32_t i = 0; i < n; i++)
        if (!frames[i].is_state)
            topn.row[topn.n++] = &frames[i];
    qsort_r(topn.row, topn.n, sizeof *topn.row, compare_sort_keys, call);
    size_t limit = call->set.limit ? (size_t)call->set.limit : TOPN_ROWS;
    topn.shown = topn.n < limit ? topn.n : limit;
    if (call->set.json)
        write_topn_json(&topn, profiling->inputs.reader);
    else
        print_topn(&topn);
    free(topn.row);
    return OUTCOME_FINE;
}

static int run_topn(struct call *call)
{
    struct profiling profiling;
    int outcome = open_profiling(&profiling, call, TTR_PROFILE_MERGED | get_profile_flags(call));
    if (outcome != OUTCOME_FINE)
        return outcome;
    outcome = profiling.outcome;
    /* A JSON document is printed even without rows. */
    if (profiling.profile && (profiling_has_events(call, &profiling, &outcome) || call->set.json)) {
        int shown = show_topn(call, &profiling);
        outcome = shown != OUTCOME_FINE ? shown : outcome;
    }
    return close_profiling(call, &profiling, outcome);
}

/* --- The reports --- */

static const struct report_row {
    const char *name;
    int (*run)(struct call *call);
} reports[] = {{"topn", run_topn},
               {"gc", report_gc},
               {"exceptions", report_exceptions},
               {"counters", report_counters},
               {"threads", report_threads}};

/* Reports that the first operand is not the name of a report; it usually is a file. */
static int refuse_report(const char *name)
{
    if (strpbrk(name, "./") || access(name, F_OK) == 0)
        return report_misuse("report",
                             "the name of a report is missing before \"%s\": expected topn, gc, "
                             "exceptions, counters or threads; use \"tracetta report topn %s\"",
                             name, name);
    return report_misuse("report",
                         "unknown report \"%s\": expected topn, gc, exceptions, counters or "
                         "threads",
                         name);
}

int run_report(struct call *call)
{
    const char *name = call->path[0];
    if (call->set.html)
        return report_html(call);
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++)
        if (strcasecmp(reports[i].name, name) == 0) {
            call->path++;
            call->paths_n--;
            return call->paths_n > 0
                       ? reports[i].run(call)
                       : report_misuse("report",
                                       "report %s expects a file (\"-\" is standard input)",
                                       reports[i].name);
        }
    return refuse_report(name);
}
