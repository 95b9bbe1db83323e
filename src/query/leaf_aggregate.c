/* Parses the aggregate functions that a leaf can compute: a leaf is a part of a statement that the
 * column scan runs instead of SQLite. */
#include <stdlib.h>

#include "query/leaf_plan.h"

/* first version of SQLite that sums doubles with compensation (Kahan-Babuska) */
#define EXACT_SUMS 3043000

static const struct {
    const char *name;
    uint8_t function, operands;
} functions[] = {
    {"count", LEAF_COUNT, 1},
    {"sum", LEAF_SUM, 1},
    {"total", LEAF_TOTAL, 1},
    {"avg", LEAF_AVG, 1},
    {"min", LEAF_MIN, 1},
    {"max", LEAF_MAX, 1},
    {"percentile", LEAF_PERCENTILE, 2},
    {"median", LEAF_PERCENTILE, 1},
};

static uint32_t count_operands(const struct sql *sql, const struct sql_expression *call)
{
    uint32_t n = 0;
    for (uint32_t i = call->operand; i != SQL_NONE; i = sql->expressions[i].next)
        n++;
    return n;
}

/* Compiles the condition or the argument of an aggregate; SQL_NONE stays SQL_NONE. */
static bool compile_part(struct leaf_planner *planner, uint32_t expression, uint32_t *op)
{
    *op = expression == SQL_NONE
              ? SQL_NONE
              : vector_compile(&planner->leaf->program, &planner->scopes[0], expression);
    return expression == SQL_NONE || *op != SQL_NONE;
}

/* Sets the constant of percentile(x, constant). */
static bool find_percent(struct leaf_planner *planner, const struct sql_expression *call,
                         struct leaf_aggregate *aggregate)
{
    struct vector_program *program = &planner->leaf->program;
    uint32_t op;
    aggregate->percent = 50;
    if (count_operands(&planner->sql, call) == 1)
        return true;
    if (!compile_part(planner, planner->sql.expressions[call->operand].next, &op) ||
        program->ops[op].kind != VECTOR_CONSTANT || program->ops[op].type == TTR_STORE_TEXT ||
        program->ops[op].constant == TTR_STORE_NULL)
        return false;
    const int64_t value = program->ops[op].constant;
    aggregate->percent =
        program->ops[op].type == TTR_STORE_REAL ? vector_bits_to_real(value) : (double)value;
    return aggregate->percent >= 0 && aggregate->percent <= 100;
}

/* Sets aggregate->values to the values of an equal percentile, or to new ones. */
static void share_values(struct leaf *leaf, struct leaf_aggregate *aggregate)
{
    size_t i = 0;
    while (i < leaf->values_n &&
           (leaf->values[i].op != aggregate->op || leaf->values[i].filter != aggregate->filter))
        i++;
    if (i == leaf->values_n)
        leaf->values[leaf->values_n++] =
            (struct leaf_values){.op = aggregate->op, .filter = aggregate->filter};
    aggregate->values = i;
}

/* Sets the type of the result.  Returns false if the argument has a type that is left to SQLite. */
static bool set_type(const struct leaf *leaf, struct leaf_aggregate *aggregate)
{
    const uint8_t type =
        aggregate->op == SQL_NONE ? TTR_STORE_INT : leaf->program.ops[aggregate->op].type;
    const bool has_exact_sums = sqlite3_libversion_number() >= EXACT_SUMS;
    aggregate->type = type;
    switch (aggregate->function) {
    case LEAF_COUNT:
    case LEAF_COUNT_DISTINCT:
        aggregate->type = TTR_STORE_INT;
        return true;
    case LEAF_MIN:
    case LEAF_MAX:
        return true;
    case LEAF_SUM:
        aggregate->is_whole = type == TTR_STORE_INT;
        break;
    case LEAF_PERCENTILE:
        aggregate->type = TTR_STORE_REAL;
        return type != TTR_STORE_TEXT;
    default:
        aggregate->type = TTR_STORE_REAL;
        aggregate->is_whole = type == TTR_STORE_INT && has_exact_sums;
    }
    return type != TTR_STORE_TEXT && (type == TTR_STORE_INT || !has_exact_sums);
}

/* Returns the index of an equal aggregate, or adds one. */
static uint32_t add_aggregate(struct leaf *leaf, const struct leaf_aggregate *made)
{
    for (uint32_t i = 0; i < leaf->aggregates_n; i++) {
        const struct leaf_aggregate *is = &leaf->aggregates[i];
        if (is->function == made->function && is->op == made->op && is->filter == made->filter &&
            !(is->percent < made->percent) && !(is->percent > made->percent))
            return i;
    }
    if (leaf->aggregates_n == LEAF_AGGREGATES_MAX)
        return SQL_NONE;
    leaf->aggregates[leaf->aggregates_n] = *made;
    if (made->function == LEAF_PERCENTILE)
        share_values(leaf, &leaf->aggregates[leaf->aggregates_n]);
    return leaf->aggregates_n++;
}

uint32_t plan_aggregate(struct leaf_planner *planner, uint32_t expression)
{
    const struct sql_expression call = planner->sql.expressions[expression];
    struct leaf_aggregate made = {0};
    size_t i = 0;
    const size_t n = sizeof functions / sizeof *functions;
    if (call.kind != SQL_CALL || call.is_window)
        return SQL_NONE;
    const uint32_t operands = count_operands(&planner->sql, &call);
    while (i < n && !(sql_name_equals(&planner->sql, call.name, functions[i].name) &&
                      operands == (call.is_star ? 0u : functions[i].operands)))
        i++;
    if (i == n || (call.is_star && functions[i].function != LEAF_COUNT))
        return SQL_NONE;
    made.function = functions[i].function;
    if (call.is_distinct) {
        if (made.function != LEAF_COUNT)
            return SQL_NONE;
        made.function = LEAF_COUNT_DISTINCT;
    }
    if (!compile_part(planner, call.operand, &made.op) ||
        !compile_part(planner, call.filter, &made.filter) ||
        (made.filter != SQL_NONE &&
         planner->leaf->program.ops[made.filter].type == TTR_STORE_TEXT) ||
        (made.function == LEAF_PERCENTILE && !find_percent(planner, &call, &made)) ||
        !set_type(planner->leaf, &made))
        return SQL_NONE;
    return add_aggregate(planner->leaf, &made);
}

bool plan_has_aggregate(const struct leaf_planner *planner, uint32_t expression)
{
    return !expression_has_only_scalar_functions(&planner->sql, expression);
}
