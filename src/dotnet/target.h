/* One runtime and the way to it: each command takes a connection of its own.
 *
 * A runtime that serves a socket is connected to.  Where the socket is ours, the runtime connects,
 * says who it is and waits for one command; for the next it connects again.  So a connection of the
 * target is kept at hand (`spare`); other runtimes that come, such as children of the program,
 * would wait for us for ever: they are told to go on, and their next connection is kept open
 * without a word. Thread rule: one thread at a time. */
#ifndef TRACETTA_DOTNET_TARGET_H
#define TRACETTA_DOTNET_TARGET_H

#include <poll.h>

#include "dotnet/ipc.h"

#define GUESTS_MAX 64u /* connections that came to our socket and are no spare */
#define TARGET_WAITS (2 + GUESTS_MAX)

/* A connection that came to our socket. */
struct guest {
    int fd;       /* -1 = a free place */
    uint32_t got; /* bytes of `said` */
    uint8_t said[IPC_ADVERTISE];
    bool is_told; /* it is another runtime and was told to go on; until then a guest is still saying
                     who it is */
};

struct ttr_dotnet {
    const struct alloc *alloc;
    char *path;   /* of the socket, ours or the runtime's */
    int listener; /* -1 = the runtime serves the socket */
    int spare;    /* a connection of the target at hand, -1 = none */
    int wake;
    unsigned limit_ms;
    bool is_known; /* cookie and pid are the target's */
    struct ipc_advertise who;
    struct guest guests[GUESTS_MAX];
    size_t others;                   /* runtimes that were told to go on */
    struct arena about, environment; /* texts of the last answers */
    const char **variables;
    size_t variables_n;
};

/* A connection for a command: TTR_OK with *fd, which is the caller's, or TTR_AGAIN when there is
 * none yet. */
TTR_MUST ttr_status target_dial(ttr_dotnet *target, int *fd, ttr_error *error);

/* Takes in who comes to our socket, as far as that goes without waiting.  Nothing for a socket of
 * the runtime. */
void target_serve(ttr_dotnet *target);

/* Lists what must be waited for, so that target_serve has something to do, and the wake-up: how
 * many of TARGET_WAITS. */
size_t target_waits(const ttr_dotnet *target, struct pollfd *waits);

/* True when something asks for the end of a wait. */
bool target_is_woken(const ttr_dotnet *target);

#endif
