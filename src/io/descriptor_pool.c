/* A cache of file descriptors with least-recently-used replacement: a doubly linked list of the
 * open files, the most recently used first. */
#include "io/descriptor_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* The pool uses at most half of the process's limit of descriptors, and between these bounds. */
enum { OPEN_MIN = 4, OPEN_MAX = 4096 };

struct descriptor_pool {
    const struct alloc *alloc;
    pthread_mutex_t
        mutex; /* protects all members below, and `fd`, `users`, `newer`, `older` of the files */
    unsigned references;
    size_t n, n_max; /* number of open files, and its maximum */
    /* ends of the list of open files, which is ordered by last use */
    struct shared_file *newest, *oldest;
};

static size_t get_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur / 2 < OPEN_MIN)
        return OPEN_MIN;
    return limit.rlim_cur / 2 < OPEN_MAX ? (size_t)limit.rlim_cur / 2 : OPEN_MAX;
}

struct descriptor_pool *descriptor_pool_new(const struct alloc *alloc)
{
    struct descriptor_pool *pool = alloc_zero(alloc, 1, sizeof *pool);
    if (!pool)
        return NULL;
    pool->alloc = alloc;
    pool->n_max = get_descriptor_limit();
    pool->references = 1;
    /* pthread_mutex_init cannot fail here: Linux allocates nothing for default attributes */
    (void)pthread_mutex_init(&pool->mutex, NULL);
    return pool;
}

struct descriptor_pool *descriptor_pool_ref(struct descriptor_pool *pool)
{
    (void)pthread_mutex_lock(&pool->mutex);
    pool->references++;
    (void)pthread_mutex_unlock(&pool->mutex);
    return pool;
}

void descriptor_pool_unref(struct descriptor_pool *pool)
{
    if (!pool)
        return;
    (void)pthread_mutex_lock(&pool->mutex);
    bool is_last = --pool->references == 0;
    (void)pthread_mutex_unlock(&pool->mutex);
    if (!is_last)
        return;
    (void)pthread_mutex_destroy(&pool->mutex);
    alloc_free(pool->alloc, pool, 1, sizeof *pool);
}

/* Inserts an open file as the most recently used. */
static void insert_newest(struct descriptor_pool *pool, struct shared_file *file)
{
    file->newer = NULL;
    file->older = pool->newest;
    *(pool->newest ? &pool->newest->newer : &pool->oldest) = file;
    pool->newest = file;
}

static void remove_from_list(struct descriptor_pool *pool, struct shared_file *file)
{
    *(file->newer ? &file->newer->older : &pool->newest) = file->older;
    *(file->older ? &file->older->newer : &pool->oldest) = file->newer;
}

static void close_file(struct descriptor_pool *pool, struct shared_file *file)
{
    remove_from_list(pool, file);
    pool->n--;
    /* Network file systems report a full disk only at close. EINTR is not a failure: Linux closes
     * the descriptor. */
    if (close(file->fd) != 0 && errno != EINTR)
        file->failed = errno;
    file->fd = -1;
}

/* Closes the least recently used file that is not in use. Returns false if all are in use. */
static bool close_oldest(struct descriptor_pool *pool)
{
    struct shared_file *file = pool->oldest;
    while (file && file->users)
        file = file->newer;
    if (file)
        close_file(pool, file);
    return file != NULL;
}

/* Closes idle files until the pool may open one more. Returns false if all open files are in
 * use. */
static bool close_files_until_free(struct descriptor_pool *pool)
{
    if (pool->n >= pool->n_max)
        pool->n_max = get_descriptor_limit(); /* the process may have raised its limit meanwhile */
    while (pool->n >= pool->n_max && close_oldest(pool))
        continue;
    return pool->n < pool->n_max;
}

/* Records device and inode of a file when it is opened for the first time. */
static void record_identity(struct shared_file *file, const struct stat *about)
{
    file->device = about->st_dev;
    file->inode = about->st_ino;
    file->is_known = true;
}

/* Checks that an opened file is the one opened before; records its identity at the first open.
 * Returns 0 or an errno; ESTALE if it is another file. */
static int check_identity(struct shared_file *file, int fd)
{
    struct stat about;
    if (fstat(fd, &about) != 0)
        return errno;
    if (file->is_known && (about.st_dev != file->device || about.st_ino != file->inode))
        return ESTALE;
    record_identity(file, &about);
    return 0;
}

/* Opens a closed file. If descriptors run out, closes idle files and tries again. Returns 0 or an
 * errno. */
static int reopen_file(struct descriptor_pool *pool, struct shared_file *file)
{
    (void)close_files_until_free(
        /* if all files are in use, one more may still be possible: only the system knows the real
         * limit */
        pool);
    int fd;
    do
        fd = open(file->path, file->flags | O_CLOEXEC | O_NOCTTY, 0666);
    while (fd < 0 &&
           (errno == EINTR || ((errno == EMFILE || errno == ENFILE) && close_oldest(pool))));
    if (fd < 0)
        return errno;
    int reason = check_identity(file, fd);
    if (reason) {
        (void)close(fd);
        return reason;
    }
    file->flags &= ~(O_CREAT | O_EXCL); /* only the first open may create the file */
    file->fd = fd;
    insert_newest(pool, file);
    pool->n++;
    return 0;
}

bool descriptor_pool_close_idle(struct descriptor_pool *pool)
{
    int reason = errno;
    (void)pthread_mutex_lock(&pool->mutex);
    bool is_spared = close_oldest(pool);
    (void)pthread_mutex_unlock(&pool->mutex);
    errno = reason;
    return is_spared;
}

void shared_file_adopt(struct shared_file *file, int fd, const struct stat *about)
{
    struct descriptor_pool *pool = file->pool;
    record_identity(file, about);
    (void)pthread_mutex_lock(&pool->mutex);
    bool has_room = close_files_until_free(pool);
    file->fd = has_room ? fd : -1;
    if (has_room) {
        insert_newest(pool, file);
        pool->n++;
    } else {
        (void)close(fd);
    }
    (void)pthread_mutex_unlock(&pool->mutex);
}

int shared_file_acquire(struct shared_file *file)
{
    struct descriptor_pool *pool = file->pool;
    (void)pthread_mutex_lock(&pool->mutex);
    int reason = file->fd < 0 ? reopen_file(pool, file) : 0;
    file->users += reason == 0;
    if (reason == 0 && file != pool->newest) {
        remove_from_list(pool, file);
        insert_newest(pool, file);
    }
    int fd = file->fd;
    (void)pthread_mutex_unlock(&pool->mutex);
    errno = reason;
    return fd;
}

void shared_file_release(struct shared_file *file)
{
    int reason = errno; /* preserves errno of the caller's I/O */
    (void)pthread_mutex_lock(&file->pool->mutex);
    file->users--;
    (void)pthread_mutex_unlock(&file->pool->mutex);
    errno = reason;
}

int shared_file_close(struct shared_file *file)
{
    struct descriptor_pool *pool = file->pool;
    (void)pthread_mutex_lock(&pool->mutex);
    if (file->fd >= 0)
        close_file(pool, file);
    (void)pthread_mutex_unlock(&pool->mutex);
    return file->failed;
}
