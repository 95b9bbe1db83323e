/* Records the stream of a live session into a file, until the stream ends, the user stops it, the
 * time limit is reached or the disk is full.
 *
 * Received data are written to the file at once. A stream that is cut off is closed after its last
 * complete block, if the output is a regular file. Ownership: sessions and targets stay the
 * caller's. */
#ifndef TRACETTA_CLI_DOTNET_RECORDING_H
#define TRACETTA_CLI_DOTNET_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include <tracetta/collect.h>

#include "cli/dotnet/stop_condition.h"

struct call;
struct launch;

struct recording {
    const struct call *call;
    ttr_dotnet *target;
    ttr_dotnet_session *session;
    struct launch *launch; /* NULL = the process was already running */
    const char *path;      /* path of the file; "-" is standard output */
    const char *what;      /* name of the target for messages: "process 123 (app)" */
    int fd;
    bool is_made; /* the file was created here and may be removed while it is empty */
    bool is_regular;
    uint64_t limit_ns; /* time limit in ns; 0 = none */
    uint64_t begin_ns, next_ns, stop_ns, heard_ns;
    uint64_t written, whole; /* bytes in the file; offset of the end of the last complete block */
    uint8_t closing[4];
    uint32_t closing_n;
    bool is_stopping, is_given_up, is_shown;
    struct stopping stopping;
    bool is_met;  /* the event that ends the recording was found */
    bool is_full; /* a write failed */
    bool is_left; /* the reader of the pipe has closed it */
};

/* Opens the file. Returns OUTCOME_FINE, or the outcome after reporting an error. */
int recording_open(struct recording *recording, const char *path, bool overwrite);

/* Writes bytes to the file. Returns false after reporting an error, with is_full set; if the reader
 * of a pipe has closed it, only is_left is set. */
bool recording_write_bytes(struct recording *recording, const void *bytes, size_t n);

/* Returns true if the user, a limit or a stop condition ends the recording. */
bool recording_is_enough(struct recording *recording, uint64_t now);

/* recording_show_progress prints the progress line if it is due; recording_clear_progress removes
 * it. */
void recording_show_progress(struct recording *recording, uint64_t now);
void recording_clear_progress(struct recording *recording);

/* Reads the stream to its end and closes the file. Returns the outcome. */
int recording_run(struct recording *recording);

/* Removes the file if it is empty and was created here. */
void recording_discard(struct recording *recording);

#endif
