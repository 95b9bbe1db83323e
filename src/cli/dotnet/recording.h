/* A stream of a live session on its way into a file: until it ends, the user has enough, the time
 * is over or the disk is full.
 *
 * The file is written in place, so that what has come is there whatever happens.  A stream that is
 * cut is closed behind its last whole block, where the file allows that.  Ownership: sessions and
 * targets stay the caller's. */
#ifndef TRACETTA_CLI_DOTNET_RECORDING_H
#define TRACETTA_CLI_DOTNET_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include <tracetta/tracetta.h>

#include "cli/dotnet/stop_condition.h"

struct call;
struct launch;

struct recording {
    const struct call *call;
    ttr_dotnet *target;
    ttr_dotnet_session *session;
    struct launch *launch; /* NULL = the process was there before */
    const char *path;      /* of the file; "-" is standard output */
    const char *what;      /* "process 123 (app)" */
    int fd;
    bool is_made; /* the file is ours to remove while it is empty */
    bool is_regular;
    uint64_t limit_ns; /* 0 = no limit */
    uint64_t begin_ns, next_ns, stop_ns, heard_ns;
    uint64_t written, whole; /* bytes of the file; up to where blocks are whole */
    uint8_t closing[4];
    uint32_t closing_n;
    bool is_stopping, is_given_up, is_shown;
    struct stopping stopping;
    bool is_met;  /* the event that ends the recording came */
    bool is_full; /* nothing more can be written */
    bool is_left; /* because nobody reads it any more */
};

/* Opens the file.  OUTCOME_FINE, or after telling what is wrong. */
int recording_open(struct recording *recording, const char *path, bool overwrite);

/* Writes bytes to the file: false after telling that this was not possible, and then is_full is
 * set; a pipe that nobody reads any more is told by is_left alone. */
bool recording_put(struct recording *recording, const void *bytes, size_t n);

/* True when the user, or what was asked for, wants the recording to end. */
bool recording_is_enough(struct recording *recording, uint64_t now);

/* Shows how far it is, where that is due; removes what was shown. */
void recording_show(struct recording *recording, uint64_t now);
void recording_unshow(struct recording *recording);

/* Takes the stream to its end and closes the file.  Gives the outcome. */
int recording_run(struct recording *recording);

/* Removes a file that nothing was written to. */
void recording_drop(struct recording *recording);

#endif
