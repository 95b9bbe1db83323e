/* Fuzzes the writers of tables. The input becomes rows of integers, doubles, texts, bytes and NULLs
 * in up to eight columns. Parquet and Arrow files of them have their marks and a footer within the
 * file. Other programs read such files back in tests/peers/tables.sh. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tracetta/query.h>

#include "base/buffer.h"
#include "fuzz/fuzz.h"

#define COLUMNS_MAX 8u
#define CELLS_MAX 600u
#define FILE_BYTES_MAX ((size_t)1 << 20)

static char folder[] = "/tmp/fuzz-tables-XXXXXX";

static void remove_folder(void)
{
    (void)rmdir(folder);
}

static void append(struct buffer *text, const char *bytes)
{
    buffer_add(text, bytes, strlen(bytes));
}

/* Appends a literal of SQL made of the next bytes; returns the number of bytes that it used. */
static size_t append_cell(struct buffer *text, const uint8_t *bytes, size_t n)
{
    char number[64];
    int64_t value = 0;
    const unsigned kind = bytes[0] % 6;
    const size_t size = n > 9 ? 9 : n;
    const size_t length = n > 1 ? bytes[1] % 20 : 0;
    memcpy(&value, bytes + 1, size - 1);
    switch (kind) {
    case 0:
        append(text, "NULL");
        return 1;
    case 1:
        (void)snprintf(number, sizeof number, "%d", (int)bytes[0] - 100);
        append(text, number);
        return 1;
    case 2:
        if (value == INT64_MIN)
            value = 0;
        (void)snprintf(number, sizeof number, "%lld", (long long)value);
        append(text, number);
        return size;
    case 3:
        (void)snprintf(number, sizeof number, "%d.%ue%d", (int)(value % 1000), bytes[0] % 7u,
                       (int)(value % 300));
        append(text, number);
        return size;
    default:
        append(text, kind == 4 ? "CAST(x'" : "x'");
        for (size_t i = 0; i < length && 2 + i < n; i++) {
            (void)snprintf(number, sizeof number, "%02x", bytes[2 + i]);
            append(text, number);
        }
        append(text, kind == 4 ? "' AS TEXT)" : "'");
        return 2 + length < n ? 2 + length : n;
    }
}

/* Makes "SELECT * FROM (VALUES (...), ...)". */
static void make_statement(struct buffer *text, const uint8_t *bytes, size_t n)
{
    const unsigned columns = 1 + bytes[0] % COLUMNS_MAX;
    size_t at = 1;
    append(text, "SELECT * FROM (VALUES ");
    for (unsigned row = 0; row == 0 || (at < n && row < CELLS_MAX / columns); row++) {
        append(text, row ? ", (" : "(");
        for (unsigned i = 0; i < columns; i++) {
            append(text, i ? ", " : "");
            if (at < n)
                at += append_cell(text, bytes + at, n - at);
            else
                append(text, "NULL");
        }
        append(text, ")");
    }
    append(text, ")");
    buffer_add_byte(text, '\0');
    if (text->failed)
        fuzz_stop("memory runs out");
}

static void check_file(const char *path, const char *start, const char *end)
{
    static uint8_t bytes[FILE_BYTES_MAX];
    FILE *file = fopen(path, "rbe");
    const size_t n = file ? fread(bytes, 1, sizeof bytes, file) : 0, mark = strlen(end);
    uint32_t footer = 0;
    if (file)
        (void)fclose(file);
    if (n == sizeof bytes)
        return;
    if (n < strlen(start) + mark + 4 || memcmp(bytes, start, strlen(start)) != 0 ||
        memcmp(bytes + n - mark, end, mark) != 0)
        fuzz_stop("a file has no marks");
    memcpy(&footer, bytes + n - mark - 4, 4);
    if (footer == 0 || footer > n - mark - 4)
        fuzz_stop("a footer is outside of its file");
}

static void write_table(ttr_query *query, const char *sql, const char *format, const char *start,
                        const char *end)
{
    char path[64];
    ttr_error error = {0};
    const ttr_query_table table = {"t", sql};
    (void)snprintf(path, sizeof path, "%s/t.%s", folder, format);
    const ttr_query_output output = {.path = path, .format = format, .flags = TTR_WRITE_OVERWRITE};
    const ttr_status status = ttr_query_write(query, &table, 1, &output, &error);
    if (status == TTR_OK)
        check_file(path, start, end);
    else if (status != TTR_E_LIMIT)
        fuzz_stop(error.text);
    (void)unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static bool has_folder;
    static ttr *t;
    struct buffer text;
    ttr_error error;
    if (!has_folder) {
        if (!mkdtemp(folder) || !(t = ttr_new(NULL)))
            fuzz_stop("no folder");
        (void)atexit(remove_folder);
        has_folder = true;
    }
    if (n == 0)
        return 0;
    buffer_init(&text, alloc_default());
    make_statement(&text, bytes, n);
    ttr_query *query = ttr_query_new(t, NULL, &error);
    if (!query)
        fuzz_stop("no query");
    write_table(query, (const char *)text.bytes, "parquet", "PAR1", "PAR1");
    write_table(query, (const char *)text.bytes, "arrow", "ARROW1", "ARROW1");
    ttr_query_free(query);
    buffer_free(&text);
    return 0;
}
