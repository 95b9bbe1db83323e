/* Tests of tick conversion against 128-bit division: frequencies of real clocks, and the worst ones
 * for the reciprocal. */
#include "base/clock_math.h"

#include "base/wide.h"
#include "support/support.h"

#define NS 1000000000u

static const uint64_t frequencies[] = {
    1,
    2,
    3,
    7,
    1000,
    1193182,
    3579545,
    10000000,
    14318180,
    19200000,
    24000000,
    33333333,
    62500000,
    999999999,
    NS,
    1000000001,
    2400000000,
    2994000000,
    3000000000,
    3417600000,
    (uint64_t)1 << 32,
    ((uint64_t)1 << 40) + 1,
    ((uint64_t)1 << 62) - 57,
    INT64_MAX,
    (uint64_t)INT64_MAX + 1,
    (uint64_t)INT64_MAX + 2,
    UINT64_MAX - 58,
    UINT64_MAX,
};

enum { FREQUENCIES = sizeof frequencies / sizeof *frequencies, ROUNDS = 20000 };

static void check_ns(const struct clock_math *math, uint64_t ticks)
{
    uint128 exact = (uint128)ticks * NS / math->frequency;
    bool is_clamped = false, must_clamp = exact > INT64_MAX;
    int64_t ns = ticks_to_ns(math, ticks, &is_clamped);
    if (ns != (must_clamp ? INT64_MAX : (int64_t)exact) || is_clamped != must_clamp)
        fail_msg("%llu ticks at %llu Hz gave %lld", (unsigned long long)ticks,
                 (unsigned long long)math->frequency, (long long)ns);
}

static void check_signed(const struct clock_math *math, int64_t ticks)
{
    uint128 size = (uint128)(ticks < 0 ? 0 - (uint64_t)ticks : (uint64_t)ticks) * NS;
    uint128 exact =
        ticks < 0 ? (size + math->frequency - 1) / math->frequency : size / math->frequency;
    bool is_clamped = false, must_clamp = exact > (uint128)INT64_MAX + (ticks < 0);
    int64_t limit = ticks < 0 ? INT64_MIN : INT64_MAX;
    int64_t expected =
        must_clamp ? limit : (int64_t)(ticks < 0 ? 0 - (uint64_t)exact : (uint64_t)exact);
    assert_true(signed_ticks_to_ns(math, ticks, &is_clamped) == expected);
    assert_int_equal(is_clamped, must_clamp);
}

static void check_ticks(const struct clock_math *math, uint64_t ns)
{
    uint128 product = (uint128)ns * math->frequency, exact = product / NS + (product % NS != 0);
    bool is_clamped = false, must_clamp = exact > UINT64_MAX;
    assert_true(ns_to_ticks(math, ns, &is_clamped) == (must_clamp ? UINT64_MAX : (uint64_t)exact));
    assert_int_equal(is_clamped, must_clamp);
}

/* Returns ticks next to a step of the nanoseconds, where an error of the estimate would show. */
static uint64_t ticks_near_a_step(uint64_t frequency, uint64_t ns, unsigned offset)
{
    uint128 ticks = ((uint128)ns * frequency + NS - 1) / NS + offset % 3 - 1;
    return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

static void random_ticks_convert_exactly(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (size_t i = 0; i < FREQUENCIES; i++) {
        struct clock_math math;
        clock_math_init(&math, frequencies[i]);
        for (unsigned round = 0; round < ROUNDS; round++) {
            uint64_t word = support_random_word(&seed);
            check_ns(&math, word);
            check_ns(&math, UINT64_MAX - word);
            check_ns(&math, ticks_near_a_step(frequencies[i], word, round));
            check_signed(&math, (int64_t)word);
            check_signed(&math, (int64_t)(0 - word));
            check_ticks(&math, word);
        }
    }
}

static void random_frequencies_convert_exactly(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct clock_math math;
        clock_math_init(&math, support_random_word(&seed));
        for (unsigned i = 0; i < 20; i++) {
            uint64_t word = support_random_word(&seed);
            check_ns(&math, word);
            check_ns(&math, ticks_near_a_step(math.frequency, word, i));
            check_signed(&math, (int64_t)(0 - word));
        }
    }
}

static void conversion_is_monotonic(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct clock_math math;
        bool clamped = false;
        clock_math_init(&math, support_random_word(&seed));
        uint64_t ticks = support_random_word(&seed);
        for (unsigned i = 0; i < 20; i++) {
            uint64_t step =
                support_random(&seed) % 3 ? support_random(&seed) % 4 : support_random_word(&seed);
            uint64_t later = step > UINT64_MAX - ticks ? UINT64_MAX : ticks + step;
            assert_true(ticks_to_ns(&math, later, &clamped) >= ticks_to_ns(&math, ticks, &clamped));
            assert_true(signed_ticks_to_ns(&math, -(int64_t)(ticks >> 1), &clamped) >=
                        signed_ticks_to_ns(&math, -(int64_t)(later >> 1), &clamped));
            ticks = later;
        }
    }
}

static void clamping_starts_at_exact_limit(void **state)
{
    (void)state;
    for (size_t i = 0; i < FREQUENCIES; i++) {
        struct clock_math math;
        clock_math_init(&math, frequencies[i]);
        for (uint64_t ns = (uint64_t)INT64_MAX - 3; ns < (uint64_t)INT64_MAX + 4; ns++)
            for (unsigned offset = 0; offset < 3; offset++) {
                uint64_t ticks = ticks_near_a_step(frequencies[i], ns, offset);
                check_ns(&math, ticks);
                check_signed(&math, (int64_t)(0 - ticks));
            }
        check_ns(&math, 0);
        check_ns(&math, UINT64_MAX);
        check_signed(&math, INT64_MIN);
        check_signed(&math, INT64_MAX);
        check_ticks(&math, UINT64_MAX);
    }
}

static void zero_frequency_means_nanoseconds(void **state)
{
    (void)state;
    struct clock_math math;
    bool is_clamped = false;
    clock_math_init(&math, 0);
    assert_int_equal(math.frequency, NS);
    assert_int_equal(ticks_to_ns(&math, 12345, &is_clamped), 12345);
    assert_int_equal(signed_ticks_to_ns(&math, -12345, &is_clamped), -12345);
    assert_false(is_clamped);
}

static void clamped_flag_is_never_cleared(void **state)
{
    (void)state;
    struct clock_math math;
    bool is_clamped = true;
    clock_math_init(&math, 3);
    (void)ticks_to_ns(&math, 1, &is_clamped);
    (void)signed_ticks_to_ns(&math, -1, &is_clamped);
    (void)ns_to_ticks(&math, 1, &is_clamped);
    (void)add_saturated(1, 2, &is_clamped);
    assert_true(is_clamped);
}

static void ticks_from_ns_convert_back(void **state)
{
    (void)state;
    uint64_t seed = 5;
    struct clock_math math;
    clock_math_init(&math, 2994000000);
    for (unsigned round = 0; round < ROUNDS; round++) {
        bool is_clamped = false;
        uint64_t ns = support_random(&seed) >> 4;
        uint64_t ticks = ns_to_ticks(&math, ns, &is_clamped);
        if (!is_clamped)
            assert_int_equal(ticks_to_ns(&math, ticks, &is_clamped), ns);
    }
}

static void overflowing_sum_saturates(void **state)
{
    (void)state;
    bool is_clamped = false;
    assert_int_equal(add_saturated(5, -7, &is_clamped), -2);
    assert_true(add_saturated(INT64_MAX, 0, &is_clamped) == INT64_MAX);
    assert_true(add_saturated(INT64_MIN, INT64_MAX, &is_clamped) == -1);
    assert_false(is_clamped);
    assert_true(add_saturated(INT64_MAX, 1, &is_clamped) == INT64_MAX);
    assert_true(is_clamped);
    is_clamped = false;
    assert_true(add_saturated(INT64_MIN, -1, &is_clamped) == INT64_MIN);
    assert_true(is_clamped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_ticks_convert_exactly),
        cmocka_unit_test(random_frequencies_convert_exactly),
        cmocka_unit_test(clamping_starts_at_exact_limit),
        cmocka_unit_test(zero_frequency_means_nanoseconds),
        cmocka_unit_test(conversion_is_monotonic),
        cmocka_unit_test(clamped_flag_is_never_cleared),
        cmocka_unit_test(ticks_from_ns_convert_back),
        cmocka_unit_test(overflowing_sum_saturates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
