/* Columns of 64-bit values in compressed blocks, and the memory of the blocks (column.c). */
#ifndef TRACETTA_STORE_COLUMN_H
#define TRACETTA_STORE_COLUMN_H

#include <stdbool.h>
#include <stdint.h>

#include <tracetta/store.h>

#include "base/alloc.h"
#include "store/store_memory.h"

#define STORE_BLOCK 1024u
/* rows in the tail of a column that changes */
#define COLUMN_CHANGING_TAIL ((size_t)16 * STORE_BLOCK)

/* Memory of blocks, from chunks that are freed together. */
struct block_pool {
    const struct alloc *alloc;
    struct store_memory *memory; /* NULL = without limit */
    struct pool_chunk *chunks;   /* list of chunks; only the first has unused bytes */
    size_t used;                 /* bytes of the first chunk that are in use */
    uint16_t *sequence;          /* numbers 0 to 1,023; NULL until they are needed */
};

void block_pool_init(struct block_pool *pool, const struct alloc *alloc);
void block_pool_free(struct block_pool *pool);

/* Returns n bytes, a multiple of 8, or NULL if memory is exhausted. */
void *block_pool_allocate(struct block_pool *pool, size_t n);

struct column_block {
    int64_t base;  /* smallest value of the block, to which the numbers in `data` are added */
    void *data;    /* STORE_BLOCK numbers of `width` bytes; NULL if the width is 0 */
    uint8_t width; /* 0, 1, 2, 4 or 8 bytes */
    bool has_null; /* the block has NULLs: number 0 in `data` is NULL, others are 1 larger */
};

/* Values in compressed blocks; the last ones are in the tail, not compressed yet. */
struct column {
    struct block_pool *pool;
    bool is_unwanted; /* appended values are dropped */
    struct column_block *blocks;
    size_t blocks_n, blocks_capacity;
    int64_t *tail;              /* a ring: the value of a row is at its number modulo `tail_rows` */
    uint32_t tail_n, tail_rows; /* values in the tail; its size */
    uint64_t rows;
};

/* The pool must outlive the column. */
void column_init(struct column *column, struct block_pool *pool);

/* As column_init, for values that change: the tail holds many, so that most changes are cheap. Call
 * column_finish when all values are known. */
void column_init_changing(struct column *column, struct block_pool *pool);
void column_free(struct column *column);

/* Makes room for a value in the tail. */
TTR_MUST bool column_make_room(struct column *column);

TTR_MUST static inline bool column_append(struct column *column, int64_t value)
{
    if (column->is_unwanted)
        return true;
    if ((column->tail_n == column->tail_rows || !column->tail) && !column_make_room(column))
        return false;
    column->tail[column->rows++ & (column->tail_rows - 1)] = value;
    column->tail_n++;
    return true;
}

/* Appends room for up to *n values, and sets *n to their number. Returns the room, which the caller
 * fills, or NULL if memory is exhausted. The column must be wanted, and its values
 * must not change. */
TTR_MUST int64_t *column_extend(struct column *column, uint32_t *n);

/* Appends n values. */
TTR_MUST bool column_append_all(struct column *column, const int64_t *values, size_t n);

/* Appends the numbers from the number of rows on, which need no memory. */
TTR_MUST bool column_append_sequence(struct column *column, size_t n);

/* Compresses all values but those of the last block. They do not change from now on. */
TTR_MUST bool column_finish(struct column *column);

/* Change and return a compressed value. */
TTR_MUST bool column_set_in_block(struct column *column, uint64_t row, int64_t value);
int64_t column_get_from_block(const struct column *column, uint64_t row);

/* Replaces the value of a row, which must exist. Returns false if its block needs more memory than
 * there is. */
TTR_MUST static inline bool column_set(struct column *column, uint64_t row, int64_t value)
{
    if (row < column->blocks_n * STORE_BLOCK)
        return column_set_in_block(column, row, value);
    column->tail[row & (column->tail_rows - 1)] = value;
    return true;
}

/* Returns the value of a row, which must exist. */
static inline int64_t column_get(const struct column *column, uint64_t row)
{
    return row < column->blocks_n * STORE_BLOCK ? column_get_from_block(column, row)
                                                : column->tail[row & (column->tail_rows - 1)];
}

/* Appends the values that `from` has in the rows order[0] to order[n - 1]. */
TTR_MUST bool column_gather(struct column *column, const struct column *from, const uint32_t *order,
                            size_t n);

/* Adds a number to all values of a column, none of which is NULL. */
void column_add(struct column *column, int64_t number);

void column_read(const struct column *column, uint64_t row, size_t n, int64_t *values);

#endif
