/* Connects to a .NET runtime: of a running process, of a program that is started, or of a process
 * that connects to our socket.
 *
 * Ownership: the caller owns a reach; runtime_disconnect closes what it opened and ends the program
 * that it started. */
#ifndef TRACETTA_CLI_DOTNET_RUNTIME_CONNECT_H
#define TRACETTA_CLI_DOTNET_RUNTIME_CONNECT_H

#include <stdbool.h>

#include <tracetta/collect.h>

#include "cli/dotnet/launch.h"

#define REACH_PATH 4352u

struct call;

struct runtime_connection {
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
int runtime_check_operands(const struct call *call, const char *verb);

/* Finds or starts the runtime and connects to it: sets `target`. Returns OUTCOME_FINE, or the
 * outcome after reporting an error. */
int runtime_connect(struct runtime_connection *runtime_connection);

/* Resumes a runtime that waits at its start, unless --no-resume is given. Returns OUTCOME_FINE, or
 * the outcome after reporting an error. */
int runtime_resume(struct runtime_connection *runtime_connection);

/* Closes all connections. */
void runtime_disconnect(struct runtime_connection *runtime_connection);

#endif
