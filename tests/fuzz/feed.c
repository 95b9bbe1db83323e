/* Fuzzes reading of CTF packets while they arrive: a receiver gets datagrams of two peers, or the
 * bytes of a connection, and a reader consumes the packets in between. Reading must end, release
 * all resources, use memory in proportion to the input, and return events in order unless it
 * reports late events.
 *
 * Input: [0] options, then datagrams, each after its length u16 (big-endian, bit 15: of the other
 * peer). Options: bit 0: a connection in place of datagrams; bit 1: strict; bit 2: a time range
 * with an end; bits 4-7: reads after each datagram. */
#include <fcntl.h>
#include <unistd.h>

#include <zlib.h>

#include <tracetta/advanced.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "base/endian.h"
#include "fuzz/fuzz.h"
#include "model/reader.h"
#include "network/file_frame.h"
#include "network/receiver.h"

#define PACKET_MAX 8192u
#define CALLS_MAX 100000u /* reads after the last datagram */
#define PEERS 2u

struct feeding {
    ttr *t;
    ttr_receiver *receiver;
    ttr_reader *reader;
    int64_t last; /* time of the last event */
    bool is_ordered, is_over;
};

static bool never_wait(void *ctx)
{
    (void)ctx;
    return false;
}

static bool has_late_events(ttr_reader *reader)
{
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++)
        for (size_t k = 0; k < report.notes_n; k++)
            if (strcmp(report.notes[k].code, "live.late") == 0)
                return true;
    return false;
}

static void touch_event(struct feeding *feeding, const ttr_event *event)
{
    ttr_fields fields;
    ttr_field field;
    feeding->is_ordered &= event->time >= feeding->last;
    feeding->last = event->time;
    ttr_fields_begin(feeding->t, event, &fields);
    while (ttr_fields_next(&fields, &field))
        continue;
}

/* Opens the reader as soon as a source has begun. */
static void open_reader(struct feeding *feeding, uint8_t options)
{
    if (feeding->reader || !ttr_receiver_is_readable(feeding->receiver))
        return;
    const ttr_read_options how = {.size = sizeof how, .flags = options & 2 ? TTR_READ_STRICT : 0};
    feeding->reader = ttr_receiver_read(feeding->receiver, feeding->t, &how, NULL);
    if (feeding->reader && options & 4)
        reader_set_range(feeding->reader, INT64_MIN, INT64_C(1700000000005000000));
}

/* Reads up to `calls` times, or until the reader waits twice. Returns false if it did not wait. */
static bool read_events(struct feeding *feeding, unsigned calls)
{
    ttr_batch batch;
    unsigned waits = 0;
    for (unsigned i = 0; i < calls && waits < 2 && feeding->reader && !feeding->is_over; i++) {
        const ttr_status status = ttr_read(feeding->reader, &batch, NULL);
        waits = status == TTR_AGAIN ? waits + 1 : 0;
        feeding->is_over = status != TTR_OK && status != TTR_AGAIN;
        for (uint32_t k = 0; status == TTR_OK && k < batch.n; k++)
            touch_event(feeding, ttr_batch_at(&batch, k));
    }
    return waits == 2 || !feeding->reader || feeding->is_over;
}

/* Corrects the checksums of frames, so that their contents are reached. */
static void correct_checksums(uint8_t *bytes, size_t n)
{
    for (size_t at = 0; at + FILE_FRAME_HEADER <= n; at++) {
        const uint64_t size = file_frame_transfer.get_size(bytes + at, n - at);
        if (size)
            store_u32be(bytes + at + 8, (uint32_t)crc32_z(0, bytes + at + 12, size - 12));
    }
}

/* Passes bytes to the connection of a source. Returns the source that has it now; NULL at its end.
 */
static struct remote *pass_bytes(struct remote *remote, const uint8_t *bytes, size_t n)
{
    uint8_t *room = packet_framer_room(&remote->framer, n);
    if (!room)
        return NULL;
    if (n)
        memcpy(room, bytes, n);
    packet_framer_commit(&remote->framer, n);
    remote = remote_accept_bytes(remote);
    return remote->is_ended ? NULL : remote;
}

/* Passes all datagrams to the receiver, and reads after each one. */
static void feed(struct feeding *feeding, uint8_t *bytes, size_t n, uint8_t options)
{
    struct address peers[PEERS] = {{.name_n = sizeof(struct sockaddr)},
                                   {.name_n = sizeof(struct sockaddr)}};
    peers[0].name.ss_family = AF_INET;
    struct remote *connection = options & 1 ? remote_new(feeding->receiver, &peers[0], -1) : NULL;
    if (connection)
        connection->is_stream = true;
    for (size_t at = 0; at + 2 <= n;) {
        const uint16_t head = load_u16be(bytes + at);
        const size_t left = n - at - 2, wanted = head & 0x7fff;
        const size_t size = wanted < left ? wanted : left;
        correct_checksums(bytes + at + 2, size);
        if (!(options & 1))
            remote_accept_datagram(feeding->receiver, &peers[head >> 15], bytes + at + 2, size);
        else if (connection)
            connection = pass_bytes(connection, bytes + at + 2, size);
        at += 2 + size;
        open_reader(feeding, options);
        (void)read_events(feeding, options >> 4);
        if (ttr_receiver_step(feeding->receiver, 0, NULL) != TTR_OK)
            fuzz_stop("the receiver failed");
        /* a step may free an ended source, but not one with a connection that goes on */
    }
    if (connection)
        remote_end_connection(connection);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const char *const addresses[] = {"udp::0"};
    struct support_heap heap;
    struct buffer input;
    struct feeding feeding = {.last = INT64_MIN, .is_ordered = true};
    const uint8_t options = n ? bytes[0] : 0;
    /* always readable, so that no step waits */
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    const ttr_receiver_options how = {.size = sizeof how,
                                      .addresses = addresses,
                                      .addresses_n = 1,
                                      .output = null,
                                      .queue_bytes = 4096,
                                      .packet_max = PACKET_MAX,
                                      .sources_max = 4,
                                      .allows_reader = true,
                                      .wake_fd = null};
    buffer_init(&input, alloc_default());
    buffer_add(&input, bytes + (n > 0), n - (n > 0));
    feeding.t = fuzz_context(&heap);
    ttr_progress_set(feeding.t, never_wait, NULL);
    feeding.receiver = ttr_receiver_open(&how, NULL);
    if (!feeding.receiver)
        fuzz_stop("no receiver");
    feed(&feeding, input.bytes, input.n, options);
    open_reader(&feeding, options);
    if (!read_events(&feeding, CALLS_MAX))
        fuzz_stop("reading does not end");
    if (feeding.reader && !feeding.is_ordered && !has_late_events(feeding.reader))
        fuzz_stop("events are out of order");
    ttr_close(feeding.reader);
    (void)ttr_receiver_close(feeding.receiver, NULL, NULL);
    fuzz_context_free(feeding.t, &heap, n, 0);
    (void)close(null);
    buffer_free(&input);
    return 0;
}
