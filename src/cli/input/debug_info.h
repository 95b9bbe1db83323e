/* --debug-info: events of user space say in which function and line they were. */
#ifndef TRACETTA_CLI_INPUT_DEBUG_INFO_H
#define TRACETTA_CLI_INPUT_DEBUG_INFO_H

#include "cli/input/input_list.h"

/* Whether the options ask for it. */
bool debug_info_is_asked(const struct settings *set);

/* Wraps the reader of the inputs where the options ask for it.  OUTCOME_FINE, or after telling the
 * user why not. */
int debug_info_begin(struct inputs *inputs, const struct call *call);

/* Says which binaries were not found.  Call it when the reader is closed. */
void debug_info_end(struct inputs *inputs);

#endif
