/* A format's writer as its folder sees it: a buffer to append to, a ledger to count losses in.
 *
 * The pattern of `write`: append to out->buffer; call output_drain now and then (at least once a
 * batch), which hands the buffer to the sink when it is large.  A format that writes a folder makes
 * its files with folder_create_file and ends each with sink_finish before its `finish` is over;
 * those it does not end are abandoned with the folder, after its `drop`.  Losses are counted with
 * the index of the rule in format->writer->losses. */
#ifndef TRACETTA_MODEL_OUTPUT_H
#define TRACETTA_MODEL_OUTPUT_H

#include "base/buffer.h"
#include "io/folder.h"
#include "model/context.h"
#include "model/format.h"

struct parallel_writer;

struct ttr_writer {
    ttr *t;
    const struct format *format;
    void *ctx;                  /* the format's state, format->writer->state_size bytes */
    struct sink *sink;          /* NULL for a format that writes a folder */
    struct folder_sink *folder; /* and NULL for one that does not */
    struct buffer buffer;
    uint32_t flags; /* TTR_WRITE_* */
    uint64_t events;
    uint64_t bytes; /* written in all, once it has ended */
    bool has_ended;
    ttr_loss *ledger;      /* format->writer->losses with counts */
    ttr_loss *told;        /* those with count > 0, for ttr_losses */
    uint64_t losses_total; /* sum of counts */
    ttr_status stuck;
    ttr_error stuck_error;
    char **format_options; /* copies, NULL at the end */
    size_t format_options_n;
    struct parallel_writer
        *shared;       /* other threads write, too (parallel_writer.h); NULL = they do not */
    bool is_scattered; /* inputs come one after another (ttr_writer_allow_stream_order) */
    bool is_helper;    /* it writes for another one: its buffer goes nowhere */
};

/* The value of a format option, or NULL. */
const char *output_option(const struct ttr_writer *out, const char *key);

/* Counts n losses of rule `index` of format->writer->losses. */
static inline void output_count_losses(struct ttr_writer *out, size_t index, uint64_t n,
                                       uint64_t offset)
{
    ttr_loss *loss = &out->ledger[index];
    if (n && loss->count == 0)
        loss->first_offset = offset;
    loss->count += n;
    out->losses_total += n;
}

/* Counts a loss. */
static inline void output_count_loss(struct ttr_writer *out, size_t index, uint64_t offset)
{
    output_count_losses(out, index, 1, offset);
}

/* Counts what was written; a gap is no event, as in every report. */
static inline void output_count_event(struct ttr_writer *out, const ttr_event *event)
{
    out->events += event->kind != TTR_KIND_GAP;
}

/* Hands the buffer to the sink (not of a folder, whose files have buffers of their own) when it
 * holds 256 KiB or more; TTR_E_NOMEM when an append had failed. */
TTR_MUST ttr_status output_drain(struct ttr_writer *out, ttr_error *error);

/* Returns the status of writing an event. If memory is out, the error names the event: its file and
 * its offset. */
TTR_MUST ttr_status output_event_status(const struct ttr_writer *out, const ttr_event *event,
                                        ttr_status status, ttr_error *error);

/* A `write` for formats whose events stand alone: appends each but definitions, and hands over what
 * has come together. */
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

/* For formats whose begin tells what comes behind it: true where bytes written before can be
 * written anew, in a file. */
bool output_can_overwrite(const struct ttr_writer *out);

/* Makes it so for any output, which then gets nothing before the end.  Before anything is written.
 */
TTR_MUST ttr_status output_delay(struct ttr_writer *out, ttr_error *error);

/* Writes n bytes anew, from place `at` of the output on. */
TTR_MUST ttr_status output_overwrite(struct ttr_writer *out, uint64_t at, const void *bytes,
                                     size_t n, ttr_error *error);

/* Puts bytes before all that is held (output_delay): once, in the end. */
TTR_MUST ttr_status output_insert_prefix(struct ttr_writer *out, const void *bytes, size_t n,
                                         ttr_error *error);

/* True where the event is a raw record of this writer's own format, to be copied as it is. */
bool output_is_own_raw(const struct ttr_writer *out, const ttr_event *event);

/* Where an output goes: one of both. */
struct output_target {
    struct sink *sink;
    struct folder_sink *folder;
};

/* Makes an output over a target (taken over, also on failure). */
TTR_MUST struct ttr_writer *output_new(ttr *t, struct output_target target,
                                       const struct format *format,
                                       const ttr_write_options *options, ttr_error *error);

/* A second writer of the same format with the same options, maybe in another context, whose buffer
 * goes nowhere; NULL when memory is out. */
struct ttr_writer *output_new_helper(const struct ttr_writer *out, ttr *t);
void output_free(struct ttr_writer *out);

#endif
