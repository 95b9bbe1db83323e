/* Memory of a store with a limit: beyond it, large blocks are mapped from a temporary file.
 *
 * The allocator of the store (struct alloc) maps blocks of 1 MiB and more when the limit is
 * reached.  Their pages are in the file and are counted as memory of the process only while they
 * are in use: store_memory_step, which loops over rows call, gives them back from time to time. */
#ifndef TRACETTA_STORE_STORE_MEMORY_H
#define TRACETTA_STORE_STORE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/spill.h"

/* A mapped block. */
struct memory_region {
    char *p;
    size_t n;
    uint64_t offset; /* offset of the block in the temporary file */
};

struct store_memory {
    struct alloc alloc;   /* its ctx is this struct, which therefore must not move */
    uint64_t limit, used; /* bytes; limit 0 = none */
    struct spill file;
    struct memory_region *regions;
    size_t regions_n, regions_capacity;
    uint64_t touched; /* bytes of mapped blocks that may have been accessed since pages were last
                         returned to the kernel */
    ttr_error error;  /* error of the last failure to extend the file; status TTR_OK = none */
};

void store_memory_init(struct store_memory *memory, uint64_t limit);

/* Call this after all blocks have been freed. */
void store_memory_close(struct store_memory *memory);

/* Returns the memory that an allocator belongs to, or NULL. */
struct store_memory *store_memory_of(const struct alloc *alloc);

/* Returns all mapped pages to the kernel, which writes them to the file. */
void store_memory_release(struct store_memory *memory);

/* Counts n more bytes of blocks as accessed, and returns pages to the kernel if many were. Does
 * nothing for NULL. */
static inline void store_memory_step(struct store_memory *memory, size_t n)
{
    if (!memory || memory->regions_n == 0)
        return;
    memory->touched += n;
    if (memory->touched >= (uint64_t)4 << 20)
        store_memory_release(memory);
}

/* Counts an access that is `distance` items away from the last one: the kernel maps 64 KiB of the
 * file around the item. */
static inline void store_memory_step_far(struct store_memory *memory, size_t distance)
{
    if (distance > 16384)
        store_memory_step(memory, (size_t)64 << 10);
}

#endif
