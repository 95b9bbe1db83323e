/* What a caller may do wrong, and what it is told. */
#include "support.h"

#include <tracetta/tracetta.h>

static int64_t push_nowhere(void *own, const void *bytes, size_t n)
{
    (void)own;
    (void)bytes;
    return (int64_t)n;
}

static void wrapping_nothing_is_nothing_and_keeps_the_error(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    ttr_filter filter;
    (void)state;
    ttr_filter_init(&filter);
    assert_null(ttr_sort(ttr_pair(ttr_filter_new(ttr_open(t, "/nowhere/at/all", NULL, &error), &filter, &error), &error), &error));
    assert_int_equal(error.status, TTR_E_IO);
    ttr_reader *readers[] = {ttr_open_memory(t, "\x10\x00\x04\x46\x78\x54\x16\x00", 8, "x", NULL, &error), NULL};
    assert_non_null(readers[0]);
    assert_null(ttr_merge(t, readers, 2, &error));
    assert_int_equal(error.status, TTR_E_IO);
    ttr_free(t);
}

static void an_event_must_be_begun_before_it_ends(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    ttr_batch batch;
    (void)state;
    ttr_builder *builder = ttr_builder_new(t);
    ttr_writer *writer = ttr_create_push(t, push_nowhere, NULL, "jsonl", NULL, &error);
    ttr_put_text(builder, NULL, NULL);
    ttr_event_edit(builder)->duration = 1;
    assert_int_equal(ttr_event_end(builder, writer, &error), TTR_E_MISUSE);
    assert_int_equal(ttr_event_take(builder, &batch, NULL), TTR_E_MISUSE);
    ttr_event_begin(builder, TTR_KIND_INSTANT, 1, NULL, NULL);
    assert_int_equal(ttr_event_end(builder, writer, &error), TTR_OK);
    assert_int_equal(ttr_event_end(builder, writer, &error), TTR_E_MISUSE);
    assert_int_equal(ttr_writer_events(writer), 1);
    assert_int_equal(ttr_finish(writer, &error), TTR_OK);
    assert_int_equal(ttr_finish(NULL, &error), TTR_E_MISUSE);
    ttr_builder_free(builder);
    ttr_free(t);
}

static void a_null_text_is_a_null(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_batch batch;
    ttr_field field;
    (void)state;
    ttr_builder *builder = ttr_builder_new(t);
    ttr_event_begin(builder, TTR_KIND_INSTANT, 1, NULL, "x");
    ttr_put_text(builder, "key", NULL);
    assert_int_equal(ttr_event_take(builder, &batch, NULL), TTR_OK);
    assert_true(ttr_field_find(t, ttr_batch_at(&batch, 0), "key", &field));
    assert_int_equal(field.value.type, TTR_TYPE_NULL);
    ttr_builder_free(builder);
    ttr_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrapping_nothing_is_nothing_and_keeps_the_error),
        cmocka_unit_test(an_event_must_be_begun_before_it_ends),
        cmocka_unit_test(a_null_text_is_a_null),
    };
    return cmocka_run_group_tests_name("misuse", tests, NULL, NULL);
}
