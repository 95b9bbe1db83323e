/* Sums at and beyond their limits. */
#include "base/saturate.h"

#include "support/support.h"

static void sum_stops_at_largest_value(void **state)
{
    (void)state;
    assert_true(saturate_add_u64(2, 3) == 5);
    assert_true(saturate_add_u64(UINT64_MAX - 1, 1) == UINT64_MAX);
    assert_true(saturate_add_u64(UINT64_MAX, 1) == UINT64_MAX);
    assert_true(saturate_add_u64(UINT64_MAX, UINT64_MAX) == UINT64_MAX);
}

static void end_of_interval_stops_at_last_time(void **state)
{
    (void)state;
    assert_true(saturate_end_ns(-5, 7) == 2);
    assert_true(saturate_end_ns(INT64_MAX, 1) == INT64_MAX);
    assert_true(saturate_end_ns(5, UINT64_MAX) == INT64_MAX);
    assert_true(saturate_end_ns(INT64_MIN, UINT64_MAX - 1) == INT64_MAX - 1);
    assert_true(saturate_end_ns(INT64_MIN, (uint64_t)INT64_MAX + 1) == 0);
    assert_true(saturate_end_ns(INT64_MIN, UINT64_MAX) == INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sum_stops_at_largest_value),
        cmocka_unit_test(end_of_interval_stops_at_last_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
