/* Golden vectors of RFC v1.1: complete traces written byte by byte from the RFC and
 * docs/formats/ctf-rfc-v1.1.md. Compressed and encrypted bytes come from other programs, whose
 * commands are in the files. Folders rfc11-bad-* contain damage. */
#include "support/support.h"
#include "support/vectors_files.h"

#define FOLDER "src/formats/ctf/vectors"

static void vectors_give_what_the_document_says(void **state)
{
    (void)state;
    vectors_files_read_as_written(FOLDER, "rfc11-", "ctf", "metadata");
}

static void definitions_are_every_byte(void **state)
{
    (void)state;
    vectors_files_give_every_byte(FOLDER, "rfc11-", "ctf", "metadata");
}

static void prefixes_do_no_harm_and_give_the_first_events(void **state)
{
    (void)state;
    vectors_files_read_when_cut(FOLDER, "rfc11-", "ctf", "metadata");
}

static void changed_bytes_do_no_harm(void **state)
{
    (void)state;
    vectors_files_read_when_changed(FOLDER, "rfc11-", "ctf", "metadata", 200);
}

static void strict_mode_refuses_damage(void **state)
{
    (void)state;
    vectors_files_refused_when_strict(FOLDER, "rfc11-", "ctf", "metadata");
}

static void each_failing_allocation_is_told_and_nothing_leaks(void **state)
{
    (void)state;
    vectors_files_read_without_memory(FOLDER, "rfc11-", "ctf", "metadata");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_give_what_the_document_says),
        cmocka_unit_test(definitions_are_every_byte),
        cmocka_unit_test(prefixes_do_no_harm_and_give_the_first_events),
        cmocka_unit_test(changed_bytes_do_no_harm),
        cmocka_unit_test(strict_mode_refuses_damage),
        cmocka_unit_test(each_failing_allocation_is_told_and_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
