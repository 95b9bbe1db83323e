/* Tests for provider sets and the syntax of dotnet-trace. */
#include "dotnet/providers.h"

#include "support/support.h"

#define RUNTIME "Microsoft-Windows-DotNETRuntime"

static void check_provider(const ttr_dotnet_providers *set, size_t i, const char *name,
                           uint64_t keywords, uint32_t level)
{
    ttr_dotnet_provider provider;
    assert_true(ttr_dotnet_providers_at(set, i, &provider));
    assert_string_equal(provider.name, name);
    assert_int_equal(provider.keywords, keywords);
    assert_int_equal(provider.level, level);
}

static void omitted_parts_have_defaults(void **state)
{
    (void)state;
    ttr_dotnet_provider provider;
    ttr_dotnet_providers *set = ttr_dotnet_providers_new();
    assert_int_equal(ttr_dotnet_providers_add(
                         set, "A,B:0x10,C::2,D:::k=\"1,2\";l=3:4,E:1:Warning:," RUNTIME, NULL),
                     TTR_OK);
    check_provider(set, 0, "A", UINT64_MAX, 4);
    check_provider(set, 1, "B", 0x10, 4);
    check_provider(set, 2, "C", UINT64_MAX, 2);
    check_provider(set, 3, "D", UINT64_MAX, 4);
    check_provider(set, 4, "E", 1, 3);
    check_provider(set, 5, RUNTIME, 0x100003801d, 4);
    assert_true(ttr_dotnet_providers_at(set, 3, &provider));
    assert_string_equal(provider.arguments, "k=\"1,2\";l=3:4");
    assert_false(ttr_dotnet_providers_at(set, 6, &provider));
    assert_int_equal(ttr_dotnet_providers_rundown(set), TTR_DOTNET_RUNDOWN);
    ttr_dotnet_providers_free(set);
}

static void added_provider_is_copied(void **state)
{
    (void)state;
    char name[] = "A", arguments[] = "x=1,2";
    ttr_dotnet_provider provider = {
        .name = name, .keywords = 3, .level = 2, .arguments = arguments};
    ttr_dotnet_providers *set = ttr_dotnet_providers_new();
    assert_int_equal(ttr_dotnet_providers_add_provider(set, &provider, NULL), TTR_OK);
    name[0] = arguments[0] = '?';
    check_provider(set, 0, "A", 3, 2);
    assert_true(ttr_dotnet_providers_at(set, 0, &provider));
    assert_string_equal(provider.arguments, "x=1,2");
    assert_int_equal(
        ttr_dotnet_providers_add_provider(set, &(ttr_dotnet_provider){.name = ""}, NULL),
        TTR_E_MISUSE);
    ttr_dotnet_providers_free(set);
}

static void repeated_provider_is_merged(void **state)
{
    (void)state;
    ttr_error error;
    ttr_dotnet_providers *set = ttr_dotnet_providers_new();
    assert_int_equal(ttr_dotnet_providers_add(set, "A:1:2:x=1,a:4:5,B:1:0,B:1:5", NULL), TTR_OK);
    check_provider(set, 0, "A", 5, 5);
    check_provider(set, 1, "B", 1, 0);
    assert_int_equal(ttr_dotnet_providers_add(set, "A:::x=2", &error), TTR_E_MISUSE);
    assert_non_null(strstr(error.text, "named twice"));
    ttr_dotnet_providers_free(set);
}

static void explicit_provider_replaces_profile(void **state)
{
    (void)state;
    ttr_dotnet_providers *set = ttr_dotnet_providers_new();
    assert_int_equal(ttr_dotnet_providers_add_profile(set, "gc-collect", NULL), TTR_OK);
    assert_int_equal(ttr_dotnet_providers_rundown(set), 1);
    assert_int_equal(ttr_dotnet_providers_add_profile(set, "GC-Verbose", NULL), TTR_OK);
    check_provider(set, 0, RUNTIME, 0x8003, 5);
    assert_int_equal(ttr_dotnet_providers_rundown(set), TTR_DOTNET_RUNDOWN);
    ttr_dotnet_providers_free(set);
    set = ttr_dotnet_providers_new();
    assert_int_equal(ttr_dotnet_providers_add_clr(set, "gc+JIT", "error", NULL), TTR_OK);
    assert_int_equal(ttr_dotnet_providers_add_profile(set, "dotnet-common", NULL), TTR_OK);
    check_provider(set, 0, RUNTIME, 0x11, 2);
    ttr_dotnet_providers_free(set);
}

static void wrong_syntax_error_lists_valid_values(void **state)
{
    static const struct {
        const char *text, *expected;
    } all[] = {{"", "no name"},          {"A,", "no name"},
               {"A:xyz", "hexadecimal"}, {"A:11111111111111111", "hexadecimal"},
               {"A:1:loud", "0 to 5"},   {"A:1:10", "0 to 5"}};
    (void)state;
    ttr_error error;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        ttr_dotnet_providers *set = ttr_dotnet_providers_new();
        assert_int_equal(ttr_dotnet_providers_add(set, all[i].text, &error), TTR_E_MISUSE);
        assert_non_null(strstr(error.text, all[i].expected));
        ttr_dotnet_providers_free(set);
    }
    ttr_dotnet_providers *set = ttr_dotnet_providers_new();
    assert_int_equal(ttr_dotnet_providers_add_profile(set, "gc", &error), TTR_E_MISUSE);
    assert_non_null(strstr(error.text, "gc-verbose"));
    assert_int_equal(ttr_dotnet_providers_add_clr(set, "gc+", NULL, &error), TTR_E_MISUSE);
    assert_int_equal(ttr_dotnet_providers_add_clr(set, "gc", "none", &error), TTR_E_MISUSE);
    ttr_dotnet_providers_free(set);
}

static void listed_profiles_can_be_added(void **state)
{
    (void)state;
    const char *name, *text;
    ttr_dotnet_provider provider;
    size_t n = 0;
    for (; ttr_dotnet_profile(n, &name, &text); n++) {
        ttr_dotnet_providers *set = ttr_dotnet_providers_new();
        assert_int_equal(ttr_dotnet_providers_add_profile(set, name, NULL), TTR_OK);
        assert_true(ttr_dotnet_providers_at(set, 0, &provider));
        assert_true(text[0]);
        ttr_dotnet_providers_free(set);
    }
    assert_int_equal(n, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(omitted_parts_have_defaults),
        cmocka_unit_test(added_provider_is_copied),
        cmocka_unit_test(repeated_provider_is_merged),
        cmocka_unit_test(explicit_provider_replaces_profile),
        cmocka_unit_test(wrong_syntax_error_lists_valid_values),
        cmocka_unit_test(listed_profiles_can_be_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
