/* Columns of the store against plain arrays. */
#include "store/column.h"
#include "support/support.h"

static void check_column(const int64_t *values, size_t n)
{
    struct column column;
    int64_t read[STORE_BLOCK + 10];
    struct block_pool pool;
    block_pool_init(&pool, alloc_default());
    column_init(&column, &pool);
    for (size_t i = 0; i < n; i++)
        assert_true(column_append(&column, values[i]));
    for (size_t at = 0; at < n + 5; at += 97) {
        column_read(&column, at, sizeof read / sizeof *read, read);
        for (size_t i = 0; i < sizeof read / sizeof *read; i++)
            assert_int_equal(read[i], at + i < n ? values[at + i] : TTR_STORE_NULL);
    }
    column_free(&column);
    block_pool_free(&pool);
}

static void column_returns_what_was_appended(void **state)
{
    (void)state;
    static int64_t values[5 * STORE_BLOCK + 3];
    const size_t n = sizeof values / sizeof *values;
    uint64_t seed = 1;
    for (unsigned bits = 0; bits <= 64; bits += 4)
        for (unsigned nulls = 0; nulls < 3; nulls++) {
            for (size_t i = 0; i < n; i++) {
                const uint64_t random = support_random(&seed) << 13 ^ support_random(&seed);
                values[i] = (int64_t)(bits ? random >> (64 - bits) : 7);
                if (nulls == 2 || (nulls == 1 && random % 5 == 0))
                    values[i] = TTR_STORE_NULL;
            }
            check_column(values, n);
        }
}

static void column_has_the_extremes(void **state)
{
    (void)state;
    static int64_t values[STORE_BLOCK + 1];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        values[i] = i % 3 == 0 ? INT64_MAX : i % 3 == 1 ? INT64_MIN + 1 : 0;
    check_column(values, sizeof values / sizeof *values);
    values[5] = TTR_STORE_NULL;
    check_column(values, sizeof values / sizeof *values);
}

/* Changes random values of a column of durations as ends and children of slices do. */
static void column_returns_what_was_set(void **state)
{
    (void)state;
    enum { ROWS = 40 * STORE_BLOCK + 7 };
    static int64_t values[ROWS], read[ROWS];
    struct column column;
    struct block_pool pool;
    uint64_t seed = 3;
    block_pool_init(&pool, alloc_default());
    column_init_changing(&column, &pool);
    for (size_t i = 0; i < ROWS; i++) {
        const uint64_t random = support_random(&seed);
        values[i] = random % 3 ? (int64_t)(random % 100000) : random % 2 ? -1 : TTR_STORE_NULL;
        assert_true(column_append(&column, values[i]));
        const size_t row = support_random(&seed) % (i + 1);
        const unsigned bits = 1 + (unsigned)(support_random(&seed) % 63);
        values[row] = random % 50 ? values[row] / 2 : (int64_t)(support_random(&seed) >> bits) - 5;
        assert_true(column_set(&column, row, values[row]));
        assert_int_equal(column_get(&column, row), values[row]);
    }
    for (unsigned is_finished = 0; is_finished < 2; is_finished++) {
        column_read(&column, 0, ROWS, read);
        assert_memory_equal(read, values, sizeof read);
        assert_true(column_finish(&column));
    }
    assert_true(column.tail_n <= STORE_BLOCK);
    column_free(&column);
    block_pool_free(&pool);
}

static void column_of_a_sequence_has_its_numbers(void **state)
{
    (void)state;
    static int64_t read[3 * STORE_BLOCK];
    static const size_t parts[] = {1, 300, STORE_BLOCK, 723, 1, 500};
    struct column column;
    struct block_pool pool;
    block_pool_init(&pool, alloc_default());
    column_init(&column, &pool);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_true(column_append_sequence(&column, parts[i]));
    column_read(&column, 0, 3 * (size_t)STORE_BLOCK, read);
    for (size_t i = 0; i < 3 * (size_t)STORE_BLOCK; i++)
        assert_int_equal(read[i], i < 2549 ? (int64_t)i : TTR_STORE_NULL);
    column_free(&column);
    block_pool_free(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(column_returns_what_was_appended),
        cmocka_unit_test(column_has_the_extremes),
        cmocka_unit_test(column_returns_what_was_set),
        cmocka_unit_test(column_of_a_sequence_has_its_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
