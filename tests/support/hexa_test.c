/* The assembler of golden vectors: every directive, and every error it must refuse. */
#include "support/hexa.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define assert_assembles(text, bytes) check_assembles(text, bytes, sizeof bytes - 1)

static struct hexa parse(const char *text)
{
    struct hexa hexa;
    char message[200] = "";
    bool is_good = hexa_parse(text, strlen(text), &hexa, message, sizeof message);
    assert_string_equal(message, "");
    assert_true(is_good);
    return hexa;
}

static void check_assembles(const char *text, const char *bytes, size_t n)
{
    struct hexa hexa = parse(text);
    assert_int_equal(hexa.n, n);
    assert_memory_equal(hexa.bytes ? (const void *)hexa.bytes : "", bytes, n);
    hexa_free(&hexa);
}

static void assert_refused(const char *text, const char *reason)
{
    struct hexa hexa;
    char message[200] = "";
    assert_false(hexa_parse(text, strlen(text), &hexa, message, sizeof message));
    assert_string_equal(message, reason);
    hexa_free(&hexa);
}

static void hex_digits_and_comments_give_bytes(void **state)
{
    (void)state;
    assert_assembles("", "");
    assert_assembles("00 fF # not these: 11\n0102 # nor this", "\x00\xff\x01\x02");
}

static void integers_follow_their_width_and_byte_order(void **state)
{
    (void)state;
    assert_assembles("u8 5 u8 -1", "\x05\xff");
    assert_assembles("u16le 0x102 u16be 0x102", "\x02\x01\x01\x02");
    assert_assembles("u32le 258 u32be 258", "\x02\x01\0\0\0\0\x01\x02");
    assert_assembles("u64le -2 u64be 18446744073709551615",
                     "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff");
    assert_assembles("varint 0 varint 127 varint 300 varint -1",
                     "\0\x7f\xac\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

static void floats_are_ieee(void **state)
{
    (void)state;
    assert_assembles("f64le 1.5 f64be -0.0", "\0\0\0\0\0\0\xf8\x3f\x80\0\0\0\0\0\0\0");
    assert_assembles("f32le 1.5 f32be inf", "\0\0\xc0\x3f\x7f\x80\0\0");
}

static void strings_have_escapes_and_lengths(void **state)
{
    (void)state;
    assert_assembles("str \"a\\n\\x00\\\"#\\\\\"", "a\n\0\"#\\");
    assert_assembles("str8 \"ab\" str16le \"ab\" str16be \"\"", "\2ab\2\0ab\0\0");
    assert_assembles("str32le \"a\" str32be \"b\"", "\1\0\0\0a\0\0\0\1b");
    assert_assembles("utf16le \"ab\" utf16be \"c\"", "a\0b\0\0c");
}

static void padding_counts_from_the_start(void **state)
{
    (void)state;
    assert_assembles("pad 8 01 pad 4 02 zeros 2 pad 7 pad 7", "\1\0\0\0\2\0\0");
}

static void repeats_nest_and_label_their_first_round(void **state)
{
    (void)state;
    assert_assembles("repeat 2 { 01 repeat 3 { 02 } } 03", "\1\2\2\2\1\2\2\2\3");
    struct hexa hexa = parse("ff repeat 3 { 00 @inside 01 } @end");
    assert_int_equal(hexa_label(&hexa, "inside"), 2);
    assert_int_equal(hexa_label(&hexa, "end"), 7);
    assert_int_equal(hexa_label(&hexa, "elsewhere"), HEXA_NO_OFFSET);
    hexa_free(&hexa);
}

static void words_are_built_from_fields(void **state)
{
    (void)state;
    assert_assembles("word64le [0..3]=4 [4..15]=3 # type, size\n [63]=1", "\x34\0\0\0\0\0\0\x80");
    assert_assembles("word64be [0..63]=-2", "\xff\xff\xff\xff\xff\xff\xff\xfe");
    assert_assembles("word32le [0..7]=-1 word32be [8..15]=1 word64le",
                     "\xff\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0");
}

static void numbers_may_be_sums_of_labels_that_come_later(void **state)
{
    (void)state;
    assert_assembles("u8 @end-@begin @begin 00 00 u8 @end-4 @end", "\3\0\0\0");
    assert_assembles("word32le [0..7]=@end @end", "\4\0\0\0");
}

static void headers_and_expectation_are_split_off(void **state)
{
    (void)state;
    struct hexa hexa = parse("#: id A-1 B-2\n#: title Two words\n#:id C-3\n01\n@bad 02 # --- no\n"
                             "#: status malformed\n#: offset @bad\n#: damage 2\n#: limit "
                             "65536\n---\nline\n---\n#: id no\n");
    assert_int_equal(hexa.ids_n, 3);
    assert_string_equal(hexa.ids[0], "A-1");
    assert_string_equal(hexa.ids[2], "C-3");
    assert_string_equal(hexa.title, "Two words");
    assert_string_equal(hexa.status, "malformed");
    assert_int_equal(hexa.offset, 1);
    assert_int_equal(hexa.damage, 2);
    assert_int_equal(hexa.max_record, 65536);
    assert_string_equal(hexa.expect, "line\n---\n#: id no\n");
    assert_int_equal(hexa.n, 2);
    hexa_free(&hexa);
}

static void missing_headers_have_defaults(void **state)
{
    (void)state;
    struct hexa hexa = parse("01");
    assert_string_equal(hexa.title, "");
    assert_string_equal(hexa.status, "");
    assert_true(hexa.offset == HEXA_NO_OFFSET);
    assert_int_equal(hexa.damage, 0);
    assert_null(hexa.expect);
    hexa_free(&hexa);
}

static void slips_are_refused_with_their_line(void **state)
{
    (void)state;
    assert_refused("00\n0", "line 2: '0' is neither a directive nor whole hex bytes");
    assert_refused("u24le 1", "line 1: 'u24le' is neither a directive nor whole hex bytes");
    assert_refused("\n\n= 1", "line 3: '=' is not expected here");
    assert_refused("00 }", "line 1: '}' is not expected here");
    assert_refused("u8 256", "line 1: 256 does not fit u8");
    assert_refused("u8 -129", "line 1: -129 does not fit u8");
    assert_refused("u32le 12z", "line 1: '12z' is not a 64-bit number");
    assert_refused("u64le 18446744073709551616",
                   "line 1: '18446744073709551616' is not a 64-bit number");
    assert_refused("u8", "line 1: '' is not a 64-bit number");
    assert_refused("u8 @nowhere", "line 1: no label @nowhere");
    assert_refused("f64le x", "line 1: 'x' is not a number");
    assert_refused("@a @a", "line 1: the label @a is there twice");
    assert_refused("@", "line 1: a label needs a name");
    assert_refused("pad 0", "line 1: pad 0");
    assert_refused("zeros 99999999999", "line 1: more than 67108864 bytes");
    assert_refused("#: color red",
                   "line 1: '#: color' is not one of id, title, status, offset, damage, limit");
}

static void broken_strings_repeats_and_fields_are_refused(void **state)
{
    (void)state;
    assert_refused("str hello", "line 1: a \"string\" is missing");
    assert_refused("str \"hello\n\"", "line 1: the string does not end on its line");
    assert_refused("str \"\\q\"", "line 1: escapes are \\n \\t \\r \\0 \\\\ \\\" and \\xNN");
    assert_refused("repeat 0 { 00 }", "line 1: repeat N { ... } with N from 1");
    assert_refused("repeat 2 00", "line 1: repeat N { ... } with N from 1");
    assert_refused("repeat 2 { 00", "line 1: a } is missing");
    assert_refused("word32le [0..32]=1", "line 1: a field is [first..last]=number within 32 bits");
    assert_refused("word32le [4..3]=1", "line 1: a field is [first..last]=number within 32 bits");
    assert_refused("word32le [0.3]=1", "line 1: a field is [first..last]=number");
    assert_refused("word64le [0..3]=16", "line 1: 16 does not fit 4 bits");
    assert_refused("word64le [0..3]=1 [3..5]=1", "line 1: bits 3..5 overlap an earlier field");
}

static void files_load_and_missing_ones_are_told(void **state)
{
    (void)state;
    char path[] = "/tmp/hexa_test_XXXXXX", message[200] = "";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "01 zz", 5), 5);
    close(fd);
    struct hexa hexa;
    assert_false(hexa_load(path, &hexa, message, sizeof message));
    assert_non_null(strstr(message, path));
    assert_non_null(strstr(message, "line 1: 'zz'"));
    hexa_free(&hexa);
    assert_int_equal(truncate(path, 2), 0);
    assert_true(hexa_load(path, &hexa, message, sizeof message));
    assert_int_equal(hexa.n, 1);
    hexa_free(&hexa);
    unlink(path);
    assert_false(hexa_load(path, &hexa, message, sizeof message));
    assert_non_null(strstr(message, "No such file"));
    hexa_free(&hexa);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hex_digits_and_comments_give_bytes),
        cmocka_unit_test(integers_follow_their_width_and_byte_order),
        cmocka_unit_test(floats_are_ieee),
        cmocka_unit_test(strings_have_escapes_and_lengths),
        cmocka_unit_test(padding_counts_from_the_start),
        cmocka_unit_test(repeats_nest_and_label_their_first_round),
        cmocka_unit_test(words_are_built_from_fields),
        cmocka_unit_test(numbers_may_be_sums_of_labels_that_come_later),
        cmocka_unit_test(headers_and_expectation_are_split_off),
        cmocka_unit_test(missing_headers_have_defaults),
        cmocka_unit_test(slips_are_refused_with_their_line),
        cmocka_unit_test(broken_strings_repeats_and_fields_are_refused),
        cmocka_unit_test(files_load_and_missing_ones_are_told),
    };
    return cmocka_run_group_tests_name("hexa", tests, NULL, NULL);
}
