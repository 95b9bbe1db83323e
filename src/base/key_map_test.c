/* Tests of the key map against an array, with long random sequences of puts and removals. */
#include "base/key_map.h"

#include "support/support.h"

static void empty_map_lookup_returns_null(void **state)
{
    (void)state;
    struct key_map map;
    key_map_init(&map, alloc_default());
    assert_null(key_map_get(&map, 5));
    assert_false(key_map_remove(&map, 5));
    key_map_free(&map);
    key_map_free(&map);
}

static void put_replaces_and_colliding_keys_differ(void **state)
{
    (void)state;
    struct key_map map;
    key_map_init(&map, alloc_default());
    assert_true(key_map_put(&map, 0, 3));
    assert_true(key_map_put(&map, UINT64_C(1) << 60, 4)); /* collides: same low bits */
    assert_true(key_map_put(&map, 0, 5));
    assert_int_equal(map.used, 2);
    assert_int_equal(*key_map_get(&map, 0), 5);
    assert_int_equal(*key_map_get(&map, UINT64_C(1) << 60), 4);
    assert_null(key_map_get(&map, UINT64_C(1) << 61));
    *key_map_get(&map, 0) = 9;
    assert_int_equal(*key_map_get(&map, 0), 9);
    key_map_free(&map);
}

enum { REFERENCE_KEYS = 512 };

/* Returns keys with low bits that collide often. */
static uint64_t key_of(uint32_t i)
{
    return (uint64_t)(i / 8) << 32 | (i % 8 + 1) * 3;
}

static void check_all(const struct key_map *map, const uint32_t *reference)
{
    size_t used = 0;
    for (uint32_t i = 0; i < REFERENCE_KEYS; i++) {
        const uint32_t *found = key_map_get(map, key_of(i));
        assert_int_equal(found ? *found : 0, reference[i]);
        used += reference[i] != 0;
    }
    assert_int_equal(map->used, used);
}

/* In the reference array, the value 0 means that the key is absent. */
static void random_operations_match_reference_array(void **state)
{
    (void)state;
    struct support_heap heap;
    struct key_map map;
    uint32_t reference[REFERENCE_KEYS] = {0};
    uint64_t seed = 7;
    support_heap_init(&heap, 0);
    key_map_init(&map, &heap.alloc);
    for (int step = 0; step < 100000; step++) {
        uint64_t random = support_random(&seed);
        uint32_t i = (uint32_t)(random % REFERENCE_KEYS), value = (uint32_t)(random >> 32) | 1;
        /* The probability of a removal alternates, so that the map fills and drains. */
        if ((random >> 20) % 1000 < (step / 2000 % 2 ? 700u : 300u)) {
            assert_int_equal(key_map_remove(&map, key_of(i)), reference[i] != 0);
            reference[i] = 0;
        } else {
            assert_true(key_map_put(&map, key_of(i), value));
            reference[i] = value;
        }
        if (step % 500 == 0)
            check_all(&map, reference);
    }
    check_all(&map, reference);
    key_map_free(&map);
    support_heap_check(&heap);
}

static void added_and_removed_keys_do_not_grow_map(void **state)
{
    (void)state;
    struct key_map map;
    key_map_init(&map, alloc_default());
    for (uint32_t key = 1; key < 100000; key++) {
        assert_true(key_map_put(&map, key, key));
        if (key > 8)
            assert_true(key_map_remove(&map, key - 8));
    }
    assert_int_equal(map.slots_n, 16);
    key_map_free(&map);
}

static void cleared_map_is_empty_and_frees_excess_memory(void **state)
{
    struct key_map map;
    (void)state;
    key_map_init(&map, alloc_default());
    key_map_clear(&map);
    for (uint32_t key = 1; key <= 10000; key++)
        assert_true(key_map_put(&map, key, key));
    key_map_clear(&map);
    assert_true(map.slots_n > 10000); /* memory is kept for a similar number of keys */
    assert_null(key_map_get(&map, 7));
    assert_true(key_map_put(&map, 7, 1));
    assert_int_equal(*key_map_get(&map, 7), 1);
    key_map_clear(&map);
    assert_int_equal(map.slots_n, 0);
    assert_null(key_map_get(&map, 7));
    key_map_free(&map);
}

static bool fill_map(const struct alloc *alloc)
{
    struct key_map map;
    bool is_through = true;
    key_map_init(&map, alloc);
    for (uint32_t i = 1; i < 1000 && is_through; i++) {
        is_through = key_map_put(&map, i, i);
        /* After a failed put, all keys added before it are still there, and no others. */
        for (uint32_t before = 1; !is_through && before <= i; before++)
            assert_int_equal(key_map_get(&map, before) != NULL, before < i);
    }
    key_map_free(&map);
    return is_through;
}

static void failed_allocation_is_reported(void **state)
{
    (void)state;
    support_fail_each(fill_map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_map_lookup_returns_null),
        cmocka_unit_test(put_replaces_and_colliding_keys_differ),
        cmocka_unit_test(random_operations_match_reference_array),
        cmocka_unit_test(added_and_removed_keys_do_not_grow_map),
        cmocka_unit_test(cleared_map_is_empty_and_frees_excess_memory),
        cmocka_unit_test(failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
