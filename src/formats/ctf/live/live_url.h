/* Where live traces are: net://HOST[:PORT]/host/HOSTNAME/SESSION, as lttng and babeltrace2 write
 * it.
 *
 * HOST is the relay daemon's (a name, an IPv4 address, or an IPv6 address in brackets), HOSTNAME
 * that of the traced machine.  net4 and net6 ask for one of the two families.  Without the path the
 * URL means the daemon itself.  Plain data. */
#ifndef TRACETTA_FORMATS_CTF_LIVE_LIVE_URL_H
#define TRACETTA_FORMATS_CTF_LIVE_LIVE_URL_H

#include <tracetta/event.h>

#include "io/socket.h"

#define LIVE_URL_PART 256u

struct live_url {
    enum socket_family family;
    uint16_t port;
    bool has_session;
    char daemon[LIVE_URL_PART]; /* HOST */
    char host[LIVE_URL_PART];   /* HOSTNAME */
    char session[LIVE_URL_PART];
};

/* Takes a URL apart; TTR_E_MISUSE with what is wrong. */
TTR_MUST ttr_status live_url_parse(const char *text, struct live_url *url, ttr_error *error);

/* Writes the URL of the daemon alone: cut to `size`. */
void live_url_of_daemon(const struct live_url *url, char *to, size_t size);

/* Writes the URL of a session of the daemon: cut to `size`. */
void live_url_of_session(const struct live_url *daemon, ttr_text host, ttr_text session, char *to,
                         size_t size);

#endif
