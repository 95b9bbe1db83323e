/* Bit offsets: a walk over a record that reports the bit offset of every value, for code that
 * overwrites or moves values. Simple and slow; readers use layout/layout.h.
 *
 * Roots are walked one after another. Numbers are remembered for the lengths and selectors of this
 * and later roots. Ownership: the types are borrowed. Thread rule: one thread. */
#ifndef TRACETTA_LAYOUT_BIT_OFFSETS_H
#define TRACETTA_LAYOUT_BIT_OFFSETS_H

#include "base/bit_cursor.h"
#include "base/key_map.h"
#include "model/type.h"

struct bit_offsets {
    /* base: start of the packet; at: start of the next root; end: end of the content */
    struct bits bits;
    void *ctx; /* context of the callbacks */
    /* Called before alignment to 1 << log2 bits. May be NULL. */
    void (*align)(void *ctx, unsigned log2);
    /* Called for a value of `bits` bits at bit offset `at`; `type` has its own alignment and unit.
     * May be NULL. */
    void (*value)(void *ctx, const struct type *type, uint64_t at, uint64_t bits);
    struct key_map by_path; /* index in `number` by the hash of root and names */
    uint64_t *number;
    size_t n, capacity;
    const struct alloc *alloc;
    unsigned depth;
    uint64_t spins; /* elements without bits so far */
    bool failed;    /* memory ran out */
};

void bit_offsets_init(struct bit_offsets *places, const struct alloc *alloc);
void bit_offsets_free(struct bit_offsets *places);

/* Forgets the numbers of earlier records. */
void bit_offsets_reset(struct bit_offsets *places);

/* Walks a root from bits.at on. Returns false if it is truncated or invalid, or memory runs out. */
TTR_MUST bool bit_offsets_walk(struct bit_offsets *places, enum type_root root,
                               const struct type *type);

/* Returns the bit offset at which a number of a type starts if the preceding value ends at `at`:
 * applies its alignment and unit. */
uint64_t bit_offsets_number_start(const struct type *type, uint64_t at);

#endif
