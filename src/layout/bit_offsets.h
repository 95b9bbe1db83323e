/* Bit offsets: visits all values of a record and reports the bit offset of each, for code that
 * overwrites or moves values. Simple and slow; readers use layout/layout.h.
 *
 * The roots of a record (enum type_root) are visited one after another. Numbers are remembered,
 * because they are lengths and selectors of this root and of later ones. Ownership: the types are
 * borrowed. Thread rule: one thread. */
#ifndef TRACETTA_LAYOUT_BIT_OFFSETS_H
#define TRACETTA_LAYOUT_BIT_OFFSETS_H

#include "base/bit_cursor.h"
#include "base/key_map.h"
#include "model/type.h"

struct bit_offsets {
    /* base: packet start; at: start of the next root, advanced by each call; end: content end */
    struct bits bits;
    void *ctx; /* passed to both callbacks */
    /* Called before padding to a multiple of 1 << log2 bits. May be NULL. */
    void (*align)(void *ctx, unsigned log2);
    /* Called for each value: `bits` bits at bit offset `at` from bits.base. May be NULL. */
    void (*value)(void *ctx, const struct type *type, uint64_t at, uint64_t bits);
    struct key_map by_path; /* hash of root and member names -> index in `number` */
    uint64_t *number;
    size_t n, capacity;
    const struct alloc *alloc;
    unsigned depth;
    /* array elements of size 0 so far; limited, since they consume time but no bits */
    uint64_t spins;
    bool failed; /* memory ran out; every later call fails */
};

void bit_offsets_init(struct bit_offsets *offsets, const struct alloc *alloc);
void bit_offsets_free(struct bit_offsets *offsets);

/* Drops the remembered numbers. Call before each record. */
void bit_offsets_reset(struct bit_offsets *offsets);

/* Visits one root, starting at bits.at. Returns false if the record is truncated or invalid, or if
 * memory runs out. */
TTR_MUST bool bit_offsets_visit_root(struct bit_offsets *offsets, enum type_root root,
                                     const struct type *type);

/* Returns the bit offset of a number of this type if the preceding value ends at `at`: pads to its
 * alignment and, for a gcc bitfield, to its storage unit. */
uint64_t bit_offsets_align_number(const struct type *type, uint64_t at);

#endif
