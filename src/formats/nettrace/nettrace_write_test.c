/* Writer: golden bytes derived from the specification, and the dump of what the reader returns. */
#include <stdio.h>

#include "support/dump.h"
#include "support/hexa.h"
#include "model/event_copy.h"
#include "support/support.h"
#include "support/writing.h"

static const char *const v4[] = {"version=4", NULL};
static const char *const v5[] = {"version=5", NULL};
static const char *const v6[] = {"version=6", NULL};

/* 2024-02-29T23:59:58.999001000Z */
#define WHEN INT64_C(1709251198999001000)

/* Returns the canonical dump of all written events. */
static void dump_written(struct writing *w, struct dump *dump)
{
    ttr *t = ttr_new(NULL);
    ttr_read_options options = {.size = sizeof options, .from = "nettrace"};
    dump_init(dump);
    ttr_reader *reader = ttr_open_memory(t, w->text, w->n, "written", &options, &dump->error);
    if (!reader)
        fail_msg("%s", dump->error.text);
    dump_events(dump, t, reader);
    dump_report(dump, reader);
    dump_names(dump, t);
    buffer_add_byte(&dump->text, 0);
    ttr_close(reader);
    ttr_free(t);
}

/* Finishes the trace and compares its dump. */
static void expect_dump(struct writing *w, const char *expected)
{
    struct dump dump;
    writing_finish(w);
    assert_int_equal(w->status, TTR_OK);
    dump_written(w, &dump);
    if (strcmp((const char *)dump.text.bytes, expected) != 0)
        fail_msg("expected\n%s--- found\n%s", expected, (const char *)dump.text.bytes);
    dump_free(&dump);
    writing_close(w);
}

/* Finishes the trace and compares its bytes with a vector. */
static void expect_bytes(struct writing *w, const char *vector)
{
    struct hexa hexa;
    char message[200];
    writing_finish(w);
    if (!hexa_parse(vector, strlen(vector), &hexa, message, sizeof message))
        fail_msg("%s", message);
    for (size_t i = 0; i < hexa.n && i < w->n; i++)
        if (hexa.bytes[i] != (uint8_t)w->text[i])
            fail_msg("byte %zu is %02x, expected %02x", i, (uint8_t)w->text[i], hexa.bytes[i]);
    assert_int_equal(w->n, hexa.n);
    hexa_free(&hexa);
    writing_close(w);
}

static void write_golden_event(struct writing *w)
{
    ttr_event_begin(w->builder, TTR_KIND_INSTANT, WHEN, NULL, "Tick");
    ttr_event_set_provider(w->builder, "Prov");
    ttr_event_set_thread(w->builder, 4321, 99);
    ttr_event_attributes(w->builder)->level = TTR_LEVEL_INFO;
    ttr_event_attributes(w->builder)->keyword = 0x12;
    ttr_event_attributes(w->builder)->opcode = 10;
    ttr_add_uint(w->builder, "n", 7);
    ttr_add_text(w->builder, "s", "ab");
    writing_end(w);
}

#define DATE                                                                          \
    "u16le 2024 u16le 2 u16le 4 u16le 29 u16le 23 u16le 59 u16le 58 u16le 999 u64le " \
    "1709251198999000000 u64le 1000000000 u32le 8\n"

static void v6_event_has_golden_bytes(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "nettrace", 0, v6);
    write_golden_event(&w);
    expect_bytes(
        &w, "str \"Nettrace\" u32le 0 u32le 6 u32le 0\n"
            "u32le @tracee-@trace+16777216\n" /* a block of kind 1 */
            "@trace\n" DATE "u32le 1 varint 9 str \"ProcessId\" varint 4 str \"4321\"\n"
            "@tracee\n"
            "u32le @metae-@meta+50331648\n" /* metadata */
            "@meta\n"
            "u16le 0\n"
            "u16le @rowe-@row\n"
            "@row\n"
            "varint 1 varint 4 str \"Prov\" varint 1 varint 4 str \"Tick\"\n"
            "u16le 2  u16le 3 varint 1 str \"n\" u8 12  u16le 3 varint 1 str \"s\" u8 18\n"
            "u16le 13  u8 1 u8 10  u8 3 u64le 0x12  u8 8 u8 4\n" /* opcode, keywords, level */
            "@rowe\n"
            "@metae\n"
            "u32le @threadse-@threads+100663296\n" /* threads */
            "@threads\n"
            "u16le 6 varint 1 u8 2 varint 4321 u8 3 varint 99\n"
            "@threadse\n"
            "u32le @eve-@ev+33554432\n" /* events */
            "@ev\n"
            /* sorted, with metadata, capture (sequence 1, thread 1, no processor), thread, size */
            "u16le 20 u16le 1 u64le 1709251198999001000 u64le 1709251198999001000\n"
            "C7 varint 1 varint 0 varint 1 varint 4294967295 varint 1 varint 1709251198999001000 "
            "varint 14\n"
            "u64le 7 utf16le \"ab\" u16le 0\n"
            "@eve\n"
            "u32le @pointe-@point+67108864\n" /* a sequence point */
            "@point\n"
            "u64le 1709251198999001000 u32le 0 u32le 1 varint 1 varint 1\n"
            "@pointe\n"
            "u32le 0\n");
}

#define TRACE4                                            \
    "str \"Nettrace\" str32le \"!FastSerialization.1\"\n" \
    "05 05 01 u32le 4 u32le 4 str32le \"Trace\" 06\n" DATE "u32le 4321 u32le 0 u32le 0 06\n"

#define EVENT4                                                                               \
    "05 05 01 u32le 2 u32le 2 str32le \"EventBlock\" 06 u32le @eve-@ev pad 4\n"              \
    "@ev\n"                                                                                  \
    "u16le 20 u16le 1 u64le 1709251198999001000 u64le 1709251198999001000\n"                 \
    "C7 varint 1 varint 0 varint 99 varint 4294967295 varint 99 varint 1709251198999001000 " \
    "varint 14\n"                                                                            \
    "u64le 7 utf16le \"ab\" u16le 0\n"                                                       \
    "@eve\n"                                                                                 \
    "06\n"                                                                                   \
    "05 05 01 u32le 2 u32le 2 str32le \"SPBlock\" 06 u32le 24 pad 4\n"                       \
    "u64le 1709251198999001000 u32le 1 u64le 99 u32le 1 06\n"                                \
    "01\n"

#define FIELDS4                                                                                   \
    "u32le 1 utf16le \"Prov\" u16le 0 u32le 1 utf16le \"Tick\" u16le 0 u64le 0x12 u32le 0 u32le " \
    "4\n"                                                                                         \
    "u32le 2 u32le 12 utf16le \"n\" u16le 0 u32le 18 utf16le \"s\" u16le 0\n"

static void v4_event_has_golden_bytes(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "nettrace", 0, v4);
    write_golden_event(&w);
    assert_int_equal(writing_lost(&w, "event.opcode"), 1);
    /* sorted, with capture (sequence -1, thread 0, no processor), size */
    expect_bytes(&w, TRACE4
                 "05 05 01 u32le 2 u32le 2 str32le \"MetadataBlock\" 06 u32le @metae-@meta pad 4\n"
                 "@meta\n"
                 "u16le 20 u16le 1 u64le 0 u64le 0\n"
                 "C2 varint 4294967295 varint 0 varint 4294967295 varint 0 varint 64\n" FIELDS4
                 "@metae\n"
                 "06\n" EVENT4);
}

static void v5_opcode_is_in_tag_after_fields(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "nettrace", 0, v5);
    write_golden_event(&w);
    expect_bytes(&w, TRACE4
                 "05 05 01 u32le 2 u32le 2 str32le \"MetadataBlock\" 06 u32le @metae-@meta pad 4\n"
                 "@meta\n"
                 "u16le 20 u16le 1 u64le 0 u64le 0\n"
                 "C2 varint 4294967295 varint 0 varint 4294967295 varint 0 varint 70\n" FIELDS4
                 "u32le 1 u8 1 u8 10\n"
                 "@metae\n"
                 "06\n" EVENT4);
}

/* The specification has the name after the type; all programs have it before (README.md,
 * NET-META-4). */
static void v5_arrays_are_in_tag(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "nettrace", 0, v5);
    ttr_event_begin(w.builder, TTR_KIND_INSTANT, WHEN, NULL, "Tick");
    ttr_event_set_provider(w.builder, "Prov");
    ttr_event_set_thread(w.builder, 4321, 99);
    ttr_add_field(w.builder,
                  &(ttr_field){.name = {"a", 1}, .value = {.type = TTR_TYPE_ARRAY, .count = 2}});
    for (uint64_t i = 1; i < 3; i++)
        ttr_add_field(
            w.builder,
            &(ttr_field){.depth = 1, .value = {.type = TTR_TYPE_UINT, .bits = 16, .v.u = i}});
    writing_end(&w);
    expect_bytes(&w, TRACE4
                 "05 05 01 u32le 2 u32le 2 str32le \"MetadataBlock\" 06 u32le @metae-@meta pad 4\n"
                 "@meta\n"
                 "u16le 20 u16le 1 u64le 0 u64le 0\n"
                 "C2 varint 4294967295 varint 0 varint 4294967295 varint 0 varint 73\n"
                 "u32le 1 utf16le \"Prov\" u16le 0 u32le 1 utf16le \"Tick\" u16le 0 u64le 0 u32le "
                 "0 u32le 0\n"
                 "u32le 0\n"
                 "u32le 20 u8 2  u32le 1  u32le 16 utf16le \"a\" u16le 0 u32le 19 u32le 8\n"
                 "@metae\n"
                 "06\n"
                 "05 05 01 u32le 2 u32le 2 str32le \"EventBlock\" 06 u32le @eve-@ev pad 4\n"
                 "@ev\n"
                 "u16le 20 u16le 1 u64le 1709251198999001000 u64le 1709251198999001000\n"
                 "C7 varint 1 varint 0 varint 99 varint 4294967295 varint 99 varint "
                 "1709251198999001000 varint 6\n"
                 "u16le 2 u16le 1 u16le 2\n"
                 "@eve\n"
                 "06\n"
                 "05 05 01 u32le 2 u32le 2 str32le \"SPBlock\" 06 u32le 24 pad 4\n"
                 "u64le 1709251198999001000 u32le 1 u64le 99 u32le 1 06\n"
                 "01\n");
}

static void trace_without_events_is_valid(void **state)
{
    static const char *const *const versions[] = {v4, v5, v6};
    struct writing w;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        writing_open(&w, "nettrace", 0, versions[i]);
        expect_dump(&w, "");
    }
}

static void kinds_become_opcodes_or_fields(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "nettrace", 0, v6);
    writing_event(&w, TTR_KIND_BEGIN, 5, "work");
    writing_begin(&w, TTR_KIND_SPAN, 6, "part");
    ttr_event_attributes(w.builder)->duration = 3;
    writing_end(&w);
    writing_begin(&w, TTR_KIND_COUNTER, 7, "queue");
    ttr_add_int(w.builder, "length", -4);
    writing_end(&w);
    writing_event(&w, TTR_KIND_END, 9, "work");
    assert_int_equal(writing_lost(&w, "kind.pair"), 2);
    assert_int_equal(writing_lost(&w, "kind.other"), 2);
    assert_int_equal(writing_lost(&w, "event.category"), 4);
    expect_dump(&w, "async_begin time=5 id=13495636139133155407 provider=prov name=work thread=7/9 "
                    "opcode=1 seq=1 {category=\"cat\"}\n"
                    "instant time=6 provider=prov name=part thread=7/9 seq=2 {kind=\"span\", "
                    "duration=3u, category=\"cat\"}\n"
                    "instant time=7 provider=prov name=queue thread=7/9 seq=3 {length=-4, "
                    "kind=\"counter\", category=\"cat\"}\n"
                    "async_end time=9 id=13495636139133155407 provider=prov name=work thread=7/9 "
                    "opcode=2 seq=4 {category=\"cat\"}\n");
}

static void begin_event_of_provider(struct writing *w, int64_t time, const char *name)
{
    ttr_event_begin(w->builder, TTR_KIND_INSTANT, time, NULL, name);
    ttr_event_set_provider(w->builder, "p");
    ttr_event_set_thread(w->builder, 1, 2);
}

static void invalid_text_is_replaced_and_counted(void **state)
{
    static const char *const *const versions[] = {v4, v6};
    struct writing w;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        writing_open(&w, "nettrace", 0, versions[i]);
        begin_event_of_provider(&w, 1, "x");
        ttr_add_text(w.builder, "\xc3\xa4", "\xf0\x9f\x98\x80 \xff");
        ttr_add_field(
            w.builder,
            &(ttr_field){.name = {"z", 1}, .value = {.type = TTR_TYPE_TEXT, .text = {"a\0b", 3}}});
        writing_end(&w);
        assert_int_equal(writing_lost(&w, "text.not-utf8"), 1);
        assert_int_equal(writing_lost(&w, "text.nul"), 1);
        expect_dump(
            &w,
            "instant time=1 provider=p name=x thread=1/2 seq=1 "
            "{\"\\xc3\\xa4\"=\"\\xf0\\x9f\\x98\\x80 \\xef\\xbf\\xbd\", z=\"a\\xef\\xbf\\xbdb\"}\n");
    }
}

static void write_nested_event(struct writing *w)
{
    const ttr_field fields[] = {
        {.name = {"s", 1}, .value = {.type = TTR_TYPE_STRUCT, .count = 2}},
        {.name = {"a", 1}, .depth = 1, .value = {.type = TTR_TYPE_UINT, .bits = 8, .v.u = 1}},
        {.name = {"b", 1}, .depth = 1, .value = {.type = TTR_TYPE_STRUCT, .count = 0}},
        {.name = {"list", 4}, .value = {.type = TTR_TYPE_ARRAY, .count = 2}},
        {.depth = 1, .value = {.type = TTR_TYPE_STRUCT, .count = 1}},
        {.name = {"x", 1}, .depth = 2, .value = {.type = TTR_TYPE_INT, .bits = 16, .v.s = -2}},
        {.depth = 1, .value = {.type = TTR_TYPE_STRUCT, .count = 1}},
        {.name = {"x", 1}, .depth = 2, .value = {.type = TTR_TYPE_INT, .bits = 16, .v.s = 3}},
        {.name = {"mixed", 5}, .value = {.type = TTR_TYPE_ARRAY, .count = 2}},
        {.depth = 1, .value = {.type = TTR_TYPE_BOOL, .v.u = 1}},
        {.depth = 1, .value = {.type = TTR_TYPE_TEXT, .text = {"t", 1}}},
        {.name = {"none", 4}, .value = {.type = TTR_TYPE_ARRAY, .count = 0}},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        ttr_add_field(w->builder, &fields[i]);
}

static void nested_fields_keep_signature(void **state)
{
    static const char *const *const versions[] = {v5, v6};
    struct writing w;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        writing_open(&w, "nettrace", 0, versions[i]);
        begin_event_of_provider(&w, 1, "x");
        write_nested_event(&w);
        writing_end(&w);
        assert_int_equal(writing_lost(&w, "field.mixed-array"), 1);
        expect_dump(
            &w,
            "instant time=1 provider=p name=x thread=1/2 seq=1 "
            "{s={a=1u8, b={}}, list=[{x=-2i16}, {x=3i16}], mixed={0=true, 1=\"t\"}, none=[]}\n");
    }
    writing_open(&w, "nettrace", 0, v4);
    begin_event_of_provider(&w, 1, "x");
    write_nested_event(&w);
    writing_end(&w);
    assert_int_equal(writing_lost(&w, "field.array"), 3);
    expect_dump(&w,
                "instant time=1 provider=p name=x thread=1/2 seq=1 "
                "{s={a=1u8, b={}}, list=\"[[x=-2], [x=3]]\", mixed=\"[true, t]\", none=\"[]\"}\n");
}

static void mixed_widths_use_widest(void **state)
{
    static const uint8_t bits[] = {8, 32, 16};
    struct writing w;
    (void)state;
    writing_open(&w, "nettrace", 0, v6);
    begin_event_of_provider(&w, 1, "x");
    ttr_add_field(w.builder,
                  &(ttr_field){.name = {"a", 1}, .value = {.type = TTR_TYPE_ARRAY, .count = 3}});
    for (unsigned i = 0; i < 3; i++)
        ttr_add_field(
            w.builder,
            &(ttr_field){.depth = 1,
                         .value = {.type = TTR_TYPE_INT, .bits = bits[i], .v.s = -(int64_t)i}});
    ttr_add_field(w.builder, &(ttr_field){.name = {"odd", 3},
                                          .value = {.type = TTR_TYPE_UINT, .bits = 5, .v.u = 17}});
    writing_end(&w);
    assert_int_equal(writing_lost(&w, "field.width"), 1);
    expect_dump(
        &w,
        "instant time=1 provider=p name=x thread=1/2 seq=1 {a=[0i32, -1i32, -2i32], odd=17u8}\n");
}

static void equal_signatures_share_metadata(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "nettrace", 0, v6);
    for (int64_t i = 0; i < 1000; i++) {
        begin_event_of_provider(&w, i, i % 2 ? "odd" : "even");
        ttr_add_uint(w.builder, "field_with_a_long_name_that_would_be_seen", (uint64_t)i);
        writing_end(&w);
    }
    writing_finish(&w);
    size_t found = 0;
    for (size_t i = 0; i + 41 <= w.n; i++)
        found += memcmp(w.text + i, "field_with_a_long_name_that_would_be_seen", 41) == 0;
    assert_int_equal(found, 2);
    writing_close(&w);
}

static void gaps_become_sequence_jumps(void **state)
{
    static const char *const *const versions[] = {v4, v5, v6};
    struct writing w;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        writing_open(&w, "nettrace", 0, versions[i]);
        for (int64_t k = 0; k < 3; k++) {
            ttr_event_begin(w.builder, TTR_KIND_GAP, 10 * k, NULL, "");
            ttr_event_set_thread(w.builder, 1, 2);
            ttr_event_attributes(w.builder)->link = 5;
            writing_end(&w);
            if (k == 2)
                break;
            begin_event_of_provider(&w, 10 * k + 1, "x");
            writing_end(&w);
        }
        assert_int_equal(writing_lost(&w, "kind.gap"), 3);
        expect_dump(&w, i < 2 ? "instant time=1 provider=p name=x thread=1/2 seq=7 {}\n"
                                "gap time=1 id=5 name=\"\" {}\n"
                                "gap time=1 id=5 name=\"\" {}\n"
                                "instant time=11 provider=p name=x thread=1/2 seq=13 {}\n"
                                "gap time=11 id=5 name=\"\" {}\n"
                                "lost 15 in 3\n"
                              : "instant time=1 provider=p name=x thread=1/2 seq=6 {}\n"
                                "gap time=1 id=5 name=\"\" {}\n"
                                "gap time=1 id=5 name=\"\" {}\n"
                                "instant time=11 provider=p name=x thread=1/2 seq=12 {}\n"
                                "gap time=11 id=5 name=\"\" {}\n"
                                "lost 15 in 3\n");
    }
}

static void activities_are_in_header_or_labels(void **state)
{
    static const char *const *const versions[] = {v4, v5, v6};
    static const uint8_t one[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
                         other[16] = {0xff};
    struct writing w;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        writing_open(&w, "nettrace", 0, versions[i]);
        for (unsigned k = 0; k < 5; k++) {
            begin_event_of_provider(&w, (int64_t)k, "x");
            ttr_event_attributes(w.builder)->activity = k == 1 || k == 2 ? one
                                                        : k == 4         ? other
                                                                         : NULL;
            ttr_event_attributes(w.builder)->related = k == 2 || k == 3 ? other : NULL;
            writing_end(&w);
        }
        expect_dump(&w, "instant time=0 provider=p name=x thread=1/2 seq=1 {}\n"
                        "instant time=1 provider=p name=x thread=1/2 seq=2 "
                        "activity=0102030405060708090a0b0c0d0e0f10 {}\n"
                        "instant time=2 provider=p name=x thread=1/2 seq=3 "
                        "activity=0102030405060708090a0b0c0d0e0f10 "
                        "related=ff000000000000000000000000000000 {}\n"
                        "instant time=3 provider=p name=x thread=1/2 seq=4 "
                        "related=ff000000000000000000000000000000 {}\n"
                        "instant time=4 provider=p name=x thread=1/2 seq=5 "
                        "activity=ff000000000000000000000000000000 {}\n");
    }
}

static void write_stack_sample(struct writing *w, int64_t time, const char *name, uint64_t address)
{
    ttr_event_begin(w->builder, TTR_KIND_SAMPLE, time, NULL, name);
    ttr_event_set_thread(w->builder, 1, 2);
    ttr_add_field(w->builder, &(ttr_field){.name = {"frames", 6},
                                           .value = {.type = TTR_TYPE_ARRAY, .count = 2}});
    for (uint64_t i = 0; i < 2; i++)
        ttr_add_field(w->builder, &(ttr_field){.depth = 1,
                                               .value = {.type = TTR_TYPE_UINT,
                                                         .v.u = address + i,
                                                         .hint = TTR_DISPLAY_POINTER}});
    writing_end(w);
}

static void samples_use_runtime_profiler(void **state)
{
    static const char *const *const versions[] = {v4, v6};
    struct writing w;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        writing_open(&w, "nettrace", 0, versions[i]);
        write_stack_sample(&w, 1, NULL, 0x1000);
        write_stack_sample(&w, 2, NULL, 0x2000);
        write_stack_sample(&w, 3, NULL, 0x1000);
        assert_int_equal(writing_lost(&w, "kind.sample"), 3);
        expect_dump(&w,
                    "sample time=1 provider=Microsoft-DotNETCore-SampleProfiler name=ThreadSample "
                    "thread=1/2 seq=1 {Type=2u32:Managed, frames=[0x1000, 0x1001]}\n"
                    "sample time=2 provider=Microsoft-DotNETCore-SampleProfiler name=ThreadSample "
                    "thread=1/2 seq=2 {Type=2u32:Managed, frames=[0x2000, 0x2001]}\n"
                    "sample time=3 provider=Microsoft-DotNETCore-SampleProfiler name=ThreadSample "
                    "thread=1/2 seq=3 {Type=2u32:Managed, frames=[0x1000, 0x1001]}\n");
    }
}

static void negative_times_are_kept(void **state)
{
    static const char *const *const versions[] = {v4, v6};
    struct writing w;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        writing_open(&w, "nettrace", 0, versions[i]);
        begin_event_of_provider(&w, INT64_MIN, "x");
        writing_end(&w);
        begin_event_of_provider(&w, -1, "x");
        writing_end(&w);
        begin_event_of_provider(&w, INT64_MAX, "x");
        writing_end(&w);
        expect_dump(
            &w, "instant time=-9223372036854775808 ticks=0 provider=p name=x thread=1/2 seq=1 {}\n"
                "instant time=-1 ticks=9223372036854775807 provider=p name=x thread=1/2 seq=2 {}\n"
                "instant time=9223372036854775807 ticks=18446744073709551615 provider=p name=x "
                "thread=1/2 seq=3 {}\n");
    }
}

static void late_event_has_time_of_previous(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "nettrace", 0, NULL);
    begin_event_of_provider(&w, 10, "x");
    writing_end(&w);
    begin_event_of_provider(&w, 7, "x");
    writing_end(&w);
    assert_int_equal(writing_lost(&w, "time.backward"), 1);
    expect_dump(&w, "instant time=10 provider=p name=x thread=1/2 seq=1 {}\n"
                    "instant time=10 provider=p name=x thread=1/2 seq=2 {}\n");
}

/* Such numbers occur in CTF that was converted from another nettrace trace. */
static void event_numbers_are_replaced_and_counted(void **state)
{
    struct writing w;
    ttr_batch batch;
    (void)state;
    writing_open(&w, "nettrace", 0, NULL);
    begin_event_of_provider(&w, 10, "x");
    writing_end(&w); /* an event without a number gets one, which is not a loss */
    assert_int_equal(writing_lost(&w, "event.number"), 0);
    begin_event_of_provider(&w, 11, "y");
    assert_int_equal(ttr_event_build(w.builder, &batch, NULL), TTR_OK);
    ttr_event numbered = *ttr_batch_at(&batch, 0); /* builders cannot make an event with a number */
    numbered.schema = context_add_schema(w.t, &(struct schema){.ops = &event_copy_field_ops,
                                                               .ctx = w.t,
                                                               .has_number = true,
                                                               .number = 17,
                                                               .version = 3});
    assert_int_equal(ttr_write(w.writer, &(ttr_batch){.event = &numbered, .n = 1}, NULL), TTR_OK);
    assert_int_equal(writing_lost(&w, "event.number"), 1);
    writing_close(&w);
}

static void pids_of_threads_are_kept_only_in_v6(void **state)
{
    struct writing w;
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        writing_open(&w, "nettrace", 0, i ? v6 : v4);
        assert_true(ttr_thread_name(w.t, 1, 2, "server", "main"));
        begin_event_of_provider(&w, 1, "x");
        writing_end(&w);
        ttr_event_begin(w.builder, TTR_KIND_INSTANT, 2, NULL, "x");
        ttr_event_set_provider(w.builder, "p");
        ttr_event_set_thread(w.builder, 8, 2);
        writing_end(&w);
        assert_int_equal(writing_lost(&w, "thread.pid"), i ? 0 : 1);
        expect_dump(&w, i ? "instant time=1 provider=p name=x thread=1/2 seq=1 {}\n"
                            "instant time=2 provider=p name=x thread=8/2 seq=1 {}\n"
                          : "instant time=1 provider=p name=x thread=1/2 seq=1 {}\n"
                            "instant time=2 provider=p name=x thread=1/2 seq=2 {}\n");
    }
}

/* Many blocks and sequence points: all events are read back in order, and none is reported as lost.
 */
static void long_trace_is_read_back(void **state)
{
    enum { EVENTS = 300000, THREADS = 7 };
    struct writing w;
    struct dump dump;
    (void)state;
    for (unsigned version = 4; version <= 6; version += 2) {
        writing_open(&w, "nettrace", 0, version == 4 ? v4 : v6);
        for (int64_t i = 0; i < EVENTS; i++) {
            ttr_event_begin(w.builder, TTR_KIND_INSTANT, i, NULL, i % 3 ? "a" : "b");
            ttr_event_set_provider(w.builder, "p");
            ttr_event_set_thread(w.builder, 1, (uint64_t)(i % THREADS));
            ttr_add_text(w.builder, "text", "twelve bytes");
            writing_end(&w);
            if (i == EVENTS / 2) /* a name that becomes known late is still written */
                assert_true(ttr_thread_name(w.t, 1, 3, NULL, "late"));
        }
        writing_finish(&w);
        dump_written(&w, &dump);
        assert_int_equal(dump.events, EVENTS);
        assert_int_equal(dump.text.bytes[dump.events_n], 0); /* no remark */
        bool has_name = false;
        for (size_t i = 0; i + 4 < w.n; i++)
            has_name |= memcmp(w.text + i, "late", 4) == 0;
        assert_int_equal(has_name, version == 6);
        dump_free(&dump);
        writing_close(&w);
    }
}

/* Returns the thread names of all events, concatenated in the order they are read. */
static void read_names(const struct writing *w, char *names, size_t room)
{
    ttr *t = ttr_new(NULL);
    ttr_read_options options = {.size = sizeof options, .from = "nettrace"};
    ttr_reader *reader = ttr_open_memory(t, w->text, w->n, "written", &options, NULL);
    ttr_batch batch;
    ttr_thread thread;
    assert_non_null(reader);
    names[0] = 0;
    while (ttr_read(reader, &batch, NULL) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++)
            if (ttr_thread_get(t, ttr_batch_at(&batch, i)->thread, &thread))
                (void)snprintf(names + strlen(names), room - strlen(names), "%s ",
                               ttr_text_get(t, thread.thread_name).p);
    ttr_close(reader);
    ttr_free(t);
}

static void renamed_thread_keeps_earlier_names(void **state)
{
    static const char *const *const versions[] = {v4, v5, v6};
    struct writing w;
    char names[100];
    (void)state;
    for (unsigned version = 4; version <= 6; version++) {
        writing_open(&w, "nettrace", 0, versions[version - 4]);
        for (int64_t i = 0; i < 6; i++) {
            if (i % 2 == 0)
                assert_true(ttr_thread_name(w.t, 1, 2, i == 4 ? "server" : NULL,
                                            i == 0   ? "a"
                                            : i == 2 ? "b"
                                                     : "c"));
            begin_event_of_provider(&w, i, "x");
            writing_end(&w);
        }
        assert_int_equal(writing_lost(&w, "thread.name"), version == 6 ? 1 : 3);
        writing_finish(&w);
        assert_int_equal(w.status, TTR_OK);
        read_names(&w, names, sizeof names);
        assert_string_equal(names, version == 6 ? "a a b b c c " : "      ");
        writing_close(&w);
    }
}

/* Appends an event of thread 1/2 of another input. */
static void write_event_of_source(struct writing *w, int64_t time, uint16_t source,
                                  const char *name)
{
    ttr_batch batch;
    ttr_thread thread;
    begin_event_of_provider(w, time, "x");
    assert_int_equal(ttr_event_build(w->builder, &batch, NULL), TTR_OK);
    ttr_event event = *batch.event;
    event.thread = context_thread(w->t, source, 1, 2);
    assert_true(ttr_thread_get(w->t, event.thread, &thread));
    context_name_thread(w->t, event.thread, ttr_text_add(w->t, name, strlen(name)));
    batch.event = &event;
    assert_int_equal(ttr_write(w->writer, &batch, NULL), TTR_OK);
}

static void unstorable_thread_names_are_counted(void **state)
{
    struct writing w;
    char names[100], large[4097];
    (void)state;
    for (size_t n = 4095; n <= 4096; n++) {
        writing_open(&w, "nettrace", 0, v6);
        memset(large, 'a', n);
        large[n] = 0;
        assert_true(ttr_thread_name(w.t, 1, 2, NULL, large));
        begin_event_of_provider(&w, 1, "x");
        writing_end(&w);
        assert_int_equal(writing_lost(&w, "thread.name"), n == 4096);
        writing_close(&w);
    }
    /* Two inputs with equal thread numbers share one row. */
    for (unsigned is_other = 0; is_other < 2; is_other++) {
        writing_open(&w, "nettrace", 0, v6);
        const uint16_t source = context_add_source(w.t, "other", "nettrace");
        assert_true(ttr_thread_name(w.t, 1, 2, NULL, "a"));
        for (int64_t i = 0; i < 4; i += 2) {
            begin_event_of_provider(&w, i, "x");
            writing_end(&w);
            write_event_of_source(&w, i + 1, source, is_other ? "b" : "a");
        }
        assert_int_equal(writing_lost(&w, "thread.name"), is_other);
        writing_finish(&w);
        read_names(&w, names, sizeof names);
        assert_string_equal(names, "a a a a ");
        writing_close(&w);
    }
}

static void random_events_are_read_back_without_damage(void **state)
{
    static const char *const *const versions[] = {v4, v5, v6};
    struct writing w;
    struct dump dump;
    (void)state;
    for (unsigned i = 0; i < 60; i++) {
        writing_open(&w, "nettrace", 0, versions[i % 3]);
        (void)writing_random(&w, i, 300);
        uint64_t written = ttr_writer_events(w.writer), gaps = 0;
        writing_finish(&w);
        assert_int_equal(w.status, TTR_OK);
        dump_written(&w, &dump);
        if (dump.status != TTR_END ||
            strstr((const char *)dump.text.bytes + dump.events_n, "damage"))
            fail_msg("seed %u: %s", i, (const char *)dump.text.bytes + dump.events_n);
        for (const char *line = (const char *)dump.text.bytes; line;
             line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
            gaps += strncmp(line, "gap ", 4) == 0;
        assert_int_equal(dump.events - gaps, written);
        dump_free(&dump);
        writing_close(&w);
    }
}

static void unknown_version_is_refused(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    const char *const options[] = {"version=7", NULL};
    (void)state;
    assert_null(ttr_create(
        t, NULL, "nettrace",
        &(ttr_write_options){.size = sizeof(ttr_write_options), .format_options = options},
        &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    assert_string_equal(error.text, "version=7: expected 4, 5 or 6");
    ttr_free(t);
}

static void failures_are_reported_without_leak(void **state)
{
    (void)state;
    writing_fails_cleanly("nettrace");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(v6_event_has_golden_bytes),
        cmocka_unit_test(v4_event_has_golden_bytes),
        cmocka_unit_test(v5_opcode_is_in_tag_after_fields),
        cmocka_unit_test(v5_arrays_are_in_tag),
        cmocka_unit_test(trace_without_events_is_valid),
        cmocka_unit_test(kinds_become_opcodes_or_fields),
        cmocka_unit_test(invalid_text_is_replaced_and_counted),
        cmocka_unit_test(nested_fields_keep_signature),
        cmocka_unit_test(mixed_widths_use_widest),
        cmocka_unit_test(equal_signatures_share_metadata),
        cmocka_unit_test(gaps_become_sequence_jumps),
        cmocka_unit_test(activities_are_in_header_or_labels),
        cmocka_unit_test(samples_use_runtime_profiler),
        cmocka_unit_test(negative_times_are_kept),
        cmocka_unit_test(late_event_has_time_of_previous),
        cmocka_unit_test(event_numbers_are_replaced_and_counted),
        cmocka_unit_test(pids_of_threads_are_kept_only_in_v6),
        cmocka_unit_test(long_trace_is_read_back),
        cmocka_unit_test(renamed_thread_keeps_earlier_names),
        cmocka_unit_test(unstorable_thread_names_are_counted),
        cmocka_unit_test(random_events_are_read_back_without_damage),
        cmocka_unit_test(unknown_version_is_refused),
        cmocka_unit_test(failures_are_reported_without_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
