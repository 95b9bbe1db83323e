/* "stat --live": counts and rates of events while they arrive. */
#ifndef TRACETTA_CLI_COMMANDS_STAT_LIVE_H
#define TRACETTA_CLI_COMMANDS_STAT_LIVE_H

struct call;

/* Prints counts and rates until the input ends or Ctrl-C. Returns the exit status. */
int run_stat_live(struct call *call);

#endif
