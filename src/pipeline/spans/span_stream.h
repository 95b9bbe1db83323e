/* From events to whole spans: reordering, then pairing, in bounded memory.  What statistics and
 * trees have in common. */
#ifndef TRACETTA_PIPELINE_SPANS_SPAN_STREAM_H
#define TRACETTA_PIPELINE_SPANS_SPAN_STREAM_H

#include "pipeline/spans/open_spans.h"
#include "pipeline/order/reorder_window.h"

/* What slim_event.activity says: nothing, an activity that belongs to its thread, one that has an
 * id, and from SPAN_ACTIVITY on whatever the sink gave to span_stream_add. */
enum { SPAN_PLAIN, SPAN_OF_THREAD, SPAN_ACTIVITY };

/* A whole span.  Spans come in the order of their ends, as far as the window reaches. */
struct whole_span {
    const struct slim_event *event; /* the span's record, or its begin */
    int64_t end;
    uint64_t bytes;    /* of all its records */
    uint64_t from, at; /* see nesting.h */
    size_t lane;
    uint8_t flags;
    bool is_async;      /* belongs to no lane */
    bool is_unfinished; /* its end never came */
};

/* Gets each span; false when memory is out. */
typedef bool (*span_sink)(void *ctx, const struct whole_span *span);

struct span_stream {
    const ttr *t;
    const struct alloc *alloc;
    span_sink sink;
    void *ctx;
    struct reorder window;
    struct open_spans open;
    struct open_begin *begin; /* beside open.slot */
    size_t begins_n;
    uint64_t ended;     /* spans so far, without async ones */
    uint64_t unmatched; /* ends without a begin */
    int64_t last_time;
};

void span_stream_init(struct span_stream *stream, ttr *t, span_sink sink, void *ctx);
void span_stream_free(struct span_stream *stream);

/* Kinds of events that are part of a span, a bit each. */
#define SPAN_KINDS                                                     \
    (1u << TTR_KIND_BEGIN | 1u << TTR_KIND_END | 1u << TTR_KIND_SPAN | \
     1u << TTR_KIND_ASYNC_BEGIN | 1u << TTR_KIND_ASYNC_END)

static inline bool span_stream_wants(unsigned kind)
{
    return 1u << kind & SPAN_KINDS;
}

/* Takes an event that is part of a span; `activity` (SPAN_ACTIVITY or above) is kept with the
 * begins of activities that have ids.  False when memory is out. */
TTR_MUST bool span_stream_add(struct span_stream *stream, const ttr_event *event,
                              uint32_t activity);

/* Gives what is left: spans in the window, and begins without end, innermost first, with the time
 * until the last event. */
TTR_MUST bool span_stream_end(struct span_stream *stream);

#endif
