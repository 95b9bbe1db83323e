/* Golden vectors of the specification and of the decisions in README.md. Events in vectors-whole
 * are not in order of time: a prefix of such a file has other first events, so these vectors are
 * not truncated. */
#include "support/support.h"
#include "support/vectors.h"

#define FOLDER "src/formats/nettrace/"

static void vectors_give_what_the_specification_says(void **state)
{
    (void)state;
    vectors_read_as_written(FOLDER "vectors", "nettrace");
    vectors_read_as_written(FOLDER "vectors-whole", "nettrace");
}

static void bad_vectors_give_what_can_be_saved(void **state)
{
    (void)state;
    vectors_read_as_written(FOLDER "vectors-bad", "nettrace");
}

static void definitions_together_are_the_bytes(void **state)
{
    (void)state;
    vectors_give_every_byte(FOLDER "vectors", "nettrace");
    vectors_give_every_byte(FOLDER "vectors-whole", "nettrace");
}

static void prefixes_give_the_first_events(void **state)
{
    (void)state;
    vectors_read_when_cut(FOLDER "vectors", "nettrace");
}

static void pieces_give_what_the_whole_gives(void **state)
{
    (void)state;
    vectors_read_in_pieces(FOLDER "vectors", "nettrace");
    vectors_read_in_pieces(FOLDER "vectors-whole", "nettrace");
    vectors_read_in_pieces(FOLDER "vectors-bad", "nettrace");
}

static void each_failing_allocation_is_told_and_nothing_leaks(void **state)
{
    (void)state;
    vectors_read_without_memory(FOLDER "vectors", "nettrace");
    vectors_read_without_memory(FOLDER "vectors-whole", "nettrace");
    vectors_read_without_memory(FOLDER "vectors-bad", "nettrace");
}

static void strict_mode_refuses_damage_where_it_is(void **state)
{
    (void)state;
    vectors_refused_when_strict(FOLDER "vectors", "nettrace");
    vectors_refused_when_strict(FOLDER "vectors-whole", "nettrace");
    vectors_refused_when_strict(FOLDER "vectors-bad", "nettrace");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_give_what_the_specification_says),
        cmocka_unit_test(bad_vectors_give_what_can_be_saved),
        cmocka_unit_test(definitions_together_are_the_bytes),
        cmocka_unit_test(prefixes_give_the_first_events),
        cmocka_unit_test(pieces_give_what_the_whole_gives),
        cmocka_unit_test(each_failing_allocation_is_told_and_nothing_leaks),
        cmocka_unit_test(strict_mode_refuses_damage_where_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
