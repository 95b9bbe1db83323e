/* record --perf. */
#ifndef TRACETTA_CLI_COMMANDS_RECORD_PERF_H
#define TRACETTA_CLI_COMMANDS_RECORD_PERF_H

struct call;

/* Records events of the kernel into a perf.data.  Gives the outcome. */
int record_perf(struct call *call);

#endif
