/* The inputs of a call of query and its statements; see the header. */
#include "cli/commands/query_work.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/query_output.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/messages.h"

size_t query_work_find_schema_name(const char *operand)
{
    size_t n = 0;
    while (isalnum((unsigned char)operand[n]) || operand[n] == '_')
        n++;
    return n > 0 && operand[n] == '=' && access(operand, F_OK) != 0 ? n : 0;
}

int query_work_begin(struct query_work *work, struct call *call, bool has_sql)
{
    *work = (struct query_work){.call = call};
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

static bool should_continue(void *user_data)
{
    (void)user_data;
    return !interrupt_was_received();
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
    if (work->joined) {
        work->library.set_progress(work->joined, should_continue, NULL);
        return OUTCOME_FINE;
    }
    report_failure_text("query", "%s", error.text);
    return OUTCOME_INPUT;
}

int query_work_open(struct query_work *work)
{
    int outcome = OUTCOME_FINE;
    for (size_t i = 0; outcome == OUTCOME_FINE && i < work->schemas_n; i++)
        outcome = query_session_open(&work->schemas[i].session);
    work->query = work->schemas[0].session.query;
    if (outcome == OUTCOME_FINE && work->query && work->schemas[0].name)
        outcome = join_schemas(work);
    return outcome;
}

static void close_databases(struct query_work *work)
{
    if (work->joined)
        work->library.free_query(work->joined);
    work->joined = work->query = NULL;
}

int query_work_ensure(struct query_work *work, const char *sql)
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
    close_databases(work);
    for (size_t i = 0; i < work->schemas_n; i++)
        query_session_reset(&work->schemas[i].session);
    return query_work_open(work);
}

int query_work_run(struct query_work *work, const char *sql)
{
    ttr_error error = {0};
    int outcome = OUTCOME_FINE;
    do {
        const char *rest;
        ttr_result *result = work->library.prepare(work->query, sql, &rest, &error);
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
