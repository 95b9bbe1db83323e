/* Public functions of readers. After a failure, every later read returns the same failure. */
#include "model/reader.h"

#include "base/status.h"
#include "model/input.h"

/* Clears the members that identify an error. Zeroing the complete struct costs as much as decoding
 * many events. */
static void clear_error(ttr_error *error)
{
    error->status = TTR_OK;
    error->sys = 0;
    error->offset = error->line = error->record = 0;
    error->format[0] = error->text[0] = 0;
}

/* Stores a failure, which every later read returns. */
static void store_failure(ttr_reader *reader, ttr_status status, const ttr_error *ctx,
                          ttr_error *error)
{
    reader->stuck = status;
    reader->stuck_error = *ctx;
    if (error && status != TTR_END)
        *error = *ctx;
}

ttr_status ttr_read(ttr_reader *reader, ttr_batch *batch, ttr_error *error)
{
    if (!reader || !batch)
        return fail_null(error, "ttr_read", reader ? "batch" : "reader");
    if (reader->stuck != TTR_OK) {
        if (error && reader->stuck != TTR_END)
            *error = reader->stuck_error;
        return reader->stuck;
    }
    ttr_error ctx;
    clear_error(&ctx);
    reader->has_begun = true;
    *batch = (ttr_batch){0};
    ttr_status status = reader->ops->next(reader, batch, &ctx);
    if (status != TTR_OK && status != TTR_AGAIN)
        store_failure(reader, status, &ctx, error);
    return status;
}

bool reader_can_read_until(ttr_reader *reader)
{
    ttr_error error;
    return reader->ops->read_until && !reader->has_begun &&
           reader->ops->read_until(reader, NULL, &error) == TTR_OK;
}

ttr_status reader_read_until(ttr_reader *reader, struct reader_partial_read *some, ttr_error *error)
{
    ttr_error ctx;
    some->is_stopped = false;
    if (reader->stuck != TTR_OK) {
        if (error && reader->stuck != TTR_END)
            *error = reader->stuck_error;
        return reader->stuck;
    }
    clear_error(&ctx);
    reader->has_begun = true;
    ttr_status status = reader->ops->read_until(reader, some, &ctx);
    if (status != TTR_OK && status != TTR_AGAIN)
        store_failure(reader, status, &ctx, error);
    return status;
}

void reader_set_range(ttr_reader *reader, int64_t from_ns, int64_t to_ns)
{
    if (reader->ops->range && !reader->has_begun)
        reader->ops->range(reader, from_ns, to_ns);
}

void reader_set_batch_size(ttr_reader *reader, uint32_t batch)
{
    if (reader->ops->set_batch_size && !reader->has_begun)
        reader->ops->set_batch_size(reader, batch);
}

bool reader_allow_stream_order(ttr_reader *reader)
{
    return reader->ops->allow_stream_order && !reader->has_begun &&
           reader->ops->allow_stream_order(reader);
}

bool ttr_reader_allow_stream_order(ttr_reader *reader)
{
    return reader_allow_stream_order(reader);
}

uint32_t reader_get_kinds(ttr_reader *reader)
{
    return reader->ops->kinds ? reader->ops->kinds(reader) : READER_ANY_KIND;
}

uint32_t ttr_reader_kinds(ttr_reader *reader)
{
    return reader_get_kinds(reader);
}

uint32_t reader_set_buffer(ttr_reader *reader, ttr_event *events)
{
    return reader->ops->set_buffer && !reader->has_begun ? reader->ops->set_buffer(reader, events)
                                                         : 0;
}

void reader_assign_ranks(ttr_reader *reader, uint32_t *next)
{
    if (reader->ops->rank)
        reader->ops->rank(reader, next);
}

void reader_set_pending_names(ttr_reader *reader, struct pending_names *renames,
                              uint32_t merge_position)
{
    if (reader->ops->renames && !reader->has_begun)
        reader->ops->renames(reader, renames, merge_position);
}

struct input *reader_get_input(ttr_reader *reader, size_t index)
{
    return reader->ops->input ? reader->ops->input(reader, index) : NULL;
}

void reader_free_buffers(ttr_reader *reader)
{
    struct input *in;
    for (size_t i = 0; (in = reader_get_input(reader, i)); i++)
        input_free_buffers(in);
}

struct diagnostics *reader_get_diagnostics(ttr_reader *reader)
{
    return reader->ops->notes ? reader->ops->notes(reader) : NULL;
}

void ttr_close(ttr_reader *reader)
{
    if (reader)
        reader->ops->close(reader);
}

bool ttr_reader_report(ttr_reader *reader, size_t index, ttr_report *report)
{
    size_t size = report ? report->size : 0;
    if (!reader || size < sizeof *report)
        return false;
    *report = (ttr_report){.size = size};
    return reader->ops->report(reader, index, report);
}
