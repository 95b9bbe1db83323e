/* A look ahead over a stream file before its first event is read: which streams its packets belong to and whether they follow each other
 * in time.  Only headers are touched.
 *
 * What this finds decides how inputs are merged, so that merged events are in order: a file whose packets are in order is merged as it
 * comes, any other is sorted. */
#include "formats/ctf/ctf_scan.h"

#include <string.h>

#include "base/status.h"

#define PEEK_FIRST ((size_t)512)
#define PEEK_MAX ((size_t)1 << 20)

struct scan {
    struct ctf_reader *reader;
    struct ctf_summary *summary;
    uint8_t *bytes;
    size_t room;
    uint64_t at;
    bool has_end;
    int64_t end;     /* of the packets so far */
};

/* Takes apart the packet at scan->at; CTF_FRAME_SHORT at the end of the file. */
static enum ctf_framing look(struct scan *scan, struct ctf_frame *frame, ttr_error *error)
{
    struct ctf_reader *reader = scan->reader;
    const struct alloc *alloc = &reader->trace->t->counted;
    for (;;) {
        int64_t n = source_peek_at(reader->in->source, scan->at, scan->bytes, scan->room, error);
        if (n < 0)
            return CTF_FRAME_FAILED;
        struct bits bits = bits_over(scan->bytes, 0, (uint64_t)n * 8);
        enum ctf_framing framing = n ? ctf_frame_packet(reader->trace, reader->section, &bits, frame, error) : CTF_FRAME_SHORT;
        if (framing != CTF_FRAME_SHORT || (size_t)n < scan->room || scan->room >= PEEK_MAX)
            return framing;
        uint8_t *larger = alloc_resize(alloc, scan->bytes, scan->room, scan->room * 4, 1);
        if (!larger) {
            (void)fail_memory(error);
            return CTF_FRAME_FAILED;
        }
        scan->bytes = larger;
        scan->room *= 4;
    }
}

static void take_times(struct scan *scan, const struct ctf_frame *frame)
{
    struct ctf_summary *summary = scan->summary;
    const struct ctf_packet *packet = &frame->packet;
    const struct ctf_timeline *line = &frame->kind->timeline;
    bool is_clamped = false;
    if (!packet->has_begin)
        return;
    int64_t begin = ctf_time(line, packet->begin, &is_clamped);
    int64_t end = packet->has_end && packet->end >= packet->begin ? ctf_time(line, packet->end, &is_clamped) : begin;
    if (scan->has_end && begin < scan->end)
        summary->is_in_order = false;
    if (!scan->has_end || end > scan->end)
        scan->end = end;
    if (!summary->has_begin)
        summary->begin = begin;
    summary->has_begin = scan->has_end = true;
}

static void take_packet(struct scan *scan, const struct ctf_frame *frame)
{
    struct ctf_summary *summary = scan->summary;
    if (summary->packets++ == 0) {
        summary->kind = frame->kind;
        summary->number = frame->number;
        summary->has_number = frame->has_number;
    } else if (summary->kind != frame->kind || summary->number != frame->number) {
        summary->is_mixed = true;
    }
    take_times(scan, frame);
}

static ttr_status hop(struct scan *scan, ttr_error *error)
{
    for (;;) {
        struct ctf_frame frame;
        switch (look(scan, &frame, error)) {
        case CTF_FRAMED:
            take_packet(scan, &frame);
            break;
        case CTF_FRAME_FOREIGN:
            break;
        case CTF_FRAME_FAILED:
            return error->status;
        default:
            return TTR_OK;
        }
        if (frame.packet.size == UINT64_MAX)
            return TTR_OK;
        scan->at += frame.packet.size / 8;
    }
}

ttr_status ctf_scan(struct ctf_reader *reader, struct ctf_summary *summary, ttr_error *error)
{
    const struct alloc *alloc = &reader->trace->t->counted;
    struct scan scan = {.reader = reader, .summary = summary, .room = PEEK_FIRST};
    *summary = (struct ctf_summary){.is_in_order = true};
    if (!source_is_seekable(reader->in->source)) {
        summary->is_in_order = false;
        return TTR_OK;
    }
    scan.bytes = alloc_zero(alloc, scan.room, 1);
    if (!scan.bytes)
        return fail_memory(error);
    ttr_status status = hop(&scan, error);
    alloc_free(alloc, scan.bytes, scan.room, 1);
    if (summary->is_mixed)
        summary->is_in_order = false;
    return status;
}
