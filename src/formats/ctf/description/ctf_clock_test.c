/* CTF clocks: exact conversion at every frequency and offset, floor, wraps, saturation. */
#include "formats/ctf/description/ctf_clock.h"

#include "base/wide.h"
#include "support/support.h"

static struct ctf_timeline line_of(uint64_t frequency, int64_t seconds, int64_t cycles)
{
    struct ctf_clock clock = {.frequency = frequency, .offset_s = seconds, .offset_cycles = cycles};
    struct ctf_timeline line;
    ctf_timeline_init(&line, &clock);
    return line;
}

static int64_t time_of(const struct ctf_timeline *line, uint64_t ticks)
{
    bool is_clamped = false;
    int64_t time = ctf_ticks_to_ns(line, ticks, &is_clamped);
    assert_false(is_clamped);
    return time;
}

static void nanosecond_clock_adds_offset_only(void **state)
{
    (void)state;
    struct ctf_timeline line = line_of(1000000000, 0, 1795173916422337919);
    assert_int_equal(time_of(&line, 0), 1795173916422337919);
    assert_int_equal(time_of(&line, 6257861930667), 1795180174284268586);
    line = line_of(1000000000, 1500000000, 7);
    assert_int_equal(time_of(&line, 3), 1500000000000000010);
}

static void rounded_times_equal_double_arithmetic(void **state)
{
    (void)state;
    struct ctf_clock clock = {.frequency = 3293832152, .offset_cycles = 2965446622};
    struct ctf_timeline line = line_of(clock.frequency, 0, clock.offset_cycles);
    assert_int_equal(time_of(&line, 895308947585980), 271814674129333);
    ctf_timeline_use_rounding(&line, &clock);
    assert_int_equal(time_of(&line, 895308947585980), 271814674129332);
    clock.frequency = 1000000000; /* at 10^9 Hz nothing is rounded */
    line = line_of(clock.frequency, 0, 5);
    ctf_timeline_use_rounding(&line, &clock);
    assert_int_equal(time_of(&line, INT64_MAX - 7), INT64_MAX - 2);
}

static void ticks_and_cycles_are_floored_together(void **state)
{
    (void)state;
    struct ctf_timeline line = line_of(3, 10, 1); /* thirds of a second */
    assert_int_equal(time_of(&line, 0), 10333333333);
    assert_int_equal(time_of(&line, 1), 10666666666);
    assert_int_equal(time_of(&line, 2), 11000000000);
    line = line_of(8000000, 0, 0); /* 125 ns per tick */
    assert_int_equal(time_of(&line, 9), 1125);
    line = line_of(UINT64_C(4000000000), 0, 3);
    assert_int_equal(time_of(&line, 0), 0);
    assert_int_equal(time_of(&line, 1), 1);
}

static void offsets_may_be_negative(void **state)
{
    (void)state;
    struct ctf_timeline line = line_of(1000, 0, -1);
    assert_int_equal(time_of(&line, 0), -1000000);
    assert_int_equal(time_of(&line, 1), 0);
    line = line_of(1000, -2, -1500);
    assert_int_equal(time_of(&line, 0), -3500000000);
    line = line_of(3, -1, -1);
    /* the floor, not the value rounded towards zero */
    assert_int_equal(time_of(&line, 0), -1333333334);
}

static void large_cycle_counts_carry_into_seconds(void **state)
{
    (void)state;
    struct ctf_timeline line = line_of(1000, 1, 2500);
    assert_int_equal(time_of(&line, 0), 3500000000);
    assert_true(line.cycles < line.math.frequency);
}

static void time_beyond_64_bits_is_clamped_and_flagged(void **state)
{
    (void)state;
    bool is_clamped = false;
    struct ctf_timeline line = line_of(1000000000, INT64_MAX, 0);
    assert_int_equal(ctf_ticks_to_ns(&line, 5, &is_clamped), INT64_MAX);
    assert_true(is_clamped);
    is_clamped = false;
    line = line_of(1000000000, INT64_MIN, 0);
    assert_int_equal(ctf_ticks_to_ns(&line, UINT64_MAX, &is_clamped), INT64_MIN);
    assert_true(is_clamped);
    is_clamped = false;
    line = line_of(1, 0, 0);
    assert_int_equal(ctf_ticks_to_ns(&line, UINT64_MAX, &is_clamped), INT64_MAX);
    assert_true(is_clamped);
}

static void large_ticks_with_negative_offset_are_exact(void **state)
{
    (void)state;
    struct ctf_timeline line = line_of(1000000000, -18446744073, 0);
    assert_int_equal(time_of(&line, UINT64_C(18446744073000000005)), 5);
    line = line_of(3, -INT64_C(6148914691236517205), 2);
    assert_int_equal(time_of(&line, UINT64_MAX - 1), 333333333);
}

static void missing_clock_counts_nanoseconds(void **state)
{
    (void)state;
    struct ctf_timeline line;
    ctf_timeline_init(&line, NULL);
    assert_int_equal(time_of(&line, 12345), 12345);
    assert_false(line.is_anchored);
}

static void random_clocks_agree_with_plain_division(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 20000; i++) {
        uint64_t frequency = support_random_word(&seed) | 1, ticks = support_random_word(&seed);
        int64_t seconds = (int64_t)(support_random_word(&seed) % 8000000000u) - 4000000000;
        int64_t cycles = (int64_t)(support_random_word(&seed) >> 1);
        frequency = frequency > INT64_MAX ? frequency >> 1 : frequency;
        struct ctf_timeline line = line_of(frequency, seconds, cycles);
        int128 expected =
            (int128)(((uint128)ticks + (uint64_t)cycles % frequency) * 1000000000u / frequency) +
            ((int128)seconds + cycles / (int64_t)frequency) * 1000000000;
        bool is_clamped = false, fits = expected <= INT64_MAX && expected >= INT64_MIN;
        int64_t time = ctf_ticks_to_ns(&line, ticks, &is_clamped);
        assert_int_equal(is_clamped, !fits);
        if (fits)
            assert_int_equal(time, (int64_t)expected);
    }
}

static void tick_of_time_is_least_tick_not_before(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int i = 0; i < 20000; i++) {
        uint64_t frequency = support_random_word(&seed) % 6000000000u + 1,
                 ticks = support_random_word(&seed) >> 20;
        struct ctf_timeline line = line_of(frequency, (int64_t)(support_random(&seed) % 2000000000),
                                           (int64_t)(support_random(&seed) >> 34));
        bool is_clamped = false;
        int64_t time = ctf_ticks_to_ns(&line, ticks, &is_clamped);
        if (is_clamped)
            continue;
        uint64_t found = ctf_ns_to_ticks(&line, time);
        assert_true(found <= ticks);
        assert_true(time_of(&line, found) >= time);
        assert_true(found == 0 || time_of(&line, found - 1) < time);
    }
    struct ctf_timeline line = line_of(1000000000, 5, 0);
    assert_int_equal(ctf_ns_to_ticks(&line, 0), 0);
    assert_int_equal(ctf_ns_to_ticks(&line, INT64_MIN), 0);
    line = line_of(UINT64_C(1) << 62, 0, 0);
    assert_int_equal(ctf_ns_to_ticks(&line, INT64_MAX), UINT64_MAX);
}

static void narrow_fields_wrap_at_most_once(void **state)
{
    (void)state;
    assert_int_equal(ctf_clock_extend(0x12345678, 0x80, 8), 0x12345680);
    assert_int_equal(ctf_clock_extend(0x12345678, 0x78, 8), 0x12345678);
    assert_int_equal(ctf_clock_extend(0x12345678, 0x77, 8), 0x12345777);
    assert_int_equal(ctf_clock_extend(0x7fffffe, 1, 27), 0x8000001);
    assert_int_equal(ctf_clock_extend(100, 99, 64), 99);
    assert_int_equal(ctf_clock_extend(0, 0xff12, 8), 0x12);
    assert_int_equal(ctf_clock_extend(UINT64_MAX, 0, 1), 0);
}

static void clocks_since_1970_are_anchored(void **state)
{
    (void)state;
    assert_true(line_of(1000000000, 1500000000, 0).is_anchored);
    assert_false(line_of(1000000000, 86400, 0).is_anchored);
    struct ctf_clock clock = {.frequency = 1000,
                              .is_unix = true,
                              .has_precision = true,
                              .precision = 7,
                              .has_uuid = true,
                              .uuid = {1, 2}};
    struct ctf_timeline line;
    ctf_timeline_init(&line, &clock);
    ttr_clock report = ctf_get_public_clock(&line, &clock, "monotonic");
    assert_true(report.is_described && report.has_precision && report.precision == 7 &&
                report.has_uuid && report.uuid[1] == 2);
    assert_int_equal(report.description.n, 0);
    assert_true(report.is_anchored);
    assert_int_equal(report.frequency, 1000);
    assert_int_equal(report.anchor_ns, 0);
    assert_string_equal(report.name, "monotonic");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nanosecond_clock_adds_offset_only),
        cmocka_unit_test(ticks_and_cycles_are_floored_together),
        cmocka_unit_test(offsets_may_be_negative),
        cmocka_unit_test(large_cycle_counts_carry_into_seconds),
        cmocka_unit_test(time_beyond_64_bits_is_clamped_and_flagged),
        cmocka_unit_test(large_ticks_with_negative_offset_are_exact),
        cmocka_unit_test(missing_clock_counts_nanoseconds),
        cmocka_unit_test(random_clocks_agree_with_plain_division),
        cmocka_unit_test(tick_of_time_is_least_tick_not_before),
        cmocka_unit_test(rounded_times_equal_double_arithmetic),
        cmocka_unit_test(narrow_fields_wrap_at_most_once),
        cmocka_unit_test(clocks_since_1970_are_anchored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
