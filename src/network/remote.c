/* One sender: recognises its format, tracks its epoch and the counters of its streams, and queues
 * its packets.
 *
 * A source of datagrams begins with the first valid packet of its peer. If an epoch arrives that
 * differs from the known one, the sender has restarted: the source ends and another one begins. A
 * connection that ends leaves its source for idle_ms, so that the sender can resume it by the same
 * epoch. */
#include "network/receiver.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/endian.h"
#include "base/status.h"
#include "formats/table.h"
#include "io/socket.h"
#include "network/recognise.h"

#define RESUME_BYTES (UINT64_C(8) << 20) /* bytes that a sender may repeat after a reconnection */
#define SESSIONS_MS 60000u               /* time in which restarts of a peer are counted */
#define NO_METADATA "no metadata of its packets arrived: give them as a file, or send them, too"
#define CANNOT_MERGE "a trace of this format cannot be merged into the output: it needs a folder"
#define RESUME_SILENCE_MS 3000u /* silence after which another connection may resume a source */

/* Counts a peer as refused and reports it. */
static void refuse_remote(struct ttr_receiver *receiver, const struct address *address,
                          const char *reason)
{
    char peer[ADDRESS_TEXT_MAX];
    address_print(address, peer);
    const ttr_received received = {
        .size = sizeof received, .peer = peer, .format = "", .path = "", .reason = reason};
    receiver->ended.refused++;
    if (receiver->options.source)
        receiver->options.source(receiver->options.user_data, TTR_SOURCE_REFUSED, &received);
}

struct remote *remote_new(struct ttr_receiver *receiver, const struct address *address, int fd)
{
    const struct alloc *alloc = &receiver->alloc;
    void *list = receiver->sources;
    if (receiver->sources_n >= receiver->options.sources_max) {
        refuse_remote(receiver, address, "as many senders as the limit allows are connected");
        return NULL;
    }
    bool has_room = alloc_reserve(alloc, &list, &receiver->sources_capacity,
                                  receiver->sources_n + 1, sizeof *receiver->sources);
    receiver->sources = list;
    struct remote *remote = has_room ? alloc_zero(alloc, 1, sizeof *remote) : NULL;
    if (!remote) {
        refuse_remote(receiver, address, "out of memory");
        return NULL;
    }
    *remote = (struct remote){.receiver = receiver,
                              .address = *address,
                              .id = receiver->next_id++,
                              .fd = fd,
                              .is_stream = fd >= 0,
                              .begun_ms = socket_now_ms(),
                              .capture.fd = -1,
                              .received.size = sizeof remote->received};
    remote->heard_ms = remote->begun_ms;
    address_print(address, remote->peer);
    remote->received.peer = remote->peer;
    remote->received.path = "";
    remote->received.reason = "";
    remote->is_counted = true;
    buffer_init(&remote->queue, alloc);
    buffer_init(&remote->head, alloc);
    pair_map_init(&remote->stream_index, alloc);
    packet_framer_init(&remote->framer, alloc, NULL, receiver->options.packet_max);
    folder_capture_init(&remote->parts, alloc);
    receiver->sources[receiver->sources_n++] = remote;
    return remote;
}

void remote_free(struct remote *remote)
{
    struct ttr_receiver *receiver = remote->receiver;
    ttr_error error = {0};
    if (remote->fd >= 0)
        (void)close(remote->fd);
    if (remote->bare && !remote->has_begun && !remote->is_blocked)
        refuse_remote(receiver, &remote->address, NO_METADATA);
    if (remote->bare)
        remote->received.garbage += remote->bare->held.n;
    bare_packets_free(remote->bare);
    remote_write_losses(remote);
    ttr_status status = capture_close(&remote->capture, &error);
    if (status != TTR_OK)
        receiver_fail(receiver, status, &error);
    if (remote->has_begun)
        remote_report(remote, TTR_SOURCE_ENDED);
    remote_add_to_totals(remote, &receiver->ended);
    for (size_t i = 0; i < remote->streams_n; i++)
        counter_window_free(&remote->streams[i].window, &receiver->alloc);
    alloc_free(&receiver->alloc, remote->streams, remote->streams_capacity,
               sizeof *remote->streams);
    pair_map_free(&remote->stream_index);
    packet_framer_free(&remote->framer);
    folder_capture_free(&remote->parts);
    buffer_free(&remote->queue);
    buffer_free(&remote->head);
    alloc_free(&receiver->alloc, remote, 1, sizeof *remote);
}

/* --- Packets --- */

bool remote_has_room(const struct remote *remote)
{
    const ttr_receiver_options *options = &remote->receiver->options;
    bool waits = options->policy == TTR_QUEUE_WAIT ||
                 (options->policy == TTR_QUEUE_AUTO && remote->is_stream);
    return !waits || remote->queue.n - remote->queue_at < options->queue_bytes;
}

/* Remembers a packet for the head of the next file. A packet that is already there is not
 * repeated. */
static void keep_first_bytes(struct remote *remote, const uint8_t *bytes, size_t n)
{
    const struct buffer *head = &remote->head;
    for (size_t at = 0; at + n <= head->n; at++)
        if (memcmp(head->bytes + at, bytes, n) == 0)
            return;
    if (head->n + n <= RECEIVER_HEAD_MAX)
        buffer_add(&remote->head, bytes, n);
}

/* Keeps a part of a file that frames send. A part that a limit or another file refuses is garbage,
 * not a packet. */
static void accept_part(struct remote *remote, const struct framed_packet *packet)
{
    struct file_frame frame;
    ttr_error error = {0};
    bool is_refused = true;
    ttr_status status = TTR_OK;
    struct capture *capture = remote->receiver->is_feed ? NULL : &remote->capture;
    if (file_frame_parse(packet->bytes, packet->n, &frame))
        status = folder_capture_add_part(&remote->parts, capture, &frame, &is_refused, &error);
    if (is_refused) {
        /* count the bytes as garbage only */
        remote->received.packets--;
        remote->received.bytes -= packet->n;
        *(remote->is_stream ? &remote->framer.garbage : &remote->received.garbage) += packet->n;
    }
    if (status != TTR_OK)
        receiver_fail(remote->receiver, status, &error);
}

static uint32_t hash_packet(const struct framed_packet *packet)
{
    return (uint32_t)crc32_z(0, packet->bytes, packet->n);
}

/* Keeps the first packet of a stream as its counter and hash. */
static void note_first_packet(struct remote *remote, const struct framed_packet *packet)
{
    const uint32_t at = remote_find_stream(remote, packet->facts.stream);
    if (at == UINT32_MAX || remote->streams[at].has_first)
        return;
    remote->streams[at].has_first = true;
    remote->streams[at].first_counter = packet->facts.counter;
    remote->streams[at].first_hash = hash_packet(packet);
}

/* Accepts one packet of a source with output that is ready. */
static void accept_packet(struct remote *remote, const struct framed_packet *packet)
{
    const struct packet_facts *facts = &packet->facts;
    ttr_received *received = &remote->received;
    received->bytes += packet->n;
    enum counter_result result =
        facts->is_counted ? remote_count_packet(remote, facts) : COUNTER_NEW;
    if (facts->is_counted && remote->is_stream && result == COUNTER_NEW)
        note_first_packet(remote, packet);
    remote->is_discarding &= received->bytes < remote->discard_until;
    if (remote->is_discarding && result == COUNTER_DUPLICATE) {
        remote_uncount_duplicate(remote, facts);
        return;
    }
    received->packets++;
    if (facts->has_epoch && !received->has_epoch) {
        received->has_epoch = true;
        received->epoch_ns = facts->epoch_ns;
    }
    if (remote_sends_file_frames(remote) && facts->is_head) {
        accept_part(remote, packet);
        return;
    }
    if (remote_sends_file_frames(remote) && result == COUNTER_DUPLICATE)
        return; /* a file with a packet twice would have its events twice */
    received->events += facts->events;
    received->uncounted_packets += remote->bare != NULL;
    if (facts->is_head)
        keep_first_bytes(remote, packet->bytes, packet->n);
    remote_enqueue(remote, packet->bytes, packet->n);
    remote_limit_queue(remote);
}

static bool has_port(const struct remote *remote, uint16_t port)
{
    for (size_t i = 0; i < remote->ports_n; i++)
        if (remote->ports[i] == port)
            return true;
    return false;
}

/* Returns true if the connection of a source has ended, or if its peer did not even answer the
 * probes of the kernel for limit_ms. */
static bool is_peer_silent(const struct remote *remote, uint64_t limit_ms)
{
    struct tcp_info about = {0};
    socklen_t size = sizeof about;
    if (remote->fd < 0)
        return true;
    return remote->address.transport == TRANSPORT_TCP &&
           getsockopt(remote->fd, IPPROTO_TCP, TCP_INFO, &about, &size) == 0 &&
           about.tcpi_last_ack_recv > limit_ms && about.tcpi_last_data_recv > limit_ms;
}

/* Returns the source that a connection with this epoch resumes: its own connection has ended, or
 * its peer does not answer. A peer that has nothing to send keeps its source. Of several sources
 * with this epoch it is the one with a port that the sender names. Returns NULL if there is none,
 * or several and the sender names none: two senders must not share a source, since events of one
 * would be discarded as repetitions of the other. */
static struct remote *find_resumable(const struct remote *remote, uint64_t epoch_ns)
{
    struct ttr_receiver *receiver = remote->receiver;
    struct remote *found = NULL;
    size_t found_n = 0;
    for (size_t i = 0; i < receiver->sources_n; i++) {
        struct remote *other = receiver->sources[i];
        if (other == remote || !other->is_stream || other->is_ended || !other->received.has_epoch ||
            other->received.epoch_ns != epoch_ns ||
            !address_has_same_host(&other->address, &remote->address) ||
            !is_peer_silent(other, RESUME_SILENCE_MS))
            continue;
        if (has_port(remote, address_port(&other->address)))
            return other;
        found = other;
        found_n++;
    }
    return found_n == 1 ? found : NULL;
}

/* Moves a new connection from its own source to the resumed source. Returns the resumed source; the
 * other one is empty and ended. */
static struct remote *resume_remote(struct remote *resumed, struct remote *remote)
{
    struct packet_framer framer = resumed->framer;
    resumed->framer = remote->framer;
    resumed->framer.garbage += framer.garbage;
    remote->framer = framer;
    remote->framer.garbage = 0;
    if (resumed->fd >= 0)
        (void)close(resumed->fd);
    resumed->fd = remote->fd;
    /* keep the new port, which the sender reports when it reconnects */
    resumed->address = remote->address;
    resumed->heard_ms = remote->heard_ms;
    resumed->received.resumed++;
    resumed->is_discarding = true;
    resumed->discard_until = resumed->received.bytes + RESUME_BYTES;
    remote->fd = -1;
    remote->is_ended = true;
    return resumed;
}

/* Refuses a datagram; its peer is reported once, not for each datagram. */
static void refuse_datagram(struct ttr_receiver *receiver, const struct address *address)
{
    if (receiver->last_refused.name_n == address->name_n &&
        memcmp(&receiver->last_refused.name, &address->name, address->name_n) == 0)
        return;
    receiver->last_refused = *address;
    refuse_remote(receiver, address, CANNOT_MERGE);
}

static void disconnect_remote(struct remote *remote)
{
    remote->receiver->ended.cut_off++;
    if (remote->fd >= 0)
        (void)close(remote->fd);
    remote->fd = -1;
    remote->is_ended = true;
}

/* Counts a restart of the peer. Returns false, and blocks the peer until it is silent, if it
 * restarted too often: each restart makes a file. */
static bool count_session(struct remote *remote)
{
    const uint64_t now_ms = socket_now_ms();
    if (now_ms - remote->sessions_ms >= SESSIONS_MS) {
        remote->sessions = 0;
        remote->sessions_ms = now_ms;
    }
    if (++remote->sessions < remote->receiver->options.sessions_max)
        return true;
    remote->is_blocked = true;
    refuse_remote(remote->receiver, &remote->address,
                  "it restarted too often within a minute; it is blocked while it sends");
    return false;
}

/* Counts a source that begins. Returns false, and blocks it until the count starts again, if too
 * many have begun: each one makes a file, and a peer may send from many ports. */
static bool count_begun_source(struct remote *remote)
{
    struct ttr_receiver *receiver = remote->receiver;
    const uint64_t now_ms = socket_now_ms();
    if (now_ms - receiver->begun_ms >= SESSIONS_MS) {
        receiver->begun = 0;
        receiver->begun_ms = now_ms;
    }
    if (receiver->begun < receiver->options.begun_max) {
        receiver->begun++;
        return true;
    }
    remote->is_blocked = true;
    remote->blocked_until_ms = receiver->begun_ms + SESSIONS_MS;
    receiver->ended.refused_packets++;
    refuse_remote(receiver, &remote->address,
                  "too many senders began within a minute; it is blocked until the minute ends");
    if (remote->is_stream)
        disconnect_remote(remote);
    return false;
}

/* Returns true if the packets of the peer are dropped. Ends a block that has a time. */
static bool is_peer_blocked(struct remote *remote)
{
    if (remote->is_blocked && remote->blocked_until_ms &&
        socket_now_ms() >= remote->blocked_until_ms)
        remote->is_blocked = false;
    return remote->is_blocked;
}

/* Ends a source and returns another one of its peer, which has its connection. Returns NULL if a
 * limit refuses it. */
static struct remote *begin_successor(struct remote *remote)
{
    remote->is_ended = true;
    struct remote *next = remote_new(remote->receiver, &remote->address, remote->fd);
    if (!next)
        return NULL;
    next->format = remote->format;
    next->transfer = remote->transfer;
    next->is_stream = remote->is_stream;
    next->bare = remote->bare;
    remote->bare = NULL;
    remote->fd = -1;
    struct packet_framer framer = remote->framer;
    remote->framer = next->framer;
    remote->framer.garbage = framer.garbage;
    framer.garbage = 0;
    next->framer = framer;
    return next;
}

/* Returns true if a packet after a reconnection has the counter of the first one of its stream, and
 * other content: another sender has the same epoch. */
static bool is_of_other_sender(const struct remote *remote, const struct framed_packet *packet)
{
    const uint32_t *at = pair_map_get(&remote->stream_index, packet->facts.stream, 0);
    const struct remote_stream *stream = at ? &remote->streams[*at] : NULL;
    return remote->is_discarding && packet->facts.is_counted && stream && stream->has_first &&
           stream->first_counter == packet->facts.counter &&
           stream->first_hash != hash_packet(packet);
}

/* Separates another sender from the source that it seemed to resume. Returns its own source, with
 * the packets of the head, or NULL on failure. */
static struct remote *separate_sender(struct remote *remote)
{
    struct remote *next = begin_successor(remote);
    if (!next || !count_begun_source(next) || !remote_open_output(next))
        return NULL;
    remote->received.resumed--;
    next->received.has_epoch = true;
    next->received.epoch_ns = remote->received.epoch_ns;
    buffer_add(&next->head, remote->head.bytes, remote->head.n);
    remote_enqueue(next, remote->head.bytes, remote->head.n);
    return next;
}

/* Makes sure that the source of a packet has begun, and that its epoch is that of the packet.
 * Returns the source that the packet belongs to; NULL on failure. */
static struct remote *prepare_source(struct remote *remote, const struct packet_facts *facts)
{
    if (facts->has_epoch && remote->received.has_epoch &&
        facts->epoch_ns != remote->received.epoch_ns) {
        if (!count_session(remote)) {
            remote->receiver->ended.refused_packets++;
            return NULL;
        }
        struct remote *next = begin_successor(remote);
        if (!next)
            return NULL;
        next->sessions = remote->sessions;
        next->sessions_ms = remote->sessions_ms;
        remote = next;
    }
    if (remote->has_begun)
        return remote;
    struct remote *resumed =
        facts->has_epoch && remote->is_stream ? find_resumable(remote, facts->epoch_ns) : NULL;
    if (resumed)
        return resume_remote(resumed, remote);
    return count_begun_source(remote) && remote_open_output(remote) ? remote : NULL;
}

/* --- Datagrams --- */

/* A datagram, or the frames that were made of it. */
struct peer_datagram {
    const struct address *address;
    const struct format *format;
    const struct format_transfer *transfer;
    const uint8_t *bytes;
    size_t n;
    uint64_t packet_max; /* maximum size of a packet in bytes */
};

static struct remote *find_remote_of_peer(const struct ttr_receiver *receiver,
                                          const struct address *address)
{
    for (size_t i = receiver->sources_n; i-- > 0;) {
        struct remote *remote = receiver->sources[i];
        if (!remote->is_stream && !remote->is_ended && remote->address.name_n == address->name_n &&
            memcmp(&remote->address.name, &address->name, address->name_n) == 0)
            return remote;
    }
    return NULL;
}

/* Accepts the packets at the start of the bytes. `remote`: the source of the peer; NULL = none yet.
 * Returns the number of bytes of these packets. */
static size_t accept_packets(struct ttr_receiver *receiver, struct remote **remote,
                             const struct peer_datagram *datagram)
{
    const struct format_transfer *transfer = datagram->transfer;
    const uint64_t max = datagram->packet_max;
    size_t at = 0;
    while (at < datagram->n) {
        const size_t left = datagram->n - at;
        struct framed_packet packet = {.bytes = datagram->bytes + at};
        uint64_t size = left >= transfer->frame_size ? transfer->get_size(packet.bytes, max) : 0;
        packet.n = (size_t)size;
        if (size == 0 || size > left || !transfer->parse(packet.bytes, packet.n, &packet.facts))
            break;
        *remote = *remote ? *remote : remote_new(receiver, datagram->address, -1);
        if (!*remote)
            return datagram->n;
        (*remote)->format = datagram->format;
        (*remote)->transfer = transfer;
        *remote = prepare_source(*remote, &packet.facts);
        if (!*remote)
            return datagram->n;
        (*remote)->heard_ms = socket_now_ms();
        accept_packet(*remote, &packet);
        at += packet.n;
    }
    return at;
}

/* Accepts a datagram with packets or metadata of a sender without frames. */
static void accept_bare_packets(struct ttr_receiver *receiver, struct remote *remote,
                                const struct peer_datagram *datagram)
{
    struct buffer frames;
    ttr_error error = {0};
    const struct buffer *metadata = receiver->metadata_format ? &receiver->metadata : NULL;
    remote = remote ? remote : remote_new(receiver, datagram->address, -1);
    if (!remote)
        return;
    remote->format = datagram->format;
    remote->transfer = &file_frame_transfer;
    remote->heard_ms = socket_now_ms();
    if (!remote->bare)
        remote->bare = bare_packets_new(&receiver->alloc, datagram->format, metadata,
                                        receiver->options.queue_bytes);
    buffer_init(&frames, &receiver->alloc);
    if (remote->bare) {
        const struct bare_result result =
            bare_packets_add(remote->bare, datagram->bytes, datagram->n, &frames);
        remote->received.garbage += result.garbage;
        remote->received.dropped += result.dropped;
        if (result.has_main_changed)
            folder_capture_forget(&remote->parts, 0);
    }
    if (!remote->bare || frames.failed)
        receiver_fail(receiver, fail_memory(&error), &error);
    const struct peer_datagram wrapped = {.address = datagram->address,
                                          .format = datagram->format,
                                          .transfer = &file_frame_transfer,
                                          .bytes = frames.bytes,
                                          .n = frames.n,
                                          .packet_max = UINT32_MAX};
    if (receiver->status == TTR_OK)
        (void)accept_packets(receiver, &remote, &wrapped);
    buffer_free(&frames);
}

void remote_accept_datagram(struct ttr_receiver *receiver, const struct address *address,
                            const uint8_t *bytes, size_t n)
{
    struct remote *remote = find_remote_of_peer(receiver, address);
    struct peer_datagram datagram = {.address = address,
                                     .format = remote ? remote->format : NULL,
                                     .transfer = remote ? remote->transfer : NULL,
                                     .bytes = bytes,
                                     .n = n,
                                     .packet_max = receiver->options.packet_max};
    bool is_bare = remote && remote->bare;
    if (!remote)
        datagram.format =
            recognise_packets(bytes, n, receiver->options.packet_max, &datagram.transfer);
    if (!datagram.format) {
        datagram.format = bare_packets_recognise(bytes, n);
        is_bare = datagram.format != NULL;
    }
    const bool has_frames = is_bare || datagram.transfer == &file_frame_transfer;
    const bool can_feed = has_frames && datagram.format && receiver_can_feed(receiver);
    const bool can_merge = !is_bare && datagram.format && datagram.transfer->rebase &&
                           !receiver->has_stream_output && !receiver->is_feed;
    receiver->is_feed |= can_feed && !receiver->folder;
    if (datagram.format && !receiver->folder && !can_merge && !can_feed) {
        refuse_datagram(receiver, address);
        return;
    }
    if (remote && is_peer_blocked(remote)) {
        receiver->ended.refused_packets++;
        return;
    }
    if (is_bare) {
        accept_bare_packets(receiver, remote, &datagram);
        return;
    }
    const size_t at = datagram.format ? accept_packets(receiver, &remote, &datagram) : 0;
    receiver->ended.garbage_datagrams += at == 0;
    if (at < n && remote)
        remote->received.garbage += n - at;
    else if (at < n)
        receiver->ended.garbage += n - at;
}

/* --- Connections --- */

/* Recognises the format of a connection. Returns true once the format is known. */
static bool detect_remote_format(struct remote *remote)
{
    struct packet_framer *framer = &remote->framer;
    if (remote->format)
        return true;
    const struct format_transfer *transfer = NULL;
    const struct format *format = recognise_format(framer, remote->peer, &transfer);
    if (!format && framer->buffer.n < RECOGNISE_MAX && !framer->is_ended)
        return false;
    /* The merged trace has only packets that can be merged. A trace of several files needs frames.
     */
    bool is_file = format && !transfer && (!format->folder || format->folder->reads_alone);
    struct ttr_receiver *receiver = remote->receiver;
    bool can_merge = transfer && transfer->rebase && !receiver->has_stream_output;
    can_merge &= !receiver->is_feed;
    if (transfer == &file_frame_transfer && !receiver->folder && receiver_can_feed(receiver))
        can_merge = receiver->is_feed = true;
    if (is_file && !receiver->folder && receiver->options.allows_stream && !receiver->is_feed &&
        !receiver->has_stream_output && !receiver->is_merged_begun)
        can_merge = receiver->has_stream_output = true;
    if (format && (can_merge || (remote->receiver->folder && (transfer || is_file)))) {
        remote->format = format;
        remote->transfer = framer->format = transfer;
        return true;
    }
    refuse_remote(remote->receiver, &remote->address,
                  !format                    ? "not a trace of a known format"
                  : remote->receiver->folder ? "a file of it is no trace alone: send its folder"
                                             : CANNOT_MERGE);
    disconnect_remote(remote);
    return false;
}

/* Passes on the bytes of a format that has no packets. */
static void accept_stream(struct remote *remote)
{
    struct packet_framer *framer = &remote->framer;
    const size_t n = framer->buffer.n - framer->at;
    if (n == 0 ||
        (!remote->has_begun && (!count_begun_source(remote) || !remote_open_output(remote))))
        return;
    remote_enqueue(remote, framer->buffer.bytes + framer->at, n);
    remote->received.bytes += n;
    framer->at += n;
}

/* Keeps the ports of the sender's earlier connections. Their packet is not stored. */
static void note_ports(struct remote *remote, const struct framed_packet *packet)
{
    const struct packet_facts *facts = &packet->facts;
    remote->ports_n = 0;
    for (uint32_t i = 0; i < facts->ports_n && i < RECEIVER_PORTS_MAX; i++)
        remote->ports[remote->ports_n++] = load_u16be(facts->ports + (size_t)2 * i);
}

/* Notes that the sender is not silent: it sent a complete packet, or RECEIVER_PIECE bytes of one. A
 * sender of single bytes counts as silent. */
static void note_heard(struct remote *remote)
{
    remote->heard_ms = socket_now_ms();
    remote->heard_bytes = remote->framer.received;
}

struct remote *remote_accept_bytes(struct remote *remote)
{
    struct framed_packet packet;
    enum framer_result result;
    if (!detect_remote_format(remote))
        return remote;
    if (!remote->transfer || remote->framer.received - remote->heard_bytes >= RECEIVER_PIECE)
        note_heard(remote);
    if (!remote->transfer) {
        accept_stream(remote);
        return remote;
    }
    while ((result = packet_framer_next(&remote->framer, &packet)) == FRAMER_PACKET) {
        if (packet.facts.ports) {
            note_ports(remote, &packet);
            continue;
        }
        struct remote *next = prepare_source(remote, &packet.facts);
        if (!next && remote->is_blocked)
            disconnect_remote(remote);
        if (!next)
            return remote;
        remote = is_of_other_sender(next, &packet) ? separate_sender(next) : next;
        if (!remote)
            return next;
        note_heard(remote);
        accept_packet(remote, &packet);
    }
    if (result == FRAMER_HOSTILE)
        disconnect_remote(remote);
    return remote;
}

void remote_end_connection(struct remote *remote)
{
    remote->framer.is_ended = true;
    remote = remote_accept_bytes(remote);
    remote->framer.is_ended = false;
    if (remote->fd >= 0)
        (void)close(remote->fd);
    remote->fd = -1;
    if (!remote->has_begun || !remote->received.has_epoch)
        remote->is_ended = true;
}

void remote_check_idle(struct remote *remote, uint64_t now_ms)
{
    if (remote->is_ended || now_ms - remote->heard_ms < remote->receiver->options.idle_ms ||
        !remote_has_room(remote))
        return;
    if (remote->fd >= 0)
        disconnect_remote(remote);
    remote->is_ended = true;
}
