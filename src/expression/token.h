/* Tokens of expressions, as in SQLite. */
#ifndef TRACETTA_EXPRESSION_TOKEN_H
#define TRACETTA_EXPRESSION_TOKEN_H

#include <stddef.h>
#include <stdbool.h>

enum token_kind {
    TOKEN_END,
    TOKEN_WORD,      /* a name or a key word */
    TOKEN_QUOTED,    /* a name in "", `` or [] */
    TOKEN_TEXT,      /* 'text' */
    TOKEN_NUMBER,    /* with its unit, if it has one: 16ms */
    TOKEN_OPERATOR,  /* one or two characters */
    TOKEN_OPEN_TEXT, /* a quote without its end */
    TOKEN_OTHER      /* a character that no expression has */
};

struct token {
    enum token_kind kind;
    const char *begin;
    size_t n;
};

/* Returns the token after spaces and comments from p on. */
struct token token_read(const char *p);

/* Returns true for a word, ignoring case, or an operator. */
bool token_is(const struct token *token, const char *text);

#endif
