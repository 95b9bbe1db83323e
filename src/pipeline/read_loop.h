/* Reading to the end with a progress callback now and then: the outer loop of every analysis. */
#ifndef TRACETTA_PIPELINE_READ_LOOP_H
#define TRACETTA_PIPELINE_READ_LOOP_H

#include <tracetta/read.h>

struct walk {
    ttr_status (*take)(void *ctx, const ttr_batch *batch,
                       ttr_error *error); /* anything but TTR_OK ends the walk */
    void *ctx;
    ttr_progress progress; /* may be NULL */
    void *progress_ctx;
};

/* Gives TTR_OK at the end of input, TTR_AGAIN where progress said stop or live input has nothing
 * yet, or the failure. */
TTR_MUST ttr_status walk_events(ttr_reader *in, const struct walk *walk, ttr_error *error);

#endif
