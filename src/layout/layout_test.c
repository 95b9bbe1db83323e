/* Layouts decode bytes worked out by hand from the specifications: CTF v1.1 sections 4.1.5, 4.1.6,
 * 4.2, and the field classes of CTF 2. */
#include "support/layout_test.h"

/* A type, a record, and the expected fields. */
struct sample {
    const char *type, *hex, *wanted;
};

static void expect_samples(const struct sample *sample, size_t n)
{
    struct table table;
    table_open(&table);
    for (size_t i = 0; i < n; i++) {
        uint8_t bytes[512];
        bool is_short = strstr(sample[i].wanted, "short") != NULL;
        uint64_t end = is_short ? UINT64_MAX : support_hex(bytes, sizeof bytes, sample[i].hex) * 8;
        table_payload(&table, sample[i].type);
        table_expect(&table, 0, sample[i].hex, end, sample[i].wanted);
    }
    table_close(&table);
}
#define EXPECT(samples) expect_samples(samples, sizeof samples / sizeof samples[0])

static void integers_decode_as_specified(void **state)
{
    (void)state;
    /* Section 4.1.5: in little-endian order consecutive integers go from the low to the high bits,
     * in big-endian order from high to low. */
    static const struct sample samples[] = {
        {"id:u5 time:u27 n:i16", "f5 bd 79 b5 fe ff", "id=21 time=95145455 n=-2"},
        {"id:u5> time:u27> n:i16>", "ad ab cd ef ff fe", "id=21 time=95145455 n=-2"},
        {"a:u8 b:u16 c:u32 d:u64", "01 0203 04050607 08090a0b0c0d0e0f",
         "a=1 b=770 c=117835012 d=1084818905618843912"},
        {"a:u8> b:u16> c:u32> d:u64>", "01 0203 04050607 08090a0b0c0d0e0f",
         "a=1 b=515 c=67438087 d=579005069656919567"},
        {"a:i8 b:i16 c:i32 d:i64", "ff feff fdffffff fcffffffffffffff", "a=-1 b=-2 c=-3 d=-4"},
        {"a:i8> b:i16> c:i32> d:i64>", "ff fffe fffffffd fffffffffffffffc", "a=-1 b=-2 c=-3 d=-4"},
        {"a:u24 b:i24> c:i40", "010203 ff0000 0000000080", "a=197121 b=-65536 c=-549755813888"},
        {"a:t8 b:t1 c:t7 d:t1> e:t7>", "00 02 40", "a=false b=false c=true d=false e=true"},
        {"a:b4 b:b12", "4f 12", "a=15 b=292"},
    };
    EXPECT(samples);
}

static void gcc_bitfield_across_unit_starts_next_unit(void **state)
{
    (void)state;
    struct table table;
    table_open(&table);
    /* Section 4.1.6: short a:12; short b:5; b starts at bit 16. a = -3 (0xffd), b = -1 (0x1f), c =
     * 0x7ff. */
    table_payload(&table, "a:i12/16 b:i5/16 c:u11/16");
    table_expect(&table, 0, "fd 0f ff ff", 32, "a=-3 b=-1 c=2047");
    table_expect(&table, 8, "00 00 fd 0f 1f 00", 48, "a=-3 b=-1 c=0");
    /* A unit that is not a power of two: a field at bits 24..35 fits the unit at 24, one at 20..27
     * crosses. */
    table_payload(&table, "a:u20/24 b:u8/24");
    table_expect(&table, 0, "00 00 00 ff", 32, "a=0 b=255");
    table_close(&table);
}

static void struct_is_aligned_to_largest_member(void **state)
{
    (void)state;
    struct table table;
    table_open(&table);
    table_payload(&table, "a:u8 s:{x:u8 y:u32@32} b:u8");
    table_expect(&table, 0, "01 00 00 00 02 00 00 00 03 00 00 00 04", 104,
                 "a=1 s={2} .x=2 .y=3 b=4");
    table_expect(&table, 8, "ff ff ff ff 01 00 00 00 02 00 00 00 03 00 00 00 04", 136,
                 "a=1 s={2} .x=2 .y=3 b=4");
    table_payload(&table, "a:u8 s:{}@16 b:u8");
    table_expect(&table, 0, "01 00 02", 24, "a=1 s={0} b=2");
    table_close(&table);
}

static void floats_of_any_width_decode_to_double(void **state)
{
    (void)state;
    /* IEEE 754: half 1.5 = 3e00, smallest 2^-24 = 0001, largest 65504 = 7bff, -inf = fc00; quad 1.5
     * = 3fff 8000 0...; ties go to even. */
    static const struct sample samples[] = {
        {"a:f16 b:f16 c:f16 d:f16 e:f16", "003e 0100 ff7b 00fc 0080",
         "a=1.5 b=5.9604644775390625e-08 c=65504 d=-inf e=-0"},
        {"a:f32 b:f32> c:f64 d:f64>", "0000c03f 3fc00000 000000000000f83f 3ff8000000000000",
         "a=1.5 b=1.5 c=1.5 d=1.5"},
        {"a:u4 b:f32@1 c:u4", "01 00fc 33", "a=1 short"},
        {"a:f128>", "3fff 8000 0000 0000 0000 0000 0000 0000", "a=1.5"},
        {"a:f128", "0000 0000 0000 0000 0000 0000 00c0 ffbf", "a=-1.75"},
        /* 1 + 2^-53 is halfway, rounds to even (down); with one bit more, up; 1 + 3 * 2^-53 is
         * halfway, rounds to even (up). */
        {"a:f128>", "3fff 0000 0000 0000 0800 0000 0000 0000", "a=1"},
        {"a:f128>", "3fff 0000 0000 0000 0800 0000 0000 0001", "a=1.0000000000000002"},
        {"a:f128>", "3fff 0000 0000 0000 1800 0000 0000 0000", "a=1.0000000000000004"},
        /* 2^1024 overflows; 2^-1074 is the smallest double; 2^-1075 is halfway to it, 1.5 * 2^-1075
         * rounds up. */
        {"a:f128>", "43ff 0000 0000 0000 0000 0000 0000 0000", "a=inf"},
        {"a:f128>", "3bcd 0000 0000 0000 0000 0000 0000 0000", "a=4.9406564584124654e-324"},
        {"a:f128>", "3bcc 0000 0000 0000 0000 0000 0000 0000", "a=0"},
        {"a:f128>", "bbcc 8000 0000 0000 0000 0000 0000 0000", "a=-4.9406564584124654e-324"},
        {"a:f128>", "7fff 0000 0000 0000 0000 0000 0000 0000", "a=inf"},
        {"a:f128>", "0000 0000 0000 0000 0000 0000 0000 0001", "a=0"},
        {"a:f160", "0102030405060708090a0b0c0d0e0f1011121314",
         "a=<0102030405060708090a0b0c0d0e0f1011121314>"},
    };
    EXPECT(samples);
}

static void integers_above_64_bits_decode_to_decimal_text(void **state)
{
    (void)state;
    static const struct sample samples[] = {
        {"a:u128", "ffffffffffffffffffffffffffffffff",
         "a=#340282366920938463463374607431768211455"},
        {"a:i128", "00000000000000000000000000000080",
         "a=#-170141183460469231731687303715884105728"},
        {"a:i128>", "ffffffffffffffffffffffffffffffff", "a=#-1"},
        {"a:u72>", "010000000000000000", "a=#18446744073709551616"},
        {"a:i65 b:u7", "0000000000000000 01", "a=#-18446744073709551616 b=0"},
        {"a:u80", "00000000000000000000", "a=#0"},
        {"a:u96~", "800000000000000000000000", "a=#309485009821345068724781056"},
    };
    EXPECT(samples);
}

static void leb128_of_any_length_decodes(void **state)
{
    (void)state;
    static const struct sample samples[] = {
        {"a:U b:U c:U", "00 7f e58e26", "a=0 b=127 c=624485"},
        {"a:I b:I c:I", "00 7f c0bb78", "a=0 b=-1 c=-123456"},
        {"a:u4 b:U", "0f 05", "a=15 b=5"},
        {"a:U", "ffffffffffffffffff01", "a=18446744073709551615"},
        {"a:U", "80808080808080808002", "a=#18446744073709551616"},
        {"a:I", "8080808080808080807f", "a=-9223372036854775808"},
        {"a:I", "ffffffffffffffffff00", "a=9223372036854775807"},
        {"a:I", "ffffffffffffffffff7e", "a=#-9223372036854775809"},
        {"a:I", "80808080808080808001", "a=#9223372036854775808"},
        {"a:U", "81808080808080808080808000", "a=1"},
        {"a:U n:u8", "8080", "short"},
        {"a:U=A=5,B=624485; b:I=N=-1;", "e58e26 7f", "a=624485(B/1) b=-1(N/1)"},
    };
    EXPECT(samples);
}

static void text_ends_at_zero_bytes_do_not(void **state)
{
    (void)state;
    static const struct sample samples[] = {
        {"a:s b:u8 c:s", "6869 00 05 00", "a='hi' b=5 c=''"},
        {"a:u4 b:s", "01 6100", "a=1 b='a'"},
        {"a:T4 b:T4 c:B4 d:T0", "61620063 64656667 01000203", "a='ab' b='defg' c=<01000203> d=''"},
        {"n:u16 a:T(p.n) m:u8 b:B(p.m)", "0300 616263 02 ff00", "n=3 a='abc' m=2 b=<ff00>"},
        {"n:U a:T(p.n)", "02 6162", "n=2 a='ab'"},
        /* UTF-16: U+00E9, U+20AC, U+1F41B as a pair, a lone high and a lone low surrogate. */
        {"a:S16 b:u8", "e900 ac20 3dd81bdc 3dd8 1bdc 0000 07",
         "a='\xc3\xa9\xe2\x82\xac\xf0\x9f\x90\x9b\xf0\x9f\x90\x9b' b=7"},
        {"a:S16> b:u8", "00e9 20ac d83d 0041 dc1b 0000 07",
         "a='\xc3\xa9\xe2\x82\xac\xef\xbf\xbd"
         "A\xef\xbf\xbd' b=7"},
        {"a:S32 b:S32>", "1bf40100 41000000 00000000 00110000 0000d800 00000000",
         "a='\xf0\x9f\x90\x9b"
         "A' b='\xef\xbf\xbd\xef\xbf\xbd'"},
        {"a:W4 b:W4> c:W3", "41000000 00410042 41000a", "a='A' b='AB' c='A\xef\xbf\xbd'"},
    };
    EXPECT(samples);
    struct table table;
    table_open(&table);
    table_payload(&table, "a:S16");
    table_expect(&table, 0, "4100 4100 00", UINT64_MAX, "short");
    table_payload(&table, "a:s");
    table_expect(&table, 0, "414243444546474849", UINT64_MAX, "short");
    table_expect(&table, 0, "", UINT64_MAX, "short");
    table_close(&table);
}

static void null_type_decodes_to_null(void **state)
{
    (void)state;
    static const struct sample samples[] = {
        {"a:n8 b:u8 c:n3 d:u5", "ff 02 fd", "a=null b=2 c=null d=31"},
        {"a:[:u8]n8 b:[2]n16 c:u8", "02 0102 03040506 07",
         "a=[2] .null .null b=[2] .null .null c=7"},
        {"a:n16", "01", "short"},
    };
    EXPECT(samples);
}

static void inline_length_text_and_bytes_decode(void **state)
{
    (void)state;
    static const struct sample samples[] = {
        {"a:B(:u16) b:T(:u8) c:u8", "0200 0aff 03 610062 07", "a=<0aff> b='a' c=7"},
        {"a:B(:u32>) b:u8", "00000000 07", "a=<> b=7"},
        {"a:[:u8]B(:u8) b:u8", "02 01aa 02bbcc 07", "a=[2] .<aa> .<bbcc> b=7"},
        {"a:B(:u16)", "0200 0a", "short"},
        {"a:u4 b:B(:u4@1) c:u8", "21 0aff 07", "a=1 b=<0aff> c=7"},
    };
    EXPECT(samples);
}

static void arrays_and_sequences_decode_their_elements(void **state)
{
    (void)state;
    static const struct sample samples[] = {
        {"a:[4]i32", "00000000 ffffffff 05000000 07000000", "a=[4] .0 .-1 .5 .7"},
        {"n:u16 a:[p.n]u8 b:u8", "0300 010203 09", "n=3 a=[3] .1 .2 .3 b=9"},
        {"n:u16> a:[p.n]u16> b:[p.n]f32>", "0002 00010002 3fc00000 bfc00000",
         "n=2 a=[2] .1 .2 b=[2] .1.5 .-1.5"},
        {"n:u8 a:[p.n]u8 b:s", "00 6100", "n=0 a=[0] b='a'"},
        {"a:[2][3]u8", "010203040506", "a=[2] .[3] ..1 ..2 ..3 .[3] ..4 ..5 ..6"},
        {"a:[2]{x:u8 y:s}", "01 6100 02 6200", "a=[2] .{2} ..x=1 ..y='a' .{2} ..x=2 ..y='b'"},
        {"a:[:u16]u8 b:[:u8][:u8]u8", "0200 0102 02 01 ff 00", "a=[2] .1 .2 b=[2] .[1] ..255 .[0]"},
        {"a:[5]u3 b:u1", "8846", "a=[5] .0 .1 .2 .3 .4 b=0"},
        {"a:[3]u12> b:u4>", "001002003f", "a=[3] .1 .2 .3 b=15"},
        {"a:[0]u64 b:u8", "07", "a=[0] b=7"},
        {"a:[3]{} b:u8", "07", "a=[3] .{0} .{0} .{0} b=7"},
        {"a:[2]{n:u8 d:[p.a.n]u8}", "02 0102 01 03",
         "a=[2] .{2} ..n=2 ..d=[2] ...1 ...2 .{2} ..n=1 ..d=[1] ...3"},
        {"a:[3]u8=A=1;", "010201", "a=[3] .1(A/1) .2(/0) .1(A/1)"},
    };
    EXPECT(samples);
    struct table table;
    table_open(&table);
    /* Elements are aligned. A sequence is aligned even if it is empty, but not if its length is
     * inline. */
    table_payload(&table, "n:u8 a:[p.n]u32@32 b:u8");
    table_expect(&table, 0, "01000000 05000000 07", 72, "n=1 a=[1] .5 b=7");
    table_expect(&table, 0, "00000000 07", 40, "n=0 a=[0] b=7");
    table_payload(&table, "a:[:u8]u32@32 b:u8");
    table_expect(&table, 0, "01000000 05000000 07", 72, "a=[1] .5 b=7");
    table_expect(&table, 0, "00 07", 16, "a=[0] b=7");
    table_payload(&table, "c:u8 a:[2]{x:u32@32 y:u8} b:u8");
    table_expect(&table, 0, "01000000 05000000 07000000 06000000 08 09", 144,
                 "c=1 a=[2] .{2} ..x=5 ..y=7 .{2} ..x=6 ..y=8 b=9");
    table_payload(&table, "c:u8 a:[:u8]{x:u32@32 y:u8} b:u8");
    table_expect(&table, 32, "00000000 01020000 05000000 07000000 06000000 08 09", 176,
                 "c=1 a=[2] .{2} ..x=5 ..y=7 .{2} ..x=6 ..y=8 b=9");
    table_close(&table);
}

static void optionals_and_variants_decode_by_selector(void **state)
{
    (void)state;
    static const struct sample samples[] = {
        {"f:t8 o:?p.f:{x:u8 y:u8} b:u8", "01 0203 04", "f=true o={2} .x=2 .y=3 b=4"},
        {"f:t8 o:?p.f:{x:u8 y:u8} b:u8", "00 04", "f=false o=absent b=4"},
        {"f:u8 o:?p.f(1,3..5):u16 b:u8", "04 0203 05", "f=4 o=770 b=5"},
        {"f:u8 o:?p.f(1,3..5):u16 b:u8", "02 05", "f=2 o=absent b=5"},
        {"f:i8 o:?p.f(-2..-1):u8 b:u8", "ff 01 05", "f=-1 o=1 b=5"},
        {"f:i8 o:?p.f(-2..-1):u8 b:u8", "fd 05", "f=-3 o=absent b=5"},
        {"f:u8 v:|p.f(a=0..1:u16,b=2:s,c=3:{x:u8}) b:u8", "01 0200 05", "f=1 v=2 b=5"},
        {"f:u8 v:|p.f(a=3..4:u16,b=0..9:s,c=2:{x:u8}) b:u8", "02 6100 05", "f=2 v='a' b=5"},
        {"f:u8 v:|p.f(a=3..4:u16,b=0..9:s,c=2:{x:u8}) b:u8", "04 0200 05", "f=4 v=2 b=5"},
        {"f:u8 v:|p.f(a=0..1:u16,b=2:s,c=3:{x:u8}) b:u8", "02 6100 05", "f=2 v='a' b=5"},
        {"f:u8 v:|p.f(a=0..1:u16,b=2:s,c=3:{x:u8}) b:u8", "03 04 05", "f=3 v={1} .x=4 b=5"},
        /* The usual CTF event header: compact with 27 bits of time, or extended. */
        {"id:u5=compact=0..30,extended=31; v:|p.id(compact=0..30:{t:u27},extended=31:{id:u32 "
         "t:u64}) b:u8",
         "25 00 00 00 07", "id=5(compact/1) v={1} .t=1 b=7"},
        {"id:u5=compact=0..30,extended=31; v:|p.id(compact=0..30:{t:u27},extended=31:{id:u32 "
         "t:u64}) b:u8",
         "1f 02000000 0300000000000000 07", "id=31(extended/1) v={2} .id=2 .t=3 b=7"},
        /* The length is a member of each option, with different widths. */
        {"f:u8 v:|p.f(a=0:{n:u8},b=1:{n:u16}) d:T(p.v.n)", "00 02 6162", "f=0 v={1} .n=2 d='ab'"},
        {"f:u8 v:|p.f(a=0:{n:u8},b=1:{n:u16}) d:T(p.v.n)", "01 0200 6162", "f=1 v={1} .n=2 d='ab'"},
    };
    EXPECT(samples);
    struct table table;
    table_open(&table);
    table_payload(&table, "f:u8 v:|p.f(a=0..1:u16,b=2:s) b:u8");
    table_expect(&table, 0, "03 04 05", UINT64_MAX, "f=3 no option");
    table_payload(&table, "f:t8 o:?p.f:{n:u8} d:T(p.o.n)");
    table_expect(&table, 0, "01 01 61", 24, "f=true o={1} .n=1 d='a'");
    table_expect(&table, 0, "00 01 61", UINT64_MAX, "f=false o=absent absent");
    table_payload(&table, "k:u8 a:[p.k]u8 d:T(p.a)");
    table_expect(&table, 0, "02 0102 6162", 40, "k=2 a=[2] .1 .2 d='ab'");
    table_expect(&table, 0, "00 0102 6162", UINT64_MAX, "k=0 a=[0] absent");
    table_close(&table);
}

static void labels_of_value_are_found_and_counted(void **state)
{
    (void)state;
    static const struct sample samples[] = {
        {"a:u8=RED=0,GREEN=1,MANY=2..9;", "05", "a=5(MANY/1)"},
        {"a:u8=RED=0,GREEN=1,MANY=2..9;", "0a", "a=10(/0)"},
        {"a:u8=A=1..5,B=3,C=5..6; b:u8=A=1..5,B=3,C=5..6;", "03 06", "a=3(A/2) b=6(C/1)"},
        {"a:[6]u8=A=0..255,B=10..20,C=5..15,D=15;", "00 05 0a 0f 10 15",
         "a=[6] .0(A/1) .5(A/2) .10(A/3) .15(A/4) .16(A/2) .21(A/1)"},
        {"a:[5]u8=C=5..15,B=10..20,A=0..7,E=9,E2=9;", "04 06 09 0c 14",
         "a=[5] .4(A/1) .6(C/2) .9(C/3) .12(C/2) .20(B/1)"},
        {"a:u64=A=0..18446744073709551615,B=18446744073709551615;", "ffffffffffffffff",
         "a=18446744073709551615(A/2)"},
        {"a:i8=LOW=-5..-1,ZERO=0,HIGH=1..127;", "ff", "a=-1(LOW/1)"},
        {"a:u3=X=6; b:u5", "fe", "a=6(X/1) b=31"},
        {"a:g8=A=0,B=1..2,C=7;", "85", "a=133(A/3)"},
        {"a:g8=A=0,B=1..2,C=7;", "08", "a=8(/0)"},
    };
    EXPECT(samples);
}

static void reversed_numbers_decode_last_bit_first(void **state)
{
    (void)state;
    static const struct sample samples[] = {
        {"a:u8~ b:u16~ c:i8~", "01 0100 7f", "a=128 b=32768 c=-2"},
        {"a:u4~ b:u4~", "1e", "a=7 b=8"},
        {"a:u16~>", "0180", "a=384"},
        {"a:f32~", "fc030000", "a=1.5"},
    };
    EXPECT(samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_decode_as_specified),
        cmocka_unit_test(gcc_bitfield_across_unit_starts_next_unit),
        cmocka_unit_test(struct_is_aligned_to_largest_member),
        cmocka_unit_test(floats_of_any_width_decode_to_double),
        cmocka_unit_test(integers_above_64_bits_decode_to_decimal_text),
        cmocka_unit_test(leb128_of_any_length_decodes),
        cmocka_unit_test(text_ends_at_zero_bytes_do_not),
        cmocka_unit_test(arrays_and_sequences_decode_their_elements),
        cmocka_unit_test(null_type_decodes_to_null),
        cmocka_unit_test(inline_length_text_and_bytes_decode),
        cmocka_unit_test(optionals_and_variants_decode_by_selector),
        cmocka_unit_test(labels_of_value_are_found_and_counted),
        cmocka_unit_test(reversed_numbers_decode_last_bit_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
