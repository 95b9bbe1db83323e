/* A map from 64-bit values to the numbers 0, 1, 2, ... in order of their first appearance.  Small
 * values, such as ids of strings, are indexes of an array; others are in a hash table. */
#ifndef TRACETTA_QUERY_LEAF_MAP_H
#define TRACETTA_QUERY_LEAF_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VALUE_MAP_FULL UINT32_MAX
#define VALUE_MAP_DIRECT (1u << 20) /* values below this limit are indexes of `direct` */

struct value_map {
    uint32_t *direct; /* indexed by small values: number of the value + 1; 0 = none */
    size_t direct_n;
    struct value_map_slot *slots;
    size_t slots_n, used;
    uint32_t n;      /* number of different values so far */
    uint32_t lowest; /* number of INT64_MIN, which is NULL, + 1; 0 = none */
};

void value_map_free(struct value_map *map);

/* Returns the number of a value, which is added if it is new.  Returns VALUE_MAP_FULL if memory is
 * exhausted. */
uint32_t value_map_add(struct value_map *map, int64_t value);

static inline uint32_t value_map_get(struct value_map *map, int64_t value)
{
    if ((uint64_t)value < map->direct_n && map->direct[value])
        return map->direct[value] - 1;
    if (value == INT64_MIN && map->lowest)
        return map->lowest - 1;
    return value_map_add(map, value);
}

#endif
