/* One connection to a relay daemon: a buffer of outgoing requests, a buffer of incoming answers,
 * and a time limit.
 *
 * If an answer is due and fewer than LIVE_PACE bytes arrive within the limit, the connection counts
 * as lost, even if bytes arrive slowly. Time in which the link was not polled (the reader's user
 * was busy or stopped) does not count. Thread rule: one thread at a time. */
#ifndef TRACETTA_FORMATS_CTF_LIVE_LIVE_LINK_H
#define TRACETTA_FORMATS_CTF_LIVE_LIVE_LINK_H

#include "base/buffer.h"
#include "base/cursor.h"
#include "io/socket.h"

#define LIVE_PACE 4096u
/* limit of received bytes at hand; exceeds every part of an answer that must be complete */
#define LIVE_IN_BYTES 65536u

struct live_link {
    struct socket *socket; /* NULL = not connected */
    struct buffer out;     /* requests; the first `sent` bytes were sent */
    size_t sent;
    struct buffer in; /* answers; the first `used` bytes were consumed */
    size_t used;
    uint64_t received; /* bytes received in this connection */
    unsigned limit_ms;
    uint64_t deadline; /* ms; 0 = no answer is due */
    uint64_t paced;    /* value of `received` when the deadline was set */
    uint64_t looked;   /* ms; time of the last live_link_move */
};

/* Initialises a link without a connection. */
void live_link_init(struct live_link *link, const struct alloc *alloc, unsigned limit_ms);

/* Starts a connection on a socket, which it now owns. Drops all data of the previous connection. */
void live_link_start(struct live_link *link, struct socket *socket);

/* Sends and receives without waiting. Returns TTR_OK if bytes were moved, TTR_AGAIN if not, else
 * the connection is lost. `is_waiting`: an answer is due. */
TTR_MUST ttr_status live_link_move(struct live_link *link, bool is_waiting, ttr_error *error);

/* Return the received bytes, and consume n of them. */
struct cursor live_link_received(const struct live_link *link);
void live_link_consume(struct live_link *link, size_t n);

/* Closes the connection. The link can be used again. */
void live_link_close(struct live_link *link);
void live_link_free(struct live_link *link);

#endif
