/* query --every: answers again and again while the input is read. */
#ifndef TRACETTA_CLI_COMMANDS_QUERY_LIVE_H
#define TRACETTA_CLI_COMMANDS_QUERY_LIVE_H

#include "cli/commands/command.h"

/* Reads the only input of the call to its end or Ctrl-C, and prints the answer every --every.
 * Returns the outcome. */
int run_query_live(struct call *call, const char *sql);

#endif
