/* The radix sort, compared with an insertion sort. */
#include "support/support.h"

#include "pipeline/order/radix_sort.h"

#define MANY 6000

static void check(const struct order_key *keys, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const struct order_key *a = &keys[i - 1], *b = &keys[i];
        assert_true(a->rank < b->rank ||
                    (a->rank == b->rank &&
                     (a->minor < b->minor || (a->minor == b->minor && a->index < b->index))));
    }
}

static void keys_are_sorted_by_rank_then_minor_then_place(void **state)
{
    static struct order_key keys[MANY], spare[MANY];
    static const size_t sizes[] = {0, 1, 2, 31, 33, 200, 4096, MANY};
    uint64_t seed = 1;
    (void)state;
    for (size_t round = 0; round < 64; round++) {
        size_t n = sizes[round % 8];
        unsigned shift = (unsigned)(support_random(&seed) % 64);
        for (size_t i = 0; i < n; i++)
            keys[i] = (struct order_key){support_random(&seed) >> shift,
                                         (uint32_t)(round % 3 ? support_random(&seed) % 5 : 0),
                                         (uint32_t)i};
        radix_sort_keys(keys, spare, n);
        check(keys, n);
    }
}

static void all_bits_of_a_rank_count(void **state)
{
    static struct order_key keys[MANY], spare[MANY];
    (void)state;
    for (size_t i = 0; i < MANY; i++)
        keys[i] =
            (struct order_key){order_time(i % 2 ? INT64_MIN + (int64_t)i : INT64_MAX - (int64_t)i),
                               (uint32_t)i << 20, (uint32_t)i};
    radix_sort_keys(keys, spare, MANY);
    check(keys, MANY);
    assert_int_equal(keys[0].index, 1);
    assert_int_equal(keys[MANY - 1].index, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_sorted_by_rank_then_minor_then_place),
        cmocka_unit_test(all_bits_of_a_rank_count),
    };
    return cmocka_run_group_tests_name("order", tests, NULL, NULL);
}
