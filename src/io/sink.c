/* Writing files that appear whole: a temporary name in the target's folder, renamed at the end.
 *
 * Left out: fsync (a trace can be made again; waiting for the disk is the caller's choice), and
 * SIGPIPE, which belongs to the program: where it is ignored, a closed pipe is reported as EPIPE.
 */
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
#include "io/temporary.h"

#define DIRECT ((size_t)8 << 10) /* bytes: so many at once go out without being copied */

enum { SINK_BUFFER = 256 << 10 };

struct sink {
    const struct alloc *alloc;
    struct sink_part
        part;        /* where the bytes go without a descriptor; part.end NULL = nobody to tell */
    int fd;          /* -1 with a push function */
    int held;        /* a file without a name that all is written to first, -1 = none */
    uint8_t *prefix; /* what is to stand before that */
    size_t prefix_n;
    bool is_owned; /* close fd; false for standard output */
    bool overwrite;
    char *target;    /* the path to appear; "standard output" and the like for messages */
    char *temporary; /* NULL when written directly */
    size_t target_size, temporary_size;
    uint8_t *buffer; /* made when first needed */
    size_t n, buffer_size;
    uint64_t offset; /* bytes accepted */
    bool failed;
    ttr_error failure;
};

/* The name is not ours (any more): it must not be unlinked. */
static void forget_temporary(struct sink *sink)
{
    alloc_free(sink->alloc, sink->temporary, sink->temporary_size, 1);
    sink->temporary = NULL;
}

static void sink_free(struct sink *sink)
{
    if (sink->is_owned && sink->fd >= 0)
        (void)close(sink->fd); /* reached with an open file only when it is given up */
    if (sink->held >= 0)
        (void)close(sink->held);
    if (sink->temporary)
        (void)unlink(sink->temporary);
    if (sink->part.end)
        (void)sink->part.end(sink->part.own, false);
    forget_temporary(sink);
    alloc_free(sink->alloc, sink->prefix, sink->prefix_n, 1);
    alloc_free(sink->alloc, sink->target, sink->target_size, 1);
    alloc_free(sink->alloc, sink->buffer, sink->buffer_size, 1);
    alloc_free(sink->alloc, sink, 1, sizeof *sink);
}

/* A sink that goes nowhere yet. */
static struct sink *sink_new(const struct alloc *alloc, const char *target, ttr_error *error)
{
    struct sink *sink = alloc_zero(alloc, 1, sizeof *sink);
    if (sink) {
        sink->alloc = alloc;
        sink->fd = -1;
        sink->held = -1;
        sink->target_size = strlen(target) + 1;
        sink->target = alloc_zero(alloc, sink->target_size, 1);
        sink->buffer_size = SINK_BUFFER;
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

const char *sink_hint(int reason)
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
        return " (its folder may not be written to)";
    default:
        return "";
    }
}

/* Gives the same failure again and again. */
static ttr_status stuck(const struct sink *sink, ttr_error *error)
{
    if (error)
        *error = sink->failure;
    return sink->failure.status;
}

static ttr_status write_failed(struct sink *sink, int reason, ttr_error *error)
{
    sink->failed = true;
    (void)fail_sys(&sink->failure, reason, sink->offset, "cannot write %s%s", sink->target,
                   reason == ENOSPC || reason == EDQUOT ? sink_hint(reason) : "");
    return stuck(sink, error);
}

/* One write below; waits where a non-blocking descriptor is full. */
static int64_t write_some(const struct sink *sink, const void *bytes, size_t n)
{
    for (;;) {
        errno = 0;
        int64_t put = sink->held < 0 && sink->part.push
                          ? sink->part.push(sink->part.own, bytes, n)
                          : write(sink->held >= 0 ? sink->held : sink->fd, bytes, n);
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

static ttr_status write_all(struct sink *sink, const uint8_t *bytes, size_t n, ttr_error *error)
{
    while (n) {
        int64_t put = write_some(sink, bytes, n);
        if (put < 0)
            return write_failed(sink, errno, error);
        bytes += put;
        n -= (size_t)put;
    }
    return TTR_OK;
}

/* Creates the temporary file with the permissions the process gives to new files.  Not mkostemp:
 * its 0600 would have to be widened by the umask, which cannot be read without changing it for all
 * threads. */
static bool create_temporary(struct sink *sink, ttr_error *error)
{
    size_t size = sink->target_size + TEMPORARY_MORE;
    sink->temporary = alloc_zero(sink->alloc, size, 1);
    sink->temporary_size = size;
    if (!sink->temporary) {
        (void)fail_memory(error);
        return false;
    }
    for (int i = 0; i < TEMPORARY_TRIES && sink->fd < 0; i++) {
        temporary_name(sink->temporary, size, sink->target);
        sink->fd = open(sink->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
        if (sink->fd < 0 && errno != EEXIST && errno != EINTR)
            break;
    }
    sink->is_owned = true;
    if (sink->fd >= 0)
        return true;
    int reason = errno;
    forget_temporary(sink);
    if ((reason == EACCES || reason == EPERM || reason == EROFS) && access(sink->target, W_OK) == 0)
        (void)fail_sys(error, reason, NO_OFFSET,
                       "cannot replace %s: it is writable but its folder is not, and a new file is "
                       "needed there until it is "
                       "whole; write elsewhere, or to standard output redirected into it",
                       sink->target);
    else
        (void)fail_sys(error, reason, NO_OFFSET, "cannot create %s%s", sink->target,
                       sink_hint(reason));
    return false;
}

/* The new file gets the owner and permissions of the one it replaces, as far as we may. */
static void keep_mode(const struct sink *sink, const struct stat *old)
{
    struct stat now;
    mode_t mode = old->st_mode & 07777;
    bool is_same =
        fstat(sink->fd, &now) == 0 && now.st_uid == old->st_uid && now.st_gid == old->st_gid;
    if (!is_same && fchown(sink->fd, old->st_uid, old->st_gid) != 0)
        mode &= 0777; /* set-id bits are for their owner only */
    (void)fchmod(sink->fd, mode);
}

/* open() refuses sockets; 0 or the reason. */
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

/* Devices, FIFOs and sockets are written as they are. */
static bool open_direct(struct sink *sink, bool is_socket, ttr_error *error)
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

/* An existing regular file: through links to the real one, so that a link stays a link. */
static bool replace_file(struct sink *sink, const struct stat *old, ttr_error *error)
{
    char real[PATH_MAX];
    if (!realpath(sink->target, real)) {
        (void)fail_sys(error, errno, NO_OFFSET, "cannot find where %s leads", sink->target);
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
    keep_mode(sink, old);
    return true;
}

static bool open_path(struct sink *sink, bool overwrite, ttr_error *error)
{
    struct stat about;
    sink->overwrite = overwrite;
    if (!*sink->target) {
        (void)fail(error, TTR_E_MISUSE, NO_OFFSET,
                   "an empty name is no place to write to; \"-\" is standard output");
        return false;
    }
    if (stat(sink->target, &about) == 0) {
        if (S_ISDIR(about.st_mode))
            (void)fail_sys(error, EISDIR, NO_OFFSET, "cannot write %s; name a file in it",
                           sink->target);
        else if (!S_ISREG(about.st_mode))
            return open_direct(sink, S_ISSOCK(about.st_mode), error);
        else if (overwrite)
            return replace_file(sink, &about, error);
        else
            (void)fail_sys(
                error, EEXIST, NO_OFFSET,
                "will not overwrite %s; remove it, choose another name, or ask to overwrite",
                sink->target);
        return false;
    }
    if (errno != ENOENT) { /* a name too long, say, which the temporary one would not be */
        (void)fail_sys(error, errno, NO_OFFSET, "cannot create %s%s", sink->target,
                       sink_hint(errno));
        return false;
    }
    if (lstat(sink->target, &about) == 0) {
        (void)fail_sys(error, ENOENT, NO_OFFSET,
                       "%s is a link that leads nowhere; remove it or make its target",
                       sink->target);
        return false;
    }
    return create_temporary(sink, error);
}

struct sink *sink_open(const struct alloc *alloc, const char *path, bool overwrite,
                       ttr_error *error)
{
    /* Opened by its name, a redirected /dev/stdout would be a file to replace. */
    bool is_stdout = strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
    struct sink *sink = sink_new(alloc, is_stdout ? "standard output" : path, error);
    if (!sink)
        return NULL;
    if (is_stdout) {
        sink->fd = STDOUT_FILENO;
        return sink;
    }
    if (open_path(sink, overwrite, error))
        return sink;
    sink_free(sink);
    return NULL;
}

struct sink *sink_open_push(const struct alloc *alloc, sink_push push, void *own, ttr_error *error)
{
    struct sink *sink = sink_new(alloc, "output", error);
    if (!sink)
        return NULL;
    sink->part = (struct sink_part){.push = push, .own = own};
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
        return stuck(sink, error);
    size_t n = sink->n;
    sink->n = 0;
    return write_all(sink, sink->buffer, n, error);
}

/* False when memory is out, which then sticks. */
static bool has_buffer(struct sink *sink)
{
    if (!sink->buffer)
        sink->buffer = alloc_resize(sink->alloc, NULL, 0, sink->buffer_size, 1);
    if (sink->buffer)
        return true;
    sink->failed = true;
    (void)fail_memory(&sink->failure);
    return false;
}

ttr_status sink_write_now(struct sink *sink, const void *bytes, size_t n, ttr_error *error)
{
    if (sink_flush(sink, error) != TTR_OK || write_all(sink, bytes, n, error) != TTR_OK)
        return sink->failure.status;
    sink->offset += n;
    return TTR_OK;
}

ttr_status sink_write(struct sink *sink, const void *bytes, size_t n, ttr_error *error)
{
    if (n >= sink->buffer_size || n >= DIRECT)
        return sink_write_now(sink, bytes, n, error);
    if (sink->failed)
        return stuck(sink, error);
    if (n > sink->buffer_size - sink->n && sink_flush(sink, error) != TTR_OK)
        return sink->failure.status;
    if (n > 0) {
        if (!has_buffer(sink))
            return stuck(sink, error);
        memcpy(sink->buffer + sink->n, bytes, n);
        sink->n += n;
    }
    sink->offset += n;
    return TTR_OK;
}

/* --- What is written anew --- */

/* A file without a name, below TMPDIR; -1 with errno. */
static int open_nameless(void)
{
    char name[4096 + TEMPORARY_MORE], target[4096];
    const char *folder = getenv("TMPDIR");
    folder = folder && folder[0] ? folder : "/tmp";
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600),
        n = snprintf(target, sizeof target, "%s/tracetta", folder);
    for (int i = 0; i < TEMPORARY_TRIES && fd < 0 && n > 0 && n < (int)sizeof target;
         i++) { /* not every file system has such */
        temporary_name(name, sizeof name, target);
        fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd >= 0)
            (void)unlink(name);
        else if (errno != EEXIST && errno != EINTR)
            break;
    }
    return fd;
}

bool sink_can_rewrite(const struct sink *sink)
{
    return sink->held >= 0 || sink->temporary || sink->part.rewrite;
}

ttr_status sink_hold(struct sink *sink, ttr_error *error)
{
    if (sink_can_rewrite(sink))
        return TTR_OK;
    if (sink->offset)
        return fail(error, TTR_E_MISUSE, sink->offset,
                    "what is written already cannot be held back");
    sink->held = open_nameless();
    return sink->held >= 0
               ? TTR_OK
               : fail_sys(error, errno, NO_OFFSET,
                          "%s needs a temporary file, which cannot be made (TMPDIR)", sink->target);
}

ttr_status sink_rewrite(struct sink *sink, uint64_t at, const void *bytes, size_t n,
                        ttr_error *error)
{
    const uint8_t *from = bytes;
    ttr_status status = sink_flush(sink, error);
    if (status != TTR_OK)
        return status;
    if (!sink_can_rewrite(sink) || at > sink->offset || n > sink->offset - at)
        return fail(error, TTR_E_MISUSE, at, "only bytes that are in a file can be written anew");
    if (sink->part.rewrite) {
        const int reason = sink->part.rewrite(sink->part.own, at, bytes, n);
        return reason ? write_failed(sink, reason, error) : TTR_OK;
    }
    while (n) {
        ssize_t put = pwrite(sink->held >= 0 ? sink->held : sink->fd, from, n, (off_t)at);
        if (put <= 0 && errno != EINTR)
            return write_failed(sink, put < 0 ? errno : EIO, error);
        if (put <= 0)
            continue;
        from += put;
        at += (uint64_t)put;
        n -= (size_t)put;
    }
    return TTR_OK;
}

ttr_status sink_prefix(struct sink *sink, const void *bytes, size_t n, ttr_error *error)
{
    if (sink->held < 0 || sink->prefix)
        return fail(error, TTR_E_MISUSE, NO_OFFSET,
                    "only what is held can get something before it");
    sink->prefix = alloc_resize(sink->alloc, NULL, 0, n, 1);
    if (!sink->prefix)
        return fail_memory(error);
    memcpy(sink->prefix, bytes, n);
    sink->prefix_n = n;
    sink->offset += n;
    return TTR_OK;
}

/* Copies what was held to where it goes. */
static ttr_status release_held(struct sink *sink, ttr_error *error)
{
    int held = sink->held;
    uint64_t at = 0, n = sink->offset - sink->prefix_n;
    sink->held = -1;
    ttr_status status = write_all(sink, sink->prefix, sink->prefix_n, error);
    while (status == TTR_OK && at < n) {
        if (!has_buffer(sink)) {
            status = stuck(sink, error);
            break;
        }
        ssize_t got = pread(held, sink->buffer, sink->buffer_size, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            status = write_failed(sink, got < 0 ? errno : EIO, error);
        else
            status = write_all(sink, sink->buffer, (size_t)got, error);
        at += got > 0 ? (uint64_t)got : 0;
    }
    (void)close(held);
    return status;
}

uint64_t sink_offset(const struct sink *sink)
{
    return sink->offset;
}

const char *sink_temporary(const struct sink *sink)
{
    return sink->temporary;
}

/* Renames without replacing a file that came into being meanwhile, where the file system can do
 * that; 0 or the reason. */
static int put_in_place(const struct sink *sink)
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
    if (status == TTR_OK && sink->held >= 0)
        status = release_held(sink, error);
    int fd = sink->fd;
    sink->fd = -1;
    /* Network file systems tell a full disk only here.  EINTR: the descriptor is closed all the
     * same. */
    if (sink->is_owned && close(fd) != 0 && errno != EINTR && status == TTR_OK)
        status = write_failed(sink, errno, error);
    if (sink->part.end && status == TTR_OK) {
        int reason = sink->part.end(sink->part.own, true);
        sink->part.end = NULL;
        status = reason ? write_failed(sink, reason, error) : TTR_OK;
    }
    if (sink->temporary && status == TTR_OK) {
        int reason = put_in_place(sink);
        if (reason)
            status = fail_sys(error, reason, NO_OFFSET, "cannot put %s in place", sink->target);
        else
            forget_temporary(sink);
    }
    sink_free(sink);
    return status;
}

void sink_abandon(struct sink *sink)
{
    if (sink)
        sink_free(sink);
}
