/* Lists of fields where elements stand together: written by hand here, and walked as if each stood
 * alone. */
#include "layout/element_runs.h"

#include "support/support.h"

static ttr_field number(uint8_t type, unsigned bits, uint64_t x)
{
    return (ttr_field){.name = {"", 0},
                       .value = {.type = type, .bits = (uint8_t)bits, .v.u = x, .text = {"", 0}}};
}

static ttr_field single(double x)
{
    ttr_field field = number(TTR_TYPE_FLOAT, 32, 0);
    field.value.v.f = x;
    return field;
}

static ttr_field text(const char *s)
{
    return (ttr_field){.name = {"", 0}, .value = {.type = TTR_TYPE_TEXT, .text = {s, strlen(s)}}};
}

static ttr_field group(uint8_t type, uint32_t count)
{
    return (ttr_field){.name = {"", 0}, .value = {.type = type, .count = count, .text = {"", 0}}};
}

static ttr_field more(uint32_t count, size_t before, uint64_t at)
{
    return (ttr_field){
        .name = {"", 0},
        .value = {.type = ALIKE_MORE, .count = count, .v.u = at, .text = {NULL, before}}};
}

static void assert_next(struct alike_walk *walk, const ttr_field *wanted)
{
    const ttr_field *peeked = alike_peek(walk);
    assert_non_null(peeked);
    assert_int_equal(peeked->value.type, wanted->value.type);
    assert_false(alike_is_over(walk));
    const ttr_field *field = alike_next(walk);
    assert_int_equal(field->value.type, wanted->value.type);
    assert_int_equal(field->value.count, wanted->value.count);
    assert_int_equal(field->value.v.u, wanted->value.v.u);
    assert_int_equal(field->value.text.n, wanted->value.text.n);
    assert_memory_equal(field->value.text.p, wanted->value.text.p, wanted->value.text.n);
}

static void numbers_come_back_from_as_many_bytes_as_they_need(void **state)
{
    static const struct {
        uint8_t type, bits, width;
        uint64_t x;
    } cases[] = {
        {TTR_TYPE_BOOL, 0, 1, 1},
        {TTR_TYPE_UINT, 1, 1, 1},
        {TTR_TYPE_UINT, 8, 1, 255},
        {TTR_TYPE_UINT, 9, 2, 511},
        {TTR_TYPE_UINT, 17, 4, 0x1ffff},
        {TTR_TYPE_UINT, 33, 8, UINT64_C(0x1ffffffff)},
        {TTR_TYPE_UINT, 0, 8, UINT64_MAX},
        {TTR_TYPE_INT, 8, 1, UINT64_MAX},
        {TTR_TYPE_INT, 16, 2, (uint64_t)-32768},
        {TTR_TYPE_INT, 32, 4, (uint64_t)INT32_MIN},
        {TTR_TYPE_INT, 64, 8, (uint64_t)INT64_MIN},
        {TTR_TYPE_FLOAT, 64, 8, UINT64_C(0x3fb999999999999a)},
        {TTR_TYPE_FLOAT, 32, 4, UINT64_C(0xbfe0000000000000)},
        {TTR_TYPE_FLOAT, 32, 4, UINT64_C(0x7ff8000000000000)},
    };
    (void)state;
    struct buffer values;
    buffer_init(&values, alloc_default());
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const ttr_field field = number(cases[i].type, cases[i].bits, cases[i].x);
        buffer_clear(&values);
        assert_true(alike_fits(&field.value, &field.value));
        alike_put(&values, &field.value, &field.value);
        assert_int_equal(values.n, cases[i].width);
        assert_int_equal(alike_width(&field.value), cases[i].width);
        assert_int_equal(alike_number(&field.value, values.bytes, cases[i].width), cases[i].x);
    }
    buffer_free(&values);
}

static void what_needs_more_room_than_the_first_does_not_fit(void **state)
{
    (void)state;
    const ttr_field u8 = number(TTR_TYPE_UINT, 8, 0), s8 = number(TTR_TYPE_INT, 8, 0),
                    narrow = single(0.5), tenth = single(0.1);
    const ttr_field large = number(TTR_TYPE_UINT, 8, 256),
                    below = number(TTR_TYPE_INT, 8, (uint64_t)-129),
                    lowest = number(TTR_TYPE_INT, 8, (uint64_t)-128);
    assert_false(alike_fits(&u8.value, &large.value));
    assert_false(alike_fits(&s8.value, &below.value));
    assert_true(alike_fits(&s8.value, &lowest.value));
    assert_false(alike_fits(&narrow.value, &tenth.value));
}

/* [ {1, "a", [10, 11]}, {2, "bc", []}, {3, "", [12]} ], 9 */
static void elements_that_stand_together_are_walked_one_by_one(void **state)
{
    (void)state;
    struct buffer values;
    struct alike_walk walk;
    buffer_init(&values, alloc_default());
    const ttr_field u8 = number(TTR_TYPE_UINT, 8, 10), a = text("a");
    const ttr_field put[] = {number(TTR_TYPE_UINT, 8, 11), /* of the first element */
                             group(TTR_TYPE_STRUCT, 3),
                             number(TTR_TYPE_UINT, 8, 2),
                             text("bc"),
                             group(TTR_TYPE_ARRAY, 0),
                             group(TTR_TYPE_STRUCT, 3),
                             number(TTR_TYPE_UINT, 8, 3),
                             text(""),
                             group(TTR_TYPE_ARRAY, 1),
                             number(TTR_TYPE_UINT, 8, 12)};
    for (size_t i = 0; i < sizeof put / sizeof *put; i++)
        alike_put(&values, &put[i].value, &put[i].value);
    const ttr_field list[] = {group(TTR_TYPE_ARRAY, 3),
                              group(TTR_TYPE_STRUCT, 3),
                              number(TTR_TYPE_UINT, 8, 1),
                              a,
                              group(TTR_TYPE_ARRAY, 2),
                              u8,
                              more(1, 1, 0),
                              more(2, 6, 1),
                              number(TTR_TYPE_UINT, 8, 9)};
    const ttr_field wanted[] = {group(TTR_TYPE_ARRAY, 3),
                                group(TTR_TYPE_STRUCT, 3),
                                number(TTR_TYPE_UINT, 8, 1),
                                a,
                                group(TTR_TYPE_ARRAY, 2),
                                u8,
                                put[0],
                                put[1],
                                put[2],
                                put[3],
                                put[4],
                                put[5],
                                put[6],
                                put[7],
                                put[8],
                                put[9],
                                list[8]};
    assert_int_equal(alike_inside(list, 9, 0), 8);
    assert_int_equal(alike_inside(list, 9, 1), 6);
    alike_begin(&walk, list, 9, &values);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        assert_next(&walk, &wanted[i]);
    assert_true(alike_is_over(&walk));
    assert_null(alike_peek(&walk));
    assert_null(alike_next(&walk));
    buffer_free(&values);
}

struct pieces {
    const uint8_t *values;
    size_t n[4], i, entry;
    uint8_t given[4]; /* the last piece, in the place of that before */
};

static bool give_piece(void *own, size_t entry, const uint8_t **values, size_t *n)
{
    struct pieces *pieces = own;
    assert_int_equal(entry, pieces->entry);
    *values = pieces->given;
    *n = pieces->n[pieces->i++];
    memcpy(pieces->given, pieces->values, *n);
    pieces->values += *n;
    return *n > 0;
}

static void values_in_pieces_are_asked_for(void **state)
{
    static const uint8_t values[] = {1, 2, 3, 4, 5, 6};
    (void)state;
    struct alike_walk walk;
    struct alike_run run;
    struct pieces pieces = {.values = values, .n = {1, 3, 2}, .entry = 2};
    const struct alike_source source = {.give = give_piece, .own = &pieces};
    const ttr_field behind = number(TTR_TYPE_UINT, 8, 9);
    ttr_field list[] = {group(TTR_TYPE_ARRAY, 7), number(TTR_TYPE_UINT, 8, 0), more(6, 1, 0),
                        behind};
    list[2].value.hint = ALIKE_IN_PIECES;
    alike_begin(&walk, list, 4, NULL);
    walk.source = &source;
    assert_next(&walk, &list[0]);
    for (uint64_t i = 0; i < 3; i++) {
        const ttr_field wanted = number(TTR_TYPE_UINT, 8, i);
        assert_next(&walk, &wanted);
    }
    assert_true(alike_take_run(&walk, 9, &run));
    assert_int_equal(run.n, 2); /* the rest of the second piece */
    assert_memory_equal(run.bytes, "\x03\x04", 2);
    assert_true(alike_take_run(&walk, 9, &run));
    assert_int_equal(run.n, 2);
    assert_memory_equal(run.bytes, "\x05\x06", 2);
    assert_next(&walk, &behind);
    assert_true(alike_is_over(&walk));
    pieces = (struct pieces){
        .values = values, .n = {2, 0}, .entry = 2}; /* where there are no more, it ends */
    alike_begin(&walk, list, 4, NULL);
    walk.source = &source;
    for (unsigned i = 0; i < 4; i++)
        assert_non_null(alike_next(&walk));
    assert_null(alike_next(&walk));
    assert_true(alike_is_over(&walk));
}

static void runs_of_numbers_are_taken_as_they_lie(void **state)
{
    static const uint8_t elsewhere[] = {7, 8};
    (void)state;
    struct buffer values;
    struct alike_walk walk;
    struct alike_run run;
    buffer_init(&values, alloc_default());
    const ttr_field first = number(TTR_TYPE_INT, 16, 5);
    for (uint64_t i = 0; i < 4; i++)
        alike_put(&values, &first.value,
                  &(ttr_value){.type = TTR_TYPE_INT, .bits = 16, .v.u = 0 - i});
    ttr_field list[] = {
        group(TTR_TYPE_ARRAY, 5),    first,        more(4, 1, 0), group(TTR_TYPE_ARRAY, 3),
        number(TTR_TYPE_UINT, 8, 6), more(2, 1, 0)};
    list[5].value.text.p = (const char *)elsewhere;
    alike_begin(&walk, list, 6, &values);
    assert_false(alike_take_run(&walk, 9, &run));
    (void)alike_next(&walk);
    assert_false(alike_take_run(&walk, 9, &run));
    (void)alike_next(&walk);
    assert_true(alike_take_run(&walk, 3, &run));
    assert_int_equal(run.n, 3);
    assert_int_equal(run.width, 2);
    assert_memory_equal(run.bytes, "\x00\x00\xff\xff\xfe\xff", 6);
    const ttr_field last = number(TTR_TYPE_INT, 16, (uint64_t)-3);
    assert_next(&walk, &last);
    assert_next(&walk, &list[3]);
    assert_next(&walk, &list[4]);
    assert_true(alike_take_run(&walk, 9, &run));
    assert_int_equal(run.n, 2);
    assert_ptr_equal(run.bytes, elsewhere);
    assert_true(alike_is_over(&walk));
    buffer_free(&values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_come_back_from_as_many_bytes_as_they_need),
        cmocka_unit_test(what_needs_more_room_than_the_first_does_not_fit),
        cmocka_unit_test(elements_that_stand_together_are_walked_one_by_one),
        cmocka_unit_test(values_in_pieces_are_asked_for),
        cmocka_unit_test(runs_of_numbers_are_taken_as_they_lie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
