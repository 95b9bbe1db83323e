/* Several folders of one trace, and metadata from elsewhere: not covered by golden vectors, which
 * have one folder. */
#include "formats/ctf/read/ctf_duplicate_packets.h"
#include "formats/ctf/read/ctf_packets_test.h"

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

/* Opens two folders as if found below one directory, and reads them. */
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

static void rotated_chunks_continue_stream_counters(void **state)
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
    read_chunks(uuids, second, 2, first, 2, &given); /* the order of the folders does not matter */
    assert_int_equal(given.n, 8);
    assert_int_equal(given.lost, 5);
    assert_int_equal(given.gaps, 2);
    for (size_t i = 1; i < given.n; i++)
        assert_true(given.time[i] > given.time[i - 1]);
}

static void packets_of_an_earlier_snapshot_are_skipped(void **state)
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

static void duplicate_packets_are_found_at_any_position(void **state)
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
        second[0].events = 1; /* so it is a different packet */
        read_chunks(uuids, first, 100, second, 50, &given);
        assert_int_equal(given.n, 299);
        assert_int_equal(given.duplicates, 0);
    }
}

/* Expected number of events and of duplicate packets for two chunks of a trace. */
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

static void copying_skips_duplicate_packets(void **state)
{
    (void)state;
    static const struct packet first[] = {{1, 4, 0, 10, 2}, {1, 5, 0, 20, 2}, {1, 6, 0, 30, 2}};
    static const struct packet second[] = {
        {1, 5, 0, 20, 2}, {1, 6, 0, 30, 2}, {2, 5, 0, 20, 2}, {1, 7, 2, 40, 2}};
    expect_left_out(first, 3, second, 4, (struct left_out){TTR_READ_DEFINITIONS, 10, 2});
}

static void copying_skips_duplicates_after_another_stream(void **state)
{
    (void)state;
    static const struct packet first[] = {{1, 4, 0, 10, 2}, {1, 5, 0, 20, 2}};
    static const struct packet second[] = {{2, 5, 0, 20, 2}, {1, 5, 0, 20, 2}};
    expect_left_out(first, 2, second, 2, (struct left_out){0, 6, 1});
    expect_left_out(first, 2, second, 2, (struct left_out){TTR_READ_DEFINITIONS, 6, 1});
}

static void packets_of_another_stream_after_damage_are_not_duplicates(void **state)
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

static void packets_missing_in_an_earlier_snapshot_are_read(void **state)
{
    (void)state;
    static const struct packet first[] = {{1, 4, 0, 10, 2}, {1, 6, 0, 30, 2}};
    static const struct packet second[] = {
        {1, 4, 0, 10, 2}, {1, 5, 0, 20, 2}, {1, 6, 0, 30, 2}, {1, 7, 0, 40, 2}};
    expect_left_out(first, 2, second, 4, (struct left_out){0, 8, 2});
    expect_left_out(first, 2, second, 4, (struct left_out){TTR_READ_DEFINITIONS, 8, 2});
}

static void repeated_packets_within_a_file_are_not_duplicates(void **state)
{
    (void)state;
    static const struct packet first[] = {{1, 5, 0, 10, 20}, {1, 4, 0, 12, 2}},
                               second[] = {{1, 3, 0, 11, 2}};
    expect_left_out(first, 2, second, 1, (struct left_out){0, 24, 0});
}

static void traces_with_different_uuids_keep_their_packets(void **state)
{
    (void)state;
    static const char *const uuids[] = {UUID_A, UUID_B};
    static const struct packet packets[] = {{1, 4, 0, 10, 2}, {1, 5, 0, 20, 2}};
    static struct given given;
    read_chunks(uuids, packets, 2, packets, 2, &given);
    assert_int_equal(given.n, 8);
    assert_int_equal(given.duplicates, 0);
}

static void different_streams_keep_their_packets(void **state)
{
    (void)state;
    static const char *const uuids[] = {UUID_A, UUID_A};
    static const struct packet first[] = {{1, 4, 0, 10, 2}}, second[] = {{2, 4, 0, 10, 2}};
    static struct given given;
    read_chunks(uuids, first, 1, second, 1, &given);
    assert_int_equal(given.n, 4);
    assert_int_equal(given.duplicates, 0);
}

static void overlapping_files_of_one_stream_number_keep_their_packets(void **state)
{
    (void)state;
    static const char *const uuids[] = {UUID_A, UUID_A};
    static const struct packet first[] = {{1, 0, 0, 10, 20}, {1, 1, 2, 40, 2}, {1, 2, 2, 50, 2}};
    static const struct packet second[] = {{1, 0, 0, 12, 20}, {1, 1, 5, 42, 2}};
    static struct given given;
    read_chunks(uuids, first, 3, second, 2, &given);
    assert_int_equal(given.n, 46);
    assert_int_equal(given.duplicates, 0);
    assert_int_equal(given.lost, 7); /* each file has its own counters */
}

/* Two chunks with the same packets, some damaged in one of them: each event is read once, without
 * damage. */
static void packet_damaged_in_one_snapshot_is_read_from_the_other(void **state)
{
    (void)state;
    static const char *const uuids[] = {UUID_A, UUID_A};
    static struct given given;
    for (uint32_t damaged = 0; damaged < 16;
         damaged++) { /* bit set: damaged packets of the first, then of the second chunk */
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

/* Duplicates that differ are decoded up to a limit; exceeding it is reported. */
static void undecoded_differing_duplicates_are_reported(void **state)
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
        second[i].events = 4 | DAMAGED; /* equal bytes need no decoding */
    read_chunks(uuids, first, CTF_DECODED_DUPLICATES_MAX + 2, second,
                CTF_DECODED_DUPLICATES_MAX + 2, &given);
    assert_int_equal(given.unread_twins, 0);
}

static void packet_in_three_snapshots_is_read_once(void **state)
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
        const unsigned both = (damaged & 3) == 3; /* the third file is not compared then */
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

/* The third file is compared with the first, which ends last, and with the second, which has the
 * same packet damaged. */
static void packet_valid_in_one_of_three_snapshots_is_read_once(void **state)
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

/* --- Metadata from elsewhere --- */

static void metadata_option_replaces_the_traces_metadata(void **state)
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
        cmocka_unit_test(rotated_chunks_continue_stream_counters),
        cmocka_unit_test(packets_of_an_earlier_snapshot_are_skipped),
        cmocka_unit_test(duplicate_packets_are_found_at_any_position),
        cmocka_unit_test(copying_skips_duplicate_packets),
        cmocka_unit_test(copying_skips_duplicates_after_another_stream),
        cmocka_unit_test(packets_of_another_stream_after_damage_are_not_duplicates),
        cmocka_unit_test(packets_missing_in_an_earlier_snapshot_are_read),
        cmocka_unit_test(repeated_packets_within_a_file_are_not_duplicates),
        cmocka_unit_test(traces_with_different_uuids_keep_their_packets),
        cmocka_unit_test(different_streams_keep_their_packets),
        cmocka_unit_test(overlapping_files_of_one_stream_number_keep_their_packets),
        cmocka_unit_test(packet_damaged_in_one_snapshot_is_read_from_the_other),
        cmocka_unit_test(undecoded_differing_duplicates_are_reported),
        cmocka_unit_test(packet_in_three_snapshots_is_read_once),
        cmocka_unit_test(packet_valid_in_one_of_three_snapshots_is_read_once),
        cmocka_unit_test(metadata_option_replaces_the_traces_metadata),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
