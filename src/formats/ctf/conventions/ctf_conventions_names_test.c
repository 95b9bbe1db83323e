/* Thread names in traces of several streams: each name is valid from its record on, whichever way
 * the streams are read. */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>

#include <tracetta/advanced.h>
#include <tracetta/build.h>
#include <tracetta/tracetta.h>

#include "support/files.h"

#define EVENTS 3000u
#define THREADS 3u
#define EACH 37u /* events per name of a thread */

/* Writes events of three threads that move over all CPUs. Threads are renamed from time to time;
 * the first event with a new name contains the name, too. */
static void write_renamed(const char *path, unsigned cpus, const char *version)
{
    const char *const options[] = {version, NULL};
    const ttr_write_options how = {.size = sizeof how, .format_options = options};
    uint64_t seed = cpus;
    char name[32];
    ttr *t = ttr_new(NULL);
    ttr_writer *out = ttr_create(t, path, "ctf", &how, NULL);
    ttr_builder *builder = ttr_builder_new(t);
    assert_true(out && builder);
    for (uint32_t i = 0; i < EVENTS; i++) {
        const uint64_t tid = 1 + i % THREADS;
        (void)snprintf(name, sizeof name, "t%u.%u", (unsigned)tid, (unsigned)(i / EACH));
        assert_true(ttr_thread_name(t, 1, tid, tid == 1 ? name : NULL, name));
        ttr_event_begin(builder, TTR_KIND_INSTANT, 1000 + 10 * (int64_t)i, NULL, "work");
        ttr_event_set_thread(builder, 1, tid);
        ttr_event_attributes(builder)->cpu = (uint32_t)(support_random(&seed) % cpus);
        ttr_event_attributes(builder)->flags |= TTR_EVENT_HAS_CPU;
        ttr_add_text(builder, "own", name);
        assert_int_equal(ttr_event_end(builder, out, NULL), TTR_OK);
    }
    ttr_builder_free(builder);
    assert_int_equal(ttr_finish(out, NULL), TTR_OK);
    ttr_free(t);
}

/* Expects that every event's thread has the name that the event contains. */
static void expect_names(ttr *t, ttr_reader *in)
{
    ttr_batch batch;
    uint32_t n = 0;
    assert_non_null(in);
    while (ttr_read(in, &batch, NULL) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            ttr_field field;
            ttr_thread thread;
            assert_int_equal(event->time, 1000 + 10 * (int64_t)n++);
            assert_true(ttr_thread_get(t, event->thread, &thread));
            assert_true(ttr_field_find(t, event, "own", &field));
            const ttr_text name = ttr_text_get(t, thread.thread_name),
                           process = ttr_text_get(t, thread.process_name);
            support_assert_text(name.p, name.n, field.value.text.p);
            if (thread.tid == 1)
                support_assert_text(process.p, process.n, field.value.text.p);
        }
    assert_int_equal(n, EVENTS);
    ttr_close(in);
}

static void read_renamed(const char *path, uint32_t flags)
{
    const ttr_read_options how = {.size = sizeof how, .flags = flags};
    ttr *t = ttr_new(NULL);
    ttr_reader *in = ttr_open(t, path, &how, NULL);
    expect_names(t, flags & TTR_READ_UNORDERED ? ttr_sort(in, NULL) : in);
    ttr_free(t);
}

/* One stream, two that alternate, a few that are merged event by event, many that are read in
 * windows, and hundreds. */
static void thread_names_apply_from_their_record_on(void **state)
{
    (void)state;
    static const unsigned cpus[] = {1, 2, 4, 8, 250};
    static const char *const versions[] = {"version=1.8", "version=2", "version=1.1"};
    for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++)
        for (size_t k = 0; k < sizeof versions / sizeof *versions; k++) {
            char folder[] = "/tmp/tracetta-names-XXXXXX", path[64];
            assert_non_null(mkdtemp(folder));
            (void)snprintf(path, sizeof path, "%s/trace", folder);
            write_renamed(path, cpus[i], versions[k]);
            read_renamed(path, 0);
            read_renamed(path, TTR_READ_NO_MMAP);
            read_renamed(path, TTR_READ_UNORDERED);
            assert_int_equal(files_remove(folder), 0);
        }
}

/* A caller that counts reads the streams one after another; at the end each thread has its last
 * name. */
static void thread_names_of_sequential_reading_end_as_last_names(void **state)
{
    (void)state;
    char folder[] = "/tmp/tracetta-names-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/trace", folder);
    write_renamed(path, 8, "version=1.8");
    ttr *t = ttr_new(NULL);
    ttr_reader *in = ttr_open(t, path, NULL, NULL);
    ttr_batch batch;
    uint32_t n = 0;
    assert_true(in && ttr_reader_allow_stream_order(in));
    while (ttr_read(in, &batch, NULL) == TTR_OK)
        n += batch.n;
    assert_int_equal(n, EVENTS);
    for (ttr_id i = 1, seen = 0; i <= ttr_thread_count(t); i++) {
        ttr_thread thread;
        char name[32];
        if (!ttr_thread_get(t, i, &thread) || !thread.tid_known)
            continue;
        const uint32_t last = EVENTS - 1 - (EVENTS - (uint32_t)thread.tid) % THREADS;
        (void)snprintf(name, sizeof name, "t%u.%u", (unsigned)thread.tid, (unsigned)(last / EACH));
        assert_string_equal(ttr_text_get(t, thread.thread_name).p, name);
        assert_true(++seen <= THREADS);
    }
    ttr_close(in);
    ttr_free(t);
    assert_int_equal(files_remove(folder), 0);
}

/* A filter on names must not read streams one after another, because it would see no names, or only
 * the last ones. */
static void thread_filter_uses_names_at_time_of_event(void **state)
{
    (void)state;
    static const char *const threads[] = {"t2.1*", NULL};
    char folder[] = "/tmp/tracetta-names-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/trace", folder);
    write_renamed(path, 8, "version=1.8");
    ttr *t = ttr_new(NULL);
    ttr_filter filter;
    ttr_filter_init(&filter);
    filter.threads = threads;
    ttr_reader *in = ttr_filter_new(ttr_open(t, path, NULL, NULL), &filter, NULL);
    ttr_batch batch;
    uint32_t n = 0, wanted = 0;
    for (uint32_t i = 0; i < EVENTS; i++)
        wanted += i % THREADS == 1 && (i / EACH == 1 || (i / EACH >= 10 && i / EACH < 20));
    assert_non_null(in);
    assert_false(ttr_reader_allow_stream_order(in));
    while (ttr_read(in, &batch, NULL) == TTR_OK)
        n += batch.n;
    assert_int_equal(n, wanted);
    ttr_close(in);
    ttr_free(t);
    assert_int_equal(files_remove(folder), 0);
}

static void write_on(ttr_builder *builder, ttr_writer *out, int64_t time, uint32_t cpu)
{
    ttr_event_begin(builder, TTR_KIND_INSTANT, time, NULL, "work");
    ttr_event_set_thread(builder, 1, 2);
    ttr_event_attributes(builder)->cpu = cpu;
    ttr_event_attributes(builder)->flags |= TTR_EVENT_HAS_CPU;
    assert_int_equal(ttr_event_end(builder, out, NULL), TTR_OK);
}

/* The first stream ends long before the name is recorded. */
static void thread_name_after_all_events_applies_to_none(void **state)
{
    (void)state;
    char folder[] = "/tmp/tracetta-names-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/trace", folder);
    ttr *t = ttr_new(NULL);
    ttr_writer *out = ttr_create(t, path, "ctf", NULL, NULL);
    ttr_builder *builder = ttr_builder_new(t);
    assert_true(out && builder && ttr_thread_name(t, 1, 2, NULL, "one"));
    write_on(builder, out, 10, 0);
    write_on(builder, out, 30, 1);
    write_on(builder, out, 30, 2);
    assert_true(ttr_thread_name(t, 1, 2, NULL, "two"));
    ttr_builder_free(builder);
    assert_int_equal(ttr_finish(out, NULL), TTR_OK);
    ttr_free(t);
    t = ttr_new(NULL);
    ttr_reader *in = ttr_open(t, path, NULL, NULL);
    ttr_batch batch;
    ttr_thread thread = {.thread_name = 0};
    ttr_id id = 0;
    uint32_t n = 0;
    assert_non_null(in);
    for (; ttr_read(in, &batch, NULL) == TTR_OK; n += batch.n) {
        id = ttr_batch_at(&batch, 0)->thread;
        assert_true(ttr_thread_get(t, id, &thread));
        assert_string_equal(ttr_text_get(t, thread.thread_name).p, "one");
    }
    assert_int_equal(n, 3);
    assert_true(ttr_thread_get(t, id, &thread));
    assert_string_equal(ttr_text_get(t, thread.thread_name).p, "two");
    ttr_close(in);
    ttr_free(t);
    assert_int_equal(files_remove(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thread_names_apply_from_their_record_on),
        cmocka_unit_test(thread_names_of_sequential_reading_end_as_last_names),
        cmocka_unit_test(thread_filter_uses_names_at_time_of_event),
        cmocka_unit_test(thread_name_after_all_events_applies_to_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
