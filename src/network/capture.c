/* Creation, rotation and appending of the files of a source. */
#include "network/capture.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "io/socket.h"

#define NUMBERS_MAX 999999u /* highest number of a source in a folder */

void capture_init(struct capture *capture, const char *folder, const char *peer,
                  const char *extension)
{
    *capture = (struct capture){.fd = -1, .folder = folder, .extension = extension};
    (void)snprintf(capture->stem, sizeof capture->stem, "%.100s", peer);
    for (char *at = capture->stem; *at; at++)
        if (!isalnum((unsigned char)*at) && *at != '.')
            *at = '-';
}

static ttr_status open_capture_file(struct capture *capture, ttr_error *error)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOCTTY;
    capture->fd = capture->is_folder ? -1 : open(capture->path, flags, 0666);
    if (capture->is_folder ? mkdir(capture->path, 0777) != 0 : capture->fd < 0)
        return fail_sys(error, errno, NO_OFFSET, "cannot create %s", capture->path);
    capture->size = 0;
    capture->begun_ms = socket_now_ms();
    capture->part++;
    return TTR_OK;
}

ttr_status capture_create(struct capture *capture, unsigned *number, ttr_error *error)
{
    char name[sizeof capture->stem];
    (void)snprintf(name, sizeof name, "%.119s", capture->stem);
    ttr_status status = TTR_E_IO;
    for (; status != TTR_OK && *number <= NUMBERS_MAX; ++*number) {
        (void)snprintf(capture->stem, sizeof capture->stem, "%04u-%.119s", *number, name);
        int n = snprintf(capture->path, sizeof capture->path, "%s/%s%s%s", capture->folder,
                         capture->stem, *capture->extension ? "." : "", capture->extension);
        if (n < 0 || (size_t)n >= sizeof capture->path)
            return fail(error, TTR_E_LIMIT, NO_OFFSET, "the path of %s is too long",
                        capture->folder);
        status = open_capture_file(capture, error);
        if (status != TTR_OK && errno != EEXIST)
            return status;
    }
    return status;
}

ttr_status capture_rotate(struct capture *capture, ttr_error *error)
{
    ttr_status status = capture_close(capture, error);
    if (status != TTR_OK)
        return status;
    int n = snprintf(capture->path, sizeof capture->path, "%s/%s.%04u%s%s", capture->folder,
                     capture->stem, capture->part + 1, *capture->extension ? "." : "",
                     capture->extension);
    if (n < 0 || (size_t)n >= sizeof capture->path)
        return fail(error, TTR_E_LIMIT, NO_OFFSET, "the path of %s is too long", capture->folder);
    return open_capture_file(capture, error);
}

ttr_status capture_append(struct capture *capture, const uint8_t *bytes, size_t n, size_t *written,
                          ttr_error *error)
{
    *written = 0;
    while (*written < n) {
        ssize_t got = write(capture->fd, bytes + *written, n - *written);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail_sys(error, errno, capture->size, "cannot write %s", capture->path);
        *written += (size_t)got;
        capture->size += (size_t)got;
    }
    return TTR_OK;
}

void capture_truncate(struct capture *capture, uint64_t size)
{
    if (ftruncate(capture->fd, (off_t)size) == 0)
        capture->size = size;
}

ttr_status capture_close(struct capture *capture, ttr_error *error)
{
    int fd = capture->fd;
    capture->fd = -1;
    if (fd >= 0 && close(fd) != 0)
        return fail_sys(error, errno, NO_OFFSET, "cannot write %s", capture->path);
    return TTR_OK;
}
