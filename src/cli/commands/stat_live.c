/* Counts events by provider, name and kind, and prints the counts while the events arrive: at most
 * PRINT_MS after an event, then every second, so that rates fall when no more events come.
 *
 * A rate is that of the last one to two seconds. Memory: ROWS_MAX rows; other events are counted in
 * the first line only. */
#include "cli/commands/stat_live.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/command.h"
#include "cli/commands/report.h"
#include "cli/input/input_list.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/json.h"
#include "cli/ui/messages.h"
#include "cli/ui/progress.h"

#define ROWS_MAX 4096u
#define ROWS_SHOWN 20u
#define PRINT_MS 100u
#define QUIET_MS 1000u
#define SECOND_NS UINT64_C(1000000000)

struct live_row {
    ttr_id provider, name;
    uint8_t kind;
    bool is_used;
    uint64_t count, before; /* `before`: count at the start of the window */
};

struct live_stat {
    struct call *call;
    struct inputs inputs;
    struct live_row *rows; /* hash table with open addressing */
    size_t rows_n;
    uint64_t events, events_before, lost;
    uint64_t begin_ns, window_ns, printed_ns; /* progress_now of start, window and last print */
    bool is_fresh;                            /* events were counted since the last print */
};

/* Returns the row of an event; NULL if the table is full. */
static struct live_row *find_row(struct live_stat *stat, const ttr_event *event)
{
    uint32_t at = (event->name * 0x9E3779B1u ^ event->provider * 0x85EBCA6Bu ^ event->kind);
    for (;; at++) {
        struct live_row *row = &stat->rows[at % (2 * ROWS_MAX)];
        if (row->is_used && row->name == event->name && row->provider == event->provider &&
            row->kind == event->kind)
            return row;
        if (row->is_used)
            continue;
        if (stat->rows_n >= ROWS_MAX)
            return NULL;
        stat->rows_n++;
        *row = (struct live_row){event->provider, event->name, event->kind, true, 0, 0};
        return row;
    }
}

static void count_events(struct live_stat *stat, const ttr_batch *batch)
{
    for (uint32_t i = 0; i < batch->n; i++) {
        const ttr_event *event = ttr_batch_at(batch, i);
        if (event->kind == TTR_KIND_GAP) {
            stat->lost += event->link;
            continue;
        }
        struct live_row *row = find_row(stat, event);
        stat->events++;
        if (row)
            row->count++;
    }
    stat->is_fresh |= batch->n > 0;
}

/* --- Output --- */

static double compute_rate(const struct live_stat *stat, uint64_t now, uint64_t before)
{
    const uint64_t ns = stat->printed_ns - stat->window_ns;
    return ns ? (double)(now - before) * 1e9 / (double)ns : 0;
}

static int compare_counts(const void *a, const void *b)
{
    const struct live_row *x = *(const struct live_row *const *)a,
                          *y = *(const struct live_row *const *)b;
    const uint64_t left = x->count - x->before, right = y->count - y->before;
    if (left != right)
        return left < right ? 1 : -1;
    return x->count != y->count ? (x->count < y->count ? 1 : -1) : (x > y) - (x < y);
}

static void print_json(const struct live_stat *stat, const struct live_row **rows, size_t n)
{
    struct json json = {.to = stdout, .is_flat = true};
    json_open(&json, NULL, '{');
    json_write_string(&json, "schema", "tracetta.stat-live/1");
    json_write_float(&json, "seconds", (double)(stat->printed_ns - stat->begin_ns) / 1e9);
    json_write_uint(&json, "events", stat->events);
    json_write_float(&json, "rate", compute_rate(stat, stat->events, stat->events_before));
    json_write_uint(&json, "lost", stat->lost);
    json_open(&json, "rows", '[');
    for (size_t i = 0; i < n; i++) {
        json_open(&json, NULL, '{');
        json_write_text(&json, "provider", ttr_text_get(stat->inputs.t, rows[i]->provider));
        json_write_text(&json, "name", ttr_text_get(stat->inputs.t, rows[i]->name));
        json_write_string(&json, "kind", ttr_kind_text(rows[i]->kind));
        json_write_uint(&json, "count", rows[i]->count);
        json_write_float(&json, "rate", compute_rate(stat, rows[i]->count, rows[i]->before));
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
}

static void print_text(const struct live_stat *stat, const struct live_row **rows, size_t n)
{
    const struct terminal *term = &stat->call->term;
    if (term->out_is_tty)
        (void)fputs("\x1b[H\x1b[J", stdout);
    (void)printf("%.1f s: %s, %.0f/s, %s lost\n", (double)(stat->printed_ns - stat->begin_ns) / 1e9,
                 units_events(stat->events).s,
                 compute_rate(stat, stat->events, stat->events_before), units_count(stat->lost).s);
    for (size_t i = 0; i < n; i++) {
        const ttr_text provider = ttr_text_get(stat->inputs.t, rows[i]->provider);
        (void)printf("%12s %10.0f/s  ", units_count(rows[i]->count).s,
                     compute_rate(stat, rows[i]->count, rows[i]->before));
        term_shorten(term, provider, 20);
        (void)fputs(provider.n ? " " : "", stdout);
        term_shorten(term, ttr_text_get(stat->inputs.t, rows[i]->name), 40);
        (void)putchar('\n');
    }
}

/* Starts another window of the rates if the current one has a second. */
static void advance_window(struct live_stat *stat)
{
    if (stat->printed_ns - stat->window_ns < SECOND_NS)
        return;
    stat->window_ns = stat->printed_ns;
    stat->events_before = stat->events;
    for (size_t i = 0; i < 2 * (size_t)ROWS_MAX; i++)
        stat->rows[i].before = stat->rows[i].count;
}

static void print_stat(struct live_stat *stat)
{
    const struct live_row *sorted[ROWS_MAX];
    size_t n = 0;
    const size_t limit = stat->call->set.limit ? (size_t)stat->call->set.limit : ROWS_SHOWN;
    for (size_t i = 0; i < 2 * (size_t)ROWS_MAX; i++)
        if (stat->rows[i].is_used)
            sorted[n++] = &stat->rows[i];
    if (n > 1)
        qsort(sorted, n, sizeof *sorted, compare_counts);
    stat->printed_ns = progress_now();
    (stat->call->set.json ? print_json : print_text)(stat, sorted, n < limit ? n : limit);
    (void)fflush(stdout);
    stat->is_fresh = false;
    advance_window(stat);
}

/* --- The loop --- */

/* Prints what is due, until there is something to read. */
static void wait_and_print(struct live_stat *stat)
{
    for (;;) {
        const uint64_t ms = (progress_now() - stat->printed_ns) / 1000000;
        const uint64_t due_ms = stat->is_fresh ? PRINT_MS : QUIET_MS;
        if (ms >= due_ms)
            print_stat(stat);
        else if (inputs_wait(&stat->inputs, (unsigned)(due_ms - ms)))
            return;
        if (interrupt_was_received())
            return;
    }
}

static int read_events(struct live_stat *stat)
{
    ttr_batch batch;
    ttr_error error = {0};
    ttr_status status;
    stat->begin_ns = stat->window_ns = stat->printed_ns = progress_now();
    do {
        wait_and_print(stat);
        status = ttr_read(stat->inputs.reader, &batch, &error);
        if (status == TTR_OK)
            count_events(stat, &batch);
    } while ((status == TTR_OK || status == TTR_AGAIN) && !interrupt_was_received());
    print_stat(stat);
    return status == TTR_OK || status == TTR_AGAIN || status == TTR_END
               ? OUTCOME_FINE
               : inputs_report_failure(stat->call, inputs_get_name(stat->call), &error);
}

int run_stat_live(struct call *call)
{
    struct live_stat stat = {.call = call};
    int outcome = inputs_open(&stat.inputs, call, 0);
    if (outcome != OUTCOME_FINE)
        return outcome;
    stat.rows = calloc(2 * (size_t)ROWS_MAX, sizeof *stat.rows);
    if (stat.rows) {
        outcome = read_events(&stat);
    } else {
        report_failure_text(inputs_get_name(call), "out of memory");
        outcome = OUTCOME_INPUT;
    }
    free(stat.rows);
    inputs_close(&stat.inputs);
    return outcome;
}
