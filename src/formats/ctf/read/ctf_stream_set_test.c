/* Several folders of one trace, ranges of time, and metadata from elsewhere: what golden vectors of
 * one folder cannot show. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <tracetta/read.h>

#include "base/buffer.h"
#include "formats/ctf/read/ctf_reader.h"
#include "formats/ctf/read/ctf_duplicate_packets.h"
#include "support/support.h"

#define EVENTS_MAX 4096u
#define DAMAGED (UINT64_C(1) << 32)
#define NO_STREAM UINT32_MAX /* what is no packet, having no magic number */

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

/* A packet of events of these times, a nanosecond apart. */
struct packet {
    uint32_t stream, sequence, lost;
    uint64_t begin, events; /* | DAMAGED: the second is of no class */
};

static void put_u32(struct buffer *to, uint32_t value)
{
    uint8_t bytes[4];
    store_u32le(bytes, value);
    buffer_add(to, bytes, sizeof bytes);
}

static void put_u64(struct buffer *to, uint64_t value)
{
    uint8_t bytes[8];
    store_u64le(bytes, value);
    buffer_add(to, bytes, sizeof bytes);
}

static void put_packet(struct buffer *to, const struct packet *packet)
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

/* What a reader gave. */
struct given {
    uint32_t flags; /* to read with; set before */
    int64_t time[EVENTS_MAX];
    size_t n, gaps;
    uint64_t lost, damage, duplicates, late, early, wrong, unread_twins;
};

static void read_on(ttr_reader *reader, struct given *given)
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

static struct folder *open_chunk(ttr *t, struct chunk *chunk, const char *uuid,
                                 const struct packet *packets, size_t n)
{
    (void)snprintf(chunk->metadata, sizeof chunk->metadata, metadata_head, uuid);
    buffer_init(&chunk->stream, alloc_default());
    for (size_t i = 0; i < n; i++)
        put_packet(&chunk->stream, &packets[i]);
    chunk->files[0] = (ttr_file){"metadata", chunk->metadata, strlen(chunk->metadata)};
    chunk->files[1] = (ttr_file){"s", chunk->stream.bytes, chunk->stream.n};
    struct folder *folder = folder_open_memory(&t->counted, "chunk", chunk->files, 2, NULL);
    assert_non_null(folder);
    return folder;
}

/* Reads two folders as they are when found below one directory. */
static void read_chunks(const char *const uuids[2], const struct packet *first, size_t first_n,
                        const struct packet *second, size_t second_n, struct given *given)
{
    struct chunk chunk[2];
    ttr_error error;
    ttr *t = ttr_new(NULL);
    const struct found_folder folders[] = {
        {open_chunk(t, &chunk[0], uuids[0], first, first_n), NULL},
        {open_chunk(t, &chunk[1], uuids[1], second, second_n), NULL}};
    ttr_read_options options = {.size = sizeof options, .flags = given->flags};
    ttr_reader *reader =
        ctf_open_folders(t, &(struct found_folders){folders, 2, false}, &options, &error);
    *given = (struct given){.n = 0};
    assert_non_null(reader);
    read_on(reader, given);
    ttr_close(reader);
    buffer_free(&chunk[0].stream);
    buffer_free(&chunk[1].stream);
    ttr_free(t);
}

static void rotated_chunks_are_one_stream_with_one_count_of_losses(void **state)
{
    (void)state;
    static const char *const uuids[] = {UUID_A, UUID_A};
    static const struct packet first[] = {{1, 0, 0, 10, 2}, {1, 1, 3, 20, 2}},
                               second[] = {{1, 2, 3, 30, 2}, {1, 3, 5, 40, 2}};
    static struct given given;
    read_chunks(uuids, first, 2, second, 2, &given);
    assert_int_equal(given.n, 8);
    assert_int_equal(given.lost, 5);
    assert_int_equal(given.gaps, 2);
    read_chunks(uuids, second, 2, first, 2, &given); /* whatever the folders are called */
    assert_int_equal(given.n, 8);
    assert_int_equal(given.lost, 5);
    assert_int_equal(given.gaps, 2);
    for (size_t i = 1; i < given.n; i++)
        assert_true(given.time[i] > given.time[i - 1]);
}

static void packets_of_an_earlier_snapshot_are_left_out(void **state)
{
    (void)state;
    static const char *const uuids[] = {UUID_A, UUID_A};
    static const struct packet first[] = {{1, 4, 0, 10, 2}, {1, 5, 0, 20, 2}, {1, 6, 0, 30, 2}};
    static const struct packet second[] = {{1, 5, 0, 20, 2}, {1, 6, 0, 30, 2}, {1, 7, 2, 40, 2}};
    static struct given given;
    read_chunks(uuids, first, 3, second, 3, &given);
    assert_int_equal(given.n, 8);
    assert_int_equal(given.duplicates, 2);
    assert_int_equal(given.lost, 2);
}

static void copies_of_packets_are_found_wherever_they_stand(void **state)
{
    (void)state;
    static const char *const uuids[] = {UUID_A, UUID_A};
    static struct given given;
    struct packet first[100], second[50];
    for (uint32_t i = 0; i < 100; i++)
        first[i] = (struct packet){1, i, 0, 1000 + 10 * i, 2};
    for (uint32_t from = 55; from < 100; from += 4) {
        for (uint32_t i = 0; i < 50; i++)
            second[i] = (struct packet){1, from + i, 0, 1000 + 10 * (from + i), 2};
        read_chunks(uuids, first, 100, second, 50, &given);
        assert_int_equal(given.n, 2 * (from + 50));
        assert_int_equal(given.duplicates, 100 - from);
        assert_int_equal(given.gaps, 0);
        second[0].events = 1; /* not that packet */
        read_chunks(uuids, first, 100, second, 50, &given);
        assert_int_equal(given.n, 299);
        assert_int_equal(given.duplicates, 0);
    }
}

/* How two chunks of one trace are read: so many events come, and so many packets are left out. */
struct left_out {
    uint32_t flags;
    size_t events, packets;
};

static void expect_left_out(const struct packet *first, size_t first_n, const struct packet *second,
                            size_t second_n, struct left_out expected)
{
    static const char *const uuids[] = {UUID_A, UUID_A};
    static struct given given;
    given.flags = expected.flags;
    read_chunks(uuids, first, first_n, second, second_n, &given);
    assert_int_equal(given.n, expected.events);
    assert_int_equal(given.duplicates, expected.packets);
}

static void copies_leave_them_out_too(void **state)
{
    (void)state;
    static const struct packet first[] = {{1, 4, 0, 10, 2}, {1, 5, 0, 20, 2}, {1, 6, 0, 30, 2}};
    static const struct packet second[] = {
        {1, 5, 0, 20, 2}, {1, 6, 0, 30, 2}, {2, 5, 0, 20, 2}, {1, 7, 2, 40, 2}};
    expect_left_out(first, 3, second, 4, (struct left_out){TTR_READ_DEFINITIONS, 10, 2});
}

static void copies_leave_out_those_behind_packets_of_another_stream(void **state)
{
    (void)state;
    static const struct packet first[] = {{1, 4, 0, 10, 2}, {1, 5, 0, 20, 2}};
    static const struct packet second[] = {{2, 5, 0, 20, 2}, {1, 5, 0, 20, 2}};
    expect_left_out(first, 2, second, 2, (struct left_out){0, 6, 1});
    expect_left_out(first, 2, second, 2, (struct left_out){TTR_READ_DEFINITIONS, 6, 1});
}

static void packets_of_another_stream_behind_damage_are_no_copies(void **state)
{
    (void)state;
    static const struct packet first[] = {{1, 4, 0, 10, 2}, {1, 5, 0, 20, 2}};
    static const struct packet second[] = {
        {1, 5, 0, 20, 2}, {NO_STREAM, 6, 0, 30, 2}, {2, 4, 0, 10, 2}};
    static const char *const uuids[] = {UUID_A, UUID_A};
    static struct given given;
    read_chunks(uuids, first, 2, second, 3, &given);
    assert_int_equal(given.n, 6);
    assert_int_equal(given.duplicates, 1);
    assert_int_equal(given.damage, 1);
}

static void packets_that_an_earlier_snapshot_lost_are_given(void **state)
{
    (void)state;
    static const struct packet first[] = {{1, 4, 0, 10, 2}, {1, 6, 0, 30, 2}};
    static const struct packet second[] = {
        {1, 4, 0, 10, 2}, {1, 5, 0, 20, 2}, {1, 6, 0, 30, 2}, {1, 7, 0, 40, 2}};
    expect_left_out(first, 2, second, 4, (struct left_out){0, 8, 2});
    expect_left_out(first, 2, second, 4, (struct left_out){TTR_READ_DEFINITIONS, 8, 2});
}

static void packets_of_a_file_are_no_copies_of_its_own(void **state)
{
    (void)state;
    static const struct packet first[] = {{1, 5, 0, 10, 20}, {1, 4, 0, 12, 2}},
                               second[] = {{1, 3, 0, 11, 2}};
    expect_left_out(first, 2, second, 1, (struct left_out){0, 24, 0});
}

static void traces_of_other_uuids_keep_their_packets(void **state)
{
    (void)state;
    static const char *const uuids[] = {UUID_A, UUID_B};
    static const struct packet packets[] = {{1, 4, 0, 10, 2}, {1, 5, 0, 20, 2}};
    static struct given given;
    read_chunks(uuids, packets, 2, packets, 2, &given);
    assert_int_equal(given.n, 8);
    assert_int_equal(given.duplicates, 0);
}

static void other_streams_of_the_trace_keep_theirs(void **state)
{
    (void)state;
    static const char *const uuids[] = {UUID_A, UUID_A};
    static const struct packet first[] = {{1, 4, 0, 10, 2}}, second[] = {{2, 4, 0, 10, 2}};
    static struct given given;
    read_chunks(uuids, first, 1, second, 1, &given);
    assert_int_equal(given.n, 4);
    assert_int_equal(given.duplicates, 0);
}

static void files_that_claim_to_be_of_one_stream_keep_what_no_other_has(void **state)
{
    (void)state;
    static const char *const uuids[] = {UUID_A, UUID_A};
    static const struct packet first[] = {{1, 0, 0, 10, 20}, {1, 1, 2, 40, 2}, {1, 2, 2, 50, 2}};
    static const struct packet second[] = {{1, 0, 0, 12, 20}, {1, 1, 5, 42, 2}};
    static struct given given;
    read_chunks(uuids, first, 3, second, 2, &given);
    assert_int_equal(given.n, 46);
    assert_int_equal(given.duplicates, 0);
    assert_int_equal(given.lost, 7); /* each has counters of its own */
}

/* Two chunks of which one has packets damaged that the other has whole: all events come once,
 * without damage, whichever it is. */
static void packets_damaged_in_one_snapshot_are_read_from_the_other(void **state)
{
    (void)state;
    static const char *const uuids[] = {UUID_A, UUID_A};
    static struct given given;
    for (uint32_t damaged = 0; damaged < 16;
         damaged++) { /* bits: of the first, then of the second */
        struct packet first[] = {{1, 4, 2, 10, 4},
                                 {1, 5, 3, 20, 4 | (damaged & 1 ? DAMAGED : 0)},
                                 {1, 6, 5, 30, 4 | (damaged & 2 ? DAMAGED : 0)}};
        struct packet second[] = {{1, 5, 3, 20, 4 | (damaged & 4 ? DAMAGED : 0)},
                                  {1, 6, 5, 30, 4 | (damaged & 8 ? DAMAGED : 0)},
                                  {1, 7, 6, 40, 4}};
        const unsigned both = (damaged & damaged >> 2 & 1) + (damaged >> 1 & damaged >> 3 & 1);
        for (uint32_t flags = 0; flags < 2; flags++) {
            given.flags = flags ? TTR_READ_DEFINITIONS : 0;
            read_chunks(uuids, first, 3, second, 3, &given);
            assert_int_equal(given.n, 16 - 3 * both);
            assert_int_equal(given.damage, both);
            assert_int_equal(given.duplicates, 2);
            assert_int_equal(given.lost, 4);
            assert_int_equal(given.gaps, 4);
        }
    }
}

/* Packets that differ in two files are tried by reading them, up to a number: that others were not
 * is told. */
static void of_many_packets_that_differ_it_is_told_where_they_are_not_tried(void **state)
{
    (void)state;
    static const char *const uuids[] = {UUID_A, UUID_A};
    static struct given given;
    static struct packet first[CTF_DECODED_DUPLICATES_MAX + 3],
        second[CTF_DECODED_DUPLICATES_MAX + 3];
    for (uint32_t more = 0; more < 3; more++) {
        const uint32_t n = CTF_DECODED_DUPLICATES_MAX + more;
        for (uint32_t i = 0; i < n; i++) {
            first[i] = (struct packet){1, i, 0, 1000 + 10 * i, 4 | DAMAGED};
            second[i] = (struct packet){1, i, 0, 1000 + 10 * i, 4};
        }
        read_chunks(uuids, first, n, second, n, &given);
        assert_int_equal(given.duplicates, n);
        assert_int_equal(given.damage, more);
        assert_int_equal(given.unread_twins, more > 0);
        assert_int_equal(given.n, 4 * n - 3 * more);
    }
    for (uint32_t i = 0; i < CTF_DECODED_DUPLICATES_MAX + 2; i++)
        second[i].events = 4 | DAMAGED; /* the same bytes are no question */
    read_chunks(uuids, first, CTF_DECODED_DUPLICATES_MAX + 2, second,
                CTF_DECODED_DUPLICATES_MAX + 2, &given);
    assert_int_equal(given.unread_twins, 0);
}

static void of_three_snapshots_one_gives_the_packet(void **state)
{
    (void)state;
    static struct given given;
    struct chunk chunk[3];
    ttr_error error;
    for (uint32_t damaged = 0; damaged < 8; damaged++) {
        ttr *t = ttr_new(NULL);
        struct found_folder folders[3];
        for (uint32_t i = 0; i < 3; i++) {
            const struct packet twin = {1, 7, 0, 40, 4 | (damaged >> i & 1 ? DAMAGED : 0)};
            const struct packet other = {1, i ? 8 : 6, 0, i ? 40 + 10 * i : 30, 4},
                                packets[] = {i ? twin : other, i ? other : twin};
            folders[i] = (struct found_folder){open_chunk(t, &chunk[i], UUID_A, packets, 2), NULL};
        }
        ttr_reader *reader =
            ctf_open_folders(t, &(struct found_folders){folders, 3, false}, NULL, &error);
        given = (struct given){.n = 0};
        read_on(reader, &given);
        const unsigned both = (damaged & 3) == 3; /* of the third it is not asked then */
        assert_int_equal(given.n, 16 - 3 * both);
        assert_int_equal(given.damage, both);
        assert_int_equal(given.duplicates, 2);
        assert_int_equal(given.gaps, 0);
        ttr_close(reader);
        for (uint32_t i = 0; i < 3; i++)
            buffer_free(&chunk[i].stream);
        ttr_free(t);
    }
}

/* The third file is held against the first, which ends last, and against the second, which does not
 * give the packet either. */
static void a_packet_that_one_of_three_snapshots_has_whole_is_read_once(void **state)
{
    (void)state;
    static struct given given;
    struct chunk chunk[3];
    ttr_error error;
    const uint64_t bad = 4 | DAMAGED;
    const struct packet first[] = {
        {1, 5, 0, 20, 4}, {1, 6, 0, 30, 4}, {1, 7, 0, 40, bad}, {1, 8, 0, 50, 4}, {1, 9, 0, 60, 4}};
    const struct packet second[] = {{1, 6, 0, 30, 4}, {1, 7, 0, 40, bad}},
                        third[] = {{1, 7, 0, 40, 4}, {1, 8, 0, 50, 4}};
    ttr *t = ttr_new(NULL);
    const struct found_folder folders[] = {{open_chunk(t, &chunk[0], UUID_A, first, 5), NULL},
                                           {open_chunk(t, &chunk[1], UUID_A, second, 2), NULL},
                                           {open_chunk(t, &chunk[2], UUID_A, third, 2), NULL}};
    ttr_reader *reader =
        ctf_open_folders(t, &(struct found_folders){folders, 3, false}, NULL, &error);
    given = (struct given){.n = 0};
    read_on(reader, &given);
    assert_int_equal(given.n, 20);
    assert_int_equal(given.damage, 0);
    assert_int_equal(given.duplicates, 4);
    ttr_close(reader);
    for (uint32_t i = 0; i < 3; i++)
        buffer_free(&chunk[i].stream);
    ttr_free(t);
}

/* --- Ranges --- */

#define PACKETS 300u

/* Reads [from, to) of a stream of 300 packets with 10 events each, from 1,000 ns on, every 10 ns a
 * packet. */
static void read_range(int64_t from, int64_t to, bool is_early_damaged, struct given *given)
{
    struct chunk chunk;
    ttr_error error;
    ttr_filter filter;
    ttr *t = ttr_new(NULL);
    buffer_init(&chunk.stream, alloc_default());
    (void)snprintf(chunk.metadata, sizeof chunk.metadata, metadata_head, UUID_A);
    for (uint32_t i = 0; i < PACKETS; i++)
        put_packet(&chunk.stream, &(struct packet){1, i, i, 1000 + 10 * i, 10});
    if (is_early_damaged) /* the id of the first event of packet 5 */
        chunk.stream.bytes[5 * 144 + 44] = 99;
    const ttr_file files[] = {{"metadata", chunk.metadata, strlen(chunk.metadata)},
                              {"s", chunk.stream.bytes, chunk.stream.n}};
    ttr_filter_init(&filter);
    filter.from_ns = from;
    filter.to_ns = to;
    ttr_reader *reader =
        ttr_filter_new(ttr_open_files(t, "range", files, 2, NULL, &error), &filter, &error);
    *given = (struct given){.n = 0};
    assert_non_null(reader);
    read_on(reader, given);
    ttr_close(reader);
    buffer_free(&chunk.stream);
    ttr_free(t);
}

static void a_range_gives_its_events_whatever_its_ends_are(void **state)
{
    (void)state;
    static struct given given;
    for (int64_t from = 990; from < 4010; from += 37)
        for (int64_t to = from; to < 4020; to += 411) {
            int64_t first = from < 1000 ? 1000 : from, last = to > 4000 ? 4000 : to;
            read_range(from, to, false, &given);
            assert_int_equal(given.n, last > first ? last - first : 0);
            for (size_t i = 0; i < given.n; i++)
                assert_int_equal(given.time[i], first + (int64_t)i);
        }
}

static void what_lies_before_a_range_is_not_even_looked_at(void **state)
{
    (void)state;
    static struct given given;
    read_range(INT64_MIN, INT64_MAX, true, &given);
    assert_int_equal(given.damage, 1);
    read_range(2000, INT64_MAX, true, &given);
    assert_int_equal(given.damage, 0);
    assert_int_equal(given.n, 2000);
}

static void what_lies_behind_a_range_is_not_read(void **state)
{
    (void)state;
    static struct given given;
    read_range(INT64_MIN, 1040, true, &given);
    assert_int_equal(given.damage, 0);
    assert_int_equal(given.n, 40);
}

static void what_lies_behind_damage_is_of_a_range_whenever_it_is(void **state)
{
    (void)state;
    static struct given given;
    struct chunk chunk;
    ttr_error error;
    ttr_filter filter;
    ttr *t = ttr_new(NULL);
    buffer_init(&chunk.stream, alloc_default());
    (void)snprintf(chunk.metadata, sizeof chunk.metadata, metadata_head, UUID_A);
    static const struct packet packets[] = {
        {1, 1, 0, 2000, 10}, {NO_STREAM, 2, 0, 2010, 10}, {1, 0, 0, 1000, 10}, {1, 3, 0, 2020, 10}};
    for (size_t i = 0; i < 4; i++)
        put_packet(&chunk.stream, &packets[i]);
    const ttr_file files[] = {{"metadata", chunk.metadata, strlen(chunk.metadata)},
                              {"s", chunk.stream.bytes, chunk.stream.n}};
    ttr_filter_init(&filter);
    filter.from_ns = 1005;
    filter.to_ns = 1500;
    ttr_reader *reader =
        ttr_filter_new(ttr_open_files(t, "range", files, 2, NULL, &error), &filter, &error);
    given = (struct given){.n = 0};
    assert_non_null(reader);
    read_on(reader, &given);
    assert_int_equal(given.n, 5);
    ttr_close(reader);
    buffer_free(&chunk.stream);
    ttr_free(t);
}

static void losses_inside_a_range_are_those_of_its_packets(void **state)
{
    (void)state;
    static struct given given;
    read_range(2000, 2030, false,
               &given); /* packets 100 to 102, each a lost event more than the one before */
    assert_int_equal(given.lost, 3);
}

/* Reads a range of a stream, with an index if there is one. */
static void read_stream(const struct buffer *stream, const struct buffer *index,
                        const int64_t range[2], struct given *given)
{
    char metadata[sizeof((struct chunk *)0)->metadata];
    ttr_error error;
    ttr_filter filter;
    ttr *t = ttr_new(NULL);
    (void)snprintf(metadata, sizeof metadata, metadata_head, UUID_A);
    const ttr_file files[] = {{"metadata", metadata, strlen(metadata)},
                              {"s", stream->bytes, stream->n},
                              {"index/s.idx", index ? index->bytes : NULL, index ? index->n : 0}};
    ttr_filter_init(&filter);
    filter.from_ns = range[0];
    filter.to_ns = range[1];
    ttr_reader *reader = ttr_filter_new(
        ttr_open_files(t, "range", files, index ? 3 : 2, NULL, &error), &filter, &error);
    *given = (struct given){.n = 0};
    assert_non_null(reader);
    read_on(reader, given);
    ttr_close(reader);
    ttr_free(t);
}

/* Ten packets of ten events, from 1,000 ns on, every 10 ns a packet. */
static void put_ten(struct buffer *stream)
{
    buffer_init(stream, alloc_default());
    for (uint32_t i = 0; i < 10; i++)
        put_packet(stream, &(struct packet){1, i, 0, 1000 + 10 * i, 10});
}

static void put_u64be(struct buffer *to, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++)
        buffer_add_byte(to, (uint8_t)(value >> (56 - 8 * i)));
}

/* An index of ten packets of ten events, which may lie about when the sixth ends and the seventh
 * begins. */
static void put_index(struct buffer *index, uint64_t sixth_end, uint64_t seventh_begin)
{
    static const uint8_t head[] = {0xC1, 0xF1, 0xDC, 0xC1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 72};
    buffer_init(index, alloc_default());
    buffer_add(index, head, sizeof head);
    for (uint64_t i = 0; i < 10; i++) {
        const uint64_t numbers[] = {144 * i,
                                    144 * 8,
                                    144 * 8,
                                    i == 6 ? seventh_begin : 1000 + 10 * i,
                                    i == 5 ? sixth_end : 1009 + 10 * i,
                                    0,
                                    0,
                                    1,
                                    i};
        for (size_t k = 0; k < 9; k++)
            put_u64be(index, numbers[k]);
    }
}

static void an_index_that_lies_about_one_packet_hides_none_of_its_events(void **state)
{
    (void)state;
    static struct given given;
    static const uint64_t lies[][2] = {{1052, 1060}, {1051, 1052}, {1059, 1060}};
    struct buffer stream, index;
    put_ten(&stream);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        put_index(&index, lies[i][0], lies[i][1]);
        read_stream(&stream, &index, (const int64_t[]){1055, INT64_MAX}, &given);
        assert_int_equal(given.n, 45);
        assert_int_equal(given.wrong, i == 1 ? 2 : 0); /* told where the range begins by it */
        read_stream(&stream, &index, (const int64_t[]){1055, 1065}, &given);
        assert_int_equal(given.n, 10);
        read_stream(&stream, &index, (const int64_t[]){INT64_MIN, INT64_MAX}, &given);
        assert_int_equal(given.n, 100);
        assert_int_equal(given.wrong, i == 0 ? 1
                                      : i == 1
                                          ? 2
                                          : 0); /* all that is wrong is told where all is read */
        buffer_free(&index);
    }
    buffer_free(&stream);
}

/* By the index it is the packet before the first one of the range, at which the file is entered. */
static void damage_that_the_index_does_not_know_hides_no_packet_behind_it(void **state)
{
    (void)state;
    static struct given given;
    struct buffer stream, index;
    put_ten(&stream);
    memset(stream.bytes + 5 * 144, 0, 144);
    put_index(&index, 1059, 1060);
    read_stream(&stream, &index, (const int64_t[]){1062, INT64_MAX}, &given);
    assert_int_equal(given.n, 38);
    assert_int_equal(given.time[0], 1062);
    buffer_free(&stream);
    buffer_free(&index);
}

/* Changes the times of a packet's header. */
static void set_times(struct buffer *stream, size_t packet, uint64_t begin, uint64_t end)
{
    store_u64le(stream->bytes + packet * 144 + 12, begin);
    store_u64le(stream->bytes + packet * 144 + 20, end);
}

static void events_later_than_their_packet_says_are_of_a_range(void **state)
{
    (void)state;
    static struct given given;
    struct buffer stream;
    put_ten(&stream);
    set_times(&stream, 5, 1050, 1050);
    read_stream(&stream, NULL, (const int64_t[]){1055, INT64_MAX}, &given);
    assert_int_equal(given.n, 45);
    assert_int_equal(given.time[0], 1055);
    buffer_free(&stream);
}

static void events_earlier_than_their_packet_says_are_of_a_range(void **state)
{
    (void)state;
    static struct given given;
    struct buffer stream;
    put_ten(&stream);
    set_times(&stream, 5, 1059, 1059);
    read_stream(&stream, NULL, (const int64_t[]){INT64_MIN, 1055}, &given);
    assert_int_equal(given.n, 55);
    buffer_free(&stream);
}

static void events_of_a_range_are_found_though_their_packet_and_the_next_say_to_be_before_it(
    void **state)
{
    (void)state;
    static struct given given;
    struct buffer stream;
    put_ten(&stream);
    set_times(&stream, 5, 1050, 1050);
    set_times(&stream, 6, 1051, 1069);
    read_stream(&stream, NULL, (const int64_t[]){1055, INT64_MAX}, &given);
    assert_int_equal(given.n, 45);
    assert_int_equal(given.late, 1);
    assert_int_equal(given.gaps, 0);
    buffer_free(&stream);
}

static void events_of_a_range_are_found_though_the_packet_before_them_says_to_end_behind_it(
    void **state)
{
    (void)state;
    static struct given given;
    for (size_t empty = 0; empty < 2; empty++) { /* of the packets between */
        struct buffer stream;
        put_ten(&stream);
        set_times(&stream, 4, 1040, 1059);
        set_times(&stream, 5, 1059, 1059);
        store_u32le(stream.bytes + 5 * 144 + 28, empty ? 44 * 8 : 144 * 8);
        set_times(&stream, 5 + empty, 1059 + 10 * empty, 1069);
        read_stream(&stream, NULL, (const int64_t[]){INT64_MIN, empty ? 1065 : 1055}, &given);
        assert_int_equal(given.n, 55);
        assert_int_equal(given.early, 1);
        buffer_free(&stream);
    }
}

static void a_range_is_found_in_a_stream_whose_packets_tell_other_times_than_their_events(
    void **state)
{
    (void)state;
    static struct given given;
    static const int64_t shifts[] = {-900, -123, -25, 25, 123, 900};
    for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++) {
        struct buffer stream;
        put_ten(&stream);
        for (uint32_t k = 0; k < 10; k++)
            set_times(&stream, k, 1000 + 10 * k + (uint64_t)shifts[i],
                      1009 + 10 * k + (uint64_t)shifts[i]);
        for (int64_t from = 1000; from < 1090; from += 7) {
            read_stream(&stream, NULL, (const int64_t[]){from, from + 11}, &given);
            assert_int_equal(given.n, 11);
            assert_int_equal(given.time[0], from);
            assert_true(shifts[i] < 0 ? given.late > 0 : given.early > 0);
        }
        buffer_free(&stream);
    }
}

static void an_event_shortly_behind_the_end_of_the_last_packet_is_of_a_range(void **state)
{
    (void)state;
    static struct given given;
    struct buffer stream;
    put_ten(&stream);
    store_u64le(stream.bytes + 9 * 144 + 44 + 9 * 10 + 1, 1107); /* the last event's time */
    read_stream(&stream, NULL, (const int64_t[]){1105, INT64_MAX}, &given);
    assert_int_equal(given.n, 1);
    assert_int_equal(given.time[0], 1107);
    buffer_free(&stream);
}

static void an_event_far_behind_the_end_of_its_packet_is_told(void **state)
{
    (void)state;
    static struct given given;
    struct buffer stream;
    put_ten(&stream);
    store_u64le(stream.bytes + 9 * 144 + 44 + 9 * 10 + 1, 5000);
    read_stream(&stream, NULL, (const int64_t[]){INT64_MIN, INT64_MAX}, &given);
    assert_int_equal(given.late, 1);
    assert_int_equal(given.n, 100);
    read_stream(&stream, NULL, (const int64_t[]){4000, INT64_MAX}, &given);
    assert_int_equal(given.n, 0);
    buffer_free(&stream);
}

static void a_packet_without_events_says_nothing_of_those_before_it(void **state)
{
    (void)state;
    static struct given given;
    struct buffer stream;
    put_ten(&stream);
    store_u64le(stream.bytes + 9 * 144 + 44 + 9 * 10 + 1, 1107); /* the last event's time */
    put_packet(&stream, &(struct packet){1, 10, 0, 1100, 0});
    store_u64le(stream.bytes + 10 * 144 + 20, 1100);
    read_stream(&stream, NULL, (const int64_t[]){1105, INT64_MAX}, &given);
    assert_int_equal(given.n, 1);
    buffer_free(&stream);
}

/* A file of two streams, of which one ends early. */
static void the_last_packet_of_each_stream_of_a_file_is_looked_at(void **state)
{
    (void)state;
    static struct given given;
    struct buffer stream;
    buffer_init(&stream, alloc_default());
    for (uint32_t i = 0; i < 20; i++)
        put_packet(&stream, &(struct packet){i == 1 || i == 3 ? 1 : 2, i, 0, 1000 + 10 * i, 10});
    store_u64le(stream.bytes + 3 * 144 + 44 + 9 * 10 + 1, 5000); /* the last event of stream 1 */
    read_stream(&stream, NULL, (const int64_t[]){4000, INT64_MAX}, &given);
    assert_int_equal(given.n, 1);
    buffer_free(&stream);
}

/* --- Metadata from elsewhere --- */

static void metadata_of_another_file_is_read_instead(void **state)
{
    (void)state;
    static struct given given;
    char path[] = "/tmp/ttr-ctf-XXXXXX", option[64], text[1200];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    int n = snprintf(text, sizeof text, metadata_head, UUID_A);
    assert_int_equal(write(fd, text, (size_t)n), n);
    assert_int_equal(close(fd), 0);
    struct buffer stream;
    buffer_init(&stream, alloc_default());
    put_packet(&stream, &(struct packet){1, 0, 0, 10, 3});
    (void)snprintf(option, sizeof option, "metadata=%s", path);
    const ttr_file files[] = {{"metadata", "/* CTF 1.8 */ broken", 20},
                              {"s", stream.bytes, stream.n}};
    const char *const wishes[] = {option, NULL};
    ttr_read_options options = {.size = sizeof options, .format_options = wishes};
    ttr_error error;
    ttr *t = ttr_new(NULL);
    assert_null(ttr_open_files(t, "elsewhere", files, 2, NULL, &error));
    ttr_reader *reader = ttr_open_files(t, "elsewhere", files, 2, &options, &error);
    assert_non_null(reader);
    given = (struct given){.n = 0};
    read_on(reader, &given);
    assert_int_equal(given.n, 3);
    ttr_close(reader);
    ttr_free(t);
    buffer_free(&stream);
    (void)unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rotated_chunks_are_one_stream_with_one_count_of_losses),
        cmocka_unit_test(packets_of_an_earlier_snapshot_are_left_out),
        cmocka_unit_test(copies_of_packets_are_found_wherever_they_stand),
        cmocka_unit_test(copies_leave_them_out_too),
        cmocka_unit_test(copies_leave_out_those_behind_packets_of_another_stream),
        cmocka_unit_test(packets_of_another_stream_behind_damage_are_no_copies),
        cmocka_unit_test(packets_that_an_earlier_snapshot_lost_are_given),
        cmocka_unit_test(packets_of_a_file_are_no_copies_of_its_own),
        cmocka_unit_test(traces_of_other_uuids_keep_their_packets),
        cmocka_unit_test(other_streams_of_the_trace_keep_theirs),
        cmocka_unit_test(files_that_claim_to_be_of_one_stream_keep_what_no_other_has),
        cmocka_unit_test(packets_damaged_in_one_snapshot_are_read_from_the_other),
        cmocka_unit_test(of_many_packets_that_differ_it_is_told_where_they_are_not_tried),
        cmocka_unit_test(of_three_snapshots_one_gives_the_packet),
        cmocka_unit_test(a_packet_that_one_of_three_snapshots_has_whole_is_read_once),
        cmocka_unit_test(a_range_gives_its_events_whatever_its_ends_are),
        cmocka_unit_test(what_lies_before_a_range_is_not_even_looked_at),
        cmocka_unit_test(what_lies_behind_a_range_is_not_read),
        cmocka_unit_test(what_lies_behind_damage_is_of_a_range_whenever_it_is),
        cmocka_unit_test(losses_inside_a_range_are_those_of_its_packets),
        cmocka_unit_test(an_index_that_lies_about_one_packet_hides_none_of_its_events),
        cmocka_unit_test(damage_that_the_index_does_not_know_hides_no_packet_behind_it),
        cmocka_unit_test(events_later_than_their_packet_says_are_of_a_range),
        cmocka_unit_test(events_earlier_than_their_packet_says_are_of_a_range),
        cmocka_unit_test(
            events_of_a_range_are_found_though_their_packet_and_the_next_say_to_be_before_it),
        cmocka_unit_test(
            events_of_a_range_are_found_though_the_packet_before_them_says_to_end_behind_it),
        cmocka_unit_test(
            a_range_is_found_in_a_stream_whose_packets_tell_other_times_than_their_events),
        cmocka_unit_test(an_event_shortly_behind_the_end_of_the_last_packet_is_of_a_range),
        cmocka_unit_test(an_event_far_behind_the_end_of_its_packet_is_told),
        cmocka_unit_test(a_packet_without_events_says_nothing_of_those_before_it),
        cmocka_unit_test(the_last_packet_of_each_stream_of_a_file_is_looked_at),
        cmocka_unit_test(metadata_of_another_file_is_read_instead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
