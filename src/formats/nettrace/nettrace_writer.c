/* Entry points of the nettrace writer. A trace of the same version is copied (nettrace_copy.h),
 * everything else is encoded (nettrace_writer.h). The first event decides. */
#include <string.h>

#include "base/status.h"
#include "formats/nettrace/nettrace_writer.h"

ttr_status nettrace_writer_create(struct ttr_writer *out, ttr_error *error)
{
    struct nettrace_writer *w = out->ctx;
    const char *version = output_option(out, "version");
    nettrace_encode_init(w, &out->t->counted);
    if (version && (strlen(version) != 1 || version[0] < '4' || version[0] > '6'))
        return fail(error, TTR_E_MISUSE, NO_OFFSET, "version=%s: expected 4, 5 or 6", version);
    if (version)
        w->version = (unsigned)(version[0] - '0');
    return TTR_OK;
}

void nettrace_writer_free(struct ttr_writer *out)
{
    struct nettrace_writer *w = out->ctx;
    if (w->mode == NETTRACE_COPIES)
        nettrace_copy_free(&w->copy, &out->t->counted);
    nettrace_encode_free(w, &out->t->counted);
}

/* Returns true if a trace can be copied: no event was written, times are not shifted, and its
 * version was requested, or any. V4 can also be copied if V5 was requested. */
static bool can_copy_trace(const struct nettrace_writer *w, const struct nettrace_reader *reader)
{
    bool is_version = w->version == 0 || w->version == reader->version ||
                      (w->version == 5 && reader->version == 4);
    return w->mode == NETTRACE_UNDECIDED && is_version && reader->in->time_offset == 0;
}

static ttr_status write_chunk(struct ttr_writer *out, const ttr_event *event, ttr_error *error)
{
    struct nettrace_writer *w = out->ctx;
    const struct schema *schema = context_schema(out->t, event->schema);
    if (schema->format != out->format)
        return TTR_OK;
    const struct nettrace_reader *reader = schema->ctx;
    if (event->tag == NETTRACE_CHUNK_FILE_HEAD && event->offset == 0 && can_copy_trace(w, reader)) {
        w->mode = NETTRACE_COPIES;
        nettrace_copy_init(&w->copy, &out->t->counted, reader, event->source);
    }
    return w->mode == NETTRACE_COPIES && w->copy.source == event->source
               ? nettrace_copy_add_chunk(&w->copy, out, event, error)
               : TTR_OK;
}

static ttr_status write_event(struct ttr_writer *out, const ttr_event *event, ttr_error *error)
{
    struct nettrace_writer *w = out->ctx;
    if (event->kind == TTR_KIND_DEFINITION)
        return write_chunk(out, event, error);
    if (w->mode != NETTRACE_COPIES)
        return nettrace_encode_event(out, event, error);
    bool is_own = event->source == w->copy.source &&
                  (event->kind == TTR_KIND_GAP ||
                   context_schema(out->t, event->schema)->format == out->format);
    if (!is_own) {
        output_count_loss(out, NETTRACE_LOST_GUEST, event->offset);
    } else if (event->kind !=
               /* sequence numbers, which a copy keeps, already report the gap */
               TTR_KIND_GAP) {
        nettrace_copy_mark_event(&w->copy, event);
        output_count_event(out, event);
    }
    return TTR_OK;
}

ttr_status nettrace_writer_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error)
{
    ttr_status status = TTR_OK;
    for (uint32_t i = 0; i < batch->n && status == TTR_OK; i++)
        status = write_event(out, ttr_batch_at(batch, i), error);
    return status;
}

ttr_status nettrace_writer_finish(struct ttr_writer *out, ttr_error *error)
{
    struct nettrace_writer *w = out->ctx;
    return w->mode == NETTRACE_COPIES ? nettrace_copy_finish(&w->copy, out, error)
                                      : nettrace_encode_finish(out, error);
}
