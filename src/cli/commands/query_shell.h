/* The shell of query: reads statements and commands from a terminal or from standard input. */
#ifndef TRACETTA_CLI_COMMANDS_QUERY_SHELL_H
#define TRACETTA_CLI_COMMANDS_QUERY_SHELL_H

struct query_work;

/* Runs a shell over the inputs of a call until ".quit" or the end of standard input. Returns the
 * outcome: on a terminal, errors of statements do not change it. */
int run_query_shell(struct query_work *work);

#endif
