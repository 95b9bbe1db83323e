/* The summary, compared with values computed by hand, and its limits. */
#include "support/support.h"

#include "support/memory_reader.h"
#include "model/context.h"

#include <tracetta/advanced.h>
#include <tracetta/analyse.h>
#include <tracetta/tracetta.h>

#define N 500

static ttr_event events[N];

static ttr_status summary_of(ttr *t, size_t n, ttr_summary *summary)
{
    ttr_reader *reader = memory_reader(t, &(struct memory_events){.event = events, .n = n});
    ttr_status status = ttr_summarize(t, reader, summary, NULL, NULL, NULL);
    ttr_close(reader);
    return status;
}

static void summary_counts_all_events(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_summary summary;
    (void)state;
    for (size_t i = 0; i < 8; i++)
        events[i] = (ttr_event){.kind = TTR_KIND_INSTANT,
                                .time = 100 + (int64_t)i,
                                .thread = context_thread(t, 0, i / 4, i % 3),
                                .name = ttr_text_add(t, i % 2 ? "a" : "b", 1),
                                .provider = ttr_text_add(t, "p", 1)};
    events[3] = (ttr_event){.kind = TTR_KIND_SPAN,
                            .time = 50,
                            .duration = 900,
                            .thread = context_process_thread(t, 0, 1)};
    events[4] = (ttr_event){.kind = TTR_KIND_GAP, .time = -5};
    events[5] = (ttr_event){.kind = TTR_KIND_DEFINITION, .time = -5};
    events[6].flags = TTR_EVENT_NO_TIME;
    events[6].time = 0;
    events[7].kind = 200;
    assert_int_equal(summary_of(t, 8, &summary), TTR_OK);
    assert_int_equal(summary.events, 6);
    assert_int_equal(summary.kinds[TTR_KIND_INSTANT], 4);
    assert_int_equal(summary.kinds[TTR_KIND_GAP], 1);
    assert_int_equal(summary.kinds[TTR_KIND_NONE], 1);
    assert_int_equal(summary.begin_ns, 50);
    assert_int_equal(summary.end_ns, 950);
    assert_int_equal(summary.backward, 1);
    assert_int_equal(summary.threads, 5);
    assert_int_equal(summary.processes, 2);
    assert_int_equal(summary.names, 2);
    assert_int_equal(summary.providers, 1);
    ttr_free(t);
}

static void empty_trace_summary_is_zero(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_summary summary;
    (void)state;
    assert_int_equal(summary_of(t, 0, &summary), TTR_OK);
    assert_int_equal(summary.begin_ns | summary.end_ns | (int64_t)summary.events, 0);
    ttr_free(t);
}

static void end_of_longest_span_is_exact(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_summary summary;
    (void)state;
    events[0] =
        (ttr_event){.kind = TTR_KIND_SPAN, .time = INT64_MIN, .duration = (uint64_t)INT64_MAX + 5};
    assert_int_equal(summary_of(t, 1, &summary), TTR_OK);
    assert_int_equal(summary.end_ns, 4);
    ttr_free(t);
}

static bool stop_at_once(void *ctx)
{
    (void)ctx;
    return false;
}

static void progress_stop_returns_again(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_summary summary;
    ttr_error error = {0};
    (void)state;
    memory_random_events(t, events, N, 1, 100);
    ttr_reader *reader =
        memory_reader(t, &(struct memory_events){.event = events, .n = N, .batch_max = 1});
    assert_int_equal(ttr_summarize(t, reader, &summary, stop_at_once, NULL, &error), TTR_AGAIN);
    assert_true(summary.events > 0 && summary.events < N);
    ttr_close(reader);
    memory_events_free(events, N);
    ttr_free(t);
}

static bool sums_through(ttr *t, const ttr_event *given, size_t n)
{
    ttr_summary summary;
    ttr_reader *reader = memory_reader(t, &(struct memory_events){.event = given, .n = n});
    ttr_status status = ttr_summarize(t, reader, &summary, NULL, NULL, NULL);
    ttr_close(reader);
    assert_true(status == TTR_OK || status == TTR_E_NOMEM);
    return status == TTR_OK;
}

static void failing_allocation_is_reported(void **state)
{
    (void)state;
    memory_fail_each(sums_through, N);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summary_counts_all_events),
        cmocka_unit_test(empty_trace_summary_is_zero),
        cmocka_unit_test(end_of_longest_span_is_exact),
        cmocka_unit_test(progress_stop_returns_again),
        cmocka_unit_test(failing_allocation_is_reported),
    };
    return cmocka_run_group_tests_name("summarise", tests, NULL, NULL);
}
