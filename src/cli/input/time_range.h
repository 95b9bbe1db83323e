/* Parser of the time range that --begin, --end and --timerange of --style=babeltrace2 select. */
#ifndef TRACETTA_CLI_INPUT_TIME_RANGE_H
#define TRACETTA_CLI_INPUT_TIME_RANGE_H

#include "cli/commands/command.h"

/* Sets start and end from these options. A time without a date is on the day of the first event,
 * which requires reading the inputs once. Returns OUTCOME_FINE, or the outcome after reporting an
 * error. */
int time_range_parse(struct call *call);

#endif
