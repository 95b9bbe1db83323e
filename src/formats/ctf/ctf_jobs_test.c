/* What is decoded ahead on other threads is what is read without them.  The trace is made here byte by byte. */
#include <stdlib.h>

#include <tracetta/read.h>
#include <tracetta/tracetta.h>

#include "base/buffer.h"
#include "base/hash.h"
#include "support.h"

#define STREAMS 3u
#define PACKETS 40u
#define EVENTS 700u /* of a packet */

static const char metadata[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 32; align = 8; } := u32; typealias integer { size = 64; align = 8; } := u64;\n"
    "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };\n"
    "clock { name = c; freq = 1000000000; };\n"
    "typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;\n"
    "stream { id = 0; packet.context := struct { ts timestamp_begin; ts timestamp_end; u64 content_size; u64 packet_size; };\n"
    "  event.header := struct { u32 id; ts timestamp; }; event.context := struct { u32 vpid; u32 vtid; }; };\n"
    "event { name = \"text\"; id = 0; stream_id = 0; fields := struct { string s; }; };\n"
    "event { name = \"number\"; id = 1; stream_id = 0; fields := struct { u64 n; }; };\n"
    "event { name = \"list\"; id = 2; stream_id = 0; fields := struct { u32 len; u32 v[len]; }; };\n";

static void add_u32(struct buffer *to, uint32_t x)
{
    for (unsigned i = 0; i < 4; i++)
        buffer_add_byte(to, (uint8_t)(x >> 8 * i));
}

static void add_u64(struct buffer *to, uint64_t x)
{
    add_u32(to, (uint32_t)x);
    add_u32(to, (uint32_t)(x >> 32));
}

static uint32_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13, *seed ^= *seed >> 7, *seed ^= *seed << 17;
    return (uint32_t)(*seed >> 20);
}

static void add_event(struct buffer *to, uint64_t time, uint64_t *seed)
{
    uint32_t random = next_random(seed), id = random % 3;
    add_u32(to, id);
    add_u64(to, time);
    add_u32(to, 100 + (random >> 4) % 3);
    add_u32(to, 200 + (random >> 7) % 50 / 40);
    if (id == 0)
        buffer_add(to, "some text", 10);
    else if (id == 1)
        add_u64(to, random);
    else
        add_u32(to, random % 4);
    for (uint32_t i = 0; id == 2 && i < random % 4; i++)
        add_u32(to, i);
}

static void add_packet(struct buffer *to, uint64_t *time, uint64_t *seed)
{
    size_t begin = to->n;
    uint64_t first = *time;
    add_u32(to, 0xC1FC1FC1u);
    add_u32(to, 0);
    buffer_add_zeros(to, 32);
    for (unsigned i = 0; i < EVENTS; i++)
        add_event(to, *time += 1 + next_random(seed) % 1000, seed);
    uint64_t bits = (to->n - begin) * 8, context[4] = {first, *time, bits, bits};
    for (unsigned i = 0; i < 32; i++)
        to->bytes[begin + 8 + i] = (uint8_t)(context[i / 8] >> 8 * (i % 8));
}

/* Reads all; gives a hash of every event with its fields, in order. */
static uint64_t read_all(const ttr_file *files, unsigned jobs, uint64_t *events)
{
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    assert_true(ttr_jobs(t, jobs));
    ttr_reader *in = ttr_open_files(t, "made", files, STREAMS + 1, NULL, &error);
    assert_non_null(in);
    ttr_batch batch;
    ttr_status status;
    uint64_t hash = 0;
    *events = 0;
    while ((status = ttr_read(in, &batch, &error)) == TTR_OK) {
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            ttr_thread thread = {0};
            ttr_fields fields;
            ttr_field field;
            assert_true(ttr_thread_get(t, event->thread, &thread));
            uint64_t words[] = {hash, (uint64_t)event->time, event->offset, event->name, event->source, thread.pid, thread.tid};
            hash = hash_bytes(words, sizeof words);
            ttr_fields_begin(t, event, &fields);
            while (ttr_fields_next(&fields, &field)) {
                uint64_t value[] = {hash, field.value.type == TTR_TYPE_TEXT ? hash_bytes(field.value.text.p, field.value.text.n)
                                                                            : field.value.v.u};
                hash = hash_bytes(value, sizeof value);
            }
        }
        *events += batch.n;
    }
    assert_int_equal(status, TTR_END);
    ttr_close(in);
    ttr_free(t);
    return hash;
}

static void decoding_ahead_changes_nothing(void **state)
{
    (void)state;
    static const char *const names[STREAMS] = {"a", "b", "c"};
    struct buffer stream[STREAMS];
    ttr_file files[STREAMS + 1] = {{.name = "metadata", .bytes = metadata, .n = sizeof metadata - 1}};
    uint64_t seed = 88172645463325252u, events;
    for (unsigned i = 0; i < STREAMS; i++) {
        uint64_t time = i;
        buffer_init(&stream[i], alloc_default());
        for (unsigned k = 0; k < PACKETS; k++)
            add_packet(&stream[i], &time, &seed);
        files[i + 1] = (ttr_file){.name = names[i], .bytes = stream[i].bytes, .n = stream[i].n};
    }
    uint64_t alone = read_all(files, 1, &events);
    assert_int_equal(events, STREAMS * PACKETS * EVENTS);
    for (unsigned jobs = 2; jobs <= 5; jobs++)
        assert_int_equal(read_all(files, jobs, &events), alone);
    for (unsigned i = 0; i < STREAMS; i++)
        buffer_free(&stream[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(decoding_ahead_changes_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
