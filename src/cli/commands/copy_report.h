/* The JSON report of convert and merge: docs/user/json.md has the schema. */
#ifndef TRACETTA_CLI_COMMANDS_COPY_REPORT_H
#define TRACETTA_CLI_COMMANDS_COPY_REPORT_H

#include <stdint.h>

#include "cli/input/copy_loop.h"

/* Returns OUTCOME_FINE unless --json is given and the output of the command is stdout, too. Then
 * reports misuse. */
int copy_report_check(const struct call *call);

/* Prints the report of a finished copy to stdout. */
void copy_report_print(const struct copy_loop *copy_loop, const char *format, uint64_t took_ns,
                       int outcome);

#endif
