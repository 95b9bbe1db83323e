/* A 64-bit hash for hash tables: well mixed, a few cycles for short strings. Not for cryptography:
 * it has no secret seed. */
#ifndef TRACETTA_BASE_HASH_H
#define TRACETTA_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/wide.h"

/* Returns the hash of n bytes, the same on machines of either byte order. */
uint64_t hash_bytes(const void *p, size_t n);

/* Multiplies two words and xors the halves of the product with the factors. Without the factors, an
 * operand of 0 would erase the other one, and a hostile file could exploit that. */
static inline uint64_t hash_fold(uint64_t a, uint64_t b)
{
    uint128 product = (uint128)a * b;
    return ((uint64_t)product ^ a) ^ ((uint64_t)(product >> 64) ^ b);
}

/* Hashes two words; with b = 0 it is a hash of one word. */
static inline uint64_t hash_pair(uint64_t a, uint64_t b)
{
    uint64_t mixed = hash_fold(a ^ 0x9e3779b97f4a7c15u, b ^ 0xe7037ed1a0b428dbu);
    return mixed ^ (mixed >> 29);
}

#endif
