/* See failing_readdir.h. */
#include "support/failing_readdir.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <sys/types.h>

unsigned readdir_fails_at, readdir_calls;

struct dirent *readdir(DIR *directory)
{
    static struct dirent *(*real)(DIR *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, sizeof(off_t) == sizeof(long) ? "readdir" : "readdir64");
    if (readdir_fails_at && ++readdir_calls >= readdir_fails_at) {
        errno = EIO;
        return NULL;
    }
    return real(directory);
}
