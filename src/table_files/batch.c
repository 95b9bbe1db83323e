/* Rows of a result as columns; see the header. */
#include "query/query.h"
#include "base/utf.h"
#include "table_files/batch.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

ttr_status table_files_fail(ttr_error *error, ttr_status status, const char *format, ...)
{
    va_list list;
    if (!error)
        return status;
    *error = (ttr_error){.status = status, .offset = UINT64_MAX, .record = UINT64_MAX};
    va_start(list, format);
    (void)vsnprintf(error->text, sizeof error->text, format, list);
    va_end(list);
    return status;
}

/* --- Types --- */

/* Widens the type of a column so that it holds a value too. -1 means unknown. */
static int widen(int type, ttr_type value)
{
    switch (value) {
    case TTR_TYPE_NULL:
        return type;
    case TTR_TYPE_INT:
        return type < 0 ? BATCH_INT : type;
    case TTR_TYPE_FLOAT:
        return type < BATCH_REAL ? BATCH_REAL : type;
    case TTR_TYPE_BYTES:
        return BATCH_BLOB;
    default:
        return type < BATCH_TEXT ? BATCH_TEXT : type;
    }
}

/* Finds the types of columns that no table declares, by running the statement. */
static ttr_status find_column_types(ttr_query *query, const char *sql, int *types, size_t n,
                                    ttr_error *error)
{
    ttr_status status;
    ttr_result *result = ttr_query_prepare(query, sql, NULL, error);
    if (!result)
        return TTR_E_MISUSE;
    while ((status = ttr_result_step(result, error)) == TTR_OK)
        for (size_t i = 0; i < n; i++)
            types[i] = widen(types[i], ttr_result_type(result, i));
    ttr_result_free(result);
    return status == TTR_END ? TTR_OK : status;
}

/* --- Memory --- */

void batch_free(struct batch *batch)
{
    for (size_t i = 0; batch && i < batch->columns_n; i++) {
        struct batch_column *column = &batch->columns[i];
        free(column->name);
        free(column->is_valid);
        free(column->ints);
        free(column->starts);
        bytes_free(&column->data);
    }
    if (batch)
        free(batch->columns);
    free(batch);
}

static bool allocate_column(struct batch_column *column, const char *name, int type)
{
    column->name = strdup(name);
    column->type = (uint8_t)(type < 0 ? BATCH_TEXT : type); /* a column of NULLs is of texts */
    column->is_valid = calloc(BATCH_ROWS, 1);
    if (column->type <= BATCH_REAL)
        column->ints = calloc(BATCH_ROWS, sizeof *column->ints);
    else
        column->starts = calloc(BATCH_ROWS + 1, sizeof *column->starts);
    return column->name && column->is_valid && (column->ints || column->starts);
}

static struct batch *allocate_batch(const ttr_result *result, const int *types)
{
    struct batch *batch = calloc(1, sizeof *batch);
    if (!batch)
        return NULL;
    batch->columns_n = ttr_result_columns(result);
    batch->columns = calloc(batch->columns_n + 1, sizeof *batch->columns);
    bool is_fine = batch->columns != NULL;
    for (size_t i = 0; is_fine && i < batch->columns_n; i++)
        is_fine = allocate_column(&batch->columns[i], ttr_result_name(result, i), types[i]);
    if (is_fine)
        return batch;
    if (!batch->columns)
        batch->columns_n = 0;
    batch_free(batch);
    return NULL;
}

struct batch *batch_new(ttr_query *query, const char *sql, ttr_result **result, ttr_error *error)
{
    static const int8_t declared[] = {
        [TTR_TYPE_INT] = BATCH_INT, [TTR_TYPE_FLOAT] = BATCH_REAL, [TTR_TYPE_TEXT] = BATCH_TEXT};
    struct batch *batch = NULL;
    ttr_status status = TTR_OK;
    *result = ttr_query_prepare(query, sql, NULL, error);
    const size_t n = *result ? ttr_result_columns(*result) : 0;
    int *types = calloc(n + 1, sizeof *types);
    bool are_declared = true;
    for (size_t i = 0; types && i < n; i++) {
        const ttr_type type = query_declared_type(*result, i);
        types[i] = type == TTR_TYPE_NULL ? -1 : declared[type];
        are_declared &= types[i] >= 0;
    }
    if (types && *result && !are_declared)
        status = find_column_types(query, sql, types, n, error);
    if (types && *result && status == TTR_OK && !(batch = allocate_batch(*result, types)))
        status = table_files_fail(error, TTR_E_NOMEM, "out of memory");
    if (!types)
        (void)table_files_fail(error, TTR_E_NOMEM, "out of memory");
    free(types);
    if (!batch) {
        ttr_result_free(*result);
        *result = NULL;
    }
    return batch;
}

/* --- Rows --- */

void batch_add_text(struct bytes *to, ttr_text text)
{
    const uint8_t *p = (const uint8_t *)text.p;
    size_t valid = 0;
    for (size_t i = 0; i < text.n;) {
        uint32_t code;
        const size_t length = utf8_decode(p + i, text.n - i, &code);
        if (length > 0) {
            i += length;
            continue;
        }
        bytes_add(to, p + valid, i - valid);
        bytes_add(to, "\xef\xbf\xbd", 3);
        valid = ++i;
    }
    bytes_add(to, p + valid, text.n - valid);
}

static void add_cell(struct batch_column *column, ttr_result *result, size_t i, uint32_t row)
{
    const bool is_null = ttr_result_type(result, i) == TTR_TYPE_NULL;
    column->is_valid[row] = !is_null;
    column->nulls += is_null;
    if (column->type == BATCH_INT) {
        column->ints[row] = is_null ? 0 : ttr_result_int(result, i);
    } else if (column->type == BATCH_REAL) {
        const double real = is_null ? 0 : ttr_result_real(result, i);
        memcpy(&column->ints[row], &real, sizeof real);
    } else {
        if (!is_null && column->type == BATCH_TEXT)
            batch_add_text(&column->data, ttr_result_text(result, i));
        else if (!is_null) {
            const ttr_text text = ttr_result_text(result, i);
            bytes_add(&column->data, text.p, text.n);
        }
        column->starts[row + 1] = (uint32_t)column->data.n;
    }
}

ttr_status batch_read(struct batch *batch, ttr_result *result, ttr_error *error)
{
    ttr_status status = TTR_OK;
    size_t largest = 0;
    bool is_failed = false;
    batch->rows = 0;
    if (batch->is_at_end)
        return TTR_END;
    for (size_t i = 0; i < batch->columns_n; i++) {
        batch->columns[i].nulls = 0;
        batch->columns[i].data.n = 0;
    }
    while (batch->rows < BATCH_ROWS && largest < BATCH_BYTES && !is_failed &&
           (status = ttr_result_step(result, error)) == TTR_OK) {
        for (size_t i = 0; i < batch->columns_n; i++) {
            struct batch_column *column = &batch->columns[i];
            add_cell(column, result, i, batch->rows);
            largest = column->data.n > largest ? column->data.n : largest;
            is_failed |= column->data.is_failed || column->data.n > UINT32_MAX / 2;
        }
        batch->rows++;
    }
    if (is_failed)
        return table_files_fail(error, TTR_E_NOMEM, "out of memory");
    if (status != TTR_OK && status != TTR_END)
        return status;
    batch->is_at_end = status == TTR_END;
    return batch->rows > 0 ? TTR_OK : TTR_END;
}
