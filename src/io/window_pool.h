/* Windows of many files in one block of memory, which the system can give in large pages: to touch
 * it costs a tenth of touching as much in small ones.
 *
 * A window is taken by the first fill of a source whose file is larger, and is its until the pool
 * goes; whoever finds none left has memory of its own. Ownership: the pool goes when the last who
 * holds it drops it.  Thread rule: one thread at a time. */
#ifndef TRACETTA_IO_WINDOW_POOL_H
#define TRACETTA_IO_WINDOW_POOL_H

#include <stdint.h>

#include "base/alloc.h"

struct window_pool;

/* A pool of up to n windows of `each` bytes that is held once; NULL when memory is out, or address
 * space limited, where what no window takes is missed. Their memory is asked for with the first of
 * them. */
struct window_pool *window_pool_new(const struct alloc *alloc, size_t n, size_t each);

/* Others that hold it, and the end of holding; NULL is fine for both. */
struct window_pool *window_pool_hold(struct window_pool *pool);
void window_pool_drop(struct window_pool *pool);

/* A window of `each` bytes, not zeroed; NULL when they are used up, memory is out, or those of the
 * pool have another size. */
uint8_t *window_pool_take(struct window_pool *pool, size_t each);

/* Gives a window back.  The next one taken is this, if it was the last to be taken: who reads
 * sources one after another needs one window. */
void window_pool_give(struct window_pool *pool, const uint8_t *window);

#endif
