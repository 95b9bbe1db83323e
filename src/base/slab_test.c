/* Tests of the slab allocator: blocks do not overlap, freed blocks are reused. */
#include "base/slab.h"
#include "support/support.h"

#define BLOCKS 500u

static void blocks_do_not_overlap(void **state)
{
    (void)state;
    struct support_heap heap;
    support_heap_init(&heap, 0);
    struct slab *slab = slab_new(&heap.alloc, 3 << 20);
    uint64_t seed = 1;
    uint8_t *block[BLOCKS] = {NULL};
    size_t size[BLOCKS] = {0};
    assert_non_null(slab);
    for (unsigned i = 0; i < 40000; i++) {
        const size_t at = support_random(&seed) % BLOCKS;
        for (size_t k = 0; block[at] && k < size[at]; k++)
            assert_int_equal(block[at][k], (uint8_t)at);
        if (block[at]) {
            slab_give(slab, block[at], size[at]);
            block[at] = NULL;
            continue;
        }
        size[at] = 1 + support_random(&seed) % (i % 3 ? 200 : 30000);
        block[at] = slab_take(slab, size[at]);
        if (!block[at])
            continue;
        assert_true(slab_has(slab, block[at]) && slab_has(slab, block[at] + size[at] - 1));
        assert_int_equal((uintptr_t)block[at] % SLAB_UNIT, 0);
        memset(block[at], (int)at, size[at]);
    }
    size_t n = 0;
    for (size_t i = 0; i < BLOCKS; i++)
        n += block[i] != NULL;
    assert_int_equal(slab->blocks, n);
    assert_true(n > BLOCKS / 4);
    slab_free(slab);
    support_heap_check(&heap);
}

static void freed_block_is_reused_for_its_size(void **state)
{
    (void)state;
    struct slab *slab = slab_new(alloc_default(), 1);
    void *a = slab_take(slab, 40), *b = slab_take(slab, 48), *c = slab_take(slab, 49);
    assert_true(slab_is_same(40, 48));
    assert_false(slab_is_same(48, 49));
    slab_give(slab, a, 40);
    slab_give(slab, c, 49);
    slab_give(slab, b, 48);
    assert_ptr_equal(slab_take(slab, 33), b);
    assert_ptr_equal(slab_take(slab, 48), a);
    assert_ptr_equal(slab_take(slab, 64), c);
    assert_int_equal(slab->blocks, 3);
    assert_true(slab_is_same(SLAB_FINE + 1, SLAB_FINE + SLAB_FINE / 8));
    assert_false(slab_is_same(SLAB_FINE, SLAB_FINE + 1));
    assert_true(slab_is_same(SLAB_MOST - SLAB_MOST / 16 + 1, SLAB_MOST));
    assert_false(slab_is_same(SLAB_MOST - SLAB_MOST / 16, SLAB_MOST));
    assert_false(slab_is_same(SLAB_MOST + 1, SLAB_MOST + 1));
    slab_free(slab);
}

static void too_large_block_or_full_slab_returns_null(void **state)
{
    (void)state;
    struct slab *slab = slab_new(alloc_default(), 1);
    size_t n = 0;
    int other;
    assert_null(slab_take(slab, SLAB_MOST + 1));
    while (slab_take(slab, SLAB_MOST))
        n++;
    assert_int_equal(n, ((size_t)2 << 20) / SLAB_MOST);
    assert_null(slab_take(slab, 1));
    assert_false(slab_has(slab, &other));
    slab_free(slab);
    slab_free(NULL);
    assert_null(slab_new(alloc_default(), SIZE_MAX));
}

static bool make_one(const struct alloc *alloc)
{
    struct slab *slab = slab_new(alloc, 1000);
    slab_free(slab);
    return slab != NULL;
}

static void failed_allocation_is_reported(void **state)
{
    (void)state;
    support_fail_each(make_one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_do_not_overlap),
        cmocka_unit_test(freed_block_is_reused_for_its_size),
        cmocka_unit_test(too_large_block_or_full_slab_returns_null),
        cmocka_unit_test(failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
