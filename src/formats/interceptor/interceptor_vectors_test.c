/* Golden vectors: of the file, and of all that an event of EventHeader may hold (README.md). */
#include "support.h"
#include "vectors.h"

#define FOLDER "src/formats/interceptor/"

static void vectors_give_what_the_specification_says(void **state)
{
    (void)state;
    vectors_read_as_written(FOLDER "vectors", "interceptor");
}

static void bad_vectors_give_what_can_be_saved(void **state)
{
    (void)state;
    vectors_read_as_written(FOLDER "vectors-bad", "interceptor");
}

static void raw_events_are_every_byte(void **state)
{
    (void)state;
    vectors_give_every_byte(FOLDER "vectors", "interceptor");
    vectors_give_every_byte(FOLDER "vectors-bad", "interceptor");
}

static void prefixes_give_the_first_events(void **state)
{
    (void)state;
    vectors_read_when_cut(FOLDER "vectors", "interceptor");
}

static void pieces_give_what_the_whole_gives(void **state)
{
    (void)state;
    vectors_read_in_pieces(FOLDER "vectors", "interceptor");
    vectors_read_in_pieces(FOLDER "vectors-bad", "interceptor");
}

static void each_failing_allocation_is_told_and_nothing_leaks(void **state)
{
    (void)state;
    vectors_read_without_memory(FOLDER "vectors", "interceptor");
    vectors_read_without_memory(FOLDER "vectors-bad", "interceptor");
}

static void strict_mode_refuses_damage_where_it_is(void **state)
{
    (void)state;
    vectors_refused_when_strict(FOLDER "vectors", "interceptor");
    vectors_refused_when_strict(FOLDER "vectors-bad", "interceptor");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_give_what_the_specification_says),
        cmocka_unit_test(bad_vectors_give_what_can_be_saved),
        cmocka_unit_test(raw_events_are_every_byte),
        cmocka_unit_test(prefixes_give_the_first_events),
        cmocka_unit_test(pieces_give_what_the_whole_gives),
        cmocka_unit_test(each_failing_allocation_is_told_and_nothing_leaks),
        cmocka_unit_test(strict_mode_refuses_damage_where_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
