/* One 64-bit hash for tables (not for secrets): good mixing, a few cycles for short strings. */
#ifndef TRACETTA_BASE_HASH_H
#define TRACETTA_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/wide.h"

/* The same bytes give the same hash on every machine. */
uint64_t hash_bytes(const void *p, size_t n);

/* Folds the product of two words.  The factors go into the result once more: a factor of 0 would
 * swallow the other, and a hostile file could aim for that. */
static inline uint64_t hash_fold(uint64_t a, uint64_t b)
{
    uint128 product = (uint128)a * b;
    return ((uint64_t)product ^ a) ^ ((uint64_t)(product >> 64) ^ b);
}

/* Mixes two words; also good for one with b = 0. */
static inline uint64_t hash_pair(uint64_t a, uint64_t b)
{
    uint64_t mixed = hash_fold(a ^ 0x9e3779b97f4a7c15u, b ^ 0xe7037ed1a0b428dbu);
    return mixed ^ (mixed >> 29);
}

#endif
