/* The outputs of "record"; see the header. */
#include "cli/commands/record_output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tracetta/network.h>

#include "cli/commands/command.h"
#include "cli/dotnet/dotnet_choice.h"
#include "cli/ui/messages.h"

#define PATH_SIZE 4096
#define WORDS_MAX 16

enum ttr_manager_mode record_parse_mode(const char *name)
{
    if (name && strcmp(name, "circular") == 0)
        return TTR_MANAGER_CIRCULAR;
    return name && strcmp(name, "oneshot") == 0 ? TTR_MANAGER_ONESHOT : TTR_MANAGER_STREAMING;
}

/* --- Rotation --- */

/* Parses one value of --rotate. Returns false if it is malformed. */
static bool parse_limit(struct record_rotation *rotation, const char *text)
{
    char limit[64], *end;
    uint64_t ns;
    const char *colon = strrchr(text, ':');
    size_t n = strlen(text);
    /* A time may contain colons too: dd:hh:mm:ss. */
    if (colon && strchr(text, ':') == colon) {
        rotation->kept = strtoull(colon + 1, &end, 10);
        if (*end || end == colon + 1 || rotation->kept == 0)
            return false;
        n = (size_t)(colon - text);
    }
    (void)snprintf(limit, sizeof limit, "%.*s", (int)n, text);
    if (units_parse_size(limit, &rotation->bytes))
        return rotation->bytes > 0;
    if (!dotnet_parse_duration(limit, &ns))
        return false;
    rotation->ms = ns / 1000000;
    return rotation->ms > 0;
}

int record_rotation_parse(struct record_rotation *rotation, const struct call *call,
                          const char *path)
{
    const struct words *words = &call->set.rotate;
    *rotation = (struct record_rotation){.call = call, .path = path, .number = 1, .fd = -1};
    for (size_t i = 0; i < words->n; i++)
        if (!parse_limit(rotation, words->list[i]))
            return report_misuse(call->command->name,
                                 "--rotate cannot be \"%s\": expected a size (100MiB), a time "
                                 "(10min), or one of them with the number of files to keep "
                                 "(100MiB:5)",
                                 words->list[i]);
    if (words->n && strcmp(path, "-") == 0)
        return report_misuse(call->command->name, "--rotate needs a file: use -o FILE");
    return OUTCOME_FINE;
}

/* Stores the path of the i-th file: "trace.fxt", "trace-2.fxt", "trace-3.fxt". */
static void format_path(const struct record_rotation *rotation, uint64_t i, char path[PATH_SIZE])
{
    const char *slash = strrchr(rotation->path, '/'), *name = slash ? slash + 1 : rotation->path,
               *dot = strchr(name, '.');
    const size_t n = dot && dot != name ? (size_t)(dot - rotation->path) : strlen(rotation->path);
    if (i == 1)
        (void)snprintf(path, PATH_SIZE, "%s", rotation->path);
    else
        (void)snprintf(path, PATH_SIZE, "%.*s-%" PRIu64 "%s", (int)n, rotation->path, i,
                       rotation->path + n);
}

int record_rotation_next(void *user_data)
{
    struct record_rotation *rotation = user_data;
    char path[PATH_SIZE];
    const bool overwrite = rotation->call->set.overwrite;
    format_path(rotation, rotation->number + 1, path);
    const int fd = open(
        path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | (overwrite ? O_TRUNC : O_EXCL), 0666);
    if (fd < 0) {
        if (!rotation->has_failed)
            report_failure_text(path,
                                "cannot be created: %s; events go to the file before it until "
                                "the next limit",
                                strerror(errno));
        rotation->has_failed = true;
        return -1;
    }
    record_rotation_end(rotation);
    rotation->fd = fd;
    rotation->number++;
    if (rotation->kept && rotation->number > rotation->kept) {
        format_path(rotation, rotation->number - rotation->kept, path);
        (void)unlink(path);
    }
    return fd;
}

void record_rotation_end(struct record_rotation *rotation)
{
    if (rotation->fd >= 0)
        (void)close(rotation->fd);
    rotation->fd = -1;
}

/* --- Live --- */

int record_live_check(const struct call *call, const char *address)
{
    ttr_error error;
    const ttr_sender_options options = {.size = sizeof options, .address = address};
    ttr_sender *sender = ttr_sender_open(&options, &error);
    if (!sender)
        return report_misuse(call->command->name, "--live: %s", error.text);
    (void)ttr_sender_close(sender, false, NULL, NULL);
    if (strncmp(address, "udp:", 4) == 0)
        return report_misuse(call->command->name,
                             "--live=%s: FXT is a stream and cannot be sent by UDP: use tcp: or "
                             "unix:",
                             address);
    return OUTCOME_FINE;
}

/* Executes this command with other words, in a child process. */
static _Noreturn void run_words(const char *const *words, int input)
{
    char name[] = "tracetta";
    char *list[WORDS_MAX] = {name};
    for (size_t i = 0; words[i] && i + 2 < WORDS_MAX; i++)
        list[i + 1] = (char *)(uintptr_t)words[i];
    /* Ctrl-C ends the recording; the rest of the events is still to be read. */
    (void)signal(SIGINT, SIG_IGN);
    if (dup2(input, STDIN_FILENO) >= 0)
        (void)execv("/proc/self/exe", list);
    _exit(OUTCOME_OUTPUT);
}

bool record_live_start(struct record_live *live, const char *const *words)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    (void)fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    const pid_t pid = fork();
    if (pid == 0)
        run_words(words, ends[0]);
    const int reason = errno;
    (void)close(ends[0]);
    if (pid < 0) {
        (void)close(ends[1]);
        errno = reason;
        return false;
    }
    *live = (struct record_live){pid, ends[1]};
    return true;
}

int record_live_end(struct record_live *live)
{
    int status = 0;
    if (live->pid == 0)
        return 0;
    (void)close(live->fd);
    while (waitpid(live->pid, &status, 0) < 0 && errno == EINTR)
        ;
    live->pid = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : OUTCOME_OUTPUT;
}
