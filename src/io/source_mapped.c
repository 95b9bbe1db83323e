/* The mapped window: a mapping of 4 MiB that is moved over a regular file, so that resident memory
 * stays constant for any file size. Also decides whether a file is safe to map.
 *
 * If another process truncates a mapped file, reading it raises SIGBUS. Therefore only local files
 * that are not open for writing are mapped, and each fill checks the size again. All others are
 * read with pread (source_buffered.c). Left out: protection against a file that is opened for
 * writing and truncated while its window is read. */
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
    /* bytes; a smaller file is cheaper to read with one pread than to map and page in */
    MAPPED_FILE_MIN = 64 << 10,
    FINISHED_AFTER_SECONDS =
        /* seconds; if the kernel cannot report writers, a file counts as finished when it was not
         * modified for this time */
    10
};

/* Returns true for local file systems, where pages of a file cannot disappear. XFS, ZFS and exFAT
 * are missing in linux/magic.h. */
static bool is_local_file_system(int fd)
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

/* Returns true if a process has the file open for writing; the kernel then refuses a read lease. A
 * lease is given back at once. If the file is opened for writing in between, the kernel sends a
 * signal: SIGURG, ignored by default, instead of SIGIO, which would terminate the process. */
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
    /* only the file's owner gets a lease; for others the age of the file decides */
    return time(NULL) - about->st_mtime < FINISHED_AFTER_SECONDS;
}

bool source_is_safe_to_map(int fd)
{
    struct stat about;
    return fstat(fd, &about) == 0 && about.st_size >= MAPPED_FILE_MIN && is_local_file_system(fd) &&
           !is_being_written(fd, &about);
}

static void unmap_window(struct source *source)
{
    if (source->in.mapped.map)
        (void)munmap(source->in.mapped.map, source->in.mapped.n);
    source->in.mapped.map = NULL;
    source->in.mapped.n = 0;
}

/* Maps bytes of the file from the page that contains offset `from` on: at least `least`, at most
 * `left`, the rest of the file. Unmaps the old window first, so that only one is in resident
 * memory. Returns false if mapping fails. */
static bool map_range(struct source *source, uint64_t from, uint64_t least, uint64_t left)
{
    unmap_window(source);
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
    (void)madvise(map, (size_t)want, MADV_SEQUENTIAL); /* a hint: failure is harmless */
    source->in.mapped.map = map;
    source->in.mapped.n = (size_t)want;
    source->in.mapped.at = at;
    return true;
}

static bool is_range_mapped(const struct source *source, uint64_t from, uint64_t least)
{
    uint64_t at = source->in.mapped.at, n = source->in.mapped.n;
    return source->in.mapped.map && from >= at && from - at <= n && n - (from - at) >= least;
}

/* Moves the window to `offset`, using the descriptor in source->in.mapped.fd. */
static ttr_status fill_with_descriptor(struct source *source, uint64_t offset, size_t need,
                                       ttr_error *error)
{
    struct stat about;
    if (fstat(source->in.mapped.fd, &about) != 0)
        return fail_sys(error, errno, offset, "cannot get the size of %s", source->name);
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
    if (!is_range_mapped(source, from, least) && !map_range(source, from, least, left))
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
        (struct window){.bytes = source_empty_window, .n = 0, .offset = offset, .at_end = false};
    source->in.mapped.fd = stream_raw_acquire_fd(source->disk);
    if (source->in.mapped.fd < 0)
        return fail_sys(error, errno, offset, "cannot open %s again", source->name);
    ttr_status status = fill_with_descriptor(source, offset, need, error);
    stream_raw_release_fd(source->disk);
    return status;
}

const struct source_ops source_mapped_ops = {.fill = mapped_fill, .close = unmap_window};
