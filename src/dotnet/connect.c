/* Addresses hold 108 bytes.  A longer path is reached through a descriptor of its folder:
 * /proc/self/fd/N/NAME. */
#include "dotnet/connect.h"

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

#define WAITING_MAX 64

/* Fills the address; *folder is a descriptor to close afterwards, or -1. */
static int find_address(const char *path, struct sockaddr_un *address, int *folder)
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

/* Ends an attempt: what was opened for it is closed, also the socket where it failed. */
static int end_attempt(int fd, int folder, bool is_fine)
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

int connect_to(const char *path)
{
    struct sockaddr_un address;
    int folder;
    if (find_address(path, &address, &folder) != 0)
        return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    return end_attempt(
        fd, folder, fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0);
}

/* A socket whose server is gone is in the way of a new one. */
static void remove_dead(const char *path)
{
    struct stat about;
    if (lstat(path, &about) != 0 || !S_ISSOCK(about.st_mode))
        return;
    int fd = connect_to(path);
    if (fd >= 0)
        (void)close(fd);
    else if (errno == ECONNREFUSED)
        (void)unlink(path);
}

int connect_serve(const char *path)
{
    struct sockaddr_un address;
    int folder;
    remove_dead(path);
    if (find_address(path, &address, &folder) != 0)
        return -1;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    /* Nobody can connect before it listens, so that there is no moment in which others could. */
    bool is_bound = fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    bool is_served = is_bound && chmod(address.sun_path, 0600) == 0 && listen(fd, WAITING_MAX) == 0;
    int reason = errno;
    if (is_bound && !is_served)
        (void)unlink(address.sun_path);
    errno = reason;
    return end_attempt(fd, folder, is_served);
}
