/* Tests of the allocator interface: sizes that overflow, empty blocks, and growth that fails. */
#include "support/support.h"

static void alloc_zero_returns_zeroed_items(void **state)
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

static void overflowing_size_returns_null(void **state)
{
    (void)state;
    const struct alloc *alloc = alloc_default();
    int old = 0;
    assert_null(alloc_zero(alloc, SIZE_MAX / 2, 3));
    assert_null(alloc_zero(alloc, SIZE_MAX, 1));
    assert_null(alloc_resize(alloc, NULL, 0, SIZE_MAX / 8 + 1, 8));
    assert_null(alloc_resize(alloc, &old, SIZE_MAX, 1, 8));
}

static void zero_items_return_a_block(void **state)
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

static void reserved_array_doubles_and_keeps_items(void **state)
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

static void reserve_few_starts_at_two_items(void **state)
{
    (void)state;
    struct support_heap heap;
    support_heap_init(&heap, 0);
    void *items = NULL;
    size_t capacity = 0;
    static const size_t expected[] = {2, 2, 4, 4, 8, 8, 8, 8, 16};
    for (size_t n = 0; n < sizeof expected / sizeof *expected; n++) {
        assert_true(alloc_reserve_small(&heap.alloc, &items, &capacity, n + 1, sizeof n));
        assert_int_equal(capacity, expected[n]);
        memcpy((char *)items + n * sizeof n, &n, sizeof n);
    }
    for (size_t n = 0; n < sizeof expected / sizeof *expected; n++)
        assert_memory_equal((char *)items + n * sizeof n, &n, sizeof n);
    assert_true(alloc_reserve_small(&heap.alloc, &items, &capacity, 100, sizeof(size_t)));
    assert_int_equal(capacity, 100);
    alloc_free(&heap.alloc, items, capacity, sizeof(size_t));
    support_heap_check(&heap);
}

static void failed_reserve_leaves_array_unchanged(void **state)
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

static void large_block_is_writable_completely(void **state)
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
    /* The test heap refuses its third request. */
    assert_null(alloc_large(&heap.alloc, n, 1));
    assert_null(alloc_large(alloc_default(), SIZE_MAX / 2, 3));
    alloc_free(&heap.alloc, block, n, 1);
    alloc_free(&heap.alloc, small, 10, 3);
    support_heap_check(&heap);
}

static void overflowing_capacity_is_refused(void **state)
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
        cmocka_unit_test(alloc_zero_returns_zeroed_items),
        cmocka_unit_test(overflowing_size_returns_null),
        cmocka_unit_test(zero_items_return_a_block),
        cmocka_unit_test(reserved_array_doubles_and_keeps_items),
        cmocka_unit_test(reserve_few_starts_at_two_items),
        cmocka_unit_test(failed_reserve_leaves_array_unchanged),
        cmocka_unit_test(large_block_is_writable_completely),
        cmocka_unit_test(overflowing_capacity_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
