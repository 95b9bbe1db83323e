/* Starts a program to record it.
 *
 * Ownership: the caller owns a launch; launch_end ends the program if it is still running. */
#ifndef TRACETTA_CLI_DOTNET_LAUNCH_H
#define TRACETTA_CLI_DOTNET_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct launch {
    pid_t pid; /* 0 = not started */
    bool is_held;
    int go, report; /* pipes to and from a child that waits for launch_go; -1 = closed */
    bool has_ended;
    int status; /* status of waitpid, valid after the program has ended */
};

/* Starts a command with `variable` ("NAME=VALUE") in its environment, appended with ";" to an
 * existing value. Its output is written to stderr if stdout is the recording. Returns false with
 * errno set if it cannot be run. */
bool launch_start(struct launch *launch, char **words, size_t n, const char *variable,
                  bool is_stdout_taken);

/* Creates the process like launch_start, but the command runs only after launch_go. `variable` may
 * be NULL. */
bool launch_hold(struct launch *launch, char **words, size_t n, const char *variable,
                 bool is_stdout_taken);
bool launch_go(struct launch *launch);

/* Returns true if the program has ended. */
bool launch_has_ended(struct launch *launch);

/* Returns true if a process is the program or one of its descendants. */
bool launch_holds(const struct launch *launch, uint64_t pid);

/* Formats "ended with status 3" or "was ended by signal 9 (Killed)" into a text, and returns it. */
const char *launch_how(const struct launch *launch, char *text, size_t size);

/* Ends the program with SIGTERM and waits for it; then, or at a second Ctrl-C, with SIGKILL. */
void launch_end(struct launch *launch);

#endif
