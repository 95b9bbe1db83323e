/* Golden vectors of RFC v1.1: complete traces written byte by byte from the RFC and
 * src/formats/ctf/rfc-v1.1.md. Compressed and encrypted bytes come from other programs; their
 * commands are in the files. Folders rfc11-bad-* contain damage. */
#include "support/support.h"
#include "support/vectors_files.h"

#define FOLDER "src/formats/ctf/vectors"

static void vectors_read_as_documented(void **state)
{
    (void)state;
    vectors_files_read_as_written(FOLDER, "rfc11-", "ctf", "metadata");
}

static void packet_definitions_contain_every_byte(void **state)
{
    (void)state;
    vectors_files_give_every_byte(FOLDER, "rfc11-", "ctf", "metadata");
}

static void truncated_vectors_read_up_to_the_cut(void **state)
{
    (void)state;
    vectors_files_read_when_cut(FOLDER, "rfc11-", "ctf", "metadata");
}

static void vectors_with_changed_bytes_do_not_crash(void **state)
{
    (void)state;
    vectors_files_read_when_changed(FOLDER, "rfc11-", "ctf", "metadata", 200);
}

static void damaged_vectors_in_strict_mode_fail(void **state)
{
    (void)state;
    vectors_files_refused_when_strict(FOLDER, "rfc11-", "ctf", "metadata");
}

static void vectors_with_failing_allocations_report_no_memory(void **state)
{
    (void)state;
    vectors_files_read_without_memory(FOLDER, "rfc11-", "ctf", "metadata");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_read_as_documented),
        cmocka_unit_test(packet_definitions_contain_every_byte),
        cmocka_unit_test(truncated_vectors_read_up_to_the_cut),
        cmocka_unit_test(vectors_with_changed_bytes_do_not_crash),
        cmocka_unit_test(damaged_vectors_in_strict_mode_fail),
        cmocka_unit_test(vectors_with_failing_allocations_report_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
