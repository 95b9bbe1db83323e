/* stat --histogram: a row per part of the time, from one SQL statement over the slices. */
#include "cli/commands/stat_histogram.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/query_session.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/json.h"
#include "cli/ui/messages.h"

#define ROWS 24u
#define ROWS_MAX 1000u
#define SQL_BYTES 16384u

struct part {
    uint64_t count;
    double total, max; /* ns */
};

struct histogram {
    int64_t start, width; /* ns: time of the first event, length of a part */
    size_t n;
    struct part parts[ROWS_MAX];
    uint64_t count;
};

/* Writes the statement: start of the trace, length of a part, number of the part, count, total and
 * greatest duration. Returns false if the name is too long. */
static bool compose_statement(const char *name, size_t rows, char sql[SQL_BYTES])
{
    char quoted[SQL_BYTES / 2];
    size_t n = 0;
    for (; *name && n + 2 < sizeof quoted; name++) {
        quoted[n++] = *name;
        if (*name == '\'')
            quoted[n++] = '\'';
    }
    quoted[n] = '\0';
    return !*name &&
           snprintf(sql, SQL_BYTES,
                    "WITH b AS (SELECT start_ts AS s, (end_ts - start_ts) / %zu + 1 AS w FROM "
                    "trace_bounds) SELECT b.s, b.w, (ts - b.s) / b.w, count(*), "
                    "total(CASE WHEN dur > 0 THEN dur END), ifnull(max(dur), 0) FROM slice, b "
                    "WHERE name GLOB '%s' AND ts >= b.s GROUP BY 3 ORDER BY 3",
                    rows, quoted) < (int)SQL_BYTES;
}

static int read_parts(const struct query_library *library, struct query_session *session,
                      const char *sql, struct histogram *histogram)
{
    ttr_error error = {0};
    ttr_status status = TTR_END;
    ttr_result *result = library->prepare(session->query, sql, NULL, &error);
    if (!result)
        return query_session_report_sql(session, sql, &error);
    while ((status = library->step(result, &error)) == TTR_OK) {
        const int64_t at = library->get_int(result, 2);
        histogram->start = library->get_int(result, 0);
        histogram->width = library->get_int(result, 1);
        if (at < 0 || (size_t)at >= histogram->n)
            continue;
        histogram->parts[at] =
            (struct part){(uint64_t)library->get_int(result, 3), library->get_real(result, 4),
                          library->get_real(result, 5)};
        histogram->count += histogram->parts[at].count;
    }
    library->free(result);
    if (status == TTR_END || status == TTR_AGAIN)
        return OUTCOME_FINE;
    report_failure_text("stat", "%s", error.text);
    return OUTCOME_INPUT;
}

static void print_bar(const struct terminal *term, uint64_t count, uint64_t most, size_t room)
{
    const size_t n = most ? (size_t)((double)count / (double)most * (double)room + 0.5) : 0;
    for (size_t i = 0; i < (count && n == 0 ? 1 : n); i++)
        (void)fputs(term->has_boxes ? "\xe2\x96\x88" : "#", stdout);
    (void)putchar('\n');
}

static void print_histogram(const struct call *call, const struct histogram *histogram)
{
    uint64_t most = 0;
    const size_t columns = call->term.width > 60 ? (size_t)call->term.width - 50 : 20;
    for (size_t i = 0; i < histogram->n; i++)
        most = histogram->parts[i].count > most ? histogram->parts[i].count : most;
    (void)printf("%12s %10s %11s %11s\n", "from", "count", "mean", "max");
    for (size_t i = 0; i < histogram->n; i++) {
        const struct part *part = &histogram->parts[i];
        const uint64_t from = (uint64_t)histogram->width * i;
        (void)printf("%12s %10s ", units_duration(from).s, units_count(part->count).s);
        (void)printf("%11s ", part->count
                                  ? units_duration((uint64_t)(part->total / (double)part->count)).s
                                  : "");
        (void)printf("%11s  ",
                     part->count ? units_duration(part->max > 0 ? (uint64_t)part->max : 0).s : "");
        print_bar(&call->term, part->count, most, columns);
    }
}

static void print_histogram_json(const struct call *call, const struct histogram *histogram)
{
    struct json json = {.to = stdout};
    json_open(&json, NULL, '{');
    json_write_string(&json, "schema", "tracetta.histogram/1");
    json_write_string(&json, "name", call->set.histogram);
    json_write_int(&json, "start", histogram->start);
    json_write_int(&json, "width", histogram->width);
    json_open(&json, "parts", '[');
    for (size_t i = 0; i < histogram->n; i++) {
        const struct part *part = &histogram->parts[i];
        json_open(&json, NULL, '{');
        json_write_int(&json, "from", histogram->width * (int64_t)i);
        json_write_uint(&json, "count", part->count);
        json_write_uint(&json, "total", (uint64_t)part->total);
        json_write_uint(&json, "max", part->max > 0 ? (uint64_t)part->max : 0);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
}

/* Prints the histogram of an opened session. */
static int show(const struct query_library *library, struct query_session *session, const char *sql)
{
    const struct call *call = &session->call;
    struct histogram *histogram = calloc(1, sizeof *histogram);
    int outcome = histogram ? OUTCOME_FINE : OUTCOME_INPUT;
    if (histogram) {
        histogram->n = call->set.limit ? (size_t)call->set.limit : ROWS;
        outcome = read_parts(library, session, sql, histogram);
    }
    if (outcome == OUTCOME_FINE && !interrupt_was_received()) {
        if (call->set.json)
            print_histogram_json(call, histogram);
        else if (histogram->count)
            print_histogram(call, histogram);
        if (histogram->count == 0) {
            print_note(call, "no span or instant has a name like \"%s\"", call->set.histogram);
            outcome = OUTCOME_NO;
        }
    }
    free(histogram);
    return outcome;
}

int run_stat_histogram(struct call *call)
{
    struct query_library library;
    struct query_session session;
    char sql[SQL_BYTES];
    const size_t rows = call->set.limit ? (size_t)call->set.limit : ROWS;
    if (call->set.limit > ROWS_MAX)
        return report_misuse("stat", "--histogram has at most %u rows", ROWS_MAX);
    if (!compose_statement(call->set.histogram, rows, sql))
        return report_misuse("stat", "the name of --histogram is longer than 8 KB");
    int outcome = load_query_library(call, &library);
    if (outcome != OUTCOME_FINE)
        return outcome;
    query_session_begin(&session, call, &library, call->path, call->paths_n);
    query_session_want(&session, sql);
    outcome = query_session_open(&session);
    if (outcome == OUTCOME_FINE)
        outcome = show(&library, &session, sql);
    outcome = query_session_warn(&session, outcome);
    query_session_close(&session);
    return outcome;
}
