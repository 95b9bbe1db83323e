/* Allocation of arrays through the allocator interface of alloc.h: `count * size` is checked for
 * overflow before the one resize callback is called. No other file calls malloc, realloc or free,
 * so a test can make any allocation fail. Left out: alignment above that of malloc, and memory
 * limits (a library context installs its own resize callback for those). */
#include "base/alloc.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <sys/mman.h>

/* Capacities in items that an array gets when it first grows. */
#define FIRST_CAPACITY 8
#define FIRST_CAPACITY_SMALL 2

/* Huge page size in bytes on x86-64 and most arm64 kernels. On kernels with larger huge pages,
 * madvise has less effect. */
#define LARGE_PAGE ((uintptr_t)2 << 20)

static void *default_resize(void *ctx, void *old, size_t old_size, size_t new_size)
{
    (void)ctx;
    (void)old_size;
    if (new_size == 0) {
        free(old);
        return NULL;
    }
    return realloc(old, new_size);
}

/* Computes count * size; returns false if it overflows. A product of 0 becomes 1, because for the
 * resize callback a new size of 0 means "free". */
static bool size_in_bytes(size_t count, size_t size, size_t *bytes)
{
    if (__builtin_mul_overflow(count, size, bytes) || *bytes > PTRDIFF_MAX)
        return false;
    *bytes += *bytes == 0;
    return true;
}

const struct alloc *alloc_default(void)
{
    static const struct alloc seam = {.resize = default_resize, .ctx = NULL};
    return &seam;
}

void *alloc_zero(const struct alloc *alloc, size_t count, size_t size)
{
    void *block = alloc_resize(alloc, NULL, 0, count, size);
    if (block)
        memset(block, 0, count * size);
    return block;
}

void *alloc_resize(const struct alloc *alloc, void *old, size_t old_count, size_t new_count,
                   size_t size)
{
    size_t old_bytes = 0, new_bytes;
    if (!size_in_bytes(new_count, size, &new_bytes) ||
        (old && !size_in_bytes(old_count, size, &old_bytes)))
        return NULL;
    return alloc->resize(alloc->ctx, old, old_bytes, new_bytes);
}

void *alloc_large(const struct alloc *alloc, size_t count, size_t size)
{
    char *block = alloc_resize(alloc, NULL, 0, count, size);
    const uintptr_t page = 4096, begin = ((uintptr_t)block + page - 1) & ~(page - 1),
                    end = ((uintptr_t)block + count * size) & ~(page - 1);
    if (block && begin < end && end - begin >= LARGE_PAGE)
        (void)madvise(block + (begin - (uintptr_t)block), end - begin,
                      MADV_HUGEPAGE); /* normal pages work too, so a failure is ignored */
    return block;
}

/* Required capacity, and capacity of the first growth, both in items. */
struct capacity_request {
    size_t need, first;
};

/* Grows the array to at least twice its capacity, so n appends cost O(n) copies. Returns false if
 * memory runs out. */
static _Bool grow_array(const struct alloc *alloc, void **items, size_t *capacity,
                        struct capacity_request capacity_request, size_t size)
{
    const size_t need = capacity_request.need, first = capacity_request.first;
    if (need <= *capacity && *items)
        return true;
    size_t grown = *capacity < first / 2       ? first
                   : *capacity <= SIZE_MAX / 2 ? *capacity * 2
                                               : SIZE_MAX;
    if (grown < need)
        grown = need;
    void *block = alloc_resize(alloc, *items, *capacity, grown, size);
    if (!block)
        return false;
    *items = block;
    *capacity = grown;
    return true;
}

_Bool alloc_reserve(const struct alloc *alloc, void **items, size_t *capacity, size_t need,
                    size_t size)
{
    return grow_array(alloc, items, capacity, (struct capacity_request){need, FIRST_CAPACITY},
                      size);
}

_Bool alloc_reserve_small(const struct alloc *alloc, void **items, size_t *capacity, size_t need,
                          size_t size)
{
    return grow_array(alloc, items, capacity, (struct capacity_request){need, FIRST_CAPACITY_SMALL},
                      size);
}

void alloc_free(const struct alloc *alloc, void *block, size_t count, size_t size)
{
    size_t bytes = 0;
    if (block && size_in_bytes(count, size, &bytes))
        (void)alloc->resize(alloc->ctx, block, bytes, 0);
}
