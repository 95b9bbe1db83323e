/* One sender: recognises its format, tracks its epoch and the counters of its streams, and queues
 * its packets.
 *
 * A source of datagrams begins with the first valid packet of its peer. If an epoch arrives that
 * differs from the known one, the sender has restarted: the source ends and another one begins. A
 * connection that ends leaves its source for idle_ms, so that the sender can resume it by the same
 * epoch. */
#include "network/receiver.h"

#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "formats/table.h"
#include "io/socket.h"

#define PEEK_PADDING 64u
#define RECOGNISE_MAX 65536u             /* bytes from which a format must be recognised */
#define RESUME_BYTES (UINT64_C(4) << 20) /* bytes that a sender may repeat after a reconnection */
#define RECOGNISE_MIN 64u                /* bytes that are awaited before a format is recognised */
#define RESUME_SILENCE_MS 3000u /* silence after which another connection may resume a source */

static void report(struct source *source, ttr_source_stage stage)
{
    struct ttr_receiver *receiver = source->receiver;
    source_update_counts(source);
    if (receiver->options.source)
        receiver->options.source(receiver->options.user_data, stage, &source->received);
}

static void refuse(struct ttr_receiver *receiver, const struct address *address)
{
    char peer[ADDRESS_TEXT_MAX];
    address_print(address, peer);
    const ttr_received received = {.size = sizeof received, .peer = peer, .format = "", .path = ""};
    receiver->ended.refused++;
    if (receiver->options.source)
        receiver->options.source(receiver->options.user_data, TTR_SOURCE_REFUSED, &received);
}

struct source *source_new(struct ttr_receiver *receiver, const struct address *address, int fd)
{
    const struct alloc *alloc = &receiver->alloc;
    void *list = receiver->sources;
    if (receiver->sources_n >= receiver->options.sources_max) {
        refuse(receiver, address);
        return NULL;
    }
    bool has_room = alloc_reserve(alloc, &list, &receiver->sources_capacity,
                                  receiver->sources_n + 1, sizeof *receiver->sources);
    receiver->sources = list;
    struct source *source = has_room ? alloc_zero(alloc, 1, sizeof *source) : NULL;
    if (!source) {
        refuse(receiver, address);
        return NULL;
    }
    *source = (struct source){.receiver = receiver,
                              .address = *address,
                              .fd = fd,
                              .is_stream = fd >= 0,
                              .begun_ms = socket_now_ms(),
                              .capture.fd = -1,
                              .received.size = sizeof source->received};
    source->heard_ms = source->begun_ms;
    address_print(address, source->peer);
    source->received.peer = source->peer;
    source->received.path = "";
    source->received.is_complete = true;
    buffer_init(&source->queue, alloc);
    buffer_init(&source->head, alloc);
    pair_map_init(&source->stream_index, alloc);
    packet_framer_init(&source->framer, alloc, NULL, receiver->options.packet_max);
    receiver->sources[receiver->sources_n++] = source;
    return source;
}

void source_free(struct source *source)
{
    struct ttr_receiver *receiver = source->receiver;
    ttr_error error = {0};
    if (source->fd >= 0)
        (void)close(source->fd);
    ttr_status status = capture_close(&source->capture, &error);
    if (status != TTR_OK)
        receiver_fail(receiver, status, &error);
    if (source->has_begun)
        report(source, TTR_SOURCE_ENDED);
    source_sum(source, &receiver->ended);
    for (size_t i = 0; i < source->streams_n; i++)
        counter_window_free(&source->streams[i].window, &receiver->alloc);
    alloc_free(&receiver->alloc, source->streams, source->streams_capacity,
               sizeof *source->streams);
    pair_map_free(&source->stream_index);
    packet_framer_free(&source->framer);
    buffer_free(&source->queue);
    buffer_free(&source->head);
    alloc_free(&receiver->alloc, source, 1, sizeof *source);
}

/* --- Packets --- */

bool source_has_room(const struct source *source)
{
    const ttr_receiver_options *options = &source->receiver->options;
    bool waits = options->policy == TTR_QUEUE_WAIT ||
                 (options->policy == TTR_QUEUE_AUTO && source->is_stream);
    return !waits || source->queue.n - source->queue_at < options->queue_bytes;
}

/* Remembers a packet for the head of the next file. A packet that is already there is not
 * repeated. */
static void keep_head(struct source *source, const uint8_t *bytes, size_t n)
{
    const struct buffer *head = &source->head;
    for (size_t at = 0; at + n <= head->n; at++)
        if (memcmp(head->bytes + at, bytes, n) == 0)
            return;
    if (head->n + n <= RECEIVER_HEAD_MAX)
        buffer_add(&source->head, bytes, n);
}

/* Accepts one packet of a source whose output is ready. */
static void accept_packet(struct source *source, const struct framed_packet *packet)
{
    const struct packet_facts *facts = &packet->facts;
    ttr_received *received = &source->received;
    received->bytes += packet->n;
    uint32_t at = facts->is_event ? source_find_stream(source, facts->stream) : UINT32_MAX;
    enum counter_result result = COUNTER_NEW;
    if (at != UINT32_MAX)
        result = counter_window_add(&source->streams[at].window, &source->receiver->alloc,
                                    facts->counter);
    source->is_discarding &= received->bytes < source->discard_until;
    if (source->is_discarding && result == COUNTER_DUPLICATE)
        return;
    received->packets++;
    received->events += facts->is_event;
    if (facts->has_epoch && !received->has_epoch) {
        received->has_epoch = true;
        received->epoch_ns = facts->epoch_ns;
    }
    if (facts->is_head)
        keep_head(source, packet->bytes, packet->n);
    source_enqueue(source, packet->bytes, packet->n);
    source_limit_queue(source);
}

/* Returns the source that a connection with this epoch resumes: its own connection has ended or is
 * silent. Returns NULL if there is none. */
static struct source *find_resumable(const struct source *source, uint64_t epoch_ns)
{
    struct ttr_receiver *receiver = source->receiver;
    for (size_t i = 0; i < receiver->sources_n; i++) {
        struct source *other = receiver->sources[i];
        if (other != source && other->is_stream && !other->is_ended &&
            (other->fd < 0 || source->heard_ms - other->heard_ms > RESUME_SILENCE_MS) &&
            other->received.has_epoch && other->received.epoch_ns == epoch_ns &&
            address_has_same_host(&other->address, &source->address))
            return other;
    }
    return NULL;
}

/* Gives the state of a resumed source to the source of the new connection. Returns the resumed
 * source, which has the new connection; the new one is empty and ended. */
static struct source *resume(struct source *resumed, struct source *source)
{
    struct packet_framer framer = resumed->framer;
    resumed->framer = source->framer;
    resumed->framer.garbage += framer.garbage;
    source->framer = framer;
    source->framer.garbage = 0;
    if (resumed->fd >= 0)
        (void)close(resumed->fd);
    resumed->fd = source->fd;
    resumed->heard_ms = source->heard_ms;
    resumed->received.resumed++;
    resumed->is_discarding = true;
    resumed->discard_until = resumed->received.bytes + RESUME_BYTES;
    source->fd = -1;
    source->is_ended = true;
    return resumed;
}

/* Makes sure that the source of a packet has begun, and that its epoch is that of the packet.
 * Returns the source that the packet belongs to; NULL on failure. */
static struct source *prepare_source(struct source *source, const struct packet_facts *facts)
{
    if (facts->has_epoch && source->received.has_epoch &&
        facts->epoch_ns != source->received.epoch_ns) {
        const struct format *format = source->format;
        source->is_ended = true;
        struct source *next = source_new(source->receiver, &source->address, source->fd);
        if (!next)
            return NULL;
        next->format = format;
        next->is_stream = source->is_stream;
        source->fd = -1;
        struct packet_framer framer = source->framer;
        source->framer = next->framer;
        source->framer.garbage = framer.garbage;
        framer.garbage = 0;
        next->framer = framer;
        source = next;
    }
    if (source->has_begun)
        return source;
    struct source *resumed =
        facts->has_epoch && source->is_stream ? find_resumable(source, facts->epoch_ns) : NULL;
    if (resumed)
        return resume(resumed, source);
    return source_begin(source) ? source : NULL;
}

/* --- Datagrams --- */

static const struct format *find_datagram_format(const uint8_t *bytes, size_t n, uint64_t max)
{
    for (size_t i = 0; format_at(i); i++) {
        const struct format_transfer *transfer = format_at(i)->transfer;
        if (transfer && transfer->allows_datagrams && n >= transfer->frame_size &&
            transfer->get_size(bytes, max) > 0)
            return format_at(i);
    }
    return NULL;
}

static struct source *find_peer(const struct ttr_receiver *receiver, const struct address *address)
{
    for (size_t i = receiver->sources_n; i-- > 0;) {
        struct source *source = receiver->sources[i];
        if (!source->is_stream && !source->is_ended && source->address.name_n == address->name_n &&
            memcmp(&source->address.name, &address->name, address->name_n) == 0)
            return source;
    }
    return NULL;
}

void source_accept_datagram(struct ttr_receiver *receiver, const struct address *address,
                            const uint8_t *bytes, size_t n)
{
    struct source *source = find_peer(receiver, address);
    const uint64_t max = receiver->options.packet_max;
    const struct format *format = source ? source->format : find_datagram_format(bytes, n, max);
    size_t at = 0;
    while (format && at < n) {
        struct framed_packet packet = {.bytes = bytes + at};
        uint64_t size = n - at >= format->transfer->frame_size
                            ? format->transfer->get_size(packet.bytes, max)
                            : 0;
        packet.n = (size_t)size;
        if (size == 0 || size > n - at ||
            !format->transfer->parse(packet.bytes, packet.n, &packet.facts))
            break;
        source = source ? source : source_new(receiver, address, -1);
        if (!source)
            return;
        source->format = format;
        source = prepare_source(source, &packet.facts);
        if (!source)
            return;
        source->heard_ms = socket_now_ms();
        accept_packet(source, &packet);
        at += packet.n;
    }
    receiver->ended.garbage_datagrams += at == 0;
    if (at < n && source)
        source->received.garbage += n - at;
    else if (at < n)
        receiver->ended.garbage += n - at;
}

/* --- Connections --- */

/* Selects the format with the highest bid for the first bytes of a connection. Returns NULL if none
 * is recognised. */
static const struct format *recognise(const struct source *source)
{
    const struct buffer *buffer = &source->framer.buffer;
    const struct format *best = NULL;
    unsigned most = 0;
    struct peek peek = {.bytes = buffer->bytes,
                        .n = buffer->n,
                        .is_whole = source->framer.is_ended,
                        .path = source->peer};
    for (size_t i = 0; format_at(i); i++) {
        const struct format *format = format_at(i);
        unsigned bid = format->reader && format->reader->bid ? format->reader->bid(&peek) : 0;
        if (bid > most)
            best = format;
        most = bid > most ? bid : most;
    }
    return best;
}

static void cut_off(struct source *source)
{
    source->receiver->ended.cut_off++;
    if (source->fd >= 0)
        (void)close(source->fd);
    source->fd = -1;
    source->is_ended = true;
}

/* Recognises the format of a connection. Returns true once the format is known. */
static bool find_format(struct source *source)
{
    struct packet_framer *framer = &source->framer;
    if (source->format)
        return true;
    if (framer->buffer.n < RECOGNISE_MIN && !framer->is_ended)
        return false;
    /* Bids may read zeros after the bytes. */
    uint8_t *padding = packet_framer_room(framer, PEEK_PADDING);
    if (padding)
        memset(padding, 0, PEEK_PADDING);
    source->format = padding && framer->buffer.n ? recognise(source) : NULL;
    if (source->format && !source->format->transfer && !source->receiver->folder)
        source->format = NULL;
    else if (!source->format && framer->buffer.n < RECOGNISE_MAX && !framer->is_ended)
        return false;
    if (source->format)
        framer->format = source->format->transfer;
    if (!source->format) {
        refuse(source->receiver, &source->address);
        cut_off(source);
    }
    return source->format != NULL;
}

/* Passes on the bytes of a format that has no packets. */
static void accept_stream(struct source *source)
{
    struct packet_framer *framer = &source->framer;
    const size_t n = framer->buffer.n - framer->at;
    if (n == 0 || (!source->has_begun && !source_begin(source)))
        return;
    source_enqueue(source, framer->buffer.bytes + framer->at, n);
    source->received.bytes += n;
    framer->at += n;
}

struct source *source_accept_bytes(struct source *source)
{
    struct framed_packet packet;
    enum framer_result result;
    source->heard_ms = socket_now_ms();
    if (!find_format(source))
        return source;
    if (!source->format->transfer) {
        accept_stream(source);
        return source;
    }
    while ((result = packet_framer_next(&source->framer, &packet)) == FRAMER_PACKET) {
        struct source *next = prepare_source(source, &packet.facts);
        if (!next)
            return source;
        source = next;
        accept_packet(source, &packet);
    }
    if (result == FRAMER_HOSTILE)
        cut_off(source);
    return source;
}

void source_end_connection(struct source *source)
{
    source->framer.is_ended = true;
    source = source_accept_bytes(source);
    source->framer.is_ended = false;
    if (source->fd >= 0)
        (void)close(source->fd);
    source->fd = -1;
    if (!source->has_begun || !source->received.has_epoch)
        source->is_ended = true;
}

void source_check_idle(struct source *source, uint64_t now_ms)
{
    if (source->is_ended || now_ms - source->heard_ms < source->receiver->options.idle_ms ||
        !source_has_room(source))
        return;
    if (source->fd >= 0)
        cut_off(source);
    source->is_ended = true;
}
