/* Tests of the hash: it reads only its bytes, depends on every bit, and fills tables evenly. */
#include "base/hash.h"

#include "support/support.h"

static void every_input_bit_changes_the_hash(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (size_t n = 1; n <= 100; n++) {
        uint8_t bytes[100];
        for (size_t i = 0; i < n; i++)
            bytes[i] = (uint8_t)support_random(&seed);
        uint64_t before = hash_bytes(bytes, n);
        for (size_t bit = 0; bit < n * 8; bit++) {
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            uint64_t changed = before ^ hash_bytes(bytes, n);
            /* Each of the 64 bits flips with probability 1/2: fewer than 8 flips happen once in
             * 10^10. */
            assert_in_range(__builtin_popcountll(changed), 8, 56);
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
}

static void zeros_of_different_length_hash_differently(void **state)
{
    (void)state;
    static const uint8_t zeros[200];
    for (size_t a = 0; a < 200; a++)
        for (size_t b = 0; b < a; b++)
            assert_int_not_equal(hash_bytes(zeros, a), hash_bytes(zeros, b));
}

/* Under AddressSanitizer a read outside of an allocation of exact size stops the test. */
static void hash_reads_only_its_bytes(void **state)
{
    (void)state;
    for (size_t n = 0; n < 100; n++) {
        uint8_t *exact = alloc_zero(alloc_default(), n, 1);
        uint8_t shifted[110] = {0};
        assert_non_null(exact);
        for (size_t offset = 0; offset < 8; offset++)
            assert_int_equal(hash_bytes(exact, n), hash_bytes(shifted + offset, n));
        alloc_free(alloc_default(), exact, n, 1);
    }
    assert_int_equal(hash_bytes(NULL, 0), hash_bytes("", 0));
}

/* Chi-squared test over 4096 cells with 16 entries expected in each: 4095 +- 90 if they are even.
 */
static void assert_even(const uint32_t *cells, size_t n, double expected)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += ((double)cells[i] - expected) * ((double)cells[i] - expected) / expected;
    assert_true(sum > (double)n * 0.85 && sum < (double)n * 1.15);
}

static void similar_names_hash_evenly(void **state)
{
    (void)state;
    uint32_t low[4096] = {0}, high[4096] = {0};
    for (uint32_t i = 0; i < 65536; i++) {
        char name[] = "worker_thread_00000";
        for (uint32_t x = i, at = 18; x; x /= 10, at--)
            name[at] = (char)('0' + x % 10);
        uint64_t hash = hash_bytes(name + i % 2 * 7, sizeof name - 1 - i % 2 * 7);
        low[hash & 4095]++;
        high[hash >> 52]++;
    }
    assert_even(low, 4096, 16);
    assert_even(high, 4096, 16);
}

static void small_number_pairs_hash_evenly(void **state)
{
    (void)state;
    uint32_t cells[4096] = {0};
    for (uint64_t a = 0; a < 256; a++)
        for (uint64_t b = 0; b < 256; b++)
            cells[hash_pair(a, b) & 4095]++;
    assert_even(cells, 4096, 16);
    memset(cells, 0, sizeof cells);
    for (uint64_t a = 0; a < 65536; a++)
        cells[hash_pair(a * 4096, 0) & 4095]++;
    assert_even(cells, 4096, 16);
}

/* The constants of the hash are xored with the input. Input equal to a constant makes a factor 0,
 * which must not erase the other factor. */
static void zero_factor_does_not_collide(void **state)
{
    (void)state;
    uint32_t cells[4096] = {0};
    for (uint64_t i = 0; i < 65536; i++)
        cells[hash_pair(0x9e3779b97f4a7c15u, i) & 4095]++;
    for (size_t i = 0; i < 4096; i++)
        assert_in_range(cells[i], 0, 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_input_bit_changes_the_hash),
        cmocka_unit_test(zeros_of_different_length_hash_differently),
        cmocka_unit_test(hash_reads_only_its_bytes),
        cmocka_unit_test(similar_names_hash_evenly),
        cmocka_unit_test(small_number_pairs_hash_evenly),
        cmocka_unit_test(zero_factor_does_not_collide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
