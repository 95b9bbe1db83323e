/* Options of formats: which ones a reader or writer copies, and that copies can be passed on. */
#include "model/options.h"

#include "support/support.h"

static const ttr_option_info infos[] = {
    {.key = "a", .for_writing = true},
    {.key = "b", .for_writing = true},
};
static const struct format made = {.name = "made", .options = infos, .options_n = 2};

static void option_copies_are_null_terminated(void **state)
{
    (void)state;
    const struct alloc *alloc = alloc_default();
    const char *const given[] = {"a=1", "other.c=2", "made.b=3.4", NULL};
    char **first = NULL, **second = NULL;
    size_t first_n = 0, second_n = 0;
    ttr_error error;
    assert_int_equal(
        options_copy(&(struct options_list){alloc, given, &made, true}, &first, &first_n, &error),
        TTR_OK);
    assert_int_equal(first_n, 4);
    assert_null(first[first_n - 1]);
    const char *const *again = (const char *const *)(const void *)first;
    assert_int_equal(
        options_copy(&(struct options_list){alloc, again, &made, true}, &second, &second_n, &error),
        TTR_OK);
    assert_int_equal(second_n, 3);
    assert_null(second[second_n - 1]);
    assert_string_equal(options_get(second, second_n, "a"), "1");
    assert_string_equal(options_get(second, second_n, "b"), "3.4");
    assert_null(options_get(second, second_n, "c"));
    options_free(alloc, first, first_n);
    options_free(alloc, second, second_n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(option_copies_are_null_terminated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
