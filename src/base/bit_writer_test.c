/* Tests of the bit writer: the examples of the CTF specifications, and every width at every
 * position, read back by the bit cursor. */
#include "base/bit_writer.h"

#include "base/bit_cursor.h"
#include "support/support.h"

static void little_endian_number_starts_at_low_bit(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer, alloc_default());
    struct bit_writer put = bit_writer_init(&buffer);
    /* RFC v1.1 4.1.5: consecutive integers are stored from lower to higher bits. A header of type 1
     * with id 21. */
    bit_writer_add_le(&put, 0x15, 5);
    bit_writer_add_le(&put, 0x5abcdef, 27);
    support_assert_hex(buffer.bytes, buffer.n, "f5 bd 79 b5");
    assert_int_equal(put.at, 32);
    buffer_free(&buffer);
}

static void big_endian_number_starts_at_high_bit(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer, alloc_default());
    struct bit_writer put = bit_writer_init(&buffer);
    bit_writer_add_be(&put, 0x15, 5);
    bit_writer_add_be(&put, 0x5abcdef, 27);
    bit_writer_add_be(&put, 0x1234, 16);
    support_assert_hex(buffer.bytes, buffer.n, "ad ab cd ef 12 34");
    buffer_free(&buffer);
}

static void number_wider_than_field_is_truncated(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer, alloc_default());
    struct bit_writer put = bit_writer_init(&buffer);
    bit_writer_add_le(&put, UINT64_MAX, 3);
    bit_writer_align(&put, 3);
    bit_writer_add_be(&put, UINT64_MAX, 3);
    bit_writer_align(&put, 5);
    bit_writer_add_le(&put, 0x11223344556677, 24);
    bit_writer_add_be(&put, 0x11223344556677, 24);
    support_assert_hex(buffer.bytes, buffer.n, "07 e0 00 00 77 66 55 55 66 77");
    buffer_free(&buffer);
}

/* Writes a number between two others, and checks all three. */
static void check_number_at(unsigned at, unsigned width, uint64_t x, bool is_big)
{
    struct buffer buffer;
    buffer_init(&buffer, alloc_default());
    buffer_add_text(&buffer, "before");
    struct bit_writer put = bit_writer_init(&buffer);
    void (*number)(struct bit_writer *, uint64_t, unsigned) =
        is_big ? bit_writer_add_be : bit_writer_add_le;
    uint64_t (*read)(struct bits *, unsigned) = is_big ? bits_read_be : bits_read_le;
    for (unsigned left = at; left; left -= left < 32 ? left : 32)
        number(&put, UINT32_MAX, left < 32 ? left : 32);
    number(&put, x, width);
    number(&put, 5, 3);
    assert_int_equal(put.at, at + width + 3);
    assert_int_equal(buffer.n, 6 + (at + width + 3 + 7) / 8);
    for (int again = 0; again < 2; again++) {
        struct bits bits = bits_init(buffer.bytes + 6, 0, put.at);
        for (unsigned i = 0; i < at; i++)
            assert_int_equal(read(&bits, 1), 1);
        assert_true(read(&bits, width) == (x & (UINT64_MAX >> (64 - width))));
        assert_int_equal(read(&bits, 3), 5);
        x = ~x;
        (is_big ? bit_writer_overwrite_be : bit_writer_overwrite_le)(&put, at, x, width);
    }
    buffer_free(&buffer);
}

static void every_width_and_position_reads_back(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (unsigned at = 0; at < 80; at++)
        for (unsigned width = 1; width <= 64; width++) {
            uint64_t x = support_random(&seed);
            check_number_at(at, width, x, false);
            check_number_at(at, width, x, true);
        }
}

static void cut_removes_appended_bits(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer, alloc_default());
    struct bit_writer put = bit_writer_init(&buffer);
    bit_writer_add_bytes(&put, "abc", 3);
    bit_writer_add_le(&put, 0x7f, 7);
    bit_writer_truncate(&put, 16);
    bit_writer_add_zeros(&put, 3);
    bit_writer_add_le(&put, 1, 1);
    support_assert_hex(buffer.bytes, buffer.n, "61 62 08");
    buffer_free(&buffer);
}

static bool put_everything(const struct alloc *alloc)
{
    struct buffer buffer;
    buffer_init(&buffer, alloc);
    struct bit_writer put = bit_writer_init(&buffer);
    for (unsigned i = 0; i < 400; i++) {
        bit_writer_add_le(&put, i, 13);
        bit_writer_align(&put, 3);
        bit_writer_add_be(&put, i, 64);
        bit_writer_add_bytes(&put, "xyz", 3);
        bit_writer_overwrite_le(&put, 8, i, 40);
        bit_writer_overwrite_be(&put, 3, i, 5);
    }
    bit_writer_truncate(&put, 128);
    assert_int_equal(put.at, 128);
    bool is_fine = !buffer.failed;
    buffer_free(&buffer);
    return is_fine;
}

static void failed_allocation_sets_buffer_failed(void **state)
{
    (void)state;
    support_fail_each(put_everything);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(little_endian_number_starts_at_low_bit),
        cmocka_unit_test(big_endian_number_starts_at_high_bit),
        cmocka_unit_test(number_wider_than_field_is_truncated),
        cmocka_unit_test(every_width_and_position_reads_back),
        cmocka_unit_test(cut_removes_appended_bits),
        cmocka_unit_test(failed_allocation_sets_buffer_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
