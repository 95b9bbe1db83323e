/* Connects to a .NET runtime: of a running process, of a program that is started, or of a process
 * that connects to our socket.
 *
 * Ownership: the caller owns a reach; reach_end closes what it opened and ends the program that it
 * started. */
#ifndef TRACETTA_CLI_DOTNET_RUNTIME_CONNECT_H
#define TRACETTA_CLI_DOTNET_RUNTIME_CONNECT_H

#include <stdbool.h>

#include <tracetta/collect.h>

#include "cli/dotnet/launch.h"

#define REACH_PATH 4352u

struct call;

struct reach {
    struct call *call;
    const char *verb;     /* the command, for messages */
    bool takes_stdout;    /* the output of the program is written to stderr */
    struct launch launch; /* pid 0: no program was started */
    ttr_dotnet_list *list;
    ttr_dotnet *target, *waiting;     /* waiting: our socket, until a runtime connects */
    bool is_early;                    /* the runtime may wait for us at its start */
    char what[320], port[REACH_PATH]; /* what: "process 123 (app)" */
};

/* Checks that the operands name one process, one command after "--", or none with
 * --diagnostic-port. Returns OUTCOME_FINE, or the outcome after reporting an error. */
int reach_check_words(const struct call *call, const char *verb);

/* Finds or starts the runtime and connects to it: sets `target`. Returns OUTCOME_FINE, or the
 * outcome after reporting an error. */
int reach_target(struct reach *reach);

/* Resumes a runtime that waits at its start, unless --no-resume is given. Returns OUTCOME_FINE, or
 * the outcome after reporting an error. */
int reach_resume(struct reach *reach);

/* Closes all connections. */
void reach_end(struct reach *reach);

#endif
