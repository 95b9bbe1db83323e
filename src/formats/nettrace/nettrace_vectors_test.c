/* Golden vectors of the specification and of the decisions in README.md. Events in vectors-whole
 * are not in order of time: a prefix of such a file has other first events, so these vectors are
 * not truncated. */
#include "support/support.h"
#include "support/vectors.h"

#define FOLDER "src/formats/nettrace/"

static void vectors_match_specification(void **state)
{
    (void)state;
    vectors_read_as_written(FOLDER "vectors", "nettrace");
    vectors_read_as_written(FOLDER "vectors-whole", "nettrace");
}

static void bad_vectors_keep_undamaged_events(void **state)
{
    (void)state;
    vectors_read_as_written(FOLDER "vectors-bad", "nettrace");
}

static void definitions_cover_all_bytes(void **state)
{
    (void)state;
    vectors_give_every_byte(FOLDER "vectors", "nettrace");
    vectors_give_every_byte(FOLDER "vectors-whole", "nettrace");
}

static void prefixes_return_first_events(void **state)
{
    (void)state;
    vectors_read_when_cut(FOLDER "vectors", "nettrace");
}

static void small_reads_return_same_events(void **state)
{
    (void)state;
    vectors_read_in_pieces(FOLDER "vectors", "nettrace");
    vectors_read_in_pieces(FOLDER "vectors-whole", "nettrace");
    vectors_read_in_pieces(FOLDER "vectors-bad", "nettrace");
}

static void failing_allocation_is_reported_without_leak(void **state)
{
    (void)state;
    vectors_read_without_memory(FOLDER "vectors", "nettrace");
    vectors_read_without_memory(FOLDER "vectors-whole", "nettrace");
    vectors_read_without_memory(FOLDER "vectors-bad", "nettrace");
}

static void strict_mode_fails_at_damage_offset(void **state)
{
    (void)state;
    vectors_refused_when_strict(FOLDER "vectors", "nettrace");
    vectors_refused_when_strict(FOLDER "vectors-whole", "nettrace");
    vectors_refused_when_strict(FOLDER "vectors-bad", "nettrace");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_match_specification),
        cmocka_unit_test(bad_vectors_keep_undamaged_events),
        cmocka_unit_test(definitions_cover_all_bytes),
        cmocka_unit_test(prefixes_return_first_events),
        cmocka_unit_test(small_reads_return_same_events),
        cmocka_unit_test(failing_allocation_is_reported_without_leak),
        cmocka_unit_test(strict_mode_fails_at_damage_offset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
