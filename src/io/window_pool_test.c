/* Windows of a pool: as many as it has, one behind another, and no memory before the first. */
#include "io/window_pool.h"

#include <string.h>

#include "support.h"

static void a_pool_lends_no_more_windows_than_it_has(void **state)
{
    (void)state;
    struct support_heap heap;
    support_heap_init(&heap, 0);
    struct window_pool *pool = window_pool_new(&heap.alloc, 2, 100);
    assert_non_null(pool);
    assert_null(window_pool_take(pool, 99));
    uint8_t *first = window_pool_take(pool, 100), *second = window_pool_take(pool, 100);
    assert_true(first && second == first + 100);
    memset(first, 1, 200);
    assert_null(window_pool_take(pool, 100));
    assert_null(window_pool_take(NULL, 100));
    window_pool_drop(pool);
    window_pool_drop(NULL);
    support_heap_check(&heap);
}

static void without_memory_there_are_no_windows(void **state)
{
    (void)state;
    struct support_heap heap;
    support_heap_init(&heap, 2);
    struct window_pool *pool = window_pool_new(&heap.alloc, 4, 4096);
    assert_non_null(pool);
    assert_null(window_pool_take(pool, 4096));
    assert_null(window_pool_new(&heap.alloc, 4, 4096));
    assert_ptr_equal(window_pool_hold(pool), pool);
    assert_null(window_pool_hold(NULL));
    window_pool_drop(pool);
    window_pool_drop(pool);
    support_heap_check(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pool_lends_no_more_windows_than_it_has),
        cmocka_unit_test(without_memory_there_are_no_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
