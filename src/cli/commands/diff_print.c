/* Prints comparisons of traces as tables, Markdown and JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands/diff.h"
#include "cli/ui/units.h"

#define ROWS_DEFAULT 30u
#define CELL_BYTES 64u
/* the columns of each number: before, after, change; then the probability, then the key */
#define CELLS_MAX (3 * DIFF_COLUMNS_MAX + 2)

struct cells {
    char text[CELLS_MAX][CELL_BYTES];
    size_t n;
};

static size_t count_rows(const struct call *call, const struct diff_table *table)
{
    const size_t most = call->set.limit ? (size_t)call->set.limit : ROWS_DEFAULT;
    return table->rows_n < most ? table->rows_n : most;
}

static void add_cell(struct cells *cells, const char *text)
{
    (void)snprintf(cells->text[cells->n++], CELL_BYTES, "%s", text);
}

static void add_value(struct cells *cells, const struct diff_column *column, double value)
{
    char *to = cells->text[cells->n++];
    if (column->unit == DIFF_NS)
        (void)snprintf(to, CELL_BYTES, "%s", units_duration(value > 0 ? (uint64_t)value : 0).s);
    else if (column->unit == DIFF_COUNT)
        (void)snprintf(to, CELL_BYTES, "%s", units_count((uint64_t)value).s);
    else
        (void)snprintf(to, CELL_BYTES, "%.6g", value);
}

static void add_change(struct cells *cells, const struct diff_row *row, size_t column)
{
    const double percent = diff_percent(row, column);
    char *to = cells->text[cells->n++];
    if (!row->has[0] || !row->has[1])
        (void)snprintf(to, CELL_BYTES, "%s", row->has[1] ? "new" : "gone");
    else if (isinf(percent) || percent > 99999)
        (void)snprintf(to, CELL_BYTES, ">99999 %%");
    else
        (void)snprintf(to, CELL_BYTES, "%+.1f %%", percent);
}

/* Fills the cells of the head, or of a row. */
static void fill_cells(const struct diff_table *table, const struct diff_row *row,
                       struct cells *cells)
{
    const struct diff_section *section = table->section;
    cells->n = 0;
    for (size_t i = 0; i < section->columns_n; i++) {
        const struct diff_column *column = &section->columns[i];
        if (!row) {
            add_cell(cells, column->name);
            add_cell(cells, "after");
            add_cell(cells, "change");
            continue;
        }
        add_value(cells, column, row->values[0][i]);
        add_value(cells, column, row->values[1][i]);
        add_change(cells, row, i);
    }
    if (section->has_samples)
        add_cell(cells, row ? diff_probability(row) : "p");
}

static void print_markdown_key(const char *key)
{
    for (; *key; key++) {
        if (*key == '|')
            (void)putchar('\\');
        (void)putchar((unsigned char)*key < 0x20 ? ' ' : *key);
    }
}

static void print_row(const struct diff_table *table, const struct cells *cells,
                      const size_t *widths, const char *key, bool is_markdown)
{
    (void)table;
    for (size_t i = 0; i < cells->n; i++)
        (void)printf(is_markdown ? "| %*s " : "%*s  ",
                     (int)(widths[i] + strlen(cells->text[i]) -
                           term_columns((ttr_text){cells->text[i], strlen(cells->text[i])})),
                     cells->text[i]);
    if (is_markdown) {
        (void)fputs("| ", stdout);
        print_markdown_key(key);
        (void)fputs(" |\n", stdout);
        return;
    }
    term_text((ttr_text){key, strlen(key)});
    (void)putchar('\n');
}

void print_diff_table(const struct call *call, const struct diff_table *table)
{
    const bool is_markdown = call->set.format && strcmp(call->set.format, "markdown") == 0;
    const size_t n = count_rows(call, table);
    size_t widths[CELLS_MAX] = {0};
    struct cells cells;
    for (size_t i = 0; i <= n; i++) {
        fill_cells(table, i ? &table->rows[i - 1] : NULL, &cells);
        for (size_t k = 0; k < cells.n; k++)
            if (strlen(cells.text[k]) > widths[k])
                widths[k] = strlen(cells.text[k]);
    }
    (void)printf(is_markdown ? "### %s\n" : "%s\n", table->section->name);
    for (size_t i = 0; i <= n; i++) {
        const struct diff_row *row = i ? &table->rows[i - 1] : NULL;
        fill_cells(table, row, &cells);
        print_row(table, &cells, widths, row ? row->key : table->section->key, is_markdown);
        for (size_t k = 0; !row && is_markdown && k <= cells.n; k++)
            (void)fputs(k < cells.n ? "| ---: " : "| --- |\n", stdout);
    }
    if (n < table->rows_n)
        (void)printf("%s%zu more: --limit=N shows them\n", is_markdown ? "\n" : "",
                     table->rows_n - n);
    (void)putchar('\n');
}

static void write_side(struct json *json, const struct diff_table *table,
                       const struct diff_row *row, int side)
{
    char key[40];
    json_open(json, side ? "after" : "before", '{');
    for (size_t i = 0; row->has[side] && i < table->section->columns_n; i++) {
        const struct diff_column *column = &table->section->columns[i];
        (void)snprintf(key, sizeof key, "%s%s", column->name, column->unit == DIFF_NS ? "_ns" : "");
        const double value = row->values[side][i];
        if (column->unit == DIFF_VALUE)
            json_write_float(json, key, value);
        else
            json_write_int(json, key, (int64_t)(value + 0.5));
    }
    json_close(json, '}');
}

void print_diff_json(const struct call *call, struct json *json, const struct diff_table *table)
{
    const size_t n = call->set.limit ? count_rows(call, table) : table->rows_n;
    json_open(json, table->section->name, '[');
    for (size_t i = 0; i < n; i++) {
        const struct diff_row *row = &table->rows[i];
        json_open(json, NULL, '{');
        json_write_string(json, table->section->key, row->key);
        write_side(json, table, row, 0);
        write_side(json, table, row, 1);
        if (row->rank >= 0)
            json_write_string(json, "p", diff_probability(row));
        json_close(json, '}');
    }
    json_close(json, ']');
}
