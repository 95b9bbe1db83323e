/* Records of the perf tool. Records that describe events are parsed; others are skipped: they serve
 * the recording (thread and CPU maps), statistics (STAT), or processor traces (AUXTRACE).
 *
 * AUXTRACE and TRACING_DATA are followed by a payload that their size does not include. */
#include "base/status.h"
#include "formats/perf/perf.h"

static ttr_status parse_header_attr(struct perf_reader *reader, struct perf_cursor *at)
{
    struct perf_trace *trace = reader->trace;
    struct cursor size = at->c;
    if (!trace->is_pipe || trace->kinds_n >= PERF_KINDS_MAX)
        return TTR_OK;
    (void)cursor_skip(&size, PERF_ATTR_SIZE);
    uint32_t n = trace->is_big ? cursor_u32be(&size) : cursor_u32le(&size);
    n = n < PERF_ATTR_VER0 || n > cursor_left(&at->c) ? PERF_ATTR_VER0 : n;
    struct perf_kind *kind = perf_add_event_kind(trace, cursor_slice(&at->c, n));
    bool is_fine = kind != NULL;
    while (is_fine && cursor_left(&at->c) >= 8)
        is_fine = perf_add_id_of_kind(trace, kind, perf_read_u64(at));
    return is_fine ? TTR_OK : fail_memory(reader->error);
}

/* Parses HEADER_EVENT_TYPE, which perf wrote before Linux 3.10: u64 config, 64 bytes of name. */
static ttr_status parse_event_type(struct perf_reader *reader, struct perf_cursor *at)
{
    struct perf_trace *trace = reader->trace;
    uint64_t config = perf_read_u64(at);
    const char *p = (const char *)at->c.p;
    size_t n = strnlen(p, cursor_left(&at->c));
    for (size_t i = 0; i < trace->kinds_n; i++) {
        struct perf_kind *kind = trace->kind[i];
        if (kind->request.type == PERF_TYPE_TRACEPOINT_EVENT && kind->request.config == config &&
            !perf_set_event_name(trace, kind, (ttr_text){p, n}))
            return fail_memory(reader->error);
    }
    return TTR_OK;
}

/* Parses EVENT_UPDATE: u64 type, u64 id, value. The reader uses only updates of the name. */
static ttr_status parse_event_update(struct perf_reader *reader, struct perf_cursor *at)
{
    uint64_t what = perf_read_u64(at), id = perf_read_u64(at);
    struct perf_kind *kind = perf_find_kind_by_id(reader->trace, id);
    const char *p = (const char *)at->c.p;
    if (at->c.failed || what != PERF_UPDATE_NAME || !kind)
        return TTR_OK;
    return perf_set_event_name(reader->trace, kind, (ttr_text){p, strnlen(p, cursor_left(&at->c))})
               ? TTR_OK
               : fail_memory(reader->error);
}

static ttr_status parse_header_feature(struct perf_reader *reader, struct perf_cursor *at)
{
    uint64_t feature = perf_read_u64(at);
    return feature > PERF_FEATURE_PMU_CAPS ? TTR_OK
                                           : perf_parse_feature(reader, (unsigned)feature, at);
}

ttr_status perf_report_cut_payload(struct perf_reader *reader, uint64_t there, uint64_t end)
{
    const uint64_t from = reader->payload_at;
    return input_add_damage(
        reader->in, from, there - from, "perf.cut", reader->error,
        "the records end inside the payload of one: %llu of %llu bytes are present",
        (unsigned long long)(there - from), (unsigned long long)(end - from));
}

/* Skips the payload after a record. If a pipe is copied, first waits for the payload (up to
 * PERF_DATA_MAX bytes), since a copy must not contain a record without its payload. */
static ttr_status skip_payload(struct perf_reader *reader, uint64_t n)
{
    struct perf_span span;
    const bool is_looked_at = reader->in->flags & TTR_READ_DEFINITIONS && n <= PERF_DATA_MAX &&
                              source_end_offset(reader->in->source) == UINT64_MAX;
    ttr_status status = is_looked_at ? perf_load_bytes(reader, reader->at, n, &span) : TTR_OK;
    if (status != TTR_OK)
        return status;
    const uint64_t there = source_end_offset(reader->in->source),
                   end = there < reader->end ? there : reader->end, from = reader->at;
    const uint64_t left = end > from ? end - from : 0;
    reader->payload_at = from;
    if (n > left) {
        reader->at += left;
        return perf_report_cut_payload(reader, reader->at, from + n);
    }
    if (reader->in->flags & TTR_READ_DEFINITIONS) {
        reader->pass_tag = PERF_TAG_DATA;
        reader->pass_end = from + n;
    } else {
        reader->at += n;
    }
    return TTR_OK;
}

/* Parses HEADER_TRACING_DATA: its payload contains the formats of tracepoints. */
static ttr_status parse_tracing_data(struct perf_reader *reader, struct perf_cursor *at)
{
    struct perf_span span;
    uint32_t n = perf_read_u32(at);
    uint64_t regions = reader->in->notes.damage_regions, left = reader->end - reader->at;
    if (n > PERF_SECTION_MAX) { /* a declared size above this may be damage */
        const uint64_t from = reader->at;
        reader->at += n < left ? n : left;
        reader->payload_at = 0;
        return input_add_damage(
            reader->in, from, 0, "perf.bad-tracing", reader->error,
            "formats of tracepoints of %u bytes, more than the limit of 256 MiB; they are skipped",
            n);
    }
    ttr_status status = perf_load_bytes(reader, reader->at, n, &span);
    if (status == TTR_OK && span.n < n) {
        status = input_add_damage(
            reader->in, reader->at, span.n, "perf.bad-tracing", reader->error,
            "the trace ends inside formats of tracepoints: %zu of %u bytes are present", span.n, n);
    } else if (status == TTR_OK) {
        struct perf_cursor bytes = {cursor_init(span.p, n, reader->at), at->is_big};
        status = perf_parse_feature(reader, PERF_FEATURE_TRACING_DATA, &bytes);
    }
    if (status == TTR_OK && reader->in->notes.damage_regions > regions)
        reader->at += n < left ? n : left;
    else if (status == TTR_OK)
        status = skip_payload(reader, n);
    return status;
}

static ttr_status skip_unknown_tool_record(struct perf_reader *reader,
                                           const struct perf_view *record)
{
    input_add_diagnostic(reader->in, TTR_SEVERITY_REMARK, record->offset, "perf.unknown-record",
                         "a record of the unknown type %u; it is skipped", record->type);
    return TTR_OK;
}

ttr_status perf_process_tool_record(struct perf_reader *reader, const struct perf_view *record)
{
    struct perf_cursor at = {cursor_init(record->p, record->size, record->offset),
                             reader->trace->is_big};
    (void)cursor_skip(&at.c, PERF_RECORD_HEADER);
    switch (record->type) {
    case PERF_HEADER_ATTR:
        return parse_header_attr(reader, &at);
    case PERF_HEADER_EVENT_TYPE:
        return parse_event_type(reader, &at);
    case PERF_HEADER_TRACING_DATA:
        return parse_tracing_data(reader, &at);
    case PERF_HEADER_BUILD_ID:
        if (!(reader->in->flags & TTR_READ_SYMBOLS) ||
            perf_add_build_id_record(reader->trace, record))
            return TTR_OK;
        return fail_memory(reader->error);
    case PERF_AUXTRACE:
        return skip_payload(reader, perf_read_u64(&at));
    case PERF_EVENT_UPDATE:
        return parse_event_update(reader, &at);
    case PERF_HEADER_FEATURE:
        return parse_header_feature(reader, &at);
    default:
        return perf_is_known_type(record->type) ? TTR_OK : skip_unknown_tool_record(reader, record);
    }
}
