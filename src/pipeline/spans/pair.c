/* Joins begin and end events to spans (ttr_pair_spans).
 *
 * A span is returned at the position of its end.  It has the attributes of the begin, and the
 * fields of both, those of the begin first.  Begins wait in slots that are reused, so memory grows
 * with the number of open spans, not with the trace.  Events that cannot be paired pass unchanged
 * and are counted in a diagnostic. */
#include "pipeline/spans/pair.h"

#include "base/self_zones.h"
#include "base/status.h"
#include "model/activity.h"
#include "model/event_copy.h"
#include "model/reader.h"
#include "pipeline/spans/open_spans.h"
#include "pipeline/stage_notes.h"

#define BATCH 256u

/* 65,536 open spans with some fields each need about 20 MiB. */
#define OPEN_MAX 65536u

/* A begin that waits for its end. `fields` has the encoding of event_copy_add. */
struct waiting {
    ttr_event begin;
    struct buffer fields;
};

struct pairer {
    ttr_reader base;
    ttr_reader *in;
    ttr_batch batch;
    uint32_t at; /* index in `batch` of the next input event */
    struct open_spans open;
    struct waiting *slot; /* begins by slot of `open` */
    size_t slots_n;
    struct stage_notes stage_notes;
    int64_t last_time;
    bool is_at_end;
    ttr_status ending; /* TTR_END, or a failure of the input, which is returned after the remaining
                        * spans */
    ttr_error ending_error;
    size_t left_at; /* index in open.left of the next remaining span to return */
    ttr_event out[BATCH];
    /* by event of the batch: offset of the payload in `fields`, plus 1; 0 = the payload is in the
     * input */
    size_t payload_at[BATCH];
    uint32_t n;
    struct buffer fields;
};

static void pairer_close(ttr_reader *base)
{
    struct pairer *pairer = (struct pairer *)base;
    const struct alloc *alloc = &base->t->counted;
    ttr_close(pairer->in);
    for (size_t i = 0; i < pairer->slots_n; i++)
        if (pairer->slot[i].fields.alloc)
            buffer_free(&pairer->slot[i].fields);
    alloc_free(alloc, pairer->slot, pairer->slots_n, sizeof *pairer->slot);
    buffer_free(&pairer->fields);
    stage_notes_free(&pairer->stage_notes);
    open_spans_free(&pairer->open);
    alloc_free(alloc, pairer, 1, sizeof *pairer);
}

/* Appends an event to the output batch. */
static ttr_event *append_event(struct pairer *pairer, const ttr_event *event)
{
    pairer->payload_at[pairer->n] = 0;
    pairer->out[pairer->n] = *event;
    return &pairer->out[pairer->n++];
}

static bool store_begin_event(struct pairer *pairer, uint32_t slot, const ttr_event *event)
{
    const struct alloc *alloc = &pairer->base.t->counted;
    size_t before = pairer->slots_n;
    if (slot >= before) {
        if (!alloc_reserve(alloc, (void **)&pairer->slot, &pairer->slots_n, (size_t)slot + 1,
                           sizeof *pairer->slot))
            return false;
        for (size_t i = before; i < pairer->slots_n; i++)
            buffer_init(&pairer->slot[i].fields, alloc);
    }
    struct waiting *waiting = &pairer->slot[slot];
    buffer_clear(&waiting->fields);
    (void)event_copy_add(pairer->base.t, &waiting->fields, event, &waiting->begin);
    return !waiting->fields.failed;
}

/* Appends a complete span: attributes of the begin, end time, and the fields of both. */
static ttr_event *append_span(struct pairer *pairer, const struct waiting *waiting, int64_t end)
{
    ttr_event *span = append_event(pairer, &waiting->begin);
    span->name = activity_span_name(pairer->base.t, span);
    pairer->payload_at[pairer->n - 1] = pairer->fields.n + 1;
    buffer_add(&pairer->fields, waiting->fields.bytes, waiting->fields.n);
    span->kind = TTR_KIND_SPAN;
    span->duration = end > span->time ? (uint64_t)end - (uint64_t)span->time : 0;
    span->flags |= end < span->time ? TTR_EVENT_BACKWARD : 0;
    return span;
}

static void add_fields_of_end(struct pairer *pairer, const ttr_event *end)
{
    ttr_fields walk;
    ttr_field field;
    ttr_fields_begin(pairer->base.t, end, &walk);
    while (ttr_fields_next(&walk, &field))
        event_copy_add_field(pairer->base.t, &pairer->fields, &field);
}

static void end_span(struct pairer *pairer, uint32_t slot, const ttr_event *end)
{
    const struct waiting *waiting = &pairer->slot[slot];
    ttr_event *span = append_span(pairer, waiting, end->time);
    add_fields_of_end(pairer, end);
    span->payload_size = (uint32_t)(pairer->fields.n + 1 - pairer->payload_at[pairer->n - 1]);
    span->flags |= end->flags & (TTR_EVENT_PARTIAL | TTR_EVENT_CLAMPED);
    if (end->name && span->name && end->name != span->name && !activity_is_start_or_stop(end))
        stage_notes_add(&pairer->stage_notes, TTR_SEVERITY_ODD, end->offset, "pair.other-name",
                        "an end is called \"%.40s\", the begin it closes \"%.40s\"",
                        ttr_text_get(pairer->base.t, end->name).p,
                        ttr_text_get(pairer->base.t, span->name).p);
    span->name = span->name ? span->name : end->name;
    span->category = span->category ? span->category : end->category;
}

static struct open_id span_identity(const struct pairer *pairer, const ttr_event *event)
{
    return open_spans_make_id(
        pairer->base.t, &(struct open_event){.kind = event->kind,
                                             .thread = event->thread,
                                             .track = event->track,
                                             .category = event->category,
                                             .task = activity_is_start_or_stop(event)
                                                         ? activity_span_name(pairer->base.t, event)
                                                         : 0,
                                             .link = event->link});
}

static bool pair_begin(struct pairer *pairer, const ttr_event *event)
{
    struct open_id id = span_identity(pairer, event);
    uint32_t slot;
    if (!open_spans_push(&pairer->open, &id, &slot))
        return false;
    if (slot != OPEN_FULL)
        return store_begin_event(pairer, slot, event);
    stage_notes_add(
        &pairer->stage_notes, TTR_SEVERITY_REMARK, event->offset, "pair.too-many-open",
        "more than %u spans are open at once: further begins and their ends are not paired",
        pairer->open.max);
    (void)append_event(pairer, event);
    return true;
}

static void pair_end(struct pairer *pairer, const ttr_event *event)
{
    struct open_id id = span_identity(pairer, event);
    uint32_t slot = open_spans_pop(&pairer->open, &id);
    if (slot != OPEN_NONE && slot != OPEN_FULL) {
        end_span(pairer, slot, event);
        return;
    }
    if (slot == OPEN_NONE)
        stage_notes_add(&pairer->stage_notes, TTR_SEVERITY_ODD, event->offset, "pair.unmatched-end",
                        "an end has no begin before it; it is passed on as it is");
    (void)append_event(pairer, event);
}

static bool pair_event(struct pairer *pairer, const ttr_event *event)
{
    if (event->kind != TTR_KIND_DEFINITION && !(event->flags & TTR_EVENT_NO_TIME) &&
        event->time > pairer->last_time)
        pairer->last_time = event->time;
    switch (event->kind) {
    case TTR_KIND_BEGIN:
    case TTR_KIND_ASYNC_BEGIN:
        return pair_begin(pairer, event);
    case TTR_KIND_END:
    case TTR_KIND_ASYNC_END:
        pair_end(pairer, event);
        return true;
    default:
        (void)append_event(pairer, event);
        return true;
    }
}

/* Appends spans that are still open at the end of the input, innermost first, marked as partial. */
static void append_open_spans(struct pairer *pairer)
{
    for (; pairer->n < BATCH && pairer->left_at < pairer->open.left_n; pairer->left_at++) {
        const struct waiting *waiting = &pairer->slot[pairer->open.left[pairer->left_at].index];
        append_span(pairer, waiting, pairer->last_time)->flags |= TTR_EVENT_PARTIAL;
    }
}

/* Fills the output batch from one batch of the input; after the end of the input, from the open
 * spans. */
static ttr_status fill_batch(struct pairer *pairer, ttr_error *error)
{
    if (pairer->at == pairer->batch.n && !pairer->is_at_end) {
        pairer->at = 0;
        pairer->ending = ttr_read(pairer->in, &pairer->batch, &pairer->ending_error);
        if (pairer->ending != TTR_OK)
            pairer->batch = (ttr_batch){0};
        if (pairer->ending == TTR_AGAIN)
            return TTR_AGAIN;
        pairer->is_at_end = pairer->ending != TTR_OK;
        if (pairer->is_at_end && !open_spans_list_remaining(&pairer->open))
            return fail_memory(error);
    }
    while (pairer->n < BATCH && pairer->at < pairer->batch.n)
        if (!pair_event(pairer, ttr_batch_at(&pairer->batch, pairer->at++)))
            return fail_memory(error);
    if (pairer->is_at_end)
        append_open_spans(pairer);
    return pairer->fields.failed ? fail_memory(error) : TTR_OK;
}

/* Sets the payload pointers of the batch. The buffer does not grow any more. */
static void set_payload_pointers(struct pairer *pairer)
{
    for (uint32_t i = 0; i < pairer->n; i++)
        if (pairer->payload_at[i] && pairer->out[i].payload_size)
            event_copy_set_pointers(&pairer->out[i],
                                    pairer->fields.bytes + pairer->payload_at[i] - 1);
}

static ttr_status pairer_read_batch(ttr_reader *base, ttr_batch *batch, ttr_error *error)
{
    SELF_ZONE(order, "pair spans");
    struct pairer *pairer = (struct pairer *)base;
    pairer->n = 0;
    buffer_clear(&pairer->fields);
    while (pairer->n == 0) {
        ttr_status status = fill_batch(pairer, error);
        if (status != TTR_OK)
            return status;
        if (pairer->n == 0 && pairer->is_at_end) {
            *error = pairer->ending_error;
            return pairer->ending;
        }
    }
    set_payload_pointers(pairer);
    *batch = (ttr_batch){.event = pairer->out, .n = pairer->n};
    return TTR_OK;
}

static bool pairer_get_report(ttr_reader *base, size_t index, ttr_report *report)
{
    struct pairer *pairer = (struct pairer *)base;
    if (!ttr_reader_report(pairer->in, index, report))
        return false;
    if (index == 0)
        stage_notes_report(&pairer->stage_notes, report);
    return true;
}

static void pairer_assign_ranks(ttr_reader *base, uint32_t *next)
{
    reader_assign_ranks(((struct pairer *)base)->in, next);
}

static struct input *pairer_get_input(ttr_reader *base, size_t index)
{
    return reader_get_input(((struct pairer *)base)->in, index);
}

ttr_reader *pair_reader(ttr_reader *in, uint32_t max_open, ttr_error *error)
{
    static const struct reader_ops ops = {.next = pairer_read_batch,
                                          .close = pairer_close,
                                          .report = pairer_get_report,
                                          .rank = pairer_assign_ranks,
                                          .input = pairer_get_input};
    const struct alloc *alloc = &in->t->counted;
    struct pairer *pairer = alloc_zero(alloc, 1, sizeof *pairer);
    if (!pairer) {
        ttr_close(in);
        (void)fail_memory(error);
        return NULL;
    }
    pairer->base =
        (ttr_reader){.t = in->t, .ops = &ops, .order = TTR_ORDER_NONE, .reports = in->reports};
    pairer->in = in;
    pairer->last_time = INT64_MIN;
    open_spans_init(&pairer->open, alloc, max_open);
    stage_notes_init(&pairer->stage_notes, alloc);
    buffer_init(&pairer->fields, alloc);
    return &pairer->base;
}

ttr_reader *ttr_pair_spans(ttr_reader *in, ttr_error *error)
{
    return in ? pair_reader(in, OPEN_MAX, error) : NULL;
}
