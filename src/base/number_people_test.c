/* Durations, sizes and dates: rows of text, what is refused, and dates against the C library. */
#include <stdio.h>
#include <time.h>

#include "base/number.h"
#include "support.h"

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

static void durations_read_well(void **state)
{
    (void)state;
    static const struct {
        uint64_t ns;
        const char *text;
    } rows[] = {
        {0, "0ns"}, {431, "431ns"}, {999, "999ns"}, {1000, "1us"}, {12500, "12.5us"}, {12345, "12.345us"},
        {3250000, "3.25ms"}, {999999499, "999.999ms"}, {999999500, "1s"}, {1500000000, "1.5s"},
        {59999499999, "59.999s"}, {59999500000, "1m00s"}, {125000000000, "2m05s"}, {3599600000000, "1h00m00s"},
        {3725000000000, "1h02m05s"}, {UINT64_MAX, "5124095h34m34s"},
    };
    char text[NUMBER_MAX];
    for (size_t i = 0; i < COUNT(rows); i++)
        support_assert_text(text, number_put_duration(text, rows[i].ns), rows[i].text);
}

static void typed_durations_are_exact(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ns;
    } rows[] = {
        {"250us", 250000}, {"1.5s", 1500000000}, {"100", 100}, {"2m", 120000000000}, {"1h", 3600000000000}, {"0", 0},
        {"-1.5ms", -1500000}, {"+3ns", 3}, {"2m05s", 125000000000}, {"1h02m05s", 3725000000000}, {"0.1s", 100000000},
        {"0.000000001s", 1}, {"1.5000000000000000000000s", 1500000000}, {"12\xc2\xb5s", 12000}, {"12\xce\xbcs", 12000},
        {"9223372036.854775807s", INT64_MAX}, {"-9223372036.854775808s", INT64_MIN}, {"0.05h", 180000000000},
        {"9223372036854775807", INT64_MAX},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t ns = 0;
        assert_true(number_get_duration(rows[i].text, strlen(rows[i].text), &ns));
        assert_true(ns == rows[i].ns);
    }
}

static void what_is_no_duration_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "-", "s", "1x", "1.s", ".5s", "1.5", "0.1ns", "1s ", " 1s", "1 s", "1..5s", "--1s",
                                      "9223372036.854775808s", "-9223372036.854775809s", "9223372036854775808", "1e3s",
                                      "99999999999999999999h", "5124096h", "1s-1s", "0.0000000001s", "2S", "1sm",
                                      "18446744073709551615ns1ns", "0.0000000000000000000001s"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        int64_t ns = 77;
        if (number_get_duration(bad[i], strlen(bad[i]), &ns))
            fail_msg("\"%s\" was taken for %lld ns", bad[i], (long long)ns);
        assert_int_equal(ns, 77);
    }
}

static void written_durations_read_back_to_within_their_rounding(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 20000; i++) {
        char text[NUMBER_MAX];
        int64_t ns = (int64_t)(support_random(&seed) >> (1 + i % 63)), back;
        assert_true(number_get_duration(text, number_put_duration(text, (uint64_t)ns), &back));
        int64_t away = back > ns ? back - ns : ns - back;
        assert_true(away <= ns / 100 && away <= 500000000);
    }
}

static void sizes_read_well(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes;
        const char *text;
    } rows[] = {
        {0, "0B"}, {812, "812B"}, {1023, "1023B"}, {1024, "1KiB"}, {1536, "1.5KiB"}, {101376, "99KiB"},
        {102348, "99.9KiB"}, {102399, "100KiB"}, {122683392, "117MiB"}, {1048063, "1023KiB"}, {1048064, "1MiB"},
        {1073741823, "1GiB"}, {(uint64_t)1 << 40, "1TiB"}, {(uint64_t)5 << 49, "2.5PiB"}, {UINT64_MAX, "16EiB"},
    };
    char text[NUMBER_MAX];
    for (size_t i = 0; i < COUNT(rows); i++)
        support_assert_text(text, number_put_bytes(text, rows[i].bytes), rows[i].text);
}

static void typed_sizes_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } rows[] = {
        {"10MiB", 10 << 20}, {"4k", 4096}, {"4K", 4096}, {"1MB", 1000000}, {"100", 100}, {"100B", 100}, {"1kb", 1000},
        {"2Gi", (uint64_t)2 << 30}, {"1.5KiB", 1536}, {"0.5k", 512}, {"1.0005KB", 1000}, {"3T", (uint64_t)3 << 40},
        {"1p", (uint64_t)1 << 50}, {"15E", (uint64_t)15 << 60}, {"18EB", 18000000000000000000u}, {"0x1000", 4096},
        {"18446744073709551615", UINT64_MAX}, {"1mib", 1 << 20},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint64_t bytes = 0;
        assert_true(number_get_bytes(rows[i].text, strlen(rows[i].text), &bytes));
        assert_true(bytes == rows[i].bytes);
    }
}

static void what_is_no_size_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "k", "-1", "1x", "1kx", "1kib ", "1kiBB", "16E", "19EB", "1.k", "1 k", "1BB",
                                      "18446744073709551616", "18446744073709551615k", "0x", "1i", "15.99999999999999999999E"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        uint64_t bytes = 77;
        if (number_get_bytes(bad[i], strlen(bad[i]), &bytes))
            fail_msg("\"%s\" was taken for %llu bytes", bad[i], (unsigned long long)bytes);
    }
}

static void dates_agree_with_the_c_library(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int i = 0; i < 50000; i++) {
        char got[NUMBER_MAX], expected[64];
        int64_t ns = (int64_t)support_random(&seed), back = 0;
        int64_t second_ns = (ns % 1000000000 + 1000000000) % 1000000000;
        time_t seconds = (time_t)(ns / 1000000000 - (ns % 1000000000 < 0));
        struct tm tm;
        assert_non_null(gmtime_r(&seconds, &tm));
        size_t n = strftime(expected, sizeof expected, "%Y-%m-%dT%H:%M:%S", &tm);
        (void)snprintf(expected + n, sizeof expected - n, ".%09dZ", (int)second_ns);
        n = number_put_iso(got, ns);
        support_assert_text(got, n, expected);
        assert_true(number_get_iso(got, n, &back));
        assert_true(back == ns);
    }
}

static void the_first_and_last_instants_are_written_and_read(void **state)
{
    (void)state;
    char text[NUMBER_MAX];
    int64_t ns;
    support_assert_text(text, number_put_iso(text, INT64_MIN), "1677-09-21T00:12:43.145224192Z");
    assert_true(number_get_iso(text, 30, &ns) && ns == INT64_MIN);
    support_assert_text(text, number_put_iso(text, INT64_MAX), "2262-04-11T23:47:16.854775807Z");
    assert_true(number_get_iso(text, 30, &ns) && ns == INT64_MAX);
    support_assert_text(text, number_put_iso(text, 0), "1970-01-01T00:00:00.000000000Z");
    support_assert_text(text, number_put_iso(text, -1), "1969-12-31T23:59:59.999999999Z");
}

static void dates_are_read_in_their_short_forms(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ns;
    } rows[] = {
        {"1970-01-01", 0}, {"1970-01-02", 86400000000000}, {"1970-01-01T00:00:01.5Z", 1500000000},
        {"1970-01-01 00:00:01", 1000000000}, {"1970-01-01T00:00:00.123456789000Z", 123456789},
        {"2000-02-29", 951782400000000000}, {"2026-11-21T01:10:13.5Z", 1795223413500000000},
        {"1969-12-31 23:59:59.5", -500000000},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t ns = 77;
        assert_true(number_get_iso(rows[i].text, strlen(rows[i].text), &ns));
        assert_true(ns == rows[i].ns);
    }
}

static void what_is_no_date_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "", "2026", "2026-1-1", "2026-13-01", "2026-00-01", "2026-01-00", "2026-02-29", "1900-02-29", "2026-04-31",
        "2026-01-01T", "2026-01-01T24:00:00", "2026-01-01T00:60:00", "2026-01-01T00:00:60", "2026-01-01T00:00:00.",
        "2026-01-01T00:00:00.0000000001Z", "2026-01-01T00:00:00Zx", "2026-01-01T00:00", "2026-01-01Z", "2263-01-01",
        "1677-09-21T00:12:43.145224191Z", "2262-04-11T23:47:16.854775808Z", "0000-01-01", "9999-12-31", "2026/01/01",
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        int64_t ns = 77;
        if (number_get_iso(bad[i], strlen(bad[i]), &ns))
            fail_msg("\"%s\" was taken for %lld", bad[i], (long long)ns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_read_well),
        cmocka_unit_test(typed_durations_are_exact),
        cmocka_unit_test(what_is_no_duration_is_refused),
        cmocka_unit_test(written_durations_read_back_to_within_their_rounding),
        cmocka_unit_test(sizes_read_well),
        cmocka_unit_test(typed_sizes_are_read),
        cmocka_unit_test(what_is_no_size_is_refused),
        cmocka_unit_test(dates_agree_with_the_c_library),
        cmocka_unit_test(the_first_and_last_instants_are_written_and_read),
        cmocka_unit_test(dates_are_read_in_their_short_forms),
        cmocka_unit_test(what_is_no_date_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
