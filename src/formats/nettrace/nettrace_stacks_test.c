/* Stacks and event numbers in the public API: for events of a batch, for copies that outlive it,
 * and for formats that store stacks as fields. */
#include <stdio.h>

#include <tracetta/advanced.h>
#include <tracetta/build.h>
#include <tracetta/fields.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "base/buffer.h"
#include "formats/nettrace/nettrace.h"
#include "support/hexa.h"
#include "model/event_copy.h"
#include "support/support.h"
#include "support/vectors.h"
#include "support/writing.h"

static ttr_reader *open_vector(ttr *t, const struct hexa *hexa)
{
    ttr_error error = {0};
    ttr_reader *reader = ttr_open_memory(t, hexa->bytes, hexa->n, "vector", NULL, &error);
    if (!reader)
        fail_msg("%s", error.text);
    return reader;
}

static void stack_is_innermost_first_and_limited_by_room(void **state)
{
    struct hexa hexa;
    ttr_batch batch;
    ttr_error error;
    uint64_t frames[4] = {0};
    (void)state;
    vectors_load(&hexa, "src/formats/nettrace/vectors/stacks.hexa");
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = open_vector(t, &hexa);
    assert_int_equal(ttr_read(reader, &batch, &error), TTR_OK);
    assert_int_equal(batch.n, 4);
    assert_int_equal(ttr_event_frames(t, ttr_batch_at(&batch, 0), frames, 1), 2);
    assert_int_equal(frames[0], 0x1000);
    assert_int_equal(frames[1], 0);
    assert_int_equal(ttr_event_frames(t, ttr_batch_at(&batch, 0), frames, 4), 2);
    assert_int_equal(frames[1], 0x2000);
    assert_int_equal(ttr_event_frames(t, ttr_batch_at(&batch, 1), frames, 4), 1);
    assert_int_equal(ttr_event_frames(t, ttr_batch_at(&batch, 2), frames, 4), 0);
    assert_int_equal(ttr_event_frames(t, ttr_batch_at(&batch, 3), frames, 4), 0);
    assert_int_equal(ttr_read(reader, &batch, &error), TTR_OK);
    assert_int_equal(ttr_event_frames(t, ttr_batch_at(&batch, 0), frames, 4), 1);
    assert_int_equal(frames[0], 0x9000);
    ttr_close(reader);
    ttr_free(t);
    hexa_free(&hexa);
}

static void stack_can_be_borrowed(void **state)
{
    struct hexa hexa;
    ttr_batch batch;
    uint32_t n;
    (void)state;
    if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) {
        print_message("# SKIP nettrace is little-endian, numbers of this machine are not\n");
        return;
    }
    vectors_load(&hexa, "src/formats/nettrace/vectors/stacks.hexa");
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = open_vector(t, &hexa);
    assert_int_equal(ttr_read(reader, &batch, NULL), TTR_OK);
    const uint64_t *frames = ttr_event_stack(t, ttr_batch_at(&batch, 0), &n);
    assert_non_null(frames);
    assert_int_equal(n, 2);
    assert_int_equal(frames[0], 0x1000);
    assert_int_equal(frames[1], 0x2000);
    assert_non_null(ttr_event_stack(t, ttr_batch_at(&batch, 1), &n));
    assert_int_equal(n, 1);
    assert_null(ttr_event_stack(t, ttr_batch_at(&batch, 2), &n));
    assert_int_equal(n, 0);
    ttr_close(reader);
    ttr_free(t);
    hexa_free(&hexa);
    vectors_load(&hexa, "src/formats/nettrace/vectors/pointers.hexa");
    t = ttr_new(NULL);
    reader = open_vector(t, &hexa);
    while (ttr_read(reader, &batch, NULL) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            /* addresses of 4 bytes cannot be borrowed */
            assert_null(ttr_event_stack(t, ttr_batch_at(&batch, i), &n));
            assert_int_equal(n, 0);
        }
    ttr_close(reader);
    ttr_free(t);
    hexa_free(&hexa);
}

/* Sets the byte count of the reader instead of generating 256 MiB of stacks. */
static void too_many_stacks_are_reported(void **state)
{
    struct hexa hexa;
    ttr_batch batch;
    (void)state;
    vectors_load(&hexa, "src/formats/nettrace/vectors/stacks.hexa");
    for (unsigned is_full = 0; is_full < 2; is_full++) {
        ttr_report report = {.size = sizeof report};
        ttr *t = ttr_new(NULL);
        ttr_reader *reader = open_vector(t, &hexa);
        uint64_t told = 0;
        if (is_full)
            ((struct nettrace_reader *)((struct input *)(void *)reader)->ctx)->stacks.bytes_n =
                NETTRACE_WAITING_BYTES_MAX + 1;
        while (ttr_read(reader, &batch, NULL) == TTR_OK)
            continue;
        assert_true(ttr_reader_report(reader, 0, &report));
        for (size_t i = 0; i < report.notes_n; i++)
            told += strcmp(report.notes[i].code, "nettrace.many-stacks") == 0
                        ? report.notes[i].count
                        : 0;
        assert_int_equal(told, is_full);
        ttr_close(reader);
        ttr_free(t);
    }
    hexa_free(&hexa);
}

static void check_copy(const char *vector, uint32_t at, uint32_t n, uint64_t first)
{
    struct hexa hexa;
    struct buffer bytes;
    ttr_batch batch;
    ttr_error error;
    ttr_event copy;
    uint64_t frames[4] = {0};
    vectors_load(&hexa, vector);
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = open_vector(t, &hexa);
    buffer_init(&bytes, alloc_default());
    assert_int_equal(ttr_read(reader, &batch, &error), TTR_OK);
    (void)event_copy_add(t, &bytes, ttr_batch_at(&batch, at), &copy);
    ttr_close(reader);
    event_copy_set_pointers(&copy, bytes.bytes);
    assert_int_equal(ttr_event_frames(t, &copy, frames, 4), n);
    assert_int_equal(frames[0], first);
    ttr_fields fields;
    ttr_field field;
    ttr_fields_begin(t, &copy, &fields);
    assert_true(ttr_fields_next(&fields, &field));
    buffer_free(&bytes);
    ttr_free(t);
    hexa_free(&hexa);
}

static void event_copy_keeps_stack_after_close(void **state)
{
    (void)state;
    check_copy("src/formats/nettrace/vectors/stacks.hexa", 0, 2, 0x1000);
    check_copy("src/formats/nettrace/vectors/pointers.hexa", 0, 2, 0x1000);
    check_copy("src/formats/nettrace/vectors/v3.hexa", 0, 2, 0x1000);
    check_copy("src/formats/nettrace/vectors/activities.hexa", 0, 0, 0);
}

static void sample_stack_field_is_returned_as_stack(void **state)
{
    ttr_batch batch;
    uint64_t frames[4] = {0};
    (void)state;
    ttr *t = ttr_new(NULL);
    ttr_builder *builder = ttr_builder_new(t);
    ttr_field list = {.name = {"frames", 6}, .value = {.type = TTR_TYPE_ARRAY, .count = 2}};
    ttr_field frame = {.depth = 1, .value = {.type = TTR_TYPE_UINT, .v.u = 7}};
    ttr_event_begin(builder, TTR_KIND_SAMPLE, 1, "", "cpu");
    ttr_add_uint(builder, "before", 1);
    ttr_add_field(builder, &list);
    ttr_add_field(builder, &frame);
    ttr_add_field(builder, &frame);
    ttr_add_uint(builder, "behind", 2);
    assert_int_equal(ttr_event_build(builder, &batch, NULL), TTR_OK);
    assert_int_equal(ttr_event_frames(t, ttr_batch_at(&batch, 0), frames, 4), 2);
    assert_int_equal(frames[1], 7);
    ttr_builder_free(builder);
    ttr_free(t);
}

/* Checks the text after `key` in the first event, in each format that a sorted vector can be
 * converted to. */
static void expect_line(const char *format, const char *expected)
{
    struct hexa hexa;
    struct buffer text;
    ttr_batch batch;
    uint32_t number = 0, version = 9;
    buffer_init(&text, alloc_default());
    vectors_load(&hexa, "src/formats/nettrace/vectors/v2.hexa");
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = ttr_sort(open_vector(t, &hexa), NULL);
    const char *const options[] = {"numbers=yes", NULL};
    const ttr_write_options how = {.size = sizeof how,
                                   .format_options = strcmp(format, "text") == 0 ? options : NULL};
    ttr_writer *writer = ttr_create_push(t, writing_to_buffer, &text, format, &how, NULL);
    while (ttr_read(reader, &batch, NULL) == TTR_OK) {
        assert_true(ttr_event_number(t, ttr_batch_at(&batch, 0), &number, &version));
        assert_int_equal(ttr_write(writer, &batch, NULL), TTR_OK);
    }
    assert_int_equal(number, 7);
    assert_int_equal(version, 1);
    assert_int_equal(ttr_finish(writer, NULL), TTR_OK);
    buffer_add_byte(&text, 0);
    if (!strstr((const char *)text.bytes, expected))
        fail_msg("%s", (const char *)text.bytes);
    ttr_close(reader);
    ttr_free(t);
    buffer_free(&text);
    hexa_free(&hexa);
}

static void sorted_events_keep_number_and_version(void **state)
{
    (void)state;
    expect_line("jsonl", "\"keyword\":3,\"event_id\":7,\"event_version\":1,\"fields\":{");
    expect_line("csv", ",3,,,,7,1,");
    expect_line("text", " keyword=0x3 event=7/1 ");
}

static void builder_event_has_no_number(void **state)
{
    ttr_batch batch;
    uint32_t number = 9, version = 9;
    (void)state;
    ttr *t = ttr_new(NULL);
    ttr_builder *builder = ttr_builder_new(t);
    ttr_event_begin(builder, TTR_KIND_INSTANT, 1, "", "x");
    assert_int_equal(ttr_event_build(builder, &batch, NULL), TTR_OK);
    assert_false(ttr_event_number(t, ttr_batch_at(&batch, 0), &number, &version));
    assert_int_equal(number, 0);
    assert_int_equal(version, 0);
    ttr_builder_free(builder);
    ttr_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stack_is_innermost_first_and_limited_by_room),
        cmocka_unit_test(stack_can_be_borrowed),
        cmocka_unit_test(too_many_stacks_are_reported),
        cmocka_unit_test(event_copy_keeps_stack_after_close),
        cmocka_unit_test(sample_stack_field_is_returned_as_stack),
        cmocka_unit_test(sorted_events_keep_number_and_version),
        cmocka_unit_test(builder_event_has_no_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
