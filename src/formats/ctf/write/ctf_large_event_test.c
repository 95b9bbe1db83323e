/* Events with very many elements, transcoded or written as lines: the output equals the input, or
 * the writer fails at the memory limit with the event's offset. */
#include <stdio.h>
#include <stdlib.h>

#include <tracetta/advanced.h>
#include <tracetta/tracetta.h>

#include "base/buffer.h"
#include "support/files.h"
#include "support/support.h"

#define TEXTS 20000u
#define PAIRS 131072u
#define NUMBERS 30000u
#define LARGE_AT 56u /* file offset of the first large event, in bytes */

static const char metadata[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 8; align = 8; } := u8; typealias integer { size = 32; align = 8; } "
    ":= u32; typealias integer { size = 64; align = 8; } := u64;\n"
    "typealias integer { size = 32; align = 8; byte_order = be; } := big;\n"
    "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 "
    "stream_id; }; };\n"
    "clock { name = c; freq = 1000000000; };\n"
    "typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;\n"
    "stream { id = 0; packet.context := struct { ts timestamp_begin; ts timestamp_end; u64 "
    "content_size; u64 packet_size; };\n"
    "event.header := struct { u32 id; ts timestamp; }; };\n"
    "event { name = \"small\"; id = 0; stream_id = 0; fields := struct { u32 x; }; };\n"
    "event { name = \"large\"; id = 1; stream_id = 0; fields := struct { u32 n; struct { u8 a; "
    "string s; } texts[n]; u8 between;\n"
    "struct { u32 m; struct { u32 a; u32 b; } pairs[m]; } inner; u32 l; big numbers[l]; u8 "
    "following; "
    "}; };\n";

static void add_number(struct buffer *to, uint64_t x, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        buffer_add_byte(to, (uint8_t)(x >> 8 * i));
}

static void add_header(struct buffer *to, uint32_t id, uint64_t time)
{
    add_number(to, id, 4);
    add_number(to, time, 8);
}

static void add_small(struct buffer *to, uint64_t time)
{
    add_header(to, 0, time);
    add_number(to, time * 3, 4);
}

static void add_large(struct buffer *to, uint64_t time)
{
    char text[16];
    add_header(to, 1, time);
    add_number(to, TEXTS, 4);
    for (uint32_t i = 0; i < TEXTS; i++) {
        add_number(to, i, 1);
        buffer_add(to, text, 1 + (size_t)snprintf(text, sizeof text, "t%u", i % 1000));
    }
    add_number(to, 77, 1);
    add_number(to, PAIRS, 4);
    for (uint32_t i = 0; i < PAIRS; i++) {
        add_number(to, i, 4);
        add_number(to, i * UINT64_C(2654435761), 4);
    }
    add_number(to, NUMBERS, 4);
    for (uint32_t i = 0; i < NUMBERS; i++)
        add_number(to, __builtin_bswap32(i * 40503u), 4);
    add_number(to, 99, 1);
}

/* Makes one packet of small events around two large ones. */
static void make_stream(struct buffer *to)
{
    buffer_init(to, alloc_default());
    add_number(to, 0xC1FC1FC1u, 4);
    add_number(to, 0, 4);
    add_number(to, 100, 8);
    add_number(to, 500, 8);
    buffer_add_zeros(to, 16);
    add_small(to, 100);
    add_large(to, 200);
    add_small(to, 300);
    add_large(to, 400);
    add_small(to, 500);
    for (unsigned i = 0; i < 16; i++)
        to->bytes[24 + i] = (uint8_t)(((uint64_t)to->n * 8) >> 8 * (i % 8));
}

static void transcode_to(const ttr_file *files, const char *const *options, const char *path)
{
    const ttr_write_options writing = {.size = sizeof writing, .format_options = options};
    const ttr_loss *losses;
    ttr_batch batch;
    ttr *t = ttr_new(NULL);
    ttr_reader *in = ttr_open_files(t, "made", files, 2, NULL, NULL);
    ttr_writer *out = ttr_create(t, path, "ctf", &writing, NULL);
    assert_true(in && out);
    while (ttr_read(in, &batch, NULL) == TTR_OK)
        assert_int_equal(ttr_write(out, &batch, NULL), TTR_OK);
    assert_int_equal(ttr_writer_end(out, NULL), TTR_OK);
    assert_int_equal(ttr_writer_events(out), 5);
    if (ttr_losses(out, &losses))
        fail_msg("%s is lost", losses[0].code);
    assert_int_equal(ttr_finish(out, NULL), TTR_OK);
    ttr_close(in);
    ttr_free(t);
}

/* One of two traces that are compared event by event. */
struct side {
    ttr *t;
    ttr_reader *in;
    ttr_batch batch;
    uint32_t i;
};

static const ttr_event *next_event(struct side *side)
{
    while (side->i == side->batch.n) {
        side->i = 0;
        if (ttr_read(side->in, &side->batch, NULL) != TTR_OK)
            return NULL;
    }
    return ttr_batch_at(&side->batch, side->i++);
}

static void expect_same_fields(const struct side *a, const ttr_event *x, const struct side *b,
                               const ttr_event *y)
{
    ttr_fields one, other;
    ttr_field p, q;
    ttr_fields_begin(a->t, x, &one);
    ttr_fields_begin(b->t, y, &other);
    while (ttr_fields_next(&one, &p)) {
        assert_true(ttr_fields_next(&other, &q));
        if (p.value.type != q.value.type || p.depth != q.depth || p.value.count != q.value.count)
            fail_msg("field %.*s differs", (int)p.name.n, p.name.p);
        if (p.value.type == TTR_TYPE_UINT && p.value.v.u != q.value.v.u)
            fail_msg("field %.*s has another value", (int)p.name.n, p.name.p);
        if (p.value.type == TTR_TYPE_TEXT &&
            (p.value.text.n != q.value.text.n ||
             memcmp(p.value.text.p, q.value.text.p, p.value.text.n) != 0))
            fail_msg("field %.*s has another text", (int)p.name.n, p.name.p);
    }
    assert_false(ttr_fields_next(&other, &q));
}

static void expect_same(const ttr_file *files, const char *path)
{
    struct side a = {.t = ttr_new(NULL)}, b = {.t = ttr_new(NULL)};
    uint32_t events = 0;
    a.in = ttr_open_files(a.t, "made", files, 2, NULL, NULL);
    b.in = ttr_open(b.t, path, NULL, NULL);
    assert_true(a.in && b.in);
    for (const ttr_event *x; (x = next_event(&a)); events++) {
        const ttr_event *y = next_event(&b);
        assert_non_null(y);
        assert_int_equal(x->time, y->time);
        expect_same_fields(&a, x, &b, y);
    }
    assert_int_equal(events, 5);
    assert_null(next_event(&b));
    ttr_close(a.in);
    ttr_close(b.in);
    ttr_free(a.t);
    ttr_free(b.t);
}

/* The input stream with its metadata, and a folder for outputs. */
struct scene {
    struct buffer stream;
    ttr_file files[2];
    char folder[32];
};

static void begin_large_trace(struct scene *scene)
{
    make_stream(&scene->stream);
    scene->files[0] = (ttr_file){"metadata", metadata, sizeof metadata - 1};
    scene->files[1] = (ttr_file){"s", scene->stream.bytes, scene->stream.n};
    (void)snprintf(scene->folder, sizeof scene->folder, "/tmp/tracetta-large-XXXXXX");
    assert_non_null(mkdtemp(scene->folder));
}

static void end_large_trace(struct scene *scene)
{
    buffer_free(&scene->stream);
    assert_int_equal(files_remove(scene->folder), 0);
}

static void large_event_transcodes_without_change(void **state)
{
    static const char *const options[][4] = {
        {"byte-order=be", NULL},
        {"version=2", "byte-order=be", "packet-size=100", NULL},
        /* a packet can hold a large event and others */
        {"byte-order=be", "packet-size=8000000", NULL},
        {"version=1.1", NULL},
        {"version=1.1", "checksum=md5", "packet-size=8000000", NULL},
        {"version=1.1", "checksum=sha1", "packet-align=1", NULL},
        {"version=1.1", "compression=gzip", "packet-size=8000000", NULL},
        {"version=1.1", "checksum=crc32", "alignment=natural", NULL}};
    struct scene scene;
    char path[64];
    (void)state;
    begin_large_trace(&scene);
    for (unsigned i = 0; i < sizeof options / sizeof *options; i++) {
        (void)snprintf(path, sizeof path, "%s/%u", scene.folder, i);
        transcode_to(scene.files, options[i], path);
        expect_same(scene.files, path);
    }
    end_large_trace(&scene);
}

/* Returns whether the trace can be written within `memory` bytes. If not, asserts that the first
 * large event caused the failure. */
static bool fits_in_memory(const struct scene *scene, const char *format, uint64_t memory)
{
    static const char *const order[] = {"byte-order=be", NULL};
    const ttr_options limits = {.size = sizeof limits, .max_memory = memory};
    const ttr_write_options writing = {.size = sizeof writing,
                                       .format_options = strcmp(format, "ctf") == 0 ? order : NULL};
    ttr_batch batch;
    ttr_error error = {0};
    ttr_status status = TTR_OK;
    char path[64];
    (void)snprintf(path, sizeof path, "%s/%s-%llu", scene->folder, format,
                   (unsigned long long)memory);
    ttr *t = ttr_new(&limits);
    ttr_reader *in = ttr_open_files(t, "made", scene->files, 2, NULL, NULL);
    ttr_writer *out = ttr_create(t, path, format, &writing, NULL);
    assert_true(in && out);
    while (status == TTR_OK && ttr_read(in, &batch, NULL) == TTR_OK)
        status = ttr_write(out, &batch, &error);
    if (status != TTR_OK) {
        assert_int_equal(status, TTR_E_NOMEM);
        assert_int_equal(error.offset, LARGE_AT);
    }
    ttr_status ended = ttr_finish(out, &error);
    assert_int_equal(ended, status);
    ttr_close(in);
    ttr_free(t);
    return status == TTR_OK;
}

static void large_event_at_memory_limit_fails_with_its_offset(void **state)
{
    static const char *const formats[] = {"ctf", "text", "jsonl", "csv", "babeltrace2"};
    struct scene scene;
    (void)state;
    begin_large_trace(&scene);
    for (unsigned i = 0; i < sizeof formats / sizeof *formats; i++) {
        assert_false(fits_in_memory(&scene, formats[i], 3u << 20));
        assert_true(fits_in_memory(&scene, formats[i], 256u << 20));
    }
    end_large_trace(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_event_transcodes_without_change),
        cmocka_unit_test(large_event_at_memory_limit_fails_with_its_offset)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
