/* The outer loop of each analysis: reads to the end and calls a progress callback. */
#ifndef TRACETTA_PIPELINE_READ_LOOP_H
#define TRACETTA_PIPELINE_READ_LOOP_H

#include <tracetta/tracetta.h>

struct walk {
    ttr_status (*take)(void *own, const ttr_batch *batch,
                       ttr_error *error); /* any status but TTR_OK stops reading */
    void *own;
    ttr_progress progress; /* may be NULL */
    void *progress_own;
};

/* Returns TTR_OK at the end of the input, TTR_AGAIN if `progress` stopped it or a live input has no
 * data yet, or the failure. */
TTR_MUST ttr_status walk_events(ttr_reader *in, const struct walk *walk, ttr_error *error);

#endif
