/* Conditions on events: errors with their byte, limits, fields at fixed positions, lack of memory.
 * Meaning is compared with SQLite in tests/matrix/where_test.c. */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>

#include "expression/expression.h"
#include "expression/token.h"
#include "model/context.h"
#include "support/memory_reader.h"

/* Compiles a text that must be refused, and checks the byte and a part of the message. */
static void check_refused(const char *text, uint64_t offset, const char *part)
{
    ttr_error error = {0};
    ttr *t = ttr_new(NULL);
    assert_null(expression_new(t, text, &error));
    if (error.status != TTR_E_MISUSE || error.offset != offset || !strstr(error.text, part) ||
        strcmp(error.option, "where") != 0)
        fail_msg("%s: byte %d: %s", text, (int)error.offset, error.text);
    ttr_free(t);
}

static void error_has_the_byte_and_names_sql(void **state)
{
    (void)state;
    check_refused("", 0, "ends where a value");
    check_refused("dur >", 5, "ends where a value");
    check_refused("(dur > 1", 8, "ends where \")\"");
    check_refused("dur > 1)", 7, "operator is expected");
    check_refused("dur 5", 4, "operator is expected");
    check_refused("name = 'a", 7, "quote has no end");
    check_refused("dur > 5 parsecs", 8, "operator is expected");
    check_refused("dur > 5parsecs", 7, "not a unit");
    check_refused("count(*) > 1", 0, "use SQL");
    check_refused("dur IN (SELECT 1)", 8, "use SQL");
    check_refused("(SELECT 1)", 1, "use SQL");
    check_refused("name REGEXP 'a'", 5, "use SQL");
    check_refused("name = 'a' COLLATE NOCASE", 11, "use SQL");
    check_refused("e.name = 'a'", 1, "use SQL");
    check_refused("dur > ?", 6, "use SQL");
    check_refused("name = x'00'", 7, "use SQL");
    check_refused("name NOT > 1", 9, "after NOT");
    check_refused("length() = 1", 0, "number of arguments");
    check_refused("dur > 0x", 6, "hexadecimal");
    check_refused("name LIKE 'a' ESCAPE 'ab'", 21, "one character");
}

/* Appends a text n times. The caller frees the result. */
static char *repeat(const char *begin, const char *part, size_t n, const char *end)
{
    const size_t size = strlen(begin) + n * strlen(part) + strlen(end) + 1;
    char *text = malloc(size), *at = text;
    assert_non_null(text);
    at += snprintf(at, size, "%s", begin);
    for (size_t i = 0; i < n; i++)
        at += snprintf(at, size - (size_t)(at - text), "%s", part);
    (void)snprintf(at, size - (size_t)(at - text), "%s", end);
    return text;
}

static void huge_expression_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *begin, *part, *end, *message;
        size_t n;
    } huge[] = {{"dur", " + dur", "", "nested more than", 1000000},
                {"", "(", "", "nested", 100000},
                {"", "NOT ", "1", "nested", 100000},
                {"", "- ", "1", "nested", 100000},
                {"dur IN (1", ", dur", ")", "at most", 100000}};
    for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
        ttr_error error = {0};
        ttr *t = ttr_new(NULL);
        char *text = repeat(huge[i].begin, huge[i].part, huge[i].n, huge[i].end);
        assert_null(expression_new(t, text, &error));
        assert_non_null(strstr(error.text, huge[i].message));
        free(text);
        ttr_free(t);
    }
}

/* Returns the truth of an expression for one event. */
static int truth_of(ttr *t, const char *text, const ttr_event *event)
{
    ttr_error error = {0};
    const uint32_t row = 0;
    uint8_t truth;
    struct expression *expression = expression_new(t, text, &error);
    if (!expression)
        fail_msg("%s: %s", text, error.text);
    assert_int_equal(expression_select(expression, event, &row, 1, &truth, &error), TTR_OK);
    expression_free(expression);
    return truth;
}

static void duration_with_a_unit_is_in_nanoseconds(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    const ttr_event event = {.duration = 1500000, .kind = TTR_KIND_SPAN};
    assert_int_equal(truth_of(t, "dur = 1.5ms AND dur = 1500us AND 1min = 60s", &event), 1);
    assert_int_equal(truth_of(t, "1h = 3600000000000 AND 2ns = 2", &event), 1);
    ttr_free(t);
}

static void column_hides_a_field_unless_prefixed(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    ttr_event event = {.offset = 70};
    memory_event_fields(t, &event, 2); /* a = 70, b = 71 */
    assert_int_equal(truth_of(t, "a = 70 AND \"b\" = 71 AND c IS NULL", &event), 1);
    assert_int_equal(truth_of(t, "offset = 70 AND field_offset IS NULL", &event), 1);
    assert_int_equal(truth_of(t, "missing > 1", &event), TRUTH_UNKNOWN);
    assert_int_equal(truth_of(t, "kind = 'none' AND name IS NULL AND tid IS NULL", &event), 1);
    memory_events_free(&event, 1);
    ttr_free(t);
}

static void created_text_has_a_limit(void **state)
{
    (void)state;
    ttr_error error = {0};
    const uint32_t row = 0;
    uint8_t truth;
    char *name = repeat("", "0123456789", 100, "");
    char *text = repeat("length(", "name || name || name || name || ", 24, "name) > 1");
    char *wide = repeat("(", "length(name || name) + ", 1, "1) > 5");
    ttr *t = ttr_new(NULL);
    const ttr_event event = {.name = ttr_text_add(t, name, strlen(name))};
    assert_int_equal(truth_of(t, text, &event), 1); /* 97 KB */
    assert_int_equal(truth_of(t, wide, &event), 1);
    char *huge = repeat("", "x", VALUE_TEXT_MAX - 10, "");
    const ttr_event long_event = {.name = ttr_text_add(t, huge, strlen(huge))};
    struct expression *expression = expression_new(t, "name || '0123456789x' = '' OR dur", &error);
    assert_non_null(expression);
    assert_int_equal(expression_select(expression, &long_event, &row, 1, &truth, &error),
                     TTR_E_LIMIT);
    expression_free(expression);
    ttr_free(t);
    free(huge);
    free(wide);
    free(text);
    free(name);
}

static bool select_all(ttr *t, const ttr_event *events, size_t n)
{
    ttr_error error = {0};
    uint32_t rows[40];
    uint8_t truth[40];
    struct expression *expression = expression_new(
        t, "name GLOB 'net*' OR (a + b > 7 AND name || category <> 'x' AND lower(name) LIKE '%e%')",
        &error);
    if (!expression) {
        assert_int_equal(error.status, TTR_E_NOMEM);
        return false;
    }
    for (uint32_t i = 0; i < n; i++)
        rows[i] = i;
    const ttr_status status =
        expression_select(expression, events, rows, (uint32_t)n, truth, &error);
    expression_free(expression);
    assert_true(status == TTR_OK || status == TTR_E_NOMEM);
    return status == TTR_OK;
}

static void lack_of_memory_is_reported(void **state)
{
    (void)state;
    memory_fail_each(select_all, 40);
}

static void tokens_end_at_the_text(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum token_kind kind;
        size_t n;
    } tokens[] = {{"  abc+", TOKEN_WORD, 3},
                  {"-- all", TOKEN_END, 0},
                  {"/* x */ <= 1", TOKEN_OPERATOR, 2},
                  {"/* x", TOKEN_END, 0},
                  {"1.5e-3ms,", TOKEN_NUMBER, 8},
                  {"'a''b'c", TOKEN_TEXT, 6},
                  {"[a]b", TOKEN_QUOTED, 3},
                  {"\"a", TOKEN_OPEN_TEXT, 2},
                  {"@", TOKEN_OTHER, 1},
                  {"1e+", TOKEN_NUMBER, 2},
                  {".5.", TOKEN_NUMBER, 2},
                  {"0x1F ", TOKEN_NUMBER, 4}};
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        const struct token token = token_read(tokens[i].text);
        assert_int_equal(token.kind, tokens[i].kind);
        assert_int_equal(token.n, tokens[i].n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_has_the_byte_and_names_sql),
        cmocka_unit_test(huge_expression_is_refused),
        cmocka_unit_test(duration_with_a_unit_is_in_nanoseconds),
        cmocka_unit_test(column_hides_a_field_unless_prefixed),
        cmocka_unit_test(created_text_has_a_limit),
        cmocka_unit_test(lack_of_memory_is_reported),
        cmocka_unit_test(tokens_end_at_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
