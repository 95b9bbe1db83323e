/* Runs a leaf: a part of a statement that the column scan computes instead of SQLite.
 *
 * Per block of rows: evaluate the conditions, then add the selected rows to groups or results. */
#include <stdlib.h>
#include <string.h>

#include "query/leaf.h"

#define PROGRESS_BLOCKS 64u /* number of blocks between two calls of the progress function */

void leaf_free(struct leaf *leaf)
{
    if (!leaf)
        return;
    vector_free(&leaf->program);
    for (uint32_t i = 0; i < leaf->keys_n; i++) {
        value_map_free(&leaf->keys[i].map);
        value_map_free(&leaf->keys[i].pairs);
        free(leaf->keys[i].values);
    }
    for (uint32_t i = 0; i < leaf->aggregates_n; i++) {
        struct leaf_aggregate *aggregate = &leaf->aggregates[i];
        value_map_free(&aggregate->distinct);
        value_map_free(&aggregate->distinct_in_group);
        free(aggregate->count);
        free(aggregate->integer);
        free(aggregate->real);
    }
    for (size_t i = 0; i < leaf->totals_n; i++)
        leaf_totals_free(&leaf->totals[i]);
    for (size_t i = 0; i < leaf->values_n; i++) {
        free(leaf->values[i].group);
        free(leaf->values[i].value);
        free(leaf->values[i].start);
    }
    free(leaf->order);
    free(leaf->rows);
    free(leaf->order_values);
    sqlite3_free(leaf->description);
    free(leaf);
}

/* Computes lead() over all rows for which the condition of the derived table holds. */
static void prepare_lead(struct leaf *leaf, struct vector_op *op)
{
    struct vector_program *program = &leaf->program;
    const uint32_t *operands = program->operands + op->operands;
    program->is_full |= !lag_start_leads(program, op);
    for (uint64_t row = 0; row < program->rows && !program->is_full; row += VECTOR_ROWS) {
        const uint64_t left = program->rows - row;
        vector_set_block(program, row, left < VECTOR_ROWS ? (uint32_t)left : VECTOR_ROWS);
        if (leaf->inner != SQL_NONE)
            vector_apply(program, leaf->inner, program->mask);
        lag_add_leads(program, op, vector_evaluate(program, operands[0]),
                      op->operands_n > 1 ? vector_evaluate(program, operands[1]) : NULL);
    }
    lag_restart(program);
}

/* Evaluates each lag() for a block, over all rows for which the condition of the derived table
 * holds. */
static void evaluate_lags(struct leaf *leaf)
{
    for (uint32_t i = 0; i < leaf->program.ops_n; i++)
        if (leaf->program.ops[i].kind == VECTOR_LAG)
            (void)vector_evaluate(&leaf->program, i);
}

/* Returns true if the number of rows is the only result. */
static bool is_count_of_rows(const struct leaf *leaf)
{
    for (uint32_t i = 0; i < leaf->aggregates_n; i++)
        if (leaf->aggregates[i].function != LEAF_COUNT || leaf->aggregates[i].op != SQL_NONE ||
            leaf->aggregates[i].filter != SQL_NONE)
            return false;
    return leaf->kind == LEAF_GROUP && leaf->keys_n == 0;
}

/* Selects the rows of the current block; with is_counted, only counts them. */
static void select_rows(struct leaf *leaf, struct leaf_block *block, bool is_counted)
{
    struct vector_program *program = &leaf->program;
    uint8_t mask[VECTOR_ROWS];
    if (leaf->inner != SQL_NONE)
        vector_apply(program, leaf->inner, program->mask);
    if (program->has_lag)
        evaluate_lags(leaf);
    block->n = program->n;
    block->is_all = true;
    if (leaf->inner == SQL_NONE && leaf->conditions_n == 0)
        return;
    memcpy(mask, program->mask, program->n);
    for (uint32_t i = 0; i < leaf->conditions_n; i++)
        vector_apply(program, leaf->conditions[i], mask);
    uint32_t n = 0;
    for (uint32_t i = 0; i < program->n; i++)
        n += mask[i];
    block->n = n;
    block->is_all = n == program->n;
    if (is_counted || block->is_all)
        return;
    n = 0;
    for (uint32_t i = 0; i < program->n; i++) {
        block->at[n] = (uint16_t)i;
        n += mask[i];
    }
}

/* Narrows the rows by a condition that compares an ordered column with a constant. */
static void narrow_rows_by_condition(struct leaf *leaf, uint32_t condition)
{
    const struct vector_program *program = &leaf->program;
    const struct vector_op *op = &program->ops[condition];
    if (op->kind == VECTOR_AND) {
        narrow_rows_by_condition(leaf, program->operands[op->operands]);
        narrow_rows_by_condition(leaf, program->operands[op->operands + 1]);
        return;
    }
    if (op->kind != VECTOR_COMPARE)
        return;
    const struct vector_op *column = &program->ops[program->operands[op->operands]];
    const struct vector_op *constant = &program->ops[program->operands[op->operands + 1]];
    ttr_store_column about;
    if (column->kind != VECTOR_COLUMN || constant->kind != VECTOR_CONSTANT ||
        constant->type != TTR_STORE_INT || constant->constant == TTR_STORE_NULL ||
        constant->constant == INT64_MAX ||
        !ttr_store_column_at(program->query->store, program->table, column->column, &about) ||
        !about.is_ordered || about.type != TTR_STORE_INT)
        return;
    const bool is_lower =
        op->op == SQL_OP_GT || op->op == SQL_OP_GE || op->op == SQL_OP_EQ || op->op == SQL_OP_IS;
    const bool is_upper =
        op->op == SQL_OP_LT || op->op == SQL_OP_LE || op->op == SQL_OP_EQ || op->op == SQL_OP_IS;
    const uint64_t first =
        query_lower_bound(program->query, program->table, column->column, constant->constant);
    const uint64_t last =
        query_lower_bound(program->query, program->table, column->column, constant->constant + 1);
    if (is_lower && first > leaf->from)
        leaf->from = first;
    if (is_upper && last < leaf->to)
        leaf->to = last;
}

static bool add_block(struct leaf *leaf, const struct leaf_block *block)
{
    if (block->n == 0)
        return true;
    return leaf->kind == LEAF_GROUP ? leaf_group_add(leaf, block) : leaf_rows_add(leaf, block);
}

static enum leaf_result run_blocks(struct leaf *leaf)
{
    struct vector_program *program = &leaf->program;
    const ttr_query *query = program->query->owner ? program->query->owner : program->query;
    struct leaf_block block = {.n = 0};
    const bool is_counted = is_count_of_rows(leaf);
    uint32_t blocks = 0;
    for (uint64_t row = leaf->from / VECTOR_ROWS * VECTOR_ROWS; row < leaf->to;
         row += VECTOR_ROWS) {
        const uint64_t left = program->rows - row;
        if (++blocks % PROGRESS_BLOCKS == 0 && query->progress &&
            !query->progress(query->user_data))
            return LEAF_STOPPED;
        vector_set_block(program, row, left < VECTOR_ROWS ? (uint32_t)left : VECTOR_ROWS);
        select_rows(leaf, &block, is_counted);
        if (!add_block(leaf, &block) || program->is_full)
            return LEAF_FULL;
        if (program->is_inexact)
            return LEAF_INEXACT;
        if (leaf->kind == LEAF_ROWS && leaf->orders_n == 0 && leaf->rows_n >= leaf->limit)
            break;
    }
    return LEAF_DONE;
}

enum leaf_result leaf_run(struct leaf *leaf)
{
    leaf->from = 0;
    leaf->to = leaf->program.rows;
    /* Without lag(), rows outside of the range of the conditions can be skipped. */
    for (uint32_t i = 0; i < leaf->conditions_n && !leaf->program.has_lag; i++)
        narrow_rows_by_condition(leaf, leaf->conditions[i]);
    for (uint32_t i = 0; i < leaf->program.ops_n; i++)
        if (leaf->program.ops[i].kind == VECTOR_LAG && leaf->program.ops[i].is_lead)
            prepare_lead(leaf, &leaf->program.ops[i]);
    if (leaf->program.is_full || (leaf->kind == LEAF_GROUP && !leaf_group_start(leaf)))
        return LEAF_FULL;
    const enum leaf_result result = run_blocks(leaf);
    if (result != LEAF_DONE)
        return result;
    if (leaf->kind == LEAF_ROWS)
        leaf_rows_finish(leaf);
    else if (!leaf_group_finish(leaf))
        return LEAF_FULL;
    return leaf->program.is_inexact ? LEAF_INEXACT : LEAF_DONE;
}
