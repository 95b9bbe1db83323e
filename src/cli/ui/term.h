/* The terminal: is there one, how wide, which colours; and the pager. */
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
    bool has_boxes; /* stdout is a terminal that speaks UTF-8 */
    int width;      /* of stdout, 80 when unknown */
    pid_t pager;    /* 0 = none */
};

enum ink { INK_PLAIN, INK_BOLD, INK_DIM, INK_RED, INK_YELLOW, INK_GREEN, INK_CYAN, INK_COUNT };

/* Looks at the terminal, the environment (NO_COLOR, CLICOLOR_FORCE, COLUMNS) and --color. */
void term_init(struct terminal *term, const struct settings *settings);

/* The escape sequence of an ink on stdout, "" without colours.  INK_PLAIN ends the others. */
const char *term_ink(const struct terminal *term, enum ink ink);

/* Bytes of the control character at p, which could make a terminal do things: 1 below U+0020 and of
 * U+007F, 2 of U+0080 to U+009F (in UTF-8 C2 80 to C2 9F); 0 where it is none. */
static inline size_t term_control(const unsigned char *p, size_t n)
{
    if (*p < 0x20 || *p == 0x7f)
        return 1;
    return n > 1 && *p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0 ? 2 : 0;
}

/* Prints text of a trace, or the name of a file: control characters become "\x1b". */
void term_text(ttr_text text);
void term_text_to(FILE *to, ttr_text text);

/* Copies what fits of a text into `to`, control characters as "?"; gives `to`. */
const char *term_plain(const char *text, char *to, size_t size);

/* Sends stdout through $PAGER where it is a terminal; without one, or with --no-pager, nothing
 * happens. */
void term_page(struct terminal *term, const struct settings *settings);

/* Closes stdout towards the pager and waits until the user leaves it. */
void term_end(struct terminal *term);

#endif
