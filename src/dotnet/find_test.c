/* Looking for processes where a folder fails to be listed. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/types.h>

#include <tracetta/collect.h>

#include "support/support.h"

/* In place of the C library's: of the n-th folder that is listed the disk fails. */
static unsigned fails_at, folders_n;
static DIR *last;

struct dirent *readdir(DIR *directory)
{
    static struct dirent *(*own)(DIR *);
    if (!own)
        *(void **)&own = dlsym(RTLD_NEXT, sizeof(off_t) == sizeof(long) ? "readdir" : "readdir64");
    folders_n += directory != last || telldir(directory) == 0;
    last = directory;
    if (fails_at && folders_n >= fails_at) {
        errno = EIO;
        return NULL;
    }
    return own(directory);
}

static void expect_error(unsigned folder, const char *text)
{
    ttr_error error = {.text = ""};
    fails_at = folder;
    folders_n = 0;
    last = NULL;
    assert_null(ttr_dotnet_find(&error));
    assert_int_equal(error.status, TTR_E_IO);
    assert_int_equal(error.sys, EIO);
    assert_non_null(strstr(error.text, text));
    fails_at = 0;
}

static void folders_that_cannot_be_listed_are_told(void **state)
{
    (void)state;
    ttr_dotnet_list *list = ttr_dotnet_find(NULL);
    assert_non_null(list);
    ttr_dotnet_list_free(list);
    expect_error(1, "cannot list /proc");
    expect_error(2, "cannot list ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(folders_that_cannot_be_listed_are_told)};
    return cmocka_run_group_tests_name("dotnet_find", tests, NULL, NULL);
}
