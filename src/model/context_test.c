/* The context's tables: ids, names that become known later, memory limits, failing allocations. */

#include "support/support.h"

#include <stdio.h>

#include <tracetta/event.h>

#include "model/context.h"

static void equal_bytes_have_equal_ids_and_zero_is_empty(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    assert_non_null(t);
    ttr_id a = ttr_text_add(t, "alpha", 5);
    assert_int_equal(ttr_text_add(t, "", 0), 0);
    assert_int_not_equal(a, 0);
    assert_int_equal(ttr_text_add(t, "alpha", 5), a);
    assert_int_equal(ttr_text_find(t, "alpha", 5), a);
    assert_int_equal(ttr_text_find(t, "beta", 4), 0);
    assert_string_equal(ttr_text_get(t, a).p, "alpha");
    assert_int_equal(ttr_text_get(t, 4000000000u).n, 0);
    ttr_free(t);
}

static void what_is_offered_is_found_by_its_format_and_key_until_it_is_withdrawn(void **state)
{
    (void)state;
    static const int here, there; /* for formats */
    ttr *t = ttr_new(NULL);
    struct offer offers[] = {{.of = &here, .key = 7},
                             {.of = &there, .key = 7},
                             {.of = &here, .key = 7 + OFFER_CHAINS}}; /* of one chain */
    assert_null(context_find_offer(t, &here, 7));
    for (size_t i = 0; i < 3; i++)
        context_publish_offer(t, &offers[i]);
    for (size_t i = 0; i < 3; i++)
        assert_ptr_equal(context_find_offer(t, offers[i].of, offers[i].key), &offers[i]);
    assert_null(context_find_offer(t, &there, 7 + OFFER_CHAINS));
    context_withdraw_offer(t, &offers[1]);
    assert_null(context_find_offer(t, &there, 7));
    assert_ptr_equal(context_find_offer(t, &here, 7), &offers[0]);
    assert_ptr_equal(context_find_offer(t, &here, 7 + OFFER_CHAINS), &offers[2]);
    context_withdraw_offer(t, &offers[2]);
    context_withdraw_offer(t, &offers[0]);
    assert_null(context_find_offer(t, &here, 7));
    ttr_free(t);
}

static void thread_known_by_tid_learns_its_process_and_keeps_its_id(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    uint16_t source = context_add_source(t, "x", "fxt");
    ttr_id early = context_thread_by_tid(t, source, 77);
    ttr_thread thread;
    assert_true(ttr_thread_get(t, early, &thread));
    assert_false(thread.pid_known);
    assert_int_equal(context_thread(t, source, 5, 77), early);
    assert_true(ttr_thread_get(t, early, &thread));
    assert_true(thread.pid_known);
    assert_int_equal(thread.pid, 5);
    assert_int_equal(context_thread_by_tid(t, source, 77), early);
    ttr_free(t);
}

static void koids_with_high_bits_stay_apart(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    uint16_t source = context_add_source(t, "x", "fxt");
    uint64_t high = (uint64_t)1 << 63;
    ttr_id a = context_thread(t, source, 1, 9);
    ttr_id b = context_thread(t, source, 1, high + 9);
    ttr_id c = context_thread(t, source, 1, ((uint64_t)6 << 32) + 9);
    assert_true(a != b && b != c && a != c);
    ttr_thread thread;
    assert_true(ttr_thread_get(t, b, &thread));
    assert_int_equal(thread.tid, high + 9);
    ttr_free(t);
}

static void same_pid_and_tid_in_two_sources_are_two_threads(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    uint16_t one = context_add_source(t, "1", "fxt");
    uint16_t two = context_add_source(t, "2", "fxt");
    assert_int_not_equal(context_thread(t, one, 1, 2), context_thread(t, two, 1, 2));
    ttr_free(t);
}

static void names_reach_threads_seen_before_and_after(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    uint16_t source = context_add_source(t, "x", "fxt");
    ttr_id before = context_thread(t, source, 1, 2);
    assert_true(context_name_tid(t, source, 2, ttr_text_add(t, "worker", 6)));
    assert_true(context_name_process(t, source, 1, ttr_text_add(t, "app", 3)));
    ttr_thread thread;
    assert_true(ttr_thread_get(t, before, &thread));
    assert_string_equal(ttr_text_get(t, thread.thread_name).p, "worker");
    assert_string_equal(ttr_text_get(t, thread.process_name).p, "app");
    assert_true(ttr_thread_get(t, context_thread(t, source, 9, 2), &thread));
    assert_string_equal(ttr_text_get(t, thread.thread_name).p, "worker");
    ttr_free(t);
}

static void tracks_and_sources_are_listed_by_id(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    uint32_t strings = ttr_text_count(t);
    uint16_t source = context_add_source(t, "a/path", "fxt");
    assert_int_equal(ttr_text_count(t), strings + 1);
    ttr_id id = context_add_track(t, &(ttr_track){.number = 42, .source = source});
    assert_int_equal(ttr_track_count(t), 1);
    ttr_track track;
    assert_true(ttr_track_get(t, id, &track));
    assert_int_equal(track.number, 42);
    assert_false(ttr_track_get(t, 0, &track));
    assert_false(ttr_track_get(t, id + 1, &track));
    ttr_source found;
    assert_true(ttr_source_get(t, source, &found));
    assert_string_equal(ttr_text_get(t, found.path).p, "a/path");
    assert_string_equal(found.format, "fxt");
    assert_false(ttr_source_get(t, (uint16_t)(source + 1), &found));
    ttr_free(t);
}

static void attributes_of_a_source_come_before_those_it_shares(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    uint16_t first = context_add_source(t, "a", "x"), second = context_add_source(t, "b", "x");
    char host[] = "box";
    assert_true(context_add_attribute(t, first, "hostname",
                                      &(ttr_value){.type = TTR_TYPE_TEXT, .text = {host, 3}}));
    host[0] = 'f'; /* it was copied */
    assert_true(context_add_attribute(t, second, "stream.id",
                                      &(ttr_value){.type = TTR_TYPE_UINT, .v.u = 7}));
    context_share_attributes(t, second, first);
    ttr_attribute attribute;
    assert_true(ttr_source_attribute(t, second, 0, &attribute));
    assert_string_equal(attribute.name.p, "stream.id");
    assert_int_equal(attribute.value.v.u, 7);
    assert_true(ttr_source_attribute(t, second, 1, &attribute));
    assert_string_equal(attribute.name.p, "hostname");
    assert_string_equal(attribute.value.text.p, "box");
    assert_false(ttr_source_attribute(t, second, 2, &attribute));
    assert_false(ttr_source_attribute(t, first, 1, &attribute));
    assert_false(ttr_source_attribute(t, 77, 0, &attribute));
    ttr_free(t);
}

static void the_path_told_with_events_is_that_of_their_trace(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    uint16_t first = context_add_source(t, "folder/a", "x");
    assert_int_equal(context_displayed_path(t, first), 0);
    assert_true(context_name_trace(t, first, "folder"));
    uint16_t second = context_add_source(t, "folder/b", "x");
    context_share_attributes(t, second, first);
    assert_int_equal(context_displayed_path(t, first), 0);
    assert_int_equal(context_displayed_path(t, second), 0);
    uint16_t other = context_add_source(t, "other", "x");
    assert_string_equal(ttr_text_get(t, context_displayed_path(t, first)).p, "folder");
    assert_string_equal(ttr_text_get(t, context_displayed_path(t, second)).p, "folder");
    assert_string_equal(ttr_text_get(t, context_displayed_path(t, other)).p, "other");
    assert_int_equal(ttr_text_get(t, context_displayed_path(t, 0)).n, 0);
    assert_int_equal(context_displayed_path(t, 77), 0);
    ttr_free(t);
}

static void process_entry_is_no_thread_of_any_tid(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    uint16_t source = context_add_source(t, "x", "fxt");
    ttr_id whole = context_process_thread(t, source, 7);
    assert_int_equal(context_process_thread(t, source, 7), whole);
    assert_int_not_equal(context_thread(t, source, 7, 0), whole);
    assert_int_not_equal(context_thread(t, source, 7, 1), whole);
    ttr_thread thread;
    assert_true(ttr_thread_get(t, whole, &thread));
    assert_false(thread.tid_known);
    ttr_free(t);
}

static void memory_limit_stops_growth_without_breaking(void **state)
{
    (void)state;
    ttr_options options = {.size = sizeof options, .max_memory = 64 * 1024};
    ttr *t = ttr_new(&options);
    assert_non_null(t);
    char text[64];
    uint32_t added = 0;
    for (int i = 0; i < 100000; i++) {
        int n = snprintf(text, sizeof text, "a rather long string number %d", i);
        if (ttr_text_add(t, text, (size_t)n) == 0)
            break;
        added++;
    }
    assert_in_range(added, 100, 5000);
    assert_true(t->memory <= options.max_memory);
    ttr_free(t);
}

static bool use_everything(const struct alloc *alloc)
{
    ttr_options options = {.size = sizeof options, .resize = alloc->resize, .ctx = alloc->ctx};
    ttr *t = ttr_new(&options);
    if (!t)
        return false;
    uint16_t source = context_add_source(t, "x", "fxt");
    bool good = source != UINT16_MAX;
    for (uint64_t i = 0; good && i < 100; i++)
        good = context_thread(t, source, i, i + 1000) && context_thread_by_tid(t, source, i) &&
               context_process_thread(t, source, i) && context_name_process(t, source, i, 1) &&
               context_name_tid(t, source, i, 1) &&
               context_add_track(t, &(ttr_track){.number = i}) &&
               context_add_schema(t, &(struct schema){0});
    ttr_free(t);
    return good;
}

static void every_failing_allocation_is_survived(void **state)
{
    (void)state;
    support_fail_each(use_everything);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_bytes_have_equal_ids_and_zero_is_empty),
        cmocka_unit_test(thread_known_by_tid_learns_its_process_and_keeps_its_id),
        cmocka_unit_test(koids_with_high_bits_stay_apart),
        cmocka_unit_test(same_pid_and_tid_in_two_sources_are_two_threads),
        cmocka_unit_test(names_reach_threads_seen_before_and_after),
        cmocka_unit_test(tracks_and_sources_are_listed_by_id),
        cmocka_unit_test(attributes_of_a_source_come_before_those_it_shares),
        cmocka_unit_test(the_path_told_with_events_is_that_of_their_trace),
        cmocka_unit_test(process_entry_is_no_thread_of_any_tid),
        cmocka_unit_test(what_is_offered_is_found_by_its_format_and_key_until_it_is_withdrawn),
        cmocka_unit_test(memory_limit_stops_growth_without_breaking),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
