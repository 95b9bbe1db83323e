/* The arena: alignment, reuse after a reset, bounded waste, and every failing request. */
#include "base/arena.h"

#include "support/support.h"

static void pieces_are_aligned_and_do_not_overlap(void **state)
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
        pieces[i] = arena_take(&arena, sizes[i]);
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

static void a_copy_ends_with_a_zero(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, alloc_default());
    const char *copy = arena_copy(&arena, "ab\0cd", 5);
    assert_memory_equal(copy, "ab\0cd", 6);
    assert_string_equal(arena_copy(&arena, NULL, 0), "");
    arena_free(&arena);
}

/* Small, large, huge and middling pieces. */
static void take_mixture(struct arena *arena)
{
    for (size_t i = 0; i < 300; i++) {
        assert_non_null(arena_take(arena, i % 100));
        if (i % 30 == 0)
            assert_non_null(arena_take(arena, 3000 + i * 100));
        if (i % 100 == 0)
            assert_non_null(arena_take(arena, 200000));
    }
}

static void after_a_reset_the_same_pieces_need_no_new_memory(void **state)
{
    (void)state;
    struct support_heap heap;
    struct arena arena;
    support_heap_init(&heap, 0);
    arena_init(&arena, &heap.alloc);
    take_mixture(&arena);
    arena_reset(&arena);
    take_mixture(
        &arena); /* other pieces may end in large blocks now, so the second round settles it */
    size_t requests = heap.requests;
    for (int round = 0; round < 20; round++) {
        arena_reset(&arena);
        take_mixture(&arena);
    }
    assert_true(heap.requests - requests <= 2);
    arena_reset(&arena);
    void *first = arena_take(&arena, 8);
    arena_reset(&arena);
    assert_ptr_equal(arena_take(&arena, 8), first);
    arena_free(&arena);
    support_heap_check(&heap);
}

static void a_large_piece_does_not_waste_the_block_it_does_not_fit(void **state)
{
    (void)state;
    struct support_heap heap;
    struct arena arena;
    support_heap_init(&heap, 0);
    arena_init(&arena, &heap.alloc);
    size_t taken = 0;
    for (int i = 0; i < 64; i++) {
        assert_non_null(arena_take(&arena, 16));
        assert_non_null(arena_take(&arena, 600000));
        taken += 600016;
    }
    assert_true(heap.bytes < taken + taken / 8);
    arena_free(&arena);
    support_heap_check(&heap);
}

static void what_the_last_piece_does_not_need_is_given_back(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, alloc_default());
    char *first = arena_take(&arena, 16), *second = arena_take(&arena, 1000);
    arena_trim(&arena, second, 9);
    assert_ptr_equal(second, first + 16);
    assert_ptr_equal(arena_take(&arena, 8), second + 16);
    char *large = arena_take(&arena, 1 << 20);
    assert_non_null(large);
    arena_trim(&arena, large, 8);
    char *behind = arena_take(&arena, 8);
    assert_true(behind + 8 <= large || behind >= large + 8);
    arena_free(&arena);
}

static void a_small_arena_is_small(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, alloc_default());
    assert_int_equal(arena.total, 0);
    assert_non_null(arena_take(&arena, 1));
    assert_true(arena.total <= 4200);
    arena_free(&arena);
}

static void many_small_arenas_take_no_more_than_they_need(void **state)
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
            assert_non_null(arena_take(&arena, 64));
        assert_in_range(arena.total, 64000, 140000);
        assert_in_range(heap.blocks, 2, 16); /* which double */
        arena_free(&arena);                  /* and is as small as it was */
        support_heap_check(&heap);
    }
}

static void an_absurd_size_is_refused(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, alloc_default());
    assert_null(arena_take(&arena, SIZE_MAX));
    assert_null(arena_take(&arena, SIZE_MAX - 7));
    assert_null(arena_take(&arena, PTRDIFF_MAX));
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
        is_through = arena_take(&arena, i * 100) && arena_copy(&arena, "text", 4);
    arena_free(&arena);
    return is_through;
}

static void every_failing_request_is_told(void **state)
{
    (void)state;
    support_fail_each(fill_arena);
}

static void what_is_written_into_spare_room_is_kept_where_it_stands(void **state)
{
    struct arena arena;
    (void)state;
    arena_init(&arena, alloc_default());
    assert_null(arena_spare(&arena, 1)); /* there is no block yet */
    char *first = arena_take(&arena, 8);
    char *spare = arena_spare(&arena, 100);
    assert_ptr_equal(spare, first + 8);
    assert_ptr_equal(arena_spare(&arena, 100), spare);
    memset(spare, 'x', 9);
    arena_keep(&arena, 9);
    assert_ptr_equal(arena_take(&arena, 8), spare + 16);
    assert_null(arena_spare(&arena, (size_t)1 << 30));
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_into_spare_room_is_kept_where_it_stands),
        cmocka_unit_test(pieces_are_aligned_and_do_not_overlap),
        cmocka_unit_test(a_copy_ends_with_a_zero),
        cmocka_unit_test(after_a_reset_the_same_pieces_need_no_new_memory),
        cmocka_unit_test(a_large_piece_does_not_waste_the_block_it_does_not_fit),
        cmocka_unit_test(what_the_last_piece_does_not_need_is_given_back),
        cmocka_unit_test(a_small_arena_is_small),
        cmocka_unit_test(many_small_arenas_take_no_more_than_they_need),
        cmocka_unit_test(an_absurd_size_is_refused),
        cmocka_unit_test(every_failing_request_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
