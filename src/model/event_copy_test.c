/* Event builder, and copies of events that outlive their batch. */
#include "support/support.h"

#include <tracetta/advanced.h>
#include <tracetta/build.h>
#include <tracetta/fields.h>
#include <tracetta/tracetta.h>

#include "model/event_copy.h"
#include "model/type.h"

static ttr_event build_sample(ttr_builder *builder)
{
    ttr_batch batch;
    ttr_event_begin(builder, TTR_KIND_SPAN, 100, "cat", "work");
    ttr_event_set_thread(builder, 1, 2);
    ttr_add_null(builder, "nothing");
    ttr_add_bool(builder, "yes", true);
    ttr_add_uint(builder, "big", UINT64_MAX);
    ttr_add_int(builder, "small", INT64_MIN);
    ttr_add_float(builder, "half", 0.5);
    ttr_add_text(builder, "text", "hello");
    ttr_add_bytes(builder, "bytes", "\0\xff\n", 3);
    ttr_field list = {.name = {"list", 4}, .value = {.type = TTR_TYPE_ARRAY, .count = 2}};
    ttr_field item = {.depth = 1, .value = {.type = TTR_TYPE_UINT, .v.u = 7}};
    ttr_add_field(builder, &list);
    ttr_add_field(builder, &item);
    ttr_add_field(builder, &item);
    assert_int_equal(ttr_event_build(builder, &batch, NULL), TTR_OK);
    assert_int_equal(batch.n, 1);
    return *ttr_batch_at(&batch, 0);
}

static void check_sample(ttr *t, const ttr_event *event)
{
    static const struct {
        const char *name;
        ttr_type type;
        uint64_t bits;
    } wanted[] = {{"nothing", TTR_TYPE_NULL, 0},
                  {"yes", TTR_TYPE_BOOL, 1},
                  {"big", TTR_TYPE_UINT, UINT64_MAX},
                  {"small", TTR_TYPE_INT, (uint64_t)1 << 63},
                  {"half", TTR_TYPE_FLOAT, 0x3fe0000000000000u},
                  {"text", TTR_TYPE_TEXT, 0},
                  {"bytes", TTR_TYPE_BYTES, 0},
                  {"list", TTR_TYPE_ARRAY, 0},
                  {"", TTR_TYPE_UINT, 7},
                  {"", TTR_TYPE_UINT, 7}};
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

static void built_event_returns_all_fields(void **state)
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

static void copy_survives_original_event(void **state)
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
    size_t at = event_copy_add(t, &buffer, &event, &copy);
    assert_false(buffer.failed);
    event_copy_set_pointers(&copy, buffer.bytes + at);
    ttr_builder_free(builder);
    check_sample(t, &copy);
    assert_int_equal(copy.flags, TTR_EVENT_CLAMPED);
    assert_ptr_equal(copy.payload, copy.activity);
    assert_memory_equal(copy.activity, activity, 16);
    assert_memory_equal(copy.related, related, 16);
    buffer_free(&buffer);
    ttr_free(t);
}

static void copy_refers_to_text_of_context(void **state)
{
    (void)state;
    char text[4000];
    struct buffer bytes;
    ttr_field field;
    ttr_event copy;
    ttr_batch batch;
    ttr *t = ttr_new(NULL);
    ttr_builder *builder = ttr_builder_new(t);
    memset(text, 'x', sizeof text);
    const ttr_id id = ttr_text_add(t, text, sizeof text);
    ttr_event_begin(builder, TTR_KIND_INSTANT, 1, NULL, "e");
    ttr_add_field(
        builder,
        &(ttr_field){.name = {"long", 4},
                     .value = {.type = TTR_TYPE_TEXT, .text_id = id, .text = ttr_text_get(t, id)}});
    ttr_add_text(builder, "short", "s");
    assert_int_equal(ttr_event_build(builder, &batch, NULL), TTR_OK);
    buffer_init(&bytes, alloc_default());
    const size_t at = event_copy_add(t, &bytes, ttr_batch_at(&batch, 0), &copy);
    assert_false(bytes.failed);
    assert_in_range(bytes.n, 1, 100);
    event_copy_set_pointers(&copy, bytes.bytes + at);
    assert_true(ttr_field_find(t, &copy, "long", &field));
    assert_int_equal(field.value.text.n, sizeof text);
    assert_memory_equal(field.value.text.p, text, sizeof text);
    assert_int_equal(field.value.text_id, id);
    assert_true(ttr_field_find(t, &copy, "short", &field));
    assert_string_equal(field.value.text.p, "s");
    buffer_free(&bytes);
    ttr_builder_free(builder);
    ttr_free(t);
}

static uint32_t deep_frames(const void *ctx, const ttr_event *event, uint64_t *addresses,
                            uint32_t room)
{
    (void)ctx;
    for (uint32_t i = 0; i < event->stack && i < room; i++)
        addresses[i] = UINT64_C(0x7f0000000000) + i;
    return event->stack;
}

static void begin_no_fields(ttr_fields *fields)
{
    fields->ops = NULL;
}

static void copies_share_a_deep_stack(void **state)
{
    (void)state;
    static const struct field_ops ops = {.begin = begin_no_fields, .frames = deep_frames};
    static uint64_t frames[1000];
    struct buffer bytes;
    ttr *t = ttr_new(NULL);
    const uint32_t schema = context_add_schema(t, &(struct schema){.ops = &ops});
    assert_int_not_equal(schema, 0);
    buffer_init(&bytes, alloc_default());
    for (uint32_t depth = 1; depth <= 1000; depth += 111) {
        const ttr_event event = {.schema = schema, .stack = depth};
        ttr_event copy;
        const size_t at = event_copy_add(t, &bytes, &event, &copy);
        assert_false(bytes.failed);
        assert_in_range(bytes.n - at, 1, 600);
        event_copy_set_pointers(&copy, bytes.bytes + at);
        assert_int_equal(ttr_event_frames(t, &copy, frames, 1000), depth);
        for (uint32_t i = 0; i < depth; i++)
            assert_true(frames[i] == UINT64_C(0x7f0000000000) + i);
    }
    buffer_free(&bytes);
    ttr_free(t);
}

static void truncated_payload_ends_iteration(void **state)
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

/* Stub format with declared types: two labels for one value, a base, groups, an absent optional. */
struct given {
    unsigned at;
};

static void given_begin(ttr_fields *fields)
{
    ((struct given *)fields->state)->at = 0;
}

static bool given_next(ttr_fields *fields, ttr_field *field)
{
    static const ttr_field given[] = {
        {.name = {"color", 5},
         .group = TTR_GROUP_COMMON,
         .value = {.v = {.u = 3},
                   .text = {"RED", 3},
                   .count = 3,
                   .type = TTR_TYPE_UINT,
                   .hint = TTR_DISPLAY_ENUM,
                   .bits = 8,
                   .base = 16}},
        {.name = {"none", 4},
         .choices = 2,
         .value = {.type = TTR_TYPE_NULL, .hint = TTR_DISPLAY_ABSENT}},
        {.name = {"wide", 4},
         .group = TTR_GROUP_CONTEXT,
         .value = {.text = {"18446744073709551616", 20},
                   .type = TTR_TYPE_TEXT,
                   .hint = TTR_DISPLAY_DECIMAL}},
        {.name = {"flags", 5},
         .value = {.v = {.u = 8}, .type = TTR_TYPE_UINT, .hint = TTR_DISPLAY_FLAGS}},
    };
    struct given *walk = (struct given *)fields->state;
    if (walk->at == sizeof given / sizeof given[0])
        return false;
    *field = given[walk->at++];
    return true;
}

static bool given_label(const ttr_fields *fields, const ttr_value *value, uint32_t i,
                        ttr_text *label)
{
    static const ttr_text labels[] = {{"RED", 3}, {"GREEN", 5}, {"", 0}};
    (void)fields;
    (void)value;
    *label = labels[i];
    return true;
}

static const struct field_ops given_ops = {
    .begin = given_begin, .next = given_next, .label = given_label};

static void expect_label(const ttr_fields *fields, const ttr_value *value, uint32_t i,
                         const char *wanted)
{
    ttr_text label;
    assert_true(ttr_fields_label(fields, value, i, &label));
    support_assert_text(label.p, label.n, wanted);
}

static void check_given(ttr *t, const ttr_event *event, uint32_t labels)
{
    ttr_fields fields;
    ttr_field field;
    ttr_text label;
    ttr_fields_begin(t, event, &fields);
    assert_true(ttr_fields_next(&fields, &field));
    assert_int_equal(field.group, TTR_GROUP_COMMON);
    assert_int_equal(field.value.v.u, 3);
    assert_int_equal(field.value.bits, 8);
    assert_int_equal(field.value.base, 16);
    assert_int_equal(field.value.count, labels);
    support_assert_text(field.value.text.p, field.value.text.n, "RED");
    expect_label(&fields, &field.value, 0, "RED");
    for (uint32_t i = 1; i < labels; i++)
        expect_label(&fields, &field.value, i, i == 1 ? "GREEN" : "");
    assert_false(ttr_fields_label(&fields, &field.value, labels, &label));
    assert_true(ttr_fields_next(&fields, &field));
    assert_true(field.value.type == TTR_TYPE_NULL && field.value.hint == TTR_DISPLAY_ABSENT &&
                field.choices == 2 && field.group == 0);
    assert_true(ttr_fields_next(&fields, &field));
    assert_true(field.value.hint == TTR_DISPLAY_DECIMAL && field.group == TTR_GROUP_CONTEXT);
    support_assert_text(field.value.text.p, field.value.text.n, "18446744073709551616");
    assert_true(ttr_fields_next(&fields, &field));
    assert_true(field.value.hint == TTR_DISPLAY_FLAGS && field.value.count == 0 &&
                field.value.v.u == 8);
    assert_false(ttr_fields_label(&fields, &field.value, 0, &label));
    assert_false(ttr_fields_next(&fields, &field));
}

static void value_with_several_labels_ends_call(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    const struct schema schema = {.ops = &given_ops};
    const ttr_event event = {.schema = context_add_schema(t, &schema)}, unknown = {.schema = 0};
    ttr_field_buffer *buffer = ttr_field_buffer_new(t);
    const ttr_field *field;
    ttr_text label;
    assert_int_equal(ttr_event_fields(buffer, &event, &field), 1);
    assert_true(ttr_event_label(buffer, &field[0].value, 1, &label));
    support_assert_text(label.p, label.n, "GREEN");
    assert_int_equal(ttr_event_fields_next(buffer, &field), 3);
    assert_true(field[0].value.hint == TTR_DISPLAY_ABSENT &&
                field[1].value.hint == TTR_DISPLAY_DECIMAL);
    assert_int_equal(field[2].value.hint, TTR_DISPLAY_FLAGS);
    assert_int_equal(ttr_event_fields_next(buffer, &field), 0);
    assert_int_equal(ttr_event_fields(buffer, &unknown, &field), 0);
    ttr_field_buffer_free(buffer);
    ttr_free(t);
}

static void copy_keeps_group_base_and_all_labels(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    const struct schema schema = {.ops = &given_ops};
    ttr_event event = {.schema = context_add_schema(t, &schema)}, copy;
    struct buffer buffer, again;
    buffer_init(&buffer, &t->counted);
    buffer_init(&again, &t->counted);
    size_t at = event_copy_add(t, &buffer, &event, &copy);
    event_copy_set_pointers(&copy, buffer.bytes + at);
    check_given(t, &event, 3);
    check_given(t, &copy, 3);
    /* A copy of the copy, truncated at every length. */
    ttr_event second;
    at = event_copy_add(t, &again, &copy, &second);
    event_copy_set_pointers(&second, again.bytes + at);
    check_given(t, &second, 3);
    for (uint32_t whole = second.payload_size; second.payload_size > 0;) {
        ttr_fields fields;
        ttr_field field;
        int n = 0;
        second.payload_size--;
        for (ttr_fields_begin(t, &second, &fields); ttr_fields_next(&fields, &field);)
            n++;
        assert_in_range(n, 0, second.payload_size < whole ? 3 : 4);
    }
    buffer_free(&buffer);
    buffer_free(&again);
    ttr_free(t);
}

/* Two roots with members that share names, one of them twice, and one that the events lack. */
static const struct type shared_types[] = {{.kind = TYPE_UINT, .base = 2},
                                           {.kind = TYPE_UINT, .base = 8},
                                           {.kind = TYPE_UINT, .base = 16}};
static const struct type_member shared_payload[] = {
    {.name = {"x", 1}, .type = &shared_types[0]},
    {.name = {"lacking", 7}, .type = &shared_types[1]},
    {.name = {"_y", 2}, .shown = {"y", 1}, .type = &shared_types[1]},
    {.name = {"x", 1}, .type = &shared_types[2]}};
static const struct type_member shared_context[] = {{.name = {"y", 1}, .type = &shared_types[2]},
                                                    {.name = {"x", 1}, .type = &shared_types[1]}};
static const struct type shared_roots[] = {
    {.kind = TYPE_STRUCT, .members = shared_context, .members_n = 2},
    {.kind = TYPE_STRUCT, .members = shared_payload, .members_n = 4}};

static bool shared_next(ttr_fields *fields, ttr_field *field)
{
    static const ttr_field given[] = {
        {.name = {"y", 1}, .group = TTR_GROUP_CONTEXT, .value = {.type = TTR_TYPE_UINT}},
        {.name = {"x", 1}, .group = TTR_GROUP_CONTEXT, .value = {.type = TTR_TYPE_UINT}},
        {.name = {"x", 1}, .value = {.type = TTR_TYPE_UINT}},
        {.name = {"y", 1}, .value = {.type = TTR_TYPE_UINT}},
        {.name = {"strange", 7}, .value = {.type = TTR_TYPE_UINT}},
        {.name = {"x", 1}, .value = {.type = TTR_TYPE_UINT}},
        {.name = {"y", 1}, .value = {.type = TTR_TYPE_UINT}}};
    struct given *walk = (struct given *)fields->state;
    if (walk->at == sizeof given / sizeof given[0])
        return false;
    *field = given[walk->at++];
    return true;
}

static void copy_finds_types_of_equal_names_by_order(void **state)
{
    (void)state;
    static const uint8_t bases[] = {16, 8, 2, 8, 0, 16, 8};
    static const struct field_ops ops = {.begin = given_begin, .next = shared_next};
    ttr *t = ttr_new(NULL);
    const struct event_class about = {
        .root = {[ROOT_SPECIFIC_CONTEXT] = &shared_roots[0], [ROOT_PAYLOAD] = &shared_roots[1]}};
    const struct schema schema = {.ops = &ops, .event_class = &about};
    ttr_event event = {.schema = context_add_schema(t, &schema)}, copy;
    struct buffer buffer;
    ttr_fields fields;
    ttr_field field;
    size_t n = 0;
    buffer_init(&buffer, &t->counted);
    size_t at = event_copy_add(t, &buffer, &event, &copy);
    event_copy_set_pointers(&copy, buffer.bytes + at);
    for (ttr_fields_begin(t, &copy, &fields); ttr_fields_next(&fields, &field); n++) {
        const struct type *type = event_copy_field_ops.type(&fields);
        assert_int_equal(type ? type->base : 0, bases[n]);
    }
    assert_int_equal(n, sizeof bases);
    buffer_free(&buffer);
    ttr_free(t);
}

/* Builds an event with an array of `element`, copies it, and checks that the copy has the same
 * fields. Returns the copy's size. */
static uint32_t copied_size(const ttr_field *element, const uint64_t *value, uint32_t n)
{
    ttr *t = ttr_new(NULL);
    ttr_builder *builder = ttr_builder_new(t);
    struct buffer bytes;
    ttr_event copy;
    ttr_batch batch;
    ttr_fields fields;
    ttr_field field, list = {.name = {"list", 4},
                             .group = element->group,
                             .value = {.type = TTR_TYPE_ARRAY, .count = n}};
    ttr_event_begin(builder, TTR_KIND_INSTANT, 1, "", "e");
    ttr_add_field(builder, &list);
    for (uint32_t i = 0; i < n; i++) {
        field = *element;
        field.value.v.u = value[i];
        ttr_add_field(builder, &field);
    }
    ttr_add_uint(builder, "behind", 7);
    assert_int_equal(ttr_event_build(builder, &batch, NULL), TTR_OK);
    buffer_init(&bytes, alloc_default());
    assert_int_equal(event_copy_add(t, &bytes, ttr_batch_at(&batch, 0), &copy), 0);
    assert_false(bytes.failed);
    event_copy_set_pointers(&copy, bytes.bytes);
    for (uint32_t cut = 0; cut <= copy.payload_size;
         cut++) { /* a truncated copy is not read past its end */
        ttr_event part = copy;
        uint8_t *ctx = test_malloc(cut + 1);
        memcpy(ctx, bytes.bytes, cut);
        part.payload = ctx;
        part.payload_size = cut;
        uint32_t got = 0;
        ttr_fields_begin(t, &part, &fields);
        for (; ttr_fields_next(&fields, &field); got++) {
            const bool is_element = got > 0 && got <= n;
            assert_int_equal(field.depth, is_element);
            assert_int_equal(field.group, got > n ? 0 : element->group);
            assert_int_equal(field.value.type, got == 0     ? TTR_TYPE_ARRAY
                                               : is_element ? element->value.type
                                                            : TTR_TYPE_UINT);
            assert_int_equal(field.value.base, is_element ? element->value.base : 0);
            assert_int_equal(field.value.bits, is_element ? element->value.bits : field.value.bits);
            assert_true(got == 0 || field.value.v.u == (is_element ? value[got - 1] : 7));
        }
        assert_int_equal(got == n + 2, cut == copy.payload_size);
        test_free(ctx);
    }
    const uint32_t size = copy.payload_size;
    buffer_free(&bytes);
    ttr_builder_free(builder);
    ttr_free(t);
    return size;
}

static void elements_in_copy_use_minimal_width(void **state)
{
    enum {
        ENDS = 24 + 24,
        HEAD_BYTES = 16,
        MORE_BYTES = 8
    }; /* heads of the array and of the field after it; then the elements */
    static const uint64_t small[] = {0, 1, 127, 128, 255, 3, 4, 5, 6},
                          large[] = {0, UINT64_MAX, 1u << 31, 5, 70000, 1, 2, 3, 4};
    static const uint64_t below[] = {
        (uint64_t)-1, (uint64_t)-128, 127, 0, (uint64_t)-5, 1, 2, 3, 4};
    const ttr_field u8 = {.depth = 1, .value = {.type = TTR_TYPE_UINT, .bits = 8}},
                    u64 = {.depth = 1, .value = {.type = TTR_TYPE_UINT}};
    const ttr_field s8 = {.depth = 1, .value = {.type = TTR_TYPE_INT, .bits = 8}},
                    f = {.depth = 1, .value = {.type = TTR_TYPE_FLOAT, .bits = 32}};
    const ttr_field hex = {.depth = 1,
                           .group = TTR_GROUP_COMMON,
                           .value = {.type = TTR_TYPE_UINT, .bits = 16, .base = 16}};
    (void)state;
    assert_int_equal(copied_size(&u8, small, 9), ENDS + HEAD_BYTES + 16);
    assert_int_equal(copied_size(&u8, small, 8), ENDS + HEAD_BYTES + 8);
    assert_int_equal(copied_size(&u8, small, 0), ENDS);
    assert_int_equal(copied_size(&s8, below, 9), ENDS + HEAD_BYTES + 16);
    assert_int_equal(copied_size(&u64, large, 9), ENDS + HEAD_BYTES + 72);
    assert_int_equal(copied_size(&f, large, 9), ENDS + HEAD_BYTES + 72);
    assert_int_equal(copied_size(&hex, small, 9), ENDS + MORE_BYTES + HEAD_BYTES + MORE_BYTES + 24);
    /* values wider than their declared bits are stored alone: 1 and 5 to 6 are in rows */
    assert_int_equal(copied_size(&u8, large, 9),
                     ENDS + (HEAD_BYTES + 8) + 2 * 24 + (HEAD_BYTES + 8) + 24 + (HEAD_BYTES + 8));
    assert_int_equal(copied_size(&s8, small, 9),
                     ENDS + (HEAD_BYTES + 8) + 2 * 24 + (HEAD_BYTES + 8));
}

/* --- Structs in arrays --- */

/* Adds struct i of an array: equal in two of three cases, else with a deviation. */
static void put_struct(ttr_builder *builder, uint64_t *seed, unsigned oddity)
{
    static const char word[] = "a word, or a part of it";
    const uint64_t dice = support_random(seed);
    const bool is_odd = oddity && dice % oddity == 0;
    const unsigned which = is_odd ? (unsigned)(dice >> 8) % 8 : 8;
    ttr_field field[] = {
        {.depth = 1, .value = {.type = TTR_TYPE_STRUCT, .count = 5}},
        {.name = {which == 0 ? "other" : "n", which == 0 ? 5 : 1},
         .depth = 2,
         .value = {.type = TTR_TYPE_UINT, .bits = 8, .v.u = dice >> 16 & 0xff}},
        {.name = {"i", 1},
         .depth = 2,
         .group = which == 1 ? TTR_GROUP_COMMON : 0,
         .value = {.type = TTR_TYPE_INT, .bits = 16, .v.s = (int16_t)(dice >> 20)}},
        {.name = {"s", 1}, .depth = 2, .value = {.type = TTR_TYPE_STRUCT, .count = 1}},
        {.name = {"text", 4},
         .depth = 3,
         .value = {.type = which == 2 ? TTR_TYPE_BYTES : TTR_TYPE_TEXT,
                   .text = {word, (dice >> 24) % sizeof word}}},
        {.name = {"f", 1},
         .depth = 2,
         .value = {.type = TTR_TYPE_FLOAT, .bits = 64, .base = which == 3 ? 16 : 0, .v.u = dice}},
        {.name = {"none", 4}, .depth = 2, .value = {.type = TTR_TYPE_NULL}}};
    if (which == 4)
        field[1].value.v.u = 300; /* exceeds its declared bits */
    if (which == 5)
        field[1].value = (ttr_value){.type = TTR_TYPE_UINT,
                                     .hint = TTR_DISPLAY_ENUM,
                                     .bits = 8,
                                     .v.u = 1,
                                     .count = 1,
                                     .text = {"ONE", 3}};
    const size_t n = which == 6 ? 3 : sizeof field / sizeof *field;
    for (size_t i = 0; i < n; i++)
        ttr_add_field(builder, &field[i]);
    if (which != 7)
        return;
    ttr_add_field(
        builder,
        &(ttr_field){.name = {"a", 1}, .depth = 2, .value = {.type = TTR_TYPE_ARRAY, .count = 2}});
    ttr_add_field(builder,
                  &(ttr_field){.depth = 3, .value = {.type = TTR_TYPE_UINT, .bits = 8, .v.u = 1}});
    ttr_add_field(builder,
                  &(ttr_field){.depth = 3, .value = {.type = TTR_TYPE_UINT, .bits = 8, .v.u = 2}});
}

static void expect_same_field(const ttr_field *a, const ttr_field *b)
{
    assert_int_equal(a->name.n, b->name.n);
    assert_memory_equal(a->name.p, b->name.p, a->name.n);
    assert_int_equal(a->depth, b->depth);
    assert_int_equal(a->group, b->group);
    assert_int_equal(a->value.type, b->value.type);
    assert_int_equal(a->value.hint, b->value.hint);
    assert_int_equal(a->value.bits, b->value.bits);
    assert_int_equal(a->value.base, b->value.base);
    assert_int_equal(a->value.text.n, b->value.text.n);
    assert_memory_equal(a->value.text.p, b->value.text.p, a->value.text.n);
    assert_int_equal(a->value.count, b->value.count);
    assert_true(a->value.type == TTR_TYPE_TEXT || a->value.type == TTR_TYPE_BYTES ||
                a->value.v.u == b->value.v.u);
}

/* Copies an event, and the copy again. A copy truncated at every length yields some of the fields
 * and is not read past its end. */
static void expect_same_copies(ttr *t, const ttr_event *event)
{
    struct buffer bytes, again;
    ttr_event copy, second;
    ttr_fields one, other;
    ttr_field a, b;
    buffer_init(&bytes, alloc_default());
    buffer_init(&again, alloc_default());
    (void)event_copy_add(t, &bytes, event, &copy);
    event_copy_set_pointers(&copy, bytes.bytes);
    (void)event_copy_add(t, &again, &copy, &second);
    assert_false(bytes.failed || again.failed);
    assert_int_equal(bytes.n, again.n);
    assert_memory_equal(bytes.bytes, again.bytes, bytes.n);
    ttr_fields_begin(t, event, &one);
    ttr_fields_begin(t, &copy, &other);
    while (ttr_fields_next(&one, &a)) {
        assert_true(ttr_fields_next(&other, &b));
        expect_same_field(&a, &b);
    }
    assert_false(ttr_fields_next(&other, &b));
    for (uint32_t cut = 0; cut < bytes.n; cut++) {
        uint8_t *ctx = test_malloc(cut + 1);
        memcpy(ctx, bytes.bytes, cut);
        copy.payload = ctx;
        copy.payload_size = cut;
        ttr_fields_begin(t, event, &one);
        ttr_fields_begin(t, &copy, &other);
        while (ttr_fields_next(&other, &b)) {
            assert_true(ttr_fields_next(&one, &a));
            expect_same_field(&a, &b);
        }
        test_free(ctx);
    }
    buffer_free(&bytes);
    buffer_free(&again);
}

/* Copies an array of structs between two arrays of numbers. */
static void structs_copied(uint64_t seed, uint32_t n, unsigned oddity)
{
    ttr *t = ttr_new(NULL);
    ttr_builder *builder = ttr_builder_new(t);
    ttr_batch batch;
    ttr_event_begin(builder, TTR_KIND_INSTANT, 1, "", "e");
    for (unsigned i = 0; i < 3; i++) {
        ttr_add_field(builder,
                      &(ttr_field){.name = {"list", 4},
                                   .value = {.type = TTR_TYPE_ARRAY, .count = i == 1 ? n : 3}});
        for (uint32_t k = 0; i != 1 && k < 3; k++)
            ttr_add_field(
                builder,
                &(ttr_field){.depth = 1, .value = {.type = TTR_TYPE_UINT, .bits = 8, .v.u = k}});
        for (uint32_t k = 0; i == 1 && k < n; k++)
            put_struct(builder, &seed, oddity);
    }
    assert_int_equal(ttr_event_build(builder, &batch, NULL), TTR_OK);
    expect_same_copies(t, ttr_batch_at(&batch, 0));
    ttr_builder_free(builder);
    ttr_free(t);
}

static void copied_structs_equal_originals(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 200; seed++)
        structs_copied(seed, (uint32_t)(seed % 20), seed % 3 ? 2 + (unsigned)seed % 7 : 0);
}

/* A variant of two options of the same kind, inside another variant. */
static const struct type option_types[] = {{.kind = TYPE_UINT, .base = 2},
                                           {.kind = TYPE_UINT, .base = 8},
                                           {.kind = TYPE_UINT, .base = 16}};
static const struct type_member inner_options[] = {{.name = {"b", 1}, .type = &option_types[1]},
                                                   {.name = {"c", 1}, .type = &option_types[2]}};
static const struct type inner_variant = {
    .kind = TYPE_VARIANT, .members = inner_options, .members_n = 2};
static const struct type_member outer_options[] = {{.name = {"a", 1}, .type = &option_types[0]},
                                                   {.name = {"d", 1}, .type = &inner_variant}};
static const struct type outer_variant = {
    .kind = TYPE_VARIANT, .members = outer_options, .members_n = 2};
static const struct type_member chosen_member = {.name = {"v", 1}, .type = &outer_variant};
static const struct type chosen_root = {
    .kind = TYPE_STRUCT, .members = &chosen_member, .members_n = 1};

static bool chosen_next(ttr_fields *fields, ttr_field *field)
{
    struct given *walk = (struct given *)fields->state;
    *field = (ttr_field){.name = {"v", 1}, .choices = 2, .value = {.type = TTR_TYPE_UINT}};
    return walk->at++ == 0;
}

static const struct type *chosen_type(const ttr_fields *fields)
{
    (void)fields;
    return &option_types[2];
}

static void copy_keeps_chosen_option_type(void **state)
{
    (void)state;
    static const struct field_ops ops = {
        .begin = given_begin, .next = chosen_next, .type = chosen_type};
    ttr *t = ttr_new(NULL);
    const struct event_class about = {.root = {[ROOT_PAYLOAD] = &chosen_root}};
    const struct schema schema = {.ops = &ops, .event_class = &about};
    ttr_event event = {.schema = context_add_schema(t, &schema)}, copy;
    struct buffer buffer[2];
    ttr_fields fields;
    ttr_field field;
    for (size_t i = 0; i < 2; i++) { /* the second one is a copy of the copy */
        buffer_init(&buffer[i], &t->counted);
        size_t at = event_copy_add(t, &buffer[i], &event, &copy);
        event_copy_set_pointers(&copy, buffer[i].bytes + at);
        ttr_fields_begin(t, &copy, &fields);
        assert_true(ttr_fields_next(&fields, &field));
        assert_int_equal(field.choices, 2);
        assert_ptr_equal(event_copy_field_ops.type(&fields), &option_types[2]);
        assert_false(ttr_fields_next(&fields, &field));
        event = copy;
    }
    buffer_free(&buffer[0]);
    buffer_free(&buffer[1]);
    ttr_free(t);
}

static void built_field_keeps_its_single_label(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    ttr_builder *builder = ttr_builder_new(t);
    ttr_batch batch;
    ttr_fields fields = {.ops = NULL};
    ttr_field field;
    ttr_event_begin(builder, TTR_KIND_INSTANT, 1, "", "");
    given_begin(&fields);
    while (given_next(&fields, &field))
        ttr_add_field(builder, &field);
    assert_int_equal(ttr_event_build(builder, &batch, NULL), TTR_OK);
    check_given(t, ttr_batch_at(&batch, 0), 1);
    ttr_builder_free(builder);
    ttr_free(t);
}

static void invalid_source_fails_thread(void **state)
{
    (void)state;
    ttr *t = ttr_new(NULL);
    ttr_builder *builder = ttr_builder_new(t);
    ttr_batch batch;
    ttr_event_begin(builder, TTR_KIND_INSTANT, 1, "", "");
    ttr_event_attributes(builder)->source = 77;
    ttr_event_set_thread(builder, 1, 2);
    assert_int_not_equal(ttr_event_build(builder, &batch, NULL), TTR_OK);
    ttr_builder_free(builder);
    ttr_free(t);
}

static bool build_with(const struct alloc *alloc)
{
    ttr_options options = {
        .size = sizeof options, .resize = alloc->resize, .user_data = alloc->ctx};
    ttr *t = ttr_new(&options);
    ttr_builder *builder = t ? ttr_builder_new(t) : NULL;
    bool good = builder != NULL;
    if (good) {
        ttr_batch batch;
        ttr_event_begin(builder, TTR_KIND_INSTANT, 1, "category", "name");
        ttr_event_set_thread(builder, 1, 2);
        ttr_event_set_provider(builder, "provider");
        ttr_add_text(builder, "key", "value");
        good = ttr_event_build(builder, &batch, NULL) == TTR_OK;
    }
    ttr_builder_free(builder);
    ttr_free(t);
    return good;
}

static void failed_allocation_is_reported(void **state)
{
    (void)state;
    support_fail_each(build_with);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_event_returns_all_fields),
        cmocka_unit_test(copy_survives_original_event),
        cmocka_unit_test(copy_refers_to_text_of_context),
        cmocka_unit_test(copies_share_a_deep_stack),
        cmocka_unit_test(truncated_payload_ends_iteration),
        cmocka_unit_test(value_with_several_labels_ends_call),
        cmocka_unit_test(copy_keeps_group_base_and_all_labels),
        cmocka_unit_test(copy_finds_types_of_equal_names_by_order),
        cmocka_unit_test(elements_in_copy_use_minimal_width),
        cmocka_unit_test(copied_structs_equal_originals),
        cmocka_unit_test(copy_keeps_chosen_option_type),
        cmocka_unit_test(built_field_keeps_its_single_label),
        cmocka_unit_test(invalid_source_fails_thread),
        cmocka_unit_test(failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
