/* Help, man pages and completions, all made from the tables of verbs and options. */
#ifndef TRACETTA_CLI_UI_HELP_H
#define TRACETTA_CLI_UI_HELP_H

#include <stdio.h>

#include "cli/commands/command.h"

/* Shown for exit statuses everywhere: number and meaning, alternating; NULL at the end. */
extern const char *const help_statuses[];

/* Prints the overview of all verbs. */
void help_overview(FILE *to);

/* Prints the help of one verb. */
void help_command(FILE *to, const struct command *command);

/* Prints a man page in roff: of a verb, or of the whole command (NULL). */
void manual_print(FILE *to, const struct command *command);

/* Prints the completion script of "bash", "zsh" or "fish"; false for another shell. */
bool complete_print(FILE *to, const char *shell);

#endif
