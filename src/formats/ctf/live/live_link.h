/* One connection to a relay daemon: requests on their way out, answers on their way in, and the
 * limit for both.
 *
 * A daemon must move things: where it is waited for and less than LIVE_PACE bytes have come within
 * the limit, the connection counts as lost, however it drips.  Time in which nobody looked (the
 * reader's user was busy, or was stopped) is not the daemon's.  Thread rule: one thread at a time.
 */
#ifndef TRACETTA_FORMATS_CTF_LIVE_LIVE_LINK_H
#define TRACETTA_FORMATS_CTF_LIVE_LIVE_LINK_H

#include "base/buffer.h"
#include "base/cursor.h"
#include "io/socket.h"

#define LIVE_PACE 4096u
#define LIVE_IN_BYTES \
    65536u /* at hand at once: more than any part of an answer that is taken as a whole */

struct live_link {
    struct socket *socket; /* NULL = there is no connection */
    struct buffer out;     /* requests; the first `sent` bytes are gone */
    size_t sent;
    struct buffer in; /* answers; the first `used` bytes are taken */
    size_t used;
    uint64_t received; /* bytes of this connection so far */
    unsigned limit_ms;
    uint64_t deadline; /* 0 = nothing is waited for */
    uint64_t paced;    /* `received` when the deadline was set */
    uint64_t looked;   /* when it was last asked to move */
};

/* Makes a link without a connection. */
void live_link_init(struct live_link *link, const struct alloc *alloc, unsigned limit_ms);

/* Takes a connection over; what was on its way with the one before is forgotten. */
void live_link_begin(struct live_link *link, struct socket *socket);

/* Sends and receives what can go without waiting.  TTR_OK: something moved; TTR_AGAIN: nothing did;
 * else the connection is lost. `is_waiting`: an answer is due. */
TTR_MUST ttr_status live_link_move(struct live_link *link, bool is_waiting, ttr_error *error);

/* The bytes at hand, and how many of them were taken. */
struct cursor live_link_look(const struct live_link *link);
void live_link_take(struct live_link *link, size_t n);

/* Closes the connection; the link can begin another. */
void live_link_end(struct live_link *link);
void live_link_free(struct live_link *link);

#endif
