/* Field classes of CTF 2: the meaning of each property, and the errors for invalid ones. */
#include <stdio.h>

#include "support/ctf2_case.h"
#include "support/support.h"

#define FIXED(type, more) "{'type':'fixed-length-" type "'," more "}"
#define LE8 "'length':8,'byte-order':'little-endian'"

static void fixed_length_classes_parse_with_all_properties(void **state)
{
    (void)state;
    ctf2_check_class(FIXED("bit-array", LE8), "bits8 le");
    ctf2_check_class(FIXED("boolean", "'length':1,'byte-order':'big-endian'"), "bool1 be");
    ctf2_check_class(FIXED("unsigned-integer", LE8), "u8 le");
    ctf2_check_class(
        FIXED("signed-integer", "'length':64,'byte-order':'big-endian','alignment':64"),
        "i64 be @64");
    ctf2_check_class(FIXED("unsigned-integer", "'length':128,'byte-order':'big-endian'"),
                     "u128 be");
    ctf2_check_class(
        FIXED("unsigned-integer", "'length':3,'byte-order':'little-endian','alignment':1"),
        "u3 le");
    ctf2_check_class(FIXED("bit-map", LE8 ",'flags':{'a':[[0,0]],'b':[[1,3],[7,7]]}"),
                     "flags8 le {\"a\" 0..0, \"b\" 1..3 7..7}");
    ctf2_check_class(FIXED("floating-point-number", "'length':16,'byte-order':'big-endian'"),
                     "f16 be");
    ctf2_check_class(
        FIXED("floating-point-number", "'length':32,'byte-order':'big-endian','alignment':32768"),
        "f32 be @32768");
    ctf2_check_class(FIXED("floating-point-number", "'length':64,'byte-order':'little-endian'"),
                     "f64 le");
    ctf2_check_class(FIXED("floating-point-number", "'length':128,'byte-order':'little-endian'"),
                     "f128 le");
    ctf2_check_class(FIXED("floating-point-number", "'length':160,'byte-order':'little-endian'"),
                     "f160 le");
}

static void natural_bit_order_is_not_reversed(void **state)
{
    (void)state;
    ctf2_check_class(FIXED("bit-array", LE8 ",'bit-order':'first-to-last'"), "bits8 le");
    ctf2_check_class(FIXED("bit-array", LE8 ",'bit-order':'last-to-first'"), "bits8 le reversed");
    ctf2_check_class(
        FIXED("bit-array", "'length':8,'byte-order':'big-endian','bit-order':'last-to-first'"),
        "bits8 be");
    ctf2_check_class(
        FIXED("bit-array", "'length':8,'byte-order':'big-endian','bit-order':'first-to-last'"),
        "bits8 be reversed");
}

static void integers_have_bases_and_mappings_exact_to_64_bits(void **state)
{
    (void)state;
    ctf2_check_class(FIXED("unsigned-integer", LE8 ",'preferred-display-base':16"),
                     "u8 le base 16");
    ctf2_check_class(FIXED("signed-integer", LE8 ",'preferred-display-base':2"), "i8 le base 2");
    ctf2_check_class(FIXED("unsigned-integer", LE8 ",'mappings':{}"), "u8 le");
    ctf2_check_class(FIXED("unsigned-integer", "'length':64,'byte-order':'little-endian','mappings'"
                                               ":{'all':[[0,18446744073709551615]],'top':"
                                               "[[9223372036854775808,18446744073709551614],["
                                               "18446744073709551615,18446744073709551615]]}"),
                     "u64 le {\"all\" 0..18446744073709551615, \"top\" "
                     "9223372036854775808..18446744073709551614 "
                     "18446744073709551615..18446744073709551615}");
    ctf2_check_class(
        FIXED("signed-integer",
              "'length':64,'byte-order':'little-endian','mappings':"
              "{'all':[[-9223372036854775808,9223372036854775807]],'':[[-1,-1],[-1,0]]}"),
        "i64 le {\"all\" -9223372036854775808..9223372036854775807, \"\" -1..-1 -1..0}");
}

static void variable_length_integers_are_aligned_to_bytes(void **state)
{
    (void)state;
    ctf2_check_class("{'type':'variable-length-unsigned-integer'}", "vu @8");
    ctf2_check_class("{'type':'variable-length-signed-integer','preferred-display-base':8,'"
                     "mappings':{'m':[[-5,5]]}}",
                     "vi @8 base 8 {\"m\" -5..5}");
}

static void text_has_an_encoding_and_is_aligned_to_bytes(void **state)
{
    (void)state;
    ctf2_check_class("{'type':'null-terminated-string'}", "string @8");
    ctf2_check_class("{'type':'null-terminated-string','encoding':'utf-8'}", "string @8");
    ctf2_check_class("{'type':'null-terminated-string','encoding':'utf-16be'}",
                     "string utf-16be @8");
    ctf2_check_class("{'type':'static-length-string','length':0}", "text[0] @8");
    ctf2_check_class("{'type':'static-length-string','length':6,'encoding':'utf-16le'}",
                     "text[6] utf-16le @8");
    ctf2_check_class("{'type':'static-length-string','length':8,'encoding':'utf-32le'}",
                     "text[8] utf-32le @8");
    ctf2_check_class("{'type':'static-length-string','length':8,'encoding':'utf-32be'}",
                     "text[8] utf-32be @8");
}

static void text_with_partial_character_is_noted(void **state)
{
    (void)state;
    ctf2_check_notes(CTF2_BEFORE "{'name':'x','field-class':{'type':'static-length-string','length'"
                                 ":3,'encoding':'utf-16le'}},"
                                 "{'name':'y','field-class':{'type':'static-length-string','length'"
                                 ":42,'encoding':'utf-32be'}}" CTF2_AFTER,
                     "ctf.odd-length: text in utf-16le has no multiple of 2 bytes\n"
                     "ctf.odd-length: text in utf-32be has no multiple of 4 bytes\n");
}

static void blobs_have_a_media_type(void **state)
{
    (void)state;
    ctf2_check_class("{'type':'static-length-blob','length':16}", "blob[16] @8");
    ctf2_check_class("{'type':'static-length-blob','length':0,'media-type':'image/png'}",
                     "blob[0] @8 media \"image/png\"");
    ctf2_check_class("{'type':'static-length-blob','length':18446744073709551615}",
                     "blob[18446744073709551615] @8");
}

static void compound_alignment_is_largest_member_or_minimum(void **state)
{
    (void)state;
    ctf2_check_class("{'type':'structure'}", "struct()");
    ctf2_check_class("{'type':'structure','member-classes':[]}", "struct()");
    ctf2_check_class("{'type':'structure','minimum-alignment':16}", "struct() @16 min 16");
    ctf2_check_class("{'type':'structure','minimum-alignment':4,'member-classes':[" CTF2_UINT(
                         "a", "3") ",{'name':'b','field-class':"
                                   "{'type':'null-terminated-string'}}]}",
                     "struct(a: u3 le, b: string @8) @8 min 4");
    ctf2_check_class("{'type':'static-length-array','length':0,'element-field-class':" FIXED(
                         "unsigned-integer", LE8 ",'alignment':32") "}",
                     "array[0] @32 u8 le @32");
    ctf2_check_class(
        "{'type':'static-length-array','length':7,'minimum-alignment':64,'element-field-class':"
        "{'type':'static-length-array','length':2,'element-field-class':" FIXED("unsigned-integer",
                                                                                LE8) "}}",
        "array[7] @64 min 64 array[2] u8 le");
}

static void class_attributes_and_undeclared_extensions_are_ignored(void **state)
{
    (void)state;
    ctf2_check_class(
        FIXED("unsigned-integer",
              LE8 ",'attributes':{'my.ns':{'deep':[1,{'x':null}]}},'extensions':{'n':{'e':1}}"),
        "u8 le");
}

#define AT_X "[0].field-class"

static const struct {
    const char *json, *message;
} invalid_numbers[] = {
    {FIXED("unsigned-integer", LE8 ",'attributes':@1"),
     AT_X ".attributes: expected an object, found an integer"},
    {FIXED("unsigned-integer", LE8 ",'extensions':@[]"),
     AT_X ".extensions: expected an object, found an array"},
    {FIXED("unsigned-integer", LE8 ",'extensions':{'n':@true}"),
     AT_X ".extensions.n: expected an object, found true"},
    {FIXED("signed-integer", LE8 ",'roles':@['packet-total-length']"),
     AT_X ".roles: roles are for unsigned integers and blobs of a fixed length"},
    {"{'type':'null-terminated-string','roles':@[]}",
     AT_X ".roles: roles are for unsigned integers and blobs of a fixed length"},
    {"@{'type':'fixed-length-unsigned-integer','length':8}",
     AT_X ": a fixed-length integer class must have the property \"byte-order\""},
    {"@{'type':'fixed-length-unsigned-integer','byte-order':'big-endian'}",
     AT_X ": a fixed-length integer class must have the property \"length\""},
    {FIXED("unsigned-integer", "'length':@0,'byte-order':'big-endian'"),
     AT_X ".length: expected a length of at least one bit"},
    {FIXED("unsigned-integer", "'length':@-1,'byte-order':'big-endian'"),
     AT_X ".length: expected an integer from 0 to 18446744073709551615"},
    {FIXED("unsigned-integer", "'length':@8.0,'byte-order':'big-endian'"),
     AT_X ".length: expected an integer, found a number with a fraction or an exponent"},
    {FIXED("unsigned-integer", "'length':@'8','byte-order':'big-endian'"),
     AT_X ".length: expected an integer, found a string"},
    {FIXED("unsigned-integer", "'length':8,'byte-order':@'le'"),
     AT_X ".byte-order: expected one of \"little-endian\", \"big-endian\""},
    {FIXED("unsigned-integer", "'length':8,'byte-order':@null"),
     AT_X ".byte-order: expected a string, found null"},
    {FIXED("unsigned-integer", LE8 ",'bit-order':@'natural'"),
     AT_X ".bit-order: expected one of \"first-to-last\", \"last-to-first\""},
    {FIXED("unsigned-integer", LE8 ",'alignment':@0"), AT_X ".alignment: expected a power of two"},
    {FIXED("unsigned-integer", LE8 ",'alignment':@12"), AT_X ".alignment: expected a power of two"},
    {FIXED("unsigned-integer", LE8 ",'preferred-display-base':@12"),
     AT_X ".preferred-display-base: expected 2, 8, 10 or 16"},
    {FIXED("floating-point-number", "'length':@24,'byte-order':'big-endian'"),
     AT_X ".length: expected 16, 32, 64, 128 or a larger multiple of 32 bits"},
    {FIXED("floating-point-number", "'length':@80,'byte-order':'big-endian'"),
     AT_X ".length: expected 16, 32, 64, 128 or a larger multiple of 32 bits"},
    {FIXED("bit-map", LE8 ",'flags':@{}"), AT_X ".flags: expected at least one flag"},
    {"@{'type':'fixed-length-bit-map'," LE8 "}",
     AT_X ": a bit map class must have the property \"flags\""},
    {FIXED("bit-map", LE8 ",'flags':{'a':[[@-1,1]]}"),
     AT_X ".flags.a[0][0]: an unsigned number cannot have this value"},
    {FIXED("bit-map", LE8 ",'flags':{'a':@[[0,8]]}"), AT_X ".flags.a: expected bits from 0 to 7"},
    {FIXED("unsigned-integer", LE8 ",'length':@8"),
     AT_X ".length: a fixed-length integer class has this property twice"},
    {"{'type':@'integer'}", AT_X ".type: no such field class: \"integer\""},
    {"@{'length':8}", AT_X ": a field class must have the property \"type\""},
    {"@5", AT_X ": expected a field class or the name of an alias, found an integer"},
    {"@'u8'", AT_X ": no field class alias \"u8\" is defined before"},
};

static void invalid_number_class_fails_with_position(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof invalid_numbers / sizeof *invalid_numbers; i++) {
        char member[1024] = "{'name':'x','field-class':";
        memcpy(member + strlen(member), invalid_numbers[i].json,
               strlen(invalid_numbers[i].json) + 1);
        memcpy(member + strlen(member), "}", 2);
        ctf2_check_members_error(member, TTR_E_MALFORMED, invalid_numbers[i].message);
    }
}

static void invalid_ranges_fail_with_position(void **state)
{
    (void)state;
    static const struct {
        const char *ranges, *message;
    } rows[] = {
        {"@[]", ": a set of ranges must not be empty"},
        {"@5", ": expected an array, found an integer"},
        {"[@5]", "[0]: expected a range: [lowest, highest]"},
        {"[[0,1],@[1]]", "[1]: expected a range: [lowest, highest]"},
        {"[@[0,1,2]]", "[0]: expected a range: [lowest, highest]"},
        {"[@[2,1]]", "[0]: a range must not end below its begin"},
        {"[@[1,-1]]", "[0]: a range must not end below its begin"},
        {"[[0,1],@[-1,-2]]", "[1]: a range must not end below its begin"},
        {"[[0,@'1']]", "[0][1]: expected an integer, found a string"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char member[1024], message[256];
        (void)snprintf(
            member, sizeof member,
            "{'name':'x','field-class':" FIXED("unsigned-integer", LE8 ",'mappings':{'m':%s}") "}",
            rows[i].ranges);
        (void)snprintf(message, sizeof message, AT_X ".mappings.m%s", rows[i].message);
        ctf2_check_members_error(member, TTR_E_MALFORMED, message);
    }
    ctf2_check_members_error(
        "{'name':'x','field-class':" FIXED("signed-integer",
                                           LE8 ",'mappings':{'m':[[0,1]],'m':@[[2,3]]}") "}",
        TTR_E_MALFORMED, AT_X ".mappings.m: this name comes twice");
}

static void mapped_ranges_beyond_number_are_clipped_with_note(void **state)
{
    (void)state;
    static const char text[] =
        FIXED("unsigned-integer",
              LE8 ",'mappings':{'m':[[10,20],[-10,18446744073709551615],[-2,-1]],'n':[[-1,-1]]}");
    ctf2_check_class(text, "u8 le {\"m\" 10..20 0..18446744073709551615}");
    ctf2_check_class(FIXED("signed-integer", LE8 ",'mappings':{'m':[[-5,9223372036854775808],["
                                                 "9223372036854775808,9223372036854775809]]}"),
                     "i8 le {\"m\" -5..9223372036854775807}");
    ctf2_check_class(FIXED("unsigned-integer",
                           LE8 ",'mappings':{'m':[[5,18446744073709551616],[-99999999999999999999,"
                               "7],[99999999999999999999,99999999999999999999]]}"),
                     "u8 le {\"m\" 5..18446744073709551615 0..7}");
    ctf2_check_class(FIXED("signed-integer",
                           LE8 ",'mappings':{'m':[[-9223372036854775809,-1],[-99999999999999999999,"
                               "-9223372036854775809],[0,18446744073709551616]]}"),
                     "i8 le {\"m\" -9223372036854775808..-1 0..9223372036854775807}");
    char whole[1024];
    (void)snprintf(whole, sizeof whole, CTF2_BEFORE "{'name':'x','field-class':%s}" CTF2_AFTER,
                   FIXED("unsigned-integer", LE8 ",'mappings':{'m':[[-1,1]]}"));
    ctf2_check_notes(whole, "ctf.range-beyond: a range goes beyond what its number can be\n");
}

static void invalid_text_arrays_and_structures_fail_with_position(void **state)
{
    (void)state;
    static const struct {
        const char *json, *message;
    } rows[] = {
        {"{'type':'null-terminated-string','encoding':@'latin-1'}",
         AT_X ".encoding: expected one of \"utf-8\", \"utf-16le\", \"utf-16be\", \"utf-32le\", "
              "\"utf-32be\""},
        {"@{'type':'static-length-string'}",
         AT_X ": a string class must have the property \"length\""},
        {"{'type':'static-length-blob','length':16,'media-type':@1}",
         AT_X ".media-type: expected a string, found an integer"},
        {"@{'type':'static-length-array','length':1}",
         AT_X ": an array class must have the property \"element-field-class\""},
        {"{'type':'static-length-array','length':1,'element-field-class':@null}",
         AT_X ".element-field-class: expected a field class or the name of an alias, found null"},
        {"{'type':'structure','minimum-alignment':@3}",
         AT_X ".minimum-alignment: expected a power of two"},
        {"{'type':'structure','member-classes':@{}}",
         AT_X ".member-classes: expected an array, found an object"},
        {"{'type':'structure','member-classes':[@1]}",
         AT_X ".member-classes[0]: expected a member class (an object), found an integer"},
        {"{'type':'structure','member-classes':[@{'name':'a'}]}",
         AT_X ".member-classes[0]: a member class must have the property \"field-class\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char member[1024];
        (void)snprintf(member, sizeof member, "{'name':'x','field-class':%s}", rows[i].json);
        ctf2_check_members_error(member, TTR_E_MALFORMED, rows[i].message);
    }
}

static void exceeded_limits_fail_with_limit(void **state)
{
    (void)state;
    ctf2_check_members_error(
        "{'name':'x','field-class':" FIXED("unsigned-integer", LE8 ",'alignment':@65536") "}",
        TTR_E_LIMIT, AT_X ".alignment: alignments of more than 32768 bits are not supported");
    ctf2_check_members_error(
        "{'name':'x','field-class':" FIXED("unsigned-integer",
                                           "'length':@65537,'byte-order':'big-endian'") "}",
        TTR_E_LIMIT, AT_X ".length: numbers of more than 65536 bits are not supported");
}

/* Parses a class inside `levels` arrays. */
static ttr_status parse_nested(unsigned levels, ttr_error *error)
{
    struct ctf2_case c;
    struct buffer text;
    buffer_init(&text, alloc_default());
    buffer_add_text(&text, CTF2_BEFORE "{'name':'x','field-class':");
    for (unsigned i = 0; i < levels; i++)
        buffer_add_text(&text, "{'type':'static-length-array','length':1,'element-field-class':");
    buffer_add_text(&text, "{'type':'null-terminated-string'}");
    for (unsigned i = 0; i < levels; i++)
        buffer_add_text(&text, "}");
    buffer_add_text(&text, "}" CTF2_AFTER);
    buffer_add_byte(&text, 0);
    ctf2_case_parse(&c, alloc_default(), (const char *)text.bytes);
    ttr_status status = c.status;
    *error = c.error;
    ctf2_case_free(&c);
    buffer_free(&text);
    return status;
}

static void nesting_beyond_32_levels_fails(void **state)
{
    (void)state;
    ttr_error error;
    assert_int_equal(parse_nested(TYPE_DEPTH_MAX, &error), TTR_OK);
    assert_int_equal(parse_nested(TYPE_DEPTH_MAX + 1, &error), TTR_E_LIMIT);
    assert_non_null(strstr(error.text, ": field classes are nested more than 32 deep\n"));
    assert_int_equal(parse_nested(300, &error), TTR_E_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_length_classes_parse_with_all_properties),
        cmocka_unit_test(natural_bit_order_is_not_reversed),
        cmocka_unit_test(integers_have_bases_and_mappings_exact_to_64_bits),
        cmocka_unit_test(variable_length_integers_are_aligned_to_bytes),
        cmocka_unit_test(text_has_an_encoding_and_is_aligned_to_bytes),
        cmocka_unit_test(text_with_partial_character_is_noted),
        cmocka_unit_test(blobs_have_a_media_type),
        cmocka_unit_test(compound_alignment_is_largest_member_or_minimum),
        cmocka_unit_test(class_attributes_and_undeclared_extensions_are_ignored),
        cmocka_unit_test(invalid_number_class_fails_with_position),
        cmocka_unit_test(invalid_ranges_fail_with_position),
        cmocka_unit_test(mapped_ranges_beyond_number_are_clipped_with_note),
        cmocka_unit_test(invalid_text_arrays_and_structures_fail_with_position),
        cmocka_unit_test(exceeded_limits_fail_with_limit),
        cmocka_unit_test(nesting_beyond_32_levels_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
