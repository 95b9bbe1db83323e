/* Field buffer: a cache with little room, without cache, and out of memory. Cached records of many
 * types: layout_random_test.c. */
#include "support/layout_test.h"

#include <tracetta/build.h>
#include <tracetta/fields.h>
#include <tracetta/tracetta.h>

static void place(const struct layout_schema *schema, const ttr_event *event,
                  struct layout_cursor *run)
{
    (void)schema;
    run->bits = bits_init(event->payload, event->body, event->payload_size * UINT64_C(8));
}

/* Adds a schema for records of one type. */
static ttr_id schema_of(struct table *table, struct layout_schema *ctx, const char *text)
{
    table_payload(table, text);
    *ctx = (struct layout_schema){.layout = table->layout,
                                  .place = place,
                                  .is_in_payload = layout_is_byte_aligned(table->layout),
                                  .body_mask = 0xff};
    const struct schema schema = {.ops = &layout_field_ops,
                                  .ctx = ctx,
                                  .start = layout_get_iter_program(table->layout),
                                  .start_with = layout_get_iter_flags(ctx)};
    return context_add_schema(table->t, &schema);
}

/* Checks that the fields are `a`, its elements 0, 1, 2 ..., and `b`. Returns their number, and in
 * `calls` the number of calls. */
static uint32_t given(ttr_field_buffer *buffer, const ttr_event *event, unsigned *calls)
{
    const ttr_field *field;
    uint32_t at = 0, elements = event->payload[0];
    *calls = 0;
    for (uint32_t n = ttr_event_fields(buffer, event, &field); n > 0;
         n = ttr_event_fields_next(buffer, &field), ++*calls)
        for (uint32_t i = 0; i < n; i++, at++) {
            assert_int_equal(field[i].depth, at > 0 && at <= elements);
            assert_int_equal(at == 0 ? field[i].value.count : field[i].value.v.u, at == 0 ? elements
                                                                                  : at > elements
                                                                                      ? 77
                                                                                      : at - 1);
        }
    return at;
}

static void cache_grows_for_events_with_many_fields(void **state)
{
    (void)state;
    struct table table;
    struct layout_schema ctx;
    uint8_t bytes[202];
    unsigned calls, before = UINT32_MAX;
    table_open(&table);
    ttr_event event = {.payload = bytes, .schema = schema_of(&table, &ctx, "a:[:u8]u8 b:u8")};
    ttr_field_buffer *buffer = ttr_field_buffer_new(table.t);
    for (unsigned i = 0; i < 200; i++)
        bytes[1 + i] = (uint8_t)i;
    bytes[0] = 200, bytes[201] = 77;
    event.payload_size = sizeof bytes;
    for (unsigned i = 0; i < 8; i++, before = calls) {
        assert_int_equal(given(buffer, &event, &calls), 202);
        assert_true(calls <= before);
    }
    assert_int_equal(calls, 1);
    bytes[0] = 3, bytes[4] = 77;
    event.payload_size = 5;
    assert_int_equal(given(buffer, &event, &calls), 5);
    assert_int_equal(calls, 1);
    ttr_field_buffer_free(buffer);
    table_close(&table);
}

/* A record truncated after an array with as many elements as in the event before. */
static void event_truncated_after_array_returns_complete_fields(void **state)
{
    (void)state;
    struct table table;
    struct layout_schema ctx;
    static const uint8_t bytes[] = {2, 0, 1, 77};
    unsigned calls;
    table_open(&table);
    ttr_event event = {.payload = bytes,
                       .payload_size = sizeof bytes,
                       .schema = schema_of(&table, &ctx, "a:[:u8]u8 b:u8")};
    ttr_field_buffer *buffer = ttr_field_buffer_new(table.t);
    for (unsigned i = 0; i < 4; i++) {
        event.payload_size = sizeof bytes - i % 2;
        assert_int_equal(given(buffer, &event, &calls), 4 - i % 2);
    }
    ttr_field_buffer_free(buffer);
    table_close(&table);
}

/* For example built or copied events: their fields are read by iteration. */
static void uncached_schema_returns_fields(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    ttr_field_buffer *buffer = ttr_field_buffer_new(t);
    ttr_builder *builder = ttr_builder_new(t);
    const ttr_field *field;
    ttr_batch batch;
    ttr_error error;
    ttr_event_begin(builder, TTR_KIND_INSTANT, 1, NULL, "e");
    for (unsigned i = 0; i < 100; i++)
        ttr_add_uint(builder, "n", i);
    assert_int_equal(ttr_event_build(builder, &batch, &error), TTR_OK);
    const ttr_event *event = ttr_batch_at(&batch, 0);
    for (unsigned k = 0; k < 3; k++) {
        uint64_t at = 0;
        for (uint32_t n = ttr_event_fields(buffer, event, &field); n > 0;
             n = ttr_event_fields_next(buffer, &field))
            for (uint32_t i = 0; i < n; i++)
                assert_int_equal(field[i].value.v.u, at++);
        assert_int_equal(at, 100);
    }
    const ttr_event none = {.schema = 0}, unknown = {.schema = 12345};
    assert_int_equal(ttr_event_fields(buffer, &none, &field), 0);
    assert_int_equal(ttr_event_fields(buffer, &unknown, &field), 0);
    ttr_builder_free(builder);
    ttr_field_buffer_free(buffer);
    ttr_field_buffer_free(NULL);
    ttr_free(t);
}

/* Runs with an allocator that fails from the n-th allocation on. */
static bool gives_without(size_t n)
{
    struct table table;
    struct layout_schema ctx;
    struct support_heap heap;
    static const uint8_t bytes[] = {2, 0, 1, 77};
    table_open(&table);
    support_heap_init(&heap, n);
    const ttr_event event = {.payload = bytes,
                             .payload_size = sizeof bytes,
                             .schema = schema_of(&table, &ctx, "a:[:u8]u8 b:u8")};
    const struct alloc usual = table.t->counted;
    unsigned calls;
    table.t->counted = heap.alloc;
    ttr_field_buffer *buffer = ttr_field_buffer_new(table.t);
    assert_int_equal(buffer == NULL, n == 1);
    for (unsigned i = 0; buffer && i < 3; i++)
        assert_int_equal(given(buffer, &event, &calls), 4);
    ttr_field_buffer_free(buffer);
    table.t->counted = usual;
    support_heap_check(&heap);
    table_close(&table);
    return heap.requests >= n;
}

static void failed_allocation_returns_fields_uncached(void **state)
{
    (void)state;
    size_t n = 1;
    while (gives_without(n))
        n++;
    assert_true(n > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cache_grows_for_events_with_many_fields),
        cmocka_unit_test(event_truncated_after_array_returns_complete_fields),
        cmocka_unit_test(uncached_schema_returns_fields),
        cmocka_unit_test(failed_allocation_returns_fields_uncached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
