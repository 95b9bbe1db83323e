/* Tokens of expressions; see the header. */
#include "expression/token.h"

#include <string.h>
#include <strings.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word_byte(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (unsigned char)c >= 128 || c == '$';
}

static const char *skip_spaces(const char *p)
{
    for (;;) {
        p += strspn(p, " \t\r\n\f");
        if (p[0] == '-' && p[1] == '-') {
            p += strcspn(p, "\n");
        } else if (p[0] == '/' && p[1] == '*') {
            const char *end = strstr(p + 2, "*/");
            p = end ? end + 2 : p + strlen(p);
        } else {
            return p;
        }
    }
}

/* Reads a quoted text or name; a doubled quote is part of it. */
static struct token read_quoted(const char *p)
{
    const char quote = *p == '[' ? ']' : *p;
    const enum token_kind kind = quote == '\'' ? TOKEN_TEXT : TOKEN_QUOTED;
    const char *at = p + 1;
    while (*at && (*at != quote || (quote != ']' && at[1] == quote)))
        at += *at == quote ? 2 : 1;
    if (!*at)
        return (struct token){TOKEN_OPEN_TEXT, p, (size_t)(at - p)};
    return (struct token){kind, p, (size_t)(at + 1 - p)};
}

/* Reads a number and the letters after it, which are a unit or an error of the text. */
static struct token read_number(const char *p)
{
    const char *at = p;
    if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
        at += 2;
    } else {
        while (is_digit(*at))
            at++;
        if (*at == '.')
            for (at++; is_digit(*at);)
                at++;
        if ((*at == 'e' || *at == 'E') &&
            (is_digit(at[1]) || ((at[1] == '+' || at[1] == '-') && is_digit(at[2]))))
            for (at += 2; is_digit(*at);)
                at++;
    }
    while (is_word_byte(*at))
        at++;
    return (struct token){TOKEN_NUMBER, p, (size_t)(at - p)};
}

struct token token_read(const char *p)
{
    static const char *const pairs[] = {"==", "!=", "<>", "<=", ">=", "<<", ">>", "||"};
    p = skip_spaces(p);
    if (!*p)
        return (struct token){TOKEN_END, p, 0};
    if (*p == '\'' || *p == '"' || *p == '`' || *p == '[')
        return read_quoted(p);
    if (is_digit(*p) || (*p == '.' && is_digit(p[1])))
        return read_number(p);
    if (is_word_byte(*p) && *p != '$') {
        const char *end = p;
        while (is_word_byte(*end))
            end++;
        return (struct token){TOKEN_WORD, p, (size_t)(end - p)};
    }
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (p[0] == pairs[i][0] && p[1] == pairs[i][1])
            return (struct token){TOKEN_OPERATOR, p, 2};
    return (struct token){strchr("=<>&|+-*/%~(),.", *p) ? TOKEN_OPERATOR : TOKEN_OTHER, p, 1};
}

bool token_is(const struct token *token, const char *text)
{
    return (token->kind == TOKEN_WORD || token->kind == TOKEN_OPERATOR) &&
           strlen(text) == token->n && strncasecmp(token->begin, text, token->n) == 0;
}
