/* Sends a trace of several files as frames: the files that readers need complete, then the packets
 * of all streams in order of time.
 *
 * The reader of the format finds the packets: with TTR_READ_DEFINITIONS it returns each undamaged
 * packet as stored, after its events. By UDP the complete files are repeated every second. */
#include "network/sender.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <tracetta/advanced.h>
#include <tracetta/report.h>

#include "base/status.h"
#include "formats/open.h"
#include "model/context.h"
#include "network/file_frame.h"

#define PART_BYTES ((size_t)16 << 10)     /* maximum size of the content of one part */
#define HEAD_BYTES_MAX ((size_t)16 << 20) /* maximum size of all files that are sent in parts */
#define NAMES_MAX 4096u                   /* stream files of a trace */

/* A stream file. */
struct sent_file {
    char name[FILE_FRAME_NAME_MAX + 1]; /* "" = not a file of packets */
    uint32_t number, packets;
    uint64_t events;
};

struct sent_folder {
    struct ttr_sender *sender;
    const char *path;
    ttr *t;
    ttr_reader *reader;
    uint64_t session;
    struct sent_file *files; /* files that were sent, indexed by source id */
    size_t files_n;
    uint32_t numbers; /* numbers of files in use */
    struct buffer frame;
};

static uint64_t make_session(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Encodes a frame and sends it. */
static ttr_status send_frame(struct sent_folder *folder, const struct file_frame *frame,
                             uint64_t time_ns, ttr_error *error)
{
    struct framed_packet packet = {.n = 0};
    buffer_clear(&folder->frame);
    file_frame_write(&folder->frame, frame);
    if (folder->frame.failed)
        return fail_memory(error);
    packet.bytes = folder->frame.bytes;
    packet.n = folder->frame.n;
    (void)file_frame_transfer.parse(packet.bytes, packet.n, &packet.facts);
    packet.facts.time_ns = time_ns;
    return sender_send_packet(folder->sender, &packet, error);
}

/* Returns the part of a path after the folder that is sent. */
static ttr_text get_path_in_folder(const struct sent_folder *folder, ttr_text path)
{
    size_t n = strlen(folder->path);
    while (n > 1 && folder->path[n - 1] == '/')
        n--;
    if (path.n >= n && memcmp(path.p, folder->path, n) == 0)
        path = (ttr_text){path.p + n, path.n - n};
    while (path.n && *path.p == '/')
        path = (ttr_text){path.p + 1, path.n - 1};
    return path;
}

/* --- Files in parts --- */

static ttr_status send_parts(struct sent_folder *folder, struct file_frame *frame,
                             const uint8_t *bytes, size_t n, ttr_error *error)
{
    ttr_status status = TTR_OK;
    frame->file = folder->numbers++;
    frame->parts = n ? (uint32_t)((n - 1) / PART_BYTES + 1) : 1;
    if (frame->parts > FILE_FRAME_PARTS_MAX)
        return fail(error, TTR_E_LIMIT, NO_OFFSET, "%.*s is too large to be sent",
                    (int)frame->name_n, frame->name);
    for (size_t at = 0; frame->number < frame->parts && status == TTR_OK; at += PART_BYTES) {
        frame->content = bytes + at;
        frame->content_n = n - at < PART_BYTES ? n - at : PART_BYTES;
        status = send_frame(folder, frame, 0, error);
        frame->number++;
    }
    return status;
}

/* Sends the main file of the trace in the folder `trace`. */
static ttr_status send_main_file(struct sent_folder *folder, ttr_text trace,
                                 const struct format *format, ttr_error *error)
{
    char name[FILE_FRAME_NAME_MAX + 1], path[4096];
    uint8_t *bytes = NULL;
    size_t n = 0;
    const struct alloc *alloc = &folder->sender->alloc;
    ttr_text below = get_path_in_folder(folder, trace);
    int name_n = snprintf(name, sizeof name, "%.*s%s%s", (int)below.n, below.p, below.n ? "/" : "",
                          format->folder->main_file);
    (void)snprintf(path, sizeof path, "%.*s", (int)trace.n, trace.p);
    if (name_n < 0 || !file_frame_is_valid_name(name, (size_t)name_n))
        return fail(error, TTR_E_UNSUPPORTED, NO_OFFSET, "%s: this name cannot be sent", path);
    struct folder *files = folder_open(alloc, NULL, path, 0, false, error);
    const struct folder_file *main_file =
        files ? folder_find_file(files, format->folder->main_file) : NULL;
    ttr_status status = main_file
                            ? folder_read_file(files, main_file, HEAD_BYTES_MAX, &bytes, &n, error)
                        : files ? fail(error, TTR_E_UNSUPPORTED, NO_OFFSET, "%s has no file %s",
                                       path, format->folder->main_file)
                                : TTR_E_IO;
    struct file_frame frame = {.session = folder->session, .name = name, .name_n = (size_t)name_n};
    (void)snprintf(frame.format, sizeof frame.format, "%s", format->name);
    if (status == TTR_OK)
        status = send_parts(folder, &frame, bytes, n, error);
    if (bytes)
        alloc_free(alloc, bytes, n + 1, 1);
    folder_close(files);
    return status;
}

/* --- Stream files --- */

/* Adds the file of an input. Fails if its packets cannot be sent. */
static ttr_status add_file(struct sent_folder *folder, const ttr_report *report,
                           const struct format *format, ttr_error *error)
{
    const ttr_text name = get_path_in_folder(folder, report->path);
    if (report->source >= folder->files_n)
        return fail(error, TTR_E_LIMIT, NO_OFFSET, "%s has too many files", folder->path);
    struct sent_file *file = &folder->files[report->source];
    if (report->shares_file || file->name[0] || strcmp(name.p, format->folder->main_file) == 0)
        return TTR_OK;
    if (!file_frame_is_valid_name(name.p, name.n))
        return fail(error, TTR_E_UNSUPPORTED, NO_OFFSET, "%.*s: this name cannot be sent",
                    (int)report->path.n, report->path.p);
    memcpy(file->name, name.p, name.n);
    file->number = folder->numbers++;
    return TTR_OK;
}

/* Sends the main files, and lists the stream files. */
static ttr_status begin_folder(struct sent_folder *folder, ttr_error *error)
{
    ttr_report report = {.size = sizeof report};
    ttr_status status = TTR_OK;
    for (size_t i = 0; status == TTR_OK && ttr_reader_report(folder->reader, i, &report); i++) {
        const struct format *format = format_find(report.format);
        if (!format || !format->folder || !format->folder->packet_tag)
            return fail(error, TTR_E_UNSUPPORTED, NO_OFFSET,
                        "%.*s is a trace of %s, of which only single files can be sent",
                        (int)report.path.n, report.path.p, report.format);
        if (!folder->sender->format) {
            folder->sender->format = format;
            folder->sender->transfer = &file_frame_transfer;
            status = sender_connect(folder->sender, error);
        }
        if (status == TTR_OK && report.trace == report.source)
            status = send_main_file(folder, report.trace_path, format, error);
        if (status == TTR_OK)
            status = add_file(folder, &report, format, error);
    }
    return status;
}

static ttr_status send_event(struct sent_folder *folder, const ttr_event *event, ttr_error *error)
{
    const struct format *format = folder->sender->format;
    if (event->kind != TTR_KIND_DEFINITION || event->tag != format->folder->packet_tag ||
        event->source >= folder->files_n || !folder->files[event->source].name[0])
        return TTR_OK;
    struct sent_file *file = &folder->files[event->source];
    struct file_frame frame = {.session = folder->session,
                               .file = file->number,
                               .number = file->packets++,
                               .events = (uint32_t)event->link,
                               .events_before = file->events,
                               .name = file->name,
                               .name_n = strlen(file->name),
                               .content = event->payload,
                               .content_n = event->payload_size};
    (void)snprintf(frame.format, sizeof frame.format, "%s", format->name);
    file->events += frame.events;
    return send_frame(folder, &frame, event->time > 0 ? (uint64_t)event->time : 0, error);
}

static ttr_status send_events(struct sent_folder *folder, ttr_error *error)
{
    ttr_batch batch;
    ttr_status status;
    while ((status = ttr_read(folder->reader, &batch, error)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++)
            if ((status = send_event(folder, ttr_batch_at(&batch, i), error)) != TTR_OK)
                return status;
    return status == TTR_END ? sender_repeat_head(folder->sender, error) : status;
}

/* Counts bytes of damaged packets, which are not sent. */
static void count_skipped(struct sent_folder *folder)
{
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; ttr_reader_report(folder->reader, i, &report); i++)
        folder->sender->sent.skipped += report.damage_bytes;
}

ttr_status ttr_sender_send_folder(ttr_sender *sender, const char *path, ttr_error *error)
{
    struct sent_folder folder = {
        .sender = sender, .path = path, .session = make_session(), .files_n = NAMES_MAX};
    const ttr_read_options options = {.size = sizeof options,
                                      .flags = TTR_READ_DEFINITIONS | TTR_READ_ENCRYPTED};
    if (sender->format)
        return fail(error, TTR_E_MISUSE, NO_OFFSET, "a sender sends one trace");
    folder.t = ttr_new(NULL);
    sender->head_max = HEAD_BYTES_MAX;
    buffer_init(&folder.frame, &sender->alloc);
    folder.files = alloc_zero(&sender->alloc, folder.files_n, sizeof *folder.files);
    ttr_status status = folder.t && folder.files ? TTR_OK : fail_memory(error);
    if (status == TTR_OK) {
        ttr_error ctx = {0};
        folder.reader = ttr_open(folder.t, path, &options, &ctx);
        status = folder.reader ? begin_folder(&folder, error) : ctx.status;
        if (!folder.reader && error)
            *error = ctx;
    }
    if (status == TTR_OK)
        status = send_events(&folder, error);
    if (folder.reader)
        count_skipped(&folder);
    ttr_close(folder.reader);
    ttr_free(folder.t);
    if (folder.files)
        alloc_free(&sender->alloc, folder.files, folder.files_n, sizeof *folder.files);
    buffer_free(&folder.frame);
    return status;
}
