/* Lines that a user types: with editing, history and completion by libedit if it is installed and
 * standard input is a terminal; else as they are. libedit is loaded on first use. */
#ifndef TRACETTA_CLI_UI_LINE_EDITOR_H
#define TRACETTA_CLI_UI_LINE_EDITOR_H

#include <stdbool.h>
#include <stddef.h>

struct line_editor;

/* Returns a copy of the i-th word that starts with `prefix`, by malloc; NULL after the last. */
typedef char *(*line_editor_complete)(void *ctx, const char *prefix, size_t i);

/* Creates an editor. `history` is the path of a file with earlier lines, or NULL. Returns NULL if
 * memory is exhausted. */
struct line_editor *line_editor_new(const char *history, line_editor_complete complete, void *ctx);

/* Returns true if lines are typed on a terminal, so that a prompt is of use. */
bool line_editor_is_interactive(const struct line_editor *editor);

/* Reads a line without its end, which the caller frees. Returns NULL at the end of the input; with
 * *is_interrupted if Ctrl-C was pressed instead. */
char *line_editor_read(struct line_editor *editor, const char *prompt, bool *is_interrupted);

/* Adds a text to the history, as one line. */
void line_editor_remember(struct line_editor *editor, const char *text);

/* Saves the history, readable by the user alone. */
void line_editor_free(struct line_editor *editor);

#endif
