/* A hash map from a 64-bit key to a 32-bit value, for keys that are hashes already. It uses half
 * the memory of a pairmap. Writers use it to find definitions that they have written before. Keys
 * are not compared beyond their 64 bits: among n things, the probability that any two collide is
 * below n^2 / 2^64. */
#ifndef TRACETTA_BASE_KEYMAP_H
#define TRACETTA_BASE_KEYMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

struct keymap {
    const struct alloc *alloc;
    uint64_t *keys; /* stored keys; 0 = free slot */
    uint32_t *values;
    size_t slots_n, used;
};

void keymap_init(struct keymap *map, const struct alloc *alloc);
void keymap_free(struct keymap *map);

/* Returns the address of the key's value, or NULL. The address is valid until the next put. */
uint32_t *keymap_get(const struct keymap *map, uint64_t key);

/* Stores a value and replaces an old one. Returns false if memory is out. */
TTR_MUST bool keymap_put(struct keymap *map, uint64_t key, uint32_t value);

/* Removes a key. Returns false if it was not in the map. */
bool keymap_remove(struct keymap *map, uint64_t key);

/* Removes all keys. Keeps the memory for reuse, unless it is much more than these keys needed. */
void keymap_clear(struct keymap *map);

#endif
