/* Internals of libtracetta-query: databases, results, virtual tables and functions.
 *
 * A leaf is a part of a statement that the column scan runs instead of SQLite (leaf.h). */
#ifndef TRACETTA_QUERY_QUERY_H
#define TRACETTA_QUERY_QUERY_H

#include <sqlite3.h>

#include <tracetta/advanced.h>
#include <tracetta/query.h>

struct leaf;
struct query_edits;

/* A compiled statement, an element of query->results. */
struct ttr_result {
    ttr_query *query;
    sqlite3_stmt *plain;     /* the statement as it was written */
    sqlite3_stmt *statement; /* the statement that runs: `plain`, or one with leaves */
    struct leaf *leaves;     /* leaves of the statement; NULL = none */
    bool is_started;         /* `leaves` have been computed */
    ttr_result *next;
};

struct ttr_query {
    ttr *t;
    const ttr_store *store;
    sqlite3 *db;
    uint64_t memory_max;  /* bytes that the result of a leaf may need; 0 = no limit */
    bool has_no_leaves;   /* column scans are off: SQLite computes all statements */
    bool is_read_only;    /* statements cannot create views */
    uint32_t leaves_made; /* number of the latest leaf */
    ttr_result *results;
    ttr_query *schemas; /* attached schemas, linked by `next` */
    ttr_query *owner;   /* query to which this schema is attached; NULL if this is not a schema */
    ttr_query *next;
    char schema[64];        /* name of an attached schema */
    struct query_arg *args; /* arguments that extract_arg has read */
    int nested;             /* nesting depth of interval tables that are being started */
    ttr_progress progress;
    void *user_data;
};

/* Returns true if an array of a leaf may have this size. */
static inline bool query_fits(const ttr_query *query, uint64_t bytes)
{
    const uint64_t limit = query->owner ? query->owner->memory_max : query->memory_max;
    return limit == 0 || bytes <= limit;
}

/* Adds the tables of the store as virtual tables of a schema. The database calls `free_query`,
 * which may be NULL, when it does not need `query` any more. Returns a status of SQLite. */
int query_add_tables(ttr_query *query, const char *schema, void (*free_query)(void *query));

/* Returns the first row in which an ordered column is at least `value`. */
uint64_t query_lower_bound(const ttr_query *query, size_t table, size_t column, int64_t value);

/* Replaces durations and times, such as '5ms' and '+2s', that are compared with columns of integers
 * (query_literals.c).  Returns the statement, to be freed with sqlite3_free, or NULL if it has
 * none. */
char *query_expand_literals(const ttr_query *query, const char *text);

/* Returns the type that a table declares for a column of a result: INT, FLOAT or TEXT;
 * TTR_TYPE_NULL for results of expressions. */
ttr_type query_declared_type(const ttr_result *result, size_t column);

/* Replaces arg('key') and interval_intersect!(...) (query_macros.c).  Returns the statement, to be
 * freed with sqlite3_free, or NULL if it has none.  *rest is the text after it.  `edits` has the
 * replacements afterwards. */
char *query_expand_macros(const ttr_query *query, const char *text, struct query_edits *edits,
                          const char **rest);

/* Describes the first macro with wrong arguments.  Returns false if the statement has none. */
bool query_explain_macro(const char *text, char *message, size_t message_n, uint64_t *offset);

/* Adds extract_arg (query_args.c).  Returns a status of SQLite. */
int query_add_arg_function(ttr_query *query);
void query_free_args(ttr_query *query);

/* Name of the table that interval_intersect! becomes. */
#define INTERVALS_TABLE "tracetta_intervals"

/* Registers the aggregate functions of query_functions.c. Returns a status of SQLite. */
int query_add_functions(sqlite3 *db);

#endif
