/* Patterns and texts that match, and that do not. */
#include "support/support.h"

#include "pipeline/glob.h"

static void patterns_match_expected_texts(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool matches;
    } cases[] = {
        {"", "", true},
        {"", "a", false},
        {"*", "", true},
        {"*", "any", true},
        {"net*", "net", true},
        {"net*", "network", true},
        {"net*", "ne", false},
        {"*net", "ethernet", true},
        {"*net", "nets", false},
        {"a*b*c", "axxbyyc", true},
        {"a*b*c", "axxbyy", false},
        {"a**c", "ac", true},
        {"?", "", false},
        {"?", "x", true},
        {"?", "\xc3\xa4", true},
        {"?x", "\xe2\x82\xacx", true},
        {"?", "\xff", true},
        {"??", "\xc3\xa4", false},
        {"[ab]?", "bz", true},
        {"[ab]?", "cz", false},
        {"[!ab]", "c", true},
        {"[!ab]", "a", false},
        {"[^ab]", "b", false},
        {"[a-f0-9]", "7", true},
        {"[a-f0-9]", "g", false},
        {"[]]", "]", true},
        {"[]a]", "a", true},
        {"[!]]", "]", false},
        {"[a", "[a", true},
        {"[a", "a", false},
        {"[a-]", "-", true},
        {"\\*", "*", true},
        {"\\*", "x", false},
        {"a\\", "a\\", true},
        {"*[0-9]", "cpu12", true},
        {"*.c", "a/b.c", true},
        {"ab", "abc", false},
        {"abc", "ab", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (glob_matches(cases[i].pattern, (ttr_text){cases[i].text, strlen(cases[i].text)}) !=
            cases[i].matches)
            fail_msg("\"%s\" against \"%s\"", cases[i].pattern, cases[i].text);
}

static void zero_bytes_match_like_others(void **state)
{
    (void)state;
    assert_true(glob_matches("a?b", (ttr_text){"a\0b", 3}));
    assert_false(glob_matches("a", (ttr_text){"a\0b", 3}));
}

static void many_stars_match_in_polynomial_time(void **state)
{
    char text[4096];
    (void)state;
    memset(text, 'a', sizeof text);
    assert_false(glob_matches("*a*a*a*a*a*a*a*a*a*a*a*a*a*b", (ttr_text){text, sizeof text}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_expected_texts),
        cmocka_unit_test(zero_bytes_match_like_others),
        cmocka_unit_test(many_stars_match_in_polynomial_time),
    };
    return cmocka_run_group_tests_name("glob", tests, NULL, NULL);
}
