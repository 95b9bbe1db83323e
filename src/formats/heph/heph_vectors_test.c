/* Golden vectors of the format, from the specification.  vectors-whole holds those where the end of a trace changes what is said of its
 * beginning (epochs, counters): a prefix of them is another trace, so they are not cut.  vectors-long are too long to be cut at every
 * byte. */
#include "support.h"
#include "vectors.h"

#define FOLDER "src/formats/heph/"

static void vectors_give_what_the_specification_says(void **state)
{
    (void)state;
    vectors_read_as_written(FOLDER "vectors", "heph");
    vectors_read_as_written(FOLDER "vectors-whole", "heph");
    vectors_read_as_written(FOLDER "vectors-long", "heph");
}

static void bad_vectors_give_what_can_be_saved(void **state)
{
    (void)state;
    vectors_read_as_written(FOLDER "vectors-bad", "heph");
}

static void raw_events_and_definitions_are_every_byte(void **state)
{
    (void)state;
    vectors_give_every_byte(FOLDER "vectors", "heph");
    vectors_give_every_byte(FOLDER "vectors-whole", "heph");
}

static void prefixes_give_the_first_events(void **state)
{
    (void)state;
    vectors_read_when_cut(FOLDER "vectors", "heph");
    vectors_read_when_cut(FOLDER "vectors-bad", "heph");
}

static void pieces_give_what_the_whole_gives(void **state)
{
    (void)state;
    vectors_read_in_pieces(FOLDER "vectors", "heph");
    vectors_read_in_pieces(FOLDER "vectors-whole", "heph");
    vectors_read_in_pieces(FOLDER "vectors-bad", "heph");
    vectors_read_in_pieces(FOLDER "vectors-long", "heph");
}

static void each_failing_allocation_is_told_and_nothing_leaks(void **state)
{
    (void)state;
    vectors_read_without_memory(FOLDER "vectors", "heph");
    vectors_read_without_memory(FOLDER "vectors-whole", "heph");
    vectors_read_without_memory(FOLDER "vectors-bad", "heph");
    vectors_read_without_memory(FOLDER "vectors-long", "heph");
}

static void strict_mode_refuses_damage_where_it_is(void **state)
{
    (void)state;
    vectors_refused_when_strict(FOLDER "vectors", "heph");
    vectors_refused_when_strict(FOLDER "vectors-whole", "heph");
    vectors_refused_when_strict(FOLDER "vectors-bad", "heph");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_give_what_the_specification_says),
        cmocka_unit_test(bad_vectors_give_what_can_be_saved),
        cmocka_unit_test(raw_events_and_definitions_are_every_byte),
        cmocka_unit_test(prefixes_give_the_first_events),
        cmocka_unit_test(pieces_give_what_the_whole_gives),
        cmocka_unit_test(strict_mode_refuses_damage_where_it_is),
        cmocka_unit_test(each_failing_allocation_is_told_and_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
