/* SQL over a column store: libtracetta-query.
 *
 *     ttr_query *query = ttr_query_new(t, store, &error);
 *     ttr_result *result = query ? ttr_query_prepare(query, sql, NULL, &error) : NULL;
 *     while (result && ttr_result_step(result, &error) == TTR_OK)
 *         puts(ttr_result_text(result, 0).p);
 *
 * The language is SQLite's.  Each table of the store (store.h) is a table.  Added functions:
 * percentile(x, p), with p from 0 to 100, interpolating; median(x); histogram(x), a JSON array of
 * [from, to, count] with powers of two; extract_arg(arg_set_id, 'key'), an argument of an event,
 * and arg('key'), short for it.  Beside columns of integers, '5ms' is a duration and '+2s' a time
 * after the start of the trace.  Intervals as in Perfetto:
 *
 *     CREATE VIRTUAL TABLE x USING span_join(a PARTITIONED utid, b PARTITIONED utid)
 *     SELECT ts, dur, id_0, id_1, utid FROM interval_intersect!((a, b), (utid))
 *
 * also span_left_join and span_outer_join.  Statements can only read: no
 * files are opened, and nothing outside of memory is written.
 *
 * Conventions as in tracetta.h.  A query and its results belong to one thread.  The store must not
 * be freed before its query. */
#ifndef TRACETTA_QUERY_H
#define TRACETTA_QUERY_H

#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ttr_query ttr_query;
typedef struct ttr_result ttr_result;

/* Calls `see` with each identifier of a statement that is not a word of SQL: names of tables, of
 * columns, and of event classes; and with "*" if it uses all columns of a table.  Needs no store:
 * call it to find out what to build. */
TTR_API void ttr_query_names(const char *sql, void (*see)(void *user_data, const char *name),
                             void *user_data);

/* Creates a database over a store of the same context; NULL: without tables. */
TTR_API ttr_query *ttr_query_new(ttr *t, const ttr_store *store, ttr_error *error);

/* Adds the tables of another store, of its context `t`, as schema, at most 10:
 * "SELECT * FROM a.slice".  The store must not be freed before the query. */
TTR_API TTR_MUST ttr_status ttr_query_attach(ttr_query *query, const char *schema, ttr *t,
                                             const ttr_store *store, ttr_error *error);
TTR_API void ttr_query_free(ttr_query *query);

/* Called regularly while a statement runs; returning false ends it with TTR_AGAIN. */
TTR_API void ttr_query_set_progress(ttr_query *query, ttr_progress progress, void *user_data);

/* Limits the memory of statements: half of it is for SQLite, which then sorts in temporary files in
 * TMPDIR, and half for a column scan; a column scan that needs more is not used.  A statement that
 * SQLite cannot run with that fails with TTR_E_NOMEM.  0 is the default: 2 GiB for SQLite, column
 * scans without a limit.  SQLite has one limit for all queries of the process. */
TTR_API void ttr_query_set_memory(ttr_query *query, uint64_t bytes);

/* Statements may define temporary views, which later statements see.  A query that is read-only
 * refuses them, and all other statements than SELECT: for statements of strangers. */
TTR_API void ttr_query_set_read_only(ttr_query *query, bool is_read_only);

/* Turns column scans on or off for the statements that are prepared later; they are on at first.
 * With them, the library computes SELECTs that filter, group or order one table over its columns.
 * SQLite returns the same rows, but is much slower.  EXPLAIN QUERY PLAN shows the column scans of a
 * statement as "leaves". */
TTR_API void ttr_query_enable_column_scans(ttr_query *query, bool is_enabled);

/* Compiles the first statement of a text.  Returns NULL with `error`: TTR_E_MISUSE for an error in
 * the statement, with the byte of the text in error->offset if it is known.  *rest is the text
 * after the statement; `rest` may be NULL. */
TTR_API ttr_result *ttr_query_prepare(ttr_query *query, const char *sql, const char **rest,
                                      ttr_error *error);

/* Describes the i-th leaf of a statement: its kind, table and text.  Returns NULL after the last.
 * Valid until the next call on the result. */
TTR_API const char *ttr_result_leaf(const ttr_result *result, size_t i);

/* Reads the next row.  Returns TTR_OK, TTR_END after the last, TTR_AGAIN if stopped, or an error.
 */
TTR_API TTR_MUST ttr_status ttr_result_step(ttr_result *result, ttr_error *error);

/* Returns the number of columns; 0 for statements that return nothing. */
TTR_API size_t ttr_result_columns(const ttr_result *result);

/* Returns the name of a column, valid as long as the result. */
TTR_API const char *ttr_result_name(const ttr_result *result, size_t column);

/* Returns the type of a value of the row: TTR_TYPE_NULL, INT, FLOAT, TEXT or BYTES. */
TTR_API ttr_type ttr_result_type(const ttr_result *result, size_t column);

/* Return a value of the row; texts are valid until the next call on the result. */
TTR_API int64_t ttr_result_int(const ttr_result *result, size_t column);
TTR_API double ttr_result_real(const ttr_result *result, size_t column);
TTR_API ttr_text ttr_result_text(ttr_result *result, size_t column);

/* Frees a result, before its query. */
TTR_API void ttr_result_free(ttr_result *result);

/* --- Tables for other programs --- */

/* A table to write: its name, and the statement that returns its rows. */
typedef struct ttr_query_table {
    const char *name, *sql;
} ttr_query_table;

/* A flag of ttr_query_output in addition to TTR_WRITE_OVERWRITE: write a file per table,
 * "NAME.parquet", into a folder. */
#define TTR_QUERY_FOLDER 256u

typedef struct ttr_query_output {
    const char *path; /* "-" is stdout, for one table as parquet or arrow */
    /* "parquet" (zstd, dictionaries, statistics), "arrow" (IPC file) or "sqlite" (a database with a
     * table per statement) */
    const char *format;
    uint32_t flags;
} ttr_query_output;

/* Writes the rows of n statements.  With several tables, parquet and arrow need TTR_QUERY_FOLDER.
 * The output has a temporary name until it is complete.  A statement without declared types runs
 * twice.  Returns TTR_OK, TTR_AGAIN if `progress` stopped it (nothing is kept), or an error. */
TTR_API TTR_MUST ttr_status ttr_query_write(ttr_query *query, const ttr_query_table *tables,
                                            size_t n, const ttr_query_output *output,
                                            ttr_error *error);

/* Stores the path that the output of ttr_query_write has until it is complete, for signal handlers
 * that delete it.  Returns false if there is none, or if it does not fit into `size` bytes. */
TTR_API bool ttr_query_temporary_path(const ttr_query_output *output, char *path, size_t size);

struct ArrowArrayStream;

/* Starts a stream of the rows of a statement in the C interface of Arrow
 * (arrow.apache.org/docs/format/CStreamInterface.html), in batches of up to 65,536 rows: integers,
 * doubles, texts, binaries.  The caller calls to->release, before it frees the query; arrays and
 * schemas can outlive the query. */
TTR_API TTR_MUST ttr_status ttr_query_arrow(ttr_query *query, const char *sql,
                                            struct ArrowArrayStream *to, ttr_error *error);

#ifdef __cplusplus
}
#endif
#endif
