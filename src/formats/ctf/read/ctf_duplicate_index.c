/* Finds packets that two overlapping files contain, by their headers.
 *
 * Algorithm: merge join. Both files are read in order of packet begin, starting at the last entry
 * point before the time that both cover. Packets are equal if begin, end, sequence number and size
 * are equal. If the bytes of equal packets differ, ctf_duplicate_packets.c chooses the copy to
 * read. The result is a map from packet to state in each packet queue
 * (ctf_packet_queue.duplicates). Cost: one header per packet of the common time. Left out: packets
 * without begin and end time, which are never duplicates. */
#include "base/hash.h"
#include "base/status.h"
#include "formats/ctf/read/ctf_duplicate_packets.h"
#include "formats/ctf/read/ctf_index_pass.h"
#include "formats/ctf/read/ctf_resync.h"

static bool is_same_packet(const struct ctf_identity *a, const struct ctf_identity *b)
{
    return a->begin == b->begin && a->end == b->end && a->sequence == b->sequence &&
           a->size == b->size;
}

/* Returns true if the packets that follow a packet with the begin time `begin` may begin at or
 * before the time `other`. In a file with a single queue in order, they begin later than
 * `begin`. */
static bool may_later_packet_begin_before(const struct ctf_file_index *file_index, int64_t begin,
                                          int64_t other)
{
    return begin <= other || file_index->n > 1 || !file_index->queue[0].is_in_order;
}

/* Iterator over the packets of one queue of a file. */
struct packet_iter {
    struct ctf_index_pass pass;
    uint64_t packet; /* index of the packet at file offset pass.at */
    uint32_t queue;
    struct ctf_frame frame; /* frame of the packet that packet_iter_next returned */
    int64_t begin;          /* ns; begin time of the packet */
    bool is_over;
};

/* Returns an iterator that starts at the last entry point before `begin`. Sets is_over if memory is
 * out. */
static struct packet_iter packet_iter_start(struct ctf_reader *reader, uint32_t queue,
                                            int64_t begin)
{
    uint64_t wanted, packet = 0;
    const struct ctf_entry_point *mark =
        ctf_find_entry_point(reader->file_index, begin, &packet, &wanted);
    struct packet_iter iter = {.pass = {.reader = reader,
                                        .at = mark ? mark->offset : 0,
                                        .previous_size = mark ? mark->previous_size : 0},
                               .packet = packet,
                               .queue = queue};
    iter.is_over = !ctf_peek_begin(&iter.pass.peek, reader);
    return iter;
}

/* Advances to the next packet of the queue that has a begin time. Returns false if the file ends or
 * a header is invalid. */
static bool packet_iter_next(struct packet_iter *iter)
{
    ttr_error error;
    int64_t end;
    for (bool is_found = false; !iter->is_over && !is_found;) {
        const struct ctf_frame *frame = &iter->frame;
        enum ctf_framing framing =
            ctf_peek_header(&iter->pass.peek, iter->pass.at, &iter->frame, &error);
        framing = ctf_correct_packet_size(
            iter->pass.reader,
            &(struct ctf_size_question){iter->pass.at, iter->pass.previous_size, NULL, framing},
            &iter->frame);
        is_found =
            framing == CTF_FRAME_OK &&
            ctf_get_packet_queue(iter->pass.reader->file_index, iter->packet) == iter->queue &&
            ctf_get_packet_times(frame, &iter->begin, &end);
        iter->is_over = (framing != CTF_FRAME_OK && framing != CTF_FRAME_FOREIGN) ||
                        frame->packet.size == UINT64_MAX;
        iter->packet += framing == CTF_FRAME_OK;
        iter->pass.previous_size = iter->is_over ? 0 : frame->packet.size / 8;
        iter->pass.at += iter->pass.previous_size;
        if (is_found)
            return true;
    }
    return false;
}

bool ctf_queue_contains_first_packet(struct ctf_reader *reader, uint32_t i,
                                     const struct ctf_packet_queue *queue)
{
    struct packet_iter iter = packet_iter_start(reader, i, queue->begin);
    bool is_found = false, goes_on = true;
    while (goes_on && !is_found && packet_iter_next(&iter)) {
        const struct ctf_identity found = ctf_get_packet_identity(&iter.frame.packet);
        is_found = is_same_packet(&found, &queue->first);
        goes_on = may_later_packet_begin_before(reader->file_index, iter.begin, queue->begin);
    }
    ctf_peek_end(&iter.pass.peek);
    return is_found;
}

/* Computes a key of 128 bits from a packet's begin, end, sequence number and size, which are equal
 * in all copies of a packet. */
static void make_packet_key(const struct ctf_packet *packet, uint64_t key[2])
{
    const struct ctf_identity identity = ctf_get_packet_identity(packet);
    key[0] = hash_pair(identity.begin, identity.end);
    key[1] = hash_pair(identity.sequence, identity.size);
}

/* Returns the queue's map of duplicates, allocated at first use. Returns NULL if memory runs out.
 */
static struct pair_map *get_duplicates_of_queue(struct ctf_file_index *file_index, uint32_t i)
{
    struct ctf_packet_queue *queue = &file_index->queue[i];
    if (!queue->duplicates &&
        (queue->duplicates = alloc_zero(file_index->alloc, 1, sizeof *queue->duplicates)))
        pair_map_init(queue->duplicates, file_index->alloc);
    return queue->duplicates;
}

static struct ctf_packet_copy get_packet_copy(const struct packet_iter *iter)
{
    const uint64_t size = iter->is_over ? 0 : iter->frame.packet.size / 8;
    return (struct ctf_packet_copy){iter->pass.reader, iter->pass.at - size};
}

/* Advances `here` to the first packet that does not begin before the current packet of `first`.
 * Returns true if the two packets are equal. Sets *has_other to false at the end of `here`. */
static bool advance_to_duplicate(const struct packet_iter *first, struct packet_iter *here,
                                 bool *has_other)
{
    while (*has_other && here->begin < first->begin)
        *has_other = packet_iter_next(here);
    const struct ctf_identity a = ctf_get_packet_identity(&first->frame.packet),
                              b = ctf_get_packet_identity(&here->frame.packet);
    return *has_other && is_same_packet(&a, &b);
}

/* Makes the copy of a packet in `here` replace the damaged copy in `first`: marks the copy in
 * `first` as a duplicate, which is not read. `before`: counters before the packet. Returns false
 * if memory runs out. */
static bool replace_damaged_packet(const struct packet_iter *first, const struct packet_iter *here,
                                   const struct ctf_counters *before)
{
    struct ctf_file_index *file_index = here->pass.reader->file_index;
    struct ctf_packet_queue *queue = &file_index->queue[here->queue];
    struct pair_map *first_duplicates =
        get_duplicates_of_queue(first->pass.reader->file_index, first->queue);
    uint64_t key[2];
    make_packet_key(&first->frame.packet, key);
    if (!first_duplicates || !pair_map_put(first_duplicates, key[0], key[1], CTF_DUPLICATE_SKIP) ||
        !alloc_reserve(file_index->alloc, (void **)&queue->replaced, &queue->replaced_capacity,
                       queue->replaced_n + 1, sizeof *queue->replaced) ||
        !pair_map_put(queue->duplicates, key[0], key[1],
                      CTF_DUPLICATE_REPLACES + (uint32_t)queue->replaced_n))
        return false;
    queue->replaced[queue->replaced_n++] = *before;
    input_add_diagnostic(first->pass.reader->in, TTR_SEVERITY_ODD, get_packet_copy(first).offset,
                         "ctf.damaged-twin",
                         "a packet of %s is damaged: read from %s instead, which has a valid copy",
                         first->pass.reader->file, here->pass.reader->file);
    return true;
}

/* Returns true if the copy of the packet in `here` is undamaged and the copy in `first` is
 * damaged. */
static bool is_second_copy_better(const struct packet_iter *first, const struct packet_iter *here)
{
    const struct ctf_packet_queue *queue = &first->pass.reader->file_index->queue[first->queue];
    const struct ctf_packet_copy a = get_packet_copy(first), b = get_packet_copy(here);
    return !ctf_get_duplicate_state(queue, &first->frame.packet) && first->frame.packet.has_end &&
           !first->is_over && !here->is_over &&
           ctf_second_copy_is_better(&a, &b, first->frame.packet.size / 8);
}

/* Marks the copy in `here` of the current packet of `first` as a duplicate. Does nothing if an
 * earlier comparison chose the copy in `here`. Returns false if memory runs out. */
static bool mark_duplicate(const struct packet_iter *first, const struct packet_iter *here)
{
    const struct ctf_packet *packet = &first->frame.packet;
    const struct ctf_packet_queue *before = &first->pass.reader->file_index->queue[first->queue],
                                  *queue = &here->pass.reader->file_index->queue[here->queue];
    uint64_t key[2];
    make_packet_key(packet, key);
    if (ctf_get_duplicate_state(before, packet) == CTF_DUPLICATE_SKIP &&
        ctf_get_duplicate_state(queue, packet) >= CTF_DUPLICATE_REPLACES)
        return true;
    return pair_map_put(queue->duplicates, key[0], key[1], CTF_DUPLICATE_SKIP);
}

bool ctf_mark_duplicates(const struct ctf_queue_ref *first, const struct ctf_queue_ref *here)
{
    const struct ctf_packet_queue *queue = &here->reader->file_index->queue[here->queue];
    if (!get_duplicates_of_queue(here->reader->file_index, here->queue))
        return false;
    struct packet_iter iter = packet_iter_start(first->reader, first->queue, queue->begin),
                       other = packet_iter_start(here->reader, here->queue, queue->begin);
    struct ctf_counters before = {.is_there = false};
    if (iter.packet == 0)
        before = first->reader->file_index->queue[first->queue].initial;
    bool is_fine = true, has_other = packet_iter_next(&other);
    for (bool goes_on = true; goes_on && is_fine && packet_iter_next(&iter);) {
        is_fine =
            advance_to_duplicate(&iter, &other, &has_other) && is_second_copy_better(&iter, &other)
                ? replace_damaged_packet(&iter, &other, &before)
                : mark_duplicate(&iter, &other);
        ctf_update_counters(&before, &iter.frame.packet);
        goes_on = may_later_packet_begin_before(first->reader->file_index, iter.begin, queue->end);
    }
    is_fine = is_fine && iter.pass.peek.bytes && other.pass.peek.bytes;
    ctf_peek_end(&iter.pass.peek);
    ctf_peek_end(&other.pass.peek);
    return is_fine;
}

uint32_t ctf_get_duplicate_state(const struct ctf_packet_queue *queue,
                                 const struct ctf_packet *packet)
{
    uint64_t key[2];
    if (!queue->duplicates || !packet->has_begin || !packet->has_end || packet->size == UINT64_MAX)
        return 0;
    make_packet_key(packet, key);
    const uint32_t *value = pair_map_get(queue->duplicates, key[0], key[1]);
    return value ? *value : 0;
}
