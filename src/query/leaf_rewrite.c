/* Rewrites a SELECT of which a part is a leaf, which the column scan runs instead of SQLite: the
 * SELECT then reads the result of the leaf in place of the table. */
#include <string.h>

#include "query/leaf_plan.h"

/* Appends the tokens [from, to), with one blank in place of blanks and comments. */
static void copy_tokens(struct leaf_planner *planner, uint32_t from, uint32_t to)
{
    const struct sql *sql = &planner->sql;
    for (uint32_t i = from; i < to; i++) {
        const struct sql_token *token = &sql->tokens[i];
        const bool is_last = i + 1 == to;
        const bool has_blank = is_last || sql->tokens[i + 1].at > token->at + token->n;
        sqlite3_str_appendf(planner->out, has_blank ? "%.*s " : "%.*s", (int)token->n,
                            sql->text + token->at);
    }
}

/* Appends the name of the result column that holds a key. */
static void write_key(struct leaf_planner *planner, uint32_t key, bool is_column)
{
    const struct vector_program *program = &planner->leaf->program;
    static const char families[] = {
        [TTR_STORE_INT] = 'i', [TTR_STORE_REAL] = 'r', [TTR_STORE_TEXT] = 't'};
    const struct vector_op *op = &program->ops[planner->leaf->keys[key].op];
    const char family = is_column ? families[op->type] : 'k';
    sqlite3_str_appendf(planner->out, "\"leaf %c%u\" ", family, key);
}

/* Finds the key that an expression is. */
static uint32_t find_key(struct leaf_planner *planner, uint32_t expression)
{
    const struct leaf *leaf = planner->leaf;
    const uint8_t kind = planner->sql.expressions[expression].kind;
    const uint32_t op =
        kind == SQL_LITERAL || kind == SQL_COLLATE
            ? SQL_NONE
            : vector_compile(&planner->leaf->program, &planner->scopes[0], expression);
    for (uint32_t i = 0; i < leaf->keys_n && op != SQL_NONE; i++)
        if (leaf->keys[i].op == op)
            return i;
    return SQL_NONE;
}

/* Returns true if a name is the alias of a result. */
static bool is_alias(const struct leaf_planner *planner, uint32_t name)
{
    const struct sql_select *select = &planner->selects[0];
    for (uint32_t i = 0; i < select->results_n; i++)
        if (select->results[i].alias != SQL_NONE &&
            sql_same_name(&planner->sql, select->results[i].alias, name))
            return true;
    return false;
}

static bool write_expression(struct leaf_planner *planner, uint32_t expression, bool can_alias);

/* Appends an expression after writing each of its operands over the keys and aggregates. */
static bool write_operands(struct leaf_planner *planner, const struct sql_expression *is,
                           bool can_alias)
{
    uint32_t at = is->from;
    for (uint32_t i = is->operand; i != SQL_NONE; i = planner->sql.expressions[i].next) {
        copy_tokens(planner, at, planner->sql.expressions[i].from);
        if (!write_expression(planner, i, can_alias))
            return false;
        at = planner->sql.expressions[i].to;
    }
    copy_tokens(planner, at, is->to);
    return true;
}

/* Returns true if an expression calls an aggregate function, built-in or of query_functions.c. */
static bool is_aggregate(const struct leaf_planner *planner, const struct sql_expression *is)
{
    static const char *const names[] = {
        "avg",    "count",      "group_concat",      "histogram",         "json_group_array",
        "median", "percentile", "json_group_object", "jsonb_group_array", "jsonb_group_object",
        "sum",    "total",      "string_agg",        "percentile_cont",   "percentile_disc"};
    for (size_t i = 0; is->kind == SQL_CALL && i < sizeof names / sizeof *names; i++)
        if (sql_name_equals(&planner->sql, is->name, names[i]))
            return true;
    return false;
}

/* Appends an expression over the keys and aggregates.  Returns false if it uses other columns. */
static bool write_expression(struct leaf_planner *planner, uint32_t expression, bool can_alias)
{
    const struct sql_expression is = planner->sql.expressions[expression];
    const uint32_t aggregate = plan_aggregate(planner, expression);
    if (aggregate != SQL_NONE) {
        sqlite3_str_appendf(planner->out, "\"leaf x%u\" ", aggregate);
        return true;
    }
    const uint32_t key = find_key(planner, expression);
    if (key != SQL_NONE) {
        write_key(planner, key, is.kind == SQL_COLUMN);
        return true;
    }
    if (is.kind == SQL_COLUMN) {
        if (!can_alias || is.table != SQL_NONE || !is_alias(planner, is.name) ||
            vector_compile(&planner->leaf->program, &planner->scopes[0], expression) != SQL_NONE)
            return false;
        copy_tokens(planner, is.from, is.to);
        return true;
    }
    if (is.is_window || is.filter != SQL_NONE || (is.is_star && is.kind == SQL_CALL) ||
        is_aggregate(planner, &is)) /* an aggregate that plan_aggregate does not know */
        return false;
    return write_operands(planner, &is, can_alias);
}

/* Returns the token that names a column of the derived table. */
static uint32_t find_derived_column(const struct leaf_planner *planner, uint32_t name)
{
    const struct sql_select *select = &planner->selects[1];
    for (uint32_t i = 0; i < select->results_n; i++)
        if (select->results[i].alias != SQL_NONE &&
            sql_same_name(&planner->sql, select->results[i].alias, name))
            return select->results[i].alias;
    return name;
}

/* Appends the name that SQLite gives to a result without alias. */
static void write_result_name(struct leaf_planner *planner, const struct sql_expression *is)
{
    const struct sql *sql = &planner->sql;
    const struct sql_token *first = &sql->tokens[is->from], *last = &sql->tokens[is->to - 1];
    ttr_store_column about;
    uint32_t column = SQL_NONE;
    if (is->kind == SQL_COLUMN && planner->levels == 1)
        column = vector_find_column(&planner->leaf->program, is->name);
    if (column != SQL_NONE &&
        ttr_store_column_at(planner->tables->store, planner->leaf->program.table, column, &about)) {
        sqlite3_str_appendf(planner->out, "AS \"%w\" ", about.name);
        return;
    }
    if (is->kind == SQL_COLUMN) {
        const uint32_t name = find_derived_column(planner, is->name);
        sqlite3_str_appendall(planner->out, "AS ");
        copy_tokens(planner, name, name + 1);
        return;
    }
    char *text =
        sqlite3_mprintf("%.*s", (int)(last->at + last->n - first->at), sql->text + first->at);
    if (text)
        sqlite3_str_appendf(planner->out, "AS \"%w\" ", text);
    sqlite3_free(text);
}

static bool write_results(struct leaf_planner *planner)
{
    const struct sql_select *select = &planner->selects[0];
    for (uint32_t i = 0; i < select->results_n; i++) {
        const struct sql_result *result = &select->results[i];
        if (i > 0)
            sqlite3_str_appendall(planner->out, ", ");
        if (result->expression == SQL_NONE || !write_expression(planner, result->expression, false))
            return false;
        if (result->alias != SQL_NONE) {
            sqlite3_str_appendall(planner->out, "AS ");
            copy_tokens(planner, result->alias, result->alias + 1);
        } else {
            const struct sql_expression is = planner->sql.expressions[result->expression];
            write_result_name(planner, &is);
        }
    }
    return true;
}

static bool write_orders(struct leaf_planner *planner)
{
    const struct sql_select *select = &planner->selects[0];
    if (select->orders_n == 0) {
        copy_tokens(planner, select->tail, select->to);
        return true;
    }
    uint32_t at = select->tail;
    for (uint32_t i = 0; i < select->orders_n; i++) {
        const struct sql_expression is = planner->sql.expressions[select->orders[i].expression];
        copy_tokens(planner, at, is.from);
        at = is.to;
        if (is.kind == SQL_LITERAL ||
            (is.kind == SQL_COLUMN && is.table == SQL_NONE && is_alias(planner, is.name)))
            copy_tokens(planner, is.from, is.to);
        else if (!write_expression(planner, select->orders[i].expression, true))
            return false;
    }
    copy_tokens(planner, at, select->to);
    return true;
}

bool plan_write_group(struct leaf_planner *planner)
{
    const struct sql_select *select = &planner->selects[0];
    const bool is_distinct = select->is_distinct && planner->leaf->is_sorted;
    sqlite3_str_appendall(planner->out, is_distinct ? "SELECT DISTINCT " : "SELECT ");
    if (!write_results(planner))
        return false;
    sqlite3_str_appendf(planner->out, "FROM " LEAF_TABLE "(%u) ", planner->leaf->number);
    if (select->having != SQL_NONE) {
        sqlite3_str_appendall(planner->out, "WHERE ");
        if (!write_expression(planner, select->having, true))
            return false;
    }
    if (!select->is_compound && !write_orders(planner))
        return false;
    /* Without keys there is one group only if there is an aggregate. */
    return planner->leaf->keys_n > 0 || planner->leaf->aggregates_n > 0;
}

void plan_write_rows(struct leaf_planner *planner)
{
    const struct sql_select *select = &planner->selects[0];
    copy_tokens(planner, select->from, select->table_from);
    sqlite3_str_appendf(planner->out, "\"%w\".\"%w\"(%u) AS ",
                        planner->tables->owner ? planner->tables->schema : "main", planner->table,
                        planner->leaf->number);
    if (select->table_alias != SQL_NONE)
        copy_tokens(planner, select->table_alias, select->table_alias + 1);
    else
        sqlite3_str_appendf(planner->out, "\"%w\" ", planner->table);
    copy_tokens(planner, select->table_to, select->to);
}
