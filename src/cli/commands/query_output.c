/* Prints results of queries; see the header. */
#include "cli/commands/query_output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/query_session.h"
#include "cli/ui/json.h"

#define SAMPLE 200u   /* rows that decide the widths of a table */
#define WIDTH_MAX 80u /* columns of a cell that is padded */
#define CELL_MAX 64u  /* bytes of a number */

/* A result that is being printed. */
struct output {
    const struct call *call;
    const struct query_library *library;
    ttr_result *result;
    size_t columns;
    bool has_head; /* CSV, TSV: print the names of the columns */
};

/* --- Cells --- */

/* Returns the text of a cell; numbers are written to `number`. NULL is "". */
static ttr_text cell_text(const struct output *out, size_t column, char number[CELL_MAX])
{
    int n = 0;
    switch (out->library->type(out->result, column)) {
    case TTR_TYPE_INT:
        n = snprintf(number, CELL_MAX, "%" PRId64, out->library->get_int(out->result, column));
        break;
    case TTR_TYPE_FLOAT:
        n = snprintf(number, CELL_MAX, "%.17g", out->library->get_real(out->result, column));
        for (int digits = 6; digits < 17; digits++) {
            const int shorter = snprintf(number, CELL_MAX, "%.*g", digits,
                                         out->library->get_real(out->result, column));
            n = shorter;
            if (strtod(number, NULL) == out->library->get_real(out->result, column))
                break;
        }
        break;
    case TTR_TYPE_NULL:
        break;
    default:
        return out->library->get_text(out->result, column);
    }
    return (ttr_text){number, (size_t)n};
}

static bool is_number_column(const struct output *out, size_t column)
{
    const ttr_type type = out->library->type(out->result, column);
    return type == TTR_TYPE_INT || type == TTR_TYPE_FLOAT;
}

/* --- CSV, TSV, Markdown --- */

static void print_csv_cell(ttr_text text)
{
    bool is_plain = true;
    for (size_t i = 0; i < text.n; i++)
        is_plain &= text.p[i] != ',' && text.p[i] != '"' && text.p[i] != '\n' && text.p[i] != '\r';
    if (is_plain) {
        (void)fwrite(text.p, 1, text.n, stdout);
        return;
    }
    (void)putchar('"');
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '"')
            (void)putchar('"');
        (void)putchar(text.p[i]);
    }
    (void)putchar('"');
}

static void print_tsv_cell(ttr_text text)
{
    for (size_t i = 0; i < text.n; i++) {
        const char c = text.p[i];
        if (c == '\t' || c == '\n' || c == '\r' || c == '\\')
            (void)printf("\\%c", c == '\t' ? 't' : c == '\n' ? 'n' : c == '\r' ? 'r' : c);
        else
            (void)putchar(c);
    }
}

static void print_markdown_cell(ttr_text text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '|')
            (void)putchar('\\');
        (void)putchar((unsigned char)text.p[i] < 0x20 ? ' ' : text.p[i]);
    }
}

/* A format of rows of texts between separators. */
struct separated {
    const char *before, *between, *after;
    void (*print)(ttr_text text);
    bool has_rule; /* Markdown: a line of dashes after the head */
};

/* Prints a text. On a terminal its control characters are escaped first. */
static void print_separated_text(const struct output *out, const struct separated *how,
                                 ttr_text text)
{
    char *escaped = NULL;
    size_t n = 0;
    if (!out->call->term.out_is_tty) {
        how->print(text);
        return;
    }
    FILE *to = open_memstream(&escaped, &n);
    if (!to)
        return;
    term_text_to(to, text);
    (void)fclose(to);
    how->print((ttr_text){escaped, n});
    free(escaped);
}

static void print_column_names(const struct output *out, const struct separated *how)
{
    (void)fputs(how->before, stdout);
    for (size_t i = 0; i < out->columns; i++) {
        const char *name = out->library->name(out->result, i);
        (void)fputs(i ? how->between : "", stdout);
        print_separated_text(out, how, (ttr_text){name, strlen(name)});
    }
    (void)fputs(how->after, stdout);
    if (!how->has_rule)
        return;
    for (size_t i = 0; i < out->columns; i++)
        (void)fputs(i ? " --- |" : "| --- |", stdout);
    (void)putchar('\n');
}

static ttr_status print_separated_rows(const struct output *out, const struct separated *how,
                                       ttr_error *error)
{
    char number[CELL_MAX];
    ttr_status status = out->library->step(out->result, error);
    if (status != TTR_OK && status != TTR_END)
        return status;
    if (out->has_head || how->has_rule)
        print_column_names(out, how);
    for (; status == TTR_OK; status = out->library->step(out->result, error)) {
        (void)fputs(how->before, stdout);
        for (size_t i = 0; i < out->columns; i++) {
            (void)fputs(i ? how->between : "", stdout);
            print_separated_text(out, how, cell_text(out, i, number));
        }
        (void)fputs(how->after, stdout);
    }
    return status;
}

/* --- JSON --- */

static void write_cell_json(const struct output *out, struct json *json, size_t column)
{
    const char *name = out->library->name(out->result, column);
    ttr_value value = {.type = (uint8_t)out->library->type(out->result, column)};
    if (value.type == TTR_TYPE_INT)
        value.v.s = out->library->get_int(out->result, column);
    else if (value.type == TTR_TYPE_FLOAT)
        value.v.f = out->library->get_real(out->result, column);
    else if (value.type != TTR_TYPE_NULL) {
        value.type = TTR_TYPE_TEXT;
        value.text = out->library->get_text(out->result, column);
    }
    json_write_member(json, (ttr_text){name, strlen(name)}, &value);
}

static ttr_status print_json_rows(const struct output *out, bool is_lines, ttr_error *error)
{
    struct json json = {.to = stdout, .is_flat = is_lines};
    ttr_status status = out->library->step(out->result, error);
    if (status != TTR_OK && status != TTR_END)
        return status;
    if (!is_lines)
        json_open(&json, NULL, '[');
    for (; status == TTR_OK; status = out->library->step(out->result, error)) {
        json_open(&json, NULL, '{');
        for (size_t i = 0; i < out->columns; i++)
            write_cell_json(out, &json, i);
        json_close(&json, '}');
    }
    if (!is_lines)
        json_close(&json, ']');
    return status;
}

/* --- Tables --- */

/* Rows that are kept until the widths of the columns are known. */
struct sample {
    char **cells; /* SAMPLE rows of `columns` texts; NULL = empty */
    bool *is_number;
    size_t *width;
    size_t rows;
};

static void free_sample_rows(const struct output *out, struct sample *sample)
{
    for (size_t i = 0; sample->cells && i < sample->rows * out->columns; i++)
        free(sample->cells[i]);
    free(sample->cells);
    free(sample->is_number);
    free(sample->width);
}

static void print_padded_cell(const struct sample *sample, size_t column, ttr_text text,
                              bool is_number, bool is_last)
{
    const size_t columns = term_columns(text), width = sample->width[column];
    const int pad = columns < width ? (int)(width - columns) : 0;
    if (is_number)
        (void)printf("%*s", pad, "");
    term_text(text);
    if (!is_number && !is_last)
        (void)printf("%*s", pad, "");
    (void)fputs(is_last ? "\n" : "  ", stdout);
}

/* Reads the first rows. Returns the status of the last step. */
static ttr_status read_sample_rows(const struct output *out, struct sample *sample,
                                   ttr_error *error)
{
    ttr_status status = TTR_OK;
    char number[CELL_MAX];
    while (sample->rows < SAMPLE && (status = out->library->step(out->result, error)) == TTR_OK) {
        for (size_t i = 0; i < out->columns; i++) {
            const ttr_text text = cell_text(out, i, number);
            const size_t at = sample->rows * out->columns + i, columns = term_columns(text);
            sample->cells[at] = strndup(text.p, text.n);
            sample->is_number[at] = is_number_column(out, i);
            if (columns > sample->width[i])
                sample->width[i] = columns < WIDTH_MAX ? columns : WIDTH_MAX;
        }
        sample->rows++;
    }
    return status;
}

static void print_sample_rows(const struct output *out, const struct sample *sample)
{
    const struct terminal *term = &out->call->term;
    (void)fputs(term_ink(term, INK_BOLD), stdout);
    for (size_t i = 0; i < out->columns; i++) {
        const char *name = out->library->name(out->result, i);
        print_padded_cell(sample, i, (ttr_text){name, strlen(name)},
                          sample->rows > 0 && sample->is_number[i], i + 1 == out->columns);
    }
    (void)fputs(term_ink(term, INK_PLAIN), stdout);
    for (size_t row = 0; row < sample->rows; row++)
        for (size_t i = 0; i < out->columns; i++) {
            const size_t at = row * out->columns + i;
            const char *text = sample->cells[at] ? sample->cells[at] : "";
            print_padded_cell(sample, i, (ttr_text){text, strlen(text)}, sample->is_number[at],
                              i + 1 == out->columns);
        }
}

static ttr_status print_text_table(const struct output *out, ttr_error *error)
{
    char number[CELL_MAX];
    struct sample sample = {
        .cells = calloc(SAMPLE * out->columns, sizeof *sample.cells),
        .is_number = calloc(SAMPLE * out->columns, sizeof *sample.is_number),
        .width = calloc(out->columns, sizeof *sample.width),
    };
    ttr_status status = TTR_E_NOMEM;
    if (sample.cells && sample.is_number && sample.width) {
        for (size_t i = 0; i < out->columns; i++) {
            const char *name = out->library->name(out->result, i);
            sample.width[i] = term_columns((ttr_text){name, strlen(name)});
        }
        status = read_sample_rows(out, &sample, error);
        if (sample.rows > 0 || status == TTR_END)
            print_sample_rows(out, &sample);
    }
    while (status == TTR_OK && (status = out->library->step(out->result, error)) == TTR_OK)
        for (size_t i = 0; i < out->columns; i++)
            print_padded_cell(&sample, i, cell_text(out, i, number), is_number_column(out, i),
                              i + 1 == out->columns);
    free_sample_rows(out, &sample);
    return status;
}

ttr_status print_query_result(const struct call *call, const struct query_library *library,
                              ttr_result *result, bool has_head, ttr_error *error)
{
    static const struct separated csv = {"", ",", "\n", print_csv_cell, false};
    static const struct separated tsv = {"", "\t", "\n", print_tsv_cell, false};
    static const struct separated markdown = {"| ", " | ", " |\n", print_markdown_cell, true};
    const struct output out = {call, library, result, library->columns(result), has_head};
    const char *format = call->set.format ? call->set.format : "table";
    if (out.columns == 0)
        return library->step(result, error);
    if (strcmp(format, "csv") == 0)
        return print_separated_rows(&out, &csv, error);
    if (strcmp(format, "tsv") == 0)
        return print_separated_rows(&out, &tsv, error);
    if (strcmp(format, "markdown") == 0)
        return print_separated_rows(&out, &markdown, error);
    if (format[0] == 'j')
        return print_json_rows(&out, strcmp(format, "jsonl") == 0, error);
    return print_text_table(&out, error);
}
