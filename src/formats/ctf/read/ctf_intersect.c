/* Computes the time range that all streams have in common. If the tracer is known to write wrong
 * packet ends, corrects them as babeltrace2 does. */
#include "formats/ctf/read/ctf_intersect.h"

#include "base/status.h"

static void add_finished_stream(struct ctf_intersection *at)
{
    const struct ctf_packet_queue *stream = &at->stream;
    if (!stream->kind)
        return;
    at->from = at->streams == 0 || stream->begin > at->from ? stream->begin : at->from;
    at->to = at->streams == 0 || stream->end < at->to ? stream->end : at->to;
    at->streams++;
}

void ctf_intersection_add_queue(struct ctf_intersection *at, const struct ctf_packet_queue *queue,
                                bool goes_on, const char *file)
{
    struct ctf_packet_queue *stream = &at->stream;
    if (!queue->has_begin) {
        /* times are missing, unless the queue has no packets: it has no stream decoder and is in
         * order */
        at->file_without_times = queue->kind || !queue->is_in_order ? file : at->file_without_times;
        return;
    }
    if (goes_on && stream->kind) {
        stream->begin = queue->begin < stream->begin ? queue->begin : stream->begin;
        stream->end = queue->end > stream->end ? queue->end : stream->end;
        return;
    }
    add_finished_stream(at);
    *stream = *queue;
}

bool ctf_queue_end_is_unreliable(const struct ctf_trace *trace,
                                 const struct ctf_packet_queue *queue)
{
    /* an end of 0 is stored as no end */
    const bool is_unclosed = !queue->last.has_end;
    return queue->has_begin && (trace->class->quirks.event_after_packet ||
                                (trace->class->quirks.crash_leaves_end_zero && is_unclosed));
}

ttr_status ctf_decode_queue_end(struct input *in, struct ctf_packet_queue *queue, ttr_error *error)
{
    ttr_batch batch;
    ttr_status status;
    /* the times of packet queues do not include the option time-offset, so the event times must
     * not either */
    in->time_offset = 0;
    queue->end = queue->last_begin;
    reader_set_range(&in->base, queue->last_begin, INT64_MAX);
    while ((status = ttr_read(&in->base, &batch, error)) == TTR_OK)
        for (uint32_t i = 0; i < batch.n; i++) {
            const ttr_event *event = ttr_batch_at(&batch, i);
            if (event->kind != TTR_KIND_GAP && !(event->flags & TTR_EVENT_NO_TIME) &&
                event->time > queue->end)
                queue->end = event->time;
        }
    ttr_close(&in->base);
    return status == TTR_END ? TTR_OK : status;
}

ttr_status ctf_intersection_compute(struct ctf_intersection *at, const char *trace,
                                    ttr_error *error)
{
    add_finished_stream(at);
    if (at->file_without_times)
        return fail(
            error, TTR_E_UNSUPPORTED, NO_OFFSET,
            "%s: cannot intersect streams: packets of %s declare no begin time, or the file "
            "has no random access",
            trace, at->file_without_times);
    if (at->streams == 0)
        return fail(error, TTR_E_UNSUPPORTED, NO_OFFSET,
                    "%s: cannot intersect streams: there are no packets", trace);
    if (at->from > at->to)
        return fail(error, TTR_E_UNSUPPORTED, NO_OFFSET,
                    "%s: all %llu streams are never active at the same time", trace,
                    (unsigned long long)at->streams);
    return TTR_OK;
}
