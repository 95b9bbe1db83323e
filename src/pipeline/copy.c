/* ttr_copy: reads all batches of a reader and passes each to a writer. */
#include "base/self_zones.h"
#include "base/status.h"
#include "pipeline/read_loop.h"

static ttr_status write_batch(void *ctx, const ttr_batch *batch, ttr_error *error)
{
    return ttr_write(ctx, batch, error);
}

ttr_status ttr_copy(ttr_reader *in, ttr_writer *out, ttr_progress progress, void *ctx,
                    ttr_error *error)
{
    SELF_ZONE(order, "copy");
    if (!in || !out)
        return fail_null(error, "ttr_copy", in ? "writer" : "reader");
    const struct read_loop read_loop = {
        .on_batch = write_batch, .ctx = out, .progress = progress, .progress_ctx = ctx};
    return read_all_batches(in, &read_loop, error);
}
