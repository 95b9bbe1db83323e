/* Reading a stream file: packets one after another, their events in batches, what is between and
 * what is wrong.
 *
 * The window moves only while the batch is empty (model/input.h): whoever wants it moved says
 * STEP_HOLD when events wait.  Within a packet it moves by multiples of 64 bytes from the packet's
 * begin, or of 4,096 where its types say so, so that alignments stay what they are. */
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "formats/ctf/read/ctf_time_range.h"
#include "formats/ctf/read/ctf_resync.h"
#include "formats/ctf/read/ctf_build_index.h"
#include "formats/ctf/read/rfc11_read.h"

#define HEAD_BYTES ((size_t)128) /* most packet headers with their contexts are smaller */
#define HEAD_MAX ((size_t)16 << 20)
#define MOVE_BYTES ((size_t)1024)
#define EVENTS_BEFORE 3u /* a definition and two gaps may stand before the events of a packet */

enum step {
    STEP_GO,
    STEP_HOLD, /* the window must move, and events wait */
    STEP_END,
    STEP_FAILED /* reader->status */
};

static enum step failed(struct ctf_reader *reader, ttr_status status)
{
    reader->status = status;
    return status == TTR_OK ? STEP_GO : STEP_FAILED;
}

static bool is_rfc(const struct ctf_reader *reader)
{
    return reader->trace->class->description.version == CTF_RFC_1_1;
}

static bool is_in_window(const struct ctf_reader *reader, uint64_t offset)
{
    const struct window *window = &reader->in->window;
    return offset >= window->offset && offset - window->offset <= window->n;
}

/* Has `need` bytes from a place on in the window, fewer at the end of the input. */
static enum step see(struct ctf_reader *reader, uint64_t offset, uint64_t need)
{
    struct input *in = reader->in;
    if (is_in_window(reader, offset) &&
        (ctf_bytes_from(reader, offset) >= need || in->window.at_end))
        return STEP_GO;
    if (in->n)
        return STEP_HOLD;
    return failed(reader, input_fill(in, offset, (size_t)need, reader->error));
}

static const uint8_t *window_at(const struct ctf_reader *reader, uint64_t offset)
{
    return reader->in->window.bytes + (offset - reader->in->window.offset);
}

/* What the window has from the packet at reader->next on. */
static struct bits packet_bits(const struct ctf_reader *reader)
{
    return bits_init(window_at(reader, reader->next), 0, ctf_bytes_from(reader, reader->next) * 8);
}

/* --- Definitions, for copies --- */

static void give_definition(struct ctf_reader *reader, struct ctf_stream *stream,
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

static enum step give_packet(struct ctf_reader *reader)
{
    const struct ctf_packet *packet = &reader->packets[reader->slot];
    if (reader->in->n == reader->in->batch)
        return STEP_HOLD;
    reader->is_copied = false;
    give_definition(reader, reader->stream, CTF_DEFINITION_PACKET);
    ttr_event *event = &reader->in->events[reader->in->n - 1];
    event->offset = packet->offset;
    event->payload = reader->is_encoded ? NULL : window_at(reader, packet->offset);
    event->payload_size = reader->is_encoded ? 0 : (uint32_t)(reader->next - packet->offset);
    event->link = reader->given;
    return STEP_GO;
}

/* --- Between packets --- */

/* The input ends. */
static enum step at_end(struct ctf_reader *reader)
{
    const uint64_t end = source_end_offset(reader->in->source);
    if (reader->next > end && !reader->is_cut_told && reader->tells_cut) {
        reader->is_cut_told = true;
        ttr_status status =
            input_add_damage(reader->in, end, 0, "ctf.cut", reader->error,
                             "%s ends inside a packet: %llu bytes of it are missing", reader->file,
                             (unsigned long long)(reader->next - end));
        if (status != TTR_OK)
            return failed(reader, status);
    }
    if (!(reader->in->flags & TTR_READ_DEFINITIONS) || reader->is_told)
        return STEP_END;
    struct ctf_stream *stream = ctf_get_stream(reader, &(struct ctf_frame){.kind = NULL});
    if (!stream)
        return failed(reader, fail_memory(reader->error));
    reader->is_told = true;
    give_definition(reader, stream, CTF_DEFINITION_STREAM);
    return STEP_GO;
}

/* Fewer bytes are left than a packet's header and context take. */
static enum step meet_tail(struct ctf_reader *reader)
{
    struct input *in = reader->in;
    uint64_t from = reader->next, n = ctf_bytes_from(reader, from);
    const uint8_t *p = window_at(reader, from);
    reader->next = from + n;
    if (reader->queue) /* the first lane's input tells */
        return STEP_GO;
    if (ctf_is_zero(p, (size_t)n)) {
        input_add_diagnostic(in, TTR_SEVERITY_REMARK, from, "ctf.zeros",
                             "%llu zero bytes in %s are no packet", (unsigned long long)n,
                             reader->file);
        return STEP_GO;
    }
    return failed(reader,
                  input_add_damage(in, from, n, "ctf.cut-header", reader->error,
                                   "%s ends inside the header of a packet, with %llu byte%s of it",
                                   reader->file, (unsigned long long)n, n == 1 ? "" : "s"));
}

/* The packet at reader->next cannot be taken: what follows from its header is not to be trusted. */
static enum step lose_packet(struct ctf_reader *reader, const struct ctf_frame *frame)
{
    uint64_t from = reader->next;
    bool is_zero;
    if (reader->in->n)
        return STEP_HOLD;
    ttr_status status = ctf_search_packet(reader, reader->is_lost ? from : from + 1,
                                          &is_zero); /* where events stop, a packet may begin */
    if (status != TTR_OK)
        return failed(reader, status);
    uint64_t n = reader->next - from;
    reader->is_lost = false;
    if (reader->queue) /* the first lane's input tells */
        return STEP_GO;
    if (n == 0) {
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_ODD, from, "ctf.no-size",
            "packets of %s follow others that tell no size: one is taken to end where the "
            "next begins",
            reader->file);
        return STEP_GO;
    }
    if (is_zero) {
        input_add_diagnostic(reader->in, TTR_SEVERITY_REMARK, from, "ctf.zeros",
                             "%llu zero bytes in %s are no packet", (unsigned long long)n,
                             reader->file);
        return STEP_GO;
    }
    return failed(reader, input_add_damage(reader->in, from, n, frame->code, reader->error,
                                           "%s: %s; %llu byte%s skipped", reader->file, frame->text,
                                           (unsigned long long)n, n == 1 ? "" : "s"));
}

/* Keeps header and context of the packet for whoever asks for values in them. */
static bool keep_head(struct ctf_reader *reader, struct ctf_packet *packet)
{
    size_t n = (size_t)((reader->frame.head + 7) / 8);
    packet->head_at = (uint32_t)reader->heads.n;
    packet->head_n = (uint32_t)n;
    packet->context_bit = reader->frame.context_bit;
    buffer_add(&reader->heads, window_at(reader, reader->next), n);
    return !reader->heads.failed && buffer_room(&reader->heads, 0);
}

static void tell_oddities(struct ctf_reader *reader, const struct ctf_packet *packet)
{
    const struct ctf_frame *frame = &reader->frame;
    const bool tells_content =
        !frame->is_resized && !is_rfc(reader); /* else it is damage, and told as that */
    reader->is_foreign |= frame->is_foreign;
    if (frame->is_foreign && !is_rfc(reader))
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, packet->offset, "ctf.other-trace",
                             "a packet of %s has the uuid of another trace", reader->file);
    if (frame->is_overfull && tells_content)
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_ODD, packet->offset, "ctf.content-size",
            "a packet of %s claims more content than it has room for; read as far as events go",
            reader->file);
    if (frame->is_underfull && tells_content)
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_ODD, packet->offset, "ctf.content-size",
            "a packet of %s claims less content than its header alone has; read as far as "
            "events go",
            reader->file);
    else if (frame->is_unfinished && tells_content)
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_ODD, packet->offset, "ctf.unfinished",
            "a packet of %s was never finished by its tracer: its sizes are not set; read "
            "as far as events go",
            reader->file);
    if (frame->has_unset_size)
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_ODD, packet->offset, "ctf.unset-size",
            "a packet of %s tells the size of its content, but not its own: the next one is "
            "looked for behind the content",
            reader->file);
    if (packet->has_begin && packet->has_end && packet->end < packet->begin)
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, packet->offset, "ctf.begin-after-end",
                             "a packet of %s ends before it begins", reader->file);
}

/* The time of events that have none: when their packet begins, else when the one before it ended,
 * else the zero of their stream's clock. */
static int64_t time_without_clock(const struct ctf_reader *reader, const struct ctf_packet *packet)
{
    const struct ctf_timeline *line = &reader->stream->kind->timeline;
    const struct ctf_counters *before = ctf_counters_of(reader->stream);
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

/* Packets of a stream follow those of another, `last`, in the same input: times are compared with
 * those of the own one. */
static void change_stream(struct ctf_reader *reader, struct ctf_stream *last,
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

/* Tells of a first event that a range which ends long before its packet does not find
 * (ctf_is_after_range). */
static void tell_early(struct ctf_reader *reader, const struct ctf_packet *packet)
{
    const struct bits bits = packet_bits(reader);
    uint64_t ticks;
    const bool has_times =
        packet->has_begin &&
        !(packet->has_end && packet->end < packet->begin); /* else that is told */
    if (has_times && !reader->trace->class->quirks.event_before_packet &&
        ctf_decode_first_ticks(reader, &reader->frame, &bits, &ticks) && ticks < packet->begin)
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, packet->offset, "ctf.early-event",
                             "an event of %s is earlier than its packet's begin", reader->file);
}

static enum step enter_packet(struct ctf_reader *reader)
{
    struct input *in = reader->in;
    const struct ctf_frame *frame = &reader->frame;
    struct ctf_stream *const last = reader->stream;
    reader->stream = ctf_get_stream(reader, frame);
    if (!reader->stream)
        return failed(reader, fail_memory(reader->error));
    if (!reader->packets)
        reader->packets =
            alloc_zero(&in->base.t->counted, reader->slots_most, sizeof *reader->packets);
    if (!reader->packets)
        return failed(reader, fail_memory(reader->error));
    reader->slot = reader->slots_n++;
    struct ctf_packet *packet = &reader->packets[reader->slot];
    *packet = frame->packet;
    packet->offset = reader->next;
    packet->base = window_at(reader, reader->next);
    packet->content_end = packet->content;
    packet->first_bit = frame->head;
    if (!keep_head(reader, packet))
        return failed(reader, fail_memory(reader->error));
    in->packets++;
    reader->is_inside = true;
    reader->is_unpacked = false;
    reader->is_damaged =
        frame->is_unfinished || frame->is_overfull || frame->has_unset_size || frame->is_resized;
    reader->is_size_told = reader->is_sealed = false;
    reader->given = 0;
    reader->offset = reader->next;
    reader->bits = bits_init(packet->base, frame->head, frame->head);
    reader->content_end = packet->content;
    reader->ticks = frame->has_ticks ? frame->ticks : packet->has_begin ? packet->begin : 0;
    const struct ctf_counters *before = ctf_counters_of(reader->stream);
    bool has_time = reader->stream->kind->plan.has_time;
    if (!has_time && !frame->has_ticks && !packet->has_begin && before->has_end)
        reader->ticks = before->end;
    if (in->flags & TTR_READ_DEFINITIONS && !reader->is_told)
        give_definition(reader, reader->stream, CTF_DEFINITION_STREAM);
    reader->is_told = true;
    tell_oddities(reader, packet);
    tell_early(reader, packet);
    change_stream(reader, last, packet);
    if (ctf_packet_meets_range(reader, packet))
        ctf_emit_gaps(reader);
    if (!has_time) /* gaps lie before */
        reader->time = time_without_clock(reader, packet);
    return is_rfc(reader) ? failed(reader, rfc11_enter_packet(reader)) : STEP_GO;
}

/* The packet, which is one of those that are read here, is the one before from now on. */
static void settle_end(struct ctf_reader *reader, const struct ctf_stream_decoder *kind,
                       const struct ctf_packet *packet)
{
    bool is_clamped = false;
    if (packet->has_begin)
        reader->packet_end = ctf_ticks_to_ns(
            &kind->timeline, packet->has_end ? packet->end : packet->begin, &is_clamped);
}

/* What entering the packet needs in the window. */
static enum step see_content(struct ctf_reader *reader)
{
    const struct ctf_frame *frame = &reader->frame;
    bool is_copy = reader->in->flags & TTR_READ_DEFINITIONS && !reader->is_encoded &&
                   frame->packet.size <= CTF_COPY_MAX * 8,
         wants_empty_batch = false;
    uint64_t need = is_rfc(reader) ? rfc11_bytes_to_enter(frame, &wants_empty_batch) : 0;
    if (wants_empty_batch && reader->in->n)
        return STEP_HOLD;
    if (is_copy && need < frame->packet.size / 8)
        need = frame->packet.size / 8;
    if (need < ctf_first_event_bytes(frame))
        need = ctf_first_event_bytes(frame);
    return need ? see(reader, reader->next, need) : STEP_GO;
}

/* Whether a packet is of the stream of the reader's lane. */
static bool is_of_lane(const struct ctf_reader *reader, const struct ctf_frame *frame)
{
    return reader->file_index &&
           ctf_queue_accepts(&reader->file_index->queue[reader->queue], frame);
}

/* Goes on behind a packet that begins at an offset, where `from` is as far as it was read.  Its own
 * lane's input tells what is wrong of it. */
static enum step go_on(struct ctf_reader *reader, const struct ctf_packet *packet, uint64_t offset,
                       uint64_t from, bool is_mine)
{
    const bool is_resized = reader->frame.is_resized;
    const uint64_t said = is_resized ? reader->frame.said_size : packet->size,
                   next = offset + packet->size / 8;
    reader->next = ctf_next_packet_offset(reader, from, next);
    reader->usual = reader->next - offset;
    reader->tells_cut = is_mine;
    if (reader->next == next && !is_resized)
        return STEP_GO;
    reader->is_damaged = true;
    if (reader->is_size_told || !is_mine)
        return STEP_GO;
    from = from < reader->next ? from : reader->next;
    return failed(reader,
                  input_add_damage(
                      reader->in, from, reader->next - from, "ctf.bad-size", reader->error,
                      "%s: the packet at byte %llu says that it has %llu %s, but %s "
                      "behind %llu bytes: read on there",
                      reader->file, (unsigned long long)offset,
                      (unsigned long long)(said % 8 ? said : said / 8), said % 8 ? "bits" : "bytes",
                      reader->next < source_end_offset(reader->in->source) ? "another one begins"
                                                                           : "the file ends",
                      (unsigned long long)reader->usual));
}

/* Passes over a packet that nobody asks for here. */
static enum step pass_packet(struct ctf_reader *reader, bool is_mine)
{
    const struct ctf_frame *frame = &reader->frame;
    if (is_mine || is_of_lane(reader, frame)) {
        struct ctf_stream *stream = ctf_get_stream(reader, frame);
        if (!stream)
            return failed(reader, fail_memory(reader->error));
        ctf_update_counters(ctf_counters_of(stream), &frame->packet);
    }
    if (is_mine && !ctf_packet_is_empty(frame))
        settle_end(reader, frame->kind, &frame->packet);
    if (frame->packet.size == UINT64_MAX)
        return STEP_END;
    reader->is_size_told = false;
    enum step step = go_on(reader, &frame->packet, reader->next,
                           reader->next + (frame->packet.content + 7) / 8, is_mine);
    reader->packet_i++;
    const struct ctf_entry_point *mark =
        !is_mine && reader->file_index && step == STEP_GO
            ? ctf_skip_other_queues(reader->file_index, reader->queue, &reader->packet_i)
            : NULL;
    if (mark) {
        reader->next = mark->offset;
        reader->usual = mark->usual;
    }
    return step;
}

/* Whether another file of the stream gives this packet: snapshots overlap.  What this file gives in
 * place of one that is damaged there comes behind what comes before that. */
static bool was_had(struct ctf_reader *reader, const struct ctf_frame *frame)
{
    const struct ctf_packet_queue *queue =
        reader->file_index ? ctf_find_queue(reader->file_index, reader->packet_i, frame) : NULL;
    const uint32_t had = queue ? ctf_duplicate_state(queue, &frame->packet) : 0;
    struct ctf_stream *stream =
        had >= CTF_DUPLICATE_REPLACES ? ctf_get_stream(reader, frame) : NULL;
    if (stream)
        *ctf_counters_of(stream) = queue->taken[had - CTF_DUPLICATE_REPLACES];
    return had == CTF_DUPLICATE_SKIP;
}

/* A packet that is whole in its header and context. */
static enum step take_packet(struct ctf_reader *reader)
{
    struct input *in = reader->in;
    struct ctf_frame *frame = &reader->frame;
    bool is_mine = reader->reads_all_queues || !reader->file_index ||
                   ctf_queue_of_packet(reader->file_index, reader->packet_i) == reader->queue;
    enum step step = is_mine && reader->to != INT64_MAX
                         ? see(reader, reader->next, ctf_first_event_bytes(frame))
                         : STEP_GO;
    if (step != STEP_GO)
        return step;
    const struct bits bits = packet_bits(reader);
    if (is_mine &&
        ctf_is_after_range(reader, frame, &bits)) /* damage may hide anything, and what has no
                                                      events says nothing of those behind it */
        return (!reader->file_index || reader->file_index->is_whole) && !ctf_packet_is_empty(frame)
                   ? STEP_END
                   : pass_packet(reader, is_mine);
    if (is_mine && was_had(reader, frame)) {
        reader->in->duplicates++;
        input_add_diagnostic(
            reader->in, TTR_SEVERITY_REMARK, reader->next, "ctf.duplicate",
            "a packet of %s stands in another file of its stream too: left out here", reader->file);
        return pass_packet(reader, is_mine);
    }
    if (!is_mine || reader->packet_i < reader->wanted)
        return pass_packet(reader, is_mine);
    if (in->n + EVENTS_BEFORE > in->batch || reader->slots_n == reader->slots_most)
        return STEP_HOLD;
    step = see_content(reader);
    return step == STEP_GO ? enter_packet(reader) : step;
}

/* Whether the file ends here, for who reads up to a time: events wait, and that nothing comes
 * behind them is to be known before the window can move. */
static bool ends_here(struct ctf_reader *reader)
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

/* Whether the look ahead saw what stands behind the packet at `next`, and all sizes up to there
 * were right. */
static bool is_known(const struct ctf_reader *reader)
{
    const struct ctf_file_index *file_index = reader->file_index;
    return file_index && !file_index->is_indexed && !file_index->has_corrected &&
           reader->packet_i + 1 < file_index->packets;
}

static enum step between(struct ctf_reader *reader)
{
    size_t need = HEAD_BYTES;
    if (reader->is_lost)
        return lose_packet(reader, &reader->frame);
    if (ends_here(reader))
        return at_end(reader);
    for (;; need *= 4) {
        enum step step = see(reader, reader->next, need);
        if (step != STEP_GO)
            return step;
        uint64_t n = ctf_bytes_from(reader, reader->next);
        if (n == 0)
            return at_end(reader);
        struct bits bits = bits_init(window_at(reader, reader->next), 0, n * 8);
        const enum ctf_framing framing =
            ctf_frame_packet(reader->trace, reader->section, &bits, &reader->frame, reader->error);
        const struct ctf_size_question sized = {reader->next, reader->usual, NULL, framing};
        switch (framing == CTF_FRAME_OK && is_known(reader)
                    ? framing
                    : ctf_correct_size(reader, &sized, &reader->frame)) {
        case CTF_FRAME_OK:
            return take_packet(reader);
        case CTF_FRAME_FAILED:
            return failed(reader, reader->error->status);
        case CTF_FRAME_BAD:
            return lose_packet(reader, &reader->frame);
        case CTF_FRAME_FOREIGN:
            return ctf_skip_foreign_packet(reader) == TTR_OK
                       ? STEP_GO
                       : failed(reader, reader->error->status);
        case CTF_FRAME_SHORT:
            break;
        }
        if (reader->in->window.at_end && n < need)
            return meet_tail(reader);
        if (need >= HEAD_MAX) {
            reader->frame.code = "ctf.bad-packet";
            (void)snprintf(
                reader->frame.text, sizeof reader->frame.text,
                "its header and context take more than %llu MiB, which is more than is looked at",
                (unsigned long long)(n >> 20));
            return lose_packet(reader, &reader->frame);
        }
    }
}

/* --- Inside a packet --- */

/* Tells of events that a range which begins long behind their packet does not find
 * (ctf_find_entry).
 */
static void tell_late(struct ctf_reader *reader, const struct ctf_packet *packet)
{
    const bool has_times = reader->stream->kind->plan.has_time && packet->has_end &&
                           reader->given && !is_rfc(reader); /* which tells by itself */
    if (has_times && reader->ticks > packet->end && packet->end >= packet->begin &&
        !reader->trace->class->quirks.event_after_packet)
        input_add_diagnostic(reader->in, TTR_SEVERITY_ODD, packet->offset, "ctf.late-event",
                             "an event of %s is later than its packet's end", reader->file);
}

static enum step leave_packet(struct ctf_reader *reader)
{
    struct ctf_packet *packet = &reader->packets[reader->slot];
    const bool was_unpacked = reader->is_unpacked;
    reader->is_inside = false;
    if (is_rfc(reader))
        rfc11_leave_packet(reader);
    ctf_update_counters(ctf_counters_of(reader->stream), packet);
    if (reader->given)
        settle_end(reader, reader->stream->kind, packet);
    tell_late(reader, packet);
    uint64_t here = reader->offset + (reader->bits.at + (reader->is_lost ? 0 : 7)) /
                                         8; /* what is lost begins in the byte of its first bit */
    enum step step = STEP_GO;
    if (packet->size == UINT64_MAX)
        reader->next = here;
    else
        step = go_on(reader, packet, packet->offset,
                     was_unpacked ? packet->offset + (reader->frame.packet.content + 7) / 8 : here,
                     true);
    reader->packet_i++;
    uint64_t n = reader->next - packet->offset;
    bool is_shown = reader->is_encoded ? reader->next <= source_end_offset(reader->in->source)
                                       : ctf_bytes_from(reader, packet->offset) >= n;
    reader->is_copied = reader->in->flags & TTR_READ_DEFINITIONS &&
                        (!reader->is_damaged || reader->is_sealed) && is_shown && n <= CTF_COPY_MAX;
    return step;
}

/* Moves the window on within the packet, to where the next event begins. */
static enum step move_window(struct ctf_reader *reader)
{
    struct input *in = reader->in;
    if (in->n)
        return STEP_HOLD;
    uint64_t shift = reader->bits.at >> reader->stream->kind->step << reader->stream->kind->step,
             had = ctf_bytes_from(reader, reader->offset + shift / 8);
    uint64_t need = had + (had > MOVE_BYTES ? had : MOVE_BYTES);
    if (had > in->max_record) {
        reader->run.member = NULL;
        const ttr_status lost = ctf_report_bad_event(
            reader, "ctf.too-large",
            "an event is larger than a record may be (ttr_read_options.max_record)");
        return lost == TTR_OK
                   ? leave_packet(reader)
                   : failed(reader,
                            error_set_option(reader->error, reader->error->status, "max_record"));
    }
    ttr_status status = input_fill(in, reader->offset + shift / 8, (size_t)need, reader->error);
    if (status != TTR_OK)
        return failed(reader, status);
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

/* Whether what is left is the padding of a last byte: packets that tell one size, or none, have
 * whole bytes, whatever their events end with. */
static bool is_padding(const struct ctf_reader *reader)
{
    const struct bits *bits = &reader->bits;
    uint64_t left = bits->end > bits->at ? bits->end - bits->at : 0;
    if (!reader->frame.is_rounded || left == 0 || left >= 8 || bits->end % 8)
        return false;
    unsigned last = bits->base[bits->end / 8 - 1];
    return last >> (8 - left) == 0 ||
           (last & ((1u << left) - 1)) == 0; /* little-endian, big-endian */
}

/* The events stopped where the content or the window ends. */
static enum step meet_edge(struct ctf_reader *reader)
{
    struct input *in = reader->in;
    uint64_t mask = (UINT64_C(1) << reader->stream->kind->plan.align) - 1,
             begin = (reader->bits.at + mask) & ~mask;
    bool is_content = reader->bits.end == reader->content_end;
    if (!is_content && !in->window.at_end)
        return move_window(reader);
    if ((begin >= reader->bits.end || is_padding(reader)) &&
        (is_content || reader->packets[reader->slot].size == UINT64_MAX)) {
        if (!is_content)
            reader->bits.at = reader->bits.end;
        return leave_packet(reader);
    }
    ttr_status status;
    if (is_content)
        status = ctf_report_bad_event(reader, "ctf.cut-event",
                                      "an event goes on behind the content of its packet");
    else
        status = ctf_report_bad_event(reader, "ctf.cut", "the file ends inside a packet");
    return status == TTR_OK ? leave_packet(reader) : failed(reader, status);
}

/* An event cannot be read: where its size is stored it alone is lost, else what is left of its
 * packet. */
static enum step lose_event(struct ctf_reader *reader, const char *code, const char *what)
{
    switch (is_rfc(reader) ? rfc11_skip_event(reader, code, what) : RFC11_NOT_SKIPPED) {
    case RFC11_SKIPPED:
        return failed(reader, reader->status);
    case RFC11_IS_CUT:
        return move_window(reader);
    case RFC11_NOT_SKIPPED:
        break;
    }
    ttr_status status = ctf_report_bad_event(reader, code, what);
    return status == TTR_OK ? leave_packet(reader) : failed(reader, status);
}

static enum step inside(struct ctf_reader *reader)
{
    uint64_t shown =
        reader->is_unpacked ? reader->content_end : ctf_bytes_from(reader, reader->offset) * 8;
    ttr_status status = TTR_OK;
    reader->bits.end = shown < reader->content_end ? shown : reader->content_end;
    switch (ctf_read_events(reader)) {
    case CTF_STOP_FULL:
        return STEP_GO;
    case CTF_STOP_FAILED:
        return failed(reader, reader->status);
    case CTF_STOP_EDGE:
        return meet_edge(reader);
    case CTF_STOP_NAMES:
        return STEP_HOLD;
    case CTF_STOP_ZERO:
        if (!ctf_ends_with_zeros(&reader->frame))
            status = ctf_report_bad_event(
                reader, "ctf.empty-event",
                "an event takes no bits, so that there would be no end of them");
        break;
    case CTF_STOP_UNKNOWN:
        return lose_event(reader, "ctf.unknown-event", "the metadata declares no event of this id");
    case CTF_STOP_CLASS:
        return lose_event(reader, "ctf.unknown-event", reader->why);
    case CTF_STOP_BAD:
        return lose_event(reader, "ctf.bad-event", "a length or selector cannot be");
    }
    return status == TTR_OK ? leave_packet(reader) : failed(reader, status);
}

/* --- Batches --- */

/* Slots and heads are those of the batch before; that of the present packet stays. */
static void begin_batch(struct ctf_reader *reader)
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

/* Who reads up to a time wants all events before it, not those before the window's end: it is moved
 * where it may not hold them, as far as one can tell from the last times. */
static enum step look_forward(struct ctf_reader *reader)
{
    const uint64_t here = reader->is_inside ? reader->offset + reader->bits.at / 8 : reader->next,
                   went = here - reader->looked_from;
    const struct input *in = reader->in;
    const uint64_t left = ctf_bytes_from(reader, here),
                   most = in->window.n / 4 < in->max_record ? in->window.n / 4 : 0;
    reader->stride = went > reader->stride / 2 ? 2 * went : reader->stride - reader->stride / 16;
    reader->stride = reader->stride < most ? reader->stride : most;
    reader->looked_from = here;
    if (left >= reader->stride || reader->is_unpacked)
        return STEP_GO;
    if (!reader->is_inside)
        return see(reader, here, reader->stride);
    return in->window.at_end ? STEP_GO : move_window(reader);
}

ttr_status ctf_next(struct input *in, ttr_error *error)
{
    struct ctf_reader *reader = in->ctx;
    enum step step = STEP_GO;
    if (reader->is_nothing && !(in->flags & TTR_READ_DEFINITIONS))
        return TTR_END;
    reader->error = error;
    /* Packets may hold nothing to give; the batch has room for so many of them. */
    do {
        step = STEP_GO;
        if (in->n == 0)
            begin_batch(reader);
        if (reader->from != INT64_MIN && reader->next == 0 && !reader->is_inside)
            ctf_enter_range(reader);
        if (in->until != INT64_MAX)
            step = look_forward(reader);
        for (; step == STEP_GO && in->n < in->batch && !in->is_stopped;) {
            if (reader->is_copied)
                step = give_packet(reader);
            else
                step = reader->is_inside ? inside(reader) : between(reader);
        }
    } while (step == STEP_HOLD && in->n == 0);
    if (step == STEP_FAILED)
        return reader->status;
    if (step == STEP_END && reader->file_index && reader->from == INT64_MIN &&
        reader->to == INT64_MAX)
        ctf_check_index(reader);
    if (step == STEP_END && in->n && in->until != INT64_MAX)
        ctf_stop_before(in, INT64_MAX);
    return in->n || in->is_stopped ? TTR_OK : TTR_END;
}

void ctf_set_range(struct input *in, int64_t from_ns, int64_t to_ns)
{
    struct ctf_reader *reader = in->ctx;
    reader->from = from_ns > reader->from ? from_ns : reader->from;
    reader->to = to_ns < reader->to ? to_ns : reader->to;
}

uint32_t ctf_event_kinds(struct input *in)
{
    const struct ctf_reader *reader = in->ctx;
    const uint32_t usual = 1u << TTR_KIND_INSTANT | 1u << TTR_KIND_GAP | 1u << TTR_KIND_DEFINITION;
    return reader->trace && !reader->trace->class->is_dialect ? usual : READER_ANY_KIND;
}

ttr_status ctf_open(struct input *in, ttr_error *error)
{
    struct ctf_reader *reader = in->ctx;
    (void)error;
    reader->in = in;
    reader->from = INT64_MIN;
    reader->to = INT64_MAX;
    reader->time = reader->packet_end = INT64_MIN;
    reader->slots_most = CTF_SLOTS_MAX;
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
    alloc_free(&in->base.t->counted, reader->packets, reader->slots_most, sizeof *reader->packets);
    ctf_file_index_unref(reader->file_index);
    ctf_trace_unref(reader->trace);
}
