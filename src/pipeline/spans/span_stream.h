/* From events to complete spans in bounded memory: reorders (reorder_window.h), then pairs
 * (open_spans.h). Statistics and the span forest use it.
 *
 *     span_stream_init, span_stream_add per event of SPAN_KINDS, span_stream_end, span_stream_free
 */
#ifndef TRACETTA_PIPELINE_SPANS_SPAN_STREAM_H
#define TRACETTA_PIPELINE_SPANS_SPAN_STREAM_H

#include "pipeline/spans/open_spans.h"
#include "pipeline/order/reorder_window.h"

/* Values of event_ref.activity: not an activity, an activity of its thread, an activity with an id.
 * Values from SPAN_ACTIVITY on are the numbers passed to span_stream_add. */
enum { SPAN_PLAIN, SPAN_OF_THREAD, SPAN_ACTIVITY };

/* A complete span. Spans are passed on in order of their ends, except for events later than the
 * reorder window permits. */
struct complete_span {
    const struct event_ref *event; /* the event that records the span, or its begin */
    int64_t end;
    uint64_t bytes;    /* size in bytes of its records (of begin and end) in the input */
    uint64_t from, at; /* stamps for nesting at equal times; see nesting.h */
    size_t lane;
    uint8_t flags;
    bool is_async;      /* async spans overlap freely; they are not nested by thread */
    bool is_unfinished; /* a begin without an end */
};

/* Callback that receives each complete span. Returns false if memory is exhausted. */
typedef bool (*span_sink)(void *ctx, const struct complete_span *span);

struct span_stream {
    const ttr *t;
    const struct alloc *alloc;
    span_sink sink;
    void *ctx;
    struct reorder window;
    struct open_spans open;
    struct open_begin *begin; /* the begin of each open span, indexed by slot of `open` */
    size_t begins_n;
    uint64_t ended;     /* number of spans that have ended so far, without async ones */
    uint64_t unmatched; /* number of ends without a begin */
    int64_t last_time;
};

void span_stream_init(struct span_stream *stream, ttr *t, span_sink sink, void *ctx);
void span_stream_free(struct span_stream *stream);

/* Bit mask of the kinds of events that are part of a span. */
#define SPAN_KINDS                                                     \
    (1u << TTR_KIND_BEGIN | 1u << TTR_KIND_END | 1u << TTR_KIND_SPAN | \
     1u << TTR_KIND_ASYNC_BEGIN | 1u << TTR_KIND_ASYNC_END)

static inline bool span_stream_wants(unsigned kind)
{
    return 1u << kind & SPAN_KINDS;
}

/* Adds an event of a kind in SPAN_KINDS. `activity` is a number from SPAN_ACTIVITY on for the begin
 * of an activity with an id. Returns false if memory is exhausted. */
TTR_MUST bool span_stream_add(struct span_stream *stream, const ttr_event *event,
                              uint32_t activity);

/* Ends the stream: passes on the spans in the window, then the begins without an end, innermost
 * first. Such a span ends at the last event. Returns false if memory is exhausted. */
TTR_MUST bool span_stream_end(struct span_stream *stream);

#endif
