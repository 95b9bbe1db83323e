/* Sorting by numbers: stable, and fast on what is nearly sorted already, as traces are.  Items stay
 * where they are; keys that name them by index are moved. */
#ifndef TRACETTA_PIPELINE_ORDER_RADIX_SORT_H
#define TRACETTA_PIPELINE_ORDER_RADIX_SORT_H

#include <stddef.h>
#include <stdint.h>

struct order_key {
    uint64_t rank;  /* sorted by this, */
    uint32_t minor; /* then this, then by where the key stood */
    uint32_t index; /* of the item */
};

/* Signed times as ranks: the same order, unsigned. */
static inline uint64_t order_time(int64_t time)
{
    return (uint64_t)time ^ (uint64_t)1 << 63;
}

/* Sorts n keys (fewer than 2^32); `spare` has room for as many and is left undefined. */
void order_keys(struct order_key *keys, struct order_key *spare, size_t n);

#endif
