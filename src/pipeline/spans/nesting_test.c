/* The claim algorithm, compared with testing all pairs of spans. */
#include "support/support.h"

#include "pipeline/spans/nesting.h"

#define N 300
#define RANGE 60

static struct nest_span spans[N];

/* Makes random spans in order of their ends; some know their position at the start. */
static void make_spans(uint64_t seed, int64_t range)
{
    for (size_t i = 0; i < N; i++) {
        int64_t end = (int64_t)i * range / N, length = (int64_t)(support_random(&seed) % 12);
        bool is_pair = support_random(&seed) % 2;
        spans[i] = (struct nest_span){
            .begin = end > length ? end - length : 0, .end = end, .from = 0, .at = i};
        if (is_pair)
            spans[i].from = spans[i].at = i - support_random(&seed) % (i + 1) % 5;
    }
}

static bool is_parent(size_t child, size_t parent)
{
    return nesting_is_inside(spans[child].begin, spans[child].at, spans[parent].begin,
                             spans[parent].from);
}

/* Returns the ns covered by the children of a span, by testing all earlier spans. */
static uint64_t brute_cover(size_t parent)
{
    bool is_covered[RANGE] = {false};
    uint64_t count = 0;
    for (size_t i = 0; i < parent; i++) {
        size_t first = i + 1;
        while (!is_parent(i, first) && first < parent)
            first++;
        if (first != parent || !is_parent(i, parent))
            continue;
        for (int64_t at = spans[i].begin; at < spans[i].end; at++)
            is_covered[at] = true;
    }
    for (size_t i = 0; i < RANGE; i++)
        count += is_covered[i];
    return count;
}

static void cover_equals_search_of_all_pairs(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 40; seed++) {
        struct nest nest;
        uint64_t covered;
        nesting_init(&nest, alloc_default(), 1 << 20);
        make_spans(seed, RANGE);
        for (size_t i = 0; i < N; i++) {
            assert_true(nesting_add(&nest, 5, &spans[i], &covered));
            assert_int_equal(covered, brute_cover(i));
        }
        assert_int_equal(nest.late, 0);
        nesting_free(&nest);
    }
}

static uint64_t add(struct nest *nest, size_t lane, int64_t begin, int64_t end)
{
    uint64_t covered;
    static uint64_t at;
    assert_true(nesting_add(nest, lane, &(struct nest_span){.begin = begin, .end = end, .at = at++},
                            &covered));
    return covered;
}

static void children_are_claimed_once_per_lane(void **state)
{
    struct nest nest;
    (void)state;
    nesting_init(&nest, alloc_default(), 1000);
    assert_int_equal(add(&nest, 0, 2, 4), 0);
    assert_int_equal(add(&nest, 1, 3, 5), 0);
    assert_int_equal(add(&nest, 0, 5, 6), 0);
    assert_int_equal(add(&nest, 0, 1, 7), 3);
    assert_int_equal(add(&nest, 0, 0, 9), 6);
    assert_int_equal(add(&nest, 1, 0, 9), 2);
    nesting_free(&nest);
}

static void later_of_two_equal_intervals_is_the_parent(void **state)
{
    struct nest nest;
    (void)state;
    nesting_init(&nest, alloc_default(), 1000);
    assert_int_equal(add(&nest, 0, 5, 9), 0);
    assert_int_equal(add(&nest, 0, 5, 9), 4);
    assert_int_equal(add(&nest, 0, 5, 9), 4);
    nesting_free(&nest);
}

static void partial_overlap_is_no_child_and_counts_once_for_its_parent(void **state)
{
    struct nest nest;
    (void)state;
    nesting_init(&nest, alloc_default(), 1000);
    assert_int_equal(add(&nest, 0, 0, 10), 0);
    assert_int_equal(add(&nest, 0, 5, 15), 0);
    assert_int_equal(add(&nest, 0, 0, 20), 15);
    nesting_free(&nest);
}

static void span_that_comes_late_is_counted_and_not_nested(void **state)
{
    struct nest nest;
    (void)state;
    nesting_init(&nest, alloc_default(), 1000);
    assert_int_equal(add(&nest, 0, 5, 9), 0);
    assert_int_equal(add(&nest, 0, 5, 8), 0);
    assert_int_equal(nest.late, 1);
    assert_int_equal(add(&nest, 0, 0, 10), 4);
    nesting_free(&nest);
}

static void memory_is_bounded_and_sums_stay_exact(void **state)
{
    struct support_heap heap;
    struct nest nest;
    (void)state;
    support_heap_init(&heap, 0);
    nesting_init(&nest, &heap.alloc, 1024);
    for (int64_t i = 0; i < 200000; i++)
        assert_int_equal(add(&nest, 0, 10 * i, 10 * i + 3), 0);
    assert_true(heap.peak < 200 * 1024);
    assert_int_equal(add(&nest, 0, 0, 2000000), 600000);
    nesting_free(&nest);
    support_heap_check(&heap);
}

static bool nests_through(const struct alloc *alloc)
{
    struct nest nest;
    uint64_t covered;
    bool is_through = true;
    nesting_init(&nest, alloc, 100);
    for (size_t i = 0; i < 200 && is_through; i++)
        is_through =
            nesting_add(&nest, i % 3 * 20,
                        &(struct nest_span){.begin = (int64_t)i, .end = (int64_t)i + 9}, &covered);
    nesting_free(&nest);
    return is_through;
}

static void failing_allocation_is_reported(void **state)
{
    (void)state;
    support_fail_each(nests_through);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cover_equals_search_of_all_pairs),
        cmocka_unit_test(children_are_claimed_once_per_lane),
        cmocka_unit_test(later_of_two_equal_intervals_is_the_parent),
        cmocka_unit_test(partial_overlap_is_no_child_and_counts_once_for_its_parent),
        cmocka_unit_test(span_that_comes_late_is_counted_and_not_nested),
        cmocka_unit_test(memory_is_bounded_and_sums_stay_exact),
        cmocka_unit_test(failing_allocation_is_reported),
    };
    return cmocka_run_group_tests_name("nest", tests, NULL, NULL);
}
