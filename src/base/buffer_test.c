/* Tests of the growing buffer: appended bytes, capacity, and `failed` after a failed allocation. */
#include "base/buffer.h"

#include "support/support.h"

static void appended_bytes_keep_their_order(void **state)
{
    (void)state;
    struct support_heap heap;
    struct buffer buffer;
    support_heap_init(&heap, 0);
    buffer_init(&buffer, &heap.alloc);
    buffer_add(&buffer, "ab", 2);
    buffer_add_byte(&buffer, 'c');
    buffer_add_text(&buffer, "def");
    buffer_add_zeros(&buffer, 2);
    uint8_t *at = buffer_room(&buffer, 100);
    *at = 'z';
    buffer_commit(&buffer, 1);
    assert_int_equal(buffer.n, 9);
    assert_memory_equal(buffer.bytes, "abcdef\0\0z", 9);
    buffer_clear(&buffer);
    assert_int_equal(buffer.n, 0);
    buffer_free(&buffer);
    buffer_free(&buffer);
    support_heap_check(&heap);
}

static void empty_append_returns_an_address(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer, alloc_default());
    buffer_add(&buffer, NULL, 0);
    buffer_add_zeros(&buffer, 0);
    buffer_add_text(&buffer, "");
    assert_non_null(buffer_room(&buffer, 0));
    assert_false(buffer.failed);
    assert_int_equal(buffer.n, 0);
    buffer_free(&buffer);
}

static void full_buffer_doubles_its_capacity(void **state)
{
    (void)state;
    struct support_heap heap;
    struct buffer buffer;
    support_heap_init(&heap, 0);
    buffer_init(&buffer, &heap.alloc);
    for (int i = 0; i < 1000000; i++)
        buffer_add_byte(&buffer, (uint8_t)i);
    assert_int_equal(buffer.n, 1000000);
    assert_true(heap.requests <= 14);
    for (int i = 0; i < 1000000; i++)
        assert_true(buffer.bytes[i] == (uint8_t)i);
    buffer_free(&buffer);
    support_heap_check(&heap);
}

static void reserved_buffer_fills_without_allocation(void **state)
{
    (void)state;
    struct support_heap heap;
    struct buffer buffer;
    support_heap_init(&heap, 0);
    buffer_init(&buffer, &heap.alloc);
    buffer_add_text(&buffer, "kept");
    buffer_reserve(&buffer, 10000);
    const size_t requests = heap.requests;
    buffer_reserve(&buffer, 9999);
    for (int i = 0; i < 9000; i++)
        buffer_add_byte(&buffer, 'x');
    assert_int_equal(heap.requests, requests);
    assert_int_equal(buffer.capacity, 10000);
    assert_memory_equal(buffer.bytes, "keptx", 5);
    heap.fail_at = 1;
    buffer_reserve(&buffer, 20000); /* fails without an effect */
    assert_false(buffer.failed);
    assert_int_equal(buffer.n, 9004);
    assert_int_equal(buffer.capacity, 10000);
    buffer_free(&buffer);
    support_heap_check(&heap);
}

static void failed_buffer_ignores_appends(void **state)
{
    (void)state;
    struct support_heap heap;
    struct buffer buffer;
    support_heap_init(&heap, 2);
    buffer_init(&buffer, &heap.alloc);
    buffer_add_text(&buffer, "kept");
    buffer_add_zeros(&buffer, 5000);
    assert_true(buffer.failed);
    buffer_add_byte(&buffer, 'x');
    assert_null(buffer_room(&buffer, 0));
    assert_false(buffer_grow(&buffer, 1));
    assert_int_equal(buffer.n, 4);
    assert_memory_equal(buffer.bytes, "kept", 4);
    buffer_free(&buffer);
    support_heap_check(&heap);
}

static void overflowing_size_sets_failed(void **state)
{
    (void)state;
    struct buffer buffer;
    const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 4, PTRDIFF_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        buffer_init(&buffer, alloc_default());
        buffer_add_text(&buffer, "abc");
        assert_null(buffer_room(&buffer, sizes[i]));
        assert_true(buffer.failed);
        assert_int_equal(buffer.n, 3);
        buffer_free(&buffer);
        assert_false(buffer.failed);
    }
}

static bool fill_buffer(const struct alloc *alloc)
{
    struct buffer buffer;
    buffer_init(&buffer, alloc);
    for (int i = 0; i < 1000; i++)
        buffer_add(&buffer, "0123456789", 10);
    bool is_through = !buffer.failed;
    assert_int_equal(buffer.n % 10, 0);
    assert_int_equal(buffer.n == 10000, is_through);
    buffer_free(&buffer);
    return is_through;
}

static void failed_allocation_is_reported(void **state)
{
    (void)state;
    support_fail_each(fill_buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appended_bytes_keep_their_order),
        cmocka_unit_test(empty_append_returns_an_address),
        cmocka_unit_test(full_buffer_doubles_its_capacity),
        cmocka_unit_test(reserved_buffer_fills_without_allocation),
        cmocka_unit_test(failed_buffer_ignores_appends),
        cmocka_unit_test(overflowing_size_sets_failed),
        cmocka_unit_test(failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
