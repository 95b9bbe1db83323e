/* Events taken apart: what elements of arrays take, and that all of them are there, in their order.
 */
#include "formats/ctf/write/ctf_write.h"

#include <stdio.h>

#include <tracetta/write.h>

#include "support/support.h"

struct taken {
    ttr *t;
    ttr_builder *builder;
    struct ttr_writer out;
    ttr_loss ledger[CTF_LOSSES];
    struct ctf_items items;
    uint64_t seed;
};

static void begin(struct taken *s)
{
    memset(s, 0, sizeof *s);
    s->t = ttr_new(NULL);
    s->builder = ttr_builder_new(s->t);
    s->out = (struct ttr_writer){.t = s->t, .ledger = s->ledger};
    ctf_items_init(&s->items, &s->t->counted);
}

static void end(struct taken *s)
{
    ctf_items_free(&s->items);
    ttr_builder_free(s->builder);
    ttr_free(s->t);
}

/* Takes the builder's event, or a copy of it, apart. */
static void collect(struct taken *s, ttr_event *event)
{
    ttr_batch batch;
    const struct ctf_items_for what = {.out = &s->out, .version = CTF_2, .is_dialect = true};
    assert_int_equal(ttr_event_take(s->builder, &batch, NULL), TTR_OK);
    *event = *batch.event;
    ctf_items_collect(&s->items, &what, event);
    assert_false(s->items.failed);
}

static size_t bytes_held(const struct ctf_items *items)
{
    return items->capacity * sizeof *items->field + items->values.capacity + items->spare.capacity;
}

static void put_group(ttr_builder *builder, unsigned depth, const char *name, uint8_t type,
                      uint32_t count)
{
    ttr_put_field(builder, &(ttr_field){.name = {name, strlen(name)},
                                        .depth = (uint16_t)depth,
                                        .value = {.type = type, .count = count}});
}

static void put_number(ttr_builder *builder, unsigned depth, const char *name, unsigned bits,
                       uint64_t x)
{
    const ttr_value value = {.type = TTR_TYPE_UINT, .bits = (uint8_t)bits, .v.u = x};
    ttr_put_field(
        builder,
        &(ttr_field){.name = {name, strlen(name)}, .depth = (uint16_t)depth, .value = value});
}

static void put_text(ttr_builder *builder, unsigned depth, const char *name, const char *text,
                     size_t n)
{
    ttr_put_field(builder, &(ttr_field){.name = {name, strlen(name)},
                                        .depth = (uint16_t)depth,
                                        .value = {.type = TTR_TYPE_TEXT, .text = {text, n}}});
}

static void large_arrays_are_few_items(void **state)
{
    static const unsigned widths[] = {8, 16, 32, 64};
    const uint32_t n = 1 << 16;
    (void)state;
    for (size_t w = 0; w < 4; w++) {
        struct taken s;
        ttr_event event;
        begin(&s);
        ttr_event_begin(s.builder, TTR_KIND_INSTANT, 0, NULL, "x");
        put_group(s.builder, 0, "list", TTR_TYPE_ARRAY, n);
        for (uint32_t i = 0; i < n; i++)
            put_number(s.builder, 1, "", widths[w], i & 0xff);
        put_number(s.builder, 0, "last", 8, 1);
        collect(&s, &event);
        assert_int_equal(s.items.n, 4);
        assert_in_range(bytes_held(&s.items), 1, n * widths[w] / 8 * 2 + 16384);
        end(&s);
    }
}

static void large_arrays_of_structs_are_few_items(void **state)
{
    const uint32_t n = 1 << 14;
    struct taken s;
    ttr_event event;
    (void)state;
    begin(&s);
    ttr_event_begin(s.builder, TTR_KIND_INSTANT, 0, NULL, "x");
    put_group(s.builder, 0, "list", TTR_TYPE_ARRAY, n);
    for (uint32_t i = 0; i < n; i++) {
        put_group(s.builder, 1, "", TTR_TYPE_STRUCT, 3);
        put_number(s.builder, 2, "a", 8, i & 0xff);
        put_text(s.builder, 2, "b", "text", i % 4);
        put_group(s.builder, 2, "c", TTR_TYPE_ARRAY, 1 + i % 3);
        for (uint32_t k = 0; k <= i % 3; k++)
            put_number(s.builder, 3, "", 16, i);
    }
    collect(&s, &event);
    assert_int_equal(s.items.n, 7);
    /* a number, where the text is, its length, how many elements, and 2 of them on average */
    assert_in_range(bytes_held(&s.items), 1, n * (1 + sizeof(char *) + 4 + 4 + 4) * 2 + 16384);
    end(&s);
}

/* --- Elements that are told at once --- */

#define FLOATS 5000u

/* An array of floats. */
struct given {
    unsigned at;
};

static double floats[FLOATS];

static void given_begin(ttr_fields *fields)
{
    ((struct given *)fields->state)->at = 0;
}

static bool given_next(ttr_fields *fields, ttr_field *field)
{
    struct given *given = (struct given *)fields->state;
    const unsigned at = given->at++;
    *field =
        at ? (ttr_field){.name = {"", 0},
                         .depth = 1,
                         .value = {.type = TTR_TYPE_FLOAT, .bits = 64, .v.f = at}}
           : (ttr_field){.name = {"list", 4}, .value = {.type = TTR_TYPE_ARRAY, .count = FLOATS}};
    return at <= FLOATS;
}

static bool given_elements(ttr_fields *fields, uint32_t most, struct field_elements *elements)
{
    struct given *given = (struct given *)fields->state;
    if (given->at < 2 || given->at > FLOATS || most < FLOATS + 1 - given->at)
        return false;
    for (unsigned i = 0; i < FLOATS; i++)
        store_u64le(&floats[i], bits_of_double(i + 1));
    *elements = (struct field_elements){.bytes = (const uint8_t *)&floats[given->at - 1],
                                        .n = FLOATS + 1 - given->at,
                                        .stride = 8,
                                        .width = 8};
    given->at = FLOATS + 1;
    return true;
}

static const struct type wide_float = {.kind = TYPE_FLOAT, .bits = 128},
                         narrow_float = {.kind = TYPE_FLOAT, .bits = 64};

static const struct type *wide_type(const ttr_fields *fields)
{
    (void)fields;
    return &wide_float;
}

static const struct type *narrow_type(const ttr_fields *fields)
{
    (void)fields;
    return &narrow_float;
}

/* How many of them count as losses; `items` are all there are, and `values` the bytes of those that
 * were copied. */
static uint64_t floats_lost(const struct field_ops *ops, size_t items, size_t values)
{
    struct taken s;
    begin(&s);
    const ttr_event event = {.schema = context_add_schema(s.t, &(struct schema){.ops = ops})};
    const struct ctf_items_for what = {.out = &s.out, .version = CTF_2};
    ctf_items_collect(&s.items, &what, &event);
    struct alike_walk walk;
    alike_begin(&walk, s.items.field, s.items.n, &s.items.values);
    assert_int_equal(s.items.n, items);
    assert_int_equal(s.items.values.n, values);
    assert_int_equal(alike_next(&walk)->value.count, FLOATS);
    for (unsigned i = 1; i <= FLOATS; i++)
        assert_true(alike_next(&walk)->value.v.f == i);
    assert_true(alike_is_over(&walk));
    const uint64_t lost = s.ledger[CTF_LOST_FLOAT].count;
    end(&s);
    return lost;
}

static void long_runs_stay_where_they_are_unless_each_element_counts(void **state)
{
    static const struct field_ops wide = {
        .begin = given_begin, .next = given_next, .type = wide_type, .elements = given_elements};
    static const struct field_ops narrow = {
        .begin = given_begin, .next = given_next, .type = narrow_type, .elements = given_elements};
    (void)state;
    assert_int_equal(floats_lost(&wide, 3, (size_t)8 * (FLOATS - 1)), FLOATS);
    assert_int_equal(floats_lost(&narrow, 4, 8), 0);
}

/* --- Random events --- */

static unsigned any(struct taken *s, unsigned below)
{
    s->seed = s->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(s->seed >> 33) % below;
}

/* The seed says what the value is like; numbers and lengths come from what is drawn. */
static void put_like(struct taken *s, unsigned depth, const char *name, uint64_t like)
{
    static const char letters[] = "abcdefgh";
    const unsigned kind = (unsigned)(like % 9), bits = 8u << (like / 9 % 4);
    ttr_value value = {
        .type = kind % 2 ? TTR_TYPE_UINT : TTR_TYPE_INT, .bits = (uint8_t)bits, .v.u = any(s, 128)};
    const uint64_t inner = like / 36 * UINT64_C(0x9e3779b97f4a7c15) >> 7;
    if (kind == 4) {
        value = (ttr_value){
            .type = TTR_TYPE_FLOAT, .bits = (uint8_t)(bits < 32 ? 32 : 64), .v.f = any(s, 9) / 4.0};
    } else if (kind == 5) {
        put_text(s->builder, depth, name, letters, any(s, 8));
        return;
    } else if (kind == 6) {
        value = (ttr_value){.type = TTR_TYPE_BYTES, .text = {letters, any(s, 4)}};
    } else if (kind > 6) {
        const bool is_array = kind == 7;
        const uint32_t count = depth > 4 ? 0 : is_array ? any(s, 5) : (uint32_t)(inner % 4);
        put_group(s->builder, depth, name, is_array ? TTR_TYPE_ARRAY : TTR_TYPE_STRUCT, count);
        for (uint32_t i = 0; i < count; i++)
            put_like(s, depth + 1, is_array ? "" : (const char *[]){"a", "b", "c", "d"}[i],
                     is_array ? inner + (any(s, 40) == 0) : inner / (i + 1));
        return;
    }
    ttr_put_field(
        s->builder,
        &(ttr_field){.name = {name, strlen(name)}, .depth = (uint16_t)depth, .value = value});
}

static void assert_same(const ttr_field *item, const ttr_field *field)
{
    const ttr_value *a = &item->value, *b = &field->value;
    const bool is_group = b->type == TTR_TYPE_ARRAY || b->type == TTR_TYPE_STRUCT,
               is_text = b->type == TTR_TYPE_TEXT || b->type == TTR_TYPE_BYTES;
    assert_int_equal(a->type, b->type);
    assert_int_equal(item->name_id, field->name_id);
    if (is_group) {
        assert_int_equal(a->count, b->count);
    } else if (is_text) {
        assert_int_equal(a->text.n, b->text.n);
        assert_memory_equal(a->text.p, b->text.p, b->text.n);
    } else {
        assert_int_equal(a->bits, b->bits);
        assert_int_equal(a->v.u, b->v.u);
    }
}

static size_t compare(struct taken *s, const ttr_event *event)
{
    struct alike_walk walk;
    ttr_fields fields;
    ttr_field field;
    size_t n = 0;
    alike_begin(&walk, s->items.field, s->items.n, &s->items.values);
    while (walk.at < s->items.attributes_n)
        assert_non_null(alike_next(&walk));
    ttr_fields_begin(s->t, event, &fields);
    for (; ttr_fields_next(&fields, &field); n++) {
        const ttr_field *item = alike_next(&walk);
        assert_non_null(item);
        assert_same(item, &field);
    }
    assert_true(alike_is_over(&walk));
    return n;
}

static void items_are_walked_as_the_fields_were(void **state)
{
    size_t fields = 0, items = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        struct taken s;
        ttr_event event;
        begin(&s);
        s.seed = seed;
        ttr_event_begin(s.builder, TTR_KIND_INSTANT, 0, NULL, "x");
        for (unsigned i = 0; i < 3; i++) {
            const uint64_t like = any(&s, 1u << 30);
            const uint32_t count = 1 + any(&s, 12);
            put_group(s.builder, 0, "list", TTR_TYPE_ARRAY, count);
            for (uint32_t k = 0; k < count; k++)
                put_like(&s, 1, "", like + (any(&s, 30) == 0));
        }
        collect(&s, &event);
        fields += compare(&s, &event);
        items += s.items.n;
        end(&s);
    }
    assert_in_range(items, 1, fields / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_arrays_are_few_items),
        cmocka_unit_test(large_arrays_of_structs_are_few_items),
        cmocka_unit_test(long_runs_stay_where_they_are_unless_each_element_counts),
        cmocka_unit_test(items_are_walked_as_the_fields_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
