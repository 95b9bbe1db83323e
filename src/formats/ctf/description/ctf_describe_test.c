/* Public queries about a trace: event classes with counts per stream, clocks, the trace of a
 * stream, metadata in other languages, and traces without stream files. */
#include <stdio.h>
#include <time.h>

#include <tracetta/advanced.h>
#include <tracetta/event_class.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "support/support.h"

static const char metadata[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
    "typealias integer { size = 8; align = 8; signed = false; map = clock.slow.value; } := time8;\n"
    "trace { major = 1; minor = 8; byte_order = le; uuid = "
    "\"11223344-5566-7788-99aa-bbccddeeff00\"; };\n"
    "env { hostname = \"here\"; };\n"
    "clock { name = slow; freq = 1000; offset_s = 5; offset = 3; precision = 9; description = \"a "
    "slow one\"; };\n"
    "stream { id = 0; event.header := struct { u8 id; time8 timestamp; }; };\n"
    "event { name = \"p:one\"; id = 1; stream_id = 0; loglevel = 4; fields := struct { u8 a; "
    "string s; }; };\n"
    "event { name = \"p:two\"; id = 2; stream_id = 0; };\n";

static const uint8_t first[] = {1, 10, 7, 'x', 0, 2, 20, 1, 30, 8, 0};
static const uint8_t second[] = {2, 15};

struct scene {
    ttr *t;
    ttr_reader *reader;
    ttr_error error;
};

static void set_up(struct scene *scene, size_t files_n)
{
    static const ttr_file files[] = {{"metadata", metadata, sizeof metadata - 1},
                                     {"a", first, sizeof first},
                                     {"b", second, sizeof second}};
    *scene = (struct scene){.t = ttr_new(NULL)};
    scene->reader = ttr_open_files(scene->t, "folder", files, files_n, NULL, &scene->error);
    if (!scene->reader)
        fail_msg("%s", scene->error.text);
}

static void read_all(struct scene *scene)
{
    ttr_batch batch;
    ttr_status status;
    do
        status = ttr_read(scene->reader, &batch, &scene->error);
    while (status == TTR_OK);
    assert_int_equal(status, TTR_END);
}

static void tear_down(struct scene *scene)
{
    ttr_close(scene->reader);
    ttr_free(scene->t);
}

static void classes_are_counted_in_each_stream(void **state)
{
    (void)state;
    struct scene scene;
    ttr_event_class about = {.size = sizeof about};
    set_up(&scene, 3);
    assert_true(ttr_reader_class(scene.reader, 0, 0, &about) && about.events == 0);
    read_all(&scene);
    assert_true(ttr_reader_class(scene.reader, 0, 0, &about));
    support_assert_text(about.name.p, about.name.n, "p:one");
    assert_int_equal(about.events, 2);
    assert_true(about.id == 1 && about.stream == 0 && about.has_log_level && about.log_level == 4 &&
                about.level == TTR_LEVEL_WARNING);
    assert_true(ttr_reader_class(scene.reader, 0, 1, &about) && about.events == 1 &&
                !about.has_log_level);
    assert_false(ttr_reader_class(scene.reader, 0, 2, &about));
    assert_true(ttr_reader_class(scene.reader, 1, 0, &about) && about.events == 0);
    assert_true(ttr_reader_class(scene.reader, 1, 1, &about) && about.events == 1);
    assert_false(ttr_reader_class(scene.reader, 2, 0, &about));
    about.size = 8;
    assert_false(ttr_reader_class(scene.reader, 0, 0, &about));
    tear_down(&scene);
}

/* Returns metadata with `n` stream classes that have one event class each; the caller frees it. */
static char *many_streams(unsigned n)
{
    static const char head[] =
        "/* CTF 1.8 */\ntypealias integer { size = 32; align = 8; signed = false; } := u32;\n"
        "trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 stream_id; "
        "}; };\n";
    const size_t size = sizeof head + (size_t)n * 120;
    char *text = test_malloc(size);
    size_t at = (size_t)snprintf(text, size, "%s", head);
    for (unsigned i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, size - at,
                               "stream { id = %u; event.header := struct { u32 id; }; };\n"
                               "event { name = \"e%u\"; id = 0; stream_id = %u; };\n",
                               i, i, i);
    return text;
}

/* Describes all classes of a trace. Returns the processor time, in clock() units. */
static clock_t describe_all(unsigned n)
{
    static const uint8_t stream[] = {0, 0, 0, 0, 0, 0, 0, 0};
    ttr_event_class about = {.size = sizeof about};
    char *text = many_streams(n), name[20];
    const ttr_file files[] = {{"metadata", text, strlen(text)}, {"a", stream, sizeof stream}};
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = ttr_open_files(t, "folder", files, 2, NULL, NULL);
    assert_non_null(reader);
    const clock_t begin = clock();
    for (unsigned i = 0; i < n; i++) {
        assert_true(ttr_reader_class(reader, 0, i, &about));
        assert_int_equal(about.stream, i);
    }
    const clock_t took = clock() - begin;
    assert_false(ttr_reader_class(reader, 0, n, &about));
    for (unsigned i = 0; i < 3; i++) { /* in any order */
        const unsigned which = (i * 7919 + 5) % n;
        assert_true(ttr_reader_class(reader, 0, which, &about));
        (void)snprintf(name, sizeof name, "e%u", which);
        support_assert_text(about.name.p, about.name.n, name);
    }
    ttr_close(reader);
    ttr_free(t);
    test_free(text);
    return took;
}

static void classes_of_many_streams_are_described_in_linear_time(void **state)
{
    (void)state;
    /* The square of ten is a hundred; ten milliseconds are added for the clock. */
    const clock_t few = describe_all(2000), many = describe_all(20000);
    assert_true(many < 30 * few + CLOCKS_PER_SEC / 100);
}

static void declared_fields_match_metadata(void **state)
{
    (void)state;
    struct scene scene;
    ttr_event_class about = {.size = sizeof about};
    ttr_field_declarations walk;
    ttr_field_declaration it;
    set_up(&scene, 3);
    assert_true(ttr_reader_class(scene.reader, 1, 0, &about));
    ttr_field_declarations_begin(&about, &walk);
    assert_true(ttr_field_declarations_next(&walk, &it) && it.group == TTR_GROUP_HEADER &&
                it.is_technical);
    assert_true(ttr_field_declarations_next(&walk, &it) && it.group == TTR_GROUP_HEADER &&
                it.is_technical);
    assert_true(ttr_field_declarations_next(&walk, &it) && it.group == TTR_GROUP_PAYLOAD &&
                it.type == TTR_TYPE_UINT && it.bits == 8);
    assert_true(ttr_field_declarations_next(&walk, &it) && it.type == TTR_TYPE_TEXT);
    assert_false(ttr_field_declarations_next(&walk, &it));
    tear_down(&scene);
}

static void streams_report_trace_and_time_range(void **state)
{
    (void)state;
    struct scene scene;
    ttr_report a = {.size = sizeof a}, b = {.size = sizeof b};
    set_up(&scene, 3);
    read_all(&scene);
    assert_true(ttr_reader_report(scene.reader, 0, &a) && ttr_reader_report(scene.reader, 1, &b));
    assert_int_equal(a.trace, b.trace);
    assert_int_not_equal(a.source, b.source);
    support_assert_text(a.trace_path.p, a.trace_path.n, "folder");
    support_assert_text(b.trace_path.p, b.trace_path.n, "folder");
    assert_true(a.packets == 1 && b.packets == 1 && a.events == 3);
    assert_true(a.has_times && a.first_ns == 5013000000 && a.last_ns == 5033000000);
    assert_true(b.has_times && b.first_ns == 5018000000 && b.last_ns == 5018000000);
    tear_down(&scene);
}

static void reported_clocks_match_metadata(void **state)
{
    (void)state;
    struct scene scene;
    ttr_report report = {.size = sizeof report};
    set_up(&scene, 3);
    assert_true(ttr_reader_report(scene.reader, 0, &report) && report.clocks_n == 1);
    const ttr_clock *clock = &report.clocks[0];
    assert_true(clock->is_described && clock->frequency == 1000 && clock->offset_s == 5 &&
                clock->offset_ticks == 3);
    assert_true(clock->has_precision && clock->precision == 9 && !clock->has_uuid);
    support_assert_text(clock->description.p, clock->description.n, "a slow one");
    tear_down(&scene);
}

static void metadata_prints_in_other_language(void **state)
{
    (void)state;
    struct scene scene;
    ttr_text text;
    set_up(&scene, 3);
    assert_int_equal(ttr_reader_metadata(scene.reader, 0, "ctf2", &text, &scene.error), TTR_OK);
    assert_true(text.n > 100 && text.p[0] == 0x1e);
    assert_non_null(memmem(text.p, text.n, "\"p:one\"", 7));
    const size_t n = text.n;
    assert_int_equal(ttr_reader_metadata(scene.reader, 1, "ctf2", &text, &scene.error), TTR_OK);
    assert_int_equal(text.n, n);
    assert_int_equal(ttr_reader_metadata(scene.reader, 0, "ctf1.8", &text, &scene.error), TTR_OK);
    assert_memory_equal(text.p, "/* CTF 1.8 */", 13);
    assert_int_equal(ttr_reader_metadata(scene.reader, 0, "ctf1.1", &text, &scene.error),
                     TTR_E_UNSUPPORTED);
    assert_int_equal(ttr_reader_metadata(scene.reader, 0, "latin", &text, &scene.error),
                     TTR_E_MISUSE);
    assert_int_equal(text.n, 0);
    tear_down(&scene);
}

static void trace_without_streams_is_described(void **state)
{
    (void)state;
    struct scene scene;
    ttr_event_class about = {.size = sizeof about};
    ttr_report report = {.size = sizeof report};
    ttr_attribute attribute;
    ttr_text text;
    set_up(&scene, 1);
    read_all(&scene);
    assert_true(ttr_reader_class(scene.reader, 0, 1, &about) && about.events == 0);
    assert_true(ttr_reader_report(scene.reader, 0, &report) && report.events == 0 &&
                report.clocks_n == 1);
    assert_true(ttr_source_attribute(scene.t, report.source, 0, &attribute));
    support_assert_text(attribute.value.text.p, attribute.value.text.n, "here");
    assert_int_equal(ttr_reader_metadata(scene.reader, 0, "ctf2", &text, &scene.error), TTR_OK);
    tear_down(&scene);
}

static void wrapping_reader_forwards_descriptions(void **state)
{
    (void)state;
    struct scene scene;
    ttr_filter filter;
    ttr_event_class about = {.size = sizeof about};
    ttr_text text;
    set_up(&scene, 3);
    ttr_filter_init(&filter);
    filter.from_ns = 1;
    scene.reader = ttr_pair_spans(
        ttr_sort(ttr_filter_new(scene.reader, &filter, &scene.error), &scene.error), &scene.error);
    ttr_reader *both[2] = {scene.reader};
    const ttr_file file = {"metadata", metadata, sizeof metadata - 1};
    both[1] = ttr_open_files(scene.t, "other", &file, 1, NULL, &scene.error);
    scene.reader = ttr_merge(scene.t, both, 2, &scene.error);
    read_all(&scene);
    assert_true(ttr_reader_class(scene.reader, 1, 1, &about) && about.events == 1);
    assert_true(ttr_reader_class(scene.reader, 2, 1, &about) && about.events == 0);
    assert_false(ttr_reader_class(scene.reader, 3, 1, &about));
    assert_int_equal(ttr_reader_metadata(scene.reader, 2, "ctf2", &text, &scene.error), TTR_OK);
    tear_down(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_are_counted_in_each_stream),
        cmocka_unit_test(classes_of_many_streams_are_described_in_linear_time),
        cmocka_unit_test(declared_fields_match_metadata),
        cmocka_unit_test(streams_report_trace_and_time_range),
        cmocka_unit_test(reported_clocks_match_metadata),
        cmocka_unit_test(metadata_prints_in_other_language),
        cmocka_unit_test(trace_without_streams_is_described),
        cmocka_unit_test(wrapping_reader_forwards_descriptions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
