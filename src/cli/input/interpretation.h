/* Interpretation of well-known events (--raw switches it off). */
#ifndef TRACETTA_CLI_INPUT_INTERPRETATION_H
#define TRACETTA_CLI_INPUT_INTERPRETATION_H

#include "cli/input/input_list.h"

/* Returns true if the events of a reader are interpreted: neither --raw, nor a copy in the format
 * of an input, nor a style of lines that another tool defines. */
bool interpretation_is_enabled(const struct call *call, ttr_reader *reader);

/* Wraps a reader. Returns NULL with `error` on failure. */
ttr_reader *interpretation_wrap_reader(const struct call *call, ttr_reader *reader,
                                       ttr_error *error);

/* Replaces inputs->reader by a reader that returns its events as spans and counters. Returns
 * OUTCOME_FINE, or the outcome after reporting an error. */
int interpretation_begin(struct inputs *inputs, const struct call *call);

#endif
