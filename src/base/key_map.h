/* A hash map from a 64-bit key to a 32-bit value, for keys that are hashes already. It uses half
 * the memory of a pair_map. Writers use it to find definitions that they have written before. Keys
 * are only compared by their 64 bits: among n keys, the probability of a collision is below n^2 /
 * 2^64. */
#ifndef TRACETTA_BASE_KEY_MAP_H
#define TRACETTA_BASE_KEY_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

struct key_map {
    const struct alloc *alloc;
    uint64_t *keys; /* stored keys; 0 = free slot */
    uint32_t *values;
    size_t slots_n, used;
};

void key_map_init(struct key_map *map, const struct alloc *alloc);
void key_map_free(struct key_map *map);

/* Returns the address of a key's value, or NULL if the map lacks the key. The address is valid
 * until the next put. */
uint32_t *key_map_get(const struct key_map *map, uint64_t key);

/* Stores a value, replacing the old value of the key. Returns false if memory runs out. */
TTR_MUST bool key_map_put(struct key_map *map, uint64_t key, uint32_t value);

/* Removes a key. Returns false if it was not in the map. */
bool key_map_remove(struct key_map *map, uint64_t key);

/* Removes all keys. Keeps the memory for reuse, unless it is far more than these keys needed. */
void key_map_clear(struct key_map *map);

#endif
