/* Help pages: usage, examples, then options by group. */
#include "cli/ui/help.h"

#include <string.h>

#include <tracetta/formats.h>

#include "cli/ui/messages.h"

#define LEFT 26
#define LINE 100

static const char *const statuses[] = {
    "0",
    "success",
    "1",
    ("no match, a difference, damage (the output holds all that could be read), or a lossy "
     "conversion under --strict"),
    "2",
    "wrong usage",
    "3",
    "an input is unreadable or not a trace",
    "4",
    "an output failed or is partial",
    "130, 143",
    "interrupted; outputs hold all that came before",
    NULL};

static const char *const record_statuses[] = {
    "0 to 255", "that of the program; 128 plus the number of the signal that ended it",
    "1",        "with --fail-on-loss also: events were lost",
    "2",        "wrong usage: the program was not started",
    "125",      "recording failed, or the program could not be started",
    NULL};

const char *const *help_get_statuses(const struct command *command)
{
    return command && command->verb == VERB_RECORD ? record_statuses : statuses;
}

/* Prints text in lines of at most LINE columns. All lines after the first are indented. An empty
 * line separates paragraphs. */
static void print_wrapped(FILE *to, const char *text, int indent, int column)
{
    while (*text) {
        int n = (int)strcspn(text, " \n");
        if (column + 1 + n > LINE) {
            (void)fprintf(to, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            (void)fputc(' ', to);
            column++;
        }
        (void)fprintf(to, "%.*s", n, text);
        column += n;
        text += n;
        if (strncmp(text, "\n\n", 2) == 0) {
            (void)fprintf(to, "\n\n%*s", indent, "");
            column = indent;
            text++;
        }
        text += *text != '\0';
    }
    (void)fputc('\n', to);
}

static void print_option(FILE *to, const struct option_row *row)
{
    char left[80];
    char letter[8] = "    ";
    if (row->letter)
        (void)snprintf(letter, sizeof letter, "-%c, ", row->letter);
    bool is_maybe = row->type == OPTION_MAYBE;
    int n = snprintf(left, sizeof left, "  %s--%s%s%s%s%s", letter, row->name, is_maybe ? "[" : "",
                     row->value ? "=" : "", row->value ? row->value : "", is_maybe ? "]" : "");
    (void)fputs(left, to);
    if (n + 2 > LEFT)
        (void)fputc('\n', to);
    (void)fprintf(to, "%*s", n + 2 > LEFT ? LEFT : LEFT - n, "");
    print_wrapped(to, row->text, LEFT, LEFT);
    if (row->choices && row->choices[0] != '@')
        (void)fprintf(to, "%*s(%s)\n", LEFT, "", row->choices);
}

static void print_option_group(FILE *to, uint32_t verb, unsigned group)
{
    bool has_title = false;
    const struct option_row *row;
    for (size_t i = 0; (row = option_at(i)); i++) {
        if (row->group != group || !(row->verbs & verb))
            continue;
        if (!has_title)
            (void)fprintf(to, "\n%s:\n", option_group_title(group));
        has_title = true;
        print_option(to, row);
    }
}

void print_help_overview(FILE *to)
{
    (void)fputs("usage: tracetta FILE...             show what is in a trace\n"
                "       tracetta COMMAND [OPTIONS] FILE...\n\n"
                "A FILE is a file, compressed or not, a folder, a pipe, or \"-\". Its content "
                "decides the format.\n\nCommands:\n",
                to);
    for (size_t i = 0; get_command(i); i++)
        (void)fprintf(to, "  %-14s %s\n", get_command(i)->name, get_command(i)->summary);
    (void)fputs(
        "\n\"tracetta help COMMAND\" explains a command, \"tracetta help CODE\" the code of a "
        "note;\n\"tracetta --version\" prints the version.\n",
        to);
}

/* Prints the commands of two words of a group. */
static void print_group_commands(FILE *to, const char *word)
{
    const size_t n = strlen(word);
    for (size_t i = 0; get_command(i); i++)
        if (strncmp(get_command(i)->name, word, n) == 0 && get_command(i)->name[n] == ' ')
            (void)fprintf(to, "  %-14s %s\n", get_command(i)->name, get_command(i)->summary);
}

void print_group_help(FILE *to, const char *word)
{
    (void)fprintf(to, "usage: tracetta %s WHAT [OPTIONS] ...\n\n", word);
    print_group_commands(to, word);
    (void)fprintf(to, "\n\"tracetta help %s WHAT\" explains one of them.\n", word);
}

void print_command_help(FILE *to, const struct command *command)
{
    (void)fprintf(to, "usage: tracetta %s [OPTIONS]%s%s\n\n", command->name,
                  *command->operands ? " " : "", command->operands);
    print_wrapped(to, command->about, 0, 0);
    if (command_is_group(command->name)) {
        (void)fprintf(to, "\nOther kinds of %s:\n", command->name);
        print_group_commands(to, command->name);
    }
    (void)fputs("\nExamples:\n", to);
    for (size_t i = 0; command->examples[i]; i += 2)
        (void)fprintf(to, "  %s\n        %s\n", command->examples[i], command->examples[i + 1]);
    for (unsigned group = 0; group < GROUP_COUNT; group++)
        print_option_group(to, command->verb, group);
    (void)fputs("\nExit status:\n", to);
    const char *const *rows = help_get_statuses(command);
    for (; *rows; rows += 2) {
        (void)fprintf(to, "  %-8s ", rows[0]);
        print_wrapped(to, rows[1], 11, 11);
    }
}

static bool find_diagnostic_code(const char *code, ttr_diagnostic_info *info)
{
    ttr_format_info format;
    for (size_t j = 0; ttr_format_diagnostic(TTR_FORMAT_NONE, j, info); j++)
        if (strcmp(info->code, code) == 0)
            return true;
    for (size_t i = 0; ttr_format_get(i, &format); i++)
        for (size_t j = 0; ttr_format_diagnostic(i, j, info); j++)
            if (strcmp(info->code, code) == 0)
                return true;
    return false;
}

bool print_code_help(FILE *to, const char *code)
{
    ttr_diagnostic_info info;
    if (!find_diagnostic_code(code, &info))
        return false;
    const bool varies = info.least != info.worst;
    (void)fprintf(to, "%s (%s%s%s)\n  meaning  %s\n  effect   %s\n", code,
                  varies ? print_diagnostic_severity(info.least) : "", varies ? " or " : "",
                  print_diagnostic_severity(info.worst), info.meaning, info.effect);
    if (*info.advice)
        (void)fprintf(to, "  advice   %s\n", info.advice);
    return true;
}
