/* Streams that are encoded anew one after another: what comes out is what came out in order of
 * time, in the memory of one stream. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include <tracetta/tracetta.h>

#include "base/buffer.h"
#include "support/files.h"
#include "support/support.h"

#define STREAMS 300u
#define EVENTS 2000u
#define MEMORY (6u << 20) /* in order of time it takes more than 14 MiB */
#define ORDERED_MEMORY \
    (23u << 20) /* the same in order of time, where windows of the usual size take more than 26 */
#define MISSING 5u /* events behind the last one of each third stream */

#define ANY_METADATA(uuid, common)                                                                 \
    "/* CTF 1.8 */\n"                                                                              \
    "typealias integer { size = 8; align = 8; } := u8; typealias integer { size = 32; align = 8; " \
    "} := u32;\n"                                                                                  \
    "typealias integer { size = 64; align = 8; } := u64;\n"                                        \
    "trace { major = 1; minor = 8; byte_order = le; " uuid                                         \
    "packet.header := struct { u32 magic; u32 stream_id; u32 stream_instance_id; }; };\n"          \
    "clock { name = c; freq = 1000000000; };\n"                                                    \
    "typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;\n"                    \
    "stream { id = 0; packet.context := struct { ts timestamp_begin; ts timestamp_end; u64 "       \
    "content_size; u64 packet_size; u64 events_discarded; };\n"                                    \
    "event.header := struct { u32 id; ts timestamp; }; " common "};\n"                             \
    "event { name = \"e\"; id = 0; stream_id = 0; fields := struct { u32 number; u8 n; u8 "        \
    "list[n]; }; };\n"                                                                             \
    "event { name = \"other\"; id = 1; stream_id = 0; fields := struct { u32 number; u8 n; u8 "    \
    "list[n]; }; };\n"

#define METADATA(common) ANY_METADATA("", common)
#define CPU_METADATA                                                                              \
    "/* CTF 1.8 */ typealias integer { size = 32; align = 8; } := u32; typealias integer { size " \
    "= 64; align = 8; } := u64;\n"                                                                \
    "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 "    \
    "stream_id; u32 stream_instance_id; }; };\n"                                                  \
    "clock { name = c; freq = 1000000000; }; typealias integer { size = 64; align = 8; map = "    \
    "clock.c.value; } := ts;\n"                                                                   \
    "stream { id = 0; packet.context := struct { ts timestamp_begin; ts timestamp_end; u64 "      \
    "content_size; u64 packet_size; u32 cpu_id; u32 more; };\n"                                   \
    "event.header := struct { u32 id; ts timestamp; }; };\n"                                      \
    "event { name = \"e\"; id = 0; stream_id = 0; fields := struct { u32 number; }; };\n"
#define UUID "uuid = \"00010203-0405-0607-0809-0a0b0c0d0e0f\"; "

static const char plain_metadata[] = METADATA("");
static const char steady_metadata[] = METADATA("event.context := struct { u32 first; };");
static const char uneven_metadata[] = METADATA("event.context := struct { u8 n; u8 list[n]; };");
static const char cpu_metadata[] = CPU_METADATA;
static const char one_metadata[] = ANY_METADATA(UUID, "");
static const char other_metadata[] = ANY_METADATA(UUID, "event.context := struct { u32 first; };");

struct made {
    struct buffer stream[STREAMS];
    char name[STREAMS][12];
    ttr_file file[STREAMS + 1];
};

static void add_number(struct buffer *to, uint64_t x, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        buffer_add_byte(to, (uint8_t)(x >> 8 * i));
}

static uint64_t time_of(uint32_t number)
{
    return 1000 + (uint64_t)number / 2 * 10; /* each time twice, and in all streams */
}

/* Begins a packet; its sizes are filled in when it ends. */
static size_t begin_packet(struct buffer *to, uint32_t stream, uint64_t begin, uint64_t end)
{
    const size_t at = to->n;
    add_number(to, 0xC1FC1FC1u, 4);
    add_number(to, 0, 4);
    add_number(to, stream, 4);
    add_number(to, begin, 8);
    add_number(to, end, 8);
    buffer_add_zeros(to, 16);
    return at;
}

static void end_packet(struct buffer *to, size_t at)
{
    const uint64_t bits = (to->n - at) * 8;
    for (unsigned i = 0; i < 16; i++)
        to->bytes[at + 28 + i] = (uint8_t)(bits >> 8 * (i % 8));
}

static void make_stream(struct buffer *to, uint32_t stream)
{
    for (uint32_t number = 0; number < EVENTS;) {
        const uint32_t behind = number + EVENTS / 4;
        const size_t at = begin_packet(to, stream, time_of(number), time_of(behind - 1));
        add_number(to, 0, 8);
        for (; number < behind; number++) {
            add_number(to, (number + stream) % 7 == 0, 4);
            add_number(to, time_of(number), 8);
            add_number(to, number, 4);
            add_number(to, number % 3, 1);
            buffer_add_zeros(to, number % 3);
        }
        end_packet(to, at);
    }
    if (stream % 3)
        return;
    const size_t at = begin_packet(to, stream, time_of(EVENTS), time_of(EVENTS + 100));
    add_number(to, MISSING, 8);
    end_packet(to, at);
}

/* is_backward: names are in the other order than the streams. */
static void make(struct made *made, const char *metadata, bool is_backward)
{
    made->file[0] = (ttr_file){.name = "metadata", .bytes = metadata, .n = strlen(metadata)};
    for (uint32_t i = 0; i < STREAMS; i++) {
        buffer_init(&made->stream[i], alloc_default());
        make_stream(&made->stream[i], i);
        (void)snprintf(made->name[i], sizeof made->name[i], "s%u",
                       is_backward ? STREAMS - i : i); /* s10 is before s2 among the files */
        made->file[i + 1] = (ttr_file){
            .name = made->name[i], .bytes = made->stream[i].bytes, .n = made->stream[i].n};
    }
}

static void drop(struct made *made)
{
    for (uint32_t i = 0; i < STREAMS; i++)
        buffer_free(&made->stream[i]);
}

/* Encodes all anew, one stream behind another or not, into a folder. */
static void encode_anew(const struct made *made, const char *const *options, const char *path,
                        uint64_t memory)
{
    const ttr_options limits = {.size = sizeof limits, .max_memory = memory};
    const ttr_write_options writing = {.size = sizeof writing, .format_options = options};
    const ttr_loss *losses;
    ttr *t = ttr_new(&limits);
    ttr_batch batch;
    ttr_status status;
    ttr_reader *in = ttr_open_files(t, "made", made->file, STREAMS + 1, NULL, NULL);
    ttr_writer *out = ttr_create(t, path, "ctf", &writing, NULL);
    assert_true(in && out);
    if (memory)
        assert_true(ttr_write_scattered(out, in));
    while ((status = ttr_read(in, &batch, NULL)) == TTR_OK)
        assert_int_equal(ttr_write(out, &batch, NULL), TTR_OK);
    assert_int_equal(status, TTR_END);
    if (memory)
        assert_false(ttr_write_scattered(out, in)); /* too late, which changes nothing */
    assert_int_equal(ttr_writer_end(out, NULL), TTR_OK);
    assert_int_equal(ttr_losses(out, &losses), 0);
    assert_int_equal(ttr_finish(out, NULL), TTR_OK);
    ttr_close(in);
    ttr_free(t);
}

static uint32_t number_of(ttr *t, const ttr_event *event)
{
    ttr_fields fields;
    ttr_field field;
    ttr_fields_begin(t, event, &fields);
    return ttr_fields_next(&fields, &field) ? (uint32_t)field.value.v.u : UINT32_MAX;
}

/* All events come by time, then by stream, as they do from what was made; and each third stream
 * misses events in its end. */
static void expect_order(const char *path)
{
    ttr *t = ttr_new(NULL);
    ttr_batch batch;
    uint64_t events = 0, missing = 0;
    ttr_reader *in = ttr_open(t, path, NULL, NULL);
    assert_non_null(in);
    while (ttr_read(in, &batch, NULL) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            if (event->kind == TTR_KIND_GAP) {
                assert_int_equal(event->time, time_of(EVENTS - 1));
                missing += event->link;
                continue;
            }
            const uint64_t pair = events / 2 / STREAMS, stream = events / 2 % STREAMS,
                           number = pair * 2 + events % 2;
            assert_int_equal(event->time, time_of((uint32_t)number));
            assert_int_equal(number_of(t, event), number);
            assert_string_equal(ttr_text_get(t, event->name).p,
                                (number + stream) % 7 ? "e" : "other");
            events++;
        }
    assert_int_equal(events, STREAMS * EVENTS);
    assert_int_equal(missing, STREAMS / 3 * MISSING);
    ttr_close(in);
    ttr_free(t);
}

static void streams_encoded_anew_one_behind_another_are_those_encoded_in_order(void **state)
{
    static struct made made;
    static const char *const options[][3] = {{"byte-order=be", NULL},
                                             {"packet-size=4096", NULL},
                                             {"version=2", "packet-size=65536", NULL},
                                             {"version=1.1", NULL},
                                             {NULL}};
    (void)state;
    char folder[] = "/tmp/tracetta-scatter-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    make(&made, plain_metadata, false);
    for (unsigned i = 0; i < sizeof options / sizeof *options; i++)
        for (unsigned scattered = 0; scattered < 2; scattered++) {
            (void)snprintf(path, sizeof path, "%s/%u-%u", folder, i, scattered);
            encode_anew(&made, options[i], path, scattered ? MEMORY : 0);
            expect_order(path);
        }
    drop(&made);
    assert_int_equal(files_remove(folder), 0);
}

/* Whether the trace, of two streams in files that are called so, may be encoded anew one stream
 * behind another. */
static bool may_scatter_named(const char *const *metadata, size_t n, const char *format,
                              const char *option, const char *const name[2])
{
    const char *const options[] = {option, NULL};
    const ttr_write_options writing = {.size = sizeof writing, .format_options = options};
    struct buffer stream[2];
    ttr_reader *in[2];
    ttr *t = ttr_new(NULL);
    for (uint32_t i = 0; i < 2; i++) {
        buffer_init(&stream[i], alloc_default());
        end_packet(&stream[i], begin_packet(&stream[i], i, 7, 8));
        add_number(&stream[i], 0, 8);
        end_packet(&stream[i], 0);
    }
    for (size_t i = 0; i < n; i++) {
        const ttr_file files[] = {{"metadata", metadata[i], strlen(metadata[i])},
                                  {name[0], stream[0].bytes, stream[0].n},
                                  {name[1], stream[1].bytes, stream[1].n}};
        in[i] = ttr_open_files(t, i ? "other" : "made", files, 3, NULL, NULL);
        assert_non_null(in[i]);
    }
    ttr_reader *all = n == 1 ? in[0] : ttr_merge(t, in, n, NULL);
    ttr_writer *out = ttr_create(t, NULL, format, &writing, NULL);
    assert_true(all && out);
    const bool is_scattered = ttr_write_scattered(out, all);
    ttr_close(all);
    assert_int_equal(ttr_finish(out, NULL), TTR_OK);
    ttr_free(t);
    for (uint32_t i = 0; i < 2; i++)
        buffer_free(&stream[i]);
    return is_scattered;
}

static bool may_scatter(const char *const *metadata, size_t n, const char *format,
                        const char *option)
{
    return may_scatter_named(metadata, n, format, option, (const char *const[]){"a", "b"});
}

static void where_the_result_hangs_on_the_order_of_all_events_they_come_in_order(void **state)
{
    (void)state;
    static const char *const plain[] = {plain_metadata}, *const steady[] = {steady_metadata},
                             *const uneven[] = {uneven_metadata};
    static const char *const one[] = {one_metadata}, *const cpu[] = {cpu_metadata};
    static const char *const alike[] = {one_metadata, one_metadata}, *const unlike[] = {
                                                                         one_metadata,
                                                                         other_metadata};
    assert_true(may_scatter(plain, 1, "ctf", "byte-order=be"));
    assert_false(may_scatter(plain, 1, "text", NULL));
    assert_true(may_scatter(steady, 1, "ctf", "byte-order=be"));
    assert_true(may_scatter(plain, 1, "ctf", "version=1.1"));
    assert_true(
        may_scatter_named(plain, 1, "ctf", "version=1.1", (const char *const[]){"s_9", "s_10"}));
    assert_false(may_scatter_named(
        plain, 1, "ctf", "version=1.1",
        (const char *const[]){"s_10", "s_9"})); /* its readers go by the names of files */
    assert_true(
        may_scatter_named(plain, 1, "ctf", "byte-order=be", (const char *const[]){"s_10", "s_9"}));
    assert_true(may_scatter(one, 1, "ctf", "version=1.1"));
    assert_false(
        may_scatter(alike, 2, "ctf", "version=1.1")); /* sections go on in the other folder */
    assert_false(may_scatter(uneven, 1, "ctf", "version=1.1"));
    assert_false(may_scatter(
        cpu, 1, "ctf",
        "version=1.1")); /* the cpu becomes a part of the name, which each packet may change */
    assert_false(
        may_scatter(uneven, 1, "ctf", "byte-order=be")); /* one stream may become several */
    assert_true(may_scatter(alike, 2, "ctf", "byte-order=be"));
    assert_false(may_scatter(
        unlike, 2, "ctf",
        "byte-order=be")); /* which are one trace to readers: numbers of classes change */
}

/* Puts the files of a trace into a folder, where windows are needed to read them. */
static void make_folder(const struct made *made, const char *folder)
{
    char path[PATH_MAX];
    for (unsigned i = 0; i < STREAMS + 1; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, made->file[i].name);
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(made->file[i].bytes, 1, made->file[i].n, file), made->file[i].n);
        assert_int_equal(fclose(file), 0);
    }
}

static uint64_t find_loss(ttr_writer *out, const char *code)
{
    const ttr_loss *losses;
    const size_t n = ttr_losses(out, &losses);
    for (size_t i = 0; i < n; i++)
        if (strcmp(losses[i].code, code) == 0)
            return losses[i].count;
    return 0;
}

static void those_that_must_come_in_order_have_small_windows_beside_their_packets(void **state)
{
    static struct made made;
    static const char *const options[] = {"version=1.1", NULL};
    (void)state;
    char folder[] = "/tmp/tracetta-scatter-XXXXXX";
    const ttr_options limits = {.size = sizeof limits, .max_memory = ORDERED_MEMORY};
    const ttr_read_options reading = {.size = sizeof reading, .flags = TTR_READ_NO_MMAP};
    const ttr_write_options writing = {.size = sizeof writing, .format_options = options};
    ttr_batch batch;
    ttr_status status;
    ttr *t = ttr_new(&limits);
    assert_non_null(mkdtemp(folder));
    make(&made, plain_metadata, true);
    make_folder(&made, folder);
    ttr_reader *in = ttr_open(t, folder, &reading, NULL);
    ttr_writer *out = ttr_create(t, NULL, "ctf", &writing, NULL);
    assert_true(in && out);
    assert_false(ttr_write_scattered(out, in));
    while ((status = ttr_read(in, &batch, NULL)) == TTR_OK)
        assert_int_equal(ttr_write(out, &batch, NULL), TTR_OK);
    assert_int_equal(status, TTR_END);
    assert_int_equal(ttr_writer_end(out, NULL), TTR_OK);
    assert_true(find_loss(out, "event.order") >
                0); /* readers have the streams the other way round */
    assert_int_equal(ttr_finish(out, NULL), TTR_OK);
    ttr_close(in);
    ttr_free(t);
    drop(&made);
    assert_int_equal(files_remove(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_encoded_anew_one_behind_another_are_those_encoded_in_order),
        cmocka_unit_test(where_the_result_hangs_on_the_order_of_all_events_they_come_in_order),
        cmocka_unit_test(those_that_must_come_in_order_have_small_windows_beside_their_packets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
