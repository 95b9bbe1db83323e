/* Size classes and free lists of the slab allocator, see the header. Left out: returning memory to
 * the system before slab_free. */
#include "base/slab.h"

#define LARGE_PAGE ((size_t)2 << 20)

/* Returns the size class of a block of n <= SLAB_MOST bytes and stores the block size of that
 * class. */
static inline size_t size_class(size_t n, size_t *bytes)
{
    if (n <= SLAB_FINE) {
        const size_t units = (n + SLAB_UNIT - 1) / SLAB_UNIT;
        *bytes = units * SLAB_UNIT;
        return units;
    }
    const unsigned log = 63 - (unsigned)__builtin_clzll((unsigned long long)n - 1),
                   /* SLAB_FINE is 2^11, so a step is an eighth of a power of two */
        step = log - 3;
    const size_t eighths = ((n - 1) >> step) + 1; /* 9 to 16 */
    *bytes = eighths << step;
    return SLAB_FINE / SLAB_UNIT + (size_t)(log - 11) * 8 + eighths - 8;
}

bool slab_is_same(size_t n, size_t other)
{
    size_t bytes, others;
    return n <= SLAB_MOST && other <= SLAB_MOST &&
           size_class(n, &bytes) == size_class(other, &others);
}

struct slab *slab_new(const struct alloc *alloc, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    const size_t size = (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE +
                        /* one page more, because the memory before the first page boundary is not
                         * used */
                        LARGE_PAGE;
    struct slab *slab = alloc_zero(alloc, 1, sizeof *slab);
    uint8_t *memory = slab ? alloc_large(alloc, size, 1) : NULL;
    if (!memory) {
        alloc_free(alloc, slab, 1, sizeof *slab);
        return NULL;
    }
    slab->alloc = alloc;
    slab->memory = memory;
    slab->size = size;
    slab->next = memory + ((0 - (uintptr_t)memory) & (LARGE_PAGE - 1));
    slab->end = slab->next + (size - LARGE_PAGE);
    return slab;
}

void slab_free(struct slab *slab)
{
    if (!slab)
        return;
    alloc_free(slab->alloc, slab->memory, slab->size, 1);
    alloc_free(slab->alloc, slab, 1, sizeof *slab);
}

void *slab_take(struct slab *slab, size_t n)
{
    size_t bytes;
    if (n > SLAB_MOST)
        return NULL;
    const size_t class = size_class(n, &bytes);
    void **free_list = slab->free_list[class];
    if (free_list) {
        slab->free_list[class] = *free_list;
    } else {
        if ((size_t)(slab->end - slab->next) < bytes)
            return NULL;
        free_list = (void **)(void *)slab->next;
        slab->next += bytes;
    }
    slab->blocks++;
    return free_list;
}

void slab_give(struct slab *slab, void *block, size_t n)
{
    size_t bytes;
    void **free_list = block;
    void **last = &slab->free_list[size_class(n, &bytes)];
    *free_list = *last;
    *last = free_list;
    slab->blocks--;
}
