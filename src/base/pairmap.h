/* A map from two 64-bit words to a 32-bit value: (pid, tid) to thread, (stream, substream) to
 * track, and with b = 0 any id. */
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

/* Gives the value stored for the key, or NULL; the pointer lives until the next put. */
uint32_t *pairmap_get(const struct pairmap *map, uint64_t a, uint64_t b);

/* Stores a value, replacing; false when memory is out. */
TTR_MUST bool pairmap_put(struct pairmap *map, uint64_t a, uint64_t b, uint32_t value);

/* Takes a key out; false when it was not there. */
bool pairmap_remove(struct pairmap *map, uint64_t a, uint64_t b);

#endif
