/* Window functions lag(x) and lead(x) OVER (PARTITION BY key ORDER BY ts): the value of the row
 * before or after in the same partition.  Rows of the store are in order of time, so that a lag
 * needs only the last value of each partition.  A lead is computed for all rows before the first
 * block. */
#include <stdlib.h>
#include <string.h>

#include "query/leaf_vector.h"

#define NONE TTR_STORE_NULL

/* Makes room for a partition. */
static bool reserve_partition(struct vector_op *op, uint32_t partition)
{
    if (partition < op->last_capacity)
        return true;
    const size_t capacity = 2 * (size_t)partition + 64;
    int64_t *grown =
        partition == VALUE_MAP_FULL ? NULL : realloc(op->last, capacity * sizeof *grown);
    if (!grown)
        return false;
    for (size_t i = op->last_capacity; i < capacity; i++)
        grown[i] = NONE;
    op->last = grown;
    op->last_capacity = capacity;
    return true;
}

void lag_evaluate(struct vector_program *program, struct vector_op *op, const int64_t *value,
                  const int64_t *key)
{
    if (op->is_lead && op->all) {
        memcpy(op->values, op->all + program->row, program->n * sizeof *op->all);
        return;
    }
    for (uint32_t i = 0; i < program->n; i++) {
        op->values[i] = NONE;
        if (!program->mask[i])
            continue;
        const uint32_t partition = value_map_get(&op->partitions, key ? key[i] : 0);
        if (!reserve_partition(op, partition)) {
            program->is_full = true;
            return;
        }
        op->values[i] = op->last[partition];
        op->last[partition] = value[i];
    }
}

bool lag_start_leads(const struct vector_program *program, struct vector_op *op)
{
    const size_t size = (size_t)(program->rows + 1) * sizeof *op->all;
    op->all = query_fits(program->query, size) ? malloc(size) : NULL;
    for (uint64_t row = 0; op->all && row < program->rows; row++)
        op->all[row] = NONE;
    return op->all != NULL;
}

void lag_add_leads(struct vector_program *program, struct vector_op *op, const int64_t *value,
                   const int64_t *key)
{
    for (uint32_t i = 0; i < program->n; i++) {
        if (!program->mask[i])
            continue;
        const uint32_t partition = value_map_get(&op->partitions, key ? key[i] : 0);
        if (!reserve_partition(op, partition)) {
            program->is_full = true;
            return;
        }
        if (op->last[partition] != NONE)
            op->all[op->last[partition]] = value[i];
        op->last[partition] = (int64_t)(program->row + i);
    }
}

void lag_restart(struct vector_program *program)
{
    for (uint32_t i = 0; i < program->ops_n; i++) {
        struct vector_op *op = &program->ops[i];
        op->is_done = 0;
        value_map_free(&op->partitions);
        for (size_t k = 0; k < op->last_capacity; k++)
            op->last[k] = NONE;
    }
}
