/* The output of a manager: an FXT archive that is appended in complete pieces. */
#include <errno.h>
#include <poll.h>
#include <sys/uio.h>
#include <unistd.h>

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

bool archive_write(struct archive *archive, const struct archive_part *parts, size_t n)
{
    struct iovec list[ARCHIVE_PARTS_MAX];
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++) {
        list[i].iov_base = (void *)(uintptr_t)parts[i].bytes;
        list[i].iov_len = parts[i].n;
        bytes += parts[i].n;
    }
    if (archive->reason == 0) {
        archive->reason = write_all_parts(archive->fd, list, (int)n);
        if (archive->reason == 0) {
            archive->whole += bytes;
            return true;
        }
        if (archive->is_regular &&
            ftruncate(archive->fd, (off_t)(archive->start + archive->whole)) == 0)
            (void)lseek(archive->fd, (off_t)(archive->start + archive->whole), SEEK_SET);
    }
    archive->unwritten += bytes;
    return false;
}

void archive_rewrite(struct archive *archive, uint64_t at, uint64_t word)
{
    if (archive->is_regular &&
        pwrite(archive->fd, &word, sizeof word, (off_t)(archive->start + at)) != sizeof word &&
        archive->reason == 0)
        archive->reason = errno;
}
