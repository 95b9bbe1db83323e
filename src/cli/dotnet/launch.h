/* A program started to be recorded.
 *
 * Ownership: a launch is the caller's; launch_end ends the program where it still runs. */
#ifndef TRACETTA_CLI_DOTNET_LAUNCH_H
#define TRACETTA_CLI_DOTNET_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct launch {
    pid_t pid; /* 0 = none */
    bool is_held;
    int go, report; /* of one that is: pipes to it and from it */
    bool has_ended;
    int status; /* as waitpid gives it, once it has ended */
};

/* Starts a command with `variable` ("NAME=VALUE") in its environment, joined by ";" to what is
 * there of that name.  Its output goes to stderr where stdout is taken.  False with errno where it
 * cannot be run. */
bool launch_start(struct launch *launch, char **words, size_t n, const char *variable,
                  bool is_stdout_taken);

/* The same in two steps: there is a process, which waits; then the command runs in it.  `variable`
 * may be NULL. */
bool launch_hold(struct launch *launch, char **words, size_t n, const char *variable,
                 bool is_stdout_taken);
bool launch_go(struct launch *launch);

/* Looks whether it has ended. */
bool launch_has_ended(struct launch *launch);

/* True for the program, and for what it started. */
bool launch_holds(const struct launch *launch, uint64_t pid);

/* Writes "ended with status 3" or "was ended by signal 9 (Killed)" to a text, and gives it. */
const char *launch_how(const struct launch *launch, char *text, size_t size);

/* Ends the program with SIGTERM and waits for it a while; after that, and for the second Ctrl-C,
 * SIGKILL. */
void launch_end(struct launch *launch);

#endif
