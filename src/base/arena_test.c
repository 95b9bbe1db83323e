/* Tests of the arena: alignment, reuse after a reset, bounded waste, and failing allocations. */
#include "base/arena.h"

#include "support/support.h"

static void allocations_are_aligned_and_disjoint(void **state)
{
    (void)state;
    struct support_heap heap;
    struct arena arena;
    uint64_t seed = 1;
    uint8_t *pieces[500];
    size_t sizes[500];
    support_heap_init(&heap, 0);
    arena_init(&arena, &heap.alloc);
    for (size_t i = 0; i < 500; i++) {
        sizes[i] = support_random(&seed) % (i % 50 == 0 ? 100000 : 300);
        pieces[i] = arena_alloc(&arena, sizes[i]);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % 8, 0);
        memset(pieces[i], (int)(i & 255), sizes[i]);
    }
    for (size_t i = 0; i < 500; i++)
        for (size_t at = 0; at < sizes[i]; at++)
            assert_int_equal(pieces[i][at], i & 255);
    assert_int_equal(arena.total, heap.bytes);
    arena_free(&arena);
    arena_free(&arena);
    support_heap_check(&heap);
}

static void copy_is_zero_terminated(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, alloc_default());
    const char *copy = arena_copy(&arena, "ab\0cd", 5);
    assert_memory_equal(copy, "ab\0cd", 6);
    assert_string_equal(arena_copy(&arena, NULL, 0), "");
    arena_free(&arena);
}

/* Allocates pieces of small, medium, large and huge sizes in a fixed order. */
static void allocate_mixed_sizes(struct arena *arena)
{
    for (size_t i = 0; i < 300; i++) {
        assert_non_null(arena_alloc(arena, i % 100));
        if (i % 30 == 0)
            assert_non_null(arena_alloc(arena, 3000 + i * 100));
        if (i % 100 == 0)
            assert_non_null(arena_alloc(arena, 200000));
    }
}

static void reset_arena_reuses_its_blocks(void **state)
{
    (void)state;
    struct support_heap heap;
    struct arena arena;
    support_heap_init(&heap, 0);
    arena_init(&arena, &heap.alloc);
    allocate_mixed_sizes(&arena);
    arena_reset(&arena);
    /* After the reset, blocks are used in another order; the second round may add a block. */
    allocate_mixed_sizes(&arena);
    size_t requests = heap.requests;
    for (int round = 0; round < 20; round++) {
        arena_reset(&arena);
        allocate_mixed_sizes(&arena);
    }
    assert_true(heap.requests - requests <= 2);
    arena_reset(&arena);
    void *first = arena_alloc(&arena, 8);
    arena_reset(&arena);
    assert_ptr_equal(arena_alloc(&arena, 8), first);
    arena_free(&arena);
    support_heap_check(&heap);
}

static void large_allocation_keeps_current_block(void **state)
{
    (void)state;
    struct support_heap heap;
    struct arena arena;
    support_heap_init(&heap, 0);
    arena_init(&arena, &heap.alloc);
    size_t taken = 0;
    for (int i = 0; i < 64; i++) {
        assert_non_null(arena_alloc(&arena, 16));
        assert_non_null(arena_alloc(&arena, 600000));
        taken += 600016;
    }
    assert_true(heap.bytes < taken + taken / 8);
    arena_free(&arena);
    support_heap_check(&heap);
}

static void trimmed_allocation_frees_its_end(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, alloc_default());
    char *first = arena_alloc(&arena, 16), *second = arena_alloc(&arena, 1000);
    arena_shrink_last(&arena, second, 9);
    assert_ptr_equal(second, first + 16);
    assert_ptr_equal(arena_alloc(&arena, 8), second + 16);
    char *large = arena_alloc(&arena, 1 << 20);
    assert_non_null(large);
    arena_shrink_last(&arena, large, 8);
    char *following = arena_alloc(&arena, 8);
    assert_true(following + 8 <= large || following >= large + 8);
    arena_free(&arena);
}

static void small_arena_uses_little_memory(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, alloc_default());
    assert_int_equal(arena.total, 0);
    assert_non_null(arena_alloc(&arena, 1));
    assert_true(arena.total <= 4200);
    arena_free(&arena);
}

static void many_small_arenas_use_little_memory(void **state)
{
    (void)state;
    struct support_heap heap;
    struct arena arena;
    support_heap_init(&heap, 0);
    arena_init_small(&arena, &heap.alloc, 128);
    for (unsigned round = 0; round < 2; round++) {
        assert_non_null(arena_copy(&arena, "a name", 6));
        assert_in_range(arena.total, 128, 128 + sizeof(struct arena_block));
        for (unsigned i = 0; i < 1000; i++)
            assert_non_null(arena_alloc(&arena, 64));
        assert_in_range(arena.total, 64000, 140000);
        assert_in_range(heap.blocks, 2, 16); /* block sizes double */
        arena_free(&arena);                  /* a freed arena has its small first size again */
        support_heap_check(&heap);
    }
}

static void overflowing_size_returns_null(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, alloc_default());
    assert_null(arena_alloc(&arena, SIZE_MAX));
    assert_null(arena_alloc(&arena, SIZE_MAX - 7));
    assert_null(arena_alloc(&arena, PTRDIFF_MAX));
    assert_null(arena_copy(&arena, "", SIZE_MAX));
    arena_reset(&arena);
    arena_free(&arena);
}

static bool fill_arena(const struct alloc *alloc)
{
    struct arena arena;
    bool is_through = true;
    arena_init(&arena, alloc);
    for (size_t i = 0; i < 100 && is_through; i++)
        is_through = arena_alloc(&arena, i * 100) && arena_copy(&arena, "text", 4);
    arena_free(&arena);
    return is_through;
}

static void failed_allocation_is_reported(void **state)
{
    (void)state;
    support_fail_each(fill_arena);
}

static void spare_bytes_become_allocation_in_place(void **state)
{
    struct arena arena;
    (void)state;
    arena_init(&arena, alloc_default());
    assert_null(arena_next_free(&arena, 1)); /* the arena has no block yet */
    char *first = arena_alloc(&arena, 8);
    char *spare = arena_next_free(&arena, 100);
    assert_ptr_equal(spare, first + 8);
    assert_ptr_equal(arena_next_free(&arena, 100), spare);
    memset(spare, 'x', 9);
    arena_commit(&arena, 9);
    assert_ptr_equal(arena_alloc(&arena, 8), spare + 16);
    assert_null(arena_next_free(&arena, (size_t)1 << 30));
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spare_bytes_become_allocation_in_place),
        cmocka_unit_test(allocations_are_aligned_and_disjoint),
        cmocka_unit_test(copy_is_zero_terminated),
        cmocka_unit_test(reset_arena_reuses_its_blocks),
        cmocka_unit_test(large_allocation_keeps_current_block),
        cmocka_unit_test(trimmed_allocation_frees_its_end),
        cmocka_unit_test(small_arena_uses_little_memory),
        cmocka_unit_test(many_small_arenas_use_little_memory),
        cmocka_unit_test(overflowing_size_returns_null),
        cmocka_unit_test(failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
