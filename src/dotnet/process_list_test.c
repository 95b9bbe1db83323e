/* Tests for the process search when a directory listing fails. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/types.h>

#include <tracetta/collect.h>

#include "base/sanitizer.h"
#include "support/support.h"

/* Replaces readdir() of the C library: from the fails_at-th listed directory on, it fails with EIO.
 */
static unsigned fails_at, folders_n;
static DIR *last;

struct dirent *readdir(DIR *directory)
{
    static struct dirent *(*real_readdir)(DIR *);
    if (!real_readdir)
        *(void **)&real_readdir =
            dlsym(RTLD_NEXT, sizeof(off_t) == sizeof(long) ? "readdir" : "readdir64");
    folders_n += directory != last || telldir(directory) == 0;
    last = directory;
    if (fails_at && folders_n >= fails_at) {
        errno = EIO;
        return NULL;
    }
    struct dirent *entry = real_readdir(directory);
    if (entry) { /* as in tests/support/failing_readdir.c */
        sanitizer_mark_written(&entry->d_reclen, sizeof entry->d_reclen);
        sanitizer_mark_written(entry, entry->d_reclen);
    }
    return entry;
}

static void expect_listing_error(unsigned folder, const char *text)
{
    ttr_error error = {.text = ""};
    fails_at = folder;
    folders_n = 0;
    last = NULL;
    assert_null(ttr_dotnet_list_new(&error));
    assert_int_equal(error.status, TTR_E_IO);
    assert_int_equal(error.sys, EIO);
    assert_non_null(strstr(error.text, text));
    fails_at = 0;
}

static void directory_listing_failure_is_an_error(void **state)
{
    (void)state;
    ttr_dotnet_list *list = ttr_dotnet_list_new(NULL);
    assert_non_null(list);
    ttr_dotnet_list_free(list);
    expect_listing_error(1, "cannot list /proc");
    expect_listing_error(2, "cannot list ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(directory_listing_failure_is_an_error)};
    return cmocka_run_group_tests_name("dotnet_find", tests, NULL, NULL);
}
