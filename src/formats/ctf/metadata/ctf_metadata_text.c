/* Positions in metadata: converts offsets in the text to offsets in the file, and makes errors that
 * show the line with a caret below the position. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "formats/ctf/description/ctf_description.h"

#define LINE_SHOWN 60u /* maximum number of bytes of a line that an error shows */

uint64_t ctf_compute_text_offset(const struct ctf_text *text, size_t at)
{
    size_t low = 0, high = text->pieces_n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (text->piece[middle].at <= at)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return at;
    const struct ctf_piece *piece = &text->piece[low - 1];
    return piece->offset + (piece->is_unpacked ? 0 : at - piece->at);
}

static size_t find_line_start(const struct ctf_text *text, size_t at)
{
    while (at > 0 && text->p[at - 1] != '\n')
        at--;
    return at;
}

void ctf_text_line_column(const struct ctf_text *text, size_t at, unsigned *line, unsigned *column)
{
    *line = 1;
    if (at > text->n)
        at = text->n;
    for (size_t i = 0; i < at; i++)
        *line += text->p[i] == '\n';
    *column = (unsigned)(at - find_line_start(text, at)) + 1;
}

/* Formats the line that contains position `at`, shortened if it is long, and below it a line with
 * the caret. */
static void format_line_with_caret(const struct ctf_text *text, size_t at, char *to, size_t size)
{
    size_t begin = find_line_start(text, at), end = at;
    while (end < text->n && text->p[end] != '\n' && text->p[end] != '\r')
        end++;
    if (at - begin > LINE_SHOWN / 2)
        begin = at - LINE_SHOWN / 2;
    if (end - begin > LINE_SHOWN)
        end = begin + LINE_SHOWN;
    int used = snprintf(to, size, "\n  %.*s\n  %*s^", (int)(end - begin), text->p + begin,
                        (int)(at - begin), "");
    for (size_t i = 1; used > 0 && i < size && to[i]; i++)
        if ((to[i] < ' ' && to[i] != '\n') || to[i] == 0x7f)
            to[i] = ' ';
}

ttr_status ctf_fail_at_text(const struct ctf_text *text, size_t at, ttr_error *error,
                            const char *format, ...)
{
    char what[200], shown[2 * LINE_SHOWN + 16];
    unsigned line, column;
    va_list values;
    va_start(values, format);
    (void)vsnprintf(what, sizeof what, format, values);
    va_end(values);
    if (at > text->n)
        at = text->n;
    ctf_text_line_column(text, at, &line, &column);
    format_line_with_caret(text, at, shown, sizeof shown);
    ttr_status status = fail(error, TTR_E_MALFORMED, ctf_compute_text_offset(text, at),
                             "%s:%u:%u: %s%s", text->file, line, column, what, shown);
    if (error)
        error->line = line;
    return status;
}
