/* Files of /proc/PID: stat, status, environ, root, mnt, cmdline, maps.  Whatever another user's
 * process put into them is only copied, within bounds. */
#include "dotnet/proc.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"

#define ENVIRON_MAX 131072u
#define START_FIELD 22 /* of stat, counted from 1 */

static int open_file(uint64_t pid, const char *file)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%" PRIu64 "/%s", pid, file);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Reads the begin of a file, with a zero behind it; gives how many bytes. */
static size_t read_file(uint64_t pid, const char *file, char *to, size_t size)
{
    int fd = open_file(pid, file);
    size_t n = 0;
    ssize_t got;
    while (fd >= 0 && n < size - 1 && (got = read(fd, to + n, size - 1 - n)) > 0)
        n += (size_t)got;
    to[n] = '\0';
    if (fd >= 0)
        (void)close(fd);
    return n;
}

/* "PID (NAME) STATE ...": the name may hold blanks and brackets, what follows the last bracket does
 * not. */
static bool read_stat(struct proc *proc)
{
    char text[1024];
    (void)read_file(proc->pid, "stat", text, sizeof text);
    const char *open = strchr(text, '('), *at = strrchr(text, ')');
    if (!open || !at)
        return false;
    (void)snprintf(proc->name, sizeof proc->name, "%.*s", (int)(at - open - 1), open + 1);
    at++;
    for (int field = 3; field < START_FIELD && at; field++)
        at = strchr(at + (*at == ' '), ' ');
    return at && number_get_u64(at + 1, strspn(at + 1, "0123456789"), &proc->start);
}

/* The last number of the line "NSpid:". */
static void read_inner_pid(struct proc *proc)
{
    char text[8192];
    (void)read_file(proc->pid, "status", text, sizeof text);
    proc->inner_pid = proc->pid;
    const char *line = strstr(text, "\nNSpid:");
    if (!line)
        return;
    line += 7;
    size_t n = strcspn(line, "\n"), digits = 0;
    while (digits < n && line[n - 1 - digits] >= '0' && line[n - 1 - digits] <= '9')
        digits++;
    (void)number_get_u64(line + n - digits, digits, &proc->inner_pid);
}

static void read_tmpdir(struct proc *proc)
{
    static const char key[] = "TMPDIR=";
    char text[ENVIRON_MAX];
    size_t n = read_file(proc->pid, "environ", text, sizeof text);
    proc->tmpdir[0] = '\0';
    for (size_t at = 0; at < n; at += strlen(text + at) + 1)
        if (strncmp(text + at, key, sizeof key - 1) == 0)
            (void)snprintf(proc->tmpdir, sizeof proc->tmpdir, "%s", text + at + sizeof key - 1);
}

static bool has_same(uint64_t pid, const char *file)
{
    char path[64], own[64];
    struct stat of_it, of_us;
    (void)snprintf(path, sizeof path, "/proc/%" PRIu64 "/%s", pid, file);
    (void)snprintf(own, sizeof own, "/proc/self/%s", file);
    return stat(path, &of_it) == 0 && stat(own, &of_us) == 0 && of_it.st_dev == of_us.st_dev &&
           of_it.st_ino == of_us.st_ino;
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
    /* Where we may not look, its files are taken for ours: what it has in a /tmp of all is found
     * then. */
    proc->has_other_files =
        access(root, X_OK) == 0 && !(has_same(pid, "root") && has_same(pid, "ns/mnt"));
    return true;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "dotnet app.dll" is known as "app". */
static void name_by_program(struct proc *proc, const char *words, size_t n)
{
    static const char suffix[] = ".dll";
    if (strcmp(last_part(words), "dotnet") != 0)
        return;
    for (size_t at = strlen(words) + 1; at < n; at += strlen(words + at) + 1) {
        const char *word = last_part(words + at);
        size_t length = strlen(word);
        if (length < sizeof suffix || strcmp(word + length - (sizeof suffix - 1), suffix) != 0)
            continue;
        (void)snprintf(proc->name, sizeof proc->name, "%.*s", (int)(length - (sizeof suffix - 1)),
                       word);
        return;
    }
}

static void read_command(struct proc *proc)
{
    size_t n = read_file(proc->pid, "cmdline", proc->command, sizeof proc->command);
    if (n)
        name_by_program(proc, proc->command, n);
    while (n && !proc->command[n - 1])
        n--;
    for (size_t i = 0; i < n; i++)
        if (!proc->command[i])
            proc->command[i] = ' ';
}

/* ".../Microsoft.NETCore.App/3.1.2/libcoreclr.so" among the mapped files. */
static void read_runtime(struct proc *proc)
{
    char line[PROC_PATH + 128];
    int fd = open_file(proc->pid, "maps");
    FILE *maps = fd >= 0 ? fdopen(fd, "r") : NULL;
    proc->runtime[0] = '\0';
    while (maps && !proc->runtime[0] && fgets(line, sizeof line, maps)) {
        char *file = strstr(line, "/libcoreclr.so");
        if (!file)
            continue;
        *file = '\0';
        const char *version = last_part(line);
        if (version[0] >= '0' && version[0] <= '9')
            (void)snprintf(proc->runtime, sizeof proc->runtime, "%.63s", version);
    }
    if (maps)
        (void)fclose(maps);
    else if (fd >= 0)
        (void)close(fd);
}

void proc_read_more(struct proc *proc)
{
    read_command(proc);
    read_runtime(proc);
}
