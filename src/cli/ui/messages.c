/* Prints messages to stderr. Data is written to stdout, diagnostics to stderr. */
#include "cli/ui/messages.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands/command.h"
#include "cli/ui/term.h"

#define LINE_MAX_BYTES 16384u

/* Library options that errors and notes name (ttr_error.option), and the command's spelling of
 * each. */
static const struct {
    const char *option, *ctx, *flag;
} flags[] = {{"from", "ttr_read_options.from = ", "--from="},
             {"from", "ttr_read_options.from", "--from"},
             {"max_record", "ttr_read_options.max_record", "--max-record"},
             {"max_temporary", "ttr_options.max_temporary", "--max-temporary"},
             {"follow_links", "TTR_READ_FOLLOW_LINKS", "--follow-links"},
             {"TTR_WRITE_STRICT", "TTR_WRITE_STRICT", "--strict"},
             {"TTR_WRITE_OVERWRITE", "TTR_WRITE_OVERWRITE", "--overwrite (-f)"}};

#define FORMAT_OPTION "format option "
#define OPTION_FLAG_TEXT "--option="

static char *find_last(char *text, const char *word)
{
    char *last = NULL;
    for (char *at = strstr(text, word); at; at = strstr(at + 1, word))
        last = at;
    return last;
}

/* Returns the last occurrence of "format option KEY" (or "FORMAT.KEY") in a text, or NULL. */
static char *find_format_option(char *text, const char *option)
{
    const char *key = strchr(option, '.') + 1;
    char *last = NULL;
    for (char *at = strstr(text, FORMAT_OPTION); at; at = strstr(at + 1, FORMAT_OPTION)) {
        const char *name = at + strlen(FORMAT_OPTION);
        const size_t n = strlen(strncmp(name, option, strlen(option)) == 0 ? option : key);
        const bool is_it = strncmp(name, option, n) == 0 || strncmp(name, key, n) == 0;
        const char after = is_it ? name[n] : '-';
        last = after != '-' && !isalnum((unsigned char)after) ? at : last;
    }
    return last;
}

/* Replaces the library's words for a format option by the command's, from the last mention of the
 * option on. Earlier text may contain file names, which must not change. */
static void replace_format_options(char *text, const char *option)
{
    const size_t long_n = strlen(FORMAT_OPTION), short_n = strlen(OPTION_FLAG_TEXT);
    for (char *at = find_format_option(text, option); at; at = strstr(at, FORMAT_OPTION)) {
        memcpy(at, OPTION_FLAG_TEXT, short_n);
        memmove(at + short_n, at + long_n, strlen(at + long_n) + 1);
    }
}

/* Returns the text with the library's name of an option replaced by the command's, at its last
 * mention. Earlier text may contain file names, which must not change. */
static const char *name_flags(const char *text, const char *option, char ctx[MESSAGE_TEXT_MAX])
{
    const size_t n = strlen(text);
    if (!*option || n >= MESSAGE_TEXT_MAX)
        return text;
    memcpy(ctx, text, n + 1);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        char *at = strcmp(flags[i].option, option) == 0 ? find_last(ctx, flags[i].ctx) : NULL;
        if (!at)
            continue;
        const size_t own_n = strlen(flags[i].ctx),
                     flag_n = strlen(flags[i].flag); /* not longer than the original */
        memcpy(at, flags[i].flag, flag_n);
        memmove(at + flag_n, at + own_n, strlen(at + own_n) + 1);
        break;
    }
    if (strchr(option, '.'))
        replace_format_options(ctx, option);
    return ctx;
}

const char *message_error_text(const ttr_error *error, char ctx[MESSAGE_TEXT_MAX])
{
    return name_flags(error->text, error->option, ctx);
}

const char *message_note_text(const ttr_diagnostic *note, char ctx[MESSAGE_TEXT_MAX])
{
    return name_flags(note->text, ttr_note_option(note), ctx);
}

static void print_escaped(const char *text)
{
    term_text_to(stderr, (ttr_text){text, strlen(text)});
}

/* Returns the offset of the line break before a source line with a caret below it ("text\n  the
 * line\n    ^"), or the length of the text. */
static size_t find_caret_lines(const char *text)
{
    size_t n = strlen(text), at = n;
    if (n == 0 || text[n - 1] != '^')
        return n;
    for (at = n - 1; at > 0 && text[at - 1] == ' ';)
        at--;
    if (at == 0 || text[--at] != '\n')
        return n;
    while (at > 0 && text[at - 1] != '\n')
        at--;
    return at > 0 ? at - 1 : n;
}

/* Prints a text together with its source line and caret. Escapes other line breaks. */
static void print_reason(const char *text)
{
    size_t n = find_caret_lines(text);
    term_text_to(stderr, (ttr_text){text, n});
    for (const char *line = text + n; *line == '\n';) {
        size_t line_n = strcspn(++line, "\n");
        (void)fputc('\n', stderr);
        term_text_to(stderr, (ttr_text){line, line_n});
        line += line_n;
    }
}

/* Prints a formatted line to stderr. Escapes control characters, which may come from file names and
 * traces. */
static void print_formatted(const char *format, va_list values)
{
    char line[LINE_MAX_BYTES];
    int n = vsnprintf(line, sizeof line, format, values);
    print_escaped(n < 0 ? format : line);
    (void)fputs((size_t)n >= sizeof line ? "...\n" : "\n", stderr);
}

const char *print_diagnostic_severity(ttr_severity severity)
{
    return severity == TTR_SEVERITY_DAMAGE ? "damage"
           : severity == TTR_SEVERITY_ODD  ? "odd"
                                           : "remark";
}

int report_misuse(const char *verb, const char *format, ...)
{
    va_list values;
    (void)fputs("tracetta: ", stderr);
    va_start(values, format);
    print_formatted(format, values);
    va_end(values);
    (void)fprintf(stderr, "try: tracetta %s%s--help\n", verb ? verb : "", verb ? " " : "");
    return OUTCOME_MISUSE;
}

void report_error(const struct call *call, const char *path, const ttr_error *error)
{
    const char *shown = strcmp(path, "-") == 0 ? "standard input" : path;
    char line[24], ctx[MESSAGE_TEXT_MAX];
    (void)fputs("tracetta: ", stderr);
    if (!strstr(error->text, shown)) {
        print_escaped(shown);
        (void)fputs(": ", stderr);
    }
    bool has_place = error->offset != UINT64_MAX && error->offset != 0 && error->status != TTR_E_IO;
    if (has_place && !strstr(error->text, "at byte"))
        (void)fprintf(stderr, "byte %llu: ", (unsigned long long)error->offset);
    (void)snprintf(line, sizeof line, ":%llu:", (unsigned long long)error->line);
    if (error->line && !strstr(error->text, line))
        (void)fprintf(stderr, "line %llu: ", (unsigned long long)error->line);
    print_reason(error->text[0] ? message_error_text(error, ctx) : ttr_status_text(error->status));
    (void)fputc('\n', stderr);
    if (!call->set.verbose)
        return;
    (void)fprintf(stderr, "    status %s", ttr_status_text(error->status));
    if (error->format[0])
        (void)fprintf(stderr, ", format %s", error->format);
    if (error->record != UINT64_MAX && error->record != 0)
        (void)fprintf(stderr, ", record %llu", (unsigned long long)error->record);
    (void)fputc('\n', stderr);
}

void report_failure_text(const char *path, const char *format, ...)
{
    (void)fputs("tracetta: ", stderr);
    print_escaped(path);
    (void)fputs(": ", stderr);
    va_list values;
    va_start(values, format);
    print_formatted(format, values);
    va_end(values);
}

int report_unwritable_output(const char *path, int reason)
{
    const char *hint = "";
    switch (reason) {
    case ENOSPC:
    case EDQUOT:
        hint = " (free some space or write elsewhere)";
        break;
    case ENOENT:
    case ENOTDIR:
        hint = " (is there such a folder?)";
        break;
    case EACCES:
    case EPERM:
    case EROFS:
        hint = " (it, or its folder, may not be written to)";
        break;
    default:
        break;
    }
    report_failure_text(path, "cannot write%s: %s", hint,
                        reason ? strerror(reason) : "an earlier write failed");
    return OUTCOME_OUTPUT;
}

int report_output_error(int reason)
{
    clearerr(stdout); /* the error is reported only once */
    if (reason == EPIPE)
        return OUTCOME_FINE;
    return report_unwritable_output("standard output", reason);
}

void print_note(const struct call *call, const char *format, ...)
{
    if (call->notes) {
        va_list copied;
        va_start(copied, format);
        (void)vfprintf(call->notes, format, copied);
        va_end(copied);
        (void)fputc('\n', call->notes);
    }
    if (call->set.quiet)
        return;
    (void)fputs("tracetta: ", stderr);
    va_list values;
    va_start(values, format);
    print_formatted(format, values);
    va_end(values);
}

const char *print_nearest_word(const char *word, const char *(*at)(const void *ctx, size_t i),
                               const void *ctx)
{
    const char *nearest = NULL;
    unsigned best = strlen(word) > 3 ? 3 : 2; /* at most three edits, two in a short word */
    const char *candidate;
    for (size_t i = 0; (candidate = at(ctx, i)); i++) {
        unsigned edits = ttr_edit_distance(word, candidate);
        if (edits < best && edits < strlen(candidate)) {
            best = edits;
            nearest = candidate;
        }
    }
    return nearest;
}
