/* Parquet files: row groups of BATCH_ROWS rows, then their description in Thrift.
 *
 *     "PAR1" | chunks of columns ... | description | u32 its size | "PAR1"
 */
#include <errno.h>

#include "table_files/parquet.h"
#include "table_files/thrift.h"

/* Entry of each chunk in the description of the file. */
struct chunk_place {
    uint64_t offset, size, uncompressed_n, nulls;
    size_t dictionary_n;
    struct bytes min, max;
    bool has_range;
};

struct file {
    FILE *to;
    uint64_t offset;
    uint64_t rows;
    struct chunk_place *places; /* groups_n times the columns */
    uint32_t *group_rows;
    size_t groups_n;
};

static const int8_t physical_types[] = {[BATCH_INT] = PARQUET_INT64,
                                        [BATCH_REAL] = PARQUET_DOUBLE,
                                        [BATCH_TEXT] = PARQUET_BYTE_ARRAY,
                                        [BATCH_BLOB] = PARQUET_BYTE_ARRAY};

static bool write_bytes(struct file *file, const void *p, size_t n)
{
    file->offset += n;
    return n == 0 || fwrite(p, 1, n, file->to) == n;
}

/* --- Row groups --- */

static ttr_status write_group(struct file *file, const struct batch *batch, ttr_error *error)
{
    const size_t n = batch->columns_n;
    struct chunk_place *places =
        realloc(file->places, ((file->groups_n + 1) * n + 1) * sizeof *places);
    if (places)
        file->places = places;
    uint32_t *rows = realloc(file->group_rows, (file->groups_n + 1) * sizeof *rows);
    if (rows)
        file->group_rows = rows;
    if (!places || !rows)
        return table_files_fail(error, TTR_E_NOMEM, "out of memory");
    places += file->groups_n * n;
    memset(places, 0, n * sizeof *places);
    rows[file->groups_n++] = batch->rows;
    file->rows += batch->rows;
    for (size_t i = 0; i < n; i++) {
        struct parquet_chunk chunk;
        const bool is_encoded = parquet_encode_column(&batch->columns[i], batch->rows, &chunk);
        places[i] = (struct chunk_place){.offset = file->offset,
                                         .size = chunk.pages.n,
                                         .uncompressed_n = chunk.uncompressed_n,
                                         .nulls = chunk.nulls,
                                         .dictionary_n = chunk.dictionary_n,
                                         .min = chunk.min,
                                         .max = chunk.max,
                                         .has_range = chunk.has_range};
        chunk.min = chunk.max = (struct bytes){.p = NULL}; /* are in places[i] now */
        const bool is_written = is_encoded && write_bytes(file, chunk.pages.p, chunk.pages.n);
        parquet_chunk_free(&chunk);
        if (!is_encoded)
            return table_files_fail(error, TTR_E_NOMEM, "out of memory");
        if (!is_written)
            return table_files_fail(error, TTR_E_IO, "cannot be written: %s", strerror(errno));
    }
    return TTR_OK;
}

/* --- The description --- */

static void describe_schema(struct thrift *thrift, const struct batch *batch)
{
    thrift_list(thrift, 2, THRIFT_STRUCT, batch->columns_n + 1);
    thrift_begin(thrift);
    thrift_binary(thrift, 4, "schema", 6);
    thrift_i32(thrift, 5, (int32_t)batch->columns_n);
    thrift_end(thrift);
    for (size_t i = 0; i < batch->columns_n; i++) {
        const struct batch_column *column = &batch->columns[i];
        thrift_begin(thrift);
        thrift_i32(thrift, 1, physical_types[column->type]);
        thrift_i32(thrift, 3, 1); /* OPTIONAL */
        thrift_binary(thrift, 4, column->name, strlen(column->name));
        if (column->type == BATCH_TEXT) {
            thrift_i32(thrift, 6, 0); /* converted type UTF8 */
            thrift_struct(thrift, 10);
            thrift_struct(thrift, 1); /* logical type STRING */
            thrift_end(thrift);
            thrift_end(thrift);
        }
        thrift_end(thrift);
    }
}

static void describe_statistics(struct thrift *thrift, const struct chunk_place *place)
{
    thrift_struct(thrift, 12);
    thrift_i64(thrift, 3, (int64_t)place->nulls);
    if (place->has_range) {
        thrift_binary(thrift, 5, place->max.p, place->max.n);
        thrift_binary(thrift, 6, place->min.p, place->min.n);
    }
    thrift_end(thrift);
}

static void describe_chunk(struct thrift *thrift, const struct batch_column *column,
                           const struct chunk_place *place, uint32_t rows)
{
    const bool has_dictionary = place->dictionary_n > 0;
    thrift_begin(thrift);
    thrift_i64(thrift, 2, (int64_t)place->offset);
    thrift_struct(thrift, 3);
    thrift_i32(thrift, 1, physical_types[column->type]);
    thrift_list(thrift, 2, THRIFT_I32, has_dictionary ? 3 : 2);
    thrift_add_varint(thrift->to, thrift_zigzag(PARQUET_PLAIN));
    thrift_add_varint(thrift->to, thrift_zigzag(PARQUET_RLE));
    if (has_dictionary)
        thrift_add_varint(thrift->to, thrift_zigzag(PARQUET_RLE_DICTIONARY));
    thrift_list(thrift, 3, THRIFT_BINARY, 1);
    thrift_bytes(thrift, column->name, strlen(column->name));
    thrift_i32(thrift, 4, PARQUET_ZSTD);
    thrift_i64(thrift, 5, rows);
    thrift_i64(thrift, 6, (int64_t)place->uncompressed_n);
    thrift_i64(thrift, 7, (int64_t)place->size);
    thrift_i64(thrift, 9, (int64_t)(place->offset + place->dictionary_n));
    if (has_dictionary)
        thrift_i64(thrift, 11, (int64_t)place->offset);
    describe_statistics(thrift, place);
    thrift_end(thrift);
    thrift_end(thrift);
}

static void describe_group(struct thrift *thrift, const struct file *file,
                           const struct batch *batch, size_t group)
{
    const size_t n = batch->columns_n;
    int64_t size = 0;
    thrift_begin(thrift);
    thrift_list(thrift, 1, THRIFT_STRUCT, n);
    for (size_t i = 0; i < n; i++) {
        const struct chunk_place *place = &file->places[group * n + i];
        describe_chunk(thrift, &batch->columns[i], place, file->group_rows[group]);
        size += (int64_t)place->uncompressed_n;
    }
    thrift_i64(thrift, 2, size);
    thrift_i64(thrift, 3, file->group_rows[group]);
    thrift_end(thrift);
}

static void describe_file(const struct file *file, const struct batch *batch, struct bytes *to)
{
    static const char creator[] = "tracetta version " TTR_VERSION;
    struct thrift thrift = {.to = to};
    thrift_begin(&thrift);
    thrift_i32(&thrift, 1, 1);
    describe_schema(&thrift, batch);
    thrift_i64(&thrift, 3, (int64_t)file->rows);
    thrift_list(&thrift, 4, THRIFT_STRUCT, file->groups_n);
    for (size_t i = 0; i < file->groups_n; i++)
        describe_group(&thrift, file, batch, i);
    thrift_binary(&thrift, 6, creator, sizeof creator - 1);
    /* the order of minima and maxima: that of the type */
    thrift_list(&thrift, 7, THRIFT_STRUCT, batch->columns_n);
    for (size_t i = 0; i < batch->columns_n; i++) {
        thrift_begin(&thrift);
        thrift_struct(&thrift, 1);
        thrift_end(&thrift);
        thrift_end(&thrift);
    }
    thrift_end(&thrift);
}

static ttr_status write_description(struct file *file, const struct batch *batch, ttr_error *error)
{
    struct bytes bytes = {.p = NULL};
    describe_file(file, batch, &bytes);
    bytes_add_number(&bytes, bytes.n, 4);
    bytes_add(&bytes, "PAR1", 4);
    const bool is_failed = bytes.is_failed,
               is_written = !is_failed && write_bytes(file, bytes.p, bytes.n);
    bytes_free(&bytes);
    if (is_failed)
        return table_files_fail(error, TTR_E_NOMEM, "out of memory");
    return is_written ? TTR_OK
                      : table_files_fail(error, TTR_E_IO, "cannot be written: %s", strerror(errno));
}

static void free_chunk_places(struct file *file, size_t columns_n)
{
    for (size_t i = 0; i < file->groups_n * columns_n; i++) {
        bytes_free(&file->places[i].min);
        bytes_free(&file->places[i].max);
    }
    free(file->places);
    free(file->group_rows);
}

ttr_status parquet_write(ttr_query *query, const char *sql, FILE *to, ttr_error *error)
{
    struct file file = {.to = to};
    ttr_result *result;
    struct batch *batch = batch_new(query, sql, &result, error);
    if (!batch)
        return error->status;
    ttr_status status = TTR_OK;
    if (!write_bytes(&file, "PAR1", 4))
        status = table_files_fail(error, TTR_E_IO, "cannot be written: %s", strerror(errno));
    while (status == TTR_OK && (status = batch_read(batch, result, error)) == TTR_OK)
        status = write_group(&file, batch, error);
    if (status == TTR_END)
        status = write_description(&file, batch, error);
    ttr_result_free(result);
    free_chunk_places(&file, batch->columns_n);
    batch_free(batch);
    return status;
}
