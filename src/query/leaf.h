/* Leaves. A leaf is a part of a statement that the column scan runs instead of SQLite: a SELECT
 * over one table, with nothing below it in the plan.
 *
 * leaf_plan.c finds the SELECTs of a statement that are leaves, and rewrites the statement, with
 * the results of the leaves as tables.  Two kinds:
 *   - LEAF_GROUP: SELECT keys, aggregates FROM table [WHERE] [GROUP BY].  Its result is a table of
 *     keys and aggregates (leaf_table.c), from which SQLite computes HAVING, ORDER BY, LIMIT and
 * the result columns.
 *   - LEAF_ROWS: SELECT ... FROM table [WHERE] [ORDER BY] [LIMIT].  Its result is the list of the
 *     rows that can be in the result; SQLite reads only these.
 *
 * leaf_run computes all leaves of a statement before its first row.  If one cannot be computed
 * exactly, the statement is run by SQLite as it was written.
 *
 * Memory: a group needs 8 bytes per key and 24 per aggregate; percentiles keep all values (8 bytes,
 * with groups 20); LEAF_ROWS needs 8 bytes per row of its result. */
#ifndef TRACETTA_QUERY_LEAF_H
#define TRACETTA_QUERY_LEAF_H

#include "query/leaf_vector.h"

#define LEAF_AGGREGATES_MAX 64u
#define LEAF_CONDITIONS_MAX 16u
#define LEAF_LIMIT_MAX 100000u /* maximum of LIMIT plus OFFSET of a top-N */

enum leaf_kind { LEAF_GROUP, LEAF_ROWS };

enum leaf_function {
    LEAF_COUNT,
    LEAF_COUNT_DISTINCT,
    LEAF_SUM,
    LEAF_TOTAL,
    LEAF_AVG,
    LEAF_MIN,
    LEAF_MAX,
    LEAF_PERCENTILE
};

/* Values of a percentile, kept until the end; percentiles of the same values share them. */
struct leaf_values {
    uint32_t op, filter; /* numbers of operations: the argument, and the condition of FILTER
                            (SQL_NONE = none) */
    uint32_t *group;     /* number of the group of each value; NULL if there is one group */
    int64_t *value;
    size_t n;
    size_t *start;   /* after sorting by group: start of each group in `value`, and the end */
    size_t selected; /* index in `value` of the last percentile's value: values before it are not
                        larger, and values after it not smaller */
};

/* Results of a group over its values so far. */
struct leaf_total {
    int64_t count; /* number of values that are not NULL */
    int64_t sum, minimum, maximum;
};

/* Counts, sums and extremes of integers by group, or counts of any values; aggregates of the same
 * values share them. */
struct leaf_totals {
    uint32_t op, filter; /* as in leaf_values; op is SQL_NONE if only rows are counted */
    bool has_sum, has_extremes;
    bool has_real;    /* a total or average adds doubles */
    bool is_checked;  /* sums are checked for overflow, and doubles have sums of their own */
    uint64_t sum_max; /* until is_checked: each sum is between -sum_max and sum_max */
    struct leaf_total *total; /* indexed by group, as all below */
    int64_t *nulls;           /* number of values that are NULL */
    double *real;             /* sums of doubles, if has_real; valid if is_checked */
};

struct leaf_aggregate {
    uint8_t function; /* enum leaf_function */
    uint8_t type;     /* ttr_store_type of the result */
    uint32_t op;      /* operation that computes the argument; SQL_NONE for count(*) */
    uint32_t filter;  /* operation of the FILTER condition; SQL_NONE = none */
    bool is_whole;    /* a total or average of integers that is computed from their exact sum */
    double percent;
    size_t values;              /* percentile: index of its values in leaf->values */
    struct leaf_totals *totals; /* rows or integers: the totals that it reads; else NULL */
    /* results so far, indexed by group, if there are no totals */
    int64_t *count;
    int64_t *integer; /* sum, minimum or maximum */
    double *real;     /* sum of real numbers */
    struct value_map distinct, distinct_in_group;
};

struct leaf_key {
    uint32_t op;
    bool is_descending;     /* groups are returned in descending order of this key */
    bool is_independent;    /* else each group has had one value of this key so far */
    struct value_map map;   /* numbers of its values */
    struct value_map pairs; /* numbers of pairs with the number by the independent keys before it */
    int64_t *values;        /* value of the key in each group */
};

struct leaf_order {
    uint32_t op;
    bool is_descending;
};

struct leaf {
    uint32_t number;
    uint8_t kind; /* enum leaf_kind */
    bool is_sorted, is_grouped;
    struct vector_program program;
    uint32_t inner; /* operation of the derived table's WHERE condition; SQL_NONE = none */
    uint32_t conditions[LEAF_CONDITIONS_MAX];
    uint32_t conditions_n;
    uint64_t from, to; /* range of rows in which the conditions can hold */
    /* LEAF_GROUP */
    struct leaf_key keys[SQL_TERMS_MAX];
    uint32_t keys_n;
    uint32_t independent[SQL_TERMS_MAX]; /* indexes of the independent keys */
    uint32_t independent_n;
    struct leaf_aggregate aggregates[LEAF_AGGREGATES_MAX];
    uint32_t aggregates_n;
    struct leaf_totals totals[LEAF_AGGREGATES_MAX];
    struct leaf_values values[LEAF_AGGREGATES_MAX];
    size_t totals_n, values_n;
    size_t groups_n, groups_capacity;
    uint32_t *order; /* numbers of the groups in the order of the result; NULL = in order of their
                        numbers */
    /* LEAF_ROWS */
    struct leaf_order orders[SQL_TERMS_MAX];
    uint32_t orders_n;
    uint64_t limit; /* maximum number of rows of the result; UINT64_MAX = no limit */
    uint64_t *rows;
    size_t rows_n, rows_capacity;
    int64_t *order_values; /* top-N: values by which the rows are ordered, orders_n per row */
    char *description;     /* text that EXPLAIN QUERY PLAN prints */
    struct leaf *next;     /* next leaf of the statement */
};

void leaf_free(struct leaf *leaf);

enum leaf_result { LEAF_DONE, LEAF_INEXACT, LEAF_STOPPED, LEAF_FULL };

/* Computes a leaf (leaf_run.c). */
enum leaf_result leaf_run(struct leaf *leaf);

/* The selected rows of a block (leaf_block.c). */
struct leaf_block {
    uint32_t n;               /* number of selected rows */
    bool is_all;              /* all rows of the block are selected; `at` is not set */
    uint16_t at[VECTOR_ROWS]; /* indexes of the selected rows in the block */
};

/* Evaluates an operation for the selected rows of a block.  Returns their values, in `buffer` if
 * not all rows are selected. */
const int64_t *leaf_evaluate(struct leaf *leaf, uint32_t op, const struct leaf_block *block,
                             int64_t buffer[VECTOR_ROWS]);

/* Copies the selected rows for which a condition is true, and their groups. */
void leaf_filter(struct leaf *leaf, uint32_t condition, const struct leaf_block *block,
                 const uint32_t *groups, struct leaf_block *kept,
                 uint32_t kept_groups[VECTOR_ROWS]);

/* Add the selected rows of a block to the result; complete the result after the last block
 * (leaf_group.c, leaf_rows.c).  Return false if memory is exhausted. */
bool leaf_group_start(struct leaf *leaf);
bool leaf_group_add(struct leaf *leaf, const struct leaf_block *block);
bool leaf_group_finish(struct leaf *leaf);
bool leaf_rows_add(struct leaf *leaf, const struct leaf_block *block);
void leaf_rows_finish(struct leaf *leaf);

/* Number the groups of the selected rows of a block, which may be new (leaf_keys.c).
 * leaf_keys_find_conflict returns a key that has several values in a group, or SQL_NONE; after
 * leaf_keys_separate, number the block again.  Return false if memory is exhausted. */
bool leaf_keys_number(struct leaf *leaf, const struct leaf_block *block, uint32_t *groups,
                      size_t *groups_n);
uint32_t leaf_keys_find_conflict(struct leaf *leaf, const struct leaf_block *block,
                                 const uint32_t *groups);
bool leaf_keys_separate(struct leaf *leaf, uint32_t key);

/* Find the totals of all aggregates; make room for n groups, of which `old` had room before; add
 * the selected rows of a block; return the result of an aggregate (leaf_totals.c). */
void leaf_totals_start(struct leaf *leaf);
bool leaf_totals_reserve(struct leaf_totals *totals, size_t old, size_t n);
void leaf_totals_add(struct leaf *leaf, struct leaf_totals *totals, const uint32_t *groups,
                     const struct leaf_block *block);
int64_t leaf_total_value(const struct leaf_aggregate *aggregate, size_t group);
void leaf_totals_free(struct leaf_totals *totals);

/* Collect the values of percentiles and sort them by group (leaf_percentile.c).  Return false if
 * memory is exhausted. */
bool leaf_values_add(struct leaf *leaf, struct leaf_values *values, const uint32_t *groups,
                     const struct leaf_block *block);
bool leaf_values_finish(struct leaf *leaf, struct leaf_values *values);
int64_t leaf_percentile(struct leaf *leaf, const struct leaf_aggregate *aggregate, size_t group);

/* Returns a value of the result of LEAF_GROUP: columns are the keys, then the aggregates. */
int64_t leaf_cell(struct leaf *leaf, size_t row, uint32_t column, uint8_t *type);

/* --- Statements (leaf_plan.c, leaf_rewrite.c) --- */

/* Finds the leaves of a statement.  Returns the statement with its leaves as tables, to be freed
 * with sqlite3_free, or NULL if it has no leaves. */
char *leaf_plan(ttr_query *query, const char *sql, struct leaf **leaves);

/* Frees the leaves of a statement. */
void leaf_free_all(struct leaf *leaves);

/* Returns the leaf with that number, of any statement of the query; NULL if no leaf has it. */
struct leaf *leaf_find(const ttr_query *query, int64_t number);

/* --- Tables of results (leaf_table.c) --- */

/* Name of the table-valued function that returns the result of a leaf: tracetta_leaf(number). */
#define LEAF_TABLE "tracetta_leaf"

/* Returns the leaf with the number that a constraint requires, for EXPLAIN; NULL if SQLite does not
 * know the value yet. */
struct leaf *leaf_of_constraint(const ttr_query *query, sqlite3_index_info *info, int constraint);

/* Registers tracetta_leaf in a database.  Returns a status of SQLite. */
int leaf_add_table(ttr_query *query);

#endif
