/* Plans one SELECT as a leaf: a part of a statement that the column scan runs instead of SQLite.
 * Shared by leaf_plan.c, leaf_aggregate.c and leaf_rewrite.c. */
#ifndef TRACETTA_QUERY_LEAF_PLAN_H
#define TRACETTA_QUERY_LEAF_PLAN_H

#include "query/leaf.h"

#define PLAN_LEVELS_MAX 4u /* a SELECT, and derived tables in it */

struct leaf_planner {
    ttr_query *query;
    ttr_query *tables; /* schema of the table: the query, or one that is attached */
    struct sql sql;
    struct leaf *leaf;
    struct sql_select selects[PLAN_LEVELS_MAX]; /* [0] = the SELECT */
    struct vector_scope scopes[PLAN_LEVELS_MAX];
    uint32_t levels;
    const char *table; /* name of the table, as the store has it */
    sqlite3_str *out;  /* text of the statement with leaves */
};

/* Adds the aggregate that a call is (leaf_aggregate.c).  Returns its number, or SQL_NONE if the
 * call is not a known aggregate. */
uint32_t plan_aggregate(struct leaf_planner *planner, uint32_t expression);

/* Returns true if an expression calls a function that is not known to be a function of single
 * values. */
bool plan_has_aggregate(const struct leaf_planner *planner, uint32_t expression);

/* Write the SELECT with the result of its leaf as table (leaf_rewrite.c).  Return false if a column
 * is neither a key nor in an aggregate. */
bool plan_write_group(struct leaf_planner *planner);
void plan_write_rows(struct leaf_planner *planner);

#endif
