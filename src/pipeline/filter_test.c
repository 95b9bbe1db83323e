/* Properties of all filters, and each condition by itself. */
#include "support/support.h"

#include "support/memory_reader.h"

#include "model/context.h"

#define N 4000

static ttr_event events[N], passed[N + 1], others[N + 1];

static size_t run(ttr *t, const ttr_filter *filter, ttr_event *to, uint64_t seed)
{
    struct memory_events given = {.event = events, .n = N, .batch_max = 100, .seed = seed};
    ttr_reader *reader = ttr_filter_new(memory_reader(t, &given), filter, NULL);
    size_t n = memory_read_all(reader, to, N + 1);
    ttr_close(reader);
    return n;
}

/* Returns the first n events through a filter, in batches of at most batch_max. */
static ttr_reader *filtered(ttr *t, const ttr_filter *filter, size_t n, uint32_t batch_max)
{
    return ttr_filter_new(
        memory_reader(t, &(struct memory_events){.event = events, .n = n, .batch_max = batch_max}),
        filter, NULL);
}

static size_t count_passed(ttr *t, const ttr_filter *filter, size_t n)
{
    ttr_reader *reader = filtered(t, filter, n, 3);
    size_t got = memory_read_all(reader, passed, N);
    ttr_close(reader);
    return got;
}

/* Returns a filter with the conditions that the bits of a number select. */
static ttr_filter filter_of(unsigned bits)
{
    static const char *const names[] = {"net*", "disk", NULL}, *const not_names[] = {"*write",
                                                                                     NULL};
    static const char *const categories[] = {"net", "sched", NULL}, *const providers[] = {"p",
                                                                                          NULL};
    static const char *const threads[] = {"1001", "worker*", NULL}, *const processes[] = {"100",
                                                                                          NULL};
    ttr_filter filter;
    ttr_filter_init(&filter);
    filter.names = bits & 1 ? names : NULL;
    filter.not_names = bits & 2 ? not_names : NULL;
    filter.categories = bits & 4 ? categories : NULL;
    filter.providers = bits & 8 ? providers : NULL;
    filter.threads = bits & 16 ? threads : NULL;
    filter.processes = bits & 32 ? processes : NULL;
    filter.kinds = bits & 64 ? 1u << TTR_KIND_SPAN | 1u << TTR_KIND_LOG : 0;
    filter.min_level = bits & 128 ? TTR_LEVEL_WARNING : 0;
    filter.from_ns = bits & 256 ? 300 : INT64_MIN;
    return filter;
}

static uint64_t unknown_in_report(ttr_reader *reader)
{
    ttr_report report = {.size = sizeof report};
    assert_true(ttr_reader_report(reader, 0, &report));
    for (size_t i = 0; i < report.notes_n; i++)
        if (strcmp(report.notes[i].code, "filter.unknown") == 0)
            return report.notes[i].count;
    return 0;
}

static void event_of_unknown_process_thread_or_cpu_is_noted(void **state)
{
    static const char *const number[] = {"77", NULL};
    ttr *t = ttr_new(NULL);
    uint16_t source = context_add_source(t, "x", "test");
    (void)state;
    memset(events, 0, 4 * sizeof *events);
    for (size_t i = 0; i < 4; i++)
        events[i].kind = TTR_KIND_INSTANT;
    events[1].thread = context_thread(t, source, 77, 77);
    events[2].thread = context_thread_by_tid(t, source, 5);
    events[3].thread = context_process_thread(t, source, 77);
    for (size_t i = 0; i < 3; i++) {
        static const uint64_t unknown[] = {2, 2, 4}; /* processes, threads, CPUs */
        ttr_filter filter;
        ttr_filter_init(&filter);
        const char *const **list = i == 0   ? &filter.processes
                                   : i == 1 ? &filter.threads
                                            : &filter.cpus;
        *list = number;
        ttr_reader *reader = filtered(t, &filter, 4, 3);
        assert_int_equal(memory_read_all(reader, passed, N), 4 - unknown[i] - (i == 1));
        assert_int_equal(unknown_in_report(reader), unknown[i]);
        ttr_close(reader);
        filter.invert = true;
        reader = filtered(t, &filter, 4, 3);
        (void)memory_read_all(reader, passed, N);
        assert_int_equal(unknown_in_report(reader), 0);
        ttr_close(reader);
    }
    ttr_free(t);
}

static bool expect(ttr *t, unsigned bits, const ttr_event *event)
{
    const char *name = ttr_text_get(t, event->name).p,
               *category = ttr_text_get(t, event->category).p;
    ttr_thread thread = {0};
    (void)ttr_thread_get(t, event->thread, &thread);
    return (!(bits & 1) || strncmp(name, "net", 3) == 0 || strcmp(name, "disk") == 0) &&
           (!(bits & 2) || !strstr(name, "write")) &&
           (!(bits & 4) || strcmp(category, "io,net") == 0 || strcmp(category, "sched") == 0) &&
           (!(bits & 8) || event->offset % 3 != 0) &&
           (!(bits & 16) || thread.tid == 1001 || thread.tid == 1003) &&
           (!(bits & 32) || thread.pid == 100) &&
           (!(bits & 64) || event->kind == TTR_KIND_SPAN || event->kind == TTR_KIND_LOG) &&
           (!(bits & 128) || event->level == 0 || event->level >= TTR_LEVEL_WARNING) &&
           (!(bits & 256) || event->time >= 300 ||
            (event->kind == TTR_KIND_SPAN && event->time + (int64_t)event->duration > 300));
}

static void filter_and_inverse_partition_all_events(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 512; bits += bits < 16 ? 1 : 7) {
        ttr *t = ttr_new(NULL);
        memory_random_events(t, events, N, bits + 1, 1000);
        ttr_thread_name(t, 101, 1003, NULL, "worker 3");
        ttr_filter filter = filter_of(bits);
        size_t n = run(t, &filter, passed, bits), at = 0, other_at = 0;
        filter.invert = true;
        size_t other_n = run(t, &filter, others, bits + 1);
        for (size_t i = 0; i < N; i++) {
            bool expected = expect(t, bits, &events[i]);
            const ttr_event *got = expected ? &passed[at++] : &others[other_at++];
            assert_int_equal(got->offset, i);
        }
        assert_int_equal(n, at);
        assert_int_equal(other_n, other_at);
        memory_events_free(events, N);
        ttr_free(t);
    }
}

static void two_ranges_side_by_side_are_one_for_instants(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_filter filter;
    (void)state;
    ttr_filter_init(&filter);
    memory_random_events(t, events, N, 77, 1000);
    for (size_t i = 0; i < N; i++)
        events[i].kind = TTR_KIND_INSTANT;
    for (int64_t middle = 100; middle <= 900; middle += 100) {
        filter.from_ns = 100, filter.to_ns = middle;
        size_t a = run(t, &filter, passed, 0);
        filter.from_ns = middle, filter.to_ns = 900;
        size_t b = run(t, &filter, passed, 0);
        filter.from_ns = 100;
        assert_int_equal(run(t, &filter, passed, 0), a + b);
    }
    memory_events_free(events, N);
    ttr_free(t);
}

static void span_overlapping_the_range_matches(void **state)
{
    static const struct {
        int64_t time;
        uint64_t duration;
        bool passes;
    } cases[] = {{10, 5, false}, {10, 10, false},        {10, 11, true},
                 {20, 0, true},  {10, UINT64_MAX, true}, {29, 100, true},
                 {30, 1, false}, {INT64_MIN, 3, false},  {INT64_MIN, UINT64_MAX, true}};
    ttr *t = ttr_new(NULL);
    ttr_filter filter;
    size_t n = sizeof cases / sizeof cases[0], at = 0;
    (void)state;
    ttr_filter_init(&filter);
    filter.from_ns = 20, filter.to_ns = 30;
    for (size_t i = 0; i < n; i++)
        events[i] = (ttr_event){.kind = TTR_KIND_SPAN,
                                .time = cases[i].time,
                                .duration = cases[i].duration,
                                .offset = i};
    size_t got = count_passed(t, &filter, n);
    for (size_t i = 0; i < n; i++)
        if (cases[i].passes)
            assert_int_equal(passed[at++].offset, i);
    assert_int_equal(got, at);
    ttr_free(t);
}

static size_t count_structure(ttr *t, const ttr_filter *filter)
{
    static const uint8_t kinds[] = {TTR_KIND_DEFINITION, TTR_KIND_OBJECT, TTR_KIND_GAP,
                                    TTR_KIND_INSTANT};
    for (size_t i = 0; i < 4; i++)
        events[i] = (ttr_event){.kind = kinds[i], .time = 5};
    return count_passed(t, filter, 4);
}

static void objects_and_gaps_pass_time_and_thread_conditions(void **state)
{
    static const char *const patterns[] = {"x", NULL};
    ttr *t = ttr_new(NULL);
    ttr_filter filter;
    (void)state;
    ttr_filter_init(&filter);
    filter.from_ns = 100;
    filter.threads = filter.processes = patterns;
    assert_int_equal(count_structure(t, &filter), 3);
    filter.invert = true;
    assert_int_equal(count_structure(t, &filter), 4);
    filter.invert = false;
    filter.names = patterns;
    assert_int_equal(count_structure(t, &filter), 1);
    ttr_free(t);
}

static void thread_is_asked_again_until_its_name_is_known(void **state)
{
    static const char *const patterns[] = {"worker*", NULL};
    ttr *t = ttr_new(NULL);
    ttr_filter filter;
    ttr_batch batch;
    (void)state;
    ttr_filter_init(&filter);
    filter.threads = patterns;
    for (size_t i = 0; i < 4; i++)
        events[i] = (ttr_event){.kind = TTR_KIND_INSTANT,
                                .thread = context_thread(t, 0, 1, i < 3 ? 2 : 3),
                                .offset = i};
    ttr_thread_name(t, 1, 3, NULL, "worker 3");
    ttr_reader *reader = filtered(t, &filter, 4, 2);
    /* No event of the first batch matches, so the read continues with the second: at that time only
     * thread 3 has its name. */
    assert_int_equal(ttr_read(reader, &batch, NULL), TTR_OK);
    assert_int_equal(batch.n, 1);
    assert_int_equal(ttr_batch_at(&batch, 0)->offset, 3);
    ttr_close(reader);
    reader = filtered(t, &filter, 4, 3);
    ttr_thread_name(t, 1, 2, NULL, "worker 2");
    assert_int_equal(memory_read_all(reader, passed, N), 4);
    ttr_close(reader);
    ttr_free(t);
}

/* A forked process has the name of its parent until it calls exec. */
static void thread_matches_by_current_name(void **state)
{
    static const char *const patterns[] = {"app", NULL};
    ttr *t = ttr_new(NULL);
    ttr_filter filter;
    ttr_batch batch;
    (void)state;
    ttr_filter_init(&filter);
    filter.processes = patterns;
    for (size_t i = 0; i < 6; i++)
        events[i] = (ttr_event){
            .kind = TTR_KIND_INSTANT, .thread = context_thread(t, 0, 1, 1), .offset = i};
    ttr_reader *reader = filtered(t, &filter, 6, 2);
    ttr_thread_name(t, 1, 1, "app", NULL);
    assert_int_equal(ttr_read(reader, &batch, NULL), TTR_OK);
    assert_int_equal(batch.n, 2);
    ttr_thread_name(t, 1, 1, "shell", NULL);
    assert_int_equal(ttr_read(reader, &batch, NULL), TTR_END);
    ttr_close(reader);
    filter.invert = true;
    reader = filtered(t, &filter, 6, 2);
    assert_int_equal(ttr_read(reader, &batch, NULL), TTR_OK);
    ttr_thread_name(t, 1, 1, "app", NULL);
    assert_int_equal(ttr_read(reader, &batch, NULL), TTR_END);
    ttr_close(reader);
    ttr_free(t);
}

static void filter_of_another_size_is_refused(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    (void)state;
    assert_null(ttr_filter_new(memory_reader(t, &(struct memory_events){0}),
                               &(ttr_filter){.size = 3}, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    assert_int_equal(memory_readers_open(), 0);
    ttr_free(t);
}

/* A tid above 64 bits is a pattern for names, and must not be clamped to UINT64_MAX. */
static void open_range_includes_last_time_and_huge_number_is_a_name(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    ttr_filter filter;
    ttr_filter_init(&filter);
    filter.from_ns = 0;
    events[0] = (ttr_event){
        .kind = TTR_KIND_INSTANT, .time = INT64_MAX, .thread = context_thread(t, 0, 1, UINT64_MAX)};
    assert_int_equal(count_passed(t, &filter, 1), 1);
    filter.threads = (const char *const[]){"99999999999999999999", NULL};
    assert_int_equal(count_passed(t, &filter, 1), 0);
    ttr_free(t);
}

static void cpu_lists_match_numbers_and_ranges(void **state)
{
    static const char *const lists[][3] = {
        {"2"}, {"0,4-6"}, {"0x1-0x3", "5"}, {"0-4294967295"}, {"4294967296"}};
    static const char *const expected[] = {"c", "aefg", "bcdf", "abcdefgh", ""};
    ttr *t = ttr_new(NULL);
    ttr_filter filter;
    (void)state;
    ttr_filter_init(&filter);
    for (size_t i = 0; i < 9; i++) /* the last event has no CPU */
        events[i] = (ttr_event){.kind = TTR_KIND_INSTANT,
                                .offset = i,
                                .cpu = (uint32_t)(i % 8),
                                .flags = i < 8 ? TTR_EVENT_HAS_CPU : 0};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        filter.cpus = lists[k];
        size_t n = count_passed(t, &filter, 9);
        assert_int_equal(n, strlen(expected[k]));
        for (size_t i = 0; i < n; i++)
            assert_int_equal(passed[i].offset, expected[k][i] - 'a');
    }
    ttr_free(t);
}

static void invalid_cpu_list_is_refused(void **state)
{
    static const char *const wrong[] = {
        "", ",", "1,", "x", "3-1", "1-", "-1", "1-2-3", "18446744073709551616"};
    ttr *t = ttr_new(NULL);
    ttr_filter filter;
    (void)state;
    ttr_filter_init(&filter);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ttr_error error = {0};
        filter.cpus = (const char *const[]){"0", wrong[i], NULL};
        assert_null(ttr_filter_new(
            memory_reader(t, &(struct memory_events){.event = events, .n = 1}), &filter, &error));
        assert_int_equal(error.status, TTR_E_MISUSE);
        assert_non_null(strstr(error.text, "like \"0,4-7\""));
    }
    ttr_free(t);
}

static bool filters_through(ttr *t, const ttr_event *given, size_t n)
{
    ttr_error error = {0};
    static const char *const cpus[] = {"0,2-4", NULL};
    ttr_filter filter = filter_of(127);
    filter.cpus = cpus;
    ttr_reader *in = memory_reader(t, &(struct memory_events){.event = given, .n = n});
    ttr_reader *reader = ttr_filter_new(in, &filter, &error);
    return memory_reads_through(reader, &error);
}

static void failing_allocation_is_reported(void **state)
{
    (void)state;
    memory_fail_each(filters_through, 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(event_of_unknown_process_thread_or_cpu_is_noted),
        cmocka_unit_test(filter_and_inverse_partition_all_events),
        cmocka_unit_test(two_ranges_side_by_side_are_one_for_instants),
        cmocka_unit_test(span_overlapping_the_range_matches),
        cmocka_unit_test(objects_and_gaps_pass_time_and_thread_conditions),
        cmocka_unit_test(thread_is_asked_again_until_its_name_is_known),
        cmocka_unit_test(thread_matches_by_current_name),
        cmocka_unit_test(open_range_includes_last_time_and_huge_number_is_a_name),
        cmocka_unit_test(filter_of_another_size_is_refused),
        cmocka_unit_test(cpu_lists_match_numbers_and_ranges),
        cmocka_unit_test(invalid_cpu_list_is_refused),
        cmocka_unit_test(failing_allocation_is_reported),
    };
    return cmocka_run_group_tests_name("filter", tests, NULL, NULL);
}
