/* Field iterator: fields returned many at a time equal those returned one by one, in valid and in
 * damaged traces. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tracetta/tracetta.h>

#include "support/hexa.h"
#include "support/support.h"
#include "support/vectors.h"

enum { FIELDS = 4096, DAMAGED = 60, SPOTS = 6 };

static uint64_t events; /* events checked so far */

struct copies {
    ttr_field field[FIELDS];
    char text[FIELDS][80];
    uint32_t n;
};

static void copy_field(struct copies *copies, const ttr_field *field)
{
    assert_in_range(copies->n, 0, FIELDS - 1);
    copies->field[copies->n] = *field;
    if (field->value.type == TTR_TYPE_TEXT || field->value.type == TTR_TYPE_BYTES)
        memcpy(copies->text[copies->n], field->value.text.p,
               field->value.text.n < 80 ? field->value.text.n : 80);
    copies->n++;
}

static void check_same_fields(const struct copies *a, const struct copies *b)
{
    assert_int_equal(a->n, b->n);
    for (uint32_t i = 0; i < a->n; i++) {
        const ttr_value *one = &a->field[i].value, *other = &b->field[i].value;
        assert_int_equal(a->field[i].name.n, b->field[i].name.n);
        assert_memory_equal(a->field[i].name.p, b->field[i].name.p, a->field[i].name.n);
        assert_int_equal(a->field[i].depth, b->field[i].depth);
        assert_int_equal(a->field[i].group, b->field[i].group);
        assert_int_equal(one->type, other->type);
        assert_int_equal(one->hint, other->hint);
        assert_int_equal(one->bits, other->bits);
        assert_int_equal(one->count, other->count);
        if (one->type == TTR_TYPE_TEXT || one->type == TTR_TYPE_BYTES) {
            assert_int_equal(one->text.n, other->text.n);
            assert_memory_equal(a->text[i], b->text[i], one->text.n < 80 ? one->text.n : 80);
        } else {
            assert_int_equal(one->v.u, other->v.u);
        }
    }
}

/* Labels of a value must still be available after later fields were returned in the same call. */
static void check_labels(const ttr_fields *fields, const ttr_field *taken, uint32_t n)
{
    ttr_text label;
    for (uint32_t i = 0; i < n; i++) {
        const ttr_value *value = &taken[i].value;
        if ((value->hint != TTR_HINT_ENUM && value->hint != TTR_HINT_FLAGS) || value->count == 0)
            continue;
        assert_true(ttr_fields_label(fields, value, 0, &label));
        assert_int_equal(label.n, value->text.n);
    }
}

static void check_event(const ttr *t, const ttr_event *event)
{
    static const uint32_t rooms[] = {FIELDS, 32, 3, 1};
    static struct copies one_by_one, taken;
    static ttr_field some[FIELDS];
    ttr_fields fields;
    one_by_one.n = 0;
    ttr_fields_begin(t, event, &fields);
    while (ttr_fields_next(&fields, &some[0]))
        copy_field(&one_by_one, &some[0]);
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        taken.n = 0;
        ttr_fields_begin(t, event, &fields);
        for (uint32_t n; (n = ttr_fields_take(&fields, some, rooms[i])) > 0;) {
            check_labels(&fields, some, n);
            for (uint32_t j = 0; j < n; j++)
                copy_field(&taken, &some[j]);
        }
        check_same_fields(&taken, &one_by_one);
    }
}

static void check_bytes(const uint8_t *bytes, size_t n)
{
    ttr *t = ttr_new(NULL);
    ttr_error error;
    ttr_batch batch;
    ttr_reader *reader = ttr_open_memory(
        t, bytes, n, "trace",
        &(ttr_read_options){.size = sizeof(ttr_read_options), .from = "nettrace"}, &error);
    while (reader && ttr_read(reader, &batch, &error) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++, events++)
            check_event(t, ttr_batch_at(&batch, i));
    ttr_close(reader);
    ttr_free(t);
}

/* Checks copies with some changed bytes; most of these are inside of events. */
static void check_damaged(const struct hexa *hexa)
{
    uint64_t state = 0x243f6a8885a308d3;
    uint8_t *copy = malloc(hexa->n + 1);
    assert_non_null(copy);
    for (unsigned i = 0; i < DAMAGED; i++) {
        memcpy(copy, hexa->bytes, hexa->n);
        for (unsigned spot = 0; spot <= i % SPOTS; spot++)
            copy[support_random(&state) % hexa->n] = (uint8_t)support_random(&state);
        check_bytes(copy, hexa->n);
    }
    free(copy);
}

static void check_vector(const char *path, const struct hexa *hexa, const char *format)
{
    (void)path, (void)format;
    check_bytes(hexa->bytes, hexa->n);
    check_damaged(hexa);
}

static void fields_taken_at_once_equal_single_fields(void **state)
{
    (void)state;
    vectors_each("src/formats/nettrace/vectors", "nettrace", check_vector);
    vectors_each("src/formats/nettrace/vectors-whole", "nettrace", check_vector);
    vectors_each("src/formats/nettrace/vectors-bad", "nettrace", check_vector);
    assert_true(events > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_taken_at_once_equal_single_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
