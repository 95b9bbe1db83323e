/* Connects to a .NET runtime: that of a running process, of a program that is started, or of a
 * process that connects to the tool's socket.
 *
 * Ownership: the caller owns a runtime_connection. runtime_disconnect closes its connections and
 * ends the program that was started. */
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
    bool takes_stdout;    /* the recording is written to stdout, so the program's output goes to
                           * stderr */
    struct launch launch; /* pid 0: no program was started */
    ttr_dotnet_list *list;
    ttr_dotnet *target, *waiting;     /* waiting: the tool's socket, until a runtime connects to it
                                       * */
    bool is_early;                    /* the runtime may be suspended at its start until it is
                                       * resumed */
    char what[320], port[REACH_PATH]; /* what: "process 123 (app)" */
};

/* Checks that the operands are one process, a command after "--", or none with --diagnostic-port.
 * Returns OUTCOME_FINE, or the outcome after reporting an error. */
int runtime_check_operands(const struct call *call, const char *verb);

/* Finds or starts the runtime and connects to it: sets `target`. Returns OUTCOME_FINE, or the
 * outcome after reporting an error. */
int runtime_connect(struct runtime_connection *runtime_connection);

/* Resumes a runtime that is suspended at its start, unless --no-resume is given. Returns
 * OUTCOME_FINE, or the outcome after reporting an error. */
int runtime_resume(struct runtime_connection *runtime_connection);

/* Closes all connections. */
void runtime_disconnect(struct runtime_connection *runtime_connection);

#endif
