/* The window: exact order within its size, ties in order of arrival, no event lost. */
#include "support/support.h"

#include "pipeline/order/reorder_window.h"

#define MANY 300000u

static uint8_t is_given[MANY];

static int64_t end_of(const struct event_ref *event)
{
    return event->kind == TTR_KIND_SPAN ? event->time + (int64_t)event->duration : event->time;
}

/* Passes events through a window and checks their order.  Returns the number of events that precede
 * an earlier one. */
static size_t run(struct reorder *window, struct event_ref (*make)(uint64_t *seed, size_t i),
                  size_t n)
{
    uint64_t seed = 11;
    size_t given = 0, backward = 0;
    struct event_ref last = {.time = INT64_MIN};
    memset(is_given, 0, sizeof is_given);
    for (size_t i = 0; i <= n; i++) {
        size_t ready = i == n || reorder_is_full(window) ? reorder_count_ready(window, i == n) : 0;
        for (size_t k = 0; k < ready; k++, given++) {
            const struct event_ref *event = reorder_get_event(window, k);
            backward += end_of(event) < end_of(&last);
            if (end_of(event) == end_of(&last) && event->kind == last.kind &&
                event->time == last.time)
                assert_true(event->offset > last.offset);
            if (end_of(event) == end_of(&last) && event->kind == TTR_KIND_SPAN &&
                last.kind == TTR_KIND_SPAN)
                assert_true(event->time <= last.time);
            assert_false(is_given[event->offset]);
            is_given[event->offset] = 1;
            last = *event;
        }
        reorder_drop_front(window, ready);
        if (i < n) {
            struct event_ref event = make(&seed, i);
            assert_true(reorder_add(window, &event));
        }
    }
    assert_int_equal(given, n);
    return backward;
}

static struct event_ref slightly_late(uint64_t *seed, size_t i)
{
    return (struct event_ref){.time = (int64_t)(i - support_random(seed) % (i + 1) % 30000) / 4,
                              .offset = i,
                              .kind = TTR_KIND_BEGIN};
}

static struct event_ref by_begin(uint64_t *seed, size_t i)
{
    return (struct event_ref){.time = (int64_t)i / 10,
                              .duration = support_random(seed) % (i % 1000 ? 50 : 1000000),
                              .offset = i,
                              .kind = i % 3 ? TTR_KIND_SPAN : TTR_KIND_END};
}

static struct event_ref in_order(uint64_t *seed, size_t i)
{
    (void)seed;
    return (struct event_ref){.time = (int64_t)i / 3, .offset = i, .kind = TTR_KIND_BEGIN};
}

static struct event_ref all_at_once(uint64_t *seed, size_t i)
{
    return (struct event_ref){
        .time = -(int64_t)(support_random(seed) % 8), .offset = i, .kind = TTR_KIND_SPAN};
}

static struct event_ref one_end(uint64_t *seed, size_t i)
{
    uint64_t length = support_random(seed) % 100;
    return (struct event_ref){
        .time = -(int64_t)length, .duration = length, .offset = i, .kind = TTR_KIND_SPAN};
}

static void events_up_to_the_window_late_come_in_order(void **state)
{
    struct reorder window;
    (void)state;
    reorder_init(&window, alloc_default());
    assert_int_equal(run(&window, in_order, MANY), 0);
    assert_int_equal(run(&window, slightly_late, MANY), 0);
    reorder_free(&window);
}

static void long_spans_wait_for_their_ends(void **state)
{
    struct reorder window;
    (void)state;
    reorder_init(&window, alloc_default());
    assert_int_equal(run(&window, by_begin, MANY), 0);
    reorder_free(&window);
}

static void ties_of_spans_go_by_their_begins(void **state)
{
    struct reorder window;
    (void)state;
    reorder_init(&window, alloc_default());
    assert_int_equal(run(&window, one_end, REORDER_ROOM), 0);
    assert_int_equal(run(&window, all_at_once, 1000), 0);
    assert_int_equal(run(&window, in_order, 0), 0);
    reorder_free(&window);
}

static void end_past_all_time_is_the_end_of_time(void **state)
{
    struct reorder window;
    (void)state;
    reorder_init(&window, alloc_default());
    assert_true(reorder_add(
        &window, &(struct event_ref){.time = -5, .duration = UINT64_MAX, .kind = TTR_KIND_SPAN}));
    assert_int_equal(reorder_count_ready(&window, true), 1);
    assert_true(window.key[0].rank == order_time(INT64_MAX));
    reorder_free(&window);
}

static void end_of_span_above_half_the_range_is_exact(void **state)
{
    struct reorder window;
    const struct event_ref span = {
        .time = -5, .duration = (uint64_t)INT64_MAX + 3, .kind = TTR_KIND_SPAN};
    (void)state;
    reorder_init(&window, alloc_default());
    assert_true(reorder_add(&window, &span));
    assert_int_equal(reorder_count_ready(&window, true), 1);
    assert_true(window.key[0].rank == order_time(INT64_MAX - 2));
    reorder_free(&window);
}

static bool goes_through(const struct alloc *alloc)
{
    struct reorder window;
    bool is_through = true;
    reorder_init(&window, alloc);
    for (size_t i = 0; i < 3000 && is_through; i++)
        is_through = reorder_add(&window, &(struct event_ref){.time = (int64_t)(i % 7)});
    reorder_free(&window);
    return is_through;
}

static void failing_allocation_is_reported(void **state)
{
    (void)state;
    support_fail_each(goes_through);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_up_to_the_window_late_come_in_order),
        cmocka_unit_test(long_spans_wait_for_their_ends),
        cmocka_unit_test(ties_of_spans_go_by_their_begins),
        cmocka_unit_test(end_past_all_time_is_the_end_of_time),
        cmocka_unit_test(end_of_span_above_half_the_range_is_exact),
        cmocka_unit_test(failing_allocation_is_reported),
    };
    return cmocka_run_group_tests_name("reorder", tests, NULL, NULL);
}
