/* Tests of the edit distance with cases from its definition. */
#include <limits.h>

#include <tracetta/error.h>

#include "support/support.h"

static void distance_counts_insert_delete_replace(void **state)
{
    (void)state;
    assert_int_equal(ttr_edit_distance("", ""), 0);
    assert_int_equal(ttr_edit_distance("", "abc"), 3);
    assert_int_equal(ttr_edit_distance("abc", ""), 3);
    assert_int_equal(ttr_edit_distance("kitten", "sitting"), 3);
    assert_int_equal(ttr_edit_distance("sitting", "kitten"), 3);
    assert_int_equal(ttr_edit_distance("flaw", "lawn"), 2);
    assert_int_equal(ttr_edit_distance("covnert", "convert"), 2);
    assert_int_equal(ttr_edit_distance("same", "same"), 0);
}

static void too_long_word_has_maximum_distance(void **state)
{
    char longest[TTR_EDIT_DISTANCE_MAX + 2];
    (void)state;
    memset(longest, 'a', sizeof longest);
    longest[TTR_EDIT_DISTANCE_MAX + 1] = '\0';
    assert_int_equal(ttr_edit_distance(longest, "a"), UINT_MAX);
    assert_int_equal(ttr_edit_distance("a", longest), UINT_MAX);
    longest[TTR_EDIT_DISTANCE_MAX] = '\0';
    assert_int_equal(ttr_edit_distance(longest, "a"), TTR_EDIT_DISTANCE_MAX - 1);
    assert_int_equal(ttr_edit_distance(longest, longest), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distance_counts_insert_delete_replace),
        cmocka_unit_test(too_long_word_has_maximum_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
