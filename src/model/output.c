/* A format's writer: the part that is the same for all of them. */
#include "model/output.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "model/options.h"
#include "model/parallel_writer.h"
#include "model/reader.h"

#define DRAIN_AT ((size_t)256 * 1024)
#define SHARED_MOST 64u /* threads */

const char *output_option(const struct ttr_writer *out, const char *key)
{
    return options_get(out->format_options, out->format_options_n, key);
}

static ttr_status hand_over(struct ttr_writer *out, ttr_error *error)
{
    if (out->buffer.failed)
        return fail_memory(error);
    ttr_status status =
        out->folder ? TTR_OK : sink_write(out->sink, out->buffer.bytes, out->buffer.n, error);
    buffer_clear(&out->buffer);
    return status;
}

ttr_status output_drain(struct ttr_writer *out, ttr_error *error)
{
    if ((out->buffer.n < DRAIN_AT || out->is_helper) && !out->buffer.failed)
        return TTR_OK;
    return hand_over(out, error);
}

ttr_status output_event_status(const struct ttr_writer *out, const ttr_event *event,
                               ttr_status status, ttr_error *error)
{
    if (status != TTR_E_NOMEM)
        return status;
    const ttr *t = out->t;
    const ttr_text path = event->source < t->sources_n
                              ? ttr_text_get(t, t->sources[event->source].path)
                              : (ttr_text){"", 0};
    return fail(error, status, event->offset, "out of memory for an event of %.*s", (int)path.n,
                path.p);
}

bool output_can_overwrite(const struct ttr_writer *out)
{
    return sink_can_overwrite(out->sink);
}

ttr_status output_delay(struct ttr_writer *out, ttr_error *error)
{
    return sink_delay_output(out->sink, error);
}

ttr_status output_overwrite(struct ttr_writer *out, uint64_t at, const void *bytes, size_t n,
                            ttr_error *error)
{
    ttr_status status = hand_over(out, error);
    return status == TTR_OK ? sink_overwrite(out->sink, at, bytes, n, error) : status;
}

ttr_status output_insert_prefix(struct ttr_writer *out, const void *bytes, size_t n,
                                ttr_error *error)
{
    ttr_status status = hand_over(out, error);
    return status == TTR_OK ? sink_insert_prefix(out->sink, bytes, n, error) : status;
}

bool output_is_own_raw(const struct ttr_writer *out, const ttr_event *event)
{
    return (event->flags & TTR_EVENT_RAW) &&
           context_schema(out->t, event->schema)->format == out->format;
}

void output_free(struct ttr_writer *out)
{
    const struct alloc *alloc = &out->t->counted;
    parallel_writer_stop(out);
    if (out->ctx && out->format->writer->drop)
        out->format->writer->drop(out);
    sink_abandon(out->sink);
    folder_abandon(out->folder);
    buffer_free(&out->buffer);
    options_free(alloc, out->format_options, out->format_options_n);
    alloc_free(alloc, out->told, out->format->writer->losses_n, sizeof *out->told);
    alloc_free(alloc, out->ledger, out->format->writer->losses_n, sizeof *out->ledger);
    alloc_free(alloc, out->ctx, 1, out->format->writer->state_size);
    alloc_free(alloc, out, 1, sizeof *out);
}

static ttr_status set_up(struct ttr_writer *out, const ttr_write_options *options, ttr_error *error)
{
    const struct alloc *alloc = &out->t->counted;
    const struct format *format = out->format;
    out->ctx = alloc_zero(alloc, 1, format->writer->state_size);
    out->ledger = alloc_zero(alloc, format->writer->losses_n, sizeof *out->ledger);
    out->told = alloc_zero(alloc, format->writer->losses_n, sizeof *out->told);
    if (!out->ctx || (format->writer->losses_n && (!out->ledger || !out->told)))
        return fail_memory(error);
    if (format->writer->losses_n)
        memcpy(out->ledger, format->writer->losses, format->writer->losses_n * sizeof *out->ledger);
    if (!options)
        return TTR_OK;
    out->flags = options->flags;
    return options_copy(&(struct options_list){alloc, options->format_options, format, true},
                        &out->format_options, &out->format_options_n, error);
}

struct ttr_writer *output_new(ttr *t, struct output_target target, const struct format *format,
                              const ttr_write_options *options, ttr_error *error)
{
    struct ttr_writer *out = alloc_zero(&t->counted, 1, sizeof *out);
    if (!out) {
        sink_abandon(target.sink);
        folder_abandon(target.folder);
        (void)fail_memory(error);
        return NULL;
    }
    out->t = t;
    out->format = format;
    out->sink = target.sink;
    out->folder = target.folder;
    buffer_init(&out->buffer, &t->counted);
    ttr_status status = set_up(out, options, error);
    if (status == TTR_OK)
        status = format->writer->create(out, error);
    if (status == TTR_OK)
        return out;
    if (error)
        (void)snprintf(error->format, sizeof error->format, "%s", format->name);
    output_free(out);
    return NULL;
}

struct ttr_writer *output_new_helper(const struct ttr_writer *out, ttr *t)
{
    const ttr_write_options options = {.size = sizeof options,
                                       .flags = out->flags,
                                       .format_options =
                                           (const char *const *)(const void *)out->format_options};
    ttr_error error;
    struct ttr_writer *twin =
        output_new(t, (struct output_target){.sink = NULL}, out->format, &options, &error);
    if (twin)
        twin->is_helper = true;
    return twin;
}

/* Makes a failure stick and tells it. */
static ttr_status stick(struct ttr_writer *out, ttr_status status, const ttr_error *ctx,
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

/* Does not stick: what was put in place is whole. */
static ttr_status refuse_ended(ttr_error *error)
{
    return fail(error, TTR_E_MISUSE, NO_OFFSET, "the output has ended");
}

static ttr_status refuse_loss(struct ttr_writer *out, ttr_error *error)
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
    return parallel_writer_start(out, threads < SHARED_MOST ? threads : SHARED_MOST,
                                 &(struct reader_reopener){open, ctx});
}

bool ttr_writer_allow_stream_order(ttr_writer *out, ttr_reader *in)
{
    const bool is_fresh =
        out->stuck == TTR_OK && !out->has_ended && out->events == 0 && in->apart == out->format;
    const bool is_scattered = is_fresh && out->format->writer->can_use_stream_order &&
                              out->format->writer->can_use_stream_order(out, in) &&
                              reader_allow_stream_order(in);
    out->is_scattered |= is_scattered;
    return is_scattered;
}

ttr_status ttr_write(ttr_writer *out, const ttr_batch *batch, ttr_error *error)
{
    if (out->stuck != TTR_OK)
        return stick(out, TTR_OK, NULL, error);
    if (out->has_ended)
        return refuse_ended(error);
    ttr_error ctx = {0};
    ttr_status status = out->shared ? parallel_writer_write(out, batch, &ctx)
                                    : out->format->writer->write(out, batch, &ctx);
    if (status == TTR_OK)
        status = refuse_loss(out, &ctx);
    if (status == TTR_OK)
        status = output_drain(out, &ctx);
    return stick(out, status, &ctx, error);
}

ttr_status ttr_flush(ttr_writer *out, ttr_error *error)
{
    ttr_error ctx = {0};
    ttr_status status = out->stuck;
    if (status == TTR_OK && out->has_ended)
        return refuse_ended(error);
    if (status == TTR_OK)
        status = parallel_writer_flush(out, &ctx);
    if (status == TTR_OK)
        status = hand_over(out, &ctx);
    if (status == TTR_OK)
        status = out->folder ? folder_flush(out->folder, &ctx) : sink_flush(out->sink, &ctx);
    return stick(out, status, &ctx, error);
}

ttr_status ttr_writer_end(ttr_writer *out, ttr_error *error)
{
    ttr_error ctx = {0};
    if (!out)
        return fail(error, TTR_E_MISUSE, NO_OFFSET, "there is no writer to end");
    if (out->has_ended)
        return stick(out, TTR_OK, NULL, error);
    ttr_status status = out->stuck;
    if (status == TTR_OK)
        status = parallel_writer_flush(out, &ctx);
    if (status == TTR_OK)
        status = out->format->writer->finish(out, &ctx);
    if (status == TTR_OK)
        status = refuse_loss(out, &ctx);
    if (status == TTR_OK)
        status = hand_over(out, &ctx);
    out->bytes = ttr_writer_bytes(out);
    out->has_ended = true;
    if (status == TTR_OK) {
        status = out->folder ? folder_finish(out->folder, &ctx) : sink_finish(out->sink, &ctx);
        out->folder = NULL;
        out->sink = NULL;
    }
    return stick(out, status, &ctx, error);
}

ttr_status ttr_finish(ttr_writer *out, ttr_error *error)
{
    ttr_status status = ttr_writer_end(out, error);
    if (out)
        output_free(out);
    return status;
}

void ttr_writer_abort(ttr_writer *out)
{
    if (out)
        output_free(out);
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
    (void)stick(out, status, &ctx, NULL);
    for (size_t i = 0; i < out->format->writer->losses_n; i++)
        if (out->ledger[i].count)
            out->told[n++] = out->ledger[i];
    *losses = out->told;
    return n;
}
