/* Expected lines are the output of perf script 6.1 and trace-cmd report for the same events. */
#include "encodings/tracepoint/tracepoints.h"
#include "support/hexa.h"
#include "support/support.h"
#include "support/vectors.h"
#include "support/writing.h"

#include <stdio.h>

#include <tracetta/read.h>
#include <tracetta/write.h>

static const char sched_switch[] =
    "name: sched_switch\nID: 5\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:char prev_comm[4];\toffset:2;\tsize:4;\tsigned:0;\n"
    "\tfield:pid_t prev_pid;\toffset:6;\tsize:4;\tsigned:1;\n"
    "\tfield:long prev_state;\toffset:10;\tsize:8;\tsigned:1;\n"
    "\tfield:char next_comm[4];\toffset:18;\tsize:4;\tsigned:0;\n"
    "\tfield:pid_t next_pid;\toffset:22;\tsize:4;\tsigned:1;\n\n"
    "print fmt: \"prev=%s:%d [%lx] next=%s:%d\", REC->prev_comm, REC->prev_pid, REC->prev_state, "
    "REC->next_comm, REC->next_pid\n";

#define RECORD "0500 61620000 07000000 0100000000000000 63640000 09000000"

static struct tracepoint_raw raw_of(const void *ctx, const ttr_event *event)
{
    (void)ctx;
    return (struct tracepoint_raw){event->payload, event->payload_size};
}

static bool extra_of(const void *ctx, const ttr_event *event, uint32_t i, ttr_field *field)
{
    (void)ctx;
    (void)event;
    if (i > 0)
        return false;
    field->name = (ttr_text){"period", 6};
    field->group = TTR_GROUP_COMMON;
    field->value = (ttr_value){.type = TTR_TYPE_UINT, .v.u = 500000};
    return true;
}

static uint32_t frames_of(const void *ctx, const ttr_event *event, uint64_t *addresses,
                          uint32_t room)
{
    static const uint64_t frames[] = {UINT64_C(0xffffffff81000123), 0x5500};
    (void)ctx;
    (void)event;
    for (uint32_t i = 0; i < 2 && i < room; i++)
        addresses[i] = frames[i];
    return 2;
}

static const struct tracepoint_container container = {
    .raw = raw_of, .extra = extra_of, .frames = frames_of};

struct scene {
    struct writing w;
    struct tracepoints *all;
    const struct tracepoint *tp;
    uint8_t record[64];
    size_t record_n;
    uint16_t source;
};

static void begin(struct scene *scene, const char *lines)
{
    const char *const options[] = {lines, NULL};
    *scene = (struct scene){.tp = NULL};
    writing_open(&scene->w, "perfscript", 0, options);
    ttr *t = scene->w.t;
    scene->source = context_add_source(t, "here", "perf");
    scene->all = tracepoints_new(&(struct tracepoints_spec){
        .t = t, .container = &container, .source = scene->source, .long_bytes = 8});
    assert_int_equal(tracepoints_add(scene->all, (ttr_text){"sched", 5},
                                     (ttr_text){sched_switch, sizeof sched_switch - 1}, NULL),
                     TTR_OK);
    scene->tp = tracepoints_find(scene->all, 5);
    scene->record_n = support_hex(scene->record, sizeof scene->record, RECORD);
}

static void write_scene_event(struct scene *scene, ttr_event *event)
{
    ttr_error error;
    assert_int_equal(ttr_write(scene->w.writer, &(ttr_batch){.event = event, .n = 1}, &error),
                     TTR_OK);
}

/* Writes a sched_switch event of a thread. */
static void write_switch(struct scene *scene, uint64_t tid, const char *comm, uint64_t ns,
                         uint32_t stack)
{
    const char *why;
    ttr *t = scene->w.t;
    ttr_event event = {.payload = scene->record,
                       .payload_size = (uint32_t)scene->record_n,
                       .ticks = ns,
                       .time = (int64_t)ns,
                       .cpu = 3,
                       .flags = TTR_EVENT_HAS_CPU,
                       .source = scene->source,
                       .stack = stack};
    event.thread = context_thread(t, scene->source, tid, tid);
    if (comm)
        context_name_thread(t, event.thread, ttr_text_add(t, comm, strlen(comm)));
    assert_true(tracepoint_decode(scene->all, scene->tp,
                                  (struct tracepoint_raw){scene->record, scene->record_n}, &event,
                                  &why));
    write_scene_event(scene, &event);
}

static void write_sample(struct scene *scene, uint32_t stack)
{
    ttr *t = scene->w.t;
    ttr_event event = {.ticks = 3172729255999,
                       .kind = TTR_KIND_SAMPLE,
                       .name = ttr_text_add(t, "cpu-clock", 9),
                       .source = scene->source,
                       .stack = stack,
                       .thread = context_thread(t, scene->source, 7, 7),
                       .payload = scene->record,
                       .payload_size = (uint32_t)scene->record_n};
    event.schema = context_add_schema(t, context_schema(t, 2));
    write_scene_event(scene, &event);
}

static void expect_text(struct scene *scene, const char *text)
{
    tracepoints_free(scene->all);
    writing_expect(&scene->w, text);
}

static void tracepoint_event_prints_as_perf_script(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene, "lines=perf");
    write_switch(&scene, 7, "find", 3172729255999, 0);
    write_switch(&scene, 123456, NULL, 100000003000000, 0);
    write_switch(&scene, 0, NULL, 1000, 0);
    write_switch(&scene, UINT32_MAX, NULL, 1000, 0);
    expect_text(
        &scene,
        "            find     7 [003]  3172.729255: sched:sched_switch: prev=ab:7 [1] next=cd:9\n"
        "         :123456 123456 [003] 100000.003000: sched:sched_switch: prev=ab:7 [1] next=cd:9\n"
        "         swapper     0 [003]     0.000001: sched:sched_switch: prev=ab:7 [1] next=cd:9\n"
        "             :-1    -1 [003]     0.000001: sched:sched_switch: prev=ab:7 [1] next=cd:9\n");
}

static void name_width_is_read_from_trace(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene, "lines=perf");
    assert_true(context_add_attribute(scene.w.t, scene.source, "trace.event_width",
                                      &(ttr_value){.type = TTR_TYPE_UINT, .v.u = 20}));
    write_switch(&scene, 7, "find", 3172729255999, 0);
    expect_text(&scene,
                "            find     7 [003]  3172.729255:   sched:sched_switch: prev=ab:7 [1] "
                "next=cd:9\n");
}

/* Reading alternates between many traces; the attributes of each are looked up once. */
static void name_width_is_per_trace(void **state)
{
    enum { TRACES = 40 };
    static const char line[] =
        "            find     7 [003]  3172.729255: %*s: prev=ab:7 [1] next=cd:9\n";
    struct scene scene;
    uint16_t source[TRACES];
    char expected[2 * TRACES * 200];
    size_t n = 0;
    (void)state;
    begin(&scene, "lines=perf");
    for (unsigned i = 0; i < TRACES; i++) {
        source[i] = context_add_source(scene.w.t, "one of many", "perf");
        assert_true(context_add_attribute(scene.w.t, source[i], "trace.event_width",
                                          &(ttr_value){.type = TTR_TYPE_UINT, .v.u = 20 + i}));
    }
    for (unsigned i = 0; i < 2 * TRACES; i++) {
        scene.source = source[i * 7 % TRACES];
        write_switch(&scene, 7, "find", 3172729255999, 0);
        n += (size_t)snprintf(expected + n, sizeof expected - n, line, (int)(20 + i * 7 % TRACES),
                              "sched:sched_switch");
    }
    expect_text(&scene, expected);
}

static void callchain_is_printed_line_per_address(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene, "lines=perf");
    write_switch(&scene, 7, "find", 3172729255999, 1);
    write_sample(&scene, 2);
    write_sample(&scene, 1);
    expect_text(
        &scene,
        "find     7 [003]  3172.729255: sched:sched_switch: prev=ab:7 [1] next=cd:9\n"
        "\tffffffff81000123 [unknown] ([unknown])\n\t            5500 [unknown] ([unknown])\n\n"
        "find     7  3172.729255:     500000 cpu-clock: \n"
        "\tffffffff81000123 [unknown] ([unknown])\n\t            5500 [unknown] ([unknown])\n\n"
        "            find     7  3172.729255:     500000 cpu-clock:  ffffffff81000123 [unknown] "
        "([unknown])\n");
}

static void code_address_has_symbol_and_file(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene, "lines=perf");
    ttr *t = scene.w.t;
    uint32_t process = t->threads[context_thread(t, scene.source, 7, 7)].process;
    uint32_t kernel = symbols_add_module(&t->symbols, process, 1),
             program = symbols_add_module(&t->symbols, process, 2);
    symbols_set_module_name(&t->symbols, kernel, ttr_text_add(t, "[kernel.kallsyms]_text", 22));
    symbols_set_module_name(&t->symbols, program, ttr_text_add(t, "/bin/find", 9));
    assert_true(symbols_add(&t->symbols, SYMBOL_MAPPING,
                            &(struct symbol_range){.start = UINT64_C(0xffffffff81000000),
                                                   .size = 0x10000,
                                                   .from = SYMBOLS_TIME_UNKNOWN,
                                                   .process = process,
                                                   .module = kernel}));
    assert_true(symbols_add(&t->symbols, SYMBOL_MAPPING,
                            &(struct symbol_range){.start = 0x5000,
                                                   .size = 0x1000,
                                                   .offset = 0x100,
                                                   .from = SYMBOLS_TIME_UNKNOWN,
                                                   .process = process,
                                                   .module = program}));
    assert_true(symbols_add(&t->symbols, SYMBOL_FUNCTION,
                            &(struct symbol_range){.start = UINT64_C(0xffffffff81000100),
                                                   .size = 0x100,
                                                   .from = SYMBOLS_TIME_UNKNOWN,
                                                   .process = process,
                                                   .module = kernel,
                                                   .name = ttr_text_add(t, "schedule", 8)}));
    write_switch(&scene, 7, "find", 1000, 1);
    expect_text(&scene,
                "find     7 [003]     0.000001: sched:sched_switch: prev=ab:7 [1] next=cd:9\n"
                "\tffffffff81000123 schedule+0x23 ([kernel.kallsyms])\n\t             600 "
                "[unknown] (/bin/find)\n\n");
}

/* Checks the lines printed for a vector of perf.data. */
static void expect_lines(const char *vector, const char *expected)
{
    char path[100];
    struct hexa hexa;
    struct writing w;
    ttr_batch batch;
    (void)snprintf(path, sizeof path, "src/formats/perf/%s.hexa", vector);
    vectors_load(&hexa, path);
    writing_open(&w, "perfscript", 0, NULL);
    const ttr_read_options options = {.size = sizeof options, .flags = TTR_READ_SYMBOLS};
    ttr_reader *reader = ttr_open_memory(w.t, hexa.bytes, hexa.n, "vector", &options, NULL);
    assert_non_null(reader);
    while (ttr_read(reader, &batch, NULL) == TTR_OK)
        assert_int_equal(ttr_write(w.writer, &batch, NULL), TTR_OK);
    writing_finish(&w);
    assert_string_equal(w.text, expected);
    ttr_close(reader);
    writing_close(&w);
    hexa_free(&hexa);
}

static void addresses_of_callchains_are_places_in_files_by_their_paths(void **state)
{
    (void)state;
    expect_lines("vectors-whole/code", ":20    20     0.002000:       1000 cpu-clock: \n"
                                       "\tffffffff81000010 [unknown] ([kernel.kallsyms])\n"
                                       "\tffffffffc0000020 [unknown] ([snd_pcm])\n"
                                       "\t            1030 [unknown] (/usr/bin/b)\n"
                                       "\tffffffff81000040 [unknown] ([unknown])\n"
                                       "\t          600050 [unknown] (/tmp/perf-20.map)\n\n"
                                       ":20    20     0.003000:       1000 cpu-clock: \n\n");
}

static void sample_without_callchain_prints_memory_address_and_period(void **state)
{
    (void)state;
    expect_lines("vectors-whole/symbols", "             :30    30     0.000000:       1000 "
                                          "cpu-clock:            500010 [unknown] (/bin/b)\n");
}

static void sample_counters_are_printed_line_per_counter(void **state)
{
    (void)state;
    expect_lines("vectors/counters",
                 "              :6     6     0.000003:       5100        cpu-clock: \n"
                 "              :6     6     0.000003:          7      page-faults: \n"
                 "              :6     6     0.000004:          3 context-switches: \n");
}

static void trace_cmd_line_is_rounded_and_aligned(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene, "lines=trace-cmd");
    write_switch(&scene, 7, "find", 3172729255999, 0);
    write_switch(&scene, 8, NULL, 3172729255000, 1);
    write_switch(&scene, 0, NULL, 1000, 0);
    expect_text(
        &scene,
        "            find-7     [003]  3172.729256: sched_switch:         ab:7 S ==> cd:9\n"
        "           <...>-8     [003]  3172.729255: sched_switch:         ab:7 S ==> cd:9\n"
        "          <idle>-0     [003]     0.000001: sched_switch:         ab:7 S ==> cd:9\n");
}

static void lost_events_and_counter_clock_print_as_trace_cmd(void **state)
{
    struct scene scene;
    const char *why;
    (void)state;
    begin(&scene, "lines=trace-cmd");
    ttr *t = scene.w.t;
    uint16_t source = context_add_source(t, "there", "trace_dat");
    assert_true(context_add_attribute(t, source, "trace.has_ticks",
                                      &(ttr_value){.type = TTR_TYPE_BOOL, .v.u = 1}));
    ttr_event gap = {.kind = TTR_KIND_GAP,
                     .tag = TTR_GAP_EVENTS,
                     .link = 5,
                     .cpu = 2,
                     .flags = TTR_EVENT_HAS_CPU,
                     .source = source};
    write_scene_event(&scene, &gap);
    gap.link = 0;
    write_scene_event(&scene, &gap);
    ttr_event event = {.payload = scene.record,
                       .payload_size = (uint32_t)scene.record_n,
                       .ticks = 17,
                       .time = 17,
                       .cpu = 3,
                       .flags = TTR_EVENT_HAS_CPU,
                       .source = source,
                       .thread = context_thread(t, source, 7, 7)};
    assert_true(tracepoint_decode(
        scene.all, scene.tp, (struct tracepoint_raw){scene.record, scene.record_n}, &event, &why));
    write_scene_event(&scene, &event);
    expect_text(
        &scene,
        "CPU:2 [5 EVENTS DROPPED]\nCPU:2 [EVENTS DROPPED]\n"
        "           <...>-7     [003]          17: sched_switch:         ab:7 S ==> cd:9\n");
}

static void event_without_tracepoint_prints_fields(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "perfscript", 0, NULL);
    writing_begin(&w, TTR_KIND_INSTANT, 1500000, "tick");
    ttr_add_int(w.builder, "i", -5);
    ttr_add_text(w.builder, "s", "text");
    ttr_add_bool(w.builder, "b", true);
    ttr_add_float(w.builder, "f", 0.5);
    ttr_add_bytes(w.builder, "raw", "\x01\xff", 2);
    writing_end(&w);
    writing_event(&w, TTR_KIND_GAP, 1500001, "");
    writing_event(&w, TTR_KIND_OBJECT, 1500001, "thing");
    writing_expect(
        &w, "              :9     9     0.001500: prov:tick: i=-5 s=text b=1 f=0.5 raw=01ff\n");
}

static void control_character_is_escaped_for_terminal(void **state)
{
    struct scene scene;
    (void)state;
    begin(&scene, "controls=shown");
    scene.record[3] = 0x1b;
    write_switch(&scene, 7, "f\xc2\x9b\xc3\xa9\x7f", 3172729255999, 0);
    scene.record[3] = 'b';
    write_switch(&scene, 8, "find", 3172729255999, 0);
    expect_text(
        &scene,
        "          f\\x9b\xc3\xa9\\x7f     7 [003]  3172.729255: sched:sched_switch: prev=a\\x1b:7 "
        "[1] next=cd:9\n"
        "            find     8 [003]  3172.729255: sched:sched_switch: prev=ab:7 [1] next=cd:9\n");
    begin(&scene, "controls=raw");
    scene.record[3] = 0x1b;
    write_switch(&scene, 7, "find", 3172729255999, 0);
    expect_text(&scene,
                "            find     7 [003]  3172.729255: sched:sched_switch: prev=a\x1b:7 "
                "[1] next=cd:9\n");
}

static void unknown_line_style_is_refused(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_error error;
    const char *const options[] = {"lines=strace", NULL};
    (void)state;
    assert_null(ttr_create_push(
        t, NULL, NULL, "perfscript",
        &(ttr_write_options){.size = sizeof(ttr_write_options), .format_options = options},
        &error));
    assert_int_equal(error.status, TTR_E_MISUSE);
    assert_string_equal(error.text, "lines=strace: expected perf or trace-cmd");
    ttr_free(t);
}

static void write_failure_is_returned(void **state)
{
    (void)state;
    writing_fails_cleanly("perfscript");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tracepoint_event_prints_as_perf_script),
        cmocka_unit_test(name_width_is_read_from_trace),
        cmocka_unit_test(name_width_is_per_trace),
        cmocka_unit_test(callchain_is_printed_line_per_address),
        cmocka_unit_test(code_address_has_symbol_and_file),
        cmocka_unit_test(addresses_of_callchains_are_places_in_files_by_their_paths),
        cmocka_unit_test(sample_without_callchain_prints_memory_address_and_period),
        cmocka_unit_test(sample_counters_are_printed_line_per_counter),
        cmocka_unit_test(trace_cmd_line_is_rounded_and_aligned),
        cmocka_unit_test(event_without_tracepoint_prints_fields),
        cmocka_unit_test(lost_events_and_counter_clock_print_as_trace_cmd),
        cmocka_unit_test(control_character_is_escaped_for_terminal),
        cmocka_unit_test(unknown_line_style_is_refused),
        cmocka_unit_test(write_failure_is_returned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
