/* Fuzzes the receiver. The input is framed as a byte stream in pieces and at once, which must give
 * the same packets. Then a receiver gets it as the bytes of a connection, and cut into datagrams of
 * two peers. It merges packets into /dev/null; frames and CTF packets without frames are written to
 * a folder. The first byte selects the size of pieces and datagrams. */
#include "base/endian.h"
#include "formats/table.h"
#include "fuzz/fuzz.h"
#include "network/counter_window.h"
#include "network/file_frame.h"
#include "network/packet_framer.h"
#include "network/receiver.h"
#include "support/files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define PACKET_MAX 4096u

/* Returns the functions of frames for an odd number, else those of a format with packets. */
static const struct format_transfer *find_transfer(unsigned number)
{
    if (number % 2)
        return &file_frame_transfer;
    for (size_t i = 0; format_at(i); i++)
        if (format_at(i)->transfer)
            return format_at(i)->transfer;
    return NULL;
}

/* Frames the input and appends the packets to `to`. Returns the garbage bytes. */
static uint64_t frame(const struct format_transfer *transfer, const uint8_t *bytes, size_t n,
                      size_t piece, struct buffer *to)
{
    struct packet_framer framer;
    struct framed_packet packet;
    struct counter_window window = {0};
    enum framer_result result = FRAMER_NEEDS_MORE;
    packet_framer_init(&framer, alloc_default(), transfer, PACKET_MAX);
    for (size_t at = 0; at <= n && result == FRAMER_NEEDS_MORE; at += piece) {
        size_t part = n - at < piece ? n - at : piece;
        uint8_t *room = packet_framer_room(&framer, part);
        if (!room)
            break;
        if (part)
            memcpy(room, bytes + at, part);
        packet_framer_commit(&framer, part);
        framer.is_ended = at + part == n;
        while ((result = packet_framer_next(&framer, &packet)) == FRAMER_PACKET) {
            buffer_add(to, packet.bytes, packet.n);
            if (packet.facts.is_counted)
                (void)counter_window_add(&window, alloc_default(), packet.facts.counter);
        }
        if (framer.buffer.n > n)
            fuzz_stop("the framer holds more bytes than it received");
    }
    uint64_t garbage = framer.garbage;
    if (result == FRAMER_NEEDS_MORE && to->n + garbage != n)
        fuzz_stop("packets and garbage are not the input");
    counter_window_free(&window, alloc_default());
    packet_framer_free(&framer);
    return garbage;
}

/* Passes the input to a source in pieces, as the bytes of its connection. */
static void receive_stream(ttr_receiver *receiver, const struct address *peer, const uint8_t *bytes,
                           size_t n, size_t piece)
{
    struct remote *remote = remote_new(receiver, peer, -1);
    if (!remote)
        return;
    remote->is_stream = true;
    for (size_t at = 0; at < n && !remote->is_ended; at += piece) {
        const size_t part = n - at < piece ? n - at : piece;
        uint8_t *room = packet_framer_room(&remote->framer, part);
        if (!room)
            return;
        memcpy(room, bytes + at, part);
        packet_framer_commit(&remote->framer, part);
        remote = remote_accept_bytes(remote);
    }
    if (!remote->is_ended)
        remote_end_connection(remote);
}

/* Passes the input to a receiver: as a connection, or as datagrams. */
static void receive(const uint8_t *bytes, size_t n, size_t piece, bool is_stream)
{
    static const char *const addresses[] = {"udp::0"};
    char folder[] = "/tmp/tracetta-fuzz-XXXXXX";
    /* frames and CTF packets are written to a folder, other packets to the merged trace */
    const bool is_bare = !is_stream && bare_packets_recognise(bytes, n);
    const bool has_frames =
        (is_bare || (n >= FILE_FRAME_HEADER && file_frame_transfer.get_size(bytes, PACKET_MAX))) &&
        mkdtemp(folder);
    ttr_receiver_totals totals = {.size = sizeof totals};
    const ttr_receiver_options options = {.size = sizeof options,
                                          .addresses = addresses,
                                          .addresses_n = 1,
                                          .folder = has_frames ? folder : NULL,
                                          .output = open("/dev/null", O_WRONLY | O_CLOEXEC),
                                          .rotate_bytes = 200,
                                          .queue_bytes = 1000,
                                          .packet_max = PACKET_MAX,
                                          .sources_max = 4,
                                          .wake_fd = -1};
    ttr_receiver *receiver = ttr_receiver_open(&options, NULL);
    struct address peer[2] = {{.name_n = sizeof(struct sockaddr)},
                              {.name_n = sizeof(struct sockaddr)}};
    peer[0].name.ss_family = AF_INET;
    if (receiver && is_stream)
        receive_stream(receiver, &peer[0], bytes, n, piece);
    for (size_t at = 0; receiver && !is_stream && at < n; at += piece)
        remote_accept_datagram(receiver, &peer[at / piece % 2], bytes + at,
                               n - at < piece ? n - at : piece);
    if (receiver && ttr_receiver_close(receiver, &totals, NULL) != TTR_OK)
        fuzz_stop("the receiver failed");
    /* the bytes of refused sources are not counted, and CTF packets are counted with their frames
     */
    if (receiver && totals.refused == 0 && !is_bare && !is_stream &&
        totals.bytes + totals.garbage != n)
        fuzz_stop("packets and garbage are not the datagrams");
    (void)close(options.output);
    if (has_frames)
        (void)files_remove(folder);
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

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct buffer whole, parts;
    size_t piece = n ? (size_t)bytes[0] + 1 : 1;
    buffer_init(&whole, alloc_default());
    buffer_init(&parts, alloc_default());
    if (n == 0)
        bytes = (const uint8_t *)""; /* the fuzzer passes NULL */
    struct buffer input;
    buffer_init(&input, alloc_default());
    buffer_add(&input, bytes + (n > 0), n - (n > 0));
    correct_checksums(input.bytes, input.n);
    const struct format_transfer *transfer = find_transfer((unsigned)piece);
    uint64_t one = frame(transfer, input.bytes, input.n, n + 1, &whole);
    uint64_t two = frame(transfer, input.bytes, input.n, piece, &parts);
    if (one != two || whole.n != parts.n || (whole.n && memcmp(whole.bytes, parts.bytes, whole.n)))
        fuzz_stop("framing in pieces differs from framing at once");
    receive(input.bytes, input.n, 16 * piece, false);
    receive(input.bytes, input.n, piece, true);
    buffer_free(&input);
    buffer_free(&whole);
    buffer_free(&parts);
    return 0;
}
