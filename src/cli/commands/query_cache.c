/* The saved store of a session; see the header. Two parts are saved with it: the names that were
 * wanted, and the warnings about the trace. */
#include "cli/commands/query_cache.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/query_session.h"
#include "cli/commands/saved_findings.h"
#include "cli/ui/messages.h"

#define PART_NAMES "names"
#define PART_MAX ((size_t)1 << 20)

static ttr_store *load_store(const struct query_session *session, ttr *t,
                             const ttr_store_options *options, ttr_error *error)
{
    const ttr_text key = {session->cache.key, session->cache.key_n};
    return t ? ttr_store_load(t, session->cache_file, key, options, error) : NULL;
}

/* Adds the table names of the saved store to the names that the session loads. */
static void add_saved_names(struct query_session *session)
{
    static const char *const none[] = {NULL};
    const ttr_store_options options = {.size = sizeof options, .names = none, .columns = none};
    ttr *t = ttr_new(NULL);
    ttr_store *store = load_store(session, t, &options, NULL);
    char *names = store ? saved_findings_read_part(store, PART_NAMES) : NULL;
    if (names && names[0] == '1')
        session->has_all_columns = true;
    for (char *at = names ? names + 1 : NULL, *end; at && (end = strchr(at, '\n')); at = end + 1) {
        *end = '\0';
        query_session_add_name(session, at);
    }
    free(names);
    ttr_store_free(store);
    ttr_free(t);
}

bool query_cache_load(struct query_session *session)
{
    ttr_error error = {0};
    if (session->wants_all || !query_session_is_cached(session))
        return false;
    trace_cache_begin(&session->cache, &session->call, session->library ? "query" : "list");
    session->cache_file = trace_cache_open(&session->cache);
    if (session->cache_file < 0)
        return false;
    const ttr_store_options options = query_session_options(session);
    ttr *t = ttr_new(NULL);
    session->store = load_store(session, t, &options, &error);
    session->findings =
        session->store ? saved_findings_read_part(session->store, SAVED_FINDINGS) : NULL;
    if (session->findings) {
        session->inputs.t = t;
        if (session->call.set.verbose)
            print_note(&session->call, "%s: the tables are those saved before (--no-cache)",
                       inputs_get_name(&session->call));
        return true;
    }
    ttr_store_free(session->store);
    session->store = NULL;
    ttr_free(t);
    if (error.status == TTR_E_UNSUPPORTED)
        add_saved_names(session);
    return false;
}

/* Collects the names that were wanted. */
static bool print_names(const struct query_session *session, char **text, size_t *n)
{
    FILE *to = open_memstream(text, n);
    if (!to)
        return false;
    (void)fputc(session->has_all_columns ? '1' : '0', to);
    for (size_t i = 0; i < session->names_n; i++)
        if (!strchr(session->names[i], '\n'))
            (void)fprintf(to, "%s\n", session->names[i]);
    return fclose(to) == 0;
}

void query_cache_save(struct query_session *session)
{
    char *names = NULL, *findings = NULL;
    size_t names_n = 0, findings_n = 0;
    if (!trace_cache_is_worthwhile(&session->cache) || session->wants_all)
        return;
    if (print_names(session, &names, &names_n) &&
        saved_findings_collect(&session->call, session->inputs.reader, &findings, &findings_n)) {
        const ttr_store_part parts[] = {{PART_NAMES, names, names_n},
                                        {SAVED_FINDINGS, findings, findings_n}};
        if (names_n <= PART_MAX)
            trace_cache_write(&session->cache, &session->call, session->store, parts, 2);
    }
    free(names);
    free(findings);
}

void query_cache_close(struct query_session *session)
{
    if (session->cache_file >= 0)
        (void)close(session->cache_file);
    trace_cache_end(&session->cache);
    free(session->findings);
    session->cache_file = -1;
    session->findings = NULL;
}
