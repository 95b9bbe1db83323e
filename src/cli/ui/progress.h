/* Progress of long work: a line on a terminal, from the first second on, or JSON lines for
 * programs. */
#ifndef TRACETTA_CLI_UI_PROGRESS_H
#define TRACETTA_CLI_UI_PROGRESS_H

#include <tracetta/tracetta.h>

struct call;

struct progress {
    const struct call *call;
    ttr *t;
    ttr_reader *reader; /* reader that is observed */
    const char *what;   /* action that the progress line names, such as "reading" */
    /* number of events written; 0 while a sorter reads, since it returns events only after reading
     * all of its inputs */
    uint64_t written;
    uint64_t begin_ns, next_ns;
    uint64_t read_all_ns; /* progress_now() when the input had been read completely; 0 before */
    uint32_t calls;
    bool is_json, is_on, is_shown;
};

/* Observes a reader until progress_end. Does not print yet. */
void progress_begin(struct progress *progress, const struct call *call, ttr *t, ttr_reader *reader,
                    const char *what);

/* Implements ttr_progress; ctx is the struct progress. Prints progress if it is due. Returns false
 * after an interruption. */
bool progress_step(void *ctx);

/* Removes the progress line. */
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
