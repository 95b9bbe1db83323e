/* The inputs of a call of query, as schemas of one database, and its statements.
 *
 *     query_work_begin, query_work_want for the first statements, query_work_open
 *     query_work_run ...; query_work_reopen_if_needed before statements that come later
 *     query_work_close
 */
#ifndef TRACETTA_CLI_COMMANDS_QUERY_WORK_H
#define TRACETTA_CLI_COMMANDS_QUERY_WORK_H

#include "cli/commands/query_session.h"

#define QUERY_SQL_MAX (16u << 20)
#define QUERY_SCHEMAS_MAX 10u

/* Columns of most first questions, to be read with the trace. */
#define QUERY_USUAL_COLUMNS "SELECT id, ts, dur, name, depth, thread_name, process_name FROM slice"

/* The inputs of one schema: all operands, or one of "a=OLD b=NEW". */
struct query_schema {
    char *name; /* NULL = main */
    char *path; /* borrowed */
    struct query_session session;
};

struct query_work {
    struct call *call;
    struct query_schema schemas[QUERY_SCHEMAS_MAX];
    size_t schemas_n;
    struct query_library library;
    ttr_query *joined;   /* database that joins the schemas; NULL if there is only one schema */
    ttr_query *query;    /* database that runs the statements; NULL before query_work_open */
    uint64_t timeout_ns; /* time limit of one query_work_run; 0 = no limit */
    uint64_t end_ns;     /* when the limit is reached; 0 = never */
    bool has_no_heads;   /* rows as CSV and TSV continue those of an earlier statement */
    int client;          /* socket of an HTTP client; if it closes, statements stop; -1 = none */
};

/* Returns the length of "name" in an operand "name=PATH" that is not itself a file; 0 = none. */
size_t query_work_find_schema_name(const char *operand);

/* Assigns the operands of the call to schemas. `has_sql` is false to list the tables only. Returns
 * OUTCOME_FINE, or the outcome after reporting an error. */
int query_work_begin(struct query_work *work, struct call *call, bool has_sql);

/* Marks the tables that statements name to be filled. */
void query_work_want(struct query_work *work, const char *sql);

/* Opens all inputs and reads them. Returns OUTCOME_FINE, or the outcome after an error message. */
int query_work_open(struct query_work *work);

/* Makes interruptions, --timeout and the end of the client stop statements of `query`. */
void query_work_watch(struct query_work *work);

/* Reads the inputs again if statements name tables or columns that were not filled. The results
 * are those of query_work_open. */
int query_work_reopen_if_needed(struct query_work *work, const char *sql);

/* Runs statements in order and prints their results. Stops at the first error, which it reports, or
 * at an interruption. */
int query_work_run(struct query_work *work, const char *sql);

/* Runs statements as query_work_run, or writes the rows of one to the output of the call, if that
 * or the format is one of other programs (parquet, arrow, sqlite). */
int query_work_answer(struct query_work *work, const char *sql);

/* Closes the databases and the stores; query_work_reopen_if_needed reads the inputs again. */
void query_work_reset(struct query_work *work);

/* Warns of damage in the inputs. Returns the outcome. */
int query_work_warn(const struct query_work *work, int outcome);

void query_work_close(struct query_work *work);

#endif
