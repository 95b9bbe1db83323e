/* From a reader to a writer. */
#include "pipeline/read_loop.h"

#include <tracetta/analyse.h>
#include <tracetta/write.h>

static ttr_status write_batch(void *ctx, const ttr_batch *batch, ttr_error *error)
{
    return ttr_write(ctx, batch, error);
}

ttr_status ttr_copy(ttr_reader *in, ttr_writer *out, ttr_progress progress, void *ctx,
                    ttr_error *error)
{
    const struct walk walk = {
        .take = write_batch, .ctx = out, .progress = progress, .progress_ctx = ctx};
    return walk_events(in, &walk, error);
}
