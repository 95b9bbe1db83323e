/* Few descriptors for many files: a file is opened when it is used, and where too many are open,
 * the one not used for the longest is closed for it.
 *
 * Ownership: a shared_file is the user's, stays where it is in memory while it is open, and borrows
 * its path; the pool goes when the last who holds it drops it. Thread rule: the files of a pool may
 * be used by different threads at once, one file by one thread at a time. */
#ifndef TRACETTA_IO_DESCRIPTORS_H
#define TRACETTA_IO_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/alloc.h"

struct descriptors;

struct shared_file {
    struct descriptors *pool;
    const char *path;
    int flags;                         /* for open, whenever it is opened again */
    int fd;                            /* -1 while closed */
    unsigned users;                    /* > 0 between take and give: stays open */
    struct shared_file *newer, *older; /* of the pool's open files, by when they were used last */
    int failed;                        /* errno of a close, told by shared_file_close */
    bool is_known; /* device and inode say which file it was when it was opened first */
    dev_t device;
    ino_t inode;
};

/* A pool that is held once; NULL when memory is out.  Then others that hold it, and the end of
 * holding (NULL is fine). */
struct descriptors *descriptors_new(const struct alloc *alloc);
struct descriptors *descriptors_hold(struct descriptors *pool);
void descriptors_drop(struct descriptors *pool);

/* Closes one that nobody is using just now, for something else to be opened; false where there is
 * none.  Keeps errno then. */
bool descriptors_spare(struct descriptors *pool);

/* Leaves an open descriptor of the file to the pool, which may close it at once; what fstat says of
 * it. */
void shared_file_adopt(struct shared_file *file, int fd, const struct stat *about);

/* The file's descriptor, opened again where it was closed, valid until shared_file_give; -1 with
 * errno.  ESTALE says that the path leads to another file now. */
int shared_file_take(struct shared_file *file);
void shared_file_give(struct shared_file *file);

/* Closes the file where it is open: 0, or the errno of closing (also of the time before, when
 * another file took its place). */
int shared_file_close(struct shared_file *file);

#endif
