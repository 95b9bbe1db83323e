/* Arrow IPC files: messages, each a head in FlatBuffers and a body of aligned buffers.
 *
 *     "ARROW1" 0 0 | schema | batch ... | end | footer | u32 its size | "ARROW1"
 *     message = u32 0xffffffff | u32 size of the head | head | body
 *     body of a batch, per column = validity bits | numbers, or offsets and texts; each padded to 8
 */
#include <errno.h>

#include "table_files/arrow.h"
#include "table_files/flatbuffer.h"

/* Numbers of Schema.fbs and Message.fbs. */
enum { VERSION_5 = 4, HEADER_SCHEMA = 1, HEADER_BATCH = 3 };
enum { TYPE_INT = 2, TYPE_FLOAT = 3, TYPE_BINARY = 4, TYPE_UTF8 = 5 };
enum { PRECISION_DOUBLE = 2 };

struct block {
    uint64_t offset, body_n;
    uint32_t head_n;
};

struct file {
    FILE *to;
    uint64_t offset;
    struct block *blocks; /* positions of the batches in the file */
    size_t blocks_n;
};

static ttr_status write_bytes(struct file *file, const void *p, size_t n, ttr_error *error)
{
    file->offset += n;
    return n == 0 || fwrite(p, 1, n, file->to) == n
               ? TTR_OK
               : table_files_fail(error, TTR_E_IO, "cannot be written: %s", strerror(errno));
}

static size_t padded(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

void arrow_pack_validity(const struct batch_column *column, uint32_t rows, uint8_t *to)
{
    memset(to, 0, arrow_validity_bytes(rows));
    for (uint32_t i = 0; i < rows; i++)
        to[i / 8] = (uint8_t)(to[i / 8] | column->is_valid[i] << i % 8);
}

/* --- The schema --- */

static flat_position add_field(struct flat *flat, const struct batch_column *column)
{
    static const uint8_t types[] = {[BATCH_INT] = TYPE_INT,
                                    [BATCH_REAL] = TYPE_FLOAT,
                                    [BATCH_TEXT] = TYPE_UTF8,
                                    [BATCH_BLOB] = TYPE_BINARY};
    const flat_position name = flat_add_text(flat, column->name, strlen(column->name)),
                        children = flat_add_references(flat, NULL, 0);
    flat_begin_table(flat);
    if (column->type == BATCH_INT) {
        flat_field_number(flat, 0, 64, 4);
        flat_field_number(flat, 1, 1, 1);
    } else if (column->type == BATCH_REAL) {
        flat_field_number(flat, 0, PRECISION_DOUBLE, 2);
    }
    const flat_position type = flat_end_table(flat);
    flat_begin_table(flat);
    flat_field_reference(flat, 0, name);
    flat_field_number(flat, 1, 1, 1); /* nullable */
    flat_field_number(flat, 2, types[column->type], 1);
    flat_field_reference(flat, 3, type);
    flat_field_reference(flat, 5, children);
    return flat_end_table(flat);
}

static flat_position add_schema(struct flat *flat, const struct batch *batch)
{
    flat_position *fields = calloc(batch->columns_n + 1, sizeof *fields), list = 0;
    for (size_t i = 0; fields && i < batch->columns_n; i++)
        fields[i] = add_field(flat, &batch->columns[i]);
    if (fields)
        list = flat_add_references(flat, fields, batch->columns_n);
    else
        flat->is_failed = true;
    free(fields);
    flat_begin_table(flat);
    flat_field_reference(flat, 1, list);
    return flat_end_table(flat);
}

/* --- Messages --- */

static flat_position add_message(struct flat *flat, unsigned type, flat_position header,
                                 uint64_t body_n)
{
    flat_begin_table(flat);
    flat_field_number(flat, 3, body_n, 8);
    flat_field_reference(flat, 2, header);
    flat_field_number(flat, 0, VERSION_5, 2);
    flat_field_number(flat, 1, type, 1);
    return flat_end_table(flat);
}

/* Writes the head of a message; its size with the prefix is stored in *head_n. */
static ttr_status write_head(struct file *file, struct flat *flat, flat_position message,
                             uint32_t *head_n, ttr_error *error)
{
    const uint8_t *head = flat_finish(flat, message);
    struct bytes prefix = {.p = NULL};
    bytes_add_number(&prefix, UINT32_MAX, 4);
    bytes_add_number(&prefix, flat->n, 4);
    ttr_status status = head && !prefix.is_failed
                            ? write_bytes(file, prefix.p, prefix.n, error)
                            : table_files_fail(error, TTR_E_NOMEM, "out of memory");
    if (status == TTR_OK)
        status = write_bytes(file, head, flat->n, error);
    *head_n = (uint32_t)(flat->n + 8);
    bytes_free(&prefix);
    return status;
}

/* --- Batches --- */

/* Sizes of the buffers of a column; offsets only for texts. */
struct sizes {
    size_t validity, offsets, data;
};

static struct sizes sizes_of(const struct batch_column *column, uint32_t rows)
{
    const bool is_text = column->type >= BATCH_TEXT;
    return (struct sizes){.validity = column->nulls ? arrow_validity_bytes(rows) : 0,
                          .offsets = is_text ? ((size_t)rows + 1) * 4 : 0,
                          .data = is_text ? column->data.n : (size_t)rows * 8};
}

static uint64_t body_size(const struct batch *batch)
{
    uint64_t n = 0;
    for (size_t i = 0; i < batch->columns_n; i++) {
        const struct sizes sizes = sizes_of(&batch->columns[i], batch->rows);
        n += padded(sizes.validity) + padded(sizes.offsets) + padded(sizes.data);
    }
    return n;
}

/* Describes a buffer that ends at *end; vectors are written from their last element. */
static void add_buffer(struct flat *flat, uint64_t *end, size_t n)
{
    *end -= padded(n);
    flat_add_number(flat, n, 8);
    flat_add_number(flat, *end, 8);
}

static flat_position add_batch(struct flat *flat, const struct batch *batch)
{
    uint64_t end = body_size(batch);
    size_t buffers = 0;
    for (size_t i = 0; i < batch->columns_n; i++)
        buffers += batch->columns[i].type >= BATCH_TEXT ? 3 : 2;
    flat_begin_vector(flat, buffers, 16);
    for (size_t i = batch->columns_n; i-- > 0;) {
        const struct sizes sizes = sizes_of(&batch->columns[i], batch->rows);
        add_buffer(flat, &end, sizes.data);
        if (batch->columns[i].type >= BATCH_TEXT)
            add_buffer(flat, &end, sizes.offsets);
        add_buffer(flat, &end, sizes.validity);
    }
    const flat_position buffer_list = flat_end_vector(flat, buffers);
    flat_begin_vector(flat, batch->columns_n, 16);
    for (size_t i = batch->columns_n; i-- > 0;) {
        flat_add_number(flat, batch->columns[i].nulls, 8);
        flat_add_number(flat, batch->rows, 8);
    }
    const flat_position nodes = flat_end_vector(flat, batch->columns_n);
    flat_begin_table(flat);
    flat_field_number(flat, 0, batch->rows, 8);
    flat_field_reference(flat, 1, nodes);
    flat_field_reference(flat, 2, buffer_list);
    return flat_end_table(flat);
}

static ttr_status write_padded(struct file *file, const void *p, size_t n, ttr_error *error)
{
    static const uint8_t zeros[8] = {0};
    const ttr_status status = write_bytes(file, p, n, error);
    return status == TTR_OK ? write_bytes(file, zeros, padded(n) - n, error) : status;
}

static ttr_status write_column(struct file *file, const struct batch_column *column, uint32_t rows,
                               ttr_error *error)
{
    static uint8_t const empty[1] = {0};
    const struct sizes sizes = sizes_of(column, rows);
    uint8_t validity[BATCH_ROWS / 8];
    if (sizes.validity)
        arrow_pack_validity(column, rows, validity);
    ttr_status status = write_padded(file, validity, sizes.validity, error);
    if (status == TTR_OK && column->type >= BATCH_TEXT)
        status = write_padded(file, column->starts, sizes.offsets, error);
    const void *data = column->type < BATCH_TEXT ? (const void *)column->ints
                       : column->data.n          ? column->data.p
                                                 : empty;
    return status == TTR_OK ? write_padded(file, data, sizes.data, error) : status;
}

static ttr_status write_batch(struct file *file, const struct batch *batch, ttr_error *error)
{
    struct flat flat = {.p = NULL};
    struct block block = {.offset = file->offset, .body_n = body_size(batch)};
    const flat_position header = add_batch(&flat, batch);
    ttr_status status = write_head(
        file, &flat, add_message(&flat, HEADER_BATCH, header, block.body_n), &block.head_n, error);
    flat_free(&flat);
    for (size_t i = 0; status == TTR_OK && i < batch->columns_n; i++)
        status = write_column(file, &batch->columns[i], batch->rows, error);
    struct block *blocks = realloc(file->blocks, (file->blocks_n + 1) * sizeof *blocks);
    if (!blocks)
        return table_files_fail(error, TTR_E_NOMEM, "out of memory");
    file->blocks = blocks;
    file->blocks[file->blocks_n++] = block;
    return status;
}

/* --- Start and end --- */

static ttr_status write_file_header(struct file *file, const struct batch *batch, ttr_error *error)
{
    struct flat flat = {.p = NULL};
    uint32_t head_n;
    ttr_status status = write_bytes(file, "ARROW1\0\0", 8, error);
    const flat_position header = add_schema(&flat, batch);
    if (status == TTR_OK)
        status =
            write_head(file, &flat, add_message(&flat, HEADER_SCHEMA, header, 0), &head_n, error);
    flat_free(&flat);
    return status;
}

static ttr_status write_footer(struct file *file, const struct batch *batch, ttr_error *error)
{
    static const uint8_t end[] = {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0};
    struct flat flat = {.p = NULL};
    struct bytes tail = {.p = NULL};
    const flat_position schema = add_schema(&flat, batch);
    flat_begin_vector(&flat, file->blocks_n, 24);
    for (size_t i = file->blocks_n; i-- > 0;) {
        flat_add_number(&flat, file->blocks[i].body_n, 8);
        flat_add_number(&flat, file->blocks[i].head_n, 8); /* 4 bytes, and 4 of padding */
        flat_add_number(&flat, file->blocks[i].offset, 8);
    }
    const flat_position blocks = flat_end_vector(&flat, file->blocks_n);
    flat_begin_vector(&flat, 0, 24);
    const flat_position dictionaries = flat_end_vector(&flat, 0);
    flat_begin_table(&flat);
    flat_field_reference(&flat, 1, schema);
    flat_field_reference(&flat, 2, dictionaries);
    flat_field_reference(&flat, 3, blocks);
    flat_field_number(&flat, 0, VERSION_5, 2);
    const uint8_t *footer = flat_finish(&flat, flat_end_table(&flat));
    bytes_add_number(&tail, flat.n, 4);
    bytes_add(&tail, "ARROW1", 6);
    ttr_status status = footer && !tail.is_failed
                            ? write_bytes(file, end, sizeof end, error)
                            : table_files_fail(error, TTR_E_NOMEM, "out of memory");
    if (status == TTR_OK)
        status = write_bytes(file, footer, flat.n, error);
    if (status == TTR_OK)
        status = write_bytes(file, tail.p, tail.n, error);
    bytes_free(&tail);
    flat_free(&flat);
    return status;
}

ttr_status arrow_write(ttr_query *query, const char *sql, FILE *to, ttr_error *error)
{
    struct file file = {.to = to};
    ttr_result *result;
    struct batch *batch = batch_new(query, sql, &result, error);
    if (!batch)
        return error->status;
    ttr_status status = write_file_header(&file, batch, error);
    while (status == TTR_OK && (status = batch_read(batch, result, error)) == TTR_OK)
        status = write_batch(&file, batch, error);
    if (status == TTR_END)
        status = write_footer(&file, batch, error);
    ttr_result_free(result);
    free(file.blocks);
    batch_free(batch);
    return status;
}
