/* See failing_readdir.h. */
#include "support/failing_readdir.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/sanitizer.h"

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
    struct dirent *entry = real(directory);
    if (entry) { /* MemorySanitizer of LLVM 14 does not know this function */
        sanitizer_mark_written(&entry->d_reclen, sizeof entry->d_reclen);
        sanitizer_mark_written(entry, entry->d_reclen);
    }
    return entry;
}
