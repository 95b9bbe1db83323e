/* diff: compares two traces by name. Both are read into stores; each section is one SQL statement,
 * which runs on both; their rows are joined by key. */
#include "cli/commands/diff.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/diff_flame.h"
#include "cli/input/output_check.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/json.h"
#include "cli/ui/messages.h"

#define SAMPLES_MAX 10000u /* durations of a key and trace that the rank test uses */
#define SQL_BYTES 8192u

static const struct diff_section sections[] = {
    {"spans",
     "name",
     "SELECT %s AS key, count(*), total(dur), total(self_dur), percentile(dur, 50), "
     "percentile(dur, 99) FROM slice WHERE dur >= 0 GROUP BY 1 ORDER BY 1",
     {{"count", DIFF_COUNT},
      {"total", DIFF_NS},
      {"self", DIFF_NS},
      {"p50", DIFF_NS},
      {"p99", DIFF_NS}},
     5,
     true},
    {"counters",
     "counter",
     "SELECT ifnull(t.name, '-') || ifnull(' ' || t.series, '') AS key, count(*), min(c.value), "
     "avg(c.value), max(c.value) FROM counter c JOIN counter_track t ON t.id = c.track_id GROUP BY "
     "1 ORDER BY 1",
     {{"count", DIFF_COUNT}, {"min", DIFF_VALUE}, {"mean", DIFF_VALUE}, {"max", DIFF_VALUE}},
     4,
     false},
    {"losses",
     "unit",
     "SELECT ifnull(unit, '-') AS key, count(*), total(count) FROM loss GROUP BY 1 ORDER BY 1",
     {{"gaps", DIFF_COUNT}, {"lost", DIFF_COUNT}},
     2,
     false},
    {"processes",
     "process",
     "SELECT ifnull(name, '-') AS key, count(*) FROM process GROUP BY 1 ORDER BY 1",
     {{"count", DIFF_COUNT}},
     1,
     false},
};
#define SECTIONS (sizeof sections / sizeof *sections)

struct work {
    struct call *call;
    struct query_library library;
    struct query_session sessions[2];
    struct diff_table tables[SECTIONS];
    char sql[SECTIONS][SQL_BYTES];
    char samples_sql[SQL_BYTES];
    double threshold; /* percent; negative = none */
};

/* --- Options --- */

static int read_threshold(struct work *work)
{
    const char *text = work->call->set.threshold;
    char *end;
    work->threshold = -1;
    if (!text)
        return OUTCOME_FINE;
    work->threshold = strtod(text, &end);
    if (end == text || (*end && strcmp(end, "%") != 0) || !(work->threshold >= 0))
        return report_misuse("diff", "--threshold expects a percentage, as in --threshold=10%%");
    return OUTCOME_FINE;
}

/* Writes the statements. */
static int compose_statements(struct work *work)
{
    char key[SQL_BYTES] = "ifnull(name, '-')";
    bool fits = true;
    /* Rows are joined in the order of texts. */
    if (work->call->set.key)
        fits = snprintf(key, sizeof key, "ifnull(CAST((%s) AS TEXT), '-')", work->call->set.key) <
               (int)sizeof key;
    for (size_t i = 0; i < SECTIONS; i++) {
        const char *hole = strstr(sections[i].sql, "%s");
        const int before = hole ? (int)(hole - sections[i].sql) : 0;
        const int n = snprintf(work->sql[i], SQL_BYTES, "%.*s%s%s", before, sections[i].sql,
                               hole ? key : "", hole ? hole + 2 : sections[i].sql);
        fits &= n > 0 && (size_t)n < SQL_BYTES;
        work->tables[i].section = &sections[i];
    }
    const int n = snprintf(work->samples_sql, SQL_BYTES,
                           "SELECT %s AS key, dur FROM slice WHERE dur >= 0", key);
    fits &= n > 0 && (size_t)n < SQL_BYTES;
    return fits ? OUTCOME_FINE : report_misuse("diff", "--key is longer than 8 KB");
}

/* Finds the column of --sort-by among those of spans. */
static void choose_sort_columns(struct work *work)
{
    const char *name = work->call->set.sort_by ? work->call->set.sort_by : "total";
    for (size_t i = 0; i < SECTIONS; i++) {
        struct diff_table *table = &work->tables[i];
        table->sort_column = strcmp(name, "name") == 0 ? table->section->columns_n : 0;
        for (size_t k = 0; k < table->section->columns_n; k++)
            if (strcmp(table->section->columns[k].name, name) == 0)
                table->sort_column = k;
    }
}

/* --- Reading --- */

/* Returns the row of a key, which is at or after *at, in the order of keys; adds it if it is new.
 * Returns NULL if memory is exhausted. */
static struct diff_row *find_or_add_row(struct diff_table *table, const char *key, size_t *at)
{
    while (*at < table->rows_n && strcmp(table->rows[*at].key, key) < 0)
        ++*at;
    if (*at < table->rows_n && strcmp(table->rows[*at].key, key) == 0)
        return &table->rows[*at];
    if (table->rows_n == table->capacity) {
        const size_t capacity = table->capacity ? 2 * table->capacity : 64;
        struct diff_row *grown = realloc(table->rows, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        table->rows = grown;
        table->capacity = capacity;
    }
    char *copy = strdup(key);
    if (!copy)
        return NULL;
    memmove(&table->rows[*at + 1], &table->rows[*at], (table->rows_n - *at) * sizeof *table->rows);
    table->rows_n++;
    table->rows[*at] = (struct diff_row){.key = copy, .rank = -1};
    return &table->rows[*at];
}

/* Prepares a statement on one side. Returns NULL after reporting an error. */
static ttr_result *prepare_statement(struct work *work, int side, const char *sql)
{
    ttr_error error = {0};
    const char *rest;
    ttr_result *result = work->library.prepare(work->sessions[side].query, sql, &rest, &error);
    if (!result)
        (void)query_session_report_sql(&work->sessions[side], sql, &error);
    return result;
}

static int report_end(ttr_status status, const ttr_error *error)
{
    if (status == TTR_END || status == TTR_AGAIN)
        return OUTCOME_FINE;
    report_failure_text("diff", "%s", error->status == TTR_OK ? "out of memory" : error->text);
    return OUTCOME_INPUT;
}

static int read_section(struct work *work, struct diff_table *table, const char *sql, int side)
{
    const struct query_library *library = &work->library;
    ttr_error error = {0};
    ttr_status status;
    size_t at = 0;
    ttr_result *result = prepare_statement(work, side, sql);
    if (!result)
        return OUTCOME_MISUSE;
    while ((status = library->step(result, &error)) == TTR_OK) {
        /* A text of a result has a zero byte after it. */
        struct diff_row *row = find_or_add_row(table, library->get_text(result, 0).p, &at);
        if (!row) {
            status = TTR_E_NOMEM;
            break;
        }
        row->has[side] = true;
        for (size_t i = 0; i < table->section->columns_n; i++)
            row->values[side][i] = library->get_real(result, i + 1);
    }
    library->free(result);
    return report_end(status, &error);
}

/* --- Samples --- */

static int compare_key(const void *key, const void *row)
{
    return strcmp(key, ((const struct diff_row *)row)->key);
}

/* Keeps a duration: every one at first, then a random selection (Vitter's algorithm R). */
static bool keep_sample(struct diff_row *row, int side, double value, uint64_t *random)
{
    const size_t seen = row->seen[side]++;
    if (!row->samples[side]) {
        const size_t n = (size_t)row->values[side][0];
        row->samples[side] = calloc(n < SAMPLES_MAX ? n + 1 : SAMPLES_MAX, sizeof(double));
        if (!row->samples[side])
            return false;
    }
    if (row->samples_n[side] < SAMPLES_MAX && (double)seen < row->values[side][0]) {
        row->samples[side][row->samples_n[side]++] = value;
        return true;
    }
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    const uint64_t at = (*random >> 33) % (seen + 1);
    if (at < row->samples_n[side])
        row->samples[side][at] = value;
    return true;
}

static int read_samples(struct work *work, struct diff_table *table, int side)
{
    const struct query_library *library = &work->library;
    ttr_error error = {0};
    ttr_status status;
    uint64_t random = 1;
    ttr_result *result = prepare_statement(work, side, work->samples_sql);
    if (!result)
        return OUTCOME_MISUSE;
    while ((status = library->step(result, &error)) == TTR_OK) {
        struct diff_row *row = bsearch(library->get_text(result, 0).p, table->rows, table->rows_n,
                                       sizeof *table->rows, compare_key);
        if (row && row->has[0] && row->has[1] &&
            !keep_sample(row, side, library->get_real(result, 1), &random)) {
            status = TTR_E_NOMEM;
            break;
        }
    }
    library->free(result);
    return report_end(status, &error);
}

static int read_tables(struct work *work)
{
    int outcome = OUTCOME_FINE;
    for (size_t i = 0; i < SECTIONS; i++) {
        struct diff_table *table = &work->tables[i];
        for (int side = 0; side < 2 && outcome == OUTCOME_FINE; side++)
            outcome = read_section(work, table, work->sql[i], side);
        for (int side = 0; side < 2 && outcome == OUTCOME_FINE && table->section->has_samples;
             side++)
            outcome = read_samples(work, table, side);
        for (size_t k = 0; outcome == OUTCOME_FINE && k < table->rows_n; k++)
            diff_test_ranks(&table->rows[k]);
    }
    return outcome;
}

/* --- Result --- */

static double difference_of(const struct diff_row *row, size_t column)
{
    const double difference = row->values[1][column] - row->values[0][column];
    return difference < 0 ? -difference : difference;
}

/* Sorts rows by the size of their difference; stable, so that equal ones stay in order of keys. */
static int compare_rows(const void *left, const void *right, void *ctx)
{
    const struct diff_table *table = ctx;
    const struct diff_row *a = left, *b = right;
    if (table->sort_column < table->section->columns_n) {
        const double x = difference_of(a, table->sort_column),
                     y = difference_of(b, table->sort_column);
        if (x != y)
            return x > y ? -1 : 1;
    }
    return strcmp(a->key, b->key);
}

/* Returns true if a row differs by more than the threshold, and by more than chance if its
 * durations could be tested. */
static bool is_beyond(const struct work *work, const struct diff_table *table,
                      const struct diff_row *row)
{
    if (table->sort_column >= table->section->columns_n)
        return false;
    const double percent = diff_percent(row, table->sort_column);
    const bool is_quantile = table->section->columns[table->sort_column].name[0] == 'p';
    if ((percent < 0 ? -percent : percent) <= work->threshold)
        return false;
    return !is_quantile || row->rank < 0 || row->rank >= 6.635; /* p < 0.01 */
}

static int print_tables(struct work *work)
{
    const struct call *call = work->call;
    const bool is_json = call->set.format && strcmp(call->set.format, "json") == 0;
    const struct diff_table *spans = &work->tables[0];
    size_t beyond = 0;
    struct json json = {.to = stdout};
    for (size_t i = 0; work->threshold >= 0 && i < spans->rows_n; i++)
        beyond += is_beyond(work, spans, &spans->rows[i]);
    if (is_json) {
        json_open(&json, NULL, '{');
        json_write_string(&json, "schema", "tracetta.diff/1");
        json_write_string(&json, "before", call->path[0]);
        json_write_string(&json, "after", call->path[1]);
    }
    for (size_t i = 0; i < SECTIONS; i++) {
        struct diff_table *table = &work->tables[i];
        if (table->rows_n > 1)
            qsort_r(table->rows, table->rows_n, sizeof *table->rows, compare_rows, table);
        if (is_json)
            print_diff_json(call, &json, table);
        else if (table->rows_n > 0)
            print_diff_table(call, table);
    }
    if (is_json) {
        json_write_uint(&json, "beyond_threshold", beyond);
        json_close(&json, '}');
    }
    if (beyond > 0)
        print_note(call, "%zu name%s differ%s by more than %g %%", beyond, beyond == 1 ? "" : "s",
                   beyond == 1 ? "s" : "", work->threshold);
    return beyond > 0 ? OUTCOME_NO : OUTCOME_FINE;
}

static void free_tables(struct work *work)
{
    for (size_t i = 0; i < SECTIONS; i++) {
        for (size_t k = 0; k < work->tables[i].rows_n; k++) {
            struct diff_row *row = &work->tables[i].rows[k];
            free(row->key);
            free(row->samples[0]);
            free(row->samples[1]);
        }
        free(work->tables[i].rows);
    }
}

static bool is_flame_graph(const struct call *call)
{
    return call->set.format && strcmp(call->set.format, "svg") == 0;
}

static int open_side(struct work *work, int side)
{
    struct query_session *session = &work->sessions[side];
    query_session_begin(session, work->call, &work->library, &work->call->path[side], 1);
    if (is_flame_graph(work->call))
        query_session_want(session, DIFF_FLAME_SQL);
    for (size_t i = 0; i < SECTIONS && !is_flame_graph(work->call); i++)
        query_session_want(session, work->sql[i]);
    return query_session_open(session);
}

/* --explain: prints the statements that compare the traces. */
static int print_statements(const struct work *work)
{
    const struct terminal *term = &work->call->term;
    if (is_flame_graph(work->call)) {
        (void)puts("-- paths of names, of each trace\n" DIFF_FLAME_SQL ";");
        return OUTCOME_FINE;
    }
    for (size_t i = 0; i < SECTIONS; i++) {
        (void)printf("-- %s, of each trace\n", sections[i].name);
        term_lines(term, work->sql[i], ";\n");
    }
    (void)puts("-- durations for the rank test");
    term_lines(term, work->samples_sql, ";\n");
    return OUTCOME_FINE;
}

/* Refuses an output that is not for a graph, or that exists. */
static int check_output(const struct call *call)
{
    const char *path = call->set.output;
    if (!path || strcmp(path, "-") == 0)
        return OUTCOME_FINE;
    if (!is_flame_graph(call))
        return report_misuse("diff", "--output is for --format=svg: others are printed");
    if (!call->set.overwrite && access(path, F_OK) == 0) {
        report_failure_text(path, "exists already; --overwrite (-f) replaces it");
        return OUTCOME_OUTPUT;
    }
    return check_output_path(call, path, "svg");
}

/* Compares what has been read, and prints it. */
static int compare(struct work *work)
{
    struct call *call = work->call;
    if (is_flame_graph(call))
        return write_diff_flame(call, &work->library, work->sessions);
    const int outcome = read_tables(work);
    if (outcome != OUTCOME_FINE || interrupt_was_received())
        return outcome;
    term_page(&call->term, &call->set);
    return print_tables(work);
}

int run_diff(struct call *call)
{
    struct work *work = calloc(1, sizeof *work);
    if (!work)
        return OUTCOME_INPUT;
    work->call = call;
    int outcome = check_output(call);
    if (outcome == OUTCOME_FINE)
        outcome = read_threshold(work);
    if (outcome == OUTCOME_FINE)
        outcome = compose_statements(work);
    if (outcome == OUTCOME_FINE && call->set.explain)
        outcome = print_statements(work);
    else if (outcome == OUTCOME_FINE &&
             (outcome = load_query_library(call, &work->library)) == OUTCOME_FINE) {
        choose_sort_columns(work);
        for (int side = 0; side < 2 && outcome == OUTCOME_FINE; side++)
            outcome = open_side(work, side);
        if (outcome == OUTCOME_FINE)
            outcome = compare(work);
        for (int side = 0; side < 2; side++) {
            outcome = query_session_warn(&work->sessions[side], outcome);
            query_session_close(&work->sessions[side]);
        }
    }
    free_tables(work);
    free(work);
    return outcome;
}
