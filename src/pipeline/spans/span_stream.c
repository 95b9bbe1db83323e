/* Complete spans from a stream of events. A waiting begin needs 80 bytes; its fields are not
 * stored. */
#include "pipeline/spans/span_stream.h"

#include "model/activity.h"

#define OPEN_MAX ((uint32_t)1 << 20)
#define AHEAD 8u

struct open_begin {
    struct event_ref event;
    uint64_t ended; /* value of span_stream.ended when the span began */
};

void span_stream_init(struct span_stream *stream, ttr *t, span_sink sink, void *ctx)
{
    *stream = (struct span_stream){
        .t = t, .alloc = &t->counted, .sink = sink, .ctx = ctx, .last_time = INT64_MIN};
    reorder_init(&stream->window, stream->alloc);
    open_spans_init(&stream->open, stream->alloc, OPEN_MAX);
}

void span_stream_free(struct span_stream *stream)
{
    alloc_free(stream->alloc, stream->begin, stream->begins_n, sizeof *stream->begin);
    open_spans_free(&stream->open);
    reorder_free(&stream->window);
}

static struct open_id span_identity(const struct span_stream *stream, const struct event_ref *event)
{
    return open_spans_make_id(stream->t,
                              &(struct open_event){.kind = event->kind,
                                                   .thread = event->thread,
                                                   .track = event->track,
                                                   .category = event->category,
                                                   .task = event->activity ? event->name : 0,
                                                   .link = event->link});
}

static bool append_span(struct span_stream *stream, const struct event_ref *event, int64_t end)
{
    struct complete_span span = {.event = event,
                                 .end = end,
                                 .bytes = event->bytes,
                                 .from = 0,
                                 .at = stream->ended,
                                 .lane = open_spans_get_lane(event->thread, event->track),
                                 .flags = event->flags};
    stream->ended++;
    return stream->sink(stream->ctx, &span);
}

static bool emit_pair(struct span_stream *stream, uint32_t slot, struct complete_span *span)
{
    const struct open_begin *begin = &stream->begin[slot];
    span->event = &begin->event;
    span->from = span->at = begin->ended;
    span->lane = open_spans_get_lane(begin->event.thread, begin->event.track);
    span->bytes += begin->event.bytes;
    span->flags |= begin->event.flags;
    span->is_async =
        begin->event.kind == TTR_KIND_ASYNC_BEGIN && begin->event.activity != SPAN_OF_THREAD;
    if (span->end < begin->event.time) {
        span->end = begin->event.time;
        span->flags |= TTR_EVENT_BACKWARD;
    }
    stream->ended += !span->is_async;
    return stream->sink(stream->ctx, span);
}

static bool open_span(struct span_stream *stream, const struct event_ref *event)
{
    struct open_id id = span_identity(stream, event);
    uint32_t slot;
    if (!open_spans_push(&stream->open, &id, &slot))
        return false;
    if (slot == OPEN_FULL)
        return true;
    if (!alloc_reserve(stream->alloc, (void **)&stream->begin, &stream->begins_n, (size_t)slot + 1,
                       sizeof *stream->begin))
        return false;
    stream->begin[slot] = (struct open_begin){.event = *event, .ended = stream->ended};
    return true;
}

static bool close_span(struct span_stream *stream, const struct event_ref *event)
{
    struct open_id id = span_identity(stream, event);
    uint32_t slot = open_spans_pop(&stream->open, &id);
    if (slot == OPEN_NONE || slot == OPEN_FULL) {
        stream->unmatched++;
        return true;
    }
    struct complete_span span = {.end = event->time,
                                 .bytes = event->bytes,
                                 .flags = event->flags & (TTR_EVENT_PARTIAL | TTR_EVENT_CLAMPED)};
    return emit_pair(stream, slot, &span);
}

static bool pair_event(struct span_stream *stream, const struct event_ref *event, int64_t end)
{
    switch (event->kind) {
    case TTR_KIND_BEGIN:
    case TTR_KIND_ASYNC_BEGIN:
        return open_span(stream, event);
    case TTR_KIND_SPAN:
        return append_span(stream, event, end);
    default:
        return close_span(stream, event);
    }
}

static bool emit_ready_spans(struct span_stream *stream, bool is_at_end)
{
    size_t n = reorder_count_ready(&stream->window, is_at_end);
    for (size_t i = 0; i < n; i++) {
        int64_t end = (int64_t)(stream->window.key[i].rank ^ (uint64_t)1 << 63);
        /* Prefetches an event: the window stores events by arrival, so access in sorted order
         * misses the cache. */
        __builtin_prefetch(reorder_get_event(&stream->window, i + AHEAD < n ? i + AHEAD : i));
        stream->last_time = end > stream->last_time ? end : stream->last_time;
        if (!pair_event(stream, reorder_get_event(&stream->window, i), end))
            return false;
    }
    reorder_drop_front(&stream->window, n);
    return true;
}

bool span_stream_add(struct span_stream *stream, const ttr_event *event, uint32_t activity)
{
    struct event_ref slim = {.time = event->time,
                             .duration = event->duration,
                             .link = event->link,
                             .offset = event->offset,
                             .name = event->name,
                             .category = event->category,
                             .provider = event->provider,
                             .thread = event->thread,
                             .track = event->track,
                             .bytes = event->payload_size,
                             .source = event->source,
                             .kind = event->kind,
                             .flags = event->flags};
    if (activity_is_start_or_stop(event)) {
        slim.name = activity_span_name(stream->t, event);
        slim.activity = event->activity ? activity : SPAN_OF_THREAD;
    }
    if (reorder_is_full(&stream->window) && !emit_ready_spans(stream, false))
        return false;
    return reorder_add(&stream->window, &slim);
}

bool span_stream_end(struct span_stream *stream)
{
    if (!emit_ready_spans(stream, true) || !open_spans_list_remaining(&stream->open))
        return false;
    for (size_t i = 0; i < stream->open.left_n; i++) {
        struct complete_span span = {
            .end = stream->last_time, .flags = TTR_EVENT_PARTIAL, .is_unfinished = true};
        if (!emit_pair(stream, stream->open.left[i].index, &span))
            return false;
    }
    return true;
}
