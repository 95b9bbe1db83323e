/* --begin, --end and --timerange as babeltrace2 reads them, for its style of lines. */
#ifndef TRACETTA_CLI_INPUT_TIME_RANGE_H
#define TRACETTA_CLI_INPUT_TIME_RANGE_H

#include "cli/commands/command.h"

/* Makes start and end of what these options say; of a time without a date the date is that of the
 * first event, for which the inputs are opened once more.  OUTCOME_FINE, or after telling what is
 * wrong. */
int trim_take(struct call *call);

#endif
