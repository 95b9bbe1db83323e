/* Tests of the protobuf writer: the examples of the encoding guide, and nested lengths. */
#include "base/protobuf.h"

#include "support/support.h"

static void check_end(struct buffer *buffer, const char *hex)
{
    assert_false(buffer->failed);
    support_assert_hex(buffer->bytes, buffer->n, hex);
    buffer_clear(buffer);
}

static void fields_match_encoding_guide(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer, alloc_default());
    protobuf_write_u64(&buffer, 1, 150);
    check_end(&buffer, "08 96 01");
    protobuf_write_string(&buffer, 2, "testing");
    check_end(&buffer, "12 07 74 65 73 74 69 6e 67");
    protobuf_write_i64(&buffer, 1, -2);
    check_end(&buffer, "08 fe ff ff ff ff ff ff ff ff 01");
    protobuf_write_u64(&buffer, 1, 0);
    check_end(&buffer, "08 00");
    protobuf_write_u64(&buffer, 1, UINT64_MAX);
    check_end(&buffer, "08 ff ff ff ff ff ff ff ff ff 01");
    protobuf_write_bool(&buffer, 3, true);
    check_end(&buffer, "18 01");
    protobuf_write_fixed64(&buffer, 1, 0x0102030405060708);
    check_end(&buffer, "09 08 07 06 05 04 03 02 01");
    protobuf_write_double(&buffer, 1, 1.0);
    check_end(&buffer, "09 00 00 00 00 00 00 f0 3f");
    protobuf_write_bytes(&buffer, 2, NULL, 0);
    check_end(&buffer, "12 00");
    buffer_free(&buffer);
}

static void large_field_number_has_longer_tag(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer, alloc_default());
    protobuf_write_u64(&buffer, 15, 1);
    check_end(&buffer, "78 01");
    protobuf_write_u64(&buffer, 16, 1);
    check_end(&buffer, "80 01 01");
    protobuf_write_u64(&buffer, (1u << 29) - 1, 1);
    check_end(&buffer, "f8 ff ff ff 0f 01");
    buffer_free(&buffer);
}

static void nested_messages_have_correct_lengths(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer, alloc_default());
    size_t outer = protobuf_begin_padded(&buffer, 3);
    protobuf_write_u64(&buffer, 1, 150);
    size_t inner = protobuf_begin_padded(&buffer, 2);
    protobuf_end_padded(&buffer, inner);
    protobuf_end_padded(&buffer, outer);
    check_end(&buffer, "1a 89 80 80 80 00 08 96 01 12 80 80 80 80 00");
    buffer_free(&buffer);
}

static void long_message_has_padded_length(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer, alloc_default());
    size_t mark = protobuf_begin_padded(&buffer, 1);
    buffer_add_zeros(&buffer, 1000000);
    protobuf_end_padded(&buffer, mark);
    /* the padded varint of 1000000 = 61 * 2^14 + 4 * 2^7 + 64 */
    support_assert_hex(buffer.bytes, 6, "0a c0 84 bd 80 00");
    buffer_free(&buffer);
}

static void message_over_127_bytes_is_moved(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer, alloc_default());
    size_t outer = protobuf_begin_message(&buffer, 1);
    size_t inner = protobuf_begin_message(&buffer, 2);
    protobuf_write_u64(&buffer, 3, 5);
    protobuf_end_message(&buffer, inner);
    protobuf_end_message(&buffer, outer);
    support_assert_hex(buffer.bytes, buffer.n, "0a 04 12 02 18 05");
    buffer_clear(&buffer);
    outer = protobuf_begin_message(&buffer, 1);
    inner = protobuf_begin_message(&buffer, 2);
    buffer_add_zeros(&buffer, 127);
    protobuf_end_message(&buffer, inner);
    protobuf_end_message(&buffer, outer);
    /* the varint of 129 = 1 * 2^7 + 1 has two bytes */
    assert_int_equal(buffer.n, 3 + 2 + 127);
    support_assert_hex(buffer.bytes, 6, "0a 81 01 12 7f 00");
    buffer_clear(&buffer);
    outer = protobuf_begin_message(&buffer, 1);
    buffer_add_zeros(&buffer, 16383);
    buffer_add_byte(&buffer, 7);
    protobuf_end_message(&buffer, outer);
    support_assert_hex(buffer.bytes, 5, "0a 80 80 01 00");
    assert_int_equal(buffer.bytes[buffer.n - 1], 7);
    buffer_free(&buffer);
}

static void overflowing_length_sets_failed(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer, alloc_default());
    protobuf_write_bytes(&buffer, 1, "", SIZE_MAX);
    assert_true(buffer.failed);
    protobuf_end_padded(&buffer, protobuf_begin_padded(&buffer, 1));
    assert_int_equal(buffer.n, 0);
    buffer_free(&buffer);
}

static bool write_all(const struct alloc *alloc)
{
    struct buffer buffer;
    buffer_init(&buffer, alloc);
    for (int i = 0; i < 300; i++) {
        size_t mark = protobuf_begin_padded(&buffer, 1);
        protobuf_write_u64(&buffer, 1, 1);
        protobuf_write_double(&buffer, 2, 1);
        protobuf_write_string(&buffer, 3, "text");
        protobuf_end_padded(&buffer, mark);
        mark = protobuf_begin_message(&buffer, 1);
        buffer_add_zeros(&buffer, (size_t)i);
        protobuf_end_message(&buffer, mark);
    }
    bool is_through = !buffer.failed;
    buffer_free(&buffer);
    return is_through;
}

static void failed_allocation_is_reported(void **state)
{
    (void)state;
    support_fail_each(write_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_match_encoding_guide),
        cmocka_unit_test(large_field_number_has_longer_tag),
        cmocka_unit_test(nested_messages_have_correct_lengths),
        cmocka_unit_test(long_message_has_padded_length),
        cmocka_unit_test(message_over_127_bytes_is_moved),
        cmocka_unit_test(overflowing_length_sets_failed),
        cmocka_unit_test(failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
