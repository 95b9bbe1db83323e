/* Bump allocator for objects with the same lifetime.  An allocation is valid until arena_reset or
 * arena_free; single allocations are not freed. Threads: one thread at a time, except for the
 * _shared functions. */
#ifndef TRACETTA_BASE_ARENA_H
#define TRACETTA_BASE_ARENA_H

#include <stdbool.h>

#include "base/alloc.h"

struct arena_block {
    _Alignas(8) struct arena_block
        /* the alignment makes the bytes after this header aligned to 8 on 32-bit machines, too */
        *next;
    size_t size, used; /* bytes after this header: in total, and allocated */
};

struct arena {
    const struct alloc *alloc;
    struct arena_block *first, *current; /* list of blocks: full ones, `current`, empty ones */
    size_t total;                        /* bytes obtained from `alloc`, headers included */
    size_t least;                        /* size of the first block in bytes; 0 = 4 KiB */
};

void arena_init(struct arena *arena, const struct alloc *alloc);

/* Initialises an arena with a first block of `least` bytes. Each later block is as large as all
 * before it. For programs with thousands of small arenas. */
void arena_init_small(struct arena *arena, const struct alloc *alloc, size_t least);

/* Allocates `size` bytes aligned to 8, not zeroed.  Returns NULL if memory runs out. */
TTR_MUST void *arena_alloc(struct arena *arena, size_t size);

/* Shrinks the last allocation to `size` bytes. Does nothing if it is alone in a large block. */
void arena_shrink_last(struct arena *arena, const void *last, size_t size);

/* Returns the address of the next `size` free bytes in the current block. Returns NULL if there are
 * fewer; the caller then uses arena_alloc. Bytes written there become an allocation by
 * arena_commit, which must be the next call on the arena. */
static inline char *arena_next_free(const struct arena *arena, size_t size)
{
    struct arena_block *block = arena->current;
    return block && block->size - block->used >= size ? (char *)(block + 1) + block->used : NULL;
}

static inline void arena_commit(struct arena *arena, size_t size)
{
    const size_t room = arena->current->size - arena->current->used,
                 taken = (size + 7) & ~(size_t)7;
    arena->current->used += taken < room ? taken : room;
}

/* Copies n bytes and appends a zero byte.  Returns NULL if memory runs out. */
TTR_MUST char *arena_copy(struct arena *arena, const void *bytes, size_t n);

/* Invalidates all allocations and keeps the blocks for reuse. */
void arena_reset(struct arena *arena);

void arena_free(struct arena *arena);

#endif
