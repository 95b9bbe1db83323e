/* Expressions of SQL, by precedence climbing.  Precedences are those of SQLite. */
#include <stdlib.h>
#include <string.h>

#include "query/sql.h"

#define LOWEST 1u
#define COMPARE 5u /* precedence of =, IS, IN, LIKE and BETWEEN */
#define UNARY_NOT 3u

static uint32_t parse_binary(struct sql *sql, unsigned lowest);

/* Adds an expression. Returns its number, or SQL_NONE if there are too many. */
static uint32_t add_expression(struct sql *sql, uint8_t kind, uint32_t from)
{
    if (sql->expressions_n == sql->expressions_capacity) {
        const uint32_t capacity = sql->expressions_capacity ? 2 * sql->expressions_capacity : 64;
        struct sql_expression *grown = capacity > 2 * SQL_EXPRESSIONS_MAX
                                           ? NULL
                                           : realloc(sql->expressions, capacity * sizeof *grown);
        if (!grown)
            return SQL_NONE;
        sql->expressions = grown;
        sql->expressions_capacity = capacity;
    }
    sql->expressions[sql->expressions_n] = (struct sql_expression){.kind = kind,
                                                                   .from = from,
                                                                   .to = from,
                                                                   .name = SQL_NONE,
                                                                   .table = SQL_NONE,
                                                                   .operand = SQL_NONE,
                                                                   .last = SQL_NONE,
                                                                   .next = SQL_NONE,
                                                                   .filter = SQL_NONE,
                                                                   .partition = SQL_NONE,
                                                                   .order = SQL_NONE};
    return sql->expressions_n++;
}

/* Appends an operand to an expression. */
static void add_operand(struct sql *sql, uint32_t expression, uint32_t operand)
{
    struct sql_expression *to = &sql->expressions[expression];
    *(to->operand == SQL_NONE ? &to->operand : &sql->expressions[to->last].next) = operand;
    to->last = operand;
}

/* Ends an expression at the parser's token. Returns it. */
static uint32_t end_expression(struct sql *sql, uint32_t expression)
{
    sql->expressions[expression].to = sql->at;
    return expression;
}

static bool accept_symbol(struct sql *sql, const char *symbol)
{
    const bool is_it = sql_is_symbol(sql, sql->at, symbol);
    sql->at += is_it;
    return is_it;
}

static bool accept_word(struct sql *sql, const char *word)
{
    const bool is_it = sql_is_word(sql, sql->at, word);
    sql->at += is_it;
    return is_it;
}

/* Parses operands that are separated by commas, up to ")". */
static bool parse_list(struct sql *sql, uint32_t expression)
{
    do {
        const uint32_t operand = parse_binary(sql, LOWEST);
        if (operand == SQL_NONE)
            return false;
        add_operand(sql, expression, operand);
    } while (accept_symbol(sql, ","));
    return accept_symbol(sql, ")");
}

/* Parses OVER (PARTITION BY x ORDER BY y), after OVER. */
static bool parse_window(struct sql *sql, uint32_t call)
{
    uint32_t partition = SQL_NONE, order = SQL_NONE;
    if (!accept_symbol(sql, "("))
        return false;
    if (accept_word(sql, "PARTITION")) {
        if (!accept_word(sql, "BY") || (partition = parse_binary(sql, LOWEST)) == SQL_NONE)
            return false;
    }
    if (!accept_word(sql, "ORDER") || !accept_word(sql, "BY") ||
        (order = parse_binary(sql, LOWEST)) == SQL_NONE)
        return false;
    (void)accept_word(sql, "ASC");
    sql->expressions[call].is_window = true;
    sql->expressions[call].partition = partition;
    sql->expressions[call].order = order;
    return accept_symbol(sql, ")");
}

/* Parses a function call; its name is the parser's token, "(" the next. */
static uint32_t parse_call(struct sql *sql)
{
    const uint32_t call = add_expression(sql, SQL_CALL, sql->at);
    if (call == SQL_NONE)
        return SQL_NONE;
    sql->expressions[call].name = sql->at;
    sql->at += 2;
    if (accept_symbol(sql, "*")) {
        sql->expressions[call].is_star = true;
        if (!accept_symbol(sql, ")"))
            return SQL_NONE;
    } else if (accept_symbol(sql, ")")) {
        /* count() is count(*) */
        sql->expressions[call].is_star = sql_is_word(sql, sql->expressions[call].name, "count");
    } else {
        sql->expressions[call].is_distinct = accept_word(sql, "DISTINCT");
        if (!parse_list(sql, call))
            return SQL_NONE;
    }
    if (accept_word(sql, "FILTER")) {
        uint32_t filter;
        if (!accept_symbol(sql, "(") || !accept_word(sql, "WHERE") ||
            (filter = parse_binary(sql, LOWEST)) == SQL_NONE || !accept_symbol(sql, ")"))
            return SQL_NONE;
        sql->expressions[call].filter = filter;
    }
    if (accept_word(sql, "OVER") && !parse_window(sql, call))
        return SQL_NONE;
    return end_expression(sql, call);
}

static uint32_t parse_case(struct sql *sql)
{
    const uint32_t expression = add_expression(sql, SQL_CASE, sql->at - 1);
    uint32_t operand;
    if (expression == SQL_NONE)
        return SQL_NONE;
    if (!sql_is_word(sql, sql->at, "WHEN")) {
        if ((operand = parse_binary(sql, LOWEST)) == SQL_NONE)
            return SQL_NONE;
        sql->expressions[expression].has_base = true;
        add_operand(sql, expression, operand);
    }
    while (accept_word(sql, "WHEN")) {
        if ((operand = parse_binary(sql, LOWEST)) == SQL_NONE)
            return SQL_NONE;
        add_operand(sql, expression, operand);
        if (!accept_word(sql, "THEN") || (operand = parse_binary(sql, LOWEST)) == SQL_NONE)
            return SQL_NONE;
        add_operand(sql, expression, operand);
    }
    if (accept_word(sql, "ELSE")) {
        if ((operand = parse_binary(sql, LOWEST)) == SQL_NONE)
            return SQL_NONE;
        sql->expressions[expression].has_else = true;
        add_operand(sql, expression, operand);
    }
    return accept_word(sql, "END") ? end_expression(sql, expression) : SQL_NONE;
}

static uint32_t parse_cast(struct sql *sql)
{
    const uint32_t cast = add_expression(sql, SQL_CAST, sql->at - 1);
    if (cast == SQL_NONE || !accept_symbol(sql, "("))
        return SQL_NONE;
    const uint32_t operand = parse_binary(sql, LOWEST);
    if (operand == SQL_NONE || !accept_word(sql, "AS"))
        return SQL_NONE;
    add_operand(sql, cast, operand);
    sql->expressions[cast].name = sql->at;
    if (sql->tokens[sql->at++].kind != SQL_WORD || !accept_symbol(sql, ")"))
        return SQL_NONE;
    return end_expression(sql, cast);
}

/* Parses a column, table.column, or a function call. */
static uint32_t parse_name(struct sql *sql)
{
    const uint32_t from = sql->at;
    const bool is_call = sql->tokens[from].kind == SQL_WORD && sql_is_symbol(sql, from + 1, "(");
    /* These functions have names that are keywords. */
    const bool is_function = sql_is_word(sql, from, "GLOB") || sql_is_word(sql, from, "LIKE") ||
                             sql_is_word(sql, from, "REPLACE");
    if (is_call && (is_function || sql_is_name(sql, from)))
        return parse_call(sql);
    /* Keywords that are also column names of the store. */
    if (!sql_is_name(sql, from) && !sql_is_word(sql, from, "KEY") &&
        !sql_is_word(sql, from, "OFFSET"))
        return SQL_NONE;
    const uint32_t column = add_expression(sql, SQL_COLUMN, from);
    if (column == SQL_NONE)
        return SQL_NONE;
    sql->expressions[column].name = from;
    sql->at++;
    if (accept_symbol(sql, ".")) {
        sql->expressions[column].table = from;
        sql->expressions[column].name = sql->at;
        /* A column may have the name of a keyword after the table. */
        if (sql->tokens[sql->at].kind != SQL_WORD && sql->tokens[sql->at].kind != SQL_QUOTED)
            return SQL_NONE;
        sql->at++;
    }
    return end_expression(sql, column);
}

static uint32_t parse_primary(struct sql *sql)
{
    const uint32_t from = sql->at;
    const uint8_t kind = sql->tokens[from].kind;
    uint32_t expression;
    if (kind == SQL_NUMBER || kind == SQL_STRING || sql_is_word(sql, from, "NULL")) {
        expression = add_expression(sql, SQL_LITERAL, from);
        sql->at++;
        return expression == SQL_NONE ? SQL_NONE : end_expression(sql, expression);
    }
    if (accept_symbol(sql, "(")) {
        expression = parse_binary(sql, LOWEST);
        if (expression == SQL_NONE || !accept_symbol(sql, ")"))
            return SQL_NONE;
        sql->expressions[expression].from = from;
        return end_expression(sql, expression);
    }
    if (accept_word(sql, "CASE"))
        return parse_case(sql);
    if (accept_word(sql, "CAST"))
        return parse_cast(sql);
    return parse_name(sql);
}

static uint32_t parse_unary(struct sql *sql)
{
    static const struct {
        const char *symbol;
        uint8_t op;
    } operators[] = {{"-", SQL_OP_MINUS}, {"+", SQL_OP_PLUS}, {"~", SQL_OP_BIT_NOT}};
    uint32_t expression = SQL_NONE;
    const uint32_t from = sql->at;
    for (size_t i = 0; i < sizeof operators / sizeof *operators && expression == SQL_NONE; i++)
        if (accept_symbol(sql, operators[i].symbol)) {
            if (sql->depth >= SQL_DEPTH_MAX)
                return SQL_NONE;
            sql->depth++;
            const uint32_t operand = parse_unary(sql);
            sql->depth--;
            expression = operand == SQL_NONE ? SQL_NONE : add_expression(sql, SQL_UNARY, from);
            if (expression == SQL_NONE)
                return SQL_NONE;
            sql->expressions[expression].op = operators[i].op;
            add_operand(sql, expression, operand);
            return end_expression(sql, expression);
        }
    expression = parse_primary(sql);
    while (expression != SQL_NONE && accept_word(sql, "COLLATE")) {
        const uint32_t collate = add_expression(sql, SQL_COLLATE, from);
        if (collate == SQL_NONE || sql->tokens[sql->at].kind == SQL_END)
            return SQL_NONE;
        add_operand(sql, collate, expression);
        sql->at++;
        expression = end_expression(sql, collate);
    }
    return expression;
}

struct binary {
    const char *text;
    uint8_t op, precedence;
};

static const struct binary symbols[] = {
    {"==", SQL_OP_EQ, 5},         {"=", SQL_OP_EQ, 5},           {"<>", SQL_OP_NE, 5},
    {"!=", SQL_OP_NE, 5},         {"<=", SQL_OP_LE, 6},          {">=", SQL_OP_GE, 6},
    {"<<", SQL_OP_SHIFT_LEFT, 7}, {">>", SQL_OP_SHIFT_RIGHT, 7}, {"<", SQL_OP_LT, 6},
    {">", SQL_OP_GT, 6},          {"&", SQL_OP_BIT_AND, 7},      {"||", SQL_OP_CONCAT, 10},
    {"|", SQL_OP_BIT_OR, 7},      {"+", SQL_OP_ADD, 8},          {"-", SQL_OP_SUBTRACT, 8},
    {"*", SQL_OP_MULTIPLY, 9},    {"/", SQL_OP_DIVIDE, 9},       {"%", SQL_OP_MODULO, 9},
};
static const struct binary words[] = {
    {"OR", SQL_OP_OR, 1},     {"AND", SQL_OP_AND, 2},   {"IS", SQL_OP_IS, 5},
    {"LIKE", SQL_OP_LIKE, 5}, {"GLOB", SQL_OP_GLOB, 5},
};

/* Returns the operator at the parser's token, or NULL. */
static const struct binary *find_operator_at_token(const struct sql *sql)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        if (sql_is_symbol(sql, sql->at, symbols[i].text))
            return &symbols[i];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (sql_is_word(sql, sql->at, words[i].text))
            return &words[i];
    return NULL;
}

/* Parses [NOT] BETWEEN or [NOT] IN after their word. */
static uint32_t parse_between(struct sql *sql, uint32_t left, bool is_negated)
{
    const uint32_t expression = add_expression(sql, SQL_BETWEEN, sql->expressions[left].from);
    if (expression == SQL_NONE)
        return SQL_NONE;
    sql->expressions[expression].is_negated = is_negated;
    add_operand(sql, expression, left);
    const uint32_t low = parse_binary(sql, COMPARE + 1);
    if (low == SQL_NONE || !accept_word(sql, "AND"))
        return SQL_NONE;
    const uint32_t high = parse_binary(sql, COMPARE + 1);
    if (high == SQL_NONE)
        return SQL_NONE;
    add_operand(sql, expression, low);
    add_operand(sql, expression, high);
    return end_expression(sql, expression);
}

static uint32_t parse_in(struct sql *sql, uint32_t left, bool is_negated)
{
    const uint32_t expression = add_expression(sql, SQL_IN, sql->expressions[left].from);
    if (expression == SQL_NONE || !accept_symbol(sql, "("))
        return SQL_NONE;
    sql->expressions[expression].is_negated = is_negated;
    add_operand(sql, expression, left);
    return parse_list(sql, expression) ? end_expression(sql, expression) : SQL_NONE;
}

/* Parses ISNULL, NOTNULL and NOT NULL as IS NULL and IS NOT NULL. */
static uint32_t parse_null_test(struct sql *sql, uint32_t left, uint8_t op)
{
    const uint32_t expression = add_expression(sql, SQL_BINARY, sql->expressions[left].from);
    const uint32_t null = add_expression(sql, SQL_LITERAL, sql->at - 1);
    if (expression == SQL_NONE || null == SQL_NONE)
        return SQL_NONE;
    sql->expressions[null].is_star = true;
    sql->expressions[expression].op = op;
    add_operand(sql, expression, left);
    add_operand(sql, expression, null);
    return end_expression(sql, expression);
}

/* Parses an operator that is a word with special syntax.  Sets *is_it if there is one. */
static uint32_t parse_special(struct sql *sql, uint32_t left, bool *is_it)
{
    const bool is_negated = sql_is_word(sql, sql->at, "NOT");
    const uint32_t start = sql->at;
    *is_it = true;
    sql->at += is_negated;
    if (accept_word(sql, "BETWEEN"))
        return parse_between(sql, left, is_negated);
    if (accept_word(sql, "IN"))
        return parse_in(sql, left, is_negated);
    if (is_negated && accept_word(sql, "NULL"))
        return parse_null_test(sql, left, SQL_OP_IS_NOT);
    if (!is_negated && accept_word(sql, "ISNULL"))
        return parse_null_test(sql, left, SQL_OP_IS);
    if (!is_negated && accept_word(sql, "NOTNULL"))
        return parse_null_test(sql, left, SQL_OP_IS_NOT);
    if (is_negated && !sql_is_word(sql, sql->at, "LIKE") && !sql_is_word(sql, sql->at, "GLOB"))
        sql->at = start;
    *is_it = false;
    return SQL_NONE;
}

/* Parses the right side of an operator and joins both sides. */
static uint32_t parse_right(struct sql *sql, uint32_t left, const struct binary *operator,
                            bool is_negated)
{
    uint8_t op = operator->op;
    sql->at++;
    if (op == SQL_OP_IS && accept_word(sql, "NOT"))
        op = SQL_OP_IS_NOT;
    if (op == SQL_OP_IS || op == SQL_OP_IS_NOT)
        if (sql_is_word(sql, sql->at, "DISTINCT"))
            return SQL_NONE;
    const uint32_t right = parse_binary(sql, operator->precedence + 1u);
    const uint32_t expression =
        right == SQL_NONE ? SQL_NONE : add_expression(sql, SQL_BINARY, sql->expressions[left].from);
    if (expression == SQL_NONE || sql_is_word(sql, sql->at, "ESCAPE") ||
        sql_is_symbol(sql, sql->at, "->"))
        return SQL_NONE;
    sql->expressions[expression].op = op;
    sql->expressions[expression].is_negated = is_negated;
    add_operand(sql, expression, left);
    add_operand(sql, expression, right);
    return end_expression(sql, expression);
}

static uint32_t parse_not(struct sql *sql)
{
    const uint32_t from = sql->at++;
    const uint32_t operand = parse_binary(sql, UNARY_NOT);
    const uint32_t expression =
        operand == SQL_NONE ? SQL_NONE : add_expression(sql, SQL_UNARY, from);
    if (expression == SQL_NONE)
        return SQL_NONE;
    sql->expressions[expression].op = SQL_OP_NOT;
    add_operand(sql, expression, operand);
    return end_expression(sql, expression);
}

/* Parses operators of at least a precedence. */
static uint32_t parse_operators(struct sql *sql, unsigned lowest)
{
    uint32_t left = sql_is_word(sql, sql->at, "NOT") ? parse_not(sql) : parse_unary(sql);
    while (left != SQL_NONE) {
        bool is_special = false, is_negated = false;
        const uint32_t start = sql->at;
        if (lowest <= COMPARE) {
            const uint32_t special = parse_special(sql, left, &is_special);
            if (is_special) {
                left = special;
                continue;
            }
            is_negated = sql->at != start; /* NOT LIKE, NOT GLOB */
        }
        const struct binary *operator= find_operator_at_token(sql);
        if (!operator|| operator->precedence<lowest) {
            sql->at = start;
            break;
        }
        left = parse_right(sql, left, operator, is_negated);
    }
    return left;
}

static uint32_t parse_binary(struct sql *sql, unsigned lowest)
{
    if (sql->depth >= SQL_DEPTH_MAX)
        return SQL_NONE;
    sql->depth++;
    const uint32_t expression = parse_operators(sql, lowest);
    sql->depth--;
    return expression;
}

uint32_t sql_parse_expression(struct sql *sql)
{
    return parse_binary(sql, LOWEST);
}
