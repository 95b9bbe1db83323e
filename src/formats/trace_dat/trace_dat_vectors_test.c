/* Golden vectors of the format, from the specification and its decisions (README.md). */
#include "support.h"
#include "vectors.h"

#define FOLDER "src/formats/trace_dat/"

static void vectors_give_what_the_specification_says(void **state)
{
    (void)state;
    vectors_read_as_written(FOLDER "vectors", "trace_dat");
}

static void bad_vectors_give_what_can_be_saved(void **state)
{
    (void)state;
    vectors_read_as_written(FOLDER "vectors-bad", "trace_dat");
}

static void pieces_give_what_the_whole_gives(void **state)
{
    (void)state;
    vectors_read_in_pieces(FOLDER "vectors", "trace_dat");
    vectors_read_in_pieces(FOLDER "vectors-bad", "trace_dat");
}

static void each_failing_allocation_is_told_and_nothing_leaks(void **state)
{
    (void)state;
    vectors_read_without_memory(FOLDER "vectors", "trace_dat");
    vectors_read_without_memory(FOLDER "vectors-bad", "trace_dat");
}

static void strict_mode_refuses_damage_where_it_is(void **state)
{
    (void)state;
    vectors_refused_when_strict(FOLDER "vectors", "trace_dat");
    vectors_refused_when_strict(FOLDER "vectors-bad", "trace_dat");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_give_what_the_specification_says),
        cmocka_unit_test(bad_vectors_give_what_can_be_saved),
        cmocka_unit_test(pieces_give_what_the_whole_gives),
        cmocka_unit_test(each_failing_allocation_is_told_and_nothing_leaks),
        cmocka_unit_test(strict_mode_refuses_damage_where_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
