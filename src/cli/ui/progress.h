/* Progress of long work: a line on a terminal after one second, or JSON lines for programs. */
#ifndef TRACETTA_CLI_UI_PROGRESS_H
#define TRACETTA_CLI_UI_PROGRESS_H

#include <tracetta/read.h>

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

/* Returns nanoseconds of a monotonic clock. */
uint64_t progress_now(void);

#endif
