/* Progress of long work: a line on the terminal's stderr after a second, or JSON lines for
 * programs. */
#ifndef TRACETTA_CLI_UI_PROGRESS_H
#define TRACETTA_CLI_UI_PROGRESS_H

#include <tracetta/tracetta.h>

struct call;

struct progress {
    const struct call *call;
    ttr *t;
    ttr_reader *reader; /* whose reports tell how far it is */
    const char *what;   /* "reading" */
    uint64_t written; /* events, where there is an output: sorting reads everything before it gives
                         the first */
    uint64_t begin_ns, next_ns;
    uint64_t read_all_ns; /* when the whole input had been read, 0 before */
    uint32_t calls;
    bool is_json, is_on, is_shown;
};

/* Gets ready and watches the context of the reader until progress_end; shows nothing yet. */
void progress_begin(struct progress *progress, const struct call *call, ttr *t, ttr_reader *reader,
                    const char *what);

/* A ttr_progress (own = struct progress): shows what is due; false once the user interrupts. */
bool progress_step(void *own);

/* Removes the line. */
void progress_end(struct progress *progress);

/* Nanoseconds of a clock that only goes forward. */
uint64_t progress_now(void);

#endif
