/* Starts a program to be recorded. Ownership: the caller owns a launch; launch_end ends a program
 * that is still running. */
#ifndef TRACETTA_CLI_DOTNET_LAUNCH_H
#define TRACETTA_CLI_DOTNET_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct launch {
    pid_t pid; /* 0 = not started */
    bool is_held;
    int go, report; /* pipes to and from a child that waits for launch_resume; -1 = closed */
    bool has_ended;
    int status; /* status of waitpid, valid after the program has ended */
};

/* Starts a command with the environment variable `variable` ("NAME=VALUE"), added to an existing
 * value after ";". Its output goes to stderr if the recording is written to stdout. Returns false
 * with errno set on failure. */
bool launch_start(struct launch *launch, char **words, size_t n, const char *variable,
                  bool is_stdout_taken);

/* Creates the process like launch_start, but the command is executed only by launch_resume.
 * `variable` may be NULL. */
bool launch_start_paused(struct launch *launch, char **words, size_t n, const char *variable,
                         bool is_stdout_taken);
bool launch_resume(struct launch *launch);

/* Returns true if the program has ended. */
bool launch_has_ended(struct launch *launch);

/* Returns true if a process is the program or one of its descendants. */
bool launch_includes_process(const struct launch *launch, uint64_t pid);

/* Formats how the program ended: "ended with status 3" or "was ended by signal 9 (Killed)". Returns
 * `text`. */
const char *launch_format_status(const struct launch *launch, char *text, size_t size);

/* Ends the program with SIGTERM and waits for it. If that takes too long, or at a second Ctrl-C,
 * uses SIGKILL. */
void launch_end(struct launch *launch);

#endif
