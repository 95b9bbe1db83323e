/* The outputs of "record": files of a rotation, and a second process that gets the events live. */
#ifndef TRACETTA_CLI_COMMANDS_RECORD_OUTPUT_H
#define TRACETTA_CLI_COMMANDS_RECORD_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <tracetta/record.h>

struct call;

/* Returns the mode of a value of --mode; NULL is the default. */
enum ttr_manager_mode record_parse_mode(const char *name);

struct record_rotation {
    const struct call *call;
    const char *path;   /* path of the first file */
    uint64_t bytes, ms; /* limits of a file; 0 = none */
    uint64_t kept;      /* number of files that are kept; 0 = all */
    uint64_t number;    /* number of the current file, from 1 */
    int fd;             /* descriptor of the current file, unless it is the first; -1 = none */
    bool has_failed;    /* a file could not be created, which was reported */
};

/* Parses the values of --rotate: SIZE[:COUNT] and TIME[:COUNT]. Returns the outcome. */
int record_rotation_parse(struct record_rotation *rotation, const struct call *call,
                          const char *path);

/* Opens the next file; for ttr_manager_options.next_output, with a struct record_rotation. */
int record_rotation_next(void *user_data);

/* Closes the current file. */
void record_rotation_end(struct record_rotation *rotation);

/* A process of this command that reads the events from a pipe. */
struct record_live {
    pid_t pid; /* 0 = none */
    int fd;    /* end of the pipe to write to */
};

/* Checks an address of --live before the program starts. Returns the outcome. */
int record_live_check(const struct call *call, const char *address);

/* Starts "tracetta WORD...", which reads the pipe as its standard input. Returns false with errno.
 */
bool record_live_start(struct record_live *live, const char *const *words);

/* Closes the pipe and waits for the process. Returns its exit status, 0 without a process. */
int record_live_end(struct record_live *live);

#endif
