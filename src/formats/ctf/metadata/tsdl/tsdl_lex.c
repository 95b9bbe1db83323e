/* Lexer of TSDL (CTF 1.8.3 section C.1): names, keywords, numbers, strings with the escapes of C,
 * and punctuation. Comments are skipped. The text ends with a zero byte, so that one byte of
 * look-ahead is always readable.
 *
 * Accepted although the grammar does not allow it: bytes of 0x80 and above in names, line feeds in
 * strings, zero bytes as padding at the end, and quotes and backslashes in values that LTTng prints
 * without escaping. Left out: wide characters (the prefix L is ignored). */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "formats/ctf/metadata/tsdl/tsdl_tree.h"

static const struct {
    char word[16];
    uint8_t n, keyword;
} keywords[] = {
    {"align", 5, TSDL_ALIGN},
    {"callsite", 8, TSDL_CALLSITE},
    {"char", 4, TSDL_CHAR},
    {"clock", 5, TSDL_CLOCK},
    {"const", 5, TSDL_CONST},
    {"double", 6, TSDL_DOUBLE},
    {"enum", 4, TSDL_ENUM},
    {"env", 3, TSDL_ENV},
    {"event", 5, TSDL_EVENT},
    {"float", 5, TSDL_FLOAT},
    {"floating_point", 14, TSDL_FLOATING_POINT},
    {"int", 3, TSDL_INT},
    {"integer", 7, TSDL_INTEGER},
    {"long", 4, TSDL_LONG},
    {"short", 5, TSDL_SHORT},
    {"signed", 6, TSDL_SIGNED},
    {"stream", 6, TSDL_STREAM},
    {"string", 6, TSDL_STRING},
    {"struct", 6, TSDL_STRUCT},
    {"trace", 5, TSDL_TRACE},
    {"typealias", 9, TSDL_TYPEALIAS},
    {"typedef", 7, TSDL_TYPEDEF},
    {"unsigned", 8, TSDL_UNSIGNED},
    {"variant", 7, TSDL_VARIANT},
    {"void", 4, TSDL_VOID},
    {"_Bool", 5, TSDL_BOOL},
    {"_Complex", 8, TSDL_COMPLEX},
    {"_Imaginary", 10, TSDL_IMAGINARY},
};

bool tsdl_fail(struct tsdl_reading *reading, size_t at, const char *format, ...)
{
    char what[200];
    va_list values;
    va_start(values, format);
    (void)vsnprintf(what, sizeof what, format, values);
    va_end(values);
    reading->status = ctf_fail_at_text(reading->text, at, reading->error, "%s", what);
    return false;
}

bool tsdl_fail_memory(struct tsdl_reading *reading)
{
    reading->status = fail_memory(reading->error);
    return false;
}

void *tsdl_tree_alloc(struct tsdl_reading *reading, size_t size)
{
    void *block = NULL;
    if (reading->tree.total > reading->tree_max)
        reading->status = fail(reading->error, TTR_E_LIMIT, NO_OFFSET,
                               "%s: metadata needs too much memory to read (%zu bytes for %zu)",
                               reading->text->file, reading->tree.total, reading->text->n);
    else if (!(block = arena_alloc(&reading->tree, size)))
        (void)tsdl_fail_memory(reading);
    else
        memset(block, 0, size);
    return block;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_start(char c)
{
    char lower = (char)(c | 0x20);
    return (lower >= 'a' && lower <= 'z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

uint8_t tsdl_find_keyword(ttr_text word)
{
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (keywords[i].n == word.n && memcmp(keywords[i].word, word.p, word.n) == 0)
            return keywords[i].keyword;
    return 0;
}

/* Skips blanks and comments. Returns false if a comment is not closed. */
static bool skip_blanks(struct tsdl_reading *reading, size_t *at)
{
    const char *p = reading->text->p;
    size_t i = *at, n = reading->text->n;
    for (;;) {
        while (is_blank(p[i]))
            i++;
        *at = i;
        if (p[i] != '/' || (p[i + 1] != '*' && p[i + 1] != '/'))
            return true;
        if (p[i + 1] == '/') {
            const char *end = memchr(p + i, '\n', n - i);
            i = end ? (size_t)(end - p) : n;
            continue;
        }
        for (i += 2; i < n && (p[i] != '*' || p[i + 1] != '/'); i++) {
        }
        if (i >= n) {
            reading->is_at_end = true;
            return tsdl_fail(reading, *at, "this comment does not end");
        }
        i += 2;
    }
}

static unsigned digit_value(char c)
{
    char lower = (char)(c | 0x20);
    return is_digit(c)                    ? (unsigned)(c - '0')
           : lower >= 'a' && lower <= 'f' ? (unsigned)(lower - 'a' + 10)
                                          : 16;
}

/* Returns the length of the suffix of an integer: u, l or ll, each at most once, in any order. */
static size_t suffix_length(const char *p)
{
    size_t n = 0;
    for (int i = 0; i < 2; i++) {
        bool is_unsigned = n == 0 || (p[n - 1] | 0x20) == 'l',
             is_long = n == 0 || (p[n - 1] | 0x20) == 'u';
        if (is_unsigned && (p[n] | 0x20) == 'u')
            n++;
        else if (is_long && (p[n] | 0x20) == 'l')
            n += p[n + 1] == p[n] ? 2 : 1;
    }
    return n;
}

static bool lex_number(struct tsdl_reading *reading, struct tsdl_token *token)
{
    const char *p = reading->text->p + token->at;
    unsigned base = p[0] != '0' ? 10 : (p[1] | 0x20) == 'x' ? 16 : 8;
    size_t begin = base == 16 ? 2 : 0, n = begin;
    bool is_huge = false;
    token->kind = TSDL_TOKEN_NUMBER;
    token->number = 0;
    for (; digit_value(p[n]) < base; n++)
        is_huge |= __builtin_mul_overflow(token->number, base, &token->number) ||
                   __builtin_add_overflow(token->number, digit_value(p[n]), &token->number);
    if (is_huge)
        return tsdl_fail(reading, token->at, "this number does not fit into 64 bits");
    if (n == begin)
        return tsdl_fail(reading, token->at, "0x without a hexadecimal digit after it");
    n += suffix_length(p + n);
    token->end = token->at + n;
    if (is_name_start(p[n]) || is_digit(p[n]))
        return tsdl_fail(reading, token->end, "'%c' does not belong into this number", p[n]);
    return true;
}

/* Encodes a code point as UTF-8. Returns the number of bytes. */
static size_t encode_utf8(char *to, uint32_t point)
{
    if (point < 0x80) {
        to[0] = (char)point;
        return 1;
    }
    size_t n = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; point >>= 6)
        to[i] = (char)(0x80 | (point & 0x3f));
    to[0] = (char)(0xf00u >> n | point);
    return n;
}

/* Decodes \u with four or \U with eight hexadecimal digits, at the letter at `*at`. */
static bool decode_universal_character(struct tsdl_reading *reading, size_t *at, char *to,
                                       size_t *n)
{
    const char *p = reading->text->p;
    size_t digits = p[*at] == 'u' ? 4 : 8;
    uint32_t point = 0;
    for (size_t i = 1; i <= digits; i++) {
        if (digit_value(p[*at + i]) > 15)
            return tsdl_fail(reading, *at + i, "expected a hexadecimal digit: \\%c requires %zu",
                             p[*at], digits);
        point = point << 4 | digit_value(p[*at + i]);
    }
    if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
        return tsdl_fail(reading, *at - 1, "U+%04X is not a character", (unsigned)point);
    *n += encode_utf8(to + *n, point);
    *at += digits + 1;
    return true;
}

/* Decodes an escape sequence of C; `*at` is after the backslash. Octal escapes have at most three
 * digits; hexadecimal escapes must fit in a byte. */
static bool decode_escape(struct tsdl_reading *reading, size_t *at, char *to, size_t *n)
{
    static const char letters[] = "'\"?\\abfnrtv", meanings[] = "'\"?\\\a\b\f\n\r\t\v";
    const char *p = reading->text->p;
    char c = p[*at];
    const char *letter = c ? strchr(letters, c) : NULL;
    unsigned value = 0, digits = 0;
    if (letter) {
        to[(*n)++] = meanings[letter - letters];
        ++*at;
        return true;
    }
    if (c == 'u' || c == 'U')
        return decode_universal_character(reading, at, to, n);
    unsigned base = c == 'x' ? 16 : 8;
    *at += c == 'x';
    for (; digit_value(p[*at]) < base && value * base + digit_value(p[*at]) < 256 &&
           (base == 16 || digits < 3);
         digits++, ++*at)
        value = value * base + digit_value(p[*at]);
    if (digits == 0)
        return tsdl_fail(reading, *at,
                         "not an escape sequence of C: expected \\ and one of '\"?\\abfnrtvxuU and "
                         "octal digits");
    to[(*n)++] = (char)value;
    return true;
}

static bool decode_string(struct tsdl_reading *reading, struct tsdl_token *token, size_t begin,
                          size_t end)
{
    const char *p = reading->text->p;
    char *to = tsdl_tree_alloc(reading, end - begin + 1);
    size_t n = 0;
    if (!to)
        return false;
    for (size_t i = begin; i < end;) {
        if (p[i] != '\\') {
            to[n++] = p[i++];
            continue;
        }
        i++;
        if (!decode_escape(reading, &i, to, &n))
            return false;
    }
    token->text = (ttr_text){to, n};
    return true;
}

/* Returns true if the text before the quote is a line that LTTng prints without escaping its
 * value. */
static bool is_unescaped_start(const struct ctf_text *text, size_t quote)
{
    static const char *const lines[] = {
        "\n\tprocname = ", "\n\thostname = ", "\n\tmodel.emf.uri = "};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const size_t n = strlen(lines[i]);
        if (quote >= n && memcmp(text->p + quote - n, lines[i], n) == 0)
            return true;
    }
    return false;
}

/* Finds the end of an unescaped string: the last quote of the line, if only a semicolon follows
 * it. Returns its offset; 0 if there is none. */
static size_t find_unescaped_end(const struct ctf_text *text, size_t quote)
{
    const char *feed =
        is_unescaped_start(text, quote) ? memchr(text->p + quote, '\n', text->n - quote) : NULL;
    const size_t end = feed ? (size_t)(feed - text->p) : 0;
    return end >= quote + 3 && text->p[end - 1] == ';' && text->p[end - 2] == '"' ? end - 2 : 0;
}

/* Reads a string or character constant; token->end is after its opening quote. */
static bool lex_string(struct tsdl_reading *reading, struct tsdl_token *token)
{
    const char *p = reading->text->p;
    size_t begin = token->end + 1, i = begin, n = reading->text->n;
    char quote = p[token->end];
    bool has_escapes = false, has_odd_escapes = false;
    for (; i < n && p[i] != quote && p[i]; i++) {
        if (p[i] == '\\' && i + 1 < n) {
            has_escapes = true;
            i++;
            has_odd_escapes |= p[i] == '\0' || !strchr("'\"?\\abfnrtvxuU01234567", p[i]);
        }
    }
    const size_t unescaped = i < n && p[i] == quote && !has_odd_escapes && p[i + 1] == ';'
                                 ? 0
                                 : find_unescaped_end(reading->text, token->end);
    if (unescaped && (unescaped != i || has_odd_escapes)) {
        *token = (struct tsdl_token){.kind = TSDL_TOKEN_STRING,
                                     .is_unescaped = true,
                                     .at = token->at,
                                     .end = unescaped + 1,
                                     .text = {p + begin, unescaped - begin}};
        return true;
    }
    if (i >= n) {
        reading->is_at_end = true;
        return tsdl_fail(reading, token->at, "this string does not end");
    }
    if (!p[i])
        return tsdl_fail(reading, i, "a zero byte in a string");
    token->kind = quote == '"' ? TSDL_TOKEN_STRING : TSDL_TOKEN_CHARACTERS;
    token->end = i + 1;
    token->text = (ttr_text){p + begin, i - begin};
    return !has_escapes || decode_string(reading, token, begin, i);
}

static void lex_name(struct tsdl_reading *reading, struct tsdl_token *token)
{
    const char *p = reading->text->p;
    size_t i = token->at;
    while (is_name_start(p[i]) || is_digit(p[i]))
        i++;
    token->text = (ttr_text){p + token->at, i - token->at};
    token->keyword = tsdl_find_keyword(token->text);
    token->kind = token->keyword ? TSDL_TOKEN_KEYWORD : TSDL_TOKEN_NAME;
    token->end = i;
}

static bool lex_sign(struct tsdl_reading *reading, struct tsdl_token *token)
{
    const char *p = reading->text->p + token->at;
    char c = p[0];
    token->kind = TSDL_TOKEN_SIGN;
    token->keyword = (uint8_t)c;
    token->end = token->at + 1;
    if (c == ':' && p[1] == '=') {
        token->kind = TSDL_TOKEN_DEFINE;
        token->end++;
    } else if (c == '-' && p[1] == '>') {
        token->kind = TSDL_TOKEN_ARROW;
        token->end++;
    } else if (c == '.' && p[1] == '.' && p[2] == '.') {
        token->kind = TSDL_TOKEN_DOTS;
        token->end += 2;
    } else if (!strchr("[]().{}*+-<>:;=,", c)) {
        if (c > ' ' && c < 0x7f)
            return tsdl_fail(reading, token->at, "'%c' has no meaning here", c);
        return tsdl_fail(reading, token->at, "the byte 0x%02x has no meaning here",
                         (unsigned)(unsigned char)c);
    }
    return true;
}

/* Returns true if the rest of the text is zero bytes, as padding of a block or page. */
static bool is_zero_padding(const struct ctf_text *text, size_t at)
{
    while (at < text->n && text->p[at] == 0)
        at++;
    return at == text->n;
}

bool tsdl_next_token(struct tsdl_reading *reading, struct tsdl_token *token)
{
    size_t at = token->end;
    if (!skip_blanks(reading, &at))
        return false;
    const char *p = reading->text->p;
    *token = (struct tsdl_token){.at = at, .end = at};
    if (at >= reading->text->n || (p[at] == 0 && is_zero_padding(reading->text, at)))
        return true;
    if (p[at] == 0)
        return tsdl_fail(reading, at, "a zero byte in the text");
    if (p[at] == 'L' && (p[at + 1] == '"' || p[at + 1] == '\''))
        token->end++;
    if (p[token->end] == '"' || p[token->end] == '\'')
        return lex_string(reading, token);
    if (is_digit(p[at]))
        return lex_number(reading, token);
    if (!is_name_start(p[at]))
        return lex_sign(reading, token);
    lex_name(reading, token);
    return true;
}
