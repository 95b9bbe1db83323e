/* The state "inside a packet" of the reader (ctf_read.c describes the state machine). Calls the
 * event loops of ctf_events.c, and handles the reasons for which they stop: end of the window, end
 * of the content, invalid events. */
#include "base/status.h"
#include "formats/ctf/read/ctf_read_step.h"
#include "formats/ctf/read/ctf_resync.h"
#include "formats/ctf/read/ctf_salvage.h"
#include "formats/ctf/read/rfc11_read.h"

#define MOVE_BYTES ((size_t)1024)

void ctf_record_packet_end(struct ctf_reader *reader, const struct ctf_stream_decoder *kind,
                           const struct ctf_packet *packet)
{
    bool is_clamped = false;
    if (packet->has_begin)
        reader->packet_end = ctf_ticks_to_ns(
            &kind->timeline, packet->has_end ? packet->end : packet->begin, &is_clamped);
}

enum ctf_step ctf_advance_to_next_packet(struct ctf_reader *reader, const struct ctf_packet *packet,
                                         uint64_t offset, uint64_t from, bool is_mine)
{
    const bool is_resized = reader->frame.is_resized;
    const uint64_t declared = is_resized ? reader->frame.declared_size : packet->size,
                   next = offset + packet->size / 8;
    reader->next = ctf_next_packet_offset(reader, from, next);
    reader->previous_size = reader->next - offset;
    reader->reports_cut = is_mine;
    if (reader->next == next && !is_resized)
        return STEP_GO;
    reader->is_damaged = true;
    if (reader->is_size_reported || !is_mine)
        return STEP_GO;
    from = from < reader->next ? from : reader->next;
    return ctf_step_from_status(
        reader,
        input_add_damage(reader->in, from, reader->next - from, "ctf.bad-size", reader->error,
                         "%s: the packet at byte %llu declares %llu %s, but %s "
                         "after %llu bytes: reading continues there",
                         reader->file, (unsigned long long)offset,
                         (unsigned long long)(declared % 8 ? declared : declared / 8),
                         declared % 8 ? "bits" : "bytes",
                         reader->next < source_end_offset(reader->in->source) ? "another one starts"
                                                                              : "the file ends",
                         (unsigned long long)reader->previous_size));
}

/* Reports a packet in which the last event is later than the packet's end time. Such an event is
 * missing if the user selects a time range that starts long after the packet
 * (ctf_find_entry_point). */
static void report_late_event(struct ctf_reader *reader, const struct ctf_packet *packet)
{
    /* RFC v1.1 has a function of its own for this, rfc11_report_late_event */
    const bool has_times = reader->stream->kind->plan.has_time && packet->has_end &&
                           reader->events_read && !ctf_reader_is_rfc11(reader);
    if (has_times && reader->ticks > packet->end && packet->end >= packet->begin &&
        !reader->trace->class->quirks.event_after_packet)
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, packet->offset, "ctf.late-event",
                             "an event of %s is later than its packet's end", reader->file);
}

static enum ctf_step leave_packet(struct ctf_reader *reader)
{
    struct ctf_packet *packet = &reader->packets[reader->slot];
    const bool was_unpacked = reader->is_unpacked;
    reader->is_inside = false;
    if (ctf_reader_is_rfc11(reader))
        rfc11_report_late_event(reader);
    ctf_update_counters(ctf_get_counters(reader->stream), packet);
    if (reader->events_read)
        ctf_record_packet_end(reader, reader->stream->kind, packet);
    report_late_event(reader, packet);
    uint64_t here = reader->offset + (reader->bits.at + (reader->is_lost ? 0 : 7)) /
                                         /* if is_lost, the search for the next packet starts at the
                                          * byte of the first unread bit */
                                         8;
    enum ctf_step step = STEP_GO;
    if (packet->size == UINT64_MAX)
        reader->next = here;
    else
        step = ctf_advance_to_next_packet(
            reader, packet, packet->offset,
            was_unpacked ? packet->offset + (reader->frame.packet.content + 7) / 8 : here, true);
    reader->packet_i++;
    uint64_t n = reader->next - packet->offset;
    bool is_shown = reader->is_encoded ? reader->next <= source_end_offset(reader->in->source)
                                       : ctf_window_bytes_from(reader, packet->offset) >= n;
    reader->is_copied = reader->in->flags & TTR_READ_DEFINITIONS &&
                        (!reader->is_damaged || reader->is_sealed) && is_shown && n <= CTF_COPY_MAX;
    return step;
}

enum ctf_step ctf_move_window(struct ctf_reader *reader)
{
    struct input *in = reader->in;
    if (in->n)
        return STEP_HOLD;
    uint64_t shift = reader->bits.at >> reader->stream->kind->step << reader->stream->kind->step,
             had = ctf_window_bytes_from(reader, reader->offset + shift / 8);
    uint64_t need = had + (had > MOVE_BYTES ? had : MOVE_BYTES);
    if (had > in->max_record) {
        reader->run.member = NULL;
        const ttr_status lost = ctf_report_bad_event(
            reader, "ctf.too-large", "an event is larger than ttr_read_options.max_record");
        return lost == TTR_OK ? leave_packet(reader)
                              : ctf_step_from_status(reader, error_set_option(reader->error,
                                                                              reader->error->status,
                                                                              "max_record"));
    }
    ttr_status status = input_fill(in, reader->offset + shift / 8, (size_t)need, reader->error);
    if (status != TTR_OK)
        return ctf_step_from_status(reader, status);
    struct ctf_packet *packet = &reader->packets[reader->slot];
    reader->offset += shift / 8;
    reader->bits = bits_init(in->window.bytes + (reader->offset - in->window.offset),
                             reader->bits.at - shift, 0);
    reader->content_end -= reader->content_end == UINT64_MAX ? 0 : shift;
    packet->base = reader->bits.base;
    packet->base_bit += shift;
    packet->content_end = reader->content_end;
    return STEP_GO;
}

/* Returns true if the unread bits are zeros that fill the last byte. They follow the last event if
 * the content size was rounded up to bytes. */
static bool is_byte_padding(const struct ctf_reader *reader)
{
    const struct bits *bits = &reader->bits;
    uint64_t left = bits->end > bits->at ? bits->end - bits->at : 0;
    if (!reader->frame.is_rounded || left == 0 || left >= 8 || bits->end % 8)
        return false;
    unsigned last = bits->base[bits->end / 8 - 1];
    /* the unread bits are the high bits of the byte in little-endian order, the low bits in
     * big-endian order */
    return last >> (8 - left) == 0 || (last & ((1u << left) - 1)) == 0;
}

/* Called if the next event extends past the content or the window. Moves the window, leaves the
 * packet, or reports a truncated event. */
static enum ctf_step move_window_or_leave_packet(struct ctf_reader *reader)
{
    struct input *in = reader->in;
    uint64_t mask = (UINT64_C(1) << reader->stream->kind->plan.align) - 1,
             begin = (reader->bits.at + mask) & ~mask;
    bool is_content = reader->bits.end == reader->content_end;
    if (!is_content && !in->window.at_end)
        return ctf_move_window(reader);
    if ((begin >= reader->bits.end || is_byte_padding(reader)) &&
        (is_content || reader->packets[reader->slot].size == UINT64_MAX)) {
        if (!is_content)
            reader->bits.at = reader->bits.end;
        return leave_packet(reader);
    }
    ttr_status status;
    if (is_content)
        status = ctf_report_bad_event(reader, "ctf.cut-event",
                                      "an event exceeds the content of its packet");
    else
        status = ctf_report_bad_event(reader, "ctf.cut", "the file ends inside a packet");
    return status == TTR_OK ? leave_packet(reader) : ctf_step_from_status(reader, status);
}

/* Skips an event that cannot be decoded. RFC v1.1 stores event sizes, so only this event is
 * skipped; otherwise the rest of the packet. */
static enum ctf_step skip_bad_event(struct ctf_reader *reader, const char *code, const char *what)
{
    switch (ctf_reader_is_rfc11(reader) ? rfc11_skip_event(reader, code, what)
                                        : RFC11_NOT_SKIPPED) {
    case RFC11_SKIPPED:
        return ctf_step_from_status(reader, reader->status);
    case RFC11_IS_CUT:
        return ctf_move_window(reader);
    case RFC11_NOT_SKIPPED:
        break;
    }
    ttr_status status = ctf_report_bad_event(reader, code, what);
    return status == TTR_OK ? leave_packet(reader) : ctf_step_from_status(reader, status);
}

enum ctf_step ctf_read_packet_events(struct ctf_reader *reader)
{
    uint64_t shown = reader->is_unpacked ? reader->content_end
                                         : ctf_window_bytes_from(reader, reader->offset) * 8;
    reader->bits.end = shown < reader->content_end ? shown : reader->content_end;
    const uint32_t before = reader->in->n;
    enum ctf_stop_reason stop = ctf_read_events(reader);
    ttr_status status = ctf_skip_damaged_events(reader, before, &stop);
    if (status != TTR_OK)
        return ctf_step_from_status(reader, status);
    switch (stop) {
    case CTF_STOP_FULL:
        return STEP_GO;
    case CTF_STOP_FAILED:
        return ctf_step_from_status(reader, reader->status);
    case CTF_STOP_EDGE:
        return move_window_or_leave_packet(reader);
    case CTF_STOP_NAMES:
        return STEP_HOLD;
    case CTF_STOP_ZERO:
        if (!ctf_ends_with_zeros(&reader->frame))
            status =
                ctf_report_bad_event(reader, "ctf.empty-event",
                                     "an event has no bits, so the number of events is unlimited");
        break;
    case CTF_STOP_UNKNOWN:
        return skip_bad_event(reader, "ctf.unknown-event",
                              "the metadata declares no event of this id");
    case CTF_STOP_CLASS:
        return skip_bad_event(reader, "ctf.unknown-event", reader->why);
    case CTF_STOP_BAD:
        return skip_bad_event(reader, "ctf.bad-event", "a length or selector is invalid");
    }
    return status == TTR_OK ? leave_packet(reader) : ctf_step_from_status(reader, status);
}
