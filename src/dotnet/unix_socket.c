/* UNIX sockets with a path that exceeds the 108 bytes of sockaddr_un. The directory is opened with
 * O_PATH and the address becomes /proc/self/fd/N/NAME. */
#include "dotnet/unix_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG_MAX 64

/* Fills in `address` for `path`. A long path needs the descriptor *folder, which the caller keeps
 * open until the address was used and then closes; it is -1 for a short path. Returns 0, or -1 with
 * errno. */
static int build_socket_address(const char *path, struct sockaddr_un *address, int *folder)
{
    const char *slash = strrchr(path, '/');
    size_t folder_n = slash ? (size_t)(slash - path) : 0;
    char parent[4096];
    *folder = -1;
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) < sizeof address->sun_path) {
        memcpy(address->sun_path, path, strlen(path));
        return 0;
    }
    if (folder_n == 0 || folder_n >= sizeof parent) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(parent, path, folder_n);
    parent[folder_n] = '\0';
    *folder = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (*folder < 0)
        return -1;
    int n =
        snprintf(address->sun_path, sizeof address->sun_path, "/proc/self/fd/%d%s", *folder, slash);
    if (n > 0 && (size_t)n < sizeof address->sun_path)
        return 0;
    (void)close(*folder);
    errno = ENAMETOOLONG;
    return -1;
}

/* Ends an attempt: closes the descriptor of the directory. Returns the socket if `is_fine`.
 * Otherwise closes it, too, and returns -1 with the errno of the failed call. */
static int close_after_attempt(int fd, int folder, bool is_fine)
{
    int reason = errno;
    if (folder >= 0)
        (void)close(folder);
    if (is_fine)
        return fd;
    if (fd >= 0)
        (void)close(fd);
    errno = reason;
    return -1;
}

int unix_socket_connect(const char *path)
{
    struct sockaddr_un address;
    int folder;
    if (build_socket_address(path, &address, &folder) != 0)
        return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    return close_after_attempt(
        fd, folder, fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0);
}

/* Removes a socket file if no process listens at it: bind() would fail with EADDRINUSE. */
static void remove_unserved_socket(const char *path)
{
    struct stat about;
    if (lstat(path, &about) != 0 || !S_ISSOCK(about.st_mode))
        return;
    int fd = unix_socket_connect(path);
    if (fd >= 0)
        (void)close(fd);
    else if (errno == ECONNREFUSED)
        (void)unlink(path);
}

int unix_socket_listen(const char *path)
{
    struct sockaddr_un address;
    int folder;
    remove_unserved_socket(path);
    if (build_socket_address(path, &address, &folder) != 0)
        return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    /* chmod precedes listen: connections are refused before listen, so other users cannot use the
     * default mode. */
    bool is_bound = fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    bool is_served = is_bound && chmod(address.sun_path, 0600) == 0 && listen(fd, BACKLOG_MAX) == 0;
    int reason = errno;
    if (is_bound && !is_served)
        (void)unlink(address.sun_path);
    errno = reason;
    return close_after_attempt(fd, folder, is_served);
}
