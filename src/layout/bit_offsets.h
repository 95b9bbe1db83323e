/* Places: a walk over a record by its types that tells where each value stands to the bit, for who
 * replaces or moves values.  Slow and plain; readers use layout/layout.h.
 *
 * Roots are walked one behind another; numbers met are remembered for lengths and selectors to
 * come, of this root or of a later one. Ownership: the types are borrowed.  Thread rule: one
 * thread. */
#ifndef TRACETTA_LAYOUT_BIT_OFFSETS_H
#define TRACETTA_LAYOUT_BIT_OFFSETS_H

#include "base/bit_cursor.h"
#include "base/key_map.h"
#include "model/type.h"

struct bit_offsets {
    struct bits bits; /* base: the packet's start; at: where the next root begins; end */
    void *ctx;        /* for the functions */
    /* What comes next begins at a multiple of 1 << log2 bits.  May be NULL. */
    void (*align)(void *ctx, unsigned log2);
    /* A value of so many bits at a place; what it needs for itself (alignment, units) the type
     * says.  May be NULL. */
    void (*value)(void *ctx, const struct type *type, uint64_t at, uint64_t bits);
    struct key_map by_path; /* hash of root and names to `number` */
    uint64_t *number;
    size_t n, capacity;
    const struct alloc *alloc;
    unsigned depth;
    uint64_t spins; /* elements without bits so far */
    bool failed;    /* no memory */
};

void bit_offsets_init(struct bit_offsets *places, const struct alloc *alloc);
void bit_offsets_free(struct bit_offsets *places);

/* Forgets the numbers of records before. */
void bit_offsets_reset(struct bit_offsets *places);

/* Walks a root from bits.at on; false where it cannot be read, or memory is out. */
TTR_MUST bool bit_offsets_walk(struct bit_offsets *places, enum type_root root,
                               const struct type *type);

/* Where a number of a type would begin, from a place on: its alignment and unit. */
uint64_t bit_offsets_number_start(const struct type *type, uint64_t at);

#endif
