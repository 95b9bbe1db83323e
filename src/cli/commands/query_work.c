/* The inputs of a call of query and its statements; see the header. */
#include "cli/commands/query_work.h"

#include <ctype.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/query_output.h"
#include "cli/commands/table_output.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/messages.h"
#include "cli/ui/progress.h"

size_t query_work_find_schema_name(const char *operand)
{
    size_t n = 0;
    while (isalnum((unsigned char)operand[n]) || operand[n] == '_')
        n++;
    return n > 0 && operand[n] == '=' && access(operand, F_OK) != 0 ? n : 0;
}

int query_work_begin(struct query_work *work, struct call *call, bool has_sql)
{
    *work =
        (struct query_work){.call = call, .client = -1, .timeout_ns = (uint64_t)call->set.timeout};
    const struct query_library *library = has_sql ? &work->library : NULL;
    const int outcome = has_sql ? load_query_library(call, &work->library) : OUTCOME_FINE;
    if (outcome != OUTCOME_FINE)
        return outcome;
    if (query_work_find_schema_name(call->path[0]) == 0) {
        work->schemas_n = 1;
        query_session_begin(&work->schemas[0].session, call, library, call->path, call->paths_n);
        return OUTCOME_FINE;
    }
    for (size_t i = 0; i < call->paths_n; i++) {
        struct query_schema *schema = &work->schemas[i];
        const size_t n = query_work_find_schema_name(call->path[i]);
        if (n == 0 || i == QUERY_SCHEMAS_MAX)
            return report_misuse("query",
                                 n ? "at most %u inputs have names"
                                   : "if one input has a name (a=FILE), all %u need one",
                                 n ? QUERY_SCHEMAS_MAX : (unsigned)call->paths_n);
        schema->name = strndup(call->path[i], n);
        schema->path = call->path[i] + n + 1;
        work->schemas_n++;
        query_session_begin(&schema->session, call, library, &schema->path, 1);
        schema->session.call.set.memory_max /= call->paths_n;
        if (!schema->name)
            return OUTCOME_INPUT;
    }
    return OUTCOME_FINE;
}

void query_work_want(struct query_work *work, const char *sql)
{
    for (size_t i = 0; i < work->schemas_n; i++)
        query_session_want(&work->schemas[i].session, sql);
}

static bool is_too_late(const struct query_work *work)
{
    return work->end_ns && progress_now() >= work->end_ns;
}

static bool should_continue(void *user_data)
{
    const struct query_work *work = user_data;
    struct pollfd client = {.fd = work->client, .events = POLLRDHUP};
    return !interrupt_was_received() && !is_too_late(work) && !ferror(stdout) &&
           (work->client < 0 || poll(&client, 1, 0) == 0);
}

/* Makes the database of several schemas. Returns OUTCOME_INPUT after reporting an error. */
static int join_schemas(struct query_work *work)
{
    ttr_error error = {0};
    work->joined = work->library.create(work->schemas[0].session.inputs.t, NULL, &error);
    for (size_t i = 0; work->joined && i < work->schemas_n; i++) {
        const struct query_session *session = &work->schemas[i].session;
        if (work->library.attach(work->joined, work->schemas[i].name, session->inputs.t,
                                 session->store, &error) == TTR_OK)
            continue;
        work->library.free_query(work->joined);
        work->joined = NULL;
    }
    work->query = work->joined;
    if (work->joined)
        return OUTCOME_FINE;
    report_failure_text("query", "%s", error.text);
    return OUTCOME_INPUT;
}

/* Opens and reads all inputs, for the time of --window if it is given. */
static int open_sessions(struct query_work *work)
{
    const int64_t window = work->call->set.window;
    int outcome = OUTCOME_FINE;
    if (window > 0)
        interrupt_after(window);
    for (size_t i = 0; outcome == OUTCOME_FINE && i < work->schemas_n; i++)
        outcome = query_session_open(&work->schemas[i].session);
    if (window > 0)
        interrupt_after(0);
    if (interrupt_was_received() == SIGALRM)
        interrupt_clear();
    return outcome;
}

void query_work_watch(struct query_work *work)
{
    work->library.set_progress(work->query, should_continue, work);
}

int query_work_open(struct query_work *work)
{
    int outcome = open_sessions(work);
    work->query = work->schemas[0].session.query;
    if (outcome == OUTCOME_FINE && work->query && work->schemas[0].name)
        outcome = join_schemas(work);
    if (outcome == OUTCOME_FINE && work->query)
        query_work_watch(work);
    if (outcome == OUTCOME_FINE && work->query)
        work->library.set_memory(work->query, query_memory_limit(work->call) / 2);
    return outcome;
}

static void close_databases(struct query_work *work)
{
    if (work->joined)
        work->library.free_query(work->joined);
    work->joined = work->query = NULL;
}

void query_work_reset(struct query_work *work)
{
    close_databases(work);
    for (size_t i = 0; i < work->schemas_n; i++)
        query_session_reset(&work->schemas[i].session);
}

int query_work_reopen_if_needed(struct query_work *work, const char *sql)
{
    bool is_covered = work->query != NULL;
    query_work_want(work, sql);
    for (size_t i = 0; i < work->schemas_n && is_covered; i++) {
        const struct query_session *session = &work->schemas[i].session;
        const ttr_store_options options = query_session_options(session);
        is_covered = ttr_store_covers(session->store, &options);
    }
    if (is_covered)
        return OUTCOME_FINE;
    query_work_reset(work);
    return query_work_open(work);
}

/* Reports why a statement was stopped. */
static int report_stop(const struct query_work *work)
{
    if (!is_too_late(work))
        return OUTCOME_FINE; /* interrupted */
    report_failure_text("query", "the statement was stopped after %s (--timeout)",
                        units_duration(work->timeout_ns).s);
    return OUTCOME_OUTPUT;
}

/* Reports an error of a statement that ran. Returns the outcome. */
static int report_run_error(const struct query_work *work, const char *sql, const ttr_error *error)
{
    const char *colon = strstr(error->text, "no such column: ");
    const char *name = colon ? strcasestr(sql, colon + strlen("no such column: ")) : NULL;
    ttr_error placed = *error;
    if (error->status == TTR_E_NOMEM) {
        report_failure_text("query", "the statement needs more memory%s",
                            work->call->set.memory_max ? " than --memory leaves to it" : "");
        return OUTCOME_OUTPUT;
    }
    if (name) { /* in a statement of interval_intersect */
        placed.offset = (uint64_t)(name - sql);
        return query_session_report_sql(&work->schemas[0].session, sql, &placed);
    }
    report_failure_text("query", "%s", error->text);
    return OUTCOME_MISUSE;
}

int query_work_run(struct query_work *work, const char *sql)
{
    ttr_error error = {0};
    int outcome = OUTCOME_FINE;
    work->end_ns = work->timeout_ns ? progress_now() + work->timeout_ns : 0;
    do {
        const char *rest;
        ttr_result *result = work->library.prepare(work->query, sql, &rest, &error);
        if (!result)
            return query_session_report_sql(&work->schemas[0].session, sql, &error);
        const ttr_status status =
            print_query_result(work->call, &work->library, result, !work->has_no_heads, &error);
        work->library.free(result);
        if (status == TTR_AGAIN)
            return report_stop(work);
        if (status != TTR_END)
            outcome = report_run_error(work, sql, &error);
        sql = query_session_skip_blank(rest);
    } while (outcome == OUTCOME_FINE && *sql);
    return outcome;
}

/* Writes the rows of the only statement to a file. */
static int write_statement(const struct query_work *work, const char *sql, const char *format)
{
    ttr_error error = {0};
    const char *rest = NULL;
    ttr_result *result = work->library.prepare(work->query, sql, &rest, &error);
    if (!result)
        return query_session_report_sql(&work->schemas[0].session, sql, &error);
    const size_t columns = work->library.columns(result);
    work->library.free(result);
    if (columns == 0 || *query_session_skip_blank(rest))
        return report_misuse("query", "%s needs one statement that returns rows", format);
    return write_query_result(work->call, &work->library, work->query, sql, format);
}

int query_work_answer(struct query_work *work, const char *sql)
{
    struct call *call = work->call;
    const char *format =
        find_table_format(call->set.format, call->set.format ? NULL : call->set.output);
    if (format)
        return write_statement(work, sql, format);
    if (call->set.output && strcmp(call->set.output, "-") != 0)
        return report_misuse("query", "--output is for parquet, arrow and sqlite: others are "
                                      "printed; use \"> FILE\"");
    term_page(&call->term, &call->set);
    return query_work_run(work, sql);
}

int query_work_warn(const struct query_work *work, int outcome)
{
    for (size_t i = 0; i < work->schemas_n; i++)
        outcome = query_session_warn(&work->schemas[i].session, outcome);
    return outcome;
}

void query_work_close(struct query_work *work)
{
    close_databases(work);
    for (size_t i = 0; i < work->schemas_n; i++) {
        query_session_close(&work->schemas[i].session);
        free(work->schemas[i].name);
    }
}
