/* Lines and columns of bytes in a text. */
#include "base/textplace.h"

#include "support.h"

static void check_place(const char *text, size_t offset, uint64_t line, uint64_t column, const char *line_text)
{
    struct text_place place = text_place(text, strlen(text), offset);
    assert_int_equal(place.line, line);
    assert_int_equal(place.column, column);
    support_assert_text(place.line_text, place.line_n, line_text);
}

static void lines_and_columns_count_from_one(void **state)
{
    (void)state;
    check_place("ab\ncd\n", 0, 1, 1, "ab");
    check_place("ab\ncd\n", 1, 1, 2, "ab");
    check_place("ab\ncd\n", 2, 1, 3, "ab");
    check_place("ab\ncd\n", 3, 2, 1, "cd");
    check_place("ab\ncd\n", 5, 2, 3, "cd");
    check_place("ab\ncd\n", 6, 3, 1, "");
    check_place("\n\n\n", 2, 3, 1, "");
}

static void an_offset_behind_the_end_is_the_end(void **state)
{
    (void)state;
    check_place("ab\ncd", 5, 2, 3, "cd");
    check_place("ab\ncd", 500, 2, 3, "cd");
    check_place("", 0, 1, 1, "");
    struct text_place place = text_place(NULL, 0, 7);
    assert_int_equal(place.line, 1);
    assert_int_equal(place.line_n, 0);
}

static void a_carriage_return_belongs_to_the_end_of_its_line(void **state)
{
    (void)state;
    check_place("ab\r\ncd\r\n", 5, 2, 2, "cd");
    check_place("a\rb", 2, 1, 3, "a\rb");
}

static void columns_count_characters(void **state)
{
    (void)state;
    check_place("\xc3\xa4\xe2\x82\xac!", 5, 1, 3, "\xc3\xa4\xe2\x82\xac!");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_and_columns_count_from_one),
        cmocka_unit_test(an_offset_behind_the_end_is_the_end),
        cmocka_unit_test(a_carriage_return_belongs_to_the_end_of_its_line),
        cmocka_unit_test(columns_count_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
