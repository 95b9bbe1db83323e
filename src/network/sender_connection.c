/* The connection of a sender: datagrams, and bytes of a TCP connection or a Unix socket.
 *
 * A connection that fails is made again; then the head and the last RESEND_BYTES are repeated,
 * since it is not known what has arrived. Receivers discard what they have.
 *
 * A TCP peer is lost if it acknowledges nothing for PEER_LIMIT_MS while data or probes of a full
 * window are repeated. TCP_USER_TIMEOUT does not suit: it also ends connections of a peer that
 * answers each probe, but waits, for a full queue or a slow disk. */
#include "network/sender.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/status.h"
#include "io/socket.h"

#define RESEND_BYTES ((size_t)4 << 20)
#define RETRY_MS 200u
#define PEER_LIMIT_MS 10000u
#define PEER_CHECK_MS 500u /* interval between two checks of the peer */
#define FAILURES_MAX 10u   /* connections that may fail while the last bytes are repeated */
#define ARRIVAL_PAUSE_MS 5 /* pause between two checks of the bytes that wait */

bool sender_should_continue(const struct ttr_sender *sender)
{
    return !sender->options.goes_on || sender->options.goes_on(sender->options.user_data);
}

ttr_status sender_fail_cancelled(ttr_error *error)
{
    return fail(error, TTR_AGAIN, NO_OFFSET, "sending was cancelled");
}

/* Remembers the local port of a connection; the oldest one is replaced. */
static void note_port(struct ttr_sender *sender)
{
    struct address local = {.name_n = sizeof local.name};
    if (getsockname(sender->fd, (struct sockaddr *)&local.name, &local.name_n) != 0)
        return;
    if (sender->ports_n == SENDER_PORTS_MAX)
        memmove(sender->ports, sender->ports + 1, --sender->ports_n * sizeof *sender->ports);
    sender->ports[sender->ports_n++] = address_port(&local);
}

/* Tries once to connect. Returns the descriptor, or -1 with errno. */
static int try_connect(const struct ttr_sender *sender)
{
    const struct address *to = &sender->address;
    bool is_udp = to->transport == TRANSPORT_UDP;
    int fd = socket(to->name.ss_family,
                    (is_udp ? SOCK_DGRAM : SOCK_STREAM) | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    int failed = connect(fd, (const struct sockaddr *)&to->name, to->name_n) == 0 ? 0 : errno;
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    socklen_t size = sizeof failed;
    for (unsigned i = 0; failed == EINPROGRESS && i < 50 && sender_should_continue(sender); i++)
        if (poll(&wait, 1, (int)SENDER_SLICE_MS) > 0 &&
            getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &size) != 0)
            failed = errno;
    if (!failed)
        return fd;
    (void)close(fd);
    errno = failed;
    return -1;
}

/* Connects, again and again for reconnect_ms if the peer does not answer. */
ttr_status sender_connect(struct ttr_sender *sender, ttr_error *error)
{
    const uint64_t end_ms = socket_now_ms() + sender->options.reconnect_ms;
    while ((sender->fd = try_connect(sender)) < 0) {
        int reason = errno;
        if (!sender_should_continue(sender))
            return sender_fail_cancelled(error);
        if (socket_now_ms() >= end_ms)
            return fail_sys(error, reason, NO_OFFSET, "cannot connect to %s%s", sender->text,
                            reason == ECONNREFUSED || reason == ENOENT
                                ? " (is the receiver running, and is that its address?)"
                                : "");
        (void)poll(NULL, 0, (int)RETRY_MS);
    }
    if (sender->address.transport == TRANSPORT_TCP)
        note_port(sender);
    return TTR_OK;
}

/* Returns true if the peer of a TCP connection acknowledges nothing, although data or probes of its
 * full window are repeated. Asks the kernel at most every PEER_CHECK_MS. */
static bool is_peer_lost(struct ttr_sender *sender)
{
    const uint64_t now_ms = socket_now_ms();
    struct tcp_info about = {0};
    socklen_t size = sizeof about;
    if (sender->address.transport != TRANSPORT_TCP || now_ms - sender->checked_ms < PEER_CHECK_MS)
        return false;
    sender->checked_ms = now_ms;
    if (getsockopt(sender->fd, IPPROTO_TCP, TCP_INFO, &about, &size) != 0)
        return false;
    /* the first repetition or probe may not be answered yet */
    const bool is_repeating = about.tcpi_retransmits > 1 || about.tcpi_probes > 1;
    return is_repeating && about.tcpi_last_ack_recv > PEER_LIMIT_MS;
}

/* Sends bytes over the connection. Returns false with errno if the connection failed, or if sending
 * was cancelled. */
static bool send_bytes(struct ttr_sender *sender, const uint8_t *bytes, size_t n)
{
    while (n > 0 && sender_should_continue(sender)) {
        struct pollfd wait = {.fd = sender->fd, .events = POLLOUT};
        if (is_peer_lost(sender)) {
            errno = ETIMEDOUT;
            return false;
        }
        ssize_t sent = send(sender->fd, bytes, n, MSG_NOSIGNAL);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) {
            (void)poll(&wait, 1, (int)SENDER_SLICE_MS);
            continue;
        }
        if (sent < 0)
            return false;
        bytes += sent;
        n -= (size_t)sent;
    }
    return n == 0;
}

/* Keeps complete packets for a repetition, at most RESEND_BYTES of the last ones. */
static void keep_packets_to_resend(struct ttr_sender *sender, const struct buffer *batch)
{
    struct buffer *resend = &sender->resend;
    size_t dropped = 0;
    while (resend->n - dropped + batch->n > RESEND_BYTES && dropped < resend->n)
        dropped += (size_t)sender->transfer->get_size(resend->bytes + dropped, SENDER_PACKET_MAX);
    if (dropped) {
        memmove(resend->bytes, resend->bytes + dropped, resend->n - dropped);
        resend->n -= dropped;
    }
    buffer_add(resend, batch->bytes, batch->n);
}

/* Sends the ports of the earlier connections. Returns false like send_bytes. */
static bool send_ports(struct ttr_sender *sender)
{
    struct buffer packet;
    if (!sender->transfer->write_ports || sender->ports_n < 2)
        return true;
    buffer_init(&packet, &sender->alloc);
    sender->transfer->write_ports(&packet, sender->ports, sender->ports_n - 1);
    const bool is_sent = send_bytes(sender, packet.bytes, packet.n);
    buffer_free(&packet);
    return is_sent;
}

static ttr_status fail_closed_each(const struct ttr_sender *sender, ttr_error *error)
{
    return fail(error, TTR_E_IO, NO_OFFSET, "%s: the receiver closes each connection",
                sender->text);
}

/* Connects again and repeats the head and the last packets. Gives up after pauses of reconnect_ms
 * if each connection fails. */
static ttr_status resume_sending(struct ttr_sender *sender, ttr_error *error)
{
    for (uint64_t waited_ms = 0;; waited_ms += RETRY_MS) {
        (void)close(sender->fd);
        sender->fd = -1;
        if (!sender_should_continue(sender))
            return sender_fail_cancelled(error);
        ttr_status status = sender_connect(sender, error);
        if (status != TTR_OK)
            return status;
        sender->sent.reconnections++;
        if (send_ports(sender) && send_bytes(sender, sender->head.bytes, sender->head.n) &&
            send_bytes(sender, sender->resend.bytes, sender->resend.n))
            return TTR_OK;
        if (waited_ms > sender->options.reconnect_ms)
            return fail_closed_each(sender, error);
        (void)poll(NULL, 0, (int)RETRY_MS);
    }
}

/* Continues after the connection failed for a reason of errno. */
static ttr_status recover_connection(struct ttr_sender *sender, int reason, ttr_error *error)
{
    if (!sender_should_continue(sender))
        return sender_fail_cancelled(error);
    if (!sender->transfer)
        return fail_sys(error, reason, NO_OFFSET,
                        "%s: the connection is lost; a trace of %s cannot be continued",
                        sender->text, sender->format->name);
    return resume_sending(sender, error);
}

ttr_status sender_send_stream(struct ttr_sender *sender, ttr_error *error)
{
    const struct buffer *batch = &sender->batch;
    if (sender->transfer)
        keep_packets_to_resend(sender, batch);
    if (sender->resend.failed)
        return fail_memory(error);
    if (send_bytes(sender, batch->bytes, batch->n))
        return TTR_OK;
    return recover_connection(sender, errno, error);
}

/* Returns the number of bytes that the peer of a TCP connection has not acknowledged. Returns -1
 * with errno if the connection failed. */
static int count_waiting_bytes(struct ttr_sender *sender)
{
    int bytes = 0, failed = 0;
    socklen_t size = sizeof failed;
    struct pollfd state = {.fd = sender->fd};
    (void)poll(&state, 1, 0);
    const bool has_failed = state.revents & (POLLERR | POLLHUP);
    if (!has_failed && ioctl(sender->fd, SIOCOUTQ, &bytes) == 0 && !is_peer_lost(sender))
        return bytes;
    (void)getsockopt(sender->fd, SOL_SOCKET, SO_ERROR, &failed, &size);
    errno = failed ? failed : ETIMEDOUT;
    return -1;
}

ttr_status sender_await_arrival(struct ttr_sender *sender, ttr_error *error)
{
    ttr_status status = TTR_OK;
    int left = 1;
    unsigned failures = 0;
    if (sender->address.transport != TRANSPORT_TCP || sender->fd < 0)
        return TTR_OK;
    while (status == TTR_OK && (left = count_waiting_bytes(sender)) != 0) {
        if (left < 0 && ++failures > FAILURES_MAX)
            status = fail_closed_each(sender, error);
        else if (left < 0)
            status = recover_connection(sender, errno, error);
        else if (!sender_should_continue(sender))
            status = sender_fail_cancelled(error);
        else
            (void)poll(NULL, 0, failures ? (int)RETRY_MS : ARRIVAL_PAUSE_MS);
    }
    return status;
}

ttr_status sender_send_datagram(struct ttr_sender *sender, ttr_error *error)
{
    const struct buffer *batch = &sender->batch;
    struct pollfd wait = {.fd = sender->fd, .events = POLLOUT};
    while (sender_should_continue(sender)) {
        ssize_t n = send(sender->fd, batch->bytes, batch->n, MSG_NOSIGNAL);
        sender->sent.datagrams += n >= 0;
        if (n >= 0)
            return TTR_OK;
        if (errno == ECONNREFUSED) { /* an earlier datagram met no receiver; this one may */
            sender->sent.refused++;
            continue;
        }
        if (errno == EHOSTUNREACH || errno == ENETUNREACH || errno == ENETDOWN) {
            sender->sent.refused++; /* the network may recover: count the datagram as refused */
            return TTR_OK;
        }
        if (errno != EAGAIN && errno != EINTR && errno != ENOBUFS)
            return fail_sys(error, errno, NO_OFFSET, "cannot send to %s", sender->text);
        (void)poll(&wait, 1, 1);
    }
    return sender_fail_cancelled(error);
}
