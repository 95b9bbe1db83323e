/* Help, man pages and completions, generated from the tables of commands and options. */
#ifndef TRACETTA_CLI_UI_HELP_H
#define TRACETTA_CLI_UI_HELP_H

#include <stdio.h>

#include "cli/commands/command.h"

/* Returns the exit statuses of a command, each followed by its meaning; NULL at the end. `command`:
 * NULL = those of most commands. */
const char *const *help_get_statuses(const struct command *command);

/* Prints the overview of all commands. */
void print_help_overview(FILE *to);

/* Prints the commands with the same first word ("record"). */
void print_group_help(FILE *to, const char *word);

/* Prints the help of one command. */
void print_command_help(FILE *to, const struct command *command);

/* Explains a diagnostic code such as "fxt.zeros". Returns false if the code is unknown. */
bool print_code_help(FILE *to, const char *code);

/* Prints the man page of a command in roff; NULL: of the program. */
void print_manual(FILE *to, const struct command *command);

/* Prints the completion script for "bash", "zsh" or "fish". Returns false for another shell. */
bool print_completion(FILE *to, const char *shell);

#endif
