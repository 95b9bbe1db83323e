/* Columns of the store, a block of rows at a time. */
#include <string.h>

#include "view/view.h"

static bool find_column(const ttr_store *store, size_t table, const char *name, size_t *column)
{
    ttr_store_column about;
    for (size_t i = 0; ttr_store_column_at(store, table, i, &about); i++)
        if (strcmp(about.name, name) == 0) {
            *column = i;
            return true;
        }
    return false;
}

void cells_open(struct cells *cells, const ttr_store *store, const char *table,
                const char *const *columns)
{
    ttr_store_table about;
    cells->store = store;
    cells->rows = 0;
    cells->columns_n = 0;
    for (size_t i = 0; ttr_store_table_at(store, i, &about); i++) {
        if (about.is_class || strcmp(about.name, table) != 0)
            continue;
        cells->table = i;
        for (; columns[cells->columns_n]; cells->columns_n++)
            if (!find_column(store, i, columns[cells->columns_n],
                             &cells->columns[cells->columns_n]))
                return;
        cells->rows = about.rows;
        return;
    }
}

size_t cells_read(struct cells *cells, uint64_t row)
{
    const uint64_t left = row < cells->rows ? cells->rows - row : 0;
    const size_t n = left < CELLS_ROWS ? (size_t)left : CELLS_ROWS;
    for (size_t i = 0; n && i < cells->columns_n; i++)
        ttr_store_values(cells->store, cells->table, cells->columns[i], row, n, cells->values[i]);
    return n;
}
