/* Tests of date formatting against the C library, and at the first and last representable time. */
#include <stdio.h>
#include <time.h>

#include "base/number.h"
#include "support/support.h"

static void random_dates_match_c_library(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int i = 0; i < 50000; i++) {
        char got[NUMBER_MAX], expected[64];
        int64_t ns = (int64_t)support_random(&seed);
        int64_t second_ns = (ns % 1000000000 + 1000000000) % 1000000000;
        time_t seconds = (time_t)(ns / 1000000000 - (ns % 1000000000 < 0));
        struct tm tm;
        assert_non_null(gmtime_r(&seconds, &tm));
        size_t n = strftime(expected, sizeof expected, "%Y-%m-%dT%H:%M:%S", &tm);
        (void)snprintf(expected + n, sizeof expected - n, ".%09dZ", (int)second_ns);
        n = number_format_iso(got, ns);
        support_assert_text(got, n, expected);
    }
}

static void first_and_last_time_are_formatted(void **state)
{
    (void)state;
    char text[NUMBER_MAX];
    support_assert_text(text, number_format_iso(text, INT64_MIN), "1677-09-21T00:12:43.145224192Z");
    support_assert_text(text, number_format_iso(text, INT64_MAX), "2262-04-11T23:47:16.854775807Z");
    support_assert_text(text, number_format_iso(text, 0), "1970-01-01T00:00:00.000000000Z");
    support_assert_text(text, number_format_iso(text, -1), "1969-12-31T23:59:59.999999999Z");
}

static void years_of_any_size_are_formatted(void **state)
{
    static const struct {
        int64_t s;
        const char *text;
    } cases[] = {{0, "1970-01-01T00:00:00"},
                 {-1, "1969-12-31T23:59:59"},
                 {951782400, "2000-02-29T00:00:00"},
                 {2000000000, "2033-05-18T03:33:20"},
                 {253402300800, "10000-01-01T00:00:00"},
                 {-62167219201, "-001-12-31T23:59:59"},
                 {-62167219200, "0000-01-01T00:00:00"},
                 {INT64_MAX, "292277026596-12-04T15:30:07"},
                 {INT64_MIN, "-292277022657-01-27T08:29:52"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[NUMBER_MAX + 1] = "";
        text[number_format_date_time(text, cases[i].s)] = '\0';
        assert_string_equal(text, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(years_of_any_size_are_formatted),
        cmocka_unit_test(random_dates_match_c_library),
        cmocka_unit_test(first_and_last_time_are_formatted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
