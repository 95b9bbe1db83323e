/* What /proc tells of one process, as far as we may look. */
#ifndef TRACETTA_DOTNET_PROC_H
#define TRACETTA_DOTNET_PROC_H

#include <stdbool.h>
#include <stdint.h>

#define PROC_COMMAND 4096u
#define PROC_PATH 4096u

struct proc {
    uint64_t pid, inner_pid; /* inner_pid: in its own namespace */
    uint64_t start;          /* clock ticks after the boot */
    bool has_other_files;   /* its /tmp may be another one than ours: look through /proc/PID/root */
    char tmpdir[PROC_PATH]; /* "" = not known */
    char name[256], command[PROC_COMMAND], runtime[64];
};

/* Reads what is needed to find the socket; false when the process is gone. */
bool proc_read(struct proc *proc, uint64_t pid);

/* Reads name, command line, and the version of the runtime by the path of its library. */
void proc_read_more(struct proc *proc);

#endif
