/* Slices while a trace is read, and at its end.
 *
 * Order of calls: store_slices_init, store_add_slices for each batch, store_end_slices.
 *
 * Reading appends a row per slice to `columns`, in the order of the events (store_slices.c).  The
 * duration of a begun slice is -1 until its end is read.  At the end of the trace, begins and ends
 * of disordered tracks are paired again (store_pairing.c), and the rows are sorted (store_order.c)
 * and nested (store_nesting.c).  As events usually are in order, the columns of the table are those
 * that reading has filled; only slices of equal start change places.
 *
 * At equal times the order of reading decides whether a slice is inside of another one.  So an end
 * at or before the start of a slice that was read earlier is kept, with the number of slices that
 * were read before it. */
#ifndef TRACETTA_STORE_STORE_SLICES_H
#define TRACETTA_STORE_STORE_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/column.h"

/* Columns of table slice, in order. */
enum slice_column {
    SLICE_ID,
    SLICE_TS,
    SLICE_DUR,
    SLICE_TRACK,
    SLICE_CATEGORY,
    SLICE_NAME,
    SLICE_DEPTH,
    SLICE_PARENT,
    SLICE_EVENT,
    SLICE_SELF,
    SLICE_THREAD,
    SLICE_TID,
    SLICE_PID,
    SLICE_THREAD_NAME,
    SLICE_PROCESS_NAME,
    SLICE_COLUMNS
};

/* A slice without an end so far. */
struct open_slice {
    int64_t ts;
    uint32_t row;
    uint32_t outer; /* index + 1 of the open slice around it, or of the next free item; 0 = none */
};

/* Rows of equal start that follow each other. */
struct slice_tie {
    uint32_t row, n;
    uint32_t read_rows; /* index + 1 in `read_rows`, if the rows have changed places; else 0 */
};

/* The end of a slice. */
struct slice_end {
    uint32_t row;
    uint32_t read_before; /* number of slices that were read before the end */
};

struct slice_ends {
    struct slice_end *items;
    size_t n, capacity;
};

/* An end without a begin. */
struct lone_end {
    int64_t ts;
    uint32_t track;
    uint32_t read_before; /* number of slices that were read before the end */
};

struct store_slices {
    struct block_pool pool;
    struct column columns[SLICE_COLUMNS]; /* unwanted: the values are not in the events, or
                                             not needed */
    int64_t *tails[SLICE_COLUMNS];        /* of the columns; `unused` of unwanted ones */
    int64_t *unused;
    size_t n; /* slices; `rows` of the columns may be less */
    struct open_slice *open;
    size_t open_n, open_capacity;
    uint32_t open_free; /* index + 1 of the first free item of `open`; 0 = none */
    struct slice_tie *ties;
    size_t ties_n, ties_capacity;
    uint32_t *read_rows; /* order of reading of ties that have changed places */
    size_t read_rows_n, read_rows_capacity;
    /* ends at or before the start of a slice of the track that was read earlier */
    struct slice_ends ends;
    struct lone_end *lone_ends;
    size_t lone_ends_n, lone_ends_capacity;
    uint64_t *begins; /* bits by row: the slice has a begin, and is not complete or an instant */
    size_t begins_capacity;
    int64_t latest;     /* start of the last slice */
    bool is_disordered; /* a slice started before the one before it */
    bool has_spans;     /* a slice with a duration comes from one event */
};

/* Returns true if the slice of a row, in order of reading, has a begin. */
static inline bool store_is_begun(const struct store_slices *slices, size_t row)
{
    return slices->begins[row / 64] >> (row % 64) & 1;
}

/* Sets the number of rows of all columns. */
void store_slices_count_rows(struct store_slices *slices);

#endif
