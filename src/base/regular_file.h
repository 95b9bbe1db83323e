/* Opens files that somebody else names: a trace, an ELF file, or the map of a process. Such a name
 * may lead to a FIFO, which blocks, or to a device, which never ends or acts when it is opened.
 * Header only, so that libtracetta-symbols can use it. */
#ifndef TRACETTA_BASE_REGULAR_FILE_H
#define TRACETTA_BASE_REGULAR_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens a regular file for reading and stores its status. Returns -1 with errno if that fails;
 * errno is EINVAL if the file is not regular. Never blocks, and opens nothing else unless the file
 * is replaced meanwhile. */
static inline int regular_file_open(const char *path, struct stat *about)
{
    if (stat(path, about) != 0)
        return -1;
    /* O_NONBLOCK: a FIFO may have replaced the file since stat */
    int fd = S_ISREG(about->st_mode) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
                                     : (errno = EINVAL, -1);
    if (fd >= 0 && (fstat(fd, about) != 0 || !S_ISREG(about->st_mode))) {
        (void)close(fd);
        errno = EINVAL;
        return -1;
    }
    return fd;
}

/* Returns true if a file belongs to the user of this process or to root. Anybody can create files
 * with known names in a folder such as /tmp. */
static inline bool regular_file_is_trusted(const struct stat *about)
{
    return about->st_uid == 0 || about->st_uid == geteuid();
}

/* Returns true if a path may be passed to a library that opens it without these checks: it names a
 * regular file, or nothing. */
static inline bool open_regular_file_or_none(const char *path)
{
    struct stat about;
    return stat(path, &about) != 0 || S_ISREG(about.st_mode);
}

#endif
