/* One connection to a relay daemon: a buffer of outgoing requests, a buffer of incoming answers,
 * and a time limit.
 *
 * If an answer is expected and fewer than LIVE_PACE bytes arrive within the limit, the connection
 * counts as lost, even if bytes arrive slowly. Time in which live_link_exchange was not called (the
 * caller was busy or stopped) does not count. Thread rule: one thread at a time. */
#ifndef TRACETTA_FORMATS_CTF_LIVE_LIVE_LINK_H
#define TRACETTA_FORMATS_CTF_LIVE_LIVE_LINK_H

#include "base/buffer.h"
#include "base/cursor.h"
#include "io/socket.h"

#define LIVE_PACE 4096u
/* size of the buffer of received bytes; larger than every part of an answer that must be complete
 */
#define LIVE_IN_BYTES 65536u

struct live_link {
    struct socket *socket; /* socket of the connection; NULL if not connected */
    struct buffer out;     /* encoded requests; the first `sent` bytes were sent */
    size_t sent;
    struct buffer in; /* received answers; the first `used` bytes were consumed */
    size_t used;
    uint64_t received; /* bytes received in this connection */
    unsigned limit_ms;
    /* time in ms by which LIVE_PACE more bytes must arrive; 0 = no answer is expected */
    uint64_t deadline;
    uint64_t paced;  /* number of bytes received when `deadline` was set */
    uint64_t looked; /* time in ms of the last call of live_link_exchange */
};

/* Initializes a link without a connection. */
void live_link_init(struct live_link *link, const struct alloc *alloc, unsigned limit_ms);

/* Starts a connection on a socket; the link owns the socket then. Drops all data of the previous
 * connection. */
void live_link_start(struct live_link *link, struct socket *socket);

/* Sends and receives as many bytes as possible without waiting. Returns TTR_OK if bytes were moved,
 * TTR_AGAIN if not, else an error: the connection is lost. `is_waiting`: an answer is expected. */
TTR_MUST ttr_status live_link_exchange(struct live_link *link, bool is_waiting, ttr_error *error);

/* live_link_received: returns the received bytes that were not consumed. live_link_consume:
 * consumes n of them. */
struct cursor live_link_received(const struct live_link *link);
void live_link_consume(struct live_link *link, size_t n);

/* Closes the connection. The link can be used again. */
void live_link_close(struct live_link *link);
void live_link_free(struct live_link *link);

#endif
