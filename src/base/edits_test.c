/* Tests of the edit distance with cases from its definition. */
#include <limits.h>

#include <tracetta/error.h>

#include "support/support.h"

static void distance_counts_insert_delete_replace(void **state)
{
    (void)state;
    assert_int_equal(ttr_edits("", ""), 0);
    assert_int_equal(ttr_edits("", "abc"), 3);
    assert_int_equal(ttr_edits("abc", ""), 3);
    assert_int_equal(ttr_edits("kitten", "sitting"), 3);
    assert_int_equal(ttr_edits("sitting", "kitten"), 3);
    assert_int_equal(ttr_edits("flaw", "lawn"), 2);
    assert_int_equal(ttr_edits("covnert", "convert"), 2);
    assert_int_equal(ttr_edits("same", "same"), 0);
}

static void too_long_word_has_maximum_distance(void **state)
{
    char longest[TTR_EDITS_WORD + 2];
    (void)state;
    memset(longest, 'a', sizeof longest);
    longest[TTR_EDITS_WORD + 1] = '\0';
    assert_int_equal(ttr_edits(longest, "a"), UINT_MAX);
    assert_int_equal(ttr_edits("a", longest), UINT_MAX);
    longest[TTR_EDITS_WORD] = '\0';
    assert_int_equal(ttr_edits(longest, "a"), TTR_EDITS_WORD - 1);
    assert_int_equal(ttr_edits(longest, longest), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distance_counts_insert_delete_replace),
        cmocka_unit_test(too_long_word_has_maximum_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
