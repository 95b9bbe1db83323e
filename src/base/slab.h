/* A slab allocator: small blocks from one large allocation in huge pages, with a free list per size
 * class. For callers that create hundreds of objects at once: the first access to memory in huge
 * pages costs a fifteenth of that in 4 KiB pages, and allocating or freeing a block about ten
 * instructions. The caller passes a block's size when it frees it, so blocks have no header. A
 * freed block is reused only for its own size class. Ownership: slab_free frees all blocks.
 * Threads: one thread at a time. */
#ifndef TRACETTA_BASE_SLAB_H
#define TRACETTA_BASE_SLAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

#define SLAB_UNIT ((size_t)16)
/* Largest block size in steps of SLAB_UNIT; larger classes are eighths of powers of two. */
#define SLAB_FINE ((size_t)2048)
/* Largest block size, in bytes. */
#define SLAB_MOST ((size_t)128 << 10)
#define SLAB_CLASSES (SLAB_FINE / SLAB_UNIT + 1 + (size_t)6 * 8)

struct slab {
    const struct alloc *alloc;
    uint8_t *memory, *next, *end; /* start of the memory, first unused byte, and its end */
    size_t size, blocks;          /* bytes of the memory; number of blocks in use */
    /* free list per class: the last freed block, which contains the address of the one before it */
    void *free_list[SLAB_CLASSES];
};

/* Creates a slab with room for `bytes` bytes. Returns NULL if memory is out. */
struct slab *slab_new(const struct alloc *alloc, size_t bytes);

/* Frees the slab and all its blocks. NULL is allowed. */
void slab_free(struct slab *slab);

/* Allocates n >= 1 bytes aligned to SLAB_UNIT, not zeroed. Returns NULL if n exceeds SLAB_MOST or
 * the slab is full. */
TTR_MUST void *slab_take(struct slab *slab, size_t n);

/* Frees a block; n is the size it was allocated with. */
void slab_give(struct slab *slab, void *block, size_t n);

/* Returns true if the block was allocated from this slab. */
static inline bool slab_has(const struct slab *slab, const void *block)
{
    return (uintptr_t)block - (uintptr_t)slab->memory < slab->size;
}

/* Returns true if blocks of both sizes have the same class, so that one can be resized in place. */
bool slab_is_same(size_t n, size_t other);

#endif
