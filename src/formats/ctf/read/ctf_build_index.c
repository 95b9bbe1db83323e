/* A look ahead over a stream file before its first event is read.  Only headers are touched; of a
 * file with an index that can be right only some: the first, the last, one in the middle, those
 * that overlap, and where a range begins.  What is read whole has all entries held against headers
 * in the end. */
#include "formats/ctf/read/ctf_build_index.h"

#include <string.h>

#include "base/hash.h"
#include "base/status.h"
#include "formats/ctf/packet/ctf_index.h"
#include "formats/ctf/read/ctf_peek_header.h"
#include "formats/ctf/read/ctf_resync.h"
#include "formats/ctf/read/ctf_duplicate_packets.h"

#define AHEAD \
    32u /* headers that a disk is asked for at once: 40,000 of them take a quarter of the time */
#define LOST_MOST 16u /* entries of an index where no packet is: those behind are not looked at */
#define REST_BYTES ((size_t)64 << 10)

struct scan {
    struct ctf_reader *reader;
    struct ctf_file_index *file_index;
    struct ctf_header_peek look;
    uint64_t at;
    uint64_t usual;    /* size of the packet before, in bytes; 0 = none yet */
    uint64_t foretold; /* where the first header is that the disk was not asked for yet */
    struct ctf_index_check check; /* of the file's index */
};

void ctf_file_index_unref(struct ctf_file_index *file_index)
{
    if (!file_index || --file_index->users)
        return;
    alloc_free(file_index->alloc, file_index->of, file_index->of_capacity, 1);
    alloc_free(file_index->alloc, file_index->mark, file_index->marks_capacity,
               sizeof *file_index->mark);
    for (uint32_t i = 0; i < file_index->n; i++) {
        struct ctf_packet_queue *queue = &file_index->queue[i];
        if (queue->had)
            pair_map_free(queue->had);
        alloc_free(file_index->alloc, queue->had, 1, sizeof *queue->had);
        alloc_free(file_index->alloc, queue->taken, queue->taken_capacity, sizeof *queue->taken);
    }
    alloc_free(file_index->alloc, file_index->queue, file_index->capacity,
               sizeof *file_index->queue);
    alloc_free(file_index->alloc, file_index, 1, sizeof *file_index);
}

/* --- Marks --- */

/* The first of the packets with events that are the last such of their lanes so far. */
static uint64_t oldest_of(const struct ctf_file_index *file_index)
{
    uint64_t oldest = file_index->packets;
    for (uint32_t i = 0; i < file_index->n && file_index->packets; i++)
        oldest = file_index->queue[i].last_full < oldest ? file_index->queue[i].last_full : oldest;
    return oldest;
}

static bool add_mark(struct scan *scan, const struct ctf_frame *frame, int64_t begin)
{
    struct ctf_file_index *file_index = scan->file_index;
    if (file_index->packets % file_index->stride)
        return true;
    if (file_index->marks_n == CTF_ENTRY_POINTS_MAX) {
        for (size_t i = 0; i < CTF_ENTRY_POINTS_MAX / 2; i++)
            file_index->mark[i] = file_index->mark[2 * i];
        file_index->marks_n = CTF_ENTRY_POINTS_MAX / 2;
        file_index->stride *= 2;
    }
    if (!alloc_reserve_small(file_index->alloc, (void **)&file_index->mark,
                             &file_index->marks_capacity, file_index->marks_n + 1,
                             sizeof *file_index->mark))
        return false;
    int64_t before = file_index->packets == 0 || begin > file_index->end ? begin : file_index->end;
    file_index->mark[file_index->marks_n++] =
        (struct ctf_entry_point){.offset = scan->at,
                                 .oldest = oldest_of(file_index) & (UINT64_MAX >> 1),
                                 .is_empty = ctf_packet_is_empty(frame),
                                 .usual = scan->usual,
                                 .before = before};
    return true;
}

/* Whether a time is so far behind a file's last packet, which is the only one whose end no other
 * confirms, that it can only be damage which has events then: farther than its packets are long. */
static bool is_far_behind(const struct ctf_file_index *file_index, int64_t from)
{
    const struct ctf_packet_queue *queue = &file_index->queue[0];
    if (file_index->n > 1 || !file_index->is_whole || from <= file_index->end)
        return false;
    return (uint64_t)from - (uint64_t)file_index->end >
           ((uint64_t)file_index->end - (uint64_t)queue->begin) / file_index->packets;
}

const struct ctf_entry_point *ctf_entry_at(const struct ctf_file_index *file_index, size_t i,
                                           uint64_t *packet, uint64_t *wanted)
{
    const struct ctf_entry_point *mark = &file_index->mark[i];
    const uint64_t first = i * file_index->stride;
    const uint64_t enter = (mark->oldest == first && first ? first - 1 : mark->oldest) /
                           file_index->stride; /* before the first, for its counters */
    *wanted = file_index->n == 1 && !mark->is_empty ? first : mark->oldest;
    *packet = enter * file_index->stride;
    return &file_index->mark[enter];
}

const struct ctf_entry_point *ctf_find_entry(const struct ctf_file_index *file_index, int64_t from,
                                             uint64_t *packet, uint64_t *wanted)
{
    size_t low = 0, high = file_index->has_times ? file_index->marks_n : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (file_index->mark[middle].before < from)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    const struct ctf_entry_point *mark = ctf_entry_at(file_index, low - 1, packet, wanted);
    if (is_far_behind(file_index, from))
        *wanted = UINT64_MAX;
    return mark;
}

/* The lanes that have packets of the stream of one of them. */
static uint32_t lanes_of_stream(const struct ctf_file_index *file_index, uint32_t queue)
{
    const struct ctf_packet_queue *ctx = &file_index->queue[queue];
    uint32_t set = 0;
    _Static_assert(CTF_QUEUES_MAX <= 32, "a bit for each lane");
    for (uint32_t i = 0; i < file_index->n; i++) {
        const struct ctf_packet_queue *other = &file_index->queue[i];
        set |= (uint32_t)(other->kind == ctx->kind && other->has_number == ctx->has_number &&
                          other->number == ctx->number)
               << i;
    }
    return set;
}

const struct ctf_entry_point *ctf_skip_other_queues(const struct ctf_file_index *file_index,
                                                    uint32_t queue, uint64_t *i)
{
    uint64_t next = *i;
    if (!file_index->of || file_index->has_others || next >= file_index->packets)
        return NULL;
    for (const uint32_t wanted = lanes_of_stream(file_index, queue);
         next + 1 < file_index->packets && !(wanted >> file_index->of[next] & 1);)
        next++;
    const uint64_t mark = next / file_index->stride;
    if (mark >= file_index->marks_n || mark * file_index->stride <= *i)
        return NULL;
    *i = mark * file_index->stride;
    return &file_index->mark[mark];
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
    *begin = *end = ctf_ticks_to_ns(line, packet->begin, &is_clamped);
    if (packet->has_end && packet->end > packet->begin)
        *end = ctf_ticks_to_ns(line, packet->end, &is_clamped);
    return true;
}

/* Makes room for as many lanes as there may be; false when memory is out. */
static bool reserve_lanes(struct ctf_file_index *file_index)
{
    if (file_index->n < file_index->capacity)
        return true;
    struct ctf_packet_queue *queue = alloc_resize(
        file_index->alloc, file_index->queue, file_index->capacity, CTF_QUEUES_MAX, sizeof *queue);
    if (!queue)
        return false;
    file_index->queue = queue;
    file_index->capacity = CTF_QUEUES_MAX;
    return true;
}

/* The lane that a packet goes into: the first of its stream that ends before it begins, else a new
 * one, else any of its stream.  UINT32_MAX when memory is out. */
static uint32_t choose(struct ctf_file_index *file_index, const struct ctf_frame *frame,
                       bool has_begin, int64_t begin)
{
    uint32_t any = CTF_QUEUES_MAX;
    if (frame->packet.size == UINT64_MAX) /* whoever reads it searches for what follows it */
        return 0;
    for (uint32_t i = 0; i < file_index->n; i++) {
        const struct ctf_packet_queue *queue = &file_index->queue[i];
        if (!ctf_queue_accepts(queue, frame))
            continue;
        if (!has_begin || !queue->has_begin || queue->end <= begin)
            return i;
        any = any == CTF_QUEUES_MAX ? i : any;
    }
    if (file_index->n < CTF_QUEUES_MAX && !reserve_lanes(file_index))
        return UINT32_MAX;
    if (file_index->n < CTF_QUEUES_MAX) {
        file_index->queue[file_index->n] =
            (struct ctf_packet_queue){.kind = frame->kind->first,
                                      .number = frame->number,
                                      .has_number = frame->has_number,
                                      .last_full = UINT64_MAX,
                                      .is_in_order = true};
        return file_index->n++;
    }
    any = any == CTF_QUEUES_MAX ? CTF_QUEUES_MAX - 1 : any;
    file_index->queue[any].is_in_order = false;
    return any;
}

struct ctf_packet_queue *ctf_find_queue(const struct ctf_file_index *file_index, uint64_t i,
                                        const struct ctf_frame *frame)
{
    struct ctf_packet_queue *ctx = &file_index->queue[ctf_queue_of_packet(file_index, i)];
    if (ctf_queue_accepts(ctx, frame))
        return ctx;
    for (uint32_t k = 0; k < file_index->n && i >= file_index->packets; k++)
        if (ctf_queue_accepts(&file_index->queue[k], frame))
            return &file_index->queue[k];
    return NULL;
}

/* Writes down the lane of a packet, once there is more than one. */
static bool record(struct ctf_file_index *file_index, uint32_t queue)
{
    size_t before = file_index->of_capacity;
    if (queue == 0 && !file_index->of)
        return true;
    if (!alloc_reserve(file_index->alloc, (void **)&file_index->of, &file_index->of_capacity,
                       (size_t)file_index->packets + 1, 1))
        return false;
    if (before == 0)
        memset(file_index->of, 0, (size_t)file_index->packets);
    file_index->of[file_index->packets] = (uint8_t)queue;
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

static void settle_lane(struct ctf_packet_queue *queue, const struct ctf_frame *frame,
                        bool has_begin, const int64_t times[2])
{
    if (has_begin && !queue->has_begin) {
        queue->begin = times[0];
        queue->first = identity_of(&frame->packet);
    }
    if (has_begin && (!queue->has_begin || times[1] > queue->end))
        queue->end = times[1];
    queue->last_begin = has_begin ? times[0] : queue->last_begin;
    queue->has_begin |= has_begin;
    ctf_update_counters(&queue->last, &frame->packet);
}

/* Tells of a packet that begins before one of its stream that stands in front of it. */
static void tell_order(const struct scan *scan, const struct ctf_frame *frame, int64_t begin)
{
    const struct ctf_file_index *file_index = scan->file_index;
    bool is_earlier = false;
    for (uint32_t i = 0; i < file_index->n; i++)
        is_earlier |= file_index->queue[i].has_begin && begin < file_index->queue[i].last_begin &&
                      ctf_queue_accepts(&file_index->queue[i], frame);
    if (is_earlier)
        input_add_diagnostic(
            scan->reader->in, TTR_SEVERITY_ODD, scan->at, "ctf.packet-time",
            "a packet of %s begins before one of its stream that stands in front of it",
            scan->reader->file);
}

/* Takes the packet at scan->at. */
static bool deal(struct scan *scan, const struct ctf_frame *frame)
{
    struct ctf_file_index *file_index = scan->file_index;
    int64_t times[2] = {0, 0};
    bool has_begin = times_of(frame, &times[0], &times[1]);
    if (file_index->packets == 0)
        file_index->queue[0] = (struct ctf_packet_queue){.kind = frame->kind->first,
                                                         .number = frame->number,
                                                         .has_number = frame->has_number,
                                                         .last_full = UINT64_MAX,
                                                         .is_in_order = true};
    if (!add_mark(scan, frame, times[0]))
        return false;
    scan->reader->trace->has_foreign |= frame->is_foreign;
    if (!scan->reader->trace->has_first) {
        scan->reader->trace->first = frame->rfc;
        scan->reader->trace->has_first = true;
    }
    if (has_begin)
        tell_order(scan, frame, times[0]);
    file_index->has_times &= has_begin && frame->packet.has_end;
    file_index->end =
        file_index->packets == 0 || times[1] > file_index->end ? times[1] : file_index->end;
    uint32_t chosen = choose(file_index, frame, has_begin, times[0]);
    if (chosen == UINT32_MAX || !record(file_index, chosen))
        return false;
    settle_lane(&file_index->queue[chosen], frame, has_begin, times);
    if (!ctf_packet_is_empty(frame))
        file_index->queue[chosen].last_full = file_index->packets;
    file_index->packets++;
    return true;
}

/* --- By the headers, or the index --- */

/* Packets of one size tell where the next headers are; `before`: the size of the one before the
 * last. */
static void foretell(struct scan *scan, uint64_t before)
{
    const struct source *source = scan->reader->in->source;
    const uint64_t size = source_disk_size(source);
    if (scan->look.is_dense || scan->usual != before || scan->at >= size ||
        scan->usual > (size - scan->at) / AHEAD)
        return;
    const uint64_t far = scan->at + AHEAD * scan->usual;
    if (scan->foretold < scan->at || scan->foretold > far)
        scan->foretold = scan->at;
    for (; scan->foretold < far; scan->foretold += scan->usual)
        source_prefetch(source, scan->foretold, CTF_PEEK_SIZE);
}

/* The packet at scan->at, and what stands behind it by its own word, which tells whether its size
 * can be right. */
struct hop {
    struct ctf_frame frame[2];
    unsigned i; /* of the packet at hand */
    enum ctf_framing framing, next;
    bool has_next; /* ... and the other frame of the next one */
};

static void look_on(struct scan *scan, struct hop *hop, ttr_error *error)
{
    struct ctf_frame *frame = &hop->frame[hop->i], *next = &hop->frame[!hop->i];
    hop->framing = hop->has_next ? hop->next : ctf_peek_header(&scan->look, scan->at, frame, error);
    hop->has_next = hop->framing == CTF_FRAME_OK &&
                    frame->packet.size / 8 < source_disk_size(scan->reader->in->source) - scan->at;
    if (hop->has_next)
        hop->next = ctf_peek_header(&scan->look, scan->at + frame->packet.size / 8, next, error);
    const struct ctf_size_question sized = {
        scan->at, scan->usual, hop->has_next && hop->next == CTF_FRAME_OK ? next : NULL,
        hop->framing};
    hop->framing = ctf_correct_size(scan->reader, &sized, frame);
    const bool is_resized = hop->framing == CTF_FRAME_OK && frame->is_resized;
    hop->has_next &= !is_resized;
    scan->file_index->has_corrected |= is_resized;
}

static ttr_status hop(struct scan *scan, ttr_error *error)
{
    struct hop hop;
    for (hop.i = 0, hop.has_next = false;; hop.i = !hop.i) {
        look_on(scan, &hop, error);
        const struct ctf_frame *frame = &hop.frame[hop.i];
        switch (hop.framing) {
        case CTF_FRAME_OK:
            if (!deal(scan, frame))
                return fail_memory(error);
            break;
        case CTF_FRAME_FOREIGN:
            scan->file_index->has_others = true;
            break;
        case CTF_FRAME_FAILED:
            return error->status;
        case CTF_FRAME_SHORT: /* a packet that says to end behind the file may have others in it */
            scan->file_index->is_whole = scan->at <= source_disk_size(scan->reader->in->source);
            return TTR_OK;
        default:
            return TTR_OK;
        }
        ctf_index_check_packet(&scan->check, scan->at, frame);
        scan->file_index->is_whole = frame->packet.size == UINT64_MAX;
        if (scan->file_index->is_whole) {
            scan->file_index->open_at = scan->at;
            return TTR_OK;
        }
        const uint64_t before = scan->usual;
        scan->usual = frame->packet.size / 8;
        scan->at += scan->usual;
        foretell(scan, before);
        scan->file_index->is_whole = scan->at == source_disk_size(scan->reader->in->source);
        if (scan->file_index
                ->is_whole) /* where most files end: reading tells where this one does by then */
            return TTR_OK;
    }
}

/* Holds the entries of the index that are left against what lies where they say, which is behind
 * damage; up to some that lie nowhere. */
static void check_rest(struct scan *scan)
{
    unsigned lost = 0;
    struct ctf_index_check *check = &scan->check;
    const uint64_t size = source_disk_size(scan->reader->in->source);
    struct ctf_index_entry entry;
    struct ctf_frame frame;
    ttr_error error;
    while (!scan->file_index->is_whole && lost < LOST_MOST && ctf_index_check_peek(check, &entry)) {
        enum ctf_framing framing = entry.offset < size
                                       ? ctf_peek_header(&scan->look, entry.offset, &frame, &error)
                                       : CTF_FRAME_SHORT;
        if (framing == CTF_FRAME_OK)
            ctf_index_check_packet(check, entry.offset, &frame);
        else
            ctf_index_check_missing_packet(check);
        lost += framing != CTF_FRAME_OK;
        ctf_peek_shrink(&scan->look);
    }
    ctf_index_check_finish(check, scan->file_index->is_whole);
}

/* Makes of an entry what its packet's header would have been; `like`: the header of another packet.
 */
static bool imagine(struct scan *scan, const struct ctf_index_entry *entry,
                    const struct ctf_frame *like, struct ctf_frame *frame)
{
    const struct ctf_stream_class *class =
        ctf_find_stream(&scan->reader->trace->class->description, entry->stream_id);
    ttr_error error;
    *frame = *like;
    frame->kind = class ? ctf_stream_decoder_of(scan->reader->trace, class, &error) : NULL;
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

/* Whether an entry can stand behind another.  All of an index are of one stream and in order: an
 * entry that is wrong is noticed by this, but for a smaller end, which a look at the header behind
 * it tells (ctf_verify_entry). */
static bool follows(const struct ctf_index_entry *entry, const struct ctf_index_entry *before)
{
    return entry->stream_id == before->stream_id && entry->instance == before->instance &&
           entry->begin >= before->begin && (entry->end == 0 || entry->end >= entry->begin) &&
           (entry->end == 0 || entry->end >= before->end);
}

/* Takes all entries; false where they do not fit: nothing counts then of what was taken. */
static bool follow_index(struct scan *scan, struct ctf_index *index)
{
    struct ctf_frame like = {.kind = NULL}, frame;
    struct ctf_index_entry entry, before = {.end = 0};
    ttr_error error;
    while (ctf_index_next(index, &entry)) {
        bool is_checked = index->at == 1 || index->at == index->n / 2 || index->at == index->n ||
                          entry.begin < before.end;
        if (entry.offset != scan->at || entry.size == 0 || entry.size % 8 ||
            entry.content > entry.size || (index->at > 1 && !follows(&entry, &before)))
            return false;
        before = entry;
        if (is_checked &&
            (ctf_peek_header(&scan->look, scan->at, &like, &error) != CTF_FRAME_OK ||
             like.is_foreign || !ctf_index_entry_matches(index, &entry, entry.offset, &like)))
            return false;
        if (index->at == 1 && (like.has_number || like.packet.has_sequence) && !index->has_instance)
            return false;
        if (!imagine(scan, &entry, &like, &frame) || !deal(scan, &frame))
            return false;
        scan->usual = entry.size / 8;
        scan->at += scan->usual;
    }
    return index->at == index->n && scan->at == source_disk_size(scan->reader->in->source);
}

static void reset(struct scan *scan)
{
    struct ctf_file_index *file_index = scan->file_index;
    alloc_free(file_index->alloc, file_index->of, file_index->of_capacity, 1);
    alloc_free(file_index->alloc, file_index->mark, file_index->marks_capacity,
               sizeof *file_index->mark);
    file_index->queue[0] = (struct ctf_packet_queue){.is_in_order = true};
    *file_index = (struct ctf_file_index){.alloc = file_index->alloc,
                                          .users = 1,
                                          .n = 1,
                                          .queue = file_index->queue,
                                          .capacity = file_index->capacity,
                                          .stride = 1,
                                          .has_times = true,
                                          .open_at = UINT64_MAX};
    scan->at = scan->usual = 0;
}

/* False where there is no index that can be right. */
static bool scan_by_index(struct scan *scan)
{
    struct ctf_index index;
    bool is_odd,
        is_there = ctf_index_open(&index, scan->reader->trace, scan->reader->file, &is_odd);
    bool is_taken = is_there && follow_index(scan, &index);
    ctf_index_close(&index);
    scan->file_index->is_indexed = scan->file_index->is_whole = is_taken;
    if (is_there && !is_taken)
        reset(scan);
    return is_taken;
}

static ttr_status scan_by_headers(struct scan *scan, ttr_error *error)
{
    ctf_index_check_init(&scan->check, scan->reader);
    ttr_status status = hop(scan, error);
    if (status == TTR_OK)
        check_rest(scan);
    ctf_index_close(&scan->check.index);
    return status;
}

struct ctf_file_index *ctf_build_index(struct ctf_reader *reader, ttr_error *error)
{
    const struct alloc *alloc = &reader->trace->t->counted;
    struct ctf_file_index *file_index = alloc_zero(alloc, 1, sizeof *file_index);
    struct ctf_packet_queue *queue = alloc_zero(alloc, 1, sizeof *queue);
    if (!file_index || !queue) {
        alloc_free(alloc, queue, 1, sizeof *queue);
        alloc_free(alloc, file_index, 1, sizeof *file_index);
        (void)fail_memory(error);
        return NULL;
    }
    file_index->alloc = alloc;
    file_index->queue = queue;
    file_index->capacity = 1;
    struct scan scan = {.reader = reader, .file_index = file_index};
    reset(&scan);
    if (!source_is_seekable(reader->in->source)) {
        file_index->queue[0].is_in_order = file_index->has_times = false;
        return file_index;
    }
    ttr_status status = ctf_peek_begin(&scan.look, reader) ? TTR_OK : fail_memory(error);
    if (status == TTR_OK && !scan_by_index(&scan))
        status = scan_by_headers(&scan, error);
    ctf_peek_end(&scan.look);
    if (status == TTR_OK)
        return file_index;
    ctf_file_index_unref(file_index);
    return NULL;
}

/* Takes apart the packet at a mark; false where none is there that says when it begins. */
static bool look_at_mark(struct ctf_reader *reader, const struct ctf_entry_point *mark,
                         struct ctf_frame *frame, int64_t *begin)
{
    struct ctf_header_peek look;
    int64_t end;
    ttr_error error;
    if (!ctf_peek_begin(&look, reader))
        return false;
    bool is_there = ctf_peek_header(&look, mark->offset, frame, &error) == CTF_FRAME_OK &&
                    times_of(frame, begin, &end);
    ctf_peek_end(&look);
    return is_there;
}

bool ctf_verify_entry(struct ctf_reader *reader, int64_t from, const struct ctf_entry_point **mark,
                      uint64_t *packet, uint64_t *wanted)
{
    const struct ctf_file_index *file_index = reader->file_index;
    struct ctf_frame frame;
    int64_t begin;
    if (!file_index->is_indexed ||
        *wanted == UINT64_MAX) /* all headers were looked at; or the last was */
        return true;
    const struct ctf_entry_point *first = &file_index->mark[*wanted / file_index->stride];
    *wanted -= *wanted % file_index->stride;
    if (!look_at_mark(reader, first, &frame, &begin) || begin >= from)
        return false;
    bool is_before = *packet + 1 == *wanted && look_at_mark(reader, *mark, &frame, &begin);
    if (!is_before || frame.packet.size == UINT64_MAX ||
        (*mark)->offset + frame.packet.size / 8 != first->offset) {
        *mark =
            first; /* what is said to lie before it is damaged, or too far away to be looked at */
        *packet = *wanted;
    }
    return true;
}

void ctf_check_index(struct ctf_reader *reader)
{
    struct ctf_file_index *file_index = reader->file_index,
                          unused = {.alloc = file_index->alloc, .open_at = UINT64_MAX};
    struct scan scan = {.reader = reader, .file_index = &unused};
    if (!file_index->is_indexed || file_index->is_checked || !ctf_peek_begin(&scan.look, reader))
        return;
    file_index->is_checked = true;
    ctf_index_check_init(&scan.check, reader);
    check_rest(&scan);
    ctf_index_close(&scan.check.index);
    ctf_peek_end(&scan.look);
}

/* Takes what may be a packet for one where it can follow those of the first lane. */
static void take_rest(struct ctf_reader *reader, const uint8_t *p, const uint8_t *end)
{
    struct ctf_packet_queue *queue = &reader->file_index->queue[0];
    struct ctf_frame frame;
    ttr_error error;
    int64_t times[2];
    struct bits bits = bits_init(p, 0, (uint64_t)(end - p) * 8);
    if (ctf_frame_packet(reader->trace, reader->section, &bits, &frame, &error) != CTF_FRAME_OK ||
        frame.is_foreign || !ctf_queue_accepts(queue, &frame))
        return;
    if (times_of(&frame, &times[0], &times[1]) && times[0] >= queue->end)
        settle_lane(queue, &frame, true, times);
}

/* What candidates there are in some bytes; how many are looked through. */
static size_t search_rest(struct ctf_reader *reader, const uint8_t *bytes, size_t n)
{
    const bool is_end = n < REST_BYTES;
    const uint8_t *end = bytes + n, *last = is_end ? end : end - CTF_CANDIDATE_BYTES, *p = bytes;
    while (p < last && (p = ctf_find_magic(reader->trace, p, end)) && p < last)
        take_rest(reader, p++, end);
    return is_end ? n : n - CTF_CANDIDATE_BYTES;
}

bool ctf_index_unsized_rest(struct ctf_reader *reader)
{
    struct ctf_file_index *file_index = reader->file_index;
    ttr_error error;
    if (file_index->open_at == UINT64_MAX || !reader->trace->class->has_magic ||
        !file_index->queue[0].has_begin)
        return true;
    uint8_t *bytes = alloc_zero(file_index->alloc, REST_BYTES, 1);
    if (!bytes)
        return false;
    int64_t n = REST_BYTES;
    for (uint64_t at = file_index->open_at + 1; n == (int64_t)REST_BYTES;) {
        n = source_peek_at(reader->in->source, at, bytes, REST_BYTES, &error);
        at += n > 0 ? search_rest(reader, bytes, (size_t)n) : 0;
    }
    file_index->open_at = UINT64_MAX;
    alloc_free(file_index->alloc, bytes, REST_BYTES, 1);
    return true;
}

static bool is_same(const struct ctf_identity *a, const struct ctf_identity *b)
{
    return a->begin == b->begin && a->end == b->end && a->sequence == b->sequence &&
           a->size == b->size;
}

/* Whether packets behind one that begins at a time may begin before another. */
static bool may_follow(const struct ctf_file_index *file_index, int64_t begin, int64_t other)
{
    return begin <= other || file_index->n > 1 || !file_index->queue[0].is_in_order;
}

/* Packets of a lane of another file, one after another. */
struct visit {
    struct scan scan;
    uint64_t packet; /* at scan.at */
    uint32_t queue;
    struct ctf_frame frame; /* of the packet found */
    int64_t begin;          /* when that begins */
    bool is_over;
};

/* Begins with the last mark before a time; is_over when memory is out. */
static struct visit visit_from(struct ctf_reader *reader, uint32_t queue, int64_t begin)
{
    uint64_t wanted, packet = 0;
    const struct ctf_entry_point *mark =
        ctf_find_entry(reader->file_index, begin, &packet, &wanted);
    struct visit visit = {
        .scan = {.reader = reader, .at = mark ? mark->offset : 0, .usual = mark ? mark->usual : 0},
        .packet = packet,
        .queue = queue};
    visit.is_over = !ctf_peek_begin(&visit.scan.look, reader);
    return visit;
}

/* The next packet of the lane that says when it begins; false at the end of what can be looked at.
 */
static bool visit_next(struct visit *visit)
{
    ttr_error error;
    int64_t end;
    for (bool is_found = false; !visit->is_over && !is_found;) {
        const struct ctf_frame *frame = &visit->frame;
        enum ctf_framing framing =
            ctf_peek_header(&visit->scan.look, visit->scan.at, &visit->frame, &error);
        framing = ctf_correct_size(
            visit->scan.reader,
            &(struct ctf_size_question){visit->scan.at, visit->scan.usual, NULL, framing},
            &visit->frame);
        is_found =
            framing == CTF_FRAME_OK &&
            ctf_queue_of_packet(visit->scan.reader->file_index, visit->packet) == visit->queue &&
            times_of(frame, &visit->begin, &end);
        visit->is_over = (framing != CTF_FRAME_OK && framing != CTF_FRAME_FOREIGN) ||
                         frame->packet.size == UINT64_MAX;
        visit->packet += framing == CTF_FRAME_OK;
        visit->scan.usual = visit->is_over ? 0 : frame->packet.size / 8;
        visit->scan.at += visit->scan.usual;
        if (is_found)
            return true;
    }
    return false;
}

bool ctf_queue_contains(struct ctf_reader *reader, uint32_t i, const struct ctf_packet_queue *queue)
{
    struct visit visit = visit_from(reader, i, queue->begin);
    bool is_found = false, goes_on = true;
    while (goes_on && !is_found && visit_next(&visit)) {
        const struct ctf_identity found = identity_of(&visit.frame.packet);
        is_found = is_same(&found, &queue->first);
        goes_on = may_follow(reader->file_index, visit.begin, queue->begin);
    }
    ctf_peek_end(&visit.scan.look);
    return is_found;
}

/* What two packets have in common only where they are one. */
static void key_of(const struct ctf_packet *packet, uint64_t key[2])
{
    const struct ctf_identity identity = identity_of(packet);
    key[0] = hash_pair(identity.begin, identity.end);
    key[1] = hash_pair(identity.sequence, identity.size);
}

/* Where a lane keeps what other files have; NULL when memory is out. */
static struct pair_map *had_of(struct ctf_file_index *file_index, uint32_t i)
{
    struct ctf_packet_queue *queue = &file_index->queue[i];
    if (!queue->had && (queue->had = alloc_zero(file_index->alloc, 1, sizeof *queue->had)))
        pair_map_init(queue->had, file_index->alloc);
    return queue->had;
}

static struct ctf_packet_copy twin_of(const struct visit *visit)
{
    const uint64_t size = visit->is_over ? 0 : visit->frame.packet.size / 8;
    return (struct ctf_packet_copy){visit->scan.reader, visit->scan.at - size};
}

/* The other file's packet that is the first's too, where there is one: both visits go by time. */
static bool find_twin(const struct visit *first, struct visit *here, bool *has_other)
{
    while (*has_other && here->begin < first->begin)
        *has_other = visit_next(here);
    const struct ctf_identity a = identity_of(&first->frame.packet),
                              b = identity_of(&here->frame.packet);
    return *has_other && is_same(&a, &b);
}

/* The second file gives the packet at hand. */
static bool take_from(const struct visit *first, const struct visit *here,
                      const struct ctf_counters *before)
{
    struct ctf_file_index *file_index = here->scan.reader->file_index;
    struct ctf_packet_queue *queue = &file_index->queue[here->queue];
    struct pair_map *given = had_of(first->scan.reader->file_index, first->queue);
    uint64_t key[2];
    key_of(&first->frame.packet, key);
    if (!given || !pair_map_put(given, key[0], key[1], CTF_DUPLICATE_SKIP) ||
        !alloc_reserve(file_index->alloc, (void **)&queue->taken, &queue->taken_capacity,
                       queue->taken_n + 1, sizeof *queue->taken) ||
        !pair_map_put(queue->had, key[0], key[1],
                      CTF_DUPLICATE_REPLACES + (uint32_t)queue->taken_n))
        return false;
    queue->taken[queue->taken_n++] = *before;
    input_add_diagnostic(first->scan.reader->in, TTR_SEVERITY_ODD, twin_of(first).offset,
                         "ctf.damaged-twin",
                         "a packet of %s is damaged: it is read from %s, which has it whole",
                         first->scan.reader->file, here->scan.reader->file);
    return true;
}

/* Whether the second file's packet, which is the first's too, is to be given in its place. */
static bool is_better(const struct visit *first, const struct visit *here)
{
    const struct ctf_packet_queue *queue = &first->scan.reader->file_index->queue[first->queue];
    const struct ctf_packet_copy a = twin_of(first), b = twin_of(here);
    return !ctf_duplicate_state(queue, &first->frame.packet) && first->frame.packet.has_end &&
           !first->is_over && !here->is_over &&
           ctf_second_copy_is_better(&a, &b, first->frame.packet.size / 8);
}

/* A packet that the first file has too is not given here; unless that does not give it either, and
 * it was found before that this one is to. */
static bool leave_out(const struct visit *first, const struct visit *here)
{
    const struct ctf_packet *packet = &first->frame.packet;
    const struct ctf_packet_queue *before = &first->scan.reader->file_index->queue[first->queue],
                                  *queue = &here->scan.reader->file_index->queue[here->queue];
    uint64_t key[2];
    key_of(packet, key);
    if (ctf_duplicate_state(before, packet) == CTF_DUPLICATE_SKIP &&
        ctf_duplicate_state(queue, packet) >= CTF_DUPLICATE_REPLACES)
        return true;
    return pair_map_put(queue->had, key[0], key[1], CTF_DUPLICATE_SKIP);
}

bool ctf_mark_duplicates(const struct ctf_queue_ref *first, const struct ctf_queue_ref *here)
{
    const struct ctf_packet_queue *queue = &here->reader->file_index->queue[here->queue];
    if (!had_of(here->reader->file_index, here->queue))
        return false;
    struct visit visit = visit_from(first->reader, first->queue, queue->begin),
                 other = visit_from(here->reader, here->queue, queue->begin);
    struct ctf_counters before = {.is_there = false};
    if (visit.packet == 0)
        before = first->reader->file_index->queue[first->queue].initial;
    bool is_fine = true, has_other = visit_next(&other);
    for (bool goes_on = true; goes_on && is_fine && visit_next(&visit);) {
        is_fine = find_twin(&visit, &other, &has_other) && is_better(&visit, &other)
                      ? take_from(&visit, &other, &before)
                      : leave_out(&visit, &other);
        ctf_update_counters(&before, &visit.frame.packet);
        goes_on = may_follow(first->reader->file_index, visit.begin, queue->end);
    }
    is_fine = is_fine && visit.scan.look.bytes && other.scan.look.bytes;
    ctf_peek_end(&visit.scan.look);
    ctf_peek_end(&other.scan.look);
    return is_fine;
}

uint32_t ctf_duplicate_state(const struct ctf_packet_queue *queue, const struct ctf_packet *packet)
{
    uint64_t key[2];
    if (!queue->had || !packet->has_begin || !packet->has_end || packet->size == UINT64_MAX)
        return 0;
    key_of(packet, key);
    const uint32_t *value = pair_map_get(queue->had, key[0], key[1]);
    return value ? *value : 0;
}
