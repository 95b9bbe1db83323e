/* Reading of the packets of frames while they arrive: a feed (struct packet_feed) of the queues of
 * all sources, which the reader of the format consumes. Main files come before the packets
 * of their source. */
#include "network/receiver.h"

#include <string.h>

#include "base/status.h"
#include "formats/open.h"

/* Returns the number of the trace of a file: sources and folders have traces of their own (FNV-1a).
 */
static uint64_t hash_trace(const struct remote *remote, const char *name, size_t n)
{
    uint64_t hash = UINT64_C(14695981039346656037) ^ remote->id;
    while (n > 0 && name[n - 1] != '/')
        n--;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (uint8_t)name[i]) * UINT64_C(1099511628211);
    return hash;
}

/* Sets *packet to a main file that the reader has not read yet. Returns false if all were read. */
static bool peek_main_file(struct remote *remote, struct fed_packet *packet)
{
    struct ttr_receiver *receiver = remote->receiver;
    for (size_t i = 0; i < remote->parts.files_n; i++) {
        struct part_file *file = &remote->parts.files[i];
        if (file->missing_n || file->is_fed)
            continue;
        buffer_clear(&receiver->fed_bytes);
        for (uint32_t k = 0; k < file->parts_n; k++)
            buffer_add(&receiver->fed_bytes, file->parts[k].bytes, file->parts[k].n);
        receiver->fed_file = file;
        *packet = (struct fed_packet){.trace = hash_trace(remote, file->name, strlen(file->name)),
                                      .bytes = receiver->fed_bytes.bytes,
                                      .n = receiver->fed_bytes.n};
        return true;
    }
    return false;
}

/* Sets *packet to the first packet of the queue. Returns false if it is empty. */
static bool peek_queue(struct remote *remote, struct fed_packet *packet)
{
    struct file_frame frame;
    if (remote->queue_at == remote->queue.n)
        return false;
    const uint8_t *bytes = remote->queue.bytes + remote->queue_at;
    const size_t n = (size_t)file_frame_transfer.get_size(bytes, UINT32_MAX);
    if (!file_frame_parse(bytes, n, &frame)) {
        remote->queue_at += n;
        return false;
    }
    remote->receiver->fed_n = n;
    *packet = (struct fed_packet){.trace = hash_trace(remote, frame.name, frame.name_n),
                                  .file = frame.name,
                                  .file_n = frame.name_n,
                                  .bytes = frame.content,
                                  .n = frame.content_n};
    return true;
}

static bool find_packet(struct ttr_receiver *receiver, struct fed_packet *packet)
{
    receiver->fed_file = NULL;
    for (size_t i = 0; i < receiver->sources_n; i++) {
        struct remote *remote = receiver->sources[i];
        if (!remote_sends_file_frames(remote) || !remote->has_begun ||
            (!peek_main_file(remote, packet) && !peek_queue(remote, packet)))
            continue;
        receiver->fed = remote;
        return true;
    }
    return false;
}

static ttr_status peek_packet(void *ctx, unsigned limit_ms, struct fed_packet *packet,
                              ttr_error *error)
{
    struct ttr_receiver *receiver = ctx;
    if (find_packet(receiver, packet))
        return TTR_OK;
    ttr_status status = ttr_receiver_step(receiver, limit_ms, error);
    if (status != TTR_OK)
        return status;
    return find_packet(receiver, packet) ? TTR_OK : TTR_AGAIN;
}

/* Removes the packet that was peeked. */
static void consume_packet(void *ctx)
{
    struct ttr_receiver *receiver = ctx;
    if (receiver->fed_file)
        receiver->fed_file->is_fed = true;
    else
        receiver->fed->queue_at += receiver->fed_n;
}

bool ttr_receiver_is_readable(const ttr_receiver *receiver)
{
    for (size_t i = 0; i < receiver->sources_n; i++)
        if (receiver->is_feed && receiver->sources[i]->has_begun)
            return true;
    return false;
}

ttr_reader *ttr_receiver_read(ttr_receiver *receiver, ttr *t, const ttr_read_options *options,
                              ttr_error *error)
{
    const struct packet_feed feed = {
        .peek = peek_packet, .consume = consume_packet, .ctx = receiver};
    const struct format *format = NULL;
    for (size_t i = 0; i < receiver->sources_n && !format; i++)
        format = receiver->is_feed && receiver->sources[i]->has_begun ? receiver->sources[i]->format
                                                                      : NULL;
    if (format && format->folder && format->folder->open_feed)
        /* cppcheck-suppress returnDanglingLifetime */
        return format->folder->open_feed(t, receiver->listeners[0].text, &feed, options, error);
    (void)fail(error, TTR_E_MISUSE, NO_OFFSET, "no source sends packets that can be read");
    return NULL;
}
