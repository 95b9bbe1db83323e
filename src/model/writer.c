/* Public functions of writers: single-threaded or parallel, strict or not. After a failure, every
 * later call returns the same failure. */
#include <stdio.h>

#include "base/self_zones.h"
#include "base/status.h"
#include "model/output.h"
#include "model/parallel_writer.h"
#include "model/reader.h"

#define PARALLEL_THREADS_MAX 64u /* maximum number of helper threads */

/* Stores the first failure and returns it. */
static ttr_status store_failure(struct ttr_writer *out, ttr_status status, const ttr_error *ctx,
                                ttr_error *error)
{
    if (status != TTR_OK && out->stuck == TTR_OK) {
        out->stuck = status;
        out->stuck_error = *ctx;
        (void)snprintf(out->stuck_error.format, sizeof out->stuck_error.format, "%s",
                       out->format->name);
    }
    if (out->stuck != TTR_OK && error)
        *error = out->stuck_error;
    return out->stuck;
}

/* Sets an error but does not store it: the output is complete, so later calls need not fail. */
static ttr_status fail_after_end(ttr_error *error)
{
    return fail(error, TTR_E_MISUSE, NO_OFFSET, "the output has ended");
}

static ttr_status fail_for_loss(struct ttr_writer *out, ttr_error *error)
{
    if (!(out->flags & TTR_WRITE_STRICT) || out->losses_total == 0)
        return TTR_OK;
    for (size_t i = 0; i < out->format->writer->losses_n; i++)
        if (out->ledger[i].count)
            return error_set_option(
                error,
                fail(error, TTR_E_LOSS, out->ledger[i].first_offset,
                     "%s cannot hold %s: they %s; leave TTR_WRITE_STRICT out to accept that",
                     out->format->name, out->ledger[i].what, out->ledger[i].rule),
                "TTR_WRITE_STRICT");
    return TTR_OK;
}

bool ttr_writer_parallel(ttr_writer *out, unsigned threads, ttr_reader *(*open)(void *ctx, ttr *t),
                         void *ctx)
{
    const bool is_fresh =
                   out->stuck == TTR_OK && !out->has_ended && out->events == 0 && !out->shared,
               is_strict = out->flags & TTR_WRITE_STRICT;
    if (!is_fresh || is_strict || !out->format->writer->pass || out->folder || threads == 0)
        return false;
    return parallel_writer_start(out,
                                 threads < PARALLEL_THREADS_MAX ? threads : PARALLEL_THREADS_MAX,
                                 &(struct reader_reopener){open, ctx});
}

bool ttr_writer_allow_stream_order(ttr_writer *out, ttr_reader *in)
{
    const bool is_fresh = out->stuck == TTR_OK && !out->has_ended && out->events == 0 &&
                          in->per_source_format == out->format;
    const bool is_stream_order = is_fresh && out->format->writer->can_use_stream_order &&
                                 out->format->writer->can_use_stream_order(out, in) &&
                                 reader_allow_stream_order(in);
    out->is_stream_order |= is_stream_order;
    return is_stream_order;
}

ttr_status ttr_write(ttr_writer *out, const ttr_batch *batch, ttr_error *error)
{
    SELF_ZONE(write, "write batch");
    if (!out || !batch)
        return fail_null(error, "ttr_write", out ? "batch" : "writer");
    if (out->stuck != TTR_OK)
        return store_failure(out, TTR_OK, NULL, error);
    if (out->has_ended)
        return fail_after_end(error);
    ttr_error ctx = {0};
    ttr_status status = out->shared ? parallel_writer_write(out, batch, &ctx)
                                    : out->format->writer->write(out, batch, &ctx);
    if (status == TTR_OK)
        status = fail_for_loss(out, &ctx);
    if (status == TTR_OK)
        status = output_drain(out, &ctx);
    return store_failure(out, status, &ctx, error);
}

ttr_status ttr_flush(ttr_writer *out, ttr_error *error)
{
    ttr_error ctx = {0};
    if (!out)
        return fail_null(error, "ttr_flush", "writer");
    ttr_status status = out->stuck;
    if (status == TTR_OK && out->has_ended)
        return fail_after_end(error);
    if (status == TTR_OK)
        status = parallel_writer_flush(out, &ctx);
    if (status == TTR_OK)
        status = output_write_buffer(out, &ctx);
    if (status == TTR_OK)
        status = out->folder ? folder_flush(out->folder, &ctx) : sink_flush(out->sink, &ctx);
    return store_failure(out, status, &ctx, error);
}

ttr_status ttr_writer_end(ttr_writer *out, ttr_error *error)
{
    ttr_error ctx = {0};
    if (!out)
        return fail_null(error, "ttr_writer_end", "writer");
    if (out->has_ended)
        return store_failure(out, TTR_OK, NULL, error);
    ttr_status status = out->stuck;
    if (status == TTR_OK)
        status = parallel_writer_flush(out, &ctx);
    if (status == TTR_OK)
        status = out->format->writer->finish(out, &ctx);
    if (status == TTR_OK)
        status = fail_for_loss(out, &ctx);
    if (status == TTR_OK)
        status = output_write_buffer(out, &ctx);
    out->bytes = ttr_writer_bytes(out);
    out->has_ended = true;
    if (status == TTR_OK) {
        status = out->folder ? folder_finish(out->folder, &ctx) : sink_finish(out->sink, &ctx);
        out->folder = NULL;
        out->sink = NULL;
    }
    return store_failure(out, status, &ctx, error);
}

/* Stops the helper threads, if any, and frees a writer. */
static void free_writer(ttr_writer *out)
{
    if (!out)
        return;
    parallel_writer_stop(out);
    output_free(out);
}

ttr_status ttr_finish(ttr_writer *out, ttr_error *error)
{
    SELF_ZONE(write, "finish");
    ttr_status status = ttr_writer_end(out, error);
    free_writer(out);
    return status;
}

void ttr_writer_abort(ttr_writer *out)
{
    free_writer(out);
}

const char *ttr_writer_temporary_path(const ttr_writer *out)
{
    if (out->has_ended)
        return NULL;
    return out->folder ? folder_temporary_path(out->folder) : sink_temporary_path(out->sink);
}

uint64_t ttr_writer_bytes(const ttr_writer *out)
{
    if (out->has_ended)
        return out->bytes;
    return (out->folder ? folder_bytes_written(out->folder) : sink_offset(out->sink)) +
           out->buffer.n;
}

uint64_t ttr_writer_events(const ttr_writer *out)
{
    return out->events;
}

size_t ttr_losses(ttr_writer *out, const ttr_loss **losses)
{
    size_t n = 0;
    ttr_error ctx = {0};
    const ttr_status status = out->stuck == TTR_OK ? parallel_writer_flush(out, &ctx) : TTR_OK;
    (void)store_failure(out, status, &ctx, NULL);
    for (size_t i = 0; i < out->format->writer->losses_n; i++)
        if (out->ledger[i].count)
            out->reported[n++] = out->ledger[i];
    *losses = out->reported;
    return n;
}
