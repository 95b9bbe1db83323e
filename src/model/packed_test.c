/* Builders, packed fields, and copies that outlive their batch. */
#include "support.h"

#include <tracetta/tracetta.h>

#include "model/packed.h"

static ttr_event build_sample(ttr_builder *builder)
{
    ttr_batch batch;
    ttr_event_begin(builder, TTR_KIND_SPAN, 100, "cat", "work");
    ttr_on_thread(builder, 1, 2);
    ttr_put_null(builder, "nothing");
    ttr_put_bool(builder, "yes", true);
    ttr_put_uint(builder, "big", UINT64_MAX);
    ttr_put_int(builder, "small", INT64_MIN);
    ttr_put_float(builder, "half", 0.5);
    ttr_put_text(builder, "text", "hello");
    ttr_put_bytes(builder, "bytes", "\0\xff\n", 3);
    ttr_field list = {.name = {"list", 4}, .value = {.type = TTR_TYPE_ARRAY, .count = 2}};
    ttr_field item = {.depth = 1, .value = {.type = TTR_TYPE_UINT, .v.u = 7}};
    ttr_put_field(builder, &list);
    ttr_put_field(builder, &item);
    ttr_put_field(builder, &item);
    assert_int_equal(ttr_event_take(builder, &batch, NULL), TTR_OK);
    assert_int_equal(batch.n, 1);
    return *ttr_batch_at(&batch, 0);
}

static void check_sample(ttr *t, const ttr_event *event)
{
    static const struct {
        const char *name;
        ttr_type type;
        uint64_t bits;
    } wanted[] = {{"nothing", TTR_TYPE_NULL, 0},           {"yes", TTR_TYPE_BOOL, 1},
                  {"big", TTR_TYPE_UINT, UINT64_MAX},      {"small", TTR_TYPE_INT, (uint64_t)1 << 63},
                  {"half", TTR_TYPE_FLOAT, 0x3fe0000000000000u}, {"text", TTR_TYPE_TEXT, 0},
                  {"bytes", TTR_TYPE_BYTES, 0},            {"list", TTR_TYPE_ARRAY, 0},
                  {"", TTR_TYPE_UINT, 7},                  {"", TTR_TYPE_UINT, 7}};
    ttr_fields fields;
    ttr_field field;
    size_t n = 0;
    ttr_fields_begin(t, event, &fields);
    for (; ttr_fields_next(&fields, &field); n++) {
        assert_true(n < sizeof wanted / sizeof *wanted);
        assert_int_equal(field.name.n, strlen(wanted[n].name));
        assert_memory_equal(field.name.p, wanted[n].name, field.name.n);
        assert_int_equal(field.value.type, wanted[n].type);
        assert_int_equal(field.value.v.u, wanted[n].bits);
    }
    assert_int_equal(n, sizeof wanted / sizeof *wanted);
    assert_true(ttr_field_find(t, event, "bytes", &field));
    assert_int_equal(field.value.text.n, 3);
    assert_memory_equal(field.value.text.p, "\0\xff\n", 3);
    assert_true(ttr_field_find(t, event, "list", &field));
    assert_int_equal(field.value.count, 2);
    assert_false(ttr_field_find(t, event, "none", &field));
}

static void built_event_gives_back_every_field(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    ttr_builder *builder = ttr_builder_new(t);
    ttr_event event = build_sample(builder);
    assert_int_equal(event.kind, TTR_KIND_SPAN);
    assert_string_equal(ttr_text_get(t, event.name).p, "work");
    check_sample(t, &event);
    ttr_builder_free(builder);
    ttr_free(t);
}

static void copy_is_independent_of_the_event_it_was_made_from(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    ttr_builder *builder = ttr_builder_new(t);
    ttr_event event = build_sample(builder), copy;
    static const uint8_t activity[16] = "0123456789abcde", related[16] = "edcba9876543210";
    event.activity = activity;
    event.related = related;
    event.flags = TTR_EVENT_RAW | TTR_EVENT_CLAMPED;
    struct buffer buffer;
    buffer_init(&buffer, &t->counted);
    buffer_add_zeros(&buffer, 5);
    size_t at = packed_copy(t, &buffer, &event, &copy);
    assert_false(buffer.failed);
    packed_settle(&copy, buffer.bytes + at);
    ttr_builder_free(builder);
    check_sample(t, &copy);
    assert_int_equal(copy.flags, TTR_EVENT_CLAMPED);
    assert_ptr_equal(copy.payload, copy.activity);
    assert_memory_equal(copy.activity, activity, 16);
    assert_memory_equal(copy.related, related, 16);
    buffer_free(&buffer);
    ttr_free(t);
}

static void cut_payload_ends_the_walk_at_every_length(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    ttr_builder *builder = ttr_builder_new(t);
    ttr_event event = build_sample(builder);
    uint32_t whole = event.payload_size;
    for (uint32_t n = 0; n < whole; n++) {
        ttr_fields fields;
        ttr_field field;
        int found = 0;
        event.payload_size = n;
        ttr_fields_begin(t, &event, &fields);
        while (ttr_fields_next(&fields, &field))
            found++;
        assert_in_range(found, 0, 9);
    }
    ttr_builder_free(builder);
    ttr_free(t);
}

static void event_of_a_source_that_is_none_has_no_thread(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    ttr_builder *builder = ttr_builder_new(t);
    ttr_batch batch;
    ttr_event_begin(builder, TTR_KIND_INSTANT, 1, "", "");
    ttr_event_edit(builder)->source = 77;
    ttr_on_thread(builder, 1, 2);
    assert_int_not_equal(ttr_event_take(builder, &batch, NULL), TTR_OK);
    ttr_builder_free(builder);
    ttr_free(t);
}

static bool build_with(const struct alloc *alloc)
{
    ttr_options options = {.size = sizeof options, .resize = alloc->resize, .own = alloc->own};
    ttr *t = ttr_new(&options);
    ttr_builder *builder = t ? ttr_builder_new(t) : NULL;
    bool good = builder != NULL;
    if (good) {
        ttr_batch batch;
        ttr_event_begin(builder, TTR_KIND_INSTANT, 1, "category", "name");
        ttr_on_thread(builder, 1, 2);
        ttr_on_provider(builder, "provider");
        ttr_put_text(builder, "key", "value");
        good = ttr_event_take(builder, &batch, NULL) == TTR_OK;
    }
    ttr_builder_free(builder);
    ttr_free(t);
    return good;
}

static void every_failing_allocation_is_told(void **state)
{
    (void)state;
    support_fail_each(build_with);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_event_gives_back_every_field),
        cmocka_unit_test(copy_is_independent_of_the_event_it_was_made_from),
        cmocka_unit_test(cut_payload_ends_the_walk_at_every_length),
        cmocka_unit_test(event_of_a_source_that_is_none_has_no_thread),
        cmocka_unit_test(every_failing_allocation_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
