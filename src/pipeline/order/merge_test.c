/* Properties of each merge: no event is lost, order by time, ties by input; the same result for any
 * order of the inputs if times differ. */
#include "support/support.h"

#include "support/memory_reader.h"
#include "model/reader.h"
#include "pipeline/order/radix_sort.h"

#define N 6000

static ttr_event events[N], first[N + 1], second[N + 1];

/* Splits N events at random positions into n readers; with `order` each is sorted by time. */
static void make_inputs(ttr *t, ttr_reader **in, size_t n, uint64_t seed, ttr_order order)
{
    static struct order_key keys[N], spare[N];
    static ttr_event sorted[N];
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        size_t count = i + 1 == n ? N - at : support_random(&seed) % (2 * N / n) % (N - at + 1);
        for (size_t k = 0; k < count; k++)
            keys[k] = (struct order_key){order_time(events[at + k].time), 0, (uint32_t)(at + k)};
        if (order == TTR_ORDER_TIME)
            radix_sort_keys(keys, spare, count);
        for (size_t k = 0; k < count; k++)
            sorted[at + k] = events[keys[k].index];
        in[i] = memory_reader(
            t,
            &(struct memory_events){
                .event = sorted + at, .n = count, .order = order, .batch_max = 300, .seed = seed});
        at += count;
    }
}

static void all_events_come_in_time_order_and_ties_by_input(void **state)
{
    static const size_t counts[] = {1, 2, 3, 17, 200};
    (void)state;
    for (size_t round = 0; round < 10; round++) {
        ttr *t = ttr_new(NULL);
        ttr_reader *in[200];
        memory_random_events(t, events, N, round + 1, round % 2 ? 50 : 100000);
        make_inputs(t, in, counts[round / 2], round + 1,
                    round == 3 ? TTR_ORDER_THREAD : TTR_ORDER_TIME);
        ttr_reader *reader = ttr_merge(t, in, counts[round / 2], NULL);
        assert_int_equal(reader->order, TTR_ORDER_TIME);
        assert_int_equal(memory_read_all(reader, first, N + 1), N);
        /* Offsets increase with the input and within it, so they show the order of ties. */
        for (size_t i = 1; i < N; i++)
            assert_true(
                first[i - 1].time < first[i].time ||
                (first[i - 1].time == first[i].time && first[i - 1].offset < first[i].offset));
        ttr_close(reader);
        memory_events_free(events, N);
        ttr_free(t);
    }
    assert_int_equal(memory_readers_open(), 0);
}

static void order_of_inputs_does_not_matter_when_times_differ(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_reader *in[7], *turned[7];
    (void)state;
    for (size_t i = 0; i < N; i++)
        events[i] =
            (ttr_event){.kind = TTR_KIND_INSTANT, .time = (int64_t)(i * 7919 % N), .offset = i};
    make_inputs(t, in, 7, 5, TTR_ORDER_TIME);
    ttr_reader *reader = ttr_merge(t, in, 7, NULL);
    assert_int_equal(memory_read_all(reader, first, N + 1), N);
    make_inputs(t, in, 7, 5, TTR_ORDER_TIME);
    for (size_t i = 0; i < 7; i++)
        turned[i] = in[(i * 3 + 2) % 7];
    ttr_reader *other = ttr_merge(t, turned, 7, NULL);
    assert_int_equal(memory_read_all(other, second, N + 1), N);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(first[i].offset, second[i].offset);
    ttr_close(reader);
    ttr_close(other);
    ttr_free(t);
}

static void expect_events_in_order(ttr_reader *reader)
{
    assert_int_equal(memory_read_all(reader, first, N + 1), N);
    for (size_t i = 1; i < N; i++)
        assert_true(first[i - 1].time < first[i].time ||
                    (first[i - 1].time == first[i].time && first[i - 1].offset < first[i].offset));
}

static void two_inputs_in_one_array_are_merged_as_others(void **state)
{
    static const size_t cuts[] = {0, 1, 700, N / 2, N - 1, N};
    (void)state;
    for (size_t round = 0; round < 18; round++) {
        ttr *t = ttr_new(NULL);
        ttr_reader *in[2];
        const size_t cut = cuts[round % 6];
        for (size_t i = 0; i < N;
             i++) /* ties within an input and between inputs; bursts of one input */
            events[i] = (ttr_event){.kind = TTR_KIND_INSTANT,
                                    .offset = i,
                                    .time = (int64_t)((i < cut ? i : i - cut) / (round / 6 + 1)) -
                                            100 + (i >= cut && round % 5 == 1 ? 300 : 0)};
        in[0] = memory_reader(t, &(struct memory_events){.event = events,
                                                         .n = cut,
                                                         .order = TTR_ORDER_TIME,
                                                         .batch_max = 256,
                                                         .seed = round,
                                                         .lends = true});
        in[1] = memory_reader(t, &(struct memory_events){.event = events + cut,
                                                         .n = N - cut,
                                                         .order = TTR_ORDER_TIME,
                                                         .batch_max = 37,
                                                         .lends = true});
        ttr_reader *reader = ttr_merge(t, in, 2, NULL);
        expect_events_in_order(reader);
        ttr_close(reader);
        ttr_free(t);
    }
    assert_int_equal(memory_readers_open(), 0);
}

static void fields_are_those_of_their_event(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_reader *in[3];
    ttr_batch batch;
    (void)state;
    memory_random_events(t, events, N, 9, 1000);
    make_inputs(t, in, 3, 9, TTR_ORDER_TIME);
    ttr_reader *reader = ttr_merge(t, in, 3, NULL);
    while (ttr_read(reader, &batch, NULL) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            assert_true(memory_has_fields(t, event, events[event->offset].payload_size / 24));
        }
    ttr_close(reader);
    memory_events_free(events, N);
    ttr_free(t);
}

static void raw_records_and_definitions_of_several_inputs_are_not_mixed(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_reader *in[2];
    (void)state;
    for (size_t i = 0; i < 4; i++)
        events[i] = (ttr_event){.kind = i % 2 ? TTR_KIND_INSTANT : TTR_KIND_DEFINITION,
                                .time = (int64_t)i,
                                .flags = TTR_EVENT_RAW};
    for (size_t i = 0; i < 2; i++)
        in[i] = memory_reader(
            t, &(struct memory_events){.event = events + 2 * i, .n = 2, .order = TTR_ORDER_TIME});
    ttr_reader *reader = ttr_merge(t, in, 2, NULL);
    assert_int_equal(memory_read_all(reader, first, N), 2);
    assert_int_equal(first[0].flags | first[1].flags, 0);
    ttr_close(reader);
    ttr_free(t);
}

static void no_input_at_all_ends_at_once(void **state)
{
    ttr *t = ttr_new(NULL);
    (void)state;
    ttr_reader *reader = ttr_merge(t, NULL, 0, NULL);
    assert_int_equal(memory_read_all(reader, first, N), 0);
    ttr_close(reader);
    ttr_free(t);
}

static void reader_with_false_order_does_not_stop_merge(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_reader *in[2];
    ttr_batch batch;
    size_t n = 0;
    (void)state;
    memory_random_events(t, events, 1000, 4, 100);
    for (size_t i = 0; i < 2; i++)
        in[i] = memory_reader(
            t, &(struct memory_events){
                   .event = events + 500 * i, .n = 500, .order = TTR_ORDER_TIME, .batch_max = 10});
    ttr_reader *reader = ttr_merge(t, in, 2, NULL);
    while (ttr_read(reader, &batch, NULL) == TTR_OK)
        n += batch.n;
    assert_int_equal(n, 1000);
    ttr_close(reader);
    memory_events_free(events, 1000);
    ttr_free(t);
}

static void failing_input_does_not_end_the_others(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_reader *in[2];
    ttr_batch batch;
    ttr_error error = {0};
    ttr_status status;
    size_t n = 0;
    (void)state;
    for (size_t i = 0; i < 100; i++)
        events[i] = (ttr_event){.kind = TTR_KIND_INSTANT, .time = (int64_t)i};
    in[0] = memory_reader(
        t, &(struct memory_events){
               .event = events, .n = 10, .order = TTR_ORDER_TIME, .ending = TTR_E_IO});
    in[1] = memory_reader(
        t, &(struct memory_events){.event = events, .n = 100, .order = TTR_ORDER_TIME});
    ttr_reader *reader = ttr_merge(t, in, 2, NULL);
    while ((status = ttr_read(reader, &batch, &error)) == TTR_OK)
        n += batch.n;
    assert_int_equal(n, 110);
    assert_int_equal(status, TTR_E_IO);
    assert_int_equal(error.status, TTR_E_IO);
    ttr_report report = {.size = sizeof report};
    assert_true(ttr_reader_report(reader, 1, &report));
    assert_int_equal(report.events, 100);
    assert_false(ttr_reader_report(reader, 2, &report));
    ttr_close(reader);
    ttr_free(t);
}

static void reader_of_another_context_is_refused(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL), *other = ttr_new(NULL);
    ttr_error error = {0};
    ttr_reader *in[] = {memory_reader(t, &(struct memory_events){.n = 0}),
                        memory_reader(other, &(struct memory_events){.n = 0})};
    assert_null(ttr_merge(t, in, 2, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    assert_int_equal(memory_readers_open(), 0);
    ttr_free(other);
    ttr_free(t);
}

static bool merge_through(ttr *t, const ttr_event *given, size_t n, ttr_order order)
{
    ttr_reader *in[3];
    ttr_error error = {0};
    for (size_t i = 0; i < 3; i++)
        in[i] =
            memory_reader(t, &(struct memory_events){
                                 .event = given, .n = n, .order = i == 1 ? order : TTR_ORDER_TIME});
    ttr_reader *reader = ttr_merge(t, in, 3, &error);
    return memory_reads_through(reader, &error);
}

static bool merges_ordered(ttr *t, const ttr_event *given, size_t n)
{
    return merge_through(t, given, n, TTR_ORDER_TIME);
}

static bool merges_unordered(ttr *t, const ttr_event *given, size_t n)
{
    return merge_through(t, given, n, TTR_ORDER_NONE);
}

static void failing_allocation_is_reported(void **state)
{
    (void)state;
    memory_fail_each(merges_ordered, 300);
    memory_fail_each(merges_unordered, 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_events_come_in_time_order_and_ties_by_input),
        cmocka_unit_test(order_of_inputs_does_not_matter_when_times_differ),
        cmocka_unit_test(two_inputs_in_one_array_are_merged_as_others),
        cmocka_unit_test(fields_are_those_of_their_event),
        cmocka_unit_test(raw_records_and_definitions_of_several_inputs_are_not_mixed),
        cmocka_unit_test(no_input_at_all_ends_at_once),
        cmocka_unit_test(reader_with_false_order_does_not_stop_merge),
        cmocka_unit_test(failing_input_does_not_end_the_others),
        cmocka_unit_test(reader_of_another_context_is_refused),
        cmocka_unit_test(failing_allocation_is_reported),
    };
    return cmocka_run_group_tests_name("merge", tests, NULL, NULL);
}
