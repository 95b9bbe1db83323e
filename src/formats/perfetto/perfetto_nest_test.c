/* Nesting check: every accepted span must survive Perfetto's pairing. The check may refuse spans
 * that would fit. */
#include "formats/perfetto/perfetto_nest.h"

#include <stdlib.h>

#include "support/support.h"

struct span {
    int64_t begin, end;
};

struct packet {
    int64_t time;
    size_t at, span;
    bool is_end;
};

static int by_time(const void *a, const void *b)
{
    const struct packet *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Pairs begins and ends as Perfetto does. Fails the test if a span gets the end of another. */
static void replay(const struct span *spans, size_t n)
{
    struct packet *packets = test_malloc(2 * n * sizeof *packets + 1);
    size_t *stack = test_malloc(n * sizeof *stack + 1), depth = 0;
    for (size_t i = 0; i < n; i++) {
        packets[2 * i] = (struct packet){spans[i].begin, 2 * i, i, false};
        packets[2 * i + 1] = (struct packet){spans[i].end, 2 * i + 1, i, true};
    }
    qsort(packets, 2 * n, sizeof *packets, by_time);
    for (size_t i = 0; i < 2 * n; i++) {
        if (!packets[i].is_end) {
            stack[depth++] = packets[i].span;
            continue;
        }
        assert_true(depth > 0);
        assert_int_equal(spans[stack[--depth]].end, packets[i].time);
    }
    test_free(stack);
    test_free(packets);
}

/* Adds spans in order and replays the accepted ones. Returns the number of accepted spans. */
static size_t offer(const struct span *spans, size_t n)
{
    struct perfetto_nest nest = {0};
    struct span *taken = test_malloc(n * sizeof *taken + 1);
    size_t taken_n = 0;
    for (size_t i = 0; i < n; i++) {
        enum nest_result answer =
            perfetto_add_nested_span(&nest, alloc_default(), spans[i].begin, spans[i].end);
        assert_int_not_equal(answer, NEST_NO_MEMORY);
        if (answer == NEST_FITS)
            taken[taken_n++] = spans[i];
    }
    assert_true(nest.n <= NEST_MAX);
    replay(taken, taken_n);
    test_free(taken);
    perfetto_nest_free(&nest, alloc_default());
    return taken_n;
}

static void nested_spans_ordered_by_begin_fit(void **state)
{
    (void)state;
    const struct span spans[] = {{0, 100}, {0, 50},  {0, 50},   {10, 20}, {20, 30},
                                 {20, 20}, {30, 50}, {50, 100}, {60, 70}, {100, 120}};
    assert_int_equal(offer(spans, 10), 10);
}

static void nested_spans_ordered_by_end_fit(void **state)
{
    (void)state;
    const struct span spans[] = {{10, 20}, {20, 30}, {5, 30}, {5, 30},  {31, 40},
                                 {45, 50}, {44, 51}, {3, 60}, {70, 80}, {1, 90}};
    assert_int_equal(offer(spans, 10), 10);
}

static void overlapping_spans_are_refused(void **state)
{
    (void)state;
    const struct span forward[] = {{0, 10}, {5, 15}}, backward[] = {{5, 15}, {0, 10}};
    assert_int_equal(offer(forward, 2), 1);
    assert_int_equal(offer(backward, 2), 1);
}

static void late_outer_span_of_equal_begin_is_refused(void **state)
{
    (void)state;
    const struct span late[] = {{0, 5}, {0, 10}}, early[] = {{0, 10}, {0, 5}},
                      empty[] = {{0, 0}, {0, 10}};
    assert_int_equal(offer(late, 2), 1);
    assert_int_equal(offer(early, 2), 2);
    assert_int_equal(offer(empty, 2), 2);
}

static void overlapping_inner_span_is_refused(void **state)
{
    (void)state;
    const struct span spans[] = {{10, 20}, {0, 100}, {15, 50}, {20, 50}};
    assert_int_equal(offer(spans, 4), 3);
}

static void long_trace_fits_after_oldest_are_forgotten(void **state)
{
    enum { SPANS = 3 * NEST_MAX };
    struct span *spans = test_malloc((SPANS + 2) * sizeof *spans);
    (void)state;
    spans[0] = (struct span){-1, 10 * SPANS};
    for (int64_t i = 0; i < SPANS; i++)
        spans[i + 1] = (struct span){10 * i, 10 * i + 5};
    assert_int_equal(offer(spans, SPANS + 1), SPANS + 1);
    /* in the order of ends: the enclosing span comes last */
    spans[SPANS + 1] = spans[0];
    assert_int_equal(offer(spans + 1, SPANS + 1), SPANS + 1);
    /* a span that starts among the forgotten ones */
    spans[SPANS + 1].begin = 50;
    assert_int_equal(offer(spans + 1, SPANS + 1), SPANS);
    test_free(spans);
}

static void spans_in_order_use_little_memory(void **state)
{
    struct perfetto_nest nest = {0};
    (void)state;
    for (int64_t i = 0; i < 10 * NEST_MAX; i++)
        assert_int_equal(perfetto_add_nested_span(&nest, alloc_default(), 10 * i, 10 * i + 5),
                         NEST_FITS);
    assert_true(nest.capacity <= NEST_USUAL);
    /* After one span out of order, more are remembered. */
    assert_int_equal(perfetto_add_nested_span(&nest, alloc_default(), 10 * (10 * NEST_MAX - 3) - 1,
                                              100 * NEST_MAX),
                     NEST_FITS);
    for (int64_t i = 10 * NEST_MAX; i < 20 * NEST_MAX; i++)
        assert_int_equal(perfetto_add_nested_span(&nest, alloc_default(), 10 * i, 10 * i + 5),
                         NEST_FITS);
    assert_true(nest.capacity > NEST_USUAL && nest.capacity <= NEST_MAX);
    perfetto_nest_free(&nest, alloc_default());
}

static void deep_nesting_is_truncated(void **state)
{
    enum { SPANS = 2 * NEST_MAX };
    struct span *spans = test_malloc(SPANS * sizeof *spans);
    (void)state;
    for (int64_t i = 0; i < SPANS; i++)
        spans[i] = (struct span){i, 2 * SPANS - i};
    assert_true(offer(spans, SPANS) >= NEST_MAX);
    test_free(spans);
}

static int by_begin(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return x->begin != y->begin ? (x->begin < y->begin ? -1 : 1)
                                : (x->end > y->end ? -1 : x->end < y->end);
}

static int by_end(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return x->end != y->end ? (x->end < y->end ? -1 : 1)
                            : (x->begin > y->begin ? -1 : x->begin < y->begin);
}

static void accepted_spans_read_back_unchanged(void **state)
{
    uint64_t seed = 1;
    (void)state;
    for (unsigned round = 0; round < 6000; round++) {
        struct span spans[40];
        size_t n = 1 + support_random(&seed) % 40;
        uint64_t range = 1 + support_random(&seed) % 60;
        for (size_t i = 0; i < n; i++) {
            spans[i].begin = (int64_t)(support_random(&seed) % range);
            spans[i].end = spans[i].begin +
                           (int64_t)(support_random(&seed) % (1 + support_random(&seed) % range));
        }
        if (round % 3)
            qsort(spans, n, sizeof *spans, round % 3 == 1 ? by_begin : by_end);
        assert_true(offer(spans, n) > 0);
    }
}

static bool take_many(const struct alloc *alloc)
{
    struct perfetto_nest nest = {0};
    enum nest_result answer = NEST_FITS;
    for (int64_t i = 0; i < 100 && answer == NEST_FITS; i++)
        answer = perfetto_add_nested_span(&nest, alloc, i, i);
    perfetto_nest_free(&nest, alloc);
    return answer == NEST_FITS;
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    support_fail_each(take_many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_spans_ordered_by_begin_fit),
        cmocka_unit_test(nested_spans_ordered_by_end_fit),
        cmocka_unit_test(overlapping_spans_are_refused),
        cmocka_unit_test(late_outer_span_of_equal_begin_is_refused),
        cmocka_unit_test(overlapping_inner_span_is_refused),
        cmocka_unit_test(long_trace_fits_after_oldest_are_forgotten),
        cmocka_unit_test(spans_in_order_use_little_memory),
        cmocka_unit_test(deep_nesting_is_truncated),
        cmocka_unit_test(accepted_spans_read_back_unchanged),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
