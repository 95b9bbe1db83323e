/* Text for terminals, in one piece and in pieces of all sizes. */
#include "model/visible_text.h"

#include "support/support.h"

static void expect_visible(const char *text, size_t n, bool keeps_colors, const char *expected)
{
    for (size_t piece = 1; piece <= n; piece++) {
        struct visible_text visible = {.rest_n = 0};
        struct buffer to;
        buffer_init(&to, alloc_default());
        for (size_t at = 0; at < n; at += piece)
            visible_text_append(&visible, &to, text + at, n - at < piece ? n - at : piece,
                                keeps_colors && piece == n);
        assert_int_equal(visible.rest_n, 0);
        buffer_add_byte(&to, 0);
        if (!keeps_colors || piece == n)
            assert_string_equal((const char *)to.bytes, expected);
        buffer_free(&to);
    }
}

#define EXPECT(text, expected) expect_visible(text, sizeof(text) - 1, false, expected)
#define EXPECT_COLORS(text, expected) expect_visible(text, sizeof(text) - 1, true, expected)

static void control_character_becomes_its_number(void **state)
{
    (void)state;
    EXPECT("plain \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80\n", "plain \xc3\xa4 \xe2\x82\xac "
                                                             "\xf0\x9f\x98\x80\n");
    EXPECT("a\x1b[31mb\x07\r\x7f\tc\n", "a\\x1b[31mb\\x07\\x0d\\x7f\tc\n");
    EXPECT("a\xc2\x9b"
           "2J\xc2\xa0\n",
           "a\\x9b2J\xc2\xa0\n");
}

static void invalid_byte_that_is_a_control_becomes_its_number(void **state)
{
    (void)state;
    EXPECT("a\x9b"
           "2J\n",
           "a\\x9b2J\n");
    EXPECT("a\xc2\x1b\n", "a\xc2\\x1b\n");
    EXPECT("a\xe2\x9b\x1b\xff.\n", "a\xe2\\x9b\\x1b\xff.\n");
}

static void colors_are_kept_on_request(void **state)
{
    (void)state;
    EXPECT_COLORS("\x1b[1m\x1b[31mred\x1b[0m\n", "\x1b[1m\x1b[31mred\x1b[0m\n");
    EXPECT_COLORS("\x1b[1;31mred\x1b[8mhidden\x1b[2J\x1b]0;x\n",
                  "\x1b[1;31mred\\x1b[8mhidden\\x1b[2J\\x1b]0;x\n");
    EXPECT_COLORS("\x1b[\n", "\\x1b[\n");
}

static void empty_text_without_memory_appends_nothing(void **state)
{
    (void)state;
    struct visible_text visible = {.rest_n = 0};
    struct buffer to;
    buffer_init(&to, alloc_default());
    visible_text_append(&visible, &to, NULL, 0, false);
    assert_int_equal(to.n, 0);
    assert_int_equal(visible.rest_n, 0);
    buffer_free(&to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_character_becomes_its_number),
        cmocka_unit_test(invalid_byte_that_is_a_control_becomes_its_number),
        cmocka_unit_test(colors_are_kept_on_request),
        cmocka_unit_test(empty_text_without_memory_appends_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
