/* Windows for many files in one allocation, which the kernel can back with huge pages: first access
 * to it costs a tenth of that in 4 KiB pages. A source takes a window at its first fill, if its
 * file is larger than the window, and keeps it until the pool is freed. If none is left, the source
 * allocates a window itself. Ownership: the pool is reference-counted. Threads: one thread at a
 * time. */
#ifndef TRACETTA_IO_WINDOW_POOL_H
#define TRACETTA_IO_WINDOW_POOL_H

#include <stdint.h>

#include "base/alloc.h"

struct window_pool;

/* Creates a pool of n windows of `each` bytes with one reference. Allocates their memory when the
 * first is taken. Returns NULL if memory is out, or if address space is limited, because unused
 * windows would count against the limit. */
struct window_pool *window_pool_new(const struct alloc *alloc, size_t n, size_t each);

/* window_pool_hold adds a reference; window_pool_drop removes one and frees the pool after the
 * last. NULL is allowed for both. */
struct window_pool *window_pool_hold(struct window_pool *pool);
void window_pool_drop(struct window_pool *pool);

/* Returns a window of `each` bytes, not zeroed. Returns NULL if all are taken, memory is out, or
 * the pool's windows have another size. */
uint8_t *window_pool_take(struct window_pool *pool, size_t each);

/* Returns a window to the pool. Only the window taken last can be reused: that is enough for a
 * caller that reads sources one after another. */
void window_pool_give(struct window_pool *pool, const uint8_t *window);

#endif
