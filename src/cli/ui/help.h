/* Help, man pages and completions, generated from the tables of commands and options. */
#ifndef TRACETTA_CLI_UI_HELP_H
#define TRACETTA_CLI_UI_HELP_H

#include <stdio.h>

#include "cli/commands/command.h"

/* Exit statuses: number and meaning in turn; NULL at the end. */
extern const char *const help_statuses[];

/* Prints the overview of all commands. */
void help_overview(FILE *to);

/* Prints the commands that begin with a word ("record"). */
void help_group(FILE *to, const char *word);

/* Prints the help of one command. */
void help_command(FILE *to, const struct command *command);

/* Explains the code of a note, "fxt.zeros".  Returns false if there is no such code. */
bool help_code(FILE *to, const char *code);

/* Prints a man page in roff: of one command, or of the whole program (NULL). */
void manual_print(FILE *to, const struct command *command);

/* Prints the completion script of "bash", "zsh" or "fish"; returns false for another shell. */
bool complete_print(FILE *to, const char *shell);

#endif
