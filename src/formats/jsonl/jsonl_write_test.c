/* JSON Lines output. Expected lines are written by hand from the schema in docs/user/json.md. */
#include <stdio.h>

#include "base/buffer.h"
#include "support/json_check.h"
#include "model/context.h"
#include "support/support.h"
#include "support/writing.h"

static void event_prints_one_line_with_ordered_keys(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "jsonl", 0, NULL);
    ttr_thread_name(w.t, 7, 9, "server", "worker");
    writing_begin(&w, TTR_KIND_SPAN, 1650535872123456789, "read");
    ttr_event *event = ttr_event_attributes(w.builder);
    event->duration = 1500;
    event->cpu = 3;
    event->flags = TTR_EVENT_HAS_CPU | TTR_EVENT_CLAMPED | TTR_EVENT_PARTIAL;
    event->level = TTR_LEVEL_WARNING;
    ttr_add_uint(w.builder, "bytes", UINT64_MAX);
    ttr_add_text(w.builder, "path", "/a");
    writing_end(&w);
    writing_expect(&w, "{\"time_ns\":1650535872123456789,\"kind\":\"span\",\"provider\":\"prov\","
                       "\"category\":\"cat\",\"name\":\"read\","
                       "\"pid\":7,\"tid\":9,\"cpu\":3,\"dur_ns\":1500,\"level\":\"warning\","
                       "\"process\":\"server\",\"thread\":\"worker\","
                       "\"flags\":[\"clamped\",\"partial\"],\"fields\":{\"bytes\":"
                       "18446744073709551615,\"path\":\"/a\"}}\n");
}

static void missing_values_are_null_or_omitted(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "jsonl", 0, NULL);
    ttr_event_begin(w.builder, TTR_KIND_INSTANT, -5, NULL, "x");
    writing_end(&w);
    writing_expect(
        &w, "{\"time_ns\":-5,\"kind\":\"instant\",\"provider\":\"\",\"category\":\"\",\"name\":"
            "\"x\",\"pid\":null,\"tid\":null,\"cpu\":null,\"dur_ns\":null,\"fields\":{}}\n");
}

static void kind_specific_keys_are_printed(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "jsonl", 0, NULL);
    ttr_event_begin(w.builder, TTR_KIND_FLOW_STEP, 1, "", "f");
    ttr_event_attributes(w.builder)->link = UINT64_MAX;
    writing_end(&w);
    ttr_event_begin(w.builder, TTR_KIND_SWITCH, 2, "", "");
    ttr_event_set_thread(w.builder, 1, 2);
    ttr_id outgoing = ttr_event_attributes(w.builder)->thread;
    ttr_event_set_thread(w.builder, 3, 4);
    ttr_event_attributes(w.builder)->link = outgoing;
    ttr_event_attributes(w.builder)->tag = TTR_THREAD_BLOCKED;
    writing_end(&w);
    ttr_event_begin(w.builder, TTR_KIND_BLOB, 3, "", "b");
    writing_end(&w);
    writing_expect(
        &w, "{\"time_ns\":1,\"kind\":\"flow_step\",\"provider\":\"\",\"category\":\"\",\"name\":"
            "\"f\",\"pid\":null,\"tid\":null,\"cpu\":null,\"dur_ns\":null,\"id\":"
            "18446744073709551615,\"fields\":{}}\n"
            "{\"time_ns\":2,\"kind\":\"switch\",\"provider\":\"\",\"category\":\"\",\"name\":\"\","
            "\"pid\":3,\"tid\":4,"
            "\"cpu\":null,\"dur_ns\":null,\"from_pid\":1,\"from_tid\":2,\"tag\":\"blocked\","
            "\"fields\":{}}\n"
            "{\"time_ns\":3,\"kind\":\"blob\",\"provider\":\"\",\"category\":\"\",\"name\":\"b\","
            "\"pid\":null,\"tid\":null,\"cpu\":null,\"dur_ns\":null,\"tag\":0,\"fields\":{}}\n");
}

static void context_fields_are_in_own_object(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "jsonl", 0, NULL);
    ttr_event_begin(w.builder, TTR_KIND_INSTANT, 0, NULL, "x");
    ttr_add_field(w.builder, &(ttr_field){.name = {"vpid", 4},
                                          .group = TTR_GROUP_COMMON,
                                          .value = {.type = TTR_TYPE_INT, .v.s = 7}});
    ttr_add_field(w.builder, &(ttr_field){.name = {"a", 1},
                                          .group = TTR_GROUP_CONTEXT,
                                          .value = {.type = TTR_TYPE_STRUCT, .count = 1}});
    ttr_add_field(w.builder, &(ttr_field){.name = {"b", 1},
                                          .group = TTR_GROUP_CONTEXT,
                                          .depth = 1,
                                          .value = {.type = TTR_TYPE_NULL}});
    ttr_add_uint(w.builder, "vpid", 8);
    writing_end(&w);
    writing_expect(&w, "{\"time_ns\":0,\"kind\":\"instant\",\"provider\":\"\",\"category\":\"\","
                       "\"name\":\"x\",\"pid\":null,\"tid\":null,\"cpu\":null,\"dur_ns\":null,"
                       "\"fields\":{\"vpid\":8},\"context\":{\"vpid\":7,\"a\":{\"b\":null}}}\n");
}

static void track_and_source_are_printed_with_several_inputs(void **state)
{
    struct writing w;
    static const uint8_t id[16] = {0x0a, [15] = 0xff};
    (void)state;
    writing_open(&w, "jsonl", 0, NULL);
    for (uint16_t i = 1; i <= 2; i++) {
        assert_int_equal(context_add_source(w.t, i == 1 ? "a" : "b\"", "fxt"), i);
        ttr_event_begin(w.builder, TTR_KIND_INSTANT, 0, "", "");
        ttr_event_attributes(w.builder)->source = i;
        ttr_event_attributes(w.builder)->track =
            context_add_track(w.t, &(ttr_track){.number = 5, .source = i});
        ttr_event_attributes(w.builder)->keyword = UINT64_MAX;
        ttr_event_attributes(w.builder)->opcode = 3;
        ttr_event_attributes(w.builder)->activity = id;
        ttr_event_attributes(w.builder)->related = id;
        writing_end(&w);
    }
#define RARE                                                      \
    "\"keyword\":18446744073709551615,\"opcode\":3,\"activity\":" \
    "\"0a0000000000000000000000000000ff\",\"related\":\"0a0000000000000000000000000000ff\""
    writing_expect(
        &w, "{\"time_ns\":0,\"kind\":\"instant\",\"provider\":\"\",\"category\":\"\",\"name\":\"\","
            "\"pid\":null,\"tid\":null,\"cpu\":null,\"dur_ns\":null,\"track\":5," RARE
            ",\"fields\":{}}\n"
            "{\"time_ns\":0,\"kind\":\"instant\",\"provider\":\"\",\"category\":\"\",\"name\":\"\","
            "\"pid\":null,\"tid\":null,\"cpu\":null,\"dur_ns\":null,\"track\":5,\"source\":"
            "\"b\\\"\"," RARE ",\"fields\":{}}\n");
}

static void gap_prints_duration_and_counts(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "jsonl", 0, NULL);
    ttr_event_begin(w.builder, TTR_KIND_GAP, 5, "", "");
    ttr_event_attributes(w.builder)->link = 7;
    ttr_event_attributes(w.builder)->duration = 1500;
    writing_end(&w);
    ttr_event_begin(w.builder, TTR_KIND_GAP, 5, "", "");
    ttr_event_attributes(w.builder)->tag = TTR_GAP_PACKETS;
    ttr_event_attributes(w.builder)->sequence = 3;
    writing_end(&w);
#define GAP                                                                                      \
    "{\"time_ns\":5,\"kind\":\"gap\",\"provider\":\"\",\"category\":\"\",\"name\":\"\",\"pid\":" \
    "null,\"tid\":null,\"cpu\":null,\"dur_ns\":"
    writing_expect(&w, GAP "1500,\"id\":7,\"fields\":{}}\n" GAP
                           "null,\"id\":0,\"packets\":3,\"fields\":{}}\n");
}

static void definitions_are_not_printed(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "jsonl", 0, NULL);
    writing_event(&w, TTR_KIND_DEFINITION, 1, "");
    assert_int_equal(ttr_writer_events(w.writer), 0);
    writing_expect(&w, "");
}

static void losses_are_counted_exactly(void **state)
{
    struct writing w;
    const ttr_loss *losses;
    (void)state;
    writing_open(&w, "jsonl", 0, NULL);
    writing_event(&w, TTR_KIND_INSTANT, 1, "fine");
    assert_int_equal(ttr_losses(w.writer, &losses), 0);
    writing_everything(&w);
    /* 19 kinds are printed. Each has a name and a text that are not UTF-8, and three floats that
     * are not finite; "uint" occurs twice, and "x" twice in the struct, but its use outside is in
     * another object. */
    assert_int_equal(writing_lost(&w, "text.not-utf8"), 19 * 2);
    assert_int_equal(writing_lost(&w, "field.bytes"), 19);
    assert_int_equal(writing_lost(&w, "field.not-finite"), 19 * 3);
    assert_int_equal(writing_lost(&w, "field.duplicate"), 19 * 2);
    assert_int_equal(ttr_losses(w.writer, &losses), 4);
    writing_finish(&w);
    json_check_lines(w.text, w.n);
    writing_close(&w);
}

static void strict_writing_refuses_a_loss(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "jsonl", TTR_WRITE_STRICT, NULL);
    writing_event(&w, TTR_KIND_INSTANT, 1, "fine");
    assert_int_equal(w.status, TTR_OK);
    writing_event(&w, TTR_KIND_INSTANT, 1, "\xff");
    assert_int_equal(w.status, TTR_E_LOSS);
    assert_non_null(strstr(w.error.text, "leave TTR_WRITE_STRICT out"));
    writing_close(&w);
}

static void random_event_prints_strict_json(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct writing w;
        writing_open(&w, "jsonl", 0, NULL);
        writing_random(&w, seed, 100);
        writing_finish(&w);
        assert_int_equal(w.status, TTR_OK);
        json_check_lines(w.text, w.n);
        writing_close(&w);
    }
}

static void failed_memory_and_disk_return_errors(void **state)
{
    (void)state;
    writing_fails_cleanly("jsonl");
}

/* Collects the written bytes. */
struct pushed {
    struct buffer all;
};

static int64_t collect_pushed(void *ctx, const void *bytes, size_t n)
{
    struct pushed *pushed = ctx;
    buffer_add(&pushed->all, bytes, n);
    return (int64_t)n;
}

/* Writes an event with the field `first`, a list of `n` structs that contain the same name, and
 * `first` again. */
static void write_large(const char *format, uint32_t n, struct pushed *pushed)
{
    ttr_batch batch;
    ttr *t = ttr_new(NULL);
    ttr_builder *builder = ttr_builder_new(t);
    ttr_writer *out = ttr_create_push(t, collect_pushed, pushed, format, NULL, NULL);
    assert_true(builder && out);
    buffer_init(&pushed->all, alloc_default());
    ttr_event_begin(builder, TTR_KIND_INSTANT, 7, "c", "large");
    ttr_add_uint(builder, "first", 1);
    ttr_add_field(builder,
                  &(ttr_field){.name = {"list", 4}, .value = {.type = TTR_TYPE_ARRAY, .count = n}});
    for (uint32_t i = 0; i < n; i++) {
        ttr_add_field(builder, &(ttr_field){.name = {"", 0},
                                            .depth = 1,
                                            .value = {.type = TTR_TYPE_STRUCT, .count = 2}});
        ttr_add_field(builder, &(ttr_field){.name = {"first", 5},
                                            .depth = 2,
                                            .value = {.type = TTR_TYPE_UINT, .v.u = i}});
        ttr_add_field(builder, &(ttr_field){.name = {"text", 4},
                                            .depth = 2,
                                            .value = {.type = TTR_TYPE_TEXT,
                                                      .text = {"of some length", 14}}});
    }
    ttr_add_uint(builder, "first", 2);
    assert_int_equal(ttr_event_build(builder, &batch, NULL), TTR_OK);
    assert_int_equal(ttr_write(out, &batch, NULL), TTR_OK);
    assert_int_equal(ttr_finish(out, NULL), TTR_OK);
    ttr_builder_free(builder);
    ttr_free(t);
}

static void expect_large(const char *format, const char *begin, const char *element,
                         const char *end)
{
    const uint32_t n = 50000;
    struct pushed pushed;
    struct buffer text;
    buffer_init(&text, alloc_default());
    buffer_add_text(&text, begin);
    for (uint32_t i = 1; i < n; i++) {
        char one[80];
        (void)snprintf(one, sizeof one, element, ",", i);
        buffer_add_text(&text, one);
    }
    buffer_add_text(&text, end);
    write_large(format, n, &pushed);
    const size_t from = pushed.all.n > text.n ? pushed.all.n - text.n : 0;
    assert_int_equal(pushed.all.n - from, text.n);
    assert_memory_equal(pushed.all.bytes + from, text.bytes, text.n);
    buffer_free(&pushed.all);
    buffer_free(&text);
}

static void large_event_is_written_with_all_of_its_fields(void **state)
{
    (void)state;
    expect_large("jsonl",
                 "\"fields\":{\"first\":1,\"list\":[{\"first\":0,\"text\":\"of some length\"}",
                 "%s{\"first\":%u,\"text\":\"of some length\"}", "],\"first#2\":2}}\n");
    expect_large("text", "{ first = 1, list = [{ first = 0, text = \"of some length\" }",
                 "%s { first = %u, text = \"of some length\" }", "], first = 2 }\n");
    expect_large(
        "csv",
        "\"{\"\"first\"\":1,\"\"list\"\":[{\"\"first\"\":0,\"\"text\"\":\"\"of some length\"\"}",
        "%s{\"\"first\"\":%u,\"\"text\"\":\"\"of some length\"\"}", "],\"\"first#2\"\":2}\"\r\n");
    expect_large("babeltrace2",
                 "{ first = 1, list = [ [0] = { first = 0, text = \"of some length\" }",
                 "%1$s [%2$u] = { first = %2$u, text = \"of some length\" }", " ], first = 2 }\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_event_is_written_with_all_of_its_fields),
        cmocka_unit_test(event_prints_one_line_with_ordered_keys),
        cmocka_unit_test(missing_values_are_null_or_omitted),
        cmocka_unit_test(kind_specific_keys_are_printed),
        cmocka_unit_test(context_fields_are_in_own_object),
        cmocka_unit_test(track_and_source_are_printed_with_several_inputs),
        cmocka_unit_test(gap_prints_duration_and_counts),
        cmocka_unit_test(definitions_are_not_printed),
        cmocka_unit_test(losses_are_counted_exactly),
        cmocka_unit_test(strict_writing_refuses_a_loss),
        cmocka_unit_test(random_event_prints_strict_json),
        cmocka_unit_test(failed_memory_and_disk_return_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
