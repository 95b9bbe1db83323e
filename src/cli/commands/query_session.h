/* A question in SQL to traces: opens the inputs of a call, reads them into a store, and prepares
 * statements over it with libtracetta-query, which is loaded on first use.
 *
 *     load_query_library, query_session_begin, query_session_want for each statement,
 *     query_session_open, library.prepare ..., query_session_close
 */
#ifndef TRACETTA_CLI_COMMANDS_QUERY_SESSION_H
#define TRACETTA_CLI_COMMANDS_QUERY_SESSION_H

#include <tracetta/query.h>

#include "cli/input/input_list.h"
#include "cli/input/trace_cache.h"

/* The functions of libtracetta-query. */
struct query_library {
    __typeof__(ttr_query_names) *find_names;
    __typeof__(ttr_query_new) *create;
    __typeof__(ttr_query_free) *free_query;
    __typeof__(ttr_query_attach) *attach;
    __typeof__(ttr_query_set_progress) *set_progress;
    __typeof__(ttr_query_set_memory) *set_memory;
    __typeof__(ttr_query_prepare) *prepare;
    __typeof__(ttr_result_step) *step;
    __typeof__(ttr_result_columns) *columns;
    __typeof__(ttr_result_name) *name;
    __typeof__(ttr_result_type) *type;
    __typeof__(ttr_result_int) *get_int;
    __typeof__(ttr_result_real) *get_real;
    __typeof__(ttr_result_text) *get_text;
    __typeof__(ttr_result_free) *free;
    __typeof__(ttr_query_write) *write;
    __typeof__(ttr_query_temporary_path) *get_temporary_path;
};

struct query_session {
    struct call call;                    /* with the operands that are inputs */
    const struct query_library *library; /* NULL: the tables are only listed */
    struct inputs inputs;
    bool is_open;
    bool wants_all; /* all tables are filled */
    char **names;   /* tables to fill; ends with NULL */
    size_t names_n;
    bool has_all_columns; /* a statement uses all columns of a table */
    ttr_store *store;
    ttr_query *query; /* NULL without a library */
    struct trace_cache cache;
    int cache_file; /* descriptor of a saved store; -1 = none */
    char *findings; /* warnings of a loaded store: '1' if the trace is damaged, else '0', then lines
                     */
};

/* Returns OUTCOME_FINE, or the outcome after reporting that the library is missing. */
int load_query_library(const struct call *call, struct query_library *library);

/* Returns --memory in bytes, at least 4 MiB: shares of less could be 0, which means without limit.
 * Returns 0 without --memory. */
uint64_t query_memory_limit(const struct call *call);

/* Prepares a session for the inputs paths[0 .. n), which are borrowed. */
void query_session_begin(struct query_session *session, const struct call *call,
                         const struct query_library *library, char **paths, size_t n);

/* Marks the tables that a statement names to be filled. */
void query_session_want(struct query_session *session, const char *sql);

/* Marks a table or column to be filled. */
void query_session_add_name(struct query_session *session, const char *name);

/* Returns the options of the store. */
ttr_store_options query_session_options(const struct query_session *session);

/* Returns true if the command loads and saves stores. */
bool query_session_is_cached(const struct query_session *session);

/* Opens the inputs and reads them. Without a library all tables are filled. Returns OUTCOME_FINE,
 * or the outcome after reporting an error. */
int query_session_open(struct query_session *session);

/* Opens the inputs without reading them. Returns OUTCOME_FINE, or the outcome after reporting an
 * error. */
int query_session_open_inputs(struct query_session *session);

/* Creates the database over the store. Returns OUTCOME_FINE, or the outcome after reporting an
 * error. */
int query_session_make_query(struct query_session *session);

/* Prints a note and returns OUTCOME_NO if filters are given and the store has no event. */
int query_session_check_matches(const struct call *call, const ttr_store *store, int outcome);

/* Warns of damage in the inputs, and if filters selected no event. Returns the outcome. */
int query_session_warn(const struct query_session *session, int outcome);

/* Closes the inputs and the store, so that query_session_open can read more tables. */
void query_session_reset(struct query_session *session);

/* Returns the i-th name of a table or column of the store; NULL after the last. */
const char *query_session_known_name(const struct query_session *session, size_t i);

void query_session_close(struct query_session *session);

/* Returns the begin of the next statement: skips spaces, semicolons and comments. */
const char *query_session_skip_blank(const char *sql);

/* Reports an error in a statement: the line with a caret below, and the nearest name of a table or
 * column. Returns OUTCOME_MISUSE. */
int query_session_report_sql(const struct query_session *session, const char *sql,
                             const ttr_error *error);

#endif
