/* Bump allocation for things that die together.  Pointers live until arena_reset or arena_free. */
#ifndef TRACETTA_BASE_ARENA_H
#define TRACETTA_BASE_ARENA_H

#include <stdbool.h>

#include "base/alloc.h"

struct arena_block {
    _Alignas(8) struct arena_block
        *next; /* so that what follows the header is aligned too, where pointers are small */
    size_t size, used; /* bytes behind this header */
};

struct arena {
    const struct alloc *alloc;
    struct arena_block *first, *current; /* chain of blocks: full ones, current, empty ones */
    size_t total;                        /* bytes held from the seam */
    size_t least;                        /* of the first block; 0 = 4 KiB */
};

void arena_init(struct arena *arena, const struct alloc *alloc);

/* The same where there may be thousands of arenas with little in each: the first block has `least`
 * bytes, and those behind it double what there is. */
void arena_init_small(struct arena *arena, const struct alloc *alloc, size_t least);

/* Gives `size` bytes aligned to 8, not zeroed; NULL when memory is out. */
TTR_MUST void *arena_take(struct arena *arena, size_t size);

/* Gives back what the last arena_take has beyond `size` bytes, as far as that can be. */
void arena_trim(struct arena *arena, const void *last, size_t size);

/* Returns where the next arena_take will allocate, if the current block has `size` bytes left;
 * NULL = call arena_take.  arena_keep keeps bytes written there; call it before the next
 * allocation. */
static inline char *arena_spare(const struct arena *arena, size_t size)
{
    struct arena_block *block = arena->current;
    return block && block->size - block->used >= size ? (char *)(block + 1) + block->used : NULL;
}

static inline void arena_keep(struct arena *arena, size_t size)
{
    const size_t room = arena->current->size - arena->current->used,
                 taken = (size + 7) & ~(size_t)7;
    arena->current->used += taken < room ? taken : room;
}

/* Copies n bytes and adds a zero byte; NULL when memory is out. */
TTR_MUST char *arena_copy(struct arena *arena, const void *bytes, size_t n);

/* Forgets everything taken, keeps the blocks for reuse. */
void arena_reset(struct arena *arena);

void arena_free(struct arena *arena);

#endif
