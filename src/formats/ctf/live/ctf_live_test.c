/* Live sessions of a test relay daemon (tests/support/live_relay.h): opening, order, pauses, and
 * metadata and streams that arrive later. */
#include "formats/ctf/live/ctf_live.h"

#include <stdio.h>

#include "support/live_scene.h"
#include "support/support.h"

static const char more_metadata[] =
    "event { name = \"later\"; id = 1; stream_id = 0; fields := struct { u32 v; }; };\n";

/* --- Order --- */

static void streams_merge_by_time_until_session_end(void **state)
{
    (void)state;
    struct scene_pair pair;
    scene_make_pair(&pair);
    struct scene scene = scene_of_pair(&pair);
    struct seen seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_END);
    scene_assert_times(&seen, SCENE_PAIR_TIMES);
    assert_int_equal(seen.events, 14);
    assert_int_equal(seen.damage, 0);
    assert_string_equal(seen.notes, "");
    assert_int_equal(scene.relay.begins, 1);
}

static void silent_stream_delays_others_until_beacon(void **state)
{
    (void)state;
    const struct relay_metadata whole = scene_whole_metadata();
    struct scene_packet packet[2];
    const struct relay_step a[] = {scene_make(&packet[0], 0, 10, 90, 20, 0)};
    const struct relay_step b[] = {{.kind = RELAY_BEACON, .end = 40},
                                   {.kind = RELAY_RETRY},
                                   {.kind = RELAY_RETRY},
                                   {.kind = RELAY_BEACON, .end = 60},
                                   scene_make(&packet[1], 0, 65, 75, 10, 0)};
    const struct relay_stream streams[] = {
        {.id = 5, .trace = 1, .channel = "a", .steps = a, .steps_n = 1},
        {.id = 6, .trace = 1, .channel = "b", .steps = b, .steps_n = 5}};
    struct scene scene = scene_of(streams, 2, &whole, 1);
    scene.how.poll_ms = 40;
    struct seen seen = {.n = 0};
    ttr_reader *reader = scene_open(&scene, &seen.error);
    assert_non_null(reader);
    scene_read_some(reader, &seen, 1);
    scene_assert_times(&seen, "10 30"); /* before 50, the other stream may still bring an event */
    scene_read_some(reader, &seen, SIZE_MAX);
    assert_int_equal(seen.status, TTR_END);
    scene_assert_times(&seen, "10 30 50 65 70 75 90");
    scene_close(&scene, reader);
}

static void read_without_data_returns_soon(void **state)
{
    (void)state;
    const struct relay_metadata whole = scene_whole_metadata();
    struct scene_packet packet;
    const struct relay_step a[] = {scene_make(&packet, 0, 10, 20, 10, 0)};
    const struct relay_stream streams[] = {
        {.id = 5, .trace = 1, .channel = "a", .steps = a, .steps_n = 1, .stays = true}};
    struct scene scene = scene_of(streams, 1, &whole, 1);
    struct seen seen = {.n = 0};
    ttr_reader *reader = scene_open(&scene, &seen.error);
    assert_non_null(reader);
    scene_read_some(reader, &seen, 2);
    scene_assert_times(&seen, "10 20");
    ttr_batch batch;
    for (int i = 0; i < 3; i++) {
        uint64_t begin = socket_now_ms();
        assert_int_equal(ttr_read(reader, &batch, NULL), TTR_AGAIN);
        assert_true(socket_now_ms() - begin < 100 * LIVE_SLICE_MS);
    }
    scene_close(&scene, reader);
    assert_int_equal(scene.relay.detached, 1);
}

static bool stop_now(void *ctx)
{
    ++*(unsigned *)ctx;
    return false;
}

static void progress_callback_can_end_waiting(void **state)
{
    (void)state;
    const struct relay_metadata whole = scene_whole_metadata();
    const struct relay_stream streams[] = {{.id = 5, .trace = 1, .channel = "a", .stays = true}};
    struct scene scene = scene_of(streams, 1, &whole, 1);
    struct seen seen = {.n = 0};
    unsigned asked = 0;
    ttr_reader *reader = scene_open(&scene, &seen.error);
    assert_non_null(reader);
    ttr_progress_set(scene.t, stop_now, &asked);
    ttr_batch batch;
    assert_int_equal(ttr_read(reader, &batch, NULL), TTR_AGAIN);
    assert_int_equal(asked, 1);
    scene_close(&scene, reader);
}

static void silent_stream_stops_delaying_others(void **state)
{
    (void)state;
    const struct relay_metadata whole = scene_whole_metadata();
    struct scene_packet packet[3];
    const struct relay_step a[] = {scene_make(&packet[0], 0, 10, 90, 20, 0)};
    struct relay_step b[60] = {{.kind = RELAY_BEACON, .end = 40}};
    for (size_t i = 1; i < 59; i++)
        b[i].kind = RELAY_RETRY;
    b[59] = scene_make(&packet[1], 0, 45, 45, 1, 0);
    const struct relay_stream streams[] = {
        {.id = 5, .trace = 1, .channel = "a", .steps = a, .steps_n = 1},
        {.id = 6, .trace = 1, .channel = "b", .steps = b, .steps_n = 60}};
    struct scene scene = scene_of(streams, 2, &whole, 1);
    scene.how.patience_ms = 100;
    scene.how.poll_ms = 10;
    struct seen seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_END);
    scene_assert_times(&seen, "10 30 50 70 90 45");
    scene_assert_note(&seen, "live.late=1");
}

/* --- What comes later --- */

static void metadata_in_pieces_is_extended_later(void **state)
{
    (void)state;
    struct scene_packet packet[2];
    const struct relay_step a[] = {scene_make(&packet[0], 0, 10, 20, 10, 0),
                                   scene_make(&packet[1], 1, 30, 40, 10, 1)};
    const struct relay_stream streams[] = {
        {.id = 5, .trace = 1, .channel = "a", .steps = a, .steps_n = 2}};
    const struct relay_metadata pieces[] = {
        {.trace = 1, .stream = 90, .bytes = scene_metadata, .n = 100},
        {.trace = 1, .stream = 90, .n = 0},
        {.trace = 1, .stream = 90, .bytes = scene_metadata + 100, .n = scene_metadata_n - 100},
        {.trace = 1, .stream = 90, .bytes = more_metadata, .n = 20, .served = 2},
        {.trace = 1,
         .stream = 90,
         .bytes = more_metadata + 20,
         .n = sizeof more_metadata - 21,
         .served = 2}};
    struct scene scene = scene_of(streams, 1, pieces, 5);
    struct seen seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_END);
    scene_assert_times(&seen, "10 20 30 40");
    assert_int_equal(seen.damage, 0);
    assert_int_not_equal(seen.name[1], seen.name[2]);
}

static void new_streams_open_before_later_events_return(void **state)
{
    (void)state;
    const struct relay_metadata whole = scene_whole_metadata();
    struct scene_packet packet[4];
    const struct relay_step a[] = {scene_make(&packet[0], 0, 10, 20, 10, 0),
                                   {.kind = RELAY_BEACON, .end = 25},
                                   scene_make(&packet[1], 1, 30, 60, 10, 0)};
    const struct relay_step b[] = {scene_make(&packet[2], 0, 35, 45, 10, 0)};
    const struct relay_step c[] = {scene_make(&packet[3], 0, 27, 57, 10, 0)};
    const struct relay_stream streams[] = {
        {.id = 5, .trace = 1, .channel = "a", .steps = a, .steps_n = 3},
        {.id = 6, .trace = 1, .channel = "b", .steps = b, .steps_n = 1, .served = 2},
        {.id = 7, .trace = 2, .channel = "c", .steps = c, .steps_n = 1, .served = 2}};
    const struct relay_metadata pieces[] = {
        whole, {.trace = 2, .stream = 91, .bytes = scene_metadata, .n = scene_metadata_n}};
    struct scene scene = scene_of(streams, 3, pieces, 2);
    struct seen seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_END);
    scene_assert_times(&seen, "10 20 27 30 35 37 40 45 47 50 57 60");
}

static void session_without_streams_is_awaited(void **state)
{
    (void)state;
    struct scene scene = scene_of(NULL, 0, NULL, 0);
    scene.relay.is_never_closed = true;
    struct seen seen = {.n = 0};
    ttr_reader *reader = scene_open(&scene, &seen.error);
    assert_non_null(reader);
    ttr_batch batch;
    assert_int_equal(ttr_read(reader, &batch, NULL), TTR_AGAIN);
    scene_close(&scene, reader);
    scene = scene_of(NULL, 0, NULL, 0);
    seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_END);
    assert_int_equal(seen.n, 0);
}

static void sessions_of_equal_name_merge(void **state)
{
    (void)state;
    struct scene_pair pair;
    scene_make_pair(&pair);
    struct scene scene = scene_of_pair(&pair);
    scene.relay.has_twin = true;
    struct seen seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_END);
    scene_assert_times(&seen, SCENE_PAIR_TIMES);
}

/* The trace of scene_metadata, in CTF 2. */
#define CTF2_UINT(bits)                                                \
    "{\"type\": \"fixed-length-unsigned-integer\", \"length\": " #bits \
    ", \"byte-order\": \"little-endian\", \"alignment\": 8"
#define CTF2_MEMBER(name, bits, roles) \
    "{\"name\": \"" name "\", \"field-class\": " CTF2_UINT(bits) roles "}}"
#define CTF2_ROLE(role) ", \"roles\": [\"" role "\"]"
static const char ctf2[] =
    "\x1e{\"type\": \"preamble\", \"version\": 2}\n"
    "\x1e{\"type\": \"trace-class\", \"packet-header-field-class\": {\"type\": "
    "\"structure\", \"member-classes\": [" CTF2_MEMBER("magic", 32, CTF2_ROLE("packet-magic-number")) ", " CTF2_MEMBER(
        "stream_id", 32,
        CTF2_ROLE(
            "data-stream-class-id")) "]}}\n"
                                     "\x1e{\"type\": \"clock-class\", \"id\": \"c\", "
                                     "\"frequency\": 1000000000}\n"
                                     "\x1e{\"type\": \"data-stream-class\", "
                                     "\"default-clock-class-id\": \"c\", "
                                     "\"packet-context-field-class\": {\"type\": "
                                     "\"structure\", "
                                     "\"member-classes\": [" CTF2_MEMBER("b", 64, CTF2_ROLE("default-clock-timestamp")) ", " CTF2_MEMBER("e", 64, CTF2_ROLE("packet-end-default-clock-timestamp")) ", " CTF2_MEMBER(
                                         "n", 64,
                                         CTF2_ROLE(
                                             "packet-content-length")) ", " CTF2_MEMBER("p",
                                                                                        64, CTF2_ROLE("packet-total-length")) ", " CTF2_MEMBER("s", 64, CTF2_ROLE("packet-sequence-number")) ", " CTF2_MEMBER("d", 64, CTF2_ROLE("discarded-event-record-counter-snapshot")) "]}, "
                                                                                                                                                                                                                                                                             "\"event-record-header-field-class\": {\"type\": \"structure\", \"member-classes\": [" CTF2_MEMBER(
                                                                                                                                                                                                                                                                                 "id",
                                                                                                                                                                                                                                                                                 32,
                                                                                                                                                                                                                                                                                 CTF2_ROLE("event-record-class-id")) ", " CTF2_MEMBER("t",
                                                                                                                                                                                                                                                                                                                                      64, CTF2_ROLE("default-clock-timestamp")) "]}}\n"
                                                                                                                                                                                                                                                                                                                                                                                "\x1e{\"type\": \"event-record-class\", \"name\": \"ev\", \"payload-field-class\": {\"type\": \"structure\", \"member-classes\": [" CTF2_MEMBER(
                                                                                                                                                                                                                                                                                                                                                                                    "v",
                                                                                                                                                                                                                                                                                                                                                                                    32,
                                                                                                                                                                                                                                                                                                                                                                                    "") "]}}\n";

static void ctf_2_metadata_in_pieces_parses(void **state)
{
    (void)state;
    struct scene_pair pair;
    scene_make_pair(&pair);
    for (size_t cut = 40; cut < sizeof ctf2; cut += 101) {
        const struct relay_metadata pieces[] = {
            {.trace = 1, .stream = 90, .bytes = ctf2, .n = cut},
            {.trace = 1, .stream = 90, .bytes = ctf2 + cut, .n = sizeof ctf2 - 1 - cut}};
        struct scene scene = scene_of(pair.streams, 2, pieces, 2);
        struct seen seen = scene_read(&scene);
        assert_int_equal(seen.status, TTR_END);
        scene_assert_times(&seen, SCENE_PAIR_TIMES);
    }
}

/* babeltrace's own test server handles one request per receive, like this daemon. */
static void daemon_that_loses_pipelined_requests_is_read(void **state)
{
    (void)state;
    struct scene_pair pair;
    scene_make_pair(&pair);
    struct scene scene = scene_of_pair(&pair);
    scene.relay.fault[0].loses_requests = true;
    scene.relay.has_twin = true;
    struct seen seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_END);
    scene_assert_times(&seen, SCENE_PAIR_TIMES);
    assert_int_equal(scene.relay.connections, 1);
}

/* The many packets of the first stream must wait for the second one: they are downloaded ahead and
 * returned in order. */
static void packets_are_prefetched(void **state)
{
    (void)state;
    enum { PACKETS = 40 };
    static struct scene_packet packet[PACKETS + 1];
    static struct relay_step a[PACKETS], b[PACKETS + 2];
    for (unsigned i = 0; i < PACKETS; i++)
        a[i] = scene_make(&packet[i], i, 10 + i, 10 + i, 1, 0);
    for (unsigned i = 0; i < PACKETS + 1; i++)
        b[i].kind = RELAY_RETRY;
    b[PACKETS + 1] = scene_make(&packet[PACKETS], 0, 5, 5, 1, 0);
    const struct relay_stream streams[] = {
        {.id = 5, .trace = 1, .channel = "a", .steps = a, .steps_n = PACKETS},
        {.id = 6, .trace = 1, .channel = "b", .steps = b, .steps_n = PACKETS + 2}};
    const struct relay_metadata whole = scene_whole_metadata();
    struct scene scene = scene_of(streams, 2, &whole, 1);
    struct seen seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_END);
    assert_int_equal(seen.n, PACKETS + 1);
    assert_int_equal(seen.time[0], 5);
    for (unsigned i = 0; i < PACKETS; i++)
        assert_int_equal(seen.time[i + 1], 10 + i);
}

/* Runs until the client holds at most this many streams and traces; must happen on slow machines,
 * too. */
static void await_parting(ttr_reader *reader, size_t streams, size_t traces)
{
    const struct live_client *client = &((struct live_reader *)reader)->client;
    const uint64_t deadline = socket_now_ms() + 60000;
    ttr_batch batch;
    while (client->streams_n > streams || client->traces_n > traces) {
        assert_int_equal(ttr_read(reader, &batch, NULL), TTR_AGAIN);
        assert_true(socket_now_ms() < deadline);
    }
}

/* Returns the memory of a session after n streams, each of which starts when the previous one was
 * read. has_traces: one trace per stream, else one in all. */
static uint64_t memory_behind(unsigned n, bool has_traces)
{
    enum { MOST = 60, TRACES_MOST = 15 };
    static struct scene_packet packet[MOST];
    static struct relay_step step[MOST];
    static struct relay_stream streams[MOST];
    static struct relay_metadata metadata[MOST];
    struct seen seen = {.n = 0};
    assert_in_range(n, 1, has_traces ? TRACES_MOST : MOST);
    for (unsigned i = 0; i < n; i++) {
        const uint64_t trace = has_traces ? 1 + i : 1, begin = 10 + 10 * i;
        step[i] = scene_make(&packet[i], 0, begin, begin + 4, 2, 0);
        streams[i] = (struct relay_stream){.id = 5 + i,
                                           .trace = trace,
                                           .channel = "a",
                                           .steps = &step[i],
                                           .steps_n = 1,
                                           .stays = i == n - 1};
        metadata[i] = (struct relay_metadata){
            .trace = trace, .stream = 100 + i, .bytes = scene_metadata, .n = scene_metadata_n};
    }
    struct scene scene = scene_of(streams, n, metadata, has_traces ? n : 1);
    scene.relay.closes_traces = true;
    scene.relay.held_back = n - 1;
    ttr_reader *reader = scene_open(&scene, &seen.error);
    assert_non_null(reader);
    for (unsigned i = 0; i < n; i++) {
        scene.relay.held_back = n - 1 - i;
        scene_read_some(reader, &seen, 3 * ((size_t)i + 1));
        assert_int_equal(seen.n, 3 * (i + 1));
    }
    await_parting(reader, 1, 1);
    const uint64_t memory = scene.t->memory;
    scene_close(&scene, reader);
    return memory;
}

/* Ids and names are kept; a trace's classes and a stream's packets and tables are freed with them.
 */
static void ended_streams_are_freed_before_session_ends(void **state)
{
    (void)state;
    const uint64_t few = memory_behind(20, false), many = memory_behind(60, false);
    const uint64_t few_traces = memory_behind(5, true), many_traces = memory_behind(15, true);
    /* Memory is allocated in blocks, so a difference of up to 16 KiB is chance. */
    if (many > few + (uint64_t)40 * 2048 + (16 << 10) ||
        many_traces > few_traces + (uint64_t)10 * 4096)
        fail_msg("%u and %u bytes following streams, %u and %u following traces", (unsigned)few,
                 (unsigned)many, (unsigned)few_traces, (unsigned)many_traces);
}

/* Returns the memory of a session that stays, after n packets of its only stream. */
static uint64_t measure_memory_after(unsigned n)
{
    enum { MOST = 4000 };
    static struct scene_packet packet[MOST];
    static struct relay_step step[MOST];
    ttr_error error = {0};
    ttr_batch batch;
    uint64_t events = 0;
    assert_in_range(n, 1, MOST);
    for (unsigned i = 0; i < n; i++)
        step[i] = scene_make(&packet[i], i, 10 + 10 * i, 10 + 10 * i, 10, 0);
    const struct relay_stream stream = {
        .id = 5, .trace = 1, .channel = "a", .steps = step, .steps_n = n, .stays = true};
    const struct relay_metadata whole = scene_whole_metadata();
    struct scene scene = scene_of(&stream, 1, &whole, 1);
    ttr_reader *reader = scene_open(&scene, &error);
    assert_non_null(reader);
    const uint64_t deadline = socket_now_ms() + 60000;
    while (events < n) {
        const ttr_status status = ttr_read(reader, &batch, &error);
        assert_true(status == TTR_OK || status == TTR_AGAIN);
        events += status == TTR_OK ? batch.n : 0;
        assert_true(socket_now_ms() < deadline);
    }
    const uint64_t memory = scene.t->memory;
    scene_close(&scene, reader);
    return memory;
}

static void memory_does_not_grow_with_packets(void **state)
{
    (void)state;
    const uint64_t few = measure_memory_after(400), many = measure_memory_after(4000);
    if (many > few + (16 << 10))
        fail_msg("%u bytes after 400 packets, %u after 4000", (unsigned)few, (unsigned)many);
}

static void reading_from_now_sends_seek_last(void **state)
{
    (void)state;
    struct scene_pair pair;
    scene_make_pair(&pair);
    struct scene scene = scene_of_pair(&pair);
    scene.how.seek = LIVE_SEEK_NOW;
    (void)scene_read(&scene);
    assert_int_equal(scene.relay.begins, 0);
}

static void event_after_range_ends_reading(void **state)
{
    (void)state;
    struct scene_pair pair;
    scene_make_pair(&pair);
    pair.streams[0].stays = pair.streams[1].stays = true;
    struct scene scene = scene_of_pair(&pair);
    scene.to = 55;
    struct seen seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_END);
    assert_true(seen.n < 14);
    assert_int_equal(seen.time[0], 10);
}

static void time_offset_option_shifts_times(void **state)
{
    (void)state;
    struct scene_pair pair;
    scene_make_pair(&pair);
    struct scene scene = scene_of_pair(&pair);
    scene.options.time_offset = 1000;
    struct seen seen = scene_read(&scene);
    scene_assert_times(&seen,
                       "1010 1015 1020 1030 1030 1030 1045 1046 1050 1056 1060 1061 1071 1090");
}

/* --- Opening --- */

static void failed_attach_reports_reason(void **state)
{
    (void)state;
    static const struct {
        unsigned status;
        const char *text;
    } cases[] = {
        {2, "another viewer"}, {3, "just ended"}, {4, "not live"}, {5, "refused to attach"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene scene = scene_of(NULL, 0, NULL, 0);
        scene.relay.fault[0].attach_status = cases[i].status;
        struct seen seen = scene_read(&scene);
        assert_int_not_equal(seen.status, TTR_OK);
        assert_non_null(strstr(seen.error.text, cases[i].text));
    }
}

static void missing_session_error_lists_where_to_look(void **state)
{
    (void)state;
    struct scene scene = scene_of(NULL, 0, NULL, 0);
    scene.relay.fault[0].hides_session = true;
    struct seen seen = scene_read(&scene);
    assert_int_equal(seen.status, TTR_E_IO);
    assert_non_null(strstr(seen.error.text, "no session \"auto\" of host \"raton\""));
}

static void newer_daemon_sessions_are_found(void **state)
{
    (void)state;
    struct scene_pair pair;
    scene_make_pair(&pair);
    struct scene scene = scene_of_pair(&pair);
    scene.relay.minor = 15;
    struct seen seen = scene_read(&scene);
    scene_assert_times(&seen, SCENE_PAIR_TIMES);
}

static void daemon_url_lists_sessions_as_events(void **state)
{
    (void)state;
    struct scene_pair pair;
    scene_make_pair(&pair);
    struct scene scene = scene_of_pair(&pair);
    relay_start(&scene.relay, scene.url, sizeof scene.url);
    scene.t = ttr_new(NULL);
    char daemon[64];
    (void)snprintf(daemon, sizeof daemon, "%.*s", (int)(strstr(scene.url, "/host/") - scene.url),
                   scene.url);
    ttr_error error;
    ttr_reader *reader = ttr_open(scene.t, daemon, NULL, &error);
    ttr_batch batch;
    assert_non_null(reader);
    assert_int_equal(ttr_read(reader, &batch, NULL), TTR_OK);
    assert_int_equal(batch.n, 2);
    const ttr_event *event = ttr_batch_at(&batch, 0);
    ttr_field field;
    assert_int_equal(event->kind, TTR_KIND_OBJECT);
    assert_int_equal(event->link, 7);
    assert_string_equal(ttr_text_get(scene.t, event->name).p, scene.url);
    assert_true(ttr_field_find(scene.t, event, "timer_us", &field));
    assert_int_equal(field.value.v.u, 1000000);
    assert_true(ttr_field_find(scene.t, event, "session", &field));
    support_assert_text(field.value.text.p, field.value.text.n, "auto");
    assert_true(ttr_field_find(scene.t, ttr_batch_at(&batch, 1), "host", &field));
    support_assert_text(field.value.text.p, field.value.text.n, "elsewhere");
    assert_int_equal(ttr_read(reader, &batch, NULL), TTR_END);
    scene_close(&scene, reader);
}

static void live_url_opens_like_path(void **state)
{
    (void)state;
    struct scene_pair pair;
    scene_make_pair(&pair);
    struct scene scene = scene_of_pair(&pair);
    relay_start(&scene.relay, scene.url, sizeof scene.url);
    scene.t = ttr_new(NULL);
    struct seen seen = {.n = 0};
    const char *const options[] = {"live-start=begin", "live-reconnect=0", "ctf.live-patience=0.5",
                                   NULL};
    scene.options.format_options = options;
    scene.options.from = "ctf";
    ttr_reader *reader = ttr_open(scene.t, scene.url, &scene.options, &seen.error);
    assert_non_null(reader);
    scene_read_some(reader, &seen, SIZE_MAX);
    scene_assert_times(&seen, SCENE_PAIR_TIMES);
    scene_close(&scene, reader);
}

static void invalid_options_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"live-start=tomorrow", NULL}, {"live-reconnect=soon", NULL}, {"live-patience=-1", NULL}};
    ttr *t = ttr_new(NULL);
    ttr_error error;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ttr_read_options options = {.size = sizeof options, .format_options = wrong[i]};
        assert_null(ttr_open(t, "net://127.0.0.1:1/host/h/s", &options, &error));
        assert_int_equal(error.status, TTR_E_MISUSE);
    }
    static const char metadata[] =
        "/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = le; };\nstream {};\n";
    /* also for traces that are not live */
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ttr_read_options options = {.size = sizeof options, .format_options = wrong[i]};
        assert_null(ttr_open_files(t, "folder",
                                   &(ttr_file){"metadata", metadata, sizeof metadata - 1}, 1,
                                   &options, &error));
        assert_int_equal(error.status, TTR_E_MISUSE);
        assert_non_null(strstr(error.text, wrong[i][0]));
    }
    assert_null(ttr_open(t, "net://127.0.0.1:1/host/h/s",
                         &(ttr_read_options){.size = sizeof(ttr_read_options), .from = "fxt"},
                         &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    assert_null(ttr_open(t, "net://127.0.0.1:1/hosts", NULL, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    assert_null(ttr_open(t, "net://127.0.0.1:1/host/h/s", NULL, &error));
    assert_int_equal(error.status, TTR_E_IO);
    assert_null(ttr_open(t, "nets://127.0.0.1:1/host/h/s", NULL, &error));
    assert_non_null(strstr(error.text, "cannot open"));
    ttr_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_merge_by_time_until_session_end),
        cmocka_unit_test(daemon_that_loses_pipelined_requests_is_read),
        cmocka_unit_test(silent_stream_delays_others_until_beacon),
        cmocka_unit_test(read_without_data_returns_soon),
        cmocka_unit_test(progress_callback_can_end_waiting),
        cmocka_unit_test(silent_stream_stops_delaying_others),
        cmocka_unit_test(metadata_in_pieces_is_extended_later),
        cmocka_unit_test(new_streams_open_before_later_events_return),
        cmocka_unit_test(session_without_streams_is_awaited),
        cmocka_unit_test(sessions_of_equal_name_merge),
        cmocka_unit_test(ctf_2_metadata_in_pieces_parses),
        cmocka_unit_test(packets_are_prefetched),
        cmocka_unit_test(ended_streams_are_freed_before_session_ends),
        cmocka_unit_test(memory_does_not_grow_with_packets),
        cmocka_unit_test(reading_from_now_sends_seek_last),
        cmocka_unit_test(event_after_range_ends_reading),
        cmocka_unit_test(time_offset_option_shifts_times),
        cmocka_unit_test(failed_attach_reports_reason),
        cmocka_unit_test(missing_session_error_lists_where_to_look),
        cmocka_unit_test(newer_daemon_sessions_are_found),
        cmocka_unit_test(daemon_url_lists_sessions_as_events),
        cmocka_unit_test(live_url_opens_like_path),
        cmocka_unit_test(invalid_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
