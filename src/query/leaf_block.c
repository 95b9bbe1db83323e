/* Values of the selected rows of a block, as vectors without gaps.  A leaf is a part of a statement
 * that the column scan runs instead of SQLite. */
#include <string.h>

#include "query/leaf.h"

const int64_t *leaf_evaluate(struct leaf *leaf, uint32_t op, const struct leaf_block *block,
                             int64_t buffer[VECTOR_ROWS])
{
    const int64_t *value = vector_evaluate(&leaf->program, op);
    if (block->is_all)
        return value;
    for (uint32_t k = 0; k < block->n; k++)
        buffer[k] = value[block->at[k]];
    return buffer;
}

void leaf_filter(struct leaf *leaf, uint32_t condition, const struct leaf_block *block,
                 const uint32_t *groups, struct leaf_block *kept, uint32_t kept_groups[VECTOR_ROWS])
{
    uint8_t mask[VECTOR_ROWS];
    uint32_t n = 0;
    memset(mask, 1, sizeof mask);
    vector_apply(&leaf->program, condition, mask);
    for (uint32_t k = 0; k < block->n; k++) {
        const uint16_t at = block->is_all ? (uint16_t)k : block->at[k];
        kept->at[n] = at;
        kept_groups[n] = groups[k];
        n += mask[at];
    }
    kept->n = n;
    kept->is_all = false;
}
