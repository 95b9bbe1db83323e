/* The pull parser: a state machine of the tokens allowed next, plus one bit per open level, so
 * nesting needs no recursion. A string without escapes and invalid bytes is copied at once. Any
 * other string is decoded twice, first to count its bytes and then into an allocation of exactly
 * that size. Left out: the byte order mark, which RFC 8259 section 8.1 forbids writers to add. */
#include "base/json_reader.h"

#include "base/json_writer.h"
#include "base/never.h"
#include "base/number.h"
#include "base/status.h"
#include "base/utf.h"

enum expects {
    EXPECTS_VALUE,
    EXPECTS_VALUE_OR_END, /* after [ */
    EXPECTS_KEY,          /* after a comma in an object */
    EXPECTS_ELEMENT,      /* after a comma in an array */
    EXPECTS_KEY_OR_END,   /* after { */
    EXPECTS_COLON,
    EXPECTS_COMMA_OR_END,
    EXPECTS_NOTHING,
};

/* one character of a string: its bytes as UTF-8 */
struct character {
    uint8_t bytes[4];
    size_t n;
    bool is_replaced;
};

static int peek_byte(const struct cursor *c)
{
    return cursor_left(c) ? *c->p : -1;
}

static bool is_blank(int byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

static bool is_digit(int byte)
{
    return byte >= '0' && byte <= '9';
}

/* Fails with the unexpected byte at the cursor, or with TTR_E_TRUNCATED at the end of the text. */
static ttr_status fail_unexpected(const struct cursor *c, const char *expected, ttr_error *error)
{
    int byte = peek_byte(c);
    if (byte < 0)
        return fail(error, TTR_E_TRUNCATED, c->offset, "expected %s, found the end of the text",
                    expected);
    if (byte > ' ' && byte < 0x7f)
        return fail(error, TTR_E_MALFORMED, c->offset, "expected %s, found '%c'", expected, byte);
    return fail(error, TTR_E_MALFORMED, c->offset, "expected %s, found the byte 0x%02x", expected,
                (unsigned)byte);
}

static bool is_in_object(const struct json_reader *reader)
{
    unsigned level = reader->depth - 1;
    return reader->depth > 0 && (reader->is_object[level / 64] >> level % 64 & 1);
}

static void expect_after_value(struct json_reader *reader)
{
    reader->expects = reader->depth ? EXPECTS_COMMA_OR_END : EXPECTS_NOTHING;
}

static unsigned hex_value(int byte)
{
    if (is_digit(byte))
        return (unsigned)(byte - '0');
    int lower = byte | 0x20;
    return byte >= 0 && lower >= 'a' && lower <= 'f' ? (unsigned)(lower - 'a' + 10) : 16;
}

/* Reads the four digits of \uXXXX as a UTF-16 code unit. */
static ttr_status read_code_unit(struct cursor *c, uint32_t *unit, ttr_error *error)
{
    *unit = 0;
    for (int i = 0; i < 4; i++) {
        unsigned digit = hex_value(peek_byte(c));
        if (digit > 15)
            return fail_unexpected(c, "four hexadecimal digits after \\u", error);
        *unit = *unit << 4 | digit;
        (void)cursor_skip(c, 1);
    }
    return TTR_OK;
}

static void encode_character(struct character *character, uint32_t point)
{
    if (point < 0x80) {
        *character = (struct character){{(uint8_t)point}, 1, false};
    } else if (point < 0x800) {
        *character = (struct character){
            {(uint8_t)(0xc0 | point >> 6), (uint8_t)(0x80 | (point & 63))}, 2, false};
    } else if (point < 0x10000) {
        *character =
            (struct character){{(uint8_t)(0xe0 | point >> 12), (uint8_t)(0x80 | (point >> 6 & 63)),
                                (uint8_t)(0x80 | (point & 63))},
                               3,
                               false};
    } else {
        *character = (struct character){
            {(uint8_t)(0xf0 | point >> 18), (uint8_t)(0x80 | (point >> 12 & 63)),
             (uint8_t)(0x80 | (point >> 6 & 63)), (uint8_t)(0x80 | (point & 63))},
            4,
            false};
    }
}

static void set_replacement_character(struct character *character)
{
    encode_character(character, 0xfffd);
    character->is_replaced = true;
}

/* Reads the code units of an escape after "\u". A high surrogate without a following low one
 * becomes one U+FFFD; the escape after it is read as a separate character. */
static ttr_status read_unicode(struct cursor *c, struct character *character, ttr_error *error)
{
    uint32_t unit, low;
    ttr_status status = read_code_unit(c, &unit, error);
    if (status != TTR_OK)
        return status;
    if (unit < 0xd800 || unit > 0xdfff) {
        encode_character(character, unit);
        return TTR_OK;
    }
    set_replacement_character(character);
    if (unit > 0xdbff || cursor_left(c) < 2 || c->p[0] != '\\' || c->p[1] != 'u')
        return TTR_OK;
    struct cursor ahead = *c;
    (void)cursor_skip(&ahead, 2);
    status = read_code_unit(&ahead, &low, error);
    if (status == TTR_OK && low >= 0xdc00 && low <= 0xdfff) {
        encode_character(character, 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
        *c = ahead;
    }
    return status;
}

static ttr_status read_escape(struct cursor *c, struct character *character, ttr_error *error)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    int byte = peek_byte(c);
    const char *letter = byte > 0 ? memchr(letters, byte, sizeof letters - 1) : NULL;
    if (!letter && byte != 'u')
        return fail_unexpected(c, "one of \" \\ / b f n r t u after a backslash", error);
    (void)cursor_skip(c, 1);
    if (!letter)
        return read_unicode(c, character, error);
    *character = (struct character){{(uint8_t)meanings[letter - letters]}, 1, false};
    return TTR_OK;
}

/* Reads the next character of a string. The caller has checked that it is not the closing quote. */
static ttr_status read_character(struct cursor *c, struct character *character, ttr_error *error)
{
    int byte = peek_byte(c);
    if (byte < 0x20)
        return fail_unexpected(c,
                               byte < 0 ? "'\"' at the end of the string"
                                        : "control characters in a string to be escaped",
                               error);
    if (byte == '\\') {
        (void)cursor_skip(c, 1);
        return read_escape(c, character, error);
    }
    size_t length = utf8_char_length(c->p, cursor_left(c));
    if (length == 0) {
        set_replacement_character(character);
        return cursor_skip(c, 1) ? TTR_OK : TTR_E_TRUNCATED;
    }
    *character = (struct character){.n = length};
    memcpy(character->bytes, c->p, length);
    (void)cursor_skip(c, length);
    return TTR_OK;
}

/* Counts the bytes of the decoded string and advances past its closing quote. Also counts replaced
 * characters, since a second decoding must not count them again. */
static ttr_status count_string(struct json_reader *reader, size_t *n, ttr_error *error)
{
    struct cursor *c = &reader->c;
    struct character character;
    *n = 0;
    while (peek_byte(c) != '"') {
        uint64_t offset = c->offset;
        ttr_status status = read_character(c, &character, error);
        if (status != TTR_OK)
            return status;
        *n += character.n;
        if (character.is_replaced && reader->replaced++ == 0)
            reader->replaced_offset = offset;
    }
    (void)cursor_skip(c, 1);
    return TTR_OK;
}

static ttr_status read_string(struct json_reader *reader, struct json_token *token,
                              ttr_error *error)
{
    (void)cursor_skip(&reader->c, 1);
    struct cursor again = reader->c;
    struct character character;
    size_t run = json_plain_length(again.p, cursor_left(&again));
    if (run < cursor_left(&again) && again.p[run] == '"') {
        token->n = run;
        token->text = arena_copy(reader->arena, again.p, run);
        return cursor_skip(&reader->c, run + 1) && token->text ? TTR_OK : fail_memory(error);
    }
    ttr_status status = count_string(reader, &token->n, error);
    if (status != TTR_OK)
        return status;
    char *to = arena_alloc(reader->arena, token->n + 1);
    if (!to)
        return fail_memory(error);
    token->text = to;
    while (peek_byte(&again) != '"' && ALWAYS(read_character(&again, &character, NULL) == TTR_OK)) {
        memcpy(to, character.bytes, character.n);
        to += character.n;
    }
    *to = '\0';
    return TTR_OK;
}

static ttr_status skip_digits(struct cursor *c, const char *where, ttr_error *error)
{
    if (!is_digit(peek_byte(c)))
        return fail_unexpected(c, where, error);
    while (is_digit(peek_byte(c)))
        (void)cursor_skip(c, 1);
    return TTR_OK;
}

/* Advances past a number and checks the grammar of RFC 8259 section 6. Sets `*is_integer` to false
 * if it has a fraction or an exponent. */
static ttr_status skip_number(struct cursor *c, bool *is_integer, ttr_error *error)
{
    *is_integer = true;
    if (peek_byte(c) == '-')
        (void)cursor_skip(c, 1);
    bool is_zero = peek_byte(c) == '0';
    ttr_status status = TTR_OK;
    if (is_zero)
        (void)cursor_skip(c, 1);
    else
        status = skip_digits(c, "a digit after '-'", error);
    if (status == TTR_OK && is_zero && is_digit(peek_byte(c)))
        return fail(error, TTR_E_MALFORMED, c->offset, "a number must not have leading zeros");
    if (status == TTR_OK && peek_byte(c) == '.') {
        (void)cursor_skip(c, 1);
        *is_integer = false;
        status = skip_digits(c, "a digit after '.'", error);
    }
    if (status != TTR_OK || (peek_byte(c) | 0x20) != 'e')
        return status;
    (void)cursor_skip(c, 1);
    *is_integer = false;
    if (peek_byte(c) == '-' || peek_byte(c) == '+')
        (void)cursor_skip(c, 1);
    return skip_digits(c, "a digit in the exponent", error);
}

static ttr_status read_number(struct json_reader *reader, struct json_token *token,
                              ttr_error *error)
{
    const char *p = (const char *)reader->c.p;
    bool is_integer;
    ttr_status status = skip_number(&reader->c, &is_integer, error);
    if (status != TTR_OK)
        return status;
    size_t n = (size_t)((const char *)reader->c.p - p);
    token->kind = is_integer ? JSON_INTEGER : JSON_REAL;
    token->is_negative = p[0] == '-';
    if (is_integer &&
        number_parse_u64(p + token->is_negative, n - token->is_negative, &token->size)) {
        token->real = token->is_negative ? -(double)token->size : (double)token->size;
        return TTR_OK;
    }
    bool is_double = number_parse_double(p, n, &token->real);
    if (NEVER(!is_double))
        return fail_unexpected(&reader->c, "a number", error);
    token->overflows = is_integer || token->real - token->real != 0;
    token->size = is_integer ? UINT64_MAX : 0;
    return TTR_OK;
}

static ttr_status read_word(struct json_reader *reader, struct json_token *token, ttr_error *error)
{
    static const char *const words[] = {"null", "false", "true"};
    int byte = peek_byte(&reader->c);
    unsigned which = byte == 'n' ? 0 : byte == 'f' ? 1 : 2;
    char expected[16] = "\"";
    memcpy(expected + 1, words[which], strlen(words[which]));
    expected[1 + strlen(words[which])] = '"';
    for (const char *letter = words[which]; *letter; letter++) {
        if (peek_byte(&reader->c) != *letter)
            return fail_unexpected(&reader->c, expected, error);
        (void)cursor_skip(&reader->c, 1);
    }
    token->kind = (uint8_t)(JSON_NULL + which);
    return TTR_OK;
}

static ttr_status open_level(struct json_reader *reader, struct json_token *token, ttr_error *error)
{
    bool is_object = peek_byte(&reader->c) == '{';
    if (reader->depth >= reader->depth_max)
        return fail(error, TTR_E_LIMIT, reader->c.offset,
                    "arrays and objects are nested more than %u deep", reader->depth_max);
    unsigned level = reader->depth++;
    uint64_t bit = (uint64_t)1 << level % 64, *word = &reader->is_object[level / 64];
    *word = is_object ? *word | bit : *word & ~bit;
    token->kind = is_object ? JSON_OBJECT : JSON_ARRAY;
    reader->expects = is_object ? EXPECTS_KEY_OR_END : EXPECTS_VALUE_OR_END;
    (void)cursor_skip(&reader->c, 1);
    return TTR_OK;
}

static ttr_status close_level(struct json_reader *reader, struct json_token *token)
{
    token->kind = is_in_object(reader) ? JSON_OBJECT_END : JSON_ARRAY_END;
    reader->depth--;
    expect_after_value(reader);
    (void)cursor_skip(&reader->c, 1);
    return TTR_OK;
}

static ttr_status read_value(struct json_reader *reader, struct json_token *token, ttr_error *error)
{
    const char *expected = reader->expects == EXPECTS_VALUE_OR_END ? "a value or ']'" : "a value";
    int byte = peek_byte(&reader->c);
    if (byte == '{' || byte == '[')
        return open_level(reader, token, error);
    expect_after_value(reader);
    if (byte == '"') {
        token->kind = JSON_TEXT;
        return read_string(reader, token, error);
    }
    if (byte == '-' || is_digit(byte))
        return read_number(reader, token, error);
    if (byte == 'n' || byte == 'f' || byte == 't')
        return read_word(reader, token, error);
    return fail_unexpected(&reader->c, expected, error);
}

static ttr_status read_key(struct json_reader *reader, struct json_token *token, ttr_error *error)
{
    if (peek_byte(&reader->c) != '"')
        return fail_unexpected(
            &reader->c,
            reader->expects == EXPECTS_KEY ? "a key in quotes" : "a key in quotes or '}'", error);
    token->kind = JSON_KEY;
    reader->expects = EXPECTS_COLON;
    return read_string(reader, token, error);
}

static void skip_blanks(struct cursor *c)
{
    while (is_blank(peek_byte(c)))
        (void)cursor_skip(c, 1);
}

/* Advances past the comma or colon that must precede the next token. Counts a trailing comma if the
 * caller allows it, and then expects the closing bracket. */
static ttr_status skip_separator(struct json_reader *reader, ttr_error *error)
{
    struct cursor *c = &reader->c;
    bool in_object = is_in_object(reader);
    if (reader->expects == EXPECTS_COLON) {
        if (peek_byte(c) != ':')
            return fail_unexpected(c, "':' after the key", error);
        reader->expects = EXPECTS_VALUE;
    } else if (reader->expects == EXPECTS_COMMA_OR_END && peek_byte(c) != (in_object ? '}' : ']')) {
        if (peek_byte(c) != ',')
            return fail_unexpected(c, in_object ? "',' or '}'" : "',' or ']'", error);
        reader->expects = in_object ? EXPECTS_KEY : EXPECTS_ELEMENT;
    } else {
        return TTR_OK;
    }
    uint64_t offset = c->offset;
    (void)cursor_skip(c, 1);
    skip_blanks(c);
    bool is_trailing = reader->expects == EXPECTS_KEY
                           ? peek_byte(c) == '}'
                           : reader->expects == EXPECTS_ELEMENT && peek_byte(c) == ']';
    if (is_trailing && reader->allows_trailing_commas) {
        reader->expects = EXPECTS_COMMA_OR_END;
        if (reader->commas++ == 0)
            reader->commas_offset = offset;
    }
    return TTR_OK;
}

static ttr_status read_token(struct json_reader *reader, struct json_token *token, ttr_error *error)
{
    int byte = peek_byte(&reader->c);
    switch (reader->expects) {
    case EXPECTS_COMMA_OR_END:
        return close_level(reader, token);
    case EXPECTS_KEY_OR_END:
        return byte == '}' ? close_level(reader, token) : read_key(reader, token, error);
    case EXPECTS_KEY:
        return read_key(reader, token, error);
    case EXPECTS_VALUE_OR_END:
        return byte == ']' ? close_level(reader, token) : read_value(reader, token, error);
    case EXPECTS_NOTHING:
        return byte < 0 ? TTR_OK : fail_unexpected(&reader->c, "nothing after the value", error);
    default:
        return read_value(reader, token, error);
    }
}

void json_reader_init(struct json_reader *reader, struct arena *arena, struct cursor text,
                      unsigned depth_max)
{
    *reader = (struct json_reader){.c = text, .arena = arena, .expects = EXPECTS_VALUE};
    reader->depth_max = depth_max < JSON_DEPTH_MAX ? depth_max : JSON_DEPTH_MAX;
}

ttr_status json_reader_next(struct json_reader *reader, struct json_token *token, ttr_error *error)
{
    *token = (struct json_token){.kind = JSON_END, .text = ""};
    skip_blanks(&reader->c);
    ttr_status status = skip_separator(reader, error);
    if (status != TTR_OK)
        return status;
    token->offset = reader->c.offset;
    status = read_token(reader, token, error);
    token->end = reader->c.offset;
    return status;
}

bool json_token_u64(const struct json_token *token, uint64_t *x)
{
    if (token->kind != JSON_INTEGER || token->overflows || (token->is_negative && token->size))
        return false;
    *x = token->size;
    return true;
}

bool json_token_i64(const struct json_token *token, int64_t *x)
{
    if (token->kind != JSON_INTEGER || token->overflows ||
        token->size > (uint64_t)INT64_MAX + token->is_negative)
        return false;
    *x = token->is_negative ? (int64_t)(0 - token->size) : (int64_t)token->size;
    return true;
}

const char *json_kind_text(unsigned kind)
{
    static const char *const names[] = {"the end",    "null",
                                        "false",      "true",
                                        "an integer", "a number with a fraction or an exponent",
                                        "a string",   "a key",
                                        "an array",   "the end of an array",
                                        "an object",  "the end of an object"};
    return kind < sizeof names / sizeof *names ? names[kind] : "nothing known";
}
