/* Values as perf-decode prints them, byte by byte. tests/peers/eventheader.sh compares complete
 * events with perf-decode's own output. */
#include "formats/microsoft/microsoft.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <tracetta/advanced.h>
#include <tracetta/tracetta.h>

#include "base/endian.h"
#include "base/number.h"
#include "support/json_check.h"
#include "support/support.h"
#include "support/writing.h"

static void float_prints_shortest_form(void **state)
{
    static const struct {
        double x;
        unsigned bits;
        const char *text;
    } cases[] = {{0, 64, "0"},
                 {-0.0, 64, "-0"},
                 {1, 64, "1"},
                 {-1.5, 64, "-1.5"},
                 {6.28, 64, "6.28"},
                 {1.0 / 3, 64, "0.3333333333333333"},
                 {1e5, 64, "1e+05"},
                 {123456, 64, "123456"},
                 {1e4, 64, "10000"},
                 {0.001, 64, "0.001"},
                 {0.0001, 64, "1e-04"},
                 {0.00012, 64, "0.00012"},
                 {1.5e300, 64, "1.5e+300"},
                 {5e-324, 64, "5e-324"},
                 {1234567890123456789012.0, 64, "1234567890123456774144"},
                 {1.2345678901234567e20, 64, "123456789012345667584"},
                 {1e22, 64, "1e+22"},
                 {123456789.F, 32, "123456792"},
                 {3.14F, 32, "3.14"},
                 {1.0F / 3, 32, "0.33333334"},
                 {16777216, 32, "16777216"},
                 {3.4028234663852886e38, 32, "3.4028235e+38"},
                 {1.401298464324817e-45, 32, "1e-45"},
                 {0.1F, 32, "0.1"},
                 {NAN, 64, "nan"},
                 {-INFINITY, 32, "-inf"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[NUMBER_MAX + 1] = "";
        /* On machines that compute floats as doubles, float constants have the digits of doubles.
         */
        double x = cases[i].bits == 32 ? (double)(float)cases[i].x : cases[i].x;
        text[microsoft_emit_float(text, x, cases[i].bits)] = '\0';
        assert_string_equal(text, cases[i].text);
    }
}

static void random_float_reads_back_unchanged(void **state)
{
    uint64_t random = 1;
    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t bits = support_random(&random);
        uint32_t low = (uint32_t)bits;
        float single;
        char text[NUMBER_MAX + 1] = "";
        memcpy(&single, &low, sizeof single);
        if (isfinite(single)) {
            text[microsoft_emit_float(text, (double)single, 32)] = '\0';
            assert_true(strtof(text, NULL) == single);
            assert_true(strlen(text) <= 16);
        }
        if (!isfinite(double_of_bits(bits)))
            continue;
        text[microsoft_emit_float(text, double_of_bits(bits), 64)] = '\0';
        assert_true(strtod(text, NULL) == double_of_bits(bits));
        assert_true(strlen(text) <= 25);
    }
}

static const char *terminated_text(struct buffer *to)
{
    buffer_add_byte(to, 0);
    to->n--;
    return (const char *)to->bytes;
}

static void invalid_text_becomes_utf_8(void **state)
{
    struct buffer to;
    (void)state;
    buffer_init(&to, alloc_default());
    microsoft_add_text(&to, "\xc2\x9b", 2); /* perf-decode does not escape these either */
    assert_string_equal(terminated_text(&to), "\xc2\x9b");
    buffer_clear(&to);
    microsoft_add_text(&to, "a\x7f\x01", 3);
    assert_string_equal(terminated_text(&to), "a\x7f\\u0001");
    buffer_clear(&to);
    microsoft_add_text(&to, "a\"\\\n\x01\xc3\xa9\xff\xed\xa0\x80z", 12);
    assert_string_equal(terminated_text(&to),
                        "a\\\"\\\\\\n\\u0001\xc3\xa9\xc3\xbf\xc3\xad\xc2\xa0\xc2\x80z");
    buffer_clear(&to);
    microsoft_add_bytes(&to, (const uint8_t *)"Ho\xff", 3);
    assert_string_equal(terminated_text(&to), "\"48 6f ff\"");
    buffer_clear(&to);
    microsoft_add_bytes(&to, NULL, 0);
    assert_string_equal(terminated_text(&to), "\"\"");
    buffer_free(&to);
}

static void time_prints_without_zone_or_as_number(void **state)
{
    static const struct {
        int64_t s;
        const char *text;
    } cases[] = {{2000000000, "2033-05-18T03:33:20"},
                 {-1, "1969-12-31T23:59:59"},
                 {INT64_MAX, "TIME(9223372036854775807)"},
                 {67768036191676799, "2147485547-12-31T23:59:59"},
                 {67768036191676800, "TIME(67768036191676800)"},
                 {-67768040609740800, "-2147481748-01-01T00:00:00"},
                 {-67768040609740801, "TIME(-67768040609740801)"}};
    struct buffer to;
    (void)state;
    buffer_init(&to, alloc_default());
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buffer_clear(&to);
        char *at = (char *)buffer_room(&to, 2 * NUMBER_MAX);
        assert_non_null(at);
        buffer_commit(&to, (size_t)(microsoft_emit_time(at, cases[i].s) - at));
        assert_string_equal(terminated_text(&to), cases[i].text);
    }
    buffer_free(&to);
}

/* Converts a file with EventHeader events to lines of a format. */
static void convert_to_format(const uint8_t *bytes, size_t n, const char *format, struct buffer *to)
{
    ttr *t = ttr_new(NULL);
    ttr_batch batch;
    ttr_error error = {0};
    ttr_reader *in = ttr_open_memory(t, bytes, n, "test", NULL, &error);
    assert_non_null(in);
    ttr_writer *out = ttr_create_push(t, writing_to_buffer, to, format, NULL, &error);
    assert_non_null(out);
    while (ttr_read(in, &batch, &error) == TTR_OK)
        assert_int_equal(ttr_write(out, &batch, &error), TTR_OK);
    assert_int_equal(ttr_finish(out, &error), TTR_OK);
    ttr_close(in);
    ttr_free(t);
    terminated_text(to);
}

static void duplicate_names_are_made_unique(void **state)
{
    /* Fields n, meta, a, a, and a UTF-16 text with half a surrogate pair. */
    uint8_t bytes[256];
    struct buffer to;
    (void)state;
    size_t n = support_hex(bytes, sizeof bytes,
                           "34000000 505f4c354b3100 07 00 0000 0000 00 05 1d00 0100 4500 6e00 02 "
                           "6d65746100 02 6100 02 6100 8281efbe 7400 0b 01020304 0100 00d8");
    store_u32le(bytes, (uint32_t)n);
    store_u16le(bytes + 19, (uint16_t)(n - 23 - 8));
    buffer_init(&to, alloc_default());
    convert_to_format(bytes, n, "microsoft", &to);
    assert_string_equal((const char *)to.bytes,
                        "{ \"n\": \"P:E\", \"n#2\": 1, \"meta#2\": 2, \"a\": 3, \"a;tag=0xBEEF\": "
                        "4, \"t\": \"\xef\xbf\xbd\", "
                        "\"meta\": { \"level\": 5, \"keyword\": \"0x1\" } }\n");
    json_check_lines((const char *)to.bytes, to.n);
    buffer_clear(&to);
    convert_to_format(bytes, n, "jsonl", &to);
    json_check_lines((const char *)to.bytes, to.n);
    buffer_free(&to);
}

static void earliest_time_is_written(void **state)
{
    struct buffer to;
    ttr *t = ttr_new(NULL);
    ttr_error error = {0};
    ttr_event event = {
        .kind = TTR_KIND_INSTANT, .time = INT64_MIN, .name = ttr_text_add(t, "E", 1)};
    const ttr_batch batch = {.event = &event, .n = 1};
    (void)state;
    buffer_init(&to, alloc_default());
    ttr_writer *out = ttr_create_push(t, writing_to_buffer, &to, "microsoft", NULL, &error);
    assert_non_null(out);
    assert_int_equal(ttr_write(out, &batch, &error), TTR_OK);
    assert_int_equal(ttr_finish(out, &error), TTR_OK);
    assert_non_null(strstr(terminated_text(&to), "\"1677-09-21T00:12:43.145224192Z\""));
    buffer_free(&to);
    ttr_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(float_prints_shortest_form),
        cmocka_unit_test(random_float_reads_back_unchanged),
        cmocka_unit_test(invalid_text_becomes_utf_8),
        cmocka_unit_test(time_prints_without_zone_or_as_number),
        cmocka_unit_test(duplicate_names_are_made_unique),
        cmocka_unit_test(earliest_time_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
