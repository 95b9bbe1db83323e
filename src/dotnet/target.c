/* Connections to runtimes; target.h describes the protocol. */
#include "dotnet/target.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "dotnet/unix_socket.h"
#include "io/socket.h"

#define REPLY_MS 10000u

ttr_dotnet *ttr_dotnet_new(const char *path, ttr_error *error)
{
    const struct alloc *alloc = alloc_default();
    ttr_dotnet *target = alloc_zero(alloc, 1, sizeof *target);
    char *copy = target ? alloc_zero(alloc, strlen(path) + 1, 1) : NULL;
    if (!copy) {
        alloc_free(alloc, target, 1, sizeof *target);
        (void)fail_memory(error);
        return NULL;
    }
    memcpy(copy, path, strlen(path));
    *target = (struct ttr_dotnet){.alloc = alloc,
                                  .path = copy,
                                  .listener = -1,
                                  .spare = -1,
                                  .wake = -1,
                                  .limit_ms = REPLY_MS};
    for (size_t i = 0; i < GUESTS_MAX; i++)
        target->guests[i].fd = -1;
    arena_init(&target->about, alloc);
    arena_init(&target->environment, alloc);
    return target;
}

ttr_dotnet *ttr_dotnet_listen(const char *path, ttr_error *error)
{
    ttr_dotnet *target = ttr_dotnet_new(path, error);
    if (!target)
        return NULL;
    target->listener = unix_socket_listen(path);
    if (target->listener >= 0)
        return target;
    if (errno == EADDRINUSE)
        (void)fail_sys(error, errno, NO_OFFSET,
                       "cannot create the socket %s (it is in use, or the file is not a socket)",
                       path);
    else
        (void)fail_sys(error, errno, NO_OFFSET, "cannot create the socket %s", path);
    ttr_dotnet_free(target);
    return NULL;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

void ttr_dotnet_free(ttr_dotnet *target)
{
    if (!target)
        return;
    if (target->listener >= 0)
        (void)unlink(target->path);
    close_fd(&target->listener);
    close_fd(&target->spare);
    for (size_t i = 0; i < GUESTS_MAX; i++)
        close_fd(&target->guests[i].fd);
    arena_free(&target->about);
    arena_free(&target->environment);
    alloc_free(target->alloc, target->path, strlen(target->path) + 1, 1);
    alloc_free(target->alloc, target, 1, sizeof *target);
}

void ttr_dotnet_set_wake_fd(ttr_dotnet *target, int fd)
{
    target->wake = fd;
}

void ttr_dotnet_set_timeout(ttr_dotnet *target, unsigned limit_ms)
{
    target->limit_ms = limit_ms;
}

size_t ttr_dotnet_other_count(const ttr_dotnet *target)
{
    return target->others;
}

bool target_is_woken(const ttr_dotnet *target)
{
    struct pollfd wait = {.fd = target->wake, .events = POLLIN};
    return target->wake >= 0 && poll(&wait, 1, 0) > 0;
}

/* Resumes a runtime other than the target. The answer is dropped; the runtime then closes the
 * connection. */
static void resume_other_runtime(ttr_dotnet *target, struct guest *guest)
{
    struct buffer message;
    buffer_init(&message, target->alloc);
    ipc_write_plain(&message, IPC_PROCESS, IPC_RESUME);
    guest->is_resumed = !message.failed && send(guest->fd, message.bytes, message.n,
                                                MSG_NOSIGNAL) == (ssize_t)message.n;
    if (guest->is_resumed)
        target->others++;
    else
        close_fd(&guest->fd);
    buffer_free(&message);
}

/* Returns true if the runtime on this connection was resumed on an earlier connection. */
static bool was_resumed_before(const ttr_dotnet *target, const struct guest *guest)
{
    for (size_t i = 0; i < GUESTS_MAX; i++)
        if (target->guests[i].is_resumed &&
            memcmp(target->guests[i].advertise, guest->advertise, sizeof guest->advertise) == 0)
            return true;
    return false;
}

/* Handles a complete advertise message. A connection of the target runtime becomes the spare one;
 * any other runtime is resumed. */
static void assign_guest(ttr_dotnet *target, struct guest *guest)
{
    struct ipc_advertise who;
    if (!ipc_parse_advertise(guest->advertise, &who)) {
        close_fd(&guest->fd);
        return;
    }
    if (!target->is_known) {
        target->who = who;
        target->is_known = true;
    }
    if (memcmp(who.cookie, target->who.cookie, sizeof who.cookie) != 0) {
        if (was_resumed_before(target, guest))
            guest->is_resumed = true;
        else
            resume_other_runtime(target, guest);
        return;
    }
    close_fd(&target->spare);
    target->spare = guest->fd;
    guest->fd = -1;
}

/* Reads from a connection to the tool's socket; closes it if the peer has. Bytes after the
 * advertise message are dropped. */
static void read_guest(ttr_dotnet *target, struct guest *guest)
{
    uint8_t ignored[256];
    bool is_complete = guest->got_bytes == IPC_ADVERTISE_SIZE;
    ssize_t n = recv(guest->fd, is_complete ? ignored : guest->advertise + guest->got_bytes,
                     is_complete ? sizeof ignored : IPC_ADVERTISE_SIZE - guest->got_bytes, 0);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        close_fd(&guest->fd);
        return;
    }
    if (n < 0 || is_complete)
        return;
    guest->got_bytes += (uint32_t)n;
    if (guest->got_bytes == IPC_ADVERTISE_SIZE)
        assign_guest(target, guest);
}

/* Returns a free slot for the next connection, preferably one that records no resumed runtime.
 * Returns NULL if all slots are in use. */
static const struct guest *find_free_guest(const ttr_dotnet *target)
{
    const struct guest *found = NULL;
    for (size_t i = 0; i < GUESTS_MAX; i++) {
        const struct guest *guest = &target->guests[i];
        if (guest->fd < 0 && (!found || found->is_resumed))
            found = guest;
    }
    return found;
}

void target_accept_connections(ttr_dotnet *target)
{
    const struct guest *free_guest;
    while (target->listener >= 0 && (free_guest = find_free_guest(target))) {
        int fd = accept4(target->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            break;
        struct guest *new_guest = &target->guests[free_guest - target->guests];
        *new_guest = (struct guest){.fd = fd};
        read_guest(target, new_guest);
    }
    for (size_t i = 0; i < GUESTS_MAX; i++)
        if (target->guests[i].fd >= 0)
            read_guest(target, &target->guests[i]);
}

size_t target_poll_entries(const ttr_dotnet *target, struct pollfd *waits)
{
    size_t n = 0;
    waits[n++] = (struct pollfd){.fd = target->wake, .events = POLLIN};
    if (target->listener < 0)
        return n;
    /* Without a free slot the listening socket is not polled: it would stay readable and end each
     * poll() at once. */
    if (find_free_guest(target))
        waits[n++] = (struct pollfd){.fd = target->listener, .events = POLLIN};
    for (size_t i = 0; i < GUESTS_MAX; i++)
        if (target->guests[i].fd >= 0)
            waits[n++] = (struct pollfd){.fd = target->guests[i].fd, .events = POLLIN};
    return n;
}

/* Explains ECONNREFUSED: the process of a socket file may have ended, and a regular file refuses
 * connections, too. */
static const char *refusal_reason(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && !S_ISSOCK(about.st_mode) ? "it is not a socket"
                                                               : "its process has ended";
}

static ttr_status fail_connect(const char *path, int reason, ttr_error *error)
{
    if (reason == EACCES || reason == EPERM)
        return fail_sys(
            error, reason, NO_OFFSET,
            "cannot connect to %s (it belongs to another user; run as that user or as root)", path);
    if (reason == ENOENT)
        return fail_sys(error, reason, NO_OFFSET,
                        "cannot connect to %s (the process has ended, or the path is wrong)", path);
    if (reason == ECONNREFUSED)
        return fail_sys(error, reason, NO_OFFSET, "cannot connect to %s (%s)", path,
                        refusal_reason(path));
    return fail_sys(error, reason, NO_OFFSET, "cannot connect to %s", path);
}

ttr_status target_connect(ttr_dotnet *target, int *fd, ttr_error *error)
{
    if (target->listener >= 0) {
        target_accept_connections(target);
        *fd = target->spare;
        target->spare = -1;
        return *fd >= 0 ? TTR_OK : TTR_AGAIN;
    }
    *fd = unix_socket_connect(target->path);
    if (*fd >= 0)
        return TTR_OK;
    return errno == EAGAIN || errno == EINTR ? TTR_AGAIN : fail_connect(target->path, errno, error);
}

ttr_status ttr_dotnet_wait(ttr_dotnet *target, unsigned limit_ms, ttr_error *error)
{
    uint64_t deadline = socket_now_ms() + limit_ms;
    (void)error;
    while (target->listener >= 0 && target->spare < 0) {
        struct pollfd waits[TARGET_WAITS];
        target_accept_connections(target);
        uint64_t now = socket_now_ms();
        if (target->spare >= 0)
            break;
        if (now >= deadline || target_is_woken(target))
            return TTR_AGAIN;
        (void)poll(waits, (nfds_t)target_poll_entries(target, waits),
                   (int)(deadline - now < INT32_MAX ? deadline - now : INT32_MAX));
    }
    return TTR_OK;
}
