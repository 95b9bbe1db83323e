/* Conversion between UTF-16 and UTF-8 for protocol strings. */
#include "dotnet/utf16.h"

#include "base/utf.h"

#define BROKEN 0xfffdu

static void append_utf16_unit(struct buffer *to, uint32_t unit)
{
    buffer_add_byte(to, (uint8_t)unit);
    buffer_add_byte(to, (uint8_t)(unit >> 8));
}

static void append_utf16_code_point(struct buffer *to, uint32_t code)
{
    if (code >= 0x10000) {
        append_utf16_unit(to, 0xd800 + ((code - 0x10000) >> 10));
        append_utf16_unit(to, 0xdc00 + ((code - 0x10000) & 0x3ff));
    } else {
        append_utf16_unit(to, code);
    }
}

void utf16_append(struct buffer *to, const char *text)
{
    size_t n = text ? strlen(text) : 0, count_at = to->n;
    buffer_add_zeros(to, 4);
    if (n == 0)
        return;
    for (size_t at = 0; at < n;) {
        const uint8_t *p = (const uint8_t *)text + at;
        uint32_t code;
        const size_t length = utf8_decode(p, n - at, &code);
        append_utf16_code_point(to, length ? code : BROKEN);
        at += length ? length : 1;
    }
    append_utf16_unit(to, 0);
    if (!to->failed)
        store_u32le(to->bytes + count_at, (uint32_t)((to->n - count_at - 4) / 2));
}

static size_t encode_utf8(char *to, uint32_t code)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; code >>= 6)
        to[i] = (char)(0x80 | (code & 0x3f));
    to[0] = (char)((0xf00u >> n) | code);
    return n;
}

/* Decodes one code point. An unpaired surrogate becomes U+FFFD. */
static uint32_t next_code_point(struct cursor *units)
{
    uint32_t unit = cursor_u16le(units);
    if (unit < 0xd800 || unit > 0xdfff)
        return unit;
    if (unit > 0xdbff || cursor_left(units) < 2)
        return BROKEN;
    struct cursor ahead = *units;
    uint32_t low = cursor_u16le(&ahead);
    if (low < 0xdc00 || low > 0xdfff)
        return BROKEN;
    *units = ahead;
    return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
}

const char *utf16_parse(struct cursor *from, struct arena *arena)
{
    uint64_t units_n = cursor_u32le(from);
    struct cursor units = cursor_slice(from, units_n * 2);
    if (from->failed)
        return NULL;
    char *text = arena_alloc(arena, (size_t)units_n * 3 + 1);
    size_t n = 0;
    if (!text)
        return NULL;
    while (cursor_left(&units)) {
        uint32_t code = next_code_point(&units);
        if (code == 0)
            break;
        n += encode_utf8(text + n, code);
    }
    text[n] = '\0';
    return text;
}
