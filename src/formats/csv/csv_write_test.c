/* CSV output. Expected lines are written by hand from README.md and RFC 4180. */
#include "support/json_check.h"
#include "support/support.h"
#include "support/writing.h"

#include <stdio.h>

#include <tracetta/advanced.h>
#include <tracetta/build.h>
#include <tracetta/tracetta.h>

#define HEADER                                                                                     \
    "time_ns,kind,provider,category,name,pid,tid,cpu,dur_ns,id,level,process,thread,track,source," \
    "flags,"                                                                                       \
    "keyword,opcode,activity,related,event_id,event_version,fields"

static void empty_input_writes_header_only(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "csv", 0, NULL);
    writing_expect(&w, HEADER "\r\n");
}

static void event_properties_fill_their_columns(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "csv", 0, (const char *const[]){"eol=lf", NULL});
    ttr_thread_name(w.t, 7, 9, "server", "a, b");
    writing_begin(&w, TTR_KIND_SPAN, 1650535872123456789, "say \"hi\"");
    ttr_event_attributes(w.builder)->duration = 1500;
    ttr_event_attributes(w.builder)->cpu = 3;
    ttr_event_attributes(w.builder)->level = TTR_LEVEL_INFO;
    ttr_event_attributes(w.builder)->flags =
        TTR_EVENT_HAS_CPU | TTR_EVENT_CLAMPED | TTR_EVENT_PARTIAL;
    ttr_add_text(w.builder, "path", "/\"a\"");
    writing_end(&w);
    ttr_event_begin(w.builder, TTR_KIND_GAP, -1, NULL, " x");
    writing_end(&w);
    writing_expect(
        &w,
        HEADER "\n"
               "1650535872123456789,span,prov,cat,\"say \"\"hi\"\"\",7,9,3,1500,,info,server,\"a, "
               "b\",,,clamped partial,,,,,,,\"{\"\"path\"\":\"\"/\\\"\"a\\\"\"\"\"}\"\n"
               "-1,gap,,,\" x\",,,,,0,,,,,,,,,,,,,{}\n");
}

static void context_fields_precede_payload_fields(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "csv", 0, NULL);
    writing_begin(&w, TTR_KIND_INSTANT, 0, "x");
    ttr_add_field(w.builder, &(ttr_field){.name = {"a", 1},
                                          .group = TTR_GROUP_COMMON,
                                          .value = {.type = TTR_TYPE_UINT, .v.u = 1}});
    ttr_add_uint(w.builder, "b", 2);
    writing_end(&w);
    assert_int_equal(writing_lost(&w, "field.context"), 1);
    writing_finish(&w);
    assert_non_null(strstr(w.text, "{\"\"a\"\":1,\"\"b\"\":2}"));
    writing_close(&w);
}

static void losses_are_counted_exactly(void **state)
{
    struct writing w;
    const ttr_loss *found;
    (void)state;
    writing_open(&w, "csv", 0, NULL);
    writing_event(&w, TTR_KIND_BEGIN, 0, "fine");
    assert_int_equal(ttr_losses(w.writer, &found), 0);
    writing_event(&w, TTR_KIND_SWITCH, 0, "");
    writing_event(&w, TTR_KIND_BLOB, 0, "\xff");
    writing_begin(&w, TTR_KIND_END, 0, "");
    ttr_event_attributes(w.builder)->name = ttr_text_add(w.t, "a\0b\0", 4);
    ttr_event_attributes(w.builder)->opcode = 1;
    writing_end(&w);
    assert_int_equal(ttr_losses(w.writer, &found), 4);
    assert_int_equal(writing_lost(&w, "switch.outgoing"), 1);
    assert_int_equal(writing_lost(&w, "event.tag"), 1);
    assert_int_equal(writing_lost(&w, "text.not-utf8"), 1);
    assert_int_equal(writing_lost(&w, "text.nul"), 1);
    writing_expect(&w, HEADER "\r\n"
                              "0,begin,prov,cat,fine,7,9,,,,,,,,,,,,,,,,{}\r\n"
                              "0,switch,prov,cat,,7,9,,,,,,,,,,,,,,,,{}\r\n"
                              "0,blob,prov,cat,\xef\xbf\xbd,7,9,,,,,,,,,,,,,,,,{}\r\n"
                              "0,end,prov,cat,\"a\xef\xbf\xbd"
                              "b\xef\xbf\xbd\",7,9,,,,,,,,,,,1,,,,,{}\r\n");
}

/* Parses the field at *p by the grammar of RFC 4180 into `to`. Returns the byte after it. */
static char parse_csv_field(const char **p, char *to, size_t *n)
{
    bool quoted = **p == '"';
    *n = 0;
    *p += quoted;
    while (quoted ? (*p)[0] != '"' || (*p)[1] == '"' : **p != ',' && **p != '\r') {
        if (**p == '"' && !quoted)
            fail_msg("a quote in a bare field at %s", *p);
        assert_true(**p != '\0');
        *p += quoted && **p == '"';
        to[(*n)++] = *(*p)++;
    }
    *p += quoted;
    return *(*p)++;
}

static void random_event_has_twenty_three_valid_columns(void **state)
{
    static char field[1 << 16];
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct writing w;
        uint64_t lines = 0;
        size_t n;
        writing_open(&w, "csv", 0, NULL);
        unsigned gaps = writing_random(&w, seed, 100);
        uint64_t events = ttr_writer_events(w.writer);
        writing_finish(&w);
        assert_int_equal(w.status, TTR_OK);
        for (const char *p = w.text; p < w.text + w.n; lines++) {
            for (int i = 0; i < 22; i++)
                assert_int_equal(parse_csv_field(&p, field, &n), ',');
            assert_int_equal(parse_csv_field(&p, field, &n), '\r');
            assert_int_equal(*p++, '\n');
            assert_true(lines == 0 || json_check(field, n));
        }
        assert_int_equal(lines, events + gaps + 1);
        writing_close(&w);
    }
}

static void formula_is_quoted_on_request(void **state)
{
    (void)state;
    for (unsigned is_quoted = 0; is_quoted < 2; is_quoted++) {
        struct writing w;
        const char *option = is_quoted ? "formulas=quoted" : "formulas=raw";
        writing_open(&w, "csv", 0, (const char *const[]){"eol=lf", option, NULL});
        for (const char *const *name = (const char *const[]){"=1+1", "+1", "-1", "@x", "a=1", NULL};
             *name; name++) {
            ttr_event_begin(w.builder, TTR_KIND_INSTANT, -1, NULL, *name);
            writing_end(&w);
        }
        static const char end[] = ",,,,,,,,,,,,,,,,,,{}\n";
        char text[2000];
        const char *form = is_quoted ? "%s\n"
                                       "-1,instant,,,\"'=1+1\"%s-1,instant,,,\"'+1\"%s"
                                       "-1,instant,,,\"'-1\"%s-1,instant,,,\"'@x\"%s"
                                       "-1,instant,,,a=1%s"
                                     : "%s\n"
                                       "-1,instant,,,=1+1%s-1,instant,,,+1%s-1,instant,,,-1%s"
                                       "-1,instant,,,@x%s-1,instant,,,a=1%s";
        (void)snprintf(text, sizeof text, form, HEADER, end, end, end, end, end);
        writing_expect(&w, text);
    }
}

static void unknown_line_end_is_misuse(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_error error;
    const ttr_write_options options = {.size = sizeof options,
                                       .format_options = (const char *const[]){"eol=cr", NULL}};
    (void)state;
    assert_null(ttr_create_push(t, NULL, NULL, "csv", &options, &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    ttr_free(t);
}

static void failed_memory_and_disk_return_errors(void **state)
{
    (void)state;
    writing_fails_cleanly("csv");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(context_fields_precede_payload_fields),
        cmocka_unit_test(empty_input_writes_header_only),
        cmocka_unit_test(event_properties_fill_their_columns),
        cmocka_unit_test(losses_are_counted_exactly),
        cmocka_unit_test(random_event_has_twenty_three_valid_columns),
        cmocka_unit_test(formula_is_quoted_on_request),
        cmocka_unit_test(unknown_line_end_is_misuse),
        cmocka_unit_test(failed_memory_and_disk_return_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
