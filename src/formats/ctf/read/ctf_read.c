/* Reader of one stream file: a state machine over packets and the events in them.
 *
 * ctf_read_batch fills one batch. It alternates between two states:
 *
 * |  read_between_packets --header ok--> enter_packet --> ctf_read_packet_events
 * |      ^    |                                                |
 * |      |    +--damage--> search_next_packet                  | end of content, or damage
 * |      +---------------- leave_packet <----------------------+
 *
 * Each function returns an enum ctf_step. Invariant: events in the batch point into the window, so
 * the window only moves while the batch is empty (model/input.h). A function that needs a move
 * while events are pending returns STEP_HOLD; the batch is then returned first, and the same
 * function is called again. Therefore a function must not change state before it may return
 * STEP_HOLD.
 *
 * Inside a packet the window moves by multiples of 64 bytes from the packet's start, or of 4,096 if
 * a type needs such an alignment. So addresses keep the alignment of bit offsets.
 *
 * Offsets: reader->next is the file offset of the next packet; reader->offset is that of bits.base.
 * Cost: one call of enter_packet and leave_packet per packet; events are read by ctf_events.c.
 *
 * Left out: the state inside a packet (ctf_read_packet.c), events (ctf_events.c), the choice of
 * packets by time (ctf_time_range.c), repair of sizes (ctf_size_repair.c), the search after damage
 * (ctf_resync.c), additions for RFC v1.1 (rfc11_read.c). */
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "formats/ctf/read/ctf_read_step.h"
#include "formats/ctf/read/ctf_time_range.h"
#include "formats/ctf/read/ctf_resync.h"
#include "formats/ctf/read/ctf_build_index.h"
#include "formats/ctf/read/ctf_salvage.h"
#include "formats/ctf/read/rfc11_read.h"

/* bytes that are loaded before a packet header is parsed; most headers with their context are
 * smaller */
#define HEAD_BYTES ((size_t)128)
#define HEAD_MAX ((size_t)16 << 20)
/* events that may precede those of a packet in a batch: a stream definition and four gaps */
#define EVENTS_BEFORE 5u

static bool is_offset_in_window(const struct ctf_reader *reader, uint64_t offset)
{
    const struct window *window = &reader->in->window;
    return offset >= window->offset && offset - window->offset <= window->n;
}

/* Moves the window so that it contains `need` bytes from `offset` on, or fewer at the end of the
 * input. */
static enum ctf_step fill_window_to(struct ctf_reader *reader, uint64_t offset, uint64_t need)
{
    struct input *in = reader->in;
    if (is_offset_in_window(reader, offset) &&
        (ctf_window_bytes_from(reader, offset) >= need || in->window.at_end))
        return STEP_GO;
    if (in->n)
        return STEP_HOLD;
    return ctf_step_from_status(reader, input_fill(in, offset, (size_t)need, reader->error));
}

static const uint8_t *get_window_bytes(const struct ctf_reader *reader, uint64_t offset)
{
    return reader->in->window.bytes + (offset - reader->in->window.offset);
}

/* Returns the bytes of the next packet, at reader->next, that are in the window. */
static struct bits get_bits_of_next_packet(const struct ctf_reader *reader)
{
    return bits_init(get_window_bytes(reader, reader->next), 0,
                     ctf_window_bytes_from(reader, reader->next) * 8);
}

/* --- Definition events, for copies of packets --- */

static void emit_definition_event(struct ctf_reader *reader, struct ctf_stream *stream,
                                  enum ctf_definition tag)
{
    ttr_event *event = input_add_event(reader->in);
    event->kind = TTR_KIND_DEFINITION;
    event->flags = TTR_EVENT_RAW;
    event->tag = (uint16_t)tag;
    event->schema = stream->schema->id;
    event->track = stream->track;
    event->time = reader->time == INT64_MIN ? 0 : reader->time;
    event->offset = reader->next;
    event->payload = reader->in->window.bytes;
    event->part = reader->slot;
}

static enum ctf_step emit_packet_definition(struct ctf_reader *reader)
{
    const struct ctf_packet *packet = &reader->packets[reader->slot];
    if (reader->in->n == reader->in->batch)
        return STEP_HOLD;
    reader->is_copied = false;
    emit_definition_event(reader, reader->stream, CTF_DEFINITION_PACKET);
    ttr_event *event = &reader->in->events[reader->in->n - 1];
    event->offset = packet->offset;
    event->payload = reader->is_encoded ? NULL : get_window_bytes(reader, packet->offset);
    event->payload_size = reader->is_encoded ? 0 : (uint32_t)(reader->next - packet->offset);
    event->link = reader->events_read;
    return STEP_GO;
}

/* --- State between two packets --- */

/* Ends the input, and reports an incomplete last packet. If the file had no packets, first emits
 * the stream definition and returns STEP_GO; the caller then calls again. */
static enum ctf_step finish_stream_file(struct ctf_reader *reader)
{
    const uint64_t end = source_end_offset(reader->in->source);
    if (reader->next > end && !reader->is_cut_reported && reader->reports_cut) {
        reader->is_cut_reported = true;
        ttr_status status =
            input_add_damage(reader->in, end, 0, "ctf.cut", reader->error,
                             "%s ends inside a packet: %llu bytes of it are missing", reader->file,
                             (unsigned long long)(reader->next - end));
        if (status != TTR_OK)
            return ctf_step_from_status(reader, status);
    }
    if (!(reader->in->flags & TTR_READ_DEFINITIONS) || reader->is_stream_defined)
        return STEP_END;
    struct ctf_stream *stream = ctf_get_stream(reader, &(struct ctf_frame){.kind = NULL});
    if (!stream)
        return ctf_step_from_status(reader, fail_memory(reader->error));
    reader->is_stream_defined = true;
    emit_definition_event(reader, stream, CTF_DEFINITION_STREAM);
    return STEP_GO;
}

/* Skips the last bytes of the file, which are too few for a packet's header and context. Reports
 * them as damage, or as a remark if all are zero. */
static enum ctf_step skip_file_tail(struct ctf_reader *reader)
{
    struct input *in = reader->in;
    uint64_t from = reader->next, n = ctf_window_bytes_from(reader, from);
    const uint8_t *p = get_window_bytes(reader, from);
    reader->next = from + n;
    if (reader->queue) /* only the input of the first queue reports bytes outside of packets */
        return STEP_GO;
    if (ctf_is_all_zero(p, (size_t)n)) {
        input_add_diagnostic(in, TTR_SEVERITY_REMARK, from, "ctf.zeros",
                             "%llu zero bytes in %s are not a packet", (unsigned long long)n,
                             reader->file);
        return STEP_GO;
    }
    return ctf_step_from_status(
        reader, input_add_damage(in, from, n, "ctf.cut-header", reader->error,
                                 "%s ends inside the header of a packet, with %llu byte%s of it",
                                 reader->file, (unsigned long long)n, n == 1 ? "" : "s"));
}

/* Searches for the next packet after a bad header, since its sizes cannot be trusted. */
static enum ctf_step search_next_packet(struct ctf_reader *reader, const struct ctf_frame *frame)
{
    uint64_t from = reader->next;
    bool is_zero;
    if (reader->in->n)
        return STEP_HOLD;
    ttr_status status = ctf_search_packet(reader, reader->is_lost ? from : from + 1,
                                          /* the search starts after an event, not after a bad
                                           * header, so a packet may start at its first byte
                                           * (is_lost) */
                                          &is_zero);
    if (status != TTR_OK)
        return ctf_step_from_status(reader, status);
    uint64_t n = reader->next - from;
    reader->is_lost = false;
    if (reader->queue) /* only the input of the first queue reports bytes outside of packets */
        return STEP_GO;
    if (n == 0) {
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_ODD, from, "ctf.no-size",
            "packets of %s follow packets without a size: each is assumed to end where the "
            "next one starts",
            reader->file);
        return STEP_GO;
    }
    if (is_zero) {
        input_add_diagnostic(reader->in, TTR_SEVERITY_REMARK, from, "ctf.zeros",
                             "%llu zero bytes in %s are not a packet", (unsigned long long)n,
                             reader->file);
        return STEP_GO;
    }
    return ctf_step_from_status(
        reader, input_add_damage(reader->in, from, n, frame->code, reader->error,
                                 "%s: %s; %llu byte%s skipped", reader->file, frame->text,
                                 (unsigned long long)n, n == 1 ? "" : "s"));
}

/* Copies the bytes of packet header and context to reader->heads, because a caller may read their
 * fields after the window has moved. Returns false if memory runs out. */
static bool store_packet_header(struct ctf_reader *reader, struct ctf_packet *packet)
{
    size_t n = (size_t)((reader->frame.head + 7) / 8);
    packet->head_at = (uint32_t)reader->heads.n;
    packet->head_n = (uint32_t)n;
    packet->context_bit = reader->frame.context_bit;
    buffer_add(&reader->heads, get_window_bytes(reader, reader->next), n);
    return !reader->heads.failed && buffer_room(&reader->heads, 0);
}

static void report_packet_oddities(struct ctf_reader *reader, const struct ctf_packet *packet)
{
    const struct ctf_frame *frame = &reader->frame;
    /* if the packet size was repaired, ctf_advance_to_next_packet reports the damage */
    const bool reports_content = !frame->is_resized && !ctf_reader_is_rfc11(reader);
    reader->is_foreign |= frame->is_foreign;
    if (frame->is_foreign && !ctf_reader_is_rfc11(reader))
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, packet->offset, "ctf.other-trace",
                             "a packet of %s has the uuid of another trace", reader->file);
    if (frame->is_overfull && reports_content)
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_ODD, packet->offset, "ctf.content-size",
            "a packet of %s declares more content than its size; read up to the last event",
            reader->file);
    if (frame->is_underfull && reports_content)
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_ODD, packet->offset, "ctf.content-size",
            "a packet of %s declares less content than its header; read up to the last "
            "event",
            reader->file);
    else if (frame->is_unfinished && reports_content)
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_ODD, packet->offset, "ctf.unfinished",
            "a packet of %s was not finished by its tracer: its sizes are not set; read "
            "up to the last event",
            reader->file);
    if (frame->has_unset_size)
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_ODD, packet->offset, "ctf.unset-size",
            "a packet of %s declares a content size but no packet size: the next packet is "
            "searched after the content",
            reader->file);
    if (packet->has_begin && packet->has_end && packet->end < packet->begin)
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, packet->offset, "ctf.begin-after-end",
                             "a packet of %s ends before it begins", reader->file);
}

/* Reports damage of the magic number, UUID or class id of a packet that is read nevertheless. */
static ttr_status report_damaged_header(struct ctf_reader *reader, const struct ctf_packet *packet)
{
    const struct ctf_frame *frame = &reader->frame;
    enum { MAGIC_BYTES = 4 };
    reader->status = TTR_OK;
    if (frame->has_bad_magic)
        reader->status = input_add_damage(
            reader->in, packet->offset, MAGIC_BYTES, "ctf.bad-magic", reader->error,
            "%s: the magic number of a packet is damaged; its other numbers are those of a packet "
            "of the trace, so it is read",
            reader->file);
    else if (frame->has_bad_uuid || frame->has_bad_class_id)
        reader->status = input_add_damage(
            reader->in, packet->offset, (frame->context_bit + 7) / 8, "ctf.bad-header",
            reader->error, "%s: %s of a packet is damaged; the packet is read", reader->file,
            frame->has_bad_uuid ? "the uuid" : "the id of the stream class");
    return reader->status;
}

/* Returns the time in ns of events that have no timestamps: the begin of their packet; if unknown,
 * the end of the packet before; if that is unknown, too, time 0 of the default clock in a new CTF
 * 2 stream, else the current time. */
static int64_t get_time_without_clock(const struct ctf_reader *reader,
                                      const struct ctf_packet *packet)
{
    const struct ctf_timeline *line = &reader->stream->kind->timeline;
    const struct ctf_counters *before = ctf_get_counters(reader->stream);
    bool is_clamped = false;
    if (packet->has_begin)
        return ctf_ticks_to_ns(line, packet->begin, &is_clamped);
    if (before->is_there && before->has_end)
        return ctf_ticks_to_ns(line, before->end, &is_clamped);
    bool has_zero = reader->time == INT64_MIN &&
                    reader->trace->class->description.version == CTF_2 &&
                    reader->stream->kind->class->clock;
    return has_zero ? ctf_ticks_to_ns(line, 0, &is_clamped) : reader->time;
}

/* Called when the next packet belongs to another stream than the last. Stores the time of the last
 * stream, and sets reader->time to the latest time of the new one, because each stream is checked
 * separately for times that go back. */
static void switch_to_stream(struct ctf_reader *reader, struct ctf_stream *last,
                             const struct ctf_packet *packet)
{
    const struct ctf_stream *ctx = reader->stream->first;
    bool is_clamped = false;
    if (!last || last->first == ctx || !reader->stream->kind->plan.has_time)
        return;
    last->first->time = reader->time;
    const int64_t begin = packet->has_begin ? ctf_ticks_to_ns(&reader->stream->kind->timeline,
                                                              packet->begin, &is_clamped)
                                            : reader->time;
    reader->time = ctx->time > INT64_MIN ? ctx->time : begin < reader->time ? begin : reader->time;
}

/* Reports a packet in which the first event is earlier than the packet's begin time. Such an event
 * is missing if the user selects a time range that ends before the packet
 * (ctf_packet_is_after_range). */
static void report_early_event(struct ctf_reader *reader, const struct ctf_packet *packet)
{
    const struct bits bits = get_bits_of_next_packet(reader);
    uint64_t ticks;
    /* a packet that ends before it begins has a diagnostic of its own ("ctf.begin-after-end") */
    const bool has_times = packet->has_begin && !(packet->has_end && packet->end < packet->begin);
    if (has_times && !reader->trace->class->quirks.event_before_packet &&
        ctf_decode_first_ticks(reader, &reader->frame, &bits, &ticks) && ticks < packet->begin)
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, packet->offset, "ctf.early-event",
                             "an event of %s is earlier than its packet's begin", reader->file);
}

static enum ctf_step enter_packet(struct ctf_reader *reader)
{
    struct input *in = reader->in;
    const struct ctf_frame *frame = &reader->frame;
    struct ctf_stream *const last = reader->stream;
    reader->stream = ctf_get_stream(reader, frame);
    if (!reader->stream)
        return ctf_step_from_status(reader, fail_memory(reader->error));
    if (!reader->packets)
        reader->packets =
            alloc_zero(&in->base.t->counted, reader->slots_max, sizeof *reader->packets);
    if (!reader->packets)
        return ctf_step_from_status(reader, fail_memory(reader->error));
    reader->slot = reader->slots_n++;
    struct ctf_packet *packet = &reader->packets[reader->slot];
    *packet = frame->packet;
    packet->offset = reader->next;
    packet->base = get_window_bytes(reader, reader->next);
    packet->content_end = packet->content;
    packet->first_bit = frame->head;
    if (!store_packet_header(reader, packet))
        return ctf_step_from_status(reader, fail_memory(reader->error));
    in->packets++;
    reader->is_inside = true;
    reader->is_unpacked = false;
    reader->is_damaged = frame->is_unfinished || frame->is_overfull || frame->has_unset_size ||
                         frame->is_resized || frame->has_bad_magic || frame->has_bad_uuid ||
                         frame->has_bad_class_id;
    reader->is_size_reported = reader->is_sealed = false;
    reader->events_read = 0;
    reader->offset = reader->next;
    reader->bits = bits_init(packet->base, frame->head, frame->head);
    reader->content_end = packet->content;
    reader->ticks = frame->has_ticks ? frame->ticks : packet->has_begin ? packet->begin : 0;
    const struct ctf_counters *before = ctf_get_counters(reader->stream);
    bool has_time = reader->stream->kind->plan.has_time;
    if (!has_time && !frame->has_ticks && !packet->has_begin && before->has_end)
        reader->ticks = before->end;
    if (in->flags & TTR_READ_DEFINITIONS && !reader->is_stream_defined)
        emit_definition_event(reader, reader->stream, CTF_DEFINITION_STREAM);
    reader->is_stream_defined = true;
    report_packet_oddities(reader, packet);
    if (report_damaged_header(reader, packet) != TTR_OK)
        return STEP_FAILED;
    report_early_event(reader, packet);
    switch_to_stream(reader, last, packet);
    if (ctf_packet_overlaps_range(reader, packet))
        ctf_emit_gaps(reader);
    reader->clocks = (struct ctf_clock_history){{reader->ticks}, 1, 0};
    /* gaps use the time of the previous packet, so this must follow them */
    if (!has_time)
        reader->time = get_time_without_clock(reader, packet);
    return ctf_reader_is_rfc11(reader) ? ctf_step_from_status(reader, rfc11_enter_packet(reader))
                                       : STEP_GO;
}

/* Moves the window so that it contains the bytes that enter_packet needs: the complete packet for
 * copies, otherwise up to the first event. */
static enum ctf_step fill_packet_window(struct ctf_reader *reader)
{
    const struct ctf_frame *frame = &reader->frame;
    bool is_copy = reader->in->flags & TTR_READ_DEFINITIONS && !reader->is_encoded &&
                   frame->packet.size <= CTF_COPY_MAX * 8,
         wants_empty_batch = false;
    uint64_t need =
        ctf_reader_is_rfc11(reader) ? rfc11_count_bytes_to_enter(frame, &wants_empty_batch) : 0;
    if (wants_empty_batch && reader->in->n)
        return STEP_HOLD;
    if (is_copy && need < frame->packet.size / 8)
        need = frame->packet.size / 8;
    if (need < ctf_count_first_event_bytes(frame))
        need = ctf_count_first_event_bytes(frame);
    return need ? fill_window_to(reader, reader->next, need) : STEP_GO;
}

/* Returns true if the packet belongs to the stream of the queue that this input reads. */
static bool is_packet_of_reader_queue(const struct ctf_reader *reader,
                                      const struct ctf_frame *frame)
{
    return reader->file_index &&
           ctf_queue_accepts_packet(&reader->file_index->queue[reader->queue], frame);
}

/* Skips a packet that is outside of the time range, or (not is_mine) that another input reads.
 * Stores its counters if it is of this input's stream. */
static enum ctf_step skip_packet(struct ctf_reader *reader, bool is_mine)
{
    const struct ctf_frame *frame = &reader->frame;
    if (is_mine || is_packet_of_reader_queue(reader, frame)) {
        struct ctf_stream *stream = ctf_get_stream(reader, frame);
        if (!stream)
            return ctf_step_from_status(reader, fail_memory(reader->error));
        ctf_update_counters(ctf_get_counters(stream), &frame->packet);
    }
    if (is_mine && !ctf_packet_is_empty(frame))
        ctf_record_packet_end(reader, frame->kind, &frame->packet);
    if (frame->packet.size == UINT64_MAX)
        return STEP_END;
    reader->is_size_reported = false;
    enum ctf_step step =
        ctf_advance_to_next_packet(reader, &frame->packet, reader->next,
                                   reader->next + (frame->packet.content + 7) / 8, is_mine);
    reader->packet_i++;
    const struct ctf_entry_point *mark =
        !is_mine && reader->file_index && step == STEP_GO
            ? ctf_skip_other_queues(reader->file_index, reader->queue, &reader->packet_i)
            : NULL;
    if (mark) {
        reader->next = mark->offset;
        reader->previous_size = mark->previous_size;
    }
    return step;
}

/* Returns true if the packet is not read, because another file of the stream contains it, too, and
 * is read instead (overlapping snapshots). If the copy in this file is read because the other is
 * damaged, sets the counters to those before that copy. */
static bool is_duplicate_packet(struct ctf_reader *reader, const struct ctf_frame *frame)
{
    const struct ctf_packet_queue *queue =
        reader->file_index ? ctf_find_queue(reader->file_index, reader->packet_i, frame) : NULL;
    const uint32_t had = queue ? ctf_get_duplicate_state(queue, &frame->packet) : 0;
    struct ctf_stream *stream =
        had >= CTF_DUPLICATE_REPLACES ? ctf_get_stream(reader, frame) : NULL;
    if (stream)
        *ctf_get_counters(stream) = queue->replaced[had - CTF_DUPLICATE_REPLACES];
    return had == CTF_DUPLICATE_SKIP;
}

/* Called with a complete packet header and context. Enters the packet, skips it, or ends the input
 * if the packet is after the time range. */
static enum ctf_step read_or_skip_packet(struct ctf_reader *reader)
{
    struct input *in = reader->in;
    struct ctf_frame *frame = &reader->frame;
    bool is_mine = reader->reads_all_queues || !reader->file_index ||
                   ctf_get_packet_queue(reader->file_index, reader->packet_i) == reader->queue;
    enum ctf_step step =
        is_mine && reader->to != INT64_MAX
            ? fill_window_to(reader, reader->next, ctf_count_first_event_bytes(frame))
            : STEP_GO;
    if (step != STEP_GO)
        return step;
    const struct bits bits = get_bits_of_next_packet(reader);
    /* The input continues in two cases: after damage, packets may be out of order; and if the
     * packet is empty, no event confirms its times. */
    if (is_mine && ctf_packet_is_after_range(reader, frame, &bits))
        return (!reader->file_index || reader->file_index->is_whole) && !ctf_packet_is_empty(frame)
                   ? STEP_END
                   : skip_packet(reader, is_mine);
    if (is_mine && is_duplicate_packet(reader, frame)) {
        reader->in->duplicates++;
        input_add_diagnostic(reader->in, TTR_SEVERITY_REMARK, reader->next, "ctf.duplicate",
                             "a packet of %s is in another file of its stream too: skipped here",
                             reader->file);
        return skip_packet(reader, is_mine);
    }
    if (!is_mine || reader->packet_i < reader->wanted)
        return skip_packet(reader, is_mine);
    if (in->n + EVENTS_BEFORE > in->batch || reader->slots_n == reader->slots_max)
        return STEP_HOLD;
    step = fill_packet_window(reader);
    return step == STEP_GO ? enter_packet(reader) : step;
}

/* Returns true if the file ends at reader->next. A read up to a time limit must know this even
 * while the window cannot move, because the batch has events in it. */
static bool is_end_of_file(struct ctf_reader *reader)
{
    const struct input *in = reader->in;
    const bool is_seen = in->window.at_end && reader->next == in->window.offset + in->window.n;
    uint8_t byte;
    ttr_error error;
    if (in->n && in->until != INT64_MAX && source_is_seekable(in->source) &&
        reader->next >= source_end_offset(in->source))
        reader->is_over =
            is_seen || source_peek_at(in->source, reader->next, &byte, 1, &error) == 0;
    return reader->is_over;
}

/* Returns true if the index has the next packet at the end of this one, so that the size need not
 * be verified. */
static bool is_size_verified(const struct ctf_reader *reader)
{
    const struct ctf_file_index *file_index = reader->file_index;
    return file_index && !file_index->is_indexed && !file_index->has_repaired_sizes &&
           reader->packet_i + 1 < file_index->packets;
}

static enum ctf_step read_between_packets(struct ctf_reader *reader)
{
    size_t need = HEAD_BYTES;
    if (reader->is_lost)
        return search_next_packet(reader, &reader->frame);
    if (is_end_of_file(reader))
        return finish_stream_file(reader);
    for (;; need *= 4) {
        enum ctf_step step = fill_window_to(reader, reader->next, need);
        if (step != STEP_GO)
            return step;
        uint64_t n = ctf_window_bytes_from(reader, reader->next);
        if (n == 0)
            return finish_stream_file(reader);
        struct bits bits = bits_init(get_window_bytes(reader, reader->next), 0, n * 8);
        const enum ctf_framing framing = ctf_parse_header_and_context(
            reader->trace, reader->section, &bits, &reader->frame, reader->error);
        const struct ctf_size_question sized = {reader->next, reader->previous_size, NULL, framing};
        switch (framing == CTF_FRAME_OK && is_size_verified(reader)
                    ? framing
                    : ctf_correct_packet_size(reader, &sized, &reader->frame)) {
        case CTF_FRAME_OK:
            return read_or_skip_packet(reader);
        case CTF_FRAME_FAILED:
            return ctf_step_from_status(reader, reader->error->status);
        case CTF_FRAME_BAD:
            return search_next_packet(reader, &reader->frame);
        case CTF_FRAME_FOREIGN:
            return ctf_skip_foreign_packet(reader) == TTR_OK
                       ? STEP_GO
                       : ctf_step_from_status(reader, reader->error->status);
        case CTF_FRAME_SHORT:
            break;
        }
        if (reader->in->window.at_end && n < need)
            return skip_file_tail(reader);
        if (need >= HEAD_MAX) {
            reader->frame.code = "ctf.bad-packet";
            (void)snprintf(reader->frame.text, sizeof reader->frame.text,
                           "header and context exceed the limit of %llu MiB",
                           (unsigned long long)(n >> 20));
            return search_next_packet(reader, &reader->frame);
        }
    }
}

/* --- Batches of events --- */

/* Frees the packet slots and packet headers of the previous batch. If a packet is being read,
 * moves its slot and header to the start. */
static void begin_reader_batch(struct ctf_reader *reader)
{
    arena_reset(&reader->trace->scratch);
    reader->slots_n = 0;
    if (!reader->is_inside && !reader->is_copied) {
        buffer_clear(&reader->heads);
        return;
    }
    struct ctf_packet *packet = &reader->packets[reader->slot];
    if (packet->head_at && packet->head_n)
        memmove(reader->heads.bytes, reader->heads.bytes + packet->head_at, packet->head_n);
    reader->heads.n = packet->head_n;
    packet->head_at = 0;
    reader->packets[0] = *packet;
    reader->slot = 0;
    reader->slots_n = 1;
}

/* For reads up to a time limit: such a read must return all events before the limit, but the
 * window cannot move while events are in the batch. So this moves the window first, if it has
 * fewer bytes left than reads usually consume. */
static enum ctf_step move_window_early(struct ctf_reader *reader)
{
    const uint64_t here = reader->is_inside ? reader->offset + reader->bits.at / 8 : reader->next,
                   went = here - reader->last_read_from;
    const struct input *in = reader->in;
    const uint64_t left = ctf_window_bytes_from(reader, here),
                   most = in->window.n / 4 < in->max_record ? in->window.n / 4 : 0;
    reader->stride = went > reader->stride / 2 ? 2 * went : reader->stride - reader->stride / 16;
    reader->stride = reader->stride < most ? reader->stride : most;
    reader->last_read_from = here;
    if (left >= reader->stride || reader->is_unpacked)
        return STEP_GO;
    if (!reader->is_inside)
        return fill_window_to(reader, here, reader->stride);
    return in->window.at_end ? STEP_GO : ctf_move_window(reader);
}

ttr_status ctf_read_batch(struct input *in, ttr_error *error)
{
    struct ctf_reader *reader = in->ctx;
    enum ctf_step step = STEP_GO;
    if (reader->is_eventless && !(in->flags & TTR_READ_DEFINITIONS))
        return TTR_END;
    reader->error = error;
    /* repeat if the packet slots of the batch are used up, but no event was emitted */
    do {
        step = STEP_GO;
        if (in->n == 0)
            begin_reader_batch(reader);
        if (reader->from != INT64_MIN && reader->next == 0 && !reader->is_inside)
            ctf_seek_range_start(reader);
        if (in->until != INT64_MAX)
            step = move_window_early(reader);
        for (; step == STEP_GO && in->n < in->batch && !in->is_stopped;) {
            if (reader->is_copied)
                step = emit_packet_definition(reader);
            else
                step = reader->is_inside ? ctf_read_packet_events(reader)
                                         : read_between_packets(reader);
        }
    } while (step == STEP_HOLD && in->n == 0);
    if (step == STEP_FAILED)
        return reader->status;
    if (reader->is_inside)
        ctf_store_clocks(reader);
    if (step == STEP_END && reader->file_index && reader->from == INT64_MIN &&
        reader->to == INT64_MAX)
        ctf_check_index(reader);
    if (step == STEP_END && in->n && in->until != INT64_MAX)
        ctf_report_next_event_time(in, INT64_MAX);
    return in->n || in->is_stopped ? TTR_OK : TTR_END;
}

void ctf_set_range(struct input *in, int64_t from_ns, int64_t to_ns)
{
    struct ctf_reader *reader = in->ctx;
    reader->from = from_ns > reader->from ? from_ns : reader->from;
    reader->to = to_ns < reader->to ? to_ns : reader->to;
}

uint32_t ctf_get_event_kinds(struct input *in)
{
    const struct ctf_reader *reader = in->ctx;
    const uint32_t previous_size =
        1u << TTR_KIND_INSTANT | 1u << TTR_KIND_GAP | 1u << TTR_KIND_DEFINITION;
    return reader->trace && !reader->trace->class->has_conventions ? previous_size
                                                                   : READER_ANY_KIND;
}

ttr_status ctf_open(struct input *in, ttr_error *error)
{
    struct ctf_reader *reader = in->ctx;
    (void)error;
    reader->in = in;
    reader->from = INT64_MIN;
    reader->to = INT64_MAX;
    reader->time = reader->packet_end = INT64_MIN;
    reader->slots_max = CTF_SLOTS_MAX;
    buffer_init(&reader->heads, &in->base.t->counted);
    buffer_init(&reader->unpacked, &in->base.t->counted);
    pair_map_init(&reader->stream_of, &in->base.t->counted);
    return TTR_OK;
}

void ctf_close(struct input *in)
{
    struct ctf_reader *reader = in->ctx;
    if (reader->trace)
        ctf_free_streams(reader);
    buffer_free(&reader->heads);
    buffer_free(&reader->unpacked);
    alloc_free(&in->base.t->counted, reader->packets, reader->slots_max, sizeof *reader->packets);
    ctf_file_index_unref(reader->file_index);
    ctf_trace_unref(reader->trace);
}
