/* Arrow: files (IPC) of tables, and the C stream interface (arrow.apache.org/docs/format). */
#ifndef TRACETTA_TABLE_FILES_ARROW_H
#define TRACETTA_TABLE_FILES_ARROW_H

#include <stdio.h>

#include "table_files/batch.h"

/* Writes all rows of a statement to an Arrow IPC file. */
TTR_MUST ttr_status arrow_write(ttr_query *query, const char *sql, FILE *to, ttr_error *error);

/* Packs a byte per row into bits; a set bit is a value, a clear one NULL. */
void arrow_pack_validity(const struct batch_column *column, uint32_t rows, uint8_t *to);

/* Returns the number of bytes of the bits of `rows` rows. */
static inline size_t arrow_validity_bytes(uint32_t rows)
{
    return ((size_t)rows + 7) / 8;
}

#endif
