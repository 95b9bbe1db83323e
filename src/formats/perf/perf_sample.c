/* Decoding of samples into events. The event kind is found by id; thread, time and CPU have fixed
 * offsets. The variable parts are located only when fields are read. */
#include "base/status.h"
#include "formats/perf/perf.h"

static enum perf_result record_out_of_memory(struct perf_reader *reader)
{
    (void)fail_memory(reader->error);
    return PERF_FAILED;
}

/* Emits a sample as raw bytes, because its event kind is unknown or the sample is too short
 * (PERF-BAD-3). */
static enum perf_result emit_unknown_sample(struct perf_reader *reader,
                                            const struct perf_view *record)
{
    struct perf_trace *trace = reader->trace;
    ttr_id name = ttr_text_add(trace->t, "unknown", 7);
    if (!name)
        return record_out_of_memory(reader);
    input_add_diagnostic(
        reader->in, TTR_SEVERITY_ODD, record->offset, "perf.unknown-sample",
        "a sample of an unknown event, or too short for its event; it is emitted with its bytes");
    ttr_event *event = perf_add_event(reader, record, 0);
    event->kind = TTR_KIND_INSTANT;
    event->schema = trace->record_schema;
    event->name = name;
    event->body = PERF_RECORD_HEADER;
    event->part = record->size;
    event->flags |= TTR_EVENT_PARTIAL;
    return PERF_CONSUMED;
}

/* Returns true if a callchain has at least one address, not only context marks. */
static bool has_address(const struct perf_part *chain, bool is_big)
{
    for (uint64_t i = 0; i < chain->n; i++)
        if (perf_u64(chain->p + 8 * i, is_big) < PERF_CONTEXT_FIRST)
            return true;
    return false;
}

enum perf_result perf_decode_sample(struct perf_reader *reader, const struct perf_view *record)
{
    struct perf_trace *trace = reader->trace;
    const uint8_t *p = record->p;
    bool is_big = trace->is_big;
    struct perf_kind *kind = perf_get_sample_kind(trace, record);
    reader->samples++;
    if (PERF_UNLIKELY(!kind || record->size < kind->parts_at))
        return emit_unknown_sample(reader, record);
    ttr_id thread = 0;
    if (kind->tid_at && perf_u32(p + kind->tid_at, is_big) != PERF_NO_PROCESS) {
        thread = perf_find_thread(trace, perf_u32(p + kind->tid_at, is_big),
                                  perf_u32(p + kind->tid_at + 4, is_big));
        if (PERF_UNLIKELY(!thread))
            return record_out_of_memory(reader);
    }
    ttr_event *event =
        perf_add_event(reader, record, kind->time_at ? perf_u64(p + kind->time_at, is_big) : 0);
    kind->samples++;
    event->kind =
        kind->request.type == PERF_TYPE_TRACEPOINT_EVENT ? TTR_KIND_INSTANT : TTR_KIND_SAMPLE;
    event->thread = thread;
    event->schema = kind->schema;
    event->name = kind->name;
    event->provider = kind->provider;
    event->part = kind->index;
    event->body = kind->parts_at;
    bool has_chain = kind->request.sample_type & PERF_SAMPLE_HAS_CALLCHAIN;
    event->stack = has_chain                                       ? PERF_STACK_CHAIN
                   : kind->ip_at && event->kind == TTR_KIND_SAMPLE ? PERF_STACK_IP
                                                                   : 0;
    if (kind->cpu_at) {
        event->cpu = perf_u32(p + kind->cpu_at, is_big);
        event->flags |= TTR_EVENT_HAS_CPU;
    }
    if (PERF_UNLIKELY(kind->has_parts)) {
        struct perf_parts parts;
        perf_find_sample_parts(kind, p, record->size, &parts);
        event->flags |= parts.is_whole ? 0 : TTR_EVENT_PARTIAL;
        if (has_chain && !has_address(&parts.chain, is_big))
            event->stack = PERF_STACK_EMPTY;
    }
    return !kind->tracepoint || perf_decode_tracepoint(reader, kind, event)
               ? PERF_CONSUMED
               : record_out_of_memory(reader);
}
