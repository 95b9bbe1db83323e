/* The read loop of analyses; see read_loop.h. */
#include "pipeline/read_loop.h"

#include "base/status.h"

/* A progress callback every 16,000 events or so makes a smooth progress bar at negligible cost. */
#define BATCHES_PER_PROGRESS 64u

ttr_status read_all_batches(ttr_reader *in, const struct read_loop *read_loop, ttr_error *error)
{
    ttr_batch batch;
    ttr_status status = TTR_OK;
    for (uint64_t i = 1; status == TTR_OK; i++) {
        status = ttr_read(in, &batch, error);
        if (status == TTR_OK)
            status = read_loop->on_batch(read_loop->ctx, &batch, error);
        if (status == TTR_OK && read_loop->progress && i % BATCHES_PER_PROGRESS == 0 &&
            !read_loop->progress(read_loop->progress_ctx))
            return fail(error, TTR_AGAIN, NO_OFFSET, "ended early on request");
    }
    return status == TTR_END ? TTR_OK : status;
}
