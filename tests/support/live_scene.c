/* See live_scene.h. */
#include "support/live_scene.h"

#include <stdio.h>

#include "support/support.h"

enum { CALLS_MAX = 3000 };

/* --- A trace --- */

const char scene_metadata[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 32; align = 8; } := u32;\ntypealias integer { size = 64; align = "
    "8; } := u64;\n"
    "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 "
    "stream_id; }; };\n"
    "clock { name = c; freq = 1000000000; offset = 0; };\n"
    "typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;\n"
    "stream { id = 0; packet.context := struct { ts timestamp_begin; ts timestamp_end; u64 "
    "content_size; u64 packet_size;\n"
    "  u64 packet_seq_num; u64 events_discarded; };\n  event.header := struct { u32 id; ts "
    "timestamp; }; };\n"
    "event { name = \"ev\"; id = 0; stream_id = 0; fields := struct { u32 v; }; };\n";
const size_t scene_metadata_n = sizeof scene_metadata - 1;

static void put64(struct scene_packet *packet, uint64_t value)
{
    store_u64le(packet->bytes + packet->n, value);
    packet->n += 8;
}

static void put32(struct scene_packet *packet, uint32_t value)
{
    store_u32le(packet->bytes + packet->n, value);
    packet->n += 4;
}

/* A packet from `begin` to `end` with events of an id at times begin, begin + step, ... below end +
 * 1; their values are their times. */
struct relay_step scene_make(struct scene_packet *packet, uint64_t seq, uint64_t begin,
                             uint64_t end, uint64_t step, uint32_t id)
{
    packet->n = 0;
    put32(packet, 0xc1fc1fc1);
    put32(packet, 0);
    put64(packet, begin);
    put64(packet, end);
    packet->n += 16;
    put64(packet, seq);
    put64(packet, 0);
    for (uint64_t time = begin; step && time <= end; time += step) {
        put32(packet, id);
        put64(packet, time);
        put32(packet, (uint32_t)time);
    }
    size_t content = packet->n;
    memset(packet->bytes + content, 0, 24);
    packet->n += 24;
    store_u64le(packet->bytes + 24, content * 8);
    store_u64le(packet->bytes + 32, packet->n * 8);
    return (struct relay_step){
        .kind = RELAY_PACKET, .bytes = packet->bytes, .n = packet->n, .begin = begin, .end = end};
}

struct relay_metadata scene_whole_metadata(void)
{
    return (struct relay_metadata){
        .trace = 1, .stream = 90, .bytes = scene_metadata, .n = scene_metadata_n};
}

void scene_make_pair(struct scene_pair *pair)
{
    pair->a[0] = scene_make(&pair->packet[0], 0, 10, 30, 10, 0);
    pair->a[1] = scene_make(&pair->packet[1], 1, 30, 50, 20, 0);
    pair->a[2] = scene_make(&pair->packet[2], 2, 60, 90, 30, 0);
    pair->b[0] = scene_make(&pair->packet[3], 0, 15, 45, 15, 0);
    pair->b[1] = scene_make(&pair->packet[4], 1, 46, 56, 10, 0);
    pair->b[2] = scene_make(&pair->packet[5], 2, 61, 71, 10, 0);
    pair->metadata = scene_whole_metadata();
    pair->streams[0] = (struct relay_stream){
        .id = 5, .trace = 1, .channel = "ch_0", .steps = pair->a, .steps_n = 3};
    pair->streams[1] = (struct relay_stream){
        .id = 6, .trace = 1, .channel = "ch_1", .steps = pair->b, .steps_n = 3};
}

/* --- Reading --- */

struct scene scene_of(const struct relay_stream *streams, size_t n,
                      const struct relay_metadata *pieces, size_t pieces_n)
{
    struct scene scene = {.relay = {.minor = 13,
                                    .host = "raton",
                                    .session = "auto",
                                    .timer_us = 1000000,
                                    .streams = streams,
                                    .streams_n = n,
                                    .metadata = pieces,
                                    .metadata_n = pieces_n},
                          .how = {.reconnect_ms = 20000, .limit_ms = 20000, .poll_ms = 2},
                          .options = {.size = sizeof(ttr_read_options)},
                          .to = INT64_MAX};
    return scene;
}

struct scene scene_of_pair(const struct scene_pair *pair)
{
    return scene_of(pair->streams, 2, &pair->metadata, 1);
}

static void take_reports(struct seen *seen, ttr_reader *reader)
{
    ttr_report report = {.size = sizeof report};
    for (size_t i = 0; ttr_reader_report(reader, i, &report); i++) {
        seen->gaps += report.gaps;
        seen->lost += report.lost;
        seen->damage += report.damage_regions;
        seen->events += report.events;
        for (size_t k = 0; k < report.notes_n; k++) {
            size_t at = strlen(seen->notes);
            (void)snprintf(seen->notes + at, sizeof seen->notes - at, "%s=%u ",
                           report.notes[k].code, (unsigned)report.notes[k].count);
        }
    }
}

/* Reads until the end, a failure, or that many events. */
void scene_read_some(ttr_reader *reader, struct seen *seen, size_t most)
{
    ttr_batch batch;
    for (size_t calls = 0; calls < CALLS_MAX && seen->n < most; calls++) {
        seen->status = ttr_read(reader, &batch, &seen->error);
        if (seen->status != TTR_OK && seen->status != TTR_AGAIN)
            return;
        for (uint32_t i = 0; seen->status == TTR_OK && i < batch.n && seen->n < SCENE_EVENTS; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            seen->time[seen->n] = event->time;
            seen->name[seen->n] = event->name;
            seen->kind[seen->n++] = event->kind;
        }
    }
}

ttr_reader *scene_open(struct scene *scene, ttr_error *error)
{
    relay_start(&scene->relay, scene->url, sizeof scene->url);
    scene->t = ttr_new(NULL);
    ttr_reader *reader =
        ctf_open_live_with(scene->t, scene->url, &scene->how, &scene->options, error);
    if (reader && scene->to != INT64_MAX)
        reader_set_range(reader, INT64_MIN, scene->to);
    return reader;
}

void scene_close(struct scene *scene, ttr_reader *reader)
{
    ttr_close(reader);
    ttr_free(scene->t);
    relay_stop(&scene->relay);
}

/* Reads a session from its begin to its end. */
struct seen scene_read(struct scene *scene)
{
    struct seen seen = {.n = 0};
    ttr_reader *reader = scene_open(scene, &seen.error);
    seen.status = seen.error.status;
    if (reader) {
        scene_read_some(reader, &seen, SIZE_MAX);
        take_reports(&seen, reader);
    }
    scene_close(scene, reader);
    return seen;
}

/* The times of all events, "10 20 -30": a gap has a minus. */
void scene_assert_times(const struct seen *seen, const char *expected)
{
    char text[2048] = "";
    for (size_t i = 0; i < seen->n; i++) {
        size_t at = strlen(text);
        (void)snprintf(text + at, sizeof text - at, "%s%s%lld", i ? " " : "",
                       seen->kind[i] == TTR_KIND_GAP ? "-" : "", (long long)seen->time[i]);
    }
    if (seen->status != TTR_END && seen->status != TTR_AGAIN && seen->status != TTR_OK)
        print_message("# %s\n", seen->error.text);
    assert_string_equal(text, expected);
}

void scene_assert_note(const struct seen *seen, const char *code)
{
    if (!strstr(seen->notes, code))
        fail_msg("no note %s among: %s", code, seen->notes);
}
