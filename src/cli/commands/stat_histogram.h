/* stat --histogram: the spans of a name over time. */
#ifndef TRACETTA_CLI_COMMANDS_STAT_HISTOGRAM_H
#define TRACETTA_CLI_COMMANDS_STAT_HISTOGRAM_H

struct call;

/* Prints how many spans and instants with a name that matches --histogram start in each part of the
 * time of the trace, and how long they last. Returns the outcome. */
int run_stat_histogram(struct call *call);

#endif
