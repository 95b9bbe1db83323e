/* The allocator interface. All heap memory of the library is allocated through a `struct alloc`, so
 * that a test can make the n-th allocation fail and a library context can enforce a memory limit.
 * Ownership: the caller that allocates also frees, through the same `struct alloc`.  Threads: a
 * `struct alloc` is as thread-safe as its `resize`; the default one is thread-safe. */
#ifndef TRACETTA_BASE_ALLOC_H
#define TRACETTA_BASE_ALLOC_H

#include <stddef.h>

#include <tracetta/error.h>

struct alloc {
    /* Works as realloc: old == NULL allocates, new_size == 0 frees and returns NULL.  Returns NULL
     * if the memory is not available; the old block is unchanged then. */
    void *(*resize)(void *ctx, void *old, size_t old_size, size_t new_size);
    void *ctx;
};

/* Returns the allocator that uses realloc and free.  It is constant and never freed. */
const struct alloc *alloc_default(void);

/* Allocates `count` zeroed items of `size` bytes.  Returns NULL if memory runs out or the product
 * overflows.  0 items allocate a block too, so NULL always means failure. */
TTR_MUST void *alloc_zero(const struct alloc *alloc, size_t count, size_t size);

/* Resizes a block of items.  New items are not zeroed.  On NULL the old block is unchanged. */
TTR_MUST void *alloc_resize(const struct alloc *alloc, void *old, size_t old_count,
                            size_t new_count, size_t size);

/* Allocates items that are not zeroed, with huge pages if the kernel has them. For blocks of
 * several MiB that are used completely. Fails like alloc_zero. */
TTR_MUST void *alloc_large(const struct alloc *alloc, size_t count, size_t size);

/* Grows an array to a capacity of at least `need` items, by doubling.  Returns false if memory is
 * out; the array is unchanged then. */
TTR_MUST _Bool alloc_reserve(const struct alloc *alloc, void **items, size_t *capacity, size_t need,
                             size_t size);

/* Like alloc_reserve, but the first capacity is 2 items: for arrays that exist in thousands and
 * usually stay small. */
TTR_MUST _Bool alloc_reserve_small(const struct alloc *alloc, void **items, size_t *capacity,
                                   size_t need, size_t size);

/* Frees a block. `count` and `size` must be the values that it was allocated with. NULL is
 * allowed. */
void alloc_free(const struct alloc *alloc, void *block, size_t count, size_t size);

#endif
