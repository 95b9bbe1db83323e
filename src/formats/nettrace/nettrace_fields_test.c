/* Fields of events: a field buffer returns the same fields as the iterator, in valid and in damaged
 * traces. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tracetta/read.h>

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

/* Labels of a value must still be available after later fields were read. */
static void check_labels(const ttr_field_buffer *buffer, const ttr_field *taken, uint32_t n)
{
    ttr_text label;
    for (uint32_t i = 0; i < n; i++) {
        const ttr_value *value = &taken[i].value;
        if ((value->hint != TTR_DISPLAY_ENUM && value->hint != TTR_DISPLAY_FLAGS) ||
            value->count == 0)
            continue;
        assert_true(ttr_event_label(buffer, value, 0, &label));
        assert_int_equal(label.n, value->text.n);
    }
}

/* Reads each event twice: only the first time fields may have to be prepared. */
static void check_event(const ttr *t, ttr_field_buffer *buffer, const ttr_event *event)
{
    static struct copies one_by_one, taken;
    ttr_fields fields;
    ttr_field next;
    const ttr_field *field;
    one_by_one.n = 0;
    ttr_fields_begin(t, event, &fields);
    while (ttr_fields_next(&fields, &next))
        copy_field(&one_by_one, &next);
    for (unsigned i = 0; i < 2; i++) {
        taken.n = 0;
        for (uint32_t n = ttr_event_fields(buffer, event, &field); n > 0;
             n = ttr_event_fields_next(buffer, &field)) {
            check_labels(buffer, field, n);
            for (uint32_t j = 0; j < n; j++)
                copy_field(&taken, &field[j]);
        }
        check_same_fields(&taken, &one_by_one);
    }
}

static void check_bytes(const uint8_t *bytes, size_t n)
{
    ttr *t = ttr_new(NULL);
    ttr_field_buffer *buffer = ttr_field_buffer_new(t);
    ttr_error error;
    ttr_batch batch;
    ttr_reader *reader = ttr_open_memory(
        t, bytes, n, "trace",
        &(ttr_read_options){.size = sizeof(ttr_read_options), .from = "nettrace"}, &error);
    while (reader && ttr_read(reader, &batch, &error) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++, events++)
            check_event(t, buffer, ttr_batch_at(&batch, i));
    ttr_close(reader);
    ttr_field_buffer_free(buffer);
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

static void buffered_fields_equal_single_fields(void **state)
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
        cmocka_unit_test(buffered_fields_equal_single_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
