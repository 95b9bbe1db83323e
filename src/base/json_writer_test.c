/* Tests of the JSON writer: commas and nesting, escapes compared with a byte-wise reference, any
 * depth, and failing allocations. */
#include "base/json_writer.h"

#include <math.h>

#include "base/utf.h"
#include "support/support.h"

static void start(struct json *json, struct buffer *buffer)
{
    buffer_init(buffer, alloc_default());
    json_init(json, buffer);
}

static void check_end(struct buffer *buffer, const char *expected)
{
    assert_false(buffer->failed);
    support_assert_text(buffer->bytes, buffer->n, expected);
    buffer_free(buffer);
}

static void commas_separate_values(void **state)
{
    (void)state;
    struct buffer buffer;
    struct json json;
    start(&json, &buffer);
    json_begin_object(&json);
    json_write_key(&json, "a");
    json_begin_array(&json);
    json_write_u64(&json, 1);
    json_begin_array(&json);
    json_end_array(&json);
    json_write_i64(&json, -2);
    json_begin_object(&json);
    json_end_object(&json);
    json_end_array(&json);
    json_write_key_text(&json, "b\n", 2);
    json_write_null(&json);
    json_write_key(&json, "c");
    json_begin_object(&json);
    json_write_key(&json, "d");
    json_write_bool(&json, true);
    json_write_key(&json, "e");
    json_write_bool(&json, false);
    json_end_object(&json);
    json_write_key(&json, "f");
    json_write_raw(&json, "1.50", 4);
    json_end_object(&json);
    check_end(&buffer,
              "{\"a\":[1,[],-2,{}],\"b\\n\":null,\"c\":{\"d\":true,\"e\":false},\"f\":1.50}");
}

static void outermost_values_have_no_commas(void **state)
{
    (void)state;
    struct buffer buffer;
    struct json json;
    start(&json, &buffer);
    for (int line = 0; line < 3; line++) {
        json_begin_array(&json);
        json_write_string(&json, "x");
        json_end_array(&json);
        buffer_add_byte(&buffer, '\n');
    }
    check_end(&buffer, "[\"x\"]\n[\"x\"]\n[\"x\"]\n");
}

static void numbers_are_written_exactly(void **state)
{
    (void)state;
    struct buffer buffer;
    struct json json;
    start(&json, &buffer);
    json_begin_array(&json);
    json_write_u64(&json, UINT64_MAX);
    json_write_i64(&json, INT64_MIN);
    json_write_double(&json, 0.1);
    json_write_double(&json, -1e300);
    json_write_double(&json, (double)NAN);
    json_write_double(&json, (double)INFINITY);
    json_write_double(&json, -(double)INFINITY);
    json_end_array(&json);
    check_end(&buffer, "[18446744073709551615,-9223372036854775808,0.1,-1e+300,\"NaN\","
                       "\"Infinity\",\"-Infinity\"]");
}

static void special_characters_are_escaped(void **state)
{
    (void)state;
    static const struct {
        const char *from;
        size_t n;
        const char *text;
    } rows[] = {
        {"", 0, "\"\""},
        {"plain text, longer than a word", 30, "\"plain text, longer than a word\""},
        {"a\"b\\c/d", 7, "\"a\\\"b\\\\c/d\""},
        {"\b\t\n\f\r", 5, "\"\\b\\t\\n\\f\\r\""},
        {"\0\x01\x1f\x7f", 4, "\"\\u0000\\u0001\\u001f\\u007f\""},
        {"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\x9b", 15,
         "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\x9b\""},
        {"seven b\x7f\x80", 9, "\"seven b\\u007f\xef\xbf\xbd\""},
        {"a\xff"
         "b",
         3,
         "\"a\xef\xbf\xbd"
         "b\""},
        {"\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xe2\x82", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xc2\x80"
         "a\xc2\x9b"
         "1m\xc2\xa0",
         9, "\"\\u0080a\\u009b1m\xc2\xa0\""},
        {"\xc2", 1, "\"\xef\xbf\xbd\""},
        {"\x9b", 1, "\"\xef\xbf\xbd\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buffer buffer;
        struct json json;
        start(&json, &buffer);
        json_write_text(&json, rows[i].from, rows[i].n);
        check_end(&buffer, rows[i].text);
    }
}

/* Reference implementation: escapes one byte at a time. */
static void escape_slowly(struct buffer *to, const uint8_t *p, size_t n)
{
    static const char hex[] = "0123456789abcdef", from[] = "\"\\\b\t\n\f\r",
                      letters[] = "\"\\btnfr";
    while (n > 0) {
        size_t length = utf8_char_length(p, n);
        const char *short_form = *p ? strchr(from, *p) : NULL;
        if (short_form) {
            buffer_add_byte(to, '\\');
            buffer_add_byte(to, (uint8_t)letters[short_form - from]);
        } else if (*p < 0x20 || *p == 0x7f) {
            buffer_add_text(to, "\\u00");
            buffer_add_byte(to, (uint8_t)hex[*p >> 4]);
            buffer_add_byte(to, (uint8_t)hex[*p & 15]);
        } else if (length) {
            buffer_add(to, p, length);
        } else {
            buffer_add_text(to, "\xef\xbf\xbd");
        }
        p += length ? length : 1;
        n -= length ? length : 1;
    }
}

static void random_bytes_are_escaped_like_reference(void **state)
{
    (void)state;
    static const uint8_t odd[] = {'"',  '\\', 0x1f, 0x20, 0x21, 0x7f, 0x80, 0xc3,
                                  0xbc, 0xff, 0,    '\n', 0xe2, 0x82, 0xac};
    struct buffer fast, slow;
    uint64_t seed = 1;
    buffer_init(&fast, alloc_default());
    buffer_init(&slow, alloc_default());
    for (int round = 0; round < 100000; round++) {
        uint8_t bytes[40], copy[40];
        size_t n = support_random(&seed) % sizeof bytes;
        uint64_t rarity = 1 + support_random(&seed) % 16;
        for (size_t i = 0; i < n; i++) {
            uint64_t random = support_random(&seed);
            bytes[i] =
                random % rarity ? (uint8_t)('a' + random % 26) : odd[(random >> 8) % sizeof odd];
        }
        buffer_clear(&fast);
        buffer_clear(&slow);
        json_append_escaped(&fast, bytes, n);
        escape_slowly(&slow, bytes, n);
        bool is_ascii = true;
        for (size_t i = 0; i < n; i++)
            is_ascii &= bytes[i] < 0x80;
        assert_int_equal(json_copy_plain(copy, bytes, n),
                         is_ascii && slow.n == n && memcmp(slow.bytes, bytes, n) == 0);
        assert_memory_equal(copy, bytes, n);
        assert_int_equal(fast.n, slow.n);
        assert_true(fast.n == 0 || memcmp(fast.bytes, slow.bytes, fast.n) == 0);
    }
    buffer_free(&fast);
    buffer_free(&slow);
}

static void nest(struct json *json, unsigned depth)
{
    for (unsigned i = 0; i < depth; i++) {
        json_begin_array(json);
        json_write_u64(json, 1);
    }
    for (unsigned i = 0; i < depth; i++) {
        json_write_u64(json, 2);
        json_end_array(json);
    }
}

static void deep_nesting_is_written(void **state)
{
    (void)state;
    struct buffer buffer;
    struct json json;
    start(&json, &buffer);
    nest(&json, 5000);
    assert_false(buffer.failed);
    assert_int_equal(json.depth, 0);
    assert_memory_equal(buffer.bytes, "[1,[1,[1,", 9);
    assert_memory_equal(buffer.bytes + buffer.n - 6, ",2],2]", 6);
    buffer_free(&buffer);
}

static bool write_all(const struct alloc *alloc)
{
    struct buffer buffer;
    struct json json;
    buffer_init(&buffer, alloc);
    json_init(&json, &buffer);
    for (int i = 0; i < 200; i++) {
        json_begin_object(&json);
        json_write_key(&json, "key");
        json_write_string(&json, "text\n\xff");
        json_write_key(&json, "number");
        json_write_double(&json, 1.5);
        json_write_key(&json, "id");
        json_write_u64(&json, 7);
        json_write_key(&json, "delta");
        json_write_i64(&json, -7);
        json_end_object(&json);
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
        cmocka_unit_test(commas_separate_values),
        cmocka_unit_test(outermost_values_have_no_commas),
        cmocka_unit_test(numbers_are_written_exactly),
        cmocka_unit_test(special_characters_are_escaped),
        cmocka_unit_test(random_bytes_are_escaped_like_reference),
        cmocka_unit_test(deep_nesting_is_written),
        cmocka_unit_test(failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
