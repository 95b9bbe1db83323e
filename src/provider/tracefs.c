/* tracefs lookup and user_events ioctls. The structures of include/uapi/linux/user_events.h (Linux
 * 6.4) are repeated here because the headers of many distributions are older.
 *
 * |  DIAG_IOCSREG    [0..3] size 28 | [4] bit | [5] bytes of the word | [6..7] flags
 * |                  [8..15] address of the word | [16..23] address of the command
 * |                  [24..27] write index, filled in by the kernel
 * |  DIAG_IOCSUNREG  [0..3] size 16 | [4] bit | [5..7] 0 | [8..15] address of the word
 * |  DIAG_IOCSDEL    name as a C string */
#include "provider/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"

struct __attribute__((packed)) user_reg {
    uint32_t size;
    uint8_t enable_bit, enable_size;
    uint16_t flags;
    uint64_t enable_address, command_address;
    uint32_t write_index;
};
_Static_assert(sizeof(struct user_reg) == 28, "as the kernel has it");

struct __attribute__((packed)) user_unreg {
    uint32_t size;
    uint8_t disable_bit, zero;
    uint16_t zeros;
    uint64_t disable_address;
};
_Static_assert(sizeof(struct user_unreg) == 16, "as the kernel has it");

#define IOCTL_REGISTER _IOWR('*', 0, struct user_reg *)
#define IOCTL_DELETE _IOW('*', 1, char *)
#define IOCTL_UNREGISTER _IOW('*', 2, struct user_unreg *)

/* Returns true if a path is a tracefs: it has trace_marker, like every instance. EACCES also proves
 * that the directory exists. */
static bool is_tracefs(const char *path)
{
    char file[TRACEFS_PATH_MAX + 16];
    struct stat about;
    (void)snprintf(file, sizeof file, "%s/trace_marker", path);
    return stat(file, &about) == 0 || errno == EACCES;
}

/* Searches /proc/mounts for a tracefs, or for a debugfs with a tracefs in /tracing. */
static bool find_mounted_tracefs(char path[TRACEFS_PATH_MAX])
{
    char line[TRACEFS_PATH_MAX], at[2048], type[64], candidate[TRACEFS_PATH_MAX];
    bool is_found = false;
    FILE *mounts = fopen("/proc/mounts", "re");
    while (mounts && !is_found && fgets(line, sizeof line, mounts)) {
        if (sscanf(line, "%*s %2047s %63s", at, type) != 2)
            continue;
        bool is_debugfs = strcmp(type, "debugfs") == 0;
        if (!is_debugfs && strcmp(type, "tracefs") != 0)
            continue;
        (void)snprintf(candidate, sizeof candidate, "%s%s", at, is_debugfs ? "/tracing" : "");
        is_found = is_tracefs(candidate);
        if (is_found)
            memcpy(path, candidate, strlen(candidate) + 1);
    }
    if (mounts)
        (void)fclose(mounts);
    return is_found;
}

ttr_status tracefs_find(const char *given, char path[TRACEFS_PATH_MAX], ttr_error *error)
{
    const char *usual = given ? given : "/sys/kernel/tracing";
    if (strlen(usual) >= TRACEFS_PATH_MAX)
        return fail(error, TTR_E_MISUSE, NO_OFFSET, "the path of tracefs is too long");
    memcpy(path, usual, strlen(usual) + 1);
    if (given || is_tracefs(usual) || find_mounted_tracefs(path))
        return TTR_OK;
    return fail(error, TTR_E_IO, NO_OFFSET,
                "tracefs is not mounted; as root: mount -t tracefs tracefs /sys/kernel/tracing");
}

int tracefs_open(const char *tracefs, const char *name, ttr_error *error)
{
    char path[TRACEFS_PATH_MAX + 64];
    (void)snprintf(path, sizeof path, "%s/%s", tracefs, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    int sys = errno;
    if (fd >= 0)
        return fd;
    if (sys == ENOENT)
        (void)fail(error, TTR_E_UNSUPPORTED, NO_OFFSET,
                   "%.128s does not exist: this kernel lacks user_events (Linux 6.4 or later with "
                   "CONFIG_USER_EVENTS)",
                   path);
    else if (sys == EACCES || sys == EPERM)
        (void)fail_sys(error, sys, NO_OFFSET,
                       "no write access to %.128s; run as root, or as root admit a group: chgrp "
                       "GROUP on it and chmod g+x on %.64s",
                       path, tracefs);
    else
        (void)fail_sys(error, sys, NO_OFFSET, "cannot open %.128s", path);
    return -1;
}

int tracefs_register(int fd, const struct tracefs_registration *registration, uint32_t *index)
{
    struct user_reg reg = {
        .size = sizeof reg,
        .enable_bit = (uint8_t)registration->bit,
        .enable_size = sizeof *registration->enabled,
        .flags = (uint16_t)registration->flags,
        .enable_address = (uint64_t)(uintptr_t)registration->enabled,
        .command_address = (uint64_t)(uintptr_t)registration->command,
    };
    if (ioctl(fd, IOCTL_REGISTER, &reg) != 0)
        return errno;
    *index = reg.write_index;
    return 0;
}

int tracefs_unregister(int fd, uint32_t *enabled, unsigned bit)
{
    struct user_unreg unreg = {.size = sizeof unreg,
                               .disable_bit = (uint8_t)bit,
                               .disable_address = (uint64_t)(uintptr_t)enabled};
    return ioctl(fd, IOCTL_UNREGISTER, &unreg) == 0 ? 0 : errno;
}

int tracefs_delete(int fd, const char *name)
{
    return ioctl(fd, IOCTL_DELETE, name) == 0 ? 0 : errno;
}
