/* A look ahead over a stream file before its first event is read.  Only headers are touched, or only the index where the file has one:
 * that must list packets of one stream in order and without holes up to the end of the file, and the first, the last, one in the middle,
 * those that overlap, and where reading begins later that one must be as it says. */
#include "formats/ctf/ctf_scan.h"

#include <string.h>

#include "base/hash.h"
#include "base/status.h"
#include "formats/ctf/ctf_index.h"

#define PEEK_FIRST ((size_t)512)
#define PEEK_MAX ((size_t)1 << 20)

struct scan {
    struct ctf_reader *reader;
    struct ctf_lanes *lanes;
    uint8_t *bytes;
    size_t room;
    uint64_t at;
    bool is_late;        /* events may be later than their packet's end */
};

void ctf_lanes_release(struct ctf_lanes *lanes)
{
    if (!lanes || --lanes->users)
        return;
    alloc_free(lanes->alloc, lanes->of, lanes->of_capacity, 1);
    alloc_free(lanes->alloc, lanes->mark, lanes->marks_capacity, sizeof *lanes->mark);
    for (uint32_t i = 0; i < lanes->n; i++)
        if (lanes->lane[i].had) {
            pairmap_free(lanes->lane[i].had);
            alloc_free(lanes->alloc, lanes->lane[i].had, 1, sizeof *lanes->lane[i].had);
        }
    alloc_free(lanes->alloc, lanes->lane, lanes->capacity, sizeof *lanes->lane);
    alloc_free(lanes->alloc, lanes, 1, sizeof *lanes);
}

/* --- Marks --- */

static bool add_mark(struct scan *scan, int64_t begin)
{
    struct ctf_lanes *lanes = scan->lanes;
    if (lanes->packets % lanes->stride)
        return true;
    if (lanes->marks_n == CTF_MARKS) {
        for (size_t i = 0; i < CTF_MARKS / 2; i++)
            lanes->mark[i] = lanes->mark[2 * i];
        lanes->marks_n = CTF_MARKS / 2;
        lanes->stride *= 2;
    }
    if (!alloc_reserve(lanes->alloc, (void **)&lanes->mark, &lanes->marks_capacity, lanes->marks_n + 1, sizeof *lanes->mark))
        return false;
    int64_t before = scan->is_late && begin > lanes->end ? begin : lanes->end;
    lanes->mark[lanes->marks_n++] = (struct ctf_mark){.offset = scan->at, .packet = lanes->packets, .before = before};
    return true;
}

const struct ctf_mark *ctf_find_mark(const struct ctf_lanes *lanes, int64_t from)
{
    size_t low = 0, high = lanes->has_times ? lanes->marks_n : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (lanes->mark[middle].before < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 1 ? &lanes->mark[low - 2] : NULL;
}

/* --- Dealing packets into lanes --- */

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

/* Makes room for as many lanes as there may be; false when memory is out. */
static bool reserve_lanes(struct ctf_lanes *lanes)
{
    if (lanes->n < lanes->capacity)
        return true;
    struct ctf_lane *lane = alloc_resize(lanes->alloc, lanes->lane, lanes->capacity, CTF_LANES, sizeof *lane);
    if (!lane)
        return false;
    lanes->lane = lane;
    lanes->capacity = CTF_LANES;
    return true;
}

/* The lane that a packet goes into: the first of its stream that ends before it begins, else a new one, else any of its stream.  UINT32_MAX
 * when memory is out. */
static uint32_t choose(struct ctf_lanes *lanes, const struct ctf_frame *frame, bool has_begin, int64_t begin)
{
    uint32_t any = CTF_LANES;
    if (frame->packet.size == UINT64_MAX) /* whoever reads it searches for what follows it */
        return 0;
    for (uint32_t i = 0; i < lanes->n; i++) {
        const struct ctf_lane *lane = &lanes->lane[i];
        if (!ctf_is_of_lane(lane, frame))
            continue;
        if (!has_begin || !lane->has_begin || lane->end <= begin)
            return i;
        any = any == CTF_LANES ? i : any;
    }
    if (lanes->n < CTF_LANES && !reserve_lanes(lanes))
        return UINT32_MAX;
    if (lanes->n < CTF_LANES) {
        lanes->lane[lanes->n] = (struct ctf_lane){.kind = frame->kind->first, .number = frame->number, .has_number = frame->has_number,
                                                  .is_in_order = true};
        return lanes->n++;
    }
    any = any == CTF_LANES ? CTF_LANES - 1 : any;
    lanes->lane[any].is_in_order = false;
    return any;
}

struct ctf_lane *ctf_find_lane(const struct ctf_lanes *lanes, uint64_t i, const struct ctf_frame *frame)
{
    struct ctf_lane *own = &lanes->lane[ctf_lane_of(lanes, i)];
    if (ctf_is_of_lane(own, frame))
        return own;
    for (uint32_t k = 0; k < lanes->n && i >= lanes->packets; k++)
        if (ctf_is_of_lane(&lanes->lane[k], frame))
            return &lanes->lane[k];
    return NULL;
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

static struct ctf_identity identity_of(const struct ctf_packet *packet)
{
    return (struct ctf_identity){
        .begin = packet->begin,
        .end = packet->has_end ? packet->end : 0,
        .sequence = packet->has_sequence ? packet->sequence : 0,
        .size = packet->size,
    };
}

static void settle_lane(struct ctf_lane *lane, const struct ctf_frame *frame, bool has_begin, const int64_t times[2])
{
    if (has_begin && !lane->has_begin) {
        lane->begin = times[0];
        lane->first = identity_of(&frame->packet);
    }
    if (has_begin && (!lane->has_begin || times[1] > lane->end))
        lane->end = times[1];
    lane->last_begin = has_begin ? times[0] : lane->last_begin;
    lane->has_begin |= has_begin;
    ctf_settle_before(&lane->last, &frame->packet);
}

/* Takes the packet at scan->at. */
static bool deal(struct scan *scan, const struct ctf_frame *frame)
{
    struct ctf_lanes *lanes = scan->lanes;
    int64_t times[2] = {0, 0};
    bool has_begin = times_of(frame, &times[0], &times[1]);
    if (lanes->packets == 0)
        lanes->lane[0] = (struct ctf_lane){.kind = frame->kind->first, .number = frame->number, .has_number = frame->has_number,
                                           .is_in_order = true};
    if (!add_mark(scan, times[0]))
        return false;
    scan->reader->trace->has_foreign |= frame->is_foreign;
    if (!scan->reader->trace->has_first) {
        scan->reader->trace->first = frame->rfc;
        scan->reader->trace->has_first = true;
    }
    lanes->has_times &= has_begin && frame->packet.has_end;
    lanes->end = lanes->packets == 0 || times[1] > lanes->end ? times[1] : lanes->end;
    uint32_t chosen = choose(lanes, frame, has_begin, times[0]);
    if (chosen == UINT32_MAX || !record(lanes, chosen))
        return false;
    settle_lane(&lanes->lane[chosen], frame, has_begin, times);
    lanes->packets++;
    return true;
}

/* --- By the headers --- */

/* Takes apart the packet at an offset; CTF_FRAME_SHORT at the end of the file. */
static enum ctf_framing look(struct scan *scan, uint64_t offset, struct ctf_frame *frame, ttr_error *error)
{
    struct ctf_reader *reader = scan->reader;
    for (;;) {
        int64_t n = source_peek_at(reader->in->source, offset, scan->bytes, scan->room, error);
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

static ttr_status hop(struct scan *scan, ttr_error *error)
{
    for (;;) {
        struct ctf_frame frame;
        switch (look(scan, scan->at, &frame, error)) {
        case CTF_FRAMED:
            if (!deal(scan, &frame))
                return fail_memory(error);
            break;
        case CTF_FRAME_FOREIGN:
            break;
        case CTF_FRAME_FAILED:
            return error->status;
        case CTF_FRAME_SHORT:
            scan->lanes->is_whole = true;
            return TTR_OK;
        default:
            return TTR_OK;
        }
        scan->lanes->is_whole = frame.packet.size == UINT64_MAX;
        if (scan->lanes->is_whole)
            return TTR_OK;
        scan->at += frame.packet.size / 8;
        scan->lanes->is_whole = scan->at == source_disk_size(scan->reader->in->source);
        if (scan->lanes->is_whole) /* where most files end: reading tells where this one does by then */
            return TTR_OK;
    }
}

/* --- By the index --- */

/* Whether a packet is as the index says. */
static bool fits(const struct ctf_frame *frame, const struct ctf_index_entry *entry, bool has_instance)
{
    const struct ctf_packet *packet = &frame->packet;
    return packet->size == entry->size && packet->content == entry->content &&
           entry->begin == (packet->has_begin ? packet->begin : 0) && entry->end == (packet->has_end ? packet->end : 0) &&
           entry->discarded == (packet->has_discarded ? packet->discarded : 0) && frame->kind->class->id == entry->stream_id && !frame->is_foreign &&
           (!has_instance || !packet->has_sequence || packet->sequence == entry->sequence) &&
           (!has_instance || !frame->has_number || frame->number == entry->instance);
}

/* Makes of an entry what its packet's header would have been; `like`: the header of another packet. */
static bool imagine(struct scan *scan, const struct ctf_index_entry *entry, const struct ctf_frame *like, struct ctf_frame *frame)
{
    const struct ctf_stream_class *class = ctf_find_stream(&scan->reader->trace->description, entry->stream_id);
    ttr_error error;
    *frame = *like;
    frame->kind = class ? ctf_kind_of(scan->reader->trace, class, &error) : NULL;
    frame->packet.size = entry->size;
    frame->packet.content = entry->content;
    frame->packet.begin = entry->begin;
    frame->packet.end = entry->end;
    frame->packet.has_end = like->packet.has_begin && (entry->end != 0 || entry->begin == 0);
    frame->packet.discarded = entry->discarded;
    frame->packet.sequence = entry->sequence;
    frame->number = entry->instance;
    return frame->kind != NULL;
}

/* Whether an entry can stand behind another.  All of an index are of one stream and in order: an entry that is wrong is noticed by this,
 * but for a smaller end, which ctf_find_mark allows for. */
static bool follows(const struct ctf_index_entry *entry, const struct ctf_index_entry *before)
{
    return entry->stream_id == before->stream_id && entry->instance == before->instance && entry->begin >= before->begin &&
           (entry->end == 0 || entry->end >= entry->begin) && (entry->end == 0 || entry->end >= before->end);
}

/* Takes all entries; false where they do not fit: nothing was taken then. */
static bool follow_index(struct scan *scan, struct ctf_index *index)
{
    struct ctf_frame like = {.kind = NULL}, frame;
    struct ctf_index_entry entry, before = {.end = 0};
    ttr_error error;
    while (ctf_index_next(index, &entry)) {
        bool is_checked = index->at == 1 || index->at == index->n / 2 || index->at == index->n || entry.begin < before.end;
        if (entry.offset != scan->at || entry.size == 0 || entry.size % 8 || entry.content > entry.size)
            return false;
        if (index->at > 1 && !follows(&entry, &before))
            return false;
        before = entry;
        if (is_checked && (look(scan, scan->at, &like, &error) != CTF_FRAMED || !fits(&like, &entry, index->has_instance)))
            return false;
        if (index->at == 1 && (like.has_number || like.packet.has_sequence) && !index->has_instance)
            return false;
        if (!imagine(scan, &entry, &like, &frame) || !deal(scan, &frame))
            return false;
        scan->at += entry.size / 8;
    }
    return index->at == index->n && scan->at == source_disk_size(scan->reader->in->source);
}

static void reset(struct scan *scan)
{
    struct ctf_lanes *lanes = scan->lanes;
    alloc_free(lanes->alloc, lanes->of, lanes->of_capacity, 1);
    alloc_free(lanes->alloc, lanes->mark, lanes->marks_capacity, sizeof *lanes->mark);
    lanes->lane[0] = (struct ctf_lane){.is_in_order = true};
    *lanes = (struct ctf_lanes){.alloc = lanes->alloc, .users = 1, .n = 1, .lane = lanes->lane, .capacity = lanes->capacity, .stride = 1, .has_times = true};
    scan->at = 0;
}

static bool scan_by_index(struct scan *scan)
{
    struct ctf_reader *reader = scan->reader;
    struct ctf_index index;
    bool is_odd;
    bool is_there = ctf_index_open(&index, reader->trace, reader->file, &is_odd);
    scan->lanes->is_indexed = scan->lanes->is_whole = is_there && follow_index(scan, &index);
    if (is_odd || (is_there && !scan->lanes->is_indexed))
        input_note(reader->in, TTR_NOTE_REMARK, 0, "ctf.bad-index", "the index of %s does not fit its packets: it is not used", reader->file);
    ctf_index_close(&index);
    if (is_there && !scan->lanes->is_indexed)
        reset(scan);
    return scan->lanes->is_indexed;
}

struct ctf_lanes *ctf_scan(struct ctf_reader *reader, ttr_error *error)
{
    const struct alloc *alloc = &reader->trace->t->counted;
    struct ctf_lanes *lanes = alloc_zero(alloc, 1, sizeof *lanes);
    struct ctf_lane *lane = alloc_zero(alloc, 1, sizeof *lane);
    if (!lanes || !lane) {
        alloc_free(alloc, lane, 1, sizeof *lane);
        alloc_free(alloc, lanes, 1, sizeof *lanes);
        (void)fail_memory(error);
        return NULL;
    }
    lanes->alloc = alloc;
    lanes->lane = lane;
    lanes->capacity = 1;
    struct scan scan = {.reader = reader, .lanes = lanes, .room = PEEK_FIRST, .is_late = reader->trace->quirks.event_after_packet};
    reset(&scan);
    if (!source_is_seekable(reader->in->source)) {
        lanes->lane[0].is_in_order = lanes->has_times = false;
        return lanes;
    }
    scan.bytes = alloc_zero(alloc, PEEK_FIRST, 1);
    ttr_status status = scan.bytes ? TTR_OK : fail_memory(error);
    if (status == TTR_OK && !scan_by_index(&scan))
        status = hop(&scan, error);
    if (scan.bytes)
        alloc_free(alloc, scan.bytes, scan.room, 1);
    if (status == TTR_OK)
        return lanes;
    ctf_lanes_release(lanes);
    return NULL;
}

/* The packet at a mark as its header says; false where none is there that says when it begins. */
static bool times_at(struct ctf_reader *reader, const struct ctf_mark *mark, int64_t *begin, int64_t *end)
{
    const struct alloc *alloc = &reader->trace->t->counted;
    struct ctf_lanes lanes = {.alloc = alloc};
    struct scan scan = {.reader = reader, .lanes = &lanes, .room = PEEK_FIRST, .bytes = alloc_zero(alloc, PEEK_FIRST, 1)};
    struct ctf_frame frame;
    ttr_error error;
    if (!scan.bytes)
        return false;
    bool is_there = look(&scan, mark->offset, &frame, &error) == CTF_FRAMED && times_of(&frame, begin, end);
    alloc_free(alloc, scan.bytes, scan.room, 1);
    return is_there;
}

bool ctf_mark_holds(struct ctf_reader *reader, const struct ctf_mark *mark, int64_t from)
{
    int64_t begin, end;
    if (!reader->lanes->is_indexed)
        return true;
    if (reader->trace->quirks.event_after_packet)
        return times_at(reader, mark + 1, &begin, &end) && begin <= from;
    return times_at(reader, mark, &begin, &end) && end < from;
}

static bool is_same(const struct ctf_identity *a, const struct ctf_identity *b)
{
    return a->begin == b->begin && a->end == b->end && a->sequence == b->sequence && a->size == b->size;
}

/* Whether packets behind one that begins at a time may begin before another. */
static bool may_follow(const struct ctf_lanes *lanes, int64_t begin, int64_t other)
{
    return begin <= other || lanes->n > 1 || !lanes->lane[0].is_in_order;
}

/* Packets of a lane of another file, one after another. */
struct visit {
    struct scan scan;
    uint64_t packet;         /* at scan.at */
    uint32_t lane;
    struct ctf_frame frame;  /* of the packet found */
    int64_t begin;           /* when that begins */
    bool is_over;
};

/* Begins with the last mark before a time; is_over when memory is out. */
static struct visit visit_from(struct ctf_reader *reader, uint32_t lane, int64_t begin, struct ctf_lanes *own)
{
    const struct ctf_mark *mark = ctf_find_mark(reader->lanes, begin);
    struct visit visit = {.scan = {.reader = reader, .lanes = own, .at = mark ? mark->offset : 0, .room = PEEK_FIRST},
                          .packet = mark ? mark->packet : 0, .lane = lane};
    visit.scan.bytes = alloc_zero(own->alloc, PEEK_FIRST, 1);
    visit.is_over = !visit.scan.bytes;
    return visit;
}

/* The next packet of the lane that says when it begins; false at the end of what can be looked at. */
static bool visit_next(struct visit *visit)
{
    ttr_error error;
    int64_t end;
    for (bool is_found = false; !visit->is_over && !is_found;) {
        const struct ctf_frame *frame = &visit->frame;
        enum ctf_framing framing = look(&visit->scan, visit->scan.at, &visit->frame, &error);
        is_found = framing == CTF_FRAMED && ctf_lane_of(visit->scan.reader->lanes, visit->packet) == visit->lane && times_of(frame, &visit->begin, &end);
        visit->is_over = (framing != CTF_FRAMED && framing != CTF_FRAME_FOREIGN) || frame->packet.size == UINT64_MAX;
        visit->packet += framing == CTF_FRAMED;
        visit->scan.at += visit->is_over ? 0 : frame->packet.size / 8;
        if (is_found)
            return true;
    }
    return false;
}

static void visit_end(struct visit *visit)
{
    if (visit->scan.bytes)
        alloc_free(visit->scan.lanes->alloc, visit->scan.bytes, visit->scan.room, 1);
}

bool ctf_scan_finds(struct ctf_reader *reader, uint32_t i, const struct ctf_lane *lane)
{
    struct ctf_lanes own = {.alloc = &reader->trace->t->counted};
    struct visit visit = visit_from(reader, i, lane->begin, &own);
    bool is_found = false, goes_on = true;
    while (goes_on && !is_found && visit_next(&visit)) {
        const struct ctf_identity found = identity_of(&visit.frame.packet);
        is_found = is_same(&found, &lane->first);
        goes_on = may_follow(reader->lanes, visit.begin, lane->begin);
    }
    visit_end(&visit);
    return is_found;
}

/* What two packets have in common only where they are one. */
static void key_of(const struct ctf_packet *packet, uint64_t key[2])
{
    const struct ctf_identity identity = identity_of(packet);
    key[0] = hash_pair(identity.begin, identity.end);
    key[1] = hash_pair(identity.sequence, identity.size);
}

bool ctf_scan_collect(struct ctf_reader *reader, uint32_t i, struct ctf_lane *lane)
{
    struct ctf_lanes own = {.alloc = &reader->trace->t->counted};
    bool is_fine = true;
    if (!lane->had && (lane->had = alloc_zero(own.alloc, 1, sizeof *lane->had)))
        pairmap_init(lane->had, own.alloc);
    if (!lane->had)
        return false;
    struct visit visit = visit_from(reader, i, lane->begin, &own);
    for (bool goes_on = true; goes_on && is_fine && visit_next(&visit);) {
        uint64_t key[2];
        key_of(&visit.frame.packet, key);
        is_fine = pairmap_put(lane->had, key[0], key[1], 1);
        goes_on = may_follow(reader->lanes, visit.begin, lane->end);
    }
    is_fine = is_fine && visit.scan.bytes;
    visit_end(&visit);
    return is_fine;
}

bool ctf_lane_had(const struct ctf_lane *lane, const struct ctf_packet *packet)
{
    uint64_t key[2];
    if (!lane->had || !packet->has_begin || !packet->has_end || packet->size == UINT64_MAX)
        return false;
    key_of(packet, key);
    return pairmap_get(lane->had, key[0], key[1]);
}
