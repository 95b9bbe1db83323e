/* Sorting, compared with a stable sort in memory; also with a tiny budget, so that each run goes to
 * disk. */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <signal.h>

#include <tracetta/advanced.h>
#include <tracetta/build.h>
#include <tracetta/report.h>
#include <tracetta/tracetta.h>

#include "support/memory_reader.h"
#include "model/reader.h"
#include "pipeline/order/sort.h"

#define N 5000

static ttr_event events[N], sorted[N + 1];

static const struct sort_limits tiny = {
    .run_events = 40, .run_bytes = 4096, .fan_in = 3, .read_bytes = 200};

static bool comes_before(const ttr_event *a, const ttr_event *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    return a->source != b->source ? a->source < b->source : a->offset < b->offset;
}

static size_t check_sorted(ttr *t, ttr_reader *reader, const ttr_event *original)
{
    ttr_batch batch;
    ttr_status status;
    size_t n = 0;
    ttr_event last = {0};
    while ((status = ttr_read(reader, &batch, NULL)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++, n++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            const ttr_event *was = &original[event->offset];
            assert_true(n == 0 || comes_before(&last, event));
            assert_int_equal(event->part, 0);
            assert_true(memory_has_fields(t, event, was->payload_size / 24));
            assert_true(event->time == was->time && event->name == was->name &&
                        event->kind == was->kind);
            last = *event;
        }
    assert_int_equal(status, TTR_END);
    return n;
}

static void sort_and_check(const struct sort_limits *limits)
{
    for (uint64_t seed = 1; seed < 6; seed++) {
        ttr *t = ttr_new(NULL);
        memory_random_events(t, events, N, seed, seed % 2 ? 100 : 1000000);
        for (size_t i = 0; i < N; i++)
            events[i].source = (uint16_t)(i % seed);
        ttr_reader *in = memory_reader(
            t, &(struct memory_events){.event = events, .n = N, .batch_max = 300, .seed = seed});
        ttr_reader *reader = sort_readers(t, &in, 1, limits, NULL);
        assert_int_equal(check_sorted(t, reader, events), N);
        ttr_close(reader);
        memory_events_free(events, N);
        ttr_free(t);
    }
    assert_int_equal(memory_readers_open(), 0);
}

static void events_outside_filter_range_are_dropped(void **state)
{
    ttr *t = ttr_new(NULL);
    size_t wanted = 0, others = 0, got = 0;
    ttr_batch batch;
    (void)state;
    memory_random_events(t, events, N, 3, 1000);
    for (size_t i = 0; i < N; i++) {
        events[i].kind = i % 50 == 7   ? TTR_KIND_OBJECT
                         : i % 50 == 9 ? TTR_KIND_GAP
                                       : events[i].kind;
        const bool is_asked = events[i].kind == TTR_KIND_OBJECT || events[i].kind == TTR_KIND_GAP;
        others += is_asked;
        wanted += events[i].kind != TTR_KIND_DEFINITION &&
                  (is_asked || event_is_in_range(&events[i], 400, 500));
    }
    assert_true(others > 0 && wanted > others && wanted < N / 2);
    ttr_reader *in =
        memory_reader(t, &(struct memory_events){.event = events, .n = N, .batch_max = 300});
    ttr_reader *reader = sort_readers(t, &in, 1, &tiny, NULL);
    reader_set_range(reader, 400, 500);
    while (ttr_read(reader, &batch, NULL) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++, got++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            assert_true(event->kind == TTR_KIND_OBJECT || event->kind == TTR_KIND_GAP ||
                        event_is_in_range(event, 400, 500));
        }
    assert_int_equal(got, wanted);
    ttr_close(reader);
    memory_events_free(events, N);
    ttr_free(t);
}

static void events_in_memory_are_sorted_by_time_source_and_position(void **state)
{
    (void)state;
    sort_and_check(&sort_limits_default);
}

static void events_on_disk_are_sorted_the_same(void **state)
{
    (void)state;
    sort_and_check(&tiny);
    sort_and_check(&(struct sort_limits){
        .run_events = 700, .run_bytes = 1 << 20, .fan_in = 16, .read_bytes = 1000});
}

static void one_reader_after_the_other_breaks_ties(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_reader *in[3];
    (void)state;
    for (size_t i = 0; i < 300; i++)
        events[i] = (ttr_event){.kind = TTR_KIND_INSTANT,
                                .time = (int64_t)(i % 7),
                                .offset = i,
                                .source = (uint16_t)(9 - i / 100)};
    for (size_t i = 0; i < 3; i++)
        in[i] = memory_reader(
            t, &(struct memory_events){.event = events + 100 * i, .n = 100, .batch_max = 9});
    ttr_reader *reader = sort_readers(t, in, 3, &tiny, NULL);
    assert_int_equal(memory_read_all(reader, sorted, N), 300);
    for (size_t i = 1; i < 300; i++)
        assert_true(sorted[i - 1].time < sorted[i].time || sorted[i - 1].offset < sorted[i].offset);
    ttr_report report = {.size = sizeof report};
    assert_true(ttr_reader_report(reader, 2, &report));
    assert_int_equal(report.events, 100);
    assert_false(ttr_reader_report(reader, 3, &report));
    ttr_close(reader);
    ttr_free(t);
}

static void activity_survives_the_disk(void **state)
{
    static const uint8_t ids[32] = {1, 2, 3, [16] = 9, [31] = 7};
    ttr *t = ttr_new(NULL);
    (void)state;
    for (size_t i = 0; i < 200; i++)
        events[i] = (ttr_event){.kind = TTR_KIND_INSTANT,
                                .time = -(int64_t)i,
                                .offset = i,
                                .payload = ids,
                                .payload_size = 32,
                                .activity = i % 2 ? ids : NULL,
                                .related = i % 3 ? ids + 16 : NULL};
    ttr_reader *in = memory_reader(t, &(struct memory_events){.event = events, .n = 200});
    ttr_reader *reader = sort_readers(t, &in, 1, &tiny, NULL);
    ttr_batch batch;
    while (ttr_read(reader, &batch, NULL) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = &batch.event[i];
            assert_int_equal(event->activity != NULL, event->offset % 2 != 0);
            assert_int_equal(event->related != NULL, event->offset % 3 != 0);
            assert_true(!event->activity || memcmp(event->activity, ids, 16) == 0);
            assert_true(!event->related || memcmp(event->related, ids + 16, 16) == 0);
        }
    ttr_close(reader);
    ttr_free(t);
}

static void sorted_input_is_returned_unchanged(void **state)
{
    ttr *t = ttr_new(NULL);
    (void)state;
    ttr_reader *in =
        memory_reader(t, &(struct memory_events){.event = events, .order = TTR_ORDER_TIME});
    assert_ptr_equal(ttr_sort(in, NULL), in);
    ttr_close(in);
    ttr_free(t);
}

static void definitions_are_dropped_and_an_empty_input_ends(void **state)
{
    ttr *t = ttr_new(NULL);
    (void)state;
    events[0] = (ttr_event){.kind = TTR_KIND_DEFINITION};
    ttr_reader *reader =
        ttr_sort(memory_reader(t, &(struct memory_events){.event = events, .n = 1}), NULL);
    assert_int_equal(memory_read_all(reader, sorted, N), 0);
    ttr_close(reader);
    ttr_free(t);
}

static void input_failure_follows_its_events(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_batch batch;
    ttr_error error = {0};
    (void)state;
    memory_random_events(t, events, 300, 3, 50);
    struct memory_events given = {.event = events, .n = 300, .ending = TTR_E_IO};
    ttr_reader *reader = ttr_sort(memory_reader(t, &given), NULL);
    size_t n = 0;
    ttr_status status;
    while ((status = ttr_read(reader, &batch, &error)) == TTR_OK)
        n += batch.n;
    assert_int_equal(n, 300);
    assert_int_equal(status, TTR_E_IO);
    assert_int_equal(error.status, TTR_E_IO);
    ttr_close(reader);
    memory_events_free(events, 300);
    ttr_free(t);
}

static void full_disk_is_reported(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_batch batch;
    ttr_error error = {0};
    struct rlimit old;
    (void)state;
    memory_random_events(t, events, N, 3, 50);
    ttr_reader *in = memory_reader(t, &(struct memory_events){.event = events, .n = N});
    ttr_reader *reader = sort_readers(t, &in, 1, &tiny, NULL);
    /* A file size limit replaces a full disk: writing fails at the same position, with EFBIG. */
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = 100000, .rlim_max = old.rlim_max}), 0);
    ttr_status status = ttr_read(reader, &batch, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(status, TTR_E_IO);
    assert_non_null(strstr(error.text, "TMPDIR"));
    ttr_close(reader);
    memory_events_free(events, N);
    ttr_free(t);
}

static void limit_of_temporary_file_is_reported(void **state)
{
    ttr *t = ttr_new(&(ttr_options){.size = sizeof(ttr_options), .max_temporary = 100000});
    ttr_batch batch;
    ttr_error error = {0};
    (void)state;
    memory_random_events(t, events, N, 3, 50);
    ttr_reader *in = memory_reader(t, &(struct memory_events){.event = events, .n = N});
    ttr_reader *reader = sort_readers(t, &in, 1, &tiny, NULL);
    assert_int_equal(ttr_read(reader, &batch, &error), TTR_E_LIMIT);
    assert_string_equal(error.option, "max_temporary");
    assert_non_null(strstr(error.text, "would exceed its limit of 100000 bytes"));
    ttr_close(reader);
    memory_events_free(events, N);
    ttr_free(t);
}

/* Input in order is one run, however small the memory is: no level of the merge rewrites it. */
static void ordered_input_is_written_once(void **state)
{
    (void)state;
    uint64_t size[2];
    for (unsigned is_tiny = 0; is_tiny < 2; is_tiny++) {
        ttr *t = ttr_new(NULL);
        struct sort_limits limits = tiny;
        if (!is_tiny)
            limits = (struct sort_limits){
                .run_events = 2 * N / 3, .run_bytes = 1 << 20, .fan_in = 3, .read_bytes = 200};
        memory_random_events(t, events, N, 3, 50);
        for (size_t i = 0; i < N; i++)
            events[i].time = (int64_t)i / 3;
        ttr_reader *in = memory_reader(t, &(struct memory_events){.event = events, .n = N});
        ttr_reader *reader = sort_readers(t, &in, 1, &limits, NULL);
        assert_int_equal(check_sorted(t, reader, events), N);
        size[is_tiny] = count_temporary_bytes(reader);
        ttr_close(reader);
        memory_events_free(events, N);
        ttr_free(t);
    }
    assert_true(size[0] > 0 && size[1] < size[0] + size[0] / 10);
}

static void spilled_events_are_smaller_than_in_memory(void **state)
{
    const struct sort_limits limits = {
        .run_events = 700, .run_bytes = 1 << 20, .fan_in = 16, .read_bytes = 1000};
    ttr *t = ttr_new(NULL);
    struct rlimit old;
    (void)state;
    memory_random_events(t, events, N, 3, 1000000);
    ttr_reader *in = memory_reader(t, &(struct memory_events){.event = events, .n = N});
    ttr_reader *reader = sort_readers(t, &in, 1, &limits, NULL);
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = N * sizeof *events / 2,
                                                              .rlim_max = old.rlim_max}),
                     0);
    size_t n = check_sorted(t, reader, events);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(n, N);
    ttr_close(reader);
    memory_events_free(events, N);
    ttr_free(t);
}

static void unwritable_temporary_folder_is_named(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_batch batch;
    ttr_error error = {0};
    (void)state;
    memory_random_events(t, events, 200, 3, 50);
    ttr_reader *in = memory_reader(t, &(struct memory_events){.event = events, .n = 200});
    ttr_reader *reader = sort_readers(t, &in, 1, &tiny, NULL);
    const char *ctx = getenv("TMPDIR");
    char old[512];
    (void)snprintf(old, sizeof old, "%s", ctx ? ctx : "");
    assert_int_equal(setenv("TMPDIR", "/proc/self/nowhere", 1), 0);
    assert_int_equal(ttr_read(reader, &batch, &error), TTR_E_IO);
    assert_int_equal(old[0] ? setenv("TMPDIR", old, 1) : unsetenv("TMPDIR"), 0);
    assert_non_null(strstr(error.text, "/proc/self/nowhere"));
    ttr_close(reader);
    memory_events_free(events, 200);
    ttr_free(t);
}

static bool sorts_through(ttr *t, const ttr_event *given, size_t n)
{
    ttr_error error = {0};
    ttr_reader *in = memory_reader(t, &(struct memory_events){.event = given, .n = n});
    ttr_reader *reader = sort_readers(t, &in, 1, &tiny, &error);
    return memory_reads_through(reader, &error);
}

static void failing_allocation_is_reported(void **state)
{
    (void)state;
    memory_fail_each(sorts_through, 500);
}

/* Returns the peak memory of sorting 60 inputs with so many reports each. */
static size_t peak_of(uint32_t reports)
{
    struct support_heap heap;
    support_heap_init(&heap, 0);
    ttr *t = ttr_new(&(ttr_options){
        .size = sizeof(ttr_options), .resize = heap.alloc.resize, .user_data = heap.alloc.ctx});
    ttr_reader *in[60];
    memory_random_events(t, events, N, 3, 1000000);
    for (size_t i = 0; i < 60; i++) {
        in[i] = memory_reader(t, &(struct memory_events){.event = events, .n = N});
        in[i]->reports = reports;
    }
    size_t before = heap.bytes;
    ttr_reader *reader = sort_readers(t, in, 60, &sort_limits_default, NULL);
    ttr_batch batch;
    size_t n = 0;
    while (ttr_read(reader, &batch, NULL) == TTR_OK)
        n += batch.n;
    assert_int_equal(n, 60 * N);
    const size_t peak = heap.peak - before;
    ttr_close(reader);
    memory_events_free(events, N);
    ttr_free(t);
    support_heap_check(&heap);
    return peak;
}

static void memory_stays_flat(void **state)
{
    (void)state;
    assert_true(peak_of(1) < (size_t)16 << 20);
}

static void many_inputs_reduce_sort_memory(void **state)
{
    (void)state;
    assert_true(peak_of(40) < (size_t)5 << 20);
}

/* Memory for one large event is freed afterwards: the write buffer and the read buffer. */
static void large_event_memory_is_freed_after_it(void **state)
{
    enum { LARGE = 8 << 20 };
    struct support_heap heap;
    uint64_t seed = 1, *bytes = malloc(LARGE);
    ttr_batch batch;
    (void)state;
    assert_non_null(bytes);
    for (size_t i = 0; i < LARGE / sizeof *bytes; i++)
        bytes[i] = support_random(&seed);
    support_heap_init(&heap, 0);
    ttr *t = ttr_new(&(ttr_options){
        .size = sizeof(ttr_options), .resize = heap.alloc.resize, .user_data = heap.alloc.ctx});
    ttr_builder *builder = ttr_builder_new(t);
    ttr_event_begin(builder, TTR_KIND_INSTANT, 1, "", "e");
    ttr_add_bytes(builder, "bytes", bytes, LARGE);
    assert_int_equal(ttr_event_build(builder, &batch, NULL), TTR_OK);
    const size_t before = heap.bytes;
    ttr_reader *in = memory_reader(t, &(struct memory_events){.event = batch.event, .n = 1});
    ttr_reader *reader = sort_readers(t, &in, 1, &sort_limits_default, NULL);
    assert_int_equal(ttr_read(reader, &batch, NULL), TTR_OK);
    assert_int_equal(batch.n, 1);
    assert_in_range(heap.bytes - before, LARGE, LARGE + ((size_t)1 << 20));
    ttr_close(reader);
    ttr_builder_free(builder);
    ttr_free(t);
    support_heap_check(&heap);
    free(bytes);
}

static bool goes_on_twice(void *ctx)
{
    int *asked = ctx;
    return ++*asked <= 2;
}

static void progress_stop_ends_input_early(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    int asked = 0;
    for (size_t i = 0; i < 1000; i++)
        events[i] = (ttr_event){.kind = TTR_KIND_INSTANT, .time = 1000 - (int64_t)i};
    ttr_progress_set(t, goes_on_twice, &asked);
    ttr_reader *reader = ttr_sort(
        memory_reader(t, &(struct memory_events){.event = events, .n = 1000, .batch_max = 10}),
        NULL);
    size_t n = memory_read_all(reader, sorted, 1000);
    assert_int_equal(asked, 3);
    assert_in_range(n, 10, 990);
    assert_int_equal(sorted[n - 1].time, 1000);
    assert_int_equal(sorted[0].time, 1000 - (int64_t)n + 1);
    ttr_close(reader);
    ttr_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_in_memory_are_sorted_by_time_source_and_position),
        cmocka_unit_test(events_on_disk_are_sorted_the_same),
        cmocka_unit_test(events_outside_filter_range_are_dropped),
        cmocka_unit_test(one_reader_after_the_other_breaks_ties),
        cmocka_unit_test(activity_survives_the_disk),
        cmocka_unit_test(sorted_input_is_returned_unchanged),
        cmocka_unit_test(definitions_are_dropped_and_an_empty_input_ends),
        cmocka_unit_test(input_failure_follows_its_events),
        cmocka_unit_test(progress_stop_ends_input_early),
        cmocka_unit_test(full_disk_is_reported),
        cmocka_unit_test(limit_of_temporary_file_is_reported),
        cmocka_unit_test(ordered_input_is_written_once),
        cmocka_unit_test(spilled_events_are_smaller_than_in_memory),
        cmocka_unit_test(unwritable_temporary_folder_is_named),
        cmocka_unit_test(failing_allocation_is_reported),
        cmocka_unit_test(memory_stays_flat),
        cmocka_unit_test(large_event_memory_is_freed_after_it),
        cmocka_unit_test(many_inputs_reduce_sort_memory),
    };
    return cmocka_run_group_tests_name("sort", tests, NULL, NULL);
}
