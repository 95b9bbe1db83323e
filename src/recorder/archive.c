/* The output of a manager: an FXT archive that is appended in complete pieces. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <zstd.h>

#include "base/sanitizer.h"
#include "recorder/recorder.h"

#define WAIT_MS 100

/* Skips `n` bytes of a list of parts. */
static void skip_written_bytes(struct iovec **part, int *parts, size_t n)
{
    while (*parts > 0 && n >= (*part)->iov_len) {
        n -= (*part)->iov_len;
        (*part)++;
        (*parts)--;
    }
    if (*parts > 0) {
        (*part)->iov_base = (uint8_t *)(*part)->iov_base + n;
        (*part)->iov_len -= n;
    }
}

/* Writes all parts. Returns 0 or an errno. */
static int write_all_parts(int fd, struct iovec *part, int parts)
{
    skip_written_bytes(&part, &parts, 0);
    while (parts > 0) {
        const ssize_t n = writev(fd, part, parts);
        struct pollfd wait = {.fd = fd, .events = POLLOUT};
        if (n < 0 && errno == EAGAIN)
            (void)poll(&wait, 1, WAIT_MS);
        else if (n < 0 && errno != EINTR)
            return errno;
        skip_written_bytes(&part, &parts, n > 0 ? (size_t)n : 0);
    }
    return 0;
}

/* --- Compression --- */

#define ZSTD_LEVEL 1

struct archive_zstd {
    ZSTD_CCtx *context;
    uint8_t *plain, *packed; /* the piece as written, and the compressed frame */
    size_t plain_size, packed_size;
};

bool archive_compress(struct archive *archive)
{
    archive->zstd = alloc_zero(alloc_default(), 1, sizeof *archive->zstd);
    if (archive->zstd)
        archive->zstd->context = ZSTD_createCCtx();
    return archive->zstd && archive->zstd->context;
}

void archive_free(struct archive *archive)
{
    archive_index_free(&archive->index);
    struct archive_zstd *zstd = archive->zstd;
    if (!zstd)
        return;
    (void)ZSTD_freeCCtx(zstd->context);
    alloc_free(alloc_default(), zstd->plain, zstd->plain_size, 1);
    alloc_free(alloc_default(), zstd->packed, zstd->packed_size, 1);
    alloc_free(alloc_default(), zstd, 1, sizeof *zstd);
    archive->zstd = NULL;
}

/* Compresses parts to one frame. Returns its size, or 0 without memory. */
static size_t compress_parts(struct archive_zstd *zstd, const struct iovec *part, size_t n,
                             size_t bytes)
{
    const struct alloc *alloc = alloc_default();
    if (!alloc_reserve(alloc, (void **)&zstd->plain, &zstd->plain_size, bytes, 1) ||
        !alloc_reserve(alloc, (void **)&zstd->packed, &zstd->packed_size, ZSTD_compressBound(bytes),
                       1))
        return 0;
    for (size_t i = 0, at = 0; i < n; at += part[i++].iov_len)
        if (part[i].iov_len)
            memcpy(zstd->plain + at, part[i].iov_base, part[i].iov_len);
    const size_t size = ZSTD_compressCCtx(zstd->context, zstd->packed, zstd->packed_size,
                                          zstd->plain, bytes, ZSTD_LEVEL);
    if (ZSTD_isError(size))
        return 0;
    sanitizer_mark_written(zstd->packed, size);
    return size;
}

/* --- Writing --- */

/* Writes a piece to the second output. A failure ends that output alone. */
static void write_live(struct archive *archive, struct iovec *part, size_t n)
{
    if (archive->live_fd && write_all_parts(archive->live_fd, part, (int)n) != 0)
        archive->live_fd = 0;
}

/* Writes the parts, compressed if the archive is. Returns the bytes in the file, or 0 with
 * `reason` set. */
static size_t write_file_piece(struct archive *archive, struct iovec *part, size_t n, size_t bytes)
{
    if (archive->zstd) {
        const size_t size = compress_parts(archive->zstd, part, n, bytes);
        struct iovec frame = {archive->zstd->packed, size};
        archive->reason = size ? write_all_parts(archive->fd, &frame, 1) : ENOMEM;
        return archive->reason ? 0 : size;
    }
    archive->reason = write_all_parts(archive->fd, part, (int)n);
    return archive->reason ? 0 : bytes;
}

/* Truncates the file to its complete pieces after a failed write. */
static void cut_file(const struct archive *archive)
{
    const off_t end = (off_t)(archive->start + archive->whole);
    if (archive->is_regular && ftruncate(archive->fd, end) == 0)
        (void)lseek(archive->fd, end, SEEK_SET);
}

void archive_end_file(struct archive *archive)
{
    const uint64_t n = archive_index_size(&archive->index);
    const bool is_indexed = archive->is_regular && !archive->zstd && archive->start == 0 &&
                            archive->reason == 0 && archive->index.n > 0;
    uint64_t *words = is_indexed ? alloc_zero(alloc_default(), n / 8, 8) : NULL;
    if (!words)
        return;
    const size_t words_n = archive_index_write(&archive->index, archive->whole, words);
    struct iovec part = {words, words_n * 8};
    if (write_all_parts(archive->fd, &part, 1) == 0)
        archive->whole += n;
    else
        cut_file(archive);
    alloc_free(alloc_default(), words, n / 8, 8);
    archive_index_start(&archive->index);
}

bool archive_write(struct archive *archive, const struct archive_part *parts, size_t n)
{
    struct iovec list[ARCHIVE_PARTS_MAX];
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++) {
        list[i].iov_base = (void *)(uintptr_t)parts[i].bytes;
        list[i].iov_len = parts[i].n;
        bytes += parts[i].n;
    }
    if (archive->reason == 0 && archive->max_bytes &&
        archive->before + archive->whole + bytes + archive_index_size(&archive->index) >
            archive->max_bytes)
        archive->reason = ARCHIVE_LIMIT;
    if (archive->reason == 0) {
        struct iovec copy[ARCHIVE_PARTS_MAX];
        memcpy(copy, list, n * sizeof *list);
        const size_t written = bytes ? write_file_piece(archive, list, n, bytes) : 0;
        if (archive->reason == 0) {
            archive->whole += written;
            write_live(archive, copy, n);
            return true;
        }
        cut_file(archive);
    }
    archive->unwritten += bytes;
    return false;
}

bool archive_start(struct archive *archive, int fd)
{
    struct stat about;
    const uint64_t magic = TRACE_FXT_MAGIC;
    const struct archive_part head = {&magic, sizeof magic};
    const off_t at = lseek(fd, 0, SEEK_CUR);
    const int live_fd = archive->live_fd;
    const bool is_next = archive->whole > 0;
    archive->fd = fd;
    archive->is_regular = fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && at >= 0;
    archive->has_name = archive->is_regular && about.st_nlink > 0;
    archive->start = at > 0 ? (uint64_t)at : 0;
    archive->before += archive->whole;
    archive->whole = 0;
    archive_index_start(&archive->index);
    archive->live_fd = is_next ? 0 : live_fd;
    const bool is_written = archive_write(archive, &head, 1);
    if (is_next)
        archive->live_fd = live_fd;
    return is_written;
}

void archive_check_name(struct archive *archive)
{
    struct stat about;
    if (archive->has_name && archive->reason == 0 && fstat(archive->fd, &about) == 0 &&
        about.st_nlink == 0)
        archive->reason = ARCHIVE_DELETED;
}

const char *archive_explain_reason(int reason)
{
    if (reason == ARCHIVE_DELETED)
        return "the file was deleted";
    return reason == ARCHIVE_LIMIT ? "the size limit is reached" : strerror(reason);
}

void archive_rewrite(struct archive *archive, uint64_t at, uint64_t word)
{
    if (archive->is_regular && !archive->zstd &&
        pwrite(archive->fd, &word, sizeof word, (off_t)(archive->start + at)) != sizeof word &&
        archive->reason == 0)
        archive->reason = errno;
}

uint64_t recorder_now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}
