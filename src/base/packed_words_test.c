/* Tests of packed words: unpacking restores the bytes, and zeros need little space. */
#include "base/packed_words.h"

#include <string.h>

#include "support/support.h"

#define MOST 9000u

static struct buffer packed_of(const uint8_t *bytes, size_t n)
{
    struct buffer packed;
    buffer_init(&packed, alloc_default());
    packed_words_append(&packed, bytes, n);
    assert_false(packed.failed);
    return packed;
}

/* Packs and unpacks the bytes, and returns the packed size. */
static size_t check(const uint8_t *bytes, size_t n)
{
    static uint8_t back[MOST + 8];
    struct buffer packed = packed_of(bytes, n);
    struct cursor from = cursor_init(packed.bytes, packed.n, 0);
    memset(back, 0xaa, sizeof back);
    assert_true(packed_words_read(&from, back, n));
    assert_int_equal(cursor_left(&from), 0);
    assert_memory_equal(back, bytes, n);
    for (size_t i = n; i < packed_words_padded_size(n); i++)
        assert_int_equal(back[i], 0);
    assert_int_equal(back[packed_words_padded_size(n)], 0xaa);
    for (size_t less = 0; less < packed.n;
         /* truncated input: unpacking fails and does not read after its end */
         less += 1 + less / 8) {
        from = cursor_init(packed.bytes, less, 0);
        assert_false(packed_words_read(&from, back, n));
    }
    const size_t size = packed.n;
    buffer_free(&packed);
    return size;
}

static void packed_words_unpack_to_same_bytes(void **state)
{
    static uint8_t bytes[MOST];
    uint32_t x = 1;
    (void)state;
    for (unsigned dense = 0; dense < 9; dense++) {
        for (size_t i = 0; i < MOST; i++) {
            x = x * 1664525 + 1013904223;
            bytes[i] = (x >> 8) % 8 < dense ? (uint8_t)(x >> 24 | 1) : 0;
        }
        for (size_t n = 1; n < 40; n++)
            (void)check(bytes, n);
        assert_true(check(bytes, MOST) <= MOST / 8 * 10 + 10);
    }
}

static void zeros_and_dense_words_pack_small(void **state)
{
    static uint8_t bytes[MOST];
    (void)state;
    assert_true(check(bytes, MOST) < MOST / 400);
    memset(bytes, 7, sizeof bytes);
    assert_true(check(bytes, MOST) < MOST + MOST / 400);
    memset(bytes, 0, 64);
    bytes[9] = 1;
    assert_int_equal(check(bytes, 64), 2 + 2 + 2);
}

static void empty_input_packs_to_nothing(void **state)
{
    uint8_t nothing = 5;
    (void)state;
    struct buffer packed = packed_of(&nothing, 0);
    struct cursor from = cursor_init(packed.bytes, packed.n, 0);
    assert_int_equal(packed.n, 0);
    assert_true(packed_words_read(&from, &nothing, 0));
    assert_int_equal(nothing, 5);
    buffer_free(&packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_words_unpack_to_same_bytes),
        cmocka_unit_test(zeros_and_dense_words_pack_small),
        cmocka_unit_test(empty_input_packs_to_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
