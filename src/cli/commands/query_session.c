/* A question in SQL to traces; see the header. */
#include "cli/commands/query_session.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/commands/query_cache.h"
#include "cli/commands/report.h"
#include "cli/commands/saved_findings.h"
#include "cli/input/optional_library.h"
#include "cli/input/selection.h"
#include "cli/input/symbolizer.h"
#include "cli/ui/interrupt.h"
#include "cli/ui/messages.h"
#include "cli/ui/progress.h"

#define NAMES_MAX 4096u
#define MEMORY_MIN ((uint64_t)4 << 20) /* bytes */

int load_query_library(const struct call *call, struct query_library *library)
{
    char reason[LIBRARY_REASON];
    const struct library_function functions[] = {
        {"ttr_query_names", &library->find_names},
        {"ttr_query_new", &library->create},
        {"ttr_query_free", &library->free_query},
        {"ttr_query_attach", &library->attach},
        {"ttr_query_set_progress", &library->set_progress},
        {"ttr_query_set_memory", &library->set_memory},
        {"ttr_query_prepare", &library->prepare},
        {"ttr_result_step", &library->step},
        {"ttr_result_columns", &library->columns},
        {"ttr_result_name", &library->name},
        {"ttr_result_type", &library->type},
        {"ttr_result_int", &library->get_int},
        {"ttr_result_real", &library->get_real},
        {"ttr_result_text", &library->get_text},
        {"ttr_result_free", &library->free},
        {"ttr_query_write", &library->write},
        {"ttr_query_temporary_path", &library->get_temporary_path},
    };
    if (load_optional_library(LIBRARY_QUERY, functions, sizeof functions / sizeof *functions,
                              reason))
        return OUTCOME_FINE;
    report_failure_text(call->command->name, "%s", reason);
    return OUTCOME_INPUT;
}

uint64_t query_memory_limit(const struct call *call)
{
    const uint64_t limit = call->set.memory_max;
    return limit && limit < MEMORY_MIN ? MEMORY_MIN : limit;
}

void query_session_begin(struct query_session *session, const struct call *call,
                         const struct query_library *library, char **paths, size_t n)
{
    *session = (struct query_session){.call = *call, .library = library, .cache_file = -1};
    session->call.path = paths;
    session->call.paths_n = n;
    session->call.set.memory_max = query_memory_limit(call);
}

void query_session_add_name(struct query_session *session, const char *name)
{
    if (!session->names)
        session->names = calloc(NAMES_MAX + 1, sizeof *session->names);
    for (size_t i = 0; i < session->names_n; i++)
        if (strcmp(session->names[i], name) == 0)
            return;
    char *copy = session->names && session->names_n < NAMES_MAX ? strdup(name) : NULL;
    if (copy)
        session->names[session->names_n++] = copy;
    else
        session->wants_all = true;
}

static void add_wanted_name(void *user_data, const char *name)
{
    struct query_session *session = user_data;
    if (strcmp(name, "*") == 0)
        session->has_all_columns = true;
    else
        query_session_add_name(session, name);
}

void query_session_want(struct query_session *session, const char *sql)
{
    session->library->find_names(sql, add_wanted_name, session);
}

static bool should_continue(void *user_data)
{
    (void)user_data;
    return !interrupt_was_received();
}

ttr_store_options query_session_options(const struct query_session *session)
{
    static const char *const none[] = {NULL};
    const char *const *names = session->names ? (const char *const *)session->names : none;
    ttr_store_options options = {
        .size = sizeof options, .names = names, .columns = session->has_all_columns ? NULL : names};
    options.memory = session->call.set.memory_max / 2; /* statements have the other half */
    if (session->wants_all)
        options.names = options.columns = NULL;
    if (!session->library) { /* the numbers of rows are enough */
        options.names = NULL;
        options.columns = none;
    }
    return options;
}

bool query_session_is_cached(const struct query_session *session)
{
    const enum verb verb = session->call.command->verb;
    return verb == VERB_QUERY || verb == VERB_DIFF || verb == VERB_ASSERT;
}

static int fill_store(struct query_session *session)
{
    struct call *call = &session->call;
    struct progress progress;
    ttr_error error = {0};
    const ttr_store_options options = query_session_options(session);
    session->store = ttr_store_new(session->inputs.t, &options, &error);
    ttr_status status = session->store ? TTR_OK : error.status;
    if (status == TTR_OK) {
        progress_begin(&progress, call, session->inputs.t, session->inputs.reader,
                       call->command->name);
        status = ttr_store_read(session->store, session->inputs.reader, progress_step, &progress,
                                &error);
        progress_end(&progress);
    }
    if (status == TTR_OK)
        query_cache_save(session);
    if (status == TTR_OK || status == TTR_AGAIN)
        return OUTCOME_FINE;
    return inputs_report_failure(call, inputs_get_name(call), &error);
}

/* Returns true if a statement names a table of stacks. */
static bool has_frames(const struct query_session *session)
{
    static const char frames[] = "stack_profile_";
    bool is_found = session->wants_all;
    for (size_t i = 0; i < session->names_n && !is_found; i++)
        is_found = strncasecmp(session->names[i], frames, sizeof frames - 1) == 0;
    return is_found;
}

int query_session_open_inputs(struct query_session *session)
{
    const bool needs_symbols = has_frames(session);
    int outcome =
        inputs_open(&session->inputs, &session->call, needs_symbols ? TTR_READ_SYMBOLS : 0);
    session->is_open = outcome == OUTCOME_FINE;
    if (session->is_open && needs_symbols)
        outcome = inputs_set_symbolizer(&session->inputs, &session->call, TTR_SYMBOLS_FULL_PATHS);
    return outcome;
}

int query_session_open(struct query_session *session)
{
    int outcome = OUTCOME_FINE;
    session->is_open = query_cache_load(session);
    if (!session->is_open) {
        outcome = query_session_open_inputs(session);
        if (outcome == OUTCOME_FINE)
            outcome = fill_store(session);
    }
    return outcome == OUTCOME_FINE && session->library ? query_session_make_query(session)
                                                       : outcome;
}

int query_session_make_query(struct query_session *session)
{
    ttr_error error = {0};
    session->query = session->library->create(session->inputs.t, session->store, &error);
    if (!session->query) {
        report_failure_text(session->call.command->name, "%s", error.text);
        return OUTCOME_INPUT;
    }
    session->library->set_progress(session->query, should_continue, NULL);
    session->library->set_memory(session->query, session->call.set.memory_max / 2);
    return OUTCOME_FINE;
}

/* Returns true if the store has the range of its events' times: it has none without events. */
static bool has_events(const ttr_store *store)
{
    ttr_store_table table;
    for (size_t i = 0; ttr_store_table_at(store, i, &table); i++)
        if (strcmp(table.name, "trace_bounds") == 0)
            return table.rows > 0;
    return false;
}

int query_session_check_matches(const struct call *call, const ttr_store *store, int outcome)
{
    return selection_check_matches(call, has_events(store), outcome);
}

int query_session_warn(const struct query_session *session, int outcome)
{
    if (session->is_open && session->store)
        outcome = query_session_check_matches(&session->call, session->store, outcome);
    if (outcome == OUTCOME_FINE && session->findings)
        return saved_findings_print(&session->call, session->findings, outcome);
    return outcome == OUTCOME_FINE && session->is_open
               ? warn_about_findings(&session->call, session->inputs.reader, outcome)
               : outcome;
}

void query_session_reset(struct query_session *session)
{
    if (session->query)
        session->library->free_query(session->query);
    ttr_store_free(session->store);
    if (session->is_open)
        inputs_close(&session->inputs);
    query_cache_close(session);
    session->query = NULL;
    session->store = NULL;
    session->is_open = false;
}

void query_session_close(struct query_session *session)
{
    query_session_reset(session);
    for (size_t i = 0; i < session->names_n; i++)
        free(session->names[i]);
    free(session->names);
    *session = (struct query_session){.is_open = false};
}

const char *query_session_skip_blank(const char *sql)
{
    for (;;) {
        sql += strspn(sql, " \t\r\n\f;");
        if (strncmp(sql, "--", 2) == 0) {
            sql += strcspn(sql, "\n");
        } else if (strncmp(sql, "/*", 2) == 0) {
            const char *end = strstr(sql + 2, "*/");
            sql = end ? end + 2 : sql + strlen(sql);
        } else {
            return sql;
        }
    }
}

const char *query_session_known_name(const struct query_session *session, size_t i)
{
    ttr_store_table table;
    ttr_store_column column;
    for (size_t k = 0; ttr_store_table_at(session->store, k, &table); k++) {
        if (table.is_class && table.rows == 0)
            continue;
        if (i-- == 0)
            return table.name;
        for (size_t c = 0; ttr_store_column_at(session->store, k, c, &column); c++)
            if (i-- == 0)
                return column.name;
    }
    return NULL;
}

static const char *find_known_name(const void *ctx, size_t i)
{
    return query_session_known_name(ctx, i);
}

int query_session_report_sql(const struct query_session *session, const char *sql,
                             const ttr_error *error)
{
    const char *colon = strrchr(error->text, ':');
    const char *near = colon && strstr(error->text, "no such")
                           ? print_nearest_word(colon + 2, find_known_name, session)
                           : NULL;
    report_failure_text(session->call.command->name, "%s%s%s%s", error->text,
                        near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
    if (error->offset > 0 || colon)
        term_excerpt(&session->call.term, sql, (size_t)error->offset);
    return OUTCOME_MISUSE;
}
