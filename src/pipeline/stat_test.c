/* Statistics: by hand, against the figures of an independent reader, in bounded memory. */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>

#include <tracetta/analyse.h>

#include "support/corpus.h"
#include "support/memory_reader.h"
#include "model/context.h"

#define N 4000

static ttr_event events[N];

static ttr_event *put(ttr *t, size_t at, ttr_kind kind, int64_t time, const char *name)
{
    events[at] = (ttr_event){.kind = (uint8_t)kind, .time = time, .offset = at, .payload_size = 0};
    events[at].name = ttr_text_add(t, name, strlen(name));
    events[at].thread = context_thread(t, 0, 1, 1);
    return &events[at];
}

static void put_span(ttr *t, size_t at, int64_t begin, int64_t end, const char *name)
{
    put(t, at, TTR_KIND_SPAN, begin, name)->duration = (uint64_t)(end - begin);
}

static ttr_stat *stat_of(ttr *t, size_t n)
{
    ttr_reader *reader =
        memory_reader(t, &(struct memory_events){.event = events, .n = n, .batch_max = 7});
    ttr_stat *stat = ttr_stat_new(t, reader, NULL, NULL, NULL);
    assert_non_null(stat);
    ttr_close(reader);
    return stat;
}

static const ttr_stat_row *row_of(ttr *t, const ttr_stat *stat, const char *name)
{
    const ttr_stat_row *rows;
    size_t n = ttr_stat_rows(stat, &rows);
    for (size_t i = 0; i < n; i++)
        if (rows[i].name == ttr_text_find(t, name, strlen(name)))
            return &rows[i];
    fail_msg("no row \"%s\"", name);
    return NULL;
}

static void spans_have_total_self_and_quantiles(void **state)
{
    ttr *t = ttr_new(NULL);
    (void)state;
    put_span(t, 0, 10, 20, "inner");
    put_span(t, 1, 30, 60, "inner");
    put_span(t, 2, 0, 100, "outer");
    put(t, 3, TTR_KIND_INSTANT, 1000, "tick");
    ttr_stat *stat = stat_of(t, 4);
    const ttr_stat_row *inner = row_of(t, stat, "inner"), *outer = row_of(t, stat, "outer"),
                       *tick = row_of(t, stat, "tick");
    assert_int_equal(inner->count, 2);
    assert_int_equal(inner->total, 40);
    assert_int_equal(inner->self, 40);
    assert_int_equal(inner->min, 10);
    assert_int_equal(inner->max, 30);
    assert_int_equal(inner->p50, 10);
    assert_int_equal(inner->p99, 30);
    assert_int_equal(inner->first_ns, 10);
    assert_int_equal(inner->last_ns, 60);
    assert_int_equal(outer->self, 60);
    assert_int_equal(tick->count, 1);
    assert_int_equal(tick->min, 0);
    /* One in 1,000 ns is a million a second. */
    assert_true(tick->rate > 999999 && tick->rate < 1000001);
    ttr_stat_free(stat);
    ttr_free(t);
}

static void begin_and_end_are_one_span_of_the_name_of_its_begin(void **state)
{
    ttr *t = ttr_new(NULL);
    (void)state;
    put(t, 0, TTR_KIND_BEGIN, 10, "a")->payload_size = 0;
    put(t, 1, TTR_KIND_BEGIN, 20, "b");
    put(t, 2, TTR_KIND_END, 25, "");
    put(t, 3, TTR_KIND_END, 40, "other");
    put(t, 4, TTR_KIND_END, 50, "a");
    put(t, 5, TTR_KIND_BEGIN, 60, "a");
    put(t, 6, TTR_KIND_ASYNC_BEGIN, 12, "async")->link = 5;
    put(t, 7, TTR_KIND_ASYNC_END, 90, "async")->link = 5;
    ttr_stat *stat = stat_of(t, 8);
    const ttr_stat_row *a = row_of(t, stat, "a"), *b = row_of(t, stat, "b"),
                       *async = row_of(t, stat, "async"), *rows;
    assert_int_equal(ttr_stat_rows(stat, &rows), 3);
    assert_int_equal(a->kind, TTR_KIND_SPAN);
    assert_int_equal(a->count, 2);
    assert_int_equal(a->unfinished, 1);
    assert_int_equal(a->total, 30);
    assert_int_equal(a->self, 25);
    assert_int_equal(b->total, 5);
    assert_int_equal(async->total, 78);
    assert_int_equal(async->self, 78);
    assert_int_equal(ttr_stat_unmatched(stat), 1);
    ttr_stat_free(stat);
    ttr_free(t);
}

static void rows_are_sorted_by_total_then_count_then_name(void **state)
{
    static const char *const order[] = {"long", "b", "a", "d", "c", "e"};
    ttr *t = ttr_new(NULL);
    const ttr_stat_row *rows;
    (void)state;
    put_span(t, 0, 0, 5, "a");
    put_span(t, 1, 10, 13, "b");
    put_span(t, 2, 15, 17, "b");
    put_span(t, 3, 20, 90, "long");
    put(t, 4, TTR_KIND_INSTANT, 1, "e");
    put(t, 5, TTR_KIND_INSTANT, 1, "d");
    put(t, 6, TTR_KIND_INSTANT, 1, "d");
    put(t, 7, TTR_KIND_LOG, 1, "c");
    ttr_stat *stat = stat_of(t, 8);
    assert_int_equal(ttr_stat_rows(stat, &rows), 6);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(ttr_text_get(t, rows[i].name).p, order[i]);
    ttr_stat_free(stat);
    ttr_free(t);
}

static void providers_and_kinds_have_rows_of_their_own(void **state)
{
    ttr *t = ttr_new(NULL);
    const ttr_stat_row *rows;
    (void)state;
    for (size_t i = 0; i < 60; i++)
        put(t, i, i % 2 ? TTR_KIND_INSTANT : TTR_KIND_LOG, (int64_t)i, "same")->provider =
            ttr_text_add(t, i % 3 ? "p" : "q", 1);
    put(t, 60, TTR_KIND_GAP, 5, "");
    put(t, 61, TTR_KIND_DEFINITION, 5, "");
    ttr_stat *stat = stat_of(t, 62);
    assert_int_equal(ttr_stat_rows(stat, &rows), 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(rows[i].count, i < 2 ? 20 : 10);
    ttr_stat_free(stat);
    ttr_free(t);
}

static bool stop_at_once(void *ctx)
{
    ++*(unsigned *)ctx;
    return false;
}

static void ended_early_it_gives_what_it_has(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    unsigned calls = 0;
    const ttr_stat_row *rows;
    (void)state;
    for (size_t i = 0; i < N; i++)
        put(t, i, TTR_KIND_INSTANT, 1, "x");
    ttr_reader *reader =
        memory_reader(t, &(struct memory_events){.event = events, .n = N, .batch_max = 1});
    ttr_stat *stat = ttr_stat_new(t, reader, stop_at_once, &calls, &error);
    assert_int_equal(error.status, TTR_AGAIN);
    assert_int_equal(calls, 1);
    assert_int_equal(ttr_stat_rows(stat, &rows), 1);
    assert_true(rows[0].count > 0 && rows[0].count < N);
    ttr_stat_free(stat);
    ttr_close(reader);
    ttr_free(t);
}

static void failure_of_the_reader_is_passed_on_with_what_came_before(void **state)
{
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    const ttr_stat_row *rows;
    (void)state;
    put(t, 0, TTR_KIND_INSTANT, 1, "x");
    put(t, 1, TTR_KIND_INSTANT, 2, "x");
    ttr_reader *reader =
        memory_reader(t, &(struct memory_events){.event = events, .n = 2, .ending = TTR_E_IO});
    ttr_stat *stat = ttr_stat_new(t, reader, NULL, NULL, &error);
    assert_int_equal(error.status, TTR_E_IO);
    assert_int_equal(ttr_stat_rows(stat, &rows), 1);
    assert_int_equal(rows[0].count, 2);
    ttr_stat_free(stat);
    ttr_close(reader);
    ttr_free(t);
}

static void begin_that_never_ends_again_and_again_takes_bounded_memory(void **state)
{
    struct support_heap heap;
    support_heap_init(&heap, 0);
    ttr *t = ttr_new(&(ttr_options){
        .size = sizeof(ttr_options), .resize = heap.alloc.resize, .ctx = heap.alloc.ctx});
    (void)state;
    memory_random_events(t, events, N, 5, 100000);
    size_t before = heap.bytes;
    ttr_reader *in[60];
    for (size_t i = 0; i < 60; i++)
        in[i] = memory_reader(
            t, &(struct memory_events){.event = events, .n = N, .order = TTR_ORDER_TIME});
    ttr_reader *reader = ttr_merge(t, in, 60, NULL);
    ttr_stat *stat = ttr_stat_new(t, reader, NULL, NULL, NULL);
    assert_non_null(stat);
    assert_true(heap.peak - before < (size_t)40 * 1024 * 1024);
    ttr_stat_free(stat);
    ttr_close(reader);
    memory_events_free(events, N);
    ttr_free(t);
    support_heap_check(&heap);
}

static bool stats_through(ttr *t, const ttr_event *given, size_t n)
{
    ttr_error error = {0};
    ttr_reader *reader = memory_reader(t, &(struct memory_events){.event = given, .n = n});
    ttr_stat *stat = ttr_stat_new(t, reader, NULL, NULL, &error);
    bool is_through = stat != NULL;
    assert_true(is_through || error.status == TTR_E_NOMEM);
    ttr_stat_free(stat);
    ttr_close(reader);
    return is_through;
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    memory_fail_each(stats_through, 400);
}

static FILE *open_truth(char *trace, size_t size)
{
    char truth[1024];
    bool is_there = corpus_find("fxt", "magic-trace-2022.fxt", trace, size) &&
                    corpus_find("fxt", "magic-trace-2022.truth.txt", truth, sizeof truth);
    return is_there ? fopen(truth, "r") : NULL;
}

static void real_trace_has_the_figures_of_an_independent_reader(void **state)
{
    char trace[1024], line[512], name[256];
    FILE *truth = open_truth(trace, sizeof trace);
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    const ttr_stat_row *rows;
    unsigned long long count, sum, slices = 0, total = 0;
    unsigned checked = 0;
    (void)state;
    if (!truth) {
        ttr_free(t);
        return;
    }
    ttr_reader *reader = ttr_open(t, trace, NULL, &error);
    ttr_stat *stat = reader ? ttr_stat_new(t, reader, NULL, NULL, &error) : NULL;
    if (!stat)
        fail_msg("%s", error.text);
    while (fgets(line, sizeof line, truth)) {
        if (sscanf(line, "\"%255[^\"]\",%llu,%llu", name, &count, &sum) != 3)
            continue;
        const ttr_stat_row *row = row_of(t, stat, name);
        assert_int_equal(row->count, count);
        assert_int_equal(row->total, sum);
        checked++;
    }
    (void)fclose(truth);
    assert_int_equal(checked, 40);
    for (size_t i = ttr_stat_rows(stat, &rows); i-- > 0;) {
        slices += rows[i].kind == TTR_KIND_SPAN ? rows[i].count : 0;
        total += rows[i].total;
    }
    assert_int_equal(slices, 17296);
    assert_int_equal(total, 4020886);
    assert_int_equal(ttr_stat_unmatched(stat) + ttr_stat_disordered(stat), 0);
    ttr_stat_free(stat);
    ttr_close(reader);
    ttr_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_have_total_self_and_quantiles),
        cmocka_unit_test(begin_and_end_are_one_span_of_the_name_of_its_begin),
        cmocka_unit_test(rows_are_sorted_by_total_then_count_then_name),
        cmocka_unit_test(providers_and_kinds_have_rows_of_their_own),
        cmocka_unit_test(ended_early_it_gives_what_it_has),
        cmocka_unit_test(failure_of_the_reader_is_passed_on_with_what_came_before),
        cmocka_unit_test(begin_that_never_ends_again_and_again_takes_bounded_memory),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(real_trace_has_the_figures_of_an_independent_reader),
    };
    return cmocka_run_group_tests_name("stat", tests, NULL, NULL);
}
