/* Connections over TCP that never make their user wait longer than was said.
 *
 * Sending and receiving take what can go at once; waiting is a call of its own, with a limit, and a
 * signal ends it early. Left out: listening, encryption.  Names are looked up by the system's
 * resolver, whose time limit is its own. Ownership: a socket is its opener's until socket_close.
 * Thread rule: one thread at a time. */
#ifndef TRACETTA_IO_SOCKET_H
#define TRACETTA_IO_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

struct socket;

enum socket_family { SOCKET_ANY = 0, SOCKET_IPV4 = 4, SOCKET_IPV6 = 6 };

/* Where to, and how long to try. */
struct socket_target {
    const char *host; /* a name or an address */
    uint16_t port;
    enum socket_family family;
    unsigned limit_ms; /* for all addresses of the host together */
    bool (*goes_on)(
        void *own); /* asked several times a second; false ends the attempt.  NULL = always */
    void *own;
};

/* Connects.  NULL with `error`: TTR_E_IO where nobody answers, TTR_AGAIN where goes_on ended it. */
struct socket *socket_connect(const struct alloc *alloc, const struct socket_target *target,
                              ttr_error *error);

/* Makes a socket of a connected descriptor (taken over, also on failure); NULL when memory is out.
 */
struct socket *socket_adopt(const struct alloc *alloc, int fd, ttr_error *error);

/* Hands bytes to the system: how many it took, 0 when it takes none now, -1 with `error` when the
 * connection is lost. */
int64_t socket_send(struct socket *socket, const void *bytes, size_t n, ttr_error *error);

/* Takes up to n >= 1 bytes that have come: the count, 0 when there are none now, -1 with `error`
 * when the connection is lost or the other side has closed it. */
int64_t socket_receive(struct socket *socket, void *to, size_t n, ttr_error *error);

/* Waits until there is something to receive (`to_send`: until more can be sent), at most
 * `limit_ms`; false when the time is over or a signal came. */
bool socket_wait(const struct socket *socket, bool to_send, unsigned limit_ms);

/* Milliseconds of a clock that only goes forward, for limits. */
uint64_t socket_now_ms(void);

/* Closes and frees; NULL is fine. */
void socket_close(struct socket *socket);

#endif
