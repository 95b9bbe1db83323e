/* Tables of the store as virtual tables of SQLite.
 *
 * A scan reads blocks of 1,024 rows, only the columns that a statement uses.  Conditions that
 * compare a column with a value are applied by the scan: on integers all comparisons, on texts
 * equality, by the id of the string.  SQLite checks each condition again, so that a scan may pass
 * too many rows, but never too few.  On an ordered column the conditions limit the range of rows,
 * found by binary search, and ORDER BY needs no sorting. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/query.h"

#define BLOCK 1024u
#define CONDITIONS_MAX 8u
#define COLUMNS_MAX 512u

struct store_table {
    sqlite3_vtab base;
    const ttr_query *query;
    size_t index; /* of the table in the store */
    ttr_store_table about;
    ttr_store_column columns[]; /* about.columns of them */
};

/* A condition on a column. */
struct condition {
    size_t column;
    uint8_t op; /* SQLITE_INDEX_CONSTRAINT_... */
    int64_t value;
};

struct cursor {
    sqlite3_vtab_cursor base;
    uint64_t row, end; /* rows [row, end) are left; row is the current one */
    struct condition conditions[CONDITIONS_MAX];
    size_t conditions_n;
    bool is_empty;    /* a condition can never hold */
    int64_t **values; /* per column: the values of the block; NULL = not used */
    uint64_t *loaded; /* per column: first row of its loaded block, UINT64_MAX = none */
};

static struct store_table *get_cursor_table(struct cursor *cursor)
{
    return (struct store_table *)cursor->base.pVtab;
}

/* --- Tables --- */

static const char *get_sql_type(ttr_store_type type)
{
    return type == TTR_STORE_TEXT ? "TEXT" : type == TTR_STORE_REAL ? "REAL" : "INTEGER";
}

/* Declares the columns of a table. Returns a status of SQLite. */
static int declare_table(sqlite3 *db, const struct store_table *table)
{
    sqlite3_str *text = sqlite3_str_new(db);
    sqlite3_str_appendall(text, "CREATE TABLE x(");
    for (size_t i = 0; i < table->about.columns; i++)
        sqlite3_str_appendf(text, "%s\"%w\" %s", i ? ", " : "", table->columns[i].name,
                            get_sql_type(table->columns[i].type));
    sqlite3_str_appendall(text, ")");
    char *sql = sqlite3_str_finish(text);
    const int status = sql ? sqlite3_declare_vtab(db, sql) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return status;
}

static int connect_table(sqlite3 *db, void *context, int n, const char *const *words,
                         sqlite3_vtab **made, char **message)
{
    const ttr_query *query = context;
    ttr_store_table about;
    const size_t index = n > 3 ? strtoul(words[3], NULL, 10) : 0;
    if (!ttr_store_table_at(query->store, index, &about)) {
        *message = sqlite3_mprintf("there is no table %s", n > 3 ? words[3] : "");
        return SQLITE_ERROR;
    }
    struct store_table *table = calloc(1, sizeof *table + about.columns * sizeof *table->columns);
    if (!table)
        return SQLITE_NOMEM;
    table->query = query;
    table->index = index;
    table->about = about;
    for (size_t i = 0; i < about.columns; i++)
        (void)ttr_store_column_at(query->store, index, i, &table->columns[i]);
    const int status = declare_table(db, table);
    if (status == SQLITE_OK)
        *made = &table->base;
    else
        free(table);
    return status;
}

static int disconnect_table(sqlite3_vtab *table)
{
    free((struct store_table *)table);
    return SQLITE_OK;
}

/* --- Planning --- */

static bool is_comparison(unsigned op)
{
    return op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_GT ||
           op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_LT ||
           op == SQLITE_INDEX_CONSTRAINT_LE;
}

/* Returns true if the scan can apply a constraint. */
static bool is_constraint_usable(const struct store_table *table, sqlite3_index_info *info, int i)
{
    const int column = info->aConstraint[i].iColumn;
    if (!info->aConstraint[i].usable || column < 0 || (size_t)column >= table->about.columns ||
        !is_comparison(info->aConstraint[i].op))
        return false;
    if (table->columns[column].type == TTR_STORE_TEXT)
        return info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ &&
               sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY") == 0;
    return table->columns[column].type == TTR_STORE_INT;
}

/* Chooses the conditions that the scan applies.  idxStr lists them: column + 1 and operator in
 * hexadecimal, six characters each. */
static int choose_query_plan(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct store_table *table = (const struct store_table *)base;
    double rows = (double)table->about.rows + 1;
    uint16_t plan[2 * CONDITIONS_MAX + 1] = {0};
    size_t n = 0;
    for (int i = 0; i < info->nConstraint && n < CONDITIONS_MAX; i++) {
        if (!is_constraint_usable(table, info, i))
            continue;
        plan[2 * n] = (uint16_t)(info->aConstraint[i].iColumn + 1);
        plan[2 * n + 1] = info->aConstraint[i].op;
        info->aConstraintUsage[i].argvIndex = (int)++n;
        const bool is_ordered = table->columns[info->aConstraint[i].iColumn].is_ordered;
        rows *= info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ ? (is_ordered ? 1e-6 : 0.05)
                                                                      : (is_ordered ? 0.1 : 0.5);
    }
    char *text = sqlite3_malloc(8 * (int)CONDITIONS_MAX + 1);
    if (!text)
        return SQLITE_NOMEM;
    text[0] = '\0';
    for (size_t i = 0; i < n; i++)
        (void)snprintf(text + 6 * i, 7, "%03x%02x,", plan[2 * i] & 0xfffu, plan[2 * i + 1] & 0xffu);
    info->idxStr = text;
    info->needToFreeIdxStr = 1;
    info->estimatedRows = (sqlite3_int64)(rows < 1 ? 1 : rows);
    info->estimatedCost = rows < 1 ? 1 : rows;
    info->orderByConsumed = info->nOrderBy == 1 && info->aOrderBy[0].iColumn >= 0 &&
                            !info->aOrderBy[0].desc &&
                            table->columns[info->aOrderBy[0].iColumn].is_ordered;
    return SQLITE_OK;
}

/* --- Scanning --- */

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **made)
{
    const struct store_table *table = (const struct store_table *)base;
    struct cursor *cursor = calloc(1, sizeof *cursor);
    if (cursor) {
        cursor->values = calloc(table->about.columns + 1, sizeof *cursor->values);
        cursor->loaded = calloc(table->about.columns + 1, sizeof *cursor->loaded);
    }
    if (!cursor || !cursor->values || !cursor->loaded) {
        if (cursor) {
            free(cursor->values);
            free(cursor->loaded);
        }
        free(cursor);
        return SQLITE_NOMEM;
    }
    *made = &cursor->base;
    return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    for (size_t i = 0; i < get_cursor_table(cursor)->about.columns; i++)
        free(cursor->values[i]);
    free(cursor->values);
    free(cursor->loaded);
    free(cursor);
    return SQLITE_OK;
}

/* Returns the value of a column in a row; the block of the row is loaded if needed. Returns
 * TTR_STORE_NULL, and sets *is_full, if memory is exhausted. */
static int64_t get_column_value(struct cursor *cursor, size_t column, uint64_t row, bool *is_full)
{
    const struct store_table *table = get_cursor_table(cursor);
    const uint64_t block = row / BLOCK * BLOCK;
    if (!cursor->values[column]) {
        cursor->values[column] = malloc(BLOCK * sizeof(int64_t));
        cursor->loaded[column] = UINT64_MAX;
        if (!cursor->values[column]) {
            *is_full = true;
            return TTR_STORE_NULL;
        }
    }
    if (cursor->loaded[column] != block) {
        ttr_store_values(table->query->store, table->index, column, block, BLOCK,
                         cursor->values[column]);
        cursor->loaded[column] = block;
    }
    return cursor->values[column][row - block];
}

static bool condition_holds(const struct condition *condition, int64_t value)
{
    if (value == TTR_STORE_NULL)
        return false;
    switch (condition->op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
        return value == condition->value;
    case SQLITE_INDEX_CONSTRAINT_GT:
        return value > condition->value;
    case SQLITE_INDEX_CONSTRAINT_GE:
        return value >= condition->value;
    case SQLITE_INDEX_CONSTRAINT_LT:
        return value < condition->value;
    default:
        return value <= condition->value;
    }
}

/* Moves to the next row, from the current one on, for which all conditions hold. */
static int find_matching_row(struct cursor *cursor)
{
    bool is_full = false;
    for (; cursor->row < cursor->end; cursor->row++) {
        bool is_found = true;
        for (size_t i = 0; i < cursor->conditions_n && is_found; i++)
            is_found = condition_holds(
                &cursor->conditions[i],
                get_column_value(cursor, cursor->conditions[i].column, cursor->row, &is_full));
        if (is_full)
            return SQLITE_NOMEM;
        if (is_found)
            break;
    }
    return SQLITE_OK;
}

/* Returns the first row in which an ordered column is at least `value`. */
static uint64_t find_lower_bound(const struct store_table *table, size_t column, int64_t value)
{
    uint64_t low = 0, high = table->about.rows;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        int64_t found;
        ttr_store_values(table->query->store, table->index, column, middle, 1, &found);
        if (found < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Limits the range of rows by a condition on an ordered column. */
static void limit_rows(struct cursor *cursor, const struct condition *condition)
{
    const struct store_table *table = get_cursor_table(cursor);
    const bool is_upper = condition->op == SQLITE_INDEX_CONSTRAINT_LT ||
                          condition->op == SQLITE_INDEX_CONSTRAINT_LE ||
                          condition->op == SQLITE_INDEX_CONSTRAINT_EQ;
    const bool is_lower = condition->op == SQLITE_INDEX_CONSTRAINT_GT ||
                          condition->op == SQLITE_INDEX_CONSTRAINT_GE ||
                          condition->op == SQLITE_INDEX_CONSTRAINT_EQ;
    if (is_upper && condition->value < INT64_MAX) {
        const uint64_t end = find_lower_bound(table, condition->column, condition->value + 1);
        cursor->end = end < cursor->end ? end : cursor->end;
    }
    if (is_lower) {
        const uint64_t first = find_lower_bound(table, condition->column, condition->value);
        cursor->row = first > cursor->row ? first : cursor->row;
    }
}

/* Adds a condition if its value has the type of the column. */
static void add_condition(struct cursor *cursor, size_t column, unsigned op, sqlite3_value *value)
{
    const struct store_table *table = get_cursor_table(cursor);
    const int type = sqlite3_value_type(value);
    struct condition *condition = &cursor->conditions[cursor->conditions_n];
    *condition = (struct condition){.column = column, .op = (uint8_t)op};
    if (type == SQLITE_NULL) {
        cursor->is_empty = true; /* no comparison with NULL is true */
    } else if (table->columns[column].type == TTR_STORE_TEXT) {
        if (type != SQLITE_TEXT)
            return;
        const void *text = sqlite3_value_text(value);
        condition->value =
            (int64_t)ttr_text_find(table->query->t, text, (size_t)sqlite3_value_bytes(value));
        if (condition->value == 0)
            cursor->is_empty = sqlite3_value_bytes(value) > 0;
        else
            cursor->conditions_n++;
    } else if (type == SQLITE_INTEGER) {
        condition->value = sqlite3_value_int64(value);
        if (table->columns[column].is_ordered)
            limit_rows(cursor, condition);
        else
            cursor->conditions_n++;
    }
}

static int start_scan(sqlite3_vtab_cursor *base, int number, const char *plan, int n,
                      sqlite3_value **values)
{
    struct cursor *cursor = (struct cursor *)base;
    (void)number;
    cursor->row = 0;
    cursor->end = get_cursor_table(cursor)->about.rows;
    cursor->conditions_n = 0;
    cursor->is_empty = false;
    for (int i = 0; i < n && plan && *plan; i++, plan += 6) {
        unsigned column, op;
        if (sscanf(plan, "%3x%2x,", &column, &op) != 2 || column == 0)
            break;
        add_condition(cursor, column - 1, op, values[i]);
    }
    if (cursor->is_empty)
        cursor->end = cursor->row;
    return find_matching_row(cursor);
}

static int move_to_next_row(sqlite3_vtab_cursor *base)
{
    struct cursor *cursor = (struct cursor *)base;
    cursor->row++;
    return find_matching_row(cursor);
}

static int is_scan_at_end(sqlite3_vtab_cursor *base)
{
    const struct cursor *cursor = (const struct cursor *)base;
    return cursor->row >= cursor->end;
}

static int return_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    struct cursor *cursor = (struct cursor *)base;
    const struct store_table *table = get_cursor_table(cursor);
    bool is_full = false;
    const int64_t value = get_column_value(cursor, (size_t)column, cursor->row, &is_full);
    double real;
    if (is_full)
        return SQLITE_NOMEM;
    if (value == TTR_STORE_NULL) {
        sqlite3_result_null(context);
    } else if (table->columns[column].type == TTR_STORE_TEXT) {
        const ttr_text text = ttr_text_get(table->query->t, (ttr_id)value);
        sqlite3_result_text64(context, text.p, text.n, SQLITE_STATIC, SQLITE_UTF8);
    } else if (table->columns[column].type == TTR_STORE_REAL) {
        memcpy(&real, &value, sizeof real);
        sqlite3_result_double(context, real);
    } else {
        sqlite3_result_int64(context, value);
    }
    return SQLITE_OK;
}

static int return_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *row)
{
    *row = (sqlite3_int64)((const struct cursor *)base)->row;
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .iVersion = 0,
    .xCreate = connect_table,
    .xConnect = connect_table,
    .xBestIndex = choose_query_plan,
    .xDisconnect = disconnect_table,
    .xDestroy = disconnect_table,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = start_scan,
    .xNext = move_to_next_row,
    .xEof = is_scan_at_end,
    .xColumn = return_column,
    .xRowid = return_rowid,
};

int query_add_tables(ttr_query *query)
{
    ttr_store_table about;
    int status = sqlite3_create_module(query->db, "tracetta_store", &module, query);
    for (size_t i = 0; status == SQLITE_OK && ttr_store_table_at(query->store, i, &about); i++) {
        if (about.is_class && about.rows == 0)
            continue; /* a word of the statement that is not an event class */
        char *sql = sqlite3_mprintf("CREATE VIRTUAL TABLE \"%w\" USING tracetta_store(%d)",
                                    about.name, (int)i);
        status = sql ? sqlite3_exec(query->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
        sqlite3_free(sql);
    }
    return status;
}
