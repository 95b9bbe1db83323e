/* Format writer: the interface between a format and the library: a buffer to append to, and a
 * ledger of losses.
 *
 * A format's `write` appends to out->buffer and calls output_drain at least once per batch, which
 * writes the buffer to the sink if it is large. A format that writes a folder creates its files
 * with folder_create_file and ends each with sink_finish before its `finish` returns; other files
 * are abandoned with the folder, after `drop`. Losses are counted by their index in
 * format->writer->losses. */
#ifndef TRACETTA_MODEL_OUTPUT_H
#define TRACETTA_MODEL_OUTPUT_H

#include "base/buffer.h"
#include "io/folder.h"
#include "model/context.h"
#include "model/format.h"
#include "model/visible_text.h"

struct parallel_writer;

struct ttr_writer {
    ttr *t;
    const struct format *format;
    void *ctx;                  /* state of the format's writer, format->writer->state_size bytes */
    struct sink *sink;          /* NULL if the format writes a folder */
    struct folder_sink *folder; /* NULL if the format writes a file */
    struct buffer buffer;
    /* for TTR_WRITE_TERMINAL: text with escapes, and the state between two calls */
    struct buffer visible_bytes;
    struct visible_text visible;
    uint32_t flags; /* TTR_WRITE_* */
    uint64_t events;
    uint64_t bytes; /* total bytes of the output; valid if has_ended */
    bool has_ended;
    ttr_loss *ledger;      /* losses counted so far: a copy of format->writer->losses */
    ttr_loss *reported;    /* entries of `ledger` with count > 0, the result of ttr_losses */
    uint64_t losses_total; /* sum of all counts in `ledger` */
    ttr_status stuck;
    ttr_error stuck_error;
    char **format_options; /* copies of the format's options, terminated by NULL */
    size_t format_options_n;
    struct parallel_writer
        /* helper threads that format text (parallel_writer.h); NULL = no helper threads */
        *shared;
    /* the inputs are read one after another, not merged by time (ttr_writer_allow_stream_order) */
    bool is_stream_order;
    /* this writer belongs to a helper thread: its text goes to the main writer, not to a sink */
    bool is_helper;
};

/* Returns the value of a format option, or NULL. */
const char *output_option(const struct ttr_writer *out, const char *key);

/* Counts n losses. `index`: index of the kind of loss in format->writer->losses. */
static inline void output_count_losses(struct ttr_writer *out, size_t index, uint64_t n,
                                       uint64_t offset)
{
    ttr_loss *loss = &out->ledger[index];
    if (n && loss->count == 0)
        loss->first_offset = offset;
    loss->count += n;
    out->losses_total += n;
}

/* Counts one loss. */
static inline void output_count_loss(struct ttr_writer *out, size_t index, uint64_t offset)
{
    output_count_losses(out, index, 1, offset);
}

/* Counts a written event, unless it is a gap: reports do not count gaps as events. */
static inline void output_count_event(struct ttr_writer *out, const ttr_event *event)
{
    out->events += event->kind != TTR_KIND_GAP;
}

/* Writes the buffer to the sink if it has at least 256 KiB. Returns TTR_E_NOMEM if an append
 * failed. Writers of folders have a separate buffer per file. */
TTR_MUST ttr_status output_drain(struct ttr_writer *out, ttr_error *error);

/* Writes bytes to the sink, with escaped control characters if they are text for a terminal. */
TTR_MUST ttr_status output_write_bytes(struct ttr_writer *out, const void *bytes, size_t n,
                                       ttr_error *error);

/* Writes the buffer to the sink and empties it. Returns TTR_E_NOMEM if an append failed. */
TTR_MUST ttr_status output_write_buffer(struct ttr_writer *out, ttr_error *error);

/* Returns `status`, the result of writing an event. For TTR_E_NOMEM, sets an error that names the
 * event's file and offset. */
TTR_MUST ttr_status output_event_status(const struct ttr_writer *out, const ttr_event *event,
                                        ttr_status status, ttr_error *error);

/* Implements `write` for formats with independent events: appends each event except definitions,
 * then drains the buffer. */
TTR_MUST static inline ttr_status output_write_each_event(
    struct ttr_writer *out, const ttr_batch *batch,
    void (*append)(struct ttr_writer *out, const ttr_event *event), ttr_error *error)
{
    ttr_status status = TTR_OK;
    for (uint32_t i = 0; i < batch->n && status == TTR_OK; i++) {
        const ttr_event *event = ttr_batch_at(batch, i);
        if (event->kind == TTR_KIND_DEFINITION)
            continue;
        append(out, event);
        status = output_event_status(out, event, output_drain(out, error), error);
    }
    return status;
}

/* Returns true if bytes already written can be overwritten. Needed by formats with a header that
 * depends on later data. */
bool output_can_overwrite(const struct ttr_writer *out);

/* Keeps all output in memory until the end, so that it can be overwritten even if the sink is a
 * pipe. Call before anything is written. */
TTR_MUST ttr_status output_delay(struct ttr_writer *out, ttr_error *error);

/* Overwrites n bytes of the output, starting at byte offset `at`. */
TTR_MUST ttr_status output_overwrite(struct ttr_writer *out, uint64_t at, const void *bytes,
                                     size_t n, ttr_error *error);

/* Inserts bytes before all delayed output (output_delay). Call once, at the end. */
TTR_MUST ttr_status output_insert_prefix(struct ttr_writer *out, const void *bytes, size_t n,
                                         ttr_error *error);

/* Returns true if the event has the raw bytes of a record in this writer's format; these can be
 * copied verbatim. */
bool output_is_own_raw(const struct ttr_writer *out, const ttr_event *event);

/* Destination of an output: exactly one member is not NULL. */
struct output_target {
    struct sink *sink;
    struct folder_sink *folder;
};

/* Creates a writer for a destination. Owns the destination, even on failure. */
TTR_MUST struct ttr_writer *output_new(ttr *t, struct output_target target,
                                       const struct format *format,
                                       const ttr_write_options *options, ttr_error *error);

/* Creates a writer for a helper thread: same format and options, possibly another context. Its
 * buffer is never written to a sink. Returns NULL if memory runs out. */
struct ttr_writer *output_new_helper(const struct ttr_writer *out, ttr *t);
void output_free(struct ttr_writer *out);

#endif
