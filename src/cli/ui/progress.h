/* Progress of long work: a line on a terminal after one second, or JSON lines for programs. */
#ifndef TRACETTA_CLI_UI_PROGRESS_H
#define TRACETTA_CLI_UI_PROGRESS_H

#include <tracetta/tracetta.h>

struct call;

struct progress {
    const struct call *call;
    ttr *t;
    ttr_reader *reader; /* the reader to watch */
    const char *what;   /* "reading" */
    uint64_t written;   /* events written; sorting reads everything before the first one */
    uint64_t begin_ns, next_ns;
    uint64_t read_all_ns; /* time at which the whole input had been read; 0 before */
    uint32_t calls;
    bool is_json, is_on, is_shown;
};

/* Starts to watch a reader until progress_end; prints nothing yet. */
void progress_begin(struct progress *progress, const struct call *call, ttr *t, ttr_reader *reader,
                    const char *what);

/* A ttr_progress (own = struct progress): prints progress if due. Returns false after an
 * interruption. */
bool progress_step(void *ctx);

/* Removes the line. */
void progress_end(struct progress *progress);

/* Time for writing what is there after a signal: half a second, so that short outputs are complete.
 */
struct progress_grace {
    uint64_t end_ns; /* set when the signal is first seen; 0 before */
};

/* A ttr_progress (user_data = struct progress_grace). Returns false after a signal and the time of
 * grace. */
bool progress_grace_step(void *ctx);

/* Returns nanoseconds of a monotonic clock. */
uint64_t progress_now(void);

#endif
