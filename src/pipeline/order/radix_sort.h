/* Stable radix sort of 96-bit keys, fast on almost sorted input such as traces. Only keys move;
 * each refers to its item by index. */
#ifndef TRACETTA_PIPELINE_ORDER_RADIX_SORT_H
#define TRACETTA_PIPELINE_ORDER_RADIX_SORT_H

#include <stddef.h>
#include <stdint.h>

struct order_key {
    uint64_t rank;  /* first sort criterion */
    uint32_t minor; /* second sort criterion; equal keys keep their order */
    uint32_t index; /* index of the item that the key belongs to */
};

/* Maps a signed time to an unsigned number with the same order. */
static inline uint64_t order_time(int64_t time)
{
    return (uint64_t)time ^ (uint64_t)1 << 63;
}

/* Sorts n keys, n < 2^32.  `spare` is scratch space for n keys. */
void radix_sort_keys(struct order_key *keys, struct order_key *spare, size_t n);

#endif
