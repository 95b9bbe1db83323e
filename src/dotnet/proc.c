/* Reads /proc/PID/{stat,status,environ,root,ns/mnt,cmdline,maps}. A process controls its strings,
 * so every copy is bounded. */
#include "dotnet/proc.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"

#define ENVIRON_MAX 131072u
#define START_FIELD 22 /* starttime in stat, counted from 1 (proc(5)) */

static int open_proc_file(uint64_t pid, const char *file)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%" PRIu64 "/%s", pid, file);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Reads at most size - 1 bytes of a file and appends a zero byte. Returns the number of bytes read,
 * 0 on failure. */
static size_t read_proc_file(uint64_t pid, const char *file, char *to, size_t size)
{
    int fd = open_proc_file(pid, file);
    size_t n = 0;
    ssize_t got_bytes;
    while (fd >= 0 && n < size - 1 && (got_bytes = read(fd, to + n, size - 1 - n)) > 0)
        n += (size_t)got_bytes;
    to[n] = '\0';
    if (fd >= 0)
        (void)close(fd);
    return n;
}

/* The file has the form "PID (NAME) STATE ...". NAME may contain spaces and parentheses; the last
 * ')' ends it. */
static bool read_stat(struct proc *proc)
{
    char text[1024];
    (void)read_proc_file(proc->pid, "stat", text, sizeof text);
    const char *open = strchr(text, '('), *at = strrchr(text, ')');
    if (!open || !at)
        return false;
    (void)snprintf(proc->name, sizeof proc->name, "%.*s", (int)(at - open - 1), open + 1);
    at++;
    for (int field = 3; field < START_FIELD && at; field++)
        at = strchr(at + (*at == ' '), ' ');
    return at && number_parse_u64(at + 1, strspn(at + 1, "0123456789"), &proc->start);
}

/* Sets inner_pid to the last number of the line "NSpid:", the id in the innermost namespace.
 * Without that line (old kernels) inner_pid is the outer pid. */
static void read_inner_pid(struct proc *proc)
{
    char text[8192];
    (void)read_proc_file(proc->pid, "status", text, sizeof text);
    proc->inner_pid = proc->pid;
    const char *line = strstr(text, "\nNSpid:");
    if (!line)
        return;
    line += 7;
    size_t n = strcspn(line, "\n"), digits = 0;
    while (digits < n && line[n - 1 - digits] >= '0' && line[n - 1 - digits] <= '9')
        digits++;
    (void)number_parse_u64(line + n - digits, digits, &proc->inner_pid);
}

static void read_tmpdir(struct proc *proc)
{
    static const char key[] = "TMPDIR=";
    char text[ENVIRON_MAX];
    size_t n = read_proc_file(proc->pid, "environ", text, sizeof text);
    proc->tmpdir[0] = '\0';
    for (size_t at = 0; at < n; at += strlen(text + at) + 1)
        if (strncmp(text + at, key, sizeof key - 1) == 0)
            (void)snprintf(proc->tmpdir, sizeof proc->tmpdir, "%s", text + at + sizeof key - 1);
}

static bool is_same_namespace_as_own(uint64_t pid, const char *file)
{
    char path[64], ctx[64];
    struct stat its_stat, our_stat;
    (void)snprintf(path, sizeof path, "/proc/%" PRIu64 "/%s", pid, file);
    (void)snprintf(ctx, sizeof ctx, "/proc/self/%s", file);
    return stat(path, &its_stat) == 0 && stat(ctx, &our_stat) == 0 &&
           its_stat.st_dev == our_stat.st_dev && its_stat.st_ino == our_stat.st_ino;
}

bool proc_read(struct proc *proc, uint64_t pid)
{
    proc->pid = pid;
    if (!read_stat(proc))
        return false;
    read_inner_pid(proc);
    read_tmpdir(proc);
    char root[64];
    (void)snprintf(root, sizeof root, "/proc/%" PRIu64 "/root/.", pid);
    /* If the root cannot be read, the process is assumed to share this file system: a socket in a
     * shared /tmp is then found. */
    proc->has_other_files = access(root, X_OK) == 0 && !(is_same_namespace_as_own(pid, "root") &&
                                                         is_same_namespace_as_own(pid, "ns/mnt"));
    return true;
}

static const char *path_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Sets the name of "dotnet app.dll" to that of the assembly, "app". Other programs keep the name
 * that the kernel reports. */
static void name_by_assembly(struct proc *proc, const char *words, size_t n)
{
    static const char suffix[] = ".dll";
    if (strcmp(path_base_name(words), "dotnet") != 0)
        return;
    for (size_t at = strlen(words) + 1; at < n; at += strlen(words + at) + 1) {
        const char *word = path_base_name(words + at);
        size_t length = strlen(word);
        if (length < sizeof suffix || strcmp(word + length - (sizeof suffix - 1), suffix) != 0)
            continue;
        (void)snprintf(proc->name, sizeof proc->name, "%.*s", (int)(length - (sizeof suffix - 1)),
                       word);
        return;
    }
}

static void read_command_line(struct proc *proc)
{
    size_t n = read_proc_file(proc->pid, "cmdline", proc->command, sizeof proc->command);
    if (n)
        name_by_assembly(proc, proc->command, n);
    while (n && !proc->command[n - 1])
        n--;
    for (size_t i = 0; i < n; i++)
        if (!proc->command[i])
            proc->command[i] = ' ';
}

/* Sets the runtime version: the directory of a mapped file
 * ".../Microsoft.NETCore.App/3.1.2/libcoreclr.so". */
static void read_runtime_version(struct proc *proc)
{
    char line[PROC_PATH_MAX + 128];
    int fd = open_proc_file(proc->pid, "maps");
    FILE *maps = fd >= 0 ? fdopen(fd, "r") : NULL;
    proc->runtime[0] = '\0';
    while (maps && !proc->runtime[0] && fgets(line, sizeof line, maps)) {
        char *file = strstr(line, "/libcoreclr.so");
        if (!file)
            continue;
        *file = '\0';
        const char *version = path_base_name(line);
        if (version[0] >= '0' && version[0] <= '9')
            (void)snprintf(proc->runtime, sizeof proc->runtime, "%.63s", version);
    }
    if (maps)
        (void)fclose(maps);
    else if (fd >= 0)
        (void)close(fd);
}

void proc_read_details(struct proc *proc)
{
    read_command_line(proc);
    read_runtime_version(proc);
}
