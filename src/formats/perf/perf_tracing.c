/* Tracepoints: TRACING_DATA describes their fields; a sample contains the kernel's record of the
 * tracepoint as RAW bytes. */
#include "base/status.h"
#include "encodings/tracepoint/tracing_data.h"
#include "formats/perf/perf.h"

static struct tracepoint_raw find_raw_record(const void *ctx, const ttr_event *event)
{
    const struct perf_trace *trace = ctx;
    const uint8_t *p = event->payload + event->body;
    uint32_t n = perf_u32(p - 4, trace->is_big), left = event->payload_size - event->body;
    return (struct tracepoint_raw){p, n < left ? n : left};
}

static bool read_common_field_of_tracepoint(const void *ctx, const ttr_event *event, uint32_t i,
                                            ttr_field *field)
{
    const struct perf_trace *trace = ctx;
    return perf_read_common_field(trace->kind[event->part], event, i, field);
}

static uint32_t get_frames_of_tracepoint(const void *ctx, const ttr_event *event,
                                         uint64_t *addresses, uint32_t room)
{
    const struct perf_trace *trace = ctx;
    return perf_get_sample_frames(trace->kind[event->part], event, addresses, room);
}

static const struct tracepoint_container container = {.raw = find_raw_record,
                                                      .extra = read_common_field_of_tracepoint,
                                                      .frames = get_frames_of_tracepoint};

static void report_odd_format(void *ctx, uint64_t offset, const char *what)
{
    const struct perf_reader *reader = ctx;
    input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, offset, "perf.bad-tracepoint", "%s", what);
}

void perf_set_tracepoint_of_kind(struct perf_trace *trace, struct perf_kind *kind)
{
    bool has_raw = kind->request.type == PERF_TYPE_TRACEPOINT_EVENT &&
                   kind->request.sample_type & PERF_SAMPLE_HAS_RAW;
    if (has_raw && trace->tracepoints && kind->request.config <= UINT32_MAX)
        kind->tracepoint = tracepoints_find(trace->tracepoints, (uint32_t)kind->request.config);
}

ttr_status perf_parse_tracing_data(struct perf_reader *reader, struct perf_cursor *at)
{
    struct perf_trace *trace = reader->trace;
    struct tracing_data data = {.odd = report_odd_format, .ctx = reader, .is_complete = true};
    uint64_t offset = at->c.offset;
    if (!tracing_data_parse_head(&data, &at->c))
        return input_add_damage(
            reader->in, offset, 0, "perf.bad-tracing", reader->error,
            "expected the magic of tracing data before the formats of tracepoints; "
            "their events have raw bytes");
    if (!trace->tracepoints)
        trace->tracepoints =
            tracepoints_new(&(struct tracepoints_spec){.t = trace->t,
                                                       .format = trace->format,
                                                       .container = &container,
                                                       .ctx = trace,
                                                       .source = trace->source,
                                                       .is_big_endian = data.is_big_endian,
                                                       .long_bytes = data.long_bytes});
    if (!trace->tracepoints)
        return fail_memory(reader->error);
    data.all = trace->tracepoints;
    ttr_status status = tracing_data_parse(&data, &at->c, reader->error);
    for (size_t i = 0; i < trace->kinds_n; i++)
        perf_set_tracepoint_of_kind(trace, trace->kind[i]);
    if (status == TTR_OK && data.damage_end > data.damage_at)
        status = input_add_damage(
            reader->in, data.damage_at, data.damage_end - data.damage_at, "perf.bad-tracing",
            reader->error,
            "the formats of tracepoints are damaged here; events without a format have raw bytes");
    if (status == TTR_OK && at->c.failed)
        status = input_add_damage(reader->in, at->c.offset, 0, "perf.bad-tracing", reader->error,
                                  "the formats of tracepoints end too early");
    return status;
}

bool perf_decode_tracepoint(struct perf_reader *reader, const struct perf_kind *kind,
                            ttr_event *event)
{
    const char *why;
    if (kind->raw_at) {
        event->body = kind->raw_at + 4u;
    } else {
        struct perf_parts parts;
        perf_find_sample_parts(kind, event->payload, event->payload_size, &parts);
        event->body = parts.raw.p ? (uint32_t)(parts.raw.p - event->payload) : event->payload_size;
    }
    /* the sample has no RAW, so it is damaged */
    if (PERF_UNLIKELY(event->body >= event->payload_size)) {
        event->body = kind->parts_at;
        event->flags |= TTR_EVENT_PARTIAL;
        return true;
    }
    if (!tracepoint_decode(reader->trace->tracepoints, kind->tracepoint,
                           find_raw_record(reader->trace, event), event, &why))
        return false;
    if (PERF_UNLIKELY(why != NULL))
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, event->offset,
                             "perf.bad-tracepoint-event", "an event of a tracepoint: %s", why);
    return true;
}
