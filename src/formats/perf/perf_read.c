/* The read loop: scans records while the batch is empty, and emits released records.
 *
 *   perf_read_batch -> scan_records  -> scan_kernel_records   keys of samples and other kernel
 * records
 *                              -> scan_other_bytes      records of the tool, compressed records,
 *                                                       damage, the end
 *             -> emit_released_records                          decodes released records into the
 * batch
 *
 * perf.h explains the order of time. With TTR_READ_DEFINITIONS (a caller that copies the file)
 * nothing is sorted: records of the tool, the header and the tail are emitted as definitions. */
#include "base/status.h"
#include "encodings/tracepoint/tracepoints.h"
#include "formats/perf/perf.h"

/* maximum number of queued records in file order: a few batches, which need little memory */
#define STORED_KEYS 4096u
/* Pause in milliseconds after a round of a pipe that shows that no earlier record will follow:
 * perf writes all its buffers in a round, then waits for new records. */
#define PAUSE_MS 100u

/* --- Emission of released records --- */

static struct perf_view view_queued_record(const struct perf_reader *reader,
                                           const struct perf_key *key)
{
    bool is_unpacked = key->size & PERF_KEY_UNPACKED, is_big = reader->trace->is_big;
    uint64_t at = reader->order.base[is_unpacked] + key->at;
    const uint8_t *p = is_unpacked ? reader->unpacked.bytes + (at - reader->unpacked.from)
                                   : reader->in->window.bytes + (at - reader->in->window.offset);
    return (struct perf_view){
        .p = p,
        .size = key->size & ~PERF_KEY_UNPACKED,
        .type = perf_u32(p, is_big),
        .misc = perf_u16(p + 4, is_big),
        .offset = is_unpacked ? perf_get_compressed_file_offset(&reader->unpacked, at) : at};
}

static void emit_raw_bytes(struct perf_reader *reader, const uint8_t *p, size_t n, uint64_t offset,
                           unsigned tag)
{
    ttr_event *event = input_add_event(reader->in);
    event->kind = TTR_KIND_DEFINITION;
    event->flags = TTR_EVENT_RAW | TTR_EVENT_NO_TIME;
    event->time = reader->last_time;
    event->schema = reader->trace->record_schema;
    event->payload = p;
    event->payload_size = event->body = (uint32_t)n;
    event->offset = offset;
    event->tag = (uint16_t)tag;
}

static enum perf_result emit_record(struct perf_reader *reader, const struct perf_view *record)
{
    if (PERF_LIKELY(record->type == PERF_SAMPLE))
        return perf_decode_sample(reader, record);
    if (record->type < PERF_TOOL_FIRST)
        return perf_decode_record(reader, record);
    emit_raw_bytes(reader, record->p, record->size, record->offset, record->type);
    return PERF_CONSUMED;
}

/* Decodes released records into the batch until it is full or no released record remains. */
static ttr_status emit_released_records(struct perf_reader *reader)
{
    struct perf_order *order = &reader->order;
    struct input *in = reader->in;
    while (order->emitted_n < order->n && order->keys[order->emitted_n].time <= order->limit) {
        if (in->n >= in->batch)
            return TTR_OK;
        struct perf_view record = view_queued_record(reader, &order->keys[order->emitted_n]);
        enum perf_result taken = emit_record(reader, &record);
        if (PERF_UNLIKELY(taken != PERF_CONSUMED))
            return taken == PERF_HOLD ? TTR_OK : reader->error->status;
        order->emitted_n++;
    }
    /* events point into the bytes in memory, so drop records only after the caller has consumed
     * the batch */
    if (in->n == 0)
        perf_remove_emitted_records(reader);
    return TTR_OK;
}

/* Emits the next bytes that are not records as one definition of at most PERF_DEFINITION_MAX
 * bytes. */
static ttr_status emit_definition_bytes(struct perf_reader *reader)
{
    struct perf_span span;
    ttr_status status = perf_load_bytes(reader, reader->at, 1, &span);
    if (status != TTR_OK)
        return status;
    uint64_t left = reader->pass_end - reader->at;
    size_t n = left < span.n ? (size_t)left : span.n;
    n = n < PERF_DEFINITION_MAX ? n : PERF_DEFINITION_MAX;
    if (n)
        emit_raw_bytes(reader, span.p, n, reader->at, reader->pass_tag);
    reader->at += n;
    if (n)
        return TTR_OK;
    reader->pass_end = reader->at;
    return reader->pass_tag == PERF_TAG_DATA
               ? perf_report_cut_payload(reader, reader->at, reader->at + left)
               : TTR_OK;
}

/* --- Scan of records --- */

/* Returns the time of a kernel record in ticks; 0 if the record has no time. */
static inline uint64_t load_record_time(struct perf_trace *trace, const struct perf_view *record)
{
    if (PERF_LIKELY(record->type == PERF_SAMPLE)) {
        uint32_t at = trace->time_at;
        if (PERF_UNLIKELY(trace->has_mixed_times)) {
            const struct perf_kind *kind = perf_get_sample_kind(trace, record);
            at = kind ? kind->time_at : 0;
        }
        return at && at + 8 <= record->size ? perf_u64(record->p + at, trace->is_big) : 0;
    }
    const struct perf_kind *kind = perf_find_record_kind(trace, record);
    if (!kind || !kind->time_back || record->size < PERF_RECORD_HEADER + (uint32_t)kind->back)
        return 0;
    return perf_u64(record->p + record->size - kind->time_back, trace->is_big);
}

/* Returns the maximum number of queued records. It is large until a record with a time was
 * scanned, since all records before that one get its time. */
static size_t get_queue_limit(const struct perf_reader *reader)
{
    return reader->sorts || reader->order.newest == 0 ? PERF_KEYS_MAX : STORED_KEYS;
}

static bool is_queue_full(const struct perf_reader *reader, uint64_t at)
{
    const struct perf_order *order = &reader->order;
    return order->n >= get_queue_limit(reader) || at - order->base[0] > PERF_REGION_MAX ||
           reader->unpacked.n > PERF_UNPACKED_MAX;
}

/* Adds kernel records to the queue until a record of the tool, damage, or a full queue. Sets
 * *passed to the number of bytes of the added records. */
static bool scan_kernel_records(struct perf_reader *reader, const struct perf_span *span,
                                uint64_t base, uint32_t flags, size_t *passed)
{
    struct perf_trace *trace = reader->trace;
    struct perf_order *order = &reader->order;
    size_t at = 0;
    while (span->n - at >= PERF_RECORD_HEADER && order->n < get_queue_limit(reader)) {
        const uint8_t *p = span->p + at;
        struct perf_view record = {
            .p = p, .type = perf_u32(p, trace->is_big), .size = perf_u16(p + 6, trace->is_big)};
        if (record.size > span->n - at || record.type >= PERF_TOOL_FIRST ||
            !perf_is_plausible_record(p, trace->is_big))
            break;
        uint64_t time = load_record_time(trace, &record);
        order->newest = time > order->newest ? time : order->newest;
        if (!perf_queue_record(reader,
                               (struct perf_key){time, (uint32_t)(base + at), record.size | flags}))
            return false;
        at += record.size;
    }
    *passed = at;
    return true;
}

/* Processes the end of the records: reports a truncated record, in the file or in compressed
 * data. */
static ttr_status scan_end_of_records(struct perf_reader *reader, size_t n)
{
    uint64_t from = reader->at;
    ttr_status status = TTR_OK;
    reader->is_over = true;
    reader->at += n;
    if (reader->unpacked.n > reader->unpacked.at - reader->unpacked.from)
        status = input_add_damage(reader->in, from, 0, "perf.cut-packed", reader->error,
                                  "the compressed records end inside a record, which is lost");
    if (status != TTR_OK)
        return status;
    if (n)
        return input_add_damage(reader->in, from, n, "perf.cut", reader->error,
                                "the records end inside a record; its %zu bytes are dropped", n);
    const uint64_t there = source_end_offset(reader->in->source);
    if (reader->payload_at && there < from)
        return perf_report_cut_payload(reader, there, from);
    if (reader->end != UINT64_MAX && from < reader->end)
        return input_add_damage(reader->in, from, 0, "perf.cut", reader->error,
                                "the file ends %llu bytes before its records should",
                                (unsigned long long)(reader->end - from));
    return TTR_OK;
}

static ttr_status scan_damaged_bytes(struct perf_reader *reader)
{
    uint64_t from = reader->at, next;
    ttr_status status = perf_resync(reader, &next);
    if (status != TTR_OK)
        return status;
    reader->at = next;
    return input_add_damage(
        reader->in, from, next - from, "perf.bad-record", reader->error,
        "expected a record; %llu bytes are skipped, up to the next records in a row",
        (unsigned long long)(next - from));
}

/* Allows queued records to leave the queue: all of them if `is_all`, else those that are not newer
 * than the end of the previous round. */
static ttr_status release_queue(struct perf_reader *reader, bool is_all)
{
    struct perf_order *order = &reader->order;
    uint64_t limit = is_all || !reader->sorts ? UINT64_MAX : order->before;
    if (!is_all)
        order->before = order->newest;
    /* wait for a record with a time, which all earlier records get */
    if (limit == 0 && !reader->has_time)
        return TTR_OK;
    return perf_release_queued_records(reader, limit) ? TTR_OK : fail_memory(reader->error);
}

/* Releases all queued records, because the queue is at its limit. Later events may then be out of
 * order. */
static ttr_status release_full_queue(struct perf_reader *reader)
{
    if (reader->sorts)
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_REMARK, reader->at, "perf.long-round",
            "more records without the end of a round than can be sorted at once: some may "
            "be emitted late");
    return release_queue(reader, true);
}

/* Removes damaged bytes from the decompressed bytes, since these are limited in size. No queued
 * record refers to them. */
static ttr_status drop_damaged_unpacked(struct perf_reader *reader, const struct perf_span *span)
{
    struct perf_unpacked *unpacked = &reader->unpacked;
    size_t skip = (size_t)(span->p - unpacked->bytes),
           n = perf_find_record(span, 1, false, reader->trace->is_big);
    memmove(unpacked->bytes + skip, unpacked->bytes + skip + n, span->n - n);
    unpacked->n -= n;
    return input_add_damage(reader->in, reader->at, 0, "perf.bad-packed", reader->error,
                            "%zu bytes in compressed data are not records; they are skipped", n);
}

/* Processes a record of the perf tool in decompressed data. perf itself compresses only kernel
 * records, but other recorders also compress FINISHED_ROUND. */
static ttr_status scan_unpacked_tool_record(struct perf_reader *reader,
                                            const struct perf_view *record)
{
    struct perf_unpacked *unpacked = &reader->unpacked;
    uint64_t at = unpacked->at - reader->order.base[1];
    unpacked->at += record->size;
    if (record->type != PERF_FINISHED_ROUND)
        return TTR_OK;
    if (reader->in->flags & TTR_READ_DEFINITIONS &&
        !perf_queue_record(reader,
                           (struct perf_key){0, (uint32_t)at, record->size | PERF_KEY_UNPACKED}))
        return fail_memory(reader->error);
    reader->records++;
    return reader->sorts ? release_queue(reader, false) : TTR_OK;
}

/* Adds decompressed records to the queue until it is full. Sets `has_more` if some remain: these
 * must be queued before more of the file is scanned. */
static ttr_status scan_unpacked_records(struct perf_reader *reader)
{
    struct perf_unpacked *unpacked = &reader->unpacked;
    ttr_status status = TTR_OK;
    unpacked->has_more = false;
    while (unpacked->bytes && status == TTR_OK && !unpacked->has_more) {
        size_t skip = (size_t)(unpacked->at - unpacked->from), passed = 0;
        struct perf_span span = {unpacked->bytes + skip, unpacked->n - skip};
        if (!scan_kernel_records(reader, &span, unpacked->at - reader->order.base[1],
                                 PERF_KEY_UNPACKED, &passed))
            return fail_memory(reader->error);
        unpacked->at += passed;
        span.p += passed;
        span.n -= passed;
        bool is_full = is_queue_full(reader, reader->at);
        unpacked->has_more =
            is_full && span.n >= PERF_RECORD_HEADER && reader->order.n > reader->order.emitted_n;
        if (span.n < PERF_RECORD_HEADER || is_full)
            return TTR_OK;
        struct perf_view record = {.type = perf_u32(span.p, reader->trace->is_big),
                                   .size = perf_u16(span.p + 6, reader->trace->is_big)};
        bool is_plausible = perf_is_plausible_record(span.p, reader->trace->is_big);
        if (is_plausible && record.size > span.n)
            return TTR_OK; /* the record continues in the next compressed record */
        status = is_plausible ? scan_unpacked_tool_record(reader, &record)
                              : drop_damaged_unpacked(reader, &span);
        /* stop at the end of a round: later records must not be sorted together with these */
        unpacked->has_more = reader->order.is_emitting;
    }
    return status;
}

/* Decompresses a compressed record in parts. Returns early if records were released; the next call
 * continues with the same record. */
static ttr_status scan_compressed_record(struct perf_reader *reader, const struct perf_view *record)
{
    bool is_done = false;
    while (!is_done && !reader->order.is_emitting) {
        ttr_status status = perf_decompress_chunk(reader, record, &is_done);
        if (status == TTR_OK)
            status = scan_unpacked_records(reader);
        if (status == TTR_OK && is_queue_full(reader, reader->at))
            status = release_full_queue(reader);
        if (status != TTR_OK)
            return status;
    }
    reader->at += is_done ? record->size : 0;
    if (reader->order.n == 0)
        perf_remove_emitted_records(reader);
    return TTR_OK;
}

static ttr_status finish_round(struct perf_reader *reader)
{
    reader->order.round_end = reader->at;
    return reader->sorts ? release_queue(reader, false) : TTR_OK;
}

/* Returns true if the input pauses after a complete round of which all records are queued. */
static bool is_paused_after_round(const struct perf_reader *reader)
{
    const struct perf_order *order = &reader->order;
    const struct window *window = &reader->in->window;
    return order->round_end == reader->at && order->n > order->emitted_n &&
           window->offset + window->n == reader->at &&
           source_is_paused(reader->in->source, PAUSE_MS);
}

/* Processes the record of the perf tool at reader->at. If the caller wants definitions, adds the
 * record to the queue first. */
static ttr_status scan_tool_record(struct perf_reader *reader, const struct perf_view *record)
{
    uint64_t at = reader->at - reader->order.base[0];
    if (record->type == PERF_COMPRESSED || record->type == PERF_COMPRESSED2)
        return scan_compressed_record(reader, record);
    if (reader->in->flags & TTR_READ_DEFINITIONS &&
        !perf_queue_record(reader, (struct perf_key){0, (uint32_t)at, record->size}))
        return fail_memory(reader->error);
    reader->at += record->size;
    reader->records++;
    if (record->type == PERF_FINISHED_ROUND)
        return finish_round(reader);
    uint64_t regions = reader->in->notes.damage_regions;
    ttr_status status = perf_process_tool_record(reader, record);
    bool has_data = record->type == PERF_HEADER_FEATURE ||
                    record->type == PERF_HEADER_TRACING_DATA || record->type == PERF_AUXTRACE;
    if (has_data && reader->in->flags & TTR_READ_DEFINITIONS &&
        reader->in->notes.damage_regions > regions)
        /* a damaged record is not copied, so remove it from the queue */
        reader->order.n--;
    return status;
}

/* Processes the bytes at reader->at, which are not a complete kernel record. */
static ttr_status scan_other_bytes(struct perf_reader *reader)
{
    struct perf_span span;
    bool is_big = reader->trace->is_big;
    ttr_status status = perf_load_bytes(reader, reader->at, PERF_RECORD_HEADER, &span);
    uint64_t left = reader->end - reader->at;
    if (status != TTR_OK || span.n < PERF_RECORD_HEADER || left < PERF_RECORD_HEADER)
        return status != TTR_OK
                   ? status
                   : scan_end_of_records(reader, left < span.n ? (size_t)left : span.n);
    if (!perf_is_plausible_record(span.p, is_big))
        return scan_damaged_bytes(reader);
    struct perf_view record = {.size = perf_u16(span.p + 6, is_big), .offset = reader->at};
    status = perf_load_bytes(reader, reader->at, record.size, &span);
    if (status != TTR_OK)
        return status;
    if (span.n < record.size || left < record.size)
        return scan_end_of_records(reader, left < span.n ? (size_t)left : span.n);
    record.p = span.p;
    record.type = perf_u32(span.p, is_big);
    record.misc = perf_u16(span.p + 4, is_big);
    return record.type >= PERF_TOOL_FIRST ? scan_tool_record(reader, &record) : TTR_OK;
}

/* Scans records until some are released or the input ends. */
static ttr_status scan_records(struct perf_reader *reader)
{
    ttr_status status = reader->unpacked.has_more ? scan_unpacked_records(reader) : TTR_OK;
    if (status == TTR_OK && reader->unpacked.has_more && !reader->order.is_emitting)
        return release_full_queue(reader);
    while (status == TTR_OK && !reader->order.is_emitting && !reader->is_over &&
           reader->pass_end <= reader->at) {
        struct perf_span span;
        size_t passed = 0;
        if (is_paused_after_round(reader))
            return release_queue(reader, true);
        /* the payload is larger than the queue may span, and a pipe may end within it */
        if (reader->order.n && is_queue_full(reader, reader->at))
            return release_queue(reader, true);
        status = perf_load_bytes(reader, reader->at, PERF_RECORD_HEADER, &span);
        if (status != TTR_OK)
            return status;
        uint64_t left = reader->end - reader->at;
        span.n = left < span.n ? (size_t)left : span.n;
        if (!scan_kernel_records(reader, &span, reader->at - reader->order.base[0], 0, &passed))
            return fail_memory(reader->error);
        reader->at += passed;
        if (is_queue_full(reader, reader->at))
            return release_full_queue(reader);
        status = scan_other_bytes(reader);
    }
    return status;
}

/* --- The loop --- */

/* Stores two attributes for the writer of perf script lines: the width of the longest event name,
 * and whether counter values have ids. */
static bool store_print_attributes(const struct perf_reader *reader)
{
    const struct perf_trace *trace = reader->trace;
    size_t width = 0;
    bool has_reads = false;
    for (size_t i = 0; i < trace->kinds_n; i++) {
        has_reads |= trace->kind[i]->request.sample_type & PERF_SAMPLE_HAS_READ &&
                     trace->kind[i]->request.read_format & PERF_READ_ID;
        size_t system = ttr_text_get(trace->t, trace->kind[i]->provider).n,
               name = ttr_text_get(trace->t, trace->kind[i]->name).n;
        size_t n = name + (system ? system + 1 : 0);
        width = n > width ? n : width;
    }
    return (!has_reads || context_add_attribute(trace->t, reader->in->id, "trace.has_reads",
                                                &(ttr_value){.type = TTR_TYPE_BOOL, .v.u = 1})) &&
           context_add_attribute(trace->t, reader->in->id, "trace.event_width",
                                 &(ttr_value){.type = TTR_TYPE_UINT, .v.u = width});
}

/* Adds the clock to the trace. Called when the first record is released, since records of a pipe
 * may declare the clock. */
static ttr_status add_perf_clock(struct perf_reader *reader)
{
    const struct perf_trace *trace = reader->trace;
    if (!trace || reader->in->clocks_n)
        return TTR_OK;
    ttr_clock clock = {.name = "perf",
                       .frequency = 1000000000,
                       .is_anchored = trace->is_anchored,
                       .anchor_ticks = trace->anchor_ticks,
                       .anchor_ns = trace->anchor_wall};
    return input_add_clock(reader->in, &clock) == SIZE_MAX || !store_print_attributes(reader)
               ? fail_memory(reader->error)
               : TTR_OK;
}

/* Sets the time of records that precede the first record with a time: it is the earliest time in
 * the queue. */
static void set_first_time(struct perf_reader *reader)
{
    const struct perf_order *order = &reader->order;
    uint64_t first = UINT64_MAX;
    for (size_t i = order->emitted_n; i < order->n && !reader->has_time; i++)
        if (order->keys[i].time && order->keys[i].time < first)
            first = order->keys[i].time;
    if (first == UINT64_MAX)
        return;
    reader->has_time = true;
    reader->last_time = perf_ticks_to_ns(reader->trace, first, NULL);
}

/* Marks this reader as finished. If it is the last reader of the trace, stores the totals as
 * attributes. */
static ttr_status end_reader(struct perf_reader *reader)
{
    struct perf_trace *trace = reader->trace;
    if (reader->is_counted || !trace)
        return TTR_END;
    reader->is_counted = true;
    trace->samples += reader->samples;
    trace->records += reader->records;
    if (--trace->running > 0)
        return TTR_END;
    const ttr_value samples = {.type = TTR_TYPE_UINT, .v.u = trace->samples},
                    records = {.type = TTR_TYPE_UINT, .v.u = trace->records};
    bool is_fine = context_add_attribute(trace->t, trace->source, "samples", &samples) &&
                   context_add_attribute(trace->t, trace->source, "records", &records);
    return is_fine ? TTR_END : fail_memory(reader->error);
}

/* Emits the rest after all records were scanned: first the queue, then the tail as definitions. */
static ttr_status emit_remaining_records(struct perf_reader *reader)
{
    if (reader->order.n)
        return release_queue(reader, true);
    if (!(reader->in->flags & TTR_READ_DEFINITIONS) || reader->is_tail)
        return end_reader(reader);
    reader->is_tail = true;
    reader->pass_tag = PERF_TAG_TAIL;
    reader->pass_end = UINT64_MAX;
    return TTR_OK;
}

ttr_status perf_read_batch(struct input *in, ttr_error *error)
{
    struct perf_reader *reader = in->ctx;
    reader->error = error;
    if (reader->trace->tracepoints)
        tracepoints_begin_batch(reader->trace->tracepoints);
    for (;;) {
        ttr_status status = reader->order.is_emitting ? add_perf_clock(reader) : TTR_OK;
        if (status == TTR_OK && reader->order.is_emitting) {
            set_first_time(reader);
            status = emit_released_records(reader);
        }
        if (status != TTR_OK || in->n)
            return status;
        if (reader->order.is_emitting)
            continue;
        if (reader->pass_end > reader->at)
            status = reader->order.n ? release_queue(reader, true) : emit_definition_bytes(reader);
        else
            status = reader->is_over ? emit_remaining_records(reader) : scan_records(reader);
        if (status != TTR_OK || in->n)
            return status;
    }
}
