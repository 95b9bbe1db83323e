/* Hints of formats: options, notes and styles that they declare for programs that do not know them
 * by name. */
#include "support/support.h"

#include "model/format.h"
#include "formats/table.h"

/* Returns true if the format has an option, given as "FORMAT.KEY" with or without "=VALUE". */
static bool has_option(const char *option, bool for_writing)
{
    const size_t dot = strcspn(option, "."), n = strcspn(option, "=");
    for (size_t i = 0; format_at(i); i++) {
        const struct format *format = format_at(i);
        if (strlen(format->name) != dot || memcmp(format->name, option, dot) != 0)
            continue;
        for (size_t k = 0; k < format->options_n; k++)
            if (strlen(format->options[k].key) == n - dot - 1 &&
                memcmp(format->options[k].key, option + dot + 1, n - dot - 1) == 0 &&
                format->options[k].for_writing == for_writing)
                return true;
    }
    return false;
}

static void option_with_role_exists_in_its_format(void **state)
{
    unsigned found = 0;
    (void)state;
    for (size_t i = 0; format_at(i); i++)
        for (unsigned role = TTR_OPTION_METADATA; role <= TTR_OPTION_POLL_SECONDS; role++) {
            const char *name = format_at(i)->name;
            const char *option = ttr_format_option_for(name, (ttr_option_role)role);
            if (!option)
                continue;
            found |= 1u << role;
            assert_memory_equal(option, name, strlen(name));
            assert_true(has_option(option, false));
        }
    assert_int_equal(found, (2u << TTR_OPTION_POLL_SECONDS) - (1u << TTR_OPTION_METADATA));
    assert_null(ttr_format_option_for("fxt", TTR_OPTION_METADATA));
    assert_null(ttr_format_option_for("no such format", TTR_OPTION_METADATA));
}

static void note_returns_option_that_helps(void **state)
{
    (void)state;
    assert_string_equal(ttr_note_option(&(ttr_diagnostic){.code = "fxt.too-large"}), "max_record");
    assert_string_equal(ttr_note_option(&(ttr_diagnostic){.code = "ctf.no-key"}), "ctf.key");
    assert_string_equal(ttr_note_option(&(ttr_diagnostic){.code = "trace.unreadable"}), "ctf.key");
    assert_string_equal(ttr_note_option(&(ttr_diagnostic){.code = "directory.bad-main-file"}),
                        "ctf.metadata");
    assert_string_equal(ttr_note_option(&(ttr_diagnostic){.code = "ctf.no"}), "");
    assert_string_equal(ttr_note_option(&(ttr_diagnostic){.code = "too-large"}), "");
    assert_true(ttr_note_is_warning(&(ttr_diagnostic){.code = "directory.too-deep"}));
    assert_true(ttr_note_is_warning(&(ttr_diagnostic){.code = "ctf.alignment-guess"}));
    assert_false(ttr_note_is_warning(&(ttr_diagnostic){.code = "ctf.alignment"}));
}

static void general_format_is_unique_and_readable_and_writable(void **state)
{
    ttr_format_info info;
    unsigned n = 0;
    (void)state;
    for (size_t i = 0; ttr_format_get(i, &info); i++) {
        if (!(info.abilities & TTR_FORMAT_GENERAL))
            continue;
        n++;
        assert_true(info.abilities & TTR_FORMAT_READS && info.abilities & TTR_FORMAT_WRITES);
    }
    assert_int_equal(n, 1);
}

static void kinds_that_need_order_depend_on_the_format(void **state)
{
    ttr_format_info info;
    const uint32_t span = 1u << TTR_KIND_SPAN, begin = 1u << TTR_KIND_BEGIN;
    (void)state;
    for (size_t i = 0; ttr_format_get(i, &info); i++) {
        assert_int_equal(info.ordered_kinds != 0, (info.abilities & TTR_FORMAT_ORDERED) != 0);
        if (strcmp(info.name, "chrome") == 0 || strcmp(info.name, "ctf") == 0)
            assert_true(info.ordered_kinds & begin);
        if (strcmp(info.name, "chrome") == 0)
            assert_false(info.ordered_kinds & span);
        if (strcmp(info.name, "ctf") == 0)
            assert_true(info.ordered_kinds & span);
    }
}

static void style_has_writable_format_and_known_options(void **state)
{
    ttr_style_info style;
    size_t n = 0;
    (void)state;
    for (; ttr_style_get(n, &style); n++) {
        ttr_format_info format;
        size_t i = 0;
        while (ttr_format_get(i, &format) && strcmp(format.name, style.format) != 0)
            i++;
        assert_true(format_at(i) && format.abilities & TTR_FORMAT_WRITES);
        for (const char *const *option = style.writing_options; *option; option++)
            assert_true(has_option(*option, true));
        for (const char *const *option = style.reading_options; *option; option++)
            assert_true(has_option(*option, false));
        assert_true(!style.shown_option || has_option(style.shown_option, true));
    }
    assert_int_equal(n, 4);
}

static void check_diagnostics(size_t i)
{
    ttr_diagnostic_info info, other;
    for (size_t j = 0; ttr_format_diagnostic(i, j, &info); j++) {
        assert_non_null(strchr(info.code, '.'));
        assert_true(*info.meaning && *info.effect && info.advice);
        assert_true(info.least <= info.worst);
        for (size_t k = 0; k < j && ttr_format_diagnostic(i, k, &other); k++)
            assert_string_not_equal(info.code, other.code);
    }
}

static void code_is_explained_once(void **state)
{
    ttr_diagnostic_info info;
    (void)state;
    check_diagnostics(TTR_FORMAT_NONE);
    for (size_t i = 0; format_at(i); i++) {
        check_diagnostics(i);
        assert_true(!format_at(i)->reader || ttr_format_diagnostic(i, 0, &info));
    }
    assert_true(ttr_format_diagnostic(TTR_FORMAT_NONE, 0, &info));
    assert_false(ttr_format_diagnostic(1000, 0, &info));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(option_with_role_exists_in_its_format),
        cmocka_unit_test(note_returns_option_that_helps),
        cmocka_unit_test(code_is_explained_once),
        cmocka_unit_test(general_format_is_unique_and_readable_and_writable),
        cmocka_unit_test(kinds_that_need_order_depend_on_the_format),
        cmocka_unit_test(style_has_writable_format_and_known_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
