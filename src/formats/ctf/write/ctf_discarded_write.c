/* Discarded events of transcoded streams: gaps of the source become counters of the packets that
 * follow them.
 *
 * Readers see a number of discarded events only as the difference between the counters of two
 * packets. Therefore an empty packet is written before the first packet with events if events are
 * missing before it, and after the last packet if events are missing at the end:
 *
 * |  packets     | empty, count 0 | events, count 7 | ... | events, count 7 | empty, count 9 |
 * |  meaning            7 missing before                      2 missing at the end
 *
 * Sequence numbers are assigned again if packets are split or dropped, so that no other gaps
 * appear. A file that continues a stream continues the counters of the file before it. */
#include "base/status.h"
#include "formats/ctf/read/ctf_build_index.h"
#include "formats/ctf/write/ctf_write.h"

/* --- Gaps --- */

static bool is_rfc(const struct ctf_stream_out *stream)
{
    return stream->trace->description.version == CTF_RFC_1_1;
}

static bool counts_to_end(const struct ctf_stream_out *stream)
{
    return ctf_counts_to_end(&stream->trace->description);
}

struct ctf_missing *ctf_missing_of(struct ttr_writer *out, uint16_t source)
{
    struct ctf_writer *w = out->own;
    size_t before = w->missing_n;
    if (source >= before && !alloc_reserve(&out->t->counted, (void **)&w->missing, &w->missing_n,
                                           source + (size_t)1, sizeof *w->missing))
        return NULL;
    memset(w->missing + before, 0, (w->missing_n - before) * sizeof *w->missing);
    return &w->missing[source];
}

bool ctf_missing_is_known(const struct ctf_missing *missing)
{
    return missing->events || missing->packets;
}

/* Records when events and packets are missing. One gap of events and one of packets can be placed
 * if they start together, as before the same packet; any other pair sets has_no_place. */
static void keep_time(struct ctf_missing *missing, const ttr_event *event)
{
    const bool is_packets = event->tag == TTR_GAP_PACKETS,
               is_second = ctf_missing_is_known(missing);
    const uint64_t room = (uint64_t)INT64_MAX - (uint64_t)event->time;
    const int64_t end =
        event->duration < room ? (int64_t)((uint64_t)event->time + event->duration) : INT64_MAX;
    missing->has_no_place |= (event->flags & TTR_EVENT_NO_TIME) ||
                             (is_packets ? missing->packets : missing->events) ||
                             (is_second && missing->begin != event->time);
    missing->begin = event->time;
    *(is_packets ? &missing->packets_end : &missing->events_end) = end;
}

ttr_status ctf_missing_add(struct ttr_writer *out, const ttr_event *event, ttr_error *error)
{
    struct ctf_missing *missing = ctf_missing_of(out, event->source);
    if (!missing)
        return fail_memory(error);
    bool is_known = event->tag == TTR_GAP_PACKETS || event->link;
    if (is_known && !ctf_missing_is_known(missing)) {
        missing->has_ticks = !(event->flags & TTR_EVENT_NO_TIME);
        missing->ticks = event->ticks;
    }
    if (is_known)
        keep_time(missing, event);
    if (event->tag == TTR_GAP_PACKETS)
        missing->packets += event->sequence ? event->sequence : 1;
    else if (event->link)
        missing->events += event->link;
    else
        missing->unknown++;
    return TTR_OK;
}

bool ctf_missing_is_beside(const struct ctf_missing *missing, const struct ctf_stream_out *stream)
{
    const struct ctf_stream_out *other = missing->stream;
    const struct ctf_kind *own = stream->kind->source, *source = other ? other->kind->source : NULL;
    return other && other->number == stream->number &&
           (own ? own->first : NULL) == (source ? source->first : NULL);
}

bool ctf_missing_is_told(const struct ctf_missing *missing, const struct ctf_stream_out *stream)
{
    return (missing->events && (is_rfc(stream) || stream->kind->has_discarded)) ||
           (missing->packets && (is_rfc(stream) || stream->kind->has_sequence));
}

static void forget(struct ctf_missing *missing)
{
    *missing = (struct ctf_missing){.stream = missing->stream};
}

/* Counts everything that the counters cannot express as lost, and clears it. */
static void lose(struct ttr_writer *out, struct ctf_missing *missing, uint64_t offset)
{
    output_lost_many(out, CTF_LOST_EVENTS, missing->events, offset);
    output_lost_many(out, CTF_LOST_PACKETS, missing->packets, offset);
    output_lost_many(out, CTF_LOST_GAP, missing->unknown, offset);
    forget(missing);
}

/* --- Counters --- */

/* Returns true if readers see one stream class: classes with the same id in the folders of one
 * trace are one. */
static bool is_one_kind(const struct ctf_stream_out *a, const struct ctf_stream_out *b)
{
    return a->kind == b->kind || (a->trace->joined && a->trace->joined == b->trace->joined &&
                                  a->kind->class->id == b->kind->class->id);
}

/* Returns the file that this one continues, as readers see it; NULL if there is none. */
static struct ctf_stream_out *file_before(const struct ctf_writer *w,
                                          const struct ctf_stream_out *stream)
{
    if (is_rfc(stream) || !stream->trace->has_numbers)
        return NULL;
    for (size_t i = w->streams_n; i-- > 0;) {
        struct ctf_stream_out *other = w->streams[i];
        if (other != stream && is_one_kind(other, stream) && other->number == stream->number &&
            other->packet_at)
            return other;
    }
    return NULL;
}

/* Returns true if an input without written events has packets of this data stream. */
static bool is_of_stream(const struct ctf_stream_out *stream, uint16_t source)
{
    const struct ctf_trace *trace = stream->trace->source;
    const size_t at = trace ? (size_t)source - trace->readers_from : 0;
    const struct ctf_reader *reader = trace && at < trace->readers_n ? trace->readers[at] : NULL;
    if (!reader || !reader->lanes || (reader->takes_all && reader->lanes->n > 1))
        return false;
    const struct ctf_lane *lane = &reader->lanes->lane[reader->takes_all ? 0 : reader->lane];
    return lane->has_number && lane->number == stream->number && stream->kind->source &&
           lane->kind == stream->kind->source->first;
}

static void move(struct ctf_missing *to, struct ctf_missing *from)
{
    bool is_earlier = !ctf_missing_is_known(to) || (from->has_ticks && from->ticks < to->ticks);
    if (is_earlier) {
        to->has_ticks = from->has_ticks;
        to->ticks = from->ticks;
    }
    to->events += from->events;
    to->packets += from->packets;
    to->unknown += from->unknown;
    to->has_no_place = true;
    forget(from);
}

/* Adds the gaps of inputs of the same data stream from which nothing was written: they precede this
 * file, or this file is the last. */
static void gather(struct ctf_writer *w, const struct ctf_stream_out *stream,
                   struct ctf_missing *missing)
{
    for (size_t i = 0; i < w->missing_n; i++) {
        struct ctf_missing *other = &w->missing[i];
        if (other != missing && !other->stream && ctf_missing_is_known(other) &&
            is_of_stream(stream, (uint16_t)i))
            move(missing, other);
    }
}

/* Continues the counters of the file before, and adds the gap at its end. */
static void go_on(struct ctf_writer *w, struct ctf_stream_out *stream,
                  struct ctf_stream_out *before, struct ctf_missing *missing)
{
    struct ctf_missing *tail = before->source < w->missing_n ? &w->missing[before->source] : NULL;
    if (tail && tail != missing && tail->stream == before)
        move(missing, tail);
    before->is_continued = true;
    stream->sequence = before->sequence + before->is_open;
    stream->discarded = before->discarded;
}

static void tell_unknown(struct ctf_stream_out *stream, struct ctf_missing *missing)
{
    missing->unknown--;
    stream->counts_to_end = counts_to_end(stream);
}

/* Sets the first counters of a stream that continues no file. Returns true if an empty packet is
 * needed first. A gap of unknown size that the first counter implies is no longer lost. */
static bool begin_anew(struct ctf_stream_out *stream, const struct ctf_first *first,
                       struct ctf_missing *missing)
{
    const uint64_t behind = ctf_missing_is_known(missing) ? missing->packets + 1 : 0;
    const uint64_t sequence = first->goes_on ? behind : first->about->sequence,
                   discarded = first->goes_on ? missing->events : first->about->discarded;
    const bool is_told =
        /* the counter of packet 0 reports all of it */
        sequence == 0 && discarded == missing->events;
    const bool needs_lead = missing->packets || (missing->events && !is_told);
    stream->sequence = !needs_lead                   ? sequence
                       : sequence > missing->packets ? sequence - missing->packets - 1
                                                     : 0;
    stream->discarded = discarded > missing->events ? discarded - missing->events : 0;
    if (missing->unknown && stream->discarded && (stream->sequence || !first->about->has_sequence))
        tell_unknown(stream, missing);
    return needs_lead;
}

bool ctf_missing_begin(struct ttr_writer *out, struct ctf_stream_out *stream,
                       const struct ctf_first *first, struct ctf_missing *missing)
{
    struct ctf_writer *w = out->own;
    struct ctf_stream_out *before = first->goes_on ? file_before(w, stream) : NULL;
    if (ctf_missing_is_beside(missing, stream))
        return false;
    if (first->goes_on)
        gather(w, stream, missing);
    if (!before)
        return begin_anew(stream, first, missing);
    go_on(w, stream, before, missing);
    return false;
}

/* --- Times of gaps --- */

/* Converts a time in nanoseconds to ticks of a transcoded stream. */
static uint64_t ticks_at(const struct ctf_stream_out *stream, int64_t time)
{
    const struct ctf_trace_out *trace = stream->trace;
    const struct ctf_timeline *line = &stream->kind->source->timeline;
    if (trace->keeps_clocks)
        return ctf_ticks_at(line, (int64_t)((uint64_t)time - (uint64_t)trace->moved));
    return time < trace->base ? 0 : (uint64_t)time - (uint64_t)trace->base;
}

/* A gap extends from the end of the packet before it to the end of the packet whose counters report
 * it; for missing packets, and in v1.1, to the start of that packet. The reporting packet contains
 * the events of this period, so it is empty if there are none. */
bool ctf_missing_place(const struct ctf_missing *missing, const struct ctf_stream_out *stream,
                       uint64_t ticks, struct ctf_gap_place *place)
{
    if (missing->has_no_place || !stream->kind->source)
        return false;
    const uint64_t until =
        stream->is_open ? (stream->end > stream->last ? stream->end : stream->last) : 0;
    const uint64_t packets_end = missing->packets ? ticks_at(stream, missing->packets_end) : 0;
    const uint64_t events_end = missing->events ? ticks_at(stream, missing->events_end) : 0;
    const bool is_to_end = missing->events && counts_to_end(stream);
    *place = (struct ctf_gap_place){.before = ticks_at(stream, missing->begin),
                                    .end = is_to_end ? events_end : 0};
    place->is_alone = is_to_end && events_end < ticks;
    place->begin = missing->packets ? packets_end
                   : is_to_end      ? (place->is_alone ? events_end : ticks)
                                    : events_end;
    if (place->before < until || place->begin > ticks || (is_to_end && place->begin > place->end))
        return false;
    return !missing->packets || is_to_end || !missing->events || events_end == packets_end;
}

void ctf_missing_settle(struct ttr_writer *out, struct ctf_stream_out *stream,
                        struct ctf_missing *missing, uint64_t offset)
{
    if (is_rfc(stream) || stream->kind->has_discarded) {
        stream->counts_to_end |= missing->events && counts_to_end(stream);
        stream->discarded += missing->events;
        missing->events = 0;
    }
    if (is_rfc(stream) || stream->kind->has_sequence) {
        stream->sequence += missing->packets;
        missing->packets = 0;
    }
    lose(out, missing, offset);
    missing->stream = stream;
}

/* --- End of all streams --- */

/* Adds the gaps in files after the last written file of each data stream. */
static void gather_ends(struct ctf_writer *w)
{
    for (size_t i = 0; i < w->missing_n; i++)
        if (w->missing[i].stream && !w->missing[i].stream->is_continued)
            gather(w, w->missing[i].stream, &w->missing[i]);
}

/* Writes an empty packet for the gap after the last packet of a stream. */
static ttr_status finish_stream(struct ttr_writer *out, struct ctf_stream_out *stream,
                                struct ctf_missing *missing, ttr_error *error)
{
    struct ctf_gap_place place;
    const bool has_place = ctf_missing_place(missing, stream, UINT64_MAX, &place);
    if (has_place)
        stream->end = place.before;
    else if (missing->events)
        output_lost(out, CTF_LOST_WHEN, 0);
    ttr_status status = ctf_stream_enter_empty(stream, out, has_place ? &place.begin : NULL, error);
    if (has_place)
        stream->end = place.end;
    ctf_missing_settle(out, stream, missing, 0);
    return status;
}

static ttr_status end_missing(struct ttr_writer *out, uint16_t source, ttr_error *error)
{
    const struct ctf_writer *w = out->own;
    struct ctf_missing *missing = &w->missing[source];
    struct ctf_stream_out *stream = missing->stream;
    ttr_status status = TTR_OK;
    bool has_counters =
        stream && (is_rfc(stream) || stream->kind->has_discarded || stream->kind->has_sequence);
    if (ctf_missing_is_known(missing) && has_counters && !stream->is_continued)
        status = finish_stream(out, stream, missing, error);
    lose(out, missing, 0);
    return status;
}

ttr_status ctf_missing_finish(struct ttr_writer *out, ttr_error *error)
{
    struct ctf_writer *w = out->own;
    ttr_status status = TTR_OK;
    gather_ends(w);
    for (size_t i = 0; i < w->missing_n && status == TTR_OK; i++)
        status = end_missing(out, (uint16_t)i, error);
    return status;
}
