/* Evaluates compiled expressions over 1,024 rows at a time (leaf_vector.h). */
#include "query/leaf_vector.h"

#include <stdlib.h>
#include <string.h>

#define NONE TTR_STORE_NULL
#define INT TTR_STORE_INT
#define REAL TTR_STORE_REAL

/* --- Programs --- */

void vector_init(struct vector_program *program, ttr_query *query, const struct sql *sql,
                 size_t table)
{
    ttr_store_table about = {0};
    memset(program, 0, sizeof *program);
    program->query = query;
    program->sql = sql;
    program->table = table;
    if (ttr_store_table_at(query->store, table, &about))
        program->rows = about.rows;
}

void vector_free(struct vector_program *program)
{
    for (uint32_t i = 0; i < program->ops_n; i++) {
        struct vector_op *op = &program->ops[i];
        value_map_free(&op->partitions);
        dictionary_free(op->words);
        free(op->last);
        free(op->all);
        free(op->values);
    }
    program->ops_n = 0;
}

/* Returns true if an operation computes the same as `op` with `operands`. */
static bool is_equal(const struct vector_program *program, const struct vector_op *a,
                     const struct vector_op *op, const uint32_t *operands, uint32_t n)
{
    if (a->kind != op->kind || a->type != op->type || a->op != op->op ||
        a->is_negated != op->is_negated || a->is_lead != op->is_lead || a->column != op->column ||
        a->constant != op->constant || a->words || op->words || a->operands_n != n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (program->operands[a->operands + i] != operands[i])
            return false;
    return true;
}

uint32_t vector_add(struct vector_program *program, const struct vector_op *op,
                    const uint32_t *operands, uint32_t n)
{
    for (uint32_t i = 0; i < program->ops_n; i++)
        if (is_equal(program, &program->ops[i], op, operands, n))
            return i;
    if (program->ops_n == VECTOR_OPS_MAX || program->operands_n + n > VECTOR_OPERANDS_MAX)
        return SQL_NONE;
    struct vector_op *added = &program->ops[program->ops_n];
    *added = *op;
    added->operands = program->operands_n;
    added->operands_n = n;
    for (uint32_t i = 0; i < n; i++)
        program->operands[program->operands_n++] = operands[i];
    program->has_lag |= op->kind == VECTOR_LAG;
    return program->ops_n++;
}

uint32_t vector_find_column(const struct vector_program *program, uint32_t name)
{
    ttr_store_column column;
    for (size_t i = 0; ttr_store_column_at(program->query->store, program->table, i, &column); i++)
        if (sql_name_equals(program->sql, name, column.name))
            return (uint32_t)i;
    return SQL_NONE;
}

void vector_set_block(struct vector_program *program, uint64_t row, uint32_t n)
{
    program->row = row;
    program->n = n;
    memset(program->mask, 1, n);
}

/* --- Comparisons --- */

static int compare_texts(const ttr *t, int64_t a, int64_t b)
{
    const ttr_text left = ttr_text_get(t, (ttr_id)a), right = ttr_text_get(t, (ttr_id)b);
    const size_t n = left.n < right.n ? left.n : right.n;
    const int order = n ? memcmp(left.p, right.p, n) : 0;
    return order ? (order < 0 ? -1 : 1) : left.n < right.n ? -1 : left.n > right.n;
}

int vector_compare(const ttr *t, uint8_t type, int64_t a, int64_t b)
{
    if (a == b)
        return 0;
    if (type == INT || a == NONE || b == NONE)
        return a < b ? -1 : 1;
    if (type == TTR_STORE_TEXT)
        return compare_texts(t, a, b);
    const double left = vector_bits_to_real(a), right = vector_bits_to_real(b);
    return left < right ? -1 : left > right;
}

/* Compares an integer with a double, exactly. */
static int compare_mixed(int64_t a, double b)
{
    if (b >= 9223372036854775808.0)
        return -1;
    if (b < -9223372036854775808.0)
        return 1;
    const int64_t whole = (int64_t)b;
    if (a != whole)
        return a < whole ? -1 : 1;
    const double rest = b - (double)whole;
    return rest > 0 ? -1 : rest < 0;
}

static int compare_numbers(uint8_t left, int64_t a, uint8_t right, int64_t b)
{
    if (left == right)
        return vector_compare(NULL, left, a, b);
    return left == INT ? compare_mixed(a, vector_bits_to_real(b))
                       : -compare_mixed(b, vector_bits_to_real(a));
}

static bool holds(uint8_t op, int order)
{
    switch (op) {
    case SQL_OP_EQ:
    case SQL_OP_IS:
        return order == 0;
    case SQL_OP_NE:
    case SQL_OP_IS_NOT:
        return order != 0;
    case SQL_OP_LT:
        return order < 0;
    case SQL_OP_LE:
        return order <= 0;
    case SQL_OP_GT:
        return order > 0;
    default:
        return order >= 0;
    }
}

#define COMPARE_LOOP(condition)                              \
    for (uint32_t i = 0; i < n; i++) {                       \
        const int64_t x = a[i], y = b[i];                    \
        to[i] = x == NONE || y == NONE ? NONE : (condition); \
    }                                                        \
    return

/* Compares integers, or ids of texts for equality. */
static void compare_integers(uint8_t op, const int64_t *a, const int64_t *b, uint32_t n,
                             int64_t *to)
{
    switch (op) {
    case SQL_OP_EQ:
        COMPARE_LOOP(x == y);
    case SQL_OP_NE:
        COMPARE_LOOP(x != y);
    case SQL_OP_LT:
        COMPARE_LOOP(x < y);
    case SQL_OP_LE:
        COMPARE_LOOP(x <= y);
    case SQL_OP_GT:
        COMPARE_LOOP(x > y);
    case SQL_OP_GE:
        COMPARE_LOOP(x >= y);
    case SQL_OP_IS:
        for (uint32_t i = 0; i < n; i++)
            to[i] = a[i] == b[i];
        return;
    default:
        for (uint32_t i = 0; i < n; i++)
            to[i] = a[i] != b[i];
    }
}

static void evaluate_compare(struct vector_program *program, struct vector_op *op, const int64_t *a,
                             const int64_t *b)
{
    const uint8_t left = program->ops[program->operands[op->operands]].type;
    const uint8_t right = program->ops[program->operands[op->operands + 1]].type;
    if (left != REAL && right != REAL) {
        compare_integers(op->op, a, b, program->n, op->values);
        return;
    }
    const bool is_null_safe = op->op == SQL_OP_IS || op->op == SQL_OP_IS_NOT;
    for (uint32_t i = 0; i < program->n; i++) {
        if (a[i] != NONE && b[i] != NONE)
            op->values[i] = holds(op->op, compare_numbers(left, a[i], right, b[i]));
        else
            op->values[i] = is_null_safe ? holds(op->op, a[i] != b[i]) : NONE;
    }
}

/* --- Arithmetic --- */

static bool add_integers(uint8_t op, int64_t x, int64_t y, int64_t *z)
{
    switch (op) {
    case SQL_OP_ADD:
        return __builtin_add_overflow(x, y, z);
    case SQL_OP_SUBTRACT:
        return __builtin_sub_overflow(x, y, z);
    case SQL_OP_MULTIPLY:
        return __builtin_mul_overflow(x, y, z);
    case SQL_OP_DIVIDE:
        *z = y ? x / y : NONE;
        return false;
    case SQL_OP_MODULO:
        *z = y ? x % y : NONE;
        return false;
    case SQL_OP_BIT_AND:
        *z = x & y;
        return false;
    default:
        *z = x | y;
        return false;
    }
}

/* Inlined for each operator, so that the loop has no branch on it. */
static inline __attribute__((always_inline)) void combine_integers(struct vector_program *program,
                                                                   uint8_t op, const int64_t *a,
                                                                   const int64_t *b, int64_t *to)
{
    bool is_inexact = false;
    for (uint32_t i = 0; i < program->n; i++) {
        int64_t z = NONE;
        if (a[i] != NONE && b[i] != NONE) {
            is_inexact |= add_integers(op, a[i], b[i], &z);
            /* The smallest integer would be NULL; division by zero is NULL. */
            is_inexact |= z == NONE && !((op == SQL_OP_DIVIDE || op == SQL_OP_MODULO) && !b[i]);
        }
        to[i] = z;
    }
    program->is_inexact |= is_inexact;
}

static void evaluate_integers(struct vector_program *program, struct vector_op *op,
                              const int64_t *a, const int64_t *b)
{
    switch (op->op) {
    case SQL_OP_ADD:
        combine_integers(program, SQL_OP_ADD, a, b, op->values);
        break;
    case SQL_OP_SUBTRACT:
        combine_integers(program, SQL_OP_SUBTRACT, a, b, op->values);
        break;
    case SQL_OP_MULTIPLY:
        combine_integers(program, SQL_OP_MULTIPLY, a, b, op->values);
        break;
    default:
        combine_integers(program, op->op, a, b, op->values);
    }
}

static double number_of(uint8_t type, int64_t value)
{
    return type == REAL ? vector_bits_to_real(value) : (double)value;
}

/* Converts a result to bits: NaN is NULL, as in SQLite; -0.0 cannot be represented. */
static int64_t real_result(struct vector_program *program, double value)
{
    const int64_t bits = vector_real_to_bits(value);
    if (value != value)
        return NONE;
    program->is_inexact |= bits == NONE;
    return bits;
}

static void evaluate_reals(struct vector_program *program, struct vector_op *op, const int64_t *a,
                           const int64_t *b)
{
    const uint8_t left = program->ops[program->operands[op->operands]].type;
    const uint8_t right = program->ops[program->operands[op->operands + 1]].type;
    for (uint32_t i = 0; i < program->n; i++) {
        op->values[i] = NONE;
        if (a[i] == NONE || b[i] == NONE)
            continue;
        const double x = number_of(left, a[i]), y = number_of(right, b[i]);
        if (op->op == SQL_OP_ADD)
            op->values[i] = real_result(program, x + y);
        else if (op->op == SQL_OP_SUBTRACT)
            op->values[i] = real_result(program, x - y);
        else if (op->op == SQL_OP_MULTIPLY)
            op->values[i] = real_result(program, x * y);
        else if (y < 0 || y > 0)
            op->values[i] = real_result(program, x / y);
    }
}

/* --- Logic --- */

static void evaluate_logic(struct vector_program *program, struct vector_op *op)
{
    const uint32_t *operands = program->operands + op->operands;
    const int64_t *a = vector_evaluate(program, operands[0]);
    const uint8_t left = program->ops[operands[0]].type;
    const int64_t decisive = op->kind == VECTOR_OR;
    if (op->kind == VECTOR_NOT) {
        for (uint32_t i = 0; i < program->n; i++) {
            const int64_t x = vector_truth(left, a[i]);
            op->values[i] = x == NONE ? NONE : !x;
        }
        return;
    }
    const int64_t *b = vector_evaluate(program, operands[1]);
    const uint8_t right = program->ops[operands[1]].type;
    for (uint32_t i = 0; i < program->n; i++) {
        const int64_t x = vector_truth(left, a[i]), y = vector_truth(right, b[i]);
        op->values[i] = x == decisive || y == decisive ? decisive
                        : x == NONE || y == NONE       ? NONE
                                                       : !decisive;
    }
}

static void evaluate_in(struct vector_program *program, struct vector_op *op)
{
    const uint32_t *operands = program->operands + op->operands;
    const int64_t *a = vector_evaluate(program, operands[0]);
    const uint8_t type = program->ops[operands[0]].type;
    for (uint32_t i = 0; i < program->n; i++) {
        int64_t found = 0;
        for (uint32_t k = 1; k < op->operands_n && found != 1; k++) {
            const struct vector_op *item = &program->ops[operands[k]];
            if (a[i] == NONE || item->constant == NONE)
                found = NONE;
            else if (compare_numbers(type, a[i], item->type, item->constant) == 0)
                found = 1;
        }
        op->values[i] = found == NONE ? NONE : op->is_negated ? !found : found;
    }
}

static void evaluate_case(struct vector_program *program, struct vector_op *op)
{
    const uint32_t *operands = program->operands + op->operands;
    const int64_t *value = vector_evaluate(program, operands[op->operands_n - 1]);
    memcpy(op->values, value, program->n * sizeof *value);
    for (uint32_t k = op->operands_n - 1; k >= 2; k -= 2) {
        const int64_t *condition = vector_evaluate(program, operands[k - 2]);
        const uint8_t type = program->ops[operands[k - 2]].type;
        value = vector_evaluate(program, operands[k - 1]);
        for (uint32_t i = 0; i < program->n; i++)
            if (vector_truth(type, condition[i]) == 1)
                op->values[i] = value[i];
    }
}

/* --- Functions --- */

/* Combines the results so far with those of the next operand. */
static void combine_operand(const struct vector_program *program, struct vector_op *op,
                            const int64_t *next)
{
    for (uint32_t i = 0; i < program->n; i++) {
        int64_t *to = &op->values[i];
        if (op->kind == VECTOR_COALESCE) {
            *to = *to == NONE ? next[i] : *to;
        } else if (op->kind == VECTOR_NULLIF) {
            *to = *to == next[i] ? NONE : *to;
        } else if (*to != NONE) {
            const int order = next[i] == NONE ? 0 : vector_compare(NULL, op->type, next[i], *to);
            if (next[i] == NONE || (op->kind == VECTOR_LEAST ? order < 0 : order > 0))
                *to = next[i];
        }
    }
}

static void evaluate_function(struct vector_program *program, struct vector_op *op)
{
    const uint32_t *operands = program->operands + op->operands;
    const int64_t *a = vector_evaluate(program, operands[0]);
    const uint8_t type = program->ops[operands[0]].type;
    for (uint32_t i = 0; i < program->n; i++) {
        const bool is_negative = type == REAL ? vector_bits_to_real(a[i]) < 0 : a[i] < 0;
        op->values[i] = a[i];
        if (a[i] == NONE)
            continue;
        if (op->kind == VECTOR_TO_REAL)
            op->values[i] = real_result(program, number_of(type, a[i]));
        else if (op->kind == VECTOR_NEGATE || (op->kind == VECTOR_ABS && is_negative))
            op->values[i] = type == REAL ? real_result(program, -vector_bits_to_real(a[i])) : -a[i];
    }
    for (uint32_t k = 1; k < op->operands_n; k++)
        combine_operand(program, op, vector_evaluate(program, operands[k]));
}

/* --- Evaluation --- */

static void evaluate(struct vector_program *program, struct vector_op *op)
{
    const uint32_t *operands = program->operands + op->operands;
    switch (op->kind) {
    case VECTOR_COLUMN:
        ttr_store_values(program->query->store, program->table, op->column, program->row,
                         program->n, op->values);
        break;
    case VECTOR_CONSTANT:
        for (uint32_t i = 0; i < VECTOR_ROWS; i++)
            op->values[i] = op->constant;
        break;
    case VECTOR_DICTIONARY:
        dictionary_evaluate(program, op->words, vector_evaluate(program, operands[0]), program->n,
                            op->values);
        break;
    case VECTOR_COMPARE:
    case VECTOR_ARITHMETIC: {
        const int64_t *a = vector_evaluate(program, operands[0]);
        const int64_t *b = vector_evaluate(program, operands[1]);
        if (op->kind == VECTOR_COMPARE)
            evaluate_compare(program, op, a, b);
        else if (op->type == REAL)
            evaluate_reals(program, op, a, b);
        else
            evaluate_integers(program, op, a, b);
        break;
    }
    case VECTOR_AND:
    case VECTOR_OR:
    case VECTOR_NOT:
        evaluate_logic(program, op);
        break;
    case VECTOR_IN:
        evaluate_in(program, op);
        break;
    case VECTOR_CASE:
        evaluate_case(program, op);
        break;
    case VECTOR_LAG:
        lag_evaluate(program, op, vector_evaluate(program, operands[0]),
                     op->operands_n > 1 ? vector_evaluate(program, operands[1]) : NULL);
        break;
    default:
        evaluate_function(program, op);
    }
}

const int64_t *vector_evaluate(struct vector_program *program, uint32_t number)
{
    static const int64_t nothing[VECTOR_ROWS];
    struct vector_op *op = &program->ops[number];
    if (op->is_done == program->row + 1 || (op->is_done && op->kind == VECTOR_CONSTANT))
        return op->values;
    if (!op->values)
        op->values = malloc(VECTOR_ROWS * sizeof *op->values);
    if (!op->values) {
        program->is_full = true;
        return nothing;
    }
    op->is_done = program->row + 1;
    evaluate(program, op);
    return op->values;
}

void vector_apply(struct vector_program *program, uint32_t condition, uint8_t *mask)
{
    const struct vector_op *op = &program->ops[condition];
    if (op->kind == VECTOR_DICTIONARY) {
        dictionary_apply(program, op->words,
                         vector_evaluate(program, program->operands[op->operands]), program->n,
                         mask);
        return;
    }
    const int64_t *value = vector_evaluate(program, condition);
    if (op->type == REAL) {
        for (uint32_t i = 0; i < program->n; i++)
            mask[i] &= vector_truth(REAL, value[i]) == 1;
        return;
    }
    for (uint32_t i = 0; i < program->n; i++)
        mask[i] &= (uint64_t)value[i] << 1 != 0; /* neither 0 nor NULL */
}
