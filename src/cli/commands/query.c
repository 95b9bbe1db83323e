/* query: SQL over traces. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/query_output.h"
#include "cli/commands/query_session.h"
#include "cli/commands/table_output.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/messages.h"

#define SQL_MAX (16u << 20)
#define SCHEMAS_MAX 10u

/* The inputs of one schema: all operands, or one of "a=OLD b=NEW". */
struct schema {
    char *name; /* NULL = main */
    char *path; /* borrowed */
    struct query_session session;
};

struct work {
    struct call *call;
    char *sql; /* NULL = list the tables */
    struct schema schemas[SCHEMAS_MAX];
    size_t schemas_n;
    struct query_library library;
    ttr_query *query; /* over several schemas; NULL if there is one */
};

/* --- Operands --- */

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

/* Returns the length of "name" in an operand "name=PATH" that is not itself a file; 0 = none. */
static size_t find_schema_name(const char *operand)
{
    size_t n = 0;
    while (isalnum((unsigned char)operand[n]) || operand[n] == '_')
        n++;
    return n > 0 && operand[n] == '=' && access(operand, F_OK) != 0 ? n : 0;
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
    if (strpbrk(last, " \n\t;") && access(last, F_OK) != 0 && find_schema_name(last) == 0) {
        work->sql = strdup(last);
        call->paths_n--;
        if (!work->sql)
            return OUTCOME_INPUT;
    }
    if (call->paths_n == 0)
        return report_misuse("query", "expected a trace before the statement");
    return OUTCOME_FINE;
}

/* Assigns the inputs to schemas. */
static int find_schemas(struct work *work)
{
    struct call *call = work->call;
    const struct query_library *library = work->sql ? &work->library : NULL;
    if (find_schema_name(call->path[0]) == 0) {
        work->schemas_n = 1;
        query_session_begin(&work->schemas[0].session, call, library, call->path, call->paths_n);
        return OUTCOME_FINE;
    }
    for (size_t i = 0; i < call->paths_n; i++) {
        struct schema *schema = &work->schemas[i];
        const size_t n = find_schema_name(call->path[i]);
        if (n == 0 || i == SCHEMAS_MAX)
            return report_misuse("query",
                                 n ? "at most %u inputs have names"
                                   : "if one input has a name (a=FILE), all %u need one",
                                 n ? SCHEMAS_MAX : (unsigned)call->paths_n);
        schema->name = strndup(call->path[i], n);
        schema->path = call->path[i] + n + 1;
        work->schemas_n++;
        query_session_begin(&schema->session, call, library, &schema->path, 1);
        if (!schema->name)
            return OUTCOME_INPUT;
    }
    return OUTCOME_FINE;
}

/* --- The list of tables --- */

static void print_table_columns(const struct query_session *session, size_t i)
{
    ttr_store_column column;
    for (size_t k = 0; ttr_store_column_at(session->store, i, k, &column); k++)
        (void)printf("%s%s", k ? ", " : "    ", column.name);
    (void)putchar('\n');
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
    (void)printf("\nEach event name is a table too, with a column per field. Examples:\n"
                 "  SELECT name, count(*), sum(dur) FROM slice GROUP BY name ORDER BY 3 DESC\n"
                 "  SELECT name, dur, thread_name FROM slice ORDER BY dur DESC LIMIT 5\n"
                 "  SELECT kind, name, count(*) FROM event GROUP BY 1, 2 ORDER BY 3 DESC\n");
}

/* --- Running --- */

/* Writes the rows of the only statement to a file. */
static int write_statement(const struct work *work, ttr_query *query, const char *format)
{
    ttr_error error = {0};
    const char *rest = NULL;
    ttr_result *result = work->library.prepare(query, work->sql, &rest, &error);
    if (!result)
        return query_session_report_sql(&work->schemas[0].session, work->sql, &error);
    const size_t columns = work->library.columns(result);
    work->library.free(result);
    if (columns == 0 || *query_session_skip_blank(rest))
        return report_misuse("query", "%s needs one statement that returns rows", format);
    return write_query_result(work->call, &work->library, query, work->sql, format);
}

/* Runs the statements of the text in order and prints their results. Stops at the first error. */
static int run_statements(struct work *work, ttr_query *query)
{
    const char *sql = work->sql;
    ttr_error error = {0};
    int outcome = OUTCOME_FINE;
    do {
        const char *rest;
        ttr_result *result = work->library.prepare(query, sql, &rest, &error);
        if (!result)
            return query_session_report_sql(&work->schemas[0].session, sql, &error);
        const ttr_status status = print_query_result(work->call, &work->library, result, &error);
        work->library.free(result);
        if (status == TTR_AGAIN)
            return OUTCOME_FINE; /* interrupted */
        if (status != TTR_END) {
            report_failure_text("query", "%s", error.text);
            outcome = OUTCOME_MISUSE;
        }
        sql = query_session_skip_blank(rest);
    } while (outcome == OUTCOME_FINE && *sql);
    return outcome;
}

static bool should_continue(void *user_data)
{
    (void)user_data;
    return !interrupt_was_received();
}

/* Makes the database of several schemas. Returns NULL after reporting an error. */
static ttr_query *make_query_of_schemas(struct work *work)
{
    ttr_error error = {0};
    work->query = work->library.create(work->schemas[0].session.inputs.t, NULL, &error);
    for (size_t i = 0; work->query && i < work->schemas_n; i++) {
        const struct query_session *session = &work->schemas[i].session;
        if (work->library.attach(work->query, work->schemas[i].name, session->inputs.t,
                                 session->store, &error) == TTR_OK)
            continue;
        work->library.free_query(work->query);
        work->query = NULL;
    }
    if (work->query)
        work->library.set_progress(work->query, should_continue, NULL);
    else
        report_failure_text("query", "%s", error.text);
    return work->query;
}

static int answer_statements(struct work *work)
{
    struct query_session *first = &work->schemas[0].session;
    for (size_t i = 0; !work->sql && i < work->schemas_n; i++) {
        if (work->schemas[i].name)
            (void)printf("%sschema %s: %s\n\n", i ? "\n" : "", work->schemas[i].name,
                         work->schemas[i].path);
        list_tables(&work->schemas[i].session);
    }
    if (!work->sql)
        return OUTCOME_FINE;
    ttr_query *query = work->schemas[0].name ? make_query_of_schemas(work) : first->query;
    if (!query)
        return OUTCOME_INPUT;
    const char *format = find_table_format(work->call->set.format,
                                           work->call->set.format ? NULL : work->call->set.output);
    if (format)
        return write_statement(work, query, format);
    if (work->call->set.output)
        return report_misuse("query", "--output is for parquet, arrow and sqlite: others are "
                                      "printed");
    term_page(&work->call->term, &work->call->set);
    return run_statements(work, query);
}

int run_query(struct call *call)
{
    struct work work = {.call = call};
    int outcome = find_statement(&work);
    if (outcome == OUTCOME_FINE && work.sql)
        outcome = load_query_library(call, &work.library);
    if (outcome == OUTCOME_FINE)
        outcome = find_schemas(&work);
    for (size_t i = 0; outcome == OUTCOME_FINE && i < work.schemas_n; i++) {
        if (work.sql)
            query_session_want(&work.schemas[i].session, work.sql);
        outcome = query_session_open(&work.schemas[i].session);
    }
    if (outcome == OUTCOME_FINE && !interrupt_was_received())
        outcome = answer_statements(&work);
    for (size_t i = 0; i < work.schemas_n; i++)
        outcome = query_session_warn(&work.schemas[i].session, outcome);
    if (work.query)
        work.library.free_query(work.query);
    for (size_t i = 0; i < work.schemas_n; i++) {
        query_session_close(&work.schemas[i].session);
        free(work.schemas[i].name);
    }
    free(work.sql);
    return outcome;
}
