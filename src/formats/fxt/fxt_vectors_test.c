/* Golden vectors of FXT: each record type, and each question that the specification leaves open. */
#include "support/support.h"
#include "support/vectors.h"

#define GOOD "src/formats/fxt/vectors"
#define BAD "src/formats/fxt/vectors-bad"
#define LONG "src/formats/fxt/vectors-long" /* records of the largest sizes */

static void vectors_read_as_expected(void **state)
{
    (void)state;
    vectors_read_as_written(GOOD, "fxt");
    vectors_read_as_written(BAD, "fxt");
    vectors_read_as_written(LONG, "fxt");
}

static void raw_events_concatenate_to_the_file(void **state)
{
    (void)state;
    vectors_give_every_byte(GOOD, "fxt");
    vectors_give_every_byte(BAD, "fxt");
    vectors_give_every_byte(LONG, "fxt");
}

static void every_prefix_yields_the_first_events(void **state)
{
    (void)state;
    vectors_read_when_cut(GOOD, "fxt");
    vectors_read_when_cut(BAD, "fxt");
    vectors_read_when_cut(LONG, "fxt");
}

static void reading_in_chunks_gives_equal_events(void **state)
{
    (void)state;
    vectors_read_in_pieces(GOOD, "fxt");
    vectors_read_in_pieces(BAD, "fxt");
    vectors_read_in_pieces(LONG, "fxt");
}

static void failed_allocations_report_no_memory(void **state)
{
    (void)state;
    vectors_read_without_memory(GOOD, "fxt");
    vectors_read_without_memory(BAD, "fxt");
    vectors_read_without_memory(LONG, "fxt");
}

static void strict_mode_fails_at_offset_of_damage(void **state)
{
    (void)state;
    vectors_refused_when_strict(GOOD, "fxt");
    vectors_refused_when_strict(BAD, "fxt");
    vectors_refused_when_strict(LONG, "fxt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_read_as_expected),
        cmocka_unit_test(raw_events_concatenate_to_the_file),
        cmocka_unit_test(every_prefix_yields_the_first_events),
        cmocka_unit_test(reading_in_chunks_gives_equal_events),
        cmocka_unit_test(failed_allocations_report_no_memory),
        cmocka_unit_test(strict_mode_fails_at_offset_of_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
