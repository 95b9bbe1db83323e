/* Entering and leaving a stream file where a range of time begins and ends. */
#include "formats/ctf/read/ctf_time_range.h"

#include "formats/ctf/read/ctf_peek_header.h"
#include "formats/ctf/read/ctf_resync.h"
#include "formats/ctf/read/ctf_build_index.h"

#define HEADER_ROOM 64u /* bytes: most event headers are smaller */

uint64_t ctf_first_event_bytes(const struct ctf_frame *frame)
{
    const struct ctf_header_plan *plan = &frame->kind->plan;
    const uint64_t room = plan->kind == CTF_PLAN_LOADS && plan->loads.room > HEADER_ROOM
                              ? plan->loads.room
                              : HEADER_ROOM;
    return ctf_packet_is_empty(frame) ? 0 : (frame->head + 7) / 8 + room;
}

static bool is_stored_plainly(const struct ctf_reader *reader, const struct ctf_frame *frame)
{
    return reader->trace->class->description.version != CTF_RFC_1_1 ||
           (frame->rfc.compression_scheme == RFC11_COMPRESSION_NONE &&
            frame->rfc.encryption_scheme == RFC11_ENCRYPTION_NONE);
}

static bool needs_imports(const struct ctf_header_plan *plan)
{
    uint32_t n = 0;
    if (plan->kind == CTF_PLAN_LAYOUT)
        (void)layout_imports(plan->layout, &n);
    return n != 0;
}

bool ctf_decode_first_ticks(const struct ctf_reader *reader, const struct ctf_frame *frame,
                            const struct bits *bits, uint64_t *ticks)
{
    const struct ctf_header_plan *plan = &frame->kind->plan;
    const uint64_t slots[LAYOUT_SLOTS_MAX] = {0}, content = frame->packet.content;
    struct ctf_event_header header = {.ticks = frame->has_ticks          ? frame->ticks
                                               : frame->packet.has_begin ? frame->packet.begin
                                                                         : 0};
    if (!plan->has_time || ctf_packet_is_empty(frame) || ctf_ends_with_zeros(frame) ||
        !is_stored_plainly(reader, frame) || needs_imports(plan))
        return false;
    struct bits from =
        bits_init(bits->base, frame->head, bits->end < content ? bits->end : content);
    ctf_read_event_header(plan, &from, slots, &header);
    *ticks = header.ticks;
    return header.end == LAYOUT_OK;
}

/* The same as a time. */
static bool first_time(const struct ctf_reader *reader, const struct ctf_frame *frame,
                       const struct bits *bits, int64_t *time)
{
    uint64_t ticks;
    bool is_clamped = false;
    if (!ctf_decode_first_ticks(reader, frame, bits, &ticks))
        return false;
    *time = ctf_ticks_to_ns(&frame->kind->timeline, ticks, &is_clamped);
    return !is_clamped;
}

/* --- Where a range begins --- */

/* Where a file is entered: at a packet, for those of the reader's lane from `wanted` on. */
struct entry {
    const struct ctf_entry_point *mark;
    uint64_t packet, wanted;
};

/* Packets looked at one after another, beside the window. */
struct walk {
    struct ctf_header_peek look;
    uint64_t at, usual;
    uint64_t packet; /* at `at` */
    struct ctf_frame frame;
};

/* Moves to the next packet with a number, by its mark where that is nearer. */
static bool walk_to(struct walk *walk, const struct ctf_file_index *file_index, uint64_t packet)
{
    const uint64_t i = packet / file_index->stride;
    ttr_error error;
    if (i * file_index->stride > walk->packet && i < file_index->marks_n) {
        walk->packet = i * file_index->stride;
        walk->at = file_index->mark[i].offset;
        walk->usual = file_index->mark[i].usual;
    }
    for (;;) {
        enum ctf_framing framing = ctf_peek_header(&walk->look, walk->at, &walk->frame, &error);
        framing = ctf_correct_size(
            walk->look.reader, &(struct ctf_size_question){walk->at, walk->usual, NULL, framing},
            &walk->frame);
        if (framing == CTF_FRAME_OK && walk->packet == packet)
            return true;
        if ((framing != CTF_FRAME_OK && framing != CTF_FRAME_FOREIGN) ||
            walk->frame.packet.size == UINT64_MAX)
            return false;
        walk->packet += framing == CTF_FRAME_OK;
        walk->usual = walk->frame.packet.size / 8;
        walk->at += walk->usual;
    }
}

/* When the first event is that would be read; the walk is at its packet.  False where that is not
 * seen. */
static bool entry_time(const struct ctf_reader *reader, const struct entry *entry,
                       struct walk *walk, int64_t *time)
{
    const struct ctf_file_index *file_index = reader->file_index;
    const uint64_t last = file_index->queue[reader->queue].last_full;
    walk->packet = entry->packet;
    walk->at = entry->mark->offset;
    walk->usual = entry->mark->usual;
    for (uint64_t packet = entry->wanted; last != UINT64_MAX && packet <= last; packet++) {
        if (ctf_queue_of_packet(file_index, packet) != reader->queue)
            continue;
        if (!walk_to(walk, file_index, packet))
            return false;
        const struct bits bits =
            ctf_peek_bytes(&walk->look, walk->at, ctf_first_event_bytes(&walk->frame));
        if (!ctf_packet_is_empty(&walk->frame))
            return first_time(reader, &walk->frame, &bits, time);
    }
    return false;
}

/* Whether an event is later than its packet says. */
static bool is_late(const struct ctf_frame *frame, int64_t time)
{
    bool is_clamped = false;
    return frame->packet.has_end &&
           time > ctf_ticks_to_ns(&frame->kind->timeline, frame->packet.end, &is_clamped);
}

/* Where the first event is in the range already, those before it may be, too, whatever their
 * packets say: the file is entered earlier, each time twice as far before.  One that lies far
 * behind the last packet is that packet's word alone, which its first event must not belie. */
static void hold_against_events(struct ctf_reader *reader, struct entry *entry)
{
    const struct ctf_file_index *file_index = reader->file_index;
    const bool is_far = entry->wanted == UINT64_MAX;
    struct walk walk;
    int64_t time;
    if (!ctf_peek_begin(&walk.look, reader))
        return;
    entry->wanted = is_far ? file_index->queue[0].last_full : entry->wanted;
    bool is_seen = entry_time(reader, entry, &walk, &time);
    if (is_far && !(is_seen && is_late(&walk.frame, time)))
        entry->wanted = UINT64_MAX;
    else if (is_seen)
        for (size_t i = (size_t)(entry->wanted / file_index->stride), step = 1;
             entry->wanted && (!is_seen || time >= reader->from); step *= 2) {
            i = is_seen && i > step ? i - step : 0; /* what cannot be looked at where it should be
                                                       is damaged, or the index is */
            entry->mark = ctf_entry_at(file_index, i, &entry->packet, &entry->wanted);
            is_seen = entry_time(reader, entry, &walk, &time);
        }
    ctf_peek_end(&walk.look);
}

void ctf_enter_range(struct ctf_reader *reader)
{
    struct entry entry = {.wanted = reader->wanted};
    entry.mark = reader->file_index ? ctf_find_entry(reader->file_index, reader->from,
                                                     &entry.packet, &entry.wanted)
                                    : NULL;
    if (!entry.mark)
        return;
    if (!ctf_verify_entry(reader, reader->from, &entry.mark, &entry.packet, &entry.wanted)) {
        ctf_check_index(reader);
        reader->file_index->is_whole = false; /* as far as the index told */
        return;
    }
    hold_against_events(reader, &entry);
    reader->wanted = entry.wanted;
    if (entry.packet == 0)
        return;
    reader->next = entry.mark->offset;
    reader->usual = entry.mark->usual;
    reader->packet_i = entry.packet;
    reader->is_entered_late = true;
}

/* --- Where it ends --- */

bool ctf_packet_meets_range(const struct ctf_reader *reader, const struct ctf_packet *packet)
{
    const struct ctf_timeline *line = &reader->frame.kind->timeline;
    bool is_clamped = false;
    const bool is_behind = packet->has_begin && reader->to != INT64_MAX &&
                           ctf_ticks_to_ns(line, packet->begin, &is_clamped) >= reader->to;
    const bool is_before = packet->has_end && reader->from != INT64_MIN &&
                           ctf_ticks_to_ns(line, packet->end, &is_clamped) < reader->from;
    return is_clamped || (!is_behind && !is_before);
}

bool ctf_is_after_range(const struct ctf_reader *reader, const struct ctf_frame *frame,
                        const struct bits *bits)
{
    bool is_clamped = false;
    int64_t time;
    if (reader->to == INT64_MAX || !frame->packet.has_begin || !reader->is_in_order ||
        reader->trace->class->quirks.event_before_packet)
        return false;
    if (reader->packet_end < reader->to ||
        ctf_ticks_to_ns(&frame->kind->timeline, frame->packet.begin, &is_clamped) < reader->to ||
        is_clamped)
        return false;
    return !first_time(reader, frame, bits, &time) || time >= reader->to;
}
