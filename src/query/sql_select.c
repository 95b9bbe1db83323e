/* SELECTs over one table or one derived table.  Everything else is refused. */
#include "query/sql.h"

static bool accept_word(struct sql *sql, const char *word)
{
    const bool is_it = sql_is_word(sql, sql->at, word);
    sql->at += is_it;
    return is_it;
}

static bool accept_symbol(struct sql *sql, const char *symbol)
{
    const bool is_it = sql_is_symbol(sql, sql->at, symbol);
    sql->at += is_it;
    return is_it;
}

/* Returns true if the statement or the parenthesis around the SELECT ends at the parser's token. */
static bool is_at_end(const struct sql *sql)
{
    return sql->tokens[sql->at].kind == SQL_END || sql_is_symbol(sql, sql->at, ")");
}

static bool is_compound_word(const struct sql *sql, uint32_t token)
{
    return sql_is_word(sql, token, "UNION") || sql_is_word(sql, token, "INTERSECT") ||
           sql_is_word(sql, token, "EXCEPT");
}

/* Parses an optional alias, with or without AS.  Returns false if it is not a name. */
static bool parse_alias(struct sql *sql, uint32_t *alias)
{
    const bool has_as = accept_word(sql, "AS");
    *alias = SQL_NONE;
    if (sql_is_name(sql, sql->at))
        *alias = sql->at++;
    return !has_as || *alias != SQL_NONE;
}

static bool parse_results(struct sql *sql, struct sql_select *select)
{
    do {
        struct sql_result *result = &select->results[select->results_n];
        if (select->results_n == SQL_RESULTS_MAX)
            return false;
        *result = (struct sql_result){.expression = SQL_NONE, .alias = SQL_NONE};
        const bool has_table = sql_is_name(sql, sql->at) && sql_is_symbol(sql, sql->at + 1, ".") &&
                               sql_is_symbol(sql, sql->at + 2, "*");
        if (has_table)
            sql->at += 3;
        else if (!accept_symbol(sql, "*") &&
                 ((result->expression = sql_parse_expression(sql)) == SQL_NONE ||
                  !parse_alias(sql, &result->alias)))
            return false;
        select->results_n++;
    } while (accept_symbol(sql, ","));
    return true;
}

/* Skips a derived table to the token after its ")".  Returns false if it does not end. */
static bool skip_parentheses(struct sql *sql)
{
    for (uint32_t depth = 1; depth > 0; sql->at++) {
        if (sql->tokens[sql->at].kind == SQL_END)
            return false;
        depth += sql_is_symbol(sql, sql->at, "(");
        depth -= sql_is_symbol(sql, sql->at, ")");
    }
    return true;
}

static bool parse_table(struct sql *sql, struct sql_select *select)
{
    select->from_word = sql->at;
    if (!accept_word(sql, "FROM"))
        return false;
    select->table_from = sql->at;
    if (accept_symbol(sql, "(")) {
        if (!sql_is_word(sql, sql->at, "SELECT"))
            return false;
        select->derived = sql->at;
        if (!skip_parentheses(sql))
            return false;
    } else {
        if (!sql_is_name(sql, sql->at))
            return false;
        if (sql_is_symbol(sql, sql->at + 1, ".")) {
            select->schema = sql->at;
            sql->at += 2;
            if (!sql_is_name(sql, sql->at))
                return false;
        }
        select->table = sql->at++;
    }
    if (!parse_alias(sql, &select->table_alias))
        return false;
    select->table_to = sql->at;
    return true;
}

static bool parse_groups(struct sql *sql, struct sql_select *select)
{
    select->group_word = sql->at;
    if (!accept_word(sql, "GROUP")) {
        select->group_word = SQL_NONE;
        return true;
    }
    if (!accept_word(sql, "BY"))
        return false;
    do {
        if (select->groups_n == SQL_TERMS_MAX)
            return false;
        const uint32_t expression = sql_parse_expression(sql);
        if (expression == SQL_NONE)
            return false;
        select->groups[select->groups_n++] = expression;
    } while (accept_symbol(sql, ","));
    return true;
}

static bool parse_orders(struct sql *sql, struct sql_select *select)
{
    if (!accept_word(sql, "ORDER"))
        return true;
    if (!accept_word(sql, "BY"))
        return false;
    do {
        if (select->orders_n == SQL_TERMS_MAX)
            return false;
        const uint32_t expression = sql_parse_expression(sql);
        if (expression == SQL_NONE)
            return false;
        select->orders[select->orders_n].expression = expression;
        select->orders[select->orders_n].is_descending = accept_word(sql, "DESC");
        if (!select->orders[select->orders_n].is_descending)
            (void)accept_word(sql, "ASC");
        if (accept_word(sql, "NULLS")) {
            select->orders[select->orders_n].has_nulls = true;
            if (!accept_word(sql, "FIRST") && !accept_word(sql, "LAST"))
                return false;
        }
        select->orders_n++;
    } while (accept_symbol(sql, ","));
    return true;
}

static bool parse_limit(struct sql *sql, struct sql_select *select)
{
    if (!accept_word(sql, "LIMIT"))
        return true;
    select->limit = sql_parse_expression(sql);
    if (select->limit == SQL_NONE)
        return false;
    if (accept_word(sql, "OFFSET"))
        return (select->offset = sql_parse_expression(sql)) != SQL_NONE;
    return true; /* "LIMIT a, b" does not end here and is refused */
}

static bool parse_condition(struct sql *sql, const char *word, uint32_t *token, uint32_t *condition)
{
    *token = sql->at;
    if (accept_word(sql, word))
        return (*condition = sql_parse_expression(sql)) != SQL_NONE;
    *token = SQL_NONE;
    return true;
}

bool sql_parse_select(struct sql *sql, uint32_t token, struct sql_select *select)
{
    *select = (struct sql_select){.from = token,
                                  .table = SQL_NONE,
                                  .schema = SQL_NONE,
                                  .table_alias = SQL_NONE,
                                  .derived = SQL_NONE,
                                  .where = SQL_NONE,
                                  .having = SQL_NONE,
                                  .limit = SQL_NONE,
                                  .offset = SQL_NONE,
                                  .is_compound = token > 0 && (is_compound_word(sql, token - 1) ||
                                                               sql_is_word(sql, token - 1, "ALL"))};
    sql->at = token + 1;
    sql->depth = 0;
    select->is_distinct = accept_word(sql, "DISTINCT");
    if (!parse_results(sql, select) || !parse_table(sql, select) ||
        !parse_condition(sql, "WHERE", &select->where_word, &select->where) ||
        !parse_groups(sql, select) ||
        !parse_condition(sql, "HAVING", &select->having_word, &select->having))
        return false;
    select->tail = sql->at;
    select->is_compound |= is_compound_word(sql, sql->at);
    if (select->is_compound) {
        /* ORDER BY and LIMIT belong to all parts. */
        select->to = sql->at;
        return is_at_end(sql) || is_compound_word(sql, sql->at) ||
               sql_is_word(sql, sql->at, "ORDER") || sql_is_word(sql, sql->at, "LIMIT");
    }
    if (!parse_orders(sql, select) || !parse_limit(sql, select))
        return false;
    select->to = sql->at;
    return is_at_end(sql);
}
