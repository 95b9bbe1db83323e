/* Index pass over a stream file: assigns packets to queues and records entry points, before the
 * first event is read. See ctf_build_index.h for queues and for the order of calls.
 *
 * Purpose: an input must emit its events in time order, and a time range must not read the complete
 * file. Both need the begin and end of all packets first.
 *
 * Algorithm: greedy interval partitioning in file order. A packet is added to the first queue of
 * its stream that ends before the packet begins; if there is none, to a new queue. If there are
 * CTF_QUEUES_MAX queues already, the packet is added to a queue out of order, and that queue loses
 * is_in_order. Entry points are a sampled index: every stride-th packet has one. When
 * CTF_ENTRY_POINTS_MAX are used, every second one is dropped and the stride doubles. A time range
 * is found by binary search over `before`.
 *
 * |  packet        0     1     2     3     4     5     6     7
 * |  entry point   x           x           x           x          stride = 2
 * |                `-- offset, previous_size, before, oldest_needed
 *
 * `before` is the latest end of all earlier packets, so binary search works even if packets
 * overlap. `oldest_needed` is the packet at which reading must start so that no queue loses its
 * last packet before the range.
 *
 * Two sources of packets:
 * |  - index_by_index_file: the LTTng index file. Entries must be adjacent, of one stream and in
 * |     order. The headers of the first, middle and last packet, and of overlapping ones, must
 * |     agree.
 * |  - index_by_packet_headers: all packet headers in file order. Impossible sizes are repaired
 * |     (ctf_size_repair.c). The pass ends at the first invalid packet; later packets are found
 * |     when reading gets there.
 *
 * Invariants: the queue of a packet never changes after it is assigned; entry points ascend in
 * offset and `before`; there is at least one queue.
 *
 * Cost: one header of 256 bytes per packet (a microsecond from the page cache), or none with an
 * index file; 40 bytes per entry point; one byte per packet if there are two queues or more.
 *
 * Left out: events are never decoded here, so ctf_time_range.c handles events outside of their
 * packet's times. Packets after damage or after a packet without a size are not indexed (but see
 * ctf_index_after_unsized_packet). */
#include "formats/ctf/read/ctf_build_index.h"

#include <string.h>

#include "base/self_zones.h"
#include "base/status.h"
#include "formats/ctf/read/ctf_index_pass.h"
#include "formats/ctf/read/ctf_resync.h"

/* number of packet headers that are prefetched together; on a slow disk, reading 40,000 headers
 * then needs a quarter of the time */
#define AHEAD 32u
/* after this many entries without a packet at their offset, the rest of the index file is ignored
 */
#define LOST_ENTRIES_MAX 16u
#define REST_BYTES ((size_t)64 << 10)

void ctf_file_index_unref(struct ctf_file_index *file_index)
{
    if (!file_index || --file_index->users)
        return;
    alloc_free(file_index->alloc, file_index->queue_of, file_index->queue_of_capacity, 1);
    alloc_free(file_index->alloc, file_index->entry_points, file_index->entry_points_capacity,
               sizeof *file_index->entry_points);
    for (uint32_t i = 0; i < file_index->n; i++) {
        struct ctf_packet_queue *queue = &file_index->queue[i];
        if (queue->duplicates)
            pair_map_free(queue->duplicates);
        alloc_free(file_index->alloc, queue->duplicates, 1, sizeof *queue->duplicates);
        alloc_free(file_index->alloc, queue->replaced, queue->replaced_capacity,
                   sizeof *queue->replaced);
    }
    alloc_free(file_index->alloc, file_index->queue, file_index->capacity,
               sizeof *file_index->queue);
    alloc_free(file_index->alloc, file_index, 1, sizeof *file_index);
}

/* --- Entry points: packets at which reading can start --- */

/* Each queue needs its last packet with events. Returns the index of the first of these packets in
 * the file; if no queue has events, the index of the next packet. */
static uint64_t find_oldest_needed_packet(const struct ctf_file_index *file_index)
{
    uint64_t oldest_needed = file_index->packets;
    for (uint32_t i = 0; i < file_index->n && file_index->packets; i++)
        oldest_needed = file_index->queue[i].last_with_events < oldest_needed
                            ? file_index->queue[i].last_with_events
                            : oldest_needed;
    return oldest_needed;
}

static bool add_entry_point(struct ctf_index_pass *pass, const struct ctf_frame *frame,
                            int64_t begin)
{
    struct ctf_file_index *file_index = pass->file_index;
    if (file_index->packets % file_index->stride)
        return true;
    if (file_index->entry_points_n == CTF_ENTRY_POINTS_MAX) {
        for (size_t i = 0; i < CTF_ENTRY_POINTS_MAX / 2; i++)
            file_index->entry_points[i] = file_index->entry_points[2 * i];
        file_index->entry_points_n = CTF_ENTRY_POINTS_MAX / 2;
        file_index->stride *= 2;
    }
    if (!alloc_reserve_small(file_index->alloc, (void **)&file_index->entry_points,
                             &file_index->entry_points_capacity, file_index->entry_points_n + 1,
                             sizeof *file_index->entry_points))
        return false;
    int64_t before = file_index->packets == 0 || begin > file_index->end ? begin : file_index->end;
    file_index->entry_points[file_index->entry_points_n++] = (struct ctf_entry_point){
        .offset = pass->at,
        .oldest_needed = find_oldest_needed_packet(file_index) & (UINT64_MAX >> 1),
        .is_empty = ctf_packet_is_empty(frame),
        .previous_size = pass->previous_size,
        .before = before};
    return true;
}

/* Returns true if `from` is later than the end of the last packet by more than the average packet
 * duration. No later packet confirms that end, so events shortly after it may still be in the last
 * packet. */
static bool is_far_after_last_packet(const struct ctf_file_index *file_index, int64_t from)
{
    const struct ctf_packet_queue *queue = &file_index->queue[0];
    if (file_index->n > 1 || !file_index->is_whole || from <= file_index->end)
        return false;
    return (uint64_t)from - (uint64_t)file_index->end >
           ((uint64_t)file_index->end - (uint64_t)queue->begin) / file_index->packets;
}

const struct ctf_entry_point *ctf_get_entry_point(const struct ctf_file_index *file_index, size_t i,
                                                  uint64_t *packet, uint64_t *wanted)
{
    const struct ctf_entry_point *mark = &file_index->entry_points[i];
    const uint64_t first = i * file_index->stride;
    const uint64_t enter =
        (mark->oldest_needed == first && first ? first - 1 : mark->oldest_needed) /
        /* an entry point at least one packet before the wanted packet, to get the counters before
         * that packet */
        file_index->stride;
    *wanted = file_index->n == 1 && !mark->is_empty ? first : mark->oldest_needed;
    *packet = enter * file_index->stride;
    return &file_index->entry_points[enter];
}

const struct ctf_entry_point *ctf_find_entry_point(const struct ctf_file_index *file_index,
                                                   int64_t from, uint64_t *packet, uint64_t *wanted)
{
    size_t low = 0, high = file_index->has_times ? file_index->entry_points_n : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (file_index->entry_points[middle].before < from)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    const struct ctf_entry_point *mark = ctf_get_entry_point(file_index, low - 1, packet, wanted);
    if (is_far_after_last_packet(file_index, from))
        *wanted = UINT64_MAX;
    return mark;
}

/* Returns a bit set of the queues that belong to the same stream as `queue`. */
static uint32_t find_queues_of_stream(const struct ctf_file_index *file_index, uint32_t queue)
{
    const struct ctf_packet_queue *ctx = &file_index->queue[queue];
    uint32_t set = 0;
    _Static_assert(CTF_QUEUES_MAX <= 32, "a bit for each queue");
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
    if (!file_index->queue_of || file_index->has_foreign_packets || next >= file_index->packets)
        return NULL;
    for (const uint32_t wanted = find_queues_of_stream(file_index, queue);
         next + 1 < file_index->packets && !(wanted >> file_index->queue_of[next] & 1);)
        next++;
    const uint64_t mark = next / file_index->stride;
    if (mark >= file_index->entry_points_n || mark * file_index->stride <= *i)
        return NULL;
    *i = mark * file_index->stride;
    return &file_index->entry_points[mark];
}

/* --- Assignment of packets to queues --- */

bool ctf_get_packet_times(const struct ctf_frame *frame, int64_t *begin, int64_t *end)
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

/* Enlarges the array of queues, which starts with one element (enough for most files), to
 * CTF_QUEUES_MAX elements. Returns false if memory runs out. */
static bool reserve_queues(struct ctf_file_index *file_index)
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

/* Returns the index of the queue for a packet: the first queue of its stream that ends before the
 * packet begins. If there is none: a new queue, or any queue of the stream if there are too many.
 * Returns UINT32_MAX if memory runs out. */
static uint32_t choose_queue(struct ctf_file_index *file_index, const struct ctf_frame *frame,
                             bool has_begin, int64_t begin)
{
    uint32_t any = CTF_QUEUES_MAX;
    /* a packet without a size ends the index; only the input of queue 0 searches for packets after
     * it */
    if (frame->packet.size == UINT64_MAX)
        return 0;
    for (uint32_t i = 0; i < file_index->n; i++) {
        const struct ctf_packet_queue *queue = &file_index->queue[i];
        if (!ctf_queue_accepts_packet(queue, frame))
            continue;
        if (!has_begin || !queue->has_begin || queue->end <= begin)
            return i;
        any = any == CTF_QUEUES_MAX ? i : any;
    }
    if (file_index->n < CTF_QUEUES_MAX && !reserve_queues(file_index))
        return UINT32_MAX;
    if (file_index->n < CTF_QUEUES_MAX) {
        file_index->queue[file_index->n] =
            (struct ctf_packet_queue){.kind = frame->kind->first,
                                      .number = frame->number,
                                      .has_number = frame->has_number,
                                      .last_with_events = UINT64_MAX,
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
    struct ctf_packet_queue *ctx = &file_index->queue[ctf_get_packet_queue(file_index, i)];
    if (ctf_queue_accepts_packet(ctx, frame))
        return ctx;
    for (uint32_t k = 0; k < file_index->n && i >= file_index->packets; k++)
        if (ctf_queue_accepts_packet(&file_index->queue[k], frame))
            return &file_index->queue[k];
    return NULL;
}

/* Stores to which queue the next packet is assigned. Allocates the array only if the file has
 * several queues. Returns false if memory runs out. */
static bool store_queue_of_packet(struct ctf_file_index *file_index, uint32_t queue)
{
    size_t before = file_index->queue_of_capacity;
    if (queue == 0 && !file_index->queue_of)
        return true;
    if (!alloc_reserve(file_index->alloc, (void **)&file_index->queue_of,
                       &file_index->queue_of_capacity, (size_t)file_index->packets + 1, 1))
        return false;
    if (before == 0)
        memset(file_index->queue_of, 0, (size_t)file_index->packets);
    file_index->queue_of[file_index->packets] = (uint8_t)queue;
    return true;
}

struct ctf_identity ctf_get_packet_identity(const struct ctf_packet *packet)
{
    return (struct ctf_identity){
        .begin = packet->begin,
        .end = packet->has_end ? packet->end : 0,
        .sequence = packet->has_sequence ? packet->sequence : 0,
        .size = packet->size,
    };
}

static void add_packet_to_queue(struct ctf_packet_queue *queue, const struct ctf_frame *frame,
                                bool has_begin, const int64_t times[2])
{
    if (has_begin && !queue->has_begin) {
        queue->begin = times[0];
        queue->first = ctf_get_packet_identity(&frame->packet);
    }
    if (has_begin && (!queue->has_begin || times[1] > queue->end))
        queue->end = times[1];
    queue->last_begin = has_begin ? times[0] : queue->last_begin;
    queue->has_begin |= has_begin;
    ctf_update_counters(&queue->last, &frame->packet);
}

/* Reports a packet that begins before an earlier packet of its stream. */
static void report_packet_order(const struct ctf_index_pass *pass, const struct ctf_frame *frame,
                                int64_t begin)
{
    const struct ctf_file_index *file_index = pass->file_index;
    bool is_earlier = false;
    for (uint32_t i = 0; i < file_index->n; i++)
        is_earlier |= file_index->queue[i].has_begin && begin < file_index->queue[i].last_begin &&
                      ctf_queue_accepts_packet(&file_index->queue[i], frame);
    if (is_earlier)
        input_add_diagnostic(
            pass->reader->in, TTR_SEVERITY_ODD, pass->at, "ctf.packet-time",
            "a packet of %s begins before an earlier packet of its stream in the file",
            pass->reader->file);
}

/* Adds the packet at pass->at to the index. Returns false if memory runs out. */
static bool add_indexed_packet(struct ctf_index_pass *pass, const struct ctf_frame *frame)
{
    struct ctf_file_index *file_index = pass->file_index;
    int64_t times[2] = {0, 0};
    bool has_begin = ctf_get_packet_times(frame, &times[0], &times[1]);
    if (file_index->packets == 0)
        file_index->queue[0] = (struct ctf_packet_queue){.kind = frame->kind->first,
                                                         .number = frame->number,
                                                         .has_number = frame->has_number,
                                                         .last_with_events = UINT64_MAX,
                                                         .is_in_order = true};
    if (!add_entry_point(pass, frame, times[0]))
        return false;
    pass->reader->trace->has_foreign |= frame->is_foreign;
    if (!pass->reader->trace->has_first) {
        pass->reader->trace->first = frame->rfc;
        pass->reader->trace->has_first = true;
    }
    if (has_begin)
        report_packet_order(pass, frame, times[0]);
    file_index->has_times &= has_begin && frame->packet.has_end;
    file_index->end =
        file_index->packets == 0 || times[1] > file_index->end ? times[1] : file_index->end;
    uint32_t chosen = choose_queue(file_index, frame, has_begin, times[0]);
    if (chosen == UINT32_MAX || !store_queue_of_packet(file_index, chosen))
        return false;
    add_packet_to_queue(&file_index->queue[chosen], frame, has_begin, times);
    if (!ctf_packet_is_empty(frame))
        file_index->queue[chosen].last_with_events = file_index->packets;
    file_index->packets++;
    return true;
}

/* --- Packets from packet headers or from the index file --- */

/* Prefetches the next packet headers if the current packet has the same size as the packet before
 * it: `before`, in bytes. */
static void prefetch_headers(struct ctf_index_pass *pass, uint64_t before)
{
    const struct source *source = pass->reader->in->source;
    const uint64_t size = source_disk_size(source);
    if (pass->peek.has_small_packets || pass->previous_size != before || pass->at >= size ||
        pass->previous_size > (size - pass->at) / AHEAD)
        return;
    const uint64_t far = pass->at + AHEAD * pass->previous_size;
    if (pass->prefetched_to < pass->at || pass->prefetched_to > far)
        pass->prefetched_to = pass->at;
    for (; pass->prefetched_to < far; pass->prefetched_to += pass->previous_size)
        source_prefetch(source, pass->prefetched_to, CTF_PEEK_SIZE);
}

/* The packet at pass->at, and the packet after it, which confirms its size. */
struct packet_pair {
    struct ctf_frame frame[2];
    unsigned i; /* frame[i] is the current packet */
    enum ctf_framing framing, next;
    /* the result of parsing the next packet is in `next` and the other element of `frame` */
    bool has_next;
};

static void peek_next_packet(struct ctf_index_pass *pass, struct packet_pair *pair,
                             ttr_error *error)
{
    struct ctf_frame *frame = &pair->frame[pair->i], *next = &pair->frame[!pair->i];
    pair->framing =
        pair->has_next ? pair->next : ctf_peek_header(&pass->peek, pass->at, frame, error);
    pair->has_next = pair->framing == CTF_FRAME_OK &&
                     frame->packet.size / 8 < source_disk_size(pass->reader->in->source) - pass->at;
    if (pair->has_next)
        pair->next = ctf_peek_header(&pass->peek, pass->at + frame->packet.size / 8, next, error);
    const struct ctf_size_question sized = {
        pass->at, pass->previous_size, pair->has_next && pair->next == CTF_FRAME_OK ? next : NULL,
        pair->framing};
    pair->framing = ctf_correct_packet_size(pass->reader, &sized, frame);
    const bool is_resized = pair->framing == CTF_FRAME_OK && frame->is_resized;
    pair->has_next &= !is_resized;
    pass->file_index->has_repaired_sizes |= is_resized;
}

static ttr_status scan_packet_headers(struct ctf_index_pass *pass, ttr_error *error)
{
    struct packet_pair pair;
    for (pair.i = 0, pair.has_next = false;; pair.i = !pair.i) {
        peek_next_packet(pass, &pair, error);
        const struct ctf_frame *frame = &pair.frame[pair.i];
        switch (pair.framing) {
        case CTF_FRAME_OK:
            if (!add_indexed_packet(pass, frame))
                return fail_memory(error);
            break;
        case CTF_FRAME_FOREIGN:
            pass->file_index->has_foreign_packets = true;
            break;
        case CTF_FRAME_FAILED:
            return error->status;
        /* the file ends here; if it ends inside the last packet, that packet may hide others, so
         * the index is not complete */
        case CTF_FRAME_SHORT:
            pass->file_index->is_whole = pass->at <= source_disk_size(pass->reader->in->source);
            return TTR_OK;
        default:
            return TTR_OK;
        }
        ctf_index_check_packet(&pass->check, pass->at, frame);
        pass->file_index->is_whole = frame->packet.size == UINT64_MAX;
        if (pass->file_index->is_whole) {
            pass->file_index->unsized_at = pass->at;
            return TTR_OK;
        }
        const uint64_t before = pass->previous_size;
        pass->previous_size = frame->packet.size / 8;
        pass->at += pass->previous_size;
        prefetch_headers(pass, before);
        pass->file_index->is_whole = pass->at == source_disk_size(pass->reader->in->source);
        if (pass->file_index->is_whole) /* the file has no more packets, which is an error only if
                                           it is damaged; is_whole stays false then */
            return TTR_OK;
    }
}

/* After damage in the stream file: compares each remaining entry of the index file with the packet
 * at its offset. Stops after LOST_ENTRIES_MAX entries without a packet. */
static void check_remaining_index_entries(struct ctf_index_pass *pass)
{
    unsigned lost = 0;
    struct ctf_index_check *check = &pass->check;
    const uint64_t size = source_disk_size(pass->reader->in->source);
    struct ctf_index_entry entry;
    struct ctf_frame frame;
    ttr_error error;
    while (!pass->file_index->is_whole && lost < LOST_ENTRIES_MAX &&
           ctf_index_check_peek(check, &entry)) {
        enum ctf_framing framing = entry.offset < size
                                       ? ctf_peek_header(&pass->peek, entry.offset, &frame, &error)
                                       : CTF_FRAME_SHORT;
        if (framing == CTF_FRAME_OK)
            ctf_index_check_packet(check, entry.offset, &frame);
        else
            ctf_index_check_missing_packet(check);
        lost += framing != CTF_FRAME_OK;
        ctf_peek_shrink(&pass->peek);
    }
    ctf_index_check_finish(check, pass->file_index->is_whole);
}

/* Sets `frame` to the values of an index entry. Values that entries do not contain are copied from
 * `like`, a parsed packet header. Returns false if the stream class is unknown. */
static bool make_frame_from_index_entry(struct ctf_index_pass *pass,
                                        const struct ctf_index_entry *entry,
                                        const struct ctf_frame *like, struct ctf_frame *frame)
{
    const struct ctf_stream_class *class =
        ctf_find_stream(&pass->reader->trace->class->description, entry->stream_id);
    ttr_error error;
    *frame = *like;
    frame->kind = class ? ctf_get_stream_decoder(pass->reader->trace, class, &error) : NULL;
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

/* Returns true if `entry` may follow the entry `before`: it has the same stream, and its times are
 * later. This detects most wrong entries. It does not detect an end time that is too early;
 * ctf_verify_entry_point does, by the next packet header. */
static bool is_index_entry_successor(const struct ctf_index_entry *entry,
                                     const struct ctf_index_entry *before)
{
    return entry->stream_id == before->stream_id && entry->instance == before->instance &&
           entry->begin >= before->begin && (entry->end == 0 || entry->end >= entry->begin) &&
           (entry->end == 0 || entry->end >= before->end);
}

/* Adds the packets of all index entries. Returns false if an entry is implausible; the caller must
 * then discard the index. */
static bool add_index_entries(struct ctf_index_pass *pass, struct ctf_index *index)
{
    struct ctf_frame like = {.kind = NULL}, frame;
    struct ctf_index_entry entry, before = {.end = 0};
    ttr_error error;
    while (ctf_index_next(index, &entry)) {
        bool is_checked = index->at == 1 || index->at == index->n / 2 || index->at == index->n ||
                          entry.begin < before.end;
        if (entry.offset != pass->at || entry.size == 0 || entry.size % 8 ||
            entry.content > entry.size ||
            (index->at > 1 && !is_index_entry_successor(&entry, &before)))
            return false;
        before = entry;
        if (is_checked &&
            (ctf_peek_header(&pass->peek, pass->at, &like, &error) != CTF_FRAME_OK ||
             like.is_foreign || !ctf_index_entry_matches(index, &entry, entry.offset, &like)))
            return false;
        if (index->at == 1 && (like.has_number || like.packet.has_sequence) && !index->has_instance)
            return false;
        if (!make_frame_from_index_entry(pass, &entry, &like, &frame) ||
            !add_indexed_packet(pass, &frame))
            return false;
        pass->previous_size = entry.size / 8;
        pass->at += pass->previous_size;
    }
    return index->at == index->n && pass->at == source_disk_size(pass->reader->in->source);
}

static void reset_index(struct ctf_index_pass *pass)
{
    struct ctf_file_index *file_index = pass->file_index;
    alloc_free(file_index->alloc, file_index->queue_of, file_index->queue_of_capacity, 1);
    alloc_free(file_index->alloc, file_index->entry_points, file_index->entry_points_capacity,
               sizeof *file_index->entry_points);
    file_index->queue[0] = (struct ctf_packet_queue){.is_in_order = true};
    *file_index = (struct ctf_file_index){.alloc = file_index->alloc,
                                          .users = 1,
                                          .n = 1,
                                          .queue = file_index->queue,
                                          .capacity = file_index->capacity,
                                          .stride = 1,
                                          .has_times = true,
                                          .unsized_at = UINT64_MAX};
    pass->at = pass->previous_size = 0;
}

/* Builds the index from the trace's index file. Returns false, with an empty index, if there is
 * none or it is not plausible. */
static bool index_by_index_file(struct ctf_index_pass *pass)
{
    struct ctf_index index;
    bool is_odd,
        is_there = ctf_index_open(&index, pass->reader->trace, pass->reader->file, &is_odd);
    bool is_taken = is_there && add_index_entries(pass, &index);
    ctf_index_close(&index);
    pass->file_index->is_indexed = pass->file_index->is_whole = is_taken;
    if (is_there && !is_taken)
        reset_index(pass);
    return is_taken;
}

static ttr_status index_by_packet_headers(struct ctf_index_pass *pass, ttr_error *error)
{
    ctf_index_check_init(&pass->check, pass->reader);
    ttr_status status = scan_packet_headers(pass, error);
    if (status == TTR_OK)
        check_remaining_index_entries(pass);
    ctf_index_close(&pass->check.index);
    return status;
}

struct ctf_file_index *ctf_build_index(struct ctf_reader *reader, ttr_error *error)
{
    SELF_ZONE(read, "index packets");
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
    struct ctf_index_pass pass = {.reader = reader, .file_index = file_index};
    reset_index(&pass);
    if (!source_is_seekable(reader->in->source)) {
        file_index->queue[0].is_in_order = file_index->has_times = false;
        return file_index;
    }
    ttr_status status = ctf_peek_begin(&pass.peek, reader) ? TTR_OK : fail_memory(error);
    if (status == TTR_OK && !index_by_index_file(&pass))
        status = index_by_packet_headers(&pass, error);
    ctf_peek_end(&pass.peek);
    if (status == TTR_OK)
        return file_index;
    ctf_file_index_unref(file_index);
    return NULL;
}

/* Parses the packet header at an entry point. Returns false if it is invalid or has no begin time.
 */
static bool parse_entry_point_header(struct ctf_reader *reader, const struct ctf_entry_point *mark,
                                     struct ctf_frame *frame, int64_t *begin)
{
    struct ctf_header_peek peek;
    int64_t end;
    ttr_error error;
    if (!ctf_peek_begin(&peek, reader))
        return false;
    bool is_there = ctf_peek_header(&peek, mark->offset, frame, &error) == CTF_FRAME_OK &&
                    ctf_get_packet_times(frame, begin, &end);
    ctf_peek_end(&peek);
    return is_there;
}

bool ctf_verify_entry_point(struct ctf_reader *reader, int64_t from,
                            const struct ctf_entry_point **mark, uint64_t *packet, uint64_t *wanted)
{
    const struct ctf_file_index *file_index = reader->file_index;
    struct ctf_frame frame;
    int64_t begin;
    /* Nothing to verify if the index was built from packet headers. If *wanted is UINT64_MAX, even
     * the last packet, with a verified header, is before the time. */
    if (!file_index->is_indexed || *wanted == UINT64_MAX)
        return true;
    const struct ctf_entry_point *first = &file_index->entry_points[*wanted / file_index->stride];
    *wanted -= *wanted % file_index->stride;
    if (!parse_entry_point_header(reader, first, &frame, &begin) || begin >= from)
        return false;
    bool is_before =
        *packet + 1 == *wanted && parse_entry_point_header(reader, *mark, &frame, &begin);
    if (!is_before || frame.packet.size == UINT64_MAX ||
        (*mark)->offset + frame.packet.size / 8 != first->offset) {
        /* the previous packet is damaged, or does not end where this one starts */
        *mark = first;
        *packet = *wanted;
    }
    return true;
}

void ctf_check_index(struct ctf_reader *reader)
{
    struct ctf_file_index *file_index = reader->file_index,
                          unused = {.alloc = file_index->alloc, .unsized_at = UINT64_MAX};
    struct ctf_index_pass pass = {.reader = reader, .file_index = &unused};
    if (!file_index->is_indexed || file_index->is_checked || !ctf_peek_begin(&pass.peek, reader))
        return;
    file_index->is_checked = true;
    ctf_index_check_init(&pass.check, reader);
    check_remaining_index_entries(&pass);
    ctf_index_close(&pass.check.index);
    ctf_peek_end(&pass.peek);
}

/* Adds times and counters of the packet at p to queue 0; the index ends before this packet,
 * because a packet without a size precedes it. Does nothing unless the packet is valid, is of the
 * same stream, and begins after the queue's end. */
static void add_packet_after_unsized(struct ctf_reader *reader, const uint8_t *p,
                                     const uint8_t *end)
{
    struct ctf_packet_queue *queue = &reader->file_index->queue[0];
    struct ctf_frame frame;
    ttr_error error;
    int64_t times[2];
    struct bits bits = bits_init(p, 0, (uint64_t)(end - p) * 8);
    if (ctf_parse_header_and_context(reader->trace, reader->section, &bits, &frame, &error) !=
            CTF_FRAME_OK ||
        frame.is_foreign || !ctf_queue_accepts_packet(queue, &frame))
        return;
    if (ctf_get_packet_times(&frame, &times[0], &times[1]) && times[0] >= queue->end)
        add_packet_to_queue(queue, &frame, true, times);
}

/* Adds the packets at all magic numbers in n bytes. Returns the number of bytes searched. The last
 * CTF_CANDIDATE_BYTES are left for the next call, because a header may be cut off there. */
static size_t search_packets_after_unsized(struct ctf_reader *reader, const uint8_t *bytes,
                                           size_t n)
{
    const bool is_end = n < REST_BYTES;
    const uint8_t *end = bytes + n, *last = is_end ? end : end - CTF_CANDIDATE_BYTES, *p = bytes;
    while (p < last && (p = ctf_find_magic(reader->trace, p, end)) && p < last)
        add_packet_after_unsized(reader, p++, end);
    return is_end ? n : n - CTF_CANDIDATE_BYTES;
}

bool ctf_index_after_unsized_packet(struct ctf_reader *reader)
{
    struct ctf_file_index *file_index = reader->file_index;
    ttr_error error;
    if (file_index->unsized_at == UINT64_MAX || !reader->trace->class->has_magic ||
        !file_index->queue[0].has_begin)
        return true;
    uint8_t *bytes = alloc_zero(file_index->alloc, REST_BYTES, 1);
    if (!bytes)
        return false;
    int64_t n = REST_BYTES;
    for (uint64_t at = file_index->unsized_at + 1; n == (int64_t)REST_BYTES;) {
        n = source_peek_at(reader->in->source, at, bytes, REST_BYTES, &error);
        at += n > 0 ? search_packets_after_unsized(reader, bytes, (size_t)n) : 0;
    }
    file_index->unsized_at = UINT64_MAX;
    alloc_free(file_index->alloc, bytes, REST_BYTES, 1);
    return true;
}
