/* A hash map from a pair of 64-bit words to a 32-bit value: (pid, tid) to thread, (stream,
 * substream) to track, or any id with b = 0. */
#ifndef TRACETTA_BASE_PAIRMAP_H
#define TRACETTA_BASE_PAIRMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

struct pairmap {
    const struct alloc *alloc;
    struct pairmap_slot *slots;
    size_t slots_n, used;
};

void pairmap_init(struct pairmap *map, const struct alloc *alloc);
void pairmap_free(struct pairmap *map);

/* Returns the address of the key's value, or NULL. The address is valid until the next put. */
uint32_t *pairmap_get(const struct pairmap *map, uint64_t a, uint64_t b);

/* Stores a value and replaces an old one. Returns false if memory is out. */
TTR_MUST bool pairmap_put(struct pairmap *map, uint64_t a, uint64_t b, uint32_t value);

/* Removes a key. Returns false if it was not in the map. */
bool pairmap_remove(struct pairmap *map, uint64_t a, uint64_t b);

#endif
