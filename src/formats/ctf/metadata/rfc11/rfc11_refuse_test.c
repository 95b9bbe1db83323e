/* Refused RFC v1.1 metadata: the position of every error, and the limits that hostile text meets.
 */
#include <stdio.h>

#include "formats/ctf/metadata/rfc11/rfc11.h"
#include "support/support.h"

struct scene {
    struct ctf_description description;
    ttr_error error;
    ttr_status status;
};

static void parse(struct scene *scene, const char *metadata)
{
    struct ctf_text text = {.p = metadata, .n = strlen(metadata), .file = "metadata"};
    memset(scene, 0, sizeof *scene);
    ctf_description_init(&scene->description, alloc_default());
    scene->status = rfc11_parse(&scene->description, &text, &scene->error);
}

static void end(struct scene *scene)
{
    ctf_description_free(&scene->description);
}

#define TRACE "trace { major = 1; minor = 1; alignment = packed; }\n"
#define SECTION "section { name = s; event { header_type = type1; } }\n"
#define BEGIN TRACE SECTION

/* --- Refusals: the marked byte and some words of the message --- */

static const struct {
    const char *metadata; /* '^' marks the position of the error and is removed */
    const char *words;
} refusals[] = {
    {"^trac;", "expected trace, section, event, type"},
    {"trace ^; ", "expected '{'"},
    {"trace { major = ^x; }", "expected a number"},
    {"trace { major = 1; ^", "attribute or '}'"},
    {"trace ^{ major = 1; }", "states no version"},
    {"trace { major = ^2; minor = 0; }", "not known"},
    {"trace { major = 1; minor = 1; word_size = ^48; }", "32 or 64"},
    {"trace { major = 1; minor = 1; alignment = ^loose; }", "packed or natural"},
    {"trace { major = 1; minor = 1; clock_freq = ^0; }", "from 1"},
    {"trace { major = ^18446744073709551616; }", "64 bits"},
    {"trace { major = 1; minor = 1; ^major = 1; }", "twice"},
    {"trace { major = 1; minor = 1; alignment = packed; ^alignment = natural; }", "twice"},
    {TRACE "trace ^{ major = 1; minor = 1; alignment = natural; }", "before"},
    {"section { name = s; ^name = t; event { header_type = type1; } }", "twice"},
    {"section { name = s; event { header_type = type1; } ^event { header_type = type2; } }",
     "twice"},
    {"section { name = s; event { header_type = type1; ^header_type = type2; } }", "twice"},
    {"section { name = s; event { header_type = type1; context { event_size = true; ^event_size = "
     "false; } } }",
     "twice"},
    {BEGIN "event { id = 1; ^id = 2; }", "twice"},
    {BEGIN "event { id = 1; fields = { }; ^fields = { }; }", "twice"},
    {"trace { major = ^1x; }", "not a number"},
    {"trace { major = ^0x; }", "not a number"},
    {"trace { major = ^08; }", "not a number"},
    {"trace { major = 1 ^minor = 1; }", "expected ';'"},
    {"^? ", "no such character"},
    {"/* */ ^/* * /", "no end"},
    {BEGIN "event { name = ^\"abc\n\"; }", "no end"},
    {BEGIN "event { name = \"ab^\\q\"; }", "escape"},
    {BEGIN "event { name = \"^\\400\"; }", "escape"},
    {"section ^{ event { header_type = type1; } }", "no name"},
    {"section { name = ^\"a/b\"; event { header_type = type1; } }", "'/'"},
    {"section ^{ name = s; }", "header_type"},
    {"section { name = s; event { header_type = ^type3; } }", "type1 or type2"},
    {"section { name = s; event { header_type = type1; context { event_size = ^maybe; } } }",
     "true or false"},
    {"section { name = s; event { header_type = type1; context { context_type = ^uint8_t; } } }",
     "inheriting from struct"},
    {"section { name = s; event { header_type = type1; context { event_size = true; context_type = "
     "^{ { int8_t, payload_size } }; } } }",
     "payload_size"},
    {BEGIN "section { name = ^s; event { header_type = type1; } }", "declared before"},
    {BEGIN "event { section = ^t; }", "no section"},
    {BEGIN "section { name = t; event { header_type = type1; } } event ^{ name = e; }",
     "no section"},
    {BEGIN "event { id = ^4294967296; }", "4294967295"},
    {BEGIN "event { id = ^-1; }", "from 0"},
    {BEGIN "event { id = 1; } event { id = ^1; }", "already"},
    {BEGIN "event { id = 1; } event ^{ name = b; }", "no id"},
    {BEGIN "event { } event { id = ^0; }", "already"},
    {BEGIN "event { fields = ^uint8_t; }", "inheriting from struct"},
    {BEGIN "event { fields = ^nothing; }", "no type of this name"},
    {BEGIN "event { fields = { { ^integer, a } }; }", "abstract"},
    {"abstract_type a { parent = integer; size = 8; }" BEGIN "event { fields = { { ^a, a } }; }",
     "abstract"},
    {"type ^integer { parent = struct; }", "built in"},
    {"type ^7 { }", "name of the type"},
    {"type a { parent = uint8_t; } type ^a { parent = uint8_t; }", "before"},
    {"type a { parent = uint8_t; } type ^uint8_t { parent = integer; size = 8; }", "before"},
    {"type ^a { size = 8; }", "no parent"},
    {"type ^a { parent = integer; }", "size = bits"},
    {"type ^a { parent = struct; }", "fields ="},
    {"type ^a { parent = array; length = 1; }", "elem_type"},
    {"type ^a { parent = array; elem_type = uint8_t; }", "length = value"},
    {"type ^a { parent = sequence; elem_type = uint8_t; }", "length_type"},
    {"type ^a { parent = enum; size = 8; }", "no map"},
    {"type ^a { parent = gcc_bitfield; size = 8; }", "unit_size"},
    {"type ^a { parent = gcc_bitfield; size = 9; unit_size = 8; }", "does not fit"},
    {"type a { parent = gcc_bitfield; size = 9; unit_size = ^24; }", "power of two"},
    {"type a { parent = integer; ^length = 3; }", "no attribute length"},
    {"type a { parent = integer; size = 8; ^size = 8; }", "twice"},
    {"type a { parent = integer; size = ^65; }", "1 to 64"},
    {"type a { parent = integer; size = ^0; }", "1 to 64"},
    {"type a { parent = integer; size = 8; align = ^3; }", "power of two"},
    {"type a { parent = integer; size = 8; align = ^65536; }", "power of two"},
    {"type a { parent = integer; size = 8; base = ^3; }", "base 2, 8, 10 or 16"},
    {"type a { parent = integer; size = 8; byte_order = ^middle; }", "native, network, be or le"},
    {"type a { parent = string; encoding = ^EBCDIC; }", "UTF8 or ASCII"},
    {"type ^a { parent = string; align = 4; }", "begins at a byte"},
    {"type a { parent = array; length = ^-1; }", "fewer"},
    {"type a { parent = sequence; length_type = ^int8_t; }", "unsigned"},
    {"type ^a { parent = array; length = 65537; elem_type = type { parent = struct; fields = { }; "
     "}; }",
     "size zero"},
    {"type a { parent = enum; size = 8; map = { { ^256, a } }; }", "larger"},
    {"type a { parent = enum; size = 8; map = { { ^-1, a } }; }", "negative"},
    {"type a { parent = enum; size = 8; signed = true; map = { { 1, c }, { ^128, a } }; }",
     "larger"},
    {"type a { parent = enum; size = 8; signed = true; map = { { ^-129, a } }; }", "less"},
    {"type a { parent = enum; size = 8; signed = true; map = { { ^-9223372036854775809, a } }; }",
     "below"},
    {"type a { parent = enum; size = 8; map = { { 1 ^a } }; }", "expected ','"},
    {"type a { parent = struct; fields = { { uint8_t, a }, { uint8_t, ^a } }; }", "already"},
    {"type a { parent = struct; fields = { { uint8_t, ^3 } }; }", "name of the field"},
    {"type a { parent = struct; fields = { { uint8_t, a ^; } }; }", "expected '}'"},
    {"type a { parent = struct; fields = { ^uint8_t, a }; }", "expected '{'"},
};

static void refused_metadata_fails_with_position(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        struct scene scene;
        char metadata[1000];
        const char *mark = strchr(refusals[i].metadata, '^');
        size_t at = (size_t)(mark - refusals[i].metadata);
        (void)snprintf(metadata, sizeof metadata, "%.*s%s", (int)at, refusals[i].metadata,
                       mark + 1);
        parse(&scene, metadata);
        if (scene.status == TTR_OK || !strstr(scene.error.text, refusals[i].words) ||
            scene.error.offset != at)
            fail_msg("%s: %s (%d at %llu)", refusals[i].metadata, scene.error.text,
                     (int)scene.status, (unsigned long long)scene.error.offset);
        assert_non_null(strstr(scene.error.text, "\n"));
        end(&scene);
    }
}

static void error_shows_line_and_caret(void **state)
{
    (void)state;
    struct scene scene;
    parse(&scene, "trace { major = 1; minor = 1; }\ntype a { parent = integer; size = 99; }\n");
    assert_string_equal(scene.error.text, "metadata:2:35: expected a size from 1 to 64 bits\n"
                                          "   a { parent = integer; size = 99; }\n"
                                          "                                ^");
    end(&scene);
}

/* --- Hostile text --- */

static void nesting_beyond_32_levels_fails(void **state)
{
    (void)state;
    struct scene scene;
    char metadata[4000] = "type t0 { parent = struct; fields = { { uint8_t, a } }; }";
    size_t n = strlen(metadata);
    for (int i = 1; i < 40; i++)
        n +=
            (size_t)snprintf(metadata + n, sizeof metadata - n,
                             "type t%d { parent = array; length = 1; elem_type = t%d; }", i, i - 1);
    parse(&scene, metadata);
    assert_int_equal(scene.status, TTR_E_MALFORMED);
    assert_non_null(strstr(scene.error.text, "32 levels"));
    end(&scene);
    n = 0;
    for (int i = 0; i < 200; i++)
        n += (size_t)snprintf(metadata + n, sizeof metadata - n, "%s{ elem_type = type",
                              i ? "" : "type a ");
    parse(&scene, metadata);
    assert_int_equal(scene.status, TTR_E_MALFORMED);
    assert_non_null(strstr(scene.error.text, "32 levels"));
    end(&scene);
}

static void exponential_field_count_ends_at_limit(void **state)
{
    (void)state;
    struct scene scene;
    char metadata[4000] = "type t0 { parent = struct; fields = { { uint8_t, a } }; }";
    size_t n = strlen(metadata);
    for (int i = 1; i < 25; i++)
        n += (size_t)snprintf(metadata + n, sizeof metadata - n,
                              "type t%d { parent = struct; fields = { { t%d, a }, { t%d, b } }; }",
                              i, i - 1, i - 1);
    parse(&scene, metadata);
    assert_int_equal(scene.status, TTR_E_MALFORMED);
    assert_non_null(strstr(scene.error.text, "65536 fields"));
    end(&scene);
}

#define WHOLE                                                                                      \
    "trace { major = 1; minor = 1; }\nsection { name = s; event { header_type = type2; context { " \
    "event_size = true; } } }\n"                                                                   \
    "type e { parent = enum; size = 8; map = { { 1, one }, { 2, \"t\\167o\" } }; }\n"              \
    "event { name = x; fields = { { e, a }, { type { parent = sequence; length_type = uint8_t; "   \
    "elem_type = int7_t; }, b }, { string, c } }; }"

static bool parse_whole(const struct alloc *alloc)
{
    struct ctf_description description;
    ctf_description_init(&description, alloc);
    struct ctf_text text = {.p = WHOLE, .n = sizeof WHOLE - 1, .file = "metadata"};
    ttr_status status = rfc11_parse(&description, &text, NULL);
    assert_true(status == TTR_OK || status == TTR_E_NOMEM);
    ctf_description_free(&description);
    return status == TTR_OK;
}

static void each_failing_allocation_is_reported_without_leak(void **state)
{
    (void)state;
    support_fail_each(parse_whole);
}

/* Every prefix, and every text with one changed byte, returns a status and does not crash. */
static void damaged_metadata_does_not_crash(void **state)
{
    (void)state;
    struct scene scene;
    static const char marks[] = "{}[];,=.\"'\\0x19 -e\n/*#\x80";
    char metadata[] = WHOLE;
    uint64_t seed = 11;
    for (size_t n = 0; n < sizeof metadata; n++) {
        char cut[sizeof metadata];
        memcpy(cut, metadata, n);
        cut[n] = '\0';
        parse(&scene, cut);
        assert_true(scene.status == TTR_OK || scene.error.offset <= n);
        end(&scene);
    }
    for (int i = 0; i < 5000; i++) {
        char changed[sizeof metadata];
        memcpy(changed, metadata, sizeof metadata);
        for (uint64_t k = support_random(&seed) % 4 + 1; k > 0; k--)
            changed[support_random(&seed) % (sizeof metadata - 1)] =
                marks[support_random(&seed) % sizeof marks];
        parse(&scene, changed);
        assert_true(scene.status == TTR_OK || scene.status == TTR_E_MALFORMED ||
                    scene.status == TTR_E_UNSUPPORTED);
        end(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_metadata_fails_with_position),
        cmocka_unit_test(error_shows_line_and_caret),
        cmocka_unit_test(nesting_beyond_32_levels_fails),
        cmocka_unit_test(exponential_field_count_ends_at_limit),
        cmocka_unit_test(each_failing_allocation_is_reported_without_leak),
        cmocka_unit_test(damaged_metadata_does_not_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
