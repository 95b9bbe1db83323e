/* ttr_stack_fields: arrays of addresses, hidden frames, object events, reused memory, and failing
 * allocations. */
#include "support/support.h"

#include <stdio.h>

#include <tracetta/advanced.h>
#include <tracetta/fields.h>
#include <tracetta/tracetta.h>

#include "support/memory_reader.h"
#include "model/context.h"
#include "model/symbols.h"

#define KERNEL UINT64_C(0xffffffff81000000)

/* The stack of every event with `stack` != 0: a kernel address, then its number and 0x1000. */
static uint32_t get_test_frames(const void *ctx, const ttr_event *event, uint64_t *addresses,
                                uint32_t room)
{
    const uint64_t stack[] = {KERNEL, event->stack, 0x1000};
    (void)ctx;
    for (uint32_t i = 0; i < 3 && i < room; i++)
        addresses[i] = stack[i];
    return 3;
}

static void begin_test_fields(ttr_fields *fields)
{
    fields->state[0] = 0;
}

/* Returns the fields "number", "frames" with one element, and "last". */
static bool read_next_test_field(ttr_fields *fields, ttr_field *field)
{
    static const ttr_field all[] = {
        {.name = {"number", 6}, .value = {.type = TTR_TYPE_UINT, .v.u = 7}},
        {.name = {"frames", 6}, .value = {.type = TTR_TYPE_ARRAY, .count = 1}},
        {.name = {"", 0}, .depth = 1, .value = {.type = TTR_TYPE_UINT, .v.u = 8}},
        {.name = {"last", 4}, .value = {.type = TTR_TYPE_UINT, .v.u = 9}}};
    if (fields->state[0] == 4)
        return false;
    *field = all[fields->state[0]++];
    return true;
}

static const struct field_ops test_ops = {
    .begin = begin_test_fields, .next = read_next_test_field, .frames = get_test_frames};

static ttr_event make_event(ttr *t, int64_t time, uint32_t stack)
{
    return (ttr_event){.kind = stack ? TTR_KIND_SAMPLE : TTR_KIND_INSTANT,
                       .time = time,
                       .name = ttr_text_add(t, "tick", 4),
                       .thread = context_thread(t, 0, 1, 2),
                       .stack = stack,
                       .schema = context_add_schema(t, &(struct schema){.ops = &test_ops})};
}

static void add_function(ttr *t, uint64_t start, const char *name, int64_t from)
{
    const uint32_t process = t->threads[context_thread(t, 0, 1, 2)].process;
    const struct symbol_range range = {.start = start,
                                       .size = 16,
                                       .from = from,
                                       .process = process,
                                       .name = ttr_text_add(t, name, strlen(name))};
    assert_true(symbols_add(&t->symbols, SYMBOL_FUNCTION, &range));
}

/* Appends the fields of an event as "name" for numbers and arrays, "hex" for elements. */
static void print_fields(ttr *t, const ttr_event *event, char *to, size_t room)
{
    ttr_fields fields;
    ttr_field field;
    size_t n = 0;
    ttr_fields_begin(t, event, &fields);
    while (ttr_fields_next(&fields, &field))
        n += field.depth
                 ? (size_t)snprintf(to + n, room - n, " %llx", (unsigned long long)field.value.v.u)
                 : (size_t)snprintf(to + n, room - n, " %.*s", (int)field.name.n, field.name.p);
}

/* Reads all events as lines "kind name fields". */
static void print_events(ttr *t, const ttr_event *events, size_t n, char *to, size_t room)
{
    ttr_error error = {0};
    ttr_batch batch;
    size_t at = 0;
    ttr_reader *reader = ttr_stack_fields(
        memory_reader(t, &(struct memory_events){.event = events, .n = n, .batch_max = 2}), &error);
    assert_non_null(reader);
    while (ttr_read(reader, &batch, &error) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            char fields[256] = "";
            print_fields(t, event, fields, sizeof fields);
            at += (size_t)snprintf(to + at, room - at, "%s %s%s\n", ttr_kind_text(event->kind),
                                   ttr_text_get(t, event->name).p, fields);
        }
    ttr_close(reader);
}

static void stack_becomes_arrays_after_other_fields(void **state)
{
    char text[1024] = "";
    ttr *t = ttr_new(NULL);
    (void)state;
    const ttr_event events[] = {make_event(t, 1, 0), make_event(t, 2, 5)};
    print_events(t, events, 2, text, sizeof text);
    assert_string_equal(text,
                        "instant tick number frames 8 last\n"
                        "sample tick number last callstack_kernel ffffffff81000000 callstack_user "
                        "5 1000\n");
    ttr_free(t);
}

static void function_is_an_object_before_its_first_use(void **state)
{
    char text[2048] = "";
    ttr *t = ttr_new(NULL);
    (void)state;
    add_function(t, 0x1000, "main", 0);
    const ttr_event events[] = {make_event(t, 1, 0), make_event(t, 2, 5), make_event(t, 3, 5)};
    print_events(t, events, 3, text, sizeof text);
    assert_string_equal(text, "instant tick number frames 8 last\n"
                              "object function function function_size module\n"
                              "sample tick number last callstack_kernel ffffffff81000000 "
                              "callstack_user 5 1000\n"
                              "sample tick number last callstack_kernel ffffffff81000000 "
                              "callstack_user 5 1000\n");
    ttr_free(t);
}

static void function_in_reused_memory_is_an_object_again(void **state)
{
    char text[2048] = "";
    size_t objects = 0;
    ttr *t = ttr_new(NULL);
    (void)state;
    add_function(t, 0x1000, "main", 0);
    add_function(t, 0x1000, "other", 3);
    const ttr_event events[] = {make_event(t, 1, 5), make_event(t, 2, 5), make_event(t, 4, 5)};
    print_events(t, events, 3, text, sizeof text);
    for (const char *at = text; (at = strstr(at, "object function")) != NULL; at++)
        objects++;
    assert_int_equal(objects, 2);
    ttr_free(t);
}

/* Reads the functions of a converted trace, as a profile of it does. */
static void objects_restore_the_symbols(void **state)
{
    ttr_error error = {0};
    ttr_batch batch;
    ttr_symbol symbol = {0};
    ttr *t = ttr_new(NULL), *other = ttr_new(NULL);
    (void)state;
    add_function(t, 0x1000, "main", 0);
    const ttr_event event = make_event(t, 2, 5);
    ttr_reader *reader = ttr_stack_fields(
        memory_reader(t, &(struct memory_events){.event = &event, .n = 1}), &error);
    assert_int_equal(ttr_read(reader, &batch, &error), TTR_OK);
    ttr_event object = *ttr_batch_at(&batch, 0);
    object.thread = context_thread(other, 0, 1, 2);
    object.schema = context_add_schema(other, context_schema(t, object.schema));
    assert_true(symbols_add_object(other, &object));
    assert_true(ttr_symbol_get(other, object.thread, 0x1004, 9, &symbol));
    assert_string_equal(ttr_text_get(other, symbol.name).p, "main");
    ttr_close(reader);
    ttr_free(t);
    ttr_free(other);
}

/* Scenario of memory_fail_each: adds stacks to the events. */
static bool read_with_stacks(ttr *t, const ttr_event *events, size_t n)
{
    ttr_event copy[16];
    ttr_error error = {0};
    const ttr_id schema = context_add_schema(t, &(struct schema){.ops = &test_ops});
    for (size_t i = 0; i < n; i++) {
        copy[i] = events[i];
        copy[i].stack = (uint32_t)i;
        copy[i].schema = schema;
    }
    if (!schema)
        return false;
    return memory_reads_through(
        ttr_stack_fields(memory_reader(t, &(struct memory_events){.event = copy, .n = n}), &error),
        &error);
}

static void failing_allocation_is_reported(void **state)
{
    (void)state;
    memory_fail_each(read_with_stacks, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stack_becomes_arrays_after_other_fields),
        cmocka_unit_test(function_is_an_object_before_its_first_use),
        cmocka_unit_test(function_in_reused_memory_is_an_object_again),
        cmocka_unit_test(objects_restore_the_symbols),
        cmocka_unit_test(failing_allocation_is_reported),
    };
    return cmocka_run_group_tests_name("stack_fields", tests, NULL, NULL);
}
