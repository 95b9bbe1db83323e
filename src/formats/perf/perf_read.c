/* What comes next: what may be given is given; else records are looked at, while the batch is
 * empty, until more may be given.
 *
 * Where the caller wants every byte, records come as they are stored, those of the tool too,
 * between what stands before and behind them. */
#include "base/status.h"
#include "encodings/tracepoint/tracepoints.h"
#include "formats/perf/perf.h"

#define STORED_KEYS 4096u /* records looked at before they are given where nothing is sorted */

/* --- Giving --- */

static struct perf_view view_of(const struct perf_reader *reader, const struct perf_key *key)
{
    bool is_unpacked = key->size & PERF_KEY_UNPACKED, is_big = reader->trace->is_big;
    uint64_t at = reader->order.base[is_unpacked] + key->at;
    const uint8_t *p = is_unpacked ? reader->unpacked.bytes + (at - reader->unpacked.from)
                                   : reader->in->window.bytes + (at - reader->in->window.offset);
    return (struct perf_view){.p = p,
                              .size = key->size & ~PERF_KEY_UNPACKED,
                              .type = perf_u32(p, is_big),
                              .misc = perf_u16(p + 4, is_big),
                              .offset =
                                  is_unpacked ? perf_unpacked_offset(&reader->unpacked, at) : at};
}

static void give_bytes(struct perf_reader *reader, const uint8_t *p, size_t n, uint64_t offset,
                       unsigned tag)
{
    ttr_event *event = input_event(reader->in);
    event->kind = TTR_KIND_DEFINITION;
    event->flags = TTR_EVENT_RAW | TTR_EVENT_NO_TIME;
    event->time = reader->last_time;
    event->schema = reader->trace->record_schema;
    event->payload = p;
    event->payload_size = event->body = (uint32_t)n;
    event->offset = offset;
    event->tag = (uint16_t)tag;
}

static enum perf_taken take(struct perf_reader *reader, const struct perf_view *record)
{
    if (PERF_LIKELY(record->type == PERF_SAMPLE))
        return perf_sample_take(reader, record);
    if (record->type < PERF_TOOL_FIRST)
        return perf_record_take(reader, record);
    give_bytes(reader, record->p, record->size, record->offset, record->type);
    return PERF_TAKEN;
}

/* Gives into the batch until it is full or nothing that may be given is left. */
static ttr_status give(struct perf_reader *reader)
{
    struct perf_order *order = &reader->order;
    struct input *in = reader->in;
    while (order->given < order->n && order->keys[order->given].time <= order->limit) {
        if (in->n >= in->batch)
            return TTR_OK;
        struct perf_view record = view_of(reader, &order->keys[order->given]);
        enum perf_taken taken = take(reader, &record);
        if (PERF_UNLIKELY(taken != PERF_TAKEN))
            return taken == PERF_HOLD ? TTR_OK : reader->error->status;
        order->given++;
    }
    if (in->n == 0) /* what was given must stay as long as the batch */
        perf_order_settle(reader);
    return TTR_OK;
}

/* Gives the next bytes that are no record. */
static ttr_status give_piece(struct perf_reader *reader)
{
    struct perf_span span;
    ttr_status status = perf_show(reader, reader->at, 1, &span);
    if (status != TTR_OK)
        return status;
    uint64_t left = reader->pass_end - reader->at;
    size_t n = left < span.n ? (size_t)left : span.n;
    n = n < PERF_PIECE ? n : PERF_PIECE;
    if (n)
        give_bytes(reader, span.p, n, reader->at, reader->pass_tag);
    reader->at += n;
    if (n)
        return TTR_OK;
    reader->pass_end = reader->at;
    return reader->pass_tag == PERF_TAG_DATA ? perf_cut_data(reader, reader->at, reader->at + left)
                                             : TTR_OK;
}

/* --- Looking at records --- */

/* The time of a record of the kernel; 0 = it has none. */
static inline uint64_t time_of(struct perf_trace *trace, const struct perf_view *record)
{
    if (PERF_LIKELY(record->type == PERF_SAMPLE)) {
        uint32_t at = trace->time_at;
        if (PERF_UNLIKELY(trace->has_mixed_times)) {
            const struct perf_kind *kind = perf_kind_of_sample(trace, record);
            at = kind ? kind->time_at : 0;
        }
        return at && at + 8 <= record->size ? perf_u64(record->p + at, trace->is_big) : 0;
    }
    const struct perf_kind *kind = perf_kind_of_record(trace, record);
    if (!kind || !kind->time_back || record->size < PERF_RECORD_HEADER + (uint32_t)kind->back)
        return 0;
    return perf_u64(record->p + record->size - kind->time_back, trace->is_big);
}

/* How many records may wait; more where none of them has a time, so that the first of them can have
 * that of the next. */
static size_t most_keys(const struct perf_reader *reader)
{
    return reader->sorts || reader->order.newest == 0 ? PERF_KEYS_MAX : STORED_KEYS;
}

static bool is_crowded(const struct perf_reader *reader, uint64_t at)
{
    const struct perf_order *order = &reader->order;
    return order->n >= most_keys(reader) || at - order->base[0] > PERF_REGION_MAX ||
           reader->unpacked.n > PERF_UNPACKED_MAX;
}

/* Adds keys of records of the kernel that stand in the span; in *passed how many bytes.  It stops
 * at any other record. */
static bool run_over(struct perf_reader *reader, const struct perf_span *span, uint64_t base,
                     uint32_t flags, size_t *passed)
{
    struct perf_trace *trace = reader->trace;
    struct perf_order *order = &reader->order;
    size_t at = 0;
    while (span->n - at >= PERF_RECORD_HEADER && order->n < most_keys(reader)) {
        const uint8_t *p = span->p + at;
        struct perf_view record = {
            .p = p, .type = perf_u32(p, trace->is_big), .size = perf_u16(p + 6, trace->is_big)};
        if (record.size > span->n - at || record.type >= PERF_TOOL_FIRST ||
            !perf_is_plausible(p, trace->is_big))
            break;
        uint64_t time = time_of(trace, &record);
        order->newest = time > order->newest ? time : order->newest;
        if (!perf_order_add(reader,
                            (struct perf_key){time, (uint32_t)(base + at), record.size | flags}))
            return false;
        at += record.size;
    }
    *passed = at;
    return true;
}

/* Behind the records. */
static ttr_status meet_end(struct perf_reader *reader, size_t n)
{
    uint64_t from = reader->at;
    ttr_status status = TTR_OK;
    reader->is_over = true;
    reader->at += n;
    if (reader->unpacked.n > reader->unpacked.at - reader->unpacked.from)
        status = input_damage(reader->in, from, 0, "perf.cut-packed", reader->error,
                              "the compressed records end inside a record, which is lost");
    if (status != TTR_OK)
        return status;
    if (n)
        return input_damage(reader->in, from, n, "perf.cut", reader->error,
                            "the records end inside a record; its %zu bytes are left out", n);
    const uint64_t there = source_end(reader->in->source);
    if (reader->behind_at && there < from)
        return perf_cut_data(reader, there, from);
    if (reader->end != UINT64_MAX && from < reader->end)
        return input_damage(reader->in, from, 0, "perf.cut", reader->error,
                            "the file ends %llu bytes before its records should",
                            (unsigned long long)(reader->end - from));
    return TTR_OK;
}

static ttr_status meet_bad(struct perf_reader *reader)
{
    uint64_t from = reader->at, next;
    ttr_status status = perf_resync(reader, &next);
    if (status != TTR_OK)
        return status;
    reader->at = next;
    return input_damage(reader->in, from, next - from, "perf.bad-record", reader->error,
                        "no record can begin so; %llu bytes are passed over, up to the next place "
                        "where records follow each other",
                        (unsigned long long)(next - from));
}

/* Lets what waits be given, all of it or what is older than the round before. */
static ttr_status release(struct perf_reader *reader, bool is_all)
{
    struct perf_order *order = &reader->order;
    uint64_t limit = is_all || !reader->sorts ? UINT64_MAX : order->before;
    if (!is_all)
        order->before = order->newest;
    if (limit == 0 && !reader->has_time) /* a later round may still have the earliest time, which
                                            those without any are to have */
        return TTR_OK;
    return perf_order_release(reader, limit) ? TTR_OK : fail_memory(reader->error);
}

/* Too much waits. */
static ttr_status release_crowd(struct perf_reader *reader)
{
    if (reader->sorts)
        input_note(reader->in, TTR_NOTE_REMARK, reader->at, "perf.long-round",
                   "more records without the end of a round than can be put in order at once: some "
                   "may be given late");
    return release(reader, true);
}

/* Takes bytes that are no record out of what was unpacked, so that they are not kept with the
 * records before them. */
static ttr_status drop_bad(struct perf_reader *reader, const struct perf_span *span)
{
    struct perf_unpacked *unpacked = &reader->unpacked;
    size_t skip = (size_t)(span->p - unpacked->bytes),
           n = perf_find(span, 1, false, reader->trace->is_big);
    memmove(unpacked->bytes + skip, unpacked->bytes + skip + n, span->n - n);
    unpacked->n -= n;
    return input_damage(reader->in, reader->at, 0, "perf.bad-packed", reader->error,
                        "%zu bytes of compressed records are none; they are passed over", n);
}

/* A record of the tool among them: perf packs only those of the kernel, other recorders the ends of
 * rounds, too. */
static ttr_status meet_unpacked_tool(struct perf_reader *reader, const struct perf_view *record)
{
    struct perf_unpacked *unpacked = &reader->unpacked;
    uint64_t at = unpacked->at - reader->order.base[1];
    unpacked->at += record->size;
    if (record->type != PERF_FINISHED_ROUND)
        return TTR_OK;
    if (reader->in->flags & TTR_READ_DEFINITIONS &&
        !perf_order_add(reader,
                        (struct perf_key){0, (uint32_t)at, record->size | PERF_KEY_UNPACKED}))
        return fail_memory(reader->error);
    reader->records++;
    return reader->sorts ? release(reader, false) : TTR_OK;
}

/* Records that were unpacked, up to as many as may wait: the rest comes before anything that is
 * stored behind them. */
static ttr_status run_over_unpacked(struct perf_reader *reader)
{
    struct perf_unpacked *unpacked = &reader->unpacked;
    ttr_status status = TTR_OK;
    unpacked->has_more = false;
    while (unpacked->bytes && status == TTR_OK && !unpacked->has_more) {
        size_t skip = (size_t)(unpacked->at - unpacked->from), passed = 0;
        struct perf_span span = {unpacked->bytes + skip, unpacked->n - skip};
        if (!run_over(reader, &span, unpacked->at - reader->order.base[1], PERF_KEY_UNPACKED,
                      &passed))
            return fail_memory(reader->error);
        unpacked->at += passed;
        span.p += passed;
        span.n -= passed;
        bool is_full = is_crowded(reader, reader->at);
        unpacked->has_more =
            is_full && span.n >= PERF_RECORD_HEADER && reader->order.n > reader->order.given;
        if (span.n < PERF_RECORD_HEADER || is_full)
            return TTR_OK;
        struct perf_view record = {.type = perf_u32(span.p, reader->trace->is_big),
                                   .size = perf_u16(span.p + 6, reader->trace->is_big)};
        bool is_plausible = perf_is_plausible(span.p, reader->trace->is_big);
        if (is_plausible && record.size > span.n)
            return TTR_OK; /* the next piece has the rest */
        status = is_plausible ? meet_unpacked_tool(reader, &record) : drop_bad(reader, &span);
        unpacked->has_more =
            reader->order.is_giving; /* a round ended: the next must not be put in order with it */
    }
    return status;
}

/* A piece of compressed records; it may give so many that it is gone on with later. */
static ttr_status meet_packed(struct perf_reader *reader, const struct perf_view *record)
{
    bool is_done = false;
    while (!is_done && !reader->order.is_giving) {
        ttr_status status = perf_unpack(reader, record, &is_done);
        if (status == TTR_OK)
            status = run_over_unpacked(reader);
        if (status == TTR_OK && is_crowded(reader, reader->at))
            status = release_crowd(reader);
        if (status != TTR_OK)
            return status;
    }
    reader->at += is_done ? record->size : 0;
    if (reader->order.n == 0)
        perf_order_settle(reader);
    return TTR_OK;
}

/* A record of the tool. */
static ttr_status meet_tool(struct perf_reader *reader, const struct perf_view *record)
{
    uint64_t at = reader->at - reader->order.base[0];
    if (record->type == PERF_COMPRESSED || record->type == PERF_COMPRESSED2)
        return meet_packed(reader, record);
    if (reader->in->flags & TTR_READ_DEFINITIONS &&
        !perf_order_add(reader, (struct perf_key){0, (uint32_t)at, record->size}))
        return fail_memory(reader->error);
    reader->at += record->size;
    reader->records++;
    if (record->type == PERF_FINISHED_ROUND)
        return reader->sorts ? release(reader, false) : TTR_OK;
    uint64_t regions = reader->in->notes.damage_regions;
    ttr_status status = perf_tool_take(reader, record);
    bool has_data = record->type == PERF_HEADER_FEATURE ||
                    record->type == PERF_HEADER_TRACING_DATA || record->type == PERF_AUXTRACE;
    if (has_data && reader->in->flags & TTR_READ_DEFINITIONS &&
        reader->in->notes.damage_regions > regions)
        reader->order.n--; /* nobody wants damaged ones */
    return status;
}

/* What stands at reader->at is no record of the kernel that is all there. */
static ttr_status meet(struct perf_reader *reader)
{
    struct perf_span span;
    bool is_big = reader->trace->is_big;
    ttr_status status = perf_show(reader, reader->at, PERF_RECORD_HEADER, &span);
    uint64_t left = reader->end - reader->at;
    if (status != TTR_OK || span.n < PERF_RECORD_HEADER || left < PERF_RECORD_HEADER)
        return status != TTR_OK ? status : meet_end(reader, left < span.n ? (size_t)left : span.n);
    if (!perf_is_plausible(span.p, is_big))
        return meet_bad(reader);
    struct perf_view record = {.size = perf_u16(span.p + 6, is_big), .offset = reader->at};
    status = perf_show(reader, reader->at, record.size, &span);
    if (status != TTR_OK)
        return status;
    if (span.n < record.size || left < record.size)
        return meet_end(reader, left < span.n ? (size_t)left : span.n);
    record.p = span.p;
    record.type = perf_u32(span.p, is_big);
    record.misc = perf_u16(span.p + 4, is_big);
    return record.type >= PERF_TOOL_FIRST ? meet_tool(reader, &record) : TTR_OK;
}

/* Looks at records until some may be given. */
static ttr_status scan(struct perf_reader *reader)
{
    ttr_status status = reader->unpacked.has_more ? run_over_unpacked(reader) : TTR_OK;
    if (status == TTR_OK && reader->unpacked.has_more && !reader->order.is_giving)
        return release_crowd(reader);
    while (status == TTR_OK && !reader->order.is_giving && !reader->is_over &&
           reader->pass_end <= reader->at) {
        struct perf_span span;
        size_t passed = 0;
        status = perf_show(reader, reader->at, PERF_RECORD_HEADER, &span);
        if (status != TTR_OK)
            return status;
        uint64_t left = reader->end - reader->at;
        span.n = left < span.n ? (size_t)left : span.n;
        if (!run_over(reader, &span, reader->at - reader->order.base[0], 0, &passed))
            return fail_memory(reader->error);
        reader->at += passed;
        if (is_crowded(reader, reader->at))
            return release_crowd(reader);
        status = meet(reader);
    }
    return status;
}

/* --- Both --- */

/* How wide the longest name of what was recorded is: perf script makes a column of names.  And
 * whether samples have values of counters with ids: it prints a line for each of those. */
static bool tell_width(const struct perf_reader *reader)
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

/* The clock is known once a record may be given: in a pipe its records tell. */
static ttr_status tell_clock(struct perf_reader *reader)
{
    const struct perf_trace *trace = reader->trace;
    if (!trace || reader->in->clocks_n)
        return TTR_OK;
    ttr_clock clock = {.name = "perf",
                       .frequency = 1000000000,
                       .is_anchored = trace->is_anchored,
                       .anchor_ticks = trace->anchor_ticks,
                       .anchor_ns = trace->anchor_wall};
    return input_add_clock(reader->in, &clock) == SIZE_MAX || !tell_width(reader)
               ? fail_memory(reader->error)
               : TTR_OK;
}

/* What has no time before anything that has one gets the earliest time of what waits: that of the
 * trace where records come in order. */
static void begin_time(struct perf_reader *reader)
{
    const struct perf_order *order = &reader->order;
    uint64_t first = UINT64_MAX;
    for (size_t i = order->given; i < order->n && !reader->has_time; i++)
        if (order->keys[i].time && order->keys[i].time < first)
            first = order->keys[i].time;
    if (first == UINT64_MAX)
        return;
    reader->has_time = true;
    reader->last_time = perf_time(reader->trace, first, NULL);
}

/* Everything was given; the last of all files tells how much it was. */
static ttr_status end(struct perf_reader *reader)
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

/* All records are looked at: what waits is given, then what stands behind them where that is
 * wanted. */
static ttr_status wind_up(struct perf_reader *reader)
{
    if (reader->order.n)
        return release(reader, true);
    if (!(reader->in->flags & TTR_READ_DEFINITIONS) || reader->is_tail)
        return end(reader);
    reader->is_tail = true;
    reader->pass_tag = PERF_TAG_TAIL;
    reader->pass_end = UINT64_MAX;
    return TTR_OK;
}

ttr_status perf_next(struct input *in, ttr_error *error)
{
    struct perf_reader *reader = in->own;
    reader->error = error;
    if (reader->trace->tracepoints)
        tracepoints_batch(reader->trace->tracepoints);
    for (;;) {
        ttr_status status = reader->order.is_giving ? tell_clock(reader) : TTR_OK;
        if (status == TTR_OK && reader->order.is_giving) {
            begin_time(reader);
            status = give(reader);
        }
        if (status != TTR_OK || in->n)
            return status;
        if (reader->order.is_giving)
            continue;
        if (reader->pass_end > reader->at)
            status = reader->order.n ? release(reader, true) : give_piece(reader);
        else
            status = reader->is_over ? wind_up(reader) : scan(reader);
        if (status != TTR_OK || in->n)
            return status;
    }
}
