/* Tests of the histogram: quantiles against a sorted array, merging, and failing allocations. */
#include "base/histogram.h"

#include <stdlib.h>

#include "support/support.h"

enum { VALUES = 20000 };

static int compare_words(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static void assert_near(uint64_t got, uint64_t exact)
{
    uint64_t away = got > exact ? got - exact : exact - got;
    if (away > exact / 100)
        fail_msg("got %llu, exact is %llu", (unsigned long long)got, (unsigned long long)exact);
}

/* The quantile q of n sorted values has rank ceil(q * n). q is a multiple of 1/1024, so the product
 * is exact in a double. */
static void check_quantiles(const struct histogram *histogram, const uint64_t *sorted, size_t n)
{
    for (unsigned part = 0; part <= 1024; part++) {
        size_t rank = (n * part + 1023) / 1024;
        assert_near(histogram_quantile(histogram, part / 1024.0), sorted[rank ? rank - 1 : 0]);
    }
    assert_int_equal(histogram_quantile(histogram, 0), sorted[0]);
    assert_int_equal(histogram_quantile(histogram, 1), sorted[n - 1]);
}

static uint64_t draw(uint64_t *seed, int kind)
{
    uint64_t random = support_random(seed);
    switch (kind) {
    case 0:
        return random % 64;
    case 1:
        return random % 100000;
    case 2:
        return random >> (random & 63);
    case 3:
        return UINT64_MAX - random % 1000;
    default:
        return 12345678;
    }
}

static void quantile_error_is_below_one_percent(void **state)
{
    (void)state;
    static uint64_t values[VALUES];
    uint64_t seed = 11;
    for (int kind = 0; kind < 5; kind++) {
        struct histogram histogram;
        histogram_init(&histogram, alloc_default());
        for (size_t i = 0; i < VALUES; i++) {
            values[i] = draw(&seed, kind);
            assert_true(histogram_add(&histogram, values[i]));
        }
        qsort(values, VALUES, sizeof *values, compare_words);
        assert_int_equal(histogram.count, VALUES);
        check_quantiles(&histogram, values, VALUES);
        histogram_free(&histogram);
    }
}

static void powers_of_two_and_neighbours_are_found(void **state)
{
    (void)state;
    for (unsigned shift = 0; shift < 64; shift++)
        for (unsigned offset = 0; offset < 3; offset++) {
            struct histogram histogram;
            uint64_t value = ((uint64_t)1 << shift) + offset - 1;
            histogram_init(&histogram, alloc_default());
            /* Distant minimum and maximum, so that the middle of the bucket is not clamped to the
             * value. */
            assert_true(histogram_add(&histogram, 0) && histogram_add(&histogram, UINT64_MAX));
            assert_true(histogram_add(&histogram, value));
            assert_near(histogram_quantile(&histogram, 0.5), value);
            histogram_free(&histogram);
        }
}

static void empty_histogram_returns_zero_and_q_is_clamped(void **state)
{
    (void)state;
    struct histogram histogram;
    histogram_init(&histogram, alloc_default());
    assert_int_equal(histogram_quantile(&histogram, 0.5), 0);
    assert_true(histogram_add(&histogram, 5) && histogram_add(&histogram, 70) &&
                histogram_add(&histogram, 100000));
    assert_int_equal(histogram_quantile(&histogram, -1), 5);
    assert_int_equal(histogram_quantile(&histogram, __builtin_nan("")), 5);
    assert_int_equal(histogram_quantile(&histogram, 2), 100000);
    assert_int_equal(histogram_quantile(&histogram, __builtin_inf()), 100000);
    assert_int_equal(histogram_quantile(&histogram, 0.5), 70);
    histogram_free(&histogram);
    histogram_free(&histogram);
}

static bool add_values(const struct alloc *alloc)
{
    struct histogram one;
    bool is_through = true;
    histogram_init(&one, alloc);
    for (unsigned shift = 0; shift < 64 && is_through; shift += 5) {
        uint64_t before = one.count;
        is_through = histogram_add(&one, (uint64_t)1 << shift);
        assert_int_equal(one.count, before + is_through);
    }
    assert_true(!is_through || histogram_quantile(&one, 1) == (uint64_t)1 << 60);
    histogram_free(&one);
    return is_through;
}

static void failed_allocation_is_reported(void **state)
{
    (void)state;
    support_fail_each(add_values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantile_error_is_below_one_percent),
        cmocka_unit_test(powers_of_two_and_neighbours_are_found),
        cmocka_unit_test(empty_histogram_returns_zero_and_q_is_clamped),
        cmocka_unit_test(failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
