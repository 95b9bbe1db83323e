/* Output of a source that sends frames: writes the queued packets to the files of its folder.
 *
 * Readers of CTF need the packets of a file in order of time, but UDP may reorder datagrams. So a
 * packet of a datagram waits until the packets with lower numbers of its file have arrived, at most
 * for HOLD_MS and while fewer than HOLD_BYTES, or half of the queue, wait. Then it is written
 * without them, and they count as lost; one that arrives even later is appended, and readers report
 * its place. */
#include "network/receiver.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "io/socket.h"

#define HOLD_MS 300u
#define HOLD_BYTES ((size_t)1 << 20)

/* A frame in the queue. */
struct queued_frame {
    struct file_frame frame;
    size_t offset, n; /* offset and size of the frame in the queue */
    bool is_written;
};

bool remote_must_rotate(const struct remote *remote, size_t n)
{
    const ttr_receiver_options *options = &remote->receiver->options;
    const struct capture *capture = &remote->capture;
    const uint64_t head = remote->head.n + folder_capture_bytes(&remote->parts);
    if (!remote->transfer || capture->size <= head)
        return false;
    return (options->rotate_bytes && capture->size + n > options->rotate_bytes) ||
           (options->rotate_ms && socket_now_ms() - capture->begun_ms >= options->rotate_ms);
}

/* Returns the distance of a frame from the next number of its file: 0 = it is the next one, less =
 * it is late, more = earlier ones are missing. */
static int32_t get_distance_from_next(struct remote *remote, const struct file_frame *frame)
{
    const uint32_t at = remote_find_stream(remote, frame->file);
    if (at == UINT32_MAX)
        return 0; /* the file is not tracked: do not wait */
    const struct remote_stream *stream = &remote->streams[at];
    return (int32_t)(frame->number - (stream->is_written ? stream->written + 1 : 0));
}

static ttr_status write_frame(struct remote *remote, const struct file_frame *frame,
                              ttr_error *error)
{
    ttr_status status = TTR_OK;
    const uint32_t at = remote_find_stream(remote, frame->file);
    if (at != UINT32_MAX && get_distance_from_next(remote, frame) >= 0) {
        remote->streams[at].is_written = true;
        remote->streams[at].written = frame->number;
    }
    if (remote_must_rotate(remote, frame->content_n)) {
        remote_store_losses(remote, 0);
        remote_reset_losses(remote);
        status = folder_capture_rotate(&remote->parts, &remote->capture, error);
        remote->received.files++;
    }
    return status == TTR_OK ? folder_capture_append(&remote->capture, frame, error) : status;
}

/* Parses the first frame of the queue. Returns false if it is invalid. */
static bool parse_first(const struct remote *remote, struct queued_frame *first)
{
    const uint8_t *bytes = remote->queue.bytes + remote->queue_at;
    first->offset = remote->queue_at;
    first->n = (size_t)file_frame_transfer.get_size(bytes, UINT32_MAX);
    first->is_written = false;
    return file_frame_parse(bytes, first->n, &first->frame);
}

static int compare_numbers(const void *a, const void *b)
{
    const struct queued_frame *x = a, *y = b;
    const int32_t distance = (int32_t)(x->frame.number - y->frame.number);
    if (x->frame.file != y->frame.file)
        return x->frame.file < y->frame.file ? -1 : 1;
    return distance < 0 ? -1 : distance > 0;
}

static int compare_offsets(const void *a, const void *b)
{
    const struct queued_frame *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Keeps the frames that were not written, at the end of the queue. */
static void keep_rest(struct remote *remote, struct queued_frame *list, size_t n)
{
    size_t end = remote->queue.n;
    qsort(list, n, sizeof *list, compare_offsets);
    for (size_t i = n; i-- > 0;)
        if (!list[i].is_written) {
            end -= list[i].n;
            memmove(remote->queue.bytes + end, remote->queue.bytes + list[i].offset, list[i].n);
        }
    remote->queue_at = end;
}

/* Writes the frames of the list in order of their numbers: up to the first missing one of each
 * file, or all if `is_expired`. */
static ttr_status write_in_order(struct remote *remote, struct queued_frame *list, size_t n,
                                 bool is_expired, ttr_error *error)
{
    ttr_status status = TTR_OK;
    qsort(list, n, sizeof *list, compare_numbers);
    for (size_t i = 0; i < n && status == TTR_OK; i++) {
        if (!is_expired && get_distance_from_next(remote, &list[i].frame) > 0)
            continue;
        status = write_frame(remote, &list[i].frame, error);
        list[i].is_written = true;
    }
    return status;
}

/* Returns true if packets must not wait any longer. */
static bool has_expired(struct remote *remote, bool is_final)
{
    const uint64_t now_ms = socket_now_ms();
    const uint64_t half = remote->receiver->options.queue_bytes / 2;
    const size_t bytes_max = half < HOLD_BYTES ? (size_t)half : HOLD_BYTES;
    if (!remote->held_ms)
        remote->held_ms = now_ms;
    return is_final || remote->is_stream || remote->is_ended ||
           remote->queue.n - remote->queue_at > bytes_max || now_ms - remote->held_ms >= HOLD_MS;
}

/* Writes the frames of the queue, of which the first one waits for another. */
static ttr_status flush_out_of_order(struct remote *remote, bool is_final, ttr_error *error)
{
    const struct alloc *alloc = &remote->receiver->alloc;
    const bool is_expired = has_expired(remote, is_final);
    struct queued_frame *list = NULL, next;
    size_t n = 0, capacity = 0;
    for (; remote->queue_at < remote->queue.n; remote->queue_at += next.n) {
        void *memory = list;
        if (!parse_first(remote, &next))
            continue;
        const bool has_room = alloc_reserve(alloc, &memory, &capacity, n + 1, sizeof *list);
        list = memory;
        if (!has_room) {
            alloc_free(alloc, list, capacity, sizeof *list);
            return fail_memory(error);
        }
        list[n++] = next;
    }
    if (!list) /* no frame is valid */
        return TTR_OK;
    ttr_status status = write_in_order(remote, list, n, is_expired, error);
    keep_rest(remote, list, n);
    alloc_free(alloc, list, capacity, sizeof *list);
    if (is_expired || remote->queue_at == remote->queue.n)
        remote->held_ms = 0;
    return status;
}

ttr_status remote_flush_frames(struct remote *remote, bool is_final, ttr_error *error)
{
    ttr_status status = TTR_OK;
    struct queued_frame first;
    while (status == TTR_OK && remote->queue_at < remote->queue.n) {
        const bool is_valid = parse_first(remote, &first);
        if (is_valid && get_distance_from_next(remote, &first.frame) > 0)
            return flush_out_of_order(remote, is_final, error);
        if (is_valid)
            status = write_frame(remote, &first.frame, error);
        remote->queue_at += first.n;
    }
    remote->held_ms = 0;
    return status;
}
