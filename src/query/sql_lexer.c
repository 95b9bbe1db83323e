/* Tokens of SQL. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "query/sql.h"

static bool is_word_byte(unsigned char c)
{
    return isalnum(c) || c == '_' || c == '$' || c >= 128;
}

/* Returns the length of the blanks and comments at p. */
static size_t get_blank_length(const char *p)
{
    size_t n = 0;
    for (;;) {
        n += strspn(p + n, " \t\r\n\f");
        if (p[n] == '-' && p[n + 1] == '-') {
            n += strcspn(p + n, "\n");
        } else if (p[n] == '/' && p[n + 1] == '*') {
            const char *end = strstr(p + n + 2, "*/");
            n = end ? (size_t)(end + 2 - p) : n + strlen(p + n);
        } else {
            return n;
        }
    }
}

/* Returns the length of a quoted text at p, in which a doubled quote is a quote; 0 if it
 * does not end. */
static size_t get_quoted_length(const char *p, char quote)
{
    for (size_t n = 1; p[n]; n++) {
        if (p[n] != quote)
            continue;
        if (p[n + 1] != quote || quote == ']')
            return n + 1;
        n++;
    }
    return 0;
}

static size_t number_length(const char *p)
{
    size_t n = 0;
    if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
        for (n = 2; isxdigit((unsigned char)p[n]); n++)
            ;
        return n;
    }
    while (isdigit((unsigned char)p[n]) || p[n] == '.')
        n++;
    if ((p[n] == 'e' || p[n] == 'E')) {
        const size_t sign = p[n + 1] == '+' || p[n + 1] == '-';
        if (isdigit((unsigned char)p[n + 1 + sign]))
            for (n += 1 + sign; isdigit((unsigned char)p[n]); n++)
                ;
    }
    return n;
}

static size_t symbol_length(const char *p)
{
    static const char *const pairs[] = {"<=", ">=", "<>", "!=", "==", "||", "<<", ">>", "->"};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strncmp(p, pairs[i], 2) == 0)
            return 2;
    return 1;
}

/* Sets kind and length of the token at p, which is not blank. */
static void scan_token(const char *p, struct sql_token *token)
{
    const char close = *p == '[' ? ']' : *p;
    size_t n;
    token->kind = SQL_OTHER;
    if (*p == '\'' || *p == '"' || *p == '`' || *p == '[') {
        n = get_quoted_length(p, close);
        if (n)
            token->kind = *p == '\'' ? SQL_STRING : SQL_QUOTED;
        else
            n = strlen(p);
    } else if (isdigit((unsigned char)*p) || (*p == '.' && isdigit((unsigned char)p[1]))) {
        n = number_length(p);
        token->kind = SQL_NUMBER;
        for (; is_word_byte((unsigned char)p[n]); n++)
            token->kind = SQL_OTHER; /* "1abc" */
    } else if (is_word_byte((unsigned char)*p) && *p != '$') {
        for (n = 1; is_word_byte((unsigned char)p[n]); n++)
            ;
        /* The X of a blob X'0123' is a token of kind SQL_OTHER, not a name. */
        token->kind = n == 1 && p[1] == '\'' && (*p == 'x' || *p == 'X') ? SQL_OTHER : SQL_WORD;
    } else {
        n = symbol_length(p);
        token->kind = strchr("()+-*/%<>=!|&~,.;", *p) ? SQL_SYMBOL : SQL_OTHER;
    }
    token->n = (uint32_t)n;
}

static bool add_token(struct sql *sql, const struct sql_token *token)
{
    if (sql->tokens_n == sql->tokens_capacity) {
        const uint32_t capacity = sql->tokens_capacity ? 2 * sql->tokens_capacity : 64;
        struct sql_token *grown = realloc(sql->tokens, capacity * sizeof *grown);
        if (!grown)
            return false;
        sql->tokens = grown;
        sql->tokens_capacity = capacity;
    }
    sql->tokens[sql->tokens_n++] = *token;
    return true;
}

bool sql_init(struct sql *sql, const char *text)
{
    *sql = (struct sql){.text = text};
    size_t at = 0;
    for (;;) {
        struct sql_token token = {0};
        at += get_blank_length(text + at);
        if (at > UINT32_MAX / 2 || sql->tokens_n >= SQL_TOKENS_MAX)
            return false;
        token.at = (uint32_t)at;
        if (text[at] && text[at] != ';')
            scan_token(text + at, &token);
        if (!add_token(sql, &token))
            return false;
        if (token.kind == SQL_END)
            return true;
        at += token.n;
    }
}

void sql_free(struct sql *sql)
{
    free(sql->tokens);
    free(sql->expressions);
    *sql = (struct sql){0};
}

bool sql_is_word(const struct sql *sql, uint32_t token, const char *word)
{
    const struct sql_token *is = &sql->tokens[token];
    return is->kind == SQL_WORD && is->n == strlen(word) &&
           sqlite3_strnicmp(sql->text + is->at, word, (int)is->n) == 0;
}

bool sql_is_symbol(const struct sql *sql, uint32_t token, const char *symbol)
{
    const struct sql_token *is = &sql->tokens[token];
    return is->kind == SQL_SYMBOL && is->n == strlen(symbol) &&
           memcmp(sql->text + is->at, symbol, is->n) == 0;
}

bool sql_is_name(const struct sql *sql, uint32_t token)
{
    const struct sql_token *is = &sql->tokens[token];
    return is->kind == SQL_QUOTED ||
           (is->kind == SQL_WORD && !sqlite3_keyword_check(sql->text + is->at, (int)is->n));
}

/* Sets the text of a name without its quotes.  Names with doubled quotes keep them: they equal no
 * name of ours. */
static const char *get_unquoted_name(const struct sql *sql, uint32_t token, size_t *n)
{
    const struct sql_token *is = &sql->tokens[token];
    const bool is_quoted = is->kind == SQL_QUOTED;
    *n = is->n - 2 * is_quoted;
    return sql->text + is->at + is_quoted;
}

bool sql_name_equals(const struct sql *sql, uint32_t token, const char *name)
{
    size_t n;
    const char *text = get_unquoted_name(sql, token, &n);
    return n == strlen(name) && sqlite3_strnicmp(text, name, (int)n) == 0;
}

bool sql_same_name(const struct sql *sql, uint32_t a, uint32_t b)
{
    size_t n, other_n;
    const char *text = get_unquoted_name(sql, a, &n), *other = get_unquoted_name(sql, b, &other_n);
    return n == other_n && sqlite3_strnicmp(text, other, (int)n) == 0;
}
