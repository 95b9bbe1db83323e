/* Wrong calls of the public API and the errors that they return. */
#include "support/support.h"

#include <tracetta/advanced.h>
#include <tracetta/build.h>
#include <tracetta/fields.h>
#include <tracetta/profile.h>
#include <tracetta/analyse.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

static int64_t push_nowhere(void *ctx, const void *bytes, size_t n)
{
    (void)ctx;
    (void)bytes;
    return (int64_t)n;
}

static void wrapping_null_reader_returns_null_and_keeps_error(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    ttr_filter filter;
    (void)state;
    ttr_filter_init(&filter);
    assert_null(ttr_sort(
        ttr_pair_spans(
            ttr_filter_new(ttr_open(t, "/nowhere/at/all", NULL, &error), &filter, &error), &error),
        &error));
    assert_int_equal(error.status, TTR_E_IO);
    ttr_reader *readers[] = {
        ttr_open_memory(t, "\x10\x00\x04\x46\x78\x54\x16\x00", 8, "x", NULL, &error), NULL};
    assert_non_null(readers[0]);
    assert_null(ttr_merge(t, readers, 2, &error));
    assert_int_equal(error.status, TTR_E_IO);
    ttr_free(t);
}

static void null_argument_is_misuse(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    ttr_batch batch;
    ttr_summary summary;
    ttr_text text;
    ttr_report report = {.size = sizeof report};
    (void)state;
    ttr_reader *reader =
        ttr_open_memory(t, "\x10\x00\x04\x46\x78\x54\x16\x00", 8, "x", NULL, &error);
    ttr_writer *writer = ttr_create_push(t, push_nowhere, NULL, "jsonl", NULL, &error);
    assert_int_equal(ttr_read(NULL, &batch, &error), TTR_E_MISUSE);
    assert_string_equal(error.text, "ttr_read: the reader is NULL");
    assert_int_equal(ttr_read(reader, NULL, NULL), TTR_E_MISUSE);
    assert_int_equal(ttr_write(NULL, &batch, &error), TTR_E_MISUSE);
    assert_int_equal(ttr_write(writer, NULL, &error), TTR_E_MISUSE);
    assert_int_equal(ttr_flush(NULL, &error), TTR_E_MISUSE);
    assert_int_equal(ttr_writer_end(NULL, &error), TTR_E_MISUSE);
    assert_int_equal(ttr_copy(NULL, writer, NULL, NULL, &error), TTR_E_MISUSE);
    assert_int_equal(ttr_copy(reader, NULL, NULL, NULL, &error), TTR_E_MISUSE);
    assert_int_equal(ttr_summarize(t, NULL, &summary, NULL, NULL, &error), TTR_E_MISUSE);
    assert_int_equal(ttr_event_build(NULL, &batch, &error), TTR_E_MISUSE);
    assert_int_equal(ttr_reader_metadata(NULL, 0, NULL, &text, &error), TTR_E_MISUSE);
    assert_int_equal(ttr_profile_write(NULL, "x", "svg", NULL, 0, &error), TTR_E_MISUSE);
    assert_false(ttr_reader_report(NULL, 0, &report));
    error.status = TTR_OK;
    assert_null(ttr_open(NULL, "x", NULL, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    assert_null(ttr_open(t, NULL, NULL, &error));
    assert_null(ttr_open_memory(t, NULL, 8, "x", NULL, &error));
    assert_null(ttr_create(t, "x", NULL, NULL, &error));
    assert_null(ttr_merge(NULL, NULL, 0, &error));
    assert_string_equal(error.text, "ttr_merge: the context is NULL");
    ttr_writer_abort(writer);
    ttr_close(reader);
    ttr_free(t);
}

static void event_end_without_begin_is_misuse(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    ttr_batch batch;
    (void)state;
    ttr_builder *builder = ttr_builder_new(t);
    ttr_writer *writer = ttr_create_push(t, push_nowhere, NULL, "jsonl", NULL, &error);
    ttr_add_text(builder, NULL, NULL);
    ttr_event_attributes(builder)->duration = 1;
    assert_int_equal(ttr_event_end(builder, writer, &error), TTR_E_MISUSE);
    assert_int_equal(ttr_event_build(builder, &batch, NULL), TTR_E_MISUSE);
    ttr_event_begin(builder, TTR_KIND_INSTANT, 1, NULL, NULL);
    assert_int_equal(ttr_event_end(builder, writer, &error), TTR_OK);
    assert_int_equal(ttr_event_end(builder, writer, &error), TTR_E_MISUSE);
    assert_int_equal(ttr_writer_events(writer), 1);
    assert_int_equal(ttr_finish(writer, &error), TTR_OK);
    assert_int_equal(ttr_finish(NULL, &error), TTR_E_MISUSE);
    ttr_builder_free(builder);
    ttr_free(t);
}

static void null_text_becomes_null_field(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_batch batch;
    ttr_field field;
    (void)state;
    ttr_builder *builder = ttr_builder_new(t);
    ttr_event_begin(builder, TTR_KIND_INSTANT, 1, NULL, "x");
    ttr_add_text(builder, "key", NULL);
    assert_int_equal(ttr_event_build(builder, &batch, NULL), TTR_OK);
    assert_true(ttr_field_find(t, ttr_batch_at(&batch, 0), "key", &field));
    assert_int_equal(field.value.type, TTR_TYPE_NULL);
    ttr_builder_free(builder);
    ttr_free(t);
}

static void unknown_format_option_is_misuse(void **state)
{
    static const char *const wrong[][2] = {
        {"nosuch.key=1", NULL}, {"fxt.nonsense=1", NULL}, {".key=1", NULL}, {"ctf.=1", NULL}};
    static const char *const others[] = {"heph.layout=0.1", "ctf.version=2", NULL};
    static const char bytes[] = "\x10\x00\x04\x46\x78\x54\x16\x00";
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const ttr_read_options reading = {.size = sizeof reading, .format_options = wrong[i]};
        const ttr_write_options writing = {.size = sizeof writing, .format_options = wrong[i]};
        error.status = TTR_OK;
        assert_null(ttr_open_memory(t, bytes, 8, "x", &reading, &error));
        assert_int_equal(error.status, TTR_E_MISUSE);
        assert_non_null(strstr(error.text, wrong[i][0]));
        error.status = TTR_OK;
        assert_null(ttr_create(t, NULL, "jsonl", &writing, &error));
        assert_int_equal(error.status, TTR_E_MISUSE);
    }
    const ttr_read_options reading = {.size = sizeof reading, .format_options = others};
    ttr_reader *reader = ttr_open_memory(t, bytes, 8, "x", &reading, &error);
    assert_non_null(reader);
    ttr_close(reader);
    ttr_free(t);
}

static void unknown_flag_or_format_is_misuse(void **state)
{
    static const char bytes[] = "\x10\x00\x04\x46\x78\x54\x16\x00";
    const ttr_read_options flags = {.size = sizeof flags, .flags = TTR_READ_STRICT | 0x40000000u};
    const ttr_read_options target = {
        .size = sizeof target, .flags = TTR_READ_DEFINITIONS, .copied_to = "klingon"};
    const ttr_write_options writing = {.size = sizeof writing, .flags = 0x40000000u};
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    (void)state;
    assert_null(ttr_open_memory(t, bytes, 8, "x", &flags, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    assert_non_null(strstr(error.text, "0x40000000"));
    assert_null(ttr_open_memory(t, bytes, 8, "x", &target, &error));
    assert_non_null(strstr(error.text, "klingon"));
    error.status = TTR_OK;
    assert_null(ttr_create(t, NULL, "jsonl", &writing, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    ttr_free(t);
}

/* The error is returned when the event ends, because adding a field returns nothing. The next event
 * is not affected. */
static void invalid_field_fails_its_event_only(void **state)
{
    const ttr_field wrong[] = {
        {.name = {"type", 4}, .value = {.type = TTR_TYPE_COUNT}},
        {.name = {"type", 4}, .value = {.type = 0x82}},
        {.name = {"hint", 4}, .value = {.type = TTR_TYPE_UINT, .hint = 99}},
        {.name = {"group", 5}, .group = 5, .value = {.type = TTR_TYPE_UINT}},
        {.name = {"name", 4}, .name_id = 12345678, .value = {.type = TTR_TYPE_UINT}},
        {.name = {"text", 4},
         .value = {.type = TTR_TYPE_TEXT, .text_id = 12345678, .text = {"", 0}}},
        {.name = {"bytes", 5}, .value = {.type = TTR_TYPE_BYTES, .text = {NULL, 3}}},
        {.name = {NULL, 4}, .value = {.type = TTR_TYPE_UINT}},
        {.name = {"deep", 4}, .depth = 256, .value = {.type = TTR_TYPE_UINT}},
    };
    ttr *t = ttr_new(NULL);
    ttr_builder *builder = ttr_builder_new(t);
    ttr_batch batch;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ttr_error error = {0};
        ttr_event_begin(builder, TTR_KIND_INSTANT, 1, NULL, "x");
        ttr_add_field(builder, &wrong[i]);
        ttr_add_uint(builder, "after", 1);
        assert_int_equal(ttr_event_build(builder, &batch, &error),
                         wrong[i].depth ? TTR_E_LIMIT : TTR_E_MISUSE);
        assert_true(!wrong[i].name.p || strstr(error.text, wrong[i].name.p));
        ttr_event_begin(builder, TTR_KIND_INSTANT, 1, NULL, "x");
        assert_int_equal(ttr_event_build(builder, &batch, &error), TTR_OK);
    }
    ttr_event_begin(builder, (ttr_kind)(256 + TTR_KIND_SPAN), 1, NULL, "x");
    assert_int_equal(ttr_event_build(builder, &batch, NULL), TTR_OK);
    assert_string_equal(ttr_kind_text(batch.event->kind), "none");
    ttr_builder_free(builder);
    ttr_free(t);
}

static void thread_of_unknown_source_is_misuse(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_builder *builder = ttr_builder_new(t);
    ttr_batch batch;
    ttr_error error = {0};
    (void)state;
    ttr_event_begin(builder, TTR_KIND_INSTANT, 1, NULL, "x");
    ttr_event_attributes(builder)->source = 60000;
    ttr_event_set_thread(builder, 1, 2);
    assert_int_equal(ttr_event_build(builder, &batch, &error), TTR_E_MISUSE);
    assert_non_null(strstr(error.text, "source"));
    ttr_builder_free(builder);
    ttr_free(t);
}

/* A program may copy a read event into a builder and add a field. */
static void read_event_copies_into_builder(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_builder *builder = ttr_builder_new(t);
    ttr_batch batch;
    ttr_field field;
    (void)state;
    const ttr_event read = {.time = 7,
                            .kind = TTR_KIND_INSTANT,
                            .flags = TTR_EVENT_RAW | TTR_EVENT_HAS_CPU,
                            .cpu = 3,
                            .schema = 4000000,
                            .payload = (const uint8_t *)"raw record",
                            .payload_size = 10,
                            .body = 4,
                            .stack = 9,
                            .part = 5};
    ttr_event_begin(builder, TTR_KIND_INSTANT, 1, NULL, NULL);
    *ttr_event_attributes(builder) = read;
    ttr_add_uint(builder, "more", 5);
    assert_int_equal(ttr_event_build(builder, &batch, NULL), TTR_OK);
    assert_int_equal(batch.event->time, 7);
    assert_int_equal(batch.event->cpu, 3);
    assert_int_equal(batch.event->flags, TTR_EVENT_HAS_CPU);
    assert_true(ttr_field_find(t, batch.event, "more", &field));
    assert_int_equal(field.value.v.u, 5);
    uint64_t address;
    assert_int_equal(ttr_event_frames(t, batch.event, &address, 1), 0);
    ttr_builder_free(builder);
    ttr_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrapping_null_reader_returns_null_and_keeps_error),
        cmocka_unit_test(null_argument_is_misuse),
        cmocka_unit_test(event_end_without_begin_is_misuse),
        cmocka_unit_test(null_text_becomes_null_field),
        cmocka_unit_test(unknown_format_option_is_misuse),
        cmocka_unit_test(unknown_flag_or_format_is_misuse),
        cmocka_unit_test(invalid_field_fails_its_event_only),
        cmocka_unit_test(thread_of_unknown_source_is_misuse),
        cmocka_unit_test(read_event_copies_into_builder),
    };
    return cmocka_run_group_tests_name("misuse", tests, NULL, NULL);
}
