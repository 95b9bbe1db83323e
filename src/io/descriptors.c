/* Pools of descriptors; see the header. */
#include "io/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Half of what the process may have open, within bounds: the rest is its own. */
enum { OPEN_LEAST = 4, OPEN_MOST = 4096 };

struct descriptors {
    const struct alloc *alloc;
    pthread_mutex_t
        mutex; /* over all below, and over `fd`, `users`, `newer`, `older` of the files */
    unsigned holders;
    size_t n, most;                      /* open; most: as many as there should be */
    struct shared_file *newest, *oldest; /* of the open ones */
};

static size_t most_open(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur / 2 < OPEN_LEAST)
        return OPEN_LEAST;
    return limit.rlim_cur / 2 < OPEN_MOST ? (size_t)limit.rlim_cur / 2 : OPEN_MOST;
}

struct descriptors *descriptors_new(const struct alloc *alloc)
{
    struct descriptors *pool = alloc_zero(alloc, 1, sizeof *pool);
    if (!pool)
        return NULL;
    pool->alloc = alloc;
    pool->most = most_open();
    pool->holders = 1;
    (void)pthread_mutex_init(&pool->mutex, NULL); /* cannot fail with default attributes on Linux */
    return pool;
}

struct descriptors *descriptors_hold(struct descriptors *pool)
{
    (void)pthread_mutex_lock(&pool->mutex);
    pool->holders++;
    (void)pthread_mutex_unlock(&pool->mutex);
    return pool;
}

void descriptors_drop(struct descriptors *pool)
{
    if (!pool)
        return;
    (void)pthread_mutex_lock(&pool->mutex);
    bool is_last = --pool->holders == 0;
    (void)pthread_mutex_unlock(&pool->mutex);
    if (!is_last)
        return;
    (void)pthread_mutex_destroy(&pool->mutex);
    alloc_free(pool->alloc, pool, 1, sizeof *pool);
}

/* Puts an open file in front of all others. */
static void add_newest(struct descriptors *pool, struct shared_file *file)
{
    file->newer = NULL;
    file->older = pool->newest;
    *(pool->newest ? &pool->newest->newer : &pool->oldest) = file;
    pool->newest = file;
}

static void take_out(struct descriptors *pool, struct shared_file *file)
{
    *(file->newer ? &file->newer->older : &pool->newest) = file->older;
    *(file->older ? &file->older->newer : &pool->oldest) = file->newer;
}

static void close_file(struct descriptors *pool, struct shared_file *file)
{
    take_out(pool, file);
    pool->n--;
    /* Network file systems tell a full disk only here.  EINTR: the descriptor is closed all the
     * same. */
    if (close(file->fd) != 0 && errno != EINTR)
        file->failed = errno;
    file->fd = -1;
}

/* Closes the file not used for the longest; false where all are in use. */
static bool close_oldest(struct descriptors *pool)
{
    struct shared_file *file = pool->oldest;
    while (file && file->users)
        file = file->newer;
    if (file)
        close_file(pool, file);
    return file != NULL;
}

/* Makes room for one more, where those that are not in use leave it: whether there is. */
static bool make_room(struct descriptors *pool)
{
    if (pool->n >= pool->most)
        pool->most = most_open(); /* which may have been raised since */
    while (pool->n >= pool->most && close_oldest(pool))
        continue;
    return pool->n < pool->most;
}

/* Which file it is, from the first time on. */
static void get_to_know(struct shared_file *file, const struct stat *about)
{
    file->device = about->st_dev;
    file->inode = about->st_ino;
    file->is_known = true;
}

/* The same file as before, or the first time; 0 or the reason. */
static int recognise(struct shared_file *file, int fd)
{
    struct stat about;
    if (fstat(fd, &about) != 0)
        return errno;
    if (file->is_known && (about.st_dev != file->device || about.st_ino != file->inode))
        return ESTALE;
    get_to_know(file, &about);
    return 0;
}

/* Opens a closed file; 0 or the reason. */
static int open_again(struct descriptors *pool, struct shared_file *file)
{
    (void)make_room(pool); /* where all are in use, the system knows how many more there may be */
    int fd;
    do
        fd = open(file->path, file->flags | O_CLOEXEC | O_NOCTTY, 0666);
    while (fd < 0 &&
           (errno == EINTR || ((errno == EMFILE || errno == ENFILE) && close_oldest(pool))));
    if (fd < 0)
        return errno;
    int reason = recognise(file, fd);
    if (reason) {
        (void)close(fd);
        return reason;
    }
    file->flags &= ~(O_CREAT | O_EXCL); /* these were for the first time */
    file->fd = fd;
    add_newest(pool, file);
    pool->n++;
    return 0;
}

bool descriptors_spare(struct descriptors *pool)
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
    struct descriptors *pool = file->pool;
    get_to_know(file, about);
    (void)pthread_mutex_lock(&pool->mutex);
    bool has_room = make_room(pool);
    file->fd = has_room ? fd : -1;
    if (has_room) {
        add_newest(pool, file);
        pool->n++;
    } else {
        (void)close(fd);
    }
    (void)pthread_mutex_unlock(&pool->mutex);
}

int shared_file_take(struct shared_file *file)
{
    struct descriptors *pool = file->pool;
    (void)pthread_mutex_lock(&pool->mutex);
    int reason = file->fd < 0 ? open_again(pool, file) : 0;
    file->users += reason == 0;
    if (reason == 0 && file != pool->newest) {
        take_out(pool, file);
        add_newest(pool, file);
    }
    int fd = file->fd;
    (void)pthread_mutex_unlock(&pool->mutex);
    errno = reason;
    return fd;
}

void shared_file_give(struct shared_file *file)
{
    int reason = errno; /* of what was done with the descriptor */
    (void)pthread_mutex_lock(&file->pool->mutex);
    file->users--;
    (void)pthread_mutex_unlock(&file->pool->mutex);
    errno = reason;
}

int shared_file_close(struct shared_file *file)
{
    struct descriptors *pool = file->pool;
    (void)pthread_mutex_lock(&pool->mutex);
    if (file->fd >= 0)
        close_file(pool, file);
    (void)pthread_mutex_unlock(&pool->mutex);
    return file->failed;
}
