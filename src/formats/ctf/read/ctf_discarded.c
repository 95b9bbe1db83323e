/* Computes gaps (discarded events, missing packets) from the counters of a stream.
 *
 * CTF 1.8 and 2: events_discarded is the counter at the end of its packet. So the events that it
 * counts were lost between the end of the previous packet and the end of this one. RFC v1.1: it is
 * the counter at the packet's begin (src/formats/ctf/rfc-v1.1.md, decision 10), unless the
 * metadata declare otherwise (decision 54). If the first counter of a stream is not 0, events were
 * lost earlier. How many of them within this trace is only known if the packet is the stream's
 * first. */
#include "formats/ctf/read/ctf_resync.h"

static uint64_t compute_counter_difference(uint64_t now, uint64_t before, unsigned width)
{
    return (now - before) & (UINT64_MAX >> (64 - (width ? width : 64)));
}

static ttr_event *emit_gap(struct ctf_reader *reader, ttr_gap tag, uint64_t count)
{
    const struct ctf_packet *packet = &reader->packets[reader->slot];
    const struct ctf_counters *before = ctf_get_counters(reader->stream);
    const struct ctf_timeline *line = &reader->stream->kind->timeline;
    const bool is_at_end = tag == TTR_GAP_EVENTS &&
                           ctf_counts_discarded_to_packet_end(&reader->trace->class->description);
    bool is_clamped = false;
    int64_t begin =
        packet->has_begin ? ctf_ticks_to_ns(line, packet->begin, &is_clamped) : reader->time;
    int64_t end =
        packet->has_end && is_at_end ? ctf_ticks_to_ns(line, packet->end, &is_clamped) : begin;
    int64_t from = before->has_end ? ctf_ticks_to_ns(line, before->end, &is_clamped) : begin;
    /* the gap must start at or before the begin of this packet, and not before events that were
     * already returned */
    from = from < begin ? from : begin;
    from = from > reader->time ? from : reader->time;
    ttr_event *event = input_add_event(reader->in);
    event->kind = TTR_KIND_GAP;
    event->tag = (uint16_t)tag;
    event->link = tag == TTR_GAP_EVENTS ? count : 0;
    if (tag == TTR_GAP_PACKETS)
        event->sequence = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
    bool is_far = false;
    /* time of tick 0: the start if no earlier time is known, because no event of the stream is
     * earlier */
    const int64_t zero = ctf_ticks_to_ns(line, 0, &is_far);
    event->time = from > INT64_MIN ? from : zero < 0 ? zero : 0;
    event->duration = end > from && from > INT64_MIN
                          ? (uint64_t)end - (uint64_t)from
                          /* the start of the gap is unknown, so its duration is, too */
                          : 0;
    event->track = reader->stream->track;
    event->offset = packet->offset;
    event->ticks = before->has_end ? before->end : packet->begin;
    if (is_clamped)
        event->flags |= TTR_EVENT_CLAMPED;
    if (!packet->has_begin || !packet->has_end)
        event->flags |= TTR_EVENT_NO_TIME;
    reader->time = event->time;
    return event;
}

static void emit_discarded_gap(struct ctf_reader *reader)
{
    const struct ctf_packet *packet = &reader->packets[reader->slot];
    const struct ctf_counters *before = ctf_get_counters(reader->stream);
    /* traces that follow the CTF conventions store each gap as an event */
    if (!packet->has_discarded || reader->trace->class->has_conventions)
        return;
    if (before->is_there && before->has_discarded) {
        const unsigned width = reader->frame.discarded_width ? reader->frame.discarded_width : 64;
        const uint64_t lost =
            compute_counter_difference(packet->discarded, before->discarded, width);
        /* a difference of more than half of the counter's range means that the counter was
         * decreased */
        if (packet->discarded < before->discarded && lost >> (width - 1))
            input_add_diagnostic(
                reader->in, TTR_SEVERITY_ODD, packet->offset, "ctf.discarded-order",
                "the counter of discarded events of %s goes from %llu back to %llu: the "
                "number of missing events is unknown",
                reader->file, (unsigned long long)before->discarded,
                (unsigned long long)packet->discarded);
        else if (lost)
            (void)emit_gap(reader, TTR_GAP_EVENTS, lost);
        return;
    }
    bool is_first = packet->has_sequence && packet->sequence == 0;
    if (packet->discarded && !reader->stream->is_entered_late)
        (void)emit_gap(reader, TTR_GAP_EVENTS, is_first ? packet->discarded : 0);
}

static void emit_missing_packets_gap(struct ctf_reader *reader)
{
    const struct ctf_packet *packet = &reader->packets[reader->slot];
    const struct ctf_counters *before = ctf_get_counters(reader->stream);
    if (!packet->has_sequence || !before->is_there || !before->has_sequence)
        return;
    uint64_t step = compute_counter_difference(packet->sequence, before->sequence,
                                               reader->frame.sequence_width);
    if (step == 1)
        return;
    if (step == 0 || step >> 31) {
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, packet->offset, "ctf.packet-order",
                             "packet %llu of %s follows packet %llu",
                             (unsigned long long)packet->sequence, reader->file,
                             (unsigned long long)before->sequence);
        return;
    }
    (void)emit_gap(reader, TTR_GAP_PACKETS, step - 1);
    input_add_diagnostic(reader->in, TTR_SEVERITY_REMARK, packet->offset, "ctf.packets-lost",
                         "%llu packets are missing before packet %llu of %s",
                         (unsigned long long)step - 1, (unsigned long long)packet->sequence,
                         reader->file);
}

/* Emits the losses of a receiver, once per trace, at the first packet of its first file: gaps
 * without a number of events, because the packet numbers have them. */
static void emit_receiver_gaps(struct ctf_reader *reader)
{
    const struct ctf_trace *trace = reader->trace;
    if (reader->in->id != trace->thread_source || reader->packets[reader->slot].offset != 0)
        return;
    for (size_t i = 0; i < sizeof trace->loss_names / sizeof *trace->loss_names; i++) {
        ttr_event *event = trace->loss_names[i] ? emit_gap(reader, TTR_GAP_EVENTS, 0) : NULL;
        if (!event)
            continue;
        event->name = trace->loss_names[i];
        event->flags |= TTR_EVENT_NO_TIME;
    }
}

void ctf_update_counters(struct ctf_counters *before, const struct ctf_packet *packet)
{
    *before = (struct ctf_counters){.is_there = true,
                                    .has_sequence = packet->has_sequence,
                                    .has_discarded = packet->has_discarded,
                                    .has_end = packet->has_end,
                                    .sequence = packet->sequence,
                                    .discarded = packet->discarded,
                                    .end = packet->end};
}

void ctf_emit_gaps(struct ctf_reader *reader)
{
    emit_discarded_gap(reader);
    emit_missing_packets_gap(reader);
    emit_receiver_gaps(reader);
}
