/* Discarded events of transcoded streams: gap events of the source become counters of the packets
 * that follow them.
 *
 * Readers see a number of discarded events only as the difference between the counters of two
 * packets. Therefore an empty packet is written before the first packet with events if events are
 * missing before it, and after the last packet if events are missing at the end:
 *
 * |  packets     | empty, count 0 | events, count 7 | ... | events, count 7 | empty, count 9 |
 * |  meaning            7 missing before                      2 missing at the end
 *
 * Sequence numbers are assigned again if packets are split or dropped, so that no other gaps
 * appear. If a data stream continues in another file, that file continues the counters of the
 * previous file. */
#include "base/saturate.h"
#include "base/status.h"
#include "formats/ctf/read/ctf_build_index.h"
#include "formats/ctf/write/ctf_pending_gaps.h"

/* --- Gaps of the source --- */

static bool is_rfc_stream(const struct ctf_stream_out *stream)
{
    return stream->trace->description.version == CTF_RFC_1_1;
}

static bool stream_counts_discarded_to_end(const struct ctf_stream_out *stream)
{
    return ctf_counts_discarded_to_packet_end(&stream->trace->description);
}

struct ctf_pending_gaps *ctf_pending_gaps_get(struct ttr_writer *out, uint16_t source)
{
    struct ctf_writer *w = out->ctx;
    size_t before = w->missing_n;
    if (source >= before && !alloc_reserve(&out->t->counted, (void **)&w->missing, &w->missing_n,
                                           source + (size_t)1, sizeof *w->missing))
        return NULL;
    memset(w->missing + before, 0, (w->missing_n - before) * sizeof *w->missing);
    return &w->missing[source];
}

bool ctf_pending_gaps_have_count(const struct ctf_pending_gaps *missing)
{
    return missing->events || missing->packets;
}

/* Stores the times of a gap. A gap of events and a gap of packets can be stored if both start at
 * the same time. Any other combination sets has_mixed_times. */
static void record_gap_times(struct ctf_pending_gaps *missing, const ttr_event *event)
{
    const bool is_packets = event->tag == TTR_GAP_PACKETS,
               is_second = ctf_pending_gaps_have_count(missing);
    const int64_t end = saturate_end_ns(event->time, event->duration);
    missing->has_mixed_times |= (event->flags & TTR_EVENT_NO_TIME) ||
                                (is_packets ? missing->packets : missing->events) ||
                                (is_second && missing->begin != event->time);
    missing->begin = event->time;
    *(is_packets ? &missing->packets_end : &missing->events_end) = end;
}

ttr_status ctf_pending_gaps_add(struct ttr_writer *out, const ttr_event *event, ttr_error *error)
{
    struct ctf_pending_gaps *missing = ctf_pending_gaps_get(out, event->source);
    if (!missing)
        return fail_memory(error);
    bool is_known = event->tag == TTR_GAP_PACKETS || event->link;
    if (is_known && !ctf_pending_gaps_have_count(missing)) {
        missing->has_ticks = !(event->flags & TTR_EVENT_NO_TIME);
        missing->ticks = event->ticks;
    }
    if (is_known)
        record_gap_times(missing, event);
    if (event->tag == TTR_GAP_PACKETS)
        missing->packets += event->sequence ? event->sequence : 1;
    else if (event->link)
        missing->events += event->link;
    else
        missing->unknown++;
    return TTR_OK;
}

bool ctf_pending_gaps_are_in_other_stream(const struct ctf_pending_gaps *missing,
                                          const struct ctf_stream_out *stream)
{
    const struct ctf_stream_out *other = missing->stream;
    const struct ctf_stream_decoder *ctx = stream->kind->source,
                                    *source = other ? other->kind->source : NULL;
    return other && other->number == stream->number &&
           (ctx ? ctx->first : NULL) == (source ? source->first : NULL);
}

bool ctf_pending_gaps_have_counters(const struct ctf_pending_gaps *missing,
                                    const struct ctf_stream_out *stream)
{
    return (missing->events && (is_rfc_stream(stream) || stream->kind->has_discarded)) ||
           (missing->packets && (is_rfc_stream(stream) || stream->kind->has_sequence));
}

static void clear_pending_gaps(struct ctf_pending_gaps *missing)
{
    *missing = (struct ctf_pending_gaps){.stream = missing->stream};
}

/* Counts all pending gaps as lost, and sets them to zero. */
static void count_gaps_as_lost(struct ttr_writer *out, struct ctf_pending_gaps *missing,
                               uint64_t offset)
{
    output_count_losses(out, CTF_LOST_EVENTS, missing->events, offset);
    output_count_losses(out, CTF_LOST_PACKETS, missing->packets, offset);
    output_count_losses(out, CTF_LOST_GAP, missing->unknown, offset);
    clear_pending_gaps(missing);
}

/* --- Counters of packets --- */

/* Returns true if readers treat the two stream classes as one: they are the same, or have equal ids
 * in two folders of one trace. */
static bool is_same_stream_class(const struct ctf_stream_out *a, const struct ctf_stream_out *b)
{
    return a->kind == b->kind || (a->trace->joined && a->trace->joined == b->trace->joined &&
                                  a->kind->class->id == b->kind->class->id);
}

/* Returns the file before `stream` that contains the same data stream, by class and stream number.
 * Returns NULL if there is none; always NULL in v1.1. */
static struct ctf_stream_out *find_preceding_file(const struct ctf_writer *w,
                                                  const struct ctf_stream_out *stream)
{
    if (is_rfc_stream(stream) || !stream->trace->has_numbers)
        return NULL;
    for (size_t i = w->streams_n; i-- > 0;) {
        struct ctf_stream_out *other = w->streams[i];
        if (other != stream && is_same_stream_class(other, stream) &&
            other->number == stream->number && other->packet_at)
            return other;
    }
    return NULL;
}

/* Returns true if the source file contains only packets of this data stream, by stream class and
 * stream number. */
static bool source_has_data_stream(const struct ctf_stream_out *stream, uint16_t source)
{
    const struct ctf_trace *trace = stream->trace->source;
    const size_t at = trace ? (size_t)source - trace->readers_from : 0;
    const struct ctf_reader *reader = trace && at < trace->readers_n ? trace->readers[at] : NULL;
    if (!reader || !reader->file_index || (reader->reads_all_queues && reader->file_index->n > 1))
        return false;
    const struct ctf_packet_queue *queue =
        &reader->file_index->queue[reader->reads_all_queues ? 0 : reader->queue];
    return queue->has_number && queue->number == stream->number && stream->kind->source &&
           queue->kind == stream->kind->source->first;
}

static void move_pending_gaps(struct ctf_pending_gaps *to, struct ctf_pending_gaps *from)
{
    bool is_earlier =
        !ctf_pending_gaps_have_count(to) || (from->has_ticks && from->ticks < to->ticks);
    if (is_earlier) {
        to->has_ticks = from->has_ticks;
        to->ticks = from->ticks;
    }
    to->events += from->events;
    to->packets += from->packets;
    to->unknown += from->unknown;
    to->has_mixed_times = true;
    clear_pending_gaps(from);
}

/* Moves pending gaps of the same data stream to `missing`: from source files without an output
 * file, before this file and, if it is the last, after it. */
static void collect_gaps_of_stream(struct ctf_writer *w, const struct ctf_stream_out *stream,
                                   struct ctf_pending_gaps *missing)
{
    for (size_t i = 0; i < w->missing_n; i++) {
        struct ctf_pending_gaps *other = &w->missing[i];
        if (other != missing && !other->stream && ctf_pending_gaps_have_count(other) &&
            source_has_data_stream(stream, (uint16_t)i))
            move_pending_gaps(missing, other);
    }
}

/* Continues the counters of the file `before`, and moves the pending gap after its last packet to
 * `missing`. */
static void continue_stream_counters(struct ctf_writer *w, struct ctf_stream_out *stream,
                                     struct ctf_stream_out *before,
                                     struct ctf_pending_gaps *missing)
{
    struct ctf_pending_gaps *tail =
        before->source < w->missing_n ? &w->missing[before->source] : NULL;
    if (tail && tail != missing && tail->stream == before)
        move_pending_gaps(missing, tail);
    before->is_continued = true;
    stream->sequence = before->sequence + before->is_open;
    stream->discarded = before->discarded;
}

static void clear_implied_gap(struct ctf_stream_out *stream, struct ctf_pending_gaps *missing)
{
    missing->unknown--;
    stream->counts_to_end = stream_counts_discarded_to_end(stream);
}

/* Sets the first counters of a stream that does not continue another file. If they show that
 * events are missing, subtracts one from the gaps of unknown size. Returns true if an empty packet
 * must come first. */
static bool init_stream_counters(struct ctf_stream_out *stream,
                                 const struct ctf_first_packet *first,
                                 struct ctf_pending_gaps *missing)
{
    const uint64_t following = ctf_pending_gaps_have_count(missing) ? missing->packets + 1 : 0;
    const uint64_t sequence = first->is_continuation ? following : first->about->sequence,
                   discarded = first->is_continuation ? missing->events : first->about->discarded;
    const bool is_reported =
        /* readers compare the counter of packet 0 with 0, so it can report the complete gap */
        sequence == 0 && discarded == missing->events;
    const bool needs_lead = missing->packets || (missing->events && !is_reported);
    stream->sequence = !needs_lead                   ? sequence
                       : sequence > missing->packets ? sequence - missing->packets - 1
                                                     : 0;
    stream->discarded = discarded > missing->events ? discarded - missing->events : 0;
    if (missing->unknown && stream->discarded && (stream->sequence || !first->about->has_sequence))
        clear_implied_gap(stream, missing);
    return needs_lead;
}

bool ctf_pending_gaps_start_stream(struct ttr_writer *out, struct ctf_stream_out *stream,
                                   const struct ctf_first_packet *first,
                                   struct ctf_pending_gaps *missing)
{
    struct ctf_writer *w = out->ctx;
    struct ctf_stream_out *before = first->is_continuation ? find_preceding_file(w, stream) : NULL;
    if (ctf_pending_gaps_are_in_other_stream(missing, stream))
        return false;
    if (first->is_continuation)
        collect_gaps_of_stream(w, stream, missing);
    if (!before)
        return init_stream_counters(stream, first, missing);
    continue_stream_counters(w, stream, before, missing);
    return false;
}

/* --- Times of gaps --- */

/* Converts a time in nanoseconds to ticks of a transcoded stream. */
static uint64_t ns_to_stream_ticks(const struct ctf_stream_out *stream, int64_t time)
{
    const struct ctf_trace_out *trace = stream->trace;
    const struct ctf_timeline *line = &stream->kind->source->timeline;
    if (trace->keeps_clocks)
        return ctf_ns_to_ticks(line, (int64_t)((uint64_t)time - (uint64_t)trace->moved));
    return time < trace->base ? 0 : (uint64_t)time - (uint64_t)trace->base;
}

/* Readers derive the times of a gap from two packets. It starts at the end of the packet before
 * it. It ends at the end of the packet that reports it; gaps of packets, and all gaps in v1.1, end
 * at the start of that packet. The time of the gap is part of the reporting packet, which is empty
 * if no events happened then. */
bool ctf_pending_gaps_find_times(const struct ctf_pending_gaps *missing,
                                 const struct ctf_stream_out *stream, uint64_t ticks,
                                 struct ctf_gap_times *place)
{
    if (missing->has_mixed_times || !stream->kind->source)
        return false;
    const uint64_t until =
        stream->is_open ? (stream->end > stream->last ? stream->end : stream->last) : 0;
    const uint64_t packets_end =
        missing->packets ? ns_to_stream_ticks(stream, missing->packets_end) : 0;
    const uint64_t events_end =
        missing->events ? ns_to_stream_ticks(stream, missing->events_end) : 0;
    const bool is_to_end = missing->events && stream_counts_discarded_to_end(stream);
    *place = (struct ctf_gap_times){.before = ns_to_stream_ticks(stream, missing->begin),
                                    .end = is_to_end ? events_end : 0};
    place->is_alone = is_to_end && events_end < ticks;
    place->begin = missing->packets ? packets_end
                   : is_to_end      ? (place->is_alone ? events_end : ticks)
                                    : events_end;
    if (place->before < until || place->begin > ticks || (is_to_end && place->begin > place->end))
        return false;
    return !missing->packets || is_to_end || !missing->events || events_end == packets_end;
}

void ctf_pending_gaps_store_counters(struct ttr_writer *out, struct ctf_stream_out *stream,
                                     struct ctf_pending_gaps *missing, uint64_t offset)
{
    if (is_rfc_stream(stream) || stream->kind->has_discarded) {
        stream->counts_to_end |= missing->events && stream_counts_discarded_to_end(stream);
        stream->discarded += missing->events;
        missing->events = 0;
    }
    if (is_rfc_stream(stream) || stream->kind->has_sequence) {
        stream->sequence += missing->packets;
        missing->packets = 0;
    }
    count_gaps_as_lost(out, missing, offset);
    missing->stream = stream;
}

/* --- Gaps at the end of streams --- */

/* For each data stream, adds the gaps of source files after the last file with output. */
static void collect_gaps_of_last_files(struct ctf_writer *w)
{
    for (size_t i = 0; i < w->missing_n; i++)
        if (w->missing[i].stream && !w->missing[i].stream->is_continued)
            collect_gaps_of_stream(w, w->missing[i].stream, &w->missing[i]);
}

/* Starts an empty packet at the end of a stream. Its counters report the gap after the last packet.
 */
static ttr_status write_final_gap(struct ttr_writer *out, struct ctf_stream_out *stream,
                                  struct ctf_pending_gaps *missing, ttr_error *error)
{
    struct ctf_gap_times place;
    const bool has_place = ctf_pending_gaps_find_times(missing, stream, UINT64_MAX, &place);
    if (has_place)
        stream->end = place.before;
    else if (missing->events)
        output_count_loss(out, CTF_LOST_GAP_TIME, 0);
    ttr_status status =
        ctf_stream_start_empty_packet(stream, out, has_place ? &place.begin : NULL, error);
    if (has_place)
        stream->end = place.end;
    ctf_pending_gaps_store_counters(out, stream, missing, 0);
    return status;
}

static ttr_status finish_source_gaps(struct ttr_writer *out, uint16_t source, ttr_error *error)
{
    const struct ctf_writer *w = out->ctx;
    struct ctf_pending_gaps *missing = &w->missing[source];
    struct ctf_stream_out *stream = missing->stream;
    ttr_status status = TTR_OK;
    bool has_counters = stream && (is_rfc_stream(stream) || stream->kind->has_discarded ||
                                   stream->kind->has_sequence);
    if (ctf_pending_gaps_have_count(missing) && has_counters && !stream->is_continued)
        status = write_final_gap(out, stream, missing, error);
    count_gaps_as_lost(out, missing, 0);
    return status;
}

ttr_status ctf_pending_gaps_finish(struct ttr_writer *out, ttr_error *error)
{
    struct ctf_writer *w = out->ctx;
    ttr_status status = TTR_OK;
    collect_gaps_of_last_files(w);
    for (size_t i = 0; i < w->missing_n && status == TTR_OK; i++)
        status = finish_source_gaps(out, (uint16_t)i, error);
    return status;
}
