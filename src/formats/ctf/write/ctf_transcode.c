/* Transcoding: encodes a CTF trace again if it cannot be copied, because another version or byte
 * order is required. Names, contexts, labels, clocks and environment are those of the source, so
 * the output does not use the CTF conventions.
 *
 * Order of calls, per event:
 * |  init_transcode_job              collects source stream, packet and output trace of the event
 * |  ctf_transcode_get_stream        source file + shape of common context -> output stream
 * |    choose_stream_name            file name, in v1.1 with section and CPU
 * |    make_transcoded_stream_class  stream class for a new shape
 * |  start_packet_of_event           output packet for the event's source packet, unless it is open
 * |  get_transcoded_class            source class + shape -> event class
 * |  ctf_stream_append_event         encodes the items
 *
 * Mapping: a source file becomes an output file, and each packet becomes one packet with its times,
 * counters and CPU. Packets above packet_size are split:
 *
 * |  source file   | packet 0: e e e | packet 1: e e e e e e            |
 * |  output file   | packet 0: e e e | packet 1: e e e e | packet 2: e e |
 *
 * A shape is the hash of names, types and nesting of fields (ctf_flatten.c). Variants and optional
 * fields: each combination that occurs is another shape and gets another event class. All classes
 * of a stream share one common context, so a common context of another shape gets another stream.
 *
 * Gaps are not events in CTF: they become counters of the next packet (ctf_discarded_write.c).
 *
 * Stages such as sort copy events out of their packets (`is_copy`). Fields of the packet are then
 * known only if the copied event includes them (`has_packet`).
 *
 * Invariants: times of a stream never decrease; events of one source class and shape in a stream
 * have one class.
 *
 * Cost: a lookup of the stream and of the class per event, one pass over its fields. Left out:
 * fields of event headers other than id and time (counted as CTF_LOST_PACKET). */
#include "base/hash.h"
#include "base/number.h"
#include "base/status.h"
#include "formats/ctf/read/ctf_build_index.h"
#include "formats/ctf/write/ctf_pending_gaps.h"
#include "formats/ctf/write/ctf_transcode.h"
#include "formats/ctf/metadata/tsdl/tsdl_types.h"
#include "model/event_copy.h"

static const struct ctf_schema *find_ctf_schema(const struct ttr_writer *out,
                                                const ttr_event *event)
{
    const struct schema *schema = context_schema(out->t, event->schema);
    if (schema->base_schema)
        schema = context_schema(out->t, schema->base_schema);
    const struct ctf_schema *ctx = schema->format == out->format ? schema->ctx : NULL;
    return ctx && ctf_find_event_origin(ctx, event).stream ? ctx : NULL;
}

bool ctf_is_transcoded(const struct ttr_writer *out, const ttr_event *event)
{
    const struct ctf_writer *w = out->ctx;
    const struct ctf_schema *schema = find_ctf_schema(out, event);
    if (schema)
        return !schema->trace->class->has_conventions;
    const struct source_entry *source =
        &out->t->sources[event->source < out->t->sources_n ? event->source : 0];
    if (event->kind != TTR_KIND_GAP || !source->format ||
        strcmp(source->format, out->format->name) != 0)
        return false;
    const uint32_t *index = pair_map_get(&w->trace_of, event->source, 0);
    return !index || !w->traces[*index]->has_conventions;
}

/* --- Continuation of other files --- */

/* Returns true if the reader treats the file of the event's stream as the continuation of another
 * file. */
static bool continues_other_file(const struct transcode_job *job)
{
    const struct ctf_reader *reader = ctf_find_event_origin(job->schema, job->event).reader;
    const struct ctf_file_index *file_index = reader->file_index;
    for (uint32_t i = 0; file_index && i < file_index->n; i++) {
        const struct ctf_packet_queue *queue =
            &file_index->queue[reader->reads_all_queues ? i : reader->queue];
        if (queue->kind == job->stream->kind->first && queue->has_number &&
            queue->number == job->stream->number)
            return queue->initial.is_there;
    }
    return false;
}

/* --- Conversion of times --- */

/* Converts ticks of the source clock to ticks of the target clock; returns 0 for times before the
 * target clock's zero. */
static uint64_t convert_ticks(const struct transcode_job *job, const struct ctf_timeline *line,
                              uint64_t ticks)
{
    bool is_clamped = false;
    if (job->trace->keeps_clocks)
        return ticks;
    int64_t time = (int64_t)((uint64_t)ctf_ticks_to_ns(line, ticks, &is_clamped) +
                             (uint64_t)job->trace->moved);
    job->trace->has_unix_time |= line->is_anchored;
    return time < job->trace->base ? 0 : (uint64_t)time - (uint64_t)job->trace->base;
}

static uint64_t event_to_target_ticks(const struct transcode_job *job)
{
    const struct ctf_timeline *line = &job->stream->kind->timeline;
    const ttr_event *event = job->event;
    bool is_clamped = false;
    int64_t time = (int64_t)((uint64_t)event->time - (uint64_t)job->trace->moved);
    uint64_t ticks = ctf_ticks_to_ns(line, event->ticks, &is_clamped) == time
                         ? event->ticks
                         : ctf_ns_to_ticks(line, time);
    return convert_ticks(job, line, ticks);
}

/* Converts a time of the event's packet to ticks of the target. If the event's time was shifted
 * after it was read (such as by the option time-offset), shifts the packet's time, too. */
static uint64_t convert_packet_ticks(const struct transcode_job *job, uint64_t ticks)
{
    const struct ctf_timeline *line = &job->stream->kind->timeline;
    const ttr_event *event = job->event;
    bool has_time = !(event->flags & TTR_EVENT_NO_TIME) && event->kind != TTR_KIND_DEFINITION;
    uint64_t moved =
        has_time ? event_to_target_ticks(job) - convert_ticks(job, line, event->ticks) : 0;
    return convert_ticks(job, line, ticks) + moved;
}

/* --- Writing of packets and events --- */

/* Returns true if an empty first packet with sequence number 0 can report the gap: only events are
 * missing, and the gap ends before `begin`. Sets *place to the times of that packet. */
static bool can_empty_packet_report_gap(const struct ctf_pending_gaps *missing,
                                        const struct ctf_stream_out *stream, uint64_t begin,
                                        struct ctf_gap_times *place)
{
    const bool is_first =
        stream->sequence == 0 && stream->discarded == 0 &&
        (stream->trace->description.version == CTF_RFC_1_1 || stream->kind->has_sequence);
    return is_first && missing->events && !missing->packets &&
           ctf_pending_gaps_find_times(missing, stream, begin, place) && place->is_alone;
}

/* Starts an empty packet before the first packet of the stream. It ends where the first gap of
 * known size starts, or reports that gap itself. */
static ttr_status write_empty_first_packet(const struct transcode_job *job,
                                           struct ctf_stream_out *stream,
                                           const struct ctf_items *items, uint64_t begin,
                                           ttr_error *error)
{
    struct ctf_pending_gaps *missing = &job->w->missing[job->event->source];
    uint64_t at = missing->has_ticks ? convert_packet_ticks(job, missing->ticks) : begin;
    struct ctf_gap_times place;
    const bool is_reported = can_empty_packet_report_gap(missing, stream, begin, &place);
    stream->cpu = job->about->cpu;
    ttr_status status =
        ctf_stream_start_packet(stream, job->out, items, at < begin ? at : begin, error);
    if (is_reported) {
        stream->end = place.end;
        ctf_pending_gaps_store_counters(job->out, stream, missing, job->event->offset);
    }
    return status;
}

static bool packet_has_duration(const struct ctf_packet *about)
{
    return about->has_begin && about->has_end && about->end > about->begin;
}

/* Before an event that was copied without its packet: sets packet times so that readers see the
 * original times of the gap. Ends the previous packet at the start of the gap. If the gap ends
 * before the event, starts an empty packet that reports it; otherwise sets *begin to the start of
 * the event's packet. */
static ttr_status preserve_gap_times(const struct transcode_job *job, struct ctf_stream_out *stream,
                                     const struct ctf_items *items, uint64_t *begin,
                                     ttr_error *error)
{
    struct ctf_pending_gaps *missing = &job->w->missing[job->event->source];
    struct ctf_gap_times place;
    if (!job->is_copy || !ctf_pending_gaps_have_counters(missing, stream))
        return TTR_OK;
    if (!ctf_transcode_has_known_time(job) ||
        !ctf_pending_gaps_find_times(missing, stream, event_to_target_ticks(job), &place)) {
        output_count_losses(job->out, CTF_LOST_GAP_TIME, missing->events > 0, job->event->offset);
        return TTR_OK;
    }
    if (stream->is_open)
        stream->end = place.before;
    stream->gap_end = place.is_alone ? 0 : place.end;
    *begin = place.is_alone ? *begin : place.begin;
    if (!place.is_alone)
        return TTR_OK;
    ttr_status status = ctf_stream_start_packet(stream, job->out, items, place.begin, error);
    stream->end = place.end;
    ctf_pending_gaps_store_counters(job->out, stream, missing, job->event->offset);
    return status;
}

/* Returns true if an empty packet must report the gap, because it ends where the event's packet
 * starts. Needed if counters of the source are valid at the start of a packet (v1.1) and those of
 * the target at its end. */
static bool needs_empty_gap_packet(const struct transcode_job *job,
                                   const struct ctf_stream_out *stream,
                                   const struct ctf_pending_gaps *missing)
{
    const bool was_to_end =
                   ctf_counts_discarded_to_packet_end(&job->schema->trace->class->description),
               is_to_end = ctf_counts_discarded_to_packet_end(&job->trace->description);
    return !was_to_end && is_to_end && missing->events && stream->kind->has_discarded &&
           packet_has_duration(job->about);
}

/* Starts an output packet and sets its counters; before it, an empty packet if a gap requires one.
 * `items`: fields of the packet context; may be NULL. */
static ttr_status start_packet_with_counters(struct transcode_job *job,
                                             struct ctf_stream_out *stream,
                                             const struct ctf_items *items, ttr_error *error)
{
    const ttr_event *event = job->event;
    const struct ctf_packet *about = job->about;
    const bool is_empty = event->kind == TTR_KIND_DEFINITION, is_first = stream->packet_at == 0;
    const struct ctf_first_packet what = {.about = about,
                                          .is_continuation = is_first && continues_other_file(job)};
    struct ctf_pending_gaps *missing = ctf_pending_gaps_get(job->out, event->source);
    ttr_status status = TTR_OK;
    if (!missing)
        return fail_memory(error);
    const uint64_t before =
        /* end time of the packet before, in ticks */
        stream->last > stream->end ? stream->last : stream->end;
    uint64_t first =
        is_empty || !ctf_transcode_has_known_time(job) ? before : event_to_target_ticks(job);
    uint64_t begin = about->has_begin ? convert_packet_ticks(job, about->begin) : first;
    const bool is_beside = is_first &&
                           /* another output stream of the same data stream reports the gap */
                           ctf_pending_gaps_are_in_other_stream(missing, stream);
    if (is_first && ctf_pending_gaps_start_stream(job->out, stream, &what, missing))
        status = write_empty_first_packet(job, stream, items, begin, error);
    if (status == TTR_OK && !is_beside && needs_empty_gap_packet(job, stream, missing)) {
        status = ctf_stream_start_packet(stream, job->out, items, begin, error);
        ctf_pending_gaps_store_counters(job->out, stream, missing, event->offset);
    }
    stream->gap_end = 0;
    if (status == TTR_OK && !is_beside)
        status = preserve_gap_times(job, stream, items, &begin, error);
    if (status == TTR_OK)
        status = is_empty ? ctf_stream_start_empty_packet(stream, job->out, &begin, error)
                          : ctf_stream_start_packet(stream, job->out, items, begin, error);
    if (!is_beside)
        ctf_pending_gaps_store_counters(job->out, stream, missing, event->offset);
    missing->stream = stream;
    return status;
}

/* Returns true if the open packet must end before this event, which was copied without its packet,
 * so that the counters of the next packet report the gap between the two. */
static bool is_gap_before_event(const struct transcode_job *job,
                                const struct ctf_stream_out *stream)
{
    const uint16_t source = job->event->source;
    const struct ctf_pending_gaps *missing =
        job->is_copy && source < job->w->missing_n ? &job->w->missing[source] : NULL;
    return missing && (ctf_pending_gaps_have_counters(missing, stream) ||
                       (stream->gap_end && event_to_target_ticks(job) > stream->gap_end));
}

/* Returns true if the only known time of a copied event is that of its packet, and it differs from
 * the start of the open packet. */
static bool has_other_packet_time(const struct transcode_job *job,
                                  const struct ctf_stream_out *stream)
{
    return job->is_copy && !stream->kind->has_time && ctf_transcode_has_only_packet_time(job) &&
           event_to_target_ticks(job) != stream->begin;
}

/* Returns true if a copied event has the fields of its source packet, and they differ from those
 * of the open packet. */
static bool is_in_other_packet(const struct transcode_job *job, const struct ctf_stream_out *stream)
{
    return job->has_packet && job->packet_fields_hash != stream->packet_fields_hash;
}

/* Starts an output packet for the event's source packet, unless one is open. */
static ttr_status start_packet_of_event(struct transcode_job *job, struct ctf_stream_out *stream,
                                        ttr_error *error)
{
    const struct ctf_packet *about = job->about;
    struct ctf_items *items = &job->w->packet_items;
    const struct ctf_items_config what = {
        .out = job->out, .version = job->version, .is_packet = true};
    if (stream->packet_at == about->offset + 1 && !is_gap_before_event(job, stream) &&
        !has_other_packet_time(job, stream) && !is_in_other_packet(job, stream))
        return TTR_OK;
    ctf_items_collect(items, &what, job->event);
    bool is_alike = items->payload_shape == stream->kind->packet_shape;
    if (items->n && (job->version == CTF_RFC_1_1 || !is_alike))
        output_count_loss(job->out, CTF_LOST_PACKET, about->offset);
    if (items->failed)
        return fail_memory(error);
    ttr_status status = start_packet_with_counters(job, stream, is_alike ? items : NULL, error);
    if (status != TTR_OK)
        return status;
    stream->source = job->event->source;
    stream->packet_at = about->offset + 1;
    stream->packet_fields_hash = job->packet_fields_hash;
    stream->cpu = about->cpu;
    stream->end = about->has_end ? convert_packet_ticks(job, about->end) : stream->gap_end;
    return TTR_OK;
}

/* Returns a hash of an event class that is equal in all folders of a trace. */
static uint64_t hash_shared_event_class(const struct ctf_event_class *source)
{
    return hash_pair(hash_pair(hash_bytes(source->name.p, source->name.n), source->id),
                     (uint64_t)source->log_level);
}

/* Returns a number that identifies the event class of the source. In v1.1, it does not depend on
 * the section, because several sections may become one stream class. */
static uint64_t hash_event_class_identity(const struct transcode_job *job)
{
    const struct ctf_event_class *source = job->schema->event;
    return job->schema->trace->class->description.version != CTF_RFC_1_1
               ? (uintptr_t)source
               : hash_shared_event_class(source);
}

static const struct ctf_event_class *get_transcoded_class(struct transcode_job *job,
                                                          struct ctf_stream_out *stream)
{
    const struct ctf_event_class *source = job->schema->event;
    const struct ctf_class_key key = {.name = source->name,
                                      .like = source,
                                      .identity = hash_event_class_identity(job),
                                      .likeness = hash_shared_event_class(source),
                                      .has_log_level = source->has_log_level,
                                      .log_level = source->log_level};
    const struct ctf_event_class *known = ctf_find_event_class(stream->kind, &job->w->items, &key);
    if (known)
        return known;
    const struct ctf_type_changes before = ctf_transcode_get_changes(job);
    known = ctf_get_event_class(job->trace, stream->kind, &job->w->items, &key);
    ctf_transcode_count_changes(job, before);
    return known;
}

/* Initializes the data for an event or packet definition. Returns false if memory runs out. */
static bool init_transcode_job(struct transcode_job *job, struct ttr_writer *out,
                               const ttr_event *event)
{
    job->out = out;
    job->w = out->ctx;
    job->event = event;
    job->schema = find_ctf_schema(out, event);
    const struct ctf_origin origin = ctf_find_event_origin(job->schema, event);
    job->stream = origin.stream;
    job->is_copy = context_schema(out->t, event->schema)->ops == &event_copy_field_ops;
    const struct event_copy_packet packet =
        job->is_copy ? event_copy_find_packet(out->t, event) : (struct event_copy_packet){.n = 0};
    job->has_packet = packet.n != 0;
    job->packet_fields_hash = job->has_packet ? hash_bytes(packet.bytes, packet.n) : 0;
    job->unknown = (struct ctf_packet){
        .cpu = event->cpu,
        .has_cpu = event->flags & TTR_EVENT_HAS_CPU,
        .has_sequence = job->is_copy && ctf_transcode_packet_has_role(job, CTF_ROLE_SEQUENCE),
        .has_discarded = job->is_copy && ctf_transcode_packet_has_role(job, CTF_ROLE_DISCARDED)};
    job->about = job->is_copy ? &job->unknown : &origin.reader->packets[event->part];
    job->trace = ctf_transcode_get_trace(job);
    job->version = job->trace ? job->trace->description.version : CTF_UNKNOWN;
    return job->trace != NULL;
}

ttr_status ctf_transcode_packet(struct ttr_writer *out, const ttr_event *event, ttr_error *error)
{
    struct transcode_job job;
    const struct ctf_schema *schema = find_ctf_schema(out, event);
    if (event->link || !schema || schema->trace->class->has_conventions)
        return TTR_OK;
    if (!init_transcode_job(&job, out, event))
        return fail_memory(error);
    ttr_status status = ctf_trace_out_check_options(job.trace, &job.w->options, error);
    struct ctf_stream_out *stream =
        status == TTR_OK ? ctf_transcode_find_empty_packet_stream(&job) : NULL;
    if (status != TTR_OK)
        return status;
    return stream ? start_packet_of_event(&job, stream, error) : TTR_OK;
}

/* Counts a loss if the event's thread has a name, because v1.1 cannot store thread names. */
static void count_rfc_event_losses(const struct transcode_job *job)
{
    const ttr_event *event = job->event;
    ttr_thread thread;
    if (job->version != CTF_RFC_1_1)
        return;
    if (event->thread && ttr_thread_get(job->out->t, event->thread, &thread) && thread.thread_name)
        output_count_loss(job->out, CTF_LOST_THREAD, event->offset);
}

/* Returns true if readers will convert these ticks to the exact time of the event. */
static bool is_time_exact(const struct transcode_job *job, uint64_t ticks)
{
    const struct ctf_trace_out *trace = job->trace;
    bool is_clamped = false;
    const uint64_t begin = (uint64_t)(trace->keeps_clocks ? trace->moved : trace->base);
    const uint64_t ns =
        trace->keeps_clocks
            ? (uint64_t)ctf_ticks_to_ns(&job->stream->kind->timeline, ticks, &is_clamped)
            : ticks;
    return is_clamped || (int64_t)(begin + ns) == job->event->time;
}

/* Returns the event's time in ticks of the stream; if it is unknown, the time of the last event.
 * Counts losses of the time and of header fields. */
static uint64_t choose_event_ticks(const struct transcode_job *job,
                                   const struct ctf_stream_out *stream)
{
    const ttr_event *event = job->event;
    bool has_time = !(event->flags & TTR_EVENT_NO_TIME);
    uint64_t ticks = ctf_transcode_has_known_time(job) ? event_to_target_ticks(job) : stream->last;
    count_rfc_event_losses(job);
    if (!has_time && ctf_transcode_has_only_packet_time(job) && stream->kind->has_time)
        output_count_loss(job->out, CTF_LOST_PACKET_TIME, event->offset);
    if (has_time && ticks != event->ticks)
        output_count_loss(job->out, CTF_LOST_TICKS, event->offset);
    if (has_time && stream->kind->has_time && !is_time_exact(job, ticks))
        output_count_loss(job->out, CTF_LOST_TIME, event->offset);
    if (stream->kind->loses_header)
        output_count_loss(job->out, CTF_LOST_PACKET, event->offset);
    return ticks;
}

ttr_status ctf_transcode_event(struct ttr_writer *out, const ttr_event *event, ttr_error *error)
{
    struct transcode_job job;
    if (!find_ctf_schema(out, event))
        return ctf_pending_gaps_add(out, event, error);
    if (!init_transcode_job(&job, out, event))
        return fail_memory(error);
    ttr_status status = ctf_trace_out_check_options(job.trace, &job.w->options, error);
    if (status != TTR_OK)
        return status;
    struct ctf_items *items = &job.w->items;
    const struct ctf_items_config what = {.out = out,
                                          .version = job.version,
                                          .has_no_common = ctf_transcode_writes_event_size(&job),
                                          .drops_size = ctf_transcode_drops_payload_size(&job)};
    ctf_items_collect(items, &what, event);
    struct ctf_stream_out *stream = items->failed ? NULL : ctf_transcode_get_stream(&job);
    if (!stream)
        return fail_memory(error);
    status = start_packet_of_event(&job, stream, error);
    if (status != TTR_OK)
        return status;
    ctf_count_reordered(out, stream, event);
    const struct ctf_event_class *class = get_transcoded_class(&job, stream);
    out->events++;
    return class ? ctf_stream_append_event(stream, out, class, items,
                                           choose_event_ticks(&job, stream), error)
                 : fail_memory(error);
}
