/* Start and end of time ranges in a stream file; the algorithm is described in ctf_time_range.h.
 *
 * Start of a range (ctf_seek_range_start):
 *
 * |  packets        P0   P1   P2   P3   P4   P5
 * |  begin/end      before | range -->
 * |  entry point         ^mark     ^wanted: first packet to decode
 * |                      `- read for its counters only
 *
 * |  1. ctf_find_entry_point: binary search for the last entry point before the range.
 * |  2. ctf_verify_entry_point: if the index came from a file, check it against two headers.
 * |  3. verify_entry_by_events: decode the first event of `wanted`. If it is already in the
 * |     range, earlier packets may contain events of the range too, so go back 1, 2, 4, ...
 * |     entry points until it is before the range.
 *
 * End of a range (ctf_packet_is_after_range): stop at the first packet that begins after the range,
 * if the packet before it ends after it too and its first event confirms this.
 *
 * Cost: O(log n) for entry points, plus one header and one event per step back. Left out: packets
 * after damage, which are always read. */
#include "formats/ctf/read/ctf_time_range.h"

#include "formats/ctf/read/ctf_peek_header.h"
#include "formats/ctf/read/ctf_resync.h"
#include "formats/ctf/read/ctf_build_index.h"

#define HEADER_ROOM 64u /* bytes that most event headers fit in */

uint64_t ctf_count_first_event_bytes(const struct ctf_frame *frame)
{
    const struct ctf_header_plan *plan = &frame->kind->plan;
    const uint64_t room = plan->kind == CTF_PLAN_LOADS && plan->loads.room > HEADER_ROOM
                              ? plan->loads.room
                              : HEADER_ROOM;
    return ctf_packet_is_empty(frame) ? 0 : (frame->head + 7) / 8 + room;
}

static bool is_content_readable_in_place(const struct ctf_reader *reader,
                                         const struct ctf_frame *frame)
{
    return reader->trace->class->description.version != CTF_RFC_1_1 ||
           (frame->rfc.compression_scheme == RFC11_COMPRESSION_NONE &&
            frame->rfc.encryption_scheme == RFC11_ENCRYPTION_NONE);
}

static bool header_needs_packet_fields(const struct ctf_header_plan *plan)
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
        !is_content_readable_in_place(reader, frame) || header_needs_packet_fields(plan))
        return false;
    struct bits from =
        bits_init(bits->base, frame->head, bits->end < content ? bits->end : content);
    ctf_read_event_header(plan, &from, slots, &header);
    *ticks = header.ticks;
    return header.end == LAYOUT_OK;
}

/* Sets *time to the time of the packet's first event, ns. Returns false if ctf_decode_first_ticks
 * cannot decode it, or the time does not fit in 64 bits. */
static bool decode_first_event_time(const struct ctf_reader *reader, const struct ctf_frame *frame,
                                    const struct bits *bits, int64_t *time)
{
    uint64_t ticks;
    bool is_clamped = false;
    if (!ctf_decode_first_ticks(reader, frame, bits, &ticks))
        return false;
    *time = ctf_ticks_to_ns(&frame->kind->timeline, ticks, &is_clamped);
    return !is_clamped;
}

/* --- Start of a range --- */

/* Position at which reading starts: an entry point, its packet index, and the index of the first
 * packet with events to decode. Only the counters of packets before that are read. */
struct range_entry {
    const struct ctf_entry_point *mark;
    uint64_t packet, wanted;
};

/* Iterator over packet headers that does not move the reader's window. */
struct header_iter {
    struct ctf_header_peek peek;
    uint64_t at, previous_size;
    uint64_t packet; /* index of the packet at file offset `at` */
    struct ctf_frame frame;
};

/* Advances the iterator to the packet with index `packet`; starts from an entry point if that is
 * closer. Returns false if a header on the way is invalid. */
static bool advance_to_packet(struct header_iter *iter, const struct ctf_file_index *file_index,
                              uint64_t packet)
{
    const uint64_t i = packet / file_index->stride;
    ttr_error error;
    if (i * file_index->stride > iter->packet && i < file_index->entry_points_n) {
        iter->packet = i * file_index->stride;
        iter->at = file_index->entry_points[i].offset;
        iter->previous_size = file_index->entry_points[i].previous_size;
    }
    for (;;) {
        enum ctf_framing framing = ctf_peek_header(&iter->peek, iter->at, &iter->frame, &error);
        framing = ctf_correct_packet_size(
            iter->peek.reader,
            &(struct ctf_size_question){iter->at, iter->previous_size, NULL, framing},
            &iter->frame);
        if (framing == CTF_FRAME_OK && iter->packet == packet)
            return true;
        if ((framing != CTF_FRAME_OK && framing != CTF_FRAME_FOREIGN) ||
            iter->frame.packet.size == UINT64_MAX)
            return false;
        iter->packet += framing == CTF_FRAME_OK;
        iter->previous_size = iter->frame.packet.size / 8;
        iter->at += iter->previous_size;
    }
}

/* Sets *time to the time of the first event that would be read if reading started here, and moves
 * the iterator to its packet. Returns false if there are no events, or the first cannot be
 * decoded. */
static bool decode_entry_time(const struct ctf_reader *reader, const struct range_entry *entry,
                              struct header_iter *iter, int64_t *time)
{
    const struct ctf_file_index *file_index = reader->file_index;
    const uint64_t last = file_index->queue[reader->queue].last_with_events;
    iter->packet = entry->packet;
    iter->at = entry->mark->offset;
    iter->previous_size = entry->mark->previous_size;
    for (uint64_t packet = entry->wanted; last != UINT64_MAX && packet <= last; packet++) {
        if (ctf_get_packet_queue(file_index, packet) != reader->queue)
            continue;
        if (!advance_to_packet(iter, file_index, packet))
            return false;
        const struct bits bits =
            ctf_peek_bytes(&iter->peek, iter->at, ctf_count_first_event_bytes(&iter->frame));
        if (!ctf_packet_is_empty(&iter->frame))
            return decode_first_event_time(reader, &iter->frame, &bits, time);
    }
    return false;
}

/* Returns true if an event is later than the end that its packet declares. */
static bool is_later_than_packet(const struct ctf_frame *frame, int64_t time)
{
    bool is_clamped = false;
    return frame->packet.has_end &&
           time > ctf_ticks_to_ns(&frame->kind->timeline, frame->packet.end, &is_clamped);
}

/* Verifies an entry point by decoding its first event. While that event is already in the time
 * range, moves the entry back, by twice as many entry points each time. If the range is far after
 * the last packet, its declared end alone proves that the packet may be skipped; so this verifies
 * that its first event is not later than that end. */
static void verify_entry_by_events(struct ctf_reader *reader, struct range_entry *entry)
{
    const struct ctf_file_index *file_index = reader->file_index;
    const bool is_far = entry->wanted == UINT64_MAX;
    struct header_iter iter;
    int64_t time;
    if (!ctf_peek_begin(&iter.peek, reader))
        return;
    entry->wanted = is_far ? file_index->queue[0].last_with_events : entry->wanted;
    bool is_seen = decode_entry_time(reader, entry, &iter, &time);
    if (is_far && !(is_seen && is_later_than_packet(&iter.frame, time)))
        entry->wanted = UINT64_MAX;
    else if (is_seen)
        for (size_t i = (size_t)(entry->wanted / file_index->stride), step = 1;
             entry->wanted && (!is_seen || time >= reader->from); step *= 2) {
            /* damage, or a wrong index, since a header or event cannot be decoded: start at the
             * beginning of the file */
            i = is_seen && i > step ? i - step : 0;
            entry->mark = ctf_get_entry_point(file_index, i, &entry->packet, &entry->wanted);
            is_seen = decode_entry_time(reader, entry, &iter, &time);
        }
    ctf_peek_end(&iter.peek);
}

void ctf_seek_range_start(struct ctf_reader *reader)
{
    struct range_entry entry = {.wanted = reader->wanted};
    entry.mark = reader->file_index ? ctf_find_entry_point(reader->file_index, reader->from,
                                                           &entry.packet, &entry.wanted)
                                    : NULL;
    if (!entry.mark)
        return;
    if (!ctf_verify_entry_point(reader, reader->from, &entry.mark, &entry.packet, &entry.wanted)) {
        ctf_check_index(reader);
        /* is_whole was set by the index file, which is wrong */
        reader->file_index->is_whole = false;
        return;
    }
    verify_entry_by_events(reader, &entry);
    reader->wanted = entry.wanted;
    if (entry.packet == 0)
        return;
    reader->next = entry.mark->offset;
    reader->previous_size = entry.mark->previous_size;
    reader->packet_i = entry.packet;
    reader->is_entered_late = true;
}

/* --- End of a range --- */

bool ctf_packet_overlaps_range(const struct ctf_reader *reader, const struct ctf_packet *packet)
{
    const struct ctf_timeline *line = &reader->frame.kind->timeline;
    bool is_clamped = false;
    const bool is_behind = packet->has_begin && reader->to != INT64_MAX &&
                           ctf_ticks_to_ns(line, packet->begin, &is_clamped) >= reader->to;
    const bool is_before = packet->has_end && reader->from != INT64_MIN &&
                           ctf_ticks_to_ns(line, packet->end, &is_clamped) < reader->from;
    return is_clamped || (!is_behind && !is_before);
}

bool ctf_packet_is_after_range(const struct ctf_reader *reader, const struct ctf_frame *frame,
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
    return !decode_first_event_time(reader, frame, bits, &time) || time >= reader->to;
}
