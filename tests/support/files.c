/* Writes, checks and removes small files and folders. */
#include "support/files.h"

#include <dirent.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/support.h"

void files_write(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

void files_expect(const char *path, const char *text)
{
    char bytes[100] = {0};
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t n = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);
    support_assert_text(bytes, n, text);
}

void files_expect_copy(const char *folder, const ttr_file *as)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/%s", folder, as->name);
    FILE *file = fopen(path, "rb");
    char *bytes = malloc(as->n + 1);
    assert_true(file && bytes);
    assert_int_equal(fread(bytes, 1, as->n + 1, file), as->n);
    assert_memory_equal(bytes, as->bytes, as->n);
    free(bytes);
    (void)fclose(file);
}

int files_count(const char *folder)
{
    int n = -2; /* "." and ".." do not count */
    DIR *names = opendir(folder);
    assert_non_null(names);
    while (readdir(names))
        n++;
    (void)closedir(names);
    return n;
}

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *where)
{
    (void)about, (void)type, (void)where;
    return remove(path);
}

int files_remove(const char *folder)
{
    return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
