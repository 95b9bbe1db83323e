/* Tests of the window over event counters, against a set of all counters. */
#include "network/counter_window.h"

#include "support/support.h"

static void add_range(struct counter_window *window, uint32_t from, uint32_t to)
{
    for (uint32_t counter = from; counter != to; counter++)
        (void)counter_window_add(window, alloc_default(), counter);
}

static void gap_counts_as_lost_and_late_arrival_closes_it(void **state)
{
    (void)state;
    struct counter_window window = {0};
    add_range(&window, 0, 10);
    add_range(&window, 15, 20);
    assert_int_equal(window.lost, 5);
    assert_int_equal(counter_window_add(&window, alloc_default(), 12), COUNTER_LATE);
    assert_int_equal(window.lost, 4);
    assert_int_equal(window.late, 1);
    assert_int_equal(counter_window_add(&window, alloc_default(), 12), COUNTER_DUPLICATE);
    assert_int_equal(counter_window_add(&window, alloc_default(), 3), COUNTER_DUPLICATE);
    assert_int_equal(window.duplicates, 2);
    assert_int_equal(window.lost, 4);
    counter_window_free(&window, alloc_default());
}

static void event_65536_counters_late_closes_its_gap_and_a_later_one_does_not(void **state)
{
    (void)state;
    struct counter_window window = {0};
    add_range(&window, 0, 100);
    add_range(&window, 102, 100 + COUNTER_WINDOW + 1);
    assert_int_equal(window.lost, 2);
    assert_int_equal(counter_window_add(&window, alloc_default(), 101), COUNTER_LATE);
    assert_int_equal(window.lost, 1);
    assert_int_equal(counter_window_add(&window, alloc_default(), 100), COUNTER_LATE);
    assert_int_equal(window.lost, 1); /* 65,537 before the next counter: too late */
    counter_window_free(&window, alloc_default());
}

static void counters_wrap_without_loss(void **state)
{
    (void)state;
    struct counter_window window = {0};
    add_range(&window, UINT32_MAX - 50, 50);
    assert_int_equal(window.lost, 0);
    add_range(&window, 60, 70);
    assert_int_equal(window.lost, 10);
    assert_int_equal(counter_window_add(&window, alloc_default(), UINT32_MAX), COUNTER_DUPLICATE);
    counter_window_free(&window, alloc_default());
}

static void counters_before_the_first_are_counted_apart(void **state)
{
    (void)state;
    struct counter_window window = {0};
    add_range(&window, 7, 10);
    assert_int_equal(window.before, 7);
    assert_int_equal(window.lost, 0);
    assert_int_equal(counter_window_add(&window, alloc_default(), 4), COUNTER_LATE);
    assert_int_equal(window.before, 4);
    assert_int_equal(window.lost, 2);
    counter_window_free(&window, alloc_default());
}

static void restart_at_zero_is_not_a_loss(void **state)
{
    (void)state;
    struct counter_window window = {0};
    add_range(&window, 0, 200000);
    add_range(&window, 0, 1000);
    assert_int_equal(window.restarts, 1);
    assert_int_equal(window.lost, 0);
    assert_int_equal(window.next, 1000);
    counter_window_free(&window, alloc_default());
}

static void stale_event_does_not_restart_the_stream(void **state)
{
    (void)state;
    struct counter_window window = {0};
    add_range(&window, 0, 5);
    add_range(&window, 6, 200000);
    assert_int_equal(counter_window_add(&window, alloc_default(), 5), COUNTER_LATE);
    add_range(&window, 200000, 200010);
    assert_int_equal(window.restarts, 0);
    assert_int_equal(window.lost, 1);
    counter_window_free(&window, alloc_default());
}

/* Adds the counters 0 to n - 1, of which some are dropped, repeated or moved by up to 1000. */
static void random_disorder_is_counted_exactly(void **state)
{
    (void)state;
    enum { EVENTS = 30000, MOVE_MAX = 1000 };
    static uint32_t order[2 * EVENTS];
    static uint64_t key[2 * EVENTS];
    for (uint64_t seed = 1; seed <= support_rounds(5, 100); seed++) {
        uint64_t random = seed, dropped = 0, repeated = 0;
        size_t n = 0;
        for (uint32_t i = 0; i < EVENTS; i++) {
            uint64_t luck = support_random(&random) % 100;
            if (luck < 5 && i > 0 && i + 1 < EVENTS) { /* the first and the last arrive */
                dropped++;
                continue;
            }
            for (unsigned copies = luck < 10 ? 2 : 1; copies > 0; copies--) {
                repeated += copies == 2;
                bool is_moved = support_random(&random) % 10 == 0;
                key[n] = i + (is_moved ? support_random(&random) % MOVE_MAX : 0);
                size_t at = n++;
                for (; at > 0 && key[at - 1] > key[at]; at--) {
                    uint64_t moved = key[at - 1];
                    key[at - 1] = key[at];
                    key[at] = moved;
                    order[at] = order[at - 1];
                }
                order[at] = i;
            }
        }
        struct counter_window window = {0};
        for (size_t i = 0; i < n; i++)
            (void)counter_window_add(&window, alloc_default(), order[i]);
        assert_int_equal(window.lost + window.before, dropped);
        assert_int_equal(window.duplicates, repeated);
        counter_window_free(&window, alloc_default());
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gap_counts_as_lost_and_late_arrival_closes_it),
        cmocka_unit_test(event_65536_counters_late_closes_its_gap_and_a_later_one_does_not),
        cmocka_unit_test(counters_wrap_without_loss),
        cmocka_unit_test(counters_before_the_first_are_counted_apart),
        cmocka_unit_test(restart_at_zero_is_not_a_loss),
        cmocka_unit_test(stale_event_does_not_restart_the_stream),
        cmocka_unit_test(random_disorder_is_counted_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
