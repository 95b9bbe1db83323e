/* Writing a batch in two parts: the first by the caller's thread, the second by a worker
 * (thread_pool.h) with a writer of its own, whose bytes, counts and losses are then put behind the
 * first's.
 *
 * What a worker may do while the caller writes, too: read the batch and the tables of the context,
 * and walk fields whose walks share nothing (field_ops.at_once). */
#include "model/thread_pool.h"
#include "model/output.h"

#define LEAST 64u       /* events: fewer are written before a worker has noticed */
#define SHARES 64u      /* a batch has so many, ... */
#define SHARES_LEAST 8u /* ... of which either has so many at least */

struct output_half {
    struct ttr_writer *writer;
    struct ahead_task task;
    uint32_t shares; /* that the caller's thread writes; moves to where both end at the same time */
    ttr_batch batch;
    ttr_status status;
    ttr_error error;
};

static void write_half(void *own)
{
    struct output_half *half = own;
    half->status = half->writer->format->writer->write(half->writer, &half->batch, &half->error);
}

static bool make_half(struct ttr_writer *out)
{
    struct output_half *half = alloc_zero(&out->t->counted, 1, sizeof *half);
    if (!half)
        return false;
    half->writer = output_twin(out, out->t);
    half->task.run = write_half;
    half->task.own = half;
    half->shares = SHARES / 2;
    out->half = half;
    if (half->writer)
        return true;
    output_drop_half(out);
    return false;
}

void output_drop_half(struct ttr_writer *out)
{
    struct output_half *half = out->half;
    out->half = NULL;
    if (half && half->writer)
        output_free(half->writer);
    alloc_free(&out->t->counted, half, 1, sizeof *half);
}

/* Whether all events of a batch can be walked by two threads at once. */
static bool is_divisible(const ttr *t, const ttr_batch *batch)
{
    ttr_id last = 0;
    for (uint32_t i = 0; i < batch->n; i++) {
        const ttr_event *event = ttr_batch_at(batch, i);
        if (event->stack)
            return false;
        if (event->schema == last)
            continue;
        const struct field_ops *ops = context_schema(t, event->schema)->ops;
        last = event->schema;
        if (ops && !ops->at_once)
            return false;
    }
    return true;
}

/* What the half has becomes the writer's. */
static void join(struct ttr_writer *out, struct ttr_writer *half)
{
    buffer_add(&out->buffer, half->buffer.bytes, half->buffer.n);
    out->buffer.failed |= half->buffer.failed;
    buffer_clear(&half->buffer);
    out->events += half->events;
    half->events = 0;
    for (size_t i = 0; half->lost_any && i < out->format->writer->losses_n; i++) {
        ttr_loss *loss = &out->ledger[i], *more = &half->ledger[i];
        loss->first_offset = loss->count ? loss->first_offset : more->first_offset;
        loss->count += more->count;
        more->count = more->first_offset = 0;
    }
    out->lost_any += half->lost_any;
    half->lost_any = 0;
}

/* The caller's part is done: who is done first had too little. */
static void balance(struct output_half *half)
{
    if (ahead_is_done(&half->task))
        half->shares -= half->shares > SHARES_LEAST;
    else
        half->shares += half->shares < SHARES - SHARES_LEAST;
}

static ttr_status write_halves(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error)
{
    struct output_half *half = out->half;
    const uint32_t n = (uint32_t)((uint64_t)batch->n * half->shares / SHARES);
    ttr_batch first = *batch;
    first.n = n;
    half->batch = *batch;
    half->batch.n -= n;
    if (batch->pick)
        half->batch.pick += n;
    else
        half->batch.event += n;
    half->writer->format->writer->pass(half->writer, &first);
    ahead_post(out->t->ahead, &half->task);
    ttr_status status = out->format->writer->write(out, &first, error);
    balance(half);
    if (!ahead_take(out->t->ahead, &half->task))
        write_half(half);
    join(out, half->writer);
    out->format->writer->pass(out, &half->batch);
    if (status == TTR_OK && half->status != TTR_OK)
        *error = half->error;
    return status == TTR_OK ? half->status : status;
}

ttr_status output_write(struct ttr_writer *out, const ttr_batch *batch, ttr_error *error)
{
    const bool is_shared = out->t->ahead && out->format->writer->pass && batch->n >= LEAST &&
                           is_divisible(out->t, batch);
    if (is_shared && (out->half || make_half(out)))
        return write_halves(out, batch, error);
    return out->format->writer->write(out, batch, error);
}
