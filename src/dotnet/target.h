/* Connections to one runtime. Each command uses a new connection.
 *
 * If the runtime listens, target_connect connects to its socket. If the socket is ours
 * (DOTNET_DiagnosticPorts), runtimes connect to it and send an advertise message; each then waits
 * for one command and reconnects afterwards:
 *
 * |  accept -> guest, reads advertise --cookie of the target--> spare --target_connect--> a command
 * |                                   --another runtime------> ResumeRuntime, then kept open
 *
 * The first runtime that advertises becomes the target. Child processes inherit
 * DOTNET_DiagnosticPorts and would stay suspended for ever, so they are resumed at once; their next
 * connection is kept open and unused, which stops them from reconnecting in a loop. Thread rule:
 * one thread at a time. */
#ifndef TRACETTA_DOTNET_TARGET_H
#define TRACETTA_DOTNET_TARGET_H

#include <poll.h>

#include "dotnet/ipc.h"

/* limit of connections to the tool's socket, not counting the spare one */
#define GUESTS_MAX 64u
#define TARGET_WAITS (2 + GUESTS_MAX)

/* A connection to the tool's socket that is advertising, or that belongs to another runtime than
 * the target. */
struct guest {
    int fd;             /* -1 if the slot is free */
    uint32_t got_bytes; /* bytes received of `advertise` */
    uint8_t advertise[IPC_ADVERTISE_SIZE];
    bool is_resumed; /* `advertise` is complete and names another runtime, which was resumed */
};

struct ttr_dotnet {
    const struct alloc *alloc;
    char *path;   /* path of the socket, owned; the file was created here if listener >= 0 */
    int listener; /* listening socket of the tool, -1 if the runtime listens */
    int spare;    /* connection of the target that waits for a command, -1 = none */
    int wake;
    unsigned limit_ms;
    bool is_known; /* `who` is valid: a runtime has advertised itself */
    struct ipc_advertise who;
    struct guest guests[GUESTS_MAX];
    size_t others; /* number of other runtimes that were resumed */
    /* memory of the last process description, and of the last environment */
    struct arena about, environment;
    const char **variables;
    size_t variables_n;
};

/* Opens a connection for one command. Returns TTR_OK with *fd, owned by the caller, or TTR_AGAIN if
 * no connection is available yet. */
TTR_MUST ttr_status target_connect(ttr_dotnet *target, int *fd, ttr_error *error);

/* Accepts connections to the tool's socket and reads their advertise messages, without blocking.
 * Does nothing if the runtime listens. */
void target_accept_connections(ttr_dotnet *target);

/* Fills `waits` (TARGET_WAITS entries) with the wake descriptor and all sockets that
 * target_accept_connections handles. Returns their number. */
size_t target_poll_entries(const ttr_dotnet *target, struct pollfd *waits);

/* Returns true if the caller's wake descriptor is readable. */
bool target_is_woken(const ttr_dotnet *target);

#endif
