/* Golden vectors of the format, from the sources of Linux (README.md).  vectors-whole holds those of which a prefix gives other events: what
 * stands behind their records, or is out of order, tells of those before; vectors-packed holds compressed ones, whose bytes are given unpacked. */
#include "support.h"
#include "vectors.h"

#define FOLDER "src/formats/perf/"

static void vectors_give_what_they_say(void **state)
{
    (void)state;
    vectors_read_as_written(FOLDER "vectors", "perf");
    vectors_read_as_written(FOLDER "vectors-whole", "perf");
    vectors_read_as_written(FOLDER "vectors-packed", "perf");
}

static void bad_vectors_give_what_can_be_saved(void **state)
{
    (void)state;
    vectors_read_as_written(FOLDER "vectors-bad", "perf");
}

static void definitions_and_events_are_every_byte(void **state)
{
    (void)state;
    vectors_give_every_byte(FOLDER "vectors", "perf");
    vectors_give_every_byte(FOLDER "vectors-whole", "perf");
}

static void prefixes_give_the_first_events(void **state)
{
    (void)state;
    vectors_read_when_cut(FOLDER "vectors", "perf");
    vectors_read_when_cut(FOLDER "vectors-packed", "perf");
}

static void pieces_give_what_the_whole_gives(void **state)
{
    (void)state;
    vectors_read_in_pieces(FOLDER "vectors", "perf");
    vectors_read_in_pieces(FOLDER "vectors-whole", "perf");
    vectors_read_in_pieces(FOLDER "vectors-bad", "perf");
    vectors_read_in_pieces(FOLDER "vectors-packed", "perf");
}

static void each_failing_allocation_is_told_and_nothing_leaks(void **state)
{
    (void)state;
    vectors_read_without_memory(FOLDER "vectors", "perf");
    vectors_read_without_memory(FOLDER "vectors-whole", "perf");
    vectors_read_without_memory(FOLDER "vectors-bad", "perf");
    vectors_read_without_memory(FOLDER "vectors-packed", "perf");
}

static void strict_mode_refuses_damage_where_it_is(void **state)
{
    (void)state;
    vectors_refused_when_strict(FOLDER "vectors", "perf");
    vectors_refused_when_strict(FOLDER "vectors-whole", "perf");
    vectors_refused_when_strict(FOLDER "vectors-bad", "perf");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_give_what_they_say),
        cmocka_unit_test(bad_vectors_give_what_can_be_saved),
        cmocka_unit_test(definitions_and_events_are_every_byte),
        cmocka_unit_test(prefixes_give_the_first_events),
        cmocka_unit_test(pieces_give_what_the_whole_gives),
        cmocka_unit_test(each_failing_allocation_is_told_and_nothing_leaks),
        cmocka_unit_test(strict_mode_refuses_damage_where_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
