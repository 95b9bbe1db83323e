/* Tests of parsing doubles: against strtod for plain texts, and known difficult cases. */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "support/support.h"

static double get(const char *text)
{
    double x = 77;
    if (!number_parse_double(text, strlen(text), &x))
        fail_msg("\"%s\" was refused", text);
    return x;
}

static void check_same(const char *text)
{
    double ours = get(text), theirs = strtod(text, NULL);
    if (memcmp(&ours, &theirs, sizeof ours) != 0)
        fail_msg("%s: got %a, expected %a", text, ours, theirs);
}

static void known_texts_parse_to_known_doubles(void **state)
{
    (void)state;
    assert_true(get("0") == 0 && !signbit(get("0")));
    assert_true(get("-0") == 0 && signbit(get("-0")));
    assert_true(get("1.25e3") == 1250);
    assert_true(get("+1E+2") == 100);
    assert_true(get("0.000001") == 1e-6);
    assert_true(get("1.7976931348623157e308") == DBL_MAX);
    assert_true(isinf(get("1e400")) && get("1e400") > 0);
    assert_true(isinf(get("-1e400")) && get("-1e400") < 0);
    assert_true(get("1e-400") == 0);
    assert_true(get("0e999999999999999999999999999") == 0);
    assert_true(isinf(get("1e999999999999999999999999999")));
    assert_true(get("1e-999999999999999999999999999") == 0);
    assert_true(get("4.9406564584124654e-324") == 0x1p-1074);
    /* a tie rounds to the even significand */
    assert_true(get("9007199254740993") == 9007199254740992);
}

static void invalid_double_text_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",    "-",   "+",    ".",   ".5",    "5.",   "1.e3",
                                      "1e",  "1e+", "1e5x", "x",   " 1",    "1 ",   "0x10",
                                      "inf", "nan", "1,5",  "--1", "1.5.5", "1e5.0"};
    double x = 77;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (number_parse_double(bad[i], strlen(bad[i]), &x))
            fail_msg("\"%s\" was taken", bad[i]);
    assert_true(x == 77);
}

static void formatted_double_parses_back(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int i = 0; i < 100000; i++) {
        uint64_t word = support_random(&seed);
        double x, back;
        memcpy(&x, &word, sizeof x);
        char text[NUMBER_MAX];
        if (!isfinite(x))
            continue;
        assert_true(number_parse_double(text, number_format_double(text, x), &back));
        assert_memory_equal(&x, &back, sizeof x);
    }
}

/* A number halfway between two doubles, in which a late digit decides the rounding. */
static void late_digit_decides_rounding_tie(void **state)
{
    (void)state;
    static char text[3000];
    for (size_t zeros = 1; zeros < 2500; zeros += 7) {
        (void)snprintf(text, sizeof text, "9007199254740993.%0*d", (int)zeros, 1);
        assert_true(get(text) == 9007199254740994);
    }
    /* The midpoint of 2^-1074 and 2^-1073 has 751 significant digits. */
    (void)snprintf(text, sizeof text, "%.1100f", 0x1p-1074 * 1.0);
    check_same(text);
    size_t n = strlen(text);
    memset(text + n, '0', 900);
    text[n + 900] = '1';
    text[n + 901] = '\0';
    check_same(text);
    memset(text, '9', 2000);
    text[2000] = '\0';
    assert_true(isinf(get(text)));
    memcpy(text + 1990, "e-1900", 7);
    check_same(text);
}

static void random_texts_parse_as_with_strtod(void **state)
{
    (void)state;
    uint64_t seed = 9;
    for (int i = 0; i < 100000; i++) {
        char text[80];
        uint64_t a = support_random_word(&seed), b = support_random_word(&seed);
        (void)snprintf(text, sizeof text, "%s%llu.%llue%d", a & 1 ? "-" : "", (unsigned long long)a,
                       (unsigned long long)b, (int)(support_random(&seed) % 700) - 350);
        check_same(text);
    }
}

static void locale_does_not_change_parsing(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "C"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_ALL, names[i]))
            assert_true(get("1.5") == 1.5);
    (void)setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_texts_parse_to_known_doubles),
        cmocka_unit_test(invalid_double_text_is_refused),
        cmocka_unit_test(formatted_double_parses_back),
        cmocka_unit_test(late_digit_decides_rounding_tie),
        cmocka_unit_test(random_texts_parse_as_with_strtod),
        cmocka_unit_test(locale_does_not_change_parsing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
