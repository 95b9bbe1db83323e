/* A hash map with open addressing and linear probing. The key is a hash itself, so its low bits are
 * the slot number. Keys and values are in two arrays, which avoids padding. Removal moves following
 * entries back (backward shift) instead of leaving a tombstone. Left out: shrinking, except in
 * key_map_clear, and iteration. */
#include "base/key_map.h"

#include <string.h>

#define KEYMAP_SLOTS_MIN 16

/* Returns the key in the form that the table stores. 0 marks a free slot, so keys 0 and 1 are
 * treated as equal. */
static uint64_t stored_key(uint64_t key)
{
    return key ? key : 1;
}

/* Returns the slot that has a stored key, or else the free slot in which to insert it. The search
 * ends because the table always has a free slot. */
static size_t find_slot(const struct key_map *map, uint64_t key)
{
    size_t mask = map->slots_n - 1, at = (size_t)key & mask;
    while (map->keys[at] && map->keys[at] != key)
        at = (at + 1) & mask;
    return at;
}

static void free_slots(struct key_map *map)
{
    alloc_free(map->alloc, map->keys, map->slots_n, sizeof *map->keys);
    alloc_free(map->alloc, map->values, map->slots_n, sizeof *map->values);
}

/* Doubles the table if fewer than a quarter of the slots would stay free. Returns false if memory
 * is out. */
static bool reserve_slot(struct key_map *map)
{
    if (map->used < map->slots_n - map->slots_n / 4)
        return true;
    struct key_map grown = *map;
    grown.slots_n = map->slots_n ? map->slots_n * 2 : KEYMAP_SLOTS_MIN;
    grown.keys = alloc_zero(map->alloc, grown.slots_n, sizeof *grown.keys);
    grown.values = grown.keys ? alloc_zero(map->alloc, grown.slots_n, sizeof *grown.values) : NULL;
    if (!grown.values) {
        alloc_free(map->alloc, grown.keys, grown.slots_n, sizeof *grown.keys);
        return false;
    }
    for (size_t i = 0; i < map->slots_n; i++) {
        if (!map->keys[i])
            continue;
        size_t at = find_slot(&grown, map->keys[i]);
        grown.keys[at] = map->keys[i];
        grown.values[at] = map->values[i];
    }
    free_slots(map);
    *map = grown;
    return true;
}

void key_map_init(struct key_map *map, const struct alloc *alloc)
{
    *map = (struct key_map){.alloc = alloc};
}

void key_map_free(struct key_map *map)
{
    free_slots(map);
    key_map_init(map, map->alloc);
}

uint32_t *key_map_get(const struct key_map *map, uint64_t key)
{
    if (map->used == 0)
        return NULL;
    size_t at = find_slot(map, stored_key(key));
    return map->keys[at] ? &map->values[at] : NULL;
}

bool key_map_put(struct key_map *map, uint64_t key, uint32_t value)
{
    uint32_t *there = key_map_get(map, key);
    if (there) {
        *there = value;
        return true;
    }
    if (!reserve_slot(map))
        return false;
    size_t at = find_slot(map, stored_key(key));
    map->keys[at] = stored_key(key);
    map->values[at] = value;
    map->used++;
    return true;
}

bool key_map_remove(struct key_map *map, uint64_t key)
{
    if (!key_map_get(map, key))
        return false;
    size_t mask = map->slots_n - 1, hole = find_slot(map, stored_key(key));
    for (size_t at = (hole + 1) & mask; map->keys[at]; at = (at + 1) & mask) {
        size_t home = (size_t)map->keys[at] & mask;
        /* The entry moves into the freed slot only if its probe sequence includes that slot.
         * Otherwise a search would not find it. */
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            map->keys[hole] = map->keys[at];
            map->values[hole] = map->values[at];
            hole = at;
        }
    }
    map->keys[hole] = 0;
    map->used--;
    return true;
}

void key_map_clear(struct key_map *map)
{
    enum { SLOTS_KEPT = 1024, SLOTS_A_KEY = 16 };
    if (map->slots_n > SLOTS_KEPT && map->slots_n / SLOTS_A_KEY > map->used) {
        key_map_free(map);
        return;
    }
    if (map->used)
        memset(map->keys, 0, map->slots_n * sizeof *map->keys);
    map->used = 0;
}
