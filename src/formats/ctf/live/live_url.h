/* URLs of live traces: net://HOST[:PORT]/host/HOSTNAME/SESSION, as lttng and babeltrace2 accept
 * them.
 *
 * HOST is the address of the relay daemon: a name, an IPv4 address, or an IPv6 address in brackets.
 * HOSTNAME is the traced machine. The schemes net4 and net6 select one address family. A URL
 * without the path means the daemon itself. Plain data. */
#ifndef TRACETTA_FORMATS_CTF_LIVE_LIVE_URL_H
#define TRACETTA_FORMATS_CTF_LIVE_LIVE_URL_H

#include <tracetta/event.h>

#include "io/socket.h"

#define LIVE_URL_PART 256u

struct live_url {
    enum socket_family family;
    uint16_t port;
    bool has_session;
    char daemon[LIVE_URL_PART]; /* HOST: name or address of the relay daemon */
    char host[LIVE_URL_PART];   /* HOSTNAME: name of the traced machine */
    char session[LIVE_URL_PART];
};

/* Parses a URL. Fails with TTR_E_MISUSE and the reason. */
TTR_MUST ttr_status live_parse_url(const char *text, struct live_url *url, ttr_error *error);

/* Formats the URL of the daemon, truncated to `size`. */
void live_format_daemon_url(const struct live_url *url, char *to, size_t size);

/* Formats the URL of a session of the daemon, truncated to `size`. */
void live_format_session_url(const struct live_url *daemon, ttr_text host, ttr_text session,
                             char *to, size_t size);

#endif
