/* Slices while a trace is read, and at its end.
 *
 * Order of calls: store_slices_init, store_add_slices for each batch, store_end_slices.
 *
 * Reading appends a row per slice to `columns`, in the order of the events (store_slices.c).  The
 * duration of a begun slice is -1 until its end is read.  At the end of the trace, the rows are
 * sorted (store_order.c) and nested (store_nesting.c).  As events usually are in order, the columns
 * of the table are those that reading has filled; only slices of equal start change places. */
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
    int64_t latest;     /* start of the last slice */
    bool is_disordered; /* a slice started before the one before it */
};

/* Sets the number of rows of all columns. */
void store_slices_count_rows(struct store_slices *slices);

#endif
