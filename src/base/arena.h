/* Bump allocation for things that die together.  Pointers live until arena_reset or arena_free. */
#ifndef TRACETTA_BASE_ARENA_H
#define TRACETTA_BASE_ARENA_H

#include <stdatomic.h>

#include "base/alloc.h"

struct arena_block;

struct arena {
    const struct alloc *alloc;
    struct arena_block *first, *current; /* chain of blocks: full ones, current, empty ones */
    size_t total;                        /* bytes held from the seam */
    atomic_bool is_busy;                 /* for arena_take_shared */
};

void arena_init(struct arena *arena, const struct alloc *alloc);

/* Gives `size` bytes aligned to 8, not zeroed; NULL when memory is out. */
TTR_MUST void *arena_take(struct arena *arena, size_t size);

/* Gives back what the last arena_take has beyond `size` bytes, as far as that can be. */
void arena_trim(struct arena *arena, const void *last, size_t size);

/* arena_take and arena_trim where others may take at the same time, all of them so.  `had`: what was asked for; nothing is given back where another
 * took since. */
TTR_MUST void *arena_take_shared(struct arena *arena, size_t size);
void arena_trim_shared(struct arena *arena, const void *last, size_t had, size_t size);

/* Copies n bytes and adds a zero byte; NULL when memory is out. */
TTR_MUST char *arena_copy(struct arena *arena, const void *bytes, size_t n);

/* Forgets everything taken, keeps the blocks for reuse. */
void arena_reset(struct arena *arena);

void arena_free(struct arena *arena);

#endif
