/* Text output. Expected lines are written by hand from README.md. */
#include "support/support.h"

#include <stdio.h>

#include <tracetta/advanced.h>
#include <tracetta/build.h>
#include <tracetta/tracetta.h>

#include "model/context.h"
#include "support/writing.h"

static void open_with(struct writing *w, uint32_t flags, const char *option)
{
    writing_open(w, "text", flags, (const char *const[]){option, NULL});
}

static void anchored_event_prints_one_line_with_date(void **state)
{
    struct writing w;
    (void)state;
    open_with(&w, 0, NULL);
    ttr_thread_name(w.t, 7, 9, "server", "worker");
    writing_begin(&w, TTR_KIND_SPAN, 1650535872123456789, "read");
    ttr_event_attributes(w.builder)->duration = 1500;
    ttr_event_attributes(w.builder)->cpu = 3;
    ttr_event_attributes(w.builder)->flags = TTR_EVENT_HAS_CPU;
    ttr_add_uint(w.builder, "bytes", 512);
    ttr_add_text(w.builder, "path", "/a");
    writing_end(&w);
    writing_event(&w, TTR_KIND_INSTANT, 1650535872123458289, "");
    writing_event(&w, TTR_KIND_INSTANT, 1650535871999999999, "next");
    writing_expect(
        &w,
        "[2022-04-21 10:11:12.123456789] (+0.000000000) prov:cat read span 7/9 (server/worker) "
        "cpu=3 dur=0.000001500 { bytes = 512, path = \"/a\" }\n"
        "[2022-04-21 10:11:12.123458289] (+0.000001500) prov:cat - instant 7/9 (server/worker)\n"
        "[2022-04-21 10:11:11.999999999] (-0.123458290) prov:cat next instant 7/9 "
        "(server/worker)\n");
}

static void small_time_prints_as_seconds(void **state)
{
    struct writing w;
    (void)state;
    open_with(&w, 0, NULL);
    ttr_event_begin(w.builder, TTR_KIND_GAP, -1, NULL, NULL);
    writing_end(&w);
    ttr_event_begin(w.builder, TTR_KIND_COUNTER, 12000000345, "c", "n");
    writing_end(&w);
    writing_expect(&w, "[-0.000000001] (+0.000000000) - - gap -/- lost=unknown\n"
                       "[12.000000345] (+12.000000346) :c n counter -/-\n");
}

/* Prints one event of a source with the given kind of clock. */
static void expect_time_of_clock(uint8_t clock, int64_t time, const char *text)
{
    struct writing w;
    open_with(&w, 0, NULL);
    uint16_t source = context_add_source(w.t, "x", "test");
    w.t->sources[source].clock = clock;
    ttr_event_begin(w.builder, TTR_KIND_INSTANT, time, NULL, "a");
    ttr_event_attributes(w.builder)->source = source;
    writing_end(&w);
    writing_expect(&w, text);
}

static void clock_of_the_source_decides_between_date_and_seconds(void **state)
{
    (void)state;
    expect_time_of_clock(SOURCE_UNIX_TIME, 5000000000,
                         "[1970-01-01 00:00:05.000000000] (+0.000000000) - a instant -/-\n");
    expect_time_of_clock(SOURCE_OWN_TIME, 1650535872123456789,
                         "[1650535872.123456789] (+0.000000000) - a instant -/-\n");
    expect_time_of_clock(SOURCE_UNKNOWN, 5000000000,
                         "[5.000000000] (+0.000000000) - a instant -/-\n");
}

static void expect_times(const char *option, const char *text)
{
    struct writing w;
    open_with(&w, 0, option);
    ttr_event_begin(w.builder, TTR_KIND_INSTANT, 1, NULL, "a");
    writing_end(&w);
    ttr_event_begin(w.builder, TTR_KIND_INSTANT, INT64_MIN, NULL, "b");
    writing_end(&w);
    writing_expect(&w, text);
}

static void event_without_time_does_not_choose_time_style(void **state)
{
    struct writing w;
    (void)state;
    open_with(&w, 0, NULL);
    for (int i = 0; i < 2; i++) {
        ttr_event_begin(w.builder, TTR_KIND_OBJECT, i ? 1650535872000000001 : 0, NULL, "main");
        ttr_event_attributes(w.builder)->flags = i ? 0 : TTR_EVENT_NO_TIME;
        ttr_event_attributes(w.builder)->link = 255;
        ttr_event_attributes(w.builder)->tag = TTR_OBJECT_PROCESS;
        writing_end(&w);
    }
    writing_expect(
        &w,
        "[no time] (+0.000000000) - main object -/- id=255 object=process no_time\n"
        "[2022-04-21 10:11:12.000000001] (+0.000000000) - main object -/- id=255 object=process\n");
}

static void time_option_selects_format(void **state)
{
    (void)state;
    expect_times("time=iso",
                 "[1970-01-01 00:00:00.000000001] (+0.000000000) - a instant -/-\n"
                 "[1677-09-21 00:12:43.145224192] (-9223372036.854775809) - b instant -/-\n");
    expect_times("time=seconds",
                 "[0.000000001] (+0.000000000) - a instant -/-\n"
                 "[-9223372036.854775808] (-9223372036.854775809) - b instant -/-\n");
    expect_times("time=ns", "[1] (+0.000000000) - a instant -/-\n"
                            "[-9223372036854775808] (-9223372036.854775809) - b instant -/-\n");
    expect_times("time=delta",
                 "(+0.000000000) - a instant -/-\n(-9223372036.854775809) - b instant -/-\n");
}

static void disabled_fields_and_names_are_omitted(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "text", 0, (const char *const[]){"fields=no", "names=no", NULL});
    ttr_thread_name(w.t, 7, 9, "server", "worker");
    writing_begin(&w, TTR_KIND_INSTANT, 0, "x");
    ttr_add_uint(w.builder, "a", 1);
    writing_end(&w);
    writing_expect(&w, "[0.000000000] (+0.000000000) prov:cat x instant 7/9\n");
}

static void unknown_option_value_is_misuse(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_error error;
    const ttr_write_options options = {
        .size = sizeof options, .format_options = (const char *const[]){"time=tomorrow", NULL}};
    (void)state;
    assert_null(ttr_create_push(t, NULL, NULL, "text", &options, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    support_assert_text(
        error.text, strlen(error.text),
        "option text.time=tomorrow: unknown value; tracetta formats lists the values");
    ttr_free(t);
}

static void control_characters_are_escaped(void **state)
{
    struct writing w;
    (void)state;
    open_with(&w, 0, "time=ns");
    ttr_event_begin(w.builder, TTR_KIND_INSTANT, 0, "\x1b[31m", "a\nb\xff\xc3\xa9\xc2\x9b");
    ttr_add_text(w.builder, "q\"\\", "\t\r\x7f\xe2\x82");
    writing_end(&w);
    writing_expect(&w, "[0] (+0.000000000) :\\x1b[31m a\\nb\\xff\xc3\xa9\\xc2\\x9b instant -/- { "
                       "q\\\"\\\\ = \"\\t\\r\\x7f\\xe2\\x82\" }\n");
}

static void field_of_each_type_prints_in_its_form(void **state)
{
    struct writing w;
    (void)state;
    open_with(&w, 0, "time=delta");
    writing_begin(&w, TTR_KIND_INSTANT, 0, "x");
    ttr_add_null(w.builder, "n");
    ttr_add_bool(w.builder, "b", true);
    ttr_add_int(w.builder, "i", -1);
    ttr_add_float(w.builder, "f", 0.1);
    ttr_add_bytes(w.builder, "y", "\x00\xab", 2);
    ttr_add_field(
        w.builder,
        &(ttr_field){.name = {"p", 1},
                     .value = {.type = TTR_TYPE_UINT, .hint = TTR_DISPLAY_POINTER, .v.u = 255}});
    ttr_add_field(
        w.builder,
        &(ttr_field){.name = {"t", 1},
                     .value = {.type = TTR_TYPE_UINT, .hint = TTR_DISPLAY_THREAD, .v.u = 1}});
    ttr_add_field(w.builder,
                  &(ttr_field){.name = {"a", 1}, .value = {.type = TTR_TYPE_ARRAY, .count = 2}});
    ttr_add_field(w.builder, &(ttr_field){.depth = 1, .value = {.type = TTR_TYPE_UINT, .v.u = 1}});
    ttr_add_field(w.builder,
                  &(ttr_field){.depth = 1, .value = {.type = TTR_TYPE_STRUCT, .count = 2}});
    ttr_add_field(
        w.builder,
        &(ttr_field){.depth = 2, .name = {"k", 1}, .value = {.type = TTR_TYPE_UINT, .v.u = 2}});
    ttr_add_field(w.builder,
                  &(ttr_field){.depth = 2, .name = {"e", 1}, .value = {.type = TTR_TYPE_STRUCT}});
    ttr_add_field(w.builder, &(ttr_field){.name = {"z", 1}, .value = {.type = TTR_TYPE_ARRAY}});
    writing_end(&w);
    writing_expect(&w, "(+0.000000000) prov:cat x instant 7/9 { n = null, b = true, i = -1, f = "
                       "0.1, y = 0x00ab, p = 0xff, t = 9, "
                       "a = [1, { k = 2, e = { } }], z = [] }\n");
}

static void put_test_field(struct writing *w, const char *name, uint8_t group, ttr_value value)
{
    ttr_add_field(w->builder,
                  &(ttr_field){.name = {name, strlen(name)}, .group = group, .value = value});
}

static void labelled_numbers_print_names_and_bases(void **state)
{
    struct writing w;
    (void)state;
    open_with(&w, 0, "time=delta");
    writing_begin(&w, TTR_KIND_INSTANT, 0, "x");
    put_test_field(&w, "e", TTR_GROUP_COMMON,
                   (ttr_value){.type = TTR_TYPE_UINT,
                               .hint = TTR_DISPLAY_ENUM,
                               .count = 1,
                               .text = {"R\n", 2},
                               .v.u = 1});
    put_test_field(
        &w, "u", TTR_GROUP_COMMON,
        (ttr_value){.type = TTR_TYPE_UINT, .hint = TTR_DISPLAY_ENUM, .text = {"", 0}, .v.u = 2});
    put_test_field(&w, "f", TTR_GROUP_CONTEXT,
                   (ttr_value){.type = TTR_TYPE_UINT,
                               .hint = TTR_DISPLAY_FLAGS,
                               .count = 1,
                               .text = {"A", 1},
                               .v.u = 10});
    put_test_field(&w, "h", 0,
                   (ttr_value){.type = TTR_TYPE_INT, .base = 16, .bits = 12, .v.s = -2});
    put_test_field(&w, "o", 0,
                   (ttr_value){.type = TTR_TYPE_UINT, .base = 8, .bits = 32, .v.u = 15});
    put_test_field(&w, "b", 0, (ttr_value){.type = TTR_TYPE_UINT, .base = 2, .v.u = 5});
    put_test_field(&w, "z", 0, (ttr_value){.type = TTR_TYPE_UINT, .base = 16, .bits = 8});
    put_test_field(&w, "w", 0,
                   (ttr_value){.type = TTR_TYPE_TEXT,
                               .hint = TTR_DISPLAY_DECIMAL,
                               .text = {"18446744073709551616", 20}});
    put_test_field(
        &w, "v", 0,
        (ttr_value){.type = TTR_TYPE_TEXT, .hint = TTR_DISPLAY_DECIMAL, .text = {"1 [", 3}});
    put_test_field(&w, "n", 0, (ttr_value){.type = TTR_TYPE_NULL, .hint = TTR_DISPLAY_ABSENT});
    writing_end(&w);
    writing_expect(&w, "(+0.000000000) prov:cat x instant 7/9 { e = R\\n (1), u = 2 } { f = A "
                       "(0xa) } { h = 0xffe, o = 017, b = 0b101, z = 0x0, "
                       "w = 18446744073709551616, v = \"1 [\", n = absent }\n");
}

static void attributes_of_each_kind_are_printed(void **state)
{
    struct writing w;
    (void)state;
    open_with(&w, 0, "time=ns");
    ttr_event_begin(w.builder, TTR_KIND_ASYNC_END, 0, "", "f");
    ttr_event_attributes(w.builder)->link = UINT64_MAX;
    ttr_event_attributes(w.builder)->flags = TTR_EVENT_PARTIAL | TTR_EVENT_NO_TIME;
    ttr_event_attributes(w.builder)->level = TTR_LEVEL_FATAL;
    writing_end(&w);
    ttr_event_begin(w.builder, TTR_KIND_SWITCH, 0, "", "");
    ttr_event_set_thread(w.builder, 1, 2);
    ttr_event_attributes(w.builder)->link = ttr_event_attributes(w.builder)->thread;
    ttr_event_set_thread(w.builder, 3, 4);
    ttr_event_attributes(w.builder)->tag = TTR_THREAD_DYING;
    writing_end(&w);
    ttr_event_begin(w.builder, TTR_KIND_GAP, 0, "", "");
    ttr_event_attributes(w.builder)->link = 7;
    ttr_event_attributes(w.builder)->duration = 1500;
    writing_end(&w);
    ttr_event_begin(w.builder, TTR_KIND_GAP, 0, "", "");
    ttr_event_attributes(w.builder)->tag = TTR_GAP_PACKETS;
    ttr_event_attributes(w.builder)->sequence = 3;
    writing_end(&w);
    writing_expect(&w, "[no time] (+0.000000000) - f async_end -/- id=0xffffffffffffffff "
                       "level=fatal partial no_time\n"
                       "[0] (+0.000000000) - - switch 3/4 from=1/2 state=dying\n"
                       "[0] (+0.000000000) - - gap -/- dur=0.000001500 lost=7\n"
                       "[0] (+0.000000000) - - gap -/- packets=3\n");
}

static void color_flag_adds_escape_sequences(void **state)
{
    struct writing w;
    (void)state;
    open_with(&w, TTR_WRITE_COLOR, "time=ns");
    writing_begin(&w, TTR_KIND_SPAN, 5, "x");
    ttr_add_uint(w.builder, "a", 1);
    writing_end(&w);
    writing_expect(&w, "\x1b[2m[5] (+0.000000000) \x1b[0mprov:cat \x1b[1mx\x1b[0m "
                       "\x1b[32mspan\x1b[0m 7/9 dur=0.000000000 "
                       "{ \x1b[36ma\x1b[0m = 1 }\n");
}

static void random_event_prints_one_printable_line(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct writing w;
        uint64_t lines = 0;
        open_with(&w, 0, NULL);
        unsigned gaps = writing_random(&w, seed, 100);
        uint64_t events = ttr_writer_events(w.writer);
        writing_finish(&w);
        assert_int_equal(w.status, TTR_OK);
        for (size_t i = 0; i < w.n; i++) {
            lines += w.text[i] == '\n';
            assert_true(w.text[i] == '\n' || (unsigned char)w.text[i] >= 0x20);
        }
        assert_int_equal(lines, events + gaps);
        writing_close(&w);
    }
}

static void failed_memory_and_disk_return_errors(void **state)
{
    (void)state;
    writing_fails_cleanly("text");
}

/* Texts are checked 16 bytes at a time: a character that needs escaping must be found at every
 * position, and no other may be escaped. */
static void special_character_is_escaped_at_every_position(void **state)
{
    static const struct {
        const char *in, *out;
    } cares[] = {{"\"", "\\\""},
                 {"\\", "\\\\"},
                 {"\n", "\\n"},
                 {"\x1f", "\\x1f"},
                 {"\x7f", "\\x7f"},
                 {"\xff", "\\xff"},
                 {"\xc2\x9b", "\\xc2\\x9b"},
                 {"\xc3\xa4", "\xc3\xa4"},
                 {"~", "~"}};
    static char expected[64 * 1024];
    struct writing w;
    size_t n = 0;
    (void)state;
    writing_open(&w, "text", 0, (const char *const[]){"time=delta", NULL});
    for (size_t i = 0; i < sizeof cares / sizeof *cares; i++)
        for (int before = 0; before < 34; before += 1 + before % 3)
            for (int following = 0; following < 34; following += 11) {
                char text[80];
                (void)snprintf(text, sizeof text, "%.*s%s%.*s", before,
                               "abcdefghijklmnopqrstuvwxyz ABCDEFG", cares[i].in, following,
                               "0123456789/0123456789/0123456789/!");
                ttr_event_begin(w.builder, TTR_KIND_INSTANT, 1, NULL, "x");
                ttr_add_text(w.builder, "s", text);
                writing_end(&w);
                n += (size_t)snprintf(expected + n, sizeof expected - n,
                                      "(+0.000000000) - x instant -/- { s = \"%.*s%s%.*s\" }\n",
                                      before, "abcdefghijklmnopqrstuvwxyz ABCDEFG", cares[i].out,
                                      following, "0123456789/0123456789/0123456789/!");
                assert_true(n < sizeof expected);
            }
    writing_expect(&w, expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_character_is_escaped_at_every_position),
        cmocka_unit_test(anchored_event_prints_one_line_with_date),
        cmocka_unit_test(small_time_prints_as_seconds),
        cmocka_unit_test(clock_of_the_source_decides_between_date_and_seconds),
        cmocka_unit_test(event_without_time_does_not_choose_time_style),
        cmocka_unit_test(time_option_selects_format),
        cmocka_unit_test(disabled_fields_and_names_are_omitted),
        cmocka_unit_test(unknown_option_value_is_misuse),
        cmocka_unit_test(control_characters_are_escaped),
        cmocka_unit_test(field_of_each_type_prints_in_its_form),
        cmocka_unit_test(labelled_numbers_print_names_and_bases),
        cmocka_unit_test(attributes_of_each_kind_are_printed),
        cmocka_unit_test(color_flag_adds_escape_sequences),
        cmocka_unit_test(random_event_prints_one_printable_line),
        cmocka_unit_test(failed_memory_and_disk_return_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
