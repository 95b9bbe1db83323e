/* Tokens, expressions and simple SELECTs of SQL, as far as a leaf can use them: a leaf is a
 * part of a statement that the column scan runs instead of SQLite (leaf.h).
 *
 * The parser is not a parser of all SQL: it recognises SELECTs over one table and refuses the rest,
 * which SQLite then runs as written.  All positions are indexes of tokens.  Memory is bounded:
 * texts of more than SQL_TOKENS_MAX tokens are refused. */
#ifndef TRACETTA_QUERY_SQL_H
#define TRACETTA_QUERY_SQL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SQL_TOKENS_MAX 20000u
#define SQL_EXPRESSIONS_MAX 20000u
#define SQL_DEPTH_MAX 60u /* nested expressions and derived tables */
#define SQL_RESULTS_MAX 64u
#define SQL_TERMS_MAX 16u /* maximum number of terms of GROUP BY and ORDER BY */
#define SQL_NONE UINT32_MAX

enum sql_token_kind {
    SQL_END,
    SQL_WORD,   /* keyword or identifier that is not quoted */
    SQL_QUOTED, /* "name", `name`, [name] */
    SQL_STRING,
    SQL_NUMBER,
    SQL_SYMBOL, /* one or two characters, such as "<=" */
    SQL_OTHER   /* anything else: parameters, blobs, unknown characters */
};

struct sql_token {
    uint32_t at, n; /* byte offset in the text, and length */
    uint8_t kind;
};

enum sql_expression_kind {
    SQL_LITERAL, /* number, string or NULL */
    SQL_COLUMN,  /* name, or table.name */
    SQL_UNARY,   /* "-", "+", "~", "NOT" */
    SQL_BINARY,
    SQL_CALL,
    SQL_CASE,    /* operands in order of the text; has_else, has_base */
    SQL_IN,      /* first operand, then the list */
    SQL_BETWEEN, /* three operands */
    SQL_CAST,
    SQL_COLLATE
};

enum sql_operator {
    SQL_OP_NONE,
    SQL_OP_OR,
    SQL_OP_AND,
    SQL_OP_NOT,
    SQL_OP_EQ,
    SQL_OP_NE,
    SQL_OP_IS,
    SQL_OP_IS_NOT,
    SQL_OP_LIKE,
    SQL_OP_GLOB,
    SQL_OP_LT,
    SQL_OP_LE,
    SQL_OP_GT,
    SQL_OP_GE,
    SQL_OP_BIT_AND,
    SQL_OP_BIT_OR,
    SQL_OP_SHIFT_LEFT,
    SQL_OP_SHIFT_RIGHT,
    SQL_OP_ADD,
    SQL_OP_SUBTRACT,
    SQL_OP_MULTIPLY,
    SQL_OP_DIVIDE,
    SQL_OP_MODULO,
    SQL_OP_CONCAT,
    SQL_OP_PLUS,
    SQL_OP_MINUS,
    SQL_OP_BIT_NOT
};

struct sql_expression {
    uint8_t kind;      /* enum sql_expression_kind */
    uint8_t op;        /* enum sql_operator */
    bool is_negated;   /* NOT LIKE, NOT IN, NOT BETWEEN */
    bool has_base;     /* "CASE x WHEN": the first operand is x */
    bool has_else;     /* "CASE ... ELSE": the last operand is the value of ELSE */
    bool is_star;      /* count(*); of a literal: NULL that has no token of its own */
    bool is_distinct;  /* count(DISTINCT x) */
    bool is_window;    /* has OVER (PARTITION BY ... ORDER BY ...) */
    uint32_t from, to; /* tokens [from, to) */
    uint32_t name;     /* token of a column's name, of a function or of a type */
    uint32_t table;    /* token of a column's table; SQL_NONE = not given */
    uint32_t operand;  /* first operand; SQL_NONE = none */
    uint32_t last;     /* last operand */
    uint32_t next;     /* next operand of the same expression */
    uint32_t filter;   /* FILTER (WHERE ...); SQL_NONE = none */
    /* window functions: expressions of PARTITION BY and ORDER BY; SQL_NONE = none */
    uint32_t partition, order;
};

struct sql_result {
    uint32_t expression; /* SQL_NONE for "*" and "table.*" */
    uint32_t alias;      /* token of the name; SQL_NONE = none */
};

/* SELECT [DISTINCT] results FROM table [WHERE] [GROUP BY] [HAVING] [ORDER BY] [LIMIT]. */
struct sql_select {
    uint32_t from, to; /* tokens [from, to), with neither parentheses around it */
    bool is_distinct;
    bool is_compound; /* part of UNION, INTERSECT, EXCEPT */
    struct sql_result results[SQL_RESULTS_MAX];
    uint32_t results_n;
    uint32_t from_word;  /* token FROM */
    uint32_t table;      /* token of the table's name; SQL_NONE = a derived table */
    uint32_t schema;     /* token of the name; SQL_NONE = none */
    uint32_t table_from; /* tokens [table_from, table_to) are the table with schema and alias */
    uint32_t table_to;
    uint32_t table_alias; /* token of the name; SQL_NONE = none */
    uint32_t derived;     /* token SELECT of the derived table; SQL_NONE = a table */
    uint32_t where;       /* expression of WHERE; SQL_NONE = none */
    uint32_t where_word;  /* token WHERE, if there is one */
    uint32_t having, having_word;
    uint32_t groups[SQL_TERMS_MAX];
    uint32_t groups_n;
    uint32_t group_word; /* token GROUP; SQL_NONE = none */
    struct {
        uint32_t expression;
        bool is_descending;
        bool has_nulls; /* NULLS FIRST or LAST */
    } orders[SQL_TERMS_MAX];
    uint32_t orders_n;
    uint32_t limit, offset; /* expressions of LIMIT and OFFSET; SQL_NONE = none */
    uint32_t tail;          /* first token after WHERE, GROUP BY and HAVING: ORDER BY or the end */
};

struct sql {
    const char *text;
    struct sql_token *tokens;
    uint32_t tokens_n, tokens_capacity;
    struct sql_expression *expressions;
    uint32_t expressions_n, expressions_capacity;
    uint32_t at;    /* next token that the parser reads */
    uint32_t depth; /* depth of nested expressions */
};

/* Splits the first statement of a text into tokens; comments and blanks are left out.  The text
 * must outlive `sql`.  Returns false if memory is exhausted or there are too many tokens. */
bool sql_init(struct sql *sql, const char *text);
void sql_free(struct sql *sql);

/* Returns true if a token is this word, in any case, and not quoted. */
bool sql_is_word(const struct sql *sql, uint32_t token, const char *word);

/* Returns true if a token is this symbol. */
bool sql_is_symbol(const struct sql *sql, uint32_t token, const char *symbol);

/* Returns true if a token is an identifier: quoted, or a word that is not a keyword. */
bool sql_is_name(const struct sql *sql, uint32_t token);

/* Compares the name at a token with a text, in any case as SQL does, without its quotes. */
bool sql_name_equals(const struct sql *sql, uint32_t token, const char *name);

/* Returns true if two tokens are the same name. */
bool sql_same_name(const struct sql *sql, uint32_t a, uint32_t b);

/* Parses an expression at sql->at, which moves to the token after it.  Returns SQL_NONE if the text
 * is not an expression, or has parts that this parser does not know. */
uint32_t sql_parse_expression(struct sql *sql);

/* Parses the SELECT that starts at a token.  Returns false if it is not of the known form. */
bool sql_parse_select(struct sql *sql, uint32_t token, struct sql_select *select);

#endif
