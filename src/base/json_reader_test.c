/* Tests of the JSON pull parser: every production of RFC 8259, numbers at their limits, and the
 * offset and text of every error. */
#include "base/json_reader.h"

#include <math.h>
#include <stdio.h>

#include "support/json_check.h"
#include "support/support.h"

static struct cursor over(const char *text)
{
    return cursor_init(text, strlen(text), 0);
}

/* Writes all tokens as one line, such as "{ k=\"a\" 5 }", and "!" with the error if reading fails.
 */
static void dump(const char *p, size_t n, char *to, size_t size)
{
    static const char *const shapes[] = {"end", "null", "false", "true", "",  "",
                                         "",    "",     "[",     "]",    "{", "}"};
    struct arena arena;
    struct json_reader reader;
    struct json_token token;
    ttr_error error;
    size_t used = 0;
    to[0] = '\0';
    arena_init(&arena, alloc_default());
    json_reader_init(&reader, &arena, cursor_init(p, n, 0), JSON_DEPTH_MAX);
    do {
        if (json_reader_next(&reader, &token, &error) != TTR_OK) {
            (void)snprintf(to + used, size - used, "! %s", error.text);
            break;
        }
        if (token.kind == JSON_INTEGER)
            used += (size_t)snprintf(to + used, size - used, "%s%s%llu ",
                                     token.overflows ? "over:" : "", token.is_negative ? "-" : "",
                                     (unsigned long long)token.size);
        else if (token.kind == JSON_REAL)
            used += (size_t)snprintf(to + used, size - used, "%s%.17g ",
                                     token.overflows ? "over:" : "real:", token.real);
        else if (token.kind == JSON_TEXT || token.kind == JSON_KEY)
            used += (size_t)snprintf(to + used, size - used, "%s\"%s\" ",
                                     token.kind == JSON_KEY ? "k=" : "", token.text);
        else
            used += (size_t)snprintf(to + used, size - used, "%s ", shapes[token.kind]);
        assert_true(used < size);
    } while (token.kind != JSON_END);
    arena_free(&arena);
}

static void check_tokens(const char *text, const char *expected)
{
    char got[1000];
    dump(text, strlen(text), got, sizeof got);
    support_assert_text(got, strlen(got), expected);
}

static void all_value_kinds_are_read(void **state)
{
    (void)state;
    check_tokens("null", "null end ");
    check_tokens("true", "true end ");
    check_tokens("false", "false end ");
    check_tokens("\"\"", "\"\" end ");
    check_tokens("0", "0 end ");
    check_tokens("[]", "[ ] end ");
    check_tokens("{}", "{ } end ");
    check_tokens("[1]", "[ 1 ] end ");
    check_tokens("[1,2,[],{}]", "[ 1 2 [ ] { } ] end ");
    check_tokens("{\"a\":1}", "{ k=\"a\" 1 } end ");
    check_tokens("{\"a\":{\"b\":[null,false]},\"c\":\"d\"}",
                 "{ k=\"a\" { k=\"b\" [ null false ] } k=\"c\" \"d\" } end ");
}

static void blanks_around_tokens_are_skipped(void **state)
{
    (void)state;
    check_tokens(" \t\r\n{ \n\"a\" \t: [ 1 , \r\n2 ] , \"b\":true } \n\n",
                 "{ k=\"a\" [ 1 2 ] k=\"b\" true } end ");
    check_tokens("\n[ ]\n", "[ ] end ");
    check_tokens(" { } ", "{ } end ");
    check_tokens(" 7 ", "7 end ");
}

static void duplicate_key_is_returned_twice(void **state)
{
    (void)state;
    check_tokens("{\"a\":1,\"a\":2}", "{ k=\"a\" 1 k=\"a\" 2 } end ");
}

static void integer_of_64_bits_is_exact(void **state)
{
    (void)state;
    check_tokens("18446744073709551615", "18446744073709551615 end ");
    check_tokens("18446744073709551616", "over:18446744073709551615 end ");
    check_tokens("9223372036854775807", "9223372036854775807 end ");
    check_tokens("-9223372036854775808", "-9223372036854775808 end ");
    check_tokens("-9223372036854775809", "-9223372036854775809 end ");
    check_tokens("-18446744073709551616", "over:-18446744073709551615 end ");
    check_tokens("99999999999999999999999999999999999", "over:18446744073709551615 end ");
    check_tokens("-0", "-0 end ");
    check_tokens("-1", "-1 end ");
}

static void number_with_fraction_or_exponent_is_double(void **state)
{
    (void)state;
    check_tokens("0.5", "real:0.5 end ");
    check_tokens("-0.0", "real:-0 end ");
    check_tokens("1e3", "real:1000 end ");
    check_tokens("1E+3", "real:1000 end ");
    check_tokens("125e-2", "real:1.25 end ");
    check_tokens("1.5e1", "real:15 end ");
    check_tokens("1e400", "over:inf end ");
    check_tokens("-1e400", "over:-inf end ");
    check_tokens("1e-400", "real:0 end ");
    check_tokens("0e5", "real:0 end ");
}

static struct json_token read_one(const char *text, struct arena *arena)
{
    struct json_reader reader;
    struct json_token token;
    json_reader_init(&reader, arena, over(text), 1);
    assert_int_equal(json_reader_next(&reader, &token, NULL), TTR_OK);
    return token;
}

static void integer_conversion_checks_its_range(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_u64, is_i64;
        uint64_t as_u64;
        int64_t as_i64;
    } rows[] = {
        {"0", true, true, 0, 0},
        {"-0", true, true, 0, 0},
        {"-1", false, true, 0, -1},
        {"9223372036854775807", true, true, INT64_MAX, INT64_MAX},
        {"9223372036854775808", true, false, (uint64_t)INT64_MAX + 1, 0},
        {"18446744073709551615", true, false, UINT64_MAX, 0},
        {"18446744073709551616", false, false, 0, 0},
        {"-9223372036854775808", false, true, 0, INT64_MIN},
        {"-9223372036854775809", false, false, 0, 0},
        {"1.0", false, false, 0, 0},
        {"\"1\"", false, false, 0, 0},
    };
    struct arena arena;
    arena_init(&arena, alloc_default());
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct json_token token = read_one(rows[i].text, &arena);
        uint64_t u = 0;
        int64_t s = 0;
        assert_int_equal(json_token_u64(&token, &u), rows[i].is_u64);
        assert_int_equal(json_token_i64(&token, &s), rows[i].is_i64);
        assert_true(u == rows[i].as_u64);
        assert_true(s == rows[i].as_i64);
    }
    assert_true(read_one("18446744073709551616", &arena).real == 18446744073709551616.0);
    assert_true(read_one("-3", &arena).real == -3);
    arena_free(&arena);
}

/* Reads a string; checks its bytes, the number of replaced characters and the offset of the first
 * one. */
static void check_string(const char *json, const char *bytes, size_t n, uint64_t replaced,
                         uint64_t replaced_offset)
{
    struct arena arena;
    struct json_reader reader;
    struct json_token token;
    arena_init(&arena, alloc_default());
    json_reader_init(&reader, &arena, over(json), 1);
    assert_int_equal(json_reader_next(&reader, &token, NULL), TTR_OK);
    assert_int_equal(token.kind, JSON_TEXT);
    assert_int_equal(token.n, n);
    assert_memory_equal(token.text, bytes, n);
    assert_int_equal(token.text[n], 0);
    assert_int_equal(reader.replaced, replaced);
    assert_int_equal(reader.replaced_offset, replaced_offset);
    assert_int_equal(json_reader_next(&reader, &token, NULL), TTR_OK);
    assert_int_equal(token.kind, JSON_END);
    arena_free(&arena);
}

static void escape_is_decoded(void **state)
{
    (void)state;
    check_string("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8, 0, 0);
    check_string("\"a\\u0000b\"", "a\0b", 3, 0, 0);
    check_string("\"\\u0041\\u007f\\u0080\\u07ff\"", "A\x7f\xc2\x80\xdf\xbf", 6, 0, 0);
    check_string("\"\\u0800\\uFFFF\\uabCD\"", "\xe0\xa0\x80\xef\xbf\xbf\xea\xaf\x8d", 9, 0, 0);
    check_string("\"\\ud800\\udc00\"", "\xf0\x90\x80\x80", 4, 0, 0);
    check_string("\"\\uD834\\uDD1E\"", "\xf0\x9d\x84\x9e", 4, 0, 0);
    check_string("\"\\udbff\\udfff\"", "\xf4\x8f\xbf\xbf", 4, 0, 0);
    check_string("\"\xc3\xa4\xe2\x82\xac\xf0\x9d\x84\x9e\x7f\"",
                 "\xc3\xa4\xe2\x82\xac\xf0\x9d\x84\x9e\x7f", 10, 0, 0);
}

static void invalid_characters_are_replaced_and_counted(void **state)
{
    (void)state;
    check_string("\"a\\ud800\"", "a\xef\xbf\xbd", 4, 1, 2);
    check_string("\"\\udc00x\"", "\xef\xbf\xbdx", 4, 1, 1);
    check_string("\"\\ud800\\u0041\"",
                 "\xef\xbf\xbd"
                 "A",
                 4, 1, 1);
    check_string("\"\\ud800\\n\"", "\xef\xbf\xbd\n", 4, 1, 1);
    check_string("\"\\ud800\\ud800\\udc00\"", "\xef\xbf\xbd\xf0\x90\x80\x80", 7, 1, 1);
    check_string("\"ab\xff\xfe\"", "ab\xef\xbf\xbd\xef\xbf\xbd", 8, 2, 3);
    check_string("\"\xe2\x82\"", "\xef\xbf\xbd\xef\xbf\xbd", 6, 2, 1);
    check_string("\"\xed\xa0\x80\"", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", 9, 3, 1);
    check_string("\"\xc0\xaf\"", "\xef\xbf\xbd\xef\xbf\xbd", 6, 2, 1);
}

/* Checks that the error's offset is the column of the '^' in `caret`. */
static void check_error(const char *json, const char *caret, ttr_status status, const char *text)
{
    struct arena arena;
    struct json_reader reader;
    struct json_token token;
    ttr_error error = {.status = TTR_OK};
    arena_init(&arena, alloc_default());
    json_reader_init(&reader, &arena, over(json), 3);
    while (json_reader_next(&reader, &token, &error) == TTR_OK)
        assert_int_not_equal(token.kind, JSON_END);
    arena_free(&arena);
    if (error.status != status || error.offset != strlen(caret) - 1 ||
        strcmp(error.text, text) != 0)
        fail_msg("%s\n%*s\n%s (%s)", json, (int)error.offset + 1, "^", error.text,
                 ttr_status_text(error.status));
}

static void structure_error_reports_its_offset(void **state)
{
    (void)state;
    check_error("[1 2]", "   ^", TTR_E_MALFORMED, "expected ',' or ']', found '2'");
    check_error("[1,]", "   ^", TTR_E_MALFORMED, "expected a value, found ']'");
    check_error("[,1]", " ^", TTR_E_MALFORMED, "expected a value or ']', found ','");
    check_error("[1}", "  ^", TTR_E_MALFORMED, "expected ',' or ']', found '}'");
    check_error("{\"a\":1]", "      ^", TTR_E_MALFORMED, "expected ',' or '}', found ']'");
    check_error("{\"a\" 1}", "     ^", TTR_E_MALFORMED, "expected ':' after the key, found '1'");
    check_error("{\"a\":}", "     ^", TTR_E_MALFORMED, "expected a value, found '}'");
    check_error("{\"a\":1,}", "       ^", TTR_E_MALFORMED, "expected a key in quotes, found '}'");
    check_error("{a:1}", " ^", TTR_E_MALFORMED, "expected a key in quotes or '}', found 'a'");
    check_error("{\"a\":1 \"b\":2}", "       ^", TTR_E_MALFORMED,
                "expected ',' or '}', found '\"'");
    check_error("{\"a\"::1}", "     ^", TTR_E_MALFORMED, "expected a value, found ':'");
    check_error("]", "^", TTR_E_MALFORMED, "expected a value, found ']'");
    check_error("// 1", "^", TTR_E_MALFORMED, "expected a value, found '/'");
    check_error("\xef\xbb\xbf"
                "1",
                "^", TTR_E_MALFORMED, "expected a value, found the byte 0xef");
    check_error("[1\v,2]", "  ^", TTR_E_MALFORMED, "expected ',' or ']', found the byte 0x0b");
}

static void bytes_after_value_are_reported(void **state)
{
    (void)state;
    check_error("{} x", "   ^", TTR_E_MALFORMED, "expected nothing after the value, found 'x'");
    check_error("1 2", "  ^", TTR_E_MALFORMED, "expected nothing after the value, found '2'");
    check_error("[]]", "  ^", TTR_E_MALFORMED, "expected nothing after the value, found ']'");
    check_error("\"a\",", "   ^", TTR_E_MALFORMED, "expected nothing after the value, found ','");
}

static void number_or_word_error_reports_its_offset(void **state)
{
    (void)state;
    check_error("[01]", "  ^", TTR_E_MALFORMED, "a number must not have leading zeros");
    check_error("-01", "  ^", TTR_E_MALFORMED, "a number must not have leading zeros");
    check_error("-x", " ^", TTR_E_MALFORMED, "expected a digit after '-', found 'x'");
    check_error("+1", "^", TTR_E_MALFORMED, "expected a value, found '+'");
    check_error(".5", "^", TTR_E_MALFORMED, "expected a value, found '.'");
    check_error("1.e5", "  ^", TTR_E_MALFORMED, "expected a digit after '.', found 'e'");
    check_error("1e+]", "   ^", TTR_E_MALFORMED, "expected a digit in the exponent, found ']'");
    check_error("[1x]", "  ^", TTR_E_MALFORMED, "expected ',' or ']', found 'x'");
    check_error("trUe", "  ^", TTR_E_MALFORMED, "expected \"true\", found 'U'");
    check_error("[nil]", "  ^", TTR_E_MALFORMED, "expected \"null\", found 'i'");
    check_error("NaN", "^", TTR_E_MALFORMED, "expected a value, found 'N'");
    check_error("falsely", "     ^", TTR_E_MALFORMED,
                "expected nothing after the value, found 'l'");
}

static void string_error_reports_its_offset(void **state)
{
    (void)state;
    check_error("\"a\nb\"", "  ^", TTR_E_MALFORMED,
                "expected control characters in a string to be escaped, found the byte 0x0a");
    check_error("\"\\x\"", "  ^", TTR_E_MALFORMED,
                "expected one of \" \\ / b f n r t u after a backslash, found 'x'");
    check_error("\"\\u12g4\"", "     ^", TTR_E_MALFORMED,
                "expected four hexadecimal digits after \\u, found 'g'");
    check_error("\"\\ud800\\u00\"", "           ^", TTR_E_MALFORMED,
                "expected four hexadecimal digits after \\u, found '\"'");
    check_error("{'a':1}", " ^", TTR_E_MALFORMED, "expected a key in quotes or '}', found '''");
}

static void early_end_is_truncated(void **state)
{
    (void)state;
    check_error("", "^", TTR_E_TRUNCATED, "expected a value, found the end of the text");
    check_error("  ", "  ^", TTR_E_TRUNCATED, "expected a value, found the end of the text");
    check_error("{\"a", "   ^", TTR_E_TRUNCATED,
                "expected '\"' at the end of the string, found the end of the text");
    check_error("{\"a\"", "    ^", TTR_E_TRUNCATED,
                "expected ':' after the key, found the end of the text");
    check_error("[1", "  ^", TTR_E_TRUNCATED, "expected ',' or ']', found the end of the text");
    check_error("[-", "  ^", TTR_E_TRUNCATED,
                "expected a digit after '-', found the end of the text");
    check_error("tru", "   ^", TTR_E_TRUNCATED, "expected \"true\", found the end of the text");
}

static void every_prefix_is_truncated(void **state)
{
    (void)state;
    static const char text[] =
        "{\"a\\ud834\\udd1e\\n\":[1,-2.5e+3,true,false,null,\"\\u00e4\"],\"b\":{}, \"c\" : [ ] }";
    size_t n = sizeof text - 1;
    char got[1000];
    for (size_t cut = 0; cut < n; cut++) {
        struct arena arena;
        struct json_reader reader;
        struct json_token token;
        ttr_error error = {.status = TTR_OK};
        arena_init(&arena, alloc_default());
        json_reader_init(&reader, &arena, cursor_init(text, cut, 100), 8);
        while (json_reader_next(&reader, &token, &error) == TTR_OK)
            assert_int_not_equal(token.kind, JSON_END);
        assert_int_equal(error.status, TTR_E_TRUNCATED);
        assert_int_equal(error.offset, 100 + cut);
        arena_free(&arena);
    }
    dump(text, n, got, sizeof got);
    assert_null(strchr(got, '!'));
}

static void tokens_have_byte_ranges(void **state)
{
    (void)state;
    static const struct {
        unsigned kind;
        uint64_t offset, end;
    } expected[] = {{JSON_OBJECT, 1001, 1002},     {JSON_KEY, 1003, 1006},
                    {JSON_ARRAY, 1008, 1009},      {JSON_INTEGER, 1009, 1012},
                    {JSON_TEXT, 1014, 1022},       {JSON_ARRAY_END, 1022, 1023},
                    {JSON_KEY, 1024, 1027},        {JSON_NULL, 1028, 1032},
                    {JSON_OBJECT_END, 1033, 1034}, {JSON_END, 1035, 1035}};
    static const char text[] = " { \"a\": [-12, \"\\u0041\"],\"b\":null } ";
    struct arena arena;
    struct json_reader reader;
    struct json_token token;
    arena_init(&arena, alloc_default());
    json_reader_init(&reader, &arena, cursor_init(text, sizeof text - 1, 1000), 8);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_int_equal(json_reader_next(&reader, &token, NULL), TTR_OK);
        assert_int_equal(token.kind, expected[i].kind);
        assert_int_equal(token.offset, expected[i].offset);
        assert_int_equal(token.end, expected[i].end);
    }
    arena_free(&arena);
}

static ttr_status read_all(const char *p, size_t n, unsigned depth_max, const struct alloc *alloc,
                           ttr_error *error)
{
    struct arena arena;
    struct json_reader reader;
    struct json_token token;
    ttr_status status;
    arena_init(&arena, alloc);
    json_reader_init(&reader, &arena, cursor_init(p, n, 0), depth_max);
    do
        status = json_reader_next(&reader, &token, error);
    while (status == TTR_OK && token.kind != JSON_END);
    arena_free(&arena);
    return status;
}

static void nesting_beyond_limit_is_refused(void **state)
{
    (void)state;
    static char text[200000];
    ttr_error error;
    check_error("[[[[1]]]]", "   ^", TTR_E_LIMIT, "arrays and objects are nested more than 3 deep");
    check_error("[1,[2,[{}]]]", "       ^", TTR_E_LIMIT,
                "arrays and objects are nested more than 3 deep");
    for (size_t i = 0; i < JSON_DEPTH_MAX; i++) {
        text[i] = '[';
        text[2 * JSON_DEPTH_MAX - 1 - i] = ']';
    }
    assert_int_equal(
        read_all(text, (size_t)2 * JSON_DEPTH_MAX, UINT32_MAX, alloc_default(), &error), TTR_OK);
    memset(text, '[', sizeof text);
    assert_int_equal(read_all(text, sizeof text, UINT32_MAX, alloc_default(), &error), TTR_E_LIMIT);
    assert_int_equal(error.offset, JSON_DEPTH_MAX);
    assert_int_equal(read_all("1", 1, 0, alloc_default(), &error), TTR_OK);
    assert_int_equal(read_all("[]", 2, 0, alloc_default(), &error), TTR_E_LIMIT);
}

static void trailing_comma_is_accepted_if_allowed(void **state)
{
    (void)state;
    static const char *const good[] = {"[1,]", "[1 , ]", "{\"a\":1,}", "{\"a\":[2,],}", "[[],]"};
    static const char *const bad[] = {"[,]",       "[1,,]", "{,}",  "{\"a\":1,,}", "{\"a\",}",
                                      "{\"a\":,}", "1,",    "[1,}", "{\"a\":1,]"};
    for (size_t i = 0; i < sizeof good / sizeof *good + sizeof bad / sizeof *bad; i++) {
        bool is_good = i < sizeof good / sizeof *good;
        const char *text = is_good ? good[i] : bad[i - sizeof good / sizeof *good];
        struct arena arena;
        struct json_reader reader;
        struct json_token token;
        ttr_status status;
        arena_init(&arena, alloc_default());
        json_reader_init(&reader, &arena, over(text), 8);
        reader.allows_trailing_commas = true;
        do
            status = json_reader_next(&reader, &token, NULL);
        while (status == TTR_OK && token.kind != JSON_END);
        if ((status == TTR_OK) != is_good)
            fail_msg("%s", text);
        assert_true(!is_good || reader.commas == (i == 3 ? 2 : 1));
        assert_true(!is_good || text[reader.commas_offset] == ',');
        arena_free(&arena);
    }
}

static bool read_with(const struct alloc *alloc)
{
    static const char text[] = "[\"some text\", {\"key\": \"value\"}]";
    ttr_error error;
    ttr_status status = read_all(text, sizeof text - 1, 8, alloc, &error);
    assert_true(status == TTR_OK || status == TTR_E_NOMEM);
    return status == TTR_OK;
}

static void failed_allocation_is_reported(void **state)
{
    (void)state;
    support_fail_each(read_with);
}

static void every_kind_has_a_name(void **state)
{
    (void)state;
    assert_string_equal(json_kind_text(JSON_END), "the end");
    assert_string_equal(json_kind_text(JSON_TEXT), "a string");
    assert_string_equal(json_kind_text(JSON_OBJECT_END), "the end of an object");
    assert_string_equal(json_kind_text(77), "nothing known");
}

/* Random sequences of JSON fragments. The reader and the strict checker of the tests must agree,
 * except for duplicate keys and invalid UTF-8, which only the reader accepts. */
static void random_text_is_accepted_iff_grammatical(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "{", "}",  "[",  "]",        ",",    ":",      "\"a\"", "\"b\\n\"", "\"\\u00e4\"", "\"\\",
        "1", "-",  "0",  "2.5",      "1e9",  "e",      "true",  "false",    "null",        "nul",
        " ", "\n", "\"", "\xc3\xa4", "\x01", "\"k\":", "[1,",   "],"};
    uint64_t seed = 77;
    unsigned taken = 0;
    for (int round = 0; round < 200000; round++) {
        char text[64];
        size_t n = 0, count = support_random(&seed) % 8 + 1;
        for (size_t i = 0; i < count; i++) {
            const char *piece = pieces[support_random(&seed) % (sizeof pieces / sizeof *pieces)];
            memcpy(text + n, piece, strlen(piece));
            n += strlen(piece);
        }
        ttr_error error;
        bool ours = read_all(text, n, 300, alloc_default(), &error) == TTR_OK,
             theirs = json_check(text, n);
        if (theirs && !ours)
            fail_msg("refused: %.*s: %s", (int)n, text, error.text);
        if (ours && !theirs && !memchr(text, ':', n))
            fail_msg("taken: %.*s", (int)n, text);
        assert_true(ours || error.offset <= n);
        taken += ours;
    }
    assert_true(taken > 5000);
}

/* Valid text with random bytes changed. */
static void damaged_text_never_crashes(void **state)
{
    (void)state;
    static const char good[] = "{\"type\":\"x\",\"list\":[1,-2,3.5e-7,18446744073709551615],"
                               "\"text\":\"\\ud834\\udd1e \xe2\x82\xac\",\"o\":{\"a\":[[],{}]}}";
    uint64_t seed = 3;
    for (int round = 0; round < 100000; round++) {
        char text[sizeof good];
        size_t n = sizeof good - 1;
        memcpy(text, good, sizeof good);
        for (uint64_t changes = support_random(&seed) % 3 + 1; changes > 0; changes--)
            text[support_random(&seed) % n] = (char)support_random(&seed);
        ttr_error error = {.offset = 0};
        ttr_status status = read_all(text, n, 16, alloc_default(), &error);
        assert_true(status == TTR_OK || error.offset <= n);
        assert_true(status == TTR_OK || status == TTR_E_MALFORMED || status == TTR_E_TRUNCATED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_value_kinds_are_read),
        cmocka_unit_test(blanks_around_tokens_are_skipped),
        cmocka_unit_test(duplicate_key_is_returned_twice),
        cmocka_unit_test(integer_of_64_bits_is_exact),
        cmocka_unit_test(number_with_fraction_or_exponent_is_double),
        cmocka_unit_test(integer_conversion_checks_its_range),
        cmocka_unit_test(escape_is_decoded),
        cmocka_unit_test(invalid_characters_are_replaced_and_counted),
        cmocka_unit_test(structure_error_reports_its_offset),
        cmocka_unit_test(bytes_after_value_are_reported),
        cmocka_unit_test(number_or_word_error_reports_its_offset),
        cmocka_unit_test(string_error_reports_its_offset),
        cmocka_unit_test(early_end_is_truncated),
        cmocka_unit_test(every_prefix_is_truncated),
        cmocka_unit_test(tokens_have_byte_ranges),
        cmocka_unit_test(nesting_beyond_limit_is_refused),
        cmocka_unit_test(trailing_comma_is_accepted_if_allowed),
        cmocka_unit_test(failed_allocation_is_reported),
        cmocka_unit_test(every_kind_has_a_name),
        cmocka_unit_test(random_text_is_accepted_iff_grammatical),
        cmocka_unit_test(damaged_text_never_crashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
