/* Tests of errors: every field, truncation of long texts at a character, and a NULL error. */
#include "base/status.h"

#include <errno.h>
#include <string.h>

#include "base/utf.h"
#include "support/support.h"

static void fail_sets_every_field(void **state)
{
    (void)state;
    ttr_error error;
    memset(&error, 0xee, sizeof error);
    assert_int_equal(fail(&error, TTR_E_MALFORMED, 77, "found %d, expected %s", 5, "six"),
                     TTR_E_MALFORMED);
    assert_int_equal(error.status, TTR_E_MALFORMED);
    assert_int_equal(error.sys, 0);
    assert_int_equal(error.offset, 77);
    assert_int_equal(error.line, 0);
    assert_true(error.record == UINT64_MAX);
    assert_string_equal(error.format, "");
    assert_string_equal(error.text, "found 5, expected six");
}

static void system_failure_contains_strerror(void **state)
{
    (void)state;
    ttr_error error;
    assert_int_equal(fail_sys(&error, ENOENT, NO_OFFSET, "cannot open %s", "x"), TTR_E_IO);
    assert_int_equal(error.sys, ENOENT);
    assert_true(error.offset == NO_OFFSET);
    assert_string_equal(error.text, "cannot open x: No such file or directory");
}

static void memory_failure_has_text(void **state)
{
    (void)state;
    ttr_error error;
    assert_int_equal(fail_memory(&error), TTR_E_NOMEM);
    assert_string_equal(error.text, "out of memory");
}

static void null_error_returns_status_only(void **state)
{
    (void)state;
    assert_int_equal(fail(NULL, TTR_E_LIMIT, 0, "x"), TTR_E_LIMIT);
    assert_int_equal(fail_sys(NULL, EIO, 0, "x"), TTR_E_IO);
    assert_int_equal(fail_memory(NULL), TTR_E_NOMEM);
}

static void long_text_is_cut_at_character(void **state)
{
    (void)state;
    static const char *const characters[] = {"x", "\xc3\xbc", "\xe2\x82\xac", "\xf0\x9f\x90\x9b"};
    for (size_t kind = 0; kind < 4; kind++)
        for (size_t shift = 0; shift < 4; shift++) {
            ttr_error error;
            char text[1000] = "";
            memset(text, '.', shift);
            for (size_t at = shift, n = strlen(characters[kind]); at + n < sizeof text; at += n)
                memcpy(text + at, characters[kind], n);
            (void)fail(&error, TTR_E_MALFORMED, 0, "%s", text);
            assert_true(strlen(error.text) < sizeof error.text &&
                        strlen(error.text) >= sizeof error.text - 8);
            assert_true(utf8_is_valid(error.text, strlen(error.text)));
            (void)fail_sys(&error, EIO, 0, "%s", text);
            assert_true(utf8_is_valid(error.text, strlen(error.text)));
        }
}

static void every_status_has_a_name(void **state)
{
    (void)state;
    assert_string_equal(ttr_status_text(TTR_OK), "ok");
    assert_string_equal(ttr_status_text(TTR_E_MISUSE), "misuse");
    assert_string_equal(ttr_status_text((ttr_status)(TTR_E_MISUSE + 1)), "unknown status");
    assert_string_equal(ttr_status_text((ttr_status)99), "unknown status");
}

static void option_name_is_stored_apart_from_text(void **state)
{
    ttr_error error;
    (void)state;
    assert_int_equal(
        error_set_option(&error,
                         fail(&error, TTR_E_UNSUPPORTED, 0, "say which with ttr_read_options.from"),
                         "from"),
        TTR_E_UNSUPPORTED);
    assert_string_equal(error.option, "from");
    /* a new failure clears the option name */
    assert_int_equal(fail(&error, TTR_E_MALFORMED, 0, "x"), TTR_E_MALFORMED);
    assert_string_equal(error.option, "");
    assert_int_equal(error_set_option(&error, TTR_OK, "from"), TTR_OK);
    assert_string_equal(error.option, "");
    assert_int_equal(error_set_option(NULL, TTR_E_LOSS, "from"), TTR_E_LOSS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(option_name_is_stored_apart_from_text),
        cmocka_unit_test(fail_sets_every_field),
        cmocka_unit_test(system_failure_contains_strerror),
        cmocka_unit_test(memory_failure_has_text),
        cmocka_unit_test(null_error_returns_status_only),
        cmocka_unit_test(long_text_is_cut_at_character),
        cmocka_unit_test(every_status_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
