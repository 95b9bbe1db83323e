/* Sets the members of ttr_event that all kernel records have: thread, time, CPU. */
#include "base/status.h"
#include "formats/perf/perf.h"

ttr_id perf_find_thread(struct perf_trace *trace, uint32_t pid, uint32_t tid)
{
    uint64_t both = (uint64_t)pid << 32 | tid;
    size_t slot = (size_t)(both * UINT64_C(0x9e3779b97f4a7c15) >> 54) % PERF_THREAD_CACHE;
    if (PERF_LIKELY(trace->threads[slot].thread && trace->threads[slot].both == both))
        return trace->threads[slot].thread;
    ttr_id thread = context_thread(trace->t, trace->source, pid, tid);
    if (thread && pid == 0 && tid == 0 && !trace->t->threads[thread].name) {
        ttr_id name = ttr_text_add(trace->t, "swapper", 7);
        context_name_thread(trace->t, thread, name);
        if (!name || !context_name_process(trace->t, trace->source, 0, name))
            return 0;
    }
    trace->threads[slot].both = both;
    trace->threads[slot].thread = thread;
    return thread;
}

int64_t perf_ticks_to_ns(const struct perf_trace *trace, uint64_t ticks, uint8_t *flags)
{
    int64_t time;
    if (PERF_LIKELY(ticks <= INT64_MAX &&
                    !__builtin_add_overflow((int64_t)ticks, trace->anchor_ns, &time)))
        return time;
    if (flags)
        *flags |= TTR_EVENT_CLAMPED;
    return INT64_MAX;
}

ttr_event *perf_add_event(struct perf_reader *reader, const struct perf_view *record, uint64_t time)
{
    const struct perf_trace *trace = reader->trace;
    struct perf_order *order = &reader->order;
    ttr_event *event = input_add_event(reader->in);
    event->flags = TTR_EVENT_RAW;
    event->payload = record->p;
    event->payload_size = record->size;
    event->offset = record->offset;
    event->ticks = time;
    reader->records++;
    if (PERF_UNLIKELY(time == 0)) {
        event->flags |= TTR_EVENT_NO_TIME;
        event->time = reader->last_time;
        return event;
    }
    if (PERF_UNLIKELY(time < order->last && reader->sorts))
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_ODD, record->offset, "perf.late",
            "a record is older than records of earlier rounds; it is emitted late");
    order->last = time;
    event->time = perf_ticks_to_ns(trace, time, &event->flags);
    reader->last_time = event->time;
    return event;
}
