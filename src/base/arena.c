/* Bump allocation in a chain of blocks.  Blocks grow with the arena, so that small arenas stay small and large ones ask the
 * seam rarely.  A request large against its block gets a block of its own behind the current one, whose rest stays in use.
 * Left out: giving single pieces back. */
#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define ARENA_BLOCK_MIN 4096
#define ARENA_BLOCK_MAX (1u << 20)

struct arena_block {
    struct arena_block *next;
    size_t size, used; /* bytes behind this header */
};

static char *block_take(struct arena_block *block, size_t size)
{
    char *at = (char *)(block + 1) + block->used;
    block->used += size;
    return at;
}

static bool block_fits(const struct arena_block *block, size_t size)
{
    return block && block->size - block->used >= size;
}

/* Puts a new block behind the current one. */
static struct arena_block *add_block(struct arena *arena, size_t size)
{
    struct arena_block *block = alloc_resize(arena->alloc, NULL, 0, sizeof *block + size, 1);
    if (!block)
        return NULL;
    struct arena_block **link = arena->current ? &arena->current->next : &arena->first;
    *block = (struct arena_block){.next = *link, .size = size, .used = 0};
    *link = block;
    arena->total += sizeof *block + size;
    return block;
}

static void *take_from_new(struct arena *arena, size_t size)
{
    size_t step = arena->total < ARENA_BLOCK_MIN   ? ARENA_BLOCK_MIN
                  : arena->total > ARENA_BLOCK_MAX ? ARENA_BLOCK_MAX
                                                   : arena->total;
    bool is_large = arena->current && size > step / 4;
    struct arena_block *block = add_block(arena, is_large || size > step ? size : step);
    if (!block)
        return NULL;
    if (!is_large)
        arena->current = block;
    return block_take(block, size);
}

void arena_init(struct arena *arena, const struct alloc *alloc)
{
    *arena = (struct arena){.alloc = alloc};
}

void *arena_take(struct arena *arena, size_t size)
{
    if (size > PTRDIFF_MAX - sizeof(struct arena_block) - 8)
        return NULL;
    size = (size + 7) & ~(size_t)7;
    if (block_fits(arena->current, size))
        return block_take(arena->current, size);
    while (arena->current && arena->current->next) {
        if (block_fits(arena->current->next, size)) {
            arena->current = arena->current->next;
            return block_take(arena->current, size);
        }
        /* A block still empty is kept for smaller requests; full ones are passed for good. */
        if (arena->current->next->used == 0)
            break;
        arena->current = arena->current->next;
    }
    return take_from_new(arena, size);
}

char *arena_copy(struct arena *arena, const void *bytes, size_t n)
{
    char *copy = n < SIZE_MAX ? arena_take(arena, n + 1) : NULL;
    if (!copy)
        return NULL;
    if (n)
        memcpy(copy, bytes, n);
    copy[n] = '\0';
    return copy;
}

void arena_reset(struct arena *arena)
{
    for (struct arena_block *block = arena->first; block; block = block->next)
        block->used = 0;
    arena->current = arena->first;
}

void arena_free(struct arena *arena)
{
    for (struct arena_block *block = arena->first, *next; block; block = next) {
        next = block->next;
        alloc_free(arena->alloc, block, sizeof *block + block->size, 1);
    }
    arena_init(arena, arena->alloc);
}
