/* Escapes control characters; see the header. */
#include "model/visible_text.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf.h"

#define ESC 0x1b

/* Returns the length of a sequence like "\x1b[1;31m" with the attributes normal, bold, dim and the
 * basic colours only: others hide text or make it blink. Returns 0 for anything else. */
static size_t measure_color_sequence(const uint8_t *p, size_t n)
{
    size_t i = 2;
    if (n < 4 || p[0] != ESC || p[1] != '[')
        return 0;
    while (i < n) {
        if (p[i] == '3' && i + 1 < n && p[i + 1] >= '0' && p[i + 1] <= '7')
            i += 2;
        else if (p[i] >= '0' && p[i] <= '2')
            i++;
        else
            return 0;
        if (i < n && p[i] == 'm')
            return i + 1;
        if (i < n && p[i++] != ';')
            return 0;
    }
    return 0;
}

/* Returns true if more bytes may make a character of these. */
static bool is_incomplete_character(const uint8_t *p, size_t n)
{
    const size_t wanted = p[0] < 0xc2 || p[0] >= 0xf5 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    for (size_t i = 1; i < n; i++)
        if (p[i] < 0x80 || p[i] >= 0xc0)
            return false;
    return n < wanted;
}

static void append_escaped(struct buffer *to, uint8_t byte)
{
    const char text[] = {'\\', 'x', "0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
    buffer_add(to, text, sizeof text);
}

/* Appends the character at p, or what replaces it. Returns its length; 0 if its end is missing. */
static size_t append_character(struct buffer *to, const uint8_t *p, size_t n, bool keeps_colors)
{
    const size_t color = keeps_colors ? measure_color_sequence(p, n) : 0;
    const size_t length = color ? color : utf8_char_length(p, n);
    const size_t control = color ? 0 : utf8_control_length(p, n);
    if (length == 0 && is_incomplete_character(p, n))
        return 0;
    if (control && *p != '\n' && *p != '\t')
        append_escaped(to, p[control - 1]);
    else if (length == 0 && *p < 0xa0)
        append_escaped(to, *p);
    else
        buffer_add(to, p, length ? length : 1);
    return length ? length : 1;
}

void visible_text_append(struct visible_text *visible, struct buffer *to, const void *bytes,
                         size_t n, bool keeps_colors)
{
    if (n == 0) /* `bytes` may be NULL */
        return;
    const uint8_t *p = bytes, *end = p + n;
    while (visible->rest_n && p < end) {
        uint8_t all[sizeof visible->rest + 1];
        const size_t before = visible->rest_n;
        memcpy(all, visible->rest, before);
        all[before] = *p;
        const size_t length = append_character(to, all, before + 1, false);
        if (length == 0) {
            visible->rest[visible->rest_n++] = *p++;
            continue;
        }
        p += length > before; /* else the first byte was invalid, and the others are looked at */
        visible->rest_n = length > before ? 0 : before - length;
        memmove(visible->rest, visible->rest + length, visible->rest_n);
    }
    while (p < end) {
        const size_t length = append_character(to, p, (size_t)(end - p), keeps_colors);
        if (length == 0) {
            visible->rest_n = (size_t)(end - p);
            memcpy(visible->rest, p, visible->rest_n);
            return;
        }
        p += length;
    }
}
