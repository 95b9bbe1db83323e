/* Hash maps that number the distinct values of a key (leaf_map.h). */
#include "query/leaf_map.h"

#include <stdlib.h>
#include <string.h>

struct value_map_slot {
    int64_t value;
    uint32_t number; /* number of the value + 1; 0 = empty slot */
};

void value_map_free(struct value_map *map)
{
    free(map->direct);
    free(map->slots);
    *map = (struct value_map){0};
}

static uint64_t hash(int64_t value)
{
    uint64_t bits = (uint64_t)value * UINT64_C(0x9e3779b97f4a7c15);
    return bits ^ bits >> 32;
}

/* Returns the slot of a value, or the empty slot for it. */
static struct value_map_slot *find_slot(const struct value_map *map, int64_t value)
{
    for (size_t i = hash(value) & (map->slots_n - 1);; i = (i + 1) & (map->slots_n - 1))
        if (!map->slots[i].number || map->slots[i].value == value)
            return &map->slots[i];
}

/* Doubles the hash table. */
static bool grow_slots(struct value_map *map)
{
    struct value_map old = *map;
    const size_t n = old.slots_n ? 2 * old.slots_n : 256;
    map->slots = calloc(n, sizeof *map->slots);
    if (!map->slots) {
        map->slots = old.slots;
        return false;
    }
    map->slots_n = n;
    for (size_t i = 0; i < old.slots_n; i++)
        if (old.slots[i].number)
            *find_slot(map, old.slots[i].value) = old.slots[i];
    free(old.slots);
    return true;
}

static bool grow_direct(struct value_map *map, size_t need)
{
    size_t n = map->direct_n ? map->direct_n : 256;
    while (n < need)
        n *= 2;
    uint32_t *grown = realloc(map->direct, n * sizeof *grown);
    if (!grown)
        return false;
    memset(grown + map->direct_n, 0, (n - map->direct_n) * sizeof *grown);
    map->direct = grown;
    map->direct_n = n;
    return true;
}

uint32_t value_map_add(struct value_map *map, int64_t value)
{
    if (map->n == VALUE_MAP_FULL - 1)
        return VALUE_MAP_FULL;
    if (value == INT64_MIN) {
        if (!map->lowest)
            map->lowest = ++map->n;
        return map->lowest - 1;
    }
    if ((uint64_t)value < VALUE_MAP_DIRECT) {
        if ((uint64_t)value >= map->direct_n && !grow_direct(map, (size_t)value + 1))
            return VALUE_MAP_FULL;
        if (!map->direct[value])
            map->direct[value] = ++map->n;
        return map->direct[value] - 1;
    }
    if (2 * (map->used + 1) > map->slots_n && !grow_slots(map))
        return VALUE_MAP_FULL;
    struct value_map_slot *slot = find_slot(map, value);
    if (!slot->number) {
        *slot = (struct value_map_slot){value, ++map->n};
        map->used++;
    }
    return slot->number - 1;
}
