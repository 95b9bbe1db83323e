/* The Perfetto writer, compared with packets derived by hand from the public schema. The packets
 * are compared as lines of text (perfetto_lines.h). */
#include <stdio.h>
#include <stdlib.h>

#include <tracetta/advanced.h>
#include <tracetta/build.h>
#include <tracetta/tracetta.h>

#include "support/perfetto_lines.h"

#include "model/context.h"

static struct writing w;

static void begin(void)
{
    writing_open(&w, "perfetto", 0, NULL);
}

static void expect(const char *text)
{
    writing_finish(&w);
    assert_int_equal(w.status, TTR_OK);
    char *lines = perfetto_packet_lines(w.text, w.n);
    support_assert_text(lines, strlen(lines), text);
    free(lines);
    writing_close(&w);
}

#define THREAD                             \
    "60{1:1 3{1:7} 14\"provider prov\"}\n" \
    "60{1:2 4{1:7 2:9}}\n"
#define CAT_X "12{1{1:1 2\"cat\"} 2{1:2 2\"x\"}}"

static void instant_matches_schema_bytes(void **state)
{
    (void)state;
    begin();
    ttr_event_begin(w.builder, TTR_KIND_INSTANT, 300, NULL, "x");
    writing_end(&w);
    writing_finish(&w);
    support_assert_hex(
        w.text, w.n,
        "0a 07  50 01 b8 05 01 68 03 "                                   /* the sequence starts */
        "0a 12  50 02 e2 03 0d  08 01 12 09 6e 6f 20 74 68 72 65 61 64 " /* track 1: "no thread" */
        "0a 18  50 01 40 ac 02  5a 06 48 03 58 01 50 01  62 07 12 05 08 01 12 01 78 68 02"); /* time
                                                                                                300;
                                                                                                "x"
                                                                                              */
    writing_close(&w);
}

static void empty_trace_is_one_packet(void **state)
{
    (void)state;
    begin();
    expect("");
}

static void strings_are_interned_once_at_first_use(void **state)
{
    (void)state;
    begin();
    writing_event(&w, TTR_KIND_INSTANT, 5, "x");
    writing_event(&w, TTR_KIND_INSTANT, 6, "x");
    expect(THREAD "8:5 11{9:3 11:2 3:1 10:2} " CAT_X "\n"
                  "8:6 11{9:3 11:2 3:1 10:2}\n");
}

static void flags_mark_only_packets_with_interned_data(void **state)
{
    static const uint32_t flags[] = {13, 0};
    struct protobuf_item packet, item;
    unsigned n = 0;
    char said[8];
    (void)state;
    begin();
    writing_event(&w, TTR_KIND_BEGIN, 5, "x");
    writing_event(&w, TTR_KIND_END, 6, "x");
    writing_event(&w, TTR_KIND_BEGIN, 7, "x");
    writing_finish(&w);
    const uint8_t *at = (const uint8_t *)w.text, *end = at + w.n;
    while (n < sizeof said - 1 && protobuf_next(&at, end, &packet))
        said[n++] =
            protobuf_find(packet.bytes, packet.n, flags, &item) ? (char)('0' + item.value) : '-';
    said[n] = '\0';
    assert_string_equal(said, "3--2-2"); /* first packet, process, thread, begin, end, begin */
    writing_close(&w);
}

static void span_becomes_begin_and_end(void **state)
{
    (void)state;
    begin();
    writing_begin(&w, TTR_KIND_SPAN, 5, "x");
    ttr_event_attributes(w.builder)->duration = 10;
    ttr_add_uint(w.builder, "n", 1);
    writing_end(&w);
    writing_event(&w, TTR_KIND_BEGIN, 20, "x");
    writing_event(&w, TTR_KIND_END, 30, "x");
    expect(THREAD
           "8:5 11{9:1 11:2 3:1 10:2 4{1:3 3:1}} 12{1{1:1 2\"cat\"} 2{1:2 2\"x\"} 3{1:3 2\"n\"}}\n"
           "8:15 11{9:2 11:2}\n"
           "8:20 11{9:1 11:2 3:1 10:2}\n"
           "8:30 11{9:2 11:2}\n");
}

static void late_outer_span_of_equal_begin_uses_additional_track(void **state)
{
    (void)state;
    begin();
    const uint64_t durations[] = {5, 9};
    for (unsigned i = 0; i < 2; i++) {
        writing_begin(&w, TTR_KIND_SPAN, 0, "x");
        ttr_event_attributes(w.builder)->duration = durations[i];
        writing_end(&w);
    }
    assert_int_equal(writing_lost(&w, "span.overlap"), 1);
    expect(THREAD "8:0 11{9:1 11:2 3:1 10:2} " CAT_X "\n"
                  "8:5 11{9:2 11:2}\n"
                  "60{1:3 2\"spans that do not nest\" 5:2}\n"
                  "8:0 11{9:1 11:3 3:1 10:2}\n"
                  "8:9 11{9:2 11:3}\n");
}

static void spans_in_one_batch_are_sorted_outer_first(void **state)
{
    (void)state;
    begin();
    ttr_event events[3];
    const int64_t begins[] = {4, 0, 0}, durations[] = {2, 6, 10};
    for (unsigned i = 0; i < 3; i++) {
        ttr_batch batch;
        ttr_event_begin(w.builder, TTR_KIND_SPAN, begins[i], "cat", "x");
        ttr_event_set_provider(w.builder, "prov");
        ttr_event_set_thread(w.builder, 7, 9);
        ttr_event_attributes(w.builder)->duration = (uint64_t)durations[i];
        assert_int_equal(ttr_event_build(w.builder, &batch, NULL), TTR_OK);
        events[i] = *batch.event;
    }
    assert_int_equal(ttr_write(w.writer, &(ttr_batch){.event = events, .n = 3}, NULL), TTR_OK);
    assert_int_equal(writing_lost(&w, "span.overlap"), 0);
    expect(THREAD "8:0 11{9:1 11:2 3:1 10:2} " CAT_X "\n"
                  "8:10 11{9:2 11:2}\n"
                  "8:0 11{9:1 11:2 3:1 10:2}\n"
                  "8:6 11{9:2 11:2}\n"
                  "8:4 11{9:1 11:2 3:1 10:2}\n"
                  "8:6 11{9:2 11:2}\n");
}

static void unix_times_are_relative_to_clock_snapshot(void **state)
{
    (void)state;
    begin();
    ttr_event_begin(w.builder, TTR_KIND_GAP, 1650535872123456789, NULL, NULL);
    ttr_event_attributes(w.builder)->link = 42;
    writing_end(&w);
    ttr_event_begin(w.builder, TTR_KIND_GAP, 1650535872123456789 - 3601 * INT64_C(1000000000), NULL,
                    NULL);
    writing_end(&w);
    assert_int_equal(writing_lost(&w, "time.before-zero"), 1);
    assert_int_equal(writing_lost(&w, "gap.instant"), 2);
    expect("6{1{1:6 2:0} 1{1:1 2:1650532272000000000} 2:6}\n"
           "60{1:1 2\"lost events\"}\n"
           "8:3600123456789 11{9:3 11:1 23\"lost events\" 4{1:1 3:42}} 12{3{1:1 2\"lost\"}}\n"
           "8:0 11{9:3 11:1 23\"lost events\" 4{1:1 3:0}}\n");
}

static void each_counter_field_gets_a_track(void **state)
{
    (void)state;
    begin();
    writing_begin(&w, TTR_KIND_COUNTER, 5, "mem");
    ttr_event_attributes(w.builder)->link = 3;
    ttr_add_int(w.builder, "used", -1);
    ttr_add_float(w.builder, "free", 0.5);
    ttr_add_uint(w.builder, "most", UINT64_MAX);
    ttr_add_text(w.builder, "unit", "pages");
    writing_end(&w);
    assert_int_equal(writing_lost(&w, "counter.field"), 1);
    assert_int_equal(writing_lost(&w, "counter.value"), 1);
    assert_int_equal(writing_lost(&w, "counter.attribute"), 0);
    writing_begin(&w, TTR_KIND_COUNTER, 6, "mem");
    ttr_event_attributes(w.builder)->link = 3;
    ttr_event_attributes(w.builder)->level = TTR_LEVEL_INFO;
    ttr_event_set_provider(w.builder, "other");
    ttr_add_int(w.builder, "used", 7);
    writing_end(&w);
    assert_int_equal(writing_lost(&w, "counter.attribute"), 2);
    expect("60{1:2 3{1:7} 14\"provider prov\"}\n"
           "60{1:1 2\"mem:used#3\" 5:2 8{2\"cat\"}}\n"
           "8:5 11{9:4 11:1 30:18446744073709551615}\n"
           "60{1:3 2\"mem:free#3\" 5:2 8{2\"cat\"}}\n"
           "8:5 11{9:4 11:3 44=3fe0000000000000}\n"
           "60{1:4 2\"mem:most#3\" 5:2 8{2\"cat\"}}\n"
           "8:5 11{9:4 11:4 44=43f0000000000000}\n"
           "8:6 11{9:4 11:1 30:7}\n");
}

static void write_async(ttr_kind kind, int64_t time, uint64_t id)
{
    writing_begin(&w, kind, time, "x");
    ttr_event_attributes(w.builder)->link = id;
    writing_end(&w);
}

static void async_ids_reuse_finished_tracks(void **state)
{
    (void)state;
    begin();
    write_async(TTR_KIND_ASYNC_BEGIN, 1, 100);
    write_async(TTR_KIND_ASYNC_STEP, 2, 100);
    write_async(TTR_KIND_ASYNC_BEGIN, 3, 101);
    write_async(TTR_KIND_ASYNC_END, 4, 100);
    write_async(TTR_KIND_ASYNC_BEGIN, 5, 102);
    expect("60{1:2 3{1:7} 14\"provider prov\"}\n"
           "60{1:1 2\"x\" 5:2}\n"
           "8:1 11{9:1 11:1 3:1 10:2 4{1:3 3:100} 4{1:4 3:9}} 12{1{1:1 2\"cat\"} 2{1:2 2\"x\"} "
           "3{1:3 2\"id\"} "
           "3{1:4 2\"tid\"}}\n"
           "8:2 11{9:3 11:1 3:1 10:2 4{1:3 3:100}}\n"
           "60{1:3 2\"x\" 5:2}\n"
           "8:3 11{9:1 11:3 3:1 10:2 4{1:3 3:101} 4{1:4 3:9}}\n"
           "8:4 11{9:2 11:1}\n"
           "8:5 11{9:1 11:1 3:1 10:2 4{1:3 3:102} 4{1:4 3:9}}\n");
}

static void write_flow(ttr_kind kind, int64_t time, uint64_t id)
{
    writing_begin(&w, kind, time, "x");
    ttr_event_attributes(w.builder)->link = id;
    writing_end(&w);
}

static void flow_binds_to_enclosing_span_with_one_id(void **state)
{
    (void)state;
    begin();
    writing_event(&w, TTR_KIND_BEGIN, 1, "x");
    write_flow(TTR_KIND_FLOW_BEGIN, 2, 8);
    write_flow(TTR_KIND_FLOW_STEP, 3, 8);
    write_flow(TTR_KIND_FLOW_END, 4, 8);
    write_flow(TTR_KIND_FLOW_BEGIN, 5, 8);
    expect(THREAD "8:1 11{9:1 11:2 3:1 10:2} " CAT_X "\n"
                  "8:2 11{11:2 3:1 10:2 6{2:115 6:1}}\n"
                  "8:3 11{11:2 3:1 10:2 6{2:116 6:1}}\n"
                  "8:4 11{11:2 3:1 10:2 6{2:102 6:1 12:1}}\n"
                  "8:5 11{11:2 3:1 10:2 6{2:115 6:2}}\n");
}

static void flow_end_outside_of_spans_binds_to_next_one(void **state)
{
    (void)state;
    begin();
    writing_event(&w, TTR_KIND_BEGIN, 1, "x");
    write_flow(TTR_KIND_FLOW_BEGIN, 2, 8);
    writing_event(&w, TTR_KIND_END, 3, "x");
    write_flow(TTR_KIND_FLOW_END, 4, 8);
    assert_int_equal(writing_lost(&w, "flow.no-span"), 0);
    expect(THREAD "8:1 11{9:1 11:2 3:1 10:2} " CAT_X "\n"
                  "8:2 11{11:2 3:1 10:2 6{2:115 6:1}}\n"
                  "8:3 11{9:2 11:2}\n"
                  "8:4 11{11:2 3:1 10:2 6{2:102 6:1}}\n");
}

static void flow_outside_of_spans_is_lost(void **state)
{
    (void)state;
    begin();
    write_flow(TTR_KIND_FLOW_BEGIN, 0, 8);
    writing_begin(&w, TTR_KIND_SPAN, 1, "x");
    ttr_event_attributes(w.builder)->duration = 3;
    writing_end(&w);
    write_flow(TTR_KIND_FLOW_END, 2, 9);
    assert_int_equal(writing_lost(&w, "flow.no-span"), 2);
    write_flow(TTR_KIND_FLOW_STEP, 3, 8);
    write_flow(TTR_KIND_FLOW_STEP, 4, 8);
    assert_int_equal(writing_lost(&w, "flow.no-span"), 3);
    expect(THREAD "8:1 11{9:1 11:2 3:1 10:2} " CAT_X "\n"
                  "8:4 11{9:2 11:2}\n"
                  "8:3 11{11:2 3:1 10:2 6{2:116 6:1}}\n");
}

static void end_without_begin_is_lost(void **state)
{
    (void)state;
    begin();
    writing_event(&w, TTR_KIND_END, 5, "");
    write_flow(TTR_KIND_ASYNC_END, 6, 7);
    assert_int_equal(writing_lost(&w, "span.no-begin"), 2);
    expect(THREAD);
}

static void async_end_with_another_name_ends_the_span(void **state)
{
    (void)state;
    begin();
    write_flow(TTR_KIND_ASYNC_BEGIN, 1, 100);
    writing_begin(&w, TTR_KIND_ASYNC_END, 2, "other");
    ttr_event_attributes(w.builder)->link = 100;
    writing_end(&w);
    expect("60{1:2 3{1:7} 14\"provider prov\"}\n"
           "60{1:1 2\"x\" 5:2}\n"
           "8:1 11{9:1 11:1 3:1 10:2 4{1:3 3:100} 4{1:4 3:9}} 12{1{1:1 2\"cat\"} 2{1:2 2\"x\"} "
           "3{1:3 2\"id\"} 3{1:4 2\"tid\"}}\n"
           "8:2 11{9:2 11:1}\n");
}

static void switch_without_cpu_becomes_instant(void **state)
{
    (void)state;
    begin();
    writing_begin(&w, TTR_KIND_SWITCH, 5, "x");
    ttr_event_attributes(w.builder)->tag = TTR_THREAD_DEAD;
    writing_end(&w);
    assert_int_equal(writing_lost(&w, "sched.no-cpu"), 1);
    expect(THREAD
           "8:5 11{9:3 11:2 3:1 10:2 4{1:3 6\"dead\"}} 12{1{1:1 2\"cat\"} 2{1:2 2\"x\"} 3{1:3 "
           "2\"type\"}}\n");
}

static void write_mapping(void)
{
    ttr_event_begin(w.builder, TTR_KIND_OBJECT, 1, NULL, "libx.so");
    ttr_event_set_thread(w.builder, 7, 9);
    ttr_event_attributes(w.builder)->tag = TTR_OBJECT_MODULE;
    ttr_event_attributes(w.builder)->link = 1;
    ttr_add_bytes(w.builder, "build_id", "\xbe\xef", 2);
    writing_end(&w);
    ttr_event_begin(w.builder, TTR_KIND_OBJECT, 1, NULL, NULL);
    ttr_event_set_thread(w.builder, 7, 9);
    ttr_event_attributes(w.builder)->tag = TTR_OBJECT_MAPPING;
    ttr_event_attributes(w.builder)->link = 1;
    ttr_add_uint(w.builder, "start", 0x1000);
    ttr_add_uint(w.builder, "size", 0x100);
    ttr_add_uint(w.builder, "address_in_module", 0x20);
    writing_end(&w);
}

static void write_sample(int64_t time)
{
    ttr_event_begin(w.builder, TTR_KIND_SAMPLE, time, NULL, NULL);
    ttr_event_set_thread(w.builder, 7, 9);
    ttr_add_field(w.builder, &(ttr_field){.name = {"frames", 6},
                                          .value = {.type = TTR_TYPE_ARRAY, .count = 2}});
    const uint64_t frames[] = {0x1010, 0x9999};
    for (unsigned i = 0; i < 2; i++)
        ttr_add_field(w.builder, &(ttr_field){.depth = 1,
                                              .value = {.type = TTR_TYPE_UINT,
                                                        .hint = TTR_DISPLAY_POINTER,
                                                        .v.u = frames[i]}});
    writing_end(&w);
}

static void labelled_numbers_become_dictionaries(void **state)
{
    (void)state;
    begin();
    ttr_event_begin(w.builder, TTR_KIND_INSTANT, 300, NULL, "x");
    ttr_add_field(w.builder, &(ttr_field){.name = {"e", 1},
                                          .value = {.type = TTR_TYPE_INT,
                                                    .hint = TTR_DISPLAY_ENUM,
                                                    .count = 1,
                                                    .text = {"A", 1},
                                                    .v.s = 5}});
    ttr_add_field(
        w.builder,
        &(ttr_field){
            .name = {"u", 1},
            .value = {.type = TTR_TYPE_UINT, .hint = TTR_DISPLAY_ENUM, .text = {"", 0}, .v.u = 6}});
    ttr_add_field(w.builder, &(ttr_field){.name = {"f", 1},
                                          .group = TTR_GROUP_CONTEXT,
                                          .value = {.type = TTR_TYPE_UINT,
                                                    .hint = TTR_DISPLAY_FLAGS,
                                                    .count = 1,
                                                    .text = {"B", 1},
                                                    .v.u = 2}});
    writing_end(&w);
    assert_int_equal(writing_lost(&w, "field.context"), 1);
    expect("60{1:1 2\"no thread\"}\n"
           "8:300 11{9:3 11:1 10:1 4{1:2 11{1:3 4:5} 11{1:4 6\"A\"}} 4{1:5 11{1:3 3:6}} 4{1:6 "
           "11{1:3 3:2} 11{1:7 12{6\"B\"}}}} "
           "12{2{1:1 2\"x\"} 3{1:2 2\"e\"} 3{1:3 2\"value\"} 3{1:4 2\"label\"} 3{1:5 2\"u\"} 3{1:6 "
           "2\"f\"} 3{1:7 2\"labels\"}}\n");
}

static void sample_frames_refer_to_mappings(void **state)
{
    (void)state;
    begin();
    write_mapping();
    write_sample(5);
    write_sample(6);
    assert_int_equal(writing_lost(&w, "sample.attribute"), 0);
    writing_finish(&w);
    char *lines = perfetto_packet_lines(w.text, w.n);
    const char *samples = strstr(lines, "8:5 ");
    assert_non_null(samples);
    /* the caller's address 0x9999 is looked up one byte before */
    support_assert_text(samples, strlen(samples),
                        "8:5 135{1{2:7 3:9} 6:10} "
                        "12{16{1:1 2\"\xbe\xef\"} 17{1:2 2\"libx.so\"} 19{1:3 2:1 4:4096 5:4352 "
                        "7:2 8:32} 5{1:4 2\"libx.so+0x30\"} 6{1:5 2:4 3:3 4:48} "
                        "17{1:6 2\"[unknown]\"} 19{1:7 7:6} 5{1:8 2\"0x9998\"} "
                        "6{1:9 2:8 3:7 4:39320} 7{1:10 2:9 2:5}}\n"
                        "8:6 135{1{2:7 3:9} 6:10}\n");
    free(lines);
    writing_close(&w);
}

static void log_event_has_body_and_priority(void **state)
{
    (void)state;
    begin();
    writing_begin(&w, TTR_KIND_LOG, 5, "");
    ttr_event_attributes(w.builder)->level = TTR_LEVEL_ERROR;
    ttr_add_text(w.builder, "message", "hello");
    writing_end(&w);
    expect(THREAD "8:5 11{9:3 11:2 3:1 23\"log\" 21{2:2 3:6} 4{1:3 6\"error\"}} "
                  "12{1{1:1 2\"cat\"} 20{1:2 2\"hello\"} 3{1:3 2\"level\"}}\n");
}

static void long_blob_is_truncated(void **state)
{
    static const uint8_t bytes[5000] = {0xff};
    static const uint32_t path[] = {1, 0}, data[] = {11, 4, 6, 0};
    struct protobuf_item item;
    (void)state;
    begin();
    writing_begin(&w, TTR_KIND_BLOB, 5, "b");
    ttr_add_bytes(w.builder, "data", bytes, sizeof bytes);
    writing_end(&w);
    assert_int_equal(writing_lost(&w, "blob.rest"), 1);
    assert_int_equal(writing_lost(&w, "field.bytes"), 1);
    writing_finish(&w);
    const uint8_t *at = (const uint8_t *)w.text, *end = at + w.n;
    bool is_found = false;
    while (!is_found && protobuf_next(&at, end, &item) && item.field == path[0])
        is_found = protobuf_find(item.bytes, item.n, data, &item);
    assert_true(is_found);
    assert_int_equal(item.n, 2 + 2 * 4096);
    assert_memory_equal(item.bytes, "0xff00", 6);
    writing_close(&w);
}

static void oversized_ids_are_written_in_names(void **state)
{
    (void)state;
    begin();
    ttr_event_begin(w.builder, TTR_KIND_INSTANT, 5, NULL, "x");
    ttr_event_set_thread(w.builder, UINT64_C(1) << 63 | 5, UINT64_C(1) << 63 | 9);
    ttr_thread_name(w.t, UINT64_C(1) << 63 | 5, UINT64_C(1) << 63 | 9, NULL, "worker");
    writing_end(&w);
    assert_int_equal(writing_lost(&w, "thread.id"), 2);
    expect("60{1:1 3{1:1000000001 6\"(pid 9223372036854775813)\"}}\n"
           "60{1:2 4{1:1000000001 2:1000000000 5\"worker (tid 9223372036854775817)\"}}\n"
           "8:5 11{9:3 11:2 10:1} 12{2{1:1 2\"x\"}}\n");
}

static void late_name_is_written_at_the_end(void **state)
{
    (void)state;
    begin();
    writing_event(&w, TTR_KIND_INSTANT, 5, "");
    ttr_thread_name(w.t, 7, 9, "proc", "worker");
    writing_event(&w, TTR_KIND_INSTANT, 6, "");
    expect(THREAD "8:5 11{9:3 11:2 3:1} 12{1{1:1 2\"cat\"}}\n"
                  "8:6 11{9:3 11:2 3:1}\n"
                  "60{1:1 3{1:7 6\"proc\"} 14\"provider prov\"}\n"
                  "60{1:2 4{1:7 2:9 5\"worker\"}}\n");
}

static void renamed_thread_is_described_within_a_round(void **state)
{
    (void)state;
    begin();
    writing_event(&w, TTR_KIND_INSTANT, 5, "");
    ttr_thread_name(w.t, 7, 9, NULL, "worker");
    for (unsigned i = 0; i < 4096; i++)
        writing_event(&w, TTR_KIND_INSTANT, 6, "");
    writing_event(&w, TTR_KIND_INSTANT, 7, "");
    writing_finish(&w);
    char *lines = perfetto_packet_lines(w.text, w.n);
    const char *named = strstr(lines, "5\"worker\""), *last = strstr(lines, "8:7 ");
    assert_true(named && last && named < last);
    free(lines);
    writing_close(&w);
}

static void event_contains_only_differing_provider(void **state)
{
    (void)state;
    begin();
    writing_event(&w, TTR_KIND_INSTANT, 5, "");
    writing_begin(&w, TTR_KIND_INSTANT, 6, "");
    ttr_event_set_provider(w.builder, "other");
    writing_end(&w);
    expect(THREAD "8:5 11{9:3 11:2 3:1} 12{1{1:1 2\"cat\"}}\n"
                  "8:6 11{9:3 11:2 3:1 4{1:2 17:3}} 12{3{1:2 2\"provider\"} 29{1:3 2\"other\"}}\n");
}

static void named_track_without_threads_is_a_track(void **state)
{
    (void)state;
    begin();
    const ttr_track track = {.name = ttr_text_add(w.t, "CPU 3", 5)};
    const ttr_id id = context_add_track(w.t, &track);
    assert_int_not_equal(id, 0);
    ttr_event_begin(w.builder, TTR_KIND_BEGIN, 5, NULL, "irq");
    ttr_event_attributes(w.builder)->track = id;
    writing_end(&w);
    ttr_event_begin(w.builder, TTR_KIND_INSTANT, 6, NULL, "irq");
    writing_end(&w);
    expect("60{1:1 2\"CPU 3\"}\n"
           "8:5 11{9:1 11:1 10:1} 12{2{1:1 2\"irq\"}}\n"
           "60{1:2 2\"no thread\"}\n"
           "8:6 11{9:3 11:2 10:1}\n");
}

static void categories_are_split_at_commas(void **state)
{
    (void)state;
    begin();
    ttr_event_begin(w.builder, TTR_KIND_INSTANT, 5, "a,,b", NULL);
    writing_end(&w);
    expect("60{1:1 2\"no thread\"}\n"
           "8:5 11{9:3 11:1 3:1 3:2} 12{1{1:1 2\"a\"} 1{1:2 2\"b\"}}\n");
}

static void process_and_thread_objects_name_tracks(void **state)
{
    (void)state;
    begin();
    ttr_thread_name(w.t, 7, 9, NULL, "worker");
    ttr_event_begin(w.builder, TTR_KIND_OBJECT, 0, NULL, "worker");
    ttr_event_set_thread(w.builder, 7, 9);
    ttr_event_attributes(w.builder)->tag = TTR_OBJECT_THREAD;
    ttr_event_attributes(w.builder)->link = 9;
    ttr_event_attributes(w.builder)->flags = TTR_EVENT_NO_TIME;
    ttr_add_uint(w.builder, "process", 7);
    writing_end(&w);
    assert_int_equal(writing_lost(&w, "object.instant"), 0);
    ttr_event_begin(w.builder, TTR_KIND_OBJECT, 0, NULL, "vmo");
    ttr_event_attributes(w.builder)->link = 77;
    ttr_add_uint(w.builder, "type", 3);
    writing_end(&w);
    assert_int_equal(writing_lost(&w, "object.instant"), 1);
    assert_int_equal(writing_lost(&w, "time.before-zero"), 0);
    expect(
        "60{1:1 3{1:7}}\n"
        "60{1:2 4{1:7 2:9 5\"worker\"}}\n"
        "60{1:3 2\"objects\"}\n"
        "8:0 11{9:3 11:3 10:1 4{1:2 3:3} 4{1:3 3:77} 4{1:4 6\"other\"}} 12{2{1:1 2\"vmo\"} 3{1:2 "
        "2\"type\"} 3{1:3 2\"id\"} 3{1:4 2\"kind\"}}\n");
}

static void interned_state_is_cleared_at_limit(void **state)
{
    static const uint32_t flags[] = {13, 0};
    struct protobuf_item packet, item;
    unsigned cleared = 0;
    (void)state;
    begin();
    for (unsigned i = 0; i < 140000; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "n%u", i);
        writing_event(&w, TTR_KIND_INSTANT, i, name);
    }
    writing_finish(&w);
    const uint8_t *at = (const uint8_t *)w.text, *end = at + w.n;
    while (protobuf_next(&at, end, &packet))
        cleared += protobuf_find(packet.bytes, packet.n, flags, &item) && item.value == 3;
    assert_int_equal(cleared, 3);
    writing_close(&w);
}

static void losses_are_counted_exactly(void **state)
{
    const ttr_loss *losses;
    (void)state;
    begin();
    writing_event(&w, TTR_KIND_INSTANT, 1, "fine");
    assert_int_equal(ttr_losses(w.writer, &losses), 0);
    writing_everything(&w);
    /* Every other pair of kinds has no time, which only the sample survives.  Of the others, six
     * have annotations; the end of an async span has no begin; counters, the flow in the span,
     * switches and wake-ups drop their fields. */
    assert_int_equal(writing_lost(&w, "event.no-time"), 8);
    assert_int_equal(writing_lost(&w, "field.bytes"), 6);
    assert_int_equal(writing_lost(&w, "field.null"), 6);
    assert_int_equal(writing_lost(&w, "field.duplicate"), 6 * 2);
    assert_int_equal(writing_lost(&w, "span.no-begin"), 1);
    assert_int_equal(writing_lost(&w, "flow.no-span"), 0);
    assert_int_equal(writing_lost(&w, "kind.other"), 1);
    assert_int_equal(writing_lost(&w, "object.instant"), 1);
    assert_int_equal(writing_lost(&w, "gap.instant"), 0);
    assert_int_equal(writing_lost(&w, "sample.empty"), 1);
    writing_finish(&w);
    writing_close(&w);
}

static bool is_written(const char *text)
{
    for (size_t i = 0, n = strlen(text); i + n <= w.n; i++)
        if (memcmp(w.text + i, text, n) == 0)
            return true;
    return false;
}

static void duplicate_field_names_are_numbered(void **state)
{
    enum { FIELDS = 3000, NESTED = 40 };
    char name[20];
    (void)state;
    begin();
    for (int64_t event = 0; event < 2; event++) { /* names are counted separately in each event */
        ttr_event_begin(w.builder, TTR_KIND_INSTANT, event, NULL, "x");
        for (unsigned i = 0; i < FIELDS; i++) {
            (void)snprintf(name, sizeof name, "f%u", i);
            ttr_add_uint(w.builder, name, i);
        }
        ttr_add_field(w.builder, &(ttr_field){.name = {"s", 1},
                                              .value = {.type = TTR_TYPE_STRUCT, .count = NESTED}});
        for (unsigned i = 0; i < NESTED; i++) {
            (void)snprintf(name, sizeof name, "f%u",
                           i == NESTED - 1 ? 1 : i); /* nested objects count their own names */
            ttr_add_field(w.builder, &(ttr_field){.name = {name, strlen(name)},
                                                  .depth = 1,
                                                  .value = {.type = TTR_TYPE_UINT}});
        }
        ttr_add_uint(w.builder, "f0", 1);
        ttr_add_uint(w.builder, "f2999", 1);
        ttr_add_uint(w.builder, "f0", 1);
        writing_end(&w);
    }
    assert_int_equal(writing_lost(&w, "field.duplicate"), 2 * 4);
    writing_finish(&w);
    assert_true(is_written("f0#2") && is_written("f0#3") && is_written("f1#2") &&
                is_written("f2999#2"));
    assert_false(is_written("f1#3") || is_written("f0#4") || is_written("f2#2"));
    writing_close(&w);
}

static void any_events_write_complete_packets(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        begin();
        writing_random(&w, seed, 100);
        writing_finish(&w);
        assert_int_equal(w.status, TTR_OK);
        free(perfetto_packet_lines(w.text, w.n));
        writing_close(&w);
    }
}

static void memory_and_disk_failures_are_reported(void **state)
{
    (void)state;
    writing_fails_cleanly("perfetto");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instant_matches_schema_bytes),
        cmocka_unit_test(empty_trace_is_one_packet),
        cmocka_unit_test(strings_are_interned_once_at_first_use),
        cmocka_unit_test(flags_mark_only_packets_with_interned_data),
        cmocka_unit_test(span_becomes_begin_and_end),
        cmocka_unit_test(late_outer_span_of_equal_begin_uses_additional_track),
        cmocka_unit_test(spans_in_one_batch_are_sorted_outer_first),
        cmocka_unit_test(unix_times_are_relative_to_clock_snapshot),
        cmocka_unit_test(each_counter_field_gets_a_track),
        cmocka_unit_test(async_ids_reuse_finished_tracks),
        cmocka_unit_test(flow_binds_to_enclosing_span_with_one_id),
        cmocka_unit_test(flow_end_outside_of_spans_binds_to_next_one),
        cmocka_unit_test(flow_outside_of_spans_is_lost),
        cmocka_unit_test(end_without_begin_is_lost),
        cmocka_unit_test(async_end_with_another_name_ends_the_span),
        cmocka_unit_test(switch_without_cpu_becomes_instant),
        cmocka_unit_test(labelled_numbers_become_dictionaries),
        cmocka_unit_test(sample_frames_refer_to_mappings),
        cmocka_unit_test(log_event_has_body_and_priority),
        cmocka_unit_test(long_blob_is_truncated),
        cmocka_unit_test(oversized_ids_are_written_in_names),
        cmocka_unit_test(late_name_is_written_at_the_end),
        cmocka_unit_test(renamed_thread_is_described_within_a_round),
        cmocka_unit_test(event_contains_only_differing_provider),
        cmocka_unit_test(named_track_without_threads_is_a_track),
        cmocka_unit_test(categories_are_split_at_commas),
        cmocka_unit_test(process_and_thread_objects_name_tracks),
        cmocka_unit_test(interned_state_is_cleared_at_limit),
        cmocka_unit_test(losses_are_counted_exactly),
        cmocka_unit_test(duplicate_field_names_are_numbered),
        cmocka_unit_test(any_events_write_complete_packets),
        cmocka_unit_test(memory_and_disk_failures_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
