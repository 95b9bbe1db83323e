/* Signal handlers. A handler may use only these variables and async-signal-safe functions.
 * Directories are listed by system calls, since opendir may allocate. */
#include "cli/ui/interrupt.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "cli/commands/command.h"

#define LEVELS_MAX 4 /* depth of folders in an output folder */

static volatile sig_atomic_t came, dump_came;
static const char *volatile temporary;
/* pipe that becomes readable in every thread when the handler closes its writing end */
static int wake[2] = {-1, -1};

/* A directory entry as getdents64 writes it. */
struct listed {
    uint64_t inode;
    int64_t next;
    unsigned short size;
    unsigned char type;
    char name[];
};

static void remove_tree(int folder, const char *name, int levels);

/* Removes the entries of an open folder. No thread writes to it any more. */
static void empty_folder(int fd, int levels)
{
    _Alignas(struct listed) char bytes[2048];
    long n;
    /* called by number, since the library function is not async-signal-safe */
    while ((n = syscall(SYS_getdents64, /* NOLINT(bugprone-signal-handler,cert-sig30-c) */
                        fd, bytes, sizeof bytes)) > 0)
        for (long at = 0; at < n;) {
            const struct listed *listed = (const struct listed *)(bytes + at);
            at += listed->size;
            if (strcmp(listed->name, ".") != 0 && strcmp(listed->name, "..") != 0)
                remove_tree(fd, listed->name, levels);
        }
}

/* Removes a file, or a folder with its contents down to `levels` levels. */
static void remove_tree(int folder, const char *name, int levels)
{
    if (unlinkat(folder, name, 0) == 0 || levels == 0)
        return;
    int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    empty_folder(fd, levels - 1);
    (void)close(fd);
    (void)unlinkat(folder, name, AT_REMOVEDIR);
}

static void remove_temporary(void)
{
    if (temporary)
        remove_tree(AT_FDCWD, temporary, LEVELS_MAX);
}

static void handle_stop_signal(int number)
{
    if (came) {
        remove_temporary();
        _exit(128 + number);
    }
    came = number;
    (void)close(wake[1]);
}

static void handle_dump_signal(int number)
{
    dump_came = number;
}

/* Handles SIGBUS: another process truncated a mapped file. The command ends, because the output
 * would only look complete. */
static void handle_bus_error(int number)
{
    static const char text[] =
        "tracetta: an input was cut while it was read; --no-mmap reads such files\n";
    (void)number;
    remove_temporary();
    _exit(write(STDERR_FILENO, text, sizeof text - 1) < 0 ? OUTCOME_OUTPUT : OUTCOME_INPUT);
}

/* Installs the handler for a signal, unless the signal was ignored when the command started (nohup,
 * background jobs). */
static void install_handler(int number)
{
    struct sigaction action = {.sa_handler = handle_stop_signal}, before;
    (void)sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        (void)sigaction(number, &action, NULL);
}

void interrupt_init(void)
{
    if (pipe2(wake, O_CLOEXEC) != 0)
        wake[0] = wake[1] = -1;
    install_handler(SIGINT);
    install_handler(SIGTERM);
    install_handler(SIGHUP);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    (void)signal(SIGBUS, handle_bus_error);
}

static void handle_alarm(int number)
{
    if (came)
        return;
    came = number;
    (void)close(wake[1]);
}

void interrupt_after(int64_t ns)
{
    struct sigaction action = {.sa_handler = handle_alarm};
    const int64_t us = ns > 0 && ns < 1000 ? 1 : ns / 1000; /* 0 stops the timer */
    const struct itimerval timer = {.it_value = {.tv_sec = us / 1000000, .tv_usec = us % 1000000}};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGALRM, &action, NULL);
    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

void interrupt_enable_dumps(void)
{
    struct sigaction action = {.sa_handler = handle_dump_signal};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGUSR2, &action, NULL);
}

bool interrupt_dump_was_received(void)
{
    bool has_come = dump_came != 0;
    dump_came = 0;
    return has_come;
}

void interrupt_clear(void)
{
    came = 0;
}

int interrupt_was_received(void)
{
    return came;
}

int interrupt_get_wake_fd(void)
{
    return wake[0];
}

void interrupt_set_temporary_path(const char *path)
{
    temporary = path;
}
