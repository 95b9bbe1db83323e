/* In place of the C library's readdir, in a command for tests: the folder named by UNLISTED_FOLDER
 * fails to be listed behind its first entry, as a disk does that is broken. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static bool is_unlisted(DIR *directory)
{
    char link[64], path[PATH_MAX];
    const char *named = getenv("UNLISTED_FOLDER");
    if (!named || telldir(directory) == 0)
        return false;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", dirfd(directory));
    const ssize_t n = readlink(link, path, sizeof path);
    return n > 0 && (size_t)n == strlen(named) && memcmp(path, named, (size_t)n) == 0;
}

struct dirent *readdir(DIR *directory)
{
    static struct dirent *(*ctx)(DIR *);
    if (!ctx)
        *(void **)&ctx = dlsym(RTLD_NEXT, sizeof(off_t) == sizeof(long) ? "readdir" : "readdir64");
    if (is_unlisted(directory)) {
        errno = EIO;
        return NULL;
    }
    return ctx(directory);
}
