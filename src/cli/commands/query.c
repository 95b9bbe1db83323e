/* query: SQL over traces. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/query_live.h"
#include "cli/commands/query_shell.h"
#include "cli/commands/query_socket.h"
#include "cli/commands/query_work.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/messages.h"

/* --- Operands --- */

/* Reads a script. Returns NULL after reporting an error. */
static char *read_script(const char *path)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rbe");
    char *text = file ? malloc(QUERY_SQL_MAX + 1) : NULL;
    if (!text) {
        report_failure_text(path, "cannot be read: %s", strerror(errno));
        if (file && file != stdin)
            (void)fclose(file);
        return NULL;
    }
    const size_t n = fread(text, 1, QUERY_SQL_MAX + 1, file);
    text[n <= QUERY_SQL_MAX ? n : 0] = '\0';
    if (file != stdin)
        (void)fclose(file);
    if (n <= QUERY_SQL_MAX)
        return text;
    report_failure_text(path, "is larger than 16 MiB: it is not a script");
    free(text);
    return NULL;
}

/* Returns true if an operand is SQL: it has blanks and is not a file. */
static bool is_statement(const char *operand)
{
    return strpbrk(operand, " \n\t;") && access(operand, F_OK) != 0 &&
           query_work_find_schema_name(operand) == 0;
}

/* Finds the statement: --file, or the last operand if it is not a file. *sql is NULL if there is
 * none. */
static int find_statement(struct call *call, char **sql)
{
    if (call->set.script) {
        *sql = read_script(call->set.script);
        return *sql ? OUTCOME_FINE : OUTCOME_INPUT;
    }
    const size_t n = call->paths_n;
    if (n == 0 || !is_statement(call->path[n - 1]))
        return OUTCOME_FINE;
    if (n > 1 && is_statement(call->path[n - 2]))
        return report_misuse("query", "only the last operand can be a statement: separate several "
                                      "statements by \";\"");
    *sql = strdup(call->path[n - 1]);
    call->paths_n--;
    return *sql ? OUTCOME_FINE : OUTCOME_INPUT;
}

/* --- The list of tables --- */

static void print_table_columns(const struct query_session *session, size_t i)
{
    ttr_store_column column;
    for (size_t k = 0; ttr_store_column_at(session->store, i, k, &column); k++)
        (void)printf("%s%s", k ? ", " : "    ", column.name);
    (void)putchar('\n');
}

static bool has_rows(const ttr_store *store, const char *name)
{
    ttr_store_table table;
    for (size_t i = 0; ttr_store_table_at(store, i, &table); i++)
        if (strcmp(table.name, name) == 0)
            return table.rows > 0;
    return false;
}

/* Prints three statements over tables that have rows. */
static void print_examples(const struct query_session *session)
{
    static const struct {
        const char *table, *sql;
    } examples[] = {
        {"slice", "SELECT name, count(*), sum(dur) FROM slice GROUP BY name ORDER BY 3 DESC"},
        {"slice", "SELECT name, dur, thread_name FROM slice ORDER BY dur DESC LIMIT 5"},
        {"sched", "SELECT t.name, sum(s.dur) FROM sched s JOIN thread t USING (utid) GROUP BY 1 "
                  "ORDER BY 2 DESC"},
        {"perf_sample", "SELECT t.name, p.name, count(*) FROM perf_sample p LEFT JOIN thread t "
                        "USING (utid) GROUP BY 1, 2 ORDER BY 3 DESC"},
        {"counter", "SELECT t.name, count(*), max(c.value) FROM counter c JOIN counter_track t "
                    "ON t.id = c.track_id GROUP BY 1"},
        {"log", "SELECT ts, level, message FROM log LIMIT 5"},
        {"event", "SELECT kind, name, count(*) FROM event GROUP BY 1, 2 ORDER BY 3 DESC"},
        {"class", "SELECT name, events FROM class ORDER BY 2 DESC LIMIT 5"},
        {"source", "SELECT path, format FROM source"},
    };
    (void)printf("\nEach event name is a table too, with a column per field. Examples:\n");
    for (size_t i = 0, shown = 0; i < sizeof examples / sizeof *examples && shown < 3; i++)
        if (has_rows(session->store, examples[i].table)) {
            (void)printf("  %s\n", examples[i].sql);
            shown++;
        }
}

static void list_tables(const struct query_session *session)
{
    static const char *const types[] = {"integer", "real", "text"};
    ttr_store_table table;
    ttr_store_column column;
    for (size_t i = 0; ttr_store_table_at(session->store, i, &table); i++) {
        if (session->call.set.verbose) {
            (void)printf("%s: %s (%" PRIu64 " rows)\n", table.name, table.description, table.rows);
            for (size_t k = 0; ttr_store_column_at(session->store, i, k, &column); k++)
                (void)printf("    %-14s %-8s %s\n", column.name, types[column.type],
                             column.description);
        } else {
            (void)printf("%-22s %10" PRIu64 "  %s\n", table.name, table.rows, table.description);
            print_table_columns(session, i);
        }
    }
    print_examples(session);
}

/* --- Running --- */

/* Lists the tables of all schemas. */
static void list_schemas(const struct query_work *work)
{
    for (size_t i = 0; i < work->schemas_n; i++) {
        if (work->schemas[i].name)
            (void)printf("%sschema %s: %s\n\n", i ? "\n" : "", work->schemas[i].name,
                         work->schemas[i].path);
        list_tables(&work->schemas[i].session);
    }
}

/* Opens the inputs, and answers or lists the tables. */
static int answer(struct query_work *work, const char *sql)
{
    if (sql)
        query_work_want(work, sql);
    int outcome = query_work_open(work);
    if (outcome == OUTCOME_FINE && !interrupt_was_received() && sql)
        outcome = query_work_answer(work, sql);
    else if (outcome == OUTCOME_FINE && !interrupt_was_received())
        list_schemas(work);
    return query_work_warn(work, outcome);
}

/* Reports an option that needs a statement. Returns OUTCOME_FINE if there is none. */
static int check_listing(const struct call *call)
{
    if (call->set.output)
        return report_misuse("query", "--output needs a statement; \"tracetta convert "
                                      "--to=parquet|arrow|sqlite\" writes all tables");
    return call->set.format ? report_misuse("query", "--format needs a statement") : OUTCOME_FINE;
}

/* Opens a shell or a server, which have no statement in their operands. */
static int run_more_statements(struct call *call, const char *sql,
                               int (*run)(struct query_work *work))
{
    struct query_work work = {0};
    if (sql)
        return report_misuse("query", call->set.serve
                                          ? "--serve reads statements from its socket"
                                          : "--interactive reads statements from standard input");
    int outcome = query_work_begin(&work, call, true);
    if (outcome == OUTCOME_FINE)
        outcome = run(&work);
    query_work_close(&work);
    return outcome;
}

int run_query(struct call *call)
{
    struct query_work work = {0};
    char *sql = NULL;
    int outcome = find_statement(call, &sql);
    if (outcome == OUTCOME_FINE && call->set.socket_path) {
        outcome = run_query_client(call, sql);
        free(sql);
        return outcome;
    }
    if (outcome == OUTCOME_FINE && call->paths_n == 0)
        outcome = report_misuse("query",
                                sql ? "expected a trace before the statement" : "expected a trace");
    if (outcome == OUTCOME_FINE && call->set.every > 0) {
        outcome = run_query_live(call, sql);
        free(sql);
        return outcome;
    }
    if (outcome == OUTCOME_FINE && (call->set.interactive || call->set.serve)) {
        outcome =
            run_more_statements(call, sql, call->set.serve ? run_query_server : run_query_shell);
    } else if (outcome == OUTCOME_FINE &&
               (sql || (outcome = check_listing(call)) == OUTCOME_FINE)) {
        outcome = query_work_begin(&work, call, sql != NULL);
        if (outcome == OUTCOME_FINE)
            outcome = answer(&work, sql);
        query_work_close(&work);
    }
    free(sql);
    return outcome;
}
