/* See the header. */
#include "io/window_pool.h"

struct window_pool {
    const struct alloc *alloc;
    unsigned holders;
    uint8_t *bytes; /* NULL before the first was taken */
    size_t each, n, taken;
};

struct window_pool *window_pool_new(const struct alloc *alloc, size_t n, size_t each)
{
    struct window_pool *pool = alloc_zero(alloc, 1, sizeof *pool);
    if (pool)
        *pool = (struct window_pool){.alloc = alloc, .holders = 1, .each = each, .n = n};
    return pool;
}

struct window_pool *window_pool_hold(struct window_pool *pool)
{
    if (pool)
        pool->holders++;
    return pool;
}

void window_pool_drop(struct window_pool *pool)
{
    if (!pool || --pool->holders)
        return;
    alloc_free(pool->alloc, pool->bytes, pool->n, pool->each);
    alloc_free(pool->alloc, pool, 1, sizeof *pool);
}

uint8_t *window_pool_take(struct window_pool *pool, size_t each)
{
    if (!pool || pool->each != each || pool->taken == pool->n)
        return NULL;
    if (!pool->bytes)
        pool->bytes = alloc_large(pool->alloc, pool->n, each);
    return pool->bytes ? pool->bytes + each * pool->taken++ : NULL;
}

void window_pool_give(struct window_pool *pool, const uint8_t *window)
{
    pool->taken -= pool->taken && window == pool->bytes + pool->each * (pool->taken - 1);
}
