/* The mapped window: a mapping of a few MiB that slides over a regular file, so that resident
 * memory stays flat however large the file is.  Also the question whether a file may be mapped at
 * all.
 *
 * A mapped file that is cut short by someone else kills the reader with SIGBUS.  So only local
 * files that nobody has open for writing are mapped, the size is asked again at every fill, and
 * everything else is read by pread (source_stream.c).  Left: a file opened for writing and cut
 * while its window is being read. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <linux/magic.h>

#include "base/status.h"
#include "io/source_window.h"

enum {
    MAPPED_CHUNK = 4 << 20,
    MAPPED_LEAST = 64 << 10, /* below, one pread is cheaper than a mapping and its page faults */
    QUIET_SECONDS =
        10 /* a file untouched for so long is taken as finished when the kernel does not tell */
};

/* File systems whose pages stay ours: not in linux/magic.h are XFS, ZFS and exFAT. */
static bool is_local(int fd)
{
    static const uint32_t local[] = {
        EXT4_SUPER_MAGIC, 0x58465342 /* XFS */, BTRFS_SUPER_MAGIC,     TMPFS_MAGIC,
        F2FS_SUPER_MAGIC, 0x2fc12fc1 /* ZFS */, OVERLAYFS_SUPER_MAGIC, RAMFS_MAGIC,
        SQUASHFS_MAGIC,   ISOFS_SUPER_MAGIC,    EROFS_SUPER_MAGIC_V1,  MSDOS_SUPER_MAGIC,
        0x2011bab0 /* exFAT */};
    struct statfs system;
    if (fstatfs(fd, &system) != 0)
        return false;
    for (size_t i = 0; i < sizeof local / sizeof *local; i++)
        if ((uint32_t)system.f_type == local[i])
            return true;
    return false;
}

/* Asks the kernel for a read lease, which it refuses while anybody has the file open for writing,
 * and gives it back at once. If someone opens the file just then we are signalled: by SIGURG, which
 * does nothing, not by SIGIO, which would end us. */
static bool is_being_written(int fd, const struct stat *about)
{
    (void)fcntl(fd, F_SETSIG, SIGURG);
    int probe = fcntl(fd, F_SETLEASE, F_RDLCK);
    int reason = errno;
    if (probe == 0)
        (void)fcntl(fd, F_SETLEASE, F_UNLCK);
    (void)fcntl(fd, F_SETSIG, 0);
    if (probe == 0 || reason == EAGAIN)
        return probe != 0;
    return time(NULL) - about->st_mtime < QUIET_SECONDS; /* not ours to lease: judge by age */
}

bool source_file_is_safe_to_map(int fd)
{
    struct stat about;
    return fstat(fd, &about) == 0 && about.st_size >= MAPPED_LEAST && is_local(fd) &&
           !is_being_written(fd, &about);
}

static void unmap(struct source *source)
{
    if (source->in.mapped.map)
        (void)munmap(source->in.mapped.map, source->in.mapped.n);
    source->in.mapped.map = NULL;
    source->in.mapped.n = 0;
}

/* Maps the file from the page of `from` on, for at least `least` bytes (1 <= least <= left, the
 * bytes from `from` to its end). The old window goes first: two would count twice. */
static bool map_at(struct source *source, uint64_t from, uint64_t least, uint64_t left)
{
    unmap(source);
    uint64_t at = from - from % source->in.mapped.page;
    uint64_t want = source->chunk ? source->chunk : MAPPED_CHUNK;
    want = want < least ? least : want;
    want = want < left ? want : left;
    want += from - at;
    if (want > SIZE_MAX / 2) {
        errno = ENOMEM;
        return false;
    }
    void *map = mmap(NULL, (size_t)want, PROT_READ, MAP_PRIVATE, source->in.mapped.fd, (off_t)at);
    if (map == MAP_FAILED)
        return false;
    (void)madvise(map, (size_t)want, MADV_SEQUENTIAL); /* only advice */
    source->in.mapped.map = map;
    source->in.mapped.n = (size_t)want;
    source->in.mapped.at = at;
    return true;
}

static bool covers(const struct source *source, uint64_t from, uint64_t least)
{
    uint64_t at = source->in.mapped.at, n = source->in.mapped.n;
    return source->in.mapped.map && from >= at && from - at <= n && n - (from - at) >= least;
}

/* Moves the window with the descriptor at hand. */
static ttr_status fill_from(struct source *source, uint64_t offset, size_t need, ttr_error *error)
{
    struct stat about;
    if (fstat(source->in.mapped.fd, &about) != 0)
        return fail_sys(error, errno, offset, "cannot ask for the size of %s", source->name);
    uint64_t start = source->in.mapped.start, size = (uint64_t)about.st_size;
    uint64_t left = size > start && size - start > offset ? size - start - offset : 0;
    uint64_t least = need < left ? need : left;
    if (least == 0 && left > 0)
        least = 1;
    if (left == 0) {
        source->shown.at_end = true;
        return TTR_OK;
    }
    uint64_t from = start + offset;
    if (!covers(source, from, least) && !map_at(source, from, least, left))
        return fail_sys(error, errno, offset, "cannot map %s at byte %llu; try without mapping",
                        source->name, (unsigned long long)from);
    size_t before = (size_t)(from - source->in.mapped.at);
    uint64_t n = source->in.mapped.n - before;
    source->shown.bytes = source->in.mapped.map + before;
    source->shown.n = (size_t)(n < left ? n : left);
    source->shown.at_end = source->shown.n == left;
    return TTR_OK;
}

static ttr_status mapped_fill(struct source *source, uint64_t offset, size_t need, ttr_error *error)
{
    source->shown =
        (struct window){.bytes = source_nothing, .n = 0, .offset = offset, .at_end = false};
    source->in.mapped.fd = feed_take_fd(source->disk);
    if (source->in.mapped.fd < 0)
        return fail_sys(error, errno, offset, "cannot open %s again", source->name);
    ttr_status status = fill_from(source, offset, need, error);
    feed_give_fd(source->disk);
    return status;
}

const struct source_ops source_mapped_ops = {.fill = mapped_fill, .close = unmap};
