/* Tests of the window pool: number of windows, adjacent addresses, and no memory before the first.
 */
#include "io/window_pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/files.h"
#include "io/source.h"
#include "support/support.h"

static void pool_returns_at_most_n_windows(void **state)
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
    window_pool_give(pool, first); /* not the window taken last, so it is not reused */
    assert_null(window_pool_take(pool, 100));
    window_pool_give(pool, second);
    assert_ptr_equal(window_pool_take(pool, 100), second);
    window_pool_drop(pool);
    window_pool_drop(NULL);
    support_heap_check(&heap);
}

static void failed_allocation_returns_no_window(void **state)
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

static void resting_source_frees_window_and_keeps_offset(void **state)
{
    (void)state;
    struct support_heap heap;
    char folder[] = "/tmp/tracetta-rest-XXXXXX", path[64];
    char text[9000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/file", folder);
    files_write(path, text);
    support_heap_init(&heap, 0);
    struct window window;
    struct source *source =
        source_open(&heap.alloc, path, &(struct source_options){.chunk = 4096}, NULL);
    const size_t before = heap.bytes;
    assert_int_equal(source_fill(source, 100, 3000, &window, NULL), TTR_OK);
    const uint64_t used = source_disk_used(source);
    assert_true(heap.bytes > before);
    source_rest(source);
    source_rest(source);
    assert_int_equal(heap.bytes, before);
    assert_int_equal(source_disk_used(source), used);
    source_close(source);
    support_heap_check(&heap);
    assert_int_equal(files_remove(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pool_returns_at_most_n_windows),
        cmocka_unit_test(failed_allocation_returns_no_window),
        cmocka_unit_test(resting_source_frees_window_and_keeps_offset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
