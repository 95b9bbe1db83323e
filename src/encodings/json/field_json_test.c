/* Tests of the JSON encoder. The expected members are written by hand from the rules in
 * field_json.h. */
#include "encodings/json/field_json.h"

#include <stdio.h>

#include "support/support.h"
#include "support/writing.h"

/* Compares the fields under construction, encoded as one object, with `text`. */
static void expect_fields(struct writing *w, const char *text)
{
    struct buffer to;
    struct field_json json;
    ttr_batch batch;
    ttr_error error;
    assert_int_equal(ttr_event_build(w->builder, &batch, &error), TTR_OK);
    buffer_init(&to, alloc_default());
    field_json_init(&json, w->t, &to);
    buffer_add_byte(&to, '{');
    field_json_begin(&json);
    field_json_append_fields(&json, batch.event);
    buffer_add_byte(&to, '}');
    assert_false(to.failed);
    support_assert_text(to.bytes, to.n, text);
    field_json_free(&json);
    buffer_free(&to);
    writing_close(w);
}

static void add_nested_field(struct writing *w, uint16_t depth, const char *name, unsigned type,
                             uint32_t count)
{
    ttr_add_field(w->builder,
                  &(ttr_field){.name = {name, strlen(name)},
                               .depth = depth,
                               .value = {.type = (uint8_t)type, .count = count, .v.u = count}});
}

static void value_of_every_type_has_documented_form(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "jsonl", 0, NULL);
    writing_begin(&w, TTR_KIND_INSTANT, 0, "");
    ttr_add_null(w.builder, "n");
    ttr_add_bool(w.builder, "b", false);
    ttr_add_uint(w.builder, "u", UINT64_MAX);
    ttr_add_int(w.builder, "i", INT64_MIN);
    ttr_add_float(w.builder, "f", -2.5);
    ttr_add_text(w.builder, "t", "\"\\\n\x1f\x80z");
    ttr_add_bytes(w.builder, "y", "\x00\xab", 2);
    ttr_add_field(
        w.builder,
        &(ttr_field){.name = {"who", 3},
                     .value = {.type = TTR_TYPE_UINT, .hint = TTR_DISPLAY_THREAD, .v.u = 1}});
    expect_fields(
        &w,
        "{\"n\":null,\"b\":false,\"u\":18446744073709551615,\"i\":-9223372036854775808,\"f\":-2.5,"
        "\"t\":\"\\\"\\\\\\n\\u001f\xef\xbf\xbdz\",\"y\":\"0x00ab\",\"who\":9}");
}

static void add_labelled_field(struct writing *w, const char *name, ttr_value value,
                               const char *label)
{
    value.text = (ttr_text){label, strlen(label)};
    ttr_add_field(w->builder, &(ttr_field){.name = {name, strlen(name)}, .value = value});
}

static void labelled_number_stays_number(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "jsonl", 0, NULL);
    writing_begin(&w, TTR_KIND_INSTANT, 0, "");
    add_labelled_field(
        &w, "e", (ttr_value){.type = TTR_TYPE_UINT, .hint = TTR_DISPLAY_ENUM, .count = 1, .v.u = 3},
        "R\"");
    add_labelled_field(&w, "s",
                       (ttr_value){.type = TTR_TYPE_INT, .hint = TTR_DISPLAY_ENUM, .v.s = -3}, "");
    add_labelled_field(
        &w, "f",
        (ttr_value){.type = TTR_TYPE_UINT, .hint = TTR_DISPLAY_FLAGS, .count = 1, .v.u = 4}, "A");
    add_labelled_field(&w, "g",
                       (ttr_value){.type = TTR_TYPE_UINT, .hint = TTR_DISPLAY_FLAGS, .v.u = 8}, "");
    add_labelled_field(&w, "n", (ttr_value){.type = TTR_TYPE_TEXT, .hint = TTR_DISPLAY_DECIMAL},
                       "-18446744073709551616");
    add_labelled_field(&w, "m", (ttr_value){.type = TTR_TYPE_TEXT, .hint = TTR_DISPLAY_DECIMAL},
                       "007");
    add_labelled_field(&w, "o", (ttr_value){.type = TTR_TYPE_TEXT, .hint = TTR_DISPLAY_DECIMAL},
                       "-");
    add_labelled_field(&w, "z", (ttr_value){.type = TTR_TYPE_NULL, .hint = TTR_DISPLAY_ABSENT}, "");
    expect_fields(&w, "{\"e\":{\"value\":3,\"label\":\"R\\\"\"},\"s\":{\"value\":-3},\"f\":{"
                      "\"value\":4,\"labels\":[\"A\"]},"
                      "\"g\":{\"value\":8,\"labels\":[]},\"n\":-18446744073709551616,\"m\":\"007\","
                      "\"o\":\"-\",\"z\":null}");
}

static void field_depth_defines_nesting(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "jsonl", 0, NULL);
    writing_begin(&w, TTR_KIND_INSTANT, 0, "");
    add_nested_field(&w, 0, "a", TTR_TYPE_ARRAY, 2);
    add_nested_field(&w, 1, "", TTR_TYPE_ARRAY, 0);
    add_nested_field(&w, 1, "", TTR_TYPE_STRUCT, 1);
    add_nested_field(&w, 2, "x", TTR_TYPE_UINT, 1);
    /* the members of this struct are missing, as in a truncated payload */
    add_nested_field(&w, 2, "y", TTR_TYPE_STRUCT, 9);
    add_nested_field(&w, 0, "b", TTR_TYPE_UINT, 2);
    add_nested_field(&w, 5, "c", TTR_TYPE_UINT, 3); /* depth without an enclosing array or struct */
    expect_fields(&w, "{\"a\":[[],{\"x\":1,\"y\":{}}],\"b\":2,\"c\":3}");
}

static void duplicate_name_is_numbered_per_object(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "jsonl", 0, NULL);
    writing_begin(&w, TTR_KIND_INSTANT, 0, "");
    add_nested_field(&w, 0, "a#2", TTR_TYPE_UINT, 1);
    add_nested_field(&w, 0, "a", TTR_TYPE_UINT, 2);
    add_nested_field(&w, 0, "s", TTR_TYPE_STRUCT, 2);
    add_nested_field(&w, 1, "a", TTR_TYPE_UINT, 3);
    add_nested_field(&w, 1, "a", TTR_TYPE_UINT, 4);
    add_nested_field(&w, 0, "a", TTR_TYPE_UINT, 5);
    add_nested_field(&w, 0, "a", TTR_TYPE_UINT, 6);
    add_nested_field(&w, 0, "\xfe", TTR_TYPE_UINT, 7);
    /* different bytes, but both become U+FFFD in JSON */
    add_nested_field(&w, 0, "\xff", TTR_TYPE_UINT, 8);
    expect_fields(&w, "{\"a#2\":1,\"a\":2,\"s\":{\"a\":3,\"a#2\":4},\"a#3\":5,\"a#4\":6,"
                      "\"\xef\xbf\xbd\":7,\"\xef\xbf\xbd#2\":8}");
}

static void many_duplicate_names_cost_linear_time(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "jsonl", 0, NULL);
    writing_begin(&w, TTR_KIND_INSTANT, 0, "");
    for (unsigned i = 0; i < 200000; i++)
        ttr_add_null(w.builder, "x");
    writing_end(&w); /* quadratic time would exceed the time limit of the test */
    assert_int_equal(w.status, TTR_OK);
    assert_int_equal(writing_lost(&w, "field.duplicate"), 199999);
    writing_close(&w);
}

/* Adds up to 20 fields, including structs and arrays of structs, some with duplicate names. */
static void add_random_fields(struct writing *w, uint64_t seed)
{
    static const char *const names[] = {
        "a",    "b",   "c", "d",   "e",
        "f",    "g",   "h", "a#2", "a name that is too long for what is kept of one of them",
        "\xfe", "\xff"};
    uint64_t state = seed;
    uint16_t depth = 0;
    uint64_t n = 1 + support_random(&state) % 20, kinds = 4 + support_random(&state) % 9;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t choice = support_random(&state) % 12;
        unsigned type = choice == 0   ? TTR_TYPE_STRUCT
                        : choice == 1 ? TTR_TYPE_ARRAY
                                      : TTR_TYPE_UINT;
        add_nested_field(w, depth, names[support_random(&state) % kinds], type, 1);
        if (choice == 2 && depth > 0)
            depth--;
        depth = (uint16_t)(depth + (choice < 2));
    }
}

static void write_object(struct field_json *json, const ttr_event *event)
{
    size_t begin = json->to->n;
    buffer_add_byte(json->to, '{');
    field_json_begin(json);
    field_json_append_fields(json, event);
    field_json_append_constant_name(json, "a");
    buffer_add_text(json->to, "0}");
    memmove(json->to->bytes, json->to->bytes + begin, json->to->n - begin);
    json->to->n -= begin;
}

/* An encoder that has learned shapes must produce the same output as a fresh one. */
static void learned_shapes_do_not_change_output(void **state)
{
    struct writing w;
    struct buffer kept_to, fresh_to;
    struct field_json kept, fresh;
    uint64_t random = 1;
    ttr_batch batch;
    ttr_error error;
    (void)state;
    writing_open(&w, "jsonl", 0, NULL);
    buffer_init(&kept_to, alloc_default());
    buffer_init(&fresh_to, alloc_default());
    for (unsigned trial = 0; trial < 3000; trial++) {
        uint64_t seeds[2] = {support_random(&random), support_random(&random)};
        field_json_init(&kept, w.t, &kept_to);
        for (unsigned i = 0; i < 8; i++) {
            writing_begin(&w, TTR_KIND_INSTANT, 0, "");
            add_random_fields(&w, seeds[support_random(&random) % 4 == 0]);
            assert_int_equal(ttr_event_build(w.builder, &batch, &error), TTR_OK);
            field_json_init(&fresh, w.t, &fresh_to);
            write_object(&kept, batch.event);
            write_object(&fresh, batch.event);
            buffer_add_byte(&fresh_to, 0);
            support_assert_text(kept_to.bytes, kept_to.n, (const char *)fresh_to.bytes);
            buffer_clear(&kept_to);
            buffer_clear(&fresh_to);
            field_json_free(&fresh);
        }
        field_json_free(&kept);
    }
    buffer_free(&kept_to);
    buffer_free(&fresh_to);
    writing_close(&w);
}

static void add_numbered_name(struct field_json *json, unsigned i)
{
    char name[16];
    (void)snprintf(name, sizeof name, "n%u", i);
    field_json_append_constant_name(json, name);
    buffer_add_byte(json->to, '0');
}

/* Ended objects must not occupy memory, and open objects must still detect their duplicates. */
static void ended_objects_release_names(void **state)
{
    static const ttr_value array = {.type = TTR_TYPE_ARRAY}, object = {.type = TTR_TYPE_STRUCT};
    (void)state;
    struct support_heap heap;
    struct buffer to;
    struct field_json json;
    ttr *t = ttr_new(NULL);
    support_heap_init(&heap, 0);
    buffer_init(&to, &heap.alloc);
    field_json_init(&json, t, &to);
    field_json_begin(&json);
    /* enough names to saturate the Bloom filter, so that each further name is looked up in the
     * table */
    for (unsigned i = 0; i < 300; i++)
        add_numbered_name(&json, i);
    field_json_append_constant_name(&json, "list");
    field_json_open_value(&json, &array);
    size_t before = 0;
    for (unsigned i = 0; i < 50000; i++) {
        field_json_append_separator(&json);
        field_json_open_value(&json, &object);
        add_numbered_name(&json, i);
        add_numbered_name(&json, i + 1);
        add_numbered_name(&json, i % 2 ? i : i + 2);
        field_json_close_value(&json);
        buffer_clear(&to); /* allowed here, since no open object has names in this part */
        buffer_add_text(&to, "[{}");
        before = i == 100 ? heap.bytes : before;
    }
    assert_int_equal(heap.bytes, before);
    assert_int_equal(json.losses[FIELD_JSON_DUPLICATE], 25000);
    field_json_free(&json);
    buffer_free(&to);
    support_heap_check(&heap);
    ttr_free(t);
}

static void names_before_object_still_detected_after_it(void **state)
{
    struct writing w;
    (void)state;
    writing_open(&w, "jsonl", 0, NULL);
    for (unsigned i = 0; i < 4;
         /* the shape applies from the third event on; the last event deviates inside the struct */
         i++) {
        writing_begin(&w, TTR_KIND_INSTANT, 0, "e");
        ttr_add_uint(w.builder, "a", 1);
        add_nested_field(&w, 0, "s", TTR_TYPE_STRUCT, 2);
        add_nested_field(&w, 1, "a", TTR_TYPE_UINT, 2);
        add_nested_field(&w, 1, i < 3 ? "b" : "a", TTR_TYPE_UINT, 3);
        ttr_add_uint(w.builder, "a", 4);
        ttr_add_uint(w.builder, "a", 5);
        writing_end(&w);
    }
    assert_int_equal(writing_lost(&w, "field.duplicate"), 4 * 2 + 1);
    writing_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ended_objects_release_names),
        cmocka_unit_test(names_before_object_still_detected_after_it),
        cmocka_unit_test(value_of_every_type_has_documented_form),
        cmocka_unit_test(labelled_number_stays_number),
        cmocka_unit_test(field_depth_defines_nesting),
        cmocka_unit_test(duplicate_name_is_numbered_per_object),
        cmocka_unit_test(many_duplicate_names_cost_linear_time),
        cmocka_unit_test(learned_shapes_do_not_change_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
