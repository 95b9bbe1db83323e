/* --debug-info: adds function and source line to events of user space. */
#ifndef TRACETTA_CLI_INPUT_DEBUG_INFO_H
#define TRACETTA_CLI_INPUT_DEBUG_INFO_H

#include "cli/input/input_list.h"

/* Returns true if the options request debug information. */
bool debug_info_is_requested(const struct settings *set);

/* Wraps the reader of the inputs in the stage that adds debug information, if the options request
 * it. Returns OUTCOME_FINE, or the outcome after reporting an error. */
int debug_info_begin(struct inputs *inputs, const struct call *call);

/* Warns of binaries that were not found. Call it when the reader is closed. */
void debug_info_end(struct inputs *inputs);

#endif
