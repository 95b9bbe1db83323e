/* Discarded events of transcoded CTF: counters of written packets, byte by byte. Expected numbers
 * are computed by hand from those of the source. Packets: see ctf_packet_writer.c (CTF 1.8, 2) and
 * rfc11_packet.h (v1.1). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "support/support.h"

#include <tracetta/advanced.h>
#include <tracetta/tracetta.h>

#define HEAD 37u /* bytes of a packet's header and context in the source */
#define EVENT 6u

static const char metadata[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 8; align = 8; } := u8; typealias integer { size = 32; align = 8; } "
    ":= u32;\n"
    "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 "
    "stream_id; u32 stream_instance_id; }; };\n"
    "clock { name = c; freq = 1000000000; }; typealias integer { size = 32; align = 8; map = "
    "clock.c.value; } := t32;\n"
    "stream { id = 0; packet.context := struct { t32 timestamp_begin; t32 timestamp_end; u32 "
    "content_size; u32 packet_size; u32 packet_seq_num;\n"
    "    u32 events_discarded; u8 cpu_id; }; event.header := struct { u8 id; t32 timestamp; }; };\n"
    "event { name = e; id = 0; stream_id = 0; fields := struct { u8 x; }; };\n";

/* A packet with one event per nanosecond from `begin` on. */
struct packet {
    uint32_t begin, end, sequence, discarded,
        events; /* sequence | OTHER: packet of another data stream */
};

#define OTHER (1u << 16)

/* Files of one data stream, in reading order. */
struct scene {
    uint8_t *bytes[3];
    ttr_file files[4];
    size_t n;
    uint32_t flags; /* flags of ttr_read_options */
    bool is_sorted; /* events are sorted, so they are copies without their packet */
    const char *options[4];
    char folder[64];                /* output folder; "" = no output */
    uint64_t gaps, events, packets; /* lost gaps of unknown size; lost events and packets */
    uint64_t times;                 /* gaps with changed times */
};

static void put_u32(uint8_t **to, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        *(*to)++ = (uint8_t)(value >> 8 * i);
}

static void put_packet(uint8_t **to, const struct packet *packet)
{
    const uint32_t bits = (HEAD + EVENT * packet->events) * 8;
    const uint32_t numbers[] = {
        0xC1FC1FC1, 0,    packet->sequence / OTHER, packet->begin,    packet->end,
        bits,       bits, packet->sequence % OTHER, packet->discarded};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        put_u32(to, numbers[i]);
    *(*to)++ = 5; /* cpu */
    for (uint32_t i = 0; i < packet->events; i++) {
        *(*to)++ = 0;
        put_u32(to, packet->begin + i);
        *(*to)++ = (uint8_t)i;
    }
}

static void add_file(struct scene *scene, const struct packet *packets, size_t n)
{
    static const char *const names[] = {"s0", "s1", "s2"};
    size_t size = 0, i = scene->n++;
    for (size_t k = 0; k < n; k++)
        size += HEAD + EVENT * packets[k].events;
    uint8_t *at = scene->bytes[i] = malloc(size);
    assert_non_null(at);
    for (size_t k = 0; k < n; k++)
        put_packet(&at, &packets[k]);
    scene->files[i] = (ttr_file){names[i], scene->bytes[i], size};
}

/* Transcodes the scene and adds up its losses. Returns false if memory runs out. */
static bool transcode_scene(struct scene *scene, const struct alloc *alloc)
{
    const ttr_options memory = {
        .size = sizeof memory, .resize = alloc->resize, .user_data = alloc->ctx};
    const ttr_write_options how = {
        .size = sizeof how, .format_options = scene->options, .flags = TTR_WRITE_OVERWRITE};
    const ttr_read_options read = {.size = sizeof read, .flags = scene->flags};
    const ttr_loss *losses;
    ttr_batch batch;
    scene->files[scene->n] = (ttr_file){"metadata", metadata, sizeof metadata - 1};
    ttr *t = ttr_new(&memory);
    ttr_reader *in =
        t ? ttr_open_files(t, "missing", scene->files, scene->n + 1, &read, NULL) : NULL;
    in = in && scene->is_sorted ? ttr_sort(in, NULL) : in;
    ttr_writer *out =
        in ? ttr_create(t, *scene->folder ? scene->folder : NULL, "ctf", &how, NULL) : NULL;
    ttr_status status = out ? TTR_OK : TTR_E_NOMEM;
    while (status == TTR_OK && (status = ttr_read(in, &batch, NULL)) == TTR_OK)
        status = ttr_write(out, &batch, NULL);
    bool is_whole = status == TTR_END;
    status = is_whole ? ttr_writer_end(out, NULL) : status;
    for (size_t i = 0, n = status == TTR_OK ? ttr_losses(out, &losses) : 0; i < n; i++) {
        scene->gaps += strcmp(losses[i].code, "event.gap") == 0 ? losses[i].count : 0;
        scene->events += strcmp(losses[i].code, "events.missing") == 0 ? losses[i].count : 0;
        scene->times += strcmp(losses[i].code, "gap.time") == 0 ? losses[i].count : 0;
        scene->packets += strcmp(losses[i].code, "packets.missing") == 0 ? losses[i].count : 0;
    }
    ttr_writer_abort(out);
    assert_true(status == TTR_OK || status == TTR_E_NOMEM);
    ttr_close(in);
    ttr_free(t);
    return status == TTR_OK;
}

static void begin_scene(struct scene *scene, const char *version, uint32_t flags)
{
    *scene =
        (struct scene){.flags = flags, .options = {version, "byte-order=be", "packet-size=4096"}};
    (void)snprintf(scene->folder, sizeof scene->folder, "/tmp/tracetta-missing-XXXXXX");
    assert_non_null(mkdtemp(scene->folder));
}

static void end_scene(struct scene *scene)
{
    char command[128];
    (void)snprintf(command, sizeof command, "rm -r '%s'", scene->folder);
    assert_int_equal(system(command), 0);
    for (size_t i = 0; i < scene->n; i++)
        free(scene->bytes[i]);
}

static size_t load_file(const struct scene *scene, const char *name, uint8_t *bytes, size_t size)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/%s", scene->folder, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t n = fread(bytes, 1, size, file);
    (void)fclose(file);
    return n;
}

/* Asserts that a file has exactly these packets; their numbers of events are only compared with 0.
 */
static void expect_packets(const struct scene *scene, const char *name,
                           const struct packet *packets, size_t n)
{
    static uint8_t bytes[65536];
    const size_t size = load_file(scene, name, bytes, sizeof bytes);
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        assert_true(size - at >= 81);
        assert_int_equal(load_u64be(bytes + at + 32), packets[i].begin);
        assert_int_equal(load_u64be(bytes + at + 40), packets[i].end);
        assert_int_equal(load_u64be(bytes + at + 64), packets[i].sequence);
        assert_int_equal(load_u64be(bytes + at + 72), packets[i].discarded);
        assert_int_equal(bytes[at + (scene->is_sorted ? 83 : 80)],
                         /* cpu_id: the source's own field, or with sorted events a 32-bit member */
                         5);
        assert_true(
            (load_u64be(bytes + at + 48) > (scene->is_sorted ? UINT64_C(84) : UINT64_C(81)) * 8) ==
            (packets[i].events > 0));
        at += (size_t)load_u64be(bytes + at + 56) / 8;
    }
    assert_int_equal(at, size);
}

/* Transcodes one file to CTF 1.8 and 2, with and without packet definitions, and asserts that
 * nothing is lost. */
static void check_one_file(const struct packet *packets, size_t n, const struct packet *expected,
                           size_t expected_n)
{
    static const char *const versions[] = {"version=1.8", "version=2"};
    for (size_t i = 0; i < 4; i++) {
        struct scene scene;
        begin_scene(&scene, versions[i / 2], i % 2 ? TTR_READ_DEFINITIONS : 0);
        add_file(&scene, packets, n);
        assert_true(transcode_scene(&scene, alloc_default()));
        expect_packets(&scene, "s0", expected, expected_n);
        assert_int_equal(scene.gaps + scene.events + scene.packets, 0);
        end_scene(&scene);
    }
}

static void gap_after_empty_first_packet_is_kept(void **state)
{
    (void)state;
    check_one_file((struct packet[]){{1000, 1005, 0, 0, 0}, {1010, 1020, 1, 7, 2}}, 2,
                   (struct packet[]){{1005, 1005, 0, 0, 0}, {1010, 1020, 1, 7, 2}}, 2);
}

static void first_counters_above_zero_are_kept(void **state)
{
    (void)state;
    check_one_file((struct packet[]){{1000, 1005, 3, 5, 0}, {1010, 1020, 4, 12, 2}}, 2,
                   (struct packet[]){{1005, 1005, 3, 5, 0}, {1010, 1020, 4, 12, 2}}, 2);
    check_one_file((struct packet[]){{1010, 1020, 4, 12, 2}, {1030, 1040, 5, 12, 1}}, 2,
                   (struct packet[]){{1010, 1020, 4, 12, 2}, {1030, 1040, 5, 12, 1}}, 2);
}

static void packet_gap_after_empty_first_packet_is_kept(void **state)
{
    (void)state;
    check_one_file((struct packet[]){{1000, 1005, 0, 0, 0}, {1010, 1020, 3, 0, 1}}, 2,
                   (struct packet[]){{1005, 1005, 0, 0, 0}, {1010, 1020, 3, 0, 1}}, 2);
    check_one_file((struct packet[]){{1000, 1005, 2, 1, 0}, {1010, 1020, 9, 4, 1}}, 2,
                   (struct packet[]){{1005, 1005, 2, 1, 0}, {1010, 1020, 9, 4, 1}}, 2);
}

static void gap_in_packet_0_needs_no_empty_packet(void **state)
{
    (void)state;
    check_one_file((struct packet[]){{1000, 1005, 0, 7, 1}}, 1,
                   (struct packet[]){{1000, 1005, 0, 7, 1}}, 1);
    check_one_file((struct packet[]){{1000, 1005, 0, 0, 0}, {1010, 1020, 1, 0, 1}}, 2,
                   (struct packet[]){{1010, 1020, 1, 0, 1}}, 1);
}

static void gap_after_last_event_is_kept(void **state)
{
    const struct packet packets[] = {{1000, 1005, 0, 0, 2}, {1010, 1020, 3, 7, 0}};
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct scene scene;
        begin_scene(&scene, "version=1.8", i ? TTR_READ_DEFINITIONS : 0);
        add_file(&scene, packets, 2);
        assert_true(transcode_scene(&scene, alloc_default()));
        expect_packets(&scene, "s0", packets, 2);
        assert_int_equal(scene.gaps + scene.events + scene.packets, 0);
        end_scene(&scene);
    }
}

/* [20..23] number | [24..31] begin | [32..39] end | [40..43] discarded */
static void rfc_1_1_packet_has_same_counters(void **state)
{
    static uint8_t bytes[16384];
    struct scene scene;
    (void)state;
    begin_scene(&scene, "version=1.1", TTR_READ_DEFINITIONS);
    add_file(&scene, (struct packet[]){{1000, 1005, 1, 2, 0}, {1010, 1020, 4, 9, 1}}, 2);
    assert_true(transcode_scene(&scene, alloc_default()));
    assert_true(load_file(&scene, "s0_5", bytes, sizeof bytes) > 96);
    const size_t second = load_u32be(bytes + 12);
    assert_true(second < sizeof bytes - 48);
    support_assert_hex(bytes + 20, 24, "00000001 00000000000003ed 00000000000003ed 00000002");
    support_assert_hex(bytes + second + 20, 24,
                       "00000004 00000000000003f2 00000000000003fc 00000009");
    assert_int_equal(scene.gaps + scene.events + scene.packets, 0);
    end_scene(&scene);
}

static void gap_in_stream_without_events_is_counted_as_lost(void **state)
{
    struct scene scene;
    (void)state;
    begin_scene(&scene, "version=1.8", TTR_READ_DEFINITIONS);
    add_file(&scene, (struct packet[]){{1000, 1005, 0, 0, 0}, {1010, 1020, 3, 7, 0}}, 2);
    assert_true(transcode_scene(&scene, alloc_default()));
    assert_int_equal(scene.gaps, 0);
    assert_int_equal(scene.events, 7);
    assert_int_equal(scene.packets, 2);
    end_scene(&scene);
}

/* 1,200 events of 7 bytes fill three packets of at most 4,096 bytes: 573, 573, 54. */
static void next_file_continues_numbers_after_split_packets(void **state)
{
    struct scene scene;
    (void)state;
    begin_scene(&scene, "version=1.8", TTR_READ_DEFINITIONS);
    add_file(&scene, (struct packet[]){{10000, 11200, 20, 0, 1200}}, 1);
    add_file(&scene, (struct packet[]){{12000, 12010, 21, 0, 0}, {12010, 12020, 22, 6, 1}}, 2);
    add_file(&scene, (struct packet[]){{13000, 13010, 25, 6, 1}}, 1);
    assert_true(transcode_scene(&scene, alloc_default()));
    expect_packets(&scene, "s0",
                   (struct packet[]){{10000, 10572, 20, 0, 573},
                                     {10573, 11145, 21, 0, 573},
                                     {11146, 11200, 22, 0, 54}},
                   3);
    expect_packets(&scene, "s1", (struct packet[]){{12010, 12020, 23, 6, 1}}, 1);
    expect_packets(&scene, "s2", (struct packet[]){{13000, 13010, 26, 6, 1}}, 1);
    assert_int_equal(scene.gaps + scene.events + scene.packets, 0);
    end_scene(&scene);
}

/* The counter of a packet covers the time up to its end; if it were split, only the last part would
 * have it. */
static void packet_with_counter_to_end_is_not_split(void **state)
{
    static const char *const versions[] = {"version=1.8", "version=2", "version=1.8"};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct scene scene;
        begin_scene(&scene, versions[i], i ? 0 : TTR_READ_DEFINITIONS);
        add_file(&scene,
                 (struct packet[]){{10000, 11300, 0, 3, 1200},
                                   {12000, 13300, 1, 7, 1200},
                                   {14000, 15300, 2, 7, 1200}},
                 3);
        assert_true(transcode_scene(&scene, alloc_default()));
        expect_packets(&scene, "s0",
                       (struct packet[]){{10000, 11300, 0, 3, 1200},
                                         {12000, 13300, 1, 7, 1200},
                                         {14000, 14572, 2, 7, 573},
                                         {14573, 15145, 3, 7, 573},
                                         {15146, 15300, 4, 7, 54}},
                       5);
        assert_int_equal(scene.gaps + scene.events + scene.packets + scene.times, 0);
        end_scene(&scene);
    }
}

static void first_packet_with_unknown_gap_is_not_split(void **state)
{
    struct scene scene;
    (void)state;
    begin_scene(&scene, "version=1.8", 0);
    add_file(&scene, (struct packet[]){{10000, 11300, 7, 3, 1200}}, 1);
    assert_true(transcode_scene(&scene, alloc_default()));
    expect_packets(&scene, "s0", (struct packet[]){{10000, 11300, 7, 3, 1200}}, 1);
    assert_int_equal(scene.gaps + scene.events + scene.packets + scene.times, 0);
    end_scene(&scene);
}

/* 8 MiB plus 4,096 bytes hold 1,198,946 events of 7 bytes and a head of 81 bytes. */
static void packet_above_memory_share_is_split_and_counted(void **state)
{
    static uint8_t bytes[80];
    struct scene scene;
    (void)state;
    begin_scene(&scene, "version=1.8", 0);
    add_file(&scene, (struct packet[]){{10000, 11000, 0, 0, 1}, {2000000, 3300100, 1, 7, 1300000}},
             2);
    assert_true(transcode_scene(&scene, alloc_default()));
    char path[128];
    (void)snprintf(path, sizeof path, "%s/s0", scene.folder);
    FILE *file = fopen(path, "rb");
    assert_true(file && fseek(file, 88, SEEK_SET) == 0 &&
                fread(bytes, 1, sizeof bytes, file) == sizeof bytes);
    (void)fclose(file);
    assert_int_equal(load_u64be(bytes + 56) / 8, 81 + 7 * 1198946);
    assert_int_equal(load_u64be(bytes + 40), 2000000 + 1198945);
    assert_int_equal(load_u64be(bytes + 72), 7);
    assert_int_equal(scene.times, 1);
    assert_int_equal(scene.gaps + scene.events + scene.packets, 0);
    end_scene(&scene);
}

/* Each file has packets of two data streams with independent counters. */
static void streams_of_one_file_have_separate_counters(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct scene scene;
        begin_scene(&scene, "version=1.8", i ? TTR_READ_DEFINITIONS : 0);
        add_file(&scene,
                 (struct packet[]){{10000, 10010, 0, 0, 1}, {11000, 11010, 7 | OTHER, 30, 1}}, 2);
        add_file(&scene,
                 (struct packet[]){{12000, 12010, 1, 2, 1}, {13000, 13010, 9 | OTHER, 31, 1}}, 2);
        assert_true(transcode_scene(&scene, alloc_default()));
        expect_packets(&scene, "s0", (struct packet[]){{10000, 10010, 0, 0, 1}}, 1);
        expect_packets(&scene, "s0-2", (struct packet[]){{11000, 11010, 7, 30, 1}}, 1);
        expect_packets(&scene, "s1", (struct packet[]){{12000, 12010, 1, 2, 1}}, 1);
        expect_packets(&scene, "s1-2", (struct packet[]){{13000, 13010, 9, 31, 1}}, 1);
        assert_int_equal(scene.events + scene.packets, 0);
        end_scene(&scene);
    }
}

static void gap_at_file_end_moves_to_next_file(void **state)
{
    struct scene scene;
    (void)state;
    begin_scene(&scene, "version=1.8", 0);
    add_file(&scene, (struct packet[]){{10000, 10010, 0, 0, 1}, {10010, 10020, 2, 7, 0}}, 2);
    add_file(&scene, (struct packet[]){{12000, 12010, 3, 9, 1}}, 1);
    assert_true(transcode_scene(&scene, alloc_default()));
    expect_packets(&scene, "s0", (struct packet[]){{10000, 10010, 0, 0, 1}}, 1);
    expect_packets(&scene, "s1", (struct packet[]){{12000, 12010, 2, 9, 1}}, 1);
    assert_int_equal(scene.gaps + scene.events + scene.packets, 0);
    end_scene(&scene);
}

static void gap_of_file_without_events_moves_to_other_file(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct scene scene;
        begin_scene(&scene, "version=1.8", i ? TTR_READ_DEFINITIONS : 0);
        add_file(&scene, (struct packet[]){{10000, 10010, 0, 0, 0}, {10010, 10020, 2, 7, 0}}, 2);
        add_file(&scene, (struct packet[]){{12000, 12010, 3, 9, 1}}, 1);
        add_file(&scene, (struct packet[]){{13000, 13010, 5, 10, 0}}, 1);
        assert_true(transcode_scene(&scene, alloc_default()));
        expect_packets(&scene, "s1",
                       (struct packet[]){{10010, 10010, 0, 0, 0},
                                         {12000, 12010, 2, 9, 1},
                                         {12010, 12010, 4, 10, 0}},
                       3);
        assert_int_equal(scene.gaps + scene.events + scene.packets, 0);
        end_scene(&scene);
    }
}

/* The file before has no written events, and its counters do not start at 0. */
static void file_after_one_without_events_starts_at_zero(void **state)
{
    struct scene scene;
    (void)state;
    begin_scene(&scene, "version=1.8", 0);
    add_file(&scene, (struct packet[]){{10000, 10010, 5, 3, 0}}, 1);
    add_file(&scene, (struct packet[]){{12000, 12010, 7, 9, 1}}, 1);
    assert_true(transcode_scene(&scene, alloc_default()));
    expect_packets(&scene, "s1",
                   (struct packet[]){{10010, 10010, 0, 0, 0}, {12000, 12010, 2, 6, 1}}, 2);
    assert_int_equal(scene.events + scene.packets, 0);
    assert_int_equal(scene.gaps, 1);
    end_scene(&scene);
}

static void gap_between_sorted_events_ends_packet(void **state)
{
    static const char *const versions[] = {"version=1.8", "version=2"};
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct scene scene;
        begin_scene(&scene, versions[i], TTR_READ_UNORDERED);
        scene.is_sorted = true;
        add_file(&scene,
                 (struct packet[]){{1000, 1005, 0, 0, 2},
                                   {1005, 1009, 1, 0, 1},
                                   {1010, 1020, 4, 7, 2},
                                   {1030, 1040, 5, 8, 1},
                                   {1050, 1060, 6, 8, 1},
                                   {1070, 1080, 7, 9, 0}},
                 6);
        assert_true(transcode_scene(&scene, alloc_default()));
        expect_packets(&scene, "s0",
                       (struct packet[]){{1000, 1009, 0, 0, 3},
                                         {1010, 1020, 3, 7, 2},
                                         {1030, 1040, 4, 8, 1},
                                         {1050, 1060, 5, 8, 1},
                                         {1080, 1080, 6, 9, 0}},
                       5);
        assert_int_equal(scene.gaps + scene.events + scene.packets + scene.times, 0);
        end_scene(&scene);
    }
}

static bool transcode_with_gaps_at_both_ends(const struct alloc *alloc)
{
    struct scene scene = {.flags = 0, .options = {"version=1.8", "byte-order=be"}};
    add_file(&scene,
             (struct packet[]){{1000, 1005, 0, 0, 0}, {1010, 1020, 2, 7, 1}, {1030, 1040, 3, 9, 0}},
             3);
    bool is_through = transcode_scene(&scene, alloc);
    free(scene.bytes[0]);
    return is_through;
}

static void failed_allocation_returns_nomem_without_leak(void **state)
{
    (void)state;
    support_fail_each(transcode_with_gaps_at_both_ends);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gap_after_empty_first_packet_is_kept),
        cmocka_unit_test(first_counters_above_zero_are_kept),
        cmocka_unit_test(packet_gap_after_empty_first_packet_is_kept),
        cmocka_unit_test(gap_in_packet_0_needs_no_empty_packet),
        cmocka_unit_test(gap_after_last_event_is_kept),
        cmocka_unit_test(rfc_1_1_packet_has_same_counters),
        cmocka_unit_test(gap_in_stream_without_events_is_counted_as_lost),
        cmocka_unit_test(next_file_continues_numbers_after_split_packets),
        cmocka_unit_test(packet_with_counter_to_end_is_not_split),
        cmocka_unit_test(first_packet_with_unknown_gap_is_not_split),
        cmocka_unit_test(packet_above_memory_share_is_split_and_counted),
        cmocka_unit_test(streams_of_one_file_have_separate_counters),
        cmocka_unit_test(gap_at_file_end_moves_to_next_file),
        cmocka_unit_test(gap_of_file_without_events_moves_to_other_file),
        cmocka_unit_test(file_after_one_without_events_starts_at_zero),
        cmocka_unit_test(gap_between_sorted_events_ends_packet),
        cmocka_unit_test(failed_allocation_returns_nomem_without_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
