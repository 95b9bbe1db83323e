/* Output of a source: its files, or its share of the merged trace.
 *
 * Files get the bytes as they came; those of frames are written by remote_frames.c. The merged
 * trace gets one packet at a time: its times are relative to 1970 instead of the epoch of the
 * source, and its stream gets a number of its own. Without an epoch the packets wait for HOLD_MS,
 * since an epoch may come late. */
#include "network/receiver.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "io/socket.h"

#define HOLD_MS 1000u
/* Interval between two writes of the losses of a folder, so that few are unknown if the receiver is
 * killed. */
#define LOSSES_MS 1000u
#define MERGED_PIECE 32768u /* bytes that are prepared for writing at a time */

static const char *first_extension(const struct format *format, char *to, size_t size)
{
    const char *words = format->extensions ? format->extensions : format->name;
    /* "trace" names no format, so the name of the format is used if it is an extension. */
    const char *own = strstr(words, format->name);
    words = own ? own : words;
    size_t n = strcspn(words, " ");
    n = n < size ? n : size - 1;
    memcpy(to, words, n);
    to[n] = '\0';
    return to;
}

bool remote_open_output(struct remote *remote)
{
    struct ttr_receiver *receiver = remote->receiver;
    ttr_error error = {0};
    remote->has_begun = true;
    remote->received.format = remote->format->name;
    remote->received.is_packets = remote->transfer != NULL;
    receiver->ended.sources++;
    remote_reset_losses(remote);
    /* packets that were dropped before the first file are losses of this file */
    remote->noted.dropped_packets = remote->noted.dropped_events = 0;
    if (receiver->folder) {
        capture_init(&remote->capture, receiver->folder, remote->peer, "");
        (void)first_extension(remote->format, remote->extension, sizeof remote->extension);
        remote->capture.extension = remote->extension;
        remote->capture.is_folder = remote_sends_file_frames(remote);
        ttr_status status = capture_create(&remote->capture, &receiver->next_number, &error);
        if (status != TTR_OK) {
            receiver_fail(receiver, status, &error);
            return false;
        }
        remote->received.path = remote->capture.path;
        remote->received.files = 1;
    }
    remote_report(remote, TTR_SOURCE_BEGUN);
    return true;
}

void remote_enqueue(struct remote *remote, const uint8_t *bytes, size_t n)
{
    ttr_error error = {0};
    buffer_add(&remote->queue, bytes, n);
    if (remote->queue.failed)
        receiver_fail(remote->receiver, fail_memory(&error), &error);
}

/* Removes written bytes from the queue. */
static void compact_queue(struct remote *remote)
{
    struct buffer *queue = &remote->queue;
    if (remote->queue_at == queue->n) {
        buffer_clear(queue);
        remote->queue_at = 0;
    } else if (remote->queue_at > queue->n / 2) {
        memmove(queue->bytes, queue->bytes + remote->queue_at, queue->n - remote->queue_at);
        queue->n -= remote->queue_at;
        remote->queue_at = 0;
    }
}

/* Returns the size of the packet at the start of the queue. */
static size_t get_first_packet_size(const struct remote *remote)
{
    return (size_t)remote->transfer->get_size(remote->queue.bytes + remote->queue_at, UINT32_MAX);
}

/* --- Files --- */

/* Returns the number of complete packets' bytes among the first `n` bytes of the queue. */
static size_t count_complete_packets(const struct remote *remote, size_t n)
{
    size_t at = 0;
    const struct format_transfer *transfer = remote->transfer;
    while (transfer && at < n) {
        uint64_t size = transfer->get_size(remote->queue.bytes + remote->queue_at + at, UINT32_MAX);
        if (size == 0 || size > n - at)
            break;
        at += (size_t)size;
    }
    return transfer ? at : n;
}

static ttr_status append_to_output(struct remote *remote, const uint8_t *bytes, size_t n,
                                   ttr_error *error)
{
    size_t written;
    ttr_status status = capture_append(&remote->capture, bytes, n, &written, error);
    if (status == TTR_OK)
        return TTR_OK;
    size_t whole = count_complete_packets(remote, written);
    if (whole < written)
        capture_truncate(&remote->capture, remote->capture.size - (written - whole));
    return status;
}

void remote_write_losses(struct remote *remote)
{
    const struct packet_losses losses = remote_get_losses(remote);
    struct buffer packet;
    ttr_error error = {0};
    if (remote_sends_file_frames(remote))
        remote_store_losses(remote, 0);
    remote_reset_losses(remote);
    if (remote->capture.fd < 0 || !remote->transfer || !remote->transfer->write_losses ||
        remote->receiver->status != TTR_OK || (!losses.kernel_drops && !losses.dropped_packets))
        return;
    buffer_init(&packet, &remote->receiver->alloc);
    remote->transfer->write_losses(&packet, &losses);
    ttr_status status = append_to_output(remote, packet.bytes, packet.n, &error);
    if (status != TTR_OK)
        receiver_fail(remote->receiver, status, &error);
    buffer_free(&packet);
}

/* Stores the counters of packets that were written, for the head of the next file. */
static void note_written(struct remote *remote, const uint8_t *bytes, size_t n)
{
    const struct format_transfer *transfer = remote->transfer;
    const ttr_receiver_options *options = &remote->receiver->options;
    if (!transfer || !transfer->write_counters || (!options->rotate_bytes && !options->rotate_ms))
        return;
    for (size_t at = 0, size; at < n; at += size) {
        struct packet_facts facts = {0};
        size = (size_t)transfer->get_size(bytes + at, UINT32_MAX);
        (void)transfer->parse(bytes + at, size, &facts);
        uint32_t i = facts.is_counted ? remote_find_stream(remote, facts.stream) : UINT32_MAX;
        if (i == UINT32_MAX)
            continue;
        struct remote_stream *stream = &remote->streams[i];
        if (!stream->is_written || (int32_t)(facts.counter - stream->written) > 0)
            stream->written = facts.counter;
        stream->is_written = true;
    }
}

/* Appends the last counters of all streams to a new file. Their packet is not part of the size at
 * which the file is rotated. */
static ttr_status append_counters(struct remote *remote, ttr_error *error)
{
    struct packet_counter counters[RECEIVER_SOURCE_STREAMS];
    struct buffer packet;
    size_t n = 0;
    if (!remote->transfer || !remote->transfer->write_counters)
        return TTR_OK;
    for (size_t i = 0; i < remote->streams_n; i++)
        if (remote->streams[i].is_written)
            counters[n++] =
                (struct packet_counter){remote->streams[i].id, remote->streams[i].written};
    buffer_init(&packet, &remote->receiver->alloc);
    remote->transfer->write_counters(&packet, counters, n);
    const uint64_t before = remote->capture.size;
    ttr_status status = append_to_output(remote, packet.bytes, packet.n, error);
    remote->capture.size = before;
    buffer_free(&packet);
    return status;
}

static ttr_status rotate_output(struct remote *remote, ttr_error *error)
{
    size_t written;
    remote_write_losses(remote);
    ttr_status status = capture_rotate(&remote->capture, error);
    if (status != TTR_OK)
        return status;
    remote->received.files++;
    status = capture_append(&remote->capture, remote->head.bytes, remote->head.n, &written, error);
    return status == TTR_OK ? append_counters(remote, error) : status;
}

/* Returns the number of bytes, from the start of the queue, that the current file may have. */
static size_t count_bytes_before_rotation(const struct remote *remote)
{
    size_t left = remote->queue.n - remote->queue_at;
    uint64_t limit = remote->receiver->options.rotate_bytes;
    if (!limit || !remote->transfer || remote->capture.size + left <= limit)
        return left;
    size_t n = count_complete_packets(
        remote, remote->capture.size < limit ? (size_t)(limit - remote->capture.size) : 0);
    return n ? n : get_first_packet_size(remote);
}

static ttr_status flush_to_files(struct remote *remote, ttr_error *error)
{
    ttr_status status = TTR_OK;
    while (status == TTR_OK && remote->queue_at < remote->queue.n) {
        if (remote_must_rotate(remote, remote->transfer ? get_first_packet_size(remote) : 0))
            status = rotate_output(remote, error);
        size_t n = count_bytes_before_rotation(remote);
        if (status == TTR_OK)
            status = append_to_output(remote, remote->queue.bytes + remote->queue_at, n, error);
        if (status == TTR_OK)
            note_written(remote, remote->queue.bytes + remote->queue_at, n);
        remote->queue_at += n;
    }
    return status;
}

/* --- The merged trace --- */

/* Writes bytes without blocking: pipes accept up to PIPE_BUF bytes if poll reports room. Returns
 * the number of bytes written, or -1 with errno. */
static ssize_t write_available_bytes(int fd, const uint8_t *bytes, size_t n, int wait_ms)
{
    struct pollfd room = {.fd = fd, .events = POLLOUT};
    if (poll(&room, 1, wait_ms) <= 0)
        return 0;
    ssize_t got = write(fd, bytes, n < PIPE_BUF ? n : PIPE_BUF);
    return got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : got;
}

bool receiver_flush_output(struct ttr_receiver *receiver, int wait_ms)
{
    struct buffer *partial = &receiver->partial;
    ttr_error error = {0};
    size_t at = 0;
    while (at < partial->n) {
        ssize_t got = write_available_bytes(receiver->options.output, partial->bytes + at,
                                            partial->n - at, wait_ms);
        if (got < 0)
            receiver_fail(receiver,
                          fail_sys(&error, errno, NO_OFFSET, "cannot write the merged trace"),
                          &error);
        if (got <= 0)
            break;
        at += (size_t)got;
    }
    if (at)
        memmove(partial->bytes, partial->bytes + at, partial->n - at);
    partial->n -= at;
    return partial->n == 0;
}

/* Moves the first packet of the queue to receiver->partial, with the times and streams of the
 * merged trace. */
static void move_packet(struct remote *remote)
{
    struct ttr_receiver *receiver = remote->receiver;
    const struct format_transfer *transfer = remote->transfer;
    struct buffer *partial = &receiver->partial;
    if (!receiver->is_merged_begun)
        buffer_add(partial, transfer->merged_head, transfer->merged_head_n);
    receiver->is_merged_begun = true;
    size_t n = get_first_packet_size(remote), at = partial->n;
    struct packet_facts facts = {0};
    const uint8_t *packet = remote->queue.bytes + remote->queue_at;
    (void)transfer->parse(packet, n, &facts);
    remote->queue_at += n;
    if (facts.has_epoch)
        return;
    buffer_add(partial, packet, n);
    uint32_t stream = facts.is_counted ? remote_find_stream(remote, facts.stream) : UINT32_MAX;
    if (!partial->failed)
        transfer->rebase(partial->bytes + at,
                         stream == UINT32_MAX ? UINT32_MAX : remote->streams[stream].merged_id,
                         remote->received.epoch_ns);
}

/* Moves bytes of a source without packets to receiver->partial. */
static void move_bytes(struct remote *remote)
{
    const size_t left = remote->queue.n - remote->queue_at;
    const size_t n = left < MERGED_PIECE ? left : MERGED_PIECE;
    buffer_add(&remote->receiver->partial, remote->queue.bytes + remote->queue_at, n);
    remote->queue_at += n;
}

static void flush_to_merged(struct remote *remote, bool is_final)
{
    struct ttr_receiver *receiver = remote->receiver;
    bool is_held = remote->transfer && !remote->received.has_epoch && !remote->is_ended &&
                   !is_final && socket_now_ms() - remote->begun_ms < HOLD_MS;
    int wait_ms = is_final ? RECEIVER_OUTPUT_WAIT_MS : 0;
    while (!is_held && receiver->status == TTR_OK && receiver_flush_output(receiver, wait_ms) &&
           remote->queue_at < remote->queue.n)
        while (remote->queue_at < remote->queue.n && receiver->partial.n < MERGED_PIECE)
            (remote->transfer ? move_packet : move_bytes)(remote);
}

void remote_flush(struct remote *remote, bool is_final)
{
    struct ttr_receiver *receiver = remote->receiver;
    ttr_error error = {0};
    if (!remote->has_begun || receiver->status != TTR_OK)
        return;
    if (receiver->is_feed) {
        /* ttr_receiver_read consumes the queue */
    } else if (receiver->folder) {
        ttr_status status = remote_sends_file_frames(remote)
                                ? remote_flush_frames(remote, is_final, &error)
                                : flush_to_files(remote, &error);
        if (status != TTR_OK)
            receiver_fail(receiver, status, &error);
    } else {
        flush_to_merged(remote, is_final);
    }
    if (remote_sends_file_frames(remote))
        remote_store_losses(remote, LOSSES_MS);
    compact_queue(remote);
}

void remote_limit_queue(struct remote *remote)
{
    const ttr_receiver_options *options = &remote->receiver->options;
    bool drops = options->policy == TTR_QUEUE_DROP ||
                 (options->policy == TTR_QUEUE_AUTO && !remote->is_stream);
    if (!drops || !remote->transfer)
        return;
    while (remote->queue.n - remote->queue_at > options->queue_bytes) {
        size_t n = get_first_packet_size(remote);
        struct packet_facts facts = {0};
        (void)remote->transfer->parse(remote->queue.bytes + remote->queue_at, n, &facts);
        remote->received.dropped++;
        remote->received.dropped_events += facts.events;
        remote->queue_at += n;
    }
    compact_queue(remote);
}
