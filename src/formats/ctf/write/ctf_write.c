/* Entry points of the CTF writer. Copies traces if possible (ctf_copy.h), and transcodes or encodes
 * all other events (ctf_transcode.c, ctf_encode.c). Each source trace is written to its own folder.
 */
#include "base/status.h"
#include "formats/ctf/write/ctf_copy.h"

ttr_status ctf_create(struct ttr_writer *out, ttr_error *error)
{
    struct ctf_writer *w = out->ctx;
    const struct alloc *alloc = &out->t->counted;
    pair_map_init(&w->trace_of, alloc);
    pair_map_init(&w->stream_of, alloc);
    key_map_init(&w->names_in_use, alloc);
    pair_map_init(&w->copy_of, alloc);
    ctf_items_init(&w->items, alloc);
    ctf_items_init(&w->packet_items, alloc);
    ctf_items_init(&w->listing.items, alloc);
    buffer_init(&w->listing.text, alloc);
    buffer_init(&w->name, alloc);
    return ctf_options_read(out, &w->options, error);
}

/* --- Copied traces --- */

static struct ctf_trace_copy *get_trace_copy(struct ttr_writer *out, struct ctf_trace *source,
                                             ttr_error *error)
{
    struct ctf_writer *w = out->ctx;
    const struct alloc *alloc = &out->t->counted;
    for (size_t i = 0; i < w->trace_copies_n; i++)
        if (w->trace_copies[i]->source == source)
            return w->trace_copies[i];
    if (!alloc_reserve(alloc, (void **)&w->trace_copies, &w->trace_copies_capacity,
                       w->trace_copies_n + 1, sizeof *w->trace_copies)) {
        (void)fail_memory(error);
        return NULL;
    }
    struct ctf_trace_copy *copy = alloc_zero(alloc, 1, sizeof *copy);
    if (!copy) {
        (void)fail_memory(error);
        return NULL;
    }
    w->trace_copies[w->trace_copies_n++] = copy;
    return ctf_copy_trace_begin(copy, source, &w->options, out, error) == TTR_OK ? copy : NULL;
}

/* Starts the copy of a stream file. `event`: definition of the stream, which the reader returns
 * before the file's packets. */
static ttr_status start_file_copy(struct ttr_writer *out, const ttr_event *event, ttr_error *error)
{
    struct ctf_writer *w = out->ctx;
    const struct alloc *alloc = &out->t->counted;
    const struct ctf_schema *schema = context_schema(out->t, event->schema)->ctx;
    if (pair_map_get(&w->copy_of, event->source, 0) ||
        schema->stream->trace->class->description.version == CTF_UNKNOWN)
        /* the reader could not parse the trace's metadata, so there is nothing to copy */
        return TTR_OK;
    struct ctf_trace_copy *trace = get_trace_copy(out, schema->stream->trace, error);
    if (!trace)
        return error ? error->status : TTR_E_NOMEM;
    struct ctf_file_copy *file = alloc_reserve(alloc, (void **)&w->copies, &w->copies_capacity,
                                               w->copies_n + 1, sizeof *w->copies)
                                     ? alloc_zero(alloc, 1, sizeof *file)
                                     : NULL;
    if (!file)
        return fail_memory(error);
    w->copies[w->copies_n++] = file;
    ttr_status status = ctf_copy_begin(file, trace, out, schema->stream, error);
    if (status == TTR_OK &&
        !pair_map_put(&w->copy_of, event->source, 0, (uint32_t)(w->copies_n - 1)))
        status = fail_memory(error);
    return status;
}

/* Returns the file to which the source's events are copied; NULL if they are transcoded or
 * encoded. */
static struct ctf_file_copy *find_file_copy(struct ctf_writer *w, const ttr_event *event)
{
    if (w->copies_n == 0)
        return NULL;
    if (w->last_copy && w->last_source == event->source)
        return w->last_copy;
    const uint32_t *index = pair_map_get(&w->copy_of, event->source, 0);
    struct ctf_file_copy *file =
        index && !w->copies[*index]->trace->is_refused ? w->copies[*index] : NULL;
    w->last_copy = file;
    w->last_source = event->source;
    return file;
}

static ttr_status write_event(struct ttr_writer *out, const ttr_event *event, ttr_error *error)
{
    struct ctf_writer *w = out->ctx;
    bool is_own = output_is_own_raw(out, event);
    if (is_own && event->kind == TTR_KIND_DEFINITION && event->tag == CTF_DEFINITION_STREAM)
        return start_file_copy(out, event, error);
    struct ctf_file_copy *file = find_file_copy(w, event);
    if (file && (is_own || event->kind == TTR_KIND_GAP)) {
        if (!file->is_dirty) {
            file->is_dirty = true;
            file->next_dirty = w->dirty;
            w->dirty = file;
        }
        return ctf_copy_event(file, out, event, error);
    }
    if (is_own && event->kind == TTR_KIND_DEFINITION && event->tag == CTF_DEFINITION_PACKET)
        return ctf_transcode_packet(out, event, error);
    return event->kind == TTR_KIND_DEFINITION ? TTR_OK : ctf_encode_event(out, event, error);
}

ttr_status ctf_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error)
{
    struct ctf_writer *w = out->ctx;
    ttr_status status = TTR_OK;
    for (uint32_t i = 0; i < batch->n && status == TTR_OK; i++) {
        const ttr_event *event = ttr_batch_at(batch, i);
        status = output_event_status(out, event, write_event(out, event, error), error);
    }
    for (; w->dirty; w->dirty = w->dirty->next_dirty) {
        w->dirty->is_dirty = false;
        if (status == TTR_OK)
            status = ctf_copy_save_borrowed_bytes(w->dirty, error);
    }
    return status;
}

ttr_status ctf_finish(struct ttr_writer *out, ttr_error *error)
{
    struct ctf_writer *w = out->ctx;
    ttr_status status = TTR_OK;
    bool is_copied = false;
    for (size_t i = 0; i < w->copies_n && status == TTR_OK; i++)
        status = ctf_copy_finish(w->copies[i], out, error);
    for (size_t i = 0; i < w->trace_copies_n; i++) {
        is_copied |= !w->trace_copies[i]->is_refused;
        ctf_copy_trace_finish(w->trace_copies[i], out);
    }
    if (status == TTR_OK)
        status = ctf_encode_finish(out, !is_copied, error);
    return status == TTR_OK ? ctf_output_dirs_rename(out, error) : status;
}

void ctf_free_writer(struct ttr_writer *out)
{
    struct ctf_writer *w = out->ctx;
    const struct alloc *alloc = &out->t->counted;
    if (!w->trace_of.alloc)
        return;
    for (size_t i = 0; i < w->copies_n; i++) {
        ctf_copy_free(w->copies[i], alloc);
        alloc_free(alloc, w->copies[i], 1, sizeof *w->copies[i]);
    }
    for (size_t i = 0; i < w->trace_copies_n; i++) {
        ctf_copy_trace_free(w->trace_copies[i], alloc);
        alloc_free(alloc, w->trace_copies[i], 1, sizeof *w->trace_copies[i]);
    }
    alloc_free(alloc, w->claims, w->claims_capacity, sizeof *w->claims);
    alloc_free(alloc, w->output_dirs, w->output_dirs_capacity, sizeof *w->output_dirs);
    alloc_free(alloc, w->copies, w->copies_capacity, sizeof *w->copies);
    alloc_free(alloc, w->trace_copies, w->trace_copies_capacity, sizeof *w->trace_copies);
    pair_map_free(&w->copy_of);
    ctf_encode_free(w, alloc);
}
