/* Properties of a process, read from /proc as far as permissions allow. */
#ifndef TRACETTA_DOTNET_PROC_H
#define TRACETTA_DOTNET_PROC_H

#include <stdbool.h>
#include <stdint.h>

#define PROC_COMMAND_MAX 4096u
#define PROC_PATH_MAX 4096u

struct proc {
    /* pid in this process's namespace, and in the innermost PID namespace of the process */
    uint64_t pid, inner_pid;
    uint64_t start; /* start time in clock ticks since boot */
    /* root or mount namespace differs from this process's: files must be opened through
     * /proc/PID/root */
    bool has_other_files;
    char tmpdir[PROC_PATH_MAX]; /* value of TMPDIR, "" if unset or unreadable */
    char name[256], command[PROC_COMMAND_MAX], runtime[64];
};

/* Reads the members that are needed to find the diagnostics socket. Returns false if the process
 * has ended. */
bool proc_read(struct proc *proc, uint64_t pid);

/* Reads the members that take longer: name, command line, and the runtime version (from the path of
 * libcoreclr.so). */
void proc_read_details(struct proc *proc);

#endif
