/* Tests of the bit cursor: the examples of the CTF specifications, and every width at every
 * position compared with a bit-by-bit reference. */
#include "base/bit_cursor.h"

#include <stdlib.h>

#include "support/support.h"

static void little_endian_number_starts_at_low_bit(void **state)
{
    (void)state;
    /* 5 bits 0x15 and 27 bits 0x5abcdef: together 0xb579bdf5, stored little-endian. */
    static const uint8_t bytes[] = {0xf5, 0xbd, 0x79, 0xb5};
    struct bits bits = bits_init(bytes, 0, 32);
    assert_int_equal(bits_read_le(&bits, 5), 0x15);
    assert_int_equal(bits_read_le(&bits, 27), 0x5abcdef);
    assert_int_equal(bits_left(&bits), 0);
    assert_false(bits.failed);
}

static void big_endian_number_starts_at_high_bit(void **state)
{
    (void)state;
    /* 5 bits 10101, 27 bits 0x5abcdef = 101 10101011 11001101 11101111, stored big-endian. */
    static const uint8_t bytes[] = {0xad, 0xab, 0xcd, 0xef};
    struct bits bits = bits_init(bytes, 0, 32);
    assert_int_equal(bits_read_be(&bits, 5), 0x15);
    assert_int_equal(bits_read_be(&bits, 27), 0x5abcdef);
    assert_int_equal(bits_left(&bits), 0);
}

static bool bit_le(const uint8_t *bytes, uint64_t at)
{
    return bytes[at / 8] >> at % 8 & 1;
}

static bool bit_be(const uint8_t *bytes, uint64_t at)
{
    return bytes[at / 8] >> (7 - at % 8) & 1;
}

static void every_width_and_position_reads_only_its_bytes(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (unsigned at = 0; at < 24; at++)
        for (unsigned width = 1; width <= 64; width++)
            for (unsigned more = 0; more < 72; more += 9) {
                uint64_t end = at + width + more, le = 0, be = 0;
                size_t n = (size_t)(end + 7) / 8;
                uint8_t *bytes = malloc(n);
                for (size_t i = 0; i < n; i++)
                    bytes[i] = (uint8_t)support_random(&seed);
                for (unsigned i = 0; i < width; i++) {
                    le |= (uint64_t)bit_le(bytes, at + i) << i;
                    be = be << 1 | bit_be(bytes, at + i);
                }
                struct bits bits = bits_init(bytes, at, end);
                assert_true(bits_read_le(&bits, width) == le && bits.at == at + width &&
                            !bits.failed);
                bits.at = at;
                assert_true(bits_read_be(&bits, width) == be && bits.at == at + width &&
                            !bits.failed);
                free(bytes);
            }
}

static void read_past_end_returns_zero_and_fails(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {0xff, 0xff, 0xff};
    struct bits bits = bits_init(bytes, 3, 19);
    assert_int_equal(bits_read_le(&bits, 17), 0);
    assert_true(bits.failed && bits.at == 3);
    bits.failed = false;
    assert_int_equal(bits_read_be(&bits, 17), 0);
    assert_true(bits.failed && bits.at == 3);
    bits.failed = false;
    bits_skip(&bits, 17);
    assert_true(bits.failed && bits.at == 3);
    bits.failed = false;
    bits_align(&bits, 5);
    assert_true(bits.failed && bits.at == 3);
    bits.failed = false;
    assert_null(bits_read_bytes(&bits, 1));
    assert_true(bits.failed && bits.at == 3);
    bits.failed = false;
    assert_int_equal(bits_read_le(&bits, 16), 0xffff);
    assert_true(!bits.failed && bits.at == 19);
    assert_int_equal(bits_read_le(&bits, 65), 0);
    assert_true(bits.failed);
    bits.failed = false;
    assert_int_equal(bits_read_le(&bits, 0), 0);
    assert_false(bits.failed);
}

static void bytes_at_byte_boundary_are_read(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {1, 2, 3, 4};
    struct bits bits = bits_init(bytes, 1, 32);
    bits_align(&bits, 3);
    assert_int_equal(bits.at, 8);
    bits_align(&bits, 3);
    assert_int_equal(bits.at, 8);
    assert_ptr_equal(bits_read_bytes(&bits, 2), bytes + 1);
    assert_int_equal(bits.at, 24);
    assert_null(bits_read_bytes(&bits, 2));
    assert_true(bits.failed && bits.at == 24);
    bits.failed = false;
    assert_non_null(bits_read_bytes(&bits, 1));
    assert_non_null(bits_read_bytes(&bits, 0));
    assert_false(bits.failed);
}

static void sign_extension_copies_highest_bit(void **state)
{
    (void)state;
    assert_int_equal(bits_sign_extend(0x1f, 5), -1);
    assert_int_equal(bits_sign_extend(0x0f, 5), 15);
    assert_int_equal(bits_sign_extend(0x10, 5), -16);
    assert_int_equal(bits_sign_extend(1, 1), -1);
    assert_true(bits_sign_extend(UINT64_MAX, 64) == -1);
    assert_true(bits_sign_extend(UINT64_C(1) << 63, 64) == INT64_MIN);
}

static void reversed_number_has_first_bit_last(void **state)
{
    (void)state;
    assert_int_equal(bits_reverse(1, 1), 1);
    assert_int_equal(bits_reverse(0x01, 5), 0x10);
    assert_int_equal(bits_reverse(0x16, 5), 0x0d);
    assert_int_equal(bits_reverse(0x1234, 16), 0x2c48);
    assert_true(bits_reverse(1, 64) == UINT64_C(1) << 63);
    assert_int_equal(bits_reverse(5, 0), 0);
    uint64_t seed = 3;
    for (unsigned width = 1; width <= 64; width++) {
        uint64_t x = support_random(&seed) >> (64 - width), reversed = bits_reverse(x, width);
        for (unsigned i = 0; i < width; i++)
            assert_int_equal(x >> i & 1, reversed >> (width - 1 - i) & 1);
        assert_true(width == 64 || reversed >> width == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(little_endian_number_starts_at_low_bit),
        cmocka_unit_test(big_endian_number_starts_at_high_bit),
        cmocka_unit_test(every_width_and_position_reads_only_its_bytes),
        cmocka_unit_test(read_past_end_returns_zero_and_fails),
        cmocka_unit_test(bytes_at_byte_boundary_are_read),
        cmocka_unit_test(sign_extension_copies_highest_bit),
        cmocka_unit_test(reversed_number_has_first_bit_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
