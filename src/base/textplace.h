/* Where a byte of a text lies for a person: its line, its column, and the text of that line.  Computed on demand, since only
 * messages ask.  Borrowed: `line_text` points into the text given. */
#ifndef TRACETTA_BASE_TEXTPLACE_H
#define TRACETTA_BASE_TEXTPLACE_H

#include <stddef.h>
#include <stdint.h>

struct text_place {
    uint64_t line;         /* from 1 */
    uint64_t column;       /* from 1, in characters: UTF-8 continuation bytes do not count */
    const char *line_text; /* without its line feed (and carriage return) */
    size_t line_n;
};

/* The place of byte `offset`; an offset at or behind the end is the place behind the last byte. */
struct text_place text_place(const void *text, size_t n, size_t offset);

#endif
