/* Folders of sessions; see the header. */
#include "recorder/session_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/status.h"

#define PREFIX "tracetta-"
#define ROOT_MAX 64u
#define TEMPORARY "/tmp"
#define SUFFIX_LENGTH 6u /* of the characters that mkdtemp chooses */
#define MAKE_ATTEMPTS ((size_t)4)

/* Returns the folder of the user's sockets, or /tmp. */
static const char *choose_root(void)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    return runtime && runtime[0] && strlen(runtime) < ROOT_MAX ? runtime : TEMPORARY;
}

/* Stores the folder of a socket. */
static void get_folder(const char *socket, char folder[SESSION_SOCKET_MAX])
{
    (void)snprintf(folder, SESSION_SOCKET_MAX, "%.*s", (int)(strrchr(socket, '/') - socket),
                   socket);
}

/* Locks a folder of this user. Returns the descriptor that holds the lock, or -1 if another process
 * holds it, or if the folder was removed meanwhile. */
static int lock_folder(const char *folder)
{
    struct stat opened, named;
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &opened) == 0 &&
        opened.st_uid == geteuid() && lstat(folder, &named) == 0 && opened.st_dev == named.st_dev &&
        opened.st_ino == named.st_ino)
        return fd;
    (void)close(fd);
    return -1;
}

ttr_status session_folder_make(char socket[SESSION_SOCKET_MAX], int *lock_fd, ttr_error *error)
{
    char folder[SESSION_SOCKET_MAX];
    const char *roots[] = {choose_root(), TEMPORARY};
    /* A process that removes dead folders may lock and remove a new one before it is locked here.
     */
    for (size_t i = 0; i < 2 * MAKE_ATTEMPTS; i++) {
        (void)snprintf(folder, sizeof folder, "%s/" PREFIX "%d-XXXXXX", roots[i / MAKE_ATTEMPTS],
                       (int)getpid());
        if (!mkdtemp(folder))
            continue;
        *lock_fd = lock_folder(folder);
        if (*lock_fd < 0)
            continue;
        (void)snprintf(socket, SESSION_SOCKET_MAX, "%.98s/socket", folder);
        return TTR_OK;
    }
    return fail_sys(error, errno, NO_OFFSET, "%s: cannot be created", folder);
}

void session_folder_remove(const char *socket)
{
    char folder[SESSION_SOCKET_MAX];
    get_folder(socket, folder);
    (void)rmdir(folder);
}

void session_folder_remove_dead(const char *socket)
{
    char folder[SESSION_SOCKET_MAX];
    struct stat about;
    get_folder(socket, folder);
    const int fd = lock_folder(folder);
    if (fd < 0)
        return;
    if (fstatat(fd, "socket", &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(about.st_mode))
        (void)unlinkat(fd, "socket", 0);
    (void)rmdir(folder);
    (void)close(fd);
}

/* Returns the process in a folder's name, or 0. */
static uint64_t parse_name(const char *name)
{
    if (strncmp(name, PREFIX, sizeof PREFIX - 1) != 0)
        return 0;
    char *end;
    const uint64_t pid = strtoull(name + sizeof PREFIX - 1, &end, 10);
    return *end == '-' && strlen(end + 1) == SUFFIX_LENGTH ? pid : 0;
}

static bool is_private(const char *folder)
{
    struct stat about;
    return lstat(folder, &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == geteuid() &&
           (about.st_mode & 077) == 0;
}

/* Visits the sockets below `root`. Returns false if `visit` ended it. */
static bool visit_root(const char *root, bool (*visit)(void *ctx, uint64_t pid, const char *socket),
                       void *ctx)
{
    DIR *list = opendir(root);
    const struct dirent *entry;
    bool goes_on = true;
    while (goes_on && list && (entry = readdir(list))) {
        char folder[SESSION_SOCKET_MAX], socket[SESSION_SOCKET_MAX];
        const uint64_t pid = parse_name(entry->d_name);
        if (pid == 0 || strlen(root) + strlen(entry->d_name) > SESSION_SOCKET_MAX - 12)
            continue;
        const int n = snprintf(folder, sizeof folder, "%s/%s", root, entry->d_name);
        const int socket_n = snprintf(socket, sizeof socket, "%s/%s/socket", root, entry->d_name);
        if (n > 0 && (size_t)n < sizeof folder && socket_n > 0 &&
            (size_t)socket_n < sizeof socket && is_private(folder))
            goes_on = visit(ctx, pid, socket);
    }
    if (list)
        (void)closedir(list);
    return goes_on;
}

void session_folders_visit(bool (*visit)(void *ctx, uint64_t pid, const char *socket), void *ctx)
{
    const char *root = choose_root();
    if (visit_root(root, visit, ctx) && strcmp(root, TEMPORARY) != 0)
        (void)visit_root(TEMPORARY, visit, ctx);
}

static bool remove_dead(void *ctx, uint64_t pid, const char *socket)
{
    (void)ctx;
    (void)pid;
    session_folder_remove_dead(socket);
    return true;
}

void session_folders_clean(void)
{
    session_folders_visit(remove_dead, NULL);
}

int session_connect(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (strlen(path) >= sizeof address.sun_path)
        return -1;
    memcpy(address.sun_path, path, strlen(path));
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
        (peer.uid == geteuid() || peer.uid == 0))
        return fd;
    const int reason = errno;
    if (fd >= 0)
        (void)close(fd);
    errno = reason;
    return -1;
}
