/* Columns of 64-bit values in blocks of 1,024 rows, compressed by frame of reference: a block
 * stores the smallest value, and for each row the difference in 0, 1, 2, 4 or 8 bytes. */
#include <string.h>

#include "store/column.h"

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
    pool->sequence = NULL;
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
    *column = (struct column){.pool = pool, .tail_rows = STORE_BLOCK};
}

void column_init_changing(struct column *column, struct block_pool *pool)
{
    *column = (struct column){.pool = pool, .tail_rows = COLUMN_CHANGING_TAIL};
}

void column_free(struct column *column)
{
    const struct alloc *alloc = column->pool ? column->pool->alloc : NULL;
    if (!alloc)
        return;
    alloc_free(alloc, column->blocks, column->blocks_capacity, sizeof *column->blocks);
    alloc_free(alloc, column->tail, column->tail ? column->tail_rows : 0, sizeof *column->tail);
    column_init(column, column->pool);
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
#define ENCODE(type)                                                                          \
    do {                                                                                      \
        type *to = block->data;                                                               \
        if (!block->has_null)                                                                 \
            for (size_t i = 0; i < STORE_BLOCK; i++)                                          \
                to[i] = (type)((uint64_t)values[i] - base);                                   \
        else                                                                                  \
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

/* A range of numbers without NULL; empty if low > high. */
struct range {
    int64_t low, high;
};

/* Extends a range by the values of a block. Returns true if one of them is NULL. */
static bool extend_range(struct range *range, const int64_t *values)
{
    int64_t low = range->low, high = range->high;
    for (size_t i = 0; i < STORE_BLOCK; i++) {
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    const bool has_null = low == TTR_STORE_NULL; /* the lowest number */
    if (has_null) {
        low = range->low;
        for (size_t i = 0; i < STORE_BLOCK; i++)
            low = values[i] != TTR_STORE_NULL && values[i] < low ? values[i] : low;
    }
    *range = (struct range){low, high};
    return has_null;
}

/* Chooses the base and width of a block that has the values and at least a range, and room for
 * them. The room that the block has is kept if it is enough. Returns false if memory is exhausted.
 */
static bool shape_block(struct block_pool *pool, struct column_block *block, const int64_t *values,
                        struct range range)
{
    const uint8_t old_width = block->width;
    const bool has_null = extend_range(&range, values);
    const bool is_empty = range.low > range.high;
    const uint64_t most = is_empty ? 0 : (uint64_t)range.high - (uint64_t)range.low + has_null;
    block->base = is_empty ? 0 : range.low;
    block->has_null = has_null;
    block->width = get_number_width(most);
    if (block->width > old_width)
        block->data = block_pool_allocate(pool, (size_t)STORE_BLOCK * block->width);
    return block->data || block->width == 0;
}

/* Returns the range for which a new block has room. Values of a column that changes are lengths: -1
 * becomes any number, the others decrease. */
static struct range get_expected_range(const struct column *column, const int64_t *values)
{
    bool is_open = false;
    if (column->tail_rows == STORE_BLOCK)
        return (struct range){INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < STORE_BLOCK && !is_open; i++)
        is_open = values[i] == -1;
    return is_open ? (struct range){-1, UINT32_MAX - 1} : (struct range){0, 0};
}

/* Compresses 1,024 values, which follow those in blocks. Returns false if memory is exhausted. */
static bool add_block(struct column *column, const int64_t *values)
{
    struct column_block block = {0};
    if (!alloc_reserve(column->pool->alloc, (void **)&column->blocks, &column->blocks_capacity,
                       column->blocks_n + 1, sizeof *column->blocks) ||
        !shape_block(column->pool, &block, values, get_expected_range(column, values)))
        return false;
    encode_block(&block, values);
    column->blocks[column->blocks_n++] = block;
    return true;
}

/* Compresses the first block of the tail. */
static bool add_block_of_tail(struct column *column)
{
    const size_t row = column->blocks_n * STORE_BLOCK;
    if (!add_block(column, column->tail + (row & (column->tail_rows - 1))))
        return false;
    column->tail_n -= STORE_BLOCK;
    return true;
}

bool column_make_room(struct column *column)
{
    if (column->tail_n == column->tail_rows)
        return add_block_of_tail(column);
    if (!column->tail)
        column->tail = alloc_zero(column->pool->alloc, column->tail_rows, sizeof *column->tail);
    return column->tail != NULL;
}

int64_t *column_extend(struct column *column, uint32_t *n)
{
    if ((column->tail_n == STORE_BLOCK || !column->tail) && !column_make_room(column))
        return NULL;
    const uint32_t room = STORE_BLOCK - column->tail_n;
    int64_t *const to = column->tail + column->tail_n;
    *n = *n < room ? *n : room;
    column->tail_n += *n;
    column->rows += *n;
    return to;
}

bool column_append_all(struct column *column, const int64_t *values, size_t n)
{
    while (n > 0 && !column->is_unwanted) {
        size_t part = n < STORE_BLOCK ? n : STORE_BLOCK;
        const bool is_full = column->tail_n == column->tail_rows;
        if ((is_full || !column->tail) && !column_make_room(column))
            return false;
        if (column->tail_n == 0 && part == STORE_BLOCK && column->tail_rows == STORE_BLOCK) {
            if (!add_block(column, values))
                return false;
        } else {
            const size_t at = column->rows & (column->tail_rows - 1),
                         room = STORE_BLOCK - at % STORE_BLOCK;
            part = part < room ? part : room;
            memcpy(column->tail + at, values, part * sizeof *values);
            column->tail_n += (uint32_t)part;
        }
        column->rows += part;
        values += part;
        n -= part;
    }
    return true;
}

/* Returns the numbers of a block of 0 to 1,023, which all such blocks share; NULL if memory is
 * exhausted. */
static uint16_t *get_sequence(struct block_pool *pool)
{
    if (!pool->sequence) {
        pool->sequence = block_pool_allocate(pool, STORE_BLOCK * sizeof *pool->sequence);
        for (size_t i = 0; pool->sequence && i < STORE_BLOCK; i++)
            pool->sequence[i] = (uint16_t)i;
    }
    return pool->sequence;
}

/* Replaces the full tail by a block. */
static bool add_sequence(struct column *column)
{
    uint16_t *numbers = get_sequence(column->pool);
    if (!numbers ||
        !alloc_reserve(column->pool->alloc, (void **)&column->blocks, &column->blocks_capacity,
                       column->blocks_n + 1, sizeof *column->blocks))
        return false;
    column->blocks[column->blocks_n++] = (struct column_block){
        .base = (int64_t)(column->rows - STORE_BLOCK), .width = 2, .data = numbers};
    column->tail_n = 0;
    return true;
}

bool column_append_sequence(struct column *column, size_t n)
{
    while (n > 0 && !column->is_unwanted) {
        if (column->tail_n == STORE_BLOCK ? !add_sequence(column)
                                          : !column->tail && !column_make_room(column))
            return false;
        for (size_t i = 0; column->tail_n == 0 && i < STORE_BLOCK; i++)
            column->tail[i] = (int64_t)(column->rows + i);
        const size_t room = STORE_BLOCK - column->tail_n, part = n < room ? n : room;
        column->tail_n += (uint32_t)part;
        column->rows += part;
        n -= part;
    }
    return true;
}

bool column_finish(struct column *column)
{
    while (column->tail_n > STORE_BLOCK)
        if (!add_block_of_tail(column))
            return false;
    if (column->tail_rows == STORE_BLOCK)
        return true;
    if (column->tail) {
        const size_t row = column->blocks_n * STORE_BLOCK;
        memmove(column->tail, column->tail + (row & (column->tail_rows - 1)),
                column->tail_n * sizeof *column->tail);
        int64_t *tail = alloc_resize(column->pool->alloc, column->tail, column->tail_rows,
                                     STORE_BLOCK, sizeof *tail);
        if (!tail)
            return false;
        column->tail = tail;
    }
    column->tail_rows = STORE_BLOCK;
    return true;
}

void column_add(struct column *column, int64_t number)
{
    for (size_t i = 0; i < column->blocks_n; i++)
        column->blocks[i].base += number;
    for (uint64_t row = column->blocks_n * STORE_BLOCK; row < column->rows; row++)
        column->tail[row & (column->tail_rows - 1)] += number;
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

/* --- Single values --- */

/* The numbers of a block as an array of their type. */
union numbers {
    void *data;
    uint8_t *bytes;
    uint16_t *pairs;
    uint32_t *words;
    uint64_t *longs;
};

static uint64_t get_number(const struct column_block *block, size_t i)
{
    const union numbers numbers = {.data = block->data};
    switch (block->width) {
    case 0:
        return 0;
    case 1:
        return numbers.bytes[i];
    case 2:
        return numbers.pairs[i];
    case 4:
        return numbers.words[i];
    default:
        return numbers.longs[i];
    }
}

static void set_number(const struct column_block *block, size_t i, uint64_t number)
{
    const union numbers numbers = {.data = block->data};
    switch (block->width) {
    case 0:
        break;
    case 1:
        numbers.bytes[i] = (uint8_t)number;
        break;
    case 2:
        numbers.pairs[i] = (uint16_t)number;
        break;
    case 4:
        numbers.words[i] = (uint32_t)number;
        break;
    default:
        numbers.longs[i] = number;
    }
}

int64_t column_get_from_block(const struct column *column, uint64_t row)
{
    const struct column_block *block = &column->blocks[row / STORE_BLOCK];
    const uint64_t number = get_number(block, row % STORE_BLOCK);
    if (block->has_null && number == 0)
        return TTR_STORE_NULL;
    return (int64_t)((uint64_t)block->base + number - block->has_null);
}

bool column_set_in_block(struct column *column, uint64_t row, int64_t value)
{
    int64_t values[STORE_BLOCK];
    struct column_block *block = &column->blocks[row / STORE_BLOCK];
    const size_t i = row % STORE_BLOCK;
    const bool is_null = value == TTR_STORE_NULL;
    const uint64_t number = is_null ? 0 : (uint64_t)value - (uint64_t)block->base + block->has_null;
    store_memory_step_far(column->pool->memory, column->rows - row);
    if (is_null ? block->has_null
                : value >= block->base && number >= block->has_null &&
                      get_number_width(number) <= block->width) {
        set_number(block, i, number);
        return true;
    }
    struct column_block shaped = *block;
    read_block(block, 0, STORE_BLOCK, values);
    values[i] = value;
    if (!shape_block(column->pool, &shaped, values, (struct range){INT64_MAX, INT64_MIN}))
        return false;
    encode_block(&shaped, values);
    *block = shaped;
    return true;
}

bool column_gather(struct column *column, const struct column *from, const uint32_t *order,
                   size_t n)
{
    for (size_t i = 0, last = 0; i < n; last = order[i++]) {
        store_memory_step_far(column->pool->memory,
                              order[i] > last ? order[i] - last : last - order[i]);
        if (!column_append(column, column_get(from, order[i])))
            return false;
        store_memory_step(column->pool->memory, sizeof *order);
    }
    return true;
}

/* --- Reading --- */

#define CACHE_LINE 64u

/* Requests the numbers of a block from memory.  Blocks of several columns alternate there, so that
 * the processor does not foresee the next one of a column. */
static void prefetch_block(const struct column_block *block)
{
    const char *data = block->data;
    for (size_t at = 0; at < (size_t)STORE_BLOCK * block->width; at += CACHE_LINE)
        __builtin_prefetch(data + at);
}

void column_read(const struct column *column, uint64_t row, size_t n, int64_t *values)
{
    store_memory_step(column->pool->memory, n * sizeof *values);
    while (n > 0) {
        const size_t i = (size_t)(row / STORE_BLOCK), from = (size_t)(row % STORE_BLOCK);
        const bool is_tail = i >= column->blocks_n;
        const uint64_t left = row < column->rows ? column->rows - row : 0;
        size_t part = STORE_BLOCK - from;
        if (left == 0)
            break;
        if (part > left)
            part = (size_t)left;
        if (part > n)
            part = n;
        if (part == STORE_BLOCK && i + 1 < column->blocks_n)
            prefetch_block(&column->blocks[i + 1]);
        if (is_tail)
            memcpy(values, column->tail + (row & (column->tail_rows - 1)), part * sizeof *values);
        else
            read_block(&column->blocks[i], from, part, values);
        values += part;
        row += part;
        n -= part;
    }
    for (size_t i = 0; i < n; i++)
        values[i] = TTR_STORE_NULL;
}
