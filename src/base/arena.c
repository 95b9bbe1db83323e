/* Bump allocator over a linked list of blocks. The list holds full blocks, then the current block,
 * then empty blocks that a reset kept:
 *
 *   first -> [full] -> [full] -> [current: used | free] -> [empty] -> [empty]
 *
 * The block size doubles with the arena up to 1 MiB, so small arenas stay small and large ones call
 * the allocator rarely.  A request larger than a quarter of the block size gets a block of its own.
 * Of an old and a new block, the one with more free bytes becomes current, so few bytes are wasted
 * whatever the request sizes are.  Left out: freeing single allocations, except the unused end of
 * the last one. */
#include "base/arena.h"

#include <stdint.h>
#include <string.h>

#define ARENA_BLOCK_MIN 4096
#define ARENA_BLOCK_MAX (1u << 20)

static size_t free_bytes(const struct arena_block *block)
{
    return block->size - block->used;
}

static void *bump_allocate(struct arena_block *block, size_t size)
{
    char *at = (char *)(block + 1) + block->used;
    block->used += size;
    return at;
}

/* Removes an empty block with at least `size` bytes from the list and returns it. Returns NULL if
 * there is none. */
static struct arena_block *unlink_empty(struct arena *arena, size_t size)
{
    if (!arena->current)
        return NULL;
    for (struct arena_block **link = &arena->current->next; *link; link = &(*link)->next) {
        struct arena_block *block = *link;
        if (free_bytes(block) >= size) {
            *link = block->next;
            return block;
        }
    }
    return NULL;
}

static struct arena_block *new_block(struct arena *arena, size_t size)
{
    const size_t least = arena->least ? arena->least : ARENA_BLOCK_MIN;
    size_t step = arena->total < least             ? least
                  : arena->total > ARENA_BLOCK_MAX ? ARENA_BLOCK_MAX
                                                   : arena->total;
    bool is_large = size > step || (arena->current && size > step / 4);
    size_t room = is_large ? size : step;
    struct arena_block *block = alloc_resize(arena->alloc, NULL, 0, sizeof *block + room, 1);
    if (!block)
        return NULL;
    *block = (struct arena_block){.size = room};
    arena->total += sizeof *block + room;
    return block;
}

/* Adds a block that has just received its first allocation to the list. If it has more free bytes
 * than the current block, it follows that block, to become current; else it goes to the full blocks
 * at the start. */
static void link_new_block(struct arena *arena, struct arena_block *block)
{
    bool is_roomier = arena->current && free_bytes(block) > free_bytes(arena->current);
    struct arena_block **link = is_roomier ? &arena->current->next : &arena->first;
    block->next = *link;
    *link = block;
    if (is_roomier || !arena->current)
        arena->current = block;
}

void arena_init(struct arena *arena, const struct alloc *alloc)
{
    *arena = (struct arena){.alloc = alloc};
}

void arena_init_small(struct arena *arena, const struct alloc *alloc, size_t least)
{
    *arena = (struct arena){.alloc = alloc, .least = least};
}

void *arena_alloc(struct arena *arena, size_t size)
{
    if (size > PTRDIFF_MAX - sizeof(struct arena_block) - 8)
        return NULL;
    size = (size + 7) & ~(size_t)7;
    if (arena->current && free_bytes(arena->current) >= size)
        return bump_allocate(arena->current, size);
    struct arena_block *block = unlink_empty(arena, size);
    if (!block)
        block = new_block(arena, size);
    if (!block)
        return NULL;
    void *at = bump_allocate(block, size);
    link_new_block(arena, block);
    return at;
}

void arena_shrink_last(struct arena *arena, const void *last, size_t size)
{
    struct arena_block *block = arena->current;
    const uintptr_t begin = (uintptr_t)(block + 1), at = (uintptr_t)last;
    /* otherwise `last` is alone in a large block, which is not shrunk */
    if (at >= begin && at - begin < block->used)
        block->used = at - begin + ((size + 7) & ~(size_t)7);
}

char *arena_copy(struct arena *arena, const void *bytes, size_t n)
{
    char *copy = n < SIZE_MAX ? arena_alloc(arena, n + 1) : NULL;
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
    arena_init_small(arena, arena->alloc, arena->least);
}
