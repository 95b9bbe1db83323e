/* Equal-sized windows in one allocation, handed out in order, see the header. */
#include "io/window_pool.h"

#define LARGE_PAGE ((uintptr_t)2 << 20)

struct window_pool {
    const struct alloc *alloc;
    unsigned references;
    uint8_t *memory; /* NULL until the first window is taken */
    uint8_t *bytes;  /* the first window in it */
    size_t window_size, n, taken;
};

/* Returns the number of windows to allocate memory for. If there are many small ones, that includes
 * one huge page more: the first window is aligned to a huge page. */
static size_t allocated_windows(const struct window_pool *pool)
{
    return pool->window_size >= LARGE_PAGE || pool->n < LARGE_PAGE / pool->window_size
               ? pool->n
               : pool->n + (LARGE_PAGE + pool->window_size - 1) / pool->window_size;
}

struct window_pool *window_pool_new(const struct alloc *alloc, size_t n, size_t window_size)
{
    struct window_pool *pool = alloc_is_limited() ? NULL : alloc_zero(alloc, 1, sizeof *pool);
    if (pool)
        *pool = (struct window_pool){
            .alloc = alloc, .references = 1, .window_size = window_size, .n = n};
    return pool;
}

struct window_pool *window_pool_hold(struct window_pool *pool)
{
    if (pool)
        pool->references++;
    return pool;
}

void window_pool_drop(struct window_pool *pool)
{
    if (!pool || --pool->references)
        return;
    alloc_free(pool->alloc, pool->memory, allocated_windows(pool), pool->window_size);
    alloc_free(pool->alloc, pool, 1, sizeof *pool);
}

uint8_t *window_pool_take(struct window_pool *pool, size_t window_size)
{
    if (!pool || pool->window_size != window_size || pool->taken == pool->n)
        return NULL;
    if (!pool->memory) {
        pool->memory = alloc_large(pool->alloc, allocated_windows(pool), window_size);
        const size_t to_page = (size_t)(0 - (uintptr_t)pool->memory) & (LARGE_PAGE - 1);
        pool->bytes = pool->memory && allocated_windows(pool) > pool->n ? pool->memory + to_page
                                                                        : pool->memory;
    }
    return pool->memory ? pool->bytes + window_size * pool->taken++ : NULL;
}

void window_pool_give(struct window_pool *pool, const uint8_t *window)
{
    pool->taken -= pool->taken && window == pool->bytes + pool->window_size * (pool->taken - 1);
}
