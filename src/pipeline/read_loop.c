/* See read_loop.h. */
#include "pipeline/read_loop.h"

#include "base/status.h"

/* About 16,000 events: often enough for a progress bar, too seldom to be felt. */
#define BATCHES_PER_PROGRESS 64u

ttr_status walk_events(ttr_reader *in, const struct walk *walk, ttr_error *error)
{
    ttr_batch batch;
    ttr_status status = TTR_OK;
    for (uint64_t i = 1; status == TTR_OK; i++) {
        status = ttr_read(in, &batch, error);
        if (status == TTR_OK)
            status = walk->take(walk->ctx, &batch, error);
        if (status == TTR_OK && walk->progress && i % BATCHES_PER_PROGRESS == 0 &&
            !walk->progress(walk->progress_ctx))
            return fail(error, TTR_AGAIN, NO_OFFSET, "ended early on request");
    }
    return status == TTR_END ? TTR_OK : status;
}
