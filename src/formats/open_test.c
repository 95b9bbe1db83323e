/* Errors of opening and creating. */
#include "support/support.h"

#include <stdio.h>

#include <tracetta/advanced.h>
#include <tracetta/formats.h>
#include <tracetta/tracetta.h>

static const char magic[8] = {0x10, 0x00, 0x04, 0x46, 0x78, 0x54, 0x16, 0x00};

static int64_t push_all(void *ctx, const void *bytes, size_t n)
{
    (void)ctx;
    (void)bytes;
    return (int64_t)n;
}

static int64_t pull_nothing(void *ctx, void *to, size_t n)
{
    (void)ctx;
    (void)to;
    (void)n;
    return 0;
}

/* Opens the first n bytes of an FXT magic record. Returns the status. */
static ttr_status open_magic(size_t n, const ttr_read_options *options, ttr_error *error)
{
    ttr *t = ttr_new(NULL);
    *error = (ttr_error){0};
    ttr_reader *reader = ttr_open_memory(t, magic, n, "bytes", options, error);
    ttr_status status = reader ? TTR_OK : error->status;
    ttr_close(reader);
    ttr_free(t);
    return status;
}

static void options_without_size_are_misuse(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    assert_null(ttr_new(&(ttr_options){.max_memory = 1 << 20}));
    assert_int_equal(open_magic(8, &(ttr_read_options){.from = "fxt"}, &error), TTR_E_MISUSE);
    assert_non_null(strstr(error.text, "sizeof(ttr_read_options)"));
    assert_null(ttr_open(t, "/dev/null", &(ttr_read_options){.from = "fxt"}, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    error.status = TTR_OK;
    assert_null(
        ttr_open_pull(t, pull_nothing, NULL, "bytes", &(ttr_read_options){.from = "fxt"}, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    error.status = TTR_OK;
    assert_null(ttr_create_push(t, push_all, NULL, "fxt",
                                &(ttr_write_options){.flags = TTR_WRITE_STRICT}, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    ttr_free(t);
}

static void format_is_detected_by_content(void **state)
{
    (void)state;
    ttr_error error;
    assert_int_equal(open_magic(8, NULL, &error), TTR_OK);
    assert_int_equal(open_magic(8, &(ttr_read_options){.size = sizeof(ttr_read_options)}, &error),
                     TTR_OK);
    assert_int_equal(open_magic(0, NULL, &error), TTR_E_UNSUPPORTED);
    assert_non_null(strstr(error.text, "empty"));
    assert_int_equal(open_magic(1, NULL, &error), TTR_E_UNSUPPORTED);
    assert_non_null(strstr(error.text, "starts with 10;"));
    /* texts name the library's option; commands substitute theirs */
    assert_non_null(strstr(error.text, "; use ttr_read_options.from = FORMAT"));
    assert_string_equal(error.option, "from");
    assert_null(strstr(error.text, "--"));
}

static void unknown_format_name_is_misuse_and_lists_formats(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    ttr_error error;
    assert_int_equal(
        open_magic(8, &(ttr_read_options){.size = sizeof(ttr_read_options), .from = "none"},
                   &error),
        TTR_E_MISUSE);
    assert_non_null(strstr(error.text, "fxt"));
    assert_int_equal(
        open_magic(8, &(ttr_read_options){.size = sizeof(ttr_read_options), .from = "csv"}, &error),
        TTR_E_MISUSE);
    assert_null(ttr_create_push(t, push_all, NULL, "none", NULL, &error));
    assert_non_null(strstr(error.text, "perfetto"));
    ttr_free(t);
}

/* Asserts that each key is a reading option of the format. */
static void expect_options_of_input(size_t format, const char *keys)
{
    ttr_option_info option;
    for (const char *key = keys; *key; key += strspn(key, " ")) {
        const size_t n = strcspn(key, " ");
        bool is_found = false;
        for (size_t i = 0; ttr_format_option(format, i, &option); i++)
            is_found |=
                !option.for_writing && strlen(option.key) == n && memcmp(option.key, key, n) == 0;
        assert_true(is_found);
        key += n;
    }
}

static void each_format_is_listed_once_with_losses(void **state)
{
    (void)state;
    ttr_format_info info, other;
    size_t n = 0;
    for (; ttr_format_get(n, &info); n++) {
        assert_true(info.abilities & (TTR_FORMAT_READS | TTR_FORMAT_WRITES));
        expect_options_of_input(n, info.input_options);
        for (size_t i = 0; i < n && ttr_format_get(i, &other); i++)
            assert_string_not_equal(info.name, other.name);
    }
    assert_in_range(n, 7, 100);
    assert_int_equal(ttr_format_losses("none", NULL, 0), 0);
    assert_in_range(ttr_format_losses("fxt", NULL, 0), 1, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_without_size_are_misuse),
        cmocka_unit_test(format_is_detected_by_content),
        cmocka_unit_test(unknown_format_name_is_misuse_and_lists_formats),
        cmocka_unit_test(each_format_is_listed_once_with_losses),
    };
    return cmocka_run_group_tests_name("open", tests, NULL, NULL);
}
