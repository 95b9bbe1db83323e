/* tracefs: its mount point, its files and its directories of tracepoints. */
#include "perf_events/tracing_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <mntent.h>
#include <stdio.h>
#include <unistd.h>

#define READ_SIZE 16384u

static bool is_tracefs_root(struct tracing_files *tracefs, const char *root)
{
    char path[TRACING_FILES_PATH_MAX + 16];
    (void)snprintf(tracefs->root, sizeof tracefs->root, "%s", root);
    (void)snprintf(path, sizeof path, "%s/events", root);
    return access(path, R_OK | X_OK) == 0;
}

/* Searches /proc/mounts for a tracefs, or for a debugfs with a tracefs in /tracing. */
static bool find_mounted_tracefs(struct tracing_files *tracefs)
{
    FILE *mounts = setmntent("/proc/mounts", "re");
    const struct mntent *mount;
    bool is_found = false;
    while (mounts && !is_found && (mount = getmntent(mounts))) {
        char path[TRACING_FILES_PATH_MAX];
        bool is_debug = strcmp(mount->mnt_type, "debugfs") == 0;
        if (!is_debug && strcmp(mount->mnt_type, "tracefs") != 0)
            continue;
        int n = snprintf(path, sizeof path, "%s%s", mount->mnt_dir, is_debug ? "/tracing" : "");
        is_found = n > 0 && n < (int)sizeof path && is_tracefs_root(tracefs, path);
    }
    if (mounts)
        (void)endmntent(mounts);
    return is_found;
}

bool tracing_files_find(struct tracing_files *tracefs, const char *root)
{
    if (root)
        return is_tracefs_root(tracefs, root);
    if (is_tracefs_root(tracefs, "/sys/kernel/tracing"))
        return true;
    int reason = errno;
    if (find_mounted_tracefs(tracefs))
        return true;
    errno = reason;
    return false;
}

bool tracing_files_read_path(const char *path, struct buffer *to)
{
    ssize_t got = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    buffer_clear(to);
    if (fd < 0)
        return false;
    do {
        uint8_t *at = buffer_room(to, READ_SIZE);
        got = at ? read(fd, at, READ_SIZE) : -1;
        if (got > 0)
            buffer_commit(to, (size_t)got);
    } while (got > 0 || (got < 0 && errno == EINTR && !to->failed));
    int reason = to->failed ? ENOMEM : errno;
    (void)close(fd);
    uint8_t *end = buffer_room(to, 1);
    if (end)
        *end = 0;
    errno = reason;
    return got == 0 && end;
}

bool tracing_files_read(const struct tracing_files *tracefs, const char *name, struct buffer *to)
{
    char path[2 * TRACING_FILES_PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%s", tracefs->root, name);
    if (n < 0 || n >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    return tracing_files_read_path(path, to);
}

/* Callback of an iteration, and the error that ended it. */
struct visitor {
    tracing_files_visit visit;
    void *ctx;
    int sys; /* errno of a failed listing, 0 if none */
};

/* Visits the tracepoints of one system. Returns false if the callback stopped or the listing
 * failed. */
static bool visit_system(const struct tracing_files *tracefs, const char *system, const char *names,
                         struct visitor *visitor)
{
    char path[2 * TRACING_FILES_PATH_MAX], id[4 * TRACING_FILES_PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/events/%s", tracefs->root, system);
    DIR *folder = opendir(path);
    const struct dirent *entry;
    bool continues = true;
    while (errno = 0, folder && continues && (entry = readdir(folder))) {
        if (entry->d_name[0] == '.' || fnmatch(names, entry->d_name, 0) != 0)
            continue;
        (void)snprintf(id, sizeof id, "%s/%s/id", path, entry->d_name);
        if (access(id, F_OK) == 0)
            continues = visitor->visit(visitor->ctx, system, entry->d_name);
    }
    visitor->sys = folder && continues ? errno : 0;
    if (folder)
        (void)closedir(folder);
    return continues && !visitor->sys;
}

bool tracing_files_visit_systems(const struct tracing_files *tracefs, const char *systems,
                                 const char *names, tracing_files_visit visit, void *ctx)
{
    char path[TRACING_FILES_PATH_MAX + 16];
    (void)snprintf(path, sizeof path, "%s/events", tracefs->root);
    DIR *folder = opendir(path);
    const struct dirent *entry;
    struct visitor visitor = {.visit = visit, .ctx = ctx};
    bool continues = true;
    if (!folder)
        return false;
    while (errno = 0, continues && (entry = readdir(folder)))
        if (entry->d_name[0] != '.' && fnmatch(systems, entry->d_name, 0) == 0)
            continues = visit_system(tracefs, entry->d_name, names, &visitor);
    visitor.sys = continues ? errno : visitor.sys;
    (void)closedir(folder);
    errno = visitor.sys;
    return !visitor.sys;
}
