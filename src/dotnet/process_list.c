/* Search for processes with a diagnostic socket, which is named
 * TMPDIR/dotnet-diagnostic-PID-KEY-socket. PID is the process id in the innermost namespace; KEY is
 * the start time in clock ticks, field 22 of /proc/PID/stat.
 *
 * The list of processes decides, not the list of sockets: for each process the expected path is
 * computed from /proc and checked. Processes in containers are checked through /proc/PID/root.
 * Sockets in our temporary directories that belong to none of these processes are listed as stale.
 * Cost: 4 small files of /proc per process. */
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

#define SOCKET_PATH_MAX 4352u

struct ttr_dotnet_list {
    struct arena texts;
    ttr_dotnet_process *list;
    size_t n, capacity;
};

static const char *get_own_tmpdir(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && folder[0] ? folder : "/tmp";
}

static char *copy_text(ttr_dotnet_list *list, const char *text)
{
    return arena_copy(&list->texts, text, strlen(text));
}

static bool append_process_copy(ttr_dotnet_list *list, const ttr_dotnet_process *process)
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

/* Builds the path of a process's socket in `folder` below `root` ("" for this process's file
 * system). Returns true if a socket exists there. */
static bool find_socket_in_folder(const struct proc *proc, const char *root, const char *folder,
                                  char *path, struct stat *about)
{
    int n = snprintf(path, SOCKET_PATH_MAX, "%s%s/dotnet-diagnostic-%" PRIu64 "-%" PRIu64 "-socket",
                     root, folder, proc->inner_pid, proc->start);
    return n > 0 && n < (int)SOCKET_PATH_MAX && is_socket(path, about);
}

static bool find_diagnostic_socket(const struct proc *proc, char *path, struct stat *about)
{
    char root[64] = "";
    if (proc->has_other_files)
        (void)snprintf(root, sizeof root, "/proc/%" PRIu64 "/root", proc->pid);
    return (proc->tmpdir[0] && find_socket_in_folder(proc, root, proc->tmpdir, path, about)) ||
           find_socket_in_folder(proc, root, "/tmp", path, about) ||
           (!root[0] && find_socket_in_folder(proc, root, get_own_tmpdir(), path, about));
}

/* Appends a process to the list if it has a diagnostic socket. Returns false only if memory is
 * exhausted. */
static bool append_if_dotnet(ttr_dotnet_list *list, uint64_t pid, struct proc *proc)
{
    char path[SOCKET_PATH_MAX];
    struct stat about;
    if (!proc_read(proc, pid) || !find_diagnostic_socket(proc, path, &about))
        return true;
    proc_read_details(proc);
    return append_process_copy(
        list, &(ttr_dotnet_process){
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

static bool is_socket_listed(const ttr_dotnet_list *list, const char *path)
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

/* Parses "dotnet-diagnostic-PID-KEY-socket". Returns false for any other file name. */
static bool parse_socket_name(const char *name, uint64_t *pid)
{
    static const char begin[] = "dotnet-diagnostic-", end[] = "-socket";
    if (strncmp(name, begin, sizeof begin - 1) != 0)
        return false;
    const char *number = name + sizeof begin - 1;
    const char *dash = strchr(number, '-'), *rest = dash ? strchr(dash + 1, '-') : NULL;
    return rest && strcmp(rest, end) == 0 && number_parse_u64(number, (size_t)(dash - number), pid);
}

/* Returns the status of a directory listing: TTR_OK, out of memory if `has_room` is false, or the
 * failure `sys` (an errno). */
static ttr_status choose_list_status(const char *folder, bool has_room, int sys, ttr_error *error)
{
    if (!has_room)
        return fail_memory(error);
    return sys ? fail_sys(error, sys, NO_OFFSET, "cannot list %s", folder) : TTR_OK;
}

/* Appends the sockets in `folder` that belong to no listed process. Killed processes leave such
 * sockets. */
static ttr_status append_stale_sockets(ttr_dotnet_list *list, const char *folder, ttr_error *error)
{
    bool has_room = true;
    DIR *open = opendir(folder);
    for (const struct dirent *entry; errno = 0, open && has_room && (entry = readdir(open));) {
        char path[SOCKET_PATH_MAX];
        struct stat about;
        uint64_t pid;
        if (!parse_socket_name(entry->d_name, &pid))
            continue;
        int n = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (n > 0 && n < (int)sizeof path && is_socket(path, &about) &&
            !is_socket_listed(list, path))
            has_room =
                append_process_copy(list, &(ttr_dotnet_process){.size = sizeof(ttr_dotnet_process),
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
    return choose_list_status(folder, has_room, sys, error);
}

static int compare_stale_then_pid(const void *a, const void *b)
{
    const ttr_dotnet_process *x = a, *y = b;
    if ((x->state == TTR_DOTNET_STALE) != (y->state == TTR_DOTNET_STALE))
        return x->state == TTR_DOTNET_STALE ? 1 : -1;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

static ttr_status find_dotnet_processes(ttr_dotnet_list *list, ttr_error *error)
{
    struct proc *proc = alloc_zero(list->texts.alloc, 1, sizeof *proc);
    bool has_room = proc != NULL;
    DIR *open = opendir("/proc");
    for (const struct dirent *entry; errno = 0, open && has_room && (entry = readdir(open));) {
        uint64_t pid;
        if (isdigit((unsigned char)entry->d_name[0]) &&
            number_parse_u64(entry->d_name, strlen(entry->d_name), &pid))
            has_room = append_if_dotnet(list, pid, proc);
    }
    const int sys = open ? errno : 0;
    if (open)
        (void)closedir(open);
    alloc_free(list->texts.alloc, proc, 1, sizeof *proc);
    ttr_status status = choose_list_status("/proc", has_room, sys, error);
    if (status == TTR_OK)
        status = append_stale_sockets(list, get_own_tmpdir(), error);
    if (status == TTR_OK && strcmp(get_own_tmpdir(), "/tmp") != 0)
        status = append_stale_sockets(list, "/tmp", error);
    return status;
}

ttr_dotnet_list *ttr_dotnet_list_new(ttr_error *error)
{
    const struct alloc *alloc = alloc_default();
    ttr_dotnet_list *list = alloc_zero(alloc, 1, sizeof *list);
    if (!list) {
        (void)fail_memory(error);
        return NULL;
    }
    arena_init(&list->texts, alloc);
    if (find_dotnet_processes(list, error) != TTR_OK) {
        ttr_dotnet_list_free(list);
        return NULL;
    }
    if (list->n)
        qsort(list->list, list->n, sizeof *list->list, compare_stale_then_pid);
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
