/* Output of a source: its files, or its share of the merged trace.
 *
 * Files get the bytes as they came. The merged trace gets one packet at a time: its times are
 * relative to 1970 instead of the epoch of the source, and its stream gets a number of its own.
 * Without an epoch the packets wait for HOLD_MS, since an epoch may come late. */
#include "network/receiver.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "io/socket.h"

#define HOLD_MS 1000u
#define MERGED_PIECE 32768u   /* bytes that are prepared for writing at a time */
#define OUTPUT_WAIT_MS 10000u /* time for a final write to an output that accepts nothing */

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

static void report(struct source *source, ttr_source_stage stage)
{
    struct ttr_receiver *receiver = source->receiver;
    if (receiver->options.source)
        receiver->options.source(receiver->options.user_data, stage, &source->received);
}

bool source_begin(struct source *source)
{
    struct ttr_receiver *receiver = source->receiver;
    ttr_error error = {0};
    source->has_begun = true;
    source->received.format = source->format->name;
    source->received.is_packets = source->format->transfer != NULL;
    receiver->ended.sources++;
    if (receiver->folder) {
        capture_init(&source->capture, receiver->folder, source->peer, "");
        (void)first_extension(source->format, source->extension, sizeof source->extension);
        source->capture.extension = source->extension;
        ttr_status status = capture_create(&source->capture, &receiver->next_number, &error);
        if (status != TTR_OK) {
            receiver_fail(receiver, status, &error);
            return false;
        }
        source->received.path = source->capture.path;
        source->received.files = 1;
    }
    report(source, TTR_SOURCE_BEGUN);
    return true;
}

void source_enqueue(struct source *source, const uint8_t *bytes, size_t n)
{
    ttr_error error = {0};
    buffer_add(&source->queue, bytes, n);
    if (source->queue.failed)
        receiver_fail(source->receiver, fail_memory(&error), &error);
}

/* Removes written bytes from the queue. */
static void compact_queue(struct source *source)
{
    struct buffer *queue = &source->queue;
    if (source->queue_at == queue->n) {
        buffer_clear(queue);
        source->queue_at = 0;
    } else if (source->queue_at > queue->n / 2) {
        memmove(queue->bytes, queue->bytes + source->queue_at, queue->n - source->queue_at);
        queue->n -= source->queue_at;
        source->queue_at = 0;
    }
}

/* Returns the size of the packet at the start of the queue. */
static size_t first_packet_size(const struct source *source)
{
    return (size_t)source->format->transfer->get_size(source->queue.bytes + source->queue_at,
                                                      UINT32_MAX);
}

/* --- Files --- */

/* Returns the number of complete packets' bytes among the first `n` bytes of the queue. */
static size_t whole_packets(const struct source *source, size_t n)
{
    size_t at = 0;
    const struct format_transfer *transfer = source->format->transfer;
    while (transfer && at < n) {
        uint64_t size = transfer->get_size(source->queue.bytes + source->queue_at + at, UINT32_MAX);
        if (size == 0 || size > n - at)
            break;
        at += (size_t)size;
    }
    return transfer ? at : n;
}

static bool must_rotate(const struct source *source, size_t n)
{
    const ttr_receiver_options *options = &source->receiver->options;
    const struct capture *capture = &source->capture;
    if (!source->format->transfer || capture->size <= source->head.n)
        return false;
    return (options->rotate_bytes && capture->size + n > options->rotate_bytes) ||
           (options->rotate_ms && socket_now_ms() - capture->begun_ms >= options->rotate_ms);
}

static ttr_status append(struct source *source, const uint8_t *bytes, size_t n, ttr_error *error)
{
    size_t written;
    ttr_status status = capture_append(&source->capture, bytes, n, &written, error);
    if (status == TTR_OK)
        return TTR_OK;
    size_t whole = whole_packets(source, written);
    if (whole < written)
        capture_truncate(&source->capture, source->capture.size - (written - whole));
    return status;
}

static ttr_status rotate(struct source *source, ttr_error *error)
{
    size_t written;
    ttr_status status = capture_rotate(&source->capture, error);
    if (status != TTR_OK)
        return status;
    source->received.files++;
    return capture_append(&source->capture, source->head.bytes, source->head.n, &written, error);
}

/* Returns the number of bytes, from the start of the queue, that the current file may have. */
static size_t bytes_before_rotation(const struct source *source)
{
    size_t left = source->queue.n - source->queue_at;
    uint64_t limit = source->receiver->options.rotate_bytes;
    if (!limit || !source->format->transfer || source->capture.size + left <= limit)
        return left;
    size_t n = whole_packets(
        source, source->capture.size < limit ? (size_t)(limit - source->capture.size) : 0);
    return n ? n : first_packet_size(source);
}

static ttr_status flush_to_files(struct source *source, ttr_error *error)
{
    ttr_status status = TTR_OK;
    while (status == TTR_OK && source->queue_at < source->queue.n) {
        if (must_rotate(source, source->format->transfer ? first_packet_size(source) : 0))
            status = rotate(source, error);
        size_t n = bytes_before_rotation(source);
        if (status == TTR_OK)
            status = append(source, source->queue.bytes + source->queue_at, n, error);
        source->queue_at += n;
    }
    return status;
}

/* --- The merged trace --- */

/* Writes bytes without blocking: pipes accept up to PIPE_BUF bytes if poll reports room. Returns
 * the number of bytes written, or -1 with errno. */
static ssize_t write_some(int fd, const uint8_t *bytes, size_t n, int wait_ms)
{
    struct pollfd room = {.fd = fd, .events = POLLOUT};
    if (poll(&room, 1, wait_ms) <= 0)
        return 0;
    ssize_t got = write(fd, bytes, n < PIPE_BUF ? n : PIPE_BUF);
    return got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : got;
}

/* Writes the bytes in receiver->partial. Returns false if the output accepts no more now, or
 * failed. */
static bool write_partial(struct ttr_receiver *receiver, int wait_ms)
{
    struct buffer *partial = &receiver->partial;
    ttr_error error = {0};
    size_t at = 0;
    while (at < partial->n) {
        ssize_t got =
            write_some(receiver->options.output, partial->bytes + at, partial->n - at, wait_ms);
        if (got < 0)
            receiver_fail(receiver,
                          fail_sys(&error, errno, NO_OFFSET, "cannot write the merged trace"),
                          &error);
        if (got <= 0)
            break;
        at += (size_t)got;
    }
    memmove(partial->bytes, partial->bytes + at, partial->n - at);
    partial->n -= at;
    return partial->n == 0;
}

/* Moves the first packet of the queue to receiver->partial, with the times and streams of the
 * merged trace. */
static void move_packet(struct source *source)
{
    struct ttr_receiver *receiver = source->receiver;
    const struct format_transfer *transfer = source->format->transfer;
    struct buffer *partial = &receiver->partial;
    if (!receiver->is_merged_begun)
        buffer_add(partial, transfer->merged_head, transfer->merged_head_n);
    receiver->is_merged_begun = true;
    size_t n = first_packet_size(source), at = partial->n;
    struct packet_facts facts = {0};
    const uint8_t *packet = source->queue.bytes + source->queue_at;
    (void)transfer->parse(packet, n, &facts);
    source->queue_at += n;
    if (facts.has_epoch)
        return;
    buffer_add(partial, packet, n);
    uint32_t stream = facts.is_event ? source_find_stream(source, facts.stream) : UINT32_MAX;
    if (!partial->failed)
        transfer->rebase(partial->bytes + at,
                         stream == UINT32_MAX ? UINT32_MAX : source->streams[stream].merged_id,
                         source->received.epoch_ns);
}

static void flush_to_merged(struct source *source, bool is_final)
{
    struct ttr_receiver *receiver = source->receiver;
    bool is_held = !source->received.has_epoch && !source->is_ended && !is_final &&
                   socket_now_ms() - source->begun_ms < HOLD_MS;
    int wait_ms = is_final ? (int)OUTPUT_WAIT_MS : 0;
    while (!is_held && receiver->status == TTR_OK && write_partial(receiver, wait_ms) &&
           source->queue_at < source->queue.n)
        while (source->queue_at < source->queue.n && receiver->partial.n < MERGED_PIECE)
            move_packet(source);
}

void source_flush(struct source *source, bool is_final)
{
    struct ttr_receiver *receiver = source->receiver;
    ttr_error error = {0};
    if (!source->has_begun || receiver->status != TTR_OK)
        return;
    if (receiver->folder) {
        ttr_status status = flush_to_files(source, &error);
        if (status != TTR_OK)
            receiver_fail(receiver, status, &error);
    } else {
        flush_to_merged(source, is_final);
    }
    compact_queue(source);
}

void source_limit_queue(struct source *source)
{
    const ttr_receiver_options *options = &source->receiver->options;
    bool drops = options->policy == TTR_QUEUE_DROP ||
                 (options->policy == TTR_QUEUE_AUTO && !source->is_stream);
    if (!drops || !source->format || !source->format->transfer)
        return;
    while (source->queue.n - source->queue_at > options->queue_bytes) {
        size_t n = first_packet_size(source);
        struct packet_facts facts = {0};
        (void)source->format->transfer->parse(source->queue.bytes + source->queue_at, n, &facts);
        source->received.dropped++;
        source->received.dropped_events += facts.is_event;
        source->queue_at += n;
    }
    compact_queue(source);
}
