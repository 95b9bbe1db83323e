/* JSON output (RFC 8259). Runs of characters without escapes are found eight bytes at a time and
 * copied at once. Left out: white space between values, which callers insert if they want it. */
#include "base/json_writer.h"

#include <math.h>

#include "base/endian.h"
#include "base/never.h"
#include "base/number.h"
#include "base/utf.h"

#define EACH_BYTE(x) (0x0101010101010101u * (x))

/* Returns a word that marks special bytes by their high bit: quotes, backslashes, control
 * characters, 0x7f and non-ASCII bytes. Borrows and carries may mark bytes above the first special
 * one falsely; the caller then checks byte by byte. */
static uint64_t special_byte_marks(uint64_t word)
{
    uint64_t quote = word ^ EACH_BYTE('"'), backslash = word ^ EACH_BYTE('\\');
    uint64_t hit = (word - EACH_BYTE(0x20)) | (quote - EACH_BYTE(1)) | (backslash - EACH_BYTE(1)) |
                   word | (word + EACH_BYTE(1));
    return hit & EACH_BYTE(0x80);
}

/* Returns the length of the character at p, or 0 if it must be escaped or is invalid. U+007F to
 * U+009F are valid in JSON but are escaped, because terminals interpret them. */
static size_t plain_character_length(const uint8_t *p, size_t n)
{
    if (p[0] == '"' || p[0] == '\\' || utf8_control_length(p, n))
        return 0;
    return p[0] < 0x80 ? 1 : utf8_char_length(p, n);
}

size_t json_plain_length(const uint8_t *p, size_t n)
{
    size_t at = 0;
    while (at < n) {
        if (n - at >= 8 && !special_byte_marks(load_u64le(p + at))) {
            at += 8;
            continue;
        }
        size_t length = plain_character_length(p + at, n - at);
        if (length == 0)
            break;
        at += length;
    }
    return at;
}

/* Loads fewer than eight bytes into a word, padded with blanks. */
static uint64_t load_up_to_7(const uint8_t *p, size_t n)
{
    if (n >= 4)
        return load_u32le(p) | (uint64_t)load_u32le(p + n - 4) << 32;
    uint64_t few = EACH_BYTE(' ') << 24;
    return n ? few | p[0] | (uint64_t)p[n >> 1] << 8 | (uint64_t)p[n - 1] << 16 : EACH_BYTE(' ');
}

bool json_copy_plain(void *to, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    uint8_t *at = to;
    if (n < 8) {
        for (size_t i = 0; i < n; i++)
            at[i] = p[i];
        return !special_byte_marks(load_up_to_7(p, n));
    }
    uint64_t special = 0;
    for (size_t i = 0; i + 8 < n; i += 8) {
        memcpy(at + i, p + i, 8);
        special |= special_byte_marks(load_u64le(p + i));
    }
    memcpy(at + n - 8, p + n - 8, 8);
    return !(special | special_byte_marks(load_u64le(p + n - 8)));
}

/* Appends the escape of a one-byte character: a letter escape if JSON has one, else \u00XX. */
static void escape_byte(struct buffer *to, uint8_t byte)
{
    static const char hex[] = "0123456789abcdef";
    static const char letters[256] = {['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\t'] = 't',
                                      ['\n'] = 'n', ['\f'] = 'f',  ['\r'] = 'r'};
    char letter = letters[byte];
    char text[6] = {'\\', letter, '0', '0', hex[byte >> 4], hex[byte & 15]};
    if (!letter)
        text[1] = 'u';
    buffer_add(to, text, letter ? 2 : 6);
}

/* Appends a comma if the current level contains a value already. The outermost level gets no
 * commas: a caller that writes several values there separates them. */
static void write_comma(struct json *json)
{
    if (json->after_key) {
        json->after_key = false;
        return;
    }
    if (json->has_item && json->depth > 0)
        buffer_add_byte(json->to, ',');
    json->has_item = true;
}

static void open_level(struct json *json, char bracket)
{
    write_comma(json);
    buffer_add_byte(json->to, (uint8_t)bracket);
    json->depth++;
    json->has_item = false;
}

static void close_level(struct json *json, char bracket)
{
    if (NEVER(json->depth == 0 || json->after_key))
        return;
    json->depth--;
    json->has_item = true;
    buffer_add_byte(json->to, (uint8_t)bracket);
}

void json_init(struct json *json, struct buffer *to)
{
    *json = (struct json){.to = to};
}

void json_begin_object(struct json *json)
{
    open_level(json, '{');
}

void json_end_object(struct json *json)
{
    close_level(json, '}');
}

void json_begin_array(struct json *json)
{
    open_level(json, '[');
}

void json_end_array(struct json *json)
{
    close_level(json, ']');
}

void json_write_key(struct json *json, const char *key)
{
    size_t n = strlen(key);
    write_comma(json);
    uint8_t *at = buffer_room(json->to, n + 3);
    if (at) {
        at[0] = '"';
        memcpy(at + 1, key, n);
        at[n + 1] = '"';
        at[n + 2] = ':';
        buffer_commit(json->to, n + 3);
    }
    json->after_key = true;
}

void json_write_key_text(struct json *json, const void *p, size_t n)
{
    json_write_text(json, p, n);
    buffer_add_byte(json->to, ':');
    json->after_key = true;
}

void json_write_text(struct json *json, const void *p, size_t n)
{
    write_comma(json);
    buffer_add_byte(json->to, '"');
    (void)json_append_escaped(json->to, p, n);
    buffer_add_byte(json->to, '"');
}

void json_write_string(struct json *json, const char *text)
{
    json_write_text(json, text, strlen(text));
}

void json_write_u64(struct json *json, uint64_t x)
{
    write_comma(json);
    uint8_t *at = buffer_room(json->to, NUMBER_MAX);
    if (at)
        buffer_commit(json->to, number_format_u64((char *)at, x));
}

void json_write_i64(struct json *json, int64_t x)
{
    write_comma(json);
    uint8_t *at = buffer_room(json->to, NUMBER_MAX);
    if (at)
        buffer_commit(json->to, number_format_i64((char *)at, x));
}

void json_write_double(struct json *json, double x)
{
    if (!isfinite(x)) {
        json_write_string(json, isnan(x) ? "NaN" : x < 0 ? "-Infinity" : "Infinity");
        return;
    }
    write_comma(json);
    uint8_t *at = buffer_room(json->to, NUMBER_MAX);
    if (at)
        buffer_commit(json->to, number_format_double((char *)at, x));
}

void json_write_bool(struct json *json, bool x)
{
    json_write_raw(json, x ? "true" : "false", x ? 4 : 5);
}

void json_write_null(struct json *json)
{
    json_write_raw(json, "null", 4);
}

void json_write_raw(struct json *json, const char *p, size_t n)
{
    write_comma(json);
    buffer_add(json->to, p, n);
}

size_t json_append_escaped(struct buffer *to, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    size_t replaced = 0;
    while (n > 0) {
        size_t run = json_plain_length(p, n);
        buffer_add(to, p, run);
        p += run;
        n -= run;
        if (n == 0)
            break;
        const size_t control = utf8_control_length(p, n), length = control ? control : 1;
        const bool is_broken = !control && *p >= 0x80;
        if (is_broken)
            buffer_add(to, "\xef\xbf\xbd", 3); /* U+FFFD */
        else
            escape_byte(to, p[length - 1]); /* the second byte of C2 80..9F equals the code point */
        replaced += is_broken;
        p += length;
        n -= length;
    }
    return replaced;
}
