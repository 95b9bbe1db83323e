/* A hash map from a pair of 64-bit words to a 32-bit value: (pid, tid) to thread, (stream,
 * substream) to track, or any id with b = 0. */
#ifndef TRACETTA_BASE_PAIR_MAP_H
#define TRACETTA_BASE_PAIR_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

struct pair_map {
    const struct alloc *alloc;
    struct pair_map_slot *slots;
    size_t slots_n, used;
};

void pair_map_init(struct pair_map *map, const struct alloc *alloc);
void pair_map_free(struct pair_map *map);

/* Returns the address of a key's value, or NULL if the map lacks the key. The address is valid
 * until the next put. */
uint32_t *pair_map_get(const struct pair_map *map, uint64_t a, uint64_t b);

/* Stores a value, replacing the old value of the key. Returns false if memory runs out. */
TTR_MUST bool pair_map_put(struct pair_map *map, uint64_t a, uint64_t b, uint32_t value);

/* Removes a key. Returns false if it was not in the map. */
bool pair_map_remove(struct pair_map *map, uint64_t a, uint64_t b);

#endif
