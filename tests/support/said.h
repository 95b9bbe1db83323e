/* The events of the test program of another EventHeader library, written with TTR_WRITE. Included
 * by a C file and a C++ file, each with its own PROVIDER. Names, fields and values are equal to
 * that program's, so that the bytes can be compared with its output. */
#include <arpa/inet.h>
#include <math.h>

#include <tracetta/provider.h>

static const uint8_t sixteen[16] = {1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8};
static const char text[10] = "HowAreU8?";
static const ttr_char16 text16[10] = u"HowAreU16";
static const ttr_char32 text32[10] = U"HowAreU32";
static const wchar_t wtext[10] = L"Goodbye!!";
static const int8_t list_i8[] = {100};
static const uint8_t list_u8[] = {200};
static const int16_t list_i16[] = {30000};
static const uint16_t list_u16[] = {60000};
static const int32_t list_i32[] = {2000000000};
static const uint32_t list_u32[] = {4000000000u};
static const int64_t list_i64[] = {INT64_C(9000000000000000000)};
static const uint64_t list_u64[] = {UINT64_C(18000000000000000000)};
static const intptr_t list_iptr[] = {1234};
static const uintptr_t list_uptr[] = {4321};
static const long list_longs[] = {2000000000};
static const unsigned long list_ulongs[] = {UINT64_C(4000000000)};
static const uint8_t list_u8b[] = {0x64};
static const uint8_t list_u8c[] = {0xC8};
static const uint16_t list_u16b[] = {0x7530};
static const uint16_t list_u16c[] = {0xEA60};
static const uint32_t list_u32b[] = {0x77359400};
static const uint32_t list_u32c[] = {0xEE6B2800u};
static const uint64_t list_u64b[] = {UINT64_C(0x7CE66C50E2840000)};
static const uint64_t list_u64c[] = {UINT64_C(0xF9CCD8A1C5080000)};
static const uintptr_t list_uptrb[] = {0x4D2};
static const uintptr_t list_uptrc[] = {0x10E1};
static const unsigned long list_ulongsb[] = {0x77359400};
static const unsigned long list_ulongsc[] = {UINT64_C(0xEE6B2800)};
static const float list_f32[] = {3.14f};
static const double list_f64[] = {6.28};
static const uint8_t list_u8d[] = {1};
static const int32_t list_i32b[] = {1};
static const ttr_pointer list_pointers[] = {(const void *)(intptr_t)-12345};

static void say_headers(void)
{
    TTR_WRITE(PROVIDER, "CScalars1");
    TTR_WRITE(PROVIDER, "CScalars2", TTR_LEVEL(1), TTR_KEYWORD(UINT64_C(0xf123456789abcdef)),
              TTR_OPCODE(2));
    TTR_WRITE(PROVIDER, "CScalars3", TTR_LEVEL(4), TTR_KEYWORD(0x85), TTR_OPCODE(3),
              TTR_ID(1000, 11), TTR_TAG(0x1234), TTR_STRUCT("Struct20", 20, 0xBEEF),
              TTR_LATIN1("hi", "hi", 0x12), TTR_ARRAY(CHAR, "ch10", text, 3, 0x10));
    TTR_WRITE(PROVIDER, "Transfer00");
    TTR_WRITE(PROVIDER, "Transfer10", TTR_ACTIVITY(sixteen));
    TTR_WRITE(PROVIDER, "Transfer11", TTR_ACTIVITY(sixteen), TTR_RELATED(sixteen));
}

static void say_integers(void)
{
    TTR_WRITE(PROVIDER, "i8", TTR_I8("i8", 100), TTR_I8("(-128)", INT8_MIN));
    TTR_WRITE(PROVIDER, "u8", TTR_U8("u8", 200), TTR_U8("(255)", UINT8_MAX));
    TTR_WRITE(PROVIDER, "i16", TTR_I16("i16", 30000), TTR_I16("(-32767-1)", INT16_MIN));
    TTR_WRITE(PROVIDER, "u16", TTR_U16("u16", 60000), TTR_U16("(65535)", UINT16_MAX));
    TTR_WRITE(PROVIDER, "i32", TTR_I32("i32", 2000000000), TTR_I32("(-2147483647-1)", INT32_MIN));
    TTR_WRITE(PROVIDER, "u32", TTR_U32("u32", 4000000000u), TTR_U32("(4294967295U)", UINT32_MAX));
    TTR_WRITE(PROVIDER, "i64", TTR_I64("i64", INT64_C(9000000000000000000)),
              TTR_I64("(-9223372036854775807L-1)", INT64_MIN));
    TTR_WRITE(PROVIDER, "u64", TTR_U64("u64", UINT64_C(18000000000000000000)),
              TTR_U64("(18446744073709551615UL)", UINT64_MAX));
    TTR_WRITE(PROVIDER, "iptr", TTR_IPTR("iptr", 1234),
              TTR_IPTR("(-9223372036854775807L-1)", INT64_MIN));
    TTR_WRITE(PROVIDER, "uptr", TTR_UPTR("uptr", 4321),
              TTR_UPTR("(18446744073709551615UL)", UINT64_MAX));
    TTR_WRITE(PROVIDER, "iL", TTR_LONG("iL", 2000000000),
              TTR_LONG("(-0x7fffffffffffffffL - 1L)", INT64_MIN));
    TTR_WRITE(PROVIDER, "uL", TTR_ULONG("uL", UINT64_C(4000000000)),
              TTR_ULONG("(0x7fffffffffffffffL * 2UL + 1UL)", UINT64_MAX));
}

static void say_hexadecimal(void)
{
    TTR_WRITE(PROVIDER, "hi8", TTR_X8("i8", 0x64), TTR_X8("(-128)", 0x80));
    TTR_WRITE(PROVIDER, "hu8", TTR_X8("u8", 0xC8), TTR_X8("(255)", UINT8_MAX));
    TTR_WRITE(PROVIDER, "hi16", TTR_X16("i16", 0x7530), TTR_X16("(-32767-1)", 0x8000));
    TTR_WRITE(PROVIDER, "hu16", TTR_X16("u16", 0xEA60), TTR_X16("(65535)", UINT16_MAX));
    TTR_WRITE(PROVIDER, "hi32", TTR_X32("i32", 0x77359400),
              TTR_X32("(-2147483647-1)", 0x80000000u));
    TTR_WRITE(PROVIDER, "hu32", TTR_X32("u32", 0xEE6B2800u), TTR_X32("(4294967295U)", UINT32_MAX));
    TTR_WRITE(PROVIDER, "hi64", TTR_X64("i64", UINT64_C(0x7CE66C50E2840000)),
              TTR_X64("(-9223372036854775807L-1)", UINT64_C(0x8000000000000000)));
    TTR_WRITE(PROVIDER, "hu64", TTR_X64("u64", UINT64_C(0xF9CCD8A1C5080000)),
              TTR_X64("(18446744073709551615UL)", UINT64_MAX));
    TTR_WRITE(PROVIDER, "hiptr", TTR_XPTR("iptr", 0x4D2),
              TTR_XPTR("(-9223372036854775807L-1)", UINT64_C(0x8000000000000000)));
    TTR_WRITE(PROVIDER, "huptr", TTR_XPTR("uptr", 0x10E1),
              TTR_XPTR("(18446744073709551615UL)", UINT64_MAX));
    TTR_WRITE(PROVIDER, "hiL", TTR_XLONG("iL", 0x77359400),
              TTR_XLONG("(-0x7fffffffffffffffL - 1L)", UINT64_C(0x8000000000000000)));
    TTR_WRITE(PROVIDER, "huL", TTR_XLONG("uL", UINT64_C(0xEE6B2800)),
              TTR_XLONG("(0x7fffffffffffffffL * 2UL + 1UL)", UINT64_MAX));
}

static void say_other_values(void)
{
    TTR_WRITE(PROVIDER, "f32", TTR_F32("f32", 3.14f), TTR_F32("1/3", (1.0f / 3)),
              TTR_F32("NaN", -(float)NAN), TTR_F32("-Inf", -(float)INFINITY));
    TTR_WRITE(PROVIDER, "f64", TTR_F64("f64", 6.28), TTR_F64("1/3", (1.0 / 3)),
              TTR_F64("NaN", -(double)NAN), TTR_F64("-Inf", -(double)INFINITY));
    TTR_WRITE(PROVIDER, "b8", TTR_BOOL8("b0", 0), TTR_BOOL8("b1", 1),
              TTR_BOOL8("(255)", UINT8_MAX));
    TTR_WRITE(PROVIDER, "b32", TTR_BOOL32("b0", 0), TTR_BOOL32("b1", 1),
              TTR_BOOL32("(-2147483647-1)", INT32_MIN));
    TTR_WRITE(PROVIDER, "ch", TTR_CHAR("ch", 'A'), TTR_CHAR("FE", '\xFE'));
    TTR_WRITE(PROVIDER, "u16ch", TTR_CHAR16("u16ch", u'A'), TTR_CHAR16("FFFE", 0xFFFE));
    TTR_WRITE(PROVIDER, "u32ch", TTR_CHAR32("u32ch", U'A'), TTR_CHAR32("FFFE", 0xFFFEu),
              TTR_CHAR32("10FFFF", 0x10FFFFu), TTR_CHAR32("FFFEFDFC", 0xFFFEFDFCu));
    TTR_WRITE(PROVIDER, "wch", TTR_WCHAR("wch", L'B'), TTR_WCHAR("FFFE", 0xFFFE),
              TTR_WCHAR("10FFFF", 0x10FFFF), TTR_WCHAR("0x7fffffff", 0x7FFFFFFF));
    TTR_WRITE(PROVIDER, "ptr", TTR_POINTER("pSamplePtr", (const void *)(intptr_t)-12345),
              TTR_POINTER("UINTPTR_MAX", (const void *)(intptr_t)-1));
    TTR_WRITE(PROVIDER, "pid", TTR_PID("i32", 2000000000), TTR_PID("(2147483647)", INT32_MAX));
    TTR_WRITE(PROVIDER, "port", TTR_PORT("port80", htons(80)), TTR_PORT("(65535)", htons(65535)));
    TTR_WRITE(PROVIDER, "errno", TTR_ERRNO("(-2147483647-1)", INT32_MIN), TTR_ERRNO("1", 1),
              TTR_ERRNO("131", 131));
    TTR_WRITE(PROVIDER, "t32", TTR_TIME32("i32", 2000000000),
              TTR_TIME32("(-2147483647-1)", INT32_MIN), TTR_TIME32("(2147483647)", INT32_MAX),
              TTR_TIME32("0", 0));
    TTR_WRITE(PROVIDER, "t64", TTR_TIME64("i64", INT64_C(9000000000000000000)),
              TTR_TIME64("(-9223372036854775807L-1)", INT64_MIN),
              TTR_TIME64("(9223372036854775807L)", INT64_MAX), TTR_TIME64("0", 0),
              TTR_TIME64("-11644473600", -INT64_C(11644473600)),
              TTR_TIME64("-11644473601", -INT64_C(11644473601)),
              TTR_TIME64("910692730085", INT64_C(910692730085)),
              TTR_TIME64("910692730086", INT64_C(910692730086)));
    TTR_WRITE(PROVIDER, "guid", TTR_GUID("guid", sixteen));
}

static void say_texts_and_addresses(void)
{
    TTR_WRITE(PROVIDER, "sz", TTR_LATIN1("NULL", NULL), TTR_LATIN1("ch10", "HowAreU8?"));
    TTR_WRITE(PROVIDER, "sz8", TTR_TEXT("NULL", NULL), TTR_TEXT("ch10", "HowAreU8?"));
    TTR_WRITE(PROVIDER, "wsz", TTR_WTEXT("NULL", NULL), TTR_WTEXT("wch10", L"Goodbye!!"));
    TTR_WRITE(PROVIDER, "sz16", TTR_TEXT16("NULL", NULL), TTR_TEXT16("u16ch10", u"HowAreU16"));
    TTR_WRITE(PROVIDER, "sz32", TTR_TEXT32("NULL", NULL), TTR_TEXT32("u32ch10", U"HowAreU32"));
    TTR_WRITE(PROVIDER, "csz", TTR_LATIN1_N("NULL", NULL, 0), TTR_LATIN1_N("ch10", "HowAr", 5));
    TTR_WRITE(PROVIDER, "csz8", TTR_TEXT_N("NULL", NULL, 0), TTR_TEXT_N("ch10", "HowAr", 5));
    TTR_WRITE(PROVIDER, "cwsz", TTR_WTEXT_N("NULL", NULL, 0), TTR_WTEXT_N("wch10", L"Goodb", 5));
    TTR_WRITE(PROVIDER, "csz16", TTR_TEXT16_N("NULL", NULL, 0),
              TTR_TEXT16_N("u16ch10", u"HowAr", 5));
    TTR_WRITE(PROVIDER, "csz32", TTR_TEXT32_N("NULL", NULL, 0),
              TTR_TEXT32_N("u32ch10", U"HowAr", 5));
    TTR_WRITE(PROVIDER, "bin", TTR_BINARY("NULL", NULL, 0), TTR_BINARY("ch10", "HowAr", 5));
    TTR_WRITE(PROVIDER, "ipV4", TTR_IP4("ipv4", 0x0100007Fu),
              TTR_IP4("(4294967295U)", 0xFFFFFFFFu));
    TTR_WRITE(PROVIDER, "ipV6", TTR_METADATA_AS("ipv6", TTR_EH_VALUE128, 18),
              TTR_PAYLOAD("\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17\20", 16),
              TTR_METADATA_AS("fefe..fe00", TTR_EH_VALUE128, 18),
              TTR_PAYLOAD("\xfe\xfe\xfe\xfe\xfe\xfe\xfe\xfe\xfe\xfe\xfe\xfe\xfe\xfe\xfe", 16));
}

static void say_arrays(void)
{
    TTR_WRITE(PROVIDER, "ai8", TTR_FIXED(I8, "a1", list_i8, 1), TTR_ARRAY(I8, "s", list_i8, 1));
    TTR_WRITE(PROVIDER, "au8", TTR_FIXED(U8, "a1", list_u8, 1), TTR_ARRAY(U8, "s", list_u8, 1));
    TTR_WRITE(PROVIDER, "ai16", TTR_FIXED(I16, "a1", list_i16, 1),
              TTR_ARRAY(I16, "s", list_i16, 1));
    TTR_WRITE(PROVIDER, "au16", TTR_FIXED(U16, "a1", list_u16, 1),
              TTR_ARRAY(U16, "s", list_u16, 1));
    TTR_WRITE(PROVIDER, "ai32", TTR_FIXED(I32, "a1", list_i32, 1),
              TTR_ARRAY(I32, "s", list_i32, 1));
    TTR_WRITE(PROVIDER, "au32", TTR_FIXED(U32, "a1", list_u32, 1),
              TTR_ARRAY(U32, "s", list_u32, 1));
    TTR_WRITE(PROVIDER, "ai64", TTR_FIXED(I64, "a1", list_i64, 1),
              TTR_ARRAY(I64, "s", list_i64, 1));
    TTR_WRITE(PROVIDER, "au64", TTR_FIXED(U64, "a1", list_u64, 1),
              TTR_ARRAY(U64, "s", list_u64, 1));
    TTR_WRITE(PROVIDER, "aiptr", TTR_FIXED(IPTR, "a1", list_iptr, 1),
              TTR_ARRAY(IPTR, "s", list_iptr, 1));
    TTR_WRITE(PROVIDER, "auptr", TTR_FIXED(UPTR, "a1", list_uptr, 1),
              TTR_ARRAY(UPTR, "s", list_uptr, 1));
    TTR_WRITE(PROVIDER, "aiL", TTR_FIXED(LONG, "a1", list_longs, 1),
              TTR_ARRAY(LONG, "s", list_longs, 1));
    TTR_WRITE(PROVIDER, "auL", TTR_FIXED(ULONG, "a1", list_ulongs, 1),
              TTR_ARRAY(ULONG, "s", list_ulongs, 1));
}

static void say_hexadecimal_arrays(void)
{
    TTR_WRITE(PROVIDER, "hai8", TTR_FIXED(X8, "a1", list_u8b, 1), TTR_ARRAY(X8, "s", list_u8b, 1));
    TTR_WRITE(PROVIDER, "hau8", TTR_FIXED(X8, "a1", list_u8c, 1), TTR_ARRAY(X8, "s", list_u8c, 1));
    TTR_WRITE(PROVIDER, "hai16", TTR_FIXED(X16, "a1", list_u16b, 1),
              TTR_ARRAY(X16, "s", list_u16b, 1));
    TTR_WRITE(PROVIDER, "hau16", TTR_FIXED(X16, "a1", list_u16c, 1),
              TTR_ARRAY(X16, "s", list_u16c, 1));
    TTR_WRITE(PROVIDER, "hai32", TTR_FIXED(X32, "a1", list_u32b, 1),
              TTR_ARRAY(X32, "s", list_u32b, 1));
    TTR_WRITE(PROVIDER, "hau32", TTR_FIXED(X32, "a1", list_u32c, 1),
              TTR_ARRAY(X32, "s", list_u32c, 1));
    TTR_WRITE(PROVIDER, "hai64", TTR_FIXED(X64, "a1", list_u64b, 1),
              TTR_ARRAY(X64, "s", list_u64b, 1));
    TTR_WRITE(PROVIDER, "hau64", TTR_FIXED(X64, "a1", list_u64c, 1),
              TTR_ARRAY(X64, "s", list_u64c, 1));
    TTR_WRITE(PROVIDER, "haiptr", TTR_FIXED(XPTR, "a1", list_uptrb, 1),
              TTR_ARRAY(XPTR, "s", list_uptrb, 1));
    TTR_WRITE(PROVIDER, "hauptr", TTR_FIXED(XPTR, "a1", list_uptrc, 1),
              TTR_ARRAY(XPTR, "s", list_uptrc, 1));
    TTR_WRITE(PROVIDER, "haiL", TTR_FIXED(XLONG, "a1", list_ulongsb, 1),
              TTR_ARRAY(XLONG, "s", list_ulongsb, 1));
    TTR_WRITE(PROVIDER, "hauL", TTR_FIXED(XLONG, "a1", list_ulongsc, 1),
              TTR_ARRAY(XLONG, "s", list_ulongsc, 1));
}

static void say_other_arrays(void)
{
    TTR_WRITE(PROVIDER, "af32", TTR_FIXED(F32, "a1", list_f32, 1),
              TTR_ARRAY(F32, "s", list_f32, 1));
    TTR_WRITE(PROVIDER, "af64", TTR_FIXED(F64, "a1", list_f64, 1),
              TTR_ARRAY(F64, "s", list_f64, 1));
    TTR_WRITE(PROVIDER, "ab8", TTR_FIXED(BOOL8, "a1", list_u8d, 1),
              TTR_ARRAY(BOOL8, "s", list_u8d, 1));
    TTR_WRITE(PROVIDER, "ab32", TTR_FIXED(BOOL32, "a1", list_i32b, 1),
              TTR_ARRAY(BOOL32, "s", list_i32b, 1));
    TTR_WRITE(PROVIDER, "ach", TTR_FIXED(CHAR, "a4", text, 4), TTR_ARRAY(CHAR, "s5", text, 5));
    TTR_WRITE(PROVIDER, "ach16", TTR_FIXED(CHAR16, "a4", text16, 4),
              TTR_ARRAY(CHAR16, "s5", text16, 5));
    TTR_WRITE(PROVIDER, "ach32", TTR_FIXED(CHAR32, "a4", text32, 4),
              TTR_ARRAY(CHAR32, "s5", text32, 5));
    TTR_WRITE(PROVIDER, "awch", TTR_FIXED(WCHAR, "a4", wtext, 4), TTR_ARRAY(WCHAR, "s5", wtext, 5));
    TTR_WRITE(PROVIDER, "aptr", TTR_FIXED(POINTER, "a1", list_pointers, 1),
              TTR_ARRAY(POINTER, "s", list_pointers, 1));
    TTR_WRITE(PROVIDER, "apid", TTR_FIXED(PID, "a1", list_i32, 1),
              TTR_ARRAY(PID, "s", list_i32, 1));
    TTR_WRITE(PROVIDER, "aport", TTR_FIXED(PORT, "a1", list_u16, 1),
              TTR_ARRAY(PORT, "s", list_u16, 1));
    TTR_WRITE(PROVIDER, "aerrno", TTR_FIXED(ERRNO, "a1", list_i32, 1),
              TTR_ARRAY(ERRNO, "s", list_i32, 1));
    TTR_WRITE(PROVIDER, "aft", TTR_FIXED(TIME32, "a1", list_i32, 1),
              TTR_ARRAY(TIME32, "s", list_i32, 1));
    TTR_WRITE(PROVIDER, "auft", TTR_FIXED(TIME64, "a1", list_i64, 1),
              TTR_ARRAY(TIME64, "s", list_i64, 1));
    TTR_WRITE(PROVIDER, "ag", TTR_ARRAY(GUID, "s0", sixteen, 0), TTR_ARRAY(GUID, "s1", sixteen, 1));
    TTR_WRITE(PROVIDER, "ahexbytes",
              TTR_METADATA_AS("s0", TTR_EH_VALUE128 | TTR_EH_ARRAY, TTR_EH_AS_BYTES),
              TTR_PAYLOAD("\0", 2),
              TTR_METADATA_AS("s1", TTR_EH_VALUE128 | TTR_EH_ARRAY, TTR_EH_AS_BYTES),
              TTR_PAYLOAD(u"\x01", 2), TTR_PAYLOAD(sixteen, 16));
}

static void say_defaults_and_bytes(void)
{
    TTR_WRITE(PROVIDER, "Default", TTR_U8("V8", 200), TTR_U16("V16", 60000),
              TTR_U32("V32", 4000000000u), TTR_U64("V64", UINT64_C(18000000000000000000)),
              TTR_BYTES16("V128", sixteen), TTR_TEXT("NChar8", "hjkl"),
              TTR_TEXT16("NChar16", u"hjkl"), TTR_TEXT32("NChar32", U"hjkl"),
              TTR_TEXT_N("LChar8", "hjkl", 4), TTR_TEXT16_N("LChar16", u"hjkl", 4),
              TTR_TEXT32_N("LChar32", U"hjkl", 4));
    TTR_WRITE(PROVIDER, "HexBytes", TTR_METADATA_AS("V8", TTR_EH_VALUE8, TTR_EH_AS_BYTES),
              TTR_PAYLOAD(sixteen, 1), TTR_METADATA_AS("V16", TTR_EH_VALUE16, TTR_EH_AS_BYTES),
              TTR_PAYLOAD(sixteen, 2), TTR_METADATA_AS("V32", TTR_EH_VALUE32, TTR_EH_AS_BYTES),
              TTR_PAYLOAD(sixteen, 4), TTR_METADATA_AS("V64", TTR_EH_VALUE64, TTR_EH_AS_BYTES),
              TTR_PAYLOAD(sixteen, 8), TTR_METADATA_AS("V128", TTR_EH_VALUE128, TTR_EH_AS_BYTES),
              TTR_PAYLOAD(sixteen, 16), TTR_METADATA_AS("NChar8", TTR_EH_ZSTRING8, TTR_EH_AS_BYTES),
              TTR_PAYLOAD("hjkl", 5), TTR_METADATA_AS("NChar16", TTR_EH_ZSTRING16, TTR_EH_AS_BYTES),
              TTR_PAYLOAD("h\x00j\x00k\x00l\x00\x00", 10),
              TTR_METADATA_AS("NChar32", TTR_EH_ZSTRING32, TTR_EH_AS_BYTES),
              TTR_PAYLOAD("h\x00\x00\x00j\x00\x00\x00k\x00\x00\x00l\x00\x00\x00\x00\x00\x00", 20),
              TTR_BINARY("LChar8", "hjkl", 4),
              TTR_METADATA_AS("LChar16", TTR_EH_STRING16, TTR_EH_AS_BYTES),
              TTR_PAYLOAD("\x04\x00h\x00j\x00k\x00l\x00", 10),
              TTR_METADATA_AS("LChar32", TTR_EH_STRING32, TTR_EH_AS_BYTES),
              TTR_PAYLOAD("\x04\x00h\x00\x00\x00j\x00\x00\x00k\x00\x00\x00l\x00\x00\x00", 18));
    TTR_WRITE(PROVIDER, "Bool16", TTR_BOOL16("false16", 0), TTR_BOOL16("true16", 1),
              TTR_BOOL16("u16", 60000), TTR_BOOL16("i16", 30000));
}

/* Writes text of 8, 16 and 32 bits in a format, both zero-terminated and counted: n units, and for
 * 8 bits n8 bytes. */
#define SAY_TEXTS(name, format, t8, n8, t16, t32, n)                                               \
    TTR_WRITE(PROVIDER, name, TTR_METADATA_AS("NChar8", TTR_EH_ZSTRING8, format),                  \
              TTR_PAYLOAD(t8, n8 + 1), TTR_METADATA_AS("NChar16", TTR_EH_ZSTRING16, format),       \
              TTR_PAYLOAD(t16, 2 * (n + 1)), TTR_METADATA_AS("NChar32", TTR_EH_ZSTRING32, format), \
              TTR_PAYLOAD(t32, 4 * (n + 1)), TTR_TEXT_AS("LChar8", format, t8, n8),                \
              TTR_METADATA_AS("LChar16", TTR_EH_STRING16, format),                                 \
              TTR_PAYLOAD(n == 4 ? u"\x04" : u"\x05", 2), TTR_PAYLOAD(t16, 2 * n),                 \
              TTR_METADATA_AS("LChar32", TTR_EH_STRING32, format),                                 \
              TTR_PAYLOAD(n == 4 ? u"\x04" : u"\x05", 2), TTR_PAYLOAD(t32, 4 * n))

static void say_text_formats(void)
{
    static const char marked8[] = "\xEF\xBB\xBFhjkl";
    static const ttr_char16 marked16[] = {0xFEFF, 'h', 'j', 'k', 'l', 0},
                            swapped16[] = {0xFFFE, 0x6800, 0x6A00, 0x6B00, 0x6C00, 0};
    static const ttr_char32 marked32[] = {0xFEFF, 'h', 'j', 'k', 'l', 0};
    static const ttr_char32 swapped32[] = {0xFFFE0000, 0x68000000, 0x6A000000,
                                           0x6B000000, 0x6C000000, 0};
    SAY_TEXTS("StringUtf", TTR_EH_AS_UTF, "hjkl", 4, u"hjkl", U"hjkl", 4);
    SAY_TEXTS("StringUtfBom-NoBom", TTR_EH_AS_UTF_BOM, "hjkl", 4, u"hjkl", U"hjkl", 4);
    SAY_TEXTS("StringXml-NoBom", TTR_EH_AS_XML, "hjkl", 4, u"hjkl", U"hjkl", 4);
    SAY_TEXTS("StringJson-NoBom", TTR_EH_AS_JSON, "hjkl", 4, u"hjkl", U"hjkl", 4);
    SAY_TEXTS("StringUtfBom-Bom", TTR_EH_AS_UTF_BOM, marked8, 7, marked16, marked32, 5);
    SAY_TEXTS("StringXml-Bom", TTR_EH_AS_XML, marked8, 7, marked16, marked32, 5);
    SAY_TEXTS("StringJson-Bom", TTR_EH_AS_JSON, marked8, 7, marked16, marked32, 5);
    SAY_TEXTS("StringUtfBom-XBom", TTR_EH_AS_UTF_BOM, marked8, 7, swapped16, swapped32, 5);
    SAY_TEXTS("StringXml-XBom", TTR_EH_AS_XML, marked8, 7, swapped16, swapped32, 5);
    SAY_TEXTS("StringJson-XBom", TTR_EH_AS_JSON, marked8, 7, swapped16, swapped32, 5);
}

static void say_structs(void)
{
    static const ttr_char16 marked[] = {0xFEFF, 'h', 'j', 'k', 'l', 0},
                            swapped[] = {0xFFFE, 0x6800, 0x6A00, 0x6B00, 0x6C00, 0};
    TTR_WRITE(PROVIDER, "Packed", TTR_I32("five", 5), TTR_STRUCT("Struct1", 1),
              TTR_TEXT("NChar8", "hjkl"), TTR_STRUCT_ARRAY("StructArray", 1, 3),
              TTR_STRUCT("Struct2", 2), TTR_METADATA_AS("K", TTR_EH_VALUE8, TTR_EH_AS_LATIN1),
              TTR_METADATA_AS("NChar16", TTR_EH_ZSTRING16, TTR_EH_AS_BYTES), TTR_PAYLOAD("A", 1),
              TTR_PAYLOAD(u"hjkl", 10), TTR_PAYLOAD("B", 1), TTR_PAYLOAD(marked, 12),
              TTR_PAYLOAD("C", 1), TTR_PAYLOAD(swapped, 12), TTR_I32("five", 5));
    TTR_WRITE(PROVIDER, "Packed0", TTR_I32("five", 5), TTR_STRUCT("Struct1", 1),
              TTR_TEXT("NChar8", "hjkl"), TTR_STRUCT_ARRAY("StructArray", 1, 0),
              TTR_STRUCT("Struct2", 2), TTR_METADATA_AS("K", TTR_EH_VALUE8, TTR_EH_AS_LATIN1),
              TTR_METADATA_AS("NChar16", TTR_EH_ZSTRING16, TTR_EH_AS_BYTES), TTR_I32("five", 5));
    TTR_WRITE(PROVIDER, "PackedComplexArray", TTR_I32("five", 5),
              TTR_METADATA("MyStrings3", TTR_EH_ZSTRING8 | TTR_EH_ARRAY), TTR_PAYLOAD(u"\x03", 2),
              TTR_PAYLOAD("ABC\0\0XYZ", 9), TTR_I32("five", 5));
}

static void say_all(void)
{
    say_headers();
    say_integers();
    say_hexadecimal();
    say_other_values();
    say_texts_and_addresses();
    say_arrays();
    say_hexadecimal_arrays();
    say_other_arrays();
    say_defaults_and_bytes();
    say_text_formats();
    say_structs();
}
