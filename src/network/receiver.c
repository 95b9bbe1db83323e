/* Public functions of a receiver, and its loop: poll, write, end silent sources. */
#include "network/receiver.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/status.h"
#include "io/socket.h"

#define QUEUE_DEFAULT (UINT64_C(4) << 20)
#define PACKET_MAX_DEFAULT (UINT64_C(4) << 20)
#define SOURCES_MAX_DEFAULT 64u
#define SESSIONS_MAX_DEFAULT 64u
#define BEGUN_PER_SESSIONS 16u
#define IDLE_DEFAULT_MS 60000u
#define DATAGRAM_MAX 65536u
/* Interval in ms between two checks of idle times and of packets that wait for an epoch. */
#define CHECK_MS 100u
#define DRAIN_MAX_MS 1000u

static void set_default_options(ttr_receiver_options *options)
{
    options->queue_bytes = options->queue_bytes ? options->queue_bytes : QUEUE_DEFAULT;
    options->packet_max = options->packet_max ? options->packet_max : PACKET_MAX_DEFAULT;
    options->sources_max = options->sources_max ? options->sources_max : SOURCES_MAX_DEFAULT;
    options->sessions_max = options->sessions_max ? options->sessions_max : SESSIONS_MAX_DEFAULT;
    options->begun_max =
        options->begun_max ? options->begun_max : BEGUN_PER_SESSIONS * options->sessions_max;
    options->idle_ms = options->idle_ms ? options->idle_ms : IDLE_DEFAULT_MS;
}

static ttr_status open_folder(struct ttr_receiver *receiver, ttr_error *error)
{
    const char *folder = receiver->options.folder;
    if (!folder)
        return TTR_OK;
    const size_t n = strlen(folder) + 1;
    receiver->folder = alloc_zero(&receiver->alloc, n, 1);
    if (!receiver->folder)
        return fail_memory(error);
    memcpy(receiver->folder, folder, n);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return fail_sys(error, errno, NO_OFFSET, "cannot create the folder %s", folder);
    return TTR_OK;
}

/* Reads and checks the file options.metadata. */
static ttr_status read_metadata(struct ttr_receiver *receiver, ttr_error *error)
{
    const char *path = receiver->options.metadata;
    ttr_error reason = {0};
    FILE *file = path ? fopen(path, "rbe") : NULL;
    if (!path)
        return TTR_OK;
    if (!file)
        return fail_sys(error, errno, NO_OFFSET, "cannot read the metadata %s", path);
    uint8_t *room = buffer_room(&receiver->metadata, BARE_MAIN_MAX);
    const size_t n = room ? fread(room, 1, BARE_MAIN_MAX, file) : 0;
    const bool is_read = room && !ferror(file) && feof(file);
    const int sys = errno;
    (void)fclose(file);
    if (!room)
        return fail_memory(error);
    if (!is_read)
        return n == BARE_MAIN_MAX
                   ? fail(error, TTR_E_LIMIT, NO_OFFSET, "%s is too large for metadata", path)
                   : fail_sys(error, sys, NO_OFFSET, "cannot read the metadata %s", path);
    buffer_commit(&receiver->metadata, n);
    receiver->metadata_format = bare_packets_check_main(receiver->metadata.bytes, n, &reason);
    if (receiver->metadata_format)
        return TTR_OK;
    return fail(error, reason.status ? reason.status : TTR_E_UNSUPPORTED, reason.offset,
                "%s: not metadata of packets that can be received: %s", path, reason.text);
}

static ttr_status open_listeners(struct ttr_receiver *receiver, ttr_error *error)
{
    const ttr_receiver_options *options = &receiver->options;
    receiver->datagram = alloc_zero(&receiver->alloc, DATAGRAM_MAX, 1);
    receiver->listeners =
        alloc_zero(&receiver->alloc, options->addresses_n, sizeof *receiver->listeners);
    if (!receiver->datagram || !receiver->listeners)
        return fail_memory(error);
    for (size_t i = 0; i < options->addresses_n; i++) {
        ttr_status status = listener_open(&receiver->listeners[i], options->addresses[i], error);
        if (status != TTR_OK)
            return status;
        receiver->listeners_n++;
    }
    return TTR_OK;
}

/* Frees everything but the sources. */
static void receiver_free(struct ttr_receiver *receiver)
{
    const struct alloc alloc = receiver->alloc;
    for (size_t i = 0; i < receiver->listeners_n; i++) {
        const struct listener *listener = &receiver->listeners[i];
        struct sockaddr_un name;
        memcpy(&name, &listener->address.name, sizeof name);
        if (listener->address.transport == TRANSPORT_UNIX)
            (void)unlink(name.sun_path);
        (void)close(listener->fd);
    }
    if (receiver->listeners)
        alloc_free(&alloc, receiver->listeners, receiver->options.addresses_n,
                   sizeof *receiver->listeners);
    if (receiver->folder)
        alloc_free(&alloc, receiver->folder, strlen(receiver->folder) + 1, 1);
    alloc_free(&alloc, receiver->datagram, receiver->datagram ? DATAGRAM_MAX : 0, 1);
    alloc_free(&alloc, receiver->sources, receiver->sources_capacity, sizeof *receiver->sources);
    buffer_free(&receiver->partial);
    buffer_free(&receiver->metadata);
    buffer_free(&receiver->fed_bytes);
    alloc_free(&alloc, receiver, 1, sizeof *receiver);
}

ttr_receiver *ttr_receiver_open(const ttr_receiver_options *options, ttr_error *error)
{
    const struct alloc *alloc = alloc_default();
    if (!options || options->size != sizeof *options || !options->addresses ||
        options->addresses_n == 0 || (!options->folder && options->output < 0)) {
        (void)fail(error, TTR_E_MISUSE, NO_OFFSET,
                   "ttr_receiver_open wants options with their size, an address, and a folder or "
                   "an output");
        return NULL;
    }
    struct ttr_receiver *receiver = alloc_zero(alloc, 1, sizeof *receiver);
    if (!receiver) {
        (void)fail_memory(error);
        return NULL;
    }
    receiver->alloc = *alloc;
    receiver->options = *options;
    receiver->next_number = 1;
    buffer_init(&receiver->partial, &receiver->alloc);
    buffer_init(&receiver->metadata, &receiver->alloc);
    buffer_init(&receiver->fed_bytes, &receiver->alloc);
    set_default_options(&receiver->options);
    ttr_status status = read_metadata(receiver, error);
    if (status == TTR_OK)
        status = open_listeners(receiver, error);
    if (status == TTR_OK)
        status = open_folder(receiver, error);
    if (status == TTR_OK)
        return receiver;
    receiver_free(receiver);
    return NULL;
}

const char *ttr_receiver_address(const ttr_receiver *receiver, size_t i)
{
    return i < receiver->listeners_n ? receiver->listeners[i].text : NULL;
}

/* Writes the queues, and removes the sources that have ended and are written. */
static void write_source_outputs(struct ttr_receiver *receiver, bool is_final)
{
    const uint64_t now_ms = socket_now_ms();
    size_t kept = 0;
    for (size_t i = 0; i < receiver->sources_n; i++) {
        struct remote *remote = receiver->sources[i];
        remote_check_idle(remote, now_ms);
        remote->is_ended |= is_final;
        remote_flush(remote, is_final);
        bool is_written =
            !remote->has_begun || remote->queue.n == remote->queue_at || receiver->status != TTR_OK;
        if (remote->is_ended && (is_written || is_final))
            remote_free(remote);
        else
            receiver->sources[kept++] = remote;
    }
    receiver->sources_n = kept;
    if (!receiver->folder && receiver->status == TTR_OK)
        (void)receiver_flush_output(receiver, is_final ? RECEIVER_OUTPUT_WAIT_MS : 0);
}

ttr_status ttr_receiver_step(ttr_receiver *receiver, unsigned limit_ms, ttr_error *error)
{
    if (receiver->status == TTR_OK)
        receiver_poll(receiver, limit_ms < CHECK_MS ? limit_ms : CHECK_MS);
    if (receiver->status == TTR_OK)
        write_source_outputs(receiver, false);
    if (receiver->status != TTR_OK && error)
        *error = receiver->error;
    return receiver->status;
}

void ttr_receiver_sum(const ttr_receiver *receiver, ttr_receiver_totals *totals)
{
    const size_t size = totals->size;
    *totals = receiver->ended;
    totals->size = size;
    for (size_t i = 0; i < receiver->sources_n; i++) {
        remote_update_counts(receiver->sources[i]);
        remote_add_to_totals(receiver->sources[i], totals);
    }
}

static uint64_t count_bytes(const struct ttr_receiver *receiver)
{
    ttr_receiver_totals totals = {.size = sizeof totals};
    ttr_receiver_sum(receiver, &totals);
    return totals.bytes + totals.garbage;
}

/* Receives what the kernel has already, for at most DRAIN_MAX_MS. */
static void drain_sockets(struct ttr_receiver *receiver)
{
    const uint64_t end_ms = socket_now_ms() + DRAIN_MAX_MS;
    uint64_t before, bytes = count_bytes(receiver);
    do {
        before = bytes;
        if (receiver->status == TTR_OK)
            receiver_poll(receiver, 0);
        if (receiver->status == TTR_OK)
            write_source_outputs(receiver, false);
        bytes = count_bytes(receiver);
    } while (bytes != before && socket_now_ms() < end_ms);
}

ttr_status ttr_receiver_close(ttr_receiver *receiver, ttr_receiver_totals *totals, ttr_error *error)
{
    if (!receiver)
        return TTR_OK;
    drain_sockets(receiver);
    for (size_t i = receiver->sources_n; i-- > 0;)
        if (receiver->sources[i]->fd >= 0)
            remote_end_connection(receiver->sources[i]);
    write_source_outputs(receiver, true);
    const ttr_status status = receiver->status;
    if (status != TTR_OK && error)
        *error = receiver->error;
    if (totals) {
        receiver->ended.size = totals->size;
        *totals = receiver->ended;
    }
    receiver_free(receiver);
    return status;
}
