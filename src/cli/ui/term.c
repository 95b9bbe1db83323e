/* The terminal and the pager.  Colours follow NO_COLOR and CLICOLOR_FORCE; the pager follows PAGER
 * and gets LESS=FRX. */
#include "cli/ui/term.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/ui/options.h"

#define EXCERPT_COLUMNS 1000u /* width of an excerpt if standard error is not a terminal */

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

static bool wants_color(const struct settings *settings, bool is_tty)
{
    if (settings->color && strcmp(settings->color, "auto") != 0)
        return strcmp(settings->color, "always") == 0;
    if (is_set("NO_COLOR"))
        return false;
    if (is_set("CLICOLOR_FORCE") && strcmp(getenv("CLICOLOR_FORCE"), "0") != 0)
        return true;
    const char *kind = getenv("TERM");
    return is_tty && kind && strcmp(kind, "dumb") != 0;
}

/* Returns true if the locale variables select UTF-8. Does not call setlocale. */
static bool speaks_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!is_set(names[i]))
            continue;
        const char *value = getenv(names[i]);
        return strstr(value, "UTF-8") || strstr(value, "utf8") || strstr(value, "utf-8") ||
               strstr(value, "UTF8");
    }
    return false;
}

void term_init(struct terminal *term, const struct settings *settings)
{
    *term = (struct terminal){
        .out_is_tty = isatty(STDOUT_FILENO), .error_is_tty = isatty(STDERR_FILENO), .width = 80};
    term->has_color = wants_color(settings, term->out_is_tty);
    term->error_has_color = wants_color(settings, term->error_is_tty);
    term->has_boxes = term->out_is_tty && speaks_utf8();
    struct winsize size;
    uint64_t columns;
    if (is_set("COLUMNS") && units_parse_count(getenv("COLUMNS"), &columns) && columns >= 20 &&
        columns < 10000)
        term->width = (int)columns;
    else if (term->out_is_tty && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
        term->width = size.ws_col;
}

const char *term_ink(const struct terminal *term, enum ink ink)
{
    static const char *const codes[INK_COUNT] = {"\x1b[0m",  "\x1b[1m",  "\x1b[2m", "\x1b[31m",
                                                 "\x1b[33m", "\x1b[32m", "\x1b[36m"};
    return term->has_color ? codes[ink] : "";
}

/* Returns the length of the UTF-8 sequence at p, or 1 if there is none. */
static size_t sequence_length(const unsigned char *p, size_t n)
{
    const size_t wanted = *p < 0xc2 || *p >= 0xf5 ? 1 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
    for (size_t i = 1; i < wanted; i++)
        if (i >= n || (p[i] & 0xc0) != 0x80)
            return 1;
    return wanted;
}

void term_text_to(FILE *to, ttr_text text)
{
    const unsigned char *p = (const unsigned char *)text.p;
    for (size_t i = 0, length; i < text.n; i += length) {
        const size_t control = term_control(p + i, text.n - i);
        length = control ? control : sequence_length(p + i, text.n - i);
        /* a lone byte of 0x80 to 0x9f is a control character in 8-bit character sets */
        if (control || (length == 1 && p[i] >= 0x80 && p[i] < 0xa0))
            (void)fprintf(to, "\\x%02x", p[i + length - 1]);
        else
            (void)fwrite(p + i, 1, length, to);
    }
}

size_t term_columns(ttr_text text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        n += ((unsigned char)text.p[i] & 0xc0) != 0x80;
    return n;
}

/* Returns the size in bytes of the first n characters of a text. */
static size_t bytes_of(ttr_text text, size_t n)
{
    size_t i = 0;
    for (; i < text.n; i++)
        if (((unsigned char)text.p[i] & 0xc0) != 0x80 && n-- == 0)
            break;
    return i;
}

void term_shorten(const struct terminal *term, ttr_text text, size_t columns)
{
    const size_t all = term_columns(text), dots = term->has_boxes ? 1 : 3;
    if (!term->out_is_tty || all <= columns) {
        term_text(text);
        return;
    }
    const size_t kept = columns > dots + 2 ? columns - dots : 2, tail = kept / 2;
    const size_t head_n = bytes_of(text, kept - tail), tail_at = bytes_of(text, all - tail);
    term_text((ttr_text){text.p, head_n});
    (void)fputs(term->has_boxes ? "\xe2\x80\xa6" : "...", stdout);
    term_text((ttr_text){text.p + tail_at, text.n - tail_at});
}

void term_text(ttr_text text)
{
    term_text_to(stdout, text);
}

/* Returns a text as term_text_to prints it, but with spaces for tabs, or NULL. */
static char *escape_text(const char *p, size_t n)
{
    char *escaped = NULL;
    size_t escaped_n;
    FILE *to = open_memstream(&escaped, &escaped_n);
    if (!to)
        return NULL;
    for (size_t i = 0; i < n;) {
        const char *tab = memchr(p + i, '\t', n - i);
        const size_t length = tab ? (size_t)(tab - p) - i : n - i;
        term_text_to(to, (ttr_text){p + i, length});
        if (tab)
            (void)fputc(' ', to);
        i += length + (tab != NULL);
    }
    (void)fclose(to);
    return escaped;
}

/* Prints both sides of the caret, and the caret. */
static void print_excerpt(const char *before, const char *after, size_t room)
{
    const size_t all = term_columns((ttr_text){before, strlen(before)});
    const ttr_text rest = {after, strlen(after)};
    const size_t rest_columns = term_columns(rest);
    /* Each side gets the columns that the other side does not need, at least half of the width. */
    const size_t before_room = rest_columns < room / 2 ? room - rest_columns : room - room / 2;
    const bool is_cut = all > before_room;
    const size_t shown = is_cut ? before_room - 3 : all;
    const size_t after_room = room - (is_cut ? before_room : all);
    (void)fprintf(stderr, "  %s%s", is_cut ? "..." : "",
                  before + bytes_of((ttr_text){before, strlen(before)}, all - shown));
    if (rest_columns > after_room)
        (void)fprintf(stderr, "%.*s...\n", (int)bytes_of(rest, after_room - 3), after);
    else
        (void)fprintf(stderr, "%s\n", after);
    (void)fprintf(stderr, "  %*s^\n", (int)(is_cut ? before_room : all), "");
}

void term_excerpt(const struct terminal *term, const char *text, size_t at)
{
    const size_t room = term->error_is_tty ? (size_t)term->width - 3 : EXCERPT_COLUMNS;
    size_t begin = at;
    while (begin > 0 && text[begin - 1] != '\n')
        begin--;
    char *before = escape_text(text + begin, at - begin);
    char *after = escape_text(text + at, strcspn(text + at, "\n"));
    if (before && after)
        print_excerpt(before, after, room);
    free(before);
    free(after);
}

void term_lines(const struct terminal *term, const char *text, const char *end)
{
    while (term->out_is_tty && *text) {
        const size_t n = strcspn(text, "\n");
        term_text((ttr_text){text, n});
        text += n;
        if (*text)
            (void)putchar(*text++);
    }
    (void)printf("%s%s", text, end);
}

const char *term_plain(const char *text, char *to, size_t size)
{
    size_t n = 0;
    for (const unsigned char *p = (const unsigned char *)text; *p && n + 1 < size; p++) {
        size_t control = term_control(p, 2); /* includes the terminating zero */
        p += control == 2;
        to[n++] = control ? '?' : (char)*p;
    }
    to[n] = '\0';
    return to;
}

/* Executes the pager in the child process. */
static _Noreturn void become_pager(const char *pager, const int ends[2])
{
    (void)dup2(ends[0], STDIN_FILENO);
    (void)close(ends[0]);
    (void)close(ends[1]);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)setenv("LESS", "FRX", 0);
    (void)execl("/bin/sh", "sh", "-c", pager, (char *)NULL);
    _exit(127);
}

void term_page(struct terminal *term, const struct settings *settings)
{
    const char *pager = getenv("PAGER") ? getenv("PAGER") : "less";
    int ends[2];
    if (!term->out_is_tty || settings->no_pager || term->pager || !*pager ||
        strcmp(pager, "cat") == 0)
        return;
    /* Minimal systems lack less; the shell would only print an error. */
    if (strcmp(pager, "less") == 0 && access("/usr/bin/less", X_OK) != 0 &&
        access("/bin/less", X_OK) != 0)
        return;
    if (fflush(stdout) != 0 || pipe(ends) != 0)
        return;
    pid_t child = fork();
    if (child == 0)
        become_pager(pager, ends);
    if (child > 0 && dup2(ends[1], STDOUT_FILENO) >= 0)
        term->pager = child;
    (void)close(ends[0]);
    (void)close(ends[1]);
}

void term_end(struct terminal *term)
{
    if (!term->pager)
        return;
    (void)fflush(stdout);
    (void)close(STDOUT_FILENO);
    int status;
    while (waitpid(term->pager, &status, 0) < 0 && errno == EINTR)
        continue;
    term->pager = 0;
}
