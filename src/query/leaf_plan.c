/* Finds the leaves of a statement: the SELECTs that the column scan can run instead of SQLite. */
#include "query/leaf_plan.h"

#include <stdlib.h>
#include <string.h>

/* --- Tables --- */

/* Returns true if WITH defines a name in the statement. */
static bool is_common_table(const struct sql *sql, uint32_t name)
{
    bool has_with = false;
    for (uint32_t i = 0; i + 1 < sql->tokens_n; i++) {
        has_with |= sql_is_word(sql, i, "WITH");
        uint32_t next = i + 1;
        if (!has_with || i == name || !sql_is_name(sql, i) || !sql_same_name(sql, i, name))
            continue;
        if (sql_is_symbol(sql, next, "(")) /* column names of the table: skip them */
            while (sql->tokens[next].kind != SQL_END && !sql_is_symbol(sql, next++, ")"))
                ;
        if (sql->tokens[next].kind != SQL_END && sql_is_word(sql, next, "AS") &&
            (sql_is_symbol(sql, next + 1, "(") || sql_is_word(sql, next + 1, "NOT") ||
             sql_is_word(sql, next + 1, "MATERIALIZED")))
            return true;
    }
    return false;
}

/* Returns true if the user made a table or view of that name. */
static bool is_temporary(const ttr_query *query, const char *name)
{
    sqlite3_stmt *statement;
    static const char sql[] = "SELECT 1 FROM temp.sqlite_master WHERE name = ?1 COLLATE NOCASE";
    if (sqlite3_prepare_v2(query->db, sql, -1, &statement, NULL) != SQLITE_OK)
        return true;
    (void)sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    const bool is_it = sqlite3_step(statement) != SQLITE_DONE;
    (void)sqlite3_finalize(statement);
    return is_it;
}

/* Returns the query for the schema that a SELECT names; NULL if the
 * schema is not of a store. */
static ttr_query *find_schema(const struct leaf_planner *planner, const struct sql_select *select)
{
    ttr_query *query = planner->query;
    if (select->schema == SQL_NONE || sql_name_equals(&planner->sql, select->schema, "main"))
        return query;
    for (query = query->schemas; query; query = query->next)
        if (sql_name_equals(&planner->sql, select->schema, query->schema))
            break;
    return query;
}

/* Finds the table of the store that a SELECT reads.  Returns SIZE_MAX if there is none. */
static size_t find_table(struct leaf_planner *planner, const struct sql_select *select)
{
    ttr_store_table about;
    const bool is_qualified = select->schema != SQL_NONE;
    planner->tables = find_schema(planner, select);
    if (!planner->tables || (!is_qualified && is_common_table(&planner->sql, select->table)))
        return SIZE_MAX;
    for (size_t i = 0; ttr_store_table_at(planner->tables->store, i, &about); i++) {
        if (!sql_name_equals(&planner->sql, select->table, about.name) ||
            (about.is_class && about.rows == 0) || !about.is_filled)
            continue;
        planner->table = about.name;
        return is_qualified || !is_temporary(planner->query, about.name) ? i : SIZE_MAX;
    }
    return SIZE_MAX;
}

/* --- Derived tables --- */

/* Parses the nested derived tables of the SELECT, down to a real table.  Returns false if one of
 * them has clauses other than results and WHERE. */
static bool parse_levels(struct leaf_planner *planner)
{
    planner->levels = 1;
    for (;;) {
        const struct sql_select *outer = &planner->selects[planner->levels - 1];
        planner->scopes[planner->levels - 1] = (struct vector_scope){.select = outer};
        if (outer->derived == SQL_NONE)
            return true;
        struct sql_select *select = &planner->selects[planner->levels];
        if (planner->levels == PLAN_LEVELS_MAX ||
            !sql_parse_select(&planner->sql, outer->derived, select) || select->is_distinct ||
            select->is_compound || select->groups_n || select->having != SQL_NONE ||
            select->orders_n || select->limit != SQL_NONE)
            return false;
        planner->scopes[planner->levels - 1].inner = &planner->scopes[planner->levels];
        planner->levels++;
    }
}

/* Adds the conditions of an expression, joined by AND, to the leaf. */
static bool add_conditions(struct leaf_planner *planner, uint32_t level, uint32_t expression)
{
    struct leaf *leaf = planner->leaf;
    const struct sql_expression is = planner->sql.expressions[expression];
    if (is.kind == SQL_BINARY && is.op == SQL_OP_AND &&
        leaf->conditions_n + 2 < LEAF_CONDITIONS_MAX) {
        const bool is_left_known = add_conditions(planner, level, is.operand);
        return add_conditions(planner, level, planner->sql.expressions[is.operand].next) &&
               is_left_known;
    }
    const uint32_t op = vector_compile(&leaf->program, &planner->scopes[level], expression);
    if (op == SQL_NONE || leaf->program.ops[op].type == TTR_STORE_TEXT ||
        leaf->conditions_n == LEAF_CONDITIONS_MAX)
        return false;
    leaf->conditions[leaf->conditions_n++] = op;
    return true;
}

/* Compiles the conditions of the SELECT, joined by AND.  Returns true if all are known; others are
 * left out. */
static bool plan_conditions(struct leaf_planner *planner)
{
    const uint32_t where = planner->selects[0].where;
    return where == SQL_NONE || add_conditions(planner, 0, where);
}

/* Compiles the results and conditions of the derived tables (subqueries in FROM). */
static bool plan_derived_tables(struct leaf_planner *planner)
{
    struct leaf *leaf = planner->leaf;
    for (uint32_t level = 1; level < planner->levels; level++) {
        const struct sql_select *select = &planner->selects[level];
        for (uint32_t i = 0; i < select->results_n; i++)
            if (select->results[i].expression != SQL_NONE &&
                vector_compile_result(&leaf->program, &planner->scopes[level],
                                      select->results[i].expression) == SQL_NONE)
                return false;
    }
    if (leaf->program.has_lag && planner->levels > 2)
        return false;
    for (uint32_t level = 1; level < planner->levels; level++) {
        const uint32_t where = planner->selects[level].where;
        if (where == SQL_NONE)
            continue;
        if (!leaf->program.has_lag) {
            if (!add_conditions(planner, level, where))
                return false;
            continue;
        }
        /* lag() is computed over the rows for which this condition holds. */
        leaf->inner = vector_compile(&leaf->program, &planner->scopes[level], where);
        if (leaf->inner == SQL_NONE || leaf->program.ops[leaf->inner].type == TTR_STORE_TEXT)
            return false;
    }
    return true;
}

/* --- Groups --- */

/* Returns the expression of a term of GROUP BY or ORDER BY, which may be the number or the alias of
 * a result.  Returns SQL_NONE if the number or alias is unknown. */
static uint32_t resolve_term(const struct leaf_planner *planner, uint32_t term, bool is_alias_first)
{
    const struct sql *sql = &planner->sql;
    const struct sql_select *select = &planner->selects[0];
    const struct sql_expression *is = &sql->expressions[term];
    if (is->kind == SQL_LITERAL) {
        const uint32_t number =
            sql->tokens[is->from].kind == SQL_NUMBER
                ? (uint32_t)strtoul(sql->text + sql->tokens[is->from].at, NULL, 10)
                : 0;
        for (uint32_t i = 0; i < number && i < select->results_n; i++)
            if (select->results[i].expression == SQL_NONE)
                return SQL_NONE;
        return number > 0 && number <= select->results_n ? select->results[number - 1].expression
                                                         : SQL_NONE;
    }
    if (is->kind != SQL_COLUMN || is->table != SQL_NONE)
        return term;
    if (!is_alias_first &&
        vector_compile(&planner->leaf->program, &planner->scopes[0], term) != SQL_NONE)
        return term;
    for (uint32_t i = 0; i < select->results_n; i++)
        if (select->results[i].alias != SQL_NONE &&
            sql_same_name(sql, select->results[i].alias, is->name))
            return select->results[i].expression;
    return term;
}

static bool add_key(struct leaf_planner *planner, uint32_t expression)
{
    struct leaf *leaf = planner->leaf;
    if (expression == SQL_NONE || leaf->keys_n == SQL_TERMS_MAX ||
        planner->sql.expressions[expression].kind == SQL_LITERAL)
        return false;
    const uint32_t op = vector_compile(&leaf->program, &planner->scopes[0], expression);
    if (op == SQL_NONE)
        return false;
    leaf->keys[leaf->keys_n++] = (struct leaf_key){.op = op};
    return true;
}

/* SQLite sorts groups in the directions of an ORDER BY with as many terms.  This decides the order
 * of rows that ORDER BY finds equal. */
static void set_directions(struct leaf_planner *planner)
{
    const struct sql_select *select = &planner->selects[0];
    for (uint32_t i = 0; i < select->groups_n && select->orders_n == select->groups_n; i++)
        planner->leaf->keys[i].is_descending = select->orders[i].is_descending;
}

static bool plan_keys(struct leaf_planner *planner)
{
    const struct sql_select *select = &planner->selects[0];
    bool has_aggregate = false;
    for (uint32_t i = 0; i < select->results_n; i++)
        has_aggregate |= select->results[i].expression != SQL_NONE &&
                         plan_has_aggregate(planner, select->results[i].expression);
    planner->leaf->is_grouped = select->groups_n > 0;
    planner->leaf->is_sorted = true;
    for (uint32_t i = 0; i < select->groups_n; i++)
        if (!add_key(planner, resolve_term(planner, select->groups[i], false)))
            return false;
    set_directions(planner);
    if (select->groups_n > 0)
        return true;
    if (has_aggregate)
        return select->having == SQL_NONE;
    /* SELECT DISTINCT: all results are keys, in order of their first appearance. */
    planner->leaf->is_sorted = false;
    if (!select->is_distinct || select->having != SQL_NONE)
        return false;
    for (uint32_t i = 0; i < select->results_n; i++)
        if (!add_key(planner, select->results[i].expression))
            return false;
    return true;
}

static bool plan_group(struct leaf_planner *planner)
{
    planner->leaf->kind = LEAF_GROUP;
    return plan_derived_tables(planner) && plan_conditions(planner) && plan_keys(planner) &&
           plan_write_group(planner);
}

/* --- Rows --- */

/* Returns the value of LIMIT or OFFSET; UINT64_MAX if it is not a number. */
static uint64_t get_limit_value(const struct leaf_planner *planner, uint32_t expression)
{
    const struct sql *sql = &planner->sql;
    if (expression == SQL_NONE)
        return 0;
    const struct sql_expression *is = &sql->expressions[expression];
    const struct sql_token *token = &sql->tokens[is->from];
    if (is->kind != SQL_LITERAL || token->kind != SQL_NUMBER || token->n > 9 ||
        strspn(sql->text + token->at, "0123456789") < token->n)
        return UINT64_MAX;
    return strtoul(sql->text + token->at, NULL, 10);
}

/* Returns true if each row of the table is a row of the result. */
static bool is_row_by_row(const struct leaf_planner *planner)
{
    const struct sql_select *select = &planner->selects[0];
    if (select->groups_n || select->is_distinct || select->having != SQL_NONE ||
        select->is_compound)
        return false;
    for (uint32_t i = 0; i < select->results_n; i++)
        if (select->results[i].expression != SQL_NONE &&
            plan_has_aggregate(planner, select->results[i].expression))
            return false;
    return true;
}

/* Returns true if ORDER BY is the order of the table. */
static bool is_in_order(const struct leaf_planner *planner)
{
    const struct leaf *leaf = planner->leaf;
    const struct vector_op *op = &leaf->program.ops[leaf->orders[0].op];
    ttr_store_column column;
    return leaf->orders_n == 1 && !leaf->orders[0].is_descending && op->kind == VECTOR_COLUMN &&
           ttr_store_column_at(planner->tables->store, leaf->program.table, op->column, &column) &&
           column.is_ordered;
}

/* Plans ORDER BY and LIMIT.  Returns false if they are left to SQLite. */
static bool plan_limit(struct leaf_planner *planner)
{
    const struct sql_select *select = &planner->selects[0];
    struct leaf *leaf = planner->leaf;
    const uint64_t limit = get_limit_value(planner, select->limit);
    const uint64_t offset = get_limit_value(planner, select->offset);
    if (!is_row_by_row(planner) || limit == UINT64_MAX || offset == UINT64_MAX ||
        limit + offset > LEAF_LIMIT_MAX)
        return false;
    for (uint32_t i = 0; i < select->orders_n; i++) {
        const uint32_t term = resolve_term(planner, select->orders[i].expression, true);
        const uint32_t op = term == SQL_NONE || select->orders[i].has_nulls
                                ? SQL_NONE
                                : vector_compile(&leaf->program, &planner->scopes[0], term);
        if (op == SQL_NONE)
            return false;
        leaf->orders[leaf->orders_n++] = (struct leaf_order){op, select->orders[i].is_descending};
    }
    leaf->limit = limit + offset;
    if (leaf->orders_n > 0 && is_in_order(planner))
        leaf->orders_n = 0;
    return true;
}

static bool plan_rows(struct leaf_planner *planner)
{
    const struct sql_select *select = &planner->selects[0];
    struct leaf *leaf = planner->leaf;
    leaf->kind = LEAF_ROWS;
    leaf->limit = UINT64_MAX;
    if (planner->levels > 1)
        return false;
    const bool is_exact = plan_conditions(planner);
    if (select->limit != SQL_NONE && (!is_exact || !plan_limit(planner))) {
        leaf->orders_n = 0;
        if (select->orders_n == 0)
            return false; /* SQLite stops after the first rows */
    }
    if (leaf->conditions_n == 0 && leaf->orders_n == 0)
        return false;
    plan_write_rows(planner);
    return true;
}

/* --- Statements --- */

static struct leaf *new_leaf(struct leaf_planner *planner, size_t table)
{
    struct leaf *leaf = calloc(1, sizeof *leaf);
    if (!leaf)
        return NULL;
    leaf->number = ++planner->query->leaves_made;
    leaf->inner = SQL_NONE;
    vector_init(&leaf->program, planner->tables, &planner->sql, table);
    return leaf;
}

/* Returns true if an expression has a part of a kind: an operator, or a column if `op` is
 * SQL_OP_NONE. */
static bool has_part(const struct sql *sql, uint32_t expression, uint8_t op)
{
    const struct sql_expression *node = &sql->expressions[expression];
    if (op == SQL_OP_NONE ? node->kind == SQL_COLUMN : node->op == op)
        return true;
    for (uint32_t i = node->operand; i != SQL_NONE; i = sql->expressions[i].next)
        if (has_part(sql, i, op))
            return true;
    return false;
}

/* Returns true if an expression has a part that is computed from literals, such as "2 * 5". */
static bool has_computed_literal(const struct sql *sql, uint32_t expression)
{
    const struct sql_expression *node = &sql->expressions[expression];
    if (node->kind != SQL_LITERAL && node->kind != SQL_UNARY &&
        !has_part(sql, expression, SQL_OP_NONE))
        return true;
    for (uint32_t i = node->operand; i != SQL_NONE; i = sql->expressions[i].next)
        if (has_computed_literal(sql, i))
            return true;
    return false;
}

/* Returns true if SQLite may scan once per term of an OR, so that it returns rows in another order.
 * query_tables.c prevents this for literals, but cannot see if a value was computed from them. */
static bool has_unknown_order(const struct sql *sql, const struct sql_select *select)
{
    return select->where != SQL_NONE && has_part(sql, select->where, SQL_OP_OR) &&
           has_computed_literal(sql, select->where);
}

/* Writes one SELECT with its leaf.  Returns the token after the SELECT, or 0 if it has no leaf. */
static uint32_t plan_select(struct leaf_planner *planner, uint32_t token,
                            bool (*plan)(struct leaf_planner *), struct leaf **leaves)
{
    const int written = sqlite3_str_length(planner->out);
    planner->sql.expressions_n = 0;
    if (!sql_parse_select(&planner->sql, token, &planner->selects[0]) || !parse_levels(planner))
        return 0;
    for (uint32_t i = 0; i < planner->levels; i++)
        if (has_unknown_order(&planner->sql, &planner->selects[i]))
            return 0;
    const size_t table = find_table(planner, &planner->selects[planner->levels - 1]);
    planner->leaf = table == SIZE_MAX ? NULL : new_leaf(planner, table);
    if (!planner->leaf)
        return 0;
    const struct sql_select *select = &planner->selects[0];
    if (!plan(planner)) {
        leaf_free(planner->leaf);
        /* sqlite3_str cannot be shortened: restore the text in a new one. */
        char *text = sqlite3_str_finish(planner->out);
        planner->out = sqlite3_str_new(planner->query->db);
        sqlite3_str_append(planner->out, text ? text : "", text ? written : 0);
        sqlite3_free(text);
        return 0;
    }
    const struct sql_token *first = &planner->sql.tokens[select->from];
    const struct sql_token *last = &planner->sql.tokens[select->to - 1];
    planner->leaf->description = sqlite3_mprintf(
        "%s of %s: %.*s", planner->leaf->kind == LEAF_GROUP ? "groups" : "rows", planner->table,
        (int)(last->at + last->n - first->at), planner->sql.text + first->at);
    planner->leaf->program.sql = NULL;
    planner->leaf->next = *leaves;
    *leaves = planner->leaf;
    return select->to;
}

/* Returns true if a statement's SELECTs are run once, when it is. */
static bool can_have_leaves(const struct sql *sql)
{
    if (sql_is_word(sql, 0, "CREATE")) {
        for (uint32_t i = 1; i < 4 && i < sql->tokens_n; i++)
            if (sql_is_word(sql, i, "TABLE"))
                return true;
        return false;
    }
    return sql_is_word(sql, 0, "SELECT") || sql_is_word(sql, 0, "WITH") ||
           sql_is_word(sql, 0, "EXPLAIN") || sql_is_word(sql, 0, "INSERT") ||
           sql_is_symbol(sql, 0, "(");
}

/* Writes the statement with its leaves. A SELECT that is not a leaf may contain SELECTs that are.
 */
static void plan_statement(struct leaf_planner *planner, struct leaf **leaves)
{
    const struct sql *sql = &planner->sql;
    uint32_t copied = 0; /* bytes of the text that were copied */
    for (uint32_t i = 0; sql->tokens[i].kind != SQL_END;) {
        const uint32_t at = sql->tokens[i].at;
        uint32_t next = 0;
        if (sql_is_word(sql, i, "SELECT")) {
            sqlite3_str_append(planner->out, sql->text + copied, (int)(at - copied));
            copied = at;
            next = plan_select(planner, i, plan_group, leaves);
            if (!next)
                next = plan_select(planner, i, plan_rows, leaves);
        }
        if (next)
            copied = sql->tokens[next - 1].at + sql->tokens[next - 1].n;
        i = next ? next : i + 1;
    }
    const uint32_t end = sql->tokens[sql->tokens_n - 1].at;
    sqlite3_str_append(planner->out, sql->text + copied, (int)(end - copied));
}

char *leaf_plan(ttr_query *query, const char *sql, struct leaf **leaves)
{
    char *text = NULL;
    *leaves = NULL;
    struct leaf_planner *planner = calloc(1, sizeof *planner);
    if (!planner)
        return NULL;
    planner->query = query;
    planner->out = sqlite3_str_new(query->db);
    if (sql_init(&planner->sql, sql) && can_have_leaves(&planner->sql))
        plan_statement(planner, leaves);
    text = sqlite3_str_finish(planner->out);
    if (!*leaves) {
        sqlite3_free(text);
        text = NULL;
    }
    sql_free(&planner->sql);
    free(planner);
    return text;
}

/* --- Registration --- */

void leaf_free_all(struct leaf *leaves)
{
    while (leaves) {
        struct leaf *next = leaves->next;
        leaf_free(leaves);
        leaves = next;
    }
}
