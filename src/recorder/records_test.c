/* Every kind of record that programs write, at its limits, is accepted by the manager. Its layout
 * in the archive is that of the specification. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorder/recorder.h"
#include "support/recorder_scene.h"
#include "support/support.h"

#define TEXT_MAX 4096u
#define LOG_MAX 1024u
#define BLOB_MAX 32000u

static char long_text[TEXT_MAX + 100];
static uint8_t bytes[BLOB_MAX + 100];

/* Records of each type in the archive, by the low four bits of their headers. */
struct counts {
    uint64_t of_type[16], bytes_of_blobs;
};

/* Counts records, the sizes of which must lead from one to the next. */
static struct counts count_records(void)
{
    struct counts counts = {{0}, 0};
    size_t at = 1;
    for (size_t n; at < scene.words_n; at += n) {
        const uint64_t header = scene.words[at];
        n = header >> 4 & 0xfff;
        assert_true(n > 0 && n <= scene.words_n - at);
        if ((header & 15) == TRACE_FXT_BLOB && header >> 31 & 1)
            continue; /* the index of the archive, with an inline name */
        counts.of_type[header & 15]++;
        if ((header & 15) == TRACE_FXT_BLOB) /* [32..46] size of the payload in bytes */
            counts.bytes_of_blobs += header >> 32 & 0x7fff;
    }
    assert_int_equal(at, scene.words_n);
    return counts;
}

/* Records what a program writes, all of which must be valid. */
static struct counts record_program(void (*body)(uint64_t), uint64_t events)
{
    ttr_manager_stats stats;
    memset(long_text, 'x', sizeof long_text - 1);
    scene.options.buffer_bytes = 16 * TRACE_CHUNK;
    scene_open();
    pid_t child = scene_start(body, 0);
    scene_serve(&child, 1);
    scene_close(&stats);
    assert_int_equal(stats.invalid, 0);
    assert_int_equal(stats.expelled, 0);
    assert_int_equal(stats.dropped, 0);
    assert_int_equal(stats.events, events);
    return count_records();
}

static void write_blobs(uint64_t unused)
{
    (void)unused;
    for (size_t n = 0; n <= 8; n++)
        TTR_BLOB(net, "small", bytes, n);
    TTR_BLOB(net, "large", bytes, BLOB_MAX);
    TTR_BLOB(net, "cut", bytes, sizeof bytes);
    TTR_INSTANT(net, "numbered", TTR_ARG("n", (uint64_t)0));
}

static void blobs_of_all_sizes_are_valid(void **state)
{
    (void)state;
    const struct counts counts = record_program(write_blobs, 12);
    assert_int_equal(counts.of_type[TRACE_FXT_BLOB], 11);
    assert_int_equal(counts.bytes_of_blobs, 36 + 2 * BLOB_MAX);
    assert_int_equal(scene_read().events, 1);
}

static void write_texts(uint64_t unused)
{
    (void)unused;
    TTR_LOG(net, "%s", "");
    TTR_LOG(net, "%s", "seven b");
    TTR_LOG(net, "%.*s", (int)LOG_MAX, long_text);
    TTR_LOG(net, "%s", long_text);
    TTR_OBJECT(net, bytes, "");
    TTR_OBJECT(net, bytes, "bytes");
    TTR_OBJECT(net, bytes, long_text);
    TTR_INSTANT(net, "text", TTR_ARG("text", ""), TTR_ARG("text", "seven b"),
                TTR_ARG("text", (const char *)long_text), TTR_ARG("text", (const char *)NULL));
    TTR_INSTANT(net, "bytes", TTR_ARG_TEXT("text", long_text, TEXT_MAX),
                TTR_ARG_TEXT("text", "", 0));
}

static void texts_of_all_lengths_are_valid(void **state)
{
    (void)state;
    const struct counts counts = record_program(write_texts, 9);
    assert_int_equal(counts.of_type[TRACE_FXT_LOG], 4);
    assert_int_equal(counts.of_type[TRACE_FXT_OBJECT], 3);
    assert_int_equal(counts.of_type[TRACE_FXT_EVENT], 2);
}

static void write_zones(void)
{
    TTR_ZONE(net, "outer", TTR_ARG("n", 1));
    TTR_ZONE_ARG("late", 1.5);
    {
        TTR_ZONE(disk, "inner");
        TTR_LAP(disk, "lap", TTR_ARG("flag", true));
    }
    TTR_BEGIN(net, "open");
    TTR_END(net, "open");
}

static void write_events(uint64_t unused)
{
    (void)unused;
    write_zones(); /* 5 events */
    TTR_COUNTER(net, "depth", 1, TTR_ARG("a", 1), TTR_ARG("b", 2.5));
    TTR_ASYNC_BEGIN(7, net, "request");
    TTR_ASYNC_INSTANT(7, net, "request", TTR_ARG("id", (uint64_t)7));
    TTR_ASYNC_END(7, net, "request");
    TTR_FLOW_BEGIN(8, net, "flow");
    TTR_FLOW_STEP(8, net, "flow");
    TTR_FLOW_END(8, net, "flow", TTR_ARG("n", INT64_MIN));
    TTR_INSTANT_LEVEL(TTR_TRACE_CRITICAL, net, "critical");
    TTR_INSTANT(net, "all", TTR_ARG("u32", 1u), TTR_ARG("i32", -1), TTR_ARG("u64", UINT64_MAX),
                TTR_ARG("i64", INT64_MIN), TTR_ARG("real", 0.5), TTR_ARG("pointer", (void *)bytes),
                TTR_ARG("flag", false), TTR_ARG_KOID("koid", 9), TTR_ARG_NULL("null"),
                TTR_ARG("a", 1), TTR_ARG("b", 1), TTR_ARG("c", 1), TTR_ARG("d", 1), TTR_ARG("e", 1),
                TTR_ARG("f", 1)); /* 15 arguments */
    if (!ttr_trace_virtual_thread_enter(5, "queue of a GPU"))
        _exit(1);
    write_zones();
    TTR_LOG(net, "on a virtual thread");
    TTR_OBJECT(net, bytes, "bytes");
    ttr_trace_virtual_thread_leave();
}

static void events_of_all_kinds_are_valid(void **state)
{
    (void)state;
    const struct counts counts = record_program(write_events, 5 + 9 + 5 + 2);
    assert_int_equal(counts.of_type[TRACE_FXT_EVENT], 5 + 9 + 5);
    assert_int_equal(counts.of_type[TRACE_FXT_KERNEL_OBJECT], 3); /* process and both threads */
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, scene_set_up, scene_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(blobs_of_all_sizes_are_valid),
        CASE(texts_of_all_lengths_are_valid),
        CASE(events_of_all_kinds_are_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
