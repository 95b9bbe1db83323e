/* Which processes have a diagnostic socket: TMPDIR/dotnet-diagnostic-PID-KEY-socket, where KEY is
 * the start of the process in clock ticks (field 22 of /proc/PID/stat) and PID its number as it
 * sees itself.
 *
 * So no folder is searched for what lives: each process is asked for its two numbers and its
 * TMPDIR, and the one file looked at, through /proc/PID/root where its files are others than ours.
 * Sockets in our folders that no process claims are stale. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tracetta/collect.h>

#include "base/arena.h"
#include "base/number.h"
#include "base/status.h"
#include "dotnet/proc.h"

#define PATH_ROOM 4352u

struct ttr_dotnet_list {
    struct arena texts;
    ttr_dotnet_process *list;
    size_t n, capacity;
};

static const char *own_tmpdir(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && folder[0] ? folder : "/tmp";
}

static char *copy_text(ttr_dotnet_list *list, const char *text)
{
    return arena_copy(&list->texts, text, strlen(text));
}

static bool add(ttr_dotnet_list *list, const ttr_dotnet_process *process)
{
    ttr_dotnet_process copy = *process;
    copy.socket = copy_text(list, process->socket);
    copy.name = copy_text(list, process->name);
    copy.command = copy_text(list, process->command);
    copy.runtime = copy_text(list, process->runtime);
    if (!copy.socket || !copy.name || !copy.command || !copy.runtime ||
        !alloc_reserve(list->texts.alloc, (void **)&list->list, &list->capacity, list->n + 1,
                       sizeof *list->list))
        return false;
    list->list[list->n++] = copy;
    return true;
}

static bool is_socket(const char *path, struct stat *about)
{
    return lstat(path, about) == 0 && S_ISSOCK(about->st_mode);
}

/* Looks for the socket below `root` ("" = ours) in a folder. */
static bool look_in(const struct proc *proc, const char *root, const char *folder, char *path,
                    struct stat *about)
{
    int n = snprintf(path, PATH_ROOM, "%s%s/dotnet-diagnostic-%" PRIu64 "-%" PRIu64 "-socket", root,
                     folder, proc->inner_pid, proc->start);
    return n > 0 && n < (int)PATH_ROOM && is_socket(path, about);
}

static bool look_for_socket(const struct proc *proc, char *path, struct stat *about)
{
    char root[64] = "";
    if (proc->has_other_files)
        (void)snprintf(root, sizeof root, "/proc/%" PRIu64 "/root", proc->pid);
    return (proc->tmpdir[0] && look_in(proc, root, proc->tmpdir, path, about)) ||
           look_in(proc, root, "/tmp", path, about) ||
           (!root[0] && look_in(proc, root, own_tmpdir(), path, about));
}

/* One process of /proc; false when memory is out. */
static bool add_process(ttr_dotnet_list *list, uint64_t pid, struct proc *proc)
{
    char path[PATH_ROOM];
    struct stat about;
    if (!proc_read(proc, pid) || !look_for_socket(proc, path, &about))
        return true;
    proc_read_more(proc);
    return add(list,
               &(ttr_dotnet_process){
                   .size = sizeof(ttr_dotnet_process),
                   .pid = pid,
                   .inner_pid = proc->inner_pid,
                   .uid = about.st_uid,
                   .state = access(path, R_OK | W_OK) == 0 ? TTR_DOTNET_READY : TTR_DOTNET_DENIED,
                   .socket = path,
                   .name = proc->name,
                   .command = proc->command,
                   .runtime = proc->runtime,
               });
}

static bool is_claimed(const ttr_dotnet_list *list, const char *path)
{
    struct stat one, other;
    for (size_t i = 0; i < list->n; i++) {
        if (strcmp(list->list[i].socket, path) == 0)
            return true;
        if (lstat(list->list[i].socket, &one) == 0 && lstat(path, &other) == 0 &&
            one.st_dev == other.st_dev && one.st_ino == other.st_ino)
            return true;
    }
    return false;
}

/* The number in "dotnet-diagnostic-NUMBER-KEY-socket"; false for another name. */
static bool read_name(const char *name, uint64_t *pid)
{
    static const char begin[] = "dotnet-diagnostic-", end[] = "-socket";
    if (strncmp(name, begin, sizeof begin - 1) != 0)
        return false;
    const char *number = name + sizeof begin - 1;
    const char *dash = strchr(number, '-'), *rest = dash ? strchr(dash + 1, '-') : NULL;
    return rest && strcmp(rest, end) == 0 && number_get_u64(number, (size_t)(dash - number), pid);
}

/* Tells of a folder that failed to be listed, or that memory is out. */
static ttr_status end_of(const char *folder, bool has_room, int sys, ttr_error *error)
{
    if (!has_room)
        return fail_memory(error);
    return sys ? fail_sys(error, sys, NO_OFFSET, "cannot list %s", folder) : TTR_OK;
}

/* Sockets in a folder of ours that belong to nobody. */
static ttr_status add_stale(ttr_dotnet_list *list, const char *folder, ttr_error *error)
{
    bool has_room = true;
    DIR *open = opendir(folder);
    for (const struct dirent *entry; errno = 0, open && has_room && (entry = readdir(open));) {
        char path[PATH_ROOM];
        struct stat about;
        uint64_t pid;
        if (!read_name(entry->d_name, &pid))
            continue;
        int n = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (n > 0 && n < (int)sizeof path && is_socket(path, &about) && !is_claimed(list, path))
            has_room = add(list, &(ttr_dotnet_process){.size = sizeof(ttr_dotnet_process),
                                                       .pid = pid,
                                                       .inner_pid = pid,
                                                       .uid = about.st_uid,
                                                       .state = TTR_DOTNET_STALE,
                                                       .socket = path,
                                                       .name = "",
                                                       .command = "",
                                                       .runtime = ""});
    }
    const int sys = open ? errno : 0;
    if (open)
        (void)closedir(open);
    return end_of(folder, has_room, sys, error);
}

static int by_pid(const void *a, const void *b)
{
    const ttr_dotnet_process *x = a, *y = b;
    if ((x->state == TTR_DOTNET_STALE) != (y->state == TTR_DOTNET_STALE))
        return x->state == TTR_DOTNET_STALE ? 1 : -1;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

static ttr_status find_all(ttr_dotnet_list *list, ttr_error *error)
{
    struct proc *proc = alloc_zero(list->texts.alloc, 1, sizeof *proc);
    bool has_room = proc != NULL;
    DIR *open = opendir("/proc");
    for (const struct dirent *entry; errno = 0, open && has_room && (entry = readdir(open));) {
        uint64_t pid;
        if (isdigit((unsigned char)entry->d_name[0]) &&
            number_get_u64(entry->d_name, strlen(entry->d_name), &pid))
            has_room = add_process(list, pid, proc);
    }
    const int sys = open ? errno : 0;
    if (open)
        (void)closedir(open);
    alloc_free(list->texts.alloc, proc, 1, sizeof *proc);
    ttr_status status = end_of("/proc", has_room, sys, error);
    if (status == TTR_OK)
        status = add_stale(list, own_tmpdir(), error);
    if (status == TTR_OK && strcmp(own_tmpdir(), "/tmp") != 0)
        status = add_stale(list, "/tmp", error);
    return status;
}

ttr_dotnet_list *ttr_dotnet_find(ttr_error *error)
{
    const struct alloc *alloc = alloc_default();
    ttr_dotnet_list *list = alloc_zero(alloc, 1, sizeof *list);
    if (!list) {
        (void)fail_memory(error);
        return NULL;
    }
    arena_init(&list->texts, alloc);
    if (find_all(list, error) != TTR_OK) {
        ttr_dotnet_list_free(list);
        return NULL;
    }
    if (list->n)
        qsort(list->list, list->n, sizeof *list->list, by_pid);
    return list;
}

bool ttr_dotnet_list_at(const ttr_dotnet_list *list, size_t i, ttr_dotnet_process *process)
{
    if (i >= list->n || process->size != sizeof *process)
        return false;
    *process = list->list[i];
    return true;
}

void ttr_dotnet_list_free(ttr_dotnet_list *list)
{
    if (!list)
        return;
    const struct alloc *alloc = list->texts.alloc;
    alloc_free(alloc, list->list, list->capacity, sizeof *list->list);
    arena_free(&list->texts);
    alloc_free(alloc, list, 1, sizeof *list);
}
