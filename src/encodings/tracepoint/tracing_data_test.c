/* Tests of trace-cmd's description of tracepoints: both byte orders, old and new versions,
 * malformed formats, and truncation at every byte. */
#include "encodings/tracepoint/tracing_data.h"

#include "support/support.h"

#define FORMAT                                                               \
    "name: it\nID: 300\nformat:\n\tfield:unsigned short "                    \
    "common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                          \
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\tfield:int " \
    "v;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n"
#define PAGE32                                                                  \
    "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t " \
    "commit;\toffset:8;\tsize:4;\tsigned:1;\n"                                  \
    "\tfield: char data;\toffset:12;\tsize:4084;\tsigned:1;\n"

static struct tracepoint_raw raw_of_payload(const void *ctx, const ttr_event *event)
{
    (void)ctx;
    return (struct tracepoint_raw){event->payload, event->payload_size};
}

static const struct tracepoint_container container = {.raw = raw_of_payload};

struct scene {
    ttr *t;
    struct tracing_data data;
    unsigned odd;
    uint64_t odd_offset;
};

static void count_odd(void *ctx, uint64_t offset, const char *what)
{
    struct scene *scene = ctx;
    assert_true(what[0] != 0);
    scene->odd++;
    scene->odd_offset = offset;
}

static void begin_scene(struct scene *scene, bool is_big_endian)
{
    *scene = (struct scene){.t = ttr_new(NULL)};
    uint16_t source = context_add_source(scene->t, "here", "test");
    scene->data = (struct tracing_data){.odd = count_odd, .ctx = scene};
    scene->data.all = tracepoints_new(&(struct tracepoints_spec){.t = scene->t,
                                                                 .container = &container,
                                                                 .source = source,
                                                                 .is_big_endian = is_big_endian,
                                                                 .long_bytes = 4});
    assert_non_null(scene->data.all);
}

static void end_scene(struct scene *scene)
{
    tracepoints_free(scene->data.all);
    ttr_free(scene->t);
}

static void append_number(struct buffer *to, bool is_big_endian, unsigned bytes, uint64_t value)
{
    for (unsigned i = 0; i < bytes; i++)
        buffer_add_byte(to, (uint8_t)(value >> 8 * (is_big_endian ? bytes - 1 - i : i)));
}

static void append_sized_text(struct buffer *to, bool is_big_endian, unsigned bytes,
                              const char *value)
{
    append_number(to, is_big_endian, bytes, strlen(value));
    buffer_add_text(to, value);
}

/* Builds the block as trace-cmd's manual describes it. */
static void make_block(struct buffer *to, bool big, const char *version, const char *format)
{
    buffer_add(to, "\x17\x08\x44tracing", 10);
    buffer_add(to, version, strlen(version) + 1);
    buffer_add_byte(to, big);
    buffer_add_byte(to, 8);
    append_number(to, big, 4, 4096);
    buffer_add(to, "header_page", 12);
    append_sized_text(to, big, 8, PAGE32);
    buffer_add(to, "header_event", 13);
    append_sized_text(to, big, 8, "# compressed entry header\n");
    append_number(to, big, 4, 0);
    append_number(to, big, 4, 1);
    buffer_add(to, "sys", 4);
    append_number(to, big, 4, 1);
    append_sized_text(to, big, 8, format);
    append_sized_text(to, big, 4, "ffffffff81000000 T _text\n");
    append_sized_text(to, big, 4, "0xffffffff82000000 : \"hello %d\"\n");
    if (version[0] != '0' || version[2] >= '6')
        append_sized_text(to, big, 8, "77 someone\n");
    assert_false(to->failed);
}

static void block_is_read_in_both_byte_orders(void **state)
{
    (void)state;
    for (unsigned big = 0; big < 2; big++) {
        static const char *const versions[] = {"6", "0.6", "0.5"};
        for (unsigned i = 0; i < 3; i++) {
            struct scene scene;
            struct buffer block;
            begin_scene(&scene, big);
            buffer_init(&block, alloc_default());
            make_block(&block, big, versions[i], FORMAT);
            struct cursor c = cursor_init(block.bytes, block.n, 0);
            assert_true(tracing_data_parse_head(&scene.data, &c));
            assert_int_equal(tracing_data_parse(&scene.data, &c, NULL), TTR_OK);
            assert_false(c.failed);
            assert_int_equal(cursor_left(&c), 0);
            assert_string_equal(scene.data.version, versions[i]);
            assert_int_equal(scene.data.is_big_endian, big);
            assert_int_equal(scene.data.page_bytes, 4096);
            assert_int_equal(scene.data.commit_bytes, 4);
            assert_int_equal(scene.data.page_data, 12);
            assert_int_equal(scene.odd, 0);
            assert_non_null(tracepoints_find(scene.data.all, 300));
            buffer_free(&block);
            end_scene(&scene);
        }
    }
}

static void malformed_format_is_reported(void **state)
{
    (void)state;
    struct scene scene;
    struct buffer block;
    begin_scene(&scene, false);
    buffer_init(&block, alloc_default());
    make_block(&block, false, "6", "no format at all");
    struct cursor c = cursor_init(block.bytes, block.n, 1000);
    assert_true(tracing_data_parse_head(&scene.data, &c));
    assert_int_equal(tracing_data_parse(&scene.data, &c, NULL), TTR_OK);
    assert_int_equal(cursor_left(&c), 0);
    assert_int_equal(scene.odd, 1);
    assert_true(scene.odd_offset > 1000 && scene.odd_offset < 1000 + block.n);
    buffer_free(&block);
    end_scene(&scene);
}

static void truncation_at_every_byte_is_detected(void **state)
{
    (void)state;
    struct buffer block;
    buffer_init(&block, alloc_default());
    make_block(&block, false, "6", FORMAT);
    for (size_t n = 0; n < block.n; n++) {
        struct scene scene;
        begin_scene(&scene, false);
        struct cursor c = cursor_init(block.bytes, n, 0);
        if (tracing_data_parse_head(&scene.data, &c))
            assert_int_equal(tracing_data_parse(&scene.data, &c, NULL), TTR_OK);
        assert_true(c.failed);
        end_scene(&scene);
    }
    buffer_free(&block);
}

#define FORMAT_OF(name, id)                                                             \
    "name: " name "\nID: " id "\nformat:\n\tfield:unsigned short "                      \
    "common_type;\toffset:0;\tsize:2;\tsigned:0;\n\tfield:int common_pid;\toffset:4;\t" \
    "size:4;\tsigned:1;\n\n\tfield:int v;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n"

/* Builds the formats 1 of ftrace, 2 and 3 of system "one", 4 and 5 of system "two". Sets at[i] to
 * the offset of the size of format i. */
static void make_formats(struct buffer *to, bool big, size_t at[6])
{
    static const char *const formats[] = {"",
                                          FORMAT_OF("a", "301"),
                                          FORMAT_OF("b", "302"),
                                          FORMAT_OF("c", "303"),
                                          FORMAT_OF("d", "304"),
                                          FORMAT_OF("e", "305")};
    append_number(to, big, 4, 1);
    for (unsigned i = 1; i <= 5; i++) {
        if (i == 2)
            append_number(to, big, 4, 2);
        if (i == 2 || i == 4) {
            buffer_add(to, i == 2 ? "one" : "two", 4);
            append_number(to, big, 4, 2);
        }
        at[i] = to->n;
        append_sized_text(to, big, 8, formats[i]);
    }
    append_sized_text(to, big, 4, "ffffffff81000000 T _text\n");
    assert_false(to->failed);
}

/* Parses the formats after `n` bytes at offset `begin` were cleared. Expects exactly the formats of
 * `found`, such as "1345", the rest of the description, and damage from the cleared format on. */
static void expect_found_after_zeros(bool big, size_t begin, size_t n, const char *found)
{
    struct scene scene;
    struct buffer block;
    size_t at[6];
    begin_scene(&scene, big);
    buffer_init(&block, alloc_default());
    make_formats(&block, big, at);
    memset(block.bytes + begin, 0, n);
    scene.data.is_big_endian = big;
    scene.data.is_complete = true;
    struct cursor c = cursor_init(block.bytes, block.n, 0);
    assert_int_equal(tracing_data_parse_ftrace(&scene.data, &c, NULL), TTR_OK);
    assert_int_equal(tracing_data_parse_systems(&scene.data, &c, NULL), TTR_OK);
    assert_int_equal(tracing_data_parse_kallsyms(&scene.data, &c, NULL), TTR_OK);
    assert_false(c.failed);
    assert_int_equal(cursor_left(&c), 0);
    for (unsigned i = 1; i <= 5; i++)
        assert_int_equal(tracepoints_find(scene.data.all, 300 + i) != NULL,
                         strchr(found, (int)('0' + i)) != NULL);
    assert_true(scene.data.damage_at <= begin);
    assert_true(scene.data.damage_end >= begin + n);
    buffer_free(&block);
    end_scene(&scene);
}

static void parsing_continues_after_damaged_formats(void **state)
{
    (void)state;
    for (unsigned big = 0; big < 2; big++) {
        struct buffer block;
        size_t at[6];
        buffer_init(&block, alloc_default());
        make_formats(&block, big, at);
        buffer_free(&block);
        expect_found_after_zeros(big, at[2], 8, "1345");            /* a size */
        expect_found_after_zeros(big, at[2] + 40, 8, "1345");       /* within a text */
        expect_found_after_zeros(big, at[2] + 40, 200, "145");      /* a text and a size */
        expect_found_after_zeros(big, at[3] + 40, 40, "1245");      /* before a system */
        expect_found_after_zeros(big, at[4] - 8, 40, "1235");       /* a name of a system */
        expect_found_after_zeros(big, at[1] + 8, 30, "2345");       /* the last of ftrace */
        expect_found_after_zeros(big, at[1], at[3] - at[1], "345"); /* the number of systems */
    }
}

static void format_without_successor_is_skipped(void **state)
{
    (void)state;
    struct scene scene;
    struct buffer block;
    begin_scene(&scene, false);
    buffer_init(&block, alloc_default());
    make_block(&block, false, "6", "");
    scene.data.is_complete = true;
    struct cursor c = cursor_init(block.bytes, block.n, 0);
    assert_true(tracing_data_parse_head(&scene.data, &c));
    assert_int_equal(tracing_data_parse(&scene.data, &c, NULL), TTR_OK);
    assert_false(c.failed);
    assert_int_equal(cursor_left(&c), 0);
    assert_int_equal(scene.odd, 1);
    buffer_free(&block);
    end_scene(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_is_read_in_both_byte_orders),
        cmocka_unit_test(malformed_format_is_reported),
        cmocka_unit_test(truncation_at_every_byte_is_detected),
        cmocka_unit_test(parsing_continues_after_damaged_formats),
        cmocka_unit_test(format_without_successor_is_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
