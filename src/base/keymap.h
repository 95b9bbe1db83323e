/* A map from a 64-bit key that is a hash already to a 32-bit value, at half the memory of a
 * pairmap: for the many things a writer must know again by what they are called.  Two things with
 * one key are one thing to the map: with n of them the chance that any two share a key is below n^2
 * / 2^64. */
#ifndef TRACETTA_BASE_KEYMAP_H
#define TRACETTA_BASE_KEYMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

struct keymap {
    const struct alloc *alloc;
    uint64_t *keys; /* 0 = free */
    uint32_t *values;
    size_t slots_n, used;
};

void keymap_init(struct keymap *map, const struct alloc *alloc);
void keymap_free(struct keymap *map);

/* Gives the value stored for the key, or NULL; the pointer lives until the next put. */
uint32_t *keymap_get(const struct keymap *map, uint64_t key);

/* Stores a value, replacing; false when memory is out. */
TTR_MUST bool keymap_put(struct keymap *map, uint64_t key, uint32_t value);

/* Takes a key out; false when it was not there. */
bool keymap_remove(struct keymap *map, uint64_t key);

/* Takes all out; memory stays for the next ones unless it is much more than these needed. */
void keymap_clear(struct keymap *map);

#endif
