/* The Heph writer, compared with packets derived by hand from the specification, and with the
 * events that were written. */
#include <stdio.h>

#include "support/support.h"
#include "support/writing.h"

#include <tracetta/advanced.h>
#include <tracetta/build.h>
#include <tracetta/tracetta.h>

#define EPOCH "75d11d4d 00000017 0005 65706f6368 "

static void span_becomes_packet_of_its_process_and_thread(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "heph", 0, NULL);
    ttr_event_begin(w.builder, TTR_KIND_SPAN, 100, NULL, "My event");
    ttr_event_set_thread(w.builder, 0, 1);
    ttr_event_attributes(w.builder)->duration = 100;
    ttr_add_uint(w.builder, "Test", 123);
    writing_end(&w);
    writing_finish(&w);
    support_assert_hex(
        w.text, w.n,
        "c1fc1fb7 00000041 00000000 00000000 0000000000000001 0000000000000064 00000000000000c8"
        "0008 4d79206576656e74 0004 54657374 01 000000000000007b");
    writing_close(&w);
}

static void unix_times_write_epoch_first(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "heph", 0, (const char *const[]){"epoch=1610113734118010000", NULL});
    ttr_event_begin(w.builder, TTR_KIND_SPAN, 1610113734118010005, NULL, "");
    ttr_event_set_thread(w.builder, 0, 0);
    writing_end(&w);
    writing_finish(&w);
    support_assert_hex(w.text, w.n,
                       EPOCH "165845e91214ec90 c1fc1fb7 0000002a 00000000 00000000 0000000000000000"
                             "0000000000000005 0000000000000005 0000");
    writing_close(&w);
}

static void begins_and_ends_become_spans_with_consecutive_counters(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "heph", 0, NULL);
    for (int i = 0; i < 4; i++) {
        ttr_event_begin(w.builder, i < 2 ? TTR_KIND_BEGIN : TTR_KIND_END, 10 * i, NULL,
                        i == 0 || i == 3 ? "a" : "b");
        ttr_event_set_thread(w.builder, 3, 4);
        writing_end(&w);
    }
    assert_int_equal(writing_lost(&w, "kind.pair"), 2);
    writing_finish(&w);
    support_assert_hex(w.text, w.n,
                       "c1fc1fb7 0000002b 00000003 00000000 0000000000000004 000000000000000a "
                       "0000000000000014 0001 62"
                       "c1fc1fb7 0000002b 00000003 00000001 0000000000000004 0000000000000000 "
                       "000000000000001e 0001 61");
    writing_close(&w);
}

static void begin_async(struct writing *w, ttr_kind kind, const char *name, uint64_t id)
{
    ttr_event_begin(w->builder, kind, 1, "io", name);
    ttr_event_set_thread(w->builder, 3, 4);
    ttr_event_attributes(w->builder)->link = id;
    writing_end(w);
}

static void async_spans_pair_by_category_and_id(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "heph", 0, NULL);
    begin_async(&w, TTR_KIND_ASYNC_BEGIN, "request", 7);
    begin_async(&w, TTR_KIND_ASYNC_END, "done", 7);
    assert_int_equal(writing_lost(&w, "kind.async"), 1);
    assert_int_equal(writing_lost(&w, "kind.unmatched"), 0);
    writing_finish(&w);
    support_assert_hex(w.text + 42, w.n - 42,
                       "72657175657374 0008 63617465676f7279 04 0002 696f"
                       "0004 6b696e64 04 0005 6173796e63 0002 6964 01 0000000000000007");
    writing_close(&w);
}

static void async_begins_above_limit_are_unmatched(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "heph", 0, NULL);
    for (uint64_t i = 0; i < 20000; i++)
        begin_async(&w, TTR_KIND_ASYNC_BEGIN, "request", i);
    assert_int_equal(ttr_writer_events(w.writer), 20000 - 16384);
    begin_async(&w, TTR_KIND_ASYNC_END, "request", 5);
    assert_int_equal(writing_lost(&w, "kind.async"), 1);
    writing_finish(&w);
    writing_close(&w);
}

/* Reads the written trace; it must be undamaged and have this number of events. */
static void check_readable(struct writing *w, uint64_t events)
{
    ttr_error error = {0};
    ttr_batch batch;
    ttr *t = ttr_new(NULL);
    ttr_read_options options = {.size = sizeof options, .from = "heph", .flags = TTR_READ_STRICT};
    ttr_reader *reader = ttr_open_memory(t, w->text, w->n, "written", &options, &error);
    ttr_status status;
    uint64_t n = 0;
    assert_non_null(reader);
    while ((status = ttr_read(reader, &batch, &error)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++)
            n += ttr_batch_at(&batch, i)->kind == TTR_KIND_SPAN;
    if (status != TTR_END)
        fail_msg("%s", error.text);
    if (events)
        assert_int_equal(n, events);
    ttr_close(reader);
    ttr_free(t);
}

static void gap_before_stream_start_is_counted_as_lost(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "heph", 0, NULL);
    for (unsigned i = 0; i < 2; i++) {
        ttr_event_begin(w.builder, TTR_KIND_GAP, 1000 + i, NULL, NULL);
        ttr_event_set_thread(w.builder, 7, 9);
        ttr_event_attributes(w.builder)->link = 18626;
        writing_end(&w);
        assert_int_equal(writing_lost(&w, "events.missing"),
                         18626); /* the second gap shows in the counters */
    }
    assert_int_equal(writing_lost(&w, "kind.gap"), 2);
    writing_finish(&w);
    writing_close(&w);
}

static void any_events_written_read_undamaged(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct writing w;
        writing_open(&w, "heph", 0, NULL);
        writing_random(&w, seed, 60);
        writing_finish(&w);
        check_readable(&w, 0);
        writing_close(&w);
    }
}

static void long_strings_are_cut_at_character_and_counted(void **state)
{
    static char text[70001];
    struct writing w;
    (void)state;
    for (size_t i = 0; i < sizeof text - 1; i += 2)
        memcpy(text + i, "\xc3\xa9", 2);
    writing_open(&w, "heph", 0, NULL);
    ttr_event_begin(w.builder, TTR_KIND_SPAN, 1, NULL, "x");
    ttr_event_set_thread(w.builder, 0, 0);
    ttr_add_text(w.builder, "k", text);
    writing_end(&w);
    assert_int_equal(writing_lost(&w, "field.long-text"), 1);
    writing_finish(&w);
    assert_int_equal(w.n, 42 + 1 + 3 + 1 + 2 + 65534);
    check_readable(&w, 1);
    writing_close(&w);
}

static void value_labels_and_context_fields_are_counted_as_lost(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "heph", 0, NULL);
    writing_begin(&w, TTR_KIND_SPAN, 1, "x");
    ttr_add_field(w.builder, &(ttr_field){.name = {"e", 1},
                                          .value = {.type = TTR_TYPE_UINT,
                                                    .hint = TTR_DISPLAY_ENUM,
                                                    .count = 1,
                                                    .text = {"A", 1},
                                                    .v.u = 5}});
    ttr_add_field(w.builder, &(ttr_field){.name = {"f", 1},
                                          .value = {.type = TTR_TYPE_UINT,
                                                    .hint = TTR_DISPLAY_FLAGS,
                                                    .text = {"", 0},
                                                    .v.u = 5}});
    ttr_add_field(w.builder, &(ttr_field){.name = {"n", 1},
                                          .group = TTR_GROUP_COMMON,
                                          .value = {.type = TTR_TYPE_TEXT,
                                                    .hint = TTR_DISPLAY_DECIMAL,
                                                    .text = {"18446744073709551616", 20}}});
    writing_end(&w);
    assert_int_equal(writing_lost(&w, "field.label"), 1);
    assert_int_equal(writing_lost(&w, "field.context"), 1);
    assert_int_equal(writing_lost(&w, "field.hint"), 1);
    writing_close(&w);
}

static void renamed_thread_writes_its_name_again(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "heph", 0, NULL);
    assert_true(ttr_thread_name(w.t, 1, 2, "p", "a"));
    for (unsigned i = 0; i < 4; i++) {
        if (i == 2)
            assert_true(ttr_thread_name(w.t, 1, 2, NULL, "b"));
        ttr_event_begin(w.builder, TTR_KIND_SPAN, 0, NULL, "");
        ttr_event_set_thread(w.builder, 1, 2);
        writing_end(&w);
    }
    assert_int_equal(writing_lost(&w, "thread.name"), 2);
    writing_finish(&w);
    const char *const space = "0000000000000002 0000000000000000 0000000000000000 0000";
    char expected[1000];
    (void)snprintf(expected, sizeof expected,
                   "c1fc1fb7 00000043 00000001 00000000 %s 0007 70726f63657373 04 0001 70  0006 "
                   "746872656164 04 0001 61"
                   "c1fc1fb7 0000002a 00000001 00000001 %s"
                   "c1fc1fb7 00000036 00000001 00000002 %s 0006 746872656164 04 0001 62"
                   "c1fc1fb7 0000002a 00000001 00000003 %s",
                   space, space, space, space);
    support_assert_hex(w.text, w.n, expected);
    writing_close(&w);
}

static void structs_and_mixed_arrays_become_dotted_attributes(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "heph", 0, NULL);
    ttr_event_begin(w.builder, TTR_KIND_SPAN, 0, NULL, "");
    ttr_event_set_thread(w.builder, 0, 0);
    ttr_add_field(w.builder,
                  &(ttr_field){.name = {"s", 1}, .value = {.type = TTR_TYPE_STRUCT, .count = 1}});
    ttr_add_field(
        w.builder,
        &(ttr_field){.name = {"a", 1}, .depth = 1, .value = {.type = TTR_TYPE_UINT, .v.u = 1}});
    ttr_add_field(w.builder,
                  &(ttr_field){.name = {"m", 1}, .value = {.type = TTR_TYPE_ARRAY, .count = 2}});
    ttr_add_field(w.builder, &(ttr_field){.depth = 1, .value = {.type = TTR_TYPE_UINT, .v.u = 2}});
    ttr_add_field(w.builder, &(ttr_field){.depth = 1, .value = {.type = TTR_TYPE_INT, .v.s = -1}});
    ttr_add_field(w.builder,
                  &(ttr_field){.name = {"p", 1}, .value = {.type = TTR_TYPE_ARRAY, .count = 1}});
    ttr_add_field(w.builder, &(ttr_field){.depth = 1, .value = {.type = TTR_TYPE_INT, .v.s = -2}});
    writing_end(&w);
    assert_int_equal(writing_lost(&w, "field.struct"), 1);
    assert_int_equal(writing_lost(&w, "field.mixed-array"), 1);
    writing_finish(&w);
    support_assert_hex(w.text + 42, w.n - 42,
                       "0003 732e61 01 0000000000000001  0003 6d2e30 01 0000000000000002"
                       "0003 6d2e31 02 ffffffffffffffff  0001 70 82 0001 fffffffffffffffe");
    writing_close(&w);
}

static void every_failure_is_reported_without_leaks(void **state)
{
    (void)state;
    writing_fails_cleanly("heph");
}

static void trace_without_events_is_readable(void **state)
{
    struct writing w;
    ttr_error error = {0};
    ttr_batch batch;
    (void)state;
    writing_open(&w, "heph", 0, NULL);
    writing_finish(&w);
    assert_true(w.n > 0);
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = ttr_open_memory(t, w.text, w.n, "trace", NULL, &error);
    assert_non_null(reader);
    assert_int_equal(ttr_read(reader, &batch, &error), TTR_END);
    ttr_close(reader);
    ttr_free(t);
    writing_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(span_becomes_packet_of_its_process_and_thread),
        cmocka_unit_test(trace_without_events_is_readable),
        cmocka_unit_test(unix_times_write_epoch_first),
        cmocka_unit_test(begins_and_ends_become_spans_with_consecutive_counters),
        cmocka_unit_test(async_spans_pair_by_category_and_id),
        cmocka_unit_test(async_begins_above_limit_are_unmatched),
        cmocka_unit_test(gap_before_stream_start_is_counted_as_lost),
        cmocka_unit_test(any_events_written_read_undamaged),
        cmocka_unit_test(long_strings_are_cut_at_character_and_counted),
        cmocka_unit_test(value_labels_and_context_fields_are_counted_as_lost),
        cmocka_unit_test(renamed_thread_writes_its_name_again),
        cmocka_unit_test(structs_and_mixed_arrays_become_dotted_attributes),
        cmocka_unit_test(every_failure_is_reported_without_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
