/* The terminal: its width and colours, printing of unsafe texts, and the pager. */
#ifndef TRACETTA_CLI_UI_TERM_H
#define TRACETTA_CLI_UI_TERM_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include <tracetta/event.h>

struct settings;

struct terminal {
    bool out_is_tty, error_is_tty;
    bool has_color, error_has_color;
    bool has_boxes; /* stdout is a terminal in a UTF-8 locale */
    int width;      /* columns of stdout; 80 if unknown */
    pid_t pager;    /* 0 = none */
};

enum ink { INK_PLAIN, INK_BOLD, INK_DIM, INK_RED, INK_YELLOW, INK_GREEN, INK_CYAN, INK_COUNT };

/* Determines the settings from the terminal, NO_COLOR, CLICOLOR_FORCE, COLUMNS and --color. */
void term_init(struct terminal *term, const struct settings *settings);

/* Returns the escape sequence that starts an ink on stdout (INK_PLAIN ends it). Returns "" without
 * colours. */
const char *term_ink(const struct terminal *term, enum ink ink);

/* Returns the length of a control character at p, which could affect a terminal: 1 byte for U+0000
 * to U+001F and U+007F, 2 for U+0080 to U+009F (C2 80 to C2 9F). Returns 0 for other characters. */
static inline size_t term_control(const unsigned char *p, size_t n)
{
    if (*p < 0x20 || *p == 0x7f)
        return 1;
    return n > 1 && *p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0 ? 2 : 0;
}

/* Prints a text of a trace or a file name. Escapes control characters as "\x1b". */
void term_text(ttr_text text);
void term_text_to(FILE *to, ttr_text text);

/* Prints text in at most `columns` columns: on a terminal, an ellipsis replaces the middle of a
 * longer text. Elsewhere prints the complete text. */
void term_shorten(const struct terminal *term, ttr_text text, size_t columns);

/* Prints the line of a text that has the byte `at` to stderr, indented, with a caret below it.
 * Escapes control characters. A line that is wider than the terminal is cut at both ends. */
void term_excerpt(const struct terminal *term, const char *text, size_t at);

/* Prints a text of lines, then `end`. On a terminal its control characters are escaped. */
void term_lines(const struct terminal *term, const char *text, const char *end);

/* Returns the number of columns of a text, counting one per character. */
size_t term_columns(ttr_text text);

/* Copies as much of a text as fits into `to`, with "?" in place of control characters. Returns
 * `to`. */
const char *term_plain(const char *text, char *to, size_t size);

/* Sends stdout through $PAGER if it is a terminal, unless --no-pager is given. */
void term_page(struct terminal *term, const struct settings *settings);

/* Closes the pipe to the pager and waits until the user leaves it. */
void term_end(struct terminal *term);

#endif
