/* The rows of a statement as an Arrow C stream, without copying of columns
 * (arrow.apache.org/docs/format/CStreamInterface.html).
 *
 * Each array is a struct with a child per column. The memory of a batch belongs to its array, and
 * is freed by the array's release. */
#include <errno.h>

#include "table_files/arrow.h"

/* The ABI of Arrow. */
struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *schema);
    void *private_data;
};
struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *array);
    void *private_data;
};
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *stream, struct ArrowSchema *to);
    int (*get_next)(struct ArrowArrayStream *stream, struct ArrowArray *to);
    const char *(*get_last_error)(struct ArrowArrayStream *stream);
    void (*release)(struct ArrowArrayStream *stream);
    void *private_data;
};
#define NULLABLE 2

struct stream {
    ttr_result *result;
    struct batch *batch;
    ttr_error error;
};

/* --- Schemas --- */

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i] && schema->children[i]->release)
            schema->children[i]->release(schema->children[i]);
        free(schema->children[i]);
    }
    free(schema->children);
    free(schema->private_data);
    schema->release = NULL;
}

/* Makes the schema of one column; its name is copied. */
static bool make_schema(struct ArrowSchema *schema, const char *name, const char *format)
{
    char *copy = strdup(name);
    *schema = (struct ArrowSchema){.format = format,
                                   .name = copy,
                                   .flags = NULLABLE,
                                   .release = release_schema,
                                   .private_data = copy};
    return copy != NULL;
}

static int get_schema(struct ArrowArrayStream *from, struct ArrowSchema *to)
{
    static const char *const formats[] = {
        [BATCH_INT] = "l", [BATCH_REAL] = "g", [BATCH_TEXT] = "u", [BATCH_BLOB] = "z"};
    const struct stream *stream = from->private_data;
    const size_t n = stream->batch->columns_n;
    bool is_fine = make_schema(to, "", "+s");
    to->children = calloc(n + 1, sizeof(struct ArrowSchema *));
    is_fine = is_fine && to->children;
    for (size_t i = 0; i < n && is_fine; i++) {
        const struct batch_column *column = &stream->batch->columns[i];
        to->children[i] = calloc(1, sizeof **to->children);
        to->n_children++;
        is_fine =
            to->children[i] && make_schema(to->children[i], column->name, formats[column->type]);
    }
    if (!is_fine)
        release_schema(to);
    return is_fine ? 0 : ENOMEM;
}

/* --- Arrays --- */

static void release_array(struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i] && array->children[i]->release)
            array->children[i]->release(array->children[i]);
        free(array->children[i]);
    }
    free(array->children);
    for (int64_t i = 0; array->buffers && i < array->n_buffers; i++) {
        void *buffer;
        memcpy(&buffer, &array->buffers[i], sizeof buffer);
        free(buffer);
    }
    free(array->buffers);
    array->release = NULL;
}

/* Moves the memory of a column to an array, and gives the column new memory. */
static bool move_column(struct ArrowArray *array, struct batch_column *column, uint32_t rows)
{
    const bool is_text = column->type >= BATCH_TEXT;
    *array = (struct ArrowArray){.length = rows,
                                 .null_count = (int64_t)column->nulls,
                                 .n_buffers = is_text ? 3 : 2,
                                 .buffers = calloc(3, sizeof(void *)),
                                 .release = release_array};
    uint8_t *validity = calloc(arrow_validity_bytes(rows) + 1, 1);
    if (!array->buffers || !validity) {
        free(validity);
        return false;
    }
    arrow_pack_validity(column, rows, validity);
    array->buffers[0] = validity;
    if (!is_text) {
        array->buffers[1] = column->ints;
        column->ints = calloc(BATCH_ROWS, sizeof *column->ints);
        return column->ints != NULL;
    }
    array->buffers[1] = column->starts;
    array->buffers[2] = bytes_room(&column->data, 1) ? column->data.p : NULL;
    column->data = (struct bytes){.p = NULL};
    column->starts = calloc(BATCH_ROWS + 1, sizeof *column->starts);
    return column->starts && array->buffers[2];
}

static int get_next(struct ArrowArrayStream *from, struct ArrowArray *to)
{
    struct stream *stream = from->private_data;
    struct batch *batch = stream->batch;
    const ttr_status status = batch_read(batch, stream->result, &stream->error);
    *to = (struct ArrowArray){.release = NULL};
    if (status == TTR_END)
        return 0;
    if (status != TTR_OK)
        return status == TTR_E_NOMEM ? ENOMEM : EIO;
    *to = (struct ArrowArray){.length = batch->rows,
                              .n_buffers = 1,
                              .buffers = calloc(1, sizeof(void *)),
                              .children = calloc(batch->columns_n + 1, sizeof(struct ArrowArray *)),
                              .release = release_array};
    bool is_fine = to->buffers && to->children;
    for (size_t i = 0; i < batch->columns_n && is_fine; i++) {
        to->children[i] = calloc(1, sizeof **to->children);
        to->n_children++;
        is_fine = to->children[i] && move_column(to->children[i], &batch->columns[i], batch->rows);
    }
    if (!is_fine)
        release_array(to);
    return is_fine ? 0 : ENOMEM;
}

/* --- Streams --- */

static const char *get_last_error(struct ArrowArrayStream *from)
{
    const struct stream *stream = from->private_data;
    return stream->error.text[0] ? stream->error.text : NULL;
}

static void release_stream(struct ArrowArrayStream *from)
{
    struct stream *stream = from->private_data;
    ttr_result_free(stream->result);
    batch_free(stream->batch);
    free(stream);
    from->release = NULL;
}

ttr_status ttr_query_arrow(ttr_query *query, const char *sql, struct ArrowArrayStream *to,
                           ttr_error *error)
{
    struct stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return table_files_fail(error, TTR_E_NOMEM, "out of memory");
    stream->batch = batch_new(query, sql, &stream->result, &stream->error);
    if (!stream->batch) {
        const ttr_status status = stream->error.status;
        if (error)
            *error = stream->error;
        free(stream);
        return status;
    }
    *to = (struct ArrowArrayStream){.get_schema = get_schema,
                                    .get_next = get_next,
                                    .get_last_error = get_last_error,
                                    .release = release_stream,
                                    .private_data = stream};
    return TTR_OK;
}
