/* Expected documents are derived by hand from README.md and the Trace Event Format. */
#include <stdio.h>

#include "support/json_check.h"
#include "model/context.h"
#include "support/support.h"
#include "support/writing.h"

/* Asserts the lines between the fixed first and last line of the document. */
static void expect_lines(struct writing *w, const char *lines, const char *base, const char *lost)
{
    char text[8192];
    (void)snprintf(text, sizeof text,
                   "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[%s\n],\"otherData\":{\"tracetta."
                   "base_ns\":\"%s\",\"tracetta.lost\":{%s}}}\n",
                   lines, base, lost);
    writing_finish(w);
    assert_int_equal(w->status, TTR_OK);
    assert_true(json_check(w->text, w->n));
    support_assert_text(w->text, w->n, text);
    writing_close(w);
}

static void begin(struct writing *w, ttr_kind kind, int64_t time, const char *name)
{
    ttr_event_begin(w->builder, kind, time, "cat", name);
    ttr_event_set_thread(w->builder, 7, 9);
}

static void plain(struct writing *w, ttr_kind kind, int64_t time, const char *name)
{
    begin(w, kind, time, name);
    writing_end(w);
}

static void empty_trace_is_valid_json(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "chrome", 0, NULL);
    expect_lines(&w, "", "0", "");
}

static void times_are_exact_microseconds_from_first_second(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "chrome", 0, NULL);
    begin(&w, TTR_KIND_SPAN, 1650535872123456789, "read");
    ttr_event_attributes(w.builder)->duration = 1500;
    ttr_add_uint(w.builder, "bytes", UINT64_MAX);
    writing_end(&w);
    plain(&w, TTR_KIND_BEGIN, 1650535871999999999, "b");
    plain(&w, TTR_KIND_END, 1650535872000000001, "b");
    expect_lines(
        &w,
        "\n{\"ph\":\"X\",\"ts\":123456.789,\"pid\":7,\"tid\":9,\"cat\":\"cat\",\"name\":\"read\","
        "\"dur\":1.500,\"args\":{\"bytes\":18446744073709551615}},"
        "\n{\"ph\":\"B\",\"ts\":-0.001499,\"pid\":7,\"tid\":9,\"cat\":\"cat\",\"name\":\"b\"},"
        "\n{\"ph\":\"E\",\"ts\":0.001,\"pid\":7,\"tid\":9,\"cat\":\"cat\",\"name\":\"b\"}",
        "1650535872000000000", "");
}

static void event_without_time_is_lost_and_sets_no_base(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "chrome", 0, NULL);
    begin(&w, TTR_KIND_INSTANT, 0, "early");
    ttr_event_attributes(w.builder)->flags = TTR_EVENT_NO_TIME;
    writing_end(&w);
    plain(&w, TTR_KIND_BEGIN, 1650535872000000001, "b");
    expect_lines(&w,
                 "\n{\"ph\":\"B\",\"ts\":0.001,\"pid\":7,\"tid\":9,\"cat\":\"cat\",\"name\":\"b\"}",
                 "1650535872000000000", "\"event.no-time\":1");
}

static void extreme_times_are_exact(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "chrome", 0, NULL);
    plain(&w, TTR_KIND_BEGIN, INT64_MIN, "b");
    begin(&w, TTR_KIND_SPAN, INT64_MAX, "x");
    ttr_event_attributes(w.builder)->duration = UINT64_MAX;
    writing_end(&w);
    expect_lines(
        &w,
        "\n{\"ph\":\"B\",\"ts\":-854775.808499,\"pid\":7,\"tid\":9,\"cat\":\"cat\",\"name\":\"b\"},"
        "\n{\"ph\":\"X\",\"ts\":18446744072854775.807,\"pid\":7,\"tid\":9,\"cat\":\"cat\",\"name\":"
        "\"x\",\"dur\":18446744073709551.615}",
        "-9223372036000000000", "");
}

static void linked_events_have_hexadecimal_ids(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "chrome", 0, NULL);
    for (unsigned kind = TTR_KIND_ASYNC_BEGIN; kind <= TTR_KIND_FLOW_END; kind++) {
        begin(&w, (ttr_kind)kind, kind * 1000, "l");
        ttr_event_attributes(w.builder)->link = 31;
        writing_end(&w);
    }
#define LINKED(phase, ts, end)           \
    "\n{\"ph\":\"" phase "\",\"ts\":" ts \
    ".000,\"pid\":7,\"tid\":9,\"cat\":\"cat\",\"name\":\"l\",\"id\":\"0x1f\"" end
    expect_lines(&w,
                 LINKED("b", "6", "},") LINKED("n", "7", "},") LINKED("e", "8", "},")
                     LINKED("s", "9", "},") LINKED("t", "10", "},")
                         LINKED("f", "11", ",\"bp\":\"e\"}"),
                 "0", "");
}

static void added_flow_end_binds_to_next_span(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "chrome", 0, NULL);
    begin(&w, TTR_KIND_FLOW_END, 11000, "l");
    ttr_event_attributes(w.builder)->link = 31;
    ttr_event_attributes(w.builder)->flags |= TTR_EVENT_ADDED;
    writing_end(&w);
    expect_lines(&w, LINKED("f", "11", "}"), "0", "");
}

static void counter_args_have_only_numbers(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "chrome", 0, NULL);
    begin(&w, TTR_KIND_COUNTER, 0, "c");
    ttr_event_attributes(w.builder)->link = 2;
    ttr_event_attributes(w.builder)->level = TTR_LEVEL_INFO;
    ttr_add_uint(w.builder, "u", UINT64_MAX);
    ttr_add_int(w.builder, "i", -1);
    ttr_add_float(w.builder, "f", 0.5);
    ttr_add_bool(w.builder, "b", true);
    ttr_add_text(w.builder, "t", "x");
    ttr_add_field(w.builder,
                  &(ttr_field){.name = {"a", 1}, .value = {.type = TTR_TYPE_ARRAY, .count = 1}});
    ttr_add_field(w.builder, &(ttr_field){.depth = 1, .value = {.type = TTR_TYPE_UINT, .v.u = 1}});
    writing_end(&w);
    plain(&w, TTR_KIND_COUNTER, 0, "none");
    expect_lines(
        &w,
        "\n{\"ph\":\"C\",\"ts\":0.000,\"pid\":7,\"tid\":9,\"cat\":\"cat\",\"name\":\"c\",\"id\":"
        "\"0x2\",\"args\":{\"u\":18446744073709551615,\"i\":-1,\"f\":0.5,\"b\":1}},"
        "\n{\"ph\":\"i\",\"ts\":0.000,\"pid\":7,\"tid\":9,\"cat\":\"cat\",\"name\":\"none\","
        "\"s\":\"t\"}",
        "0", "\"counter.empty\":1,\"counter.value\":2,\"counter.attribute\":1");
}

static void instant_scope_is_written(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "chrome", 0, NULL);
    plain(&w, TTR_KIND_INSTANT, 0, "i");
    begin(&w, TTR_KIND_INSTANT, 0, "i");
    ttr_add_text(w.builder, "scope", "global");
    writing_end(&w);
    begin(&w, TTR_KIND_INSTANT, 0, "i");
    ttr_add_text(w.builder, "scope", "p");
    writing_end(&w);
#define INSTANT(scope, rest)                                                                 \
    "\n{\"ph\":\"i\",\"ts\":0.000,\"pid\":7,\"tid\":9,\"cat\":\"cat\",\"name\":\"i\",\"s\":" \
    "\"" scope "\"" rest
    expect_lines(&w,
                 INSTANT("t", "},") INSTANT("g", ",\"args\":{\"scope\":\"global\"}},")
                     INSTANT("p", ",\"args\":{\"scope\":\"p\"}}"),
                 "0", "");
}

static void names_are_written_when_known(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "chrome", 0, NULL);
    plain(&w, TTR_KIND_INSTANT, 0, "a");
    ttr_thread_name(w.t, 7, 9, "server", NULL);
    plain(&w, TTR_KIND_INSTANT, 0, "b");
    plain(&w, TTR_KIND_INSTANT, 0, "c");
    ttr_thread_name(w.t, 7, 9, NULL, "worker");
    plain(&w, TTR_KIND_INSTANT, 0, "d");
    ttr_thread_name(w.t, 7, 9, NULL, "old"); /* named after the thread's last event */
#define NAMED(name)                                                                           \
    "\n{\"ph\":\"i\",\"ts\":0.000,\"pid\":7,\"tid\":9,\"cat\":\"cat\",\"name\":\"" name "\"," \
    "\"s\":\"t\"}"
#define BEGIN(name) \
    "\n{\"ph\":\"B\",\"ts\":0.000,\"pid\":7,\"tid\":9,\"cat\":\"cat\",\"name\":\"" name "\"}"
#define META(what, name)                                                             \
    "\n{\"ph\":\"M\",\"ts\":0.000,\"pid\":7,\"tid\":9,\"cat\":\"\",\"name\":\"" what \
    "\",\"args\":{\"name\":\"" name "\"}}"
    expect_lines(
        &w,
        NAMED("a") "," META("process_name", "server") "," NAMED("b") "," NAMED("c") "," META(
            "thread_name", "worker") "," NAMED("d") "," META("thread_name", "old"),
        "0", "\"thread.renamed\":1");
}

static void objects_name_processes_and_threads(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "chrome", 0, NULL);
    ttr_event_begin(w.builder, TTR_KIND_OBJECT, 1000, "", "server");
    ttr_event_attributes(w.builder)->link = 7;
    ttr_event_attributes(w.builder)->tag = TTR_OBJECT_PROCESS;
    writing_end(&w);
    ttr_event_begin(w.builder, TTR_KIND_OBJECT, 1000, "", "worker");
    ttr_event_attributes(w.builder)->link = 9;
    ttr_event_attributes(w.builder)->tag = TTR_OBJECT_THREAD;
    ttr_add_uint(w.builder, "process", 7);
    ttr_event_set_thread(w.builder, 7, 9);
    writing_end(&w);
    ttr_thread_name(w.t, 7, 9, NULL, "worker"); /* as a reader would have named it */
    plain(&w, TTR_KIND_BEGIN, 0, "a");
    ttr_event_begin(w.builder, TTR_KIND_OBJECT, 0, "", "vmo");
    ttr_event_attributes(w.builder)->link = 255;
    ttr_event_attributes(w.builder)->tag = TTR_OBJECT_POINTER;
    ttr_event_set_thread(w.builder, 7, 9);
    writing_end(&w);
    expect_lines(&w,
                 "\n{\"ph\":\"M\",\"ts\":1.000,\"pid\":7,\"tid\":0,\"cat\":\"\",\"name\":\"process_"
                 "name\",\"args\":{\"name\":\"server\"}},"
                 "\n{\"ph\":\"M\",\"ts\":1.000,\"pid\":7,\"tid\":9,\"cat\":\"\",\"name\":\"thread_"
                 "name\",\"args\":{\"name\":\"worker\",\"process\":7}}," BEGIN(
                     "a") ",\n{\"ph\":\"i\",\"ts\":0.000,\"pid\":7,\"tid\":9,\"cat\":\"\",\"name\":"
                          "\"vmo\",\"s\":\"p\","
                          "\"args\":{\"object\":\"pointer\",\"id\":\"0xff\"}}",
                 "0", "\"object.instant\":1");
}

static void switches_become_cpu_slices(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "chrome", 0, NULL);
    ttr_thread_name(w.t, 3, 4, NULL, "run");
    ttr_event_begin(w.builder, TTR_KIND_SWITCH, 1000, "", "");
    ttr_event_set_thread(w.builder, 1, 2);
    ttr_event_attributes(w.builder)->link = ttr_event_attributes(w.builder)->thread;
    ttr_event_set_thread(w.builder, 3, 4);
    ttr_event_attributes(w.builder)->tag = TTR_THREAD_BLOCKED;
    ttr_event_attributes(w.builder)->cpu = 1;
    ttr_event_attributes(w.builder)->flags = TTR_EVENT_HAS_CPU;
    ttr_add_int(w.builder, "prio", 5);
    writing_end(&w);
    ttr_event_begin(w.builder, TTR_KIND_SWITCH, 2000, "", "");
    ttr_event_set_thread(w.builder, 1, 2);
    ttr_event_attributes(w.builder)->cpu = 1;
    ttr_event_attributes(w.builder)->flags = TTR_EVENT_HAS_CPU;
    writing_end(&w);
    ttr_event_begin(w.builder, TTR_KIND_WAKE, 3000, "", "");
    ttr_event_attributes(w.builder)->cpu = 1;
    ttr_event_attributes(w.builder)->flags = TTR_EVENT_HAS_CPU;
    ttr_event_set_thread(w.builder, 1, 2);
    writing_end(&w);
#define CPU "\"pid\":2147483647,\"tid\":1"
    expect_lines(
        &w,
        "\n{\"ph\":\"M\",\"ts\":1.000," CPU
        ",\"cat\":\"\",\"name\":\"process_name\",\"args\":{\"name\":\"CPUs\"}},"
        "\n{\"ph\":\"M\",\"ts\":1.000," CPU
        ",\"cat\":\"\",\"name\":\"thread_name\",\"args\":{\"name\":\"CPU 1\"}},"
        "\n{\"ph\":\"B\",\"ts\":1.000001," CPU
        ",\"cat\":\"sched\",\"name\":\"run\",\"args\":{\"pid\":3,\"tid\":4,\"from_pid\":1,\"from_"
        "tid\":2,\"from_state\":\"blocked\",\"prio\":5}},"
        "\n{\"ph\":\"E\",\"ts\":2.000," CPU ",\"cat\":\"\",\"name\":\"\"},"
        "\n{\"ph\":\"B\",\"ts\":2.000001," CPU
        ",\"cat\":\"sched\",\"name\":\"2\",\"args\":{\"pid\":1,\"tid\":2,\"from_state\":\"new\"}},"
        "\n{\"ph\":\"i\",\"ts\":3.000,\"pid\":1,\"tid\":2,\"cat\":\"\",\"name\":\"wake\",\"s\":"
        "\"t\",\"args\":{\"cpu\":1}}",
        "0", "\"switch.slice\":2,\"wake.instant\":1");
}

static void unknown_kind_becomes_instant(void **state)
{
    struct writing w;
    uint8_t bytes[4097] = {0};
    (void)state;
    writing_open(&w, "chrome", 0, NULL);
    begin(&w, TTR_KIND_LOG, 0, "");
    ttr_event_attributes(w.builder)->level = TTR_LEVEL_ERROR;
    ttr_add_text(w.builder, "message", "hi");
    writing_end(&w);
    begin(&w, TTR_KIND_SAMPLE, 0, "");
    ttr_add_field(w.builder, &(ttr_field){.name = {"frames", 6},
                                          .value = {.type = TTR_TYPE_ARRAY, .count = 1}});
    ttr_add_field(
        w.builder,
        &(ttr_field){.depth = 1,
                     .value = {.type = TTR_TYPE_UINT, .hint = TTR_DISPLAY_POINTER, .v.u = 16}});
    writing_end(&w);
    begin(&w, TTR_KIND_BLOB, 0, "b");
    ttr_event_attributes(w.builder)->tag = 2;
    ttr_add_bytes(w.builder, "data", "\x01\xff", 2);
    writing_end(&w);
    ttr_event_begin(w.builder, TTR_KIND_GAP, 0, "", "");
    ttr_event_attributes(w.builder)->link = 12;
    writing_end(&w);
#define OWN "\"pid\":7,\"tid\":9,\"cat\":\"cat\",\"name\":"
    expect_lines(&w,
                 "\n{\"ph\":\"i\",\"ts\":0.000," OWN
                 "\"log\",\"s\":\"t\",\"args\":{\"message\":\"hi\",\"level\":\"error\"}},"
                 "\n{\"ph\":\"i\",\"ts\":0.000," OWN
                 "\"sample\",\"s\":\"t\",\"args\":{\"frames\":[\"0x10\"]}},"
                 "\n{\"ph\":\"i\",\"ts\":0.000," OWN
                 "\"b\",\"s\":\"t\",\"args\":{\"type\":2,\"size\":2,\"data\":\"0x01ff\"}},"
                 "\n{\"ph\":\"i\",\"ts\":0.000,\"pid\":0,\"tid\":0,\"cat\":\"\",\"name\":\"lost "
                 "events\",\"s\":\"g\",\"args\":{\"count\":12}}",
                 "0",
                 "\"field.bytes\":1,\"field.pointer\":1,\"sample.instant\":1,\"log.instant\":1,"
                 "\"blob.instant\":1,\"gap.instant\":1");
    writing_open(&w, "chrome", 0, NULL);
    begin(&w, TTR_KIND_BLOB, 0, "b");
    ttr_add_bytes(w.builder, "data", bytes, 4096);
    writing_end(&w);
    assert_int_equal(writing_lost(&w, "blob.cut"), 0);
    begin(&w, TTR_KIND_BLOB, 0, "b");
    ttr_add_bytes(w.builder, "data", bytes, 4097);
    writing_end(&w);
    assert_int_equal(writing_lost(&w, "blob.cut"), 1);
    writing_close(&w);
}

static void thread_and_attribute_losses_are_counted(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "chrome", 0, NULL);
    ttr_event_begin(w.builder, TTR_KIND_BEGIN, 0, "", "x");
    ttr_event_set_provider(w.builder, "prov");
    ttr_event_attributes(w.builder)->keyword = 1;
    writing_end(&w);
    ttr_event_begin(w.builder, TTR_KIND_BEGIN, 0, "", "x");
    ttr_event_set_thread(w.builder, ((uint64_t)1 << 53) + 1, (uint64_t)1 << 31);
    ttr_event_attributes(w.builder)->flags = TTR_EVENT_PARTIAL;
    writing_end(&w);
#define OTHER "\"pid\":1000000000,\"tid\":1000000001"
    expect_lines(
        &w,
        "\n{\"ph\":\"B\",\"ts\":0.000,\"pid\":0,\"tid\":0,\"cat\":\"\",\"name\":\"x\"},"
        "\n{\"ph\":\"M\",\"ts\":0.000," OTHER
        ",\"cat\":\"\",\"name\":\"process_name\",\"args\":{\"name\":"
        "\"(pid 9007199254740993)\"}},"
        "\n{\"ph\":\"M\",\"ts\":0.000," OTHER
        ",\"cat\":\"\",\"name\":\"thread_name\",\"args\":{\"name\":"
        "\"(tid 2147483648)\"}},"
        "\n{\"ph\":\"B\",\"ts\":0.000," OTHER
        ",\"cat\":\"\",\"name\":\"x\",\"args\":{\"partial\":true}}",
        "0\",\"tracetta.provider\":\"prov",
        "\"event.provider\":1,\"event.detail\":1,\"event.no-thread\":1,\"thread.wide-id\":1");
}

static void add_switch(struct writing *w, int64_t time_ns, uint64_t tid)
{
    ttr_event_begin(w->builder, TTR_KIND_SWITCH, time_ns, "", "");
    ttr_event_set_thread(w->builder, 1, tid);
    ttr_event_attributes(w->builder)->cpu = 1;
    ttr_event_attributes(w->builder)->flags = TTR_EVENT_HAS_CPU;
    writing_end(w);
}

/* Sorted by time, each slice ends where the next one begins. */
static void earlier_switch_gets_its_end_at_the_next_one(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "chrome", 0, NULL);
    add_switch(&w, 2000, 22);
    add_switch(&w, 1000, 11);
    add_switch(&w, 3000, 33);
#define SLICE_END(ts) "\n{\"ph\":\"E\",\"ts\":" ts "," CPU ",\"cat\":\"\",\"name\":\"\"},"
#define SLICE(ts, tid)                                                        \
    "\n{\"ph\":\"B\",\"ts\":" ts "," CPU ",\"cat\":\"sched\",\"name\":\"" tid \
    "\",\"args\":{\"pid\":1,\"tid\":" tid ",\"from_state\":\"new\"}}"
    expect_lines(&w,
                 "\n{\"ph\":\"M\",\"ts\":2.000," CPU
                 ",\"cat\":\"\",\"name\":\"process_name\",\"args\":{\"name\":\"CPUs\"}},"
                 "\n{\"ph\":\"M\",\"ts\":2.000," CPU
                 ",\"cat\":\"\",\"name\":\"thread_name\",\"args\":{\"name\":\"CPU 1\"}}," SLICE(
                     "2.000001", "22") "," SLICE_END("2.000")
                     SLICE("1.000001", "11") "," SLICE_END("3.000") SLICE("3.000001", "33"),
                 "0", "\"switch.slice\":3");
}

static void begins_and_ends_at_one_time_are_ranked(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "chrome", 0, NULL);
    plain(&w, TTR_KIND_END, 1000, "a"); /* nothing is open */
    plain(&w, TTR_KIND_BEGIN, 1000, "a");
    plain(&w, TTR_KIND_BEGIN, 1000, "b");
    plain(&w, TTR_KIND_END, 1000, "b");
    plain(&w, TTR_KIND_END, 1001, "a");
#define RANKED(phase, ts, name)                                                                  \
    "\n{\"ph\":\"" phase "\",\"ts\":" ts ",\"pid\":7,\"tid\":9,\"cat\":\"cat\",\"name\":\"" name \
    "\"}"
    expect_lines(&w,
                 RANKED("B", "1.000", "a") "," RANKED("B", "1.000001", "b") "," RANKED(
                     "E", "1.000002", "b") "," RANKED("E", "1.001", "a"),
                 "0", "\"span.no-begin\":1");
}

static void ranks_keep_the_order_of_times_before_the_base(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "chrome", 0, NULL);
    plain(&w, TTR_KIND_INSTANT, 0, "i");
    plain(&w, TTR_KIND_BEGIN, -1000, "a");
    plain(&w, TTR_KIND_END, -1000, "a");
    expect_lines(&w,
                 "\n{\"ph\":\"i\",\"ts\":0.000,\"pid\":7,\"tid\":9,\"cat\":\"cat\",\"name\":\"i\","
                 "\"s\":\"t\"}," RANKED("B", "-1.000499", "a") "," RANKED("E", "-1.000498", "a"),
                 "0", "");
}

static void named_track_without_threads_is_a_thread(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "chrome", 0, NULL);
    const ttr_track track = {.name = ttr_text_add(w.t, "CPU 3", 5)};
    ttr_id id = context_add_track(w.t, &track);
    ttr_event_begin(w.builder, TTR_KIND_BEGIN, 0, "", "irq");
    ttr_event_attributes(w.builder)->track = id;
    writing_end(&w);
    assert_int_equal(id, 1);
#define TRACK "\"pid\":2147483646,\"tid\":1,\"cat\":\"\",\"name\":"
    expect_lines(&w,
                 "\n{\"ph\":\"M\",\"ts\":0.000," TRACK
                 "\"process_name\",\"args\":{\"name\":\"tracks without threads\"}},"
                 "\n{\"ph\":\"M\",\"ts\":0.000," TRACK
                 "\"thread_name\",\"args\":{\"name\":\"CPU 3\"}},"
                 "\n{\"ph\":\"B\",\"ts\":0.000," TRACK "\"irq\"}",
                 "0", "");
}

static void shared_pid_of_two_inputs_is_counted_as_lost(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "chrome", 0, NULL);
    for (int i = 0; i < 3; i++) {
        uint16_t source = context_add_source(w.t, "x", "fxt");
        for (uint64_t tid = 1; tid <= 2; tid++) {
            ttr_event_begin(w.builder, TTR_KIND_BEGIN, 0, "", "");
            ttr_event_attributes(w.builder)->source = source;
            ttr_event_set_thread(w.builder, 7, tid);
            writing_end(&w);
        }
    }
    assert_int_equal(writing_lost(&w, "process.same-pid"), 2);
    writing_close(&w);
}

static void late_pid_is_used_when_no_span_is_open(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "chrome", 0, NULL);
    static const ttr_kind kinds[] = {TTR_KIND_BEGIN, TTR_KIND_END, TTR_KIND_BEGIN};
    for (int i = 0; i < 3; i++) {
        ttr_event_begin(w.builder, kinds[i], 0, "", "b");
        ttr_event_attributes(w.builder)->thread = context_thread_by_tid(w.t, 0, 9);
        writing_end(&w);
        assert_int_not_equal(context_thread(w.t, 0, 7, 9), 0);
    }
    expect_lines(&w,
                 "\n{\"ph\":\"B\",\"ts\":0.000,\"pid\":0,\"tid\":9,\"cat\":\"\",\"name\":\"b\"},"
                 "\n{\"ph\":\"E\",\"ts\":0.000001,\"pid\":0,\"tid\":9,\"cat\":\"\",\"name\":\"b\"},"
                 "\n{\"ph\":\"B\",\"ts\":0.000002,\"pid\":7,\"tid\":9,\"cat\":\"\",\"name\":\"b\"}",
                 "0", "\"event.no-thread\":2");
}

static void any_bytes_write_strict_json(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct writing w;
        writing_open(&w, "chrome", 0, NULL);
        writing_random(&w, seed, (unsigned)(seed < 20 ? seed : 100));
        writing_finish(&w);
        assert_int_equal(w.status, TTR_OK);
        if (!json_check(w.text, w.n))
            fail_msg("seed %u: %s", (unsigned)seed, w.text);
        writing_close(&w);
    }
}

static void memory_and_disk_failures_are_reported(void **state)
{
    (void)state;
    writing_fails_cleanly("chrome");
}

static void context_fields_are_merged_with_payload_fields(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "chrome", 0, NULL);
    writing_begin(&w, TTR_KIND_INSTANT, 0, "x");
    ttr_add_field(w.builder, &(ttr_field){.name = {"a", 1},
                                          .group = TTR_GROUP_COMMON,
                                          .value = {.type = TTR_TYPE_UINT, .v.u = 1}});
    ttr_add_uint(w.builder, "b", 2);
    writing_end(&w);
    assert_int_equal(writing_lost(&w, "field.context"), 1);
    writing_finish(&w);
    assert_non_null(strstr(w.text, "{\"a\":1,\"b\":2}"));
    writing_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(context_fields_are_merged_with_payload_fields),
        cmocka_unit_test(empty_trace_is_valid_json),
        cmocka_unit_test(times_are_exact_microseconds_from_first_second),
        cmocka_unit_test(event_without_time_is_lost_and_sets_no_base),
        cmocka_unit_test(extreme_times_are_exact),
        cmocka_unit_test(linked_events_have_hexadecimal_ids),
        cmocka_unit_test(added_flow_end_binds_to_next_span),
        cmocka_unit_test(counter_args_have_only_numbers),
        cmocka_unit_test(instant_scope_is_written),
        cmocka_unit_test(names_are_written_when_known),
        cmocka_unit_test(objects_name_processes_and_threads),
        cmocka_unit_test(switches_become_cpu_slices),
        cmocka_unit_test(unknown_kind_becomes_instant),
        cmocka_unit_test(thread_and_attribute_losses_are_counted),
        cmocka_unit_test(shared_pid_of_two_inputs_is_counted_as_lost),
        cmocka_unit_test(late_pid_is_used_when_no_span_is_open),
        cmocka_unit_test(earlier_switch_gets_its_end_at_the_next_one),
        cmocka_unit_test(begins_and_ends_at_one_time_are_ranked),
        cmocka_unit_test(ranks_keep_the_order_of_times_before_the_base),
        cmocka_unit_test(named_track_without_threads_is_a_thread),
        cmocka_unit_test(any_bytes_write_strict_json),
        cmocka_unit_test(memory_and_disk_failures_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
