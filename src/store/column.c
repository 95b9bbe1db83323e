/* Columns of 64-bit values in blocks of 1,024 rows, compressed by frame of reference: a block
 * stores the smallest value, and for each row the difference in 0, 1, 2, 4 or 8 bytes. */
#include <string.h>

#include "store/store.h"

#define CHUNK_FIRST ((size_t)64 << 10)
#define CHUNK_MAX ((size_t)4 << 20)

struct pool_chunk {
    struct pool_chunk *next;
    size_t n; /* bytes of the chunk, including this header */
};

void block_pool_init(struct block_pool *pool, const struct alloc *alloc)
{
    *pool = (struct block_pool){.alloc = alloc, .memory = store_memory_of(alloc)};
}

void block_pool_free(struct block_pool *pool)
{
    while (pool->chunks) {
        struct pool_chunk *next = pool->chunks->next;
        alloc_free(pool->alloc, pool->chunks, pool->chunks->n, 1);
        pool->chunks = next;
    }
}

/* Chunks grow up to a size that the kernel can map with huge pages.  Larger blocks have a chunk of
 * their own. */
void *block_pool_allocate(struct block_pool *pool, size_t n)
{
    struct pool_chunk *chunk = pool->chunks;
    if (!chunk || chunk->n - pool->used < n) {
        size_t grown = !chunk ? CHUNK_FIRST : chunk->n < CHUNK_MAX ? 2 * chunk->n : CHUNK_MAX;
        if (grown - sizeof *chunk < n)
            grown = n + sizeof *chunk;
        struct pool_chunk *added = alloc_large(pool->alloc, grown, 1);
        if (!added)
            return NULL;
        *added = (struct pool_chunk){.next = chunk, .n = grown};
        pool->chunks = chunk = added;
        pool->used = sizeof *added;
    }
    void *block = (char *)chunk + pool->used;
    pool->used += n;
    return block;
}

void column_init(struct column *column, struct block_pool *pool)
{
    *column = (struct column){.pool = pool};
}

void column_free(struct column *column)
{
    const struct alloc *alloc = column->pool ? column->pool->alloc : NULL;
    if (!alloc)
        return;
    alloc_free(alloc, column->blocks, column->blocks_capacity, sizeof *column->blocks);
    alloc_free(alloc, column->tail, column->tail ? STORE_BLOCK : 0, sizeof *column->tail);
    *column = (struct column){.pool = column->pool};
}

static uint8_t get_number_width(uint64_t range)
{
    return range == 0            ? 0
           : range <= UINT8_MAX  ? 1
           : range <= UINT16_MAX ? 2
           : range <= UINT32_MAX ? 4
                                 : 8;
}

/* Stores each value minus the base of the block, plus 1 if the block has NULLs; NULL is 0. */
#define ENCODE(type)                                                                      \
    do {                                                                                  \
        type *to = block->data;                                                           \
        for (size_t i = 0; i < STORE_BLOCK; i++)                                          \
            to[i] = values[i] == TTR_STORE_NULL ? 0 : (type)((uint64_t)values[i] - base); \
    } while (0)

static void encode_block(const struct column_block *block, const int64_t *values)
{
    const uint64_t base = (uint64_t)block->base - block->has_null;
    switch (block->width) {
    case 0:
        break;
    case 1:
        ENCODE(uint8_t);
        break;
    case 2:
        ENCODE(uint16_t);
        break;
    case 4:
        ENCODE(uint32_t);
        break;
    default:
        ENCODE(uint64_t);
    }
}

/* Compresses the full tail. Returns false if memory is exhausted. */
static bool add_block(struct column *column)
{
    int64_t low = INT64_MAX, high = INT64_MIN;
    bool has_null = false;
    for (size_t i = 0; i < STORE_BLOCK; i++) {
        const int64_t value = column->tail[i];
        has_null |= value == TTR_STORE_NULL;
        if (value != TTR_STORE_NULL && value < low)
            low = value;
        if (value != TTR_STORE_NULL && value > high)
            high = value;
    }
    const bool is_empty = low > high;
    const uint64_t range = is_empty ? 0 : (uint64_t)high - (uint64_t)low + has_null;
    struct column_block block = {
        .base = is_empty ? 0 : low, .width = get_number_width(range), .has_null = has_null};
    if (!alloc_reserve(column->pool->alloc, (void **)&column->blocks, &column->blocks_capacity,
                       column->blocks_n + 1, sizeof *column->blocks))
        return false;
    const size_t bytes = (size_t)STORE_BLOCK * block.width;
    if (bytes && !(block.data = block_pool_allocate(column->pool, bytes)))
        return false;
    encode_block(&block, column->tail);
    column->blocks[column->blocks_n++] = block;
    column->tail_n = 0;
    return true;
}

bool column_make_room(struct column *column)
{
    if (column->tail_n == STORE_BLOCK)
        return add_block(column);
    column->tail = alloc_zero(column->pool->alloc, STORE_BLOCK, sizeof *column->tail);
    return column->tail != NULL;
}

void column_add(struct column *column, int64_t number)
{
    for (size_t i = 0; i < column->blocks_n; i++)
        column->blocks[i].base += number;
    for (size_t i = 0; i < column->tail_n; i++)
        column->tail[i] += number;
}

#define DECODE(type)                                                                        \
    do {                                                                                    \
        const type *numbers = (const type *)block->data + from;                             \
        if (block->has_null)                                                                \
            for (size_t i = 0; i < n; i++)                                                  \
                values[i] = numbers[i] ? (int64_t)(base + numbers[i] - 1) : TTR_STORE_NULL; \
        else                                                                                \
            for (size_t i = 0; i < n; i++)                                                  \
                values[i] = (int64_t)(base + numbers[i]);                                   \
    } while (0)

/* Decodes a part of a block. */
static void read_block(const struct column_block *block, size_t from, size_t n, int64_t *values)
{
    const uint64_t base = (uint64_t)block->base;
    const int64_t only = block->has_null ? TTR_STORE_NULL : block->base;
    switch (block->width) {
    case 0:
        for (size_t i = 0; i < n; i++)
            values[i] = only;
        break;
    case 1:
        DECODE(uint8_t);
        break;
    case 2:
        DECODE(uint16_t);
        break;
    case 4:
        DECODE(uint32_t);
        break;
    default:
        DECODE(uint64_t);
    }
}

void column_read(const struct column *column, uint64_t row, size_t n, int64_t *values)
{
    store_memory_step(column->pool->memory, n * sizeof *values);
    while (n > 0) {
        const size_t i = (size_t)(row / STORE_BLOCK), from = (size_t)(row % STORE_BLOCK);
        const bool is_tail = i == column->blocks_n;
        const size_t have = is_tail ? column->tail_n : i < column->blocks_n ? STORE_BLOCK : 0;
        size_t part = from < have ? have - from : 0;
        if (part == 0)
            break;
        if (part > n)
            part = n;
        if (is_tail)
            memcpy(values, column->tail + from, part * sizeof *values);
        else
            read_block(&column->blocks[i], from, part, values);
        values += part;
        row += part;
        n -= part;
    }
    for (size_t i = 0; i < n; i++)
        values[i] = TTR_STORE_NULL;
}
