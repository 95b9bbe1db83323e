/* Values as perf-decode prints them:
 * |  number, hexadecimal   "0x1F"
 * |  float                 shortest digits; "-nan", in quotes, if not finite
 * |  bytes                 "48 6f"
 * |  time                  2033-05-18T03:33:20, without a zone
 * |  errno                 "ENOENT(2)", "ERRNO(n)"
 * |  boolean               true, false; other values as 32-bit numbers
 * |  address               as inet_ntop */
#include <math.h>

#include "base/bit_cursor.h"
#include "base/json_writer.h"
#include "base/number.h"
#include "base/shortest_double.h"
#include "base/utf.h"
#include "base/wide.h"
#include "encodings/json/emit.h"
#include "formats/microsoft/microsoft.h"

/* --- Floating-point numbers --- */

/* Returns the shortest decimal number that reads back as this float. Begins with the shortest one
 * for a double, and removes digits as long as the result reads back as the same float. */
static struct decimal find_shortest_float(double x)
{
    struct decimal all = shortest_decimal(x), best = all;
    uint64_t scale = 1;
    int dropped = 0;
    while (all.digits / scale >= 10) {
        char text[2 * NUMBER_MAX];
        double back;
        scale *= 10;
        dropped++;
        struct decimal rounded = {.digits = all.digits / scale + (all.digits % scale >= scale / 2),
                                  .exponent = all.exponent + dropped};
        size_t n = number_format_u64(text, rounded.digits);
        text[n++] = 'e';
        n += number_format_i64(text + n, rounded.exponent);
        if (!number_parse_double(text, n, &back) || (float)back != (float)x)
            break;
        best = rounded;
    }
    while (best.digits % 10 == 0) {
        best.digits /= 10;
        best.exponent++;
    }
    return best;
}

/* Writes an integer of at most 2^127, which is stored as a double. Returns the length of the
 * text. */
static size_t emit_integer(char *to, double x)
{
    char digits[NUMBER_MAX];
    uint128 left = (uint128)x;
    size_t n = 0;
    do {
        digits[n++] = (char)('0' + (unsigned)(left % 10));
        left /= 10;
    } while (left > 0);
    for (size_t i = 0; i < n; i++)
        to[i] = digits[n - 1 - i];
    return n;
}

/* Writes a number in scientific notation, such as d.ddde+xx. Returns the length of the text. */
static size_t emit_scientific(char *to, const char *digits, size_t n, int exponent)
{
    size_t at = 0;
    to[at++] = digits[0];
    if (n > 1) {
        to[at++] = '.';
        memcpy(to + at, digits + 1, n - 1);
        at += n - 1;
    }
    to[at++] = 'e';
    to[at++] = exponent < 0 ? '-' : '+';
    uint64_t size = (uint64_t)(exponent < 0 ? -exponent : exponent);
    if (size < 10)
        to[at++] = '0';
    return at + number_format_u64(to + at, size);
}

static size_t emit_fixed(char *to, const char *digits, size_t n, int point)
{
    size_t at = 0;
    if (point <= 0) {
        memcpy(to, "0.", 2);
        at = 2;
        for (; point < 0; point++)
            to[at++] = '0';
        memcpy(to + at, digits, n);
        return at + n;
    }
    memcpy(to, digits, (size_t)point);
    to[point] = '.';
    memcpy(to + point + 1, digits + point, n - (size_t)point);
    return n + 1;
}

/* Writes a positive number in fixed or scientific notation, whichever is shorter. Returns the
 * length of the text. */
static size_t emit_positive(char *to, double x, unsigned bits)
{
    char digits[NUMBER_MAX];
    struct decimal decimal = bits == 32 ? find_shortest_float(x) : shortest_decimal(x);
    size_t n = number_format_u64(digits, decimal.digits);
    /* point: number of digits before the decimal point */
    int point = (int)n + decimal.exponent, exponent = point - 1;
    size_t scientific = n + (n > 1) + 2 + (exponent > -100 && exponent < 100 ? 2 : 3);
    size_t fixed = point >= (int)n ? (size_t)point : point > 0 ? n + 1 : n + 2 + (size_t)-point;
    if (fixed > scientific)
        return emit_scientific(to, digits, n, exponent);
    return point >= (int)n ? emit_integer(to, x) : emit_fixed(to, digits, n, point);
}

size_t microsoft_emit_float(char *to, double x, unsigned bits)
{
    size_t n = 0;
    if (signbit(x))
        to[n++] = '-';
    if (isnan(x) || isinf(x)) {
        memcpy(to + n, isnan(x) ? "nan" : "inf", 3);
        return n + 3;
    }
    if (x == 0) {
        to[n++] = '0';
        return n;
    }
    return n + emit_positive(to + n, fabs(x), bits);
}

/* --- Texts in JSON --- */

/* Appends text, escaping only the characters that JSON forbids in strings. Decodes invalid UTF-8
 * bytes as Latin-1. */
void microsoft_add_text(struct buffer *to, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    size_t begin = 0;
    for (size_t at = 0; at < n;) {
        size_t length = p[at] < 0x80 ? 1 : utf8_char_length(p + at, n - at);
        /* JSON permits these control characters unescaped, but json_append_escaped would escape
         * them */
        const size_t control = p[at] < 0x20 ? 0 : utf8_control_length(p + at, n - at);
        if (length == 0 || control) {
            char wide[4];
            (void)json_append_escaped(to, p + begin, at - begin);
            buffer_add(to, wide, utf8_encode(wide, p[at + (control == 2)]));
            begin = at + (control ? control : 1);
        }
        at += length ? length : 1;
    }
    (void)json_append_escaped(to, p + begin, n - begin);
}

void microsoft_add_bytes(struct buffer *to, const uint8_t *p, size_t n)
{
    uint8_t *at = buffer_room(to, 3 * n + 2);
    size_t put = 0;
    if (!at)
        return;
    at[put++] = '"';
    for (size_t i = 0; i < n; i++) {
        if (i)
            at[put++] = ' ';
        at[put++] = (uint8_t) "0123456789abcdef"[p[i] >> 4];
        at[put++] = (uint8_t) "0123456789abcdef"[p[i] & 15];
    }
    at[put++] = '"';
    buffer_commit(to, put);
}

char *microsoft_emit_time(char *at, int64_t unix_s)
{
    /* range of Unix seconds of which the year, minus 1900, can be stored in an int */
    const int64_t first = INT64_C(-67768040609740800), last = INT64_C(67768036191676799);
    if (unix_s >= first && unix_s <= last)
        return at + number_format_date_time(at, unix_s);
    return emit_constant(emit_i64(emit_constant(at, "TIME("), unix_s), ")");
}

static void add_time(struct buffer *to, int64_t unix_s)
{
    char text[2 * NUMBER_MAX];
    buffer_add(to, text, (size_t)(microsoft_emit_time(text, unix_s) - text));
}

static void add_hex(struct buffer *to, uint64_t x)
{
    char text[NUMBER_MAX] = "\"0x";
    size_t n = 3;
    for (int shift = 60; shift >= 0; shift -= 4)
        if (n > 3 || x >> shift || shift == 0)
            text[n++] = "0123456789ABCDEF"[x >> shift & 15];
    text[n++] = '"';
    buffer_add(to, text, n);
}

static void add_quoted(struct buffer *to, const void *p, size_t n)
{
    buffer_add_byte(to, '"');
    microsoft_add_text(to, p, n);
    buffer_add_byte(to, '"');
}

static void add_float(struct buffer *to, double x, unsigned bits)
{
    char text[NUMBER_MAX];
    size_t n = microsoft_emit_float(text, x, bits == 32 ? 32 : 64);
    if (isfinite(x))
        buffer_add(to, text, n);
    else
        add_quoted(to, text, n);
}

static void add_signed(struct buffer *to, int64_t x)
{
    char text[NUMBER_MAX];
    buffer_add(to, text, number_format_i64(text, x));
}

static void add_unsigned(struct buffer *to, uint64_t x)
{
    char text[NUMBER_MAX];
    buffer_add(to, text, number_format_u64(text, x));
}

static void add_errno(struct buffer *to, const ttr_value *value)
{
    const char *name = event_header_get_errno_name((uint32_t)value->v.s);
    buffer_add_byte(to, '"');
    buffer_add_text(to, name ? name : "ERRNO");
    buffer_add_byte(to, '(');
    add_signed(to, value->v.s);
    buffer_add_text(to, ")\"");
}

/* --- Values of all types --- */

void microsoft_add_value(struct buffer *to, const ttr *t, const ttr_value *value)
{
    ttr_thread thread;
    switch (value->type) {
    case TTR_TYPE_BOOL:
        buffer_add_text(to, value->v.u ? "true" : "false");
        return;
    case TTR_TYPE_UINT:
        if (value->base == 16 || value->hint == TTR_DISPLAY_POINTER)
            add_hex(to, value->v.u);
        else if (value->hint == TTR_DISPLAY_THREAD &&
                 ttr_thread_get(t, (ttr_id)value->v.u, &thread))
            add_unsigned(to, thread.tid);
        else
            add_unsigned(to, value->v.u);
        return;
    case TTR_TYPE_INT:
        add_signed(to, value->v.s);
        return;
    case TTR_TYPE_FLOAT:
        add_float(to, value->v.f, value->bits);
        return;
    case TTR_TYPE_TEXT:
        add_quoted(to, value->text.p, value->text.n);
        return;
    case TTR_TYPE_BYTES:
        microsoft_add_bytes(to, (const uint8_t *)value->text.p, value->text.n);
        return;
    default:
        buffer_add_text(to, "null");
    }
}

void microsoft_add_item(struct buffer *to, const struct event_header_describe_stored_field *item,
                        const ttr_value *value)
{
    enum event_header_format meaning =
        event_header_get_effective_format(item->encoding, item->format, item->n);
    if (meaning == EVENT_HEADER_ERRNO && value->type == TTR_TYPE_INT) {
        add_errno(to, value);
    } else if (meaning == EVENT_HEADER_TIME && value->type == TTR_TYPE_TEXT) {
        uint64_t x = item->n == 4
                         ? (item->is_big_endian ? load_u32be(item->p) : load_u32le(item->p))
                         : (item->is_big_endian ? load_u64be(item->p) : load_u64le(item->p));
        buffer_add_byte(to, '"');
        add_time(to, bits_sign_extend(x, 8 * item->n));
        buffer_add_byte(to, '"');
    } else {
        microsoft_add_value(to, NULL, value);
    }
}
