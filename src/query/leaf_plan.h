/* Plans one SELECT as a leaf: a part of a statement that the column scan runs instead of SQLite.
 * Shared by leaf_plan.c, leaf_aggregate.c and leaf_rewrite.c. */
#ifndef TRACETTA_QUERY_LEAF_PLAN_H
#define TRACETTA_QUERY_LEAF_PLAN_H

#include "query/leaf.h"

#define PLAN_LEVELS_MAX 4u /* a SELECT, and derived tables in it */

struct leaf_planner {
    ttr_query *query;
    ttr_query *tables; /* query that has the table: the query itself, or an attached schema */
    struct sql sql;
    struct leaf *leaf;
    struct sql_select selects[PLAN_LEVELS_MAX]; /* element 0 is the SELECT itself, the next ones its
                                                   nested derived tables */
    struct vector_scope scopes[PLAN_LEVELS_MAX];
    uint32_t levels;
    const char *table; /* name of the table, as the store has it */
    sqlite3_str *out;  /* text of the statement with leaves */
};

/* Adds the aggregate of a function call (leaf_aggregate.c).  Returns the number of the aggregate,
 * or SQL_NONE if the function is not a known aggregate. */
uint32_t plan_aggregate(struct leaf_planner *planner, uint32_t expression);

/* Returns true if an expression calls a function that may be an aggregate: one that is not known to
 * be scalar. */
bool plan_has_aggregate(const struct leaf_planner *planner, uint32_t expression);

/* Write the SELECT with the result of its leaf as table (leaf_rewrite.c).  Return false if a column
 * is neither a key nor in an aggregate. */
bool plan_write_group(struct leaf_planner *planner);
void plan_write_rows(struct leaf_planner *planner);

#endif
