/* Losses of the receiver itself, as far as they concern a source: drops of the kernel and of the
 * queue, since the current file was created. Also the losses file of a folder. */
#include "network/receiver.h"

#include "base/status.h"
#include "io/socket.h"

/* Returns what the receiver has lost so far, as far as it concerns the source. */
static struct packet_losses sum_losses(const struct remote *remote)
{
    return (struct packet_losses){.kernel_drops =
                                      remote->is_stream ? 0 : remote->receiver->ended.kernel_drops,
                                  .dropped_packets = remote->received.dropped,
                                  .dropped_events = remote->received.dropped_events};
}

struct packet_losses remote_get_losses(const struct remote *remote)
{
    const struct packet_losses sum = sum_losses(remote), before = remote->noted;
    return (struct packet_losses){.kernel_drops = sum.kernel_drops - before.kernel_drops,
                                  .dropped_packets = sum.dropped_packets - before.dropped_packets,
                                  .dropped_events = sum.dropped_events - before.dropped_events};
}

void remote_reset_losses(struct remote *remote)
{
    remote->noted = sum_losses(remote);
    remote->stored = (struct packet_losses){0};
}

void remote_store_losses(struct remote *remote, uint64_t wait_ms)
{
    const struct packet_losses losses = remote_get_losses(remote);
    struct ttr_receiver *receiver = remote->receiver;
    const struct format_folder *folder = remote->format ? remote->format->folder : NULL;
    const uint64_t now_ms = socket_now_ms();
    ttr_error error = {0};
    struct buffer content;
    const bool has_changed = losses.kernel_drops != remote->stored.kernel_drops ||
                             losses.dropped_packets != remote->stored.dropped_packets;
    if (!has_changed || !receiver->folder || !remote->has_begun || receiver->status != TTR_OK ||
        !folder || !folder->write_losses || !folder_capture_is_complete(&remote->parts) ||
        now_ms - remote->stored_ms < wait_ms)
        return;
    buffer_init(&content, &receiver->alloc);
    folder->write_losses(&content, &losses);
    ttr_status status =
        content.failed ? fail_memory(&error)
                       : folder_capture_replace(&remote->parts, &remote->capture, folder->main_file,
                                                folder->losses_file, &content, &error);
    buffer_free(&content);
    if (status != TTR_OK)
        receiver_fail(receiver, status, &error);
    remote->stored = losses;
    remote->stored_ms = now_ms;
}
