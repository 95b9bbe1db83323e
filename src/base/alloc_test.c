/* The allocator seam: sizes that overflow, blocks of nothing, and growth that fails halfway. */
#include "support/support.h"

static void zeroed_items_are_zero(void **state)
{
    (void)state;
    struct support_heap heap;
    support_heap_init(&heap, 0);
    uint32_t *items = alloc_zero(&heap.alloc, 100, sizeof *items);
    assert_non_null(items);
    for (int i = 0; i < 100; i++)
        assert_int_equal(items[i], 0);
    alloc_free(&heap.alloc, items, 100, sizeof *items);
    support_heap_check(&heap);
}

static void a_product_that_overflows_is_refused(void **state)
{
    (void)state;
    const struct alloc *alloc = alloc_default();
    int old = 0;
    assert_null(alloc_zero(alloc, SIZE_MAX / 2, 3));
    assert_null(alloc_zero(alloc, SIZE_MAX, 1));
    assert_null(alloc_resize(alloc, NULL, 0, SIZE_MAX / 8 + 1, 8));
    assert_null(alloc_resize(alloc, &old, SIZE_MAX, 1, 8));
}

static void no_items_are_a_block_too(void **state)
{
    (void)state;
    struct support_heap heap;
    support_heap_init(&heap, 0);
    void *block = alloc_zero(&heap.alloc, 0, 8);
    assert_non_null(block);
    block = alloc_resize(&heap.alloc, block, 0, 5, 8);
    assert_non_null(block);
    block = alloc_resize(&heap.alloc, block, 5, 0, 8);
    assert_non_null(block);
    alloc_free(&heap.alloc, block, 0, 8);
    alloc_free(&heap.alloc, NULL, 7, 8);
    support_heap_check(&heap);
}

static void a_reserved_array_doubles_and_keeps_its_items(void **state)
{
    (void)state;
    struct support_heap heap;
    support_heap_init(&heap, 0);
    void *items = NULL;
    size_t capacity = 0;
    for (size_t n = 0; n < 1000; n++) {
        assert_true(alloc_reserve(&heap.alloc, &items, &capacity, n + 1, sizeof n));
        memcpy((char *)items + n * sizeof n, &n, sizeof n);
    }
    assert_int_equal(capacity, 1024);
    assert_int_equal(heap.requests, 8);
    for (size_t n = 0; n < 1000; n++)
        assert_memory_equal((char *)items + n * sizeof n, &n, sizeof n);
    alloc_free(&heap.alloc, items, capacity, sizeof(size_t));
    support_heap_check(&heap);
}

static void an_array_that_stays_small_begins_with_two_and_doubles(void **state)
{
    (void)state;
    struct support_heap heap;
    support_heap_init(&heap, 0);
    void *items = NULL;
    size_t capacity = 0;
    static const size_t expected[] = {2, 2, 4, 4, 8, 8, 8, 8, 16};
    for (size_t n = 0; n < sizeof expected / sizeof *expected; n++) {
        assert_true(alloc_reserve_few(&heap.alloc, &items, &capacity, n + 1, sizeof n));
        assert_int_equal(capacity, expected[n]);
        memcpy((char *)items + n * sizeof n, &n, sizeof n);
    }
    for (size_t n = 0; n < sizeof expected / sizeof *expected; n++)
        assert_memory_equal((char *)items + n * sizeof n, &n, sizeof n);
    assert_true(alloc_reserve_few(&heap.alloc, &items, &capacity, 100, sizeof(size_t)));
    assert_int_equal(capacity, 100);
    alloc_free(&heap.alloc, items, capacity, sizeof(size_t));
    support_heap_check(&heap);
}

static void a_failed_reserve_leaves_the_array_as_it_was(void **state)
{
    (void)state;
    struct support_heap heap;
    support_heap_init(&heap, 2);
    void *items = NULL;
    size_t capacity = 0;
    assert_true(alloc_reserve(&heap.alloc, &items, &capacity, 20, 4));
    assert_int_equal(capacity, 20);
    void *before = items;
    assert_false(alloc_reserve(&heap.alloc, &items, &capacity, 21, 4));
    assert_ptr_equal(items, before);
    assert_int_equal(capacity, 20);
    assert_true(alloc_reserve(&heap.alloc, &items, &capacity, 20, 4));
    alloc_free(&heap.alloc, items, capacity, 4);
    support_heap_check(&heap);
}

static void a_large_block_is_one_to_write_to_from_end_to_end(void **state)
{
    (void)state;
    struct support_heap heap;
    support_heap_init(&heap, 3);
    const size_t n = ((size_t)5 << 20) + 12345;
    unsigned char *block = alloc_large(&heap.alloc, n, 1), *small = alloc_large(&heap.alloc, 10, 3);
    assert_true(block && small);
    memset(block, 7, n);
    memset(small, 8, 30);
    assert_true(block[0] == 7 && block[n - 1] == 7);
    assert_null(alloc_large(&heap.alloc, n, 1)); /* the third of two */
    assert_null(alloc_large(alloc_default(), SIZE_MAX / 2, 3));
    alloc_free(&heap.alloc, block, n, 1);
    alloc_free(&heap.alloc, small, 10, 3);
    support_heap_check(&heap);
}

static void an_absurd_capacity_is_refused_not_wrapped(void **state)
{
    (void)state;
    void *items = NULL;
    size_t capacity = 0;
    assert_false(alloc_reserve(alloc_default(), &items, &capacity, SIZE_MAX, 1));
    capacity = SIZE_MAX - 1;
    assert_false(alloc_reserve(alloc_default(), &items, &capacity, SIZE_MAX, 1));
    assert_null(items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeroed_items_are_zero),
        cmocka_unit_test(a_product_that_overflows_is_refused),
        cmocka_unit_test(no_items_are_a_block_too),
        cmocka_unit_test(a_reserved_array_doubles_and_keeps_its_items),
        cmocka_unit_test(an_array_that_stays_small_begins_with_two_and_doubles),
        cmocka_unit_test(a_failed_reserve_leaves_the_array_as_it_was),
        cmocka_unit_test(a_large_block_is_one_to_write_to_from_end_to_end),
        cmocka_unit_test(an_absurd_capacity_is_refused_not_wrapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
