/* Places: a walk over a record by its types that tells where each value stands to the bit, for who
 * replaces or moves values.  Slow and plain; readers use layout/layout.h.
 *
 * Roots are walked one behind another; numbers met are remembered for lengths and selectors to
 * come, of this root or of a later one. Ownership: the types are borrowed.  Thread rule: one
 * thread. */
#ifndef TRACETTA_LAYOUT_BIT_OFFSETS_H
#define TRACETTA_LAYOUT_BIT_OFFSETS_H

#include "base/bits.h"
#include "base/keymap.h"
#include "model/type.h"

struct places {
    struct bits bits; /* base: the packet's start; at: where the next root begins; end */
    void *own;        /* for the functions */
    /* What comes next begins at a multiple of 1 << log2 bits.  May be NULL. */
    void (*align)(void *own, unsigned log2);
    /* A value of so many bits at a place; what it needs for itself (alignment, units) the type
     * says.  May be NULL. */
    void (*value)(void *own, const struct type *type, uint64_t at, uint64_t bits);
    struct keymap by_path; /* hash of root and names to `number` */
    uint64_t *number;
    size_t n, capacity;
    const struct alloc *alloc;
    unsigned depth;
    uint64_t spins; /* elements without bits so far */
    bool failed;    /* no memory */
};

void places_init(struct places *places, const struct alloc *alloc);
void places_free(struct places *places);

/* Forgets the numbers of records before. */
void places_reset(struct places *places);

/* Walks a root from bits.at on; false where it cannot be read, or memory is out. */
TTR_MUST bool places_walk(struct places *places, enum type_root root, const struct type *type);

/* Where a number of a type would begin, from a place on: its alignment and unit. */
uint64_t places_begin(const struct type *type, uint64_t at);

#endif
