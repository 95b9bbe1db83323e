/* Fields as bits, worked out by hand from the rules of the CTF documents for each kind of type. */
#include "layout/layout_encode.h"

#include "support/support.h"

#define NAME(s)         \
    {                   \
        s, sizeof s - 1 \
    }

static struct type number(uint8_t kind, unsigned bits, unsigned align, bool is_big)
{
    return (struct type){
        .kind = kind, .bits = bits, .align = (uint8_t)align, .is_big_endian = is_big};
}

static ttr_field uint_field(uint64_t x)
{
    return (ttr_field){.value = {.type = TTR_TYPE_UINT, .v.u = x}};
}

static ttr_field text_field(uint8_t type, const char *text)
{
    return (ttr_field){.value = {.type = type, .text = {text, strlen(text)}}};
}

static ttr_field group_field(uint8_t type, uint32_t count)
{
    return (ttr_field){.value = {.type = type, .count = count}};
}

/* Encodes the fields as members of a struct and compares. */
static void check(const struct type *type, const ttr_field *field, size_t n, const char *hex)
{
    struct buffer buffer;
    buffer_init(&buffer, alloc_default());
    struct field_encoder encode;
    encode.put = bit_writer_init(&buffer);
    encode_begin(&encode, field, n);
    encode_members(&encode, type);
    assert_int_equal(encode.at, n);
    support_assert_hex(buffer.bytes, buffer.n, hex);
    buffer_free(&buffer);
}

static void numbers_have_their_width_order_and_alignment(void **state)
{
    (void)state;
    const struct type u8 = number(TYPE_UINT, 8, 3, false), s16be = number(TYPE_INT, 16, 4, true),
                      u5 = number(TYPE_UINT, 5, 0, false), u27 = number(TYPE_UINT, 27, 0, false),
                      u5be = number(TYPE_UINT, 5, 3, true),
                      boolean = number(TYPE_BOOL, 8, 3, false);
    const struct type_member members[] = {{.type = &u8},  {.type = &s16be}, {.type = &u5},
                                          {.type = &u27}, {.type = &u5be},  {.type = &boolean}};
    const struct type type = {.kind = TYPE_STRUCT, .align = 4, .members = members, .members_n = 6};
    ttr_field field[] = {uint_field(0x7f), {.value = {.type = TTR_TYPE_INT, .v.s = -2}},
                         uint_field(0x15), uint_field(0x5abcdef),
                         uint_field(0x11), {.value = {.type = TTR_TYPE_BOOL, .v.u = 1}}};
    check(&type, field, 6, "7f 00 fffe f5bd79b5 88 01");
}

static void reversed_bits_are_stored_last_to_first(void **state)
{
    (void)state;
    struct type type = number(TYPE_UINT, 12, 0, false);
    type.is_reversed = true;
    const struct type_member member = {.type = &type};
    const struct type root = {.kind = TYPE_STRUCT, .members = &member, .members_n = 1};
    /* 0001 0010 0011 from its last bit on is 1100 0100 1000 */
    ttr_field field = uint_field(0x123);
    check(&root, &field, 1, "48 0c");
}

static void leb128_takes_seven_bits_a_byte(void **state)
{
    (void)state;
    const struct type var_uint = {.kind = TYPE_VAR_UINT, .align = 3},
                      var_int = {.kind = TYPE_VAR_INT, .align = 3};
    const struct type_member members[] = {
        {.type = &var_uint}, {.type = &var_uint}, {.type = &var_uint}, {.type = &var_int},
        {.type = &var_int},  {.type = &var_int},  {.type = &var_int}};
    const struct type type = {.kind = TYPE_STRUCT, .align = 3, .members = members, .members_n = 7};
    ttr_field field[7] = {uint_field(0), uint_field(624485), uint_field(UINT64_MAX)};
    const int64_t numbers[] = {-123456, 63, 64, INT64_MIN};
    for (int i = 0; i < 4; i++)
        field[3 + i].value = (ttr_value){.type = TTR_TYPE_INT, .v.s = numbers[i]};
    check(&type, field, 7, "00 e58e26 ffffffffffffffffff01 c0bb78 3f c000 8080808080808080807f");
}

static void floats_are_ieee_754_of_32_or_64_bits(void **state)
{
    (void)state;
    const struct type f32 = number(TYPE_FLOAT, 32, 3, false), f64 = number(TYPE_FLOAT, 64, 3, true);
    const struct type_member members[] = {{.type = &f32}, {.type = &f64}};
    const struct type type = {.kind = TYPE_STRUCT, .align = 3, .members = members, .members_n = 2};
    ttr_field field[] = {{.value = {.type = TTR_TYPE_FLOAT, .v.f = -0.15625}},
                         {.value = {.type = TTR_TYPE_FLOAT, .v.f = 1.5}}};
    check(&type, field, 2, "000020be 3ff8000000000000");
}

static void text_ends_with_a_zero_or_is_counted_or_padded(void **state)
{
    (void)state;
    const struct type length = number(TYPE_UINT, 16, 3, false),
                      string = {.kind = TYPE_STRING, .align = 3, .bits = 8};
    const ttr_text length_name = NAME("_data_length");
    const struct type bytes = {
        .kind = TYPE_BLOB, .align = 3, .reference = {.names = &length_name, .names_n = 1}};
    const struct type padded = {.kind = TYPE_TEXT, .align = 3, .count = 4};
    const struct type_member members[] = {{.type = &string},
                                          {.name = length_name, .type = &length},
                                          {.type = &bytes},
                                          {.type = &padded},
                                          {.type = &padded}};
    const struct type type = {.kind = TYPE_STRUCT, .align = 3, .members = members, .members_n = 5};
    ttr_field field[] = {text_field(TTR_TYPE_TEXT, "ab"), text_field(TTR_TYPE_BYTES, "cde"),
                         text_field(TTR_TYPE_TEXT, "f"), text_field(TTR_TYPE_TEXT, "too long")};
    check(&type, field, 4, "616200 0300 636465 66000000 746f6f20");
}

static void sequences_have_their_length_before_them_or_inline(void **state)
{
    (void)state;
    const struct type u8 = number(TYPE_UINT, 8, 3, false), u16 = number(TYPE_UINT, 16, 4, false),
                      u32 = number(TYPE_UINT, 32, 5, false);
    const ttr_text name = NAME("x_length");
    const struct type apart = {.kind = TYPE_SEQUENCE,
                               .align = 4,
                               .element = &u16,
                               .reference = {.names = &name, .names_n = 1}};
    const struct type inlined = {.kind = TYPE_SEQUENCE,
                                 .align = 5,
                                 .element = &u32,
                                 .has_inline_length = true,
                                 .length_type = &u8};
    const struct type_member members[] = {
        {.name = name, .type = &u8}, {.type = &apart}, {.type = &inlined}, {.type = &inlined}};
    const struct type type = {.kind = TYPE_STRUCT, .align = 5, .members = members, .members_n = 4};
    ttr_field field[] = {
        group_field(TTR_TYPE_ARRAY, 2), uint_field(0x0101),     uint_field(0x0202),
        group_field(TTR_TYPE_ARRAY, 1), uint_field(0x0a0b0c0d), group_field(TTR_TYPE_ARRAY, 0)};
    check(&type, field, 6, "02 00 0101 0202 01 00 0d0c0b0a 00");
}

/* So readers of CTF 1.8 and 2 have it; behind a length of its own nothing is aligned but elements.
 */
static void what_would_hold_elements_is_aligned_where_it_holds_none(void **state)
{
    (void)state;
    const struct type u3 = number(TYPE_UINT, 3, 0, false), u8 = number(TYPE_UINT, 8, 3, false),
                      u32 = number(TYPE_UINT, 32, 5, false);
    const ttr_text name = NAME("x_length");
    const struct type counted = {.kind = TYPE_SEQUENCE,
                                 .align = 3,
                                 .element = &u8,
                                 .reference = {.names = &name, .names_n = 1}};
    const struct type fixed = {.kind = TYPE_ARRAY, .align = 3, .element = &u8};
    const struct type inlined = {.kind = TYPE_SEQUENCE,
                                 .align = 5,
                                 .element = &u32,
                                 .has_inline_length = true,
                                 .length_type = &u3};
    const struct type_member members[] = {
        {.name = name, .type = &u3}, {.type = &counted}, {.type = &u3}, {.type = &fixed},
        {.type = &inlined},          {.type = &u3}};
    const struct type type = {.kind = TYPE_STRUCT, .align = 5, .members = members, .members_n = 6};
    ttr_field field[] = {group_field(TTR_TYPE_ARRAY, 0), uint_field(5),
                         group_field(TTR_TYPE_ARRAY, 0), group_field(TTR_TYPE_ARRAY, 0),
                         uint_field(7)};
    check(&type, field, 5, "00 05 38");
}

static void wrappers_stand_for_no_field_of_their_own(void **state)
{
    (void)state;
    const struct type u8 = number(TYPE_UINT, 8, 3, false);
    const ttr_text name = NAME("length");
    const struct type elements = {.kind = TYPE_SEQUENCE,
                                  .align = 3,
                                  .element = &u8,
                                  .reference = {.names = &name, .names_n = 1}};
    const struct type_member pair[] = {{.name = name, .type = &u8}, {.type = &elements}},
                             single = {.type = &u8};
    const struct type list = {.kind = TYPE_STRUCT, .align = 3, .members = pair, .members_n = 2};
    const struct type wrapped = {
        .kind = TYPE_STRUCT, .align = 3, .members = &single, .members_n = 1};
    const struct type_member unlike[] = {{.type = &u8}, {.type = &list}, {.type = &wrapped}};
    const struct type mixed = {.kind = TYPE_STRUCT, .align = 3, .members = unlike, .members_n = 3};
    const struct type_member members[] = {{.type = &mixed}, {.type = &mixed}, {.type = &wrapped}};
    const struct type type = {.kind = TYPE_STRUCT, .align = 3, .members = members, .members_n = 3};
    /* a list of unlike elements, a struct of them, a number alone */
    ttr_field field[] = {group_field(TTR_TYPE_ARRAY, 3),
                         uint_field(1),
                         group_field(TTR_TYPE_ARRAY, 2),
                         uint_field(2),
                         uint_field(3),
                         uint_field(4),
                         group_field(TTR_TYPE_STRUCT, 3),
                         uint_field(5),
                         group_field(TTR_TYPE_ARRAY, 0),
                         uint_field(6),
                         uint_field(7)};
    check(&type, field, 11, "01 02 02 03 04 05 00 06 07");
}

static void bytes_may_be_an_array_of_numbers(void **state)
{
    (void)state;
    const struct type u8 = number(TYPE_UINT, 8, 3, false), u16 = number(TYPE_UINT, 16, 3, false);
    const struct type inlined = {.kind = TYPE_SEQUENCE,
                                 .align = 3,
                                 .element = &u8,
                                 .has_inline_length = true,
                                 .length_type = &u16};
    const struct type fixed = {.kind = TYPE_ARRAY, .align = 3, .element = &u8, .count = 2};
    const struct type_member members[] = {{.type = &inlined}, {.type = &fixed}};
    const struct type type = {.kind = TYPE_STRUCT, .align = 3, .members = members, .members_n = 2};
    ttr_field field[] = {text_field(TTR_TYPE_BYTES, "abc"), text_field(TTR_TYPE_BYTES, "de")};
    check(&type, field, 2, "0300 616263 6465");
}

static void what_is_missing_is_zero_in_whole(void **state)
{
    (void)state;
    const struct type u8 = number(TYPE_UINT, 8, 3, false),
                      string = {.kind = TYPE_STRING, .align = 3, .bits = 8};
    const struct type_member inside[] = {{.type = &u8}, {.type = &string}};
    const struct type element = {
        .kind = TYPE_STRUCT, .align = 3, .members = inside, .members_n = 2};
    const struct type array = {.kind = TYPE_ARRAY, .align = 3, .element = &element, .count = 2};
    const struct type_member members[] = {{.type = &u8}, {.type = &array}, {.type = &u8}};
    const struct type type = {.kind = TYPE_STRUCT, .align = 3, .members = members, .members_n = 3};
    ttr_field field = uint_field(7);
    check(&type, NULL, 0, "00 0000 0000 00");
    check(&type, &field, 1, "07 0000 0000 00");
}

static void fields_of_another_shape_do_no_harm(void **state)
{
    (void)state;
    struct buffer buffer;
    buffer_init(&buffer, alloc_default());
    const struct type u8 = number(TYPE_UINT, 8, 3, false),
                      string = {.kind = TYPE_STRING, .align = 3, .bits = 8};
    const struct type sequence = {.kind = TYPE_SEQUENCE,
                                  .align = 3,
                                  .element = &string,
                                  .has_inline_length = true,
                                  .length_type = &u8};
    const struct type_member members[] = {{.type = &string},
                                          {.type = &sequence},
                                          {.type = &u8},
                                          {.type = &sequence},
                                          {.type = &string}};
    const struct type type = {.kind = TYPE_STRUCT, .align = 3, .members = members, .members_n = 5};
    ttr_field field[] = {group_field(TTR_TYPE_STRUCT, 9), uint_field(7),
                         group_field(TTR_TYPE_ARRAY, UINT32_MAX), text_field(TTR_TYPE_TEXT, "x")};
    for (size_t n = 0; n <= 4; n++) {
        struct field_encoder encode;
        encode.put = bit_writer_init(&buffer);
        encode_begin(&encode, field, n);
        encode_members(&encode, &type);
        assert_int_equal(encode.at, n);
        assert_true(encode.put.at <= 80);
    }
    buffer_free(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_their_width_order_and_alignment),
        cmocka_unit_test(reversed_bits_are_stored_last_to_first),
        cmocka_unit_test(leb128_takes_seven_bits_a_byte),
        cmocka_unit_test(floats_are_ieee_754_of_32_or_64_bits),
        cmocka_unit_test(text_ends_with_a_zero_or_is_counted_or_padded),
        cmocka_unit_test(sequences_have_their_length_before_them_or_inline),
        cmocka_unit_test(what_would_hold_elements_is_aligned_where_it_holds_none),
        cmocka_unit_test(wrappers_stand_for_no_field_of_their_own),
        cmocka_unit_test(bytes_may_be_an_array_of_numbers),
        cmocka_unit_test(what_is_missing_is_zero_in_whole),
        cmocka_unit_test(fields_of_another_shape_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
