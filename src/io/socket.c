/* TCP connections on non-blocking descriptors. */
#include "io/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/status.h"

enum { POLL_INTERVAL_MS = 100 }; /* interval between calls of goes_on, in ms */

struct socket {
    const struct alloc *alloc;
    int fd;
};

uint64_t socket_now_ms(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static bool poll_descriptor(int fd, bool to_send, unsigned limit_ms)
{
    struct pollfd wait = {.fd = fd, .events = to_send ? POLLOUT : POLLIN};
    return poll(&wait, 1, (int)(limit_ms < INT32_MAX ? limit_ms : INT32_MAX)) > 0;
}

struct socket *socket_adopt(const struct alloc *alloc, int fd, ttr_error *error)
{
    struct socket *socket = alloc_zero(alloc, 1, sizeof *socket);
    int flags = fcntl(fd, F_GETFL);
    if (!socket) {
        (void)close(fd);
        (void)fail_memory(error);
        return NULL;
    }
    *socket = (struct socket){alloc, fd};
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) {
        (void)fail_sys(error, errno, NO_OFFSET, "cannot use descriptor %d as a connection", fd);
        socket_close(socket);
        return NULL;
    }
    /* Each small request waits for its reply, so Nagle's algorithm would delay the requests. The
     * call fails harmlessly if the connection is not TCP. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    return socket;
}

/* Waits until a pending connect has finished. Returns 0 or the errno of its failure, ECANCELED if
 * goes_on returned false, ETIMEDOUT at the deadline. */
static int await_connection(int fd, const struct socket_target *target, uint64_t deadline)
{
    for (;;) {
        uint64_t now = socket_now_ms();
        if (target->goes_on && !target->goes_on(target->ctx))
            return ECANCELED;
        if (now >= deadline)
            return ETIMEDOUT;
        if (poll_descriptor(fd, true,
                            deadline - now < POLL_INTERVAL_MS ? (unsigned)(deadline - now)
                                                              : POLL_INTERVAL_MS))
            break;
    }
    int failed = 0;
    socklen_t size = sizeof failed;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &size) == 0 ? failed : errno;
}

/* Connects to one address of the host. Returns the descriptor, or -1 with errno. */
static int connect_address(const struct addrinfo *address, const struct socket_target *target,
                           uint64_t deadline)
{
    int fd = socket(address->ai_family, address->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
                    address->ai_protocol);
    if (fd < 0)
        return -1;
    int failed = connect(fd, address->ai_addr, address->ai_addrlen) == 0 ? 0 : errno;
    if (failed == EINPROGRESS || failed == EINTR)
        failed = await_connection(fd, target, deadline);
    if (!failed)
        return fd;
    (void)close(fd);
    errno = failed;
    return -1;
}

static int resolve_host(const struct socket_target *target, struct addrinfo **list)
{
    static const int families[] = {
        [SOCKET_ANY] = AF_UNSPEC, [SOCKET_IPV4] = AF_INET, [SOCKET_IPV6] = AF_INET6};
    struct addrinfo hints = {.ai_family = families[target->family],
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_NUMERICSERV};
    char port[8];
    (void)snprintf(port, sizeof port, "%u", (unsigned)target->port);
    return getaddrinfo(target->host, port, &hints, list);
}

struct socket *socket_connect(const struct alloc *alloc, const struct socket_target *target,
                              ttr_error *error)
{
    struct addrinfo *list = NULL;
    uint64_t deadline = socket_now_ms() + target->limit_ms;
    int failed = resolve_host(target, &list), fd = -1;
    if (failed) {
        (void)fail(error, TTR_E_IO, NO_OFFSET, "cannot find the host %s: %s (is the name right?)",
                   target->host, gai_strerror(failed));
        return NULL;
    }
    errno = 0;
    for (const struct addrinfo *at = list; at && fd < 0 && errno != ECANCELED; at = at->ai_next)
        fd = connect_address(at, target, deadline);
    int reason = errno;
    freeaddrinfo(list);
    if (fd >= 0)
        return socket_adopt(alloc, fd, error);
    if (reason == ECANCELED)
        (void)fail(error, TTR_AGAIN, NO_OFFSET, "connecting to %s:%u was cancelled", target->host,
                   (unsigned)target->port);
    else
        (void)fail_sys(error, reason, NO_OFFSET, "cannot connect to %s:%u%s", target->host,
                       (unsigned)target->port,
                       reason == ECONNREFUSED ? " (is the daemon running, and is that its port?)"
                                              : "");
    return NULL;
}

int64_t socket_send(struct socket *socket, const void *bytes, size_t n, ttr_error *error)
{
    ssize_t sent;
    do
        sent = send(socket->fd, bytes, n, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent >= 0 || errno == EAGAIN || errno == EWOULDBLOCK)
        return sent >= 0 ? sent : 0;
    (void)fail_sys(error, errno, NO_OFFSET, "the connection is lost");
    return -1;
}

int64_t socket_receive(struct socket *socket, void *to, size_t n, ttr_error *error)
{
    ssize_t got;
    int reason;
    do
        got = recv(socket->fd, to, n, 0);
    while (got < 0 && errno == EINTR);
    /* The kernel may delay the acknowledgement by 40 ms. A peer with Nagle's algorithm would send
     * its second small reply only after that, so acknowledge at once. */
    reason = errno;
    (void)setsockopt(socket->fd, IPPROTO_TCP, TCP_QUICKACK, &(int){1}, sizeof(int));
    if (got > 0)
        return got;
    if (got < 0 && (reason == EAGAIN || reason == EWOULDBLOCK))
        return 0;
    if (got == 0)
        (void)fail(error, TTR_E_IO, NO_OFFSET, "the peer closed the connection");
    else
        (void)fail_sys(error, reason, NO_OFFSET, "the connection is lost");
    return -1;
}

bool socket_wait(const struct socket *socket, bool to_send, unsigned limit_ms)
{
    return poll_descriptor(socket->fd, to_send, limit_ms);
}

void socket_close(struct socket *socket)
{
    if (!socket)
        return;
    (void)close(socket->fd);
    alloc_free(socket->alloc, socket, 1, sizeof *socket);
}
