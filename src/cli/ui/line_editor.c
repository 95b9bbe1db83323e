/* Lines that a user types; see the header. The functions are those of libedit that are compatible
 * with readline, found by name: tracetta needs no header of libedit. */
#include "cli/ui/line_editor.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/ui/interrupt.h"

#define HISTORY_LINES 2000

typedef char **(*attempt)(const char *word, int begin, int end);
typedef char *(*generate)(const char *word, int state);

/* Functions and variables of libedit. */
struct libedit {
    char *(*readline)(const char *prompt);
    int (*add_history)(const char *line);
    int (*read_history)(const char *path);
    int (*write_history)(const char *path);
    void (*stifle_history)(int lines);
    void (*using_history)(void);
    char **(*matches)(const char *word, generate next);
    attempt *attempted_completion;
    int *attempted_over;
    const char **word_breaks;
    int *catches_signals;
};

struct line_editor {
    bool is_terminal, has_libedit;
    struct libedit libedit;
    char *history; /* path, or NULL */
    line_editor_complete complete;
    void *ctx;
    size_t word; /* next word of the completion */
};

/* libedit passes no context to its callbacks. */
static struct line_editor *current;

static bool load_libedit(struct libedit *libedit)
{
    const struct {
        const char *name;
        void *to;
    } symbols[] = {
        {"readline", &libedit->readline},
        {"add_history", &libedit->add_history},
        {"read_history", &libedit->read_history},
        {"write_history", &libedit->write_history},
        {"stifle_history", &libedit->stifle_history},
        {"using_history", &libedit->using_history},
        {"rl_completion_matches", &libedit->matches},
        {"rl_attempted_completion_function", &libedit->attempted_completion},
        {"rl_attempted_completion_over", &libedit->attempted_over},
        {"rl_completer_word_break_characters", &libedit->word_breaks},
        {"rl_catch_signals", &libedit->catches_signals},
    };
    void *handle = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);
    bool is_fine = handle != NULL;
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols && is_fine; i++) {
        void *found = dlsym(handle, symbols[i].name);
        memcpy(symbols[i].to, &found, sizeof found);
        is_fine = found != NULL;
    }
    return is_fine;
}

/* Returns the next word that completes `word`. */
static char *generate_word(const char *word, int state)
{
    if (state == 0)
        current->word = 0;
    return current->complete(current->ctx, word, current->word++);
}

static char **complete_word(const char *word, int begin, int end)
{
    (void)begin;
    (void)end;
    *current->libedit.attempted_over = 1; /* do not complete names of files */
    return current->libedit.matches(word, generate_word);
}

struct line_editor *line_editor_new(const char *history, line_editor_complete complete, void *ctx)
{
    struct line_editor *editor = calloc(1, sizeof *editor);
    if (!editor)
        return NULL;
    editor->is_terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    editor->complete = complete;
    editor->ctx = ctx;
    editor->history = history ? strdup(history) : NULL;
    struct libedit *libedit = &editor->libedit;
    editor->has_libedit = editor->is_terminal && load_libedit(libedit);
    if (editor->has_libedit) {
        current = editor;
        *libedit->catches_signals = 0;
        *libedit->word_breaks = " \t\n,;()=<>+-*/|'\"";
        *libedit->attempted_completion = complete_word;
        libedit->using_history();
        libedit->stifle_history(HISTORY_LINES);
        if (editor->history)
            (void)libedit->read_history(editor->history);
    }
    return editor;
}

bool line_editor_is_interactive(const struct line_editor *editor)
{
    return editor->is_terminal;
}

/* Reads a line from standard input without libedit. */
static char *read_plain_line(void)
{
    char *line = NULL;
    size_t capacity = 0;
    const ssize_t n = getline(&line, &capacity, stdin);
    if (n < 0) {
        free(line);
        clearerr(stdin);
        return NULL;
    }
    if (n > 0 && line[n - 1] == '\n')
        line[n - 1] = '\0';
    return line;
}

char *line_editor_read(struct line_editor *editor, const char *prompt, bool *is_interrupted)
{
    char *line;
    if (editor->has_libedit) {
        line = editor->libedit.readline(prompt);
    } else {
        if (editor->is_terminal) {
            (void)fputs(prompt, stdout);
            (void)fflush(stdout);
        }
        line = read_plain_line();
    }
    *is_interrupted = !line && interrupt_was_received();
    return line;
}

void line_editor_remember(struct line_editor *editor, const char *text)
{
    char *line = editor->has_libedit ? strdup(text) : NULL;
    for (char *p = line; p && *p; p++)
        if (*p == '\n')
            *p = ' ';
    if (line)
        (void)editor->libedit.add_history(line);
    free(line);
}

void line_editor_free(struct line_editor *editor)
{
    if (!editor)
        return;
    if (editor->has_libedit && editor->history) {
        const mode_t mask = umask(077);
        (void)editor->libedit.write_history(editor->history);
        (void)umask(mask);
    }
    current = NULL;
    free(editor->history);
    free(editor);
}
