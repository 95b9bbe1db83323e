/* Inside of libtracetta-query: the virtual tables and functions that a database gets. */
#ifndef TRACETTA_QUERY_QUERY_H
#define TRACETTA_QUERY_QUERY_H

#include <sqlite3.h>

#include <tracetta/advanced.h>
#include <tracetta/query.h>

struct ttr_query {
    ttr *t;
    const ttr_store *store;
    sqlite3 *db;
    ttr_progress progress;
    void *user_data;
};

/* Adds the tables of the store as virtual tables of a schema. The database calls `free_query`,
 * which may be NULL, when it does not need `query` any more. Returns a status of SQLite. */
int query_add_tables(ttr_query *query, const char *schema, void (*free_query)(void *query));

/* Adds the aggregate functions. Returns a status of SQLite. */
int query_add_functions(sqlite3 *db);

#endif
