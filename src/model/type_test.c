/* Ranges at the ends of 64 bits, labels that share values, bits with names. */
#include "model/type.h"

#include "support/support.h"

#define TEXT(s)         \
    {                   \
        s, sizeof s - 1 \
    }

static void ranges_hold_both_their_ends_signed_or_not(void **state)
{
    (void)state;
    static const struct type_range whole = {0, UINT64_MAX}, high = {UINT64_C(1) << 63, UINT64_MAX};
    static const struct type_range around = {(uint64_t)-3, 2}, two[] = {{1, 1}, {5, 7}};
    assert_true(type_ranges_contain(&whole, 1, false, 0) &&
                type_ranges_contain(&whole, 1, false, UINT64_MAX));
    assert_true(type_ranges_contain(&high, 1, false, UINT64_C(1) << 63));
    assert_false(type_ranges_contain(&high, 1, false, (UINT64_C(1) << 63) - 1));
    assert_true(type_ranges_contain(&around, 1, true, (uint64_t)-3) &&
                type_ranges_contain(&around, 1, true, 2));
    assert_true(type_ranges_contain(&around, 1, true, 0));
    assert_false(type_ranges_contain(&around, 1, true, (uint64_t)-4) ||
                 type_ranges_contain(&around, 1, true, 3));
    assert_false(type_ranges_contain(&around, 1, false, 0));
    assert_true(type_ranges_contain(two, 2, false, 1) && type_ranges_contain(two, 2, false, 7));
    assert_false(type_ranges_contain(two, 2, false, 4) || type_ranges_contain(two, 2, false, 8));
    assert_false(type_ranges_contain(NULL, 0, false, 0));
}

static void labels_have_one_key_where_they_say_the_same(void **state)
{
    (void)state;
    struct type_range two[2][2] = {{{1, 1}, {5, 7}}, {{1, 1}, {5, 7}}};
    struct type_label label[2][2] = {{{TEXT("A"), two[0], 2}, {TEXT("B"), two[0], 1}},
                                     {{TEXT("A"), two[1], 2}, {TEXT("B"), two[1], 1}}};
    struct type_labels labels = {.label = label[0], .n = 2}, again = {.label = label[1], .n = 2};
    const uint64_t key = type_labels_hash(&labels);
    assert_true(key != 0 && key == type_labels_hash(&again));
    again.is_signed = true;
    assert_true(key != type_labels_hash(&again));
    again = (struct type_labels){.label = label[1], .n = 1};
    assert_true(key != type_labels_hash(&again));
    again.n = 2;
    two[1][1].high = 8;
    assert_true(key != type_labels_hash(&again));
    two[1][1].high = 7;
    label[1][1].name.p = "C";
    assert_true(key != type_labels_hash(&again));
    again.key = key;
    assert_true(key == type_labels_hash(&again));
}

static void labels_tell_how_many_values_they_name(void **state)
{
    (void)state;
    static const struct type_range few[] = {{1, 1}, {(uint64_t)-3, 2}},
                                   rest[] = {{3, UINT64_MAX - 4}, {0, 1}}, all = {0, UINT64_MAX};
    static const struct type_label label[] = {
        {TEXT("FEW"), few, 2}, {TEXT("REST"), rest, 2}, {TEXT("ALL"), &all, 1}};
    struct type_labels labels = {.label = label, .n = 0};
    assert_int_equal(type_labels_value_count(&labels), 0);
    labels.n = 1;
    assert_int_equal(type_labels_value_count(&labels), 7);
    labels.n = 2;
    assert_true(type_labels_value_count(&labels) == UINT64_MAX);
    labels = (struct type_labels){.label = label + 2, .n = 1};
    assert_true(type_labels_value_count(&labels) == UINT64_MAX);
    labels = (struct type_labels){.label = label, .n = 1};
    const uint64_t key = type_labels_hash(&labels);
    type_labels_cache_counts(&labels);
    assert_true(labels.key == key && labels.values == 7 && type_labels_value_count(&labels) == 7 &&
                labels.entries == 2);
    labels = (struct type_labels){.label = label, .n = 1, .entries = 7};
    type_labels_cache_counts(&labels);
    assert_true(labels.entries == 7);
}

static void labels_that_hold_a_value_come_in_order_of_the_table(void **state)
{
    (void)state;
    static const struct type_range many = {2, 9}, one = {5, 5},
                                   low[] = {{(uint64_t)-1, (uint64_t)-1}, {5, 6}};
    static const struct type_label label[] = {
        {TEXT("MANY"), &many, 1}, {TEXT("FIVE"), &one, 1}, {TEXT("LOW"), low, 2}};
    static const struct type_labels labels = {.label = label, .n = 3, .is_signed = true};
    assert_ptr_equal(type_find_label(&labels, 5, 0), &label[0]);
    assert_ptr_equal(type_find_label(&labels, 5, 1), &label[1]);
    assert_ptr_equal(type_find_label(&labels, 5, 2), &label[2]);
    assert_null(type_find_label(&labels, 5, 3));
    assert_ptr_equal(type_find_label(&labels, (uint64_t)-1, 0), &label[2]);
    assert_null(type_find_label(&labels, 10, 0));
}

static void flags_are_met_by_any_of_their_bits(void **state)
{
    (void)state;
    static const struct type_range zero = {0, 0}, pair[] = {{2, 3}, {63, 63}},
                                   beyond = {64, UINT64_MAX}, wide = {60, 100};
    static const struct type_label label[] = {{TEXT("a"), &zero, 1},
                                              {TEXT("b"), pair, 2},
                                              {TEXT("c"), &beyond, 1},
                                              {TEXT("d"), &wide, 1}};
    static const struct type_labels labels = {.label = label, .n = 4};
    assert_int_equal(type_flag_mask(&label[0]), 1);
    assert_true(type_flag_mask(&label[1]) == (UINT64_C(1) << 63 | 0xc));
    assert_int_equal(type_flag_mask(&label[2]), 0);
    assert_true(type_flag_mask(&label[3]) == UINT64_C(0xf) << 60);
    assert_ptr_equal(type_find_flag(&labels, 9, 0), &label[0]);
    assert_ptr_equal(type_find_flag(&labels, 9, 1), &label[1]);
    assert_null(type_find_flag(&labels, 9, 2));
    assert_null(type_find_flag(&labels, 2, 0));
}

static void members_are_found_by_their_stored_name(void **state)
{
    (void)state;
    static const struct type_member members[] = {
        {.name = TEXT("_len"), .shown = TEXT("len")}, {.name = TEXT("")}, {.name = TEXT("len")}};
    static const struct type type = {.kind = TYPE_STRUCT, .members = members, .members_n = 3};
    assert_ptr_equal(type_find_member(&type, (ttr_text){"len", 3}), &members[2]);
    assert_ptr_equal(type_find_member(&type, (ttr_text){"_len", 4}), &members[0]);
    assert_ptr_equal(type_find_member(&type, (ttr_text){NULL, 0}), &members[1]);
    assert_null(type_find_member(&type, (ttr_text){"le", 2}));
}

static void the_largest_alignment_is_found_in_options_of_variants_too(void **state)
{
    (void)state;
    static const struct type number = {.kind = TYPE_UINT, .align = 11},
                             byte = {.kind = TYPE_UINT, .align = 3};
    static const struct type_member options[] = {{.name = TEXT("near"), .type = &byte},
                                                 {.name = TEXT("far"), .type = &number}};
    static const struct type variant = {.kind = TYPE_VARIANT, .members = options, .members_n = 2},
                             row = {.kind = TYPE_ARRAY, .element = &variant};
    static const struct type_member members[] = {{.name = TEXT("row"), .type = &row}};
    static const struct type type = {
        .kind = TYPE_STRUCT, .align = 3, .members = members, .members_n = 1};
    assert_int_equal(type_largest_align(&type), 11);
    assert_int_equal(type_largest_align(&byte), 3);
    assert_int_equal(type_largest_align(NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_hold_both_their_ends_signed_or_not),
        cmocka_unit_test(labels_have_one_key_where_they_say_the_same),
        cmocka_unit_test(labels_tell_how_many_values_they_name),
        cmocka_unit_test(labels_that_hold_a_value_come_in_order_of_the_table),
        cmocka_unit_test(flags_are_met_by_any_of_their_bits),
        cmocka_unit_test(members_are_found_by_their_stored_name),
        cmocka_unit_test(the_largest_alignment_is_found_in_options_of_variants_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
