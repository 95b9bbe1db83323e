/* A hash map with open addressing and linear probing. Removal moves following entries back
 * (backward shift) instead of leaving a tombstone, so a map of threads that start and exit stays
 * fast. Left out: shrinking and iteration. */
#include "base/pair_map.h"

#include "base/hash.h"

#define PAIRMAP_SLOTS_MIN 16

struct pair_map_slot {
    uint64_t a, b;
    uint32_t value;
    bool is_used;
};

/* Returns the slot that has a key, or else the free slot in which to insert it. The search ends
 * because the table always has a free slot. */
static struct pair_map_slot *find_slot(const struct pair_map *map, uint64_t a, uint64_t b)
{
    size_t mask = map->slots_n - 1;
    for (size_t at = (size_t)hash_pair(a, b) & mask;; at = (at + 1) & mask) {
        struct pair_map_slot *slot = &map->slots[at];
        if (!slot->is_used || (slot->a == a && slot->b == b))
            return slot;
    }
}

/* Doubles the table if fewer than a quarter of the slots would stay free. Returns false if memory
 * is out. */
static bool reserve_slot(struct pair_map *map)
{
    if (map->used < map->slots_n - map->slots_n / 4)
        return true;
    struct pair_map grown = *map;
    grown.slots_n = map->slots_n ? map->slots_n * 2 : PAIRMAP_SLOTS_MIN;
    grown.slots = alloc_zero(map->alloc, grown.slots_n, sizeof *grown.slots);
    if (!grown.slots)
        return false;
    for (size_t i = 0; i < map->slots_n; i++)
        if (map->slots[i].is_used)
            *find_slot(&grown, map->slots[i].a, map->slots[i].b) = map->slots[i];
    alloc_free(map->alloc, map->slots, map->slots_n, sizeof *map->slots);
    *map = grown;
    return true;
}

void pair_map_init(struct pair_map *map, const struct alloc *alloc)
{
    *map = (struct pair_map){.alloc = alloc};
}

void pair_map_free(struct pair_map *map)
{
    alloc_free(map->alloc, map->slots, map->slots_n, sizeof *map->slots);
    pair_map_init(map, map->alloc);
}

uint32_t *pair_map_get(const struct pair_map *map, uint64_t a, uint64_t b)
{
    if (map->used == 0)
        return NULL;
    struct pair_map_slot *slot = find_slot(map, a, b);
    return slot->is_used ? &slot->value : NULL;
}

bool pair_map_put(struct pair_map *map, uint64_t a, uint64_t b, uint32_t value)
{
    uint32_t *there = pair_map_get(map, a, b);
    if (there) {
        *there = value;
        return true;
    }
    if (!reserve_slot(map))
        return false;
    *find_slot(map, a, b) = (struct pair_map_slot){.a = a, .b = b, .value = value, .is_used = true};
    map->used++;
    return true;
}

bool pair_map_remove(struct pair_map *map, uint64_t a, uint64_t b)
{
    struct pair_map_slot *found = map->used ? find_slot(map, a, b) : NULL;
    if (!found || !found->is_used)
        return false;
    size_t mask = map->slots_n - 1, hole = (size_t)(found - map->slots);
    for (size_t at = (hole + 1) & mask; map->slots[at].is_used; at = (at + 1) & mask) {
        size_t home = (size_t)hash_pair(map->slots[at].a, map->slots[at].b) & mask;
        /* The entry moves into the freed slot only if its probe sequence includes that slot.
         * Otherwise a search would not find it. */
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            map->slots[hole] = map->slots[at];
            hole = at;
        }
    }
    map->slots[hole].is_used = false;
    map->used--;
    return true;
}
