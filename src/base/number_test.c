/* Tests of formatting and parsing integers and doubles: against printf and strtod, and tables of
 * texts to format or refuse. */
#include "base/number.h"

#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/endian.h"
#include "support/support.h"

static void check_integers(uint64_t x)
{
    char got[NUMBER_MAX], expected[NUMBER_MAX];
    (void)snprintf(expected, sizeof expected, "%" PRIu64, x);
    support_assert_text(got, number_format_u64(got, x), expected);
    (void)snprintf(expected, sizeof expected, "%" PRId64, (int64_t)x);
    support_assert_text(got, number_format_i64(got, (int64_t)x), expected);
    (void)snprintf(expected, sizeof expected, "0x%" PRIx64, x);
    support_assert_text(got, number_format_hex(got, x), expected);
}

static void check_integers_back(uint64_t x)
{
    char text[NUMBER_MAX];
    uint64_t unsigned_back = ~x;
    assert_true(number_parse_u64(text, number_format_u64(text, x), &unsigned_back));
    assert_true(unsigned_back == x);
    assert_true(number_parse_u64(text, number_format_hex(text, x), &unsigned_back));
    assert_true(unsigned_back == x);
}

static void integers_match_printf_and_parse_back(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (uint64_t power = 1, digits = 0; digits < 20; power *= 10, digits++)
        for (uint64_t x = power - 2; x != power + 3; x++) {
            check_integers(x);
            check_integers_back(x);
        }
    for (unsigned shift = 0; shift < 64; shift++) {
        check_integers((uint64_t)1 << shift);
        check_integers(((uint64_t)1 << shift) - 1);
    }
    for (int i = 0; i < 100000; i++) {
        uint64_t x = support_random_word(&seed);
        check_integers(x);
        check_integers_back(x);
    }
}

static void nanoseconds_are_formatted_with_nine_digits(void **state)
{
    static const uint32_t samples[] = {0, 1, 9, 10, 99999999, 100000000, 123456789, 999999999};
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        char got[NUMBER_MAX], expected[NUMBER_MAX];
        (void)snprintf(expected, sizeof expected, "%09" PRIu32, samples[i]);
        number_format_9_digits(got, samples[i]);
        support_assert_text(got, 9, expected);
    }
}

static void invalid_integer_text_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      " 1",
                                      "1 ",
                                      "+",
                                      "-",
                                      "0x",
                                      "0xg",
                                      "1a",
                                      "18446744073709551616",
                                      "1.0",
                                      "--1",
                                      "0x10000000000000000",
                                      "99999999999999999999",
                                      "x",
                                      "0X",
                                      "1e5"};
    uint64_t x = 77;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(number_parse_u64(bad[i], strlen(bad[i]), &x));
    assert_false(number_parse_u64("-1", 2, &x));
    assert_int_equal(x, 77);
}

static void hexadecimal_and_leading_zeros_are_parsed(void **state)
{
    (void)state;
    uint64_t x;
    assert_true(number_parse_u64("0xDeadBEEF", 10, &x) && x == 0xdeadbeef);
    assert_true(number_parse_u64("007", 3, &x) && x == 7);
}

static void known_doubles_have_known_text(void **state)
{
    (void)state;
    static const struct {
        double x;
        const char *text;
    } rows[] = {
        {0, "0.0"},
        {-0.0, "-0.0"},
        {3, "3.0"},
        {-17, "-17.0"},
        {0.1, "0.1"},
        {-0.3, "-0.3"},
        {0.5, "0.5"},
        {123.456, "123.456"},
        {3.14159265358979, "3.14159265358979"},
        {1e300, "1e+300"},
        {1e-5, "1e-05"},
        {0.0001, "0.0001"},
        {0.00012, "0.00012"},
        {999999999999999, "999999999999999.0"},
        {1e15, "1e+15"},
        {1234567890123456, "1234567890123456.0"},
        {1.5e10, "15000000000.0"},
        {1.0 / 3, "0.3333333333333333"},
        {0.1 + 0.2, "0.30000000000000004"},
        {9007199254740993.0, "9007199254740992.0"},
        {5e-324, "5e-324"},
        {-5e-324, "-5e-324"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {100000000000000.5, "100000000000000.5"},
        {0.01, "0.01"},
        {1.05, "1.05"},
        {-1e-7, "-1e-07"},
    };
    char text[NUMBER_MAX];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        support_assert_text(text, number_format_double(text, rows[i].x), rows[i].text);
    support_assert_text(text, number_format_double(text, (double)NAN), "nan");
    support_assert_text(text, number_format_double(text, -(double)NAN), "nan");
    support_assert_text(text, number_format_double(text, (double)INFINITY), "inf");
    support_assert_text(text, number_format_double(text, -(double)INFINITY), "-inf");
}

/* Counts significant digits: without sign, point, exponent, leading and trailing zeros. */
static size_t count_significant(const char *text)
{
    size_t n = 0, last = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (n == 0 && *text == '0'))
            continue;
        n++;
        last = *text != '0' ? n : last;
    }
    return last;
}

static void check_double(double x)
{
    char text[NUMBER_MAX + 1], shorter[NUMBER_MAX];
    size_t n = number_format_double(text, x);
    assert_in_range(n, 3, NUMBER_MAX);
    text[n] = '\0';
    if (bits_of_double(strtod(text, NULL)) != bits_of_double(x))
        fail_msg("%.17g was written as %s", x, text);
    assert_non_null(strpbrk(text, ".e"));
    /* With one digit less, the text must not parse to the same double. */
    size_t digits = count_significant(text);
    if (digits > 1) {
        (void)snprintf(shorter, sizeof shorter, "%.*e", (int)digits - 2, x);
        if (strtod(shorter, NULL) == x)
            fail_msg("%s could have been %s", text, shorter);
    }
}

static void random_doubles_are_shortest_and_parse_back(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int i = 0; i < 50000; i++) {
        uint64_t bits = support_random(&seed), word = support_random_word(&seed);
        double any = double_of_bits(bits), decimal = (double)(int64_t)(bits >> (word & 63));
        if (isfinite(any))
            check_double(any);
        check_double((double)word);
        check_double((double)(int64_t)word * 0.001);
        check_double(decimal / 1e3);
        check_double(decimal / 1e9);
        check_double(double_of_bits(bits >> 12)); /* a subnormal double */
    }
}

static void locale_with_comma_does_not_change_text(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE",
                                        "ps_AF.UTF-8"};
    char text[NUMBER_MAX];
    const char *set = NULL;
    for (size_t i = 0; !set && i < sizeof names / sizeof *names; i++)
        set = setlocale(LC_NUMERIC, names[i]);
    if (!set)
        /* the locale is not installed; returns instead of skip(), because cmocka 1.1.5 reports
         * skipped tests as failed in TAP */
        return;
    support_assert_text(text, number_format_double(text, 1.0 / 3), "0.3333333333333333");
    support_assert_text(text, number_format_double(text, 1e300), "1e+300");
    (void)setlocale(LC_NUMERIC, "C");
}

static void is_integer_accepts_any_size_and_rejects_text(void **state)
{
    (void)state;
    static const char *const good[] = {"0", "-0", "7", "-12",
                                       "340282366920938463463374607431768211456"};
    static const char *const bad[] = {"",   "-",   "+1",  "007", "-01", "1 ",
                                      " 1", "1.0", "0x1", "1e3", "--1", "1-"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(number_is_integer(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(number_is_integer(bad[i], strlen(bad[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_integer_accepts_any_size_and_rejects_text),
        cmocka_unit_test(integers_match_printf_and_parse_back),
        cmocka_unit_test(nanoseconds_are_formatted_with_nine_digits),
        cmocka_unit_test(invalid_integer_text_is_refused),
        cmocka_unit_test(hexadecimal_and_leading_zeros_are_parsed),
        cmocka_unit_test(known_doubles_have_known_text),
        cmocka_unit_test(random_doubles_are_shortest_and_parse_back),
        cmocka_unit_test(locale_with_comma_does_not_change_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
