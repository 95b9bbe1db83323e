/* Columns of 64-bit values in blocks of 1,024 rows, compressed by frame of reference: a block
 * stores the smallest value, and for each row the difference in 0, 1, 2, 4 or 8 bytes. */
#include <string.h>

#include "store/store.h"

void column_init(struct column *column, const struct alloc *alloc)
{
    *column = (struct column){.alloc = alloc};
}

void column_free(struct column *column)
{
    for (size_t i = 0; i < column->blocks_n; i++)
        alloc_free(column->alloc, column->blocks[i].data, STORE_BLOCK, column->blocks[i].width);
    alloc_free(column->alloc, column->blocks, column->blocks_capacity, sizeof *column->blocks);
    alloc_free(column->alloc, column->tail, column->tail ? STORE_BLOCK : 0, sizeof *column->tail);
    *column = (struct column){.alloc = column->alloc};
}

static uint8_t get_number_width(uint64_t range)
{
    return range == 0            ? 0
           : range <= UINT8_MAX  ? 1
           : range <= UINT16_MAX ? 2
           : range <= UINT32_MAX ? 4
                                 : 8;
}

static void store_number(const struct column_block *block, size_t i, uint64_t number)
{
    uint8_t *to = (uint8_t *)block->data + i * block->width;
    const uint8_t byte = (uint8_t)number;
    const uint16_t half = (uint16_t)number;
    const uint32_t word = (uint32_t)number;
    switch (block->width) {
    case 1:
        memcpy(to, &byte, sizeof byte);
        break;
    case 2:
        memcpy(to, &half, sizeof half);
        break;
    case 4:
        memcpy(to, &word, sizeof word);
        break;
    default:
        memcpy(to, &number, sizeof number);
    }
}

static uint64_t load_number(const struct column_block *block, size_t i)
{
    if (block->width == 0)
        return 0;
    const uint8_t *from = (const uint8_t *)block->data + i * block->width;
    uint16_t half;
    uint32_t word;
    uint64_t number;
    switch (block->width) {
    case 1:
        return *from;
    case 2:
        memcpy(&half, from, sizeof half);
        return half;
    case 4:
        memcpy(&word, from, sizeof word);
        return word;
    default:
        memcpy(&number, from, sizeof number);
        return number;
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
    if (!alloc_reserve(column->alloc, (void **)&column->blocks, &column->blocks_capacity,
                       column->blocks_n + 1, sizeof *column->blocks))
        return false;
    if (block.width && !(block.data = alloc_zero(column->alloc, STORE_BLOCK, block.width)))
        return false;
    for (size_t i = 0; i < STORE_BLOCK && block.width; i++) {
        const int64_t value = column->tail[i];
        const uint64_t number = (uint64_t)value - (uint64_t)block.base + has_null;
        store_number(&block, i, value == TTR_STORE_NULL ? 0 : number);
    }
    column->blocks[column->blocks_n++] = block;
    column->tail_n = 0;
    return true;
}

bool column_append(struct column *column, int64_t value)
{
    if (!column->tail &&
        !(column->tail = alloc_zero(column->alloc, STORE_BLOCK, sizeof *column->tail)))
        return false;
    if (column->tail_n == STORE_BLOCK && !add_block(column))
        return false;
    column->tail[column->tail_n++] = value;
    column->rows++;
    return true;
}

/* Decodes a part of a block. */
static void read_block(const struct column_block *block, size_t from, size_t n, int64_t *values)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t number = load_number(block, from + i);
        values[i] = block->has_null && number == 0
                        ? TTR_STORE_NULL
                        : (int64_t)((uint64_t)block->base + number - block->has_null);
    }
}

void column_read(const struct column *column, uint64_t row, size_t n, int64_t *values)
{
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
