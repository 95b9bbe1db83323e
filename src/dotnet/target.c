/* Ways to a runtime; see the header. */
#include "dotnet/target.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "dotnet/connect.h"
#include "io/socket.h"

#define REPLY_MS 10000u

ttr_dotnet *ttr_dotnet_at(const char *path, ttr_error *error)
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
    ttr_dotnet *target = ttr_dotnet_at(path, error);
    if (!target)
        return NULL;
    target->listener = connect_serve(path);
    if (target->listener >= 0)
        return target;
    if (errno == EADDRINUSE)
        (void)fail_sys(error, errno, NO_OFFSET,
                       "cannot make the socket %s (somebody serves it, or it is no socket)", path);
    else
        (void)fail_sys(error, errno, NO_OFFSET, "cannot make the socket %s", path);
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

void ttr_dotnet_wake(ttr_dotnet *target, int fd)
{
    target->wake = fd;
}

void ttr_dotnet_limit(ttr_dotnet *target, unsigned limit_ms)
{
    target->limit_ms = limit_ms;
}

size_t ttr_dotnet_others(const ttr_dotnet *target)
{
    return target->others;
}

bool target_is_woken(const ttr_dotnet *target)
{
    struct pollfd wait = {.fd = target->wake, .events = POLLIN};
    return target->wake >= 0 && poll(&wait, 1, 0) > 0;
}

/* Tells another runtime to go on.  Its answer is not waited for; the connection ends when it has
 * given that. */
static void send_on(ttr_dotnet *target, struct guest *guest)
{
    struct buffer message;
    buffer_init(&message, target->alloc);
    ipc_put_plain(&message, IPC_PROCESS, IPC_RESUME);
    guest->is_told = !message.failed &&
                     send(guest->fd, message.bytes, message.n, MSG_NOSIGNAL) == (ssize_t)message.n;
    if (guest->is_told)
        target->others++;
    else
        close_fd(&guest->fd);
    buffer_free(&message);
}

/* True for another runtime that was told to go on before. */
static bool is_told(const ttr_dotnet *target, const struct guest *guest)
{
    for (size_t i = 0; i < GUESTS_MAX; i++)
        if (target->guests[i].is_told &&
            memcmp(target->guests[i].said, guest->said, sizeof guest->said) == 0)
            return true;
    return false;
}

/* A guest has said who it is. */
static void welcome(ttr_dotnet *target, struct guest *guest)
{
    struct ipc_advertise who;
    if (!ipc_read_advertise(guest->said, &who)) {
        close_fd(&guest->fd);
        return;
    }
    if (!target->is_known) {
        target->who = who;
        target->is_known = true;
    }
    if (memcmp(who.cookie, target->who.cookie, sizeof who.cookie) != 0) {
        if (is_told(target, guest))
            guest->is_told = true;
        else
            send_on(target, guest);
        return;
    }
    close_fd(&target->spare);
    target->spare = guest->fd;
    guest->fd = -1;
}

/* Takes what a guest says; one that left, or says more than it may, is dropped. */
static void hear(ttr_dotnet *target, struct guest *guest)
{
    uint8_t ignored[256];
    bool is_complete = guest->got == IPC_ADVERTISE;
    ssize_t n = recv(guest->fd, is_complete ? ignored : guest->said + guest->got,
                     is_complete ? sizeof ignored : IPC_ADVERTISE - guest->got, 0);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        close_fd(&guest->fd);
        return;
    }
    if (n < 0 || is_complete)
        return;
    guest->got += (uint32_t)n;
    if (guest->got == IPC_ADVERTISE)
        welcome(target, guest);
}

/* A place for the next guest: a free one that holds no memory of a runtime, or any free one. */
static const struct guest *find_place(const ttr_dotnet *target)
{
    const struct guest *found = NULL;
    for (size_t i = 0; i < GUESTS_MAX; i++) {
        const struct guest *guest = &target->guests[i];
        if (guest->fd < 0 && (!found || found->is_told))
            found = guest;
    }
    return found;
}

void target_serve(ttr_dotnet *target)
{
    const struct guest *free_place;
    while (target->listener >= 0 && (free_place = find_place(target))) {
        int fd = accept4(target->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            break;
        struct guest *place = &target->guests[free_place - target->guests];
        *place = (struct guest){.fd = fd};
        hear(target, place);
    }
    for (size_t i = 0; i < GUESTS_MAX; i++)
        if (target->guests[i].fd >= 0)
            hear(target, &target->guests[i]);
}

size_t target_waits(const ttr_dotnet *target, struct pollfd *waits)
{
    size_t n = 0;
    waits[n++] = (struct pollfd){.fd = target->wake, .events = POLLIN};
    if (target->listener < 0)
        return n;
    if (find_place(target)) /* else whoever comes has to wait, and we must not wake for it */
        waits[n++] = (struct pollfd){.fd = target->listener, .events = POLLIN};
    for (size_t i = 0; i < GUESTS_MAX; i++)
        if (target->guests[i].fd >= 0)
            waits[n++] = (struct pollfd){.fd = target->guests[i].fd, .events = POLLIN};
    return n;
}

/* A socket that nobody serves is left of a process that is gone; a file that is none says nothing
 * of processes. */
static const char *why_refused(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && !S_ISSOCK(about.st_mode)
               ? "it is no socket"
               : "nobody serves it: the process is gone";
}

static ttr_status cannot_connect(const char *path, int reason, ttr_error *error)
{
    if (reason == EACCES || reason == EPERM)
        return fail_sys(error, reason, NO_OFFSET,
                        "cannot connect to %s (it is another user's: try as that user, or as root)",
                        path);
    if (reason == ENOENT)
        return fail_sys(error, reason, NO_OFFSET,
                        "cannot connect to %s (the process is gone, or the name is another)", path);
    if (reason == ECONNREFUSED)
        return fail_sys(error, reason, NO_OFFSET, "cannot connect to %s (%s)", path,
                        why_refused(path));
    return fail_sys(error, reason, NO_OFFSET, "cannot connect to %s", path);
}

ttr_status target_dial(ttr_dotnet *target, int *fd, ttr_error *error)
{
    if (target->listener >= 0) {
        target_serve(target);
        *fd = target->spare;
        target->spare = -1;
        return *fd >= 0 ? TTR_OK : TTR_AGAIN;
    }
    *fd = connect_to(target->path);
    if (*fd >= 0)
        return TTR_OK;
    return errno == EAGAIN || errno == EINTR ? TTR_AGAIN
                                             : cannot_connect(target->path, errno, error);
}

ttr_status ttr_dotnet_await(ttr_dotnet *target, unsigned limit_ms, ttr_error *error)
{
    uint64_t deadline = socket_now_ms() + limit_ms;
    (void)error;
    while (target->listener >= 0 && target->spare < 0) {
        struct pollfd waits[TARGET_WAITS];
        target_serve(target);
        uint64_t now = socket_now_ms();
        if (target->spare >= 0)
            break;
        if (now >= deadline || target_is_woken(target))
            return TTR_AGAIN;
        (void)poll(waits, (nfds_t)target_waits(target, waits),
                   (int)(deadline - now < INT32_MAX ? deadline - now : INT32_MAX));
    }
    return TTR_OK;
}
