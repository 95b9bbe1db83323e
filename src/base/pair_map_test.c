/* Tests of the pair map against an array, with long random sequences of puts and removals. */
#include "base/pair_map.h"

#include "support/support.h"

static void empty_map_lookup_returns_null(void **state)
{
    (void)state;
    struct pair_map map;
    pair_map_init(&map, alloc_default());
    assert_null(pair_map_get(&map, 0, 0));
    assert_false(pair_map_remove(&map, 0, 0));
    pair_map_free(&map);
    pair_map_free(&map);
}

static void put_replaces_and_key_uses_both_words(void **state)
{
    (void)state;
    struct pair_map map;
    pair_map_init(&map, alloc_default());
    assert_true(pair_map_put(&map, 0, 0, 1));
    assert_true(pair_map_put(&map, 1, 2, 3));
    assert_true(pair_map_put(&map, 2, 1, 4));
    assert_true(pair_map_put(&map, 1, 2, 5));
    assert_int_equal(map.used, 3);
    assert_int_equal(*pair_map_get(&map, 0, 0), 1);
    assert_int_equal(*pair_map_get(&map, 1, 2), 5);
    assert_int_equal(*pair_map_get(&map, 2, 1), 4);
    assert_null(pair_map_get(&map, 1, 1));
    *pair_map_get(&map, 2, 1) = 9;
    assert_int_equal(*pair_map_get(&map, 2, 1), 9);
    pair_map_free(&map);
}

enum { REFERENCE_KEYS = 512 };

static void check_all(const struct pair_map *map, const uint32_t *reference)
{
    size_t used = 0;
    for (uint32_t key = 0; key < REFERENCE_KEYS; key++) {
        const uint32_t *found = pair_map_get(map, key / 16, key % 16);
        assert_int_equal(found ? *found : 0, reference[key]);
        used += reference[key] != 0;
    }
    assert_int_equal(map->used, used);
}

/* In the reference array, the value 0 means that the key is absent. */
static void random_operations_match_reference_array(void **state)
{
    (void)state;
    struct support_heap heap;
    struct pair_map map;
    uint32_t reference[REFERENCE_KEYS] = {0};
    uint64_t seed = 7;
    support_heap_init(&heap, 0);
    pair_map_init(&map, &heap.alloc);
    for (int step = 0; step < 200000; step++) {
        uint64_t random = support_random(&seed);
        uint32_t key = (uint32_t)(random % REFERENCE_KEYS), value = (uint32_t)(random >> 32) | 1;
        /* The probability of a removal alternates, so that the map fills and drains. */
        if ((random >> 20) % 1000 < (step / 2000 % 2 ? 700u : 300u)) {
            assert_int_equal(pair_map_remove(&map, key / 16, key % 16), reference[key] != 0);
            reference[key] = 0;
        } else {
            assert_true(pair_map_put(&map, key / 16, key % 16, value));
            reference[key] = value;
        }
        if (step % 500 == 0)
            check_all(&map, reference);
    }
    check_all(&map, reference);
    pair_map_free(&map);
    support_heap_check(&heap);
}

static void added_and_removed_keys_do_not_grow_map(void **state)
{
    (void)state;
    struct pair_map map;
    pair_map_init(&map, alloc_default());
    for (uint32_t tid = 0; tid < 100000; tid++) {
        assert_true(pair_map_put(&map, 1, tid, tid));
        if (tid >= 8)
            assert_true(pair_map_remove(&map, 1, tid - 8));
    }
    assert_int_equal(map.slots_n, 16);
    pair_map_free(&map);
}

static bool fill_map(const struct alloc *alloc)
{
    struct pair_map map;
    bool is_through = true;
    pair_map_init(&map, alloc);
    for (uint32_t i = 0; i < 1000 && is_through; i++) {
        is_through = pair_map_put(&map, i, 1, i);
        /* After a failed put, all keys added before it are still there, and no others. */
        for (uint32_t before = 0; !is_through && before <= i; before++)
            assert_int_equal(pair_map_get(&map, before, 1) != NULL, before < i);
    }
    pair_map_free(&map);
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
        cmocka_unit_test(put_replaces_and_key_uses_both_words),
        cmocka_unit_test(random_operations_match_reference_array),
        cmocka_unit_test(added_and_removed_keys_do_not_grow_map),
        cmocka_unit_test(failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
