/* The part of a format's writer that all formats share. */
#include "model/output.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "model/options.h"
#include "model/output_shared.h"
#include "model/reader.h"

#define DRAIN_AT ((size_t)256 * 1024)
#define PARALLEL_THREADS_MAX 64u /* helper threads */

const char *output_option(const struct ttr_writer *out, const char *key)
{
    return options_get(out->format_options, out->format_options_n, key);
}

static ttr_status write_buffer(struct ttr_writer *out, ttr_error *error)
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
    if ((out->buffer.n < DRAIN_AT || out->is_half) && !out->buffer.failed)
        return TTR_OK;
    return write_buffer(out, error);
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

bool output_can_rewrite(const struct ttr_writer *out)
{
    return sink_can_rewrite(out->sink);
}

ttr_status output_hold(struct ttr_writer *out, ttr_error *error)
{
    return sink_hold(out->sink, error);
}

ttr_status output_rewrite(struct ttr_writer *out, uint64_t at, const void *bytes, size_t n,
                          ttr_error *error)
{
    ttr_status status = write_buffer(out, error);
    return status == TTR_OK ? sink_rewrite(out->sink, at, bytes, n, error) : status;
}

ttr_status output_prefix(struct ttr_writer *out, const void *bytes, size_t n, ttr_error *error)
{
    ttr_status status = write_buffer(out, error);
    return status == TTR_OK ? sink_prefix(out->sink, bytes, n, error) : status;
}

bool output_is_own_raw(const struct ttr_writer *out, const ttr_event *event)
{
    return (event->flags & TTR_EVENT_RAW) &&
           context_schema(out->t, event->schema)->format == out->format;
}

void output_free(struct ttr_writer *out)
{
    const struct alloc *alloc = &out->t->counted;
    output_drop_shared(out);
    if (out->own && out->format->writer->drop)
        out->format->writer->drop(out);
    sink_abandon(out->sink);
    folder_abandon(out->folder);
    buffer_free(&out->buffer);
    options_free(alloc, out->format_options, out->format_options_n);
    alloc_free(alloc, out->told, out->format->writer->losses_n, sizeof *out->told);
    alloc_free(alloc, out->ledger, out->format->writer->losses_n, sizeof *out->ledger);
    alloc_free(alloc, out->own, 1, out->format->writer->state_size);
    alloc_free(alloc, out, 1, sizeof *out);
}

static ttr_status init_output(struct ttr_writer *out, const ttr_write_options *options,
                              ttr_error *error)
{
    const struct alloc *alloc = &out->t->counted;
    const struct format *format = out->format;
    out->own = alloc_zero(alloc, 1, format->writer->state_size);
    out->ledger = alloc_zero(alloc, format->writer->losses_n, sizeof *out->ledger);
    out->told = alloc_zero(alloc, format->writer->losses_n, sizeof *out->told);
    if (!out->own || (format->writer->losses_n && (!out->ledger || !out->told)))
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
    ttr_status status = init_output(out, options, error);
    if (status == TTR_OK)
        status = format->writer->create(out, error);
    if (status == TTR_OK)
        return out;
    if (error)
        (void)snprintf(error->format, sizeof error->format, "%s", format->name);
    output_free(out);
    return NULL;
}

struct ttr_writer *output_twin(const struct ttr_writer *out, ttr *t)
{
    const ttr_write_options options = {.size = sizeof options,
                                       .flags = out->flags,
                                       .format_options =
                                           (const char *const *)(const void *)out->format_options};
    ttr_error error;
    struct ttr_writer *twin =
        output_new(t, (struct output_target){.sink = NULL}, out->format, &options, &error);
    if (twin)
        twin->is_half = true;
    return twin;
}

/* Stores the first failure and returns it. */
static ttr_status store_failure(struct ttr_writer *out, ttr_status status, const ttr_error *own,
                                ttr_error *error)
{
    if (status != TTR_OK && out->stuck == TTR_OK) {
        out->stuck = status;
        out->stuck_error = *own;
        (void)snprintf(out->stuck_error.format, sizeof out->stuck_error.format, "%s",
                       out->format->name);
    }
    if (out->stuck != TTR_OK && error)
        *error = out->stuck_error;
    return out->stuck;
}

/* Fails without storing the failure, since the output is complete. */
static ttr_status refuse_ended(ttr_error *error)
{
    return fail(error, TTR_E_MISUSE, NO_OFFSET, "the output has ended");
}

static ttr_status refuse_loss(struct ttr_writer *out, ttr_error *error)
{
    if (!(out->flags & TTR_WRITE_STRICT) || out->lost_any == 0)
        return TTR_OK;
    for (size_t i = 0; i < out->format->writer->losses_n; i++)
        if (out->ledger[i].count)
            return fail_option(
                error,
                fail(error, TTR_E_LOSS, out->ledger[i].first_offset,
                     "%s cannot hold %s: they %s; leave TTR_WRITE_STRICT out to accept that",
                     out->format->name, out->ledger[i].what, out->ledger[i].rule),
                "TTR_WRITE_STRICT");
    return TTR_OK;
}

bool ttr_write_shared(ttr_writer *out, unsigned threads, ttr_reader *(*open)(void *own, ttr *t),
                      void *own)
{
    const bool is_fresh =
                   out->stuck == TTR_OK && !out->has_ended && out->events == 0 && !out->shared,
               is_strict = out->flags & TTR_WRITE_STRICT;
    if (!is_fresh || is_strict || !out->format->writer->pass || out->folder || threads == 0)
        return false;
    return output_share(out, threads < PARALLEL_THREADS_MAX ? threads : PARALLEL_THREADS_MAX,
                        &(struct output_again){open, own});
}

bool ttr_write_scattered(ttr_writer *out, ttr_reader *in)
{
    const bool is_fresh =
        out->stuck == TTR_OK && !out->has_ended && out->events == 0 && in->apart == out->format;
    const bool is_scattered = is_fresh && out->format->writer->takes_scattered &&
                              out->format->writer->takes_scattered(out, in) && reader_scatter(in);
    out->is_scattered |= is_scattered;
    return is_scattered;
}

ttr_status ttr_write(ttr_writer *out, const ttr_batch *batch, ttr_error *error)
{
    if (out->stuck != TTR_OK)
        return store_failure(out, TTR_OK, NULL, error);
    if (out->has_ended)
        return refuse_ended(error);
    ttr_error own = {0};
    ttr_status status = out->shared ? output_write_shared(out, batch, &own)
                                    : out->format->writer->write(out, batch, &own);
    if (status == TTR_OK)
        status = refuse_loss(out, &own);
    if (status == TTR_OK)
        status = output_drain(out, &own);
    return store_failure(out, status, &own, error);
}

ttr_status ttr_flush(ttr_writer *out, ttr_error *error)
{
    ttr_error own = {0};
    ttr_status status = out->stuck;
    if (status == TTR_OK && out->has_ended)
        return refuse_ended(error);
    if (status == TTR_OK)
        status = output_settle_shared(out, &own);
    if (status == TTR_OK)
        status = write_buffer(out, &own);
    if (status == TTR_OK)
        status = out->folder ? folder_flush(out->folder, &own) : sink_flush(out->sink, &own);
    return store_failure(out, status, &own, error);
}

ttr_status ttr_writer_end(ttr_writer *out, ttr_error *error)
{
    ttr_error own = {0};
    if (!out)
        return fail(error, TTR_E_MISUSE, NO_OFFSET, "the writer is NULL");
    if (out->has_ended)
        return store_failure(out, TTR_OK, NULL, error);
    ttr_status status = out->stuck;
    if (status == TTR_OK)
        status = output_settle_shared(out, &own);
    if (status == TTR_OK)
        status = out->format->writer->finish(out, &own);
    if (status == TTR_OK)
        status = refuse_loss(out, &own);
    if (status == TTR_OK)
        status = write_buffer(out, &own);
    out->bytes = ttr_writer_bytes(out);
    out->has_ended = true;
    if (status == TTR_OK) {
        status = out->folder ? folder_finish(out->folder, &own) : sink_finish(out->sink, &own);
        out->folder = NULL;
        out->sink = NULL;
    }
    return store_failure(out, status, &own, error);
}

ttr_status ttr_finish(ttr_writer *out, ttr_error *error)
{
    ttr_status status = ttr_writer_end(out, error);
    if (out)
        output_free(out);
    return status;
}

void ttr_abandon(ttr_writer *out)
{
    if (out)
        output_free(out);
}

const char *ttr_writer_temporary(const ttr_writer *out)
{
    if (out->has_ended)
        return NULL;
    return out->folder ? folder_temporary(out->folder) : sink_temporary(out->sink);
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
    ttr_error own = {0};
    const ttr_status status = out->stuck == TTR_OK ? output_settle_shared(out, &own) : TTR_OK;
    (void)store_failure(out, status, &own, NULL);
    for (size_t i = 0; i < out->format->writer->losses_n; i++)
        if (out->ledger[i].count)
            out->told[n++] = out->ledger[i];
    *losses = out->told;
    return n;
}
