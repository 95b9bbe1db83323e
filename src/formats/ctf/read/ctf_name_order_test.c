/* Natural order of v1.1 file names. */
#include "formats/ctf/read/ctf_name_order.h"

#include <stddef.h>

#include "support/support.h"

static void numbers_in_names_compare_by_value(void **state)
{
    (void)state;
    static const char *const ordered[] = {"",
                                          "0",
                                          "00",
                                          "01",
                                          "1",
                                          "2",
                                          "9x",
                                          "10",
                                          "99999999999999999999",
                                          "100000000000000000000",
                                          "a",
                                          "a_",
                                          "a_02",
                                          "a_2",
                                          "a_2-2",
                                          "a_2_1",
                                          "a_10",
                                          "a_10_1",
                                          "b1c2",
                                          "b1c10",
                                          "b2c1",
                                          "\xc3\xa4"};
    const size_t n = sizeof ordered / sizeof *ordered;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            const int order = ctf_compare_names(ordered[i], ordered[k]);
            assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_in_names_compare_by_value)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
