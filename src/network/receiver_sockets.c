/* Sockets of a receiver: listening, accepting, and one round of polling.
 *
 * Datagrams are read until the socket is empty, at most DATAGRAMS_MAX per round. A connection is
 * read by one piece per round, so that a fast sender does not starve the others. */
#include "network/receiver.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/status.h"
#include "io/socket.h"

#define DATAGRAM_MAX 65536u
#define DATAGRAMS_MAX 512u
/* Bytes of the kernel's buffer for datagrams. The kernel reduces them to its limit, rmem_max,
 * unless the process may exceed it. */
#define RECEIVE_BUFFER (8 << 20)
#define BACKLOG 64
/* Seconds of silence after which the peer is probed, between two probes, and number of probes. A
 * peer without data answers a probe each second, so that remote.c notices its end.
 */
#define KEEPALIVE_IDLE 1
#define KEEPALIVE_INTERVAL 1
#define KEEPALIVE_PROBES 10

static int set_socket_option(int fd, int level, int option, int value)
{
    return setsockopt(fd, level, option, &value, sizeof value);
}

/* Removes a socket that no process listens on. Any other file stays, and bind then fails. */
static void remove_stale_socket(const struct address *address)
{
    struct sockaddr_un name;
    memcpy(&name, &address->name, sizeof name);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&name, sizeof name) != 0 && errno == ECONNREFUSED)
        (void)unlink(name.sun_path);
    if (fd >= 0)
        (void)close(fd);
}

ttr_status listener_open(struct listener *listener, const char *text, ttr_error *error)
{
    struct address *address = &listener->address;
    listener->fd = -1;
    ttr_status status = address_parse(text, address, error);
    if (status != TTR_OK)
        return status;
    bool is_udp = address->transport == TRANSPORT_UDP;
    int fd = socket(address->name.ss_family,
                    (is_udp ? SOCK_DGRAM : SOCK_STREAM) | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return fail_sys(error, errno, NO_OFFSET, "cannot open a socket for %s", text);
    if (address->transport == TRANSPORT_UNIX)
        remove_stale_socket(address);
    else if (!is_udp)
        (void)set_socket_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (is_udp && set_socket_option(fd, SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BUFFER) != 0)
        (void)set_socket_option(fd, SOL_SOCKET, SO_RCVBUF, RECEIVE_BUFFER);
    if (is_udp)
        (void)set_socket_option(fd, SOL_SOCKET, SO_RXQ_OVFL, 1);
    if (bind(fd, (struct sockaddr *)&address->name, address->name_n) != 0 ||
        (!is_udp && listen(fd, BACKLOG) != 0)) {
        int reason = errno;
        (void)close(fd);
        return fail_sys(error, reason, NO_OFFSET, "cannot listen on %s", text);
    }
    listener->fd = fd;
    if (address->transport != TRANSPORT_UNIX) /* the kernel may have chosen the port */
        (void)getsockname(fd, (struct sockaddr *)&address->name, &address->name_n);
    address_print(address, listener->text);
    return TTR_OK;
}

/* Adds the datagrams that the kernel has dropped since the last call. */
static void count_overflow(struct ttr_receiver *receiver, struct listener *listener,
                           struct msghdr *message)
{
    for (struct cmsghdr *at = CMSG_FIRSTHDR(message); at; at = CMSG_NXTHDR(message, at)) {
        uint32_t count;
        if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SO_RXQ_OVFL)
            continue;
        memcpy(&count, CMSG_DATA(at), sizeof count);
        receiver->ended.kernel_drops += count - listener->overflow;
        listener->overflow = count;
    }
}

static void receive_datagrams(struct ttr_receiver *receiver, struct listener *listener)
{
    for (unsigned i = 0; i < DATAGRAMS_MAX; i++) {
        struct address peer = {.transport = TRANSPORT_UDP};
        char control[CMSG_SPACE(sizeof(uint32_t))];
        struct iovec part = {receiver->datagram, DATAGRAM_MAX};
        struct msghdr message = {.msg_name = &peer.name,
                                 .msg_namelen = sizeof peer.name,
                                 .msg_iov = &part,
                                 .msg_iovlen = 1,
                                 .msg_control = control,
                                 .msg_controllen = sizeof control};
        ssize_t n = recvmsg(listener->fd, &message, 0);
        if (n < 0 && errno != EINTR)
            return;
        if (n < 0)
            continue;
        peer.name_n = message.msg_namelen;
        count_overflow(receiver, listener, &message);
        remote_accept_datagram(receiver, &peer, receiver->datagram, (size_t)n);
    }
}

static void accept_connections(struct ttr_receiver *receiver, const struct listener *listener)
{
    for (int i = 0; i < BACKLOG; i++) {
        struct address peer = {.transport = listener->address.transport};
        peer.name_n = sizeof peer.name;
        int fd = accept4(listener->fd, (struct sockaddr *)&peer.name, &peer.name_n,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            return;
        if (peer.transport == TRANSPORT_UNIX) {
            peer = listener->address; /* the peer of a Unix socket has no address */
        } else {
            (void)set_socket_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
            (void)set_socket_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE);
            (void)set_socket_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL);
            (void)set_socket_option(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES);
        }
        if (!remote_new(receiver, &peer, fd))
            (void)close(fd);
    }
}

static void receive_bytes(struct remote *remote)
{
    ttr_error error = {0};
    uint8_t *room = packet_framer_room(&remote->framer, RECEIVER_PIECE);
    if (!room) {
        receiver_fail(remote->receiver, fail_memory(&error), &error);
        return;
    }
    ssize_t n = recv(remote->fd, room, RECEIVER_PIECE, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        remote_end_connection(remote);
        return;
    }
    packet_framer_commit(&remote->framer, (size_t)n);
    (void)remote_accept_bytes(remote);
}

/* Returns true if each source of datagrams has room in its queue, or may drop packets. One socket
 * receives the datagrams of all sources, so one full queue stops them all. */
static bool can_receive_datagrams(const struct ttr_receiver *receiver)
{
    for (size_t i = 0; i < receiver->sources_n; i++)
        if (!receiver->sources[i]->is_stream && !remote_has_room(receiver->sources[i]))
            return false;
    return true;
}

/* Fills the list of descriptors: listeners, then sources, then the output and the wake descriptor.
 */
static nfds_t list_descriptors(const struct ttr_receiver *receiver, struct pollfd *list)
{
    nfds_t n = 0;
    bool has_queue = receiver->partial.n > 0, has_room = can_receive_datagrams(receiver);
    for (size_t i = 0; i < receiver->listeners_n; i++) {
        const struct listener *listener = &receiver->listeners[i];
        bool is_on = listener->address.transport != TRANSPORT_UDP || has_room;
        list[n++] = (struct pollfd){.fd = is_on ? listener->fd : -1, .events = POLLIN};
    }
    for (size_t i = 0; i < receiver->sources_n; i++) {
        const struct remote *remote = receiver->sources[i];
        has_queue |= remote->has_begun && remote->queue.n > remote->queue_at;
        list[n++] = (struct pollfd){
            .fd = !remote->is_ended && remote_has_room(remote) ? remote->fd : -1, .events = POLLIN};
    }
    list[n++] = (struct pollfd){
        .fd = !receiver->folder && has_queue ? receiver->options.output : -1, .events = POLLOUT};
    list[n++] = (struct pollfd){.fd = receiver->options.wake_fd, .events = POLLIN};
    return n;
}

void receiver_poll(struct ttr_receiver *receiver, unsigned limit_ms)
{
    ttr_error error = {0};
    const size_t sources_n = receiver->sources_n;
    const size_t room = receiver->listeners_n + sources_n + 2;
    struct pollfd *list = alloc_zero(&receiver->alloc, room, sizeof *list);
    if (!list) {
        receiver_fail(receiver, fail_memory(&error), &error);
        return;
    }
    nfds_t n = list_descriptors(receiver, list);
    int ready = poll(list, n, limit_ms < INT32_MAX ? (int)limit_ms : INT32_MAX);
    for (size_t i = 0; ready > 0 && i < sources_n; i++) {
        const struct pollfd *about = &list[receiver->listeners_n + i];
        struct remote *remote = receiver->sources[i];
        if (about->revents && remote->fd == about->fd)
            receive_bytes(remote);
    }
    for (size_t i = 0; ready > 0 && i < receiver->listeners_n; i++) {
        struct listener *listener = &receiver->listeners[i];
        if (list[i].revents && listener->address.transport == TRANSPORT_UDP)
            receive_datagrams(receiver, listener);
        else if (list[i].revents)
            accept_connections(receiver, listener);
    }
    alloc_free(&receiver->alloc, list, room, sizeof *list);
}
