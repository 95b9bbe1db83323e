/* Packets and streams of CTF 1.8 in memory, shared by the tests of stream sets and of time ranges.
 *
 * A packet has 44 bytes of header and context, and events of 10 bytes that are 1 ns apart. */
#ifndef TRACETTA_FORMATS_CTF_READ_CTF_PACKETS_TEST_H
#define TRACETTA_FORMATS_CTF_READ_CTF_PACKETS_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <tracetta/advanced.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "base/buffer.h"
#include "formats/ctf/read/ctf_reader.h"
#include "support/support.h"

#define EVENTS_MAX 4096u
#define DAMAGED (UINT64_C(1) << 32)
#define NO_STREAM UINT32_MAX /* bytes that are not a packet, since they have no magic number */

static const char metadata_head[] =
    "/* CTF 1.8 */ typealias integer { size = 8; align = 8; } := u8; typealias integer { size = "
    "32; align = 8; } := u32;"
    "clock { name = c; freq = 1000000000; }; typealias integer { size = 64; align = 8; map = "
    "clock.c.value; } := time;"
    "trace { major = 1; minor = 8; byte_order = le; uuid = \"%s\";"
    " packet.header := struct { u32 magic; u32 stream_id; u32 stream_instance_id; }; };"
    "stream { id = 0; packet.context := struct { time timestamp_begin; time timestamp_end; u32 "
    "content_size; u32 packet_size;"
    " u32 packet_seq_num; u32 events_discarded; }; event.header := struct { u8 id; time timestamp; "
    "}; };"
    "event { name = e; id = 0; stream_id = 0; fields := struct { u8 x; }; };";

#define UUID_A "00000000-0000-0000-0000-00000000000a"
#define UUID_B "00000000-0000-0000-0000-00000000000b"

/* A packet with events 1 ns apart. */
struct packet {
    uint32_t stream, sequence, lost;
    uint64_t begin, events; /* number of events, | DAMAGED: the second one has an undeclared id */
};

static inline void put_u32(struct buffer *to, uint32_t value)
{
    uint8_t bytes[4];
    store_u32le(bytes, value);
    buffer_add(to, bytes, sizeof bytes);
}

static inline void put_u64(struct buffer *to, uint64_t value)
{
    uint8_t bytes[8];
    store_u64le(bytes, value);
    buffer_add(to, bytes, sizeof bytes);
}

static inline void put_packet(struct buffer *to, const struct packet *packet)
{
    const uint64_t events = packet->events & ~DAMAGED;
    uint32_t bits = (uint32_t)(44 + events * 10) * 8;
    put_u32(to, packet->stream == NO_STREAM ? 0 : CTF_MAGIC);
    put_u32(to, 0);
    put_u32(to, packet->stream);
    put_u64(to, packet->begin);
    put_u64(to, packet->begin + events - 1);
    put_u32(to, bits);
    put_u32(to, bits);
    put_u32(to, packet->sequence);
    put_u32(to, packet->lost);
    for (uint64_t i = 0; i < events; i++) {
        buffer_add_byte(to, packet->events & DAMAGED && i == 1 ? 99 : 0);
        put_u64(to, packet->begin + i);
        buffer_add_byte(to, (uint8_t)packet->sequence);
    }
    assert_false(to->failed);
}

/* Results of a read. */
struct given {
    uint32_t flags; /* read flags; set by the caller */
    int64_t time[EVENTS_MAX];
    size_t n, gaps;
    uint64_t lost, damage, duplicates, late, early, wrong, unread_twins;
};

static inline void read_on(ttr_reader *reader, struct given *given)
{
    ttr_batch batch;
    ttr_error error;
    ttr_status status;
    while ((status = ttr_read(reader, &batch, &error)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            if (event->kind == TTR_KIND_DEFINITION)
                continue;
            if (event->kind == TTR_KIND_GAP) {
                given->gaps++;
                given->lost += event->link;
                continue;
            }
            assert_true(given->n < EVENTS_MAX);
            given->time[given->n++] = event->time;
        }
    assert_int_equal(status, TTR_END);
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++) {
        given->damage += report.damage_regions;
        for (size_t k = 0; k < report.notes_n; k++) {
            given->late +=
                strcmp(report.notes[k].code, "ctf.late-event") == 0 ? report.notes[k].count : 0;
            given->early +=
                strcmp(report.notes[k].code, "ctf.early-event") == 0 ? report.notes[k].count : 0;
            given->wrong +=
                strcmp(report.notes[k].code, "ctf.bad-index") == 0 ? report.notes[k].count : 0;
            given->unread_twins +=
                strcmp(report.notes[k].code, "ctf.unread-twin") == 0 ? report.notes[k].count : 0;
            given->duplicates +=
                strcmp(report.notes[k].code, "ctf.duplicate") == 0 ? report.notes[k].count : 0;
        }
    }
}

/* A folder in memory with one stream file. */
struct chunk {
    char metadata[1200];
    struct buffer stream;
    ttr_file files[2];
};

#endif
