/* tracetta_leaf(number): the results of a leaf as a table of SQLite, one row per group with its
 * keys and aggregates.  A leaf is a part of a statement that the column scan runs instead of
 * SQLite.
 *
 * A key that is a column has the affinity of that column, since SQLite compares by affinity: each
 * key has a column of each type, and the statement uses one of them.
 *
 *     0           leaf i0..i15   keys that are INTEGER columns
 *     16          leaf r0..r15   REAL
 *     32          leaf t0..t15   TEXT
 *     48          leaf k0..k15   keys that are expressions
 *     64          leaf x0..x63   aggregates
 *     128         leaf number    the argument */
#include <stdlib.h>
#include <string.h>

#include "query/leaf.h"

#define KEYS SQL_TERMS_MAX
#define AGGREGATES (4 * (int)KEYS) /* column of the first aggregate */
#define NUMBER (AGGREGATES + (int)LEAF_AGGREGATES_MAX)

struct leaf_table {
    sqlite3_vtab base;
    const ttr_query *query;
};

struct leaf_cursor {
    sqlite3_vtab_cursor base;
    struct leaf *leaf;
    size_t row;
};

struct leaf *leaf_find(const ttr_query *query, int64_t number)
{
    const ttr_query *owner = query->owner ? query->owner : query;
    for (const ttr_result *result = owner->results; result; result = result->next)
        for (struct leaf *leaf = result->leaves; leaf; leaf = leaf->next)
            if (leaf->number == number)
                return leaf;
    return NULL;
}

struct leaf *leaf_of_constraint(const ttr_query *query, sqlite3_index_info *info, int constraint)
{
    sqlite3_value *value = NULL;
    if (sqlite3_vtab_rhs_value(info, constraint, &value) != SQLITE_OK || !value)
        return NULL;
    return leaf_find(query, sqlite3_value_int64(value));
}

static int connect_table(sqlite3 *db, void *context, int n, const char *const *words,
                         sqlite3_vtab **made, char **message)
{
    (void)n;
    (void)words;
    (void)message;
    sqlite3_str *text = sqlite3_str_new(db);
    static const char *const types[] = {"INTEGER", "REAL", "TEXT", ""};
    sqlite3_str_appendall(text, "CREATE TABLE x(");
    for (int i = 0; i < AGGREGATES; i++)
        sqlite3_str_appendf(text, "\"leaf %c%d\" %s, ", "irtk"[i / (int)KEYS], i % (int)KEYS,
                            types[i / (int)KEYS]);
    for (int i = 0; i < (int)LEAF_AGGREGATES_MAX; i++)
        sqlite3_str_appendf(text, "\"leaf x%d\", ", i);
    sqlite3_str_appendall(text, "\"leaf number\" HIDDEN)");
    char *sql = sqlite3_str_finish(text);
    struct leaf_table *table = calloc(1, sizeof *table);
    int status = sql && table ? sqlite3_declare_vtab(db, sql) : SQLITE_NOMEM;
    sqlite3_free(sql);
    if (status != SQLITE_OK) {
        free(table);
        return status;
    }
    table->query = context;
    *made = &table->base;
    return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *table)
{
    free((struct leaf_table *)table);
    return SQLITE_OK;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct leaf_table *table = (const struct leaf_table *)base;
    for (int i = 0; i < info->nConstraint; i++) {
        if (info->aConstraint[i].iColumn != NUMBER ||
            info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        if (!info->aConstraint[i].usable)
            return SQLITE_CONSTRAINT;
        const struct leaf *leaf = leaf_of_constraint(table->query, info, i);
        if (!leaf) {
            base->zErrMsg = sqlite3_mprintf("there is no such leaf");
            return SQLITE_ERROR;
        }
        info->aConstraintUsage[i].argvIndex = 1;
        info->aConstraintUsage[i].omit = 1;
        info->estimatedCost = 1000;
        info->estimatedRows = 1000;
        info->idxStr = sqlite3_mprintf("%s", leaf->description);
        info->needToFreeIdxStr = info->idxStr != NULL;
        return SQLITE_OK;
    }
    return SQLITE_CONSTRAINT;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **made)
{
    (void)base;
    struct leaf_cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor)
        return SQLITE_NOMEM;
    *made = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    free((struct leaf_cursor *)base);
    return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *plan, int n,
                  sqlite3_value **values)
{
    struct leaf_cursor *cursor = (struct leaf_cursor *)base;
    (void)number;
    (void)plan;
    cursor->row = 0;
    cursor->leaf = n > 0 ? leaf_find(((const struct leaf_table *)base->pVtab)->query,
                                     sqlite3_value_int64(values[0]))
                         : NULL;
    return cursor->leaf && cursor->leaf->kind == LEAF_GROUP ? SQLITE_OK : SQLITE_ERROR;
}

static int next(sqlite3_vtab_cursor *base)
{
    ((struct leaf_cursor *)base)->row++;
    return SQLITE_OK;
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
    const struct leaf_cursor *cursor = (const struct leaf_cursor *)base;
    return cursor->row >= cursor->leaf->groups_n;
}

static int put_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    struct leaf_cursor *cursor = (struct leaf_cursor *)base;
    struct leaf *leaf = cursor->leaf;
    const bool is_key = column < AGGREGATES;
    const uint32_t i = is_key ? (uint32_t)column % KEYS : (uint32_t)(column - AGGREGATES);
    uint8_t type = TTR_STORE_INT;
    int64_t value = TTR_STORE_NULL;
    if (column < NUMBER && i < (is_key ? leaf->keys_n : leaf->aggregates_n))
        value = leaf_cell(leaf, cursor->row, is_key ? i : leaf->keys_n + i, &type);
    if (column == NUMBER) {
        sqlite3_result_int64(context, leaf->number);
    } else if (value == TTR_STORE_NULL) {
        sqlite3_result_null(context);
    } else if (type == TTR_STORE_TEXT) {
        const ttr_text text = ttr_text_get(leaf->program.query->t, (ttr_id)value);
        sqlite3_result_text64(context, text.p, text.n, SQLITE_STATIC, SQLITE_UTF8);
    } else if (type == TTR_STORE_REAL) {
        sqlite3_result_double(context, vector_bits_to_real(value));
    } else {
        sqlite3_result_int64(context, value);
    }
    return SQLITE_OK;
}

static int get_row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *row)
{
    *row = (sqlite3_int64)((const struct leaf_cursor *)base)->row;
    return SQLITE_OK;
}

/* No xCreate: the table exists without being created. */
static const sqlite3_module module = {
    .iVersion = 0,
    .xConnect = connect_table,
    .xBestIndex = best_index,
    .xDisconnect = disconnect_table,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next,
    .xEof = is_at_end,
    .xColumn = put_column,
    .xRowid = get_row_id,
};

int leaf_add_table(ttr_query *query)
{
    return sqlite3_create_module(query->db, LEAF_TABLE, &module, query);
}
