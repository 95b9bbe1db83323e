/* Parser and formatter of relay daemon URLs; live_url.h shows their form. */
#include "formats/ctf/live/live_url.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "formats/ctf/live/live_protocol.h"

#define FORM "net://HOST[:PORT]/host/HOSTNAME/SESSION, or net://HOST[:PORT] for a list of sessions"

static ttr_status fail_wrong_url(const char *text, const char *what, ttr_error *error)
{
    return fail(error, TTR_E_MISUSE, NO_OFFSET, "%s: %s; expected " FORM, text, what);
}

/* Copies one part of a URL. Returns false if it is empty or too long. */
static bool copy_url_part(char to[LIVE_URL_PART], const char *from, size_t n)
{
    if (n == 0 || n >= LIVE_URL_PART)
        return false;
    memcpy(to, from, n);
    to[n] = '\0';
    return true;
}

/* Parses HOST or [HOST] and advances *at to its end. */
static bool parse_daemon_host(struct live_url *url, const char **at)
{
    bool is_bracketed = **at == '[';
    const char *from = *at + is_bracketed;
    size_t n = strcspn(from, is_bracketed ? "]" : ":/");
    if (is_bracketed && from[n] != ']')
        return false;
    *at = from + n + is_bracketed;
    return copy_url_part(url->daemon, from, n);
}

/* Parses an optional :PORT and advances *at to its end. */
static bool parse_daemon_port(struct live_url *url, const char **at)
{
    uint32_t port = 0;
    url->port = LIVE_PORT;
    if (**at != ':')
        return true;
    const char *digit = *at + 1;
    for (; *digit >= '0' && *digit <= '9' && port <= UINT16_MAX; digit++)
        port = port * 10 + (uint32_t)(*digit - '0');
    *at = digit;
    url->port = (uint16_t)port;
    return port > 0 && port <= UINT16_MAX;
}

ttr_status live_parse_url(const char *text, struct live_url *url, ttr_error *error)
{
    static const char host[] = "/host/";
    *url = (struct live_url){.family = strncmp(text, "net4:", 5) == 0   ? SOCKET_IPV4
                                       : strncmp(text, "net6:", 5) == 0 ? SOCKET_IPV6
                                                                        : SOCKET_ANY};
    const char *at = strstr(text, "://");
    if (!at)
        return fail_wrong_url(text, "no URL", error);
    at += 3;
    if (!parse_daemon_host(url, &at))
        return fail_wrong_url(text, "the host is missing or too long", error);
    if (!parse_daemon_port(url, &at))
        return fail_wrong_url(text, "the port is none: it is a number from 1 to 65535", error);
    if (!*at || strcmp(at, "/") == 0)
        return TTR_OK;
    if (strncmp(at, host, sizeof host - 1) != 0)
        return fail_wrong_url(text, "the path does not begin with /host/", error);
    at += sizeof host - 1;
    size_t n = strcspn(at, "/");
    if (!copy_url_part(url->host, at, n))
        return fail_wrong_url(text, "the traced host is missing or too long", error);
    at += n + (at[n] == '/');
    if (!copy_url_part(url->session, at, strlen(at)) || strchr(at, '/'))
        return fail_wrong_url(text, "the session is missing, too long, or no name", error);
    url->has_session = true;
    return TTR_OK;
}

void live_format_daemon_url(const struct live_url *url, char *to, size_t size)
{
    const char *scheme = url->family == SOCKET_IPV4   ? "net4"
                         : url->family == SOCKET_IPV6 ? "net6"
                                                      : "net";
    bool has_colon = strchr(url->daemon, ':') != NULL;
    char port[8] = "";
    if (url->port != LIVE_PORT)
        (void)snprintf(port, sizeof port, ":%u", (unsigned)url->port);
    (void)snprintf(to, size, "%s://%s%s%s%s", scheme, has_colon ? "[" : "", url->daemon,
                   has_colon ? "]" : "", port);
}

void live_format_session_url(const struct live_url *daemon, ttr_text host, ttr_text session,
                             char *to, size_t size)
{
    char url[LIVE_URL_PART + 32];
    live_format_daemon_url(daemon, url, sizeof url);
    (void)snprintf(to, size, "%s/host/%.*s/%.*s", url, (int)host.n, host.p, (int)session.n,
                   session.p);
}
