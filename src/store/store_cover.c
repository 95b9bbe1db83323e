/* Does a store have the tables and columns of other options? */
#include <string.h>
#include <strings.h>

#include <tracetta/advanced.h>

#include "store/store.h"

static bool has_name(const char *const *names, const char *name)
{
    bool has = !names;
    for (size_t i = 0; names && names[i] && !has; i++)
        has = strcasecmp(names[i], name) == 0;
    return has;
}

/* Returns true if the columns that are wanted have values. */
static bool has_columns(const struct table *table, const char *const *columns)
{
    for (size_t i = 0; i < table->columns_n; i++)
        if (!table_wants(table, i) && has_name(columns, table_column(table, i)->name))
            return false;
    return true;
}

/* Returns true if the store has the class table of a name, or no event has the name. */
static bool has_class(const ttr_store *store, const char *name, const char *const *columns)
{
    for (size_t i = 0; i < store->classes_n; i++)
        if (strcasecmp(store->classes[i]->name, name) == 0)
            return has_columns(store->classes[i], columns);
    const uint32_t n = ttr_text_count(store->t);
    for (uint32_t id = 1; id < n; id++)
        if (store_is_name_of_class(ttr_text_get(store->t, id), name))
            return false;
    return true;
}

bool ttr_store_covers(const ttr_store *store, const ttr_store_options *options)
{
    for (size_t i = 0; i < STORE_TABLES; i++) {
        const struct table *table = &store->tables[i];
        if (has_name(options->names, table->name) &&
            (!table->is_wanted || !has_columns(table, options->columns)))
            return false;
    }
    for (size_t i = 0; options->names && options->names[i]; i++) {
        bool is_table = false;
        for (size_t k = 0; k < STORE_TABLES && !is_table; k++)
            is_table = strcasecmp(store->tables[k].name, options->names[i]) == 0;
        if (!is_table && !has_class(store, options->names[i], options->columns))
            return false;
    }
    return true;
}
