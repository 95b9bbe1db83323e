/* stat: counts events and measures spans, by provider and name. */
#include <stdlib.h>
#include <string.h>

#include "cli/input/input_list.h"
#include "cli/input/selection.h"
#include "cli/ui/json.h"
#include "cli/ui/progress.h"
#include "cli/commands/report.h"
#include "cli/commands/stat_histogram.h"
#include "cli/commands/stat_live.h"
#include "cli/ui/messages.h"

/* A value that --sort-by can name. */
struct column {
    const char *name;
    uint64_t (*value)(const ttr_stat_row *row);
};

static uint64_t get_total(const ttr_stat_row *row)
{
    return row->total;
}

static uint64_t get_self_time(const ttr_stat_row *row)
{
    return row->self;
}

static uint64_t get_count(const ttr_stat_row *row)
{
    return row->count;
}

static uint64_t get_bytes(const ttr_stat_row *row)
{
    return row->bytes;
}

static uint64_t get_minimum(const ttr_stat_row *row)
{
    return row->min;
}

static uint64_t get_median(const ttr_stat_row *row)
{
    return row->p50;
}

static uint64_t get_percentile_90(const ttr_stat_row *row)
{
    return row->p90;
}

static uint64_t get_percentile_99(const ttr_stat_row *row)
{
    return row->p99;
}

static uint64_t get_maximum(const ttr_stat_row *row)
{
    return row->max;
}

/* All rows share the time that rates are divided by, so sorting by rate is sorting by count. */
static const struct column columns[] = {
    {"total", get_total}, {"self", get_self_time},    {"count", get_count},
    {"rate", get_count},  {"bytes", get_bytes},       {"min", get_minimum},
    {"p50", get_median},  {"p90", get_percentile_90}, {"p99", get_percentile_99},
    {"max", get_maximum},
};

struct order {
    const ttr *t;
    const struct column *column; /* column of --sort-by; NULL = sort by name */
};

static int compare_names(const ttr *t, const ttr_stat_row *a, const ttr_stat_row *b)
{
    ttr_text left = ttr_text_get(t, a->name), right = ttr_text_get(t, b->name);
    int by_bytes = memcmp(left.p, right.p, left.n < right.n ? left.n : right.n);
    return by_bytes ? by_bytes : (left.n > right.n) - (left.n < right.n);
}

static int compare_rows(const void *left, const void *right, void *ctx)
{
    const struct order *order = ctx;
    const ttr_stat_row *a = *(const ttr_stat_row *const *)left,
                       *b = *(const ttr_stat_row *const *)right;
    if (!order->column)
        return compare_names(order->t, a, b);
    uint64_t x = order->column->value(a), y = order->column->value(b);
    if (x != y)
        return x < y ? 1 : -1;
    /* rows with equal values keep the library's order */
    return (a > b) - (a < b);
}

/* Returns pointers to the rows, sorted as --sort-by requests. Returns NULL if memory is
 * exhausted. */
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
    qsort_r(sorted, n, sizeof(const ttr_stat_row *), compare_rows, &order);
    return sorted;
}

static void write_row_json(struct json *json, const ttr *t, const ttr_stat_row *row)
{
    json_open(json, NULL, '{');
    json_write_text(json, "provider", ttr_text_get(t, row->provider));
    json_write_text(json, "category", ttr_text_get(t, row->category));
    json_write_text(json, "name", ttr_text_get(t, row->name));
    json_write_string(json, "kind", ttr_kind_text(row->kind));
    json_write_uint(json, "count", row->count);
    json_write_uint(json, "bytes", row->bytes);
    json_write_float(json, "rate", row->rate);
    json_write_time(json, "first_ns", row->first_ns);
    json_write_time(json, "last_ns", row->last_ns);
    if (row->kind == TTR_KIND_SPAN) {
        json_write_uint(json, "total_ns", row->total);
        json_write_uint(json, "self_ns", row->self);
        json_write_uint(json, "min_ns", row->min);
        json_write_uint(json, "p50_ns", row->p50);
        json_write_uint(json, "p90_ns", row->p90);
        json_write_uint(json, "p99_ns", row->p99);
        json_write_uint(json, "max_ns", row->max);
        json_write_uint(json, "unfinished", row->unfinished);
    }
    json_close(json, '}');
}

static void write_stat_json(const struct call *call, const ttr *t, ttr_reader *reader,
                            const ttr_stat *stat, const ttr_stat_row **rows, size_t n)
{
    struct findings findings = sum_findings(reader);
    struct json json = {
        .to = stdout, .has_text_times = call_has_text_times(call), .is_unix = findings.is_anchored};
    json_open(&json, NULL, '{');
    json_write_string(&json, "schema", "tracetta.stat/1");
    json_write_uint(&json, "events", findings.events);
    write_damage_json(&json, &findings);
    write_streams_read_json(&json, reader);
    json_write_uint(&json, "unmatched", ttr_stat_unmatched(stat));
    json_write_uint(&json, "disordered", ttr_stat_disordered(stat));
    json_open(&json, "rows", '[');
    for (size_t i = 0; i < n; i++)
        write_row_json(&json, t, rows[i]);
    json_close(&json, ']');
    json_close(&json, '}');
}

/* --- The table --- */

#define WIDE_COLUMNS 120 /* at this width all columns are shown */
#define NAME_COLUMNS_MIN 12

/* A column of numbers of the table. */
struct number {
    const char *name;
    int width;
    uint64_t (*value)(const ttr_stat_row *row); /* returns the value to print; NULL: the column is
                                                 * the rate */
    bool is_of_spans;                           /* only rows of spans have a value in this column */
    bool is_narrow;                             /* printed even if the terminal has only 80 columns
                                                 * */
};

static const struct number numbers[] = {
    {"count", 9, get_count, false, true},      {"rate/s", 10, NULL, false, false},
    {"bytes", 9, get_bytes, false, false},     {"total", 8, get_total, true, true},
    {"self", 8, get_self_time, true, true},    {"min", 8, get_minimum, true, false},
    {"p50", 8, get_median, true, true},        {"p90", 8, get_percentile_90, true, false},
    {"p99", 8, get_percentile_99, true, true}, {"max", 8, get_maximum, true, true},
};

/* Returns true if a column is printed: any column on a wide terminal, else the narrow ones and the
 * one that the rows are sorted by. */
static bool is_column_shown(const struct call *call, const struct number *number)
{
    const char *sorted = call->set.sort_by ? call->set.sort_by : "total";
    const size_t n = strcspn(number->name, "/");
    const bool orders = strlen(sorted) == n && memcmp(sorted, number->name, n) == 0;
    return call->set.verbose || call->term.width >= WIDE_COLUMNS || number->is_narrow || orders;
}

/* Returns the width of the printed columns, separated by blanks. */
static int get_numbers_width(const struct call *call)
{
    int width = -1;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        width += is_column_shown(call, &numbers[i]) ? numbers[i].width + 1 : 0;
    return width;
}

static struct unit_text format_number(const struct number *number, const ttr_stat_row *row)
{
    struct unit_text text = {"-"};
    if (!number->value)
        (void)snprintf(text.s, sizeof text.s, "%.1f", row->rate);
    else if (number->value == get_count)
        text = units_count(row->count);
    else if (number->value == get_bytes)
        text = units_size(row->bytes);
    else if (row->kind == TTR_KIND_SPAN)
        text = units_duration(number->value(row));
    return text;
}

/* Prints the numbers of a row, or the head of the table if `row` is NULL. */
static void print_row_numbers(const struct call *call, const ttr_stat_row *row)
{
    bool is_first = true;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const struct number *number = &numbers[i];
        if (!is_column_shown(call, number))
            continue;
        (void)printf("%s%*s", is_first ? "" : " ", number->width,
                     row ? format_number(number, row).s : number->name);
        is_first = false;
    }
    (void)fputs("  ", stdout);
}

/* Prints provider and name of a row, and its kind if it is not a span, in the columns that are
 * left. */
static void print_row_name(const struct call *call, const ttr *t, const ttr_stat_row *row, int used)
{
    const struct terminal *term = &call->term;
    const ttr_text provider = ttr_text_get(t, row->provider), name = ttr_text_get(t, row->name);
    char special[80] = "";
    int n = 0;
    if (row->kind != TTR_KIND_SPAN)
        n = snprintf(special, sizeof special, " [%s]", ttr_kind_text(row->kind));
    if (row->unfinished)
        n += snprintf(special + n, sizeof special - (size_t)n, " (%s unfinished)",
                      units_count(row->unfinished).s);
    int left = term->width - used - 2 - n;
    left = left > NAME_COLUMNS_MIN ? left : NAME_COLUMNS_MIN;
    const size_t room = (size_t)left, named = term_columns(name);
    /* The provider is shortened first, but keeps at least a third of the room. */
    const size_t for_provider = named + 1 < room * 2 / 3 ? room - named - 1 : room / 3;
    const size_t given =
        term_columns(provider) < for_provider ? term_columns(provider) : for_provider;
    (void)fputs(term_ink(term, INK_DIM), stdout);
    term_shorten(term, provider, for_provider);
    (void)printf("%s%s", row->provider ? " " : "", term_ink(term, INK_PLAIN));
    term_shorten(term, name, row->provider ? room - given - 1 : room);
    (void)printf("%s%s%s\n", n ? term_ink(term, INK_DIM) : "", special,
                 n ? term_ink(term, INK_PLAIN) : "");
}

static void print_rows(const struct call *call, const ttr *t, const ttr_stat_row **rows, size_t n)
{
    const int used = get_numbers_width(call);
    (void)fputs(term_ink(&call->term, INK_BOLD), stdout);
    print_row_numbers(call, NULL);
    (void)printf("provider name%s\n", term_ink(&call->term, INK_PLAIN));
    for (size_t i = 0; i < n; i++) {
        print_row_numbers(call, rows[i]);
        print_row_name(call, t, rows[i], used);
    }
}

static void print_stat_text(const struct call *call, const ttr *t, const ttr_stat *stat,
                            const ttr_stat_row **rows, size_t n)
{
    print_rows(call, t, rows, n);
    if (ttr_stat_unmatched(stat))
        print_note(call, "%s span ends have no begin", units_count(ttr_stat_unmatched(stat)).s);
    if (ttr_stat_disordered(stat))
        print_note(call, "%s events of one thread went back in time: convert --sort orders them",
                   units_count(ttr_stat_disordered(stat)).s);
}

static int show_stat(struct call *call, const struct inputs *inputs, const ttr_stat *stat)
{
    const ttr_stat_row *rows;
    size_t n = ttr_stat_rows(stat, &rows);
    const ttr_stat_row **sorted = sort_rows(call, inputs->t, rows, n);
    if (!sorted) {
        report_failure_text(inputs_get_name(call), "out of memory");
        return OUTCOME_INPUT;
    }
    size_t shown = call->set.limit && call->set.limit < n ? (size_t)call->set.limit : n;
    if (call->set.json)
        write_stat_json(call, inputs->t, inputs->reader, stat, sorted, shown);
    else
        print_stat_text(call, inputs->t, stat, sorted, shown);
    if (shown < n)
        print_note(call, "%zu more rows", n - shown);
    free(sorted);
    return OUTCOME_FINE;
}

int run_stat(struct call *call)
{
    struct inputs inputs;
    struct progress progress;
    ttr_error error = {0};
    if (call->set.live)
        return run_stat_live(call);
    if (call->set.histogram)
        return run_stat_histogram(call);
    int outcome = inputs_open(&inputs, call, 0);
    if (outcome != OUTCOME_FINE)
        return outcome;
    progress_begin(&progress, call, inputs.t, inputs.reader, "stat");
    ttr_stat *stat = ttr_stat_new(inputs.t, inputs.reader, progress_step, &progress, &error);
    progress_end(&progress);
    if (stat) {
        term_page(&call->term, &call->set);
        const ttr_stat_row *rows;
        outcome = show_stat(call, &inputs, stat);
        outcome = selection_check_matches(call, ttr_stat_rows(stat, &rows) > 0, outcome);
        report_interruption(call, inputs.reader);
        outcome = warn_about_findings(call, inputs.reader, outcome);
    }
    if (error.status != TTR_OK && error.status != TTR_AGAIN)
        outcome = inputs_report_failure(call, inputs_get_name(call), &error);
    ttr_stat_free(stat);
    inputs_close(&inputs);
    return outcome;
}
