/* The sender: splits the bytes of a trace into packets and sends them in batches.
 *
 *   bytes -> packet_framer -> pace -> batch -> datagram, or bytes of a connection
 *
 * Datagrams get as many complete packets as fit, and every HEAD_MS the packets of the head again,
 * for receivers that started late. Formats without packets are sent by connections only, byte by
 * byte. */
#include "network/sender.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/status.h"
#include "io/socket.h"
#include "network/recognise.h"

#define DATAGRAM_DEFAULT 1400u /* fits into a packet of Ethernet */
#define STREAM_BATCH 65536u
#define HEAD_BYTES_MAX 65536u
#define HEAD_MS 1000u
#define RECONNECT_DEFAULT_MS 30000u
/* Shortest pause: shorter ones are saved up, so that packets can share a datagram. */
#define PAUSE_MIN_NS 1000000u

static uint64_t now_ns(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* --- Batches --- */

static ttr_status flush_batch(struct ttr_sender *sender, ttr_error *error)
{
    if (sender->batch.failed)
        return fail_memory(error);
    if (sender->batch.n == 0)
        return TTR_OK;
    ttr_status status = sender->address.transport == TRANSPORT_UDP
                            ? sender_send_datagram(sender, error)
                            : sender_send_stream(sender, error);
    sender->sent.bytes += status == TTR_OK ? sender->batch.n : 0;
    buffer_clear(&sender->batch);
    return status;
}

static ttr_status add_to_batch(struct ttr_sender *sender, const uint8_t *packet, size_t n,
                               ttr_error *error)
{
    const bool is_udp = sender->address.transport == TRANSPORT_UDP;
    const size_t batch_max = is_udp ? sender->options.datagram_bytes : STREAM_BATCH;
    ttr_status status = TTR_OK;
    if (sender->batch.n + n > batch_max)
        status = flush_batch(sender, error);
    buffer_add(&sender->batch, packet, n);
    return status;
}

ttr_status sender_repeat_head(struct ttr_sender *sender, ttr_error *error)
{
    const struct buffer *head = &sender->head;
    ttr_status status = TTR_OK;
    sender->head_ms = socket_now_ms();
    for (size_t at = 0, n; at < head->n && status == TTR_OK; at += n) {
        n = (size_t)sender->transfer->get_size(head->bytes + at, SENDER_PACKET_MAX);
        status = add_to_batch(sender, head->bytes + at, n, error);
    }
    return status;
}

/* Repeats the head by UDP if that is due. */
static ttr_status check_head(struct ttr_sender *sender, ttr_error *error)
{
    bool is_due = sender->address.transport == TRANSPORT_UDP && sender->head.n &&
                  socket_now_ms() - sender->head_ms >= HEAD_MS;
    return is_due ? sender_repeat_head(sender, error) : TTR_OK;
}

/* Waits until the packet is due, by the rate or by its own time. */
static ttr_status wait_until_packet_is_due(struct ttr_sender *sender,
                                           const struct packet_facts *facts, ttr_error *error)
{
    const ttr_sender_options *options = &sender->options;
    uint64_t due_ns = sender->begin_ns;
    if (!facts->is_counted || (!options->events_per_second && !options->is_realtime))
        return TTR_OK;
    if (!sender->has_time)
        sender->first_time_ns = facts->time_ns;
    sender->has_time = true;
    if (options->is_realtime && facts->time_ns > sender->first_time_ns)
        due_ns += facts->time_ns - sender->first_time_ns;
    else if (options->events_per_second)
        due_ns += sender->paced_events * 1000000000 / options->events_per_second;
    sender->paced_events += facts->events;
    ttr_status status = TTR_OK;
    for (uint64_t now = now_ns(); due_ns > now + PAUSE_MIN_NS && status == TTR_OK; now = now_ns()) {
        uint64_t left_ns = due_ns - now;
        status = flush_batch(sender, error);
        if (status == TTR_OK)
            status = check_head(sender, error);
        if (status == TTR_OK && !sender_should_continue(sender))
            status = sender_fail_cancelled(error);
        struct timespec pause = {.tv_nsec = left_ns < SENDER_SLICE_MS * UINT64_C(1000000)
                                                ? (long)left_ns
                                                : SENDER_SLICE_MS * 1000000L};
        if (status == TTR_OK)
            (void)nanosleep(&pause, NULL);
    }
    return status;
}

static void keep_head_packet(struct ttr_sender *sender, const struct framed_packet *packet)
{
    if (packet->facts.has_epoch &&
        packet->facts.epoch_ns != sender->epoch_ns) /* another epoch replaces the head */
        buffer_clear(&sender->head);
    sender->epoch_ns = packet->facts.has_epoch ? packet->facts.epoch_ns : sender->epoch_ns;
    if (sender->head.n + packet->n <= sender->head_max)
        buffer_add(&sender->head, packet->bytes, packet->n);
    sender->head_ms = socket_now_ms();
}

ttr_status sender_send_packet(struct ttr_sender *sender, const struct framed_packet *packet,
                              ttr_error *error)
{
    ttr_status status = wait_until_packet_is_due(sender, &packet->facts, error);
    const bool is_udp = sender->address.transport == TRANSPORT_UDP;
    if (packet->n > (is_udp ? SENDER_DATAGRAM_MAX : SENDER_PACKET_MAX)) {
        sender->sent.oversized++;
        return status;
    }
    if (status == TTR_OK)
        status = check_head(sender, error);
    if (status == TTR_OK)
        status = add_to_batch(sender, packet->bytes, packet->n, error);
    if (status != TTR_OK)
        return status;
    if (packet->facts.is_head)
        keep_head_packet(sender, packet);
    sender->sent.packets++;
    sender->sent.events += packet->facts.events;
    return TTR_OK;
}

static ttr_status send_packets(struct ttr_sender *sender, ttr_error *error)
{
    struct framed_packet packet;
    ttr_status status = TTR_OK;
    enum framer_result result = FRAMER_PACKET;
    while (status == TTR_OK &&
           (result = packet_framer_next(&sender->framer, &packet)) == FRAMER_PACKET)
        status = sender_send_packet(sender, &packet, error);
    sender->sent.skipped = sender->framer.garbage;
    if (status == TTR_OK && result == FRAMER_HOSTILE)
        return fail(error, TTR_E_MALFORMED, NO_OFFSET,
                    "the trace is damaged: use \"recover\" before sending it");
    return status;
}

/* Recognises the format from the first bytes. Leaves it NULL if more bytes are needed. */
static ttr_status choose_format(struct ttr_sender *sender, ttr_error *error)
{
    struct packet_framer *framer = &sender->framer;
    sender->format = recognise_format(framer, "", &sender->transfer);
    if (!sender->format)
        return framer->is_ended && framer->buffer.n
                   ? fail(error, TTR_E_UNSUPPORTED, 0, "not a trace of a known format")
                   : TTR_OK;
    framer->format = sender->transfer;
    if (sender->address.transport == TRANSPORT_UDP &&
        (!framer->format || !framer->format->allows_datagrams))
        return fail(error, TTR_E_UNSUPPORTED, 0,
                    "%s cannot be sent by UDP, since its tables do not survive loss: use tcp: or "
                    "unix:",
                    sender->format->name);
    return sender_connect(sender, error);
}

static ttr_status send_available(struct ttr_sender *sender, ttr_error *error)
{
    struct packet_framer *framer = &sender->framer;
    ttr_status status = sender->format ? TTR_OK : choose_format(sender, error);
    if (status != TTR_OK || !sender->format)
        return status;
    if (framer->format)
        return send_packets(sender, error);
    const size_t left = framer->buffer.n - framer->at;
    if (left)
        buffer_add(&sender->batch, framer->buffer.bytes + framer->at, left);
    framer->at = framer->buffer.n;
    return flush_batch(sender, error);
}

/* --- Public functions --- */

ttr_sender *ttr_sender_open(const ttr_sender_options *options, ttr_error *error)
{
    struct address address;
    if (!options || options->size != sizeof *options || !options->address) {
        (void)fail(error, TTR_E_MISUSE, NO_OFFSET,
                   "ttr_sender_open wants options with their size and an address");
        return NULL;
    }
    if (options->datagram_bytes > SENDER_DATAGRAM_MAX) {
        (void)fail(error, TTR_E_MISUSE, NO_OFFSET, "a datagram has at most %u bytes",
                   SENDER_DATAGRAM_MAX);
        return NULL;
    }
    if (address_parse(options->address, &address, error) != TTR_OK)
        return NULL;
    struct ttr_sender *sender = alloc_zero(alloc_default(), 1, sizeof *sender);
    if (!sender) {
        (void)fail_memory(error);
        return NULL;
    }
    *sender = (struct ttr_sender){.alloc = *alloc_default(),
                                  .options = *options,
                                  .address = address,
                                  .fd = -1,
                                  .begin_ns = now_ns()};
    address_print(&address, sender->text);
    if (!sender->options.datagram_bytes)
        sender->options.datagram_bytes = DATAGRAM_DEFAULT;
    if (!sender->options.reconnect_ms)
        sender->options.reconnect_ms = RECONNECT_DEFAULT_MS;
    sender->head_max = HEAD_BYTES_MAX;
    packet_framer_init(&sender->framer, &sender->alloc, NULL, SENDER_PACKET_MAX);
    buffer_init(&sender->batch, &sender->alloc);
    buffer_init(&sender->head, &sender->alloc);
    buffer_init(&sender->resend, &sender->alloc);
    return sender;
}

ttr_status ttr_sender_write(ttr_sender *sender, const void *bytes, size_t n, ttr_error *error)
{
    uint8_t *room = packet_framer_room(&sender->framer, n);
    if (!room)
        return fail_memory(error);
    if (n)
        memcpy(room, bytes, n);
    packet_framer_commit(&sender->framer, n);
    return send_available(sender, error);
}

ttr_status ttr_sender_flush(ttr_sender *sender, ttr_error *error)
{
    return sender->format ? flush_batch(sender, error) : TTR_OK;
}

ttr_status ttr_sender_close(ttr_sender *sender, bool is_complete, ttr_sent *sent, ttr_error *error)
{
    ttr_status status = TTR_OK;
    if (!sender)
        return TTR_OK;
    if (is_complete) {
        sender->framer.is_ended = true;
        status = send_available(sender, error);
        if (status == TTR_OK)
            status = ttr_sender_flush(sender, error);
        if (status == TTR_OK)
            status = sender_await_arrival(sender, error);
    }
    if (sent) {
        sender->sent.size = sent->size;
        *sent = sender->sent;
    }
    if (sender->fd >= 0)
        (void)close(sender->fd);
    packet_framer_free(&sender->framer);
    buffer_free(&sender->batch);
    buffer_free(&sender->head);
    buffer_free(&sender->resend);
    alloc_free(&sender->alloc, sender, 1, sizeof *sender);
    return status;
}
