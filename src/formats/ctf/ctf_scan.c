/* A look ahead over a stream file before its first event is read.  Only headers are touched. */
#include "formats/ctf/ctf_scan.h"

#include <string.h>

#include "base/status.h"

#define PEEK_FIRST ((size_t)512)
#define PEEK_MAX ((size_t)1 << 20)

struct scan {
    struct ctf_reader *reader;
    struct ctf_lanes *lanes;
    uint8_t *bytes;
    size_t room;
    uint64_t at;
};

void ctf_lanes_release(struct ctf_lanes *lanes)
{
    if (!lanes || --lanes->users)
        return;
    alloc_free(lanes->alloc, lanes->of, lanes->of_capacity, 1);
    alloc_free(lanes->alloc, lanes, 1, sizeof *lanes);
}

/* Takes apart the packet at scan->at; CTF_FRAME_SHORT at the end of the file. */
static enum ctf_framing look(struct scan *scan, struct ctf_frame *frame, ttr_error *error)
{
    struct ctf_reader *reader = scan->reader;
    for (;;) {
        int64_t n = source_peek_at(reader->in->source, scan->at, scan->bytes, scan->room, error);
        if (n < 0)
            return CTF_FRAME_FAILED;
        struct bits bits = bits_over(scan->bytes, 0, (uint64_t)n * 8);
        enum ctf_framing framing = n ? ctf_frame_packet(reader->trace, reader->section, &bits, frame, error) : CTF_FRAME_SHORT;
        if (framing != CTF_FRAME_SHORT || (size_t)n < scan->room || scan->room >= PEEK_MAX)
            return framing;
        uint8_t *larger = alloc_resize(scan->lanes->alloc, scan->bytes, scan->room, scan->room * 4, 1);
        if (!larger) {
            (void)fail_memory(error);
            return CTF_FRAME_FAILED;
        }
        scan->bytes = larger;
        scan->room *= 4;
    }
}

/* When a packet begins and ends; false where it does not say. */
static bool times_of(const struct ctf_frame *frame, int64_t *begin, int64_t *end)
{
    const struct ctf_packet *packet = &frame->packet;
    const struct ctf_timeline *line = &frame->kind->timeline;
    bool is_clamped = false;
    if (!packet->has_begin)
        return false;
    *begin = *end = ctf_time(line, packet->begin, &is_clamped);
    if (packet->has_end && packet->end > packet->begin)
        *end = ctf_time(line, packet->end, &is_clamped);
    return true;
}

static bool is_of(const struct ctf_lane *lane, const struct ctf_frame *frame)
{
    return lane->kind == frame->kind && lane->has_number == frame->has_number && lane->number == frame->number;
}

/* The lane that a packet goes into: the first of its stream that ends before it begins, else a new one, else any of its stream. */
static uint32_t choose(struct ctf_lanes *lanes, const struct ctf_frame *frame, bool has_begin, int64_t begin)
{
    uint32_t any = CTF_LANES;
    if (frame->packet.size == UINT64_MAX) /* whoever reads it searches for what follows it */
        return 0;
    for (uint32_t i = 0; i < lanes->n; i++) {
        const struct ctf_lane *lane = &lanes->lane[i];
        if (!is_of(lane, frame))
            continue;
        if (!has_begin || !lane->has_begin || lane->end <= begin)
            return i;
        any = any == CTF_LANES ? i : any;
    }
    if (lanes->n < CTF_LANES) {
        lanes->lane[lanes->n] = (struct ctf_lane){.kind = frame->kind, .number = frame->number, .has_number = frame->has_number,
                                                  .is_in_order = true};
        return lanes->n++;
    }
    any = any == CTF_LANES ? CTF_LANES - 1 : any;
    lanes->lane[any].is_in_order = false;
    return any;
}

/* Writes down the lane of a packet, once there is more than one. */
static bool record(struct ctf_lanes *lanes, uint32_t lane)
{
    size_t before = lanes->of_capacity;
    if (lane == 0 && !lanes->of)
        return true;
    if (!alloc_reserve(lanes->alloc, (void **)&lanes->of, &lanes->of_capacity, (size_t)lanes->packets + 1, 1))
        return false;
    if (before == 0)
        memset(lanes->of, 0, (size_t)lanes->packets);
    lanes->of[lanes->packets] = (uint8_t)lane;
    return true;
}

static bool deal(struct ctf_lanes *lanes, const struct ctf_frame *frame)
{
    int64_t begin = 0, end = 0;
    bool has_begin = times_of(frame, &begin, &end);
    struct ctf_lane *first = &lanes->lane[0];
    if (lanes->packets == 0)
        *first = (struct ctf_lane){.kind = frame->kind, .number = frame->number, .has_number = frame->has_number, .is_in_order = true};
    uint32_t chosen = choose(lanes, frame, has_begin, begin);
    if (!record(lanes, chosen))
        return false;
    struct ctf_lane *lane = &lanes->lane[chosen];
    if (has_begin && !lane->has_begin)
        lane->begin = begin;
    if (has_begin && (!lane->has_begin || end > lane->end))
        lane->end = end;
    lane->has_begin |= has_begin;
    lanes->packets++;
    return true;
}

static ttr_status hop(struct scan *scan, ttr_error *error)
{
    for (;;) {
        struct ctf_frame frame;
        switch (look(scan, &frame, error)) {
        case CTF_FRAMED:
            if (!deal(scan->lanes, &frame))
                return fail_memory(error);
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

struct ctf_lanes *ctf_scan(struct ctf_reader *reader, ttr_error *error)
{
    const struct alloc *alloc = &reader->trace->t->counted;
    struct ctf_lanes *lanes = alloc_zero(alloc, 1, sizeof *lanes);
    if (!lanes) {
        (void)fail_memory(error);
        return NULL;
    }
    *lanes = (struct ctf_lanes){.alloc = alloc, .users = 1, .n = 1, .lane = {{.is_in_order = true}}};
    if (!source_is_seekable(reader->in->source)) {
        lanes->lane[0].is_in_order = false;
        return lanes;
    }
    struct scan scan = {.reader = reader, .lanes = lanes, .room = PEEK_FIRST, .bytes = alloc_zero(alloc, PEEK_FIRST, 1)};
    ttr_status status = scan.bytes ? hop(&scan, error) : fail_memory(error);
    if (scan.bytes)
        alloc_free(alloc, scan.bytes, scan.room, 1);
    if (status == TTR_OK)
        return lanes;
    ctf_lanes_release(lanes);
    return NULL;
}
