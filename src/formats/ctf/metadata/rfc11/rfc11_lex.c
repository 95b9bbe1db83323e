/* Lexer of RFC v1.1 metadata. It reads each byte once; a token never extends beyond the text. */
#include "formats/ctf/metadata/rfc11/rfc11_lex.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"

bool rfc11_fail_at(struct rfc11_lexer *lexer, size_t at, const char *format, ...)
{
    char what[200];
    va_list values;
    va_start(values, format);
    (void)vsnprintf(what, sizeof what, format, values);
    va_end(values);
    lexer->status = ctf_fail_at_text(lexer->text, at, lexer->error, "%s", what);
    return false;
}

bool rfc11_fail_memory(struct rfc11_lexer *lexer)
{
    lexer->status = fail_memory(lexer->error);
    return false;
}

bool rfc11_fail_expected(struct rfc11_lexer *lexer, const char *what)
{
    const struct rfc11_token *token = &lexer->token;
    int n = token->text.n < 40 ? (int)token->text.n : 40;
    switch (token->kind) {
    case RFC11_END:
        return rfc11_fail_at(lexer, token->at, "expected %s, found the end of the metadata", what);
    case RFC11_MARK:
        return rfc11_fail_at(lexer, token->at, "expected %s, found '%c'", what, token->mark);
    case RFC11_NUMBER:
        return rfc11_fail_at(lexer, token->at, "expected %s, found a number", what);
    case RFC11_STRING:
        return rfc11_fail_at(lexer, token->at, "expected %s, found the string \"%.*s\"", what, n,
                             token->text.p);
    case RFC11_WORD:
        break;
    }
    return rfc11_fail_at(lexer, token->at, "expected %s, found '%.*s'", what, n, token->text.p);
}

/* Returns the byte k positions after the current one; 0 at the end of the text. */
static char peek_byte(const struct rfc11_lexer *lexer, size_t k)
{
    return lexer->text->n - lexer->at > k ? lexer->text->p[lexer->at + k] : '\0';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

/* Skips a comment of C or C++. Returns false if a comment of C is not closed. */
static bool skip_comment(struct rfc11_lexer *lexer)
{
    size_t n = lexer->text->n, begin = lexer->at;
    if (peek_byte(lexer, 1) == '/') {
        while (lexer->at < n && peek_byte(lexer, 0) != '\n')
            lexer->at++;
        return true;
    }
    for (lexer->at += 2; n - lexer->at >= 2; lexer->at++)
        if (peek_byte(lexer, 0) == '*' && peek_byte(lexer, 1) == '/') {
            lexer->at += 2;
            return true;
        }
    return rfc11_fail_at(lexer, begin, "the comment has no end");
}

static bool skip_blanks(struct rfc11_lexer *lexer)
{
    while (lexer->at < lexer->text->n) {
        char c = peek_byte(lexer, 0);
        if (c == '/' && (peek_byte(lexer, 1) == '*' || peek_byte(lexer, 1) == '/')) {
            if (!skip_comment(lexer))
                return false;
        } else if (c == '\0' || c == ' ' || (c >= '\t' && c <= '\r')) {
            lexer->at++;
        } else {
            return true;
        }
    }
    return true;
}

static unsigned get_digit_value(char c)
{
    if (is_digit(c))
        return (unsigned)(c - '0');
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 99;
}

/* Reads a number as in C; skips the suffixes u and l. */
static bool scan_number(struct rfc11_lexer *lexer, struct rfc11_token *token)
{
    unsigned base = 10;
    size_t digits = 0;
    if (peek_byte(lexer, 0) == '0' && (peek_byte(lexer, 1) | 0x20) == 'x') {
        base = 16;
        lexer->at += 2;
    } else if (peek_byte(lexer, 0) == '0') {
        base = 8;
    }
    token->kind = RFC11_NUMBER;
    for (unsigned digit; (digit = get_digit_value(peek_byte(lexer, 0))) < base;
         digits++, lexer->at++)
        if (__builtin_mul_overflow(token->value, base, &token->value) ||
            __builtin_add_overflow(token->value, digit, &token->value))
            return rfc11_fail_at(lexer, token->at, "the number does not fit in 64 bits");
    while ((peek_byte(lexer, 0) | 0x20) == 'u' || (peek_byte(lexer, 0) | 0x20) == 'l')
        lexer->at++;
    if (digits == 0 || is_word_byte(peek_byte(lexer, 0)))
        return rfc11_fail_at(
            lexer, token->at,
            "this is not a number: expected decimal, octal (0...) or hexadecimal (0x...) digits");
    if (token->is_negative && token->value > UINT64_C(1) << 63)
        return rfc11_fail_at(lexer, token->at, "the number is below the least of 64 bits");
    return true;
}

/* Reads up to `most` digits of an escape sequence. Returns false if the first character is not a
 * digit. */
static bool scan_escape_digits(struct rfc11_lexer *lexer, unsigned base, unsigned most, char *to)
{
    unsigned value = 0, n = 0;
    for (unsigned digit; n < most && (digit = get_digit_value(peek_byte(lexer, 0))) < base;
         n++, lexer->at++)
        value = value * base + digit;
    *to = (char)value;
    return n > 0 && value < 256;
}

/* Decodes the escape sequence of C after a backslash. */
static bool scan_escape(struct rfc11_lexer *lexer, char *to)
{
    static const char from[] = "abfnrtv\\'\"?", meant[] = "\a\b\f\n\r\t\v\\'\"?";
    char c = peek_byte(lexer, 0);
    const char *found = c ? strchr(from, c) : NULL;
    size_t begin = lexer->at - 1;
    if (found) {
        lexer->at++;
        *to = meant[found - from];
        return true;
    }
    bool is_hex = c == 'x';
    lexer->at += is_hex;
    return scan_escape_digits(lexer, is_hex ? 16 : 8, is_hex ? 2 : 3, to) ||
           rfc11_fail_at(
               lexer, begin,
               "C has no such escape: \\n, \\t, \\\\, \\\", \\x41 and \\101 are some it has");
}

/* Returns the offset of the closing quote; the end of the text if it is missing. */
static size_t find_closing_quote(const struct rfc11_lexer *lexer)
{
    const struct ctf_text *text = lexer->text;
    size_t at = lexer->at + 1;
    while (at < text->n && text->p[at] != '"' && text->p[at] != '\n')
        at += text->p[at] == '\\' && text->n - at > 1 ? 2 : 1;
    return at < text->n && text->p[at] == '"' ? at : text->n;
}

static bool scan_string(struct rfc11_lexer *lexer, struct rfc11_token *token)
{
    size_t quote = find_closing_quote(lexer), n = 0;
    if (quote == lexer->text->n)
        return rfc11_fail_at(lexer, token->at, "the string has no end in its line");
    char *to = arena_alloc(lexer->arena, quote - lexer->at);
    if (!to)
        return rfc11_fail_memory(lexer);
    for (lexer->at++; lexer->at < quote; n++) {
        char c = lexer->text->p[lexer->at++];
        to[n] = c;
        if (c == '\\' && !scan_escape(lexer, &to[n]))
            return false;
    }
    lexer->at = quote + 1;
    token->kind = RFC11_STRING;
    token->text = (ttr_text){to, n};
    return true;
}

static bool scan_word(struct rfc11_lexer *lexer, struct rfc11_token *token)
{
    size_t begin = lexer->at;
    while (is_word_byte(peek_byte(lexer, 0)))
        lexer->at++;
    token->kind = RFC11_WORD;
    token->text = (ttr_text){lexer->text->p + begin, lexer->at - begin};
    return true;
}

bool rfc11_next_token(struct rfc11_lexer *lexer)
{
    if (!skip_blanks(lexer))
        return false;
    struct rfc11_token *token = &lexer->token;
    char c = peek_byte(lexer, 0);
    *token = (struct rfc11_token){.kind = RFC11_END, .at = lexer->at, .text = {"", 0}};
    if (lexer->at >= lexer->text->n)
        return true;
    if (c == '"')
        return scan_string(lexer, token);
    token->is_negative = c == '-' && is_digit(peek_byte(lexer, 1));
    lexer->at += token->is_negative;
    if (is_digit(peek_byte(lexer, 0)))
        return scan_number(lexer, token);
    if (is_word_byte(c))
        return scan_word(lexer, token);
    if (!strchr("{}[];,=.", c))
        return rfc11_fail_at(lexer, lexer->at, "the language has no such character");
    token->kind = RFC11_MARK;
    token->mark = c;
    lexer->at++;
    return true;
}

bool rfc11_is_mark(const struct rfc11_lexer *lexer, char mark)
{
    return lexer->token.kind == RFC11_MARK && lexer->token.mark == mark;
}

bool rfc11_is_word(const struct rfc11_lexer *lexer, const char *word)
{
    const struct rfc11_token *token = &lexer->token;
    return token->kind == RFC11_WORD && token->text.n == strlen(word) &&
           memcmp(token->text.p, word, token->text.n) == 0;
}

bool rfc11_expect_mark(struct rfc11_lexer *lexer, char mark)
{
    char what[] = "'?'";
    what[1] = mark;
    return rfc11_is_mark(lexer, mark) ? rfc11_next_token(lexer) : rfc11_fail_expected(lexer, what);
}

bool rfc11_parse_name(struct rfc11_lexer *lexer, ttr_text *name, const char *what)
{
    if (lexer->token.kind != RFC11_WORD && lexer->token.kind != RFC11_STRING)
        return rfc11_fail_expected(lexer, what);
    *name = lexer->token.text;
    if (lexer->token.kind == RFC11_WORD) {
        name->p = arena_copy(lexer->arena, name->p, name->n);
        if (!name->p)
            return rfc11_fail_memory(lexer);
    }
    return rfc11_next_token(lexer);
}

bool rfc11_parse_number(struct rfc11_lexer *lexer, struct rfc11_token *token, const char *what)
{
    if (lexer->token.kind != RFC11_NUMBER)
        return rfc11_fail_expected(lexer, what);
    *token = lexer->token;
    return rfc11_next_token(lexer);
}
