/* A pool of file descriptors for more files than a process can have open. A file is opened when it
 * is used. If too many are open, the least recently used one is closed. Ownership: the caller owns
 * a shared_file and its path, and must not move it while it is open. The pool is reference-counted.
 * Threads: different files of a pool may be used by different threads at once, one file by one
 * thread at a time. */
#ifndef TRACETTA_IO_DESCRIPTOR_POOL_H
#define TRACETTA_IO_DESCRIPTOR_POOL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/alloc.h"

struct descriptor_pool;

struct shared_file {
    struct descriptor_pool *pool;
    const char *path;
    int flags; /* flags for open, also when it is reopened */
    int fd;    /* descriptor, -1 while the file is closed */
    /* number of shared_file_acquire calls that were not released yet; the file stays open while it
     * is > 0 */
    unsigned users;
    /* neighbours in the pool's list of open files, by last use */
    struct shared_file *newer, *older;
    int failed;    /* errno of a failed close, returned by shared_file_close */
    bool is_known; /* device and inode were recorded when the file was opened first */
    dev_t device;
    ino_t inode;
};

/* descriptor_pool_new creates a pool with one reference, or returns NULL if memory runs out.
 * descriptor_pool_ref adds a reference; descriptor_pool_unref removes one and frees the pool after
 * the last (NULL is allowed). */
struct descriptor_pool *descriptor_pool_new(const struct alloc *alloc);
struct descriptor_pool *descriptor_pool_ref(struct descriptor_pool *pool);
void descriptor_pool_unref(struct descriptor_pool *pool);

/* Closes an idle file of the pool, so that the process can open another file. Returns false if all
 * are in use. Preserves errno. */
bool descriptor_pool_close_idle(struct descriptor_pool *pool);

/* Transfers an open descriptor of the file to the pool, which may close it at once. `about` is the
 * result of fstat. */
void shared_file_adopt(struct shared_file *file, int fd, const struct stat *about);

/* shared_file_acquire returns the file's descriptor, reopened if it was closed, and keeps it open
 * until shared_file_release. Returns -1 and sets errno on failure; ESTALE if the path now names
 * another file. */
int shared_file_acquire(struct shared_file *file);
void shared_file_release(struct shared_file *file);

/* Closes the file if it is open. Returns 0, or the errno of this or an earlier close. */
int shared_file_close(struct shared_file *file);

#endif
