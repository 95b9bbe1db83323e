/* Traces recorded by two versions of the original writer: their contents, and that a copy is
 * byte-identical. TTR_CORPUS names the folder of recorded traces; without it the tests pass and
 * print a line about it. */
#include <stdio.h>
#include <stdlib.h>

#include <tracetta/advanced.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "base/buffer.h"
#include "support/corpus.h"
#include "support/support.h"
#include "support/writing.h"

struct recorded {
    const char *name;
    uint64_t events;
    uint32_t streams, threads;
    uint64_t notes; /* maximum number of note codes, all of them remarks */
};

static const struct recorded recorded[] = {
    {"heph-head-example7.trace", 97, 3, 3, 0},
    {"heph-0.4.0-example8.trace", 106, 3, 9, 1},
    {"heph-head-redis-app.trace", 727, 3, 3, 0},
    {"heph-head-alltypes.trace", 2085, 4, 4, 0},
    {"heph-0.4.0-alltypes-pids.trace", 7620, 4, 14, 1},
    {"heph-head-big-sparse-123MB.trace.zst", 1214901, 2, 2, 0},
};

static ttr_reader *open_trace(ttr *t, const char *path, uint32_t flags)
{
    ttr_error error = {0};
    ttr_read_options options = {.size = sizeof options, .flags = flags};
    ttr_reader *reader = ttr_open(t, path, &options, &error);
    if (!reader)
        fail_msg("%s: %s", path, error.text);
    return reader;
}

static void check_recorded(const struct recorded *expected, const char *path)
{
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = open_trace(t, path, TTR_READ_STRICT);
    ttr_error error;
    ttr_batch batch;
    ttr_status status;
    uint64_t events = 0;
    while ((status = ttr_read(reader, &batch, &error)) == TTR_OK)
        events += batch.n;
    ttr_report report = {.size = sizeof report};
    assert_true(ttr_reader_report(reader, 0, &report));
    assert_int_equal(status, TTR_END);
    assert_int_equal(events, expected->events);
    assert_int_equal(report.events, expected->events);
    assert_int_equal(ttr_track_count(t), expected->streams);
    assert_int_equal(ttr_thread_count(t), expected->threads);
    assert_int_equal(report.notes_n, expected->notes);
    for (size_t i = 0; i < report.notes_n; i++)
        assert_int_equal(report.notes[i].severity, TTR_SEVERITY_REMARK);
    assert_int_equal(report.lost, 0);
    assert_true(report.clocks[0].is_anchored);
    ttr_close(reader);
    ttr_free(t);
}

static void recorded_traces_read_completely_without_losses(void **state)
{
    char path[600];
    (void)state;
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++)
        if (corpus_find("heph", recorded[i].name, path, sizeof path))
            check_recorded(&recorded[i], path);
}

/* Copies a trace and returns the bytes of the copy. */
static void copy_trace(const char *path, uint32_t flags, struct buffer *copy)
{
    ttr_error error = {0};
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = open_trace(t, path, flags);
    buffer_init(copy, alloc_default());
    ttr_writer *writer = ttr_create_push(t, writing_to_buffer, copy, "heph", NULL, &error);
    assert_non_null(writer);
    assert_int_equal(ttr_copy(reader, writer, NULL, NULL, &error), TTR_OK);
    const ttr_loss *losses;
    assert_int_equal(ttr_losses(writer, &losses), 0);
    assert_int_equal(ttr_finish(writer, &error), TTR_OK);
    ttr_close(reader);
    ttr_free(t);
}

static void check_same_bytes(const char *path, const struct buffer *copy)
{
    static uint8_t block[65536];
    FILE *file = fopen(path, "rb");
    size_t at = 0;
    assert_non_null(file);
    for (size_t n; (n = fread(block, 1, sizeof block, file)) > 0; at += n) {
        assert_true(at + n <= copy->n);
        assert_memory_equal(block, copy->bytes + at, n);
    }
    (void)fclose(file);
    assert_int_equal(at, copy->n);
}

static void copies_are_identical_with_and_without_metadata(void **state)
{
    char path[600];
    (void)state;
    for (size_t i = 0; i + 1 < sizeof recorded / sizeof *recorded; i++) {
        struct buffer copy;
        if (!corpus_find("heph", recorded[i].name, path, sizeof path))
            continue;
        copy_trace(path, TTR_READ_DEFINITIONS, &copy);
        check_same_bytes(path, &copy);
        buffer_free(&copy);
    }
    /* Without metadata the writer creates the epoch packet and the counters. They equal the
     * original if its counters were in order. */
    if (corpus_find("heph", "heph-head-redis-app.trace", path, sizeof path)) {
        struct buffer copy;
        copy_trace(path, 0, &copy);
        check_same_bytes(path, &copy);
        buffer_free(&copy);
    }
}

static void runtime_trace_names_streams_and_actors(void **state)
{
    char path[600];
    (void)state;
    if (!corpus_find("heph", "heph-0.4.0-example8.trace", path, sizeof path))
        return;
    ttr *t = ttr_new(NULL);
    ttr_reader *reader = open_trace(t, path, 0);
    ttr_error error;
    ttr_batch batch;
    while (ttr_read(reader, &batch, &error) == TTR_OK)
        continue;
    unsigned named = 0;
    for (ttr_id id = 1; id <= ttr_thread_count(t); id++) {
        ttr_thread thread;
        assert_true(ttr_thread_get(t, id, &thread));
        const char *name = ttr_text_get(t, thread.process_name).p;
        assert_string_equal(name, thread.pid == 0   ? "coordinator"
                                  : thread.pid == 1 ? "worker 1"
                                                    : "sync actor 0");
        named += thread.thread_name != 0;
    }
    assert_int_not_equal(named, 0);
    ttr_close(reader);
    ttr_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_traces_read_completely_without_losses),
        cmocka_unit_test(copies_are_identical_with_and_without_metadata),
        cmocka_unit_test(runtime_trace_names_streams_and_actors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
