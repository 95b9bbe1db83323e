/* Numbers the groups of rows by the keys of a leaf, a part of a statement that the column scan runs
 * instead of SQLite.
 *
 * Some keys often follow from others, as the names of a thread follow from its number.  So the key
 * with the most values numbers the groups; each other key is compared with the value that its group
 * has.  A key that has two values in a group becomes independent: from then on, pairs of its value
 * and the number by the independent keys before it number the groups.
 *
 * Groups have their numbers by first appearance, whatever keys are independent. */
#include "query/leaf.h"

/* Returns a number for each pair, small for small numbers: the pairs in shells of equal maximum
 * (Szudzik's pairing function). */
static int64_t pair_numbers(uint32_t a, uint32_t b)
{
    const uint64_t x = a, y = b;
    return (int64_t)(x >= y ? x * x + x + y : y * y + x);
}

/* Replaces the values of a key by numbers.  Returns false if memory is exhausted. */
static bool number_values(struct leaf_key *key, const int64_t *value, uint32_t n, uint32_t *groups)
{
    uint32_t highest = 0;
    for (uint32_t k = 0; k < n; k++) {
        groups[k] = value_map_get(&key->map, value[k]);
        highest = groups[k] > highest ? groups[k] : highest;
    }
    return highest != VALUE_MAP_FULL;
}

/* Replaces the numbers by the earlier keys by those of pairs with the value of a key. */
static bool number_pairs(struct leaf_key *key, const int64_t *value, uint32_t n, uint32_t *groups)
{
    uint32_t highest = 0;
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t number = value_map_get(&key->map, value[k]);
        groups[k] = value_map_get(&key->pairs, pair_numbers(groups[k], number));
        highest = number > highest ? number : highest;
        highest = groups[k] > highest ? groups[k] : highest;
    }
    return highest != VALUE_MAP_FULL;
}

/* Makes the key with the most values in a block the first independent key. */
static bool choose_first_key(struct leaf *leaf, const struct leaf_block *block)
{
    int64_t buffer[VECTOR_ROWS];
    uint32_t numbers[VECTOR_ROWS];
    uint32_t best = 0;
    for (uint32_t i = 0; i < leaf->keys_n && leaf->keys_n > 1; i++) {
        if (!number_values(&leaf->keys[i], leaf_evaluate(leaf, leaf->keys[i].op, block, buffer),
                           block->n, numbers))
            return false;
        if (leaf->keys[i].map.n > leaf->keys[best].map.n)
            best = i;
    }
    leaf->keys[best].is_independent = true;
    leaf->independent[leaf->independent_n++] = best;
    return true;
}

bool leaf_keys_number(struct leaf *leaf, const struct leaf_block *block, uint32_t *groups,
                      size_t *groups_n)
{
    int64_t buffer[VECTOR_ROWS];
    if (leaf->independent_n == 0 && !choose_first_key(leaf, block))
        return false;
    for (uint32_t i = 0; i < leaf->independent_n; i++) {
        struct leaf_key *key = &leaf->keys[leaf->independent[i]];
        const int64_t *value = leaf_evaluate(leaf, key->op, block, buffer);
        if (i == 0 ? !number_values(key, value, block->n, groups)
                   : !number_pairs(key, value, block->n, groups))
            return false;
        *groups_n = i == 0 ? key->map.n : key->pairs.n;
    }
    return true;
}

uint32_t leaf_keys_find_conflict(struct leaf *leaf, const struct leaf_block *block,
                                 const uint32_t *groups)
{
    int64_t buffer[VECTOR_ROWS];
    for (uint32_t i = 0; i < leaf->keys_n; i++) {
        const int64_t *known = leaf->keys[i].values;
        int64_t difference = 0;
        if (leaf->keys[i].is_independent)
            continue;
        const int64_t *value = leaf_evaluate(leaf, leaf->keys[i].op, block, buffer);
        for (uint32_t k = 0; k < block->n; k++)
            difference |= value[k] ^ known[groups[k]];
        if (difference)
            return i;
    }
    return SQL_NONE;
}

bool leaf_keys_separate(struct leaf *leaf, uint32_t i)
{
    struct leaf_key *key = &leaf->keys[i];
    key->is_independent = true;
    leaf->independent[leaf->independent_n++] = i;
    for (uint32_t group = 0; group < leaf->groups_n; group++) {
        const uint32_t number = value_map_get(&key->map, key->values[group]);
        if (number == VALUE_MAP_FULL ||
            value_map_get(&key->pairs, pair_numbers(group, number)) != group)
            return false;
    }
    return true;
}
