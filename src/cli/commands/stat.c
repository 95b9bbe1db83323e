/* stat: how often, how long, by provider and name. */
#include <stdlib.h>
#include <string.h>

#include "cli/input/input_list.h"
#include "cli/ui/json.h"
#include "cli/ui/progress.h"
#include "cli/commands/report.h"
#include "cli/ui/messages.h"

/* A column to sort by: what it compares. */
struct column {
    const char *name;
    uint64_t (*value)(const ttr_stat_row *row);
};

static uint64_t value_total(const ttr_stat_row *row)
{
    return row->total;
}

static uint64_t value_self(const ttr_stat_row *row)
{
    return row->self;
}

static uint64_t value_count(const ttr_stat_row *row)
{
    return row->count;
}

static uint64_t value_bytes(const ttr_stat_row *row)
{
    return row->bytes;
}

static uint64_t value_min(const ttr_stat_row *row)
{
    return row->min;
}

static uint64_t value_p50(const ttr_stat_row *row)
{
    return row->p50;
}

static uint64_t value_p90(const ttr_stat_row *row)
{
    return row->p90;
}

static uint64_t value_p99(const ttr_stat_row *row)
{
    return row->p99;
}

static uint64_t value_max(const ttr_stat_row *row)
{
    return row->max;
}

/* The rate is the count over one time for all rows, so it sorts alike. */
static const struct column columns[] = {
    {"total", value_total}, {"self", value_self}, {"count", value_count}, {"rate", value_count},
    {"bytes", value_bytes}, {"min", value_min},   {"p50", value_p50},     {"p90", value_p90},
    {"p99", value_p99},     {"max", value_max},
};

struct order {
    const ttr *t;
    const struct column *column; /* NULL: by name */
};

static int compare_names(const ttr *t, const ttr_stat_row *a, const ttr_stat_row *b)
{
    ttr_text left = ttr_text_get(t, a->name), right = ttr_text_get(t, b->name);
    int by_bytes = memcmp(left.p, right.p, left.n < right.n ? left.n : right.n);
    return by_bytes ? by_bytes : (left.n > right.n) - (left.n < right.n);
}

static int compare(const void *left, const void *right, void *own)
{
    const struct order *order = own;
    const ttr_stat_row *a = *(const ttr_stat_row *const *)left,
                       *b = *(const ttr_stat_row *const *)right;
    if (!order->column)
        return compare_names(order->t, a, b);
    uint64_t x = order->column->value(a), y = order->column->value(b);
    if (x != y)
        return x < y ? 1 : -1;
    /* Rows came in the library's own order, which is kept among equals. */
    return (a > b) - (a < b);
}

/* Pointers to the rows in the order asked for; NULL when memory is out. */
static const ttr_stat_row **sort_rows(const struct call *call, const ttr *t,
                                      const ttr_stat_row *rows, size_t n)
{
    const ttr_stat_row **sorted = calloc(n + 1, sizeof(const ttr_stat_row *));
    struct order order = {.t = t};
    for (size_t i = 0; sorted && i < n; i++)
        sorted[i] = &rows[i];
    if (!sorted || !call->set.sort_by)
        return sorted;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (strcmp(columns[i].name, call->set.sort_by) == 0)
            order.column = &columns[i];
    qsort_r(sorted, n, sizeof(const ttr_stat_row *), compare, &order);
    return sorted;
}

static void put_row(struct json *json, const ttr *t, const ttr_stat_row *row)
{
    json_open(json, NULL, '{');
    json_text(json, "provider", ttr_text_get(t, row->provider));
    json_text(json, "category", ttr_text_get(t, row->category));
    json_text(json, "name", ttr_text_get(t, row->name));
    json_string(json, "kind", ttr_kind_text(row->kind));
    json_uint(json, "count", row->count);
    json_uint(json, "bytes", row->bytes);
    json_float(json, "rate", row->rate);
    json_time(json, "first_ns", row->first_ns);
    json_time(json, "last_ns", row->last_ns);
    if (row->kind == TTR_KIND_SPAN) {
        json_uint(json, "total_ns", row->total);
        json_uint(json, "self_ns", row->self);
        json_uint(json, "min_ns", row->min);
        json_uint(json, "p50_ns", row->p50);
        json_uint(json, "p90_ns", row->p90);
        json_uint(json, "p99_ns", row->p99);
        json_uint(json, "max_ns", row->max);
        json_uint(json, "unfinished", row->unfinished);
    }
    json_close(json, '}');
}

static void put_json(const struct call *call, const ttr *t, ttr_reader *reader,
                     const ttr_stat *stat, const ttr_stat_row **rows, size_t n)
{
    struct findings findings = report_sum(reader);
    struct json json = {
        .to = stdout, .has_text_times = call_has_text_times(call), .is_unix = findings.is_anchored};
    json_open(&json, NULL, '{');
    json_string(&json, "schema", "tracetta.stat/1");
    json_uint(&json, "events", findings.events);
    report_json_damage(&json, &findings);
    report_json_extent(&json, reader);
    json_uint(&json, "unmatched", ttr_stat_unmatched(stat));
    json_uint(&json, "disordered", ttr_stat_disordered(stat));
    json_open(&json, "rows", '[');
    for (size_t i = 0; i < n; i++)
        put_row(&json, t, rows[i]);
    json_close(&json, ']');
    json_close(&json, '}');
}

static void print_durations(const ttr_stat_row *row)
{
    const uint64_t values[] = {row->total, row->self, row->min, row->p50,
                               row->p90,   row->p99,  row->max};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        (void)printf(" %8s", units_duration(values[i]).s);
}

static void print_rows(const struct call *call, const ttr *t, const ttr_stat_row **rows, size_t n)
{
    const struct terminal *term = &call->term;
    (void)printf("%s%12s %10s %9s %8s %8s %8s %8s %8s %8s %8s  %s%s\n", term_ink(term, INK_BOLD),
                 "count", "rate/s", "bytes", "total", "self", "min", "p50", "p90", "p99", "max",
                 "provider name", term_ink(term, INK_PLAIN));
    for (size_t i = 0; i < n; i++) {
        const ttr_stat_row *row = rows[i];
        (void)printf("%12s %10.1f %9s", units_count(row->count).s, row->rate,
                     units_size(row->bytes).s);
        if (row->kind == TTR_KIND_SPAN)
            print_durations(row);
        else
            (void)printf(" %8s %8s %8s %8s %8s %8s %8s", "-", "-", "-", "-", "-", "-", "-");
        (void)printf("  %s", term_ink(term, INK_DIM));
        term_text(ttr_text_get(t, row->provider));
        (void)printf("%s%s", row->provider ? " " : "", term_ink(term, INK_PLAIN));
        term_text(ttr_text_get(t, row->name));
        if (row->kind != TTR_KIND_SPAN)
            (void)printf(" %s[%s]%s", term_ink(term, INK_DIM), ttr_kind_text(row->kind),
                         term_ink(term, INK_PLAIN));
        if (row->unfinished)
            (void)printf(" (%s unfinished)", units_count(row->unfinished).s);
        (void)putchar('\n');
    }
}

static void print_text(const struct call *call, const ttr *t, const ttr_stat *stat,
                       const ttr_stat_row **rows, size_t n)
{
    print_rows(call, t, rows, n);
    if (ttr_stat_unmatched(stat))
        talk_note(call, "%s ends have no begin", units_count(ttr_stat_unmatched(stat)).s);
    if (ttr_stat_disordered(stat))
        talk_note(call, "%s events of one thread went back in time: convert --sort orders them",
                  units_count(ttr_stat_disordered(stat)).s);
}

static int show(struct call *call, const struct inputs *inputs, const ttr_stat *stat)
{
    const ttr_stat_row *rows;
    size_t n = ttr_stat_rows(stat, &rows);
    const ttr_stat_row **sorted = sort_rows(call, inputs->t, rows, n);
    if (!sorted) {
        talk_failure(inputs_name(call), "out of memory");
        return OUTCOME_INPUT;
    }
    size_t shown = call->set.limit && call->set.limit < n ? (size_t)call->set.limit : n;
    if (call->set.json)
        put_json(call, inputs->t, inputs->reader, stat, sorted, shown);
    else
        print_text(call, inputs->t, stat, sorted, shown);
    if (shown < n)
        talk_note(call, "%zu more rows", n - shown);
    free(sorted);
    return OUTCOME_FINE;
}

int run_stat(struct call *call)
{
    struct inputs inputs;
    struct progress progress;
    ttr_error error = {0};
    int outcome = inputs_open(&inputs, call, 0);
    if (outcome != OUTCOME_FINE)
        return outcome;
    progress_begin(&progress, call, inputs.t, inputs.reader, "stat");
    ttr_stat *stat = ttr_stat_new(inputs.t, inputs.reader, progress_step, &progress, &error);
    progress_end(&progress);
    if (stat) {
        term_page(&call->term, &call->set);
        const ttr_stat_row *rows;
        outcome = show(call, &inputs, stat);
        outcome = inputs_check_matches(call, ttr_stat_rows(stat, &rows) > 0, outcome);
        report_interrupted(call, inputs.reader);
        outcome = report_warn(call, inputs.reader, outcome);
    }
    if (error.status != TTR_OK && error.status != TTR_AGAIN)
        outcome = inputs_failed(call, inputs_name(call), &error);
    ttr_stat_free(stat);
    inputs_close(&inputs);
    return outcome;
}
