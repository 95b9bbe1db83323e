/* Output of tables as Parquet, Arrow or SQLite; see the header. */
#include "cli/commands/table_output.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "cli/input/output_check.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/messages.h"

#define TABLES_MAX 64u
#define SQL_BYTES 512u

const char *find_table_format(const char *format, const char *output)
{
    static const struct {
        const char *name, *suffix;
    } formats[] = {{"parquet", ".parquet"},
                   {"arrow", ".arrow"},
                   {"arrow", ".feather"},
                   {"sqlite", ".sqlite"},
                   {"sqlite", ".sqlite3"}};
    const size_t n = output ? strlen(output) : 0;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const size_t suffix_n = strlen(formats[i].suffix);
        if (format ? strcmp(formats[i].name, format) == 0
                   : n > suffix_n && strcmp(output + n - suffix_n, formats[i].suffix) == 0)
            return formats[i].name;
    }
    return NULL;
}

static int report_write_error(const char *path, const ttr_error *error)
{
    const size_t n = strlen(path);
    const bool has_path =
        strncmp(error->text, path, n) == 0 && strncmp(error->text + n, ": ", 2) == 0;
    if (error->status == TTR_AGAIN) { /* main() reports the interruption */
        report_failure_text(path, "nothing is written");
        return OUTCOME_NO;
    }
    if (error->sys == EEXIST)
        report_failure_text(path, "exists already; --overwrite (-f) replaces it");
    else
        report_failure_text(path, "%s", error->text + (has_path ? n + 2 : 0));
    return error->status == TTR_E_MISUSE ? OUTCOME_MISUSE : OUTCOME_OUTPUT;
}

/* Writes tables.  A second signal, which ends the command at once, removes the incomplete output.
 */
static ttr_status write_tables(const struct query_library *library, ttr_query *query,
                               const ttr_query_table *tables, size_t n, const ttr_query_output *to,
                               ttr_error *error)
{
    char path[PATH_MAX];
    if (library->get_temporary_path(to, path, sizeof path))
        interrupt_set_temporary_path(path);
    const ttr_status status = library->write(query, tables, n, to, error);
    interrupt_set_temporary_path(NULL);
    return status;
}

int write_query_result(const struct call *call, const struct query_library *library,
                       ttr_query *query, const char *sql, const char *format)
{
    const char *path = call->set.output ? call->set.output : "-";
    const ttr_query_table table = {.name = "result", .sql = sql};
    ttr_error error = {0};
    if (strcmp(path, "-") == 0 && call->term.out_is_tty)
        return report_misuse(call->command->name, "%s is not for a terminal: use -o FILE", format);
    const int outcome = check_output_path(call, path, NULL);
    if (outcome != OUTCOME_FINE)
        return outcome;
    const ttr_query_output to = {
        .path = path, .format = format, .flags = call->set.overwrite ? TTR_WRITE_OVERWRITE : 0};
    return write_tables(library, query, &table, 1, &to, &error) == TTR_OK
               ? OUTCOME_FINE
               : report_write_error(path, &error);
}

/* Returns the option of the call that does not apply to tables, or NULL. */
static const char *find_unusable_option(const struct settings *set)
{
    return set->dry_run   ? "dry-run"
           : set->explain ? "explain"
           : set->strict  ? "strict"
           : set->json    ? "json"
                          : NULL;
}

/* Writes each table that has rows. */
static int write_all_tables(const struct query_session *session, const char *path,
                            const char *format)
{
    const struct settings *set = &session->call.set;
    ttr_query_table tables[TABLES_MAX];
    char sql[TABLES_MAX][SQL_BYTES];
    ttr_store_table about;
    ttr_error error = {0};
    size_t n = 0;
    uint64_t rows = 0;
    for (size_t i = 0; n < TABLES_MAX && ttr_store_table_at(session->store, i, &about); i++) {
        if (about.rows == 0)
            continue;
        (void)snprintf(sql[n], SQL_BYTES, "SELECT * FROM \"%s\"", about.name);
        tables[n] = (ttr_query_table){.name = about.name, .sql = sql[n]};
        rows += about.rows;
        n++;
    }
    if (n == 0) {
        report_failure_text(inputs_get_name(&session->call), "no rows: nothing is written");
        return OUTCOME_NO;
    }
    const ttr_query_output to = {.path = path,
                                 .format = format,
                                 .flags = (set->overwrite ? TTR_WRITE_OVERWRITE : 0) |
                                          (strcmp(format, "sqlite") != 0 ? TTR_QUERY_FOLDER : 0)};
    if (write_tables(session->library, session->query, tables, n, &to, &error) != TTR_OK)
        return report_write_error(path, &error);
    print_note(&session->call, "%s: %zu tables, %s rows", path, n, units_count(rows).s);
    return OUTCOME_FINE;
}

int convert_to_tables(struct call *call, const char *format)
{
    struct query_library library;
    struct query_session session;
    const char *option = find_unusable_option(&call->set);
    if (option)
        return report_misuse("convert", "--%s is not for tables: leave it out to write %s", option,
                             format);
    int outcome = check_output_path(call, call->set.output, NULL);
    if (outcome == OUTCOME_FINE)
        outcome = load_query_library(call, &library);
    if (outcome != OUTCOME_FINE)
        return outcome;
    query_session_begin(&session, call, &library, call->path, call->paths_n);
    session.wants_all = true;
    outcome = query_session_open(&session);
    if (outcome == OUTCOME_FINE && interrupt_was_received()) {
        report_failure_text(call->set.output, "nothing is written");
        outcome = OUTCOME_NO; /* main() reports the interruption */
    }
    if (outcome == OUTCOME_FINE)
        outcome = write_all_tables(&session, call->set.output, format);
    outcome = query_session_warn(&session, outcome);
    query_session_close(&session);
    return outcome;
}
