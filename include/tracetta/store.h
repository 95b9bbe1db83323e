/* A column store of a trace: tables of events, slices, threads, counters, scheduling.
 *
 *     ttr_store *store = ttr_store_new(t, NULL, &error);
 *     if (store && ttr_store_read(store, in, NULL, NULL, &error) == TTR_OK)
 *         for (size_t i = 0; ttr_store_table_at(store, i, &table); i++)
 *             ...
 *
 * One pass over a reader fills the tables that are wanted.  Values are 64-bit numbers in compressed
 * blocks: integers, floating-point numbers as their bits, and ids of strings of the context.  The
 * names of tables and columns are those of Perfetto's trace processor where the meaning is the
 * same.
 *
 * Conventions as in tracetta.h.  Texts are static, or valid as long as the store. */
#ifndef TRACETTA_STORE_H
#define TRACETTA_STORE_H

#include "tracetta.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ttr_store ttr_store;

/* The value of a cell without a value, of any type. */
#define TTR_STORE_NULL INT64_MIN

typedef enum ttr_store_type {
    TTR_STORE_INT = 0,
    TTR_STORE_REAL = 1, /* the bits of a double */
    TTR_STORE_TEXT = 2  /* id of a string of the context */
} ttr_store_type;

typedef struct ttr_store_options {
    size_t size;
    /* Names of tables and of event classes; ends with NULL.  Only these tables are filled; a name
     * that is not a table gets a table with a row per event of that name, in which characters other
     * than letters, digits and "_" count as "_".  NULL: all tables, no event classes. */
    const char *const *names;
    /* Names of columns and fields, in any case; ends with NULL.  Only these columns are filled.
     * NULL: all columns. */
    const char *const *columns;
    /* Limit of memory in bytes: the rest is kept in a temporary file in TMPDIR; 0 = no limit.  Not
     * counted are the strings of the context and blocks below 1 MiB. */
    uint64_t memory;
} ttr_store_options;

/* Creates an empty store of a context, to be freed before it. */
TTR_API ttr_store *ttr_store_new(ttr *t, const ttr_store_options *options, ttr_error *error);
TTR_API void ttr_store_free(ttr_store *store);

/* Reads all events of a reader into the store, once per store.  The reader should be in order of
 * time, and stays the caller's.  Returns TTR_OK, TTR_AGAIN if `progress` stopped it (the store then
 * has the events so far), or the error of the reader, with the events before it in the store. */
TTR_API TTR_MUST ttr_status ttr_store_read(ttr_store *store, ttr_reader *in, ttr_progress progress,
                                           void *user_data, ttr_error *error);

/* Adds a batch of a reader; instead of ttr_store_read, for programs that read on their own.  Rows
 * of slices, scheduling, threads and the inputs are made by ttr_store_update. */
TTR_API TTR_MUST ttr_status ttr_store_add(ttr_store *store, const ttr_batch *batch,
                                          ttr_error *error);

/* Makes all tables of the events so far.  Rows of slices and scheduling may move between two
 * updates, and numbers of counter tracks grow with those of slices.  `is_last`: no event follows,
 * and memory that only reading needs is freed.  Costs as much as the end of ttr_store_read: do not
 * call it for each batch. */
TTR_API TTR_MUST ttr_status ttr_store_update(ttr_store *store, ttr_reader *in, bool is_last,
                                             ttr_error *error);

/* Returns true if a store has all tables and columns that `options` names.  A name that is neither
 * a table nor the name of an event needs nothing. */
TTR_API bool ttr_store_covers(const ttr_store *store, const ttr_store_options *options);

typedef struct ttr_store_table {
    const char *name, *description;
    uint64_t rows;
    size_t columns;
    bool is_class;  /* a table of one event class */
    bool is_filled; /* false: options.names does not name it; it has no rows */
} ttr_store_table;

typedef struct ttr_store_column {
    const char *name, *description;
    ttr_store_type type;
    bool is_ordered; /* rows are in ascending order of it */
    bool is_filled;  /* false: options.columns or options.names do not name it; it has no values */
} ttr_store_column;

/* Copies the i-th table; returns false after the last, and if the store is NULL. */
TTR_API bool ttr_store_table_at(const ttr_store *store, size_t i, ttr_store_table *table);

/* Copies a column of the i-th table; returns false after the last. */
TTR_API bool ttr_store_column_at(const ttr_store *store, size_t i, size_t column,
                                 ttr_store_column *about);

/* Copies the values of n rows of a column, from `row` on.  Rows after the last are
 * TTR_STORE_NULL. */
TTR_API void ttr_store_values(const ttr_store *store, size_t i, size_t column, uint64_t row,
                              size_t n, int64_t *values);

/* --- Saved stores ---
 *
 * A store that was read completely can be saved to a file, to be loaded by a later process without
 * reading the trace.  The file is for the machine and the version of the library that wrote it. */

/* Bytes that are saved with a store, under a name of at most 63 bytes. */
typedef struct ttr_store_part {
    const char *name;
    const void *bytes;
    size_t n;
} ttr_store_part;

typedef struct ttr_store_save_options {
    size_t size;
    ttr_text key; /* what the store was read from; ttr_store_load needs the same bytes */
    const ttr_store_part *parts; /* at most 64 */
    size_t parts_n;
    uint64_t size_max; /* larger files are not written; 0 = any size */
} ttr_store_save_options;

/* Writes a store into an empty file that is open for writing.  The file is valid only if this
 * returns TTR_OK.  Fails with TTR_E_IO, or with TTR_E_LIMIT if the file would be larger than
 * `size_max`. */
TTR_API TTR_MUST ttr_status ttr_store_save(const ttr_store *store, int fd,
                                           const ttr_store_save_options *options, ttr_error *error);

/* Loads a saved store into a new context: the columns that `options` names, as ttr_store_new.  The
 * file is not trusted: all of its bytes that are used are checked first.  Fails with
 * TTR_E_MALFORMED if it is damaged, of another version or of another key; with TTR_E_UNSUPPORTED
 * if it does not have all the tables and columns of `options`, or if that is unknown. The context
 * is then of no further use. `fd` can be closed after ttr_store_free. */
TTR_API ttr_store *ttr_store_load(ttr *t, int fd, ttr_text key, const ttr_store_options *options,
                                  ttr_error *error);

/* Returns the size of a part of a loaded store, or -1 if it has no part of this name. */
TTR_API int64_t ttr_store_part_size(const ttr_store *store, const char *name);

/* Reads a part of a loaded store; `n` is its size.  Fails with TTR_E_MALFORMED if it is damaged. */
TTR_API TTR_MUST ttr_status ttr_store_part_read(const ttr_store *store, const char *name, void *to,
                                                size_t n, ttr_error *error);

#ifdef __cplusplus
}
#endif
#endif
