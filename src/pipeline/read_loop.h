/* The read loop of every analysis: reads all batches and calls a progress callback. */
#ifndef TRACETTA_PIPELINE_READ_LOOP_H
#define TRACETTA_PIPELINE_READ_LOOP_H

#include <tracetta/tracetta.h>

struct read_loop {
    ttr_status (*on_batch)(void *ctx, const ttr_batch *batch,
                           /* a status other than TTR_OK ends reading; read_all_batches then returns
                            * it */
                           ttr_error *error);
    void *ctx;
    ttr_progress progress; /* progress callback; may be NULL */
    void *progress_ctx;
};

/* Returns TTR_OK at the end of the input. Returns TTR_AGAIN if `progress` cancelled, or if a live
 * input has no data yet. Otherwise returns the failure. */
TTR_MUST ttr_status read_all_batches(ttr_reader *in, const struct read_loop *read_loop,
                                     ttr_error *error);

#endif
