/* Output: buffering and loss counts that the writers of all formats share. */
#include "model/output.h"

#include <stdio.h>
#include <string.h>

#include "base/self_zones.h"
#include "base/status.h"
#include "model/options.h"

#define DRAIN_AT ((size_t)256 * 1024)

const char *output_option(const struct ttr_writer *out, const char *key)
{
    return options_get(out->format_options, out->format_options_n, key);
}

ttr_status output_write_bytes(struct ttr_writer *out, const void *bytes, size_t n, ttr_error *error)
{
    if (!(out->flags & TTR_WRITE_TERMINAL) || !out->format->writer->is_text)
        return sink_write(out->sink, bytes, n, error);
    visible_text_append(&out->visible, &out->visible_bytes, bytes, n, out->flags & TTR_WRITE_COLOR);
    ttr_status status = out->visible_bytes.failed ? fail_memory(error)
                                                  : sink_write(out->sink, out->visible_bytes.bytes,
                                                               out->visible_bytes.n, error);
    buffer_clear(&out->visible_bytes);
    return status;
}

ttr_status output_write_buffer(struct ttr_writer *out, ttr_error *error)
{
    SELF_ZONE(write, "write buffer");
    if (out->buffer.failed)
        return fail_memory(error);
    ttr_status status =
        out->folder ? TTR_OK : output_write_bytes(out, out->buffer.bytes, out->buffer.n, error);
    buffer_clear(&out->buffer);
    return status;
}

ttr_status output_drain(struct ttr_writer *out, ttr_error *error)
{
    if ((out->buffer.n < DRAIN_AT || out->is_helper) && !out->buffer.failed)
        return TTR_OK;
    return output_write_buffer(out, error);
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
    ttr_status status = output_write_buffer(out, error);
    return status == TTR_OK ? sink_overwrite(out->sink, at, bytes, n, error) : status;
}

ttr_status output_insert_prefix(struct ttr_writer *out, const void *bytes, size_t n,
                                ttr_error *error)
{
    ttr_status status = output_write_buffer(out, error);
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
    if (out->ctx && out->format->writer->drop)
        out->format->writer->drop(out);
    sink_abandon(out->sink);
    folder_abandon(out->folder);
    buffer_free(&out->buffer);
    buffer_free(&out->visible_bytes);
    options_free(alloc, out->format_options, out->format_options_n);
    alloc_free(alloc, out->reported, out->format->writer->losses_n, sizeof *out->reported);
    alloc_free(alloc, out->ledger, out->format->writer->losses_n, sizeof *out->ledger);
    alloc_free(alloc, out->ctx, 1, out->format->writer->state_size);
    alloc_free(alloc, out, 1, sizeof *out);
}

static ttr_status init_output(struct ttr_writer *out, const ttr_write_options *options,
                              ttr_error *error)
{
    const struct alloc *alloc = &out->t->counted;
    const struct format *format = out->format;
    out->ctx = alloc_zero(alloc, 1, format->writer->state_size);
    out->ledger = alloc_zero(alloc, format->writer->losses_n, sizeof *out->ledger);
    out->reported = alloc_zero(alloc, format->writer->losses_n, sizeof *out->reported);
    if (!out->ctx || (format->writer->losses_n && (!out->ledger || !out->reported)))
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
    buffer_init(&out->visible_bytes, &t->counted);
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
