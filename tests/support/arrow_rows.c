/* Prints the rows of a statement, read from its Arrow C stream: tab-separated, NULL as "NULL".
 * usage: arrow_rows TRACE SQL */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <tracetta/query.h>

/* The C interface of Arrow, as a consumer declares it. */
struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};
struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

static void print_cell(const char *format, const struct ArrowArray *array, int64_t row)
{
    const unsigned char *valid = array->buffers[0];
    if (!(valid[row / 8] >> (row % 8) & 1)) {
        (void)fputs("NULL", stdout);
    } else if (*format == 'l') {
        (void)printf("%" PRId64, ((const int64_t *)array->buffers[1])[row]);
    } else if (*format == 'g') {
        (void)printf("%.17g", ((const double *)array->buffers[1])[row]);
    } else {
        const int32_t *starts = array->buffers[1];
        (void)fwrite((const char *)array->buffers[2] + starts[row], 1,
                     (size_t)(starts[row + 1] - starts[row]), stdout);
    }
}

static void print_stream(struct ArrowArrayStream *stream)
{
    struct ArrowSchema schema;
    struct ArrowArray array;
    if (stream->get_schema(stream, &schema) != 0)
        return;
    while (stream->get_next(stream, &array) == 0 && array.release) {
        for (int64_t row = 0; row < array.length; row++)
            for (int64_t i = 0; i < array.n_children; i++) {
                print_cell(schema.children[i]->format, array.children[i], row);
                (void)putchar(i + 1 < array.n_children ? '\t' : '\n');
            }
        array.release(&array);
    }
    schema.release(&schema);
}

int main(int argc, char **argv)
{
    ttr_error error = {0};
    struct ArrowArrayStream stream;
    const ttr_store_options options = {.size = sizeof options};
    ttr *t = ttr_new(NULL);
    ttr_reader *in = argc > 2 ? ttr_open(t, argv[1], NULL, &error) : NULL;
    ttr_store *store = in ? ttr_store_new(t, &options, &error) : NULL;
    ttr_query *query = NULL;
    bool is_fine = store && ttr_store_read(store, in, NULL, NULL, &error) == TTR_OK;
    if (is_fine)
        query = ttr_query_new(t, store, &error);
    is_fine = query && ttr_query_arrow(query, argv[2], &stream, &error) == TTR_OK;
    if (is_fine) {
        print_stream(&stream);
        stream.release(&stream);
    } else {
        (void)fprintf(stderr, "%s\n", error.text);
    }
    ttr_query_free(query);
    ttr_store_free(store);
    ttr_close(in);
    ttr_free(t);
    return !is_fine;
}
