/* Tables: named columns of equal length. */
#include <strings.h>

#include "store/store.h"

bool table_init(struct table *table, struct block_pool *pool,
                const struct table_definition *definition)
{
    const size_t n = definition->n;
    *table = (struct table){.name = definition->name,
                            .description = definition->description,
                            .infos = definition->infos,
                            .infos_n = n,
                            .columns_n = n};
    if (!alloc_reserve(pool->alloc, (void **)&table->columns, &table->columns_capacity, n,
                       sizeof *table->columns)) {
        table->columns_n = 0;
        return false;
    }
    for (size_t i = 0; i < n; i++)
        column_init(&table->columns[i], pool);
    return true;
}

void table_free(struct table *table, const struct alloc *alloc)
{
    for (size_t i = 0; i < table->columns_n; i++)
        column_free(&table->columns[i]);
    alloc_free(alloc, table->columns, table->columns_capacity, sizeof *table->columns);
    alloc_free(alloc, table->added, table->added_capacity, sizeof *table->added);
    *table = (struct table){.name = table->name};
}

bool table_append(struct table *table, const int64_t *values)
{
    for (size_t i = 0; i < table->infos_n; i++)
        if (!column_append(&table->columns[i], values[i]))
            return false;
    table->rows++;
    return true;
}

const struct column_info *table_column(const struct table *table, size_t i)
{
    return i < table->infos_n ? &table->infos[i] : &table->added[i - table->infos_n];
}

bool store_wants_column(const ttr_store *store, const char *name)
{
    bool is_wanted = !store->wanted_columns;
    for (size_t i = 0; i < store->wanted_n && !is_wanted; i++)
        is_wanted = strcasecmp(store->wanted_columns[i], name) == 0;
    return is_wanted;
}
