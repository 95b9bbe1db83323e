/* What a stream says is missing: counters of discarded events, numbers of packets.
 *
 * CTF 1.8 and 2: the counter stands for the end of its packet, so events are missing between the
 * end of the packet before and that of this one. RFC: it stands for the packet's begin (docs,
 * decision 10), unless the metadata say that it does not (decision 54).  A first counter that is
 * not 0 tells of events lost before, how many of them in this trace nobody knows unless the packet
 * is the stream's very first. */
#include "formats/ctf/read/ctf_resync.h"

static uint64_t difference(uint64_t now, uint64_t before, unsigned width)
{
    return (now - before) & (UINT64_MAX >> (64 - (width ? width : 64)));
}

static void give_gap(struct ctf_reader *reader, ttr_gap tag, uint64_t count)
{
    const struct ctf_packet *packet = &reader->packets[reader->slot];
    const struct ctf_counters *before = ctf_counters_of(reader->stream);
    const struct ctf_timeline *line = &reader->stream->kind->timeline;
    const bool ends_behind =
        tag == TTR_GAP_EVENTS && ctf_discarded_is_at_end(&reader->trace->class->description);
    bool is_clamped = false;
    int64_t begin =
        packet->has_begin ? ctf_ticks_to_ns(line, packet->begin, &is_clamped) : reader->time;
    int64_t end =
        packet->has_end && ends_behind ? ctf_ticks_to_ns(line, packet->end, &is_clamped) : begin;
    int64_t from = before->has_end ? ctf_ticks_to_ns(line, before->end, &is_clamped) : begin;
    /* Events of this packet may not be earlier than the gap before them. */
    from = from < begin ? from : begin;
    from = from > reader->time ? from : reader->time;
    ttr_event *event = input_add_event(reader->in);
    event->kind = TTR_KIND_GAP;
    event->tag = (uint16_t)tag;
    event->link = tag == TTR_GAP_EVENTS ? count : 0;
    if (tag == TTR_GAP_PACKETS)
        event->sequence = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
    bool is_far = false;
    const int64_t zero = ctf_ticks_to_ns(line, 0, &is_far); /* no event of the stream is earlier */
    event->time = from > INT64_MIN ? from : zero < 0 ? zero : 0;
    event->duration = end > from && from > INT64_MIN
                          ? (uint64_t)end - (uint64_t)from
                          : 0; /* from nobody knows when: as long as nothing */
    event->track = reader->stream->track;
    event->offset = packet->offset;
    event->ticks = before->has_end ? before->end : packet->begin;
    if (is_clamped)
        event->flags |= TTR_EVENT_CLAMPED;
    if (!packet->has_begin || !packet->has_end)
        event->flags |= TTR_EVENT_NO_TIME;
    reader->time = event->time;
}

static void give_events_gap(struct ctf_reader *reader)
{
    const struct ctf_packet *packet = &reader->packets[reader->slot];
    const struct ctf_counters *before = ctf_counters_of(reader->stream);
    if (!packet->has_discarded || reader->trace->class->is_dialect) /* which has events for gaps */
        return;
    if (before->is_there && before->has_discarded) {
        const unsigned width = reader->frame.discarded_width ? reader->frame.discarded_width : 64;
        const uint64_t lost = difference(packet->discarded, before->discarded, width);
        if (packet->discarded < before->discarded &&
            lost >> (width - 1)) /* it did not wrap: it went back */
            input_add_diagnostic(
                reader->in, TTR_SEVERITY_ODD, packet->offset, "ctf.discarded-order",
                "the counter of discarded events of %s goes from %llu back to %llu: how "
                "many are missing there is not known",
                reader->file, (unsigned long long)before->discarded,
                (unsigned long long)packet->discarded);
        else if (lost)
            give_gap(reader, TTR_GAP_EVENTS, lost);
        return;
    }
    bool is_first = packet->has_sequence && packet->sequence == 0;
    if (packet->discarded && !reader->stream->is_entered_late)
        give_gap(reader, TTR_GAP_EVENTS, is_first ? packet->discarded : 0);
}

static void give_packets_gap(struct ctf_reader *reader)
{
    const struct ctf_packet *packet = &reader->packets[reader->slot];
    const struct ctf_counters *before = ctf_counters_of(reader->stream);
    if (!packet->has_sequence || !before->is_there || !before->has_sequence)
        return;
    uint64_t step = difference(packet->sequence, before->sequence, reader->frame.sequence_width);
    if (step == 1)
        return;
    if (step == 0 || step >> 31) {
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, packet->offset, "ctf.packet-order",
                             "packet %llu of %s follows packet %llu",
                             (unsigned long long)packet->sequence, reader->file,
                             (unsigned long long)before->sequence);
        return;
    }
    give_gap(reader, TTR_GAP_PACKETS, step - 1);
    input_add_diagnostic(reader->in, TTR_SEVERITY_REMARK, packet->offset, "ctf.packets-lost",
                         "%llu packets are missing before packet %llu of %s",
                         (unsigned long long)step - 1, (unsigned long long)packet->sequence,
                         reader->file);
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
    give_events_gap(reader);
    give_packets_gap(reader);
}
