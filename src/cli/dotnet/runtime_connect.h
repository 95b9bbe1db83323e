/* Reaching a .NET runtime: that of a process, of a program that is started for it, or one that
 * comes to a socket of ours.
 *
 * Ownership: a reach is the caller's; reach_end gives back what it holds, and ends the program that
 * it started. */
#ifndef TRACETTA_CLI_DOTNET_RUNTIME_CONNECT_H
#define TRACETTA_CLI_DOTNET_RUNTIME_CONNECT_H

#include <stdbool.h>

#include <tracetta/tracetta.h>

#include "cli/dotnet/launch.h"

#define REACH_PATH 4352u

struct call;

struct reach {
    struct call *call;
    const char *verb;     /* "record" */
    bool takes_stdout;    /* the program's output goes to stderr */
    struct launch launch; /* pid 0: nothing was started */
    ttr_dotnet_list *list;
    ttr_dotnet *target, *waiting;     /* waiting: our socket, until somebody comes */
    bool is_early;                    /* the runtime may wait for us at its start */
    char what[320], port[REACH_PATH]; /* what: "process 123 (app)" */
};

/* Whether the words of a command mean one process, one command behind "--", or none beside
 * --diagnostic-port.  OUTCOME_FINE, or after telling. */
int reach_check_words(const struct call *call, const char *verb);

/* Finds the runtime, or starts it, and waits for it: `target` is there then.  OUTCOME_FINE, or
 * after telling what is wrong. */
int reach_target(struct reach *reach);

/* Lets a runtime that waits at its start go on, unless the user wants otherwise.  OUTCOME_FINE, or
 * after telling what is wrong. */
int reach_resume(struct reach *reach);

/* Gives everything back. */
void reach_end(struct reach *reach);

#endif
