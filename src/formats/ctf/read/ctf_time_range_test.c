/* Time ranges of one stream: packets outside of a range are not read, and no event of the range is
 * lost, even if packets or the index declare wrong times. */
#include "formats/ctf/read/ctf_packets_test.h"

#define PACKETS 300u

/* Reads [from, to) of a stream with 300 packets of 10 events: a packet every 10 ns from 1,000 ns
 * on. */
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
    if (is_early_damaged) /* id of the first event in packet 5 */
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

static void range_with_any_bounds_returns_its_events(void **state)
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

static void packets_before_a_range_are_not_read(void **state)
{
    (void)state;
    static struct given given;
    read_range(INT64_MIN, INT64_MAX, true, &given);
    assert_int_equal(given.damage, 1);
    read_range(2000, INT64_MAX, true, &given);
    assert_int_equal(given.damage, 0);
    assert_int_equal(given.n, 2000);
}

static void packets_after_a_range_are_not_read(void **state)
{
    (void)state;
    static struct given given;
    read_range(INT64_MIN, 1040, true, &given);
    assert_int_equal(given.damage, 0);
    assert_int_equal(given.n, 40);
}

static void packets_after_damage_are_searched_for_range_events(void **state)
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

static void range_reports_only_losses_of_its_packets(void **state)
{
    (void)state;
    static struct given given;
    read_range(2000, 2030, false, &given); /* packets 100 to 102, each with one more lost event */
    assert_int_equal(given.lost, 3);
}

/* Reads a range of a stream, with its index if not NULL. */
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

/* Makes ten packets of ten events: a packet every 10 ns from 1,000 ns on. */
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

/* Makes an index of ten packets, with the given end of the sixth and begin of the seventh. */
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

static void wrong_index_entry_hides_no_event(void **state)
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
        assert_int_equal(given.wrong, i == 1 ? 2 : 0); /* reported if the range starts there */
        read_stream(&stream, &index, (const int64_t[]){1055, 1065}, &given);
        assert_int_equal(given.n, 10);
        read_stream(&stream, &index, (const int64_t[]){INT64_MIN, INT64_MAX}, &given);
        assert_int_equal(given.n, 100);
        assert_int_equal(given.wrong, i == 0 ? 1
                                      : i == 1
                                          ? 2
                                          : 0); /* all differences are reported when all is read */
        buffer_free(&index);
    }
    buffer_free(&stream);
}

/* In the index it is the packet before the range, where reading starts. */
static void damage_unknown_to_the_index_hides_no_later_packet(void **state)
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

/* Changes begin and end in a packet header. */
static void set_times(struct buffer *stream, size_t packet, uint64_t begin, uint64_t end)
{
    store_u64le(stream->bytes + packet * 144 + 12, begin);
    store_u64le(stream->bytes + packet * 144 + 20, end);
}

static void events_later_than_their_packet_are_found_in_range(void **state)
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

static void events_earlier_than_their_packet_are_found_in_range(void **state)
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

static void events_are_found_if_two_packets_declare_earlier_times(void **state)
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

static void events_are_found_if_the_previous_packet_declares_a_late_end(void **state)
{
    (void)state;
    static struct given given;
    for (size_t empty = 0; empty < 2; empty++) { /* number of the empty packets in between */
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

static void range_is_found_if_all_packet_times_are_wrong(void **state)
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

static void event_shortly_after_the_last_packet_is_in_range(void **state)
{
    (void)state;
    static struct given given;
    struct buffer stream;
    put_ten(&stream);
    store_u64le(stream.bytes + 9 * 144 + 44 + 9 * 10 + 1, 1107); /* time of the last event */
    read_stream(&stream, NULL, (const int64_t[]){1105, INT64_MAX}, &given);
    assert_int_equal(given.n, 1);
    assert_int_equal(given.time[0], 1107);
    buffer_free(&stream);
}

static void event_far_after_its_packet_is_reported(void **state)
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

static void empty_packet_does_not_confirm_earlier_packets(void **state)
{
    (void)state;
    static struct given given;
    struct buffer stream;
    put_ten(&stream);
    store_u64le(stream.bytes + 9 * 144 + 44 + 9 * 10 + 1, 1107); /* time of the last event */
    put_packet(&stream, &(struct packet){1, 10, 0, 1100, 0});
    store_u64le(stream.bytes + 10 * 144 + 20, 1100);
    read_stream(&stream, NULL, (const int64_t[]){1105, INT64_MAX}, &given);
    assert_int_equal(given.n, 1);
    buffer_free(&stream);
}

/* A file with two streams, one of which ends early. */
static void last_packet_of_each_stream_is_checked_for_range(void **state)
{
    (void)state;
    static struct given given;
    struct buffer stream;
    buffer_init(&stream, alloc_default());
    for (uint32_t i = 0; i < 20; i++)
        put_packet(&stream, &(struct packet){i == 1 || i == 3 ? 1 : 2, i, 0, 1000 + 10 * i, 10});
    /* time of the last event of stream 1 */
    store_u64le(stream.bytes + 3 * 144 + 44 + 9 * 10 + 1, 5000);
    read_stream(&stream, NULL, (const int64_t[]){4000, INT64_MAX}, &given);
    assert_int_equal(given.n, 1);
    buffer_free(&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(range_with_any_bounds_returns_its_events),
        cmocka_unit_test(packets_before_a_range_are_not_read),
        cmocka_unit_test(packets_after_a_range_are_not_read),
        cmocka_unit_test(packets_after_damage_are_searched_for_range_events),
        cmocka_unit_test(range_reports_only_losses_of_its_packets),
        cmocka_unit_test(wrong_index_entry_hides_no_event),
        cmocka_unit_test(damage_unknown_to_the_index_hides_no_later_packet),
        cmocka_unit_test(events_later_than_their_packet_are_found_in_range),
        cmocka_unit_test(events_earlier_than_their_packet_are_found_in_range),
        cmocka_unit_test(events_are_found_if_two_packets_declare_earlier_times),
        cmocka_unit_test(events_are_found_if_the_previous_packet_declares_a_late_end),
        cmocka_unit_test(range_is_found_if_all_packet_times_are_wrong),
        cmocka_unit_test(event_shortly_after_the_last_packet_is_in_range),
        cmocka_unit_test(event_far_after_its_packet_is_reported),
        cmocka_unit_test(empty_packet_does_not_confirm_earlier_packets),
        cmocka_unit_test(last_packet_of_each_stream_is_checked_for_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
