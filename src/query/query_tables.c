/* Tables of the store as virtual tables of SQLite.
 *
 * A scan reads blocks of 1,024 rows, only the columns that a statement uses.  Conditions that
 * compare a column with a value are applied by the scan: on integers all comparisons, on texts
 * equality, by the id of the string.  SQLite checks each condition again, so that a scan may pass
 * too many rows, but never too few.  On an ordered column the conditions limit the range of rows,
 * found by binary search, and ORDER BY needs no sorting.
 *
 * A leaf is a part of a statement that the column scan runs instead of SQLite (leaf.h).  A scan may
 * be limited to the rows that a leaf selected. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/leaf.h"
#include "query/query.h"

#define BLOCK 1024u
#define CONDITIONS_MAX 8u
#define COLUMNS_MAX 512u

struct store_table {
    sqlite3_vtab base;
    const ttr_query *query;
    size_t index; /* index of the table in the store */
    ttr_store_table about;
    ttr_store_column columns[]; /* about.columns elements */
};

/* A comparison of a column with a value. */
struct condition {
    size_t column;
    uint8_t op; /* SQLITE_INDEX_CONSTRAINT_... */
    int64_t value;
};

struct cursor {
    sqlite3_vtab_cursor base;
    uint64_t row, end; /* current row, and end of the rows to scan */
    struct condition conditions[CONDITIONS_MAX];
    size_t conditions_n;
    bool is_empty;           /* a condition can never hold */
    const struct leaf *leaf; /* not NULL: scan of leaf->rows, of which `row` is an index */
    int64_t **values;        /* per column: values of the loaded block; NULL = column not used */
    uint64_t *loaded;        /* per column: first row of the loaded block; UINT64_MAX = none */
};

static struct store_table *get_cursor_table(const struct cursor *cursor)
{
    return (struct store_table *)cursor->base.pVtab;
}

/* Returns the current row of the table. */
static uint64_t get_row(const struct cursor *cursor)
{
    return cursor->leaf ? cursor->leaf->rows[cursor->row] : cursor->row;
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
    /* The argument of table(leaf): the number of a leaf, to read its rows (leaf.h). */
    sqlite3_str_appendall(text, ", \"leaf number\" HIDDEN)");
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
        !is_comparison(info->aConstraint[i].op) || !table->columns[column].is_filled)
        return false;
    if (table->columns[column].type == TTR_STORE_TEXT)
        return info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ &&
               !sqlite3_vtab_in(info, i, -1) &&
               sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY") == 0;
    /* One scan per value of IN pays only if each is a binary search. */
    return table->columns[column].type == TTR_STORE_INT &&
           (table->columns[column].is_ordered || !sqlite3_vtab_in(info, i, -1));
}

/* State while the scan is planned. */
struct plan {
    sqlite3_str *text; /* conditions: column + 1 and operator in hexadecimal, six characters each */
    double rows;
    int conditions;
    bool has_literals; /* a condition compares with a literal */
    double cost;       /* rows that the other conditions leave */
    const struct leaf *leaf;
};

/* share of a scan of all rows that a scan with literals costs */
#define LITERAL_COST 0.75

/* Adds a condition to the plan, if the scan can apply it. */
static void plan_condition(const struct store_table *table, sqlite3_index_info *info, int i,
                           struct plan *plan)
{
    if (plan->conditions >= (int)CONDITIONS_MAX || !is_constraint_usable(table, info, i))
        return;
    const uint8_t op = info->aConstraint[i].op;
    const bool is_ordered = table->columns[info->aConstraint[i].iColumn].is_ordered;
    sqlite3_value *literal = NULL;
    const bool is_literal =
        sqlite3_vtab_in(info, i, -1) || sqlite3_vtab_rhs_value(info, i, &literal) == SQLITE_OK;
    sqlite3_str_appendf(plan->text, "%03x%02x,", (unsigned)info->aConstraint[i].iColumn + 1,
                        (unsigned)op);
    info->aConstraintUsage[i].argvIndex = (info->idxNum & 1) + ++plan->conditions;
    const double share =
        op == SQLITE_INDEX_CONSTRAINT_EQ ? (is_ordered ? 1e-6 : 0.05) : (is_ordered ? 0.1 : 0.5);
    plan->rows *= share;
    plan->cost *= is_literal ? 1 : share;
    plan->has_literals |= is_literal;
}

/* Finds the argument of table(leaf).  Returns false if it is not usable. */
static bool plan_leaf(const struct store_table *table, sqlite3_index_info *info, struct plan *plan)
{
    for (int i = 0; i < info->nConstraint; i++) {
        if (info->aConstraint[i].iColumn != (int)table->about.columns ||
            info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        if (!info->aConstraint[i].usable)
            return false;
        info->aConstraintUsage[i].argvIndex = 1;
        info->aConstraintUsage[i].omit = 1;
        info->idxNum = 1;
        plan->leaf = leaf_of_constraint(table->query, info, i);
        plan->rows = plan->rows / 16 + 1;
        return true;
    }
    return true;
}

/* Returns the cost of a scan.  For "a OR b" SQLite can scan once for each term, and returns the
 * rows of the first term first.  So two scans with literals must cost more than one scan of all
 * rows: then rows are in the order of the table, as in leaves. */
static double estimate_cost(const struct plan *plan)
{
    const double cost = plan->leaf           ? plan->rows
                        : plan->has_literals ? LITERAL_COST * plan->cost
                                             : plan->cost;
    return cost < 1 ? 1 : cost;
}

/* Chooses the conditions that the scan applies; idxNum is 1 if its first argument is a leaf. */
static int choose_query_plan(sqlite3_vtab *base, sqlite3_index_info *info)
{
    const struct store_table *table = (const struct store_table *)base;
    struct plan plan = {.text = sqlite3_str_new(table->query->db),
                        .rows = (double)table->about.rows + 1,
                        .cost = (double)table->about.rows + 1};
    info->idxNum = 0;
    const bool is_usable_plan = plan_leaf(table, info, &plan);
    for (int i = 0; i < info->nConstraint && is_usable_plan; i++)
        plan_condition(table, info, i, &plan);
    if (plan.leaf)
        sqlite3_str_appendf(plan.text, " %s", plan.leaf->description);
    const bool is_empty = sqlite3_str_length(plan.text) == 0;
    char *text = sqlite3_str_finish(plan.text);
    if (!is_usable_plan || (info->idxNum && !plan.leaf)) {
        sqlite3_free(text);
        if (!is_usable_plan)
            return SQLITE_CONSTRAINT;
        base->zErrMsg = sqlite3_mprintf("table %s has no arguments", table->about.name);
        return SQLITE_ERROR;
    }
    if (!text && !is_empty)
        return SQLITE_NOMEM;
    info->idxStr = text;
    info->needToFreeIdxStr = text != NULL;
    info->estimatedRows = (sqlite3_int64)(plan.rows < 1 ? 1 : plan.rows);
    info->estimatedCost = estimate_cost(&plan);
    info->orderByConsumed = info->nOrderBy == 1 && info->aOrderBy[0].iColumn >= 0 &&
                            (size_t)info->aOrderBy[0].iColumn < table->about.columns &&
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
                get_column_value(cursor, cursor->conditions[i].column, get_row(cursor), &is_full));
        if (is_full)
            return SQLITE_NOMEM;
        if (is_found)
            break;
    }
    return SQLITE_OK;
}

uint64_t query_lower_bound(const ttr_query *query, size_t table, size_t column, int64_t value)
{
    ttr_store_table about;
    uint64_t low = 0, high = ttr_store_table_at(query->store, table, &about) ? about.rows : 0;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        int64_t found;
        ttr_store_values(query->store, table, column, middle, 1, &found);
        if (found < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the first position of the scan at which the row is at least `row`. */
static uint64_t find_position_of_row(const struct cursor *cursor, uint64_t row)
{
    uint64_t low = 0, high = cursor->leaf ? cursor->leaf->rows_n : 0;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (cursor->leaf->rows[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return cursor->leaf ? low : row;
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
        const uint64_t end = find_position_of_row(
            cursor,
            query_lower_bound(table->query, table->index, condition->column, condition->value + 1));
        cursor->end = end < cursor->end ? end : cursor->end;
    }
    if (is_lower) {
        const uint64_t first =
            find_position_of_row(cursor, query_lower_bound(table->query, table->index,
                                                           condition->column, condition->value));
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
    const struct store_table *table = get_cursor_table(cursor);
    const int has_leaf = number & 1;
    if (!table->about.is_filled) {
        base->pVtab->zErrMsg =
            sqlite3_mprintf("table %s was not read from the trace: name it in the first statement",
                            table->about.name);
        return SQLITE_ERROR;
    }
    cursor->row = 0;
    cursor->end = table->about.rows;
    cursor->conditions_n = 0;
    cursor->is_empty = false;
    cursor->leaf = NULL;
    if (has_leaf) {
        cursor->leaf = leaf_find(table->query, sqlite3_value_int64(values[0]));
        if (!cursor->leaf || cursor->leaf->kind != LEAF_ROWS ||
            cursor->leaf->program.table != table->index)
            return SQLITE_ERROR;
        cursor->end = cursor->leaf->rows_n;
    }
    for (int i = has_leaf; i < n && plan && *plan; i++, plan += 6) {
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
    if ((size_t)column >= table->about.columns) {
        /* The hidden column "leaf number", which is last. SQLite compares its value with the
         * argument of the table again if conditions are joined by OR. */
        if (cursor->leaf)
            sqlite3_result_int64(context, cursor->leaf->number);
        return SQLITE_OK;
    }
    if (!table->columns[column].is_filled) {
        cursor->base.pVtab->zErrMsg = sqlite3_mprintf(
            "column %s.%s was not read from the trace: name it in the first statement",
            table->about.name, table->columns[column].name);
        return SQLITE_ERROR;
    }
    const int64_t value = get_column_value(cursor, (size_t)column, get_row(cursor), &is_full);
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
    *row = (sqlite3_int64)get_row((const struct cursor *)base);
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

int query_add_tables(ttr_query *query, const char *schema, void (*free_query)(void *query))
{
    ttr_store_table about;
    char *name = sqlite3_mprintf("tracetta_store_%s", schema);
    int status =
        name ? sqlite3_create_module_v2(query->db, name, &module, query, free_query) : SQLITE_NOMEM;
    for (size_t i = 0; status == SQLITE_OK && ttr_store_table_at(query->store, i, &about); i++) {
        if (about.is_class && about.rows == 0)
            continue; /* a word of the statement that is not an event class */
        char *sql = sqlite3_mprintf("CREATE VIRTUAL TABLE \"%w\".\"%w\" USING \"%w\"(%d)", schema,
                                    about.name, name, (int)i);
        status = sql ? sqlite3_exec(query->db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
        sqlite3_free(sql);
    }
    sqlite3_free(name);
    return status;
}
