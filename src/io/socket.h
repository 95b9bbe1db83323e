/* TCP connections with calls that never block longer than the caller allows. Sending and receiving
 * transfer what is possible at once; socket_wait waits, with a limit, and a signal ends it early.
 * Left out: listening, encryption. Host names are resolved by getaddrinfo, which has time limits of
 * its own. Ownership: the caller that opened a socket closes it. Threads: one thread at a time. */
#ifndef TRACETTA_IO_SOCKET_H
#define TRACETTA_IO_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

struct socket;

enum socket_family { SOCKET_ANY = 0, SOCKET_IPV4 = 4, SOCKET_IPV6 = 6 };

/* Host, port and time limit of a connection. */
struct socket_target {
    const char *host; /* host name or address */
    uint16_t port;
    enum socket_family family;
    unsigned limit_ms; /* limit in ms for trying all addresses of the host */
    bool (*goes_on)(
        /* called several times per second; returning false cancels connecting. NULL = never
         * cancelled */
        void *ctx);
    void *ctx;
};

/* Connects. Returns NULL with `error`: TTR_E_IO if no address accepts the connection, TTR_AGAIN if
 * goes_on cancelled it. */
struct socket *socket_connect(const struct alloc *alloc, const struct socket_target *target,
                              ttr_error *error);

/* Creates a socket from a connected descriptor and owns it, even on failure. Returns NULL with
 * `error` on failure. */
struct socket *socket_adopt(const struct alloc *alloc, int fd, ttr_error *error);

/* Sends up to n bytes. Returns the count, 0 if the send buffer is full, -1 with `error` if the
 * connection is lost. */
int64_t socket_send(struct socket *socket, const void *bytes, size_t n, ttr_error *error);

/* Receives up to n >= 1 bytes. Returns the count, 0 if none are available, -1 with `error` if the
 * connection is lost or closed by the peer. */
int64_t socket_receive(struct socket *socket, void *to, size_t n, ttr_error *error);

/* Waits until bytes can be received, or sent if `to_send`, for at most `limit_ms`. Returns false at
 * the time limit or after a signal. */
bool socket_wait(const struct socket *socket, bool to_send, unsigned limit_ms);

/* Returns milliseconds of the monotonic clock, for time limits. */
uint64_t socket_now_ms(void);

/* Closes and frees the socket. NULL is allowed. */
void socket_close(struct socket *socket);

#endif
