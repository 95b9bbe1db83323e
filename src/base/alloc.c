/* The allocator seam: overflow-checked item counts over one resize function.  The only file that
 * names malloc's family. Left out: alignment beyond that of malloc, and limits (a context wraps the
 * seam for those). */
#include "base/alloc.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <sys/mman.h>

/* The first size of a growing array, in items. */
#define ALLOC_FIRST 8
#define ALLOC_FEW 2

/* Of the usual machines; where large pages are larger still, the advice does less. */
#define LARGE_PAGE ((uintptr_t)2 << 20)

static void *default_resize(void *own, void *old, size_t old_size, size_t new_size)
{
    (void)own;
    (void)old_size;
    if (new_size == 0) {
        free(old);
        return NULL;
    }
    return realloc(old, new_size);
}

/* False on overflow.  Nothing takes a byte, because a size of 0 means "free" to the seam. */
static bool bytes_of(size_t count, size_t size, size_t *bytes)
{
    if (__builtin_mul_overflow(count, size, bytes) || *bytes > PTRDIFF_MAX)
        return false;
    *bytes += *bytes == 0;
    return true;
}

const struct alloc *alloc_default(void)
{
    static const struct alloc seam = {.resize = default_resize, .own = NULL};
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
    if (!bytes_of(new_count, size, &new_bytes) || (old && !bytes_of(old_count, size, &old_bytes)))
        return NULL;
    return alloc->resize(alloc->own, old, old_bytes, new_bytes);
}

void *alloc_large(const struct alloc *alloc, size_t count, size_t size)
{
    char *block = alloc_resize(alloc, NULL, 0, count, size);
    const uintptr_t page = 4096, begin = ((uintptr_t)block + page - 1) & ~(page - 1),
                    end = ((uintptr_t)block + count * size) & ~(page - 1);
    if (block && begin < end && end - begin >= LARGE_PAGE)
        (void)madvise(block + (begin - (uintptr_t)block), end - begin,
                      MADV_HUGEPAGE); /* only advice */
    return block;
}

/* How many items there must be room for, and how many there are at first. */
struct wanted {
    size_t need, first;
};

/* Makes room by doubling. */
static _Bool reserve(const struct alloc *alloc, void **items, size_t *capacity,
                     struct wanted wanted, size_t size)
{
    const size_t need = wanted.need, first = wanted.first;
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
    return reserve(alloc, items, capacity, (struct wanted){need, ALLOC_FIRST}, size);
}

_Bool alloc_reserve_few(const struct alloc *alloc, void **items, size_t *capacity, size_t need,
                        size_t size)
{
    return reserve(alloc, items, capacity, (struct wanted){need, ALLOC_FEW}, size);
}

void alloc_free(const struct alloc *alloc, void *block, size_t count, size_t size)
{
    size_t bytes = 0;
    if (block && bytes_of(count, size, &bytes))
        (void)alloc->resize(alloc->own, block, bytes, 0);
}
