/* Output files that appear completely or not at all: written under a temporary name in the target's
 * folder and renamed at the end.
 *
 * Left out: fsync, because a trace can be written again and waiting for the disk is the caller's
 * decision; SIGPIPE, which belongs to the program. If SIGPIPE is ignored, a closed pipe is reported
 * as EPIPE. */
#include "io/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/status.h"
#include "io/temporary_path.h"

#define UNBUFFERED_MIN ((size_t)8 << 10) /* bytes; writes of this size bypass the buffer */

enum { BUFFER_SIZE = 256 << 10 };

struct sink {
    const struct alloc *alloc;
    struct sink_part part; /* callbacks of a file in a folder (folder_sink.c); part.end may be NULL
                            * */
    int fd;                /* descriptor; -1 if the callback part.push writes instead */
    /* unnamed temporary file that delays all output until sink_finish; -1 = none */
    int held_fd;
    uint8_t *prefix; /* bytes to write before the contents of held_fd */
    size_t prefix_n;
    bool is_owned; /* sink_finish closes fd; false for standard output */
    bool overwrite;
    char *target;    /* final path, or a name for messages such as "standard output" */
    char *temporary; /* path of the temporary file; NULL if the target is written directly */
    size_t target_size, temporary_size;
    uint8_t *buffer; /* allocated at the first buffered write */
    size_t n, buffer_size;
    uint64_t offset; /* number of bytes accepted so far */
    bool failed;
    ttr_error failure;
};

/* Drops the temporary path without unlinking it: the file was renamed or never created. */
static void clear_temporary_path(struct sink *sink)
{
    alloc_free(sink->alloc, sink->temporary, sink->temporary_size, 1);
    sink->temporary = NULL;
}

static void sink_free(struct sink *sink)
{
    if (sink->is_owned && sink->fd >= 0)
        (void)close(sink->fd); /* the descriptor is still open if the output is abandoned */
    if (sink->held_fd >= 0)
        (void)close(sink->held_fd);
    if (sink->temporary)
        (void)unlink(sink->temporary);
    if (sink->part.end)
        (void)sink->part.end(sink->part.ctx, false);
    clear_temporary_path(sink);
    alloc_free(sink->alloc, sink->prefix, sink->prefix_n, 1);
    alloc_free(sink->alloc, sink->target, sink->target_size, 1);
    alloc_free(sink->alloc, sink->buffer, sink->buffer_size, 1);
    alloc_free(sink->alloc, sink, 1, sizeof *sink);
}

/* Allocates a sink without a destination. Returns NULL with `error` if memory runs out. */
static struct sink *sink_new(const struct alloc *alloc, const char *target, ttr_error *error)
{
    struct sink *sink = alloc_zero(alloc, 1, sizeof *sink);
    if (sink) {
        sink->alloc = alloc;
        sink->fd = -1;
        sink->held_fd = -1;
        sink->target_size = strlen(target) + 1;
        sink->target = alloc_zero(alloc, sink->target_size, 1);
        sink->buffer_size = BUFFER_SIZE;
    }
    if (!sink || !sink->target) {
        if (sink)
            sink_free(sink);
        (void)fail_memory(error);
        return NULL;
    }
    memcpy(sink->target, target, sink->target_size);
    return sink;
}

const char *sink_error_advice(int reason)
{
    switch (reason) {
    case ENOSPC:
    case EDQUOT:
        return " (free some space or write elsewhere)";
    case ENOENT:
    case ENOTDIR:
        return " (is there such a folder?)";
    case EACCES:
    case EPERM:
    case EROFS:
        return " (is its folder writable?)";
    default:
        return "";
    }
}

/* Returns the stored first failure. Each call after a failure does so. */
static ttr_status repeat_failure(const struct sink *sink, ttr_error *error)
{
    if (error)
        *error = sink->failure;
    return sink->failure.status;
}

static ttr_status fail_write(struct sink *sink, int reason, ttr_error *error)
{
    sink->failed = true;
    (void)fail_sys(&sink->failure, reason, sink->offset, "cannot write %s%s", sink->target,
                   reason == ENOSPC || reason == EDQUOT ? sink_error_advice(reason) : "");
    return repeat_failure(sink, error);
}

/* Writes at least one byte, waiting if a non-blocking descriptor is full. Returns the count, or -1
 * with errno. */
static int64_t write_some(const struct sink *sink, const void *bytes, size_t n)
{
    for (;;) {
        errno = 0;
        int64_t put = sink->held_fd < 0 && sink->part.push
                          ? sink->part.push(sink->part.ctx, bytes, n)
                          : write(sink->held_fd >= 0 ? sink->held_fd : sink->fd, bytes, n);
        if (put > 0 && (uint64_t)put <= n)
            return put;
        if (put >= 0 || errno == 0)
            errno = EIO;
        if (errno == EAGAIN && sink->fd >= 0)
            (void)poll(&(struct pollfd){.fd = sink->fd, .events = POLLOUT}, 1, -1);
        else if (errno != EINTR && errno != EAGAIN)
            return -1;
    }
}

static ttr_status write_all_bytes(struct sink *sink, const uint8_t *bytes, size_t n,
                                  ttr_error *error)
{
    while (n) {
        int64_t put = write_some(sink, bytes, n);
        if (put < 0)
            return fail_write(sink, errno, error);
        bytes += put;
        n -= (size_t)put;
    }
    return TTR_OK;
}

/* Creates the temporary file with the mode that umask permits. mkostemp would create it with mode
 * 0600; widening that needs the umask, which cannot be read without changing it for all threads. */
static bool create_temporary(struct sink *sink, ttr_error *error)
{
    size_t size = sink->target_size + TEMPORARY_SUFFIX_MAX;
    sink->temporary = alloc_zero(sink->alloc, size, 1);
    sink->temporary_size = size;
    if (!sink->temporary) {
        (void)fail_memory(error);
        return false;
    }
    for (int i = 0; i < TEMPORARY_TRIES_MAX && sink->fd < 0; i++) {
        temporary_path(sink->temporary, size, sink->target);
        sink->fd = open(sink->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
        if (sink->fd < 0 && errno != EEXIST && errno != EINTR)
            break;
    }
    sink->is_owned = true;
    if (sink->fd >= 0)
        return true;
    int reason = errno;
    clear_temporary_path(sink);
    if ((reason == EACCES || reason == EPERM || reason == EROFS) && access(sink->target, W_OK) == 0)
        (void)fail_sys(error, reason, NO_OFFSET,
                       "cannot replace %s: it is writable, but its folder is not, and a temporary "
                       "file is needed there; "
                       "write elsewhere, or to standard output redirected into it",
                       sink->target);
    else
        (void)fail_sys(error, reason, NO_OFFSET, "cannot create %s%s", sink->target,
                       sink_error_advice(reason));
    return false;
}

/* Changes owner and permissions of the new file to those of the file that it replaces, as far as
 * permitted. */
static void copy_owner_and_mode(const struct sink *sink, const struct stat *old)
{
    struct stat now;
    mode_t mode = old->st_mode & 07777;
    bool is_same =
        fstat(sink->fd, &now) == 0 && now.st_uid == old->st_uid && now.st_gid == old->st_gid;
    if (!is_same && fchown(sink->fd, old->st_uid, old->st_gid) != 0)
        /* set-user-id and set-group-id bits are not copied to a file of another owner */
        mode &= 0777;
    (void)fchmod(sink->fd, mode);
}

/* Connects to a Unix socket, because open() refuses sockets. Returns 0 or an errno. */
static int connect_socket(struct sink *sink)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (sink->target_size > sizeof address.sun_path)
        return ENAMETOOLONG;
    memcpy(address.sun_path, sink->target, sink->target_size);
    sink->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (sink->fd < 0 || connect(sink->fd, (const struct sockaddr *)&address, sizeof address) != 0)
        return errno;
    return 0;
}

/* Opens a device, FIFO or socket to write to it directly. Returns false with `error` on failure. */
static bool open_special_file(struct sink *sink, bool is_socket, ttr_error *error)
{
    sink->is_owned = true;
    int reason = 0;
    if (is_socket) {
        reason = connect_socket(sink);
    } else {
        do
            sink->fd = open(sink->target, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        while (sink->fd < 0 && errno == EINTR);
        reason = sink->fd < 0 ? errno : 0;
    }
    if (reason)
        (void)fail_sys(error, reason, NO_OFFSET, "cannot open %s for writing", sink->target);
    return reason == 0;
}

/* Prepares the replacement of an existing regular file. Resolves links first, so that a link stays
 * a link. */
static bool open_replacement(struct sink *sink, const struct stat *old, ttr_error *error)
{
    char real[PATH_MAX];
    if (!realpath(sink->target, real)) {
        (void)fail_sys(error, errno, NO_OFFSET, "cannot resolve the path %s", sink->target);
        return false;
    }
    size_t size = strlen(real) + 1;
    char *target = alloc_resize(sink->alloc, sink->target, sink->target_size, size, 1);
    if (!target) {
        (void)fail_memory(error);
        return false;
    }
    memcpy(target, real, size);
    sink->target = target;
    sink->target_size = size;
    if (!create_temporary(sink, error))
        return false;
    copy_owner_and_mode(sink, old);
    return true;
}

static bool open_target(struct sink *sink, bool overwrite, ttr_error *error)
{
    struct stat about;
    sink->overwrite = overwrite;
    if (!*sink->target) {
        (void)fail(error, TTR_E_MISUSE, NO_OFFSET,
                   "the output name is empty; use \"-\" for standard output");
        return false;
    }
    if (stat(sink->target, &about) == 0) {
        if (S_ISDIR(about.st_mode))
            (void)fail_sys(error, EISDIR, NO_OFFSET, "cannot write %s; name a file in it",
                           sink->target);
        else if (!S_ISREG(about.st_mode))
            return open_special_file(sink, S_ISSOCK(about.st_mode), error);
        else if (overwrite)
            return open_replacement(sink, &about, error);
        else
            (void)fail_sys(
                error, EEXIST, NO_OFFSET,
                "will not overwrite %s; remove it, choose another name, or ask to overwrite",
                sink->target);
        return false;
    }
    /* other errors, for example of a name that is too long, are reported for the target's path, not
     * for the temporary one */
    if (errno != ENOENT) {
        (void)fail_sys(error, errno, NO_OFFSET, "cannot create %s%s", sink->target,
                       sink_error_advice(errno));
        return false;
    }
    if (lstat(sink->target, &about) == 0) {
        (void)fail_sys(error, ENOENT, NO_OFFSET,
                       "%s is a dangling link; remove it or create its target", sink->target);
        return false;
    }
    return create_temporary(sink, error);
}

struct sink *sink_open(const struct alloc *alloc, const char *path, bool overwrite,
                       ttr_error *error)
{
    /* "/dev/stdout" is not opened by name: if it is redirected to a file, that file would be
     * replaced. */
    bool is_stdout = strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
    struct sink *sink = sink_new(alloc, is_stdout ? "standard output" : path, error);
    if (!sink)
        return NULL;
    if (is_stdout) {
        sink->fd = STDOUT_FILENO;
        return sink;
    }
    if (open_target(sink, overwrite, error))
        return sink;
    sink_free(sink);
    return NULL;
}

struct sink *sink_open_callback(const struct alloc *alloc, sink_write_fn push, void *ctx,
                                ttr_error *error)
{
    struct sink *sink = sink_new(alloc, "output", error);
    if (!sink)
        return NULL;
    sink->part = (struct sink_part){.push = push, .ctx = ctx};
    return sink;
}

struct sink *sink_open_part(const struct alloc *alloc, const char *name,
                            const struct sink_part *part, ttr_error *error)
{
    struct sink *sink = sink_new(alloc, name, error);
    if (!sink)
        return NULL;
    sink->part = *part;
    sink->buffer_size = part->buffer_size;
    return sink;
}

ttr_status sink_flush(struct sink *sink, ttr_error *error)
{
    if (sink->failed)
        return repeat_failure(sink, error);
    size_t n = sink->n;
    sink->n = 0;
    return write_all_bytes(sink, sink->buffer, n, error);
}

/* Allocates the buffer if it does not exist. Returns false if memory runs out; all later calls then
 * fail too. */
static bool ensure_buffer(struct sink *sink)
{
    if (!sink->buffer)
        sink->buffer = alloc_resize(sink->alloc, NULL, 0, sink->buffer_size, 1);
    if (sink->buffer)
        return true;
    sink->failed = true;
    (void)fail_memory(&sink->failure);
    return false;
}

ttr_status sink_write_unbuffered(struct sink *sink, const void *bytes, size_t n, ttr_error *error)
{
    if (sink_flush(sink, error) != TTR_OK || write_all_bytes(sink, bytes, n, error) != TTR_OK)
        return sink->failure.status;
    sink->offset += n;
    return TTR_OK;
}

ttr_status sink_write(struct sink *sink, const void *bytes, size_t n, ttr_error *error)
{
    if (n >= sink->buffer_size || n >= UNBUFFERED_MIN)
        return sink_write_unbuffered(sink, bytes, n, error);
    if (sink->failed)
        return repeat_failure(sink, error);
    if (n > sink->buffer_size - sink->n && sink_flush(sink, error) != TTR_OK)
        return sink->failure.status;
    if (n > 0) {
        if (!ensure_buffer(sink))
            return repeat_failure(sink, error);
        memcpy(sink->buffer + sink->n, bytes, n);
        sink->n += n;
    }
    sink->offset += n;
    return TTR_OK;
}

/* --- Overwriting --- */

/* Creates an unnamed file in TMPDIR. Returns its descriptor, or -1 with errno. */
static int create_unnamed_file(void)
{
    char name[4096 + TEMPORARY_SUFFIX_MAX], target[4096];
    const char *folder = getenv("TMPDIR");
    folder = folder && folder[0] ? folder : "/tmp";
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600),
        n = snprintf(target, sizeof target, "%s/tracetta", folder);
    for (int i = 0; i < TEMPORARY_TRIES_MAX && fd < 0 && n > 0 && n < (int)sizeof target;
         i++) { /* for file systems without O_TMPFILE */
        temporary_path(name, sizeof name, target);
        fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd >= 0)
            (void)unlink(name);
        else if (errno != EEXIST && errno != EINTR)
            break;
    }
    return fd;
}

bool sink_can_overwrite(const struct sink *sink)
{
    return sink->held_fd >= 0 || sink->temporary || sink->part.rewrite;
}

ttr_status sink_delay_output(struct sink *sink, ttr_error *error)
{
    if (sink_can_overwrite(sink))
        return TTR_OK;
    if (sink->offset)
        return fail(error, TTR_E_MISUSE, sink->offset,
                    "bytes that are written already cannot be delayed");
    sink->held_fd = create_unnamed_file();
    return sink->held_fd >= 0
               ? TTR_OK
               : fail_sys(error, errno, NO_OFFSET,
                          "%s needs a temporary file; set TMPDIR to a writable folder",
                          sink->target);
}

ttr_status sink_overwrite(struct sink *sink, uint64_t at, const void *bytes, size_t n,
                          ttr_error *error)
{
    const uint8_t *from = bytes;
    ttr_status status = sink_flush(sink, error);
    if (status != TTR_OK)
        return status;
    if (!sink_can_overwrite(sink) || at > sink->offset || n > sink->offset - at)
        return fail(error, TTR_E_MISUSE, at, "only bytes in a file can be overwritten");
    if (sink->part.rewrite) {
        const int reason = sink->part.rewrite(sink->part.ctx, at, bytes, n);
        return reason ? fail_write(sink, reason, error) : TTR_OK;
    }
    while (n) {
        ssize_t put = pwrite(sink->held_fd >= 0 ? sink->held_fd : sink->fd, from, n, (off_t)at);
        if (put <= 0 && errno != EINTR)
            return fail_write(sink, put < 0 ? errno : EIO, error);
        if (put <= 0)
            continue;
        from += put;
        at += (uint64_t)put;
        n -= (size_t)put;
    }
    return TTR_OK;
}

ttr_status sink_insert_prefix(struct sink *sink, const void *bytes, size_t n, ttr_error *error)
{
    if (sink->held_fd < 0 || sink->prefix)
        return fail(error, TTR_E_MISUSE, NO_OFFSET, "only delayed output can get a prefix");
    sink->prefix = alloc_resize(sink->alloc, NULL, 0, n, 1);
    if (!sink->prefix)
        return fail_memory(error);
    memcpy(sink->prefix, bytes, n);
    sink->prefix_n = n;
    sink->offset += n;
    return TTR_OK;
}

/* Copies the prefix and the temporary file that held the output to the destination. */
static ttr_status copy_held_file(struct sink *sink, ttr_error *error)
{
    int held_fd = sink->held_fd;
    uint64_t at = 0, n = sink->offset - sink->prefix_n;
    sink->held_fd = -1;
    ttr_status status = write_all_bytes(sink, sink->prefix, sink->prefix_n, error);
    while (status == TTR_OK && at < n) {
        if (!ensure_buffer(sink)) {
            status = repeat_failure(sink, error);
            break;
        }
        ssize_t got = pread(held_fd, sink->buffer, sink->buffer_size, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            status = fail_write(sink, got < 0 ? errno : EIO, error);
        else
            status = write_all_bytes(sink, sink->buffer, (size_t)got, error);
        at += got > 0 ? (uint64_t)got : 0;
    }
    (void)close(held_fd);
    return status;
}

uint64_t sink_offset(const struct sink *sink)
{
    return sink->offset;
}

const char *sink_temporary_path(const struct sink *sink)
{
    return sink->temporary;
}

/* Renames the temporary file to the target. Unless `overwrite`, fails if a file was created there
 * meanwhile, if the file system can check that. Returns 0 or an errno. */
static int rename_to_target(const struct sink *sink)
{
    if (!sink->overwrite) {
        if (renameat2(AT_FDCWD, sink->temporary, AT_FDCWD, sink->target, RENAME_NOREPLACE) == 0)
            return 0;
        if (errno != EINVAL && errno != ENOSYS)
            return errno;
    }
    return rename(sink->temporary, sink->target) == 0 ? 0 : errno;
}

ttr_status sink_finish(struct sink *sink, ttr_error *error)
{
    ttr_status status = sink_flush(sink, error);
    if (status == TTR_OK && sink->held_fd >= 0)
        status = copy_held_file(sink, error);
    int fd = sink->fd;
    sink->fd = -1;
    /* Network file systems report a full disk only at close. EINTR is not a failure: Linux closes
     * the descriptor. */
    if (sink->is_owned && close(fd) != 0 && errno != EINTR && status == TTR_OK)
        status = fail_write(sink, errno, error);
    if (sink->part.end && status == TTR_OK) {
        int reason = sink->part.end(sink->part.ctx, true);
        sink->part.end = NULL;
        status = reason ? fail_write(sink, reason, error) : TTR_OK;
    }
    if (sink->temporary && status == TTR_OK) {
        int reason = rename_to_target(sink);
        if (reason)
            status = fail_sys(error, reason, NO_OFFSET, "cannot rename the temporary file to %s",
                              sink->target);
        else
            clear_temporary_path(sink);
    }
    sink_free(sink);
    return status;
}

void sink_abandon(struct sink *sink)
{
    if (sink)
        sink_free(sink);
}
