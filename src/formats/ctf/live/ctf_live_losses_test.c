/* Live sessions with faults: lost events, lost connections, slow or misbehaving daemons, failing
 * allocations. */
#include "formats/ctf/live/ctf_live.h"

#include <poll.h>

#include "support/live_scene.h"
#include "support/support.h"

/* --- Losses --- */

static void missing_packets_become_gaps(void **state)
{
    (void)state;
    const struct relay_metadata whole = scene_whole_metadata();
    struct scene_packet packet[2];
    const struct relay_step a[] = {scene_make(&packet[0], 0, 10, 20, 10, 0),
                                   scene_make(&packet[1], 3, 30, 40, 10, 0)};
    store_u64le(packet[1].bytes + 48, 7);
    const struct relay_stream streams[] = {
        {.id = 5, .trace = 1, .channel = "a", .steps = a, .steps_n = 2}};
    struct scene scene = scene_of(streams, 1, &whole, 1);
    struct seen seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_END);
    scene_assert_times(&seen, "10 20 -20 -20 30 40");
    assert_int_equal(seen.gaps, 2);
    assert_int_equal(seen.lost, 7);
    scene_assert_note(&seen, "ctf.packets-lost=1");
}

static void lost_connection_loses_and_repeats_no_event(void **state)
{
    (void)state;
    struct scene_pair pair;
    scene_make_pair(&pair);
    uint64_t reconnected = 0;
    for (uint64_t cut = 13850; cut < 15800; cut += 31) {
        struct scene scene = scene_of_pair(&pair);
        scene.relay.fault[0].cut_at = cut;
        struct seen seen = scene_read(&scene);
        assert_int_equal(seen.status, TTR_END);
        scene_assert_times(&seen, SCENE_PAIR_TIMES);
        assert_int_equal(seen.gaps, 0);
        reconnected += scene.relay.connections > 1;
    }
    assert_true(reconnected > 20);
}

static void lost_connection_is_reported(void **state)
{
    (void)state;
    struct scene_pair pair;
    scene_make_pair(&pair);
    struct scene scene = scene_of_pair(&pair);
    scene.relay.fault[0].cut_at = scene.relay.fault[1].cut_at = 15000;
    struct seen seen = scene_read(&scene);
    scene_assert_times(&seen, SCENE_PAIR_TIMES);
    scene_assert_note(&seen, "live.reconnected=2");
    assert_int_equal(scene.relay.connections, 3);
    assert_int_equal(scene.relay.begins, 3);
}

static void lost_connection_without_reconnect_fails_after_received_events(void **state)
{
    (void)state;
    struct scene_pair pair;
    scene_make_pair(&pair);
    struct scene scene = scene_of_pair(&pair);
    scene.relay.fault[0].cut_at = 15000;
    scene.how.reconnect_ms = 0;
    struct seen seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_E_IO);
    assert_int_equal(seen.gaps, 2);
    scene_assert_note(&seen, "live.stream-gone=2");
    assert_int_equal(seen.events + 2, seen.n);
}

static void session_gone_after_reconnect_ends_with_gaps(void **state)
{
    (void)state;
    struct scene_pair pair;
    scene_make_pair(&pair);
    struct scene scene = scene_of_pair(&pair);
    scene.relay.fault[0].cut_at = 15000;
    scene.relay.fault[1].hides_session = true;
    struct seen seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_END);
    scene_assert_note(&seen, "live.session-gone=1");
    assert_int_equal(seen.gaps, 2);
}

static void session_closed_at_reattach_ends_with_gaps(void **state)
{
    (void)state;
    struct scene_pair pair;
    scene_make_pair(&pair);
    struct scene scene = scene_of_pair(&pair);
    scene.relay.fault[0].cut_at = 15000;
    scene.relay.fault[1].attach_status = 3;
    struct seen seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_END);
    assert_int_equal(seen.gaps, 2);
}

static void attach_with_stale_viewer_is_retried(void **state)
{
    (void)state;
    struct scene_pair pair;
    scene_make_pair(&pair);
    struct scene scene = scene_of_pair(&pair);
    scene.relay.fault[0].cut_at = 15000;
    scene.relay.fault[1].attach_status = 2;
    struct seen seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_END);
    scene_assert_times(&seen, SCENE_PAIR_TIMES);
    assert_int_equal(scene.relay.connections, 3);
}

static void refused_stream_ends_with_gap(void **state)
{
    (void)state;
    const struct relay_metadata whole = scene_whole_metadata();
    struct scene_packet packet[2];
    const struct relay_step a[] = {scene_make(&packet[0], 0, 10, 20, 10, 0), {.kind = RELAY_ERROR}};
    const struct relay_step b[] = {scene_make(&packet[1], 0, 15, 45, 10, 0)};
    const struct relay_stream streams[] = {
        {.id = 5, .trace = 1, .channel = "a", .steps = a, .steps_n = 2},
        {.id = 6, .trace = 1, .channel = "b", .steps = b, .steps_n = 1}};
    struct scene scene = scene_of(streams, 2, &whole, 1);
    struct seen seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_END);
    scene_assert_times(&seen, "10 15 20 -20 25 35 45");
}

/* A gap starts at the stream's last event or beacon, which may be earlier than events already
 * returned. */
static void gap_after_beacon_starts_no_earlier_than_returned_events(void **state)
{
    (void)state;
    const struct relay_metadata whole = scene_whole_metadata();
    struct scene_packet packet[3];
    const struct relay_step a[] = {scene_make(&packet[0], 0, 10, 20, 10, 0),
                                   {.kind = RELAY_BEACON, .end = 80},
                                   scene_make(&packet[1], 8, 121, 140, 19, 0)};
    const struct relay_step b[] = {scene_make(&packet[2], 0, 50, 60, 10, 0)};
    const struct relay_stream streams[] = {
        {.id = 5, .trace = 1, .channel = "a", .steps = a, .steps_n = 3},
        {.id = 6, .trace = 1, .channel = "b", .steps = b, .steps_n = 1}};
    struct scene scene = scene_of(streams, 2, &whole, 1);
    struct seen seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_END);
    scene_assert_times(&seen, "10 20 50 60 -60 121 140");
    assert_null(strstr(seen.notes, "live.late"));
}

/* --- Slow and lying daemons --- */

static void packets_in_pieces_and_single_bytes_are_read(void **state)
{
    (void)state;
    struct scene_pair pair;
    scene_make_pair(&pair);
    struct scene scene = scene_of_pair(&pair);
    scene.relay.fault[0].piece = 40;
    scene.relay.fault[0].drip = 7;
    struct seen seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_END);
    scene_assert_times(&seen, SCENE_PAIR_TIMES);
    assert_int_equal(scene.relay.connections, 1);
}

static void truncated_answer_causes_reconnect(void **state)
{
    (void)state;
    struct scene_pair pair;
    scene_make_pair(&pair);
    struct scene scene = scene_of_pair(&pair);
    scene.relay.fault[0].stall_at = 15000;
    scene.how.limit_ms = 500;
    struct seen seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_END);
    scene_assert_times(&seen, SCENE_PAIR_TIMES);
    assert_true(scene.relay.connections >= 2); /* more on very slow machines */
}

/* The reader's user is stopped (a pager, for example) while a long answer is arriving. */
static void paused_reader_causes_no_timeout(void **state)
{
    (void)state;
    enum { SIZE = 200000 };
    static uint8_t large[SIZE];
    const struct relay_metadata whole = scene_whole_metadata();
    struct scene_packet packet[2];
    struct relay_step a[] = {scene_make(&packet[0], 0, 10, 20, 10, 0),
                             scene_make(&packet[1], 1, 30, 40, 10, 0)};
    memcpy(large, packet[1].bytes, packet[1].n);
    store_u64le(large + 32, (uint64_t)SIZE * 8);
    a[1].bytes = large;
    a[1].n = SIZE;
    const struct relay_stream streams[] = {
        {.id = 5, .trace = 1, .channel = "a", .steps = a, .steps_n = 2}};
    struct scene scene = scene_of(streams, 1, &whole, 1);
    /* nothing of the answer has arrived when the reader pauses */
    scene.relay.fault[0].pause_ms = 30;
    scene.how.limit_ms = 600;
    struct seen seen = {.n = 0};
    ttr_reader *reader = scene_open(&scene, &seen.error);
    assert_non_null(reader);
    scene_read_some(reader, &seen, 2);
    struct live_client *client = &((struct live_reader *)reader)->client;
    for (const struct live_stream *stream = client->streams[0];
         !stream->has_index || !stream->is_asked || stream->index.begin != 30;)
        assert_in_range(live_client_step(client, &seen.error), TTR_OK, TTR_AGAIN);
    (void)poll(NULL, 0, 1000);
    scene_read_some(reader, &seen, SIZE_MAX);
    scene_assert_times(&seen, "10 20 30 40");
    assert_int_equal(scene.relay.connections, 1);
    scene_close(&scene, reader);
}

static void invalid_answers_fail_with_offset(void **state)
{
    (void)state;
    static const uint8_t garbage[64] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    static const char http[] = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
    struct scene scene = scene_of(NULL, 0, NULL, 0);
    scene.relay.fault[0].instead = garbage;
    scene.relay.fault[0].instead_n = sizeof garbage;
    struct seen seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_E_UNSUPPORTED);
    assert_non_null(strstr(seen.error.text, "is it a relay daemon?"));
    assert_string_equal(seen.error.format, "ctf");
    scene = scene_of(NULL, 0, NULL, 0);
    scene.relay.fault[0].instead = http;
    scene.relay.fault[0].instead_n = sizeof http;
    seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_E_UNSUPPORTED);
}

static void impossible_lengths_fail_without_allocation(void **state)
{
    (void)state;
    struct scene_pair pair;
    scene_make_pair(&pair);
    struct scene scene = scene_of_pair(&pair);
    scene.relay.fault[0].metadata_count = UINT64_MAX;
    struct seen seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_E_LIMIT);
    scene = scene_of_pair(&pair);
    scene.relay.fault[0].packet_count = 513;
    seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_E_MALFORMED);
    assert_non_null(strstr(seen.error.text, "PACKET"));
    scene = scene_of_pair(&pair);
    scene.relay.fault[0].streams_count = UINT32_MAX;
    scene.how.limit_ms = 100;
    seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_E_IO);
}

static void impossible_index_loses_only_its_packet(void **state)
{
    (void)state;
    struct scene_pair pair;
    scene_make_pair(&pair);
    pair.a[1].claims = UINT64_MAX - 7;
    struct scene scene = scene_of_pair(&pair);
    struct seen seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_END);
    scene_assert_times(&seen, "10 15 20 30 30 -30 45 46 56 60 61 71 90");
    scene_assert_note(&seen, "live.packet-refused=1");
}

static void a_packet_that_the_daemon_cannot_give_is_told_and_asked_again_where_that_helps(
    void **state)
{
    (void)state;
    struct scene_pair pair;
    scene_make_pair(&pair);
    for (unsigned status = 2; status <= 4; status++) {
        struct scene scene = scene_of_pair(&pair);
        scene.relay.fault[0].packet_status = status;
        struct seen seen = scene_read(&scene);
        assert_int_equal(seen.status, TTR_END);
        assert_int_equal(seen.events, status == 2 ? 14 : 11);
    }
    struct scene scene = scene_of_pair(&pair);
    scene.relay.fault[0].packet_status = 3;
    scene.relay.fault[0].packet_flags = LIVE_NEW_METADATA | LIVE_NEW_STREAM;
    struct seen seen = scene_read(&scene);
    scene_assert_times(&seen, SCENE_PAIR_TIMES);
}

static void packet_of_unannounced_size_is_damage(void **state)
{
    (void)state;
    struct scene_pair pair;
    scene_make_pair(&pair);
    store_u64le(pair.packet[1].bytes + 32, 123456);
    struct scene scene = scene_of_pair(&pair);
    struct seen seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_END);
    scene_assert_note(&seen, "live.bad-packet=1");
    scene_assert_times(&seen, "10 15 20 30 30 -30 45 46 56 60 61 71 90");
    scene = scene_of_pair(&pair);
    scene.options.flags = TTR_READ_STRICT;
    seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_E_MALFORMED);
}

static void damage_loses_only_its_packet(void **state)
{
    (void)state;
    struct scene_pair pair;
    scene_make_pair(&pair);
    memset(pair.packet[1].bytes, 0xee, 8);
    struct scene scene = scene_of_pair(&pair);
    struct seen seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_END);
    assert_int_equal(seen.damage, 1);
    scene_assert_times(&seen, "10 15 20 30 30 -30 45 46 56 60 61 71 90");
}

static void invalid_metadata_damages_only_its_trace(void **state)
{
    (void)state;
    const struct relay_metadata whole = scene_whole_metadata();
    struct scene_packet packet[2];
    static const char bad[] = "/* CTF 1.8 */ trace { this is; no metadata; };        ";
    const struct relay_step a[] = {scene_make(&packet[0], 0, 10, 20, 10, 0)},
                            b[] = {scene_make(&packet[1], 0, 15, 25, 10, 0)};
    const struct relay_stream streams[] = {
        {.id = 5, .trace = 1, .channel = "a", .steps = a, .steps_n = 1},
        {.id = 6, .trace = 2, .channel = "b", .steps = b, .steps_n = 1}};
    const struct relay_metadata pieces[] = {
        whole, {.trace = 2, .stream = 91, .bytes = bad, .n = sizeof bad - 1}};
    struct scene scene = scene_of(streams, 2, pieces, 2);
    struct seen seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_END);
    scene_assert_times(&seen, "10 20");
    scene_assert_note(&seen, "live.metadata=1");
    scene_assert_note(&seen, "live.bad-packet=1");
    scene = scene_of(streams, 2, pieces, 2);
    scene.options.flags = TTR_READ_STRICT;
    seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_E_MALFORMED);
}

/* --- Memory --- */

static struct relay failing_relay;
static char failing_url[200];

static bool read_with(const struct alloc *alloc)
{
    const ttr_options options = {
        .size = sizeof options, .resize = alloc->resize, .user_data = alloc->ctx};
    struct live_config how = {.poll_ms = 1, .limit_ms = 20000};
    struct seen seen = {.n = 0};
    ttr *t = ttr_new(&options);
    ttr_reader *reader = t ? ctf_open_live_with(t, failing_url, &how, NULL, &seen.error) : NULL;
    if (reader)
        scene_read_some(reader, &seen, SIZE_MAX);
    ttr_close(reader);
    ttr_free(t);
    return reader && seen.status == TTR_END && seen.n == 14;
}

static void trace_without_metadata_is_damage(void **state)
{
    (void)state;
    const struct relay_metadata none = {.trace = 1, .stream = 90, .n = 0};
    struct scene_packet packet;
    const struct relay_step a[] = {scene_make(&packet, 0, 10, 20, 10, 0)};
    const struct relay_stream streams[] = {
        {.id = 5, .trace = 1, .channel = "a", .steps = a, .steps_n = 1}};
    struct scene scene = scene_of(streams, 1, &none, 1);
    struct seen seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_END);
    assert_int_equal(seen.events, 0);
    assert_int_equal(seen.damage, 1);
    scene_assert_note(&seen, "live.no-metadata=1");
}

static void metadata_that_are_others_after_a_reconnection_are_told_and_those_before_hold(
    void **state)
{
    (void)state;
    struct scene_pair pair;
    scene_make_pair(&pair);
    struct scene scene = scene_of_pair(&pair);
    scene.relay.fault[0].cut_at = 15000;
    scene.relay.fault[1].changes_metadata = true;
    struct seen seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_END);
    scene_assert_times(&seen, SCENE_PAIR_TIMES);
    scene_assert_note(&seen, "live.metadata-changed=1");
}

static void failing_allocation_leaves_reader_usable(void **state)
{
    (void)state;
    struct scene_pair pair;
    scene_make_pair(&pair);
    struct scene scene = scene_of_pair(&pair);
    failing_relay = scene.relay;
    relay_start(&failing_relay, failing_url, sizeof failing_url);
    support_fail_each(read_with);
    relay_stop(&failing_relay);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_packets_become_gaps),
        cmocka_unit_test(lost_connection_loses_and_repeats_no_event),
        cmocka_unit_test(lost_connection_is_reported),
        cmocka_unit_test(lost_connection_without_reconnect_fails_after_received_events),
        cmocka_unit_test(session_gone_after_reconnect_ends_with_gaps),
        cmocka_unit_test(session_closed_at_reattach_ends_with_gaps),
        cmocka_unit_test(attach_with_stale_viewer_is_retried),
        cmocka_unit_test(refused_stream_ends_with_gap),
        cmocka_unit_test(gap_after_beacon_starts_no_earlier_than_returned_events),
        cmocka_unit_test(packets_in_pieces_and_single_bytes_are_read),
        cmocka_unit_test(truncated_answer_causes_reconnect),
        cmocka_unit_test(paused_reader_causes_no_timeout),
        cmocka_unit_test(invalid_answers_fail_with_offset),
        cmocka_unit_test(impossible_lengths_fail_without_allocation),
        cmocka_unit_test(impossible_index_loses_only_its_packet),
        cmocka_unit_test(
            a_packet_that_the_daemon_cannot_give_is_told_and_asked_again_where_that_helps),
        cmocka_unit_test(packet_of_unannounced_size_is_damage),
        cmocka_unit_test(damage_loses_only_its_packet),
        cmocka_unit_test(invalid_metadata_damages_only_its_trace),
        cmocka_unit_test(trace_without_metadata_is_damage),
        cmocka_unit_test(
            metadata_that_are_others_after_a_reconnection_are_told_and_those_before_hold),
        cmocka_unit_test(failing_allocation_leaves_reader_usable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
