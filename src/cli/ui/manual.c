/* Man pages in roff, with the macros of man(7) only. */
#include <string.h>

#include <tracetta/store.h>

#include "cli/ui/help.h"

/* Prints text, escaping the characters that are special in roff. */
static void write_escaped(FILE *to, const char *text)
{
    bool at_begin = true;
    for (; *text; text++) {
        if (at_begin && (*text == '.' || *text == '\''))
            (void)fputs("\\&", to);
        if (*text == '\\')
            (void)fputs("\\e", to);
        else if (*text == '-')
            (void)fputs("\\-", to);
        else
            (void)fputc(*text, to);
        at_begin = *text == '\n';
    }
}

static void write_roff_line(FILE *to, const char *before, const char *text)
{
    (void)fputs(before, to);
    write_escaped(to, text);
    (void)fputc('\n', to);
}

static void write_option(FILE *to, const struct option_row *row)
{
    (void)fputs(".TP\n", to);
    if (row->letter)
        (void)fprintf(to, "\\fB\\-%c\\fR, ", row->letter);
    (void)fputs("\\fB\\-\\-", to);
    write_escaped(to, row->name);
    (void)fputs("\\fR", to);
    if (row->value) {
        bool is_maybe = row->type == OPTION_MAYBE;
        (void)fprintf(to, "%s=\\fI", is_maybe ? "[" : "");
        write_escaped(to, row->value);
        (void)fprintf(to, "\\fR%s", is_maybe ? "]" : "");
    }
    write_roff_line(to, "\n", row->text);
    if (row->choices && row->choices[0] != '@')
        write_roff_line(to, ".br\nOne of: ", row->choices);
}

static void write_options(FILE *to, uint32_t verb)
{
    const struct option_row *row;
    for (unsigned group = 0; group < GROUP_COUNT; group++) {
        bool has_title = false;
        for (size_t i = 0; (row = option_at(i)); i++) {
            if (row->group != group || !(row->verbs & verb))
                continue;
            if (!has_title)
                (void)fprintf(to, ".SH \"%s\"\n", option_group_title(group));
            has_title = true;
            write_option(to, row);
        }
    }
}

/* Writes the tables of "tracetta query" and their columns. */
static void write_tables(FILE *to)
{
    ttr *t = ttr_new(NULL);
    ttr_store *store = t ? ttr_store_new(t, NULL, NULL) : NULL;
    ttr_store_table table;
    ttr_store_column column;
    (void)fputs(".SH TABLES\n", to);
    for (size_t i = 0; ttr_store_table_at(store, i, &table); i++) {
        (void)fprintf(to, ".SS %s\n", table.name);
        write_roff_line(to, "", table.description);
        for (size_t k = 0; ttr_store_column_at(store, i, k, &column); k++) {
            (void)fprintf(to, ".TP\n\\fB%s\\fR\n", column.name);
            write_roff_line(to, "", column.description);
        }
    }
    ttr_store_free(store);
    ttr_free(t);
}

static void write_page_end(FILE *to, const struct command *command)
{
    (void)fputs(".SH EXIT STATUS\n", to);
    for (const char *const *rows = help_get_statuses(command); *rows; rows += 2) {
        (void)fprintf(to, ".TP\n\\fB%s\\fR\n", rows[0]);
        write_roff_line(to, "", rows[1]);
    }
    (void)fputs(
        ".SH ENVIRONMENT\n"
        ".TP\n\\fBPAGER\\fR\nthe pager for output on a terminal; empty or \"cat\": no pager. "
        "\\fBLESS\\fR is set to FRX when unset.\n"
        ".TP\n\\fBNO_COLOR\\fR, \\fBCLICOLOR_FORCE\\fR\nno colours, or colours in pipes too.\n"
        ".TP\n\\fBTMPDIR\\fR\nthe folder for temporary files of sorting and of tables.\n"
        ".TP\n\\fBCOLUMNS\\fR\nthe width of tables, if not that of the terminal.\n"
        ".TP\n\\fBXDG_CACHE_HOME\\fR, \\fBTRACETTA_CACHE_SIZE\\fR\nthe folder and the limit of "
        "the tables that \\fBtracetta query\\fR saves (default ~/.cache and 1GiB).\n"
        ".TP\n\\fBDEBUGINFOD_URLS\\fR, \\fBDEBUGINFOD_TIMEOUT\\fR\nthe servers of "
        "\\fB\\-\\-debuginfod\\fR without URLs, and the seconds to wait for an answer.\n",
        to);
}

static void write_command_page(FILE *to, const struct command *command)
{
    (void)fprintf(to, ".TH TRACETTA\\-%s 1 \"\" \"tracetta %s\"\n.SH NAME\ntracetta\\-%s \\- ",
                  command_word(command).s, ttr_version(), command_word(command).s);
    write_roff_line(to, "", command->summary);
    (void)fprintf(to, ".SH SYNOPSIS\n\\fBtracetta %s\\fR [\\fIOPTIONS\\fR] ", command->name);
    write_roff_line(to, "", command->operands);
    write_roff_line(to, ".SH DESCRIPTION\n", command->about);
    (void)fputs(".SH EXAMPLES\n", to);
    for (size_t i = 0; command->examples[i]; i += 2) {
        write_roff_line(to, ".TP\n\\fB", command->examples[i]);
        write_roff_line(to, "\\fR", command->examples[i + 1]);
    }
    write_options(to, command->verb);
    if (command->verb == VERB_QUERY)
        write_tables(to);
    write_page_end(to, command);
    (void)fputs(".SH SEE ALSO\n.BR tracetta (1)\n", to);
}

static void write_overview_page(FILE *to)
{
    (void)fprintf(to,
                  ".TH TRACETTA 1 \"\" \"tracetta %s\"\n.SH NAME\ntracetta \\- read, print, "
                  "convert, measure and repair traces\n",
                  ttr_version());
    (void)fputs(
        ".SH SYNOPSIS\n\\fBtracetta\\fR \\fIFILE\\fR...\n.br\n\\fBtracetta\\fR "
        "\\fICOMMAND\\fR [\\fIOPTIONS\\fR] \\fIFILE\\fR...\n"
        ".SH DESCRIPTION\nReads traces of several formats from files (compressed or not), folders, "
        "pipes and standard input (\"\\-\").\nThe content decides the format. Live sessions "
        "of LTTng are read from its relay daemon\n(net://HOST[:PORT]/host/HOSTNAME/SESSION; "
        "net://HOST lists them).\nData is written to stdout, diagnostics to stderr.\n"
        "Damaged input is read as far as possible, with one line of warning and exit "
        "status 1; \\fB\\-\\-strict\\fR stops at it.\n"
        "Options may come before the command.\n.SH COMMANDS\n",
        to);
    for (size_t i = 0; get_command(i); i++) {
        (void)fprintf(to, ".TP\n\\fBtracetta\\-%s\\fR(1)\n", command_word(get_command(i)).s);
        write_roff_line(to, "", get_command(i)->summary);
    }
    write_page_end(to, NULL);
}

void print_manual(FILE *to, const struct command *command)
{
    if (command)
        write_command_page(to, command);
    else
        write_overview_page(to);
}
