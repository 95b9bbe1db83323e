/* Tests of interned strings: dense and stable ids, arbitrary bytes, and a failed add without
 * effect. */
#include "base/intern.h"

#include "base/number.h"
#include "support/support.h"

static size_t make_name(char *to, uint32_t i)
{
    memcpy(to, "name", 4);
    return 4 + number_format_u64(to + 4, i);
}

static void equal_bytes_get_equal_ids(void **state)
{
    (void)state;
    struct intern table;
    assert_true(intern_init(&table, alloc_default()));
    assert_int_equal(intern_add(&table, "", 0), 0);
    assert_int_equal(intern_add(&table, NULL, 0), 0);
    assert_int_equal(intern_add(&table, "a", 1), 1);
    assert_int_equal(intern_add(&table, "b", 1), 2);
    assert_int_equal(intern_add(&table, "a", 1), 1);
    assert_int_equal(intern_find(&table, "b", 1), 2);
    assert_int_equal(intern_find(&table, "c", 1), UINT32_MAX);
    assert_int_equal(intern_find(&table, "", 0), 0);
    assert_int_equal(table.n, 3);
    intern_free(&table);
    intern_free(&table);
}

static void zero_bytes_and_invalid_utf8_are_kept(void **state)
{
    (void)state;
    struct intern table;
    assert_true(intern_init(&table, alloc_default()));
    uint32_t one = intern_add(&table, "\0", 1), two = intern_add(&table, "\0\0", 2),
             broken = intern_add(&table, "\xff\xc0", 2);
    assert_int_equal(one, 1);
    assert_int_equal(two, 2);
    assert_int_equal(intern_get(&table, two).n, 2);
    assert_memory_equal(intern_get(&table, two).p, "\0\0\0", 3);
    assert_string_equal(intern_get(&table, broken).p, "\xff\xc0");
    intern_free(&table);
}

static void unknown_id_returns_empty_string(void **state)
{
    (void)state;
    struct intern table;
    assert_true(intern_init(&table, alloc_default()));
    assert_string_equal(intern_get(&table, 0).p, "");
    assert_string_equal(intern_get(&table, 1).p, "");
    assert_int_equal(intern_get(&table, UINT32_MAX).n, 0);
    intern_free(&table);
}

static void growing_table_keeps_ids_and_addresses(void **state)
{
    (void)state;
    struct support_heap heap;
    struct intern table;
    char name[32];
    support_heap_init(&heap, 0);
    assert_true(intern_init(&table, &heap.alloc));
    const char *first = NULL;
    for (uint32_t i = 1; i <= 50000; i++) {
        assert_int_equal(intern_add(&table, name, make_name(name, i)), i);
        if (i == 1)
            first = intern_get(&table, 1).p;
    }
    assert_ptr_equal(intern_get(&table, 1).p, first);
    for (uint32_t i = 1; i <= 50000; i++) {
        size_t n = make_name(name, i);
        assert_int_equal(intern_find(&table, name, n), i);
        assert_int_equal(intern_add(&table, name, n), i);
        assert_int_equal(intern_get(&table, i).n, n);
        assert_memory_equal(intern_get(&table, i).p, name, n);
    }
    intern_free(&table);
    support_heap_check(&heap);
}

static void failed_add_leaves_table_usable(void **state)
{
    (void)state;
    struct support_heap heap;
    struct intern table;
    char name[32];
    support_heap_init(&heap, 0);
    assert_true(intern_init(&table, &heap.alloc));
    uint32_t added = 0;
    for (uint32_t i = 1; i <= 3000; i++) {
        size_t n = make_name(name, i);
        heap.fail_at = heap.requests + 1;
        uint32_t id = intern_add(&table, name, n);
        if (id == UINT32_MAX) {
            assert_int_equal(intern_find(&table, name, n), UINT32_MAX);
            /* Lets one more allocation succeed each time, until the add succeeds. */
            for (size_t more = 2; id == UINT32_MAX; more++) {
                heap.fail_at = heap.requests + more;
                id = intern_add(&table, name, n);
            }
        }
        assert_int_equal(id, ++added);
    }
    intern_free(&table);
    support_heap_check(&heap);
}

static bool fill_table(const struct alloc *alloc)
{
    struct intern table;
    char name[32];
    bool is_through = intern_init(&table, alloc);
    for (uint32_t i = 1; i < 500 && is_through; i++)
        is_through = intern_add(&table, name, make_name(name, i)) == i;
    intern_free(&table);
    return is_through;
}

static void failed_allocation_is_reported(void **state)
{
    (void)state;
    support_fail_each(fill_table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_bytes_get_equal_ids),
        cmocka_unit_test(zero_bytes_and_invalid_utf8_are_kept),
        cmocka_unit_test(unknown_id_returns_empty_string),
        cmocka_unit_test(growing_table_keeps_ids_and_addresses),
        cmocka_unit_test(failed_add_leaves_table_usable),
        cmocka_unit_test(failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
