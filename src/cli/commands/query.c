/* query: SQL over traces, by libtracetta-query, which is loaded when it is needed. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tracetta/query.h>

#include "cli/commands/command.h"
#include "cli/commands/report.h"
#include "cli/input/input_list.h"
#include "cli/input/optional_library.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/messages.h"
#include "cli/ui/progress.h"
#include "cli/commands/query_output.h"

#define NAMES_MAX 4096u
#define SQL_MAX (16u << 20)

struct work {
    struct call *call;
    struct inputs inputs;
    char *sql; /* NULL = list the tables */
    char **names;
    size_t names_n;
    bool has_all_columns; /* the statement uses "*" */
    ttr_store *store;
    ttr_query *query;
    struct query_library library;
    __typeof__(ttr_query_names) *find_names;
    __typeof__(ttr_query_new) *create;
    __typeof__(ttr_query_free) *free;
    __typeof__(ttr_query_set_progress) *set_progress;
    __typeof__(ttr_query_prepare) *prepare;
};

static int load_query_library(struct work *work)
{
    char reason[LIBRARY_REASON];
    const struct library_function functions[] = {
        {"ttr_query_names", &work->find_names},
        {"ttr_query_new", &work->create},
        {"ttr_query_free", &work->free},
        {"ttr_query_set_progress", &work->set_progress},
        {"ttr_query_prepare", &work->prepare},
        {"ttr_result_step", &work->library.step},
        {"ttr_result_columns", &work->library.columns},
        {"ttr_result_name", &work->library.name},
        {"ttr_result_type", &work->library.type},
        {"ttr_result_int", &work->library.get_int},
        {"ttr_result_real", &work->library.get_real},
        {"ttr_result_text", &work->library.get_text},
        {"ttr_result_free", &work->library.free},
    };
    if (load_optional_library(LIBRARY_QUERY, functions, sizeof functions / sizeof *functions,
                              reason))
        return OUTCOME_FINE;
    report_failure_text("query", "%s", reason);
    return OUTCOME_INPUT;
}

/* --- The statement --- */

/* Reads a script. Returns NULL after reporting an error. */
static char *read_script(const char *path)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rbe");
    char *text = file ? malloc(SQL_MAX + 1) : NULL;
    if (!text) {
        report_failure_text(path, "cannot be read: %s", strerror(errno));
        if (file && file != stdin)
            (void)fclose(file);
        return NULL;
    }
    const size_t n = fread(text, 1, SQL_MAX + 1, file);
    text[n <= SQL_MAX ? n : 0] = '\0';
    if (file != stdin)
        (void)fclose(file);
    if (n <= SQL_MAX)
        return text;
    report_failure_text(path, "is larger than 16 MiB: it is not a script");
    free(text);
    return NULL;
}

/* Finds the statement: --file, or the last operand if it is not a file. */
static int find_statement(struct work *work)
{
    struct call *call = work->call;
    if (call->set.script) {
        work->sql = read_script(call->set.script);
        return work->sql ? OUTCOME_FINE : OUTCOME_INPUT;
    }
    const char *last = call->path[call->paths_n - 1];
    if (strpbrk(last, " \n\t;") && access(last, F_OK) != 0) {
        work->sql = strdup(last);
        call->paths_n--;
        if (!work->sql)
            return OUTCOME_INPUT;
    }
    if (call->paths_n == 0)
        return report_misuse("query", "expected a trace before the statement");
    return OUTCOME_FINE;
}

static void add_wanted_table(void *user_data, const char *name)
{
    struct work *work = user_data;
    if (strcmp(name, "*") == 0) {
        work->has_all_columns = true;
        return;
    }
    for (size_t i = 0; i < work->names_n; i++)
        if (strcmp(work->names[i], name) == 0)
            return;
    if (work->names_n < NAMES_MAX && (work->names[work->names_n] = strdup(name)))
        work->names_n++;
}

/* --- The store --- */

static bool should_continue(void *user_data)
{
    (void)user_data;
    return !interrupt_was_received();
}

static int build_store(struct work *work)
{
    struct progress progress;
    ttr_error error = {0};
    const char *const *names = work->sql ? (const char *const *)work->names : NULL;
    const ttr_store_options options = {
        .size = sizeof options, .names = names, .columns = work->has_all_columns ? NULL : names};
    work->store = ttr_store_new(work->inputs.t, &options, &error);
    ttr_status status = work->store ? TTR_OK : error.status;
    if (status == TTR_OK) {
        progress_begin(&progress, work->call, work->inputs.t, work->inputs.reader, "query");
        status = ttr_store_read(work->store, work->inputs.reader, progress_step, &progress, &error);
        progress_end(&progress);
    }
    if (status == TTR_OK || status == TTR_AGAIN)
        return OUTCOME_FINE;
    return inputs_report_failure(work->call, inputs_get_name(work->call), &error);
}

/* --- The list of tables --- */

static void print_table_columns(const struct work *work, size_t i)
{
    ttr_store_column column;
    for (size_t k = 0; ttr_store_column_at(work->store, i, k, &column); k++)
        (void)printf("%s%s", k ? ", " : "    ", column.name);
    (void)putchar('\n');
}

static int list_tables(const struct work *work)
{
    static const char *const types[] = {"integer", "real", "text"};
    ttr_store_table table;
    ttr_store_column column;
    for (size_t i = 0; ttr_store_table_at(work->store, i, &table); i++) {
        if (work->call->set.verbose) {
            (void)printf("%s: %s (%" PRIu64 " rows)\n", table.name, table.description, table.rows);
            for (size_t k = 0; ttr_store_column_at(work->store, i, k, &column); k++)
                (void)printf("    %-14s %-8s %s\n", column.name, types[column.type],
                             column.description);
        } else {
            (void)printf("%-14s %10" PRIu64 "  %s\n", table.name, table.rows, table.description);
            print_table_columns(work, i);
        }
    }
    (void)printf("\nEach event name is a table too, with a column per field. Examples:\n"
                 "  SELECT name, count(*), sum(dur) FROM slice GROUP BY name ORDER BY 3 DESC\n"
                 "  SELECT name, dur, thread_name FROM slice ORDER BY dur DESC LIMIT 5\n"
                 "  SELECT kind, name, count(*) FROM event GROUP BY 1, 2 ORDER BY 3 DESC\n");
    return OUTCOME_FINE;
}

/* --- Running --- */

/* Returns the i-th name of a table or column; NULL after the last. */
static const char *find_known_table(const void *context, size_t i)
{
    const struct work *work = context;
    ttr_store_table table;
    ttr_store_column column;
    for (size_t k = 0; ttr_store_table_at(work->store, k, &table); k++) {
        if (table.is_class && table.rows == 0)
            continue;
        if (i-- == 0)
            return table.name;
        for (size_t c = 0; ttr_store_column_at(work->store, k, c, &column); c++)
            if (i-- == 0)
                return column.name;
    }
    return NULL;
}

/* Reports an error in the statement: the line with a caret below, and the nearest name. */
static int report_sql_error(const struct work *work, const char *sql, const ttr_error *error)
{
    const char *begin = sql + error->offset, *line = begin;
    const char *colon = strrchr(error->text, ':');
    const char *near = colon && strstr(error->text, "no such")
                           ? print_nearest_word(colon + 2, find_known_table, work)
                           : NULL;
    while (line > sql && line[-1] != '\n')
        line--;
    report_failure_text("query", "%s%s%s%s", error->text, near ? " (did you mean " : "",
                        near ? near : "", near ? "?)" : "");
    if (error->offset > 0 || colon)
        (void)fprintf(stderr, "  %.*s\n  %*s^\n", (int)strcspn(line, "\n"), line,
                      (int)(begin - line), "");
    return OUTCOME_MISUSE;
}

/* Runs all statements of the text. */
static int run_statements(struct work *work)
{
    const char *sql = work->sql;
    ttr_error error = {0};
    int outcome = OUTCOME_FINE;
    while (outcome == OUTCOME_FINE && sql[strspn(sql, " \t\r\n;")]) {
        const char *rest;
        ttr_result *result = work->prepare(work->query, sql, &rest, &error);
        if (!result)
            return report_sql_error(work, sql, &error);
        const ttr_status status = print_query_result(work->call, &work->library, result, &error);
        work->library.free(result);
        if (status == TTR_AGAIN)
            return OUTCOME_FINE; /* interrupted */
        if (status != TTR_END) {
            report_failure_text("query", "%s", error.text);
            outcome = OUTCOME_MISUSE;
        }
        sql = rest;
    }
    return outcome;
}

static int answer_statements(struct work *work)
{
    ttr_error error = {0};
    if (!work->sql)
        return list_tables(work);
    work->query = work->create(work->inputs.t, work->store, &error);
    if (!work->query) {
        report_failure_text("query", "%s", error.text);
        return OUTCOME_INPUT;
    }
    work->set_progress(work->query, should_continue, NULL);
    term_page(&work->call->term, &work->call->set);
    return run_statements(work);
}

int run_query(struct call *call)
{
    struct work work = {.call = call};
    int outcome = find_statement(&work);
    work.names = calloc(NAMES_MAX + 1, sizeof *work.names);
    if (outcome == OUTCOME_FINE && work.sql)
        outcome = load_query_library(&work);
    if (outcome == OUTCOME_FINE && work.sql && work.names)
        work.find_names(work.sql, add_wanted_table, &work);
    const bool is_open =
        outcome == OUTCOME_FINE && (outcome = inputs_open(&work.inputs, call, 0)) == OUTCOME_FINE;
    if (is_open) {
        outcome = build_store(&work);
        if (outcome == OUTCOME_FINE && !interrupt_was_received())
            outcome = answer_statements(&work);
        outcome = outcome == OUTCOME_FINE ? warn_about_findings(call, work.inputs.reader, outcome)
                                          : outcome;
        if (work.query)
            work.free(work.query);
        ttr_store_free(work.store);
        inputs_close(&work.inputs);
    }
    for (size_t i = 0; i < work.names_n; i++)
        free(work.names[i]);
    free(work.names);
    free(work.sql);
    return outcome;
}
