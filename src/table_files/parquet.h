/* Parquet files of tables (github.com/apache/parquet-format). */
#ifndef TRACETTA_TABLE_FILES_PARQUET_H
#define TRACETTA_TABLE_FILES_PARQUET_H

#include <stdio.h>

#include "table_files/batch.h"

/* Physical types, encodings and codecs of parquet.thrift. */
enum { PARQUET_INT64 = 2, PARQUET_DOUBLE = 5, PARQUET_BYTE_ARRAY = 6 };
enum { PARQUET_PLAIN = 0, PARQUET_RLE = 3, PARQUET_RLE_DICTIONARY = 8 };
enum { PARQUET_ZSTD = 6 };

/* A column of a row group, encoded and compressed. */
struct parquet_chunk {
    struct bytes pages;      /* the dictionary page, if there is one, and the data page */
    size_t dictionary_n;     /* bytes of the dictionary page; 0 = none */
    uint64_t uncompressed_n; /* bytes of the pages before compression, heads included */
    uint64_t nulls;
    struct bytes min, max; /* smallest and largest value, for the statistics of the chunk */
    bool has_range;        /* `min` and `max` are valid */
};

/* Encodes a column. Returns false if memory is exhausted. */
bool parquet_encode_column(const struct batch_column *column, uint32_t rows,
                           struct parquet_chunk *chunk);
void parquet_chunk_free(struct parquet_chunk *chunk);

/* Writes all rows of a statement to a file. */
TTR_MUST ttr_status parquet_write(ttr_query *query, const char *sql, FILE *to, ttr_error *error);

#endif
