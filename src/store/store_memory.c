/* Memory of a store with a limit; see the header.  The temporary file has no name. Space in it is
 * reserved before it is mapped, so that a full disk is an error and not a signal. */
#include "store/store_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "base/status.h"

#define MAPPED_MIN ((size_t)1 << 20) /* blocks of fewer bytes are not mapped */
#define PAGE ((size_t)4096)
#define COPY_PIECE ((size_t)1 << 20)

void store_memory_release(struct store_memory *memory)
{
    for (size_t i = 0; i < memory->regions_n; i++)
        (void)madvise(memory->regions[i].p, memory->regions[i].n, MADV_DONTNEED);
    memory->touched = 0;
}

static size_t round_to_pages(size_t n)
{
    return (n + PAGE - 1) & ~(PAGE - 1);
}

/* Extends the file by n bytes. Returns false, and sets memory->error, if it cannot grow. */
static bool extend_file(struct store_memory *memory, size_t n)
{
    static const char first[PAGE];
    struct spill *file = &memory->file;
    if (file->file < 0 && spill_append(file, first, sizeof first, &memory->error) != TTR_OK)
        return false;
    int reason = file->size_max && n > file->size_max - file->end ? ENOSPC : 0;
    if (!reason)
        reason = posix_fallocate(file->file, (off_t)file->end, (off_t)n);
    if (reason) {
        (void)fail_sys(&memory->error, reason, NO_OFFSET,
                       "the temporary file of the tables cannot grow past %llu bytes; set TMPDIR "
                       "to a folder with room, or allow more memory",
                       (unsigned long long)file->end);
        (void)memcpy(memory->error.format, "temporary", sizeof "temporary");
        return false;
    }
    file->end += n;
    return true;
}

/* Returns a mapped block of zeros, or NULL. */
static char *map_block(struct store_memory *memory, size_t n)
{
    const size_t size = round_to_pages(n);
    if (!alloc_reserve(alloc_default(), (void **)&memory->regions, &memory->regions_capacity,
                       memory->regions_n + 1, sizeof *memory->regions) ||
        !extend_file(memory, size))
        return NULL;
    const uint64_t offset = memory->file.end - size;
    char *p =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory->file.file, (off_t)offset);
    if (p == MAP_FAILED)
        return NULL;
    memory->regions[memory->regions_n++] = (struct memory_region){p, size, offset};
    return p;
}

/* Returns the region of a block, or NULL if the block is not mapped. */
static struct memory_region *find_region(const struct store_memory *memory, const void *block)
{
    for (size_t i = memory->regions_n; i > 0; i--)
        if (memory->regions[i - 1].p == block)
            return &memory->regions[i - 1];
    return NULL;
}

static void unmap_region(struct store_memory *memory, struct memory_region *region)
{
    (void)munmap(region->p, region->n);
    spill_punch_hole(&memory->file, region->offset, region->n);
    *region = memory->regions[--memory->regions_n];
}

/* Copies a block to a mapped one. Returns pages to the kernel meanwhile. */
static void copy_block(struct store_memory *memory, char *to, const char *from, size_t n)
{
    for (size_t at = 0; at < n; at += COPY_PIECE) {
        const size_t part = n - at < COPY_PIECE ? n - at : COPY_PIECE;
        memcpy(to + at, from + at, part);
        store_memory_step(memory, 2 * part);
    }
}

/* Implements the resize of struct alloc. */
static void *resize_block(void *ctx, void *old, size_t old_size, size_t new_size)
{
    struct store_memory *memory = ctx;
    const struct alloc *heap = alloc_default();
    struct memory_region *region = old && old_size >= MAPPED_MIN ? find_region(memory, old) : NULL;
    const bool is_over = memory->limit && memory->used + new_size > memory->limit + old_size;
    if (!region && !(is_over && new_size >= MAPPED_MIN)) {
        void *block = heap->resize(heap->ctx, old, old_size, new_size);
        if (block || new_size == 0)
            memory->used += new_size - old_size;
        return block;
    }
    char *block = new_size ? map_block(memory, new_size) : NULL;
    if (!block && new_size)
        return NULL;
    /* map_block may have moved the list of regions. */
    region = region ? find_region(memory, old) : NULL;
    if (block && old)
        copy_block(memory, block, old, old_size < new_size ? old_size : new_size);
    if (region) {
        unmap_region(memory, region);
    } else if (old) {
        (void)heap->resize(heap->ctx, old, old_size, 0);
        memory->used -= old_size;
    }
    return block;
}

struct store_memory *store_memory_of(const struct alloc *alloc)
{
    return alloc->resize == resize_block ? alloc->ctx : NULL;
}

void store_memory_init(struct store_memory *memory, uint64_t limit)
{
    *memory =
        (struct store_memory){.alloc = {.resize = resize_block, .ctx = memory}, .limit = limit};
    spill_init(&memory->file, 0);
}

void store_memory_close(struct store_memory *memory)
{
    alloc_free(alloc_default(), memory->regions, memory->regions_capacity, sizeof *memory->regions);
    spill_close(&memory->file);
}
