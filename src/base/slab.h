/* Small blocks out of a large one, for whoever makes hundreds of things at once: its memory comes
 * in large pages, so that to touch it for the first time costs a fifteenth of touching as much in
 * small ones, and to take a block or give it back some ten instructions.
 *
 * A block's size is told again when it is given back, so nothing stands before it.  What was given
 * back is for blocks of its size class alone. Ownership: all blocks go with the slab.  Thread rule:
 * one thread at a time. */
#ifndef TRACETTA_BASE_SLAB_H
#define TRACETTA_BASE_SLAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

#define SLAB_UNIT ((size_t)16)
#define SLAB_FINE                                                                                 \
    ((size_t)2048) /* up to here each multiple of a unit is a class, then an eighth of each power \
                      of two */
#define SLAB_MOST \
    ((size_t)128 << 10) /* bytes of a block: what grows by doubling where things are hundreds */
#define SLAB_CLASSES (SLAB_FINE / SLAB_UNIT + 1 + (size_t)6 * 8)

struct slab {
    const struct alloc *alloc;
    uint8_t *memory, *next, *end; /* next: as far as blocks were taken */
    size_t size, blocks;          /* of the memory; in use */
    void *given[SLAB_CLASSES];    /* the block of a class that was given back last, in which the one
                                     before it stands */
};

/* A slab with room for so many bytes; NULL when memory is out. */
struct slab *slab_new(const struct alloc *alloc, size_t bytes);

/* NULL is fine. */
void slab_free(struct slab *slab);

/* A block of n bytes, at least 1, aligned to SLAB_UNIT and not zeroed; NULL where that is too
 * large, or there is no room. */
TTR_MUST void *slab_take(struct slab *slab, size_t n);

/* Gives a block of n bytes back. */
void slab_give(struct slab *slab, void *block, size_t n);

/* Whether a block is of this slab. */
static inline bool slab_has(const struct slab *slab, const void *block)
{
    return (uintptr_t)block - (uintptr_t)slab->memory < slab->size;
}

/* Whether a block of n bytes has the room of one of another size. */
bool slab_is_same(size_t n, size_t other);

#endif
