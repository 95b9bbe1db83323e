/* Traces of one context that have the same metadata: what is made of these is made once, which
 * shows in nothing but the memory it takes. */
#include <stdio.h>
#include <string.h>

#include <tracetta/read.h>

#include "formats/ctf/read/ctf_reader.h"
#include "support/support.h"

#define TRACES 100u
#define TRACE_MEMORY                                                                             \
    18000u /* bytes that each of many may take; where each had a class of its own it were 50,000 \
            */

#define HEAD(attribute)                                                                            \
    "/* CTF 1.8 */\n"                                                                              \
    "typealias integer { size = 8; align = 8; } := u8; typealias integer { size = 64; align = 8; " \
    "} := u64;\n"                                                                                  \
    "trace { major = 1; minor = 8; byte_order = le;" attribute " };\n"                             \
    "clock { name = c; freq = 1000000000; };\n"                                                    \
    "typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;\n"                    \
    "stream { id = 0; event.header := struct { u8 id; ts timestamp; }; };\n"

static const char metadata[] =
    HEAD("") "event { name = \"a\"; id = 0; stream_id = 0; fields := struct { u8 x; ts also; }; };"
             "event { name = \"b\"; id = 1; stream_id = 0; fields := struct { string y; }; };";

/* As above, but what the bytes mean is the other way round. */
static const char other_metadata[] =
    HEAD("") "event { name = \"b\"; id = 0; stream_id = 0; fields := struct { u8 x; ts also; }; };"
             "event { name = \"a\"; id = 1; stream_id = 0; fields := struct { string y; }; };";

static const char odd_metadata[] =
    HEAD("unheard_of = 5;") "event { name = \"a\"; id = 0; stream_id = 0; fields := struct { u8 x; "
                            "ts also; }; };"
                            "event { name = \"b\"; id = 1; stream_id = 0; fields := struct { "
                            "string y; }; };";

#define NUMBER(bits, roles)                                           \
    "{\"type\": \"fixed-length-unsigned-integer\", \"length\": " bits \
    ", \"alignment\": 8, \"byte-order\": \"little-endian\"" roles "}"
#define MEMBER(name, class) "{\"name\": \"" name "\", \"field-class\": " class "}"

static const char json_metadata[] =
    "\x1e{\"type\": \"preamble\", \"version\": 2}"
    "\x1e{\"type\": \"clock-class\", \"id\": \"c\", \"frequency\": 1000000000}"
    "\x1e{\"type\": \"data-stream-class\", \"default-clock-class-id\": \"c\", "
    "\"event-record-header-field-class\": {\"type\": \"structure\", \"member-classes\": "
    "[" MEMBER("id", NUMBER("8", ", \"roles\": [\"event-record-class-id\"]")) ", " MEMBER(
        "timestamp",
        NUMBER(
            "64", ", \"roles\": [\"default-clock-timestamp\"]")) "]}}"
                                                                 "\x1e{\"type\": "
                                                                 "\"event-record-class\", "
                                                                 "\"id\": 0, \"name\": \"a\", "
                                                                 "\"payload-field-class\": "
                                                                 "{\"type\": \"structure\", "
                                                                 "\"member-classes\": "
                                                                 "[" MEMBER("x", NUMBER("8", "")) ", " MEMBER(
                                                                     "also",
                                                                     NUMBER("64",
                                                                            "")) "]}}"
                                                                                 "\x1e{"
                                                                                 "\"type\": "
                                                                                 "\"event-"
                                                                                 "record-"
                                                                                 "class\", "
                                                                                 "\"id\": 1, "
                                                                                 "\"name\": "
                                                                                 "\"b\", "
                                                                                 "\"payload-"
                                                                                 "field-"
                                                                                 "class\": "
                                                                                 "{\"type\": "
                                                                                 "\"structure"
                                                                                 "\", "
                                                                                 "\"member-"
                                                                                 "classes\": "
                                                                                 "[" MEMBER(
                                                                                     "y", "{\"type"
                                                                                          "\": "
                                                                                          "\"null-"
                                                                                          "terminat"
                                                                                          "ed-"
                                                                                          "string\""
                                                                                          "}") "]}"
                                                                                               "}";

/* An event of each class, at 1 and 3 ns. */
static const uint8_t stream[] = "\0\1\0\0\0\0\0\0\0\7\2\0\0\0\0\0\0\0\1\3\0\0\0\0\0\0\0hey";

static ttr_reader *open_with(ttr *t, const char *text, const char *option)
{
    const ttr_file files[] = {{"metadata", text, strlen(text)}, {"s", stream, sizeof stream}};
    const char *const given[] = {option, NULL};
    const ttr_read_options options = {.size = sizeof options,
                                      .format_options = option ? given : NULL};
    return ttr_open_files(t, "trace", files, 2, &options, NULL);
}

static ttr_reader *open_one(ttr *t, const char *text)
{
    ttr_reader *reader = open_with(t, text, NULL);
    assert_non_null(reader);
    return reader;
}

static const struct ctf_trace_class *class_of(const ttr_reader *reader)
{
    const struct input *in =
        (const struct input *)(const void *)reader; /* a trace of one stream is its input */
    return ((const struct ctf_reader *)in->ctx)->trace->class;
}

static void expect_name(const ttr *t, const ttr_event *event, const char *name)
{
    assert_string_equal(ttr_text_get(t, event->name).p, name);
}

/* Reads both events; has_also: the field that is mapped to the clock is shown. */
static void expect_events(const ttr *t, ttr_reader *reader, const char *first, const char *second,
                          bool has_also)
{
    ttr_batch batch;
    ttr_fields fields;
    ttr_field field;
    assert_int_equal(ttr_read(reader, &batch, NULL), TTR_OK);
    assert_int_equal(batch.n, 2);
    const ttr_event *event = ttr_batch_at(&batch, 0);
    expect_name(t, event, first);
    assert_int_equal(event->time, 1);
    ttr_fields_begin(t, event, &fields);
    assert_true(ttr_fields_next(&fields, &field));
    assert_string_equal(field.name.p, "x");
    assert_int_equal(field.value.v.u, 7);
    assert_int_equal(ttr_fields_next(&fields, &field), has_also);
    if (has_also)
        assert_int_equal(field.value.v.u, 2);
    event = ttr_batch_at(&batch, 1);
    expect_name(t, event, second);
    assert_int_equal(event->time, 3);
    ttr_fields_begin(t, event, &fields);
    assert_true(ttr_fields_next(&fields, &field));
    assert_string_equal(field.name.p, "y");
    assert_int_equal(field.value.text.n, 3);
    assert_memory_equal(field.value.text.p, "hey", 3);
    assert_int_equal(ttr_read(reader, &batch, NULL), TTR_END);
}

static void traces_with_the_same_metadata_have_one_class(void **state)
{
    (void)state;
    static const char *const texts[] = {metadata, json_metadata};
    for (size_t i = 0; i < 2; i++) {
        ttr *t = ttr_new(NULL);
        ttr_reader *first = open_one(t, texts[i]), *second = open_one(t, texts[i]),
                   *other = open_one(t, other_metadata);
        assert_ptr_equal(class_of(first), class_of(second));
        assert_ptr_not_equal(class_of(first), class_of(other));
        expect_events(t, first, "a", "b", true);
        ttr_close(first); /* its class stays */
        expect_events(t, second, "a", "b", true);
        expect_events(t, other, "b", "a", true);
        ttr_reader *third = open_one(t, texts[i]);
        assert_ptr_equal(class_of(third), class_of(second));
        ttr_close(second);
        expect_events(t, third, "a", "b", true);
        ttr_close(third);
        ttr_close(other);
        ttr_reader *late = open_one(t, texts[i]); /* behind the last of them one is made anew */
        expect_events(t, late, "a", "b", true);
        ttr_close(late);
        ttr_free(t);
    }
}

static void many_traces_with_the_same_metadata_take_little_memory(void **state)
{
    (void)state;
    struct support_heap heap;
    support_heap_init(&heap, 0);
    const ttr_options options = {
        .size = sizeof options, .resize = heap.alloc.resize, .ctx = heap.alloc.ctx};
    ttr *t = ttr_new(&options);
    ttr_reader *readers[TRACES];
    readers[0] = open_one(t, metadata);
    expect_events(t, readers[0], "a", "b", true);
    const size_t before = heap.bytes;
    for (unsigned i = 1; i < TRACES; i++) {
        readers[i] = open_one(t, metadata);
        expect_events(t, readers[i], "a", "b", true);
    }
    if (heap.bytes - before > (size_t)TRACE_MEMORY * TRACES)
        fail_msg("%zu bytes", heap.bytes - before);
    for (unsigned i = 0; i < TRACES; i++)
        ttr_close(readers[i]);
    ttr_free(t);
    support_heap_check(&heap);
}

static void other_options_make_another_class(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    ttr_reader *shown = open_one(t, metadata), *hidden = open_with(t, metadata, "mapped=hidden"),
               *rounded = open_with(t, metadata, "time=double");
    assert_ptr_not_equal(class_of(shown), class_of(hidden));
    assert_ptr_not_equal(class_of(shown), class_of(rounded));
    expect_events(t, hidden, "a", "b", false);
    expect_events(t, shown, "a", "b", true);
    expect_events(t, rounded, "a", "b", true);
    ttr_close(hidden);
    ttr_close(rounded);
    ttr_close(shown);
    ttr_free(t);
}

static void what_is_odd_about_metadata_is_told_of_each_trace(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    ttr_reader *readers[] = {open_one(t, odd_metadata), open_one(t, odd_metadata)};
    for (size_t i = 0; i < 2; i++) {
        ttr_report report = {.size = sizeof report};
        expect_events(t, readers[i], "a", "b", true);
        assert_true(ttr_reader_report(readers[i], 0, &report));
        assert_int_equal(report.notes_n, 1);
        assert_string_equal(report.notes[0].code, "ctf.unknown-attribute");
    }
    ttr_close(readers[0]);
    ttr_close(readers[1]);
    ttr_free(t);
}

static bool open_two(const struct alloc *alloc)
{
    const ttr_options options = {
        .size = sizeof options, .resize = alloc->resize, .ctx = alloc->ctx};
    ttr_batch batch;
    ttr *t = ttr_new(&options);
    ttr_reader *first = t ? open_with(t, metadata, NULL) : NULL,
               *second = first ? open_with(t, metadata, NULL) : NULL;
    const bool is_fine = second && ttr_read(second, &batch, NULL) == TTR_OK &&
                         ttr_read(second, &batch, NULL) == TTR_END &&
                         ttr_read(first, &batch, NULL) == TTR_OK &&
                         ttr_read(first, &batch, NULL) == TTR_END;
    ttr_close(first);
    ttr_close(second);
    ttr_free(t);
    return is_fine;
}

static void each_allocation_may_fail_where_a_class_is_shared(void **state)
{
    (void)state;
    support_fail_each(open_two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_with_the_same_metadata_have_one_class),
        cmocka_unit_test(many_traces_with_the_same_metadata_take_little_memory),
        cmocka_unit_test(other_options_make_another_class),
        cmocka_unit_test(what_is_odd_about_metadata_is_told_of_each_trace),
        cmocka_unit_test(each_allocation_may_fail_where_a_class_is_shared)};
    return cmocka_run_group_tests_name("ctf_share", tests, NULL, NULL);
}
