/* The one allocator seam: every heap byte of the library goes through a `struct alloc`, so that a
 * test can make the n-th allocation fail and a context can refuse to grow past its limit.
 * Ownership: who allocates frees, with the same seam.  Thread rule: a seam is as thread-safe as its
 * `resize`; the default is. */
#ifndef TRACETTA_BASE_ALLOC_H
#define TRACETTA_BASE_ALLOC_H

#include <stddef.h>

#include <tracetta/error.h>

struct alloc {
    /* realloc by another name: old NULL allocates, new_size 0 frees and returns NULL.  Returns NULL
     * when it cannot. */
    void *(*resize)(void *own, void *old, size_t old_size, size_t new_size);
    void *own;
};

/* The C library's allocator. */
const struct alloc *alloc_default(void);

/* Gives `count` zeroed items of `size` bytes; NULL when memory is out or the product overflows.
 * Zero items are a block too, so that NULL always means a refusal. */
TTR_MUST void *alloc_zero(const struct alloc *alloc, size_t count, size_t size);

/* Grows or shrinks a block of items; the new part is not zeroed.  On NULL the old block is
 * untouched. */
TTR_MUST void *alloc_resize(const struct alloc *alloc, void *old, size_t old_count,
                            size_t new_count, size_t size);

/* Gives a block of items that are not zeroed, of which the system is asked to give memory in large
 * pages: for blocks of MiB that are used as a whole.  NULL as above. */
TTR_MUST void *alloc_large(const struct alloc *alloc, size_t count, size_t size);

/* Makes room for at least `need` items in a growing array (doubling); false when memory is out, the
 * array then being as it was. */
TTR_MUST _Bool alloc_reserve(const struct alloc *alloc, void **items, size_t *capacity, size_t need,
                             size_t size);

/* The same of an array that most often stays small, and of which there may be thousands: it begins
 * with two. */
TTR_MUST _Bool alloc_reserve_few(const struct alloc *alloc, void **items, size_t *capacity,
                                 size_t need, size_t size);

/* Frees a block of `count` items of `size` bytes; NULL is fine. */
void alloc_free(const struct alloc *alloc, void *block, size_t count, size_t size);

#endif
