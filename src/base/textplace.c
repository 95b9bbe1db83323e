/* Lines end with LF; a CR before it belongs to the end, too.  A CR alone ends nothing.
 * Left out: tabs count as one column, as compilers count them. */
#include "base/textplace.h"

#include <string.h>

static size_t length_of_line(const char *line, size_t n)
{
    const char *end = n ? memchr(line, '\n', n) : NULL;
    size_t length = end ? (size_t)(end - line) : n;
    return length > 0 && line[length - 1] == '\r' ? length - 1 : length;
}

struct text_place text_place(const void *text, size_t n, size_t offset)
{
    const char *p = text;
    size_t start = 0, stop = offset < n ? offset : n;
    struct text_place place = {.line = 1, .column = 1};
    for (size_t i = 0; i < stop; i++)
        if (p[i] == '\n') {
            place.line++;
            start = i + 1;
        }
    for (size_t i = start; i < stop; i++)
        place.column += ((unsigned char)p[i] & 0xc0) != 0x80;
    place.line_text = n ? p + start : "";
    place.line_n = length_of_line(place.line_text, n - start);
    return place;
}
