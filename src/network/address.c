/* Parser and printer of network addresses. */
#include "network/address.h"

#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "base/status.h"

static ttr_status fail_address(const char *text, ttr_error *error)
{
    return fail(error, TTR_E_MISUSE, NO_OFFSET,
                "\"%s\" is not an address: expected udp:HOST:PORT, tcp:HOST:PORT or unix:PATH, "
                "such as udp:127.0.0.1:7000",
                text);
}

static ttr_status parse_unix_path(const char *path, struct address *address, ttr_error *error)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    size_t n = strlen(path);
    if (n == 0 || n >= sizeof name.sun_path)
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "a path of a Unix socket has 1 to %zu bytes; this one has %zu",
                    sizeof name.sun_path - 1, n);
    memcpy(name.sun_path, path, n);
    memcpy(&address->name, &name, sizeof name);
    address->name_n = (socklen_t)sizeof name;
    return TTR_OK;
}

/* Splits "HOST:PORT" into its parts. Returns false if it has no port or an overlong host. */
static bool split_host(const char *text, char *host, size_t host_size, const char **port)
{
    const char *colon = strrchr(text, ':');
    size_t n = colon ? (size_t)(colon - text) : 0;
    bool is_bracketed = n >= 2 && text[0] == '[' && text[n - 1] == ']';
    if (is_bracketed) {
        text++;
        n -= 2;
    }
    if (!colon || !colon[1] || n >= host_size || (!is_bracketed && memchr(text, ':', n)))
        return false;
    memcpy(host, text, n);
    host[n] = '\0';
    *port = colon + 1;
    return true;
}

ttr_status address_parse(const char *text, struct address *address, ttr_error *error)
{
    char host[128];
    const char *port;
    *address = (struct address){.transport = TRANSPORT_UDP};
    if (strncmp(text, "unix:", 5) == 0) {
        address->transport = TRANSPORT_UNIX;
        return parse_unix_path(text + 5, address, error);
    }
    if (strncmp(text, "tcp:", 4) == 0)
        address->transport = TRANSPORT_TCP;
    else if (strncmp(text, "udp:", 4) != 0)
        return fail_address(text, error);
    if (!split_host(text + 4, host, sizeof host, &port))
        return fail_address(text, error);
    struct addrinfo *list = NULL;
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_flags = AI_NUMERICSERV};
    hints.ai_socktype = address->transport == TRANSPORT_TCP ? SOCK_STREAM : SOCK_DGRAM;
    int failed = getaddrinfo(host[0] ? host : "127.0.0.1", port, &hints, &list);
    if (failed == EAI_NONAME && strspn(port, "0123456789") != strlen(port))
        return fail_address(text, error);
    if (failed)
        return fail(error, TTR_E_IO, NO_OFFSET, "cannot find the host of \"%s\": %s", text,
                    gai_strerror(failed));
    memcpy(&address->name, list->ai_addr, list->ai_addrlen);
    address->name_n = list->ai_addrlen;
    freeaddrinfo(list);
    return TTR_OK;
}

void address_print(const struct address *address, char *to)
{
    char host[64] = "", port[8] = "";
    if (address->transport == TRANSPORT_UNIX) {
        struct sockaddr_un name;
        memcpy(&name, &address->name, sizeof name);
        (void)snprintf(to, ADDRESS_TEXT_MAX, "unix:%.108s",
                       address->name_n > offsetof(struct sockaddr_un, sun_path) ? name.sun_path
                                                                                : "");
        return;
    }
    (void)getnameinfo((const struct sockaddr *)&address->name, address->name_n, host, sizeof host,
                      port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV | NI_DGRAM);
    bool is_ipv6 = address->name.ss_family == AF_INET6;
    (void)snprintf(to, ADDRESS_TEXT_MAX, "%s:%s%s%s:%s",
                   address->transport == TRANSPORT_TCP ? "tcp" : "udp", is_ipv6 ? "[" : "", host,
                   is_ipv6 ? "]" : "", port);
}

uint16_t address_port(const struct address *address)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    memcpy(&v4, &address->name, sizeof v4);
    memcpy(&v6, &address->name, sizeof v6);
    return address->name.ss_family == AF_INET    ? ntohs(v4.sin_port)
           : address->name.ss_family == AF_INET6 ? ntohs(v6.sin6_port)
                                                 : 0;
}

bool address_has_same_host(const struct address *a, const struct address *b)
{
    if (a->transport != b->transport || a->name.ss_family != b->name.ss_family)
        return false;
    if (a->name.ss_family == AF_INET) {
        struct sockaddr_in one, two;
        memcpy(&one, &a->name, sizeof one);
        memcpy(&two, &b->name, sizeof two);
        return one.sin_addr.s_addr == two.sin_addr.s_addr;
    }
    if (a->name.ss_family == AF_INET6) {
        struct sockaddr_in6 one, two;
        memcpy(&one, &a->name, sizeof one);
        memcpy(&two, &b->name, sizeof two);
        return memcmp(&one.sin6_addr, &two.sin6_addr, sizeof one.sin6_addr) == 0;
    }
    return true;
}
