/* Groups and aggregates of a leaf: a part of a statement that the column scan runs instead of
 * SQLite.
 *
 * A group has its number by first appearance (leaf_keys.c), and each aggregate has an array per
 * group.  Sums of doubles are added in the order of the rows, as SQLite does, so that they are
 * equal to the last bit. */
#include <stdlib.h>
#include <string.h>

#include "query/leaf.h"

#define NONE TTR_STORE_NULL

/* --- Groups --- */

static bool resize(void **list, size_t old, size_t n, size_t size)
{
    void *grown = realloc(*list, n * size);
    if (!grown)
        return false;
    memset((char *)grown + old * size, 0, (n - old) * size);
    *list = grown;
    return true;
}

/* Makes room for n groups. */
static bool reserve_groups(struct leaf *leaf, size_t n)
{
    const size_t old = leaf->groups_capacity, capacity = 2 * n + 64;
    if (n <= old)
        return true;
    if (!query_fits(leaf->program.query,
                    capacity * (leaf->keys_n + 3 * leaf->aggregates_n) * sizeof(int64_t)))
        return false;
    for (uint32_t i = 0; i < leaf->keys_n; i++)
        if (!resize((void **)&leaf->keys[i].values, old, capacity, sizeof(int64_t)))
            return false;
    for (size_t i = 0; i < leaf->totals_n; i++)
        if (!leaf_totals_reserve(&leaf->totals[i], old, capacity))
            return false;
    for (uint32_t i = 0; i < leaf->aggregates_n; i++) {
        struct leaf_aggregate *aggregate = &leaf->aggregates[i];
        if (aggregate->totals)
            continue;
        if (!resize((void **)&aggregate->count, old, capacity, sizeof(int64_t)) ||
            !resize((void **)&aggregate->integer, old, capacity, sizeof(int64_t)) ||
            !resize((void **)&aggregate->real, old, capacity, sizeof(double)))
            return false;
    }
    leaf->groups_capacity = capacity;
    return true;
}

/* Stores the keys of groups that are new in a block. */
static void store_new_keys(struct leaf *leaf, const struct leaf_block *block,
                           const uint32_t *groups)
{
    size_t known = leaf->groups_n;
    for (uint32_t k = 0; k < block->n; k++) {
        const uint32_t at = block->is_all ? k : block->at[k];
        if (groups[k] < known)
            continue;
        known = groups[k] + 1u;
        for (uint32_t i = 0; i < leaf->keys_n; i++)
            leaf->keys[i].values[groups[k]] = vector_evaluate(&leaf->program, leaf->keys[i].op)[at];
    }
}

/* Sets the group of each selected row. */
static bool number_groups(struct leaf *leaf, const struct leaf_block *block, uint32_t *groups)
{
    for (;;) {
        size_t n;
        if (!leaf_keys_number(leaf, block, groups, &n) || !reserve_groups(leaf, n))
            return false;
        if (n > leaf->groups_n)
            store_new_keys(leaf, block, groups);
        const uint32_t key = leaf_keys_find_conflict(leaf, block, groups);
        if (key == SQL_NONE) {
            leaf->groups_n = n;
            return true;
        }
        if (!leaf_keys_separate(leaf, key))
            return false;
    }
}

/* --- Aggregates --- */

static void sum_reals(struct leaf_aggregate *aggregate, const int64_t *value, uint32_t n,
                      const uint32_t *groups)
{
    for (uint32_t k = 0; k < n; k++) {
        if (value[k] == NONE)
            continue;
        aggregate->count[groups[k]]++;
        aggregate->real[groups[k]] += vector_bits_to_real(value[k]);
    }
}

/* Finds the extremes of doubles or texts. */
static void find_extremes(struct leaf *leaf, struct leaf_aggregate *aggregate, const int64_t *value,
                          uint32_t n, const uint32_t *groups)
{
    const int wanted = aggregate->function == LEAF_MIN ? -1 : 1;
    const uint8_t type = leaf->program.ops[aggregate->op].type;
    const ttr *t = leaf->program.query->t;
    for (uint32_t k = 0; k < n; k++) {
        const int64_t x = value[k];
        int64_t *best = &aggregate->integer[groups[k]];
        if (x != NONE &&
            (aggregate->count[groups[k]]++ == 0 || vector_compare(t, type, x, *best) == wanted))
            *best = x;
    }
}

static bool count_distinct(struct leaf_aggregate *aggregate, const int64_t *value, uint32_t n,
                           const uint32_t *groups)
{
    for (uint32_t k = 0; k < n; k++) {
        const int64_t x = value[k];
        if (x == NONE)
            continue;
        const uint32_t number = value_map_get(&aggregate->distinct, x);
        const uint32_t before = aggregate->distinct_in_group.n;
        const int64_t pair = (int64_t)((uint64_t)groups[k] << 32 | number);
        if (number == VALUE_MAP_FULL ||
            value_map_get(&aggregate->distinct_in_group, pair) == VALUE_MAP_FULL)
            return false;
        aggregate->count[groups[k]] += aggregate->distinct_in_group.n != before;
    }
    return true;
}

static bool aggregate_block(struct leaf *leaf, struct leaf_aggregate *aggregate,
                            const struct leaf_block *block, const uint32_t *groups)
{
    struct leaf_block kept;
    uint32_t kept_groups[VECTOR_ROWS];
    int64_t buffer[VECTOR_ROWS];
    if (aggregate->filter != SQL_NONE) {
        leaf_filter(leaf, aggregate->filter, block, groups, &kept, kept_groups);
        block = &kept;
        groups = kept_groups;
    }
    const int64_t *value = leaf_evaluate(leaf, aggregate->op, block, buffer);
    switch (aggregate->function) {
    case LEAF_COUNT_DISTINCT:
        return count_distinct(aggregate, value, block->n, groups);
    case LEAF_SUM:
    case LEAF_TOTAL:
    case LEAF_AVG:
        sum_reals(aggregate, value, block->n, groups);
        return true;
    default:
        find_extremes(leaf, aggregate, value, block->n, groups);
        return true;
    }
}

bool leaf_group_start(struct leaf *leaf)
{
    leaf_totals_start(leaf);
    if (leaf->keys_n > 0)
        return true;
    leaf->groups_n = 1;
    return reserve_groups(leaf, 1);
}

bool leaf_group_add(struct leaf *leaf, const struct leaf_block *block)
{
    uint32_t groups[VECTOR_ROWS];
    if (leaf->keys_n == 0)
        memset(groups, 0, sizeof groups);
    else if (!number_groups(leaf, block, groups))
        return false;
    for (size_t i = 0; i < leaf->totals_n; i++)
        leaf_totals_add(leaf, &leaf->totals[i], groups, block);
    for (uint32_t i = 0; i < leaf->aggregates_n; i++)
        if (leaf->aggregates[i].function != LEAF_PERCENTILE && !leaf->aggregates[i].totals &&
            !aggregate_block(leaf, &leaf->aggregates[i], block, groups))
            return false;
    for (size_t i = 0; i < leaf->values_n; i++)
        if (!leaf_values_add(leaf, &leaf->values[i], groups, block))
            return false;
    return true;
}

/* --- Order --- */

static int compare_groups(const struct leaf *leaf, uint32_t a, uint32_t b)
{
    int order = 0;
    for (uint32_t i = 0; i < leaf->keys_n && order == 0; i++) {
        const struct leaf_key *key = &leaf->keys[i];
        order = vector_compare(leaf->program.query->t, leaf->program.ops[key->op].type,
                               key->values[a], key->values[b]);
        order = key->is_descending ? -order : order;
    }
    return order;
}

/* Sorts groups by their keys, as GROUP BY of SQLite does, by merging runs of growing length. */
static bool sort_groups(struct leaf *leaf)
{
    const size_t n = leaf->groups_n;
    uint32_t *from = malloc((n + 1) * sizeof *from), *to = malloc((n + 1) * sizeof *to);
    if (!from || !to) {
        free(from);
        free(to);
        return false;
    }
    for (size_t i = 0; i < n; i++)
        from[i] = (uint32_t)i;
    for (size_t run = 1; run < n; run *= 2) {
        for (size_t start = 0; start < n; start += 2 * run) {
            const size_t middle = start + run < n ? start + run : n;
            const size_t end = start + 2 * run < n ? start + 2 * run : n;
            size_t a = start, b = middle;
            for (size_t i = start; i < end; i++) {
                const bool is_left =
                    b == end || (a < middle && compare_groups(leaf, from[a], from[b]) <= 0);
                to[i] = is_left ? from[a++] : from[b++];
            }
        }
        uint32_t *sorted = to;
        to = from;
        from = sorted;
    }
    free(to);
    leaf->order = from;
    return true;
}

bool leaf_group_finish(struct leaf *leaf)
{
    for (size_t i = 0; i < leaf->values_n; i++)
        if (!leaf_values_finish(leaf, &leaf->values[i]))
            return false;
    /* Compute percentiles here, since an inexact result makes SQLite run the statement. */
    for (size_t g = 0; leaf->values_n > 0 && g < leaf->groups_n; g++)
        for (uint32_t i = 0; i < leaf->aggregates_n; i++)
            if (leaf->aggregates[i].function == LEAF_PERCENTILE)
                leaf->aggregates[i].integer[g] = leaf_percentile(leaf, &leaf->aggregates[i], g);
    return !leaf->is_sorted || leaf->keys_n == 0 || sort_groups(leaf);
}

/* --- Results --- */

static int64_t aggregate_value(const struct leaf_aggregate *aggregate, size_t group)
{
    if (aggregate->totals)
        return leaf_total_value(aggregate, group);
    const int64_t count = aggregate->count[group];
    switch (aggregate->function) {
    case LEAF_COUNT_DISTINCT:
        return count;
    case LEAF_TOTAL:
        return vector_real_to_bits(aggregate->real[group]);
    case LEAF_AVG:
        return count ? vector_real_to_bits(aggregate->real[group] / (double)count) : NONE;
    case LEAF_SUM:
        return count ? vector_real_to_bits(aggregate->real[group]) : NONE;
    case LEAF_PERCENTILE:
        return aggregate->integer[group];
    default:
        return count ? aggregate->integer[group] : NONE;
    }
}

int64_t leaf_cell(struct leaf *leaf, size_t row, uint32_t column, uint8_t *type)
{
    const size_t group = leaf->order ? leaf->order[row] : row;
    if (column < leaf->keys_n) {
        *type = leaf->program.ops[leaf->keys[column].op].type;
        return leaf->keys[column].values[group];
    }
    const struct leaf_aggregate *aggregate = &leaf->aggregates[column - leaf->keys_n];
    *type = aggregate->type;
    return aggregate_value(aggregate, group);
}
