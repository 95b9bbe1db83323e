/* Starts a program and ends it. */
#include "cli/dotnet/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 5000u
#define SLICE_MS 20u
#define SLICE_NS 20000000
#define ANCESTORS_MAX 64u

/* Sets an environment variable "NAME=VALUE". A variable that exists keeps its value, followed by
 * ";" and the new one. */
static void add_environment_variable(const char *variable)
{
    size_t name_n = strcspn(variable, "=");
    char name[64], joined[8192];
    (void)snprintf(name, sizeof name, "%.*s", (int)name_n, variable);
    const char *before = getenv(name);
    (void)snprintf(joined, sizeof joined, "%s%s%s", variable + name_n + 1,
                   before && before[0] ? ";" : "", before ? before : "");
    (void)setenv(name, joined, 1);
}

/* Arguments for the child process. */
struct begin {
    char **words;
    const char *variable;
    bool is_stdout_taken;
    int go, report;
};

/* Waits until the parent permits it, then executes the command in the child process. */
static _Noreturn void exec_command(const struct begin *begin)
{
    char sign;
    ssize_t got;
    do
        got = read(begin->go, &sign, 1);
    while (got < 0 && errno == EINTR);
    if (got != 1)
        _exit(127); /* the parent has ended and will not start the command */
    (void)signal(SIGPIPE, SIG_DFL);
    (void)signal(SIGXFSZ, SIG_DFL);
    (void)signal(SIGBUS, SIG_DFL);
    if (begin->is_stdout_taken)
        (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    if (begin->variable)
        add_environment_variable(begin->variable);
    (void)execvp(begin->words[0], begin->words);
    int reason = errno;
    _exit(write(begin->report, &reason, sizeof reason) == sizeof reason ? 127 : 126);
}

static bool open_pipes(int go[2], int report[2])
{
    if (pipe2(go, O_CLOEXEC) != 0)
        return false;
    if (pipe2(report, O_CLOEXEC) == 0)
        return true;
    (void)close(go[0]);
    (void)close(go[1]);
    return false;
}

static void close_pipes(struct launch *launch)
{
    if (!launch->is_held)
        return;
    (void)close(launch->go);
    (void)close(launch->report);
    launch->is_held = false;
}

bool launch_start_paused(struct launch *launch, char **words, size_t n, const char *variable,
                         bool is_stdout_taken)
{
    int go[2], report[2];
    char **list = calloc(n + 1, sizeof *list);
    *launch = (struct launch){0};
    if (!list || !open_pipes(go, report)) {
        free(list);
        return false;
    }
    memcpy(list, words, n * sizeof *list);
    pid_t pid = fork();
    if (pid == 0) {
        /* the child closes its copy of this end, because otherwise read would not see that the
         * parent has ended */
        (void)close(go[1]);
        exec_command(&(struct begin){list, variable, is_stdout_taken, go[0], report[1]});
    }
    int reason = errno;
    (void)close(go[0]);
    (void)close(report[1]);
    free(list);
    *launch = (struct launch){
        .pid = pid > 0 ? pid : 0, .is_held = true, .go = go[1], .report = report[0]};
    if (pid < 0)
        close_pipes(launch);
    errno = reason;
    return pid > 0;
}

bool launch_resume(struct launch *launch)
{
    int reason = 0;
    ssize_t got = write(launch->go, "!", 1);
    if (got == 1)
        do
            got = read(launch->report, &reason, sizeof reason);
        while (got < 0 && errno == EINTR);
    else
        reason = errno;
    close_pipes(launch);
    if (!reason)
        return true;
    (void)waitpid(launch->pid, &launch->status, 0);
    launch->pid = 0;
    errno = reason;
    return false;
}

bool launch_start(struct launch *launch, char **words, size_t n, const char *variable,
                  bool is_stdout_taken)
{
    return launch_start_paused(launch, words, n, variable, is_stdout_taken) &&
           launch_resume(launch);
}

bool launch_has_ended(struct launch *launch)
{
    if (launch->pid && !launch->has_ended)
        launch->has_ended = waitpid(launch->pid, &launch->status, WNOHANG) == launch->pid;
    return launch->has_ended;
}

/* Returns the pid of a process's parent: the fourth field of /proc/PID/stat, which follows the name
 * in parentheses. */
static uint64_t get_parent_pid(uint64_t pid)
{
    char path[64], text[512];
    (void)snprintf(path, sizeof path, "/proc/%" PRIu64 "/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        (void)close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *end = strrchr(text, ')');
    return end && strlen(end) > 4 ? strtoull(end + 4, NULL, 10) : 0;
}

bool launch_includes_process(const struct launch *launch, uint64_t pid)
{
    for (unsigned i = 0; launch->pid && pid > 1 && i < ANCESTORS_MAX;
         i++, pid = get_parent_pid(pid))
        if (pid == (uint64_t)launch->pid)
            return true;
    return false;
}

const char *launch_format_status(const struct launch *launch, char *text, size_t size)
{
    if (WIFSIGNALED(launch->status))
        (void)snprintf(text, size, "was ended by signal %d (%s)", WTERMSIG(launch->status),
                       strsignal(WTERMSIG(launch->status)));
    else
        (void)snprintf(text, size, "ended with status %d", WEXITSTATUS(launch->status));
    return text;
}

void launch_end(struct launch *launch)
{
    const struct timespec slice = {.tv_nsec = SLICE_NS};
    close_pipes(launch); /* a child that waits for launch_resume ends when the pipe is closed */
    if (!launch->pid || launch_has_ended(launch))
        return;
    (void)kill(launch->pid, SIGTERM);
    for (unsigned waited = 0; waited < PATIENCE_MS && !launch_has_ended(launch); waited += SLICE_MS)
        (void)nanosleep(&slice, NULL);
    if (launch->has_ended)
        return;
    (void)kill(launch->pid, SIGKILL);
    launch->has_ended = waitpid(launch->pid, &launch->status, 0) == launch->pid;
}
