/* Expressions over columns of a table of the store, evaluated for 1,024 rows at a time.
 *
 * A program is a list of operations, each with operands before it and a vector of results.  Values
 * are those of the store: 64-bit integers, bits of doubles, ids of strings, and TTR_STORE_NULL.
 * Equal expressions share an operation, so that two expressions are equal if their numbers are.
 *
 * A program computes what SQLite would compute.  It cannot represent all values of SQL: if an
 * integer overflows or a result is -0.0, `is_inexact` is set, and the statement must be run by
 * SQLite instead.
 *
 * A program belongs to one leaf (a part of a statement that the column scan runs instead of SQLite)
 * and to one thread. */
#ifndef TRACETTA_QUERY_LEAF_VECTOR_H
#define TRACETTA_QUERY_LEAF_VECTOR_H

#include "query/leaf_map.h"
#include "query/query.h"
#include "query/sql.h"

#define VECTOR_ROWS 1024u
#define VECTOR_OPS_MAX 256u
#define VECTOR_OPERANDS_MAX 1024u
#define VECTOR_STEPS_MAX 50000u /* expressions that are visited to compile a program */

enum vector_kind {
    VECTOR_COLUMN,
    VECTOR_CONSTANT,
    VECTOR_DICTIONARY, /* function of one text column, computed once per distinct string */
    VECTOR_COMPARE,
    VECTOR_ARITHMETIC,
    VECTOR_AND,
    VECTOR_OR,
    VECTOR_NOT,
    VECTOR_IN,
    VECTOR_CASE, /* operands: condition, value, condition, value, ..., value of ELSE */
    VECTOR_COALESCE,
    VECTOR_NULLIF,
    VECTOR_ABS,
    VECTOR_LEAST,
    VECTOR_GREATEST,
    VECTOR_TO_REAL,
    VECTOR_NEGATE,
    VECTOR_LAG /* operands: value, partition */
};

struct vector_dictionary;

struct vector_op {
    uint8_t kind; /* enum vector_kind */
    uint8_t type; /* ttr_store_type */
    uint8_t op;   /* enum sql_operator of comparisons and arithmetic */
    bool is_negated;
    bool is_lead;                  /* VECTOR_LAG: the operation is LEAD, not LAG */
    uint32_t operands, operands_n; /* first index and number of its operands in program->operands */
    size_t column;                 /* VECTOR_COLUMN: index of the column */
    int64_t constant;              /* VECTOR_CONSTANT: the value */
    struct vector_dictionary *words; /* VECTOR_DICTIONARY: results of the function per string */
    uint32_t expression;             /* VECTOR_DICTIONARY: the expression, to find equal ones */
    struct value_map partitions;     /* VECTOR_LAG: numbers of the partitions */
    int64_t *last; /* last value of each partition; last row of each partition if is_lead */
    size_t last_capacity;
    int64_t *all;     /* is_lead: results, indexed by row of the table */
    int64_t *values;  /* results for the current block, VECTOR_ROWS of them */
    uint64_t is_done; /* first row of the block that `values` has, + 1; 0 = none */
};

struct vector_program {
    ttr_query *query;
    const struct sql *sql;
    size_t table; /* index of the table in the store */
    uint64_t rows;
    struct vector_op ops[VECTOR_OPS_MAX];
    uint32_t ops_n;
    uint32_t operands[VECTOR_OPERANDS_MAX];
    uint32_t operands_n;
    uint32_t steps;
    bool has_lag; /* has lag(): all blocks must be evaluated in order */
    /* first row and number of rows of the current block */
    uint64_t row;
    uint32_t n;
    uint8_t mask[VECTOR_ROWS]; /* per row: 1 if lag() and lead() include the row */
    bool is_inexact, is_full;
};

/* Names that an expression can use. */
struct vector_scope {
    const struct sql_select *select;  /* SELECT with the columns in its FROM clause */
    const struct vector_scope *inner; /* scope of the derived table; NULL = a table */
};

void vector_init(struct vector_program *program, ttr_query *query, const struct sql *sql,
                 size_t table);
void vector_free(struct vector_program *program);

/* Compiles an expression (leaf_compile.c).  Returns the number of its operation, or SQL_NONE if the
 * program cannot compute it. */
uint32_t vector_compile(struct vector_program *program, const struct vector_scope *scope,
                        uint32_t expression);

/* As vector_compile, for a result of the derived table of a scope, which may be a lag or lead. */
uint32_t vector_compile_result(struct vector_program *program, const struct vector_scope *scope,
                               uint32_t expression);

/* Adds an operation, or returns an equal one.  Returns SQL_NONE if there are too many. */
uint32_t vector_add(struct vector_program *program, const struct vector_op *op,
                    const uint32_t *operands, uint32_t n);

/* Finds a column of the store's table by name.  Returns SQL_NONE if the table has no such column.
 */
uint32_t vector_find_column(const struct vector_program *program, uint32_t name);

/* Starts a block of n rows at `row`, a multiple of VECTOR_ROWS. */
void vector_set_block(struct vector_program *program, uint64_t row, uint32_t n);

/* Evaluates an operation for the block.  The result is valid until the next block. */
const int64_t *vector_evaluate(struct vector_program *program, uint32_t op);

/* Clears the bytes of `mask` for rows in which a condition is not true. */
void vector_apply(struct vector_program *program, uint32_t condition, uint8_t *mask);

/* Compares two values of a type as ORDER BY does: NULL is the smallest.  Returns -1, 0 or 1. */
int vector_compare(const ttr *t, uint8_t type, int64_t a, int64_t b);

static inline double vector_bits_to_real(int64_t bits)
{
    union {
        int64_t bits;
        double real;
    } value = {.bits = bits};
    return value.real;
}

static inline int64_t vector_real_to_bits(double real)
{
    union {
        double real;
        int64_t bits;
    } value = {.real = real};
    return value.bits;
}

/* Returns 1 for true, 0 for false, TTR_STORE_NULL for NULL. */
static inline int64_t vector_truth(uint8_t type, int64_t value)
{
    if (value == TTR_STORE_NULL)
        return TTR_STORE_NULL;
    return type == TTR_STORE_REAL ? vector_bits_to_real(value) < 0 || vector_bits_to_real(value) > 0
                                  : value != 0;
}

/* --- Lag and lead (leaf_lag.c) --- */

/* Computes a lag, or copies a lead, for the block; key: NULL = one partition. */
void lag_evaluate(struct vector_program *program, struct vector_op *op, const int64_t *value,
                  const int64_t *key);

/* Compute a lead for all rows: lag_start_leads makes room, lag_add_leads adds the current block,
 * and lag_restart lets the program start at the first block again. */
bool lag_start_leads(const struct vector_program *program, struct vector_op *op);
void lag_add_leads(struct vector_program *program, struct vector_op *op, const int64_t *value,
                   const int64_t *key);
void lag_restart(struct vector_program *program);

/* --- Dictionaries (leaf_dictionary.c) --- */

/* Creates the dictionary of an expression of one column, operation `operand`.  Returns NULL if the
 * expression has functions that may depend on more than their arguments. */
struct vector_dictionary *dictionary_new(struct vector_program *program, uint32_t expression,
                                         uint32_t operand, uint8_t *type);
void dictionary_free(struct vector_dictionary *words);

/* Computes the function for n ids of strings. */
void dictionary_evaluate(struct vector_program *program, struct vector_dictionary *words,
                         const int64_t *ids, uint32_t n, int64_t *values);

/* As vector_apply, for n ids of strings. */
void dictionary_apply(struct vector_program *program, struct vector_dictionary *words,
                      const int64_t *ids, uint32_t n, uint8_t *mask);

/* Returns true if all functions of an expression are scalar: no aggregate or window functions. */
bool expression_has_only_scalar_functions(const struct sql *sql, uint32_t expression);

/* Computes an expression that has no columns.  Returns false if its value is not constant. */
bool dictionary_constant(struct vector_program *program, uint32_t expression, uint8_t *type,
                         int64_t *value);

#endif
