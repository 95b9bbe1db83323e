/* Rows of a result as columns: what the writers of files and the Arrow stream consume. */
#ifndef TRACETTA_TABLE_FILES_BATCH_H
#define TRACETTA_TABLE_FILES_BATCH_H

#include <tracetta/query.h>

#include "table_files/bytes.h"

#define BATCH_ROWS 65536u
#define BATCH_BYTES (256u << 20) /* bytes of texts after which a batch ends */

enum batch_type { BATCH_INT, BATCH_REAL, BATCH_TEXT, BATCH_BLOB };

struct batch_column {
    char *name;
    uint8_t type;      /* enum batch_type */
    uint8_t *is_valid; /* a byte per row */
    uint64_t nulls;
    int64_t *ints;    /* BATCH_INT, and the bits of BATCH_REAL */
    uint32_t *starts; /* BATCH_TEXT, BATCH_BLOB: rows + 1 offsets in `data` */
    struct bytes data;
};

struct batch {
    struct batch_column *columns;
    size_t columns_n;
    uint32_t rows;
    bool is_at_end; /* the last row has been read: another step would run the statement again */
};

/* Prepares a batch for the rows of a statement. The types of columns are those that a table
 * declares; for other columns the statement is run once to find them. Returns NULL with `error`;
 * the result, at its first row, is stored in *result. */
struct batch *batch_new(ttr_query *query, const char *sql, ttr_result **result, ttr_error *error);
void batch_free(struct batch *batch);

/* Reads up to BATCH_ROWS rows. Returns TTR_OK with batch->rows >= 1, TTR_END, or an error. Invalid
 * UTF-8 in texts is replaced by U+FFFD. */
TTR_MUST ttr_status batch_read(struct batch *batch, ttr_result *result, ttr_error *error);

/* Appends a text with invalid UTF-8 replaced by U+FFFD. */
void batch_add_text(struct bytes *to, ttr_text text);

/* Fills `error` and returns the status. */
ttr_status table_files_fail(ttr_error *error, ttr_status status, const char *format, ...)
    TTR_PRINTF(3, 4);

#endif
