/* Windows of a pool: as many as it has, one behind another, and no memory before the first. */
#include "io/window_pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/files.h"
#include "io/source.h"
#include "support/support.h"

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
    window_pool_give(pool, first); /* not the last one */
    assert_null(window_pool_take(pool, 100));
    window_pool_give(pool, second);
    assert_ptr_equal(window_pool_take(pool, 100), second);
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

static void a_source_at_rest_has_no_window_and_knows_how_far_it_was_read(void **state)
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
        cmocka_unit_test(a_pool_lends_no_more_windows_than_it_has),
        cmocka_unit_test(without_memory_there_are_no_windows),
        cmocka_unit_test(a_source_at_rest_has_no_window_and_knows_how_far_it_was_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
