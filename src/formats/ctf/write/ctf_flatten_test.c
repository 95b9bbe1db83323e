/* Flattened events: every field is an item, in the order of the fields. */
#include "formats/ctf/write/ctf_write.h"

#include <stdio.h>

#include <tracetta/build.h>
#include <tracetta/tracetta.h>

#include "support/support.h"

struct taken {
    ttr *t;
    ttr_builder *builder;
    struct ttr_writer out;
    ttr_loss ledger[CTF_LOSSES];
    struct ctf_items items;
    uint64_t seed;
};

static void begin_flatten(struct taken *s)
{
    memset(s, 0, sizeof *s);
    s->t = ttr_new(NULL);
    s->builder = ttr_builder_new(s->t);
    s->out = (struct ttr_writer){.t = s->t, .ledger = s->ledger};
    ctf_items_init(&s->items, &s->t->counted);
}

static void end_flatten(struct taken *s)
{
    ctf_items_free(&s->items);
    ttr_builder_free(s->builder);
    ttr_free(s->t);
}

/* Flattens the event of the builder. */
static void flatten_built_event(struct taken *s, ttr_event *event)
{
    ttr_batch batch;
    const struct ctf_items_config what = {
        .out = &s->out, .version = CTF_2, .has_conventions = true};
    assert_int_equal(ttr_event_build(s->builder, &batch, NULL), TTR_OK);
    *event = *batch.event;
    ctf_items_collect(&s->items, &what, event);
    assert_false(s->items.failed);
}

static void put_group(ttr_builder *builder, unsigned depth, const char *name, uint8_t type,
                      uint32_t count)
{
    ttr_add_field(builder, &(ttr_field){.name = {name, strlen(name)},
                                        .depth = (uint16_t)depth,
                                        .value = {.type = type, .count = count}});
}

static void put_text(ttr_builder *builder, unsigned depth, const char *name, const char *text,
                     size_t n)
{
    ttr_add_field(builder, &(ttr_field){.name = {name, strlen(name)},
                                        .depth = (uint16_t)depth,
                                        .value = {.type = TTR_TYPE_TEXT, .text = {text, n}}});
}

/* --- Random events --- */

static unsigned random_below(struct taken *s, unsigned below)
{
    s->seed = s->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(s->seed >> 33) % below;
}

/* Adds a field: the bits of `like` choose its type, the generator its value and length. Equal
 * `like` gives fields of equal type. */
static void put_like(struct taken *s, unsigned depth, const char *name, uint64_t like)
{
    static const char letters[] = "abcdefgh";
    const unsigned kind = (unsigned)(like % 9), bits = 8u << (like / 9 % 4);
    ttr_value value = {.type = kind % 2 ? TTR_TYPE_UINT : TTR_TYPE_INT,
                       .bits = (uint8_t)bits,
                       .v.u = random_below(s, 128)};
    const uint64_t inner = like / 36 * UINT64_C(0x9e3779b97f4a7c15) >> 7;
    if (kind == 4) {
        value = (ttr_value){.type = TTR_TYPE_FLOAT,
                            .bits = (uint8_t)(bits < 32 ? 32 : 64),
                            .v.f = random_below(s, 9) / 4.0};
    } else if (kind == 5) {
        put_text(s->builder, depth, name, letters, random_below(s, 8));
        return;
    } else if (kind == 6) {
        value = (ttr_value){.type = TTR_TYPE_BYTES, .text = {letters, random_below(s, 4)}};
    } else if (kind > 6) {
        const bool is_array = kind == 7;
        const uint32_t count = depth > 4  ? 0
                               : is_array ? random_below(s, 5)
                                          : (uint32_t)(inner % 4);
        put_group(s->builder, depth, name, is_array ? TTR_TYPE_ARRAY : TTR_TYPE_STRUCT, count);
        for (uint32_t i = 0; i < count; i++)
            put_like(s, depth + 1, is_array ? "" : (const char *[]){"a", "b", "c", "d"}[i],
                     is_array ? inner + (random_below(s, 40) == 0) : inner / (i + 1));
        return;
    }
    ttr_add_field(
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

static void compare_items_with_fields(const struct taken *s, const ttr_event *event)
{
    ttr_fields fields;
    ttr_field field;
    size_t at = s->items.attributes_n;
    ttr_fields_begin(s->t, event, &fields);
    for (; ttr_fields_next(&fields, &field); at++) {
        assert_true(at < s->items.n);
        assert_same(&s->items.field[at], &field);
    }
    assert_int_equal(at, s->items.n);
}

static void random_event_flattens_to_its_fields_in_order(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        struct taken s;
        ttr_event event;
        begin_flatten(&s);
        s.seed = seed;
        ttr_event_begin(s.builder, TTR_KIND_INSTANT, 0, NULL, "x");
        for (unsigned i = 0; i < 3; i++) {
            const uint64_t like = random_below(&s, 1u << 30);
            const uint32_t count = 1 + random_below(&s, 12);
            put_group(s.builder, 0, "list", TTR_TYPE_ARRAY, count);
            for (uint32_t k = 0; k < count; k++)
                put_like(&s, 1, "", like + (random_below(&s, 30) == 0));
        }
        flatten_built_event(&s, &event);
        compare_items_with_fields(&s, &event);
        end_flatten(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_event_flattens_to_its_fields_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
