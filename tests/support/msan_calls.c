/* System calls that MemorySanitizer of LLVM 14 does not know since glibc 2.33: it would take their
 * results for uninitialised bytes. Empty in all other builds. failing_readdir.c has readdir. */
#include "base/sanitizer.h"

#ifdef TRACETTA_HAS_MSAN
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's struct stat is that of the C library on 64-bit machines. */
int fstatat(int fd, const char *restrict path, struct stat *restrict about, int flags)
{
    const int result = (int)syscall(SYS_newfstatat, fd, path, about, flags);
    if (result == 0)
        sanitizer_mark_written(about, sizeof *about);
    return result;
}

int stat(const char *restrict path, struct stat *restrict about)
{
    return fstatat(AT_FDCWD, path, about, 0);
}

int lstat(const char *restrict path, struct stat *restrict about)
{
    return fstatat(AT_FDCWD, path, about, AT_SYMLINK_NOFOLLOW);
}

int fstat(int fd, struct stat *about)
{
    return fstatat(fd, "", about, AT_EMPTY_PATH);
}
#else
extern const int msan_calls_are_not_needed;
#endif
