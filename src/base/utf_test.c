/* Tests of UTF-8 functions against a slow reference decoder without tables. */
#include <stdlib.h>
#include "base/utf.h"

#include "base/endian.h"
#include "support/support.h"

/* Reference: decodes the character at p and checks its code point. Returns its length, or 0 if it
 * is invalid. */
static size_t decoded_length(const uint8_t *p, size_t n)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = n == 0            ? 0
                    : p[0] < 0x80     ? 1
                    : p[0] >> 5 == 6  ? 2
                    : p[0] >> 4 == 14 ? 3
                    : p[0] >> 3 == 30 ? 4
                                      : 0;
    if (length == 0 || length > n)
        return 0;
    uint32_t code = length == 1 ? p[0] : p[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (p[i] >> 6 != 2)
            return 0;
        code = code << 6 | (p[i] & 0x3f);
    }
    bool is_good = code >= smallest[length] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return is_good ? length : 0;
}

static void three_byte_sequences_match_reference(void **state)
{
    (void)state;
    /* Starts at the last ASCII lead byte, because all ASCII leads behave alike. */
    for (uint32_t x = 0x7f0000; x < 1u << 24; x++) {
        const uint8_t p[3] = {(uint8_t)(x >> 16), (uint8_t)(x >> 8), (uint8_t)x};
        if (utf8_char_length(p, 3) != decoded_length(p, 3))
            fail_msg("%02x %02x %02x", p[0], p[1], p[2]);
    }
}

static void four_byte_sequences_match_reference(void **state)
{
    (void)state;
    static const uint8_t last[] = {0x00, 0x7f, 0x80, 0x8f, 0x90, 0xbf, 0xc0, 0xff};
    for (unsigned lead = 0xef; lead <= 0xff; lead++)
        for (unsigned x = 0; x < 256 * 64; x++) {
            const uint8_t p[4] = {(uint8_t)lead, (uint8_t)(x >> 6), last[x & 7], last[x >> 3 & 7]};
            for (size_t n = 0; n <= 4; n++)
                assert_true(utf8_char_length(p, n) == decoded_length(p, n));
        }
}

static void valid_and_invalid_text_are_told_apart(void **state)
{
    (void)state;
    static const char *const good[] = {"",
                                       "a",
                                       "plain ascii of more than eight",
                                       "gr\xc3\xbc\xc3\x9f",
                                       "\xe2\x82\xac",
                                       "\xf0\x9f\x90\x9b",
                                       "12345678\xc3\xbc",
                                       "1234567\xc3\xbc",
                                       "\xed\x9f\xbf\xee\x80\x80",
                                       "\xf4\x8f\xbf\xbf"};
    static const char *const broken[] = {
        "\x80",         "\xc0\x80",         "\xc1\xbf",         "\xed\xa0\x80",
        "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
        "\xff",         "1234567\xc3",      "12345678\xc3",     "12345678901234567890\xe2\x82",
        "\xc3\xbc\xbc"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(utf8_is_valid(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        assert_false(utf8_is_valid(broken[i], strlen(broken[i])));
    assert_true(utf8_is_valid(NULL, 0));
    assert_true(utf8_is_valid("\0\0", 2));
}

static void control_characters_have_one_or_two_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t n, bytes;
    } rows[] = {{"", 0, 0},     {"\0", 1, 1},       {"\x1b[", 2, 1},     {"\x7f", 1, 1},
                {" ", 1, 0},    {"\xc2\x80", 2, 2}, {"\xc2\x9b[", 3, 2}, {"\xc2\xa0", 2, 0},
                {"\xc2", 1, 0}, {"\xc2\x1b", 2, 0}, {"\xc3\x9b", 2, 0},  {"\x9b", 1, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(utf8_control_length((const uint8_t *)rows[i].text, rows[i].n),
                         rows[i].bytes);
}

static void invalid_byte_is_found_at_every_offset(void **state)
{
    (void)state;
    char text[40];
    for (size_t n = 1; n <= sizeof text; n++)
        for (size_t at = 0; at < n; at++) {
            memset(text, 'x', sizeof text);
            assert_true(utf8_is_valid(text, n));
            text[at] = (char)0x80;
            assert_false(utf8_is_valid(text, n));
        }
}

/* Reference: finds the cut by walking over all characters from the start. */
static size_t reference_cut(const uint8_t *p, size_t n, size_t limit)
{
    size_t at = 0;
    while (at < n) {
        size_t length = decoded_length(p + at, n - at);
        length += length == 0;
        if (at + length > limit)
            break;
        at += length;
    }
    return at;
}

static void cut_ends_at_last_character_boundary(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {'a',  0x80, 0xbf, 0xc3, 0xbc, 0xe2, 0x82,
                                    0xac, 0xf0, 0x9f, 0x90, 0x9b, 0xff};
    uint64_t seed = 1;
    for (int round = 0; round < 50000; round++) {
        uint8_t text[12];
        size_t start = 0, n = sizeof text;
        for (size_t i = 0; i < n; i++) {
            /* Usually the next byte of a valid character, sometimes any byte. */
            start = support_random(&seed) % 4 ? (start + 1) % sizeof bytes
                                              : support_random(&seed) % sizeof bytes;
            text[i] = bytes[start];
        }
        for (size_t limit = 0; limit <= n + 2; limit++)
            assert_int_equal(utf8_truncated_length(text, n, limit), reference_cut(text, n, limit));
    }
}

/* Reference: converts one character at a time, without the fast path. */
static size_t reference_from_utf16(char *to, const uint16_t *units, size_t count)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t code = units[i];
        bool is_pair = code >= 0xd800 && code < 0xdc00 && i + 1 < count && units[i + 1] >= 0xdc00 &&
                       units[i + 1] < 0xe000;
        if (is_pair)
            code = 0x10000 + (code - 0xd800) * 0x400 + (units[++i] - 0xdc00u);
        else if (code >= 0xd800 && code < 0xe000)
            code = 0xfffd;
        unsigned more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        static const uint8_t leads[] = {0, 0xc0, 0xe0, 0xf0};
        to[n++] = (char)(leads[more] | code >> 6 * more);
        while (more-- > 0)
            to[n++] = (char)(0x80 | (code >> 6 * more & 0x3f));
    }
    return n;
}

static void utf16_of_every_length_converts_to_utf8(void **state)
{
    static const uint16_t others[] = {0x7f,   0x80,   0x7ff,  0x800,  0xd7ff, 0xd800,
                                      0xdbff, 0xdc00, 0xdfff, 0xe000, 0xffff, 0};
    uint64_t random = 5;
    (void)state;
    for (unsigned trial = 0; trial < 20000; trial++) {
        uint16_t units[40];
        uint8_t bytes[80];
        char fast[120], slow[120];
        size_t count = support_random(&random) % 41;
        for (size_t i = 0; i < count; i++) {
            bool is_other = support_random(&random) % (1 + trial % 40) == 0;
            units[i] = is_other ? others[support_random(&random) % 12]
                                : (uint16_t)(' ' + support_random(&random) % 90);
            bytes[2 * i] = (uint8_t)units[i];
            bytes[2 * i + 1] = (uint8_t)(units[i] >> 8);
        }
        size_t n = utf8_from_utf16le(fast, bytes, count);
        assert_int_equal(n, reference_from_utf16(slow, units, count));
        assert_memory_equal(fast, slow, n);
        for (size_t i = 0; i < count; i++)
            store_u16be(bytes + 2 * i, units[i]);
        assert_int_equal(utf8_from_utf16be(fast, bytes, count), n);
        assert_memory_equal(fast, slow, n);
    }
}

static void ascii16_ends_at_zero_or_fails(void **state)
{
    static const uint16_t others[] = {0, 0, 0x80, 0x100, 0x4141, 0x7fff, 0x8000, 0xff80, 0xffff};
    uint64_t random = 7;
    (void)state;
    for (unsigned trial = 0; trial < 60000; trial++) {
        size_t before = support_random(&random) % 20, units = support_random(&random) % 40,
               odd = support_random(&random) % 2;
        uint8_t *bytes =
            /* exact size, so that the sanitizer detects a read outside */
            malloc(before + 2 * units + odd + 1);
        char to[48];
        size_t expected = SIZE_MAX;
        assert_non_null(bytes);
        memset(bytes, (int)(support_random(&random) % 256), before);
        for (size_t i = 0; i < units; i++) {
            bool is_other = support_random(&random) % (1 + trial % 40) == 0;
            uint16_t unit = is_other ? others[support_random(&random) % 9]
                                     : (uint16_t)(1 + support_random(&random) % 127);
            bytes[before + 2 * i] = (uint8_t)unit;
            bytes[before + 2 * i + 1] = (uint8_t)(unit >> 8);
        }
        for (size_t i = 0; i < units; i++) {
            uint16_t unit = load_u16le(bytes + before + 2 * i);
            expected = unit ? expected : i;
            if (unit == 0 || unit >= 0x80)
                break;
        }
        if (odd)
            bytes[before + 2 * units] = 0;
        memset(to, '?', sizeof to);
        assert_int_equal(
            utf8_from_ascii16(to, bytes, bytes + before, bytes + before + 2 * units + odd),
            expected);
        for (size_t i = 0; expected != SIZE_MAX && i < expected; i++)
            assert_int_equal(to[i], bytes[before + 2 * i]);
        for (size_t i = units + 8; i < sizeof to; i++)
            assert_int_equal(to[i], '?');
        free(bytes);
    }
}

static void utf32_and_latin1_convert_and_invalid_is_replaced(void **state)
{
    static const uint32_t codes[] = {0x41,   0x7ff,  0x800,   0xd7ff,   0xd800,   0xdfff,
                                     0xe000, 0xffff, 0x10000, 0x10ffff, 0x110000, 0xffffffff};
    static const char expected[] = "A\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xef\xbf\xbd\xef\xbf\xbd\xee"
                                   "\x80\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"
                                   "\xef\xbf\xbd\xef\xbf\xbd";
    uint8_t little[sizeof codes], big[sizeof codes];
    char to[4 * sizeof codes / sizeof *codes];
    (void)state;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        store_u32le(little + 4 * i, codes[i]);
        store_u32be(big + 4 * i, codes[i]);
    }
    assert_int_equal(utf8_from_utf32(to, little, sizeof codes / sizeof *codes, false),
                     sizeof expected - 1);
    assert_memory_equal(to, expected, sizeof expected - 1);
    assert_int_equal(utf8_from_utf32(to, big, sizeof codes / sizeof *codes, true),
                     sizeof expected - 1);
    assert_memory_equal(to, expected, sizeof expected - 1);
    assert_int_equal(utf8_from_latin1(to, (const uint8_t *)"a\x80\xff", 3), 5);
    assert_memory_equal(to, "a\xc2\x80\xc3\xbf", 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_byte_sequences_match_reference),
        cmocka_unit_test(four_byte_sequences_match_reference),
        cmocka_unit_test(valid_and_invalid_text_are_told_apart),
        cmocka_unit_test(control_characters_have_one_or_two_bytes),
        cmocka_unit_test(invalid_byte_is_found_at_every_offset),
        cmocka_unit_test(utf16_of_every_length_converts_to_utf8),
        cmocka_unit_test(ascii16_ends_at_zero_or_fails),
        cmocka_unit_test(utf32_and_latin1_convert_and_invalid_is_replaced),
        cmocka_unit_test(cut_ends_at_last_character_boundary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
