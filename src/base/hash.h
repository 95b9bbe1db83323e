/* One 64-bit hash for tables (not for secrets): good mixing, a few cycles for short strings. */
#ifndef TRACETTA_BASE_HASH_H
#define TRACETTA_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *p, size_t n);

/* Mixes two words; also good for one with b = 0. */
static inline uint64_t hash_pair(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xe7037ed1a0b428dbu);
    uint64_t mixed = (uint64_t)product ^ (uint64_t)(product >> 64);
    return mixed ^ (mixed >> 29);
}

#endif
